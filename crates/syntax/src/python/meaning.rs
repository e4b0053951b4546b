//! What expressions stand for: dotted names, classes of this file, the dictionaries through which Python reaches names.
//!
//! Evaluates the arena in order, so that children come before parents; a name that means a later expression is settled
//! in another pass. Sets only grow and are bounded; one that grows over its bound says so, so that nothing that could
//! be meant is lost in silence.

mod look_up;

use foldhash::HashMap;

use super::expression::{Expr, ExprId, Expressions, List, Operand, Value, number};
use super::literal;
use super::names::{Meant, Path, Paths, ScopeId, Scopes, Symbol, Symbols, VariableId};
use super::set::{Meaning, Set};

/// The identifiers through which Python reaches names.
struct Known {
    dict: Symbol,
    call: Symbol,
    getattribute: Symbol,
    name: Symbol,
    getters: [Symbol; 4],
    getattr: Path,
    imports: [Path; 2],
    import_module: Path,
    vars: Path,
    globals: [Path; 2],
    sys_modules: Path,
    sys_modules_getters: [Path; 4],
}

impl Known {
    fn new(symbols: &mut Symbols, paths: &mut Paths) -> Known {
        let mut symbol = |text: &'static str| symbols.intern(text);
        let getters = ["get", "__getitem__", "pop", "setdefault"].map(&mut symbol);
        let mut path = |dotted: &'static str| {
            dotted
                .split('.')
                .fold(Paths::ROOT, |path, segment| paths.join(path, symbol(segment)).expect("these names are short"))
        };
        let sys_modules = path("sys.modules");
        Known {
            getattr: path("getattr"),
            imports: [path("__import__"), path("importlib.__import__")],
            import_module: path("importlib.import_module"),
            vars: path("vars"),
            globals: [path("globals"), path("locals")],
            sys_modules,
            sys_modules_getters: getters.map(|getter| paths.join(sys_modules, getter).expect("these names are short")),
            dict: symbols.intern("__dict__"),
            call: symbols.intern("__call__"),
            getattribute: symbols.intern("__getattribute__"),
            name: symbols.intern("name"),
            getters,
        }
    }
}

/// An assignment to an attribute: `A.run = os.system`.
pub(super) struct AttributeBinding {
    /// How many expressions stand before it in the text.
    pub(super) after: usize,
    pub(super) object: ExprId,
    pub(super) name: Symbol,
    pub(super) binding: u32,
}

/// The file as the walk leaves it, and what its expressions mean.
pub(super) struct Meanings<'a, 't> {
    text: &'t str,
    expressions: &'a Expressions,
    scopes: &'a Scopes,
    pub(super) symbols: Symbols<'t>,
    pub(super) paths: Paths,
    known: Known,
    /// Modules that are star-imported, with the binding that does so.
    stars: &'a [(Path, u32)],
    sets: Vec<Set>,
    /// What variables are, as far as this pass knows, and whether another pass may know more.
    variables: Vec<Option<(Set, bool)>>,
    /// Expressions of which another pass may know more.
    unsettled: Vec<bool>,
    /// The expression being evaluated reads something of which another pass may know more.
    unsettled_read: bool,
    /// What is assigned to attributes of the file's own classes.
    members: HashMap<(ScopeId, Symbol), Vec<u32>>,
    /// What attributes of own classes are, bases included, as far as this pass knows.
    class_members: HashMap<(ScopeId, Symbol), Set>,
    sums: HashMap<ExprId, String>,
    /// Expressions that a variable means and that were not evaluated when it was read.
    missed: Vec<ExprId>,
}

/// Names are found through other names this often backwards in a file; forwards, there is no bound.
const PASSES: usize = 16;
/// Longer texts name nothing.
const LONGEST_TEXT: usize = 256;
/// Star imports that a name may come from.
const MOST_STARS: usize = 24;
/// Base classes looked at for one attribute.
const MOST_BASES: usize = 32;

impl<'a, 't> Meanings<'a, 't> {
    pub(super) fn new(
        text: &'t str,
        expressions: &'a Expressions,
        scopes: &'a Scopes,
        mut symbols: Symbols<'t>,
        mut paths: Paths,
        stars: &'a [(Path, u32)],
        attributes: &[AttributeBinding],
    ) -> Meanings<'a, 't> {
        let known = Known::new(&mut symbols, &mut paths);
        let mut meanings = Meanings {
            text,
            expressions,
            scopes,
            symbols,
            paths,
            known,
            stars,
            sets: Vec::new(),
            variables: Vec::new(),
            unsettled: Vec::new(),
            unsettled_read: false,
            members: HashMap::default(),
            class_members: HashMap::default(),
            sums: HashMap::default(),
            missed: Vec::new(),
        };
        meanings.settle(attributes);
        meanings
    }

    pub(super) fn of(&self, id: ExprId) -> &Set {
        &self.sets[id.0 as usize]
    }

    fn settle(&mut self, attributes: &[AttributeBinding]) {
        self.sets.reserve_exact(self.expressions.exprs.len());
        for pass in 0..PASSES {
            self.missed.clear();
            self.class_members.clear();
            if pass == 0 {
                self.variables.resize(self.scopes.variables.len(), None);
            } else {
                self.variables
                    .iter_mut()
                    .filter(|known| known.as_ref().is_some_and(|known| known.1))
                    .for_each(|known| *known = None);
            }
            let mut changed = false;
            let mut attributes = attributes.iter().peekable();
            for (index, &expr) in self.expressions.exprs.iter().enumerate() {
                while let Some(assignment) = attributes.next_if(|assignment| assignment.after <= index) {
                    changed |= self.learn_member(assignment);
                }
                if pass > 0 && !self.unsettled[index] {
                    continue;
                }
                self.unsettled_read = self.reads_unsettled(expr);
                let set = self.evaluate(ExprId(number(index)), expr);
                if pass == 0 {
                    self.unsettled.push(self.unsettled_read);
                    self.sets.push(set);
                } else {
                    changed |= set.weight() != self.sets[index].weight();
                    self.unsettled[index] = self.unsettled_read;
                    self.sets[index] = set;
                }
            }
            for assignment in attributes {
                changed |= self.learn_member(assignment);
            }
            changed |= self.missed.iter().any(|id| !self.of(*id).meanings.is_empty());
            if !changed {
                break;
            }
        }
    }

    /// Adds an assignment to an attribute of the file's own classes; true if that changes what was read before.
    fn learn_member(&mut self, assignment: &AttributeBinding) -> bool {
        let object = self.of(assignment.object).clone();
        let mut changed = false;
        for meaning in object.meanings.as_slice() {
            let (Meaning::Class(class) | Meaning::Instance(class)) = *meaning else { continue };
            let members = self.members.entry((class, assignment.name)).or_default();
            // In the order of the assignments, so that the last one known tells whether this one is.
            if members.last().is_none_or(|&last| last < assignment.binding) {
                members.push(assignment.binding);
                // Most are computed values, which change nothing.
                let mut assigned = Set::default();
                self.add_bound(assignment.binding, &mut assigned);
                changed |= assigned.meanings.as_slice() != [Meaning::Unknown];
            }
        }
        changed && !self.class_members.is_empty()
    }

    /// Whether a part of an expression is not settled.
    fn reads_unsettled(&self, expr: Expr) -> bool {
        let unsettled = |id: ExprId| self.unsettled[id.0 as usize];
        let any = |operands: &[Operand]| {
            operands.iter().any(|operand| matches!(operand.value, Value::Expr(id) if unsettled(id)))
        };
        match expr {
            Expr::Name { .. } | Expr::Text(_) => false,
            Expr::Attribute { object, .. } => object.is_some_and(unsettled),
            Expr::Call { callee, arguments } => {
                // No look-up has more arguments than that.
                let operands = self.expressions.operands(arguments);
                callee.is_some_and(unsettled) || any(&operands[..operands.len().min(3)])
            }
            Expr::Subscript { object, key } => unsettled(object) || unsettled(key),
            Expr::Choice(list) => any(self.expressions.operands(list)),
            Expr::Sum { left, right } => unsettled(left) || unsettled(right),
        }
    }

    fn evaluate(&mut self, id: ExprId, expr: Expr) -> Set {
        match expr {
            Expr::Name { symbol, scope, at } => self.name(scope, symbol, at),
            Expr::Attribute { object: Some(object), name } => {
                let object = self.sets[object.0 as usize].clone();
                self.attribute(&object, name)
            }
            Expr::Call { callee: Some(callee), arguments } => {
                let callee = self.sets[callee.0 as usize].clone();
                self.call(&callee, arguments)
            }
            Expr::Attribute { object: None, .. } | Expr::Call { callee: None, .. } => Set::default(),
            Expr::Subscript { object, key } => {
                let object = self.sets[object.0 as usize].clone();
                self.subscript(&object, key)
            }
            Expr::Choice(list) => {
                let mut union = Set::default();
                for operand in self.expressions.operands(list) {
                    if let Some(set) = self.operand(operand) {
                        union.add_all(&set);
                    }
                }
                union
            }
            Expr::Text(_) => Set::of(Meaning::Text(id)),
            Expr::Sum { left, right } => self.sum(id, left, right),
        }
    }

    fn operand(&self, operand: &Operand) -> Option<Set> {
        match operand.value {
            Value::Expr(id) => Some(self.of(id).clone()),
            _ => None,
        }
    }

    /// A name used in a scope at a place of the text.
    fn name(&mut self, scope: ScopeId, symbol: Symbol, at: u32) -> Set {
        let scopes = self.scopes;
        let mut set = Set::default();
        let unbound = scopes.look_up(scope, symbol, at, |variable| {
            let found = self.variable(variable);
            if set.meanings.is_empty() { set = found } else { set.add_all(&found) }
        });
        if unbound {
            self.unbound(symbol, &mut set);
        }
        set
    }

    /// A name that nothing binds: a builtin, or what a star import brings.
    fn unbound(&mut self, symbol: Symbol, set: &mut Set) {
        if let Some(path) = self.paths.join(Paths::ROOT, symbol) {
            set.add(Meaning::Path(path));
        }
        // More than fit would be refused one by one.
        set.overflow |= self.stars.len() > MOST_STARS;
        for &(module, binding) in self.stars.iter().take(MOST_STARS) {
            if let Some(path) = self.paths.join(module, symbol) {
                set.add(Meaning::Path(path));
                set.add_binding(binding);
            }
        }
    }

    fn variable(&mut self, variable: VariableId) -> Set {
        if let Some((known, unsettled)) = &self.variables[variable as usize] {
            self.unsettled_read |= unsettled;
            return known.clone();
        }
        let outer = std::mem::replace(&mut self.unsettled_read, false);
        let mut set = Set::default();
        for &binding in &self.scopes.variables[variable as usize].bindings {
            self.add_bound(binding, &mut set);
        }
        self.variables[variable as usize] = Some((set.clone(), self.unsettled_read));
        self.unsettled_read |= outer;
        set
    }

    /// Adds what a binding binds its name to.
    fn add_bound(&mut self, number: u32, set: &mut Set) {
        match self.scopes.bindings[number as usize].meant {
            Meant::Import(path) => {
                set.add(Meaning::Path(path));
                set.add_binding(number);
            }
            Meant::Value(id) => {
                let Some(value) = self.sets.get(id.0 as usize).cloned() else {
                    self.missed.push(id);
                    self.unsettled_read = true;
                    set.add(Meaning::Unknown);
                    return;
                };
                self.unsettled_read |= self.unsettled[id.0 as usize];
                if value.meanings.is_empty() {
                    set.add(Meaning::Unknown);
                } else {
                    set.add_all(&value);
                    set.add_binding(number);
                }
            }
            Meant::Project => set.add(Meaning::Project),
            Meant::Function => set.add(Meaning::Own),
            Meant::Class(class) => set.add(Meaning::Class(class)),
            Meant::Receiver(class) => set.add(Meaning::Instance(class)),
            Meant::Unknown => set.add(Meaning::Unknown),
            Meant::Deleted => {}
        }
    }

    fn attribute(&mut self, object: &Set, name: Symbol) -> Set {
        let mut set = Set::default();
        if object.is_opaque() {
            return set;
        }
        for &meaning in object.meanings.as_slice() {
            match meaning {
                Meaning::Path(path) => {
                    let found = if name == self.known.dict {
                        Some(Meaning::Members(path))
                    } else if name == self.known.getattribute {
                        Some(Meaning::Member(path))
                    } else if name == self.known.call {
                        Some(Meaning::Path(path))
                    } else {
                        self.paths.join(path, name).map(Meaning::Path)
                    };
                    if let Some(found) = found {
                        set.add(found);
                    }
                }
                Meaning::Class(class) | Meaning::Instance(class) => {
                    let members = self.class_member(class, name);
                    set.add_all(&members);
                }
                Meaning::Members(path) if self.known.getters.contains(&name) => set.add(Meaning::Member(path)),
                Meaning::Globals if self.known.getters.contains(&name) => set.add(Meaning::Global),
                Meaning::Project => set.add(Meaning::Project),
                Meaning::Global | Meaning::Member(_) if name == self.known.call => set.add(meaning),
                _ => {}
            }
        }
        if !set.meanings.is_empty() {
            set.add_bindings(object);
        }
        set
    }

    /// What the attribute of a class of this file may be, its bases included.
    fn class_member(&mut self, class: ScopeId, name: Symbol) -> Set {
        self.unsettled_read = true;
        if let Some(known) = self.class_members.get(&(class, name)) {
            return known.clone();
        }
        let (outermost, mut set) = (class, Set::default());
        let mut classes = vec![class];
        let mut next = 0;
        while let Some(&class) = classes.get(next) {
            next += 1;
            let mut found = false;
            if let Some(variable) = self.scopes.own(class, name) {
                let members = self.variable(variable);
                set.add_all(&members);
                found = true;
            }
            if let Some(assigned) = self.members.get(&(class, name)).cloned() {
                for binding in assigned {
                    self.add_bound(binding, &mut set);
                }
                found = true;
            }
            if found {
                continue;
            }
            for base in &self.scopes.all[class as usize].bases {
                let Some(base) = self.sets.get(base.0 as usize) else { continue };
                for &meaning in base.meanings.as_slice() {
                    if let Meaning::Class(base) = meaning
                        && !classes.contains(&base)
                        && classes.len() < MOST_BASES
                    {
                        classes.push(base);
                    }
                }
            }
        }
        self.class_members.insert((outermost, name), set.clone());
        set
    }

    fn value_texts(&self, value: Value) -> Vec<String> {
        match value {
            Value::Text(literals) => self.literal_text(literals).into_iter().collect(),
            Value::Expr(id) => self.texts(self.of(id)),
            _ => Vec::new(),
        }
    }

    /// The constant strings of a set.
    fn texts(&self, set: &Set) -> Vec<String> {
        let meanings = set.meanings.as_slice().iter();
        meanings
            .filter_map(|meaning| match *meaning {
                Meaning::Text(id) => self.expr_text(id),
                _ => None,
            })
            .collect()
    }

    fn expr_text(&self, id: ExprId) -> Option<String> {
        match self.expressions.get(id) {
            Expr::Text(literals) => self.literal_text(literals),
            _ => self.sums.get(&id).cloned(),
        }
    }

    fn literal_text(&self, literals: List) -> Option<String> {
        text_of(self.text, self.expressions, literals, LONGEST_TEXT)
    }

    /// The sum of two constant strings; of names with several values, the first.
    fn sum(&mut self, id: ExprId, left: ExprId, right: ExprId) -> Set {
        let mut set = Set::of(Meaning::Text(id));
        set.add_bindings(self.of(left));
        set.add_bindings(self.of(right));
        let (left, right) = (self.texts(self.of(left)), self.texts(self.of(right)));
        let (Some(left), Some(right)) = (left.first(), right.first()) else {
            return Set::default();
        };
        if left.len() + right.len() > LONGEST_TEXT {
            return Set::default();
        }
        self.sums.insert(id, format!("{left}{right}"));
        set
    }

    pub(super) fn dotted(&self, path: Path) -> String {
        self.paths.dotted(path, &self.symbols)
    }
}

/// The text of a constant string, unless its literals are longer than `longest` bytes.
pub(super) fn text_of(text: &str, expressions: &Expressions, literals: List, longest: usize) -> Option<String> {
    let literals = &expressions.literals[literals.range()];
    let length: usize = literals.iter().map(|&(start, end)| (end - start) as usize).sum();
    if length > longest {
        return None;
    }
    let mut whole = String::new();
    for &(start, end) in literals {
        whole.push_str(&literal::decode(text.get(start as usize..end as usize)?)?);
    }
    Some(whole)
}
