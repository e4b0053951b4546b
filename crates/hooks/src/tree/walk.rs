//! One walk over a folder of hooks, from handle to handle, in bounded steps.
//!
//! It looks at names and kinds and hands each file to its caller; what is odd ends it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use system::open::{Kind, Look, OpenError, Root};

use super::names::{colliding, plain_name};
use super::{DEPTH, FILES, Refused};
use crate::texts::shown;

/// Most folders below a folder of hooks, empty ones too.
const FOLDERS: usize = 256;

/// Something the walk met.
pub(super) enum Met<'a> {
    /// A file of this name in this folder, as it was looked at.
    File(&'a Root, &'a Path, Look),
    /// A folder at this path.
    Folder(&'a Path, Look),
}

/// A folder being walked, with the names that are still to come.
struct Open {
    root: Root,
    /// Below the folder of hooks; empty for itself.
    path: String,
    names: Vec<OsString>,
}

/// Walks over everything below `folder`; `meet` is told the path (parts joined by `/`) of each.
pub(super) fn walk(folder: Root, mut meet: impl FnMut(&str, Met<'_>) -> Result<(), Refused>) -> Result<(), Refused> {
    let (mut files, mut folders) = (0, 0);
    let names = names_of(&folder, files, folders)?;
    let mut pending = vec![Open { root: folder, path: String::new(), names }];
    while let (depth, Some(open)) = (pending.len(), pending.last_mut()) {
        let Some(name) = open.names.pop() else {
            pending.pop();
            continue;
        };
        let at = open.root.path().join(&name);
        let text = plain_name(&name).map_err(|why| refused(&at, &format!("{why}; rename it")))?;
        let path = if open.path.is_empty() { text.to_owned() } else { format!("{}/{text}", open.path) };
        let name = Path::new(&name);
        let look = open.root.look(name).map_err(|error| unread(&at, &error))?;
        let Some(look) = look else { return Err(refused(&at, "it went away while the folder was read; try again")) };
        match look.kind {
            Kind::File => {
                files += 1;
                if files > FILES {
                    return Err(too_many(&pending[0].root));
                }
                meet(&path, Met::File(&open.root, name, look))?;
            }
            Kind::Folder => {
                folders += 1;
                if folders > FOLDERS {
                    return Err(too_many(&pending[0].root));
                }
                if depth > DEPTH {
                    return Err(refused(&at, &format!("it is more than {DEPTH} folders deep; move it up")));
                }
                let below = open.root.folder(name).map_err(|error| unread(&at, &error))?;
                let Some(below) = below else {
                    return Err(refused(&at, "it went away while the folder was read; try again"));
                };
                let look = below.itself().map_err(|error| unread(&at, &error))?;
                meet(&path, Met::Folder(&at, look))?;
                let names = names_of(&below, files, folders)?;
                pending.push(Open { root: below, path, names });
            }
            odd => {
                let what = odd.name();
                return Err(refused(
                    &at,
                    &format!("it is {what}, and only plain files and folders are taken; remove it"),
                ));
            }
        }
    }
    Ok(())
}

fn names_of(folder: &Root, files: usize, folders: usize) -> Result<Vec<OsString>, Refused> {
    // One more than may be: enough for the walk to see that there are too many.
    let most = FILES + FOLDERS - files - folders + 1;
    let mut names = folder.names(most).map_err(|error| unread(folder.path(), &error))?;
    if let Some((one, other)) = colliding(&names) {
        let (one, other) = (shown(Path::new(one)), shown(Path::new(other)));
        let why = format!("{one} and {other} are one name on some file systems; rename one");
        return Err(refused(folder.path(), &why));
    }
    // Taken from the end: what is refused first does not depend on the order of the disk.
    names.sort_unstable_by(|one, other| other.cmp(one));
    Ok(names)
}

fn too_many(folder: &Root) -> Refused {
    refused(folder.path(), &format!("it has more than {FILES} files or {FOLDERS} folders; remove some"))
}

/// `at` could not be opened or read.
pub(super) fn unread(at: &Path, error: &OpenError) -> Refused {
    let why = match error {
        OpenError::Link { .. } => {
            "it is a link or reached over one, and no link is followed; put the files there".into()
        }
        OpenError::NotRegular { what, .. } => format!("it is {what}, and only plain files are taken; remove it"),
        OpenError::TooLarge { cap, .. } => format!("it is larger than {cap} bytes; make it smaller"),
        OpenError::NotOurs { what, .. } => format!("it {what}"),
        OpenError::NotFolder { .. } => "it is no folder; remove it or make it one".into(),
        OpenError::Changing { .. } => "it was changed while it was read; try again".into(),
        OpenError::Io { source, .. } => format!("it cannot be read ({source}); make it readable or remove it"),
    };
    refused(at, &why)
}

pub(super) fn refused(path: &Path, why: &str) -> Refused {
    Refused { path: PathBuf::from(path), why: why.to_owned() }
}
