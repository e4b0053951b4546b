//! What a person allowed once: one rule, one file, the very lines that were refused, one use, ten minutes (S10).
//!
//! An exception is a file of the state folder under the rules of grants. It is used up before the answer is given, never
//! covers self-protection, what could not be judged or the instruction check, and says who allowed it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hooks::grants::Grantor;
use rules::Change;

/// How long an exception waits to be used.
pub const LASTS: Duration = Duration::from_secs(600);

/// One exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// The id of the refusal that a person looked at.
    pub refusal: String,
    /// The project's root, canonical.
    pub root: PathBuf,
    /// The rulebook, and the digest of its bytes.
    pub rulebook: PathBuf,
    /// See `rulebook`.
    pub rulebook_digest: [u8; 32],
    /// The rule's id.
    pub rule: String,
    /// The file, canonical.
    pub path: PathBuf,
    /// Of the refused lines; see [`digest_of_added`].
    pub added: [u8; 32],
    /// When it was allowed.
    pub at: SystemTime,
    /// Who allowed it.
    pub by: Grantor,
}

/// The exceptions of a user.
#[derive(Debug, Clone)]
pub struct Exceptions {
    state: PathBuf,
}

impl Exceptions {
    /// Those in a state folder.
    pub fn new(state: &Path) -> Exceptions {
        Exceptions { state: state.to_path_buf() }
    }

    /// Records an exception, durably.
    ///
    /// # Errors
    /// It is not recorded; in one line.
    pub fn allow(&self, exception: &Exception) -> Result<(), String> {
        let _ = (exception, &self.state);
        unimplemented!()
    }
}

/// SHA-256 over the texts of a change's added lines in order, whatever their numbers.
pub fn digest_of_added(change: &Change) -> [u8; 32] {
    let _ = change;
    unimplemented!()
}
