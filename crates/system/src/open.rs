//! Opening what somebody else may have prepared: below a root without following links, or a file an agent edits.
//!
//! Nothing here blocks on a FIFO or device, reads past a cap or takes anything but a regular file (S4, S16, S27).
//! Reading below a root never leaves it; only [`read_judged`] follows links, as the agent's own tool would.

pub mod look;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use look::{Kind, Look};
pub use platform::{Lock, Root};

/// Largest file that is judged, in bytes.
pub const JUDGED_CAP: u64 = 64 << 20;

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Not a regular file.
    #[error("{path} is {what}, not a regular file", path = .path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A component is a link, or leads out of the root.
    #[error("{path} is reached over a link or leads out of its folder", path = .path.display())]
    Link {
        /// The file.
        path: PathBuf,
    },
    /// Over the cap.
    #[error("{path} is larger than {cap} bytes", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The cap.
        cap: u64,
    },
    /// It has another owner, or another name elsewhere.
    #[error("{path} {what}", path = .path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// Something else stands where a folder is looked for.
    #[error("{path} is no folder", path = .path.display())]
    NotFolder {
        /// What stands there.
        path: PathBuf,
    },
    /// It was written to while it was read.
    #[error("{path} was changed while it was read", path = .path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// Anything else the system says.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What a private file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading what is there.
    Read,
    /// Reading, and writing at its end; made if it is not there.
    Append,
    /// Reading, and writing anywhere; made if it is not there.
    Change,
}

/// Whether a replaced file must survive a crash of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// As any file; after a crash it may be empty.
    Usual,
    /// Synced before it takes the old one's place.
    Synced,
}

impl OpenError {
    fn io(path: &Path, source: impl Into<io::Error>) -> OpenError {
        OpenError::Io { path: path.to_path_buf(), source: source.into() }
    }

    /// Nothing is there, or what is looked for below something that is no folder.
    pub fn is_not_found(&self) -> bool {
        match self {
            OpenError::NotFolder { .. } => true,
            OpenError::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
            _ => false,
        }
    }
}

/// Reads the regular file `relative` below `root`; none when the file or the root is not there.
///
/// # Errors
/// As [`Root::read`].
pub fn read_below(root: &Path, relative: &Path, cap: u64) -> Result<Option<Vec<u8>>, OpenError> {
    match Root::open(root) {
        Ok(root) => root.read(relative, cap),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The text of a file that an edit changes, bad UTF-8 replaced; none when there is none. Links are followed.
///
/// # Errors
/// [`OpenError`] for anything but a regular file of at most [`JUDGED_CAP`] bytes.
pub fn read_judged(path: &Path) -> Result<Option<String>, OpenError> {
    let bytes = match platform::open_followed(path) {
        Ok(file) => read_open(&file, path, JUDGED_CAP)?,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())))
}

/// Fills `bytes` from this place of a file; says how much of them there was.
///
/// # Errors
/// The system cannot read.
pub fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<usize> {
    let wanted = bytes.len();
    while !bytes.is_empty() {
        match platform::read_some_at(file, bytes, at) {
            Ok(0) => break,
            Ok(read) => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(wanted - bytes.len())
}

/// Writes `bytes` at this place of a file, in one go.
///
/// # Errors
/// The system cannot write, or not all of it.
pub fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let written = platform::write_some_at(file, bytes, at)?;
    if written == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// How large the system lets this process make a file, in bytes; who writes beyond may be ended by it.
pub fn largest_file() -> u64 {
    platform::largest_file()
}

/// A name for the file that is to take the place of `name`; no two calls at the same time give the same.
fn beside(name: &Path) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // A process of the same number may have died over its file: the clock makes the name another one.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(".{}.{}-{now:x}-{next}.new", name.display(), std::process::id())
}

fn begin_open(file: &File, path: &Path, most: usize) -> Result<Vec<u8>, OpenError> {
    platform::regular_size(file, path)?;
    let mut bytes = vec![0; most];
    let read = read_at(file, &mut bytes, 0).map_err(|source| OpenError::io(path, source))?;
    bytes.truncate(read);
    Ok(bytes)
}

fn read_open(file: &File, path: &Path, cap: u64) -> Result<Vec<u8>, OpenError> {
    let size = platform::regular_size(file, path)?;
    if size > cap {
        return Err(OpenError::TooLarge { path: path.to_path_buf(), cap });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    platform::read_into(file, &mut bytes, cap + 1).map_err(|source| OpenError::io(path, source))?;
    if bytes.len() as u64 > cap {
        return Err(OpenError::TooLarge { path: path.to_path_buf(), cap });
    }
    Ok(bytes)
}
