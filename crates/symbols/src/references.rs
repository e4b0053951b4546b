//! Where a name is meant, in all files of the index.
//!
//! Files that do not hold the word are passed over; the others are read and looked at as [`crate::occurrences`] does. What is
//! found is of the files as they are now, the open ones as they are in the editor.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use memchr::memmem::Finder;
use syntax::{Facts, Language, Limits, LineIndex, Tree};
use system::open::Root;

use crate::fill::each_on_threads;
use crate::index::Index;
use crate::occurrences::{Names, Role};

/// A place where a name is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The file, relative to the root, with `/`.
    pub path: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The name in the text, in bytes.
    pub span: Range<usize>,
    /// What it is there.
    pub role: Role,
    /// The text of the file.
    pub text: Arc<str>,
}

/// How much is looked at.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// When to be done.
    pub deadline: Instant,
    /// Most places.
    pub places: usize,
    /// Set to stop it.
    pub stop: &'a AtomicBool,
}

impl Bounds<'_> {
    /// Whether there is reason to go on.
    pub fn go_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed) && Instant::now() < self.deadline
    }
}

/// What was found, in the order of paths and places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    /// The places.
    pub found: Vec<Reference>,
    /// There may be more: a bound was reached.
    pub is_partial: bool,
}

/// The text of a file that is open in an editor, and its facts; none where it is not open.
pub type OpenText<'a> = dyn Fn(&str) -> Option<(Arc<str>, Arc<Facts>)> + Sync + 'a;

impl Index {
    /// The places in the root where `wanted` (the parts of a name) may be meant.
    pub fn references(&self, wanted: &[&str], open: &OpenText<'_>, bounds: Bounds<'_>) -> References {
        let Some(short) = wanted.last() else { return References::default() };
        let finder = Finder::new(*short);
        let paths = self.paths();
        let (found, count, is_cut) = (Mutex::new(Vec::new()), AtomicUsize::new(0), AtomicBool::new(false));
        each_on_threads(
            &paths,
            None,
            || Root::open(self.root()).ok(),
            |root, path| {
                if !bounds.go_on() || count.load(Ordering::Relaxed) > bounds.places {
                    is_cut.store(true, Ordering::Relaxed);
                    return false;
                }
                let Some(language) = self.entry(path).map(|entry| entry.language) else { return true };
                let known = open(path).or_else(|| {
                    let bytes = root.as_ref()?.read(Path::new(&**path), self.limits().file_bytes).ok()??;
                    finder.find(&bytes)?;
                    let text: Arc<str> = String::from_utf8(bytes).ok()?.into();
                    let facts = facts(language, &text, bounds.deadline)?;
                    Some((text, Arc::new(facts)))
                });
                if let Some((text, facts)) = known.filter(|(text, _)| finder.find(text.as_bytes()).is_some()) {
                    let places = Names::new(path, &text, &facts).of(wanted);
                    count.fetch_add(places.len(), Ordering::Relaxed);
                    let lines = LineIndex::new(&text);
                    let places = places.into_iter().map(|place| Reference {
                        path: path.clone(),
                        line: lines.line_of(place.span.start) as u32 + 1,
                        span: place.span,
                        role: place.role,
                        text: text.clone(),
                    });
                    found.lock().unwrap_or_else(PoisonError::into_inner).extend(places);
                }
                true
            },
        );
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by(|one: &Reference, other| (&one.path, one.span.start).cmp(&(&other.path, other.span.start)));
        let is_partial = is_cut.into_inner() || found.len() > bounds.places;
        found.truncate(bounds.places);
        References { found, is_partial }
    }
}

fn facts(language: Language, text: &str, deadline: Instant) -> Option<Facts> {
    let limits = Limits { deadline: Some(deadline), ..Limits::default() };
    Tree::parse(language, text, &limits).ok().map(|tree| tree.facts(text))
}
