//! The digest of a folder of hooks: SHA-256 over `ruleline-hooks-tree-v1\0` and, in raw byte order of the paths, each
//! file's path length, path, exec bit, size and content hash. Nothing else names bytes that are trusted.

use std::fmt;

use crate::tree::TreeFile;

/// The digest of a folder of hooks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeDigest([u8; 32]);

impl TreeDigest {
    /// The digest of these files, in any order.
    pub fn of(_files: &[TreeFile]) -> TreeDigest {
        unimplemented!()
    }

    /// 64 lower-case hex digits.
    pub fn hex(&self) -> String {
        system::digest::hex(&self.0)
    }

    /// The first 12 hex digits: what a person types and an editor shows.
    pub fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }

    /// The digest of 64 hex digits.
    pub fn parse(_hex: &str) -> Option<TreeDigest> {
        unimplemented!()
    }
}

impl fmt::Debug for TreeDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}
