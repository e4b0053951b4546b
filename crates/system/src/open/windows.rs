//! Below a root on Windows: every folder on the way is opened as itself and held so that nobody can rename it, and
//! anything with a reparse point (link, junction, mount, placeholder of a cloud) is refused, so are streams and devices.
//!
//! Only local drives are opened. There are no modes: a new file has the access list of its folder. Owners are not looked
//! at; [`crate::folders`] makes up for it by trusting nothing outside of the user's profile.

mod walk;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::windows::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use super::{Access, Durability, Look, OpenError, begin_open, beside, read_open};
use crate::paths;

// Names and values are those of the Windows API.
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
const FILE_SHARE_READ: u32 = 1;
const FILE_SHARE_WRITE: u32 = 2;

/// A lock that is held while this lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// A folder below which files are opened without following a link in any component.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    _held: File,
}

/// Where a file below a root stands, with the folders above it held.
struct Reached {
    path: PathBuf,
    held: Vec<File>,
}

impl Root {
    /// Opens the folder itself; links on the way to it are followed as long as they stay on local drives.
    ///
    /// # Errors
    /// [`OpenError`] when it is no folder that can be opened, or is not on a local drive.
    pub fn open(path: &Path) -> Result<Root, OpenError> {
        let path = on_a_drive(path)?;
        let held = hold(&path)?;
        Ok(Root { path, _held: held })
    }

    /// The bytes of the regular file `relative`; none when there is no such file.
    ///
    /// # Errors
    /// [`OpenError`] for anything but a regular file of at most `cap` bytes reached without a link.
    pub fn read(&self, relative: &Path, cap: u64) -> Result<Option<Vec<u8>>, OpenError> {
        let file = self.open_file(relative)?;
        file.map(|file| read_open(&file, &self.path.join(relative), cap)).transpose()
    }

    /// The first bytes of the regular file `relative`, `most` of them; none when there is no such file.
    ///
    /// # Errors
    /// [`OpenError`] for anything but a regular file reached without a link.
    pub fn begin(&self, relative: &Path, most: usize) -> Result<Option<Vec<u8>>, OpenError> {
        let file = self.open_file(relative)?;
        file.map(|file| begin_open(&file, &self.path.join(relative), most)).transpose()
    }

    fn open_file(&self, relative: &Path) -> Result<Option<File>, OpenError> {
        let opened = self.reach(relative).and_then(|at| open_itself(&at.path, OpenOptions::new().read(true)));
        match opened {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file `relative` at once: a new file is written and renamed onto it. Its folder exists.
    ///
    /// # Errors
    /// [`OpenError`] when the folder is reached over a link, or what stands there is no regular file with one link, or
    /// writing fails; the old file then stands.
    pub fn replace(&self, relative: &Path, bytes: &[u8], durability: Durability) -> Result<(), OpenError> {
        let at = self.reach(relative)?;
        match open_itself(&at.path, OpenOptions::new().read(true)) {
            Ok(file) => only_name(&file, &at.path)?,
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        let new = at.path.with_file_name(beside(Path::new(at.path.file_name().unwrap_or_default())));
        let written = OpenOptions::new().write(true).create_new(true).open(&new).and_then(|mut file| {
            file.write_all(bytes)?;
            if durability == Durability::Synced {
                file.sync_all()?;
            }
            drop(file);
            fs::rename(&new, &at.path)
        });
        written.map_err(|source| {
            let _ = fs::remove_file(&new);
            OpenError::io(&at.path, source)
        })
    }

    /// Makes the file `relative` with `bytes` unless something stands there already; says whether it was made.
    ///
    /// # Errors
    /// [`OpenError`] when its folder is reached over a link or writing fails.
    pub fn create(&self, relative: &Path, bytes: &[u8]) -> Result<bool, OpenError> {
        let at = self.reach(relative)?;
        match OpenOptions::new().write(true).create_new(true).open(&at.path) {
            Ok(mut file) => file.write_all(bytes).map(|()| true).map_err(|source| OpenError::io(&at.path, source)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(source) => Err(OpenError::io(&at.path, source)),
        }
    }

    /// Appends `bytes` to the file `relative` unless it holds `cap` bytes already; says whether it did.
    ///
    /// # Errors
    /// [`OpenError`] unless it is a regular file with one link, reached without a link.
    pub fn append(&self, relative: &Path, bytes: &[u8], cap: u64) -> Result<bool, OpenError> {
        let at = self.reach(relative)?;
        let mut file = open_itself(&at.path, OpenOptions::new().append(true).create(true))?;
        only_name(&file, &at.path)?;
        if regular_size(&file, &at.path)? >= cap {
            return Ok(false);
        }
        file.write_all(bytes).map(|()| true).map_err(|source| OpenError::io(&at.path, source))
    }

    /// Waits for and holds the lock that the file `relative` stands for, until the result is dropped.
    ///
    /// # Errors
    /// As [`Root::append`].
    pub fn lock(&self, relative: &Path) -> Result<Lock, OpenError> {
        let file = self.lock_file(relative)?;
        file.lock().map_err(|source| OpenError::io(&self.path.join(relative), source))?;
        Ok(Lock { _file: file })
    }

    /// As [`Root::lock`], but waits for nobody; none when it is held elsewhere.
    ///
    /// # Errors
    /// As [`Root::lock`].
    pub fn try_lock(&self, relative: &Path) -> Result<Option<Lock>, OpenError> {
        let file = self.lock_file(relative)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(source)) => Err(OpenError::io(&self.path.join(relative), source)),
        }
    }

    /// Opens the file `relative`, and gives what it is; none when it is only to be read and not there.
    ///
    /// # Errors
    /// [`OpenError`] unless it is a regular file with one name, reached without a link.
    pub fn open_private(&self, relative: &Path, access: Access) -> Result<Option<(File, Look)>, OpenError> {
        let mut options = OpenOptions::new();
        options.read(true);
        match access {
            Access::Read => {}
            Access::Append => {
                options.append(true).create(true);
            }
            Access::Change => {
                options.write(true).create(true).truncate(false);
            }
        }
        let opened = self.reach(relative).and_then(|at| Ok((open_itself(&at.path, &mut options)?, at)));
        let (file, at) = match opened {
            Err(error) if access == Access::Read && error.is_not_found() => return Ok(None),
            opened => opened?,
        };
        only_name(&file, &at.path)?;
        let look = walk::file_seen(&file).map_err(|source| OpenError::io(&at.path, source))?;
        Ok(Some((file, look)))
    }

    fn lock_file(&self, relative: &Path) -> Result<File, OpenError> {
        let at = self.reach(relative)?;
        let file = open_itself(&at.path, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
        only_name(&file, &at.path)?;
        Ok(file)
    }

    /// Makes the folder `relative` (one level) unless it is there.
    ///
    /// # Errors
    /// [`OpenError`] when something else stands there or it cannot be made.
    pub fn make_folder(&self, relative: &Path) -> Result<(), OpenError> {
        let at = self.reach(relative)?;
        match fs::create_dir(&at.path) {
            Err(source) if source.kind() != io::ErrorKind::AlreadyExists => Err(OpenError::io(&at.path, source)),
            _ => hold(&at.path).map(drop),
        }
    }

    fn reach(&self, relative: &Path) -> Result<Reached, OpenError> {
        let mut reached = Reached { path: self.path.clone(), held: Vec::new() };
        let mut parts = relative.components().filter(|part| *part != Component::CurDir).peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else {
                return Err(OpenError::Link { path: self.path.join(relative) });
            };
            reached.path.push(name);
            if !paths::names::is_kept_as_written(name) {
                return Err(OpenError::NotRegular { path: reached.path, what: "a device, stream or other spelling" });
            }
            if parts.peek().is_some() {
                reached.held.push(hold(&reached.path)?);
            }
        }
        Ok(reached)
    }
}

/// Opens `path` where its links lead to, if that is on a local drive.
pub(super) fn open_followed(path: &Path) -> Result<File, OpenError> {
    let resolved = on_a_drive(path)?;
    if !resolved.file_name().is_some_and(paths::names::is_kept_as_written) {
        return Err(OpenError::NotRegular { path: path.to_path_buf(), what: "a device or folder" });
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    options.open(&resolved).map_err(|source| OpenError::io(path, source))
}

/// Reads the file, up to `most` bytes.
pub(super) fn read_into(file: &File, bytes: &mut Vec<u8>, most: u64) -> io::Result<()> {
    file.take(most).read_to_end(bytes).map(drop)
}

/// The size in bytes of a regular file, an error for anything else.
pub(super) fn regular_size(file: &File, path: &Path) -> Result<u64, OpenError> {
    let refuse = |what| Err(OpenError::NotRegular { path: path.to_path_buf(), what });
    let kind = winapi_util::file::typ(file).map_err(|source| OpenError::io(path, source))?;
    if !kind.is_disk() {
        return refuse("a device or pipe");
    }
    let found = file.metadata().map_err(|source| OpenError::io(path, source))?;
    if found.is_dir() { refuse("a folder") } else { Ok(found.file_size()) }
}

pub(super) fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(bytes, at)
}

pub(super) fn write_some_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.seek_write(bytes, at)
}

/// There is no such limit.
pub(super) fn largest_file() -> u64 {
    u64::MAX
}

/// The resolved path; an error where a share or device is meant, which is not even looked at.
fn on_a_drive(path: &Path) -> Result<PathBuf, OpenError> {
    let resolved = paths::resolve(&paths::absolute(path));
    if paths::windows::is_on_a_drive(&resolved) {
        return Ok(resolved);
    }
    Err(OpenError::NotRegular { path: path.to_path_buf(), what: "on a network share or a device" })
}

fn hold(path: &Path) -> Result<File, OpenError> {
    let folder = open_itself(path, OpenOptions::new().read(true).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE))?;
    let found = folder.metadata().map_err(|source| OpenError::io(path, source))?;
    if !found.is_dir() {
        return Err(OpenError::io(path, io::ErrorKind::NotADirectory));
    }
    Ok(folder)
}

/// Opens what stands at `path`, not what it points to, and refuses it if it points anywhere.
fn open_itself(path: &Path, options: &mut OpenOptions) -> Result<File, OpenError> {
    let file = options.custom_flags(paths::windows::ITSELF).open(path).map_err(|source| OpenError::io(path, source))?;
    let found = file.metadata().map_err(|source| OpenError::io(path, source))?;
    if paths::windows::has_reparse_point(&found) {
        return Err(OpenError::Link { path: path.to_path_buf() });
    }
    Ok(file)
}

fn only_name(file: &File, path: &Path) -> Result<(), OpenError> {
    regular_size(file, path)?;
    let found = winapi_util::file::information(file).map_err(|source| OpenError::io(path, source))?;
    if found.number_of_links() != 1 {
        return Err(OpenError::NotOurs { path: path.to_path_buf(), what: "has more than one name (hard link)" });
    }
    Ok(())
}
