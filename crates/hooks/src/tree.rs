//! One read of a folder of hooks: every byte that is hashed, shown, granted and copied comes from these buffers.
//!
//! The walk goes from folder handle to folder handle and follows no link. A link, a special file, an unreadable entry, a
//! name that is not plain UTF-8, two names that are equal on some file system, or more than the limits refuse the whole
//! folder with the reason: nothing is ever skipped.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::TreeDigest;

/// Most files of a folder.
pub const FILES: usize = 256;
/// Largest file, in bytes.
pub const FILE_SIZE: u64 = 1 << 20;
/// Most bytes of all files.
pub const TOTAL_SIZE: u64 = 8 << 20;
/// Deepest folder below the folder of hooks.
pub const DEPTH: usize = 8;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Below the folder of hooks, parts joined by `/`.
    pub path: String,
    /// Its bytes as they are on the disk.
    pub bytes: Arc<[u8]>,
    /// SHA-256 of `bytes`.
    pub sha256: [u8; 32],
    /// Whether its owner may execute it.
    pub executable: bool,
    /// How many names the file has on the disk; more than one is worth a warning.
    pub names: u64,
}

/// A folder of hooks as it was read once; it has at least one file.
#[derive(Debug, Clone)]
pub struct Tree {
    /// In raw byte order of the paths.
    pub files: Vec<TreeFile>,
    /// The signature the files had while they were read.
    pub signature: Signature,
    /// The digest of `files`.
    pub digest: TreeDigest,
}

/// Why a folder of hooks is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}", path = .path.display())]
pub struct Refused {
    /// What is in the way.
    pub path: PathBuf,
    /// What is wrong with it and what to do, in one line; holds no text of the repository that is not escaped.
    pub why: String,
}

/// What a look at the folder tells without reading the files: device, inode, size, both times and mode of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// SHA-256 over all of it, in hex.
    pub hash: String,
    /// A file was changed so shortly before the look that the next change may not show.
    pub fresh: bool,
}

impl Tree {
    /// Reads `<root>/.ruleline/hooks`; none when there is no such folder or no file in it. `root` has no link in it.
    ///
    /// # Errors
    /// [`Refused`] as the module says.
    pub fn read(_root: &Path) -> Result<Option<Tree>, Refused> {
        unimplemented!()
    }

    /// Reads the folder of hooks at `folder` itself, as the user's own hooks and snapshots are.
    ///
    /// # Errors
    /// As [`Tree::read`].
    pub fn read_folder(_folder: &Path) -> Result<Option<Tree>, Refused> {
        unimplemented!()
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&TreeFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl Signature {
    /// Looks at `<root>/.ruleline/hooks` without reading a file; none when there is no such folder or no file in it.
    ///
    /// # Errors
    /// [`Refused`] as for [`Tree::read`], as far as names and kinds tell.
    pub fn look(_root: &Path) -> Result<Option<Signature>, Refused> {
        unimplemented!()
    }
}
