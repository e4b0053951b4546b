//! What the engine knows about one text, whatever its language: plain data, no tree.
//!
//! Spans are byte ranges of the text the facts were taken from.

/// A byte range of a text.
pub type Span = std::ops::Range<usize>;

/// Everything known of one text, in document order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Calls, nested ones included.
    pub calls: Vec<Call>,
    /// Dotted names used as a value (passed, stored, returned, decorating), not called; those of the file's own
    /// things are left out, as are names in annotations, comparisons and base classes.
    pub uses: Vec<Use>,
    /// Functions and classes, nested ones included.
    pub definitions: Vec<Definition>,
    /// Import statements, one entry for each bound name.
    pub imports: Vec<Import>,
    /// Comments.
    pub comments: Vec<Span>,
    /// String literals, quotes included; the interpolations of an f-string are not part of it.
    pub strings: Vec<Span>,
    /// Regions that do not parse or whose meaning is more than can be told within bounds: what is called there may not
    /// be among the calls, or not with all of its names. They do not overlap.
    pub errors: Vec<Span>,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The whole call, arguments included.
    pub span: Span,
    /// What is called: the range to underline.
    pub callee: Span,
    /// Every dotted name that the callee may stand for: as resolved through imports, aliases and constant look-ups, and
    /// as written. Empty when the name is the file's own (a local definition, a parameter, a relative import).
    ///
    /// A call on something that has no name of its own (a call's or subscript's result, a thing of this file) is
    /// `?.name`; with more attributes both `?.a.name` and `?.name`. A variable of unknown value is called by its own
    /// name (`db.execute`), unless an import binds that name elsewhere in the file.
    pub names: Vec<String>,
    /// The parts of the text that give the callee its meaning, beside the call itself: of an import the module and the
    /// name, of an alias the assignment, of a default argument the parameter.
    pub bindings: Vec<Span>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The argument, keyword included.
    pub span: Span,
    /// How it is passed.
    pub kind: ArgumentKind,
    /// Its value where that is a constant.
    pub value: Option<Literal>,
}

/// How an argument is passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentKind {
    /// `f(x)`
    Positional,
    /// `f(name=x)`
    Keyword(String),
    /// `f(*x)`
    Splat,
    /// `f(**x)`; a constant dict display is given as its keywords instead.
    KeywordSplat,
}

/// A constant value.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `True`, `False`
    Bool(bool),
    /// `None`
    None,
    /// An integer that fits.
    Int(i128),
    /// A float.
    Float(f64),
    /// A string without interpolation, decoded.
    Str(String),
    /// Another constant (bytes, tuple, list, dict display): only its truth is known.
    Other {
        /// Whether it counts as true.
        truthy: bool,
    },
}

/// A dotted name used as a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The expression.
    pub span: Span,
    /// As for [`Call::names`].
    pub names: Vec<String>,
    /// As for [`Call::bindings`].
    pub bindings: Vec<Span>,
}

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// A function that stands in no class.
    Function,
    /// A function of a class.
    Method,
    /// A class.
    Class,
}

/// One function or class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// What it is.
    pub kind: DefinitionKind,
    /// Dotted with the functions and classes it stands in: `Class.method`, `outer.inner`.
    pub name: String,
    /// The name in the text.
    pub name_span: Span,
    /// The whole definition, decorators included.
    pub span: Span,
    /// How many functions and classes enclose it; `if`, `try` and `with` add nothing.
    pub depth: u32,
    /// Whether the body does something: more than `pass` and constant expressions.
    pub does_something: bool,
}

/// One name that an import binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The statement.
    pub span: Span,
    /// The part that names the module or member.
    pub name_span: Span,
    /// The dotted thing imported: `os` for `import os`, `os.path` for `from os import path`, `os.*` for a star.
    /// Relative imports keep their leading dots.
    pub name: String,
    /// The module part alone: `os` for `from os import path`.
    pub module: String,
    /// The name it binds in the file; none for a star.
    pub alias: Option<String>,
}
