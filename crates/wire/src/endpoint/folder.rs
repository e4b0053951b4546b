//! The private folder that holds sockets and records: this user's, closed to everybody else, and no link.
//!
//! Which folder it is, the caller decides (never from the environment). Here it is checked, listed and written to.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use system::folders::{self, Refused};

use super::{LEFT_ALONE, stem_of};

/// The most entries that are looked at; a folder with more is not one that servers alone fill.
const MOST_ENTRIES: usize = 1024;
/// The largest record, in bytes.
const LARGEST_RECORD: u64 = 64 * 1024;
/// How long a server that did not answer in time is left alone.
pub(crate) const LEFT_ALONE_FOR: Duration = Duration::from_secs(10);

/// A folder that passed the checks.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

/// Why a folder is not used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It is not there: no server ever ran.
    #[error("{path}: no such folder")]
    Absent {
        /// The folder.
        path: PathBuf,
    },
    /// It can be entered by others.
    #[error("{path} is open to others (mode {mode:03o}, must be 700); remove it, and ruleline makes it anew")]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A link, a file, another user's, or below something that others can replace.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Folder {
    /// The folder at `path`, as it is.
    ///
    /// # Errors
    /// It is not there or fails the checks.
    pub fn open(path: &Path) -> Result<Folder, FolderError> {
        folders::check(path)?;
        let path = path.to_owned();
        match system::looks::at(&path).map(|found| permissions(&found)) {
            Ok(mode) if mode & 0o077 != 0 => Err(FolderError::Open { path, mode }),
            Ok(_) => Ok(Folder { path }),
            Err(_) => Err(FolderError::Absent { path }),
        }
    }

    /// The folder at `path`, made with mode 0700 where it or a folder above is not there.
    ///
    /// # Errors
    /// It cannot be made, or what is there fails the checks.
    pub fn create(path: &Path) -> Result<Folder, FolderError> {
        folders::create_private(path)?;
        Folder::open(path)
    }

    pub(crate) fn file(&self, stem: &str, kind: &str) -> PathBuf {
        self.path.join(format!("{stem}.{kind}"))
    }

    /// The stems of our files of this kind, in no order.
    pub(crate) fn stems(&self, kind: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return Vec::new();
        };
        entries.take(MOST_ENTRIES).flatten().filter_map(|entry| stem_of(&entry.file_name(), kind)).collect()
    }

    /// Reads a small regular file of ours, following no link.
    pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
        let file = without_following(OpenOptions::new().read(true)).open(path).ok()?;
        let length = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(length.min(LARGEST_RECORD)).ok()?);
        file.take(LARGEST_RECORD + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= LARGEST_RECORD).then_some(bytes)
    }

    /// Writes a file that is there either whole or as it was before.
    #[allow(clippy::unused_self, reason = "writing takes a folder that passed the checks")]
    pub(crate) fn write_whole(&self, path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
        let _ = fs::remove_file(temporary);
        let mut file = without_following(OpenOptions::new().write(true).create_new(true)).open(temporary)?;
        file.write_all(bytes)?;
        fs::rename(temporary, path)
    }

    /// Leaves this instance alone from now on; best effort.
    pub(crate) fn leave_alone(&self, stem: &str) {
        let path = self.file(stem, LEFT_ALONE);
        if let Ok(file) = without_following(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
            && file.metadata().is_ok_and(|found| found.is_file())
        {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Whether this instance is to be left alone. A time in the future (the clock was set back) says nothing.
    pub(crate) fn left_alone(&self, stem: &str, now: SystemTime) -> bool {
        fs::symlink_metadata(self.file(stem, LEFT_ALONE))
            .ok()
            .filter(fs::Metadata::is_file)
            .and_then(|found| found.modified().ok())
            .and_then(|marked| now.duration_since(marked).ok())
            .is_some_and(|age| age < LEFT_ALONE_FOR)
    }
}

#[cfg(unix)]
fn permissions(found: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(found) & 0o777
}

/// Elsewhere a folder has no such bits.
#[cfg(not(unix))]
fn permissions(_found: &fs::Metadata) -> u32 {
    0
}

#[cfg(unix)]
fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    options.mode(0o600).custom_flags(flags.bits().cast_signed())
}

/// Elsewhere no server stands, and the folder has been checked.
#[cfg(not(unix))]
fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
