//! Where a name stands in one text as a name of the program, and what it may be the name of.
//!
//! Comments and strings are no places of a name. What a name stands for is what the text itself says: its imports, its
//! calls and values as the language's facts resolve them, its own definitions. Types are not known, so that a method on
//! something of unknown type may be anybody's of that name.

use std::ops::Range;

use memchr::memmem;
use syntax::{Facts, Span};

use crate::file::last;
use crate::names::{agreement, imported, is_identifier_part, module, parts};

/// What an occurrence of a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "said by their names")]
pub enum Role {
    Definition,
    Import,
    Call,
    Use,
}

impl Role {
    /// What a person calls it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Definition => "definition",
            Role::Import => "import",
            Role::Call => "call",
            Role::Use => "use",
        }
    }
}

/// One occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The name in the text.
    pub span: Range<usize>,
    /// What it is.
    pub role: Role,
}

/// A text whose names are looked at.
pub struct Names<'t> {
    path: &'t str,
    text: &'t str,
    facts: &'t Facts,
}

impl<'t> Names<'t> {
    /// Of the text at `path` (relative to the root) with these facts.
    pub fn new(path: &'t str, text: &'t str, facts: &'t Facts) -> Names<'t> {
        Names { path, text, facts }
    }

    /// The places where `wanted` may be meant: by its own name, or by another that the text gives it.
    pub fn of(&self, wanted: &[&str]) -> Vec<Occurrence> {
        let Some(short) = wanted.last() else { return Vec::new() };
        let mut found: Vec<Occurrence> = self.words(short).filter_map(|span| self.judge(wanted, span)).collect();
        let renamed = self.facts.calls.iter().map(|call| (&call.callee, &call.names, Role::Call));
        let renamed = renamed.chain(self.facts.uses.iter().map(|used| (&used.span, &used.names, Role::Use)));
        for (span, names, role) in renamed {
            let is_resolved = || names.iter().any(|name| !name.starts_with('?') && means(&parts(name), wanted));
            let tail = self.tail(span);
            if self.text.get(tail.clone()) != Some(short) && is_resolved() {
                found.push(Occurrence { span: tail, role });
            }
        }
        found.sort_by_key(|occurrence| occurrence.span.start);
        found.dedup_by_key(|occurrence| occurrence.span.start);
        found
    }

    /// The word at a place of the text, with what is written before it: `a.b` of `a.b.c()` where the place is in `b`.
    pub fn chain_at(&self, offset: usize) -> Option<(Vec<&'t str>, Range<usize>)> {
        let word = word_at(self.text, offset)?;
        let mut chain = vec![&self.text[word.clone()]];
        let mut before = &self.text[..word.start];
        loop {
            let without = before.strip_suffix('.').or_else(|| before.strip_suffix("::"));
            let Some(rest) = without.or_else(|| before.strip_suffix("?.")) else { break };
            let length: usize =
                rest.chars().rev().take_while(|letter| is_identifier_part(*letter)).map(char::len_utf8).sum();
            if length == 0 {
                // A call's or an index's result has no name.
                chain.insert(0, "?");
                break;
            }
            chain.insert(0, &rest[rest.len() - length..]);
            before = &rest[..rest.len() - length];
        }
        Some((chain, word))
    }

    /// What the name at a place may stand for, in absolute parts, the likeliest first; and whether it is a thing of this
    /// file. None where there is no name.
    pub fn meaning_at(&self, offset: usize) -> Option<Meaning> {
        let (chain, word) = self.chain_at(offset)?;
        if self.is_prose(&word) {
            return None;
        }
        if let Some(import) = self.facts.imports.iter().find(|import| import.name_span.contains(&offset)) {
            let mut names = vec![import.name.as_str()];
            // `a` of `import a.b` is `a`.
            let end = import.name.find(chain[chain.len() - 1]).map(|at| at + chain[chain.len() - 1].len());
            if let Some(end) = end.filter(|end| *end < import.name.len() && chain.len() < parts(&import.name).len()) {
                names = vec![&import.name[..end]];
            }
            return Some(self.absolute(&names, word));
        }
        let resolved = self.facts.calls.iter().map(|call| (&call.callee, &call.names));
        let resolved = resolved.chain(self.facts.uses.iter().map(|used| (&used.span, &used.names)));
        let names = resolved.filter(|(span, _)| self.tail(span) == word).map(|(_, names)| names).next();
        if let Some(names) = names.filter(|names| !names.is_empty()) {
            return Some(self.absolute(&self.resolved(names, &word), word));
        }
        let head = chain[0];
        let import = self.import_of(head);
        let written = chain.join(".");
        match import {
            Some(import) => {
                let rest = written.strip_prefix(head).unwrap_or_default();
                // `import a.b` binds `a` and is called by its whole name.
                let name = if parts(&import.name).first() == Some(&head) && !rest.is_empty() {
                    written.clone()
                } else {
                    format!("{}{rest}", import.name)
                };
                Some(self.absolute(&[&name], word))
            }
            None => Some(Meaning { names: vec![owned(&parts(&written))], word, is_own: chain.len() == 1 }),
        }
    }

    /// The import that binds a name in the text.
    fn import_of(&self, name: &str) -> Option<&syntax::Import> {
        self.facts.imports.iter().find(|import| import.alias.as_deref() == Some(name))
    }

    fn absolute(&self, names: &[&str], word: Range<usize>) -> Meaning {
        let mut absolute: Vec<Vec<String>> = Vec::new();
        for parts in names.iter().filter_map(|name| imported(self.path, name)) {
            if !parts.is_empty() && !absolute.iter().any(|known| known.iter().eq(parts.iter())) {
                absolute.push(owned(&parts));
            }
        }
        Meaning { names: absolute, word, is_own: false }
    }

    /// What the word at a place is, if it may be `wanted`.
    fn judge(&self, wanted: &[&str], span: Span) -> Option<Occurrence> {
        let found = |role| Some(Occurrence { span: span.clone(), role });
        let facts = self.facts;
        if let Some(definition) = facts.definitions.iter().find(|definition| definition.name_span == span) {
            let full: Vec<&str> = module(self.path).into_iter().chain(definition.name.split('.')).collect();
            return agreement(wanted, &full).and_then(|_| found(Role::Definition));
        }
        let inside = |whole: &Span| whole.start <= span.start && span.end <= whole.end;
        if let Some(import) = facts.imports.iter().find(|import| inside(&import.name_span)) {
            let name = imported(self.path, &import.name)?;
            return means(&name, wanted).then(|| found(Role::Import)).flatten();
        }
        let call = facts.calls.iter().find(|call| self.tail(&call.callee) == span);
        let used = || facts.uses.iter().find(|used| self.tail(&used.span) == span);
        let (names, role) = match call {
            Some(call) => (Some(&call.names), Role::Call),
            None => (used().map(|used| &used.names), Role::Use),
        };
        let may_be = match names {
            Some(names) if !names.is_empty() => {
                self.resolved(names, &span).iter().any(|name| self.may_mean(name, wanted))
            }
            // The text's own: a definition of it, a parameter, a relative import.
            _ => self.is_own(wanted, &span),
        };
        may_be.then(|| found(role)).flatten()
    }

    /// The names that the facts give: without the one that is only what is written, where others say what that is, and
    /// with the last part alone of what is called on a variable, which may be anybody's.
    fn resolved<'n>(&self, names: &'n [String], span: &Span) -> Vec<&'n str> {
        let chain = self.chain_at(span.start).map_or(Vec::new(), |(chain, _)| chain);
        let is_written = |name: &str| parts(name) == chain;
        let told: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !name.starts_with('?') && !is_written(name)).collect();
        match chain.as_slice() {
            _ if !told.is_empty() => told,
            [head, _, ..] if self.import_of(head).is_none() => names.iter().map(|name| last(name)).take(1).collect(),
            _ => names.iter().map(String::as_str).collect(),
        }
    }

    /// Whether a name that the facts give may be the name of `wanted`.
    fn may_mean(&self, name: &str, wanted: &[&str]) -> bool {
        imported(self.path, name).is_some_and(|name| means(&name, wanted))
    }

    /// Whether a word that nothing resolves may be `wanted`: an import of the text says what it is, else a definition of
    /// the text, else anybody may be meant by an attribute and nobody by a name.
    fn is_own(&self, wanted: &[&str], span: &Span) -> bool {
        let Some((chain, _)) = self.chain_at(span.start) else { return false };
        let short = chain[chain.len() - 1];
        let head = chain[0];
        if let Some(import) = self.import_of(head) {
            let Some(mut name) = imported(self.path, &import.name) else { return false };
            name.extend(&chain[1..]);
            return means(&name, wanted);
        }
        let own = self.facts.definitions.iter().filter(|definition| last(&definition.name) == short);
        let mut own = own.map(|definition| {
            let full: Vec<&str> = module(self.path).into_iter().chain(definition.name.split('.')).collect();
            agreement(wanted, &full).is_some()
        });
        match own.next() {
            Some(first) => first || own.any(|is_wanted| is_wanted),
            None => chain.len() > 1 || wanted.len() == 1 || self.has_star(wanted),
        }
    }

    /// Whether all of the module that `wanted` stands in is imported.
    fn has_star(&self, wanted: &[&str]) -> bool {
        let stars = self.facts.imports.iter().filter(|import| import.alias.is_none());
        let mut modules = stars.filter_map(|import| imported(self.path, import.name.trim_end_matches('*')));
        modules.any(|module| agreement(&module, &wanted[..wanted.len() - 1]).is_some())
    }

    /// The last name of a chain in the text.
    fn tail(&self, span: &Span) -> Range<usize> {
        let text = self.text.get(span.clone()).unwrap_or_default().trim_end();
        let length: usize =
            text.chars().rev().take_while(|letter| is_identifier_part(*letter)).map(char::len_utf8).sum();
        let end = span.start + text.len();
        end - length..end
    }

    /// The places of a word outside of comments and strings.
    fn words<'w>(&'w self, word: &'w str) -> impl Iterator<Item = Range<usize>> + 'w {
        memmem::find_iter(self.text.as_bytes(), word)
            .map(|at| at..at + word.len())
            .filter(|span| word_at(self.text, span.start).is_some_and(|found| found == *span) && !self.is_prose(span))
    }

    fn is_prose(&self, span: &Range<usize>) -> bool {
        let holds = |spans: &[Span]| {
            let after = spans.partition_point(|known| known.start <= span.start);
            after.checked_sub(1).is_some_and(|index| spans[index].end > span.start)
        };
        holds(&self.facts.comments) || holds(&self.facts.strings)
    }
}

/// What a name may stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// In absolute parts, the likeliest first.
    pub names: Vec<Vec<String>>,
    /// The name in the text.
    pub word: Range<usize>,
    /// Nothing but a definition of the text, or of what encloses it, gives it a meaning.
    pub is_own: bool,
}

/// Whether two names are of one thing as far as both say.
fn means(name: &[&str], wanted: &[&str]) -> bool {
    agreement(name, wanted).is_some()
}

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|&part| part.to_owned()).collect()
}

/// The word at or right before a place.
pub fn word_at(text: &str, offset: usize) -> Option<Range<usize>> {
    if !text.is_char_boundary(offset) {
        return None;
    }
    let before: usize =
        text[..offset].chars().rev().take_while(|letter| is_identifier_part(*letter)).map(char::len_utf8).sum();
    let after: usize =
        text[offset..].chars().take_while(|letter| is_identifier_part(*letter)).map(char::len_utf8).sum();
    (before + after > 0).then(|| offset - before..offset + after)
}

#[cfg(test)]
mod tests {
    use syntax::{Language, Limits, Tree};

    use super::*;

    fn occurrences(path: &str, text: &str, wanted: &str) -> Vec<String> {
        let facts = Tree::parse(Language::Python, text, &Limits::default()).unwrap().facts(text);
        let found = Names::new(path, text, &facts).of(&parts(wanted));
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        found
            .iter()
            .map(|one| format!("{} {} {}", line(one.span.start), one.role.name(), &text[one.span.clone()]))
            .collect()
    }

    #[test]
    fn a_name_is_found_where_the_text_may_mean_it() {
        for (path, text, wanted, expected) in [
            ("pkg/a.py", "def run():\n    pass\n\nrun()\n", "pkg.a.run", &["1 definition run", "4 call run"][..]),
            (
                "pkg/b.py",
                "from pkg.a import run\nrun()\nx = run\n",
                "pkg.a.run",
                &["1 import run", "2 call run", "3 use run"],
            ),
            ("pkg/b.py", "from .a import run\nrun()\n", "pkg.a.run", &["1 import run", "2 call run"]),
            ("pkg/b.py", "from pkg.a import run as go\ngo()\n", "pkg.a.run", &["1 import run", "2 call go"]),
            ("pkg/b.py", "import pkg.a\npkg.a.run()\n", "pkg.a.run", &["2 call run"]),
            ("pkg/b.py", "import pkg.a as m\nm.run()\n", "pkg.a.run", &["2 call run"]),
            ("pkg/b.py", "from pkg.a import *\nrun()\n", "pkg.a.run", &["2 call run"]),
            ("pkg/b.py", "from other import run\nrun()\n", "pkg.a.run", &[]),
            ("pkg/b.py", "def run(): pass\nrun()\n", "pkg.a.run", &[]),
            ("pkg/b.py", "# run\nx = 'run'\nrunner()\n", "pkg.a.run", &[]),
            ("pkg/b.py", "def f(thing):\n    thing.run()\n", "C.run", &["2 call run"]),
            ("pkg/b.py", "class D(C):\n    x: C\n", "C", &["1 use C", "2 use C"]),
        ] {
            assert_eq!(occurrences(path, text, wanted), expected, "{path}: {text}");
        }
    }

    fn meaning(path: &str, text: &str) -> Vec<String> {
        let at = text.find('|').unwrap();
        let text = text.replace('|', "");
        let facts = Tree::parse(Language::Python, &text, &Limits::default()).unwrap().facts(&text);
        let found = Names::new(path, &text, &facts).meaning_at(at);
        found.map(|found| found.names.iter().map(|name| name.join(".")).collect()).unwrap_or_default()
    }

    #[test]
    fn a_name_means_what_the_text_says() {
        for (text, expected) in [
            ("from pkg.a import run\nru|n()\n", &["pkg.a.run"][..]),
            ("from .a import run\nru|n()\n", &["pkg.a.run"]),
            ("import pkg.a as m\nx: m.Cl|s = 1\n", &["pkg.a.Cls"]),
            ("import pkg.a\nx: pkg.a.Cl|s = 1\n", &["pkg.a.Cls"]),
            ("from pkg.a import ru|n\n", &["pkg.a.run"]),
            ("import pk|g.a\n", &["pkg"]),
            ("ru|n()\n", &["run"]),
            ("# ru|n\n", &[]),
            ("x = |1\n", &["1"]),
        ] {
            assert_eq!(meaning("pkg/b.py", text), expected, "{text}");
        }
    }
}
