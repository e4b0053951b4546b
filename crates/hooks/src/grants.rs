//! Who trusts what: one file for each root in `<state>/grants`, and those of the machine's owner in `/etc/ruleline/grants`.
//!
//! A record names root, folder and digest, every file with its hash, when and how it was granted and by which chain of
//! processes. It is replaced as a whole, synced and under a lock; one that is malformed, of another owner or open to
//! others counts as untrusted and is left alone. Nothing here asks a person: that is the command line's and the editor's
//! part, and they hand in the digest the person saw.

mod record;
pub(crate) mod store;

use std::path::PathBuf;
use std::time::SystemTime;

pub(crate) use record::{Place, WrittenGrant};
use rules::plain::plain;
pub use store::{Store, make_private, open_private, read_private};
use system::clock::date;

use crate::digest::TreeDigest;
use crate::texts::shown;

/// Most processes of a chain that a sentence names, and most characters of each.
const SHOWN: usize = 8;
const NAME: usize = 40;

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

impl Grant {
    /// `on 2026-12-01 04:05 UTC at a terminal by zsh < sshd`: when, how and by which processes, escaped and bounded.
    pub fn how(&self) -> String {
        format!("on {} {}", date(self.at), self.by.sentence())
    }
}

impl Record {
    /// What was granted last.
    pub fn grant(&self) -> &Grant {
        match self {
            Record::Granted(grant) | Record::Withdrawn { last: grant, .. } => grant,
        }
    }
}

impl Grantor {
    /// `at a terminal by zsh < sshd`: how and by which processes, escaped and bounded.
    pub fn sentence(&self) -> String {
        let means = match self.means {
            Means::Terminal => "at a terminal",
            Means::Editor => "in an editor",
            Means::System => "by the machine's owner",
        };
        if self.processes.is_empty() {
            return means.to_owned();
        }
        let chain = self.processes.iter().take(SHOWN).map(|name| plain(name, NAME)).collect::<Vec<_>>().join(" < ");
        let more = if self.processes.len() > SHOWN { " < ..." } else { "" };
        format!("{means} by {chain}{more}")
    }
}

/// Why the store was not read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}", path = shown(.path))]
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
    #[error("the hooks are {} now and were {} when they were reviewed; review them again", now.short(), reviewed.short())]
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

#[cfg(unix)]
#[cfg(test)]
mod tests;
