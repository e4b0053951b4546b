//! The text a person reads before trusting: every file whole, escaped, with what is odd about it.
//!
//! Control, bidirectional, zero-width and other invisible characters are shown as escapes; lines that are very long, or
//! hold a run of blanks that would push text out of sight, are flagged; references to what lies outside the folder are
//! listed, since a grant does not cover it. The text is plain and has no control characters but line ends.

use std::path::Path;

use crate::tree::Tree;

/// What deserves a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The file.
    pub path: String,
    /// From 1; none is about the whole file.
    pub line: Option<u32>,
    /// In one line, escaped.
    pub text: String,
}

/// A review of one folder of hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The whole text: head with root and digest, remarks, every file, and what to do next.
    pub text: String,
    /// What stands in the text as remarks.
    pub remarks: Vec<Remark>,
}

/// Reviews the hooks of `root`.
pub fn review(_root: &Path, _tree: &Tree) -> Review {
    unimplemented!()
}

/// A line of a file as it is shown: escaped, never more than one line.
pub fn escape(_line: &str) -> String {
    unimplemented!()
}
