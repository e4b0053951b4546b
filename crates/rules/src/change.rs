//! The heart: one file before and after an edit, with the lines the edit adds.
//!
//! Everything that edits becomes one of these: an agent's Write or patch, a buffer against its baseline, a git diff.
//! A move is two changes: the source deleted, the target created with all of its content added.

use std::sync::Arc;

use syntax::Span;

/// How the numbers of [`AddedLine`] count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counting {
    /// Lines of the file after the edit, from 1.
    File,
    /// The file after the edit is unknown: lines of the edit's new text, from 1 for each new text.
    NewText,
    /// A notebook: `text` is the sources of its cells one after the other; this is the first line (from 1) of each cell.
    Cells(Vec<u32>),
}

/// One line that the edit adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLine {
    /// From 1, counted as [`Change::counting`] says.
    pub number: u32,
    /// Where it stands in [`Change::text`], without its line end.
    pub span: Span,
}

/// One file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path as shown to people and agents: relative to the root with `/`, or absolute outside of it.
    pub path: String,
    /// The spellings that globs are tried on: as written and with links resolved, relative to the rulebook's root
    /// where the file lies below it. At least one.
    pub names: Vec<String>,
    /// The file is deleted (or moved away): `text` is empty, nothing is added.
    pub deleted: bool,
    /// The file before the edit; none when there was none or it is unknown.
    pub before: Option<Arc<str>>,
    /// What the added lines are ranges of: the file after the edit, or the new text alone when that is unknown.
    pub text: Arc<str>,
    /// The same bytes as `text` with what is not code (a notebook's prose cells and magics) blanked, where they differ.
    pub code: Option<Arc<str>>,
    /// How lines are counted; [`Counting::NewText`] says that the file after the edit is unknown.
    pub counting: Counting,
    /// The lines the edit adds, in order.
    pub added: Vec<AddedLine>,
}

impl Change {
    /// Whether the file after the edit is known.
    pub fn result_known(&self) -> bool {
        self.counting != Counting::NewText
    }

    /// The same change as seen by a rulebook whose root gives the file these names.
    #[must_use]
    pub fn named(&self, path: String, names: Vec<String>) -> Change {
        Change { path, names, ..self.clone() }
    }
}
