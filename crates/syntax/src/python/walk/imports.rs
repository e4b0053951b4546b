//! Dotted names: what import statements bring, what patterns capture.

use super::{Frame, Mode, Walk};
use crate::Import;
use crate::python::expression::number;
use crate::python::kinds::Kind;
use crate::python::literal;
use crate::python::names::{MODULE, Meant, Path, Paths, Symbol};

/// The module of a `from` statement.
#[derive(Debug, Clone)]
pub(super) struct Module {
    dotted: String,
    /// None for a relative import.
    path: Option<Path>,
    start: u32,
    end: u32,
}

impl<'t> Walk<'t> {
    pub(super) fn dotted_name(&mut self, parent: &Frame, start: u32, end: u32) {
        let text = self.slice(start, end);
        match parent.kind {
            Kind::ImportFrom if self.module.is_none() => {
                let (dotted, path, _) = self.dotted_path(text);
                self.module = Some(Module { dotted, path, start, end });
                if path.is_none() {
                    self.raw.errors.push(start as usize..end as usize);
                }
            }
            Kind::Import | Kind::ImportFrom | Kind::FutureImport => self.import(parent, None, start, end),
            Kind::ImportAlias => {
                if let Some(frame) = self.frames.last_mut() {
                    (frame.mark, frame.inner) = (start, end);
                }
            }
            Kind::ClassPattern => {}
            _ if (parent.mode == Mode::Pattern || parent.kind == Kind::Case) && !text.contains('.') && text != "_" => {
                let symbol = self.raw.symbols.intern(text);
                self.bind_target(symbol, parent, end);
            }
            _ => {}
        }
    }

    /// A dotted name as text and as a path, and its first segment.
    fn dotted_path(&mut self, text: &'t str) -> (String, Option<Path>, Option<Symbol>) {
        let mut dotted = String::with_capacity(text.len());
        let mut path = Some(Paths::ROOT);
        let mut first = None;
        for segment in text.split('.') {
            let symbol = self.raw.symbols.intern(segment.trim_matches(is_blank));
            if first.is_some() {
                dotted.push('.');
            }
            first = first.or(Some(symbol));
            dotted.push_str(self.raw.symbols.text(symbol));
            path = path.and_then(|path| self.raw.paths.join(path, symbol));
        }
        (dotted, path, first)
    }

    /// `name as alias`: the alias, with the name's span as the frame's numbers.
    pub(super) fn import_alias(&mut self, alias: Symbol) {
        let [.., statement, aliased] = self.frames.as_slice() else { return };
        let (statement, aliased) = (*statement, *aliased);
        self.import(&statement, Some(alias), aliased.mark, aliased.inner);
    }

    /// One name of an import statement.
    fn import(&mut self, statement: &Frame, alias: Option<Symbol>, start: u32, end: u32) {
        let (dotted, path, first) = self.dotted_path(self.slice(start, end));
        let Some(first) = first else { return };
        let (name, module, meant, bound, from) = match &self.module {
            None => {
                let (path, bound) = match alias {
                    Some(alias) => (path, alias),
                    None => (self.raw.paths.join(Paths::ROOT, first), first),
                };
                (dotted.clone(), dotted, path.map(Meant::Import), bound, None)
            }
            Some(from) => {
                let separator = if from.dotted.ends_with('.') { "" } else { "." };
                let name = format!("{}{separator}{dotted}", from.dotted);
                let meant = match from.path {
                    Some(module) => self.raw.paths.join(module, first).map(Meant::Import),
                    None if from.dotted.starts_with('.') => Some(Meant::Project),
                    None => None,
                };
                (name, from.dotted.clone(), meant, alias.unwrap_or(first), Some((from.start, from.end)))
            }
        };
        if meant.is_none() {
            self.raw.errors.push(start as usize..end as usize);
        }
        let parts = [from, Some((start, end))];
        self.bind(statement.scope, bound, meant.unwrap_or(Meant::Unknown), statement.end, statement.conditional, parts);
        self.raw.imports.push(Import {
            span: statement.start as usize..statement.end as usize,
            name_span: start as usize..end as usize,
            name,
            module,
            alias: Some(self.raw.symbols.text(bound).to_owned()),
        });
    }

    pub(super) fn star_import(&mut self, statement: &Frame, start: u32, end: u32) {
        let Some(from) = self.module.clone() else { return };
        let separator = if from.dotted.ends_with('.') { "" } else { "." };
        self.raw.imports.push(Import {
            span: statement.start as usize..statement.end as usize,
            name_span: start as usize..end as usize,
            name: format!("{}{separator}*", from.dotted),
            module: from.dotted,
            alias: None,
        });
        if let Some(module) = from.path {
            // Bound to a name that no text can hold, so that it has a binding to point at.
            let nameless = self.raw.symbols.intern("*");
            let number = number(self.raw.scopes.bindings.len());
            let parts = [Some((from.start, from.end)), Some((start, end))];
            self.bind(MODULE, nameless, Meant::Import(module), statement.end, true, parts);
            self.raw.stars.push((module, number));
        }
    }
    pub(super) fn relative_import(&mut self, start: u32, end: u32) {
        let dotted = self.slice(start, end).replace(is_blank, "");
        let dotted = literal::identifier(&dotted).into_owned();
        self.module = Some(Module { dotted, path: None, start, end });
    }

    pub(super) fn future_import(&mut self, start: u32) {
        let symbol = self.raw.symbols.intern("__future__");
        let path = self.raw.paths.join(Paths::ROOT, symbol);
        self.module = Some(Module { dotted: "__future__".to_owned(), path, start, end: start });
    }
}

/// Blanks and line continuations.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\\'
}
