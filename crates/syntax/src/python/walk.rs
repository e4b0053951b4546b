//! One walk over a Python file: definitions, imports, comments and strings as facts; calls, uses and bindings as raw
//! material that [`super::meaning`] gives its sense.
//!
//! The walk is one cursor, one stack of frames and one stack of operands: every expression node leaves one operand to
//! its parent. It looks at each node once and never recurses.

mod imports;
mod leave;

use tree_sitter::{Node, TreeCursor};

use super::expression::{Expr, ExprId, Expressions, List, Operand, Value, number};
use super::kinds::{Kind, Kinds};
use super::literal;
use super::meaning::AttributeBinding;
use super::names::{Binding, MODULE, Meant, Path, Paths, ScopeId, ScopeKind, Scopes, Symbol, Symbols};
use crate::{Definition, DefinitionKind, Import, Span};
use imports::Module;

/// What a file holds, names not yet resolved.
pub(super) struct Raw<'t> {
    pub(super) calls: Vec<RawCall>,
    pub(super) uses: Vec<RawUse>,
    pub(super) definitions: Vec<Definition>,
    pub(super) imports: Vec<Import>,
    pub(super) comments: Vec<Span>,
    pub(super) strings: Vec<Span>,
    pub(super) errors: Vec<Span>,
    pub(super) expressions: Expressions,
    pub(super) scopes: Scopes,
    pub(super) symbols: Symbols<'t>,
    pub(super) paths: Paths,
    pub(super) stars: Vec<(Path, u32)>,
    pub(super) attributes: Vec<AttributeBinding>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RawCall {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) callee: Operand,
    pub(super) arguments: List,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RawUse {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) expr: ExprId,
}

/// How the names in a node are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Load,
    Store,
    Delete,
    Parameter,
    Annotation,
    Pattern,
}

/// No number yet.
const NONE: u32 = u32::MAX;

/// A node whose children are being walked.
#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: Kind,
    mode: Mode,
    scope: ScopeId,
    conditional: bool,
    start: u32,
    end: u32,
    /// How many operands there were before the node.
    operands: u32,
    /// By kind: the symbol of a name among the children, the number of the call, where a string's piece starts, whether
    /// a `for` clause is the first.
    mark: u32,
    /// By kind: the scope that the node opens; for blocks the definition they are the body of.
    inner: u32,
}

pub(super) struct Walk<'t> {
    text: &'t str,
    broken: bool,
    frames: Vec<Frame>,
    operands: Vec<Operand>,
    /// The operands of the node being left; kept to be used again.
    children: Vec<Operand>,
    /// The definitions around the current node.
    enclosing: Vec<u32>,
    /// The module of the `from` statement being walked.
    module: Option<Module>,
    /// The class of the method whose first parameter comes next.
    receiver: Option<ScopeId>,
    raw: Raw<'t>,
}

/// A dotted prefix longer than this is left out of the names of what it encloses.
const LONGEST_PREFIX: usize = 256;

/// What is known of a node beside its kind and place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About {
    /// The name of a function or class.
    pub(super) name: Option<(u32, u32)>,
    /// Something in it does not parse.
    pub(super) broken: bool,
}

/// Walks tree-sitter's tree.
pub(super) fn walk<'t>(tree: &tree_sitter::Tree, text: &'t str) -> Raw<'t> {
    let root = tree.root_node();
    let mut walk = Walk::new(text, root.has_error());
    let name_field = root.language().field_id_for_name("name").map_or(0, std::num::NonZeroU16::get);
    walk.run(root.walk(), Kinds::get(), name_field);
    walk.finish()
}

impl<'t> Walk<'t> {
    /// A walk that has met no node; `broken` when a part of the text does not parse.
    pub(super) fn new(text: &'t str, broken: bool) -> Walk<'t> {
        let mut symbols = Symbols::default();
        let paths = Paths::new(&mut symbols);
        Walk {
            text,
            broken,
            frames: Vec::with_capacity(64),
            operands: Vec::with_capacity(64),
            children: Vec::new(),
            enclosing: Vec::new(),
            module: None,
            receiver: None,
            raw: Raw {
                calls: Vec::new(),
                uses: Vec::new(),
                definitions: Vec::new(),
                imports: Vec::new(),
                comments: Vec::new(),
                strings: Vec::new(),
                errors: Vec::new(),
                expressions: Expressions::default(),
                scopes: Scopes::new(),
                symbols,
                paths,
                stars: Vec::new(),
                attributes: Vec::new(),
            },
        }
    }

    /// What was found, once every node was met.
    pub(super) fn finish(mut self) -> Raw<'t> {
        self.raw.scopes.settle();
        self.raw
    }

    /// Takes in a node of a walk that brings each node with its children; whether these are to be walked, and
    /// [`Walk::close`] called after them.
    pub(super) fn open(&mut self, kind: Kind, span: (u32, u32), about: About) -> bool {
        match self.enter(kind, span, about) {
            Some(frame) => {
                self.frames.push(frame);
                true
            }
            None => false,
        }
    }

    /// Leaves the node that was opened last.
    pub(super) fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.leave(frame);
        }
    }

    /// Notes comments that are no nodes.
    pub(super) fn note_comments(&mut self, comments: impl Iterator<Item = (u32, u32)>) {
        self.raw.comments.extend(comments.map(|(start, end)| start as usize..end as usize));
    }

    fn run(&mut self, mut cursor: TreeCursor<'_>, kinds: &Kinds, name_field: u16) {
        loop {
            let node = cursor.node();
            let kind = kinds.of(node.kind_id());
            // Where the last node that was looked at ends.
            let mut done = None;
            if kind != Kind::Token || self.broken {
                let span = (number(node.start_byte()), number(node.end_byte()));
                done = Some(span.1);
                if self.broken {
                    self.note_error(kind, node, span.0, span.1);
                }
                let named = matches!(kind, Kind::Function | Kind::Class);
                let name = named.then(|| node.child_by_field_id(name_field)).flatten();
                let about = About {
                    name: name.map(|name| (number(name.start_byte()), number(name.end_byte()))),
                    broken: self.broken && kind == Kind::String && node.has_error(),
                };
                if let Some(frame) = self.enter(kind, span, about) {
                    if cursor.goto_first_child() {
                        self.frames.push(frame);
                        continue;
                    }
                    self.leave(frame);
                }
            }
            while self.is_last(done) || !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                if let Some(frame) = self.frames.pop() {
                    done = Some(frame.end);
                    self.leave(frame);
                }
            }
        }
    }

    /// Whether nothing of interest follows in the current node after what ends at `done`: its end or a last bracket.
    fn is_last(&self, done: Option<u32>) -> bool {
        match (done, self.frames.last()) {
            (Some(done), Some(frame)) if !self.broken => {
                done == frame.end || done + 1 == frame.end && self.is_bracket(done)
            }
            _ => false,
        }
    }

    fn is_bracket(&self, at: u32) -> bool {
        self.text.as_bytes().get(at as usize).is_some_and(|byte| matches!(byte, b')' | b']' | b'}'))
    }

    fn height(&self) -> u32 {
        number(self.operands.len())
    }

    fn slice(&self, start: u32, end: u32) -> &'t str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Takes in a node; a frame if its children are to be walked.
    fn enter(&mut self, kind: Kind, (start, end): (u32, u32), about: About) -> Option<Frame> {
        let parent = self.frames.last().copied().unwrap_or(Frame {
            kind: Kind::Token,
            mode: Mode::Load,
            scope: MODULE,
            conditional: false,
            start,
            end,
            operands: 0,
            mark: NONE,
            inner: NONE,
        });
        if parent.kind == Kind::Block && parent.inner != NONE {
            self.note_statement(kind, parent.inner);
        }
        let push = |walk: &mut Self, value| {
            walk.operands.push(Operand { start, end, value });
            None
        };
        match kind {
            Kind::Token | Kind::Pass => return None,
            Kind::Comment => {
                let text = self.slice(start, end);
                let length = text.trim_end_matches('\r').len();
                self.raw.comments.push(start as usize..start as usize + length);
                return None;
            }
            Kind::Name => {
                self.name(&parent, start, end);
                return None;
            }
            Kind::Number => return push(self, Value::Number { negative: false }),
            Kind::True => return push(self, Value::Bool(true)),
            Kind::False => return push(self, Value::Bool(false)),
            Kind::None => return push(self, Value::None),
            Kind::Constant => return push(self, Value::Truth(true)),
            Kind::String => {
                let literal = self.slice(start, end);
                // Python 2's `repr`: code in the place of a string's text.
                if literal.starts_with('`') {
                    self.raw.errors.push(start as usize..end as usize);
                    return push(self, Value::Unknown);
                }
                let shape = literal::shape(literal);
                if !(shape.format || about.broken) {
                    self.raw.strings.push(start as usize..end as usize);
                    let value =
                        if shape.bytes { Value::Truth(!literal::is_empty(literal)) } else { self.literal(start, end) };
                    return push(self, value);
                }
            }
            Kind::Attribute if self.dotted_chain(&parent, start, end) => return None,
            Kind::Arguments if end - start == 2 && !self.broken && parent.kind == Kind::Call => {
                return push(self, Value::Arguments(List { first: 0, length: 0 }));
            }
            Kind::Type if parent.kind == Kind::TypeAlias && self.slice(start, end).starts_with('(') => {
                self.type_call(&parent, end);
            }
            Kind::DottedName => {
                self.dotted_name(&parent, start, end);
                return None;
            }
            Kind::RelativeImport => {
                self.relative_import(start, end);
                return None;
            }
            Kind::Star => {
                self.star_import(&parent, start, end);
                return None;
            }
            _ => {}
        }
        let mut frame = Frame {
            kind,
            mode: child_mode(&parent, kind, self.height()),
            scope: self.child_scope(&parent, kind),
            conditional: parent.conditional
                || matches!(kind, Kind::Conditional | Kind::For | Kind::Choice | Kind::Comprehension),
            start,
            end,
            operands: self.height(),
            mark: NONE,
            inner: NONE,
        };
        if frame.mode == Mode::Parameter {
            frame.inner = parent.inner;
            self.claim_default(&parent);
        }
        match kind {
            Kind::Function => self.open_function(&mut frame, &parent, about.name),
            Kind::Class => self.open_class(&mut frame, &parent, about.name),
            Kind::Lambda => {
                frame.inner = self.open_scope(ScopeKind::Function, &frame);
                self.receiver = None;
            }
            Kind::Comprehension => frame.inner = self.open_scope(ScopeKind::Comprehension, &frame),
            Kind::ForIn if parent.kind == Kind::Comprehension => {
                if let Some(comprehension) = self.frames.last_mut().filter(|frame| frame.mark == NONE) {
                    comprehension.mark = 0;
                    frame.mark = 0;
                }
            }
            Kind::Parameters | Kind::LambdaParameters => frame.inner = parent.inner,
            Kind::Block if matches!(parent.kind, Kind::Function | Kind::Class) => {
                frame.inner = parent.mark;
                frame.conditional = false;
            }
            Kind::Call | Kind::Print | Kind::Exec => {
                frame.mark = number(self.raw.calls.len());
                let callee = Operand { start, end, value: Value::Unknown };
                self.raw.calls.push(RawCall { start, end, callee, arguments: List { first: 0, length: 0 } });
            }
            Kind::String => frame.mark = start,
            Kind::Interpolation if parent.kind == Kind::String => {
                if let Some(string) = self.frames.last_mut() {
                    self.raw.strings.push(string.mark as usize..start as usize);
                    string.mark = end;
                    string.inner = 0;
                }
            }
            Kind::Import | Kind::ImportFrom => self.module = None,
            Kind::FutureImport => self.future_import(start),
            _ => {}
        }
        Some(frame)
    }

    fn note_error(&mut self, kind: Kind, node: Node<'_>, start: u32, end: u32) {
        if kind == Kind::Error {
            self.raw.errors.push(start as usize..end as usize);
        } else if node.is_missing() {
            // What is missing has no length: the last thing before it stands for the place.
            let before = self.slice(0, start).trim_end();
            let last = before.char_indices().next_back().map_or(0, |(at, _)| at);
            self.raw.errors.push(last..(start as usize).max(end as usize));
        }
    }

    /// Whether a statement of a definition's body does something.
    fn note_statement(&mut self, kind: Kind, definition: u32) {
        // An expression statement is looked at when it is left.
        if !matches!(kind, Kind::Token | Kind::Comment | Kind::Pass | Kind::ExpressionStatement) {
            self.raw.definitions[definition as usize].does_something = true;
        }
    }

    fn child_scope(&self, parent: &Frame, kind: Kind) -> ScopeId {
        match parent.kind {
            Kind::Function | Kind::Class if kind == Kind::Block => parent.inner,
            Kind::Lambda if kind != Kind::LambdaParameters => parent.inner,
            Kind::Comprehension => parent.inner,
            // The first iterable of a comprehension is evaluated outside of it.
            Kind::ForIn if parent.mark != NONE && self.height() > parent.operands => {
                self.raw.scopes.parent(parent.scope)
            }
            _ => parent.scope,
        }
    }

    fn open_scope(&mut self, kind: ScopeKind, frame: &Frame) -> ScopeId {
        self.raw.scopes.open(kind, frame.scope).unwrap_or_else(|| {
            self.raw.errors.push(frame.start as usize..frame.end as usize);
            frame.scope
        })
    }

    fn open_function(&mut self, frame: &mut Frame, parent: &Frame, name: Option<(u32, u32)>) {
        let in_class = self.raw.scopes.kind(frame.scope) == ScopeKind::Class;
        frame.inner = self.open_scope(ScopeKind::Function, frame);
        self.receiver = in_class.then_some(frame.scope);
        let method = self
            .enclosing
            .last()
            .is_some_and(|&definition| self.raw.definitions[definition as usize].kind == DefinitionKind::Class);
        let kind = if method { DefinitionKind::Method } else { DefinitionKind::Function };
        frame.mark = self.define(kind, frame, parent, name);
    }

    fn open_class(&mut self, frame: &mut Frame, parent: &Frame, name: Option<(u32, u32)>) {
        frame.inner = self.open_scope(ScopeKind::Class, frame);
        frame.mark = self.define(DefinitionKind::Class, frame, parent, name);
    }

    /// Notes a definition; its number.
    fn define(&mut self, kind: DefinitionKind, frame: &Frame, parent: &Frame, name: Option<(u32, u32)>) -> u32 {
        let (start, end) = name.unwrap_or((frame.start, frame.start));
        let name_span = start as usize..end as usize;
        let own = literal::identifier(self.text.get(name_span.clone()).unwrap_or_default());
        let outer = self.enclosing.last().map(|&outer| self.raw.definitions[outer as usize].name.as_str());
        let name = match outer {
            Some(outer) if outer.len() <= LONGEST_PREFIX => format!("{outer}.{own}"),
            _ => own.into_owned(),
        };
        let start = if parent.kind == Kind::Decorated { parent.start } else { frame.start };
        self.raw.definitions.push(Definition {
            kind,
            name,
            name_span,
            span: start as usize..frame.end as usize,
            depth: number(self.enclosing.len()),
            does_something: false,
        });
        let definition = number(self.raw.definitions.len()) - 1;
        self.enclosing.push(definition);
        definition
    }

    /// The value of one string literal.
    fn literal(&mut self, start: u32, end: u32) -> Value {
        let literals = &mut self.raw.expressions.literals;
        literals.push((start, end));
        Value::Text(List { first: number(literals.len()) - 1, length: 1 })
    }

    /// Inside a parameter with a default, what follows the name is the default.
    fn claim_default(&mut self, parent: &Frame) {
        if parent.kind == Kind::DefaultParameter
            && let Some(frame) = self.frames.last_mut().filter(|frame| frame.mark == NONE)
        {
            frame.mark = NONE - 1;
        }
    }

    fn name(&mut self, parent: &Frame, start: u32, end: u32) {
        let symbol = self.raw.symbols.intern(self.slice(start, end));
        let mark = &mut self.frames.last_mut().expect("a name stands in a node").mark;
        match parent.kind {
            // Names of definitions are read when they are entered, keywords of patterns bind nothing.
            Kind::Function | Kind::Class | Kind::KeywordPattern => return,
            Kind::Attribute if self.operands.len() > parent.operands as usize => {
                *mark = symbol.number();
                return;
            }
            Kind::Argument | Kind::DefaultParameter if *mark == NONE => {
                *mark = symbol.number();
                return;
            }
            Kind::ImportAlias => {
                self.import_alias(symbol);
                return;
            }
            Kind::Global => return self.raw.scopes.declare_global(parent.scope, symbol),
            Kind::Nonlocal => return self.raw.scopes.declare_nonlocal(parent.scope, symbol),
            _ => {}
        }
        let scope = self.child_scope(parent, Kind::Name);
        let value = match child_mode(parent, Kind::Name, self.height()) {
            Mode::Load | Mode::Annotation => {
                Value::Expr(self.raw.expressions.push(Expr::Name { symbol, scope, at: start }))
            }
            Mode::Store => Value::Target(symbol),
            Mode::Delete => return self.bind(scope, symbol, Meant::Deleted, end, parent.conditional, [None, None]),
            Mode::Parameter => {
                let meant = self.receiver.take().map_or(Meant::Unknown, Meant::Receiver);
                let scope = if parent.inner == NONE { scope } else { parent.inner };
                return self.bind(scope, symbol, meant, start, false, [None, None]);
            }
            Mode::Pattern => {
                if self.raw.symbols.text(symbol) != "_" {
                    self.bind_target(symbol, parent, end);
                }
                return;
            }
        };
        self.operands.push(Operand { start, end, value });
    }

    /// Reads `a.b.c` from the text alone: most attributes are such. False if it is more than names and dots.
    fn dotted_chain(&mut self, parent: &Frame, start: u32, end: u32) -> bool {
        let text = self.slice(start, end);
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        if self.broken
            || !text.as_bytes().iter().all(is_plain)
            || text.starts_with(|first: char| first.is_ascii_digit())
        {
            return false;
        }
        let mode = child_mode(parent, Kind::Attribute, self.height());
        let scope = self.child_scope(parent, Kind::Attribute);
        let mut segments = text.split('.');
        let head = segments.next().unwrap_or_default();
        if matches!(head, "None" | "True" | "False") {
            return false;
        }
        let symbol = self.raw.symbols.intern(head);
        let mut chain = self.raw.expressions.push(Expr::Name { symbol, scope, at: start });
        for segment in segments {
            let name = self.raw.symbols.intern(segment);
            chain = self.raw.expressions.push(Expr::Attribute { object: Some(chain), name });
        }
        let value = if mode == Mode::Store { Value::Place(chain) } else { Value::Expr(chain) };
        self.operands.push(Operand { start, end, value });
        true
    }

    /// `type(x).y = z` is a call, though the grammar takes it for `type X = z`.
    fn type_call(&mut self, statement: &Frame, end: u32) {
        let symbol = self.raw.symbols.intern("type");
        let (start, name_end) = (statement.start, statement.start + number("type".len()));
        let name = self.raw.expressions.push(Expr::Name { symbol, scope: statement.scope, at: start });
        let callee = Operand { start, end: name_end, value: Value::Expr(name) };
        self.raw.calls.push(RawCall { start, end, callee, arguments: List { first: 0, length: 0 } });
    }

    fn bind_target(&mut self, symbol: Symbol, frame: &Frame, at: u32) {
        let scope = self.raw.scopes.binding_scope(frame.scope);
        self.bind(scope, symbol, Meant::Unknown, at, frame.conditional, [None, None]);
    }

    fn bind(
        &mut self,
        scope: ScopeId,
        symbol: Symbol,
        meant: Meant,
        at: u32,
        conditional: bool,
        parts: [Option<(u32, u32)>; 2],
    ) {
        self.raw.scopes.bind(scope, symbol, Binding { meant, at, conditional, parts });
    }
}

/// How the names of a child are meant.
fn child_mode(parent: &Frame, kind: Kind, height: u32) -> Mode {
    match parent.kind {
        Kind::Assignment | Kind::Augmented | Kind::For | Kind::ForIn | Kind::Named => {
            if height == parent.operands && !matches!(kind, Kind::Block | Kind::Type) {
                Mode::Store
            } else {
                Mode::Load
            }
        }
        Kind::AsTarget => Mode::Store,
        Kind::Delete => Mode::Delete,
        Kind::Parameters | Kind::LambdaParameters | Kind::TypedParameter => Mode::Parameter,
        Kind::DefaultParameter if parent.mark == NONE => Mode::Parameter,
        Kind::Type | Kind::TypeParameters => Mode::Annotation,
        Kind::Case | Kind::ClassPattern | Kind::KeywordPattern | Kind::SplatPattern => Mode::Pattern,
        Kind::Display | Kind::Splat | Kind::Parenthesized => parent.mode,
        Kind::Subscript if parent.mode == Mode::Annotation => Mode::Annotation,
        Kind::As | Kind::Statement if parent.mode == Mode::Pattern => Mode::Pattern,
        _ => Mode::Load,
    }
}
