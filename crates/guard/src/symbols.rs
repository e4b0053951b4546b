//! What guards ask of an index of symbols, whoever keeps it: a server, or a file in the cache folder.
//!
//! What it says is a hint for whoever searches and decides nothing (S8).

use std::path::Path;

/// One symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, dotted with what it stands in.
    pub name: String,
    /// What it is: `class`, `function`, ...
    pub kind: &'static str,
    /// Its file, relative to the root, with `/`.
    pub path: String,
    /// The line of its name, from 1.
    pub line: u32,
}

/// An index of one root, held against the files as they are.
pub trait SymbolLookup {
    /// The definitions of a name, the likeliest first; at most `limit`.
    fn find(&self, name: &str, limit: usize) -> Vec<Symbol>;
    /// The definitions of a file (absolute), in the order of the text; at most `limit`.
    fn outline(&self, file: &Path, limit: usize) -> Vec<Symbol>;
}
