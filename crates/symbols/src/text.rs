//! Searching the text of all files below a root that git does not ignore, line by line.
//!
//! Files are opened below the root without following links; what is no text, or too large, is passed over.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use regex::Regex;
use system::open::Root;

use crate::fill::each_on_threads;
use crate::index::Index;
use crate::references::Bounds;

/// Longest line that is shown, in bytes; the rest of a longer one is left out.
const LINE: usize = 500;

/// A line that holds a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The file, relative to the root, with `/`.
    pub path: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// What stands in it.
    pub text: String,
}

/// What was found, in the order of paths and lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    /// The lines.
    pub found: Vec<Line>,
    /// There may be more: a bound was reached.
    pub is_partial: bool,
}

impl Index {
    /// The lines below the root that match, of files whose path (relative, with `/`) is one to look at.
    pub fn search_text(&self, pattern: &Regex, is_meant: &(dyn Fn(&str) -> bool + Sync), bounds: Bounds<'_>) -> Lines {
        let mut walk = Walk { index: self, bounds, is_meant, found: Vec::new(), is_cut: false };
        system::walk::below(self.root(), &mut walk);
        let Walk { found: mut paths, is_cut, .. } = walk;
        paths.sort_unstable();
        let (found, count, is_cut) = (Mutex::new(Vec::new()), AtomicUsize::new(0), AtomicBool::new(is_cut));
        each_on_threads(
            &paths,
            None,
            || Root::open(self.root()).ok(),
            |root, path| {
                if !bounds.go_on() || count.load(Ordering::Relaxed) > bounds.places {
                    is_cut.store(true, Ordering::Relaxed);
                    return false;
                }
                let read = root.as_ref().and_then(|root| root.read(Path::new(&**path), self.limits().file_bytes).ok());
                let Some(text) = read.flatten().and_then(|bytes| String::from_utf8(bytes).ok()) else { return true };
                let lines = matching(&text, pattern, bounds.places + 1);
                count.fetch_add(lines.len(), Ordering::Relaxed);
                let lines = lines.into_iter().map(|(line, text)| Line { path: path.clone(), line, text });
                found.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
                true
            },
        );
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by(|one: &Line, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        let is_partial = is_cut.into_inner() || found.len() > bounds.places;
        found.truncate(bounds.places);
        Lines { found, is_partial }
    }
}

/// The lines of a text that match, `most` of them.
fn matching(text: &str, pattern: &Regex, most: usize) -> Vec<(u32, String)> {
    let mut lines = Vec::new();
    if text.contains('\0') || !pattern.is_match(text) {
        return lines;
    }
    for (number, line) in text.lines().enumerate() {
        if lines.len() < most && pattern.is_match(line) {
            let shown = &line[..line.floor_char_boundary(LINE)];
            lines.push((u32::try_from(number + 1).unwrap_or(u32::MAX), shown.to_owned()));
        }
    }
    lines
}

struct Walk<'a> {
    index: &'a Index,
    bounds: Bounds<'a>,
    is_meant: &'a (dyn Fn(&str) -> bool + Sync),
    found: Vec<Arc<str>>,
    is_cut: bool,
}

impl system::walk::Visitor for Walk<'_> {
    fn goes_on(&mut self) -> bool {
        self.is_cut |= !self.bounds.go_on();
        !self.is_cut
    }

    fn file(&mut self, path: PathBuf) {
        let Some(relative) = self.index.relative(&path).filter(|path| (self.is_meant)(path)) else { return };
        if self.found.len() < self.index.limits().files {
            self.found.push(relative.into());
        } else {
            self.is_cut = true;
        }
    }

    fn unread(&mut self, _: &Path, _: String) {}
}
