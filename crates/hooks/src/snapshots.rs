//! Private copies of granted bytes, `<state>/snapshots/<digest>/`: what runs.
//!
//! A snapshot is written beside and renamed into place, folders 0700, files 0400 or 0500. It is read and hashed anew
//! before each use; one that is not what its name says is a lost grant: it is kept aside and never used. What neither a
//! grant nor a session names any more is swept.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use system::open::{Kind, Look, OpenError, Root};

use crate::digest::TreeDigest;
use crate::freeze;
use crate::grants::store::{failed, make_private, open_private, wrong};
use crate::grants::{Store, StoreError};
use crate::tree::Tree;

/// Below the state folder.
const FOLDER: &str = "snapshots";
/// How many lost copies of one snapshot are kept.
const LOST: usize = 9;
/// How long what nobody names is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Most snapshots looked at in one sweep.
const SWEEP: usize = 1000;

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
    pub fn write(state: &Path, tree: &Tree) -> Result<Snapshot, StoreError> {
        let all = make_private(state, FOLDER)?;
        let name = PathBuf::from(tree.digest.hex());
        if is_there(&all, &name)? {
            if let Ok(found) = open_in(&all, tree.digest) {
                return Ok(found);
            }
            if is_there(&all, &name)? {
                return open_in(&all, tree.digest);
            }
        }
        let new = write_beside(&all, tree)?;
        if let Err(error) = all.rename(&new, &name).and_then(|()| all.sync()) {
            let _ = fs::remove_dir_all(all.path().join(&new));
            // Somebody else may have been faster with the same bytes.
            return open_in(&all, tree.digest).map_err(|_| failed(&error));
        }
        open_in(&all, tree.digest)
    }

    /// Reads and hashes the snapshot of `digest`.
    ///
    /// # Errors
    /// It is missing, open to others, or holds other bytes (then it was put aside): a lost grant.
    pub fn open(state: &Path, digest: TreeDigest) -> Result<Snapshot, StoreError> {
        match open_private(state, Path::new(FOLDER))? {
            Some(all) => open_in(&all, digest),
            None => Err(missing(&state.join(FOLDER).join(digest.hex()))),
        }
    }

    /// Whether something stands where the snapshot of `digest` should be; for deciding whether to write it.
    pub(crate) fn may_be_there(state: &Path, digest: TreeDigest) -> bool {
        fs::symlink_metadata(state.join(FOLDER).join(digest.hex())).is_ok()
    }
}

fn open_in(all: &Root, digest: TreeDigest) -> Result<Snapshot, StoreError> {
    let name = PathBuf::from(digest.hex());
    let path = all.path().join(&name);
    let read = match all.folder(&name) {
        Ok(None) => return Err(missing(&path)),
        Ok(Some(folder)) => match folder.itself() {
            Ok(look) => match objection(&look) {
                None => Tree::read_opened(folder, objection).map_err(|refused| refused.to_string()),
                Some(what) => Err(what.to_owned()),
            },
            Err(error) => return Err(failed(&error)),
        },
        Err(OpenError::Io { path, source }) => return Err(failed(&OpenError::Io { path, source })),
        Err(error) => Err(error.to_string()),
    };
    let why = match read {
        Ok(Some(tree)) if tree.digest == digest => return Ok(Snapshot { folder: path, tree }),
        Ok(Some(_)) => "holds other bytes than were granted".to_owned(),
        Ok(None) => "is empty".to_owned(),
        Err(why) => format!("is not as it was written ({why})"),
    };
    let aside = put_aside(all, &name);
    Err(wrong(&path, &format!("{why}{aside}; review and trust the hooks again")))
}

/// What is wrong with an entry of a snapshot: others may read it or anybody may write it.
fn objection(look: &Look) -> Option<&'static str> {
    let writable = cfg!(unix) && look.kind == Kind::File && look.mode & 0o200 != 0;
    look.not_private().or_else(|| writable.then_some("was made writable"))
}

fn missing(path: &Path) -> StoreError {
    wrong(path, "the private copy of the granted hooks is gone; review and trust them again")
}

fn is_there(all: &Root, name: &Path) -> Result<bool, StoreError> {
    all.look(name).map(|found| found.is_some()).map_err(|error| failed(&error))
}

/// Gives a lost snapshot another name; says which.
fn put_aside(all: &Root, name: &Path) -> String {
    let free = (1..=LOST)
        .map(|number| PathBuf::from(format!("{}.lost-{number}", name.display())))
        .find(|aside| matches!(all.look(aside), Ok(None)));
    match free {
        Some(aside) if all.rename(name, &aside).is_ok() => format!(" and was put aside as {}", aside.display()),
        Some(_) => String::new(),
        None => {
            let removed = fs::remove_dir_all(all.path().join(name));
            if removed.is_ok() { " and was removed, as it was several times before".to_owned() } else { String::new() }
        }
    }
}

/// Writes `tree` into a new folder beside the snapshots; its name.
fn write_beside(all: &Root, tree: &Tree) -> Result<PathBuf, StoreError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let new = PathBuf::from(format!(".{}.{}-{now:x}-{next}.new", tree.digest.short(), std::process::id()));
    let written = write_all(all, &new, tree);
    written.map(|()| new.clone()).map_err(|error| {
        let _ = fs::remove_dir_all(all.path().join(&new));
        failed(&error)
    })
}

fn write_all(all: &Root, new: &Path, tree: &Tree) -> Result<(), OpenError> {
    all.make_private_folder(new)?;
    let mut folders = vec![new.to_path_buf()];
    for file in &tree.files {
        let at = new.join(&file.path);
        let above: Vec<&Path> = at.ancestors().skip(1).take_while(|above| *above != new).collect();
        for folder in above.into_iter().rev() {
            if !folders.iter().any(|made| made == folder) {
                all.make_private_folder(folder)?;
                folders.push(folder.to_path_buf());
            }
        }
        all.create_sealed(&at, &file.bytes, file.executable)?;
    }
    for folder in folders.iter().rev() {
        if let Some(folder) = all.folder(folder)? {
            folder.sync()?;
        }
    }
    Ok(())
}

/// Removes what is older than seven days before `now` and named by no grant and no session: snapshots, lost ones, and
/// what a crash left half written. Where a grant or a session cannot be read nothing is removed.
pub fn sweep(store: &Store, now: SystemTime) {
    let Ok(Some(all)) = open_private(store.state(), Path::new(FOLDER)) else { return };
    let Ok(names) = all.names(SWEEP) else { return };
    let Some(named) = named(store) else { return };
    for name in names {
        let kept = name.to_str().is_some_and(|name| named.contains(name));
        let age = all.look(Path::new(&name)).ok().flatten().and_then(|look| look.age(now));
        if !kept && age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_dir_all(all.path().join(&name));
        }
    }
}

/// The digests that grants and sessions name; none when not all of them can be read.
fn named(store: &Store) -> Option<HashSet<String>> {
    let mut named = freeze::digests_in_use(store.state())?;
    for record in store.all() {
        named.insert(record.ok()?.grant().digest.hex());
    }
    Some(named)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
