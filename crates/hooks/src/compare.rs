//! What differs between a grant and the bytes of today.

use crate::grants::GrantedFile;
use crate::tree::Tree;

/// How one file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// It was not there.
    Added,
    /// It is gone.
    Removed,
    /// Its bytes are others.
    Edited,
    /// Its bytes are others in nothing but line endings.
    LineEndings,
    /// Only its exec bit is another.
    Mode,
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// As [`crate::TreeFile::path`].
    pub path: String,
    /// How.
    pub how: Difference,
}

/// What differs, by path. `former` is the snapshot of what was granted, where it still is: it tells
/// [`Difference::LineEndings`].
pub fn differences(_granted: &[GrantedFile], _former: Option<&Tree>, _now: &Tree) -> Vec<Changed> {
    unimplemented!()
}

/// A unified diff of a granted snapshot and the bytes of today, each line escaped as a review is; bounded.
pub fn unified(_former: &Tree, _now: &Tree) -> String {
    unimplemented!()
}
