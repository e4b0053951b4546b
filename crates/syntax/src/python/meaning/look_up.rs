//! What calls and subscripts give that look a name up: `getattr`, `__import__`, `sys.modules`, `vars`, `globals`.
//!
//! Only names that are constant are found. What is meant by the pieces is the evaluation's business.

use super::super::expression::{ExprId, KeywordName, List, Operand, Value};
use super::super::names::{MODULE, Path, Paths};
use super::super::set::{Meaning, Set};
use super::Meanings;

impl Meanings<'_, '_> {
    pub(super) fn call(&mut self, callee: &Set, arguments: List) -> Set {
        let mut set = Set::default();
        for &meaning in callee.meanings.as_slice() {
            match meaning {
                Meaning::Path(path) => self.call_path(path, arguments, &mut set),
                Meaning::Class(class) => set.add(Meaning::Instance(class)),
                Meaning::Member(path) => {
                    for name in self.argument_texts(arguments, 0) {
                        self.add_named_member(path, name, &mut set);
                    }
                }
                Meaning::Global => {
                    for name in self.argument_texts(arguments, 0) {
                        self.add_global(name, &mut set);
                    }
                }
                _ => {}
            }
        }
        if !set.meanings.is_empty() {
            set.add_bindings(callee);
            self.add_argument_bindings(arguments, &mut set);
        }
        set
    }

    /// Adds what gives the first two arguments their meaning: the object and the name of a look-up.
    fn add_argument_bindings(&self, arguments: List, set: &mut Set) {
        for operand in self.expressions.operands(arguments).iter().take(2) {
            if let Value::Expr(id) = operand.value {
                set.add_bindings(self.of(id));
            }
        }
    }

    /// The functions of Python that return what a name names.
    fn call_path(&mut self, path: Path, arguments: List, set: &mut Set) {
        let known = &self.known;
        if path == known.getattr {
            let Some(object) = self.argument(arguments, 0) else { return };
            for name in self.argument_texts(arguments, 1) {
                let name = self.symbols.intern_normalised(name.into());
                let found = self.attribute(&object, name);
                set.add_all(&found);
            }
            if let Some(default) = self.argument(arguments, 2) {
                set.add_all(&default);
            }
        } else if known.imports.contains(&path) {
            for module in self.module_texts(arguments) {
                // With a list of names it is the module itself, else the package it is in.
                if arguments.length > 1 {
                    self.add_module(&module, set);
                }
                self.add_module(module.split('.').next().unwrap_or_default(), set);
            }
        } else if path == known.import_module || known.sys_modules_getters.contains(&path) {
            for module in self.module_texts(arguments) {
                self.add_module(&module, set);
            }
        } else if known.globals.contains(&path) {
            set.add(Meaning::Globals);
        } else if path == known.vars {
            match self.argument(arguments, 0) {
                Some(object) => {
                    for meaning in object.meanings.as_slice() {
                        if let Meaning::Path(path) = *meaning {
                            set.add(Meaning::Members(path));
                        }
                    }
                    set.add_bindings(&object);
                }
                None if arguments.length == 0 => set.add(Meaning::Globals),
                None => {}
            }
        }
    }

    pub(super) fn subscript(&mut self, object: &Set, key: ExprId) -> Set {
        let mut set = Set::default();
        for name in self.texts(self.of(key)) {
            for &meaning in object.meanings.as_slice() {
                match meaning {
                    Meaning::Members(path) => self.add_named_member(path, name.clone(), &mut set),
                    Meaning::Globals => self.add_global(name.clone(), &mut set),
                    Meaning::Path(path) if path == self.known.sys_modules => self.add_module(&name, &mut set),
                    // In a module that is not the main one, `__builtins__` is a dictionary.
                    Meaning::Path(path) if self.paths.is_builtins(path) => {
                        self.add_named_member(path, name.clone(), &mut set);
                    }
                    _ => {}
                }
            }
        }
        if !set.meanings.is_empty() {
            set.add_bindings(object);
            set.add_bindings(self.of(key));
        }
        set
    }

    fn add_named_member(&mut self, path: Path, name: String, set: &mut Set) {
        let name = self.symbols.intern_normalised(name.into());
        let found = self.attribute(&Set::of(Meaning::Path(path)), name);
        set.add_all(&found);
    }

    fn add_global(&mut self, name: String, set: &mut Set) {
        let symbol = self.symbols.intern_normalised(name.into());
        let found = self.name(MODULE, symbol, u32::MAX);
        set.add_all(&found);
    }

    fn add_module(&mut self, dotted: &str, set: &mut Set) {
        if dotted.starts_with('.') {
            set.add(Meaning::Project);
            return;
        }
        let mut path = Paths::ROOT;
        for segment in dotted.split('.') {
            let symbol = self.symbols.intern_normalised(segment.to_owned().into());
            match self.paths.join(path, symbol) {
                Some(longer) => path = longer,
                None => return,
            }
        }
        set.add(Meaning::Path(path));
    }

    /// A positional argument's meanings.
    fn argument(&self, arguments: List, position: usize) -> Option<Set> {
        let operand = self.expressions.operands(arguments).get(position)?;
        self.operand(operand)
    }

    /// The constant strings that a positional argument may be.
    fn argument_texts(&self, arguments: List, position: usize) -> Vec<String> {
        let operand = self.expressions.operands(arguments).get(position);
        operand.map_or_else(Vec::new, |operand| self.value_texts(operand.value))
    }

    /// The constant strings that may name the module to import: the first argument, or the one called `name`.
    fn module_texts(&self, arguments: List) -> Vec<String> {
        let named = |operand: &Operand| {
            let Value::Keyword(number) = operand.value else { return None };
            let keyword = self.expressions.keywords[number as usize];
            let is_name = matches!(keyword.name, KeywordName::Symbol(symbol) if symbol == self.known.name);
            is_name.then_some(keyword.value.value)
        };
        match self.expressions.operands(arguments).iter().find_map(named) {
            Some(value) => self.value_texts(value),
            None => self.argument_texts(arguments, 0),
        }
    }
}
