//! The hook's side: one question to the best server, within one budget of time for everything.
//!
//! Whatever goes wrong is a reason to work alone ([`Alone`]), never an error for the agent, and never worth more than
//! the budget. It starts no server, removes no file, and believes nothing but that an answer names the digests asked
//! for: what it claims is verified by whoever asked.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::endpoint::{Folder, FolderError, Found, discover};
use crate::message::{JudgeRequest, Judged, Pong, Refusal, Request, Response};

/// What a hook may spend on the socket in all: looking for a server, connecting, asking, hearing.
pub const BUDGET: Duration = Duration::from_millis(150);

/// Why the hook works alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// No server stands for the file, or all that do are left alone.
    NoServer,
    /// The folder is not safe to use.
    UnsafeFolder,
    /// Nobody listens, nobody takes the connection at once, or the socket cannot be named.
    Unreachable,
    /// Another user listens.
    OtherUser,
    /// The budget is used up; the server that used it is left alone for a while.
    Expired,
    /// The connection ended early or what came is not an answer.
    Garbled,
    /// It speaks another protocol.
    Protocol,
    /// It refused or answered something else than was asked: other digests, mostly.
    Stale,
    /// The request does not fit in a frame.
    TooLarge,
}

/// Asks servers; keeps count of the time spent over all its questions.
#[derive(Debug)]
pub struct Client {
    folder: PathBuf,
    left: Cell<Duration>,
}

impl Client {
    /// A client with the runtime folder that servers open their endpoints in.
    pub fn new(folder: PathBuf, budget: Duration) -> Client {
        Client { folder, left: Cell::new(budget) }
    }

    /// Whether a server may ever have stood here: false saves composing a question that nobody would hear.
    pub fn may_be_heard(&self) -> bool {
        self.folder.symlink_metadata().is_ok()
    }

    /// Has a change judged. The answer names exactly the digests of the request.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn judge(&self, request: JudgeRequest) -> Result<Judged, Alone> {
        let file = PathBuf::from(&request.path);
        let request = Request::Judge(request);
        let response = self.ask(&file, &request)?;
        match (response, request) {
            (Response::Judged(judged), Request::Judge(request)) if judged.answers(&request) => Ok(judged),
            _ => Err(Alone::Stale),
        }
    }

    /// Asks the best server for `path` whether it is there.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ping(&self, path: &Path) -> Result<Pong, Alone> {
        match self.ask(path, &Request::Ping)? {
            Response::Pong(pong) => Ok(pong),
            _ => Err(Alone::Stale),
        }
    }

    fn ask(&self, path: &Path, request: &Request) -> Result<Response, Alone> {
        let begun = Instant::now();
        let deadline = begun + self.left.get();
        let answer = self.ask_until(path, request, deadline);
        let left = if answer == Err(Alone::Expired) {
            Duration::ZERO
        } else {
            deadline.saturating_duration_since(Instant::now())
        };
        self.left.set(left);
        answer
    }

    fn ask_until(&self, path: &Path, request: &Request, deadline: Instant) -> Result<Response, Alone> {
        let folder = Folder::open(&self.folder).map_err(|error| match error {
            FolderError::Absent { .. } => Alone::NoServer,
            FolderError::Open { .. } | FolderError::Refused(_) => Alone::UnsafeFolder,
        })?;
        let servers = discover(&folder, path, SystemTime::now(), || Instant::now() < deadline);
        let frame = request.to_frame().map_err(|_| Alone::TooLarge)?;
        let mut answer = Err(if Instant::now() < deadline { Alone::NoServer } else { Alone::Expired });
        for server in &servers {
            answer = exchange(server, &frame, deadline).and_then(|payload| match Response::read(&payload) {
                Ok(Response::Refused(Refusal::Protocol)) | Err(Refusal::Protocol) => Err(Alone::Protocol),
                Ok(Response::Refused(_)) => Err(Alone::Stale),
                Ok(response) => Ok(response),
                Err(_) => Err(Alone::Garbled),
            });
            if answer == Err(Alone::Expired) {
                folder.leave_alone(&server.stem);
            }
            if matches!(answer, Ok(_) | Err(Alone::Expired)) {
                break;
            }
        }
        answer
    }
}

#[cfg(unix)]
fn exchange(server: &Found, frame: &[u8], deadline: Instant) -> Result<Vec<u8>, Alone> {
    unix::exchange(server, frame, deadline)
}

/// Windows has no endpoint: no server is ever found there.
#[cfg(not(unix))]
fn exchange(_server: &Found, _frame: &[u8], _deadline: Instant) -> Result<Vec<u8>, Alone> {
    Err(Alone::Unreachable)
}

#[cfg(unix)]
mod unix {
    use std::io::{self, Read, Write};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::Alone;
    use crate::endpoint::{self, Found, LONGEST_PATH};
    use crate::frame::Decoder;

    /// One request, one answer's payload. Each wait is given what is left of the budget at that moment, so that a
    /// server that sends a byte at a time gains nothing.
    pub fn exchange(server: &Found, frame: &[u8], deadline: Instant) -> Result<Vec<u8>, Alone> {
        let mut stream = connect(&server.socket, deadline)?;
        let mut sent = 0;
        while sent < frame.len() {
            let left = left(deadline)?;
            stream.set_write_timeout(Some(left)).map_err(|_| Alone::Garbled)?;
            match stream.write(&frame[sent..]) {
                Ok(0) => return Err(Alone::Garbled),
                Ok(count) => sent += count,
                Err(error) => interruption(&error)?,
            }
        }
        let mut decoder = Decoder::default();
        let mut piece = vec![0; 16 * 1024];
        loop {
            let left = left(deadline)?;
            stream.set_read_timeout(Some(left)).map_err(|_| Alone::Garbled)?;
            match stream.read(&mut piece) {
                Ok(0) => return Err(Alone::Garbled),
                Ok(count) => {
                    if let Some(payload) = decoder.feed(&piece[..count]).map_err(|_| Alone::Garbled)? {
                        return Ok(payload.to_vec());
                    }
                }
                Err(error) => interruption(&error)?,
            }
        }
    }

    fn connect(socket: &Path, deadline: Instant) -> Result<UnixStream, Alone> {
        left(deadline)?;
        let own = rustix::process::geteuid();
        let found = std::fs::symlink_metadata(socket).map_err(|_| Alone::Unreachable)?;
        if !found.file_type().is_socket() || socket.as_os_str().len() >= LONGEST_PATH {
            return Err(Alone::Unreachable);
        }
        if found.uid() != own.as_raw() {
            return Err(Alone::OtherUser);
        }
        let stream = endpoint::connect(socket).map_err(|_| Alone::Unreachable)?;
        if !peer_is(&stream, own) {
            return Err(Alone::OtherUser);
        }
        stream.set_nonblocking(false).map_err(|_| Alone::Unreachable)?;
        Ok(stream)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn peer_is(stream: &UnixStream, own: rustix::process::Uid) -> bool {
        rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == own)
    }

    /// Elsewhere the owner of the socket and of its folder stands for the peer.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn peer_is(_stream: &UnixStream, _own: rustix::process::Uid) -> bool {
        true
    }

    fn left(deadline: Instant) -> Result<Duration, Alone> {
        match deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(Alone::Expired),
            left => Ok(left),
        }
    }

    fn interruption(error: &io::Error) -> Result<(), Alone> {
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Err(Alone::Expired),
            _ => Err(Alone::Garbled),
        }
    }
}
