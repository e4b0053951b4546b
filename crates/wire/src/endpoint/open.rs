//! Opening an endpoint on Unix: a new socket beside others, after removing what dead servers left.

use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

use super::{
    Endpoint, EndpointError, Folder, LEFT_ALONE, LONGEST_PATH, OPENING, RECORD, Record, SOCKET, TEMPORARY, named_roots,
};
use crate::message::PROTOCOL;

impl Endpoint {
    /// Opens a new endpoint for `roots` (canonical paths), beside those of other servers, after removing what dead
    /// servers left. The listener blocks; connections come from this user alone, which the folder and a check of the
    /// peer by whoever accepts ensure.
    ///
    /// # Errors
    /// There is no usable root, the path is too long, or the file system refuses.
    pub fn open(folder: Folder, roots: &[PathBuf], version: &str) -> Result<(Endpoint, UnixListener), EndpointError> {
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
}

/// Removes what dead servers left: only where the socket is a socket and refuses.
fn sweep(folder: &Folder) {
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
pub(crate) fn connect(socket: &Path) -> rustix::io::Result<UnixStream> {
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

/// The name of a new instance: the root it was first opened for, and a number nobody else has.
fn stem(root: &str) -> String {
    let instance = RandomState::new().hash_one(std::process::id()) as u32;
    format!("{}-{instance:08x}", &system::digest::sha256_hex(root.as_bytes())[..16])
}

fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
