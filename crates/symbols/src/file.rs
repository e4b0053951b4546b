//! What the index keeps of one text: its definitions, imports and calls, without the text.
//!
//! Names stand once in one string for each file, so that a million lines take some twenty megabytes; the same form is
//! written to disk. Offsets are bytes of the text that the symbols were taken from: whoever shows them makes sure that
//! it still is that text.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use syntax::{DefinitionKind, Facts, LineIndex};

/// The symbols of one text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileSymbols {
    /// All names, one behind the other.
    names: Box<str>,
    /// In the order of the text.
    definitions: Box<[Definition]>,
    imports: Box<[Import]>,
    calls: Box<[Call]>,
}

/// A part of [`FileSymbols::names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Name {
    start: u32,
    length: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Definition {
    name: Name,
    kind: Kind,
    line: u32,
    name_at: u32,
    start: u32,
    end: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Import {
    name: Name,
    alias: Option<Name>,
    at: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    name: Name,
    at: u32,
    length: u16,
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs, reason = "said by their names")]
pub enum Kind {
    Class,
    Function,
    Method,
}

impl Kind {
    /// What a person calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Class => "class",
            Kind::Function => "function",
            Kind::Method => "method",
        }
    }
}

impl From<DefinitionKind> for Kind {
    fn from(kind: DefinitionKind) -> Kind {
        match kind {
            DefinitionKind::Class => Kind::Class,
            DefinitionKind::Function => Kind::Function,
            DefinitionKind::Method => Kind::Method,
        }
    }
}

/// One definition of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined<'f> {
    /// Dotted with what it stands in: `Class.method`.
    pub name: &'f str,
    /// What it is.
    pub kind: Kind,
    /// The line of its name, from 1.
    pub line: u32,
    /// The name in the text: the last part of `name`.
    pub name_span: Range<usize>,
    /// All of it, decorators included.
    pub span: Range<usize>,
}

impl Defined<'_> {
    /// The last part of its name.
    pub fn short(&self) -> &str {
        last(self.name)
    }
}

/// One name that an import of a file binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported<'f> {
    /// The dotted thing imported; `module.*` for all of a module, leading dots where it is relative.
    pub name: &'f str,
    /// The name it has in the file; none where all of a module is imported.
    pub alias: Option<&'f str>,
    /// Where the name of the module or member stands.
    pub at: usize,
}

/// One name of a call of a file; a call that may stand for several has each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called<'f> {
    /// Dotted, as resolved or as written; `?.name` on something without a name.
    pub name: &'f str,
    /// What is called, in the text.
    pub span: Range<usize>,
}

/// The last part of a dotted name.
pub fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl FileSymbols {
    /// What the index keeps of a text with these facts.
    pub fn new(facts: &Facts, text: &str) -> FileSymbols {
        let mut names = Names::default();
        let lines = LineIndex::new(text);
        let definitions = facts.definitions.iter().filter_map(|definition| {
            Some(Definition {
                name: names.keep(&definition.name)?,
                kind: definition.kind.into(),
                line: number(lines.line_of(definition.name_span.start) + 1),
                name_at: number(definition.name_span.start),
                start: number(definition.span.start),
                end: number(definition.span.end),
            })
        });
        let definitions = definitions.collect();
        let imports = facts.imports.iter().filter_map(|import| {
            Some(Import {
                name: names.keep(&import.name)?,
                alias: import.alias.as_deref().and_then(|alias| names.keep(alias)),
                at: number(import.name_span.start),
            })
        });
        let imports = imports.collect();
        let mut calls = Vec::with_capacity(facts.calls.len());
        for call in &facts.calls {
            let length = u16::try_from(call.callee.len()).unwrap_or(u16::MAX);
            let of_call = call.names.iter().filter_map(|name| names.keep(name));
            calls.extend(of_call.map(|name| Call { name, at: number(call.callee.start), length }));
        }
        FileSymbols { definitions, imports, calls: calls.into(), names: names.all.into() }
    }

    /// The definitions, in the order of the text.
    pub fn definitions(&self) -> impl Iterator<Item = Defined<'_>> {
        self.definitions.iter().map(|definition| {
            let name = self.text(definition.name);
            let at = definition.name_at as usize;
            Defined {
                name,
                kind: definition.kind,
                line: definition.line,
                name_span: at..at + last(name).len(),
                span: definition.start as usize..definition.end as usize,
            }
        })
    }

    /// The imports, in the order of the text.
    pub fn imports(&self) -> impl Iterator<Item = Imported<'_>> {
        self.imports.iter().map(|import| Imported {
            name: self.text(import.name),
            alias: import.alias.map(|alias| self.text(alias)),
            at: import.at as usize,
        })
    }

    /// The names of the calls, in the order of the text.
    pub fn calls(&self) -> impl Iterator<Item = Called<'_>> {
        self.calls.iter().map(|call| {
            let at = call.at as usize;
            Called { name: self.text(call.name), span: at..at + usize::from(call.length) }
        })
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        size_of::<FileSymbols>()
            + self.names.len()
            + size_of_val(&*self.definitions)
            + size_of_val(&*self.imports)
            + size_of_val(&*self.calls)
    }

    /// A name of ours; what was read from disk may say anything.
    fn text(&self, name: Name) -> &str {
        let start = name.start as usize;
        self.names.get(start..start + usize::from(name.length)).unwrap_or_default()
    }
}

/// Names on their way into one string.
#[derive(Default)]
struct Names<'f> {
    all: String,
    known: HashMap<&'f str, Name>,
}

impl<'f> Names<'f> {
    /// Where a name stands; none for one that is too long for anybody to look for.
    fn keep(&mut self, name: &'f str) -> Option<Name> {
        if let Some(known) = self.known.get(name) {
            return Some(*known);
        }
        let kept = Name { start: u32::try_from(self.all.len()).ok()?, length: u16::try_from(name.len()).ok()? };
        self.all.push_str(name);
        self.known.insert(name, kept);
        Some(kept)
    }
}

/// An offset or line of a text, which is shorter than 4 GiB.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use syntax::{Language, Limits, Tree};

    use super::*;

    fn symbols(text: &str) -> FileSymbols {
        FileSymbols::new(&Tree::parse(Language::Python, text, &Limits::default()).unwrap().facts(text), text)
    }

    #[test]
    fn a_text_is_kept_as_its_definitions_imports_and_calls() {
        let text = "import os as o\n\nclass A:\n    @x\n    def é(self):\n        o.system('ls')\n";
        let kept = symbols(text);
        let definitions: Vec<_> = kept.definitions().collect();
        let told: Vec<_> = definitions.iter().map(|it| (it.name, it.kind.name(), it.line, it.short())).collect();
        assert_eq!(told, [("A", "class", 3, "A"), ("A.é", "method", 5, "é")]);
        assert_eq!(&text[definitions[1].name_span.clone()], "é");
        assert!(text[definitions[1].span.clone()].starts_with("@x"));
        let imports: Vec<_> = kept.imports().map(|it| (it.name, it.alias, it.at)).collect();
        assert_eq!(imports, [("os", Some("o"), 7)]);
        let calls: Vec<_> = kept.calls().map(|it| (it.name, &text[it.span])).collect();
        assert_eq!(calls, [("os.system", "o.system"), ("o.system", "o.system")]);
    }

    #[test]
    fn names_that_come_again_are_kept_once() {
        let once = symbols("f()\n").names.len();
        assert_eq!(symbols(&"f()\n".repeat(1000)).names.len(), once);
    }

    #[test]
    fn what_is_kept_is_read_as_it_was_written() {
        let kept = symbols("import a.b\nfrom c import *\ndef f(): a.b.g()\n");
        let bytes = postcard::to_stdvec(&kept).unwrap();
        assert_eq!(postcard::from_bytes::<FileSymbols>(&bytes).unwrap(), kept);
    }
}
