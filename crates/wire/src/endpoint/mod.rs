//! Where a server can be reached: one socket per server instance in a private folder, and a record beside it that says
//! for which roots.
//!
//! A server owns its own files and removes them when it goes; it removes another's only when nobody listens there any
//! more. A hook only reads. Both check the folder before they use it.

mod discover;
mod folder;
#[cfg(unix)]
mod open;
mod record;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

pub use discover::{Found, TRIES, discover};
pub use folder::{Folder, FolderError};
#[cfg(unix)]
pub(crate) use open::connect;
pub use record::Record;

/// Socket paths are shorter than this on every Unix (macOS has the least room, its final zero included).
pub const LONGEST_PATH: usize = 104;

/// Why a server cannot be reached by hooks; it works on without a socket.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The folder cannot be used.
    #[error("no socket: {0}")]
    Folder(#[from] FolderError),
    /// No root can be named in a record.
    #[error("no socket: none of the roots has a path in UTF-8")]
    NoRoot,
    /// The path of the socket would be too long for the system.
    #[error("no socket: {path} is not shorter than {LONGEST_PATH} bytes")]
    PathTooLong {
        /// The socket.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("no socket: {path}: {source}")]
    Io {
        /// The socket or its record.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A server's own socket and record; dropping it removes both.
#[derive(Debug)]
pub struct Endpoint {
    folder: Folder,
    stem: String,
    record: Record,
}

impl Endpoint {
    /// Says for which roots this server now stands.
    ///
    /// # Errors
    /// There is no usable root, or the record cannot be written: the former one stays.
    pub fn set_roots(&mut self, roots: &[PathBuf]) -> Result<(), EndpointError> {
        let former = std::mem::replace(&mut self.record.roots, named_roots(roots)?);
        self.publish().inspect_err(|_| self.record.roots = former)
    }

    /// The record beside the socket.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.file(&self.stem, SOCKET)
    }

    fn publish(&self) -> Result<(), EndpointError> {
        let path = self.folder.file(&self.stem, RECORD);
        self.folder
            .write_whole(&path, &self.folder.file(&self.stem, TEMPORARY), &self.record.to_json())
            .map_err(|source| EndpointError::Io { path, source })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // The socket last: while it is there, a sweep can still tell that the rest belongs to a dead server.
        for kind in [RECORD, TEMPORARY, LEFT_ALONE, OPENING, SOCKET] {
            let _ = std::fs::remove_file(self.folder.file(&self.stem, kind));
        }
    }
}

const SOCKET: &str = "sock";
const RECORD: &str = "json";
const TEMPORARY: &str = "tmp";
/// Stands while hooks leave a server alone that did not answer in time.
pub(crate) const LEFT_ALONE: &str = "wait";
/// The socket before it listens.
const OPENING: &str = "new";

fn named_roots(roots: &[PathBuf]) -> Result<Vec<String>, EndpointError> {
    let named: Vec<String> = roots.iter().filter_map(|root| root.to_str().map(str::to_owned)).collect();
    if named.is_empty() { Err(EndpointError::NoRoot) } else { Ok(named) }
}

/// Whether a file's name without its extension is one of ours.
fn is_stem(name: &str) -> bool {
    let hex = |part: &str, digits| part.len() == digits && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    name.split_once('-').is_some_and(|(root, instance)| hex(root, 16) && hex(instance, 8))
}

fn stem_of(name: &OsStr, kind: &str) -> Option<String> {
    let path = Path::new(name);
    let stem = path.file_stem()?.to_str()?;
    (path.extension()? == kind && is_stem(stem)).then(|| stem.to_owned())
}
