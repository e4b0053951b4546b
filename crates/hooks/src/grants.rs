//! Who trusts what: one file for each root in `<state>/grants`, and those of the machine's owner in `/etc/ruleline/grants`.
//!
//! A record names root, folder and digest, every file with its hash, when and how it was granted and by which chain of
//! processes. It is replaced as a whole, synced and under a lock; one that is malformed, of another owner or open to
//! others counts as untrusted and is left alone. Nothing here asks a person: that is the command line's and the editor's
//! part, and they hand in the digest the person saw.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::digest::TreeDigest;
use crate::tree::{Signature, Tree};

/// How a person granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// `ruleline hooks trust` at a terminal.
    Terminal,
    /// A code action in an editor, confirmed there.
    Editor,
    /// A file of the machine's owner in `/etc/ruleline/grants`.
    System,
}

/// Who granted or withdrew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grantor {
    /// How.
    pub means: Means,
    /// The program and its parents, innermost first, as the system names them.
    pub processes: Vec<String>,
}

/// One file of a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedFile {
    /// As [`crate::TreeFile::path`].
    pub path: String,
    /// Hex.
    pub sha256: String,
    /// In bytes.
    pub size: u64,
    /// As [`crate::TreeFile::executable`].
    pub executable: bool,
}

/// A person's trust in the exact bytes of a folder of hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The root, with links resolved.
    pub root: PathBuf,
    /// The digest.
    pub digest: TreeDigest,
    /// The files, in order.
    pub files: Vec<GrantedFile>,
    /// When.
    pub at: SystemTime,
    /// Who.
    pub by: Grantor,
}

/// What the store holds for a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Granted, and not withdrawn.
    Granted(Grant),
    /// A person took it back; the last grant stays known, so that a change can be shown.
    Withdrawn {
        /// What was granted last.
        last: Grant,
        /// When it was taken back.
        at: SystemTime,
    },
}

/// Why the store was not read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}", path = .path.display())]
pub struct StoreError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong and what to do, in one line.
    pub why: String,
}

/// Why nothing was granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// The bytes are others than those that were reviewed.
    #[error("the hooks are {now:?} now and were {reviewed:?} when they were reviewed; review them again")]
    Changed {
        /// What was reviewed.
        reviewed: TreeDigest,
        /// What is there.
        now: TreeDigest,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The grants of a user.
#[derive(Debug, Clone)]
pub struct Store {
    state: PathBuf,
}

impl Store {
    /// The store in this state folder, which the caller has admitted ([`system::Folders::admit`]).
    pub fn new(state: &Path) -> Store {
        Store { state: state.to_path_buf() }
    }

    /// The state folder.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// What is recorded for a root; the user's own record wins over that of the machine's owner. None: never granted.
    ///
    /// # Errors
    /// A record that is there and cannot be used: the hooks count as untrusted.
    pub fn read(&self, _root: &Path) -> Result<Option<Record>, StoreError> {
        unimplemented!()
    }

    /// Whether there is any record at all: a look at one name.
    pub fn holds_any(&self) -> bool {
        unimplemented!()
    }

    /// Whether there is a record for a root, whatever it says: a look at one name.
    pub fn holds(&self, _root: &Path) -> bool {
        unimplemented!()
    }

    /// The private copy that runs for a grant; that of the machine's owner is made from the project's bytes at its first
    /// use, if they are the granted ones.
    ///
    /// # Errors
    /// As [`crate::Snapshot::open`].
    pub fn snapshot(&self, _grant: &Grant) -> Result<crate::Snapshot, StoreError> {
        unimplemented!()
    }

    /// Every record of the user, those that cannot be read as errors; for lists.
    pub fn all(&self) -> Vec<Result<Record, StoreError>> {
        unimplemented!()
    }

    /// Grants the bytes of `tree` to `root`: writes the snapshot, then the record.
    ///
    /// # Errors
    /// [`GrantError`]; nothing has changed then.
    pub fn grant(
        &self,
        _root: &Path,
        _tree: &Tree,
        _reviewed: TreeDigest,
        _by: &Grantor,
        _now: SystemTime,
    ) -> Result<Grant, GrantError> {
        unimplemented!()
    }

    /// Takes a grant back; none when there was none.
    ///
    /// # Errors
    /// The record cannot be read or written; it stands as it was.
    pub fn withdraw(&self, _root: &Path, _now: SystemTime) -> Result<Option<Grant>, StoreError> {
        unimplemented!()
    }

    /// Remembers that the folder with this signature has this digest, so that the next event need not read it. Never
    /// more than a saving: it is used only for a signature that is not fresh.
    pub fn remember(&self, _root: &Path, _signature: &Signature, _digest: TreeDigest) {
        unimplemented!()
    }

    /// The digest remembered for exactly this signature.
    pub fn remembered(&self, _root: &Path, _signature: &Signature) -> Option<TreeDigest> {
        unimplemented!()
    }
}
