//! What a tool call does to files: the canonical result of reading an edit against the file on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reading the files that an edit changes; whoever calls bounds size and follows or refuses links.
pub trait Files {
    /// The file's text (bad UTF-8 replaced), `Ok(None)` when there is no such file.
    ///
    /// # Errors
    /// One line that says why the file cannot be read (a folder, a FIFO, too large, no permission).
    fn read(&self, path: &Path) -> Result<Option<Arc<str>>, String>;
}

/// One file as an edit leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// Absolute or relative to the event's cwd, as the agent wrote it.
    pub path: PathBuf,
    /// The file before; none when there was none.
    pub before: Option<Arc<str>>,
    /// The file after.
    pub after: After,
}

/// A file after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// Its text.
    Text(Arc<str>),
    /// A notebook: both sides as cells.
    Notebook {
        /// The cells before; empty when there was no notebook or it did not parse.
        before: Vec<Cell>,
        /// The cells after.
        after: Vec<Cell>,
    },
    /// It cannot be known (the old text is not there, or not once): only the new pieces are.
    Unknown {
        /// Each replacement's old and new text.
        fresh: Vec<Fresh>,
        /// Why, in one line.
        why: String,
    },
    /// It is gone (deleted, or moved to another entry of the same edit).
    Deleted,
    /// It arrived from elsewhere with this text: all of it counts as added.
    Moved(Arc<str>),
}

/// A replacement whose place is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// The old text.
    pub old: String,
    /// The new text.
    pub new: String,
}

/// One cell of a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its source.
    pub source: String,
    /// Whether it is code.
    pub code: bool,
}
