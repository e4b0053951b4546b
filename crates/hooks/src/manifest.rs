//! `hooks.yaml` to entries and problems, each with its place.
//!
//! A bad entry is skipped and its siblings load; nothing is ever left out without a problem that says so. Bounded in
//! size, nodes and depth before anything is built; aliases are refused.

use std::ops::Range;
use std::time::Duration;

use crate::matcher::Matcher;

/// Which half of a pair of scripts runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// `NAME.sh`.
    Unix,
    /// `NAME.ps1`.
    Windows,
}

impl Platform {
    /// This machine's.
    pub const HERE: Platform = if cfg!(windows) { Platform::Windows } else { Platform::Unix };
}

/// What a hook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A script of the folder.
    Script {
        /// As the manifest names it.
        name: String,
        /// The file in the folder.
        file: String,
    },
    /// A hook that is part of Ruleline.
    Builtin(String),
    /// A program with its arguments, run without a shell.
    Command(Vec<String>),
}

/// What becomes of a PreToolUse call when a hook ran and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// It proceeds, loudly.
    Allow,
    /// A person decides.
    Ask,
    /// It is refused.
    Deny,
}

/// One hook.
#[derive(Debug, Clone)]
pub struct Entry {
    /// One of [`crate::EVENTS`].
    pub event: &'static str,
    /// What it runs.
    pub action: Action,
    /// None: every tool.
    pub matcher: Option<Matcher>,
    /// How long it may take.
    pub timeout: Duration,
    /// None: the default of its action.
    pub on_error: Option<OnError>,
    /// Where it stands in the manifest, in bytes.
    pub span: Range<usize>,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// An entry, an event or everything is skipped, or a key is not known.
    Error,
    /// It loads, and not as written.
    Warning,
}

/// One thing that is wrong in a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// How bad.
    pub severity: Severity,
    /// What is wrong and what to do, in one line, escaped.
    pub message: String,
    /// The event whose entry (or entries) are skipped for it; `*` is all of them.
    pub skips: Option<String>,
}

/// What a manifest says.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// In document order.
    pub entries: Vec<Entry>,
    /// In document order.
    pub problems: Vec<Problem>,
}

impl Manifest {
    /// Reads a manifest. `has_file` tells which files stand in its folder, `builtins` which builtin hooks there are.
    pub fn parse(_bytes: &[u8], _has_file: &dyn Fn(&str) -> bool, _platform: Platform, _builtins: &[&str]) -> Manifest {
        unimplemented!()
    }

    /// The entries for an event whose tool has these names (none for an event without a tool: then a matcher is not
    /// asked), in document order.
    pub fn for_event<'a>(&'a self, _event: &str, _tool: &[&str]) -> Vec<&'a Entry> {
        unimplemented!()
    }
}
