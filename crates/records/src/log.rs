//! Where the lines lie, and appending one.
//!
//! A project with a `.ruleline` folder has its log in `.ruleline/traces/hooks.jsonl`, opened below the root without
//! following a link (S4); any other, and one whose file is not ours alone, in the state folder.

use std::path::{Path, PathBuf};

use crate::entry::Entry;

/// The log of one project.
#[derive(Debug, Clone)]
pub struct Log {
    /// The project's root, canonical.
    pub root: PathBuf,
    /// The state folder.
    pub state: PathBuf,
}

/// Why a line was not written or read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", system::paths::shown(.path))]
pub struct LogError {
    /// The file.
    pub path: PathBuf,
    /// In one line, with the remedy.
    pub why: String,
}

impl Log {
    /// The log of the project at `root`.
    pub fn new(root: &Path, state: &Path) -> Log {
        Log { root: root.to_path_buf(), state: state.to_path_buf() }
    }

    /// The file that lines are appended to now.
    pub fn path(&self) -> PathBuf {
        unimplemented!()
    }

    /// Appends one line and moves the chain's end; sets `entry.prev`.
    ///
    /// # Errors
    /// The line is not in the log.
    pub fn append(&self, entry: &mut Entry) -> Result<(), LogError> {
        let _ = entry;
        unimplemented!()
    }
}
