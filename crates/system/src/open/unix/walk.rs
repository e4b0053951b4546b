//! Folders entry by entry, from handle to handle, and files written for their owner alone.
//!
//! What an entry is is read from the handle or without following a link; nothing here opens a path.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::Root;
use crate::open::look::{Kind, Look};
use crate::open::{OpenError, read_open};

impl Root {
    /// The folder `relative` below this one; none when nothing is there.
    ///
    /// # Errors
    /// [`OpenError`] when something else stands there or above it, a link among others.
    pub fn folder(&self, relative: &Path) -> Result<Option<Root>, OpenError> {
        match self.open_at(relative, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()) {
            Ok(dir) => Ok(Some(Root { dir, path: self.path.join(relative) })),
            Err(OpenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(OpenError::Io { path, source }) if source.kind() == io::ErrorKind::NotADirectory => {
                let found = self.look(relative).ok().flatten();
                match found.map(|found| found.kind) {
                    Some(Kind::Link) => Err(OpenError::Link { path }),
                    _ => Err(OpenError::NotFolder { path }),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// The path this folder was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of at most `most` entries, in the order of the disk; there may be more when as many are given.
    ///
    /// # Errors
    /// The system cannot list it.
    pub fn names(&self, most: usize) -> Result<Vec<OsString>, OpenError> {
        let failed = |errno: Errno| OpenError::io(&self.path, errno);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name: &CStr = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if names.len() == most {
                break;
            }
            names.push(OsStr::from_bytes(name.to_bytes()).to_owned());
        }
        Ok(names)
    }

    /// What stands at `relative`, which is not followed if it is a link; none when nothing is there.
    ///
    /// # Errors
    /// [`OpenError`] when a folder above it is a link, or the system cannot look.
    pub fn look(&self, relative: &Path) -> Result<Option<Look>, OpenError> {
        let path = self.path.join(relative);
        let one = relative.parent().is_none_or(|parent| parent.as_os_str().is_empty());
        let found = if one {
            rustix::fs::statat(&self.dir, relative, AtFlags::SYMLINK_NOFOLLOW)
        } else {
            let (folder, name) = match self.parent_of(relative) {
                Ok(parent) => parent,
                Err(error) if error.is_not_found() => return Ok(None),
                Err(error) => return Err(error),
            };
            rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW)
        };
        match found {
            Ok(found) => Ok(Some(seen(&found))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(OpenError::io(&path, errno)),
        }
    }

    /// What this folder is itself.
    ///
    /// # Errors
    /// The system cannot look.
    pub fn itself(&self) -> Result<Look, OpenError> {
        rustix::fs::fstat(&self.dir).map(|found| seen(&found)).map_err(|errno| OpenError::io(&self.path, errno))
    }

    /// The bytes of the regular file `relative` and what it was while they were read; none when nothing is there.
    ///
    /// # Errors
    /// As [`Root::read`], and [`OpenError::Changing`] when it was written to meanwhile.
    pub fn read_looked(&self, relative: &Path, cap: u64) -> Result<Option<(Vec<u8>, Look)>, OpenError> {
        let path = self.path.join(relative);
        let file = match self.open_at(relative, OFlags::RDONLY, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let look = || rustix::fs::fstat(&file).map(|found| seen(&found)).map_err(|errno| OpenError::io(&path, errno));
        let before = look()?;
        let bytes = read_open(&file, &path, cap)?;
        if look()? != before || bytes.len() as u64 != before.size {
            return Err(OpenError::Changing { path });
        }
        Ok(Some((bytes, before)))
    }

    /// Makes the folder `relative` (one level, 0700); it was not there.
    ///
    /// # Errors
    /// [`OpenError`] when something stands there or it cannot be made.
    pub fn make_private_folder(&self, relative: &Path) -> Result<(), OpenError> {
        let (folder, name) = self.parent_of(relative)?;
        rustix::fs::mkdirat(&folder, &name, Mode::RWXU).map_err(|errno| OpenError::io(&self.path.join(relative), errno))
    }

    /// Makes the file `relative` with `bytes`, readable for its owner alone and writable for nobody, and syncs it.
    ///
    /// # Errors
    /// [`OpenError`] when something stands there or writing fails.
    pub fn create_sealed(&self, relative: &Path, bytes: &[u8], executable: bool) -> Result<(), OpenError> {
        let (folder, name) = self.parent_of(relative)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if executable { Mode::RUSR | Mode::XUSR } else { Mode::RUSR };
        let written = rustix::fs::openat(&folder, &name, flags, mode).map_err(io::Error::from).and_then(|fd| {
            // The umask may have taken bits of the mode.
            rustix::fs::fchmod(&fd, mode)?;
            let mut file = File::from(fd);
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.map_err(|source| OpenError::io(&self.path.join(relative), source))
    }

    /// Gives the entry `from` of this folder the name `to`, in place of a file or an empty folder of that name.
    ///
    /// # Errors
    /// The system refuses.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), OpenError> {
        rustix::fs::renameat(&self.dir, from, &self.dir, to)
            .map_err(|errno| OpenError::io(&self.path.join(from), errno))
    }

    /// Removes the file `relative`; says whether it was there.
    ///
    /// # Errors
    /// The system refuses.
    pub fn remove(&self, relative: &Path) -> Result<bool, OpenError> {
        let removed = self.parent_of(relative).and_then(|(folder, name)| {
            rustix::fs::unlinkat(&folder, &name, AtFlags::empty())
                .map_err(|errno| OpenError::io(&self.path.join(relative), errno))
        });
        match removed {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes sure that the names of this folder outlive a crash of the machine.
    ///
    /// # Errors
    /// The system refuses.
    pub fn sync(&self) -> Result<(), OpenError> {
        rustix::fs::fsync(&self.dir).map_err(|errno| OpenError::io(&self.path, errno))
    }
}

#[allow(clippy::unnecessary_cast, clippy::cast_possible_wrap, reason = "the types differ from system to system")]
pub(super) fn seen(found: &Stat) -> Look {
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Fifo,
        FileType::Socket => Kind::Socket,
        _ => Kind::Device,
    };
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Look {
        kind,
        size: found.st_size.cast_unsigned(),
        mode: found.st_mode as u32 & 0o7777,
        owner: found.st_uid,
        group: found.st_gid,
        names: found.st_nlink as u64,
        device: found.st_dev as u64,
        inode: found.st_ino as u64,
        modified: nanoseconds(found.st_mtime as i64, found.st_mtime_nsec as i64),
        changed: nanoseconds(found.st_ctime as i64, found.st_ctime_nsec as i64),
    }
}

#[cfg(test)]
mod tests;
