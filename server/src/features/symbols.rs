//! What a name is, where it is defined and where it is meant: answered from the text of open documents and the indexes.
//!
//! Everything is by name, scope and import; types are not known. Texts of closed files are read below their root when
//! they are shown, so that places are those of the files as they are. Blocks: reads and parses.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rules::FactSource;
use rules::plain::{PATH, WHY, plain};
use symbols::{Bounds, FileSymbols, Found, Kind, Names, Reference};
use syntax::{Facts, Language, Span};
use system::Folders;
use system::open::Root;

use crate::facts::FactStore;
use crate::features::hover::Hover;
use crate::indexes::{Indexes, Rooted};
use crate::text::Text;

/// Most symbols that a search of the workspace gives.
const SEARCHED: usize = 200;
/// Most definitions of one name that are shown.
const DEFINITIONS: usize = 50;
/// Most places of one name that are shown, and how long they are looked for.
const REFERENCES: usize = 10_000;
const PATIENCE: Duration = Duration::from_secs(10);
/// Most lines of a definition that a hover shows.
const SIGNATURE: usize = 6;
/// Symbols that stand deeper in each other than this are shown beside each other.
const DEEPEST: usize = 64;
/// Largest text that is read to show a place in it, in bytes.
const LARGEST: u64 = 64 << 20;

/// A document that is open.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The file, as the editor names it.
    pub path: PathBuf,
    /// Its text.
    pub text: Text,
}

/// A symbol of a document, and those in it.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name, without what it stands in.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The name in the text.
    pub name_span: Span,
    /// All of it.
    pub span: Span,
    /// What stands in it.
    pub children: Vec<Node>,
}

/// A place in a file.
#[derive(Debug, Clone)]
pub struct Place {
    /// The file, as the workspace names it.
    pub path: PathBuf,
    /// Its text.
    pub text: Text,
    /// Where.
    pub span: Span,
}

/// A symbol of the workspace.
#[derive(Debug, Clone)]
pub struct Symbol {
    /// Its name, without what it stands in.
    pub name: String,
    /// What it stands in; empty for nothing.
    pub container: String,
    /// What it is.
    pub kind: Kind,
    /// Where its name is.
    pub place: Place,
}

/// What questions are answered with.
pub struct Desk<'a> {
    /// The indexes.
    pub indexes: &'a Indexes,
    /// The facts of texts.
    pub facts: &'a FactStore,
    /// The user's folders.
    pub folders: Option<&'a Folders>,
    /// The documents that are open.
    pub open: &'a [Opened],
}

/// The name at a place of a document.
struct Asked {
    rooted: Arc<Rooted>,
    /// What the document is called in its index.
    path: String,
    text: Text,
    facts: Arc<Facts>,
    offset: usize,
}

impl Desk<'_> {
    /// The symbols of a document.
    pub fn outline(&self, document: &Opened) -> Vec<Node> {
        let Some(facts) = self.facts_of(document) else { return Vec::new() };
        let symbols = FileSymbols::new(&facts, &document.text.text);
        let mut open: Vec<Node> = Vec::new();
        let mut all = Vec::new();
        let put = |node: Node, open: &mut Vec<Node>, all: &mut Vec<Node>| match open.last_mut() {
            Some(around) => around.children.push(node),
            None => all.push(node),
        };
        for defined in symbols.definitions() {
            while open.last().is_some_and(|around| around.span.end <= defined.span.start) {
                let node = open.pop().expect("one is there");
                put(node, &mut open, &mut all);
            }
            if open.len() == DEEPEST {
                let node = open.pop().expect("there are as many as are kept");
                put(node, &mut open, &mut all);
            }
            open.push(Node {
                name: defined.short().to_owned(),
                kind: defined.kind,
                name_span: defined.name_span,
                span: defined.span,
                children: Vec::new(),
            });
        }
        while let Some(node) = open.pop() {
            put(node, &mut open, &mut all);
        }
        all
    }

    /// The symbols of the workspace whose names are like `query`.
    pub fn search(&self, query: &str) -> Vec<Symbol> {
        self.bring_up_to_date();
        let roots = self.indexes.all();
        let each = SEARCHED / roots.len().max(1);
        let mut shown = Shown::new(self);
        let all = roots
            .iter()
            .flat_map(|rooted| rooted.index.search(query, each).into_iter().map(move |found| (rooted, found)));
        let symbols = all.filter_map(|(rooted, found)| {
            let container = found.name.strip_suffix(found.short()).unwrap_or_default().trim_end_matches('.');
            Some(Symbol {
                name: found.short().to_owned(),
                container: container.to_owned(),
                kind: found.kind,
                place: shown.place(rooted, &found.path, &found.name_span)?,
            })
        });
        symbols.collect()
    }

    /// Where what the name at a place stands for is defined.
    pub fn definitions(&self, document: &Opened, offset: usize) -> Vec<Place> {
        let Some(asked) = self.asked(document, offset) else { return Vec::new() };
        let mut shown = Shown::new(self);
        let found = self.meant(&asked);
        let places: Vec<Place> =
            found.iter().filter_map(|(rooted, found)| shown.place(rooted, &found.path, &found.name_span)).collect();
        if !places.is_empty() {
            return places;
        }
        // A module is defined by its file.
        let meaning = asked.names().meaning_at(offset);
        let modules =
            meaning.iter().filter(|meaning| !meaning.is_own).flat_map(|meaning| &meaning.names).flat_map(|name| {
                let name: Vec<&str> = name.iter().map(String::as_str).collect();
                asked.rooted.index.modules(&name)
            });
        modules.take(DEFINITIONS).filter_map(|path| shown.place(&asked.rooted, &path, &(0..0))).collect()
    }

    /// Where the name at a place is meant.
    pub fn references(&self, document: &Opened, offset: usize, with_definitions: bool) -> Vec<Place> {
        let Some(asked) = self.asked(document, offset) else { return Vec::new() };
        let meant = self.meant(&asked);
        let full = meant.first().map(|(_, found)| found.full().iter().map(|&part| part.to_owned()).collect());
        let full: Option<Vec<String>> = full.or_else(|| asked.names().meaning_at(offset)?.names.into_iter().next());
        let Some(full) = full else { return Vec::new() };
        let wanted: Vec<&str> = full.iter().map(String::as_str).collect();
        let deadline = Instant::now() + PATIENCE;
        let mut shown = Shown::new(self);
        let mut places = Vec::new();
        for rooted in self.indexes.all() {
            let open = |path: &str| self.open_in(&rooted, path);
            let bounds = Bounds { deadline, places: REFERENCES, stop: rooted.stopped() };
            let is_wanted = |one: &&Reference| with_definitions || one.role != symbols::Role::Definition;
            let found = rooted.index.references(&wanted, &open, bounds);
            places.extend(
                found
                    .found
                    .iter()
                    .filter(is_wanted)
                    .map(|one| shown.place_in(&rooted, &one.path, &one.text, &one.span)),
            );
        }
        places
    }

    /// What is told of the name at a place.
    pub fn hover(&self, document: &Opened, offset: usize) -> Option<Hover> {
        let asked = self.asked(document, offset)?;
        let (_, span) = asked.names().chain_at(offset)?;
        let meant = self.meant(&asked);
        let (rooted, found) = meant.first()?;
        let place = Shown::new(self).place(rooted, &found.path, &found.span)?;
        let name = plain(&found.name, PATH);
        let mut lines = vec![format!("{} {name}, {}:{}", found.kind.name(), plain(&found.path, PATH), found.line)];
        lines.extend(signature(&place.text, found));
        if meant.len() > 1 {
            lines.push(format!("and {} more of that name", meant.len() - 1));
        }
        Some(Hover { span, lines })
    }

    /// The definitions that the name at a place may stand for, the likeliest first.
    fn meant(&self, asked: &Asked) -> Vec<(Arc<Rooted>, Found)> {
        let Some(meaning) = asked.names().meaning_at(asked.offset) else { return Vec::new() };
        self.bring_up_to_date();
        let of_root =
            |found: Vec<Found>| found.into_iter().map(|found| (asked.rooted.clone(), found)).collect::<Vec<_>>();
        let short = &asked.text.text[meaning.word.clone()];
        let own = asked.rooted.index.outline(&asked.path).unwrap_or_default();
        // A definition's own name.
        if let Some(itself) = own.iter().find(|found| found.name_span == meaning.word) {
            return of_root(vec![itself.clone()]);
        }
        if meaning.is_own {
            let mut near: Vec<Found> = own.into_iter().filter(|found| found.short() == short).collect();
            // What stands in the same thing comes first, then what stands out further.
            near.sort_by_key(|found| std::cmp::Reverse(depth_of(&asked.facts, found, asked.offset)));
            if !near.is_empty() {
                return of_root(near);
            }
        }
        let mut found = Vec::new();
        for rooted in std::iter::once(asked.rooted.clone()).chain(self.indexes.all()) {
            for name in &meaning.names {
                let name: Vec<&str> = name.iter().map(String::as_str).collect();
                let of_name = rooted.index.resolve(&name, DEFINITIONS).into_iter().map(|found| (rooted.clone(), found));
                found.extend(of_name);
            }
            if !found.is_empty() {
                return found;
            }
        }
        let is_imported = meaning.names.iter().any(|name| name.len() > 1) && asked.is_imported();
        if is_imported { found } else { of_root(asked.rooted.index.find(short, DEFINITIONS)) }
    }

    fn asked(&self, document: &Opened, offset: usize) -> Option<Asked> {
        let facts = self.facts_of(document)?;
        let (rooted, path) = self.indexes.of(&document.path)?;
        Some(Asked { rooted, path, text: document.text.clone(), facts, offset })
    }

    fn facts_of(&self, document: &Opened) -> Option<Arc<Facts>> {
        let language = Language::of(&document.path.to_string_lossy(), &document.text.text)?;
        self.facts.facts(language, &document.text.text).ok()
    }

    /// The index of each open document knows its text, and files that nobody watches are looked at.
    pub fn bring_up_to_date(&self) {
        for rooted in self.indexes.all() {
            rooted.look(self.folders);
        }
        for document in self.open {
            let Some((rooted, path)) = self.indexes.of(&document.path) else { continue };
            let Some(language) = Language::of(&path, &document.text.text) else { continue };
            if let Ok(facts) = self.facts.facts(language, &document.text.text) {
                let digest = system::digest::sha256(document.text.text.as_bytes());
                rooted.index.open(&path, language, &document.text.text, digest, &facts);
            }
        }
    }

    fn open_in(&self, rooted: &Rooted, path: &str) -> Option<(Arc<str>, Arc<Facts>)> {
        let document = self.document(&rooted.folder.join(path))?;
        Some((document.text.text.clone(), self.facts_of(document)?))
    }

    fn document(&self, path: &Path) -> Option<&Opened> {
        self.open.iter().find(|document| document.path == path)
    }
}

impl Asked {
    fn names(&self) -> Names<'_> {
        Names::new(&self.path, &self.text.text, &self.facts)
    }

    /// Whether an import gives the name its meaning.
    fn is_imported(&self) -> bool {
        let chain = self.names().chain_at(self.offset);
        let head = chain.map(|(chain, _)| chain[0]);
        self.facts.imports.iter().any(|import| import.alias.as_deref() == head)
    }
}

/// How deep the thing is in which a definition stands, if a place is in it too; what stands in other things is last.
fn depth_of(facts: &Facts, found: &Found, offset: usize) -> usize {
    let parts: Vec<&str> = found.name.split('.').collect();
    let Some((_, around)) = parts.split_last() else { return 0 };
    if around.is_empty() {
        return 1;
    }
    let name = around.join(".");
    let holds = facts.definitions.iter().any(|definition| definition.name == name && definition.span.contains(&offset));
    if holds { 1 + around.len() } else { 0 }
}

/// The first lines of a definition, up to its body, without what they are indented by.
fn signature(text: &Text, found: &Found) -> Vec<String> {
    let head = text.text.get(text.line(text.line_number(found.name_span.start) as usize - 1).start..found.span.end);
    let head = head.unwrap_or_default();
    let indent = head.len() - head.trim_start().len();
    let mut lines = Vec::new();
    for line in head.lines().take(SIGNATURE) {
        let blanks = line.len() - line.trim_start().len();
        let shown = plain(line[blanks.min(indent)..].trim_end(), WHY);
        let ends = shown.ends_with([':', '{', ';']);
        lines.push(shown);
        if ends {
            break;
        }
    }
    lines
}

/// The texts of files that are shown, each read once.
struct Shown<'a> {
    desk: &'a Desk<'a>,
    last: Option<(PathBuf, Text)>,
}

impl<'a> Shown<'a> {
    fn new(desk: &'a Desk<'a>) -> Shown<'a> {
        Shown { desk, last: None }
    }

    /// A place of a file by its path in an index; none where the file has no such place any more.
    fn place(&mut self, rooted: &Rooted, path: &str, span: &Span) -> Option<Place> {
        let full = rooted.folder.join(path);
        let text = match (self.desk.document(&full), &self.last) {
            (Some(document), _) => document.text.clone(),
            (None, Some((known, text))) if *known == full => text.clone(),
            (None, _) => {
                let bytes = Root::open(rooted.index.root()).ok()?.read(Path::new(path), LARGEST).ok()??;
                Text::new(String::from_utf8(bytes).ok()?)
            }
        };
        self.last = Some((full.clone(), text.clone()));
        text.text.get(span.clone()).is_some().then(|| Place { path: full, text, span: span.clone() })
    }

    /// A place of a file whose text is known.
    fn place_in(&mut self, rooted: &Rooted, path: &str, text: &Arc<str>, span: &Span) -> Place {
        let full = rooted.folder.join(path);
        let known = self.last.as_ref().filter(|(known, last)| *known == full && Arc::ptr_eq(&last.text, text));
        let text = known.map_or_else(|| Text::new(text.clone()), |(_, text)| text.clone());
        self.last = Some((full.clone(), text.clone()));
        Place { path: full, text, span: span.clone() }
    }
}
