//! Private copies of granted bytes, `<state>/snapshots/<digest>/`: what runs.
//!
//! A snapshot is written beside and renamed into place, folders 0700, files 0400 or 0500. It is read and hashed anew
//! before each use; one that is not what its name says is a lost grant: it is kept aside and never used.

use std::path::{Path, PathBuf};

use crate::digest::TreeDigest;
use crate::grants::StoreError;
use crate::tree::Tree;

/// A snapshot that was just found to hold the bytes its digest names.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Where it is.
    pub folder: PathBuf,
    /// Its bytes.
    pub tree: Tree,
}

impl Snapshot {
    /// Writes the snapshot of `tree` unless it is there already.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(_state: &Path, _tree: &Tree) -> Result<Snapshot, StoreError> {
        unimplemented!()
    }

    /// Reads and hashes the snapshot of `digest`.
    ///
    /// # Errors
    /// It is missing, open to others, or holds other bytes (then it was put aside): a lost grant.
    pub fn open(_state: &Path, _digest: TreeDigest) -> Result<Snapshot, StoreError> {
        unimplemented!()
    }
}
