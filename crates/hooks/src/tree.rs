//! One read of a folder of hooks: every byte that is hashed, shown, granted and copied comes from these buffers.
//!
//! The walk goes from folder handle to folder handle and follows no link. A link, a special file, an unreadable entry, a
//! name that is not plain UTF-8, two names that are equal on some file system, or more than the limits refuse the whole
//! folder with the reason: nothing is ever skipped.

mod names;
mod signature;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use system::digest::sha256;
use system::open::{Look, Root};

use crate::FOLDER;
use crate::digest::TreeDigest;
use crate::texts::shown;
use signature::Looks;
use walk::{Met, refused, unread};

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
#[error("{path}: {why}", path = shown(.path))]
pub struct Refused {
    /// What is in the way; as it is on the disk, not escaped.
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
    pub fn read(root: &Path) -> Result<Option<Tree>, Refused> {
        match below(root, Path::new(FOLDER))? {
            Some(folder) => Tree::read_opened(folder, |_| None),
            None => Ok(None),
        }
    }

    /// Reads the folder of hooks at `folder` itself, as the user's own hooks are; it is no link. What runs from there is
    /// what stands there, so that nobody else may write any of it.
    ///
    /// # Errors
    /// As [`Tree::read`], and where somebody else may write it.
    pub fn read_folder(folder: &Path) -> Result<Option<Tree>, Refused> {
        let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(refused(folder, "it is no folder below another"));
        };
        match below(above, Path::new(name))? {
            Some(opened) => {
                let look = opened.itself().map_err(|error| unread(folder, &error))?;
                let objection = |look: &Look| look.not_ours_alone();
                objection(&look).map_or(Ok(()), |why| Err(refused(folder, &format!("it {why}"))))?;
                Tree::read_opened(opened, objection)
            }
            None => Ok(None),
        }
    }

    /// Reads a folder that is open. `objection` says what is wrong with how an entry was found.
    pub(crate) fn read_opened(
        folder: Root,
        objection: impl Fn(&Look) -> Option<&'static str>,
    ) -> Result<Option<Tree>, Refused> {
        let mut looks = Looks::now();
        let mut files = Vec::new();
        let mut total = 0;
        walk::walk(folder, |path, met| match met {
            Met::Folder(at, look) => {
                looks.add(path, &look);
                objection(&look).map_or(Ok(()), |why| Err(refused(at, &format!("it {why}"))))
            }
            Met::File(folder, name, look) => {
                let at = folder.path().join(name);
                // Sizes are added up before anything is read, so that a file of holes costs nothing.
                total += look.size.min(TOTAL_SIZE + 1);
                if look.size > FILE_SIZE {
                    return Err(refused(&at, &format!("it is larger than {FILE_SIZE} bytes; make it smaller")));
                }
                if total > TOTAL_SIZE {
                    return Err(refused(
                        &at,
                        &format!("with it the files have more than {TOTAL_SIZE} bytes; remove some"),
                    ));
                }
                let read = folder.read_looked(name, look.size).map_err(|error| match error {
                    system::OpenError::TooLarge { path, .. } => unread(&at, &system::OpenError::Changing { path }),
                    other => unread(&at, &other),
                })?;
                let Some((bytes, read)) = read else {
                    return Err(refused(&at, "it went away while the folder was read; try again"));
                };
                if read != look {
                    return Err(refused(&at, "it was changed while the folder was read; try again"));
                }
                if let Some(why) = objection(&read) {
                    return Err(refused(&at, &format!("it {why}")));
                }
                looks.add(path, &read);
                files.push(TreeFile {
                    path: path.to_owned(),
                    sha256: sha256(&bytes),
                    bytes: bytes.into(),
                    executable: read.executable(),
                    names: read.names,
                });
                Ok(())
            }
        })?;
        if files.is_empty() {
            return Ok(None);
        }
        files.sort_unstable_by(|one, other| one.path.as_bytes().cmp(other.path.as_bytes()));
        let digest = TreeDigest::of(&files);
        Ok(Some(Tree { files, signature: looks.signature(), digest }))
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&TreeFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// How many bytes all files have.
    pub fn size(&self) -> usize {
        self.files.iter().map(|file| file.bytes.len()).sum()
    }
}

impl Signature {
    /// Looks at `<root>/.ruleline/hooks` without reading a file; none when there is no such folder or no file in it.
    ///
    /// # Errors
    /// [`Refused`] as for [`Tree::read`], as far as names and kinds tell.
    pub fn look(root: &Path) -> Result<Option<Signature>, Refused> {
        let Some(folder) = below(root, Path::new(FOLDER))? else { return Ok(None) };
        let mut looks = Looks::now();
        let mut files = false;
        walk::walk(folder, |path, met| {
            let look = match met {
                Met::File(_, _, look) => {
                    files = true;
                    look
                }
                Met::Folder(_, look) => look,
            };
            looks.add(path, &look);
            Ok(())
        })?;
        Ok(files.then(|| looks.signature()))
    }
}

/// The folder `relative` below `root`; none when it is not there. A link on the way from `root` is refused.
fn below(root: &Path, relative: &Path) -> Result<Option<Root>, Refused> {
    let opened = match Root::open(root) {
        Ok(root) => root.folder(relative),
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => Err(error),
    };
    opened.map_err(|error| unread(&root.join(relative), &error))
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
