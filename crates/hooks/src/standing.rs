//! Whether a root's hooks are trusted now: the one question that the hook, the command line and the server ask.

use std::path::Path;

use rules::plain::{PATH, plain};

use crate::compare::{Changed, Difference, all_removed, differences};
use crate::grants::{Grant, Means, Record, Store, StoreError};
use crate::snapshots::Snapshot;
use crate::texts::{count, shown};
use crate::tree::{Refused, Signature, Tree};

/// Most changed files that a sentence names.
const NAMED: usize = 3;

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
    pub fn read(store: &Store, root: &Path) -> Standing {
        let record = store.read(root);
        Standing::of(store, record, Tree::read(root))
    }

    /// As [`Standing::read`], but bytes whose signature was remembered are not read again.
    pub fn look(store: &Store, root: &Path) -> Standing {
        let record = store.read(root);
        if let Ok(Some(Record::Granted(grant))) = &record
            && let Ok(Some(signature)) = Signature::look(root)
            && store.remembered(root, &signature) == Some(grant.digest)
            && !lacks_snapshot(store, grant)
        {
            return Standing::Trusted { grant: grant.clone() };
        }
        let tree = Tree::read(root);
        let seen = tree.as_ref().ok().and_then(Option::as_ref).map(|tree| (tree.signature.clone(), tree.digest));
        let standing = Standing::of(store, record, tree);
        if let (Standing::Trusted { .. }, Some((signature, digest))) = (&standing, seen) {
            store.remember(root, &signature, digest);
        }
        standing
    }

    fn of(store: &Store, record: Result<Option<Record>, StoreError>, tree: Result<Option<Tree>, Refused>) -> Standing {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let files = tree.ok().map(|tree| tree.map_or(0, |tree| tree.files.len()));
                return Standing::StoreLost { error, files };
            }
        };
        let tree = match tree {
            Ok(tree) => tree,
            Err(refused) => {
                let grant = match record {
                    Some(Record::Granted(grant)) => Some(grant),
                    _ => None,
                };
                return Standing::Refused { refused, grant };
            }
        };
        match (record, tree) {
            (Some(Record::Granted(grant)), None) => {
                let changes = all_removed(&grant.files);
                Standing::Changed { grant, changes, tree: None }
            }
            (Some(Record::Granted(grant)), Some(tree)) if tree.digest == grant.digest => {
                if lacks_snapshot(store, &grant) {
                    // Without it nothing runs, and whoever runs the hooks says why.
                    let _ = Snapshot::write(store.state(), &tree);
                }
                Standing::Trusted { grant }
            }
            (Some(Record::Granted(grant)), Some(tree)) => {
                let former = Snapshot::open(store.state(), grant.digest).ok();
                let changes = differences(&grant.files, former.as_ref().map(|former| &former.tree), &tree);
                Standing::Changed { grant, changes, tree: Some(tree) }
            }
            (Some(Record::Withdrawn { last, .. }), Some(tree)) => Standing::NotReviewed { tree, last: Some(last) },
            (None, Some(tree)) => Standing::NotReviewed { tree, last: None },
            (Some(Record::Withdrawn { .. }) | None, None) => Standing::Absent,
        }
    }

    /// What is granted, whether or not it is what is there.
    pub fn grant(&self) -> Option<&Grant> {
        match self {
            Standing::Trusted { grant } | Standing::Changed { grant, .. } => Some(grant),
            Standing::Refused { grant, .. } => grant.as_ref(),
            Standing::Absent | Standing::NotReviewed { .. } | Standing::StoreLost { .. } => None,
        }
    }
}

/// The machine's owner grants bytes, and cannot write into each user's state: the first who meets them copies them.
fn lacks_snapshot(store: &Store, grant: &Grant) -> bool {
    grant.by.means == Means::System && !Snapshot::may_be_there(store.state(), grant.digest)
}

/// What people are told of a root's hooks, in one line and without a full stop: `3 hook files in ROOT were never
/// reviewed, so none of them ran; read them with ...`. None when there is nothing to tell. Paths are escaped. At most
/// three changed files are named.
pub fn sentence(standing: &Standing, root: &Path) -> Option<String> {
    let place = shown(root);
    Some(match standing {
        Standing::Absent | Standing::Trusted { .. } => return None,
        Standing::NotReviewed { tree, last } => {
            let files = count(tree.files.len(), "hook file");
            let (were, them) = if tree.files.len() == 1 { ("was", "it") } else { ("were", "them") };
            let what = if last.is_some() { "untrusted" } else { "never reviewed" };
            let none = if tree.files.len() == 1 { "it does not run" } else { "none of them runs" };
            format!(
                "{files} in {place} {were} {what}, so {none}; `ruleline hooks show` shows {them}, `ruleline hooks trust` turns {them} on"
            )
        }
        Standing::Changed { tree: None, .. } => {
            format!(
                "the trusted hooks in {place} are gone, so none of them runs; bring the files back, or `ruleline hooks untrust`"
            )
        }
        Standing::Changed { changes, .. } => {
            let files = named(changes);
            format!(
                "the hooks in {place} changed since they were trusted ({files}), so none of them runs; `ruleline hooks diff` shows how, `ruleline hooks trust` trusts them as they are now"
            )
        }
        Standing::Refused { refused, .. } => {
            format!("the hooks in {place} cannot be read whole, so none of them runs: {refused}")
        }
        Standing::StoreLost { error, .. } => {
            format!("the record of trust for the hooks in {place} cannot be used, so none of them runs: {error}")
        }
    })
}

fn named(changes: &[Changed]) -> String {
    let mut names: Vec<String> = changes.iter().take(NAMED).map(one).collect();
    if changes.len() > NAMED {
        names.push(format!("and {} more", changes.len() - NAMED));
    }
    names.join(", ")
}

fn one(change: &Changed) -> String {
    let path = plain(&change.path, PATH);
    match change.how {
        Difference::Edited => path,
        other => format!("{path}: {}", other.word()),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
