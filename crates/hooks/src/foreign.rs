//! Hooks that other tools would run from a root: listed so that a person knows, since Ruleline cannot gate them.

use std::path::Path;

/// A file in which another tool finds hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Below the root.
    pub path: String,
    /// Whose file it is.
    pub tool: &'static str,
    /// How many hooks it names; none when it cannot be read.
    pub hooks: Option<usize>,
}

/// The files below `root` in which other tools find hooks. Bounded; follows no link.
pub fn hooks_of_others(_root: &Path) -> Vec<Foreign> {
    unimplemented!()
}
