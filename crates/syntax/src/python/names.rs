//! Which names a file binds where: identifiers, dotted paths, scopes and their bindings.
//!
//! Collected by the walk, asked by [`super::meaning`] once the whole file is known, since in Python a name bound
//! anywhere in a function is local to all of it.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use foldhash::HashMap;

use super::literal;

/// An interned identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Symbol(u32);

impl Symbol {
    pub(super) fn number(self) -> u32 {
        self.0
    }

    /// The symbol of a number that [`Symbol::number`] gave.
    pub(super) fn numbered(number: u32) -> Symbol {
        Symbol(number)
    }
}

/// The identifiers of a file, normalised.
#[derive(Default)]
pub(super) struct Symbols<'t> {
    numbers: HashMap<Cow<'t, str>, Symbol>,
    texts: Vec<Cow<'t, str>>,
}

impl<'t> Symbols<'t> {
    pub(super) fn intern(&mut self, text: &'t str) -> Symbol {
        self.intern_normalised(literal::identifier(text))
    }

    pub(super) fn intern_normalised(&mut self, text: Cow<'t, str>) -> Symbol {
        if let Some(&symbol) = self.numbers.get(text.as_ref()) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.texts.len()).expect("a text has fewer identifiers than bytes"));
        self.texts.push(text.clone());
        self.numbers.insert(text, symbol);
        symbol
    }

    pub(super) fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }
}

/// An absolute dotted name: `os`, `os.system`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Path(u32);

/// The dotted names of a file, as a tree.
pub(super) struct Paths {
    nodes: Vec<Node>,
    children: HashMap<(Path, Symbol), Path>,
    /// The children of the root by symbol, since most names have one segment.
    roots: Vec<Option<Path>>,
    builtins: [Symbol; 3],
}

struct Node {
    parent: Path,
    symbol: Symbol,
    depth: u8,
}

impl Paths {
    /// The empty name that all others start from.
    pub(super) const ROOT: Path = Path(0);
    /// Longer names stand for nothing anyone could forbid.
    const MAX_DEPTH: u8 = 32;

    pub(super) fn new(symbols: &mut Symbols) -> Paths {
        let root = Node { parent: Paths::ROOT, symbol: Symbol(0), depth: 0 };
        let builtins = ["builtins", "__builtins__", "__builtin__"].map(|name| symbols.intern(name));
        Paths { nodes: vec![root], children: HashMap::default(), roots: Vec::new(), builtins }
    }

    /// Whether a path is the module of the builtins.
    pub(super) fn is_builtins(&self, path: Path) -> bool {
        let node = &self.nodes[path.0 as usize];
        node.depth == 1 && self.builtins.contains(&node.symbol)
    }

    /// `path.symbol`, unless that is longer than any name that counts. `builtins.x` is `x`.
    pub(super) fn join(&mut self, path: Path, symbol: Symbol) -> Option<Path> {
        let path = if self.is_builtins(path) { Paths::ROOT } else { path };
        if path == Paths::ROOT {
            return Some(self.root(symbol));
        }
        let depth = self.nodes[path.0 as usize].depth + 1;
        match self.children.entry((path, symbol)) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(_) if depth > Paths::MAX_DEPTH => None,
            Entry::Vacant(new) => {
                let number = u32::try_from(self.nodes.len()).expect("a text has fewer names than bytes");
                self.nodes.push(Node { parent: path, symbol, depth });
                Some(*new.insert(Path(number)))
            }
        }
    }

    fn root(&mut self, symbol: Symbol) -> Path {
        let index = symbol.0 as usize;
        if index >= self.roots.len() {
            self.roots.resize(index + 1, None);
        }
        *self.roots[index].get_or_insert_with(|| {
            let number = u32::try_from(self.nodes.len()).expect("a text has fewer names than bytes");
            self.nodes.push(Node { parent: Paths::ROOT, symbol, depth: 1 });
            Path(number)
        })
    }

    pub(super) fn dotted(&self, path: Path, symbols: &Symbols) -> String {
        let mut segments = [""; Paths::MAX_DEPTH as usize];
        let (mut first, mut length, mut current) = (segments.len(), 0, path);
        while current != Paths::ROOT {
            let node = &self.nodes[current.0 as usize];
            first -= 1;
            segments[first] = symbols.text(node.symbol);
            length += segments[first].len() + 1;
            current = node.parent;
        }
        let mut dotted = String::with_capacity(length);
        for (position, segment) in segments[first..].iter().enumerate() {
            if position > 0 {
                dotted.push('.');
            }
            dotted.push_str(segment);
        }
        dotted
    }
}

/// A scope by number: 0 is the module.
pub(super) type ScopeId = u32;
pub(super) const MODULE: ScopeId = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeKind {
    Module,
    Function,
    Class,
    Comprehension,
}

#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) parent: ScopeId,
    pub(super) depth: u8,
    /// The base classes of a class.
    pub(super) bases: Vec<super::expression::ExprId>,
}

/// What a statement binds a name to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meant {
    /// An import of the absolute name.
    Import(Path),
    /// A relative import: a name of this project.
    Project,
    /// A function of this file.
    Function,
    /// The class with this scope.
    Class(ScopeId),
    /// Whatever the expression stands for.
    Value(super::expression::ExprId),
    /// The first parameter of a method of the class.
    Receiver(ScopeId),
    /// Something unknown: a parameter, a loop's target, a computed value.
    Unknown,
    /// Nothing any more: `del`.
    Deleted,
}

/// One binding of a name.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    pub(super) meant: Meant,
    /// Where it stands.
    pub(super) at: u32,
    /// It stands in a branch or loop, so it may not happen.
    pub(super) conditional: bool,
    /// The parts of the text that make it mean what it means.
    pub(super) parts: [Option<(u32, u32)>; 2],
}

/// A name in a scope, by number.
pub(super) type VariableId = u32;

#[derive(Debug, Default)]
pub(super) struct Variable {
    pub(super) bindings: Vec<u32>,
    /// Where the first binding stands that happens in any case; `u32::MAX` for none.
    pub(super) certain_from: u32,
    pub(super) deleted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    Here(VariableId),
    Global,
    Nonlocal,
}

/// All scopes and bindings of a file.
pub(super) struct Scopes {
    pub(super) all: Vec<Scope>,
    names: HashMap<(ScopeId, Symbol), Declared>,
    pub(super) variables: Vec<Variable>,
    pub(super) bindings: Vec<Binding>,
    /// Per symbol: it is bound somewhere; an import binds it somewhere.
    seen: Vec<(bool, bool)>,
    /// `nonlocal` bindings, placed when all scopes are known.
    pending: Vec<(ScopeId, Symbol, Binding)>,
}

impl Scopes {
    /// Python itself gives up on deeper nesting (100 blocks, 200 brackets); look-ups climb no further.
    pub(super) const MAX_DEPTH: u8 = 200;

    pub(super) fn new() -> Scopes {
        let module = Scope { kind: ScopeKind::Module, parent: MODULE, depth: 0, bases: Vec::new() };
        Scopes {
            all: vec![module],
            names: HashMap::default(),
            variables: Vec::new(),
            bindings: Vec::new(),
            seen: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// A new scope within `parent`, or none when the nesting is deeper than Python's.
    pub(super) fn open(&mut self, kind: ScopeKind, parent: ScopeId) -> Option<ScopeId> {
        let depth = self.all[parent as usize].depth;
        if depth >= Scopes::MAX_DEPTH {
            return None;
        }
        let id = u32::try_from(self.all.len()).expect("a text has fewer scopes than bytes");
        self.all.push(Scope { kind, parent, depth: depth + 1, bases: Vec::new() });
        Some(id)
    }

    pub(super) fn kind(&self, scope: ScopeId) -> ScopeKind {
        self.all[scope as usize].kind
    }

    pub(super) fn parent(&self, scope: ScopeId) -> ScopeId {
        self.all[scope as usize].parent
    }

    /// The scope in which a `:=` or an assignment within `scope` binds: comprehensions bind their targets alone.
    pub(super) fn binding_scope(&self, mut scope: ScopeId) -> ScopeId {
        while self.kind(scope) == ScopeKind::Comprehension {
            scope = self.parent(scope);
        }
        scope
    }

    pub(super) fn declare_global(&mut self, scope: ScopeId, symbol: Symbol) {
        if scope != MODULE {
            self.names.insert((scope, symbol), Declared::Global);
            self.mark(symbol, false);
        }
    }

    pub(super) fn declare_nonlocal(&mut self, scope: ScopeId, symbol: Symbol) {
        if scope != MODULE {
            self.names.insert((scope, symbol), Declared::Nonlocal);
            self.mark(symbol, false);
        }
    }

    pub(super) fn bind(&mut self, scope: ScopeId, symbol: Symbol, mut binding: Binding) {
        self.mark(symbol, matches!(binding.meant, Meant::Import(_) | Meant::Project));
        match self.names.get(&(scope, symbol)) {
            Some(&Declared::Here(variable)) => self.add(variable, binding),
            Some(Declared::Nonlocal) => self.pending.push((scope, symbol, binding)),
            Some(Declared::Global) => {
                binding.conditional = true;
                self.bind(MODULE, symbol, binding);
            }
            None => {
                let variable = u32::try_from(self.variables.len()).expect("a text has fewer names than bytes");
                self.variables.push(Variable { certain_from: u32::MAX, ..Variable::default() });
                self.names.insert((scope, symbol), Declared::Here(variable));
                self.add(variable, binding);
            }
        }
    }

    /// Places `nonlocal` bindings, now that the enclosing functions are known whole.
    pub(super) fn settle(&mut self) {
        for (scope, symbol, binding) in std::mem::take(&mut self.pending) {
            let mut at = self.parent(scope);
            while at != MODULE && !matches!(self.names.get(&(at, symbol)), Some(Declared::Here(_))) {
                at = self.parent(at);
            }
            let owner = if at == MODULE { scope } else { at };
            if let Some(&Declared::Here(variable)) = self.names.get(&(owner, symbol)) {
                self.add(variable, binding);
            } else {
                self.names.remove(&(owner, symbol));
                self.bind(owner, symbol, binding);
            }
        }
    }

    fn add(&mut self, variable: VariableId, binding: Binding) {
        let number = u32::try_from(self.bindings.len()).expect("a text has fewer bindings than bytes");
        let known = &mut self.variables[variable as usize];
        match binding.meant {
            Meant::Deleted => known.deleted = true,
            _ if !binding.conditional => known.certain_from = known.certain_from.min(binding.at),
            _ => {}
        }
        known.bindings.push(number);
        self.bindings.push(binding);
    }

    fn mark(&mut self, symbol: Symbol, import: bool) {
        let index = symbol.0 as usize;
        if index >= self.seen.len() {
            self.seen.resize(index + 1, (false, false));
        }
        self.seen[index].0 = true;
        self.seen[index].1 |= import;
    }

    /// Whether an import binds the name anywhere in the file.
    pub(super) fn is_imported(&self, symbol: Symbol) -> bool {
        self.seen.get(symbol.0 as usize).is_some_and(|seen| seen.1)
    }

    /// The variable that is exactly this name of this scope.
    pub(super) fn own(&self, scope: ScopeId, symbol: Symbol) -> Option<VariableId> {
        match self.names.get(&(scope, symbol)) {
            Some(&Declared::Here(variable)) => Some(variable),
            _ => None,
        }
    }

    /// The variables a name used in `scope` at `at` may mean, the nearest first; `true` if it may also be unbound.
    pub(super) fn look_up(&self, scope: ScopeId, symbol: Symbol, at: u32, mut found: impl FnMut(VariableId)) -> bool {
        if !self.seen.get(symbol.0 as usize).is_some_and(|seen| seen.0) {
            return true;
        }
        let mut current = scope;
        loop {
            let visible = current == scope || self.kind(current) != ScopeKind::Class;
            if visible {
                match self.names.get(&(current, symbol)) {
                    Some(Declared::Global) if current != MODULE => {
                        current = MODULE;
                        continue;
                    }
                    Some(&Declared::Here(variable)) => {
                        found(variable);
                        if !self.falls_through(current, variable, current == scope, at) {
                            return false;
                        }
                    }
                    _ => {}
                }
            }
            if current == MODULE {
                return true;
            }
            current = self.parent(current);
        }
    }

    /// Modules and classes look a name up outside while it is not bound; functions and comprehensions never do.
    fn falls_through(&self, scope: ScopeId, variable: VariableId, same_scope: bool, at: u32) -> bool {
        if !matches!(self.kind(scope), ScopeKind::Module | ScopeKind::Class) {
            return false;
        }
        let variable = &self.variables[variable as usize];
        let bound = if same_scope { variable.certain_from < at } else { variable.certain_from != u32::MAX };
        variable.deleted || !bound
    }
}
