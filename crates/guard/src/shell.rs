//! Files that a shell command writes, as far as its text alone tells: patches handed to `apply_patch`.
//!
//! Nothing is run and nothing expanded.

use std::path::Path;

use agents::{FileEdit, Files, ToolCall};

/// What a command does to files.
#[derive(Debug, Default)]
pub struct Written {
    /// The edits it makes.
    pub edits: Vec<FileEdit>,
    /// What a person must do instead, each in one line.
    pub asks: Vec<String>,
    /// What could not be understood, each in one line.
    pub failures: Vec<String>,
}

/// Whether a command may do anything that is looked at here; a scan of its bytes.
pub fn may_write(command: &str) -> bool {
    agents::patch::holds(command)
}

/// Reads a command.
pub fn read(command: &str, cwd: &Path, files: &dyn Files) -> Written {
    let mut written = Written::default();
    match agents::edits(&ToolCall::Patch { text: command.to_owned() }, Some(cwd), files) {
        Ok(edits) => written.edits.extend(edits),
        Err(why) => written.failures.push(why),
    }
    written
}
