//! Whether a root's hooks are trusted now: the one question that the hook, the command line and the server ask.

use std::path::Path;

use crate::compare::Changed;
use crate::grants::{Grant, Store, StoreError};
use crate::tree::{Refused, Tree};

/// Where a root's hooks stand.
#[derive(Debug, Clone)]
pub enum Standing {
    /// There is no folder of hooks, or nothing in it, and there never was a grant.
    Absent,
    /// Nobody has granted them, or a grant was taken back.
    NotReviewed {
        /// What is there.
        tree: Tree,
        /// What was granted before it was taken back.
        last: Option<Grant>,
    },
    /// Exactly these bytes are granted.
    Trusted {
        /// The grant.
        grant: Grant,
    },
    /// Granted once, and the bytes are others now, or gone.
    Changed {
        /// The grant.
        grant: Grant,
        /// What differs; every file as removed when the folder is gone.
        changes: Vec<Changed>,
        /// What is there; none when the folder is gone.
        tree: Option<Tree>,
    },
    /// The folder cannot be read whole, so that none of it is trusted.
    Refused {
        /// Why.
        refused: Refused,
        /// What is granted.
        grant: Option<Grant>,
    },
    /// The store cannot be read, so that nothing is trusted.
    StoreLost {
        /// Why.
        error: StoreError,
        /// How many files there are; none when the folder cannot be read.
        files: Option<usize>,
    },
}

impl Standing {
    /// Reads all bytes and says where they stand.
    pub fn read(_store: &Store, _root: &Path) -> Standing {
        unimplemented!()
    }

    /// As [`Standing::read`], but bytes whose signature was remembered are not read again.
    pub fn look(_store: &Store, _root: &Path) -> Standing {
        unimplemented!()
    }
}

/// What people are told of a root's hooks, in one line and without a full stop: `3 hook files in ROOT were never
/// reviewed, so none of them ran; read them with ...`. None when there is nothing to tell. Paths are escaped. At most
/// three changed files are named.
pub fn sentence(_standing: &Standing, _root: &Path) -> Option<String> {
    unimplemented!()
}
