//! Folders entry by entry, each folder held while it is walked, and files that nobody writes again.
//!
//! What an entry is is read from its handle, or without following what it points to. There are no modes: whoever may
//! read the profile may read what is made here.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::windows::fs::MetadataExt as _;
use std::path::Path;

use super::{Root, hold, open_itself};
use crate::open::look::{Kind, Look};
use crate::open::{OpenError, read_open};
use crate::paths;

/// Between 1601, where Windows begins to count, and 1970, in steps of 100 nanoseconds.
const EPOCH: i128 = 116_444_736_000_000_000;

impl Root {
    /// The folder `relative` below this one; none when nothing is there.
    ///
    /// # Errors
    /// [`OpenError`] when something else stands there or above it, a link among others.
    pub fn folder(&self, relative: &Path) -> Result<Option<Root>, OpenError> {
        let opened = self.reach(relative).and_then(|at| Ok(Root { _held: hold(&at.path)?, path: at.path }));
        match opened {
            Ok(folder) => Ok(Some(folder)),
            Err(OpenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(OpenError::Io { path, source }) if source.kind() == io::ErrorKind::NotADirectory => {
                Err(OpenError::NotFolder { path })
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
        let failed = |source| OpenError::io(&self.path, source);
        let entries = fs::read_dir(&self.path).map_err(failed)?;
        entries.take(most).map(|entry| entry.map(|entry| entry.file_name()).map_err(failed)).collect()
    }

    /// What stands at `relative`, which is not followed if it is a link; none when nothing is there.
    ///
    /// # Errors
    /// [`OpenError`] when a folder above it is a link, or the system cannot look.
    pub fn look(&self, relative: &Path) -> Result<Option<Look>, OpenError> {
        let looked = self.reach(relative).and_then(|at| {
            let found = fs::symlink_metadata(&at.path).map_err(|source| OpenError::io(&at.path, source))?;
            let identity = paths::windows::identity(&at.path);
            Ok(seen(&found, identity.map_or(1, |it| it.names)))
        });
        match looked {
            Ok(look) => Ok(Some(look)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What this folder is itself.
    ///
    /// # Errors
    /// The system cannot look.
    pub fn itself(&self) -> Result<Look, OpenError> {
        let found = self._held.metadata().map_err(|source| OpenError::io(&self.path, source))?;
        Ok(seen(&found, 1))
    }

    /// The bytes of the regular file `relative` and what it was while they were read; none when nothing is there.
    ///
    /// # Errors
    /// As [`Root::read`], and [`OpenError::Changing`] when it was written to meanwhile.
    pub fn read_looked(&self, relative: &Path, cap: u64) -> Result<Option<(Vec<u8>, Look)>, OpenError> {
        let opened = self.reach(relative).and_then(|at| {
            let file = open_itself(&at.path, OpenOptions::new().read(true))?;
            Ok((file, at))
        });
        let (file, at) = match opened {
            Ok(opened) => opened,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let look = || file_seen(&file).map_err(|source| OpenError::io(&at.path, source));
        let before = look()?;
        let bytes = read_open(&file, &at.path, cap)?;
        if look()? != before || bytes.len() as u64 != before.size {
            return Err(OpenError::Changing { path: at.path });
        }
        Ok(Some((bytes, before)))
    }

    /// Makes the folder `relative` (one level); it was not there.
    ///
    /// # Errors
    /// [`OpenError`] when something stands there or it cannot be made.
    pub fn make_private_folder(&self, relative: &Path) -> Result<(), OpenError> {
        let at = self.reach(relative)?;
        fs::create_dir(&at.path).map_err(|source| OpenError::io(&at.path, source))
    }

    /// Makes the file `relative` with `bytes`, and syncs it. It is not made read-only, which would keep it from being
    /// swept; there is no bit for programs.
    ///
    /// # Errors
    /// [`OpenError`] when something stands there or writing fails.
    pub fn create_sealed(&self, relative: &Path, bytes: &[u8], _executable: bool) -> Result<(), OpenError> {
        let at = self.reach(relative)?;
        let written = OpenOptions::new().write(true).create_new(true).open(&at.path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.map_err(|source| OpenError::io(&at.path, source))
    }

    /// Gives the entry `from` of this folder the name `to`, in place of a file of that name.
    ///
    /// # Errors
    /// The system refuses.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), OpenError> {
        let (from, to) = (self.reach(from)?, self.reach(to)?);
        fs::rename(&from.path, &to.path).map_err(|source| OpenError::io(&from.path, source))
    }

    /// Removes the file `relative`; says whether it was there.
    ///
    /// # Errors
    /// The system refuses.
    pub fn remove(&self, relative: &Path) -> Result<bool, OpenError> {
        let at = self.reach(relative)?;
        match fs::remove_file(&at.path) {
            Ok(()) => Ok(true),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(OpenError::io(&at.path, source)),
        }
    }

    /// Names of a folder are the file system's to keep here.
    ///
    /// # Errors
    /// None.
    pub fn sync(&self) -> Result<(), OpenError> {
        Ok(())
    }
}

pub(super) fn file_seen(file: &File) -> io::Result<Look> {
    let found = file.metadata()?;
    let more = winapi_util::file::information(file)?;
    Ok(seen(&found, more.number_of_links()))
}

/// Device and file number are left out: not every way of looking tells them.
fn seen(found: &fs::Metadata, names: u64) -> Look {
    let kind = if paths::windows::has_reparse_point(found) {
        Kind::Link
    } else if found.is_dir() {
        Kind::Folder
    } else {
        Kind::File
    };
    let modified = (i128::from(found.last_write_time()) - EPOCH) * 100;
    Look {
        kind,
        size: if kind == Kind::Folder { 0 } else { found.file_size() },
        mode: 0,
        owner: 0,
        group: 0,
        names,
        device: 0,
        inode: 0,
        modified,
        changed: modified,
    }
}
