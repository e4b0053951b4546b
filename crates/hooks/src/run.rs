//! Starts one hook and waits for it, never longer than its deadline.
//!
//! A script runs from the snapshot under an interpreter with an absolute path, in a process group of its own, with an
//! environment that is built anew and with bounded output. The deadline bounds the wait as well as the kill: a grandchild
//! that keeps a pipe open keeps nobody waiting.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::answer::Outcome;
use crate::manifest::Entry;

/// How a hook is started.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The folder its script is taken from: a snapshot, or the user's own hooks.
    pub folder: &'a Path,
    /// The root it works for; its working folder.
    pub root: &'a Path,
    /// One line of JSON for stdin, without its line end.
    pub payload: &'a str,
    /// When everything must be over; the entry's own timeout may end it earlier.
    pub deadline: Instant,
    /// Interpreters the user configured, tried before the fixed list.
    pub interpreters: &'a [PathBuf],
}

/// How one hook came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What came out.
    pub outcome: Outcome,
    /// For the person, in one line.
    pub note: Option<String>,
}

/// Runs one entry.
pub fn run(_entry: &Entry, _launch: &Launch<'_>) -> Ran {
    unimplemented!()
}
