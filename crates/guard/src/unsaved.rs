//! Files that an editor holds with changes that are not saved: small files of the state folder, written by a server and
//! read by the hook.
//!
//! A file names the process that wrote it and when it ends to count; one of a process that is gone, or that is not the
//! one that wrote it, counts no more. At most an ask comes of it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a file counts after it was written; a server with unsaved buffers writes it anew before that.
pub const LASTS: Duration = Duration::from_secs(600);

/// Writes what one server's editor holds unsaved.
#[derive(Debug)]
pub struct Unsaved {
    state: PathBuf,
    /// The editor in its own words (`clientInfo.name`).
    pub editor: String,
}

impl Unsaved {
    /// Nothing is written yet.
    pub fn new(state: &Path, editor: &str) -> Unsaved {
        Unsaved { state: state.to_path_buf(), editor: editor.to_owned() }
    }

    /// Writes the canonical paths of all unsaved files; none removes the record.
    ///
    /// # Errors
    /// In one line.
    pub fn write(&self, files: &[PathBuf], now: SystemTime) -> Result<(), String> {
        let _ = (files, now, &self.state);
        unimplemented!()
    }
}

/// The editor that holds a file unsaved, by its canonical path.
pub fn holder(state: &Path, file: &Path, now: SystemTime) -> Option<String> {
    let _ = (state, file, now);
    unimplemented!()
}
