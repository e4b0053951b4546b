//! Where a server can be reached: one socket per server instance in a private folder, and a record beside it that says
//! for which roots.
//!
//! A server owns its own files and removes them when it goes; it removes another's only when nobody listens there any
//! more. A hook only reads. Both check the folder before they use it.

mod discover;
mod folder;
mod record;

use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub use discover::{Found, TRIES, discover};
pub use folder::{Folder, FolderError};
pub use record::Record;

use crate::message::PROTOCOL;

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
    /// The platform has no endpoint here.
    #[error("no socket: this platform has none; hooks work alone")]
    Unsupported,
}

/// A server's own socket and record; dropping it removes both.
#[derive(Debug)]
pub struct Endpoint {
    folder: Folder,
    stem: String,
    record: Record,
}

impl Endpoint {
    /// Opens a new endpoint for `roots` (canonical paths), beside those of other servers, after removing what dead
    /// servers left. The listener blocks; connections come from this user alone, which the folder and a check of the
    /// peer by whoever accepts ensure.
    ///
    /// # Errors
    /// There is no usable root, the path is too long, or the file system refuses.
    #[cfg(unix)]
    pub fn open(
        folder: Folder,
        roots: &[PathBuf],
        version: &str,
    ) -> Result<(Endpoint, std::os::unix::net::UnixListener), EndpointError> {
        use std::os::unix::net::UnixListener;

        let roots = named_roots(roots)?;
        sweep(&folder);
        let stem = stem(&roots[0]);
        let socket = folder.file(&stem, SOCKET);
        if socket.as_os_str().len() >= LONGEST_PATH {
            return Err(EndpointError::PathTooLong { path: socket });
        }
        let fail = |source| EndpointError::Io { path: socket.clone(), source };
        // Between bind and listen a socket refuses as a dead one does: it gets its final name only afterwards, so that
        // another server that starts at this moment does not sweep it away.
        let opening = folder.file(&stem, OPENING);
        let listener = UnixListener::bind(&opening).map_err(fail)?;
        let endpoint = Endpoint {
            record: Record {
                protocol: PROTOCOL,
                version: version.to_owned(),
                pid: std::process::id(),
                roots,
                socket: format!("{stem}.{SOCKET}"),
                started: milliseconds(SystemTime::now()),
            },
            folder,
            stem,
        };
        std::fs::rename(&opening, &socket).map_err(fail)?;
        endpoint.publish()?;
        Ok((endpoint, listener))
    }

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

/// Removes what dead servers left: only where the socket is a socket and refuses.
#[cfg(unix)]
fn sweep(folder: &Folder) {
    use std::os::unix::fs::FileTypeExt;

    for stem in folder.stems(SOCKET) {
        let socket = folder.file(&stem, SOCKET);
        let is_socket = std::fs::symlink_metadata(&socket).is_ok_and(|found| found.file_type().is_socket());
        if is_socket && connect(&socket).is_err_and(|error| error == rustix::io::Errno::CONNREFUSED) {
            for kind in [RECORD, TEMPORARY, LEFT_ALONE, SOCKET] {
                let _ = std::fs::remove_file(folder.file(&stem, kind));
            }
        }
    }
}

/// Connects without waiting: a queue that is full refuses at once (`EAGAIN`). The stream is left non-blocking.
#[cfg(unix)]
pub(crate) fn connect(socket: &Path) -> rustix::io::Result<std::os::unix::net::UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

    // Elsewhere a socket is made without flags, and connecting to a local one does not wait.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let flags = SocketFlags::empty();
    let address = SocketAddrUnix::new(socket)?;
    let descriptor = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&descriptor, &address)?;
    Ok(descriptor.into())
}

fn named_roots(roots: &[PathBuf]) -> Result<Vec<String>, EndpointError> {
    let named: Vec<String> = roots.iter().filter_map(|root| root.to_str().map(str::to_owned)).collect();
    if named.is_empty() { Err(EndpointError::NoRoot) } else { Ok(named) }
}

/// The name of a new instance: the root it was first opened for, and a number nobody else has.
fn stem(root: &str) -> String {
    let instance = RandomState::new().hash_one(std::process::id()) as u32;
    format!("{}-{instance:08x}", &system::digest::sha256_hex(root.as_bytes())[..16])
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

fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
