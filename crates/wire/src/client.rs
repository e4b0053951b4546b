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

    /// What is left of the budget of a question with this deadline stays for the next.
    fn spend_until(&self, deadline: Instant, all: bool) {
        let left = if all { Duration::ZERO } else { deadline.saturating_duration_since(Instant::now()) };
        self.left.set(left);
    }

    /// Asks to have a change judged, and does not wait for the answer.
    ///
    /// # Errors
    /// Why nobody was asked.
    pub fn ask_to_judge(&self, request: JudgeRequest) -> Result<Asked<'_>, Alone> {
        let file = PathBuf::from(&request.path);
        Asked::begin(self, &file, Request::Judge(request))
    }

    /// Has a change judged. The answer names exactly the digests of the request.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn judge(&self, request: JudgeRequest) -> Result<Judged, Alone> {
        self.ask_to_judge(request)?.answer()
    }

    /// Asks the best server for `path` whether it is there.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ping(&self, path: &Path) -> Result<Pong, Alone> {
        match Asked::begin(self, path, Request::Ping)?.end()? {
            Response::Pong(pong) => Ok(pong),
            _ => Err(Alone::Stale),
        }
    }
}

/// One question, on its way to the servers that stand for a path one after the other.
#[derive(Debug)]
pub struct Asked<'c> {
    client: &'c Client,
    request: Request,
    folder: Folder,
    servers: std::vec::IntoIter<Found>,
    frame: Vec<u8>,
    deadline: Instant,
    /// When the question was put: what is done from then on is not the server's time.
    put: Instant,
    current: Option<(Found, Stream)>,
    /// Why no server has answered so far.
    alone: Alone,
}

impl<'c> Asked<'c> {
    /// Waits for the judgement, which names exactly the digests of the request.
    ///
    /// # Errors
    /// Why there is none.
    pub fn answer(mut self) -> Result<Judged, Alone> {
        self.deadline += self.put.elapsed();
        match (self.end()?, &self.request) {
            (Response::Judged(judged), Request::Judge(request)) if judged.answers(request) => Ok(judged),
            _ => Err(Alone::Stale),
        }
    }

    /// Puts the question to the best server that takes it.
    fn begin(client: &'c Client, path: &Path, request: Request) -> Result<Asked<'c>, Alone> {
        let deadline = Instant::now() + client.left.get();
        let begun =
            Asked::prepare(client, path, request, deadline).and_then(|mut asked| asked.ask_next().map(|()| asked));
        begun.inspect_err(|why| client.spend_until(deadline, *why == Alone::Expired))
    }

    fn prepare(client: &'c Client, path: &Path, request: Request, deadline: Instant) -> Result<Asked<'c>, Alone> {
        let folder = Folder::open(&client.folder).map_err(|error| match error {
            FolderError::Absent { .. } => Alone::NoServer,
            FolderError::Open { .. } | FolderError::Refused(_) => Alone::UnsafeFolder,
        })?;
        let servers = discover(&folder, path, SystemTime::now(), || Instant::now() < deadline).into_iter();
        let frame = request.to_frame().map_err(|_| Alone::TooLarge)?;
        let alone = if Instant::now() < deadline { Alone::NoServer } else { Alone::Expired };
        Ok(Asked { client, request, folder, servers, frame, deadline, put: Instant::now(), current: None, alone })
    }

    /// Waits for an answer, of a server further down where one has none.
    fn end(&mut self) -> Result<Response, Alone> {
        let answer = self.hear();
        self.client.spend_until(self.deadline, answer == Err(Alone::Expired));
        answer
    }

    fn hear(&mut self) -> Result<Response, Alone> {
        loop {
            let Some((server, stream)) = self.current.take() else { return Err(self.alone) };
            let answer = platform::hear(stream, self.deadline).and_then(|payload| match Response::read(&payload) {
                Ok(Response::Refused(Refusal::Protocol)) | Err(Refusal::Protocol) => Err(Alone::Protocol),
                Ok(Response::Refused(_)) => Err(Alone::Stale),
                Ok(response) => Ok(response),
                Err(_) => Err(Alone::Garbled),
            });
            match answer {
                Ok(response) => return Ok(response),
                Err(why) => self.give_up(&server, why)?,
            }
            self.ask_next()?;
        }
    }

    fn ask_next(&mut self) -> Result<(), Alone> {
        while let Some(server) = self.servers.next() {
            match platform::ask(&server, &self.frame, self.deadline) {
                Ok(stream) => {
                    (self.current, self.put) = (Some((server, stream)), Instant::now());
                    return Ok(());
                }
                Err(why) => self.give_up(&server, why)?,
            }
        }
        Err(self.alone)
    }

    /// Goes on without this server; not at all where it has used up the time, and then it is left alone.
    fn give_up(&mut self, server: &Found, why: Alone) -> Result<(), Alone> {
        self.alone = why;
        if why == Alone::Expired {
            self.folder.leave_alone(&server.stem);
            return Err(why);
        }
        Ok(())
    }
}

#[cfg(not(unix))]
use nowhere as platform;
#[cfg(unix)]
use unix as platform;

use platform::Stream;

/// Windows has no endpoint: no server is ever found there.
#[cfg(not(unix))]
mod nowhere {
    use std::time::Instant;

    use super::{Alone, Found};

    #[derive(Debug)]
    pub enum Stream {}

    pub fn ask(_server: &Found, _frame: &[u8], _deadline: Instant) -> Result<Stream, Alone> {
        Err(Alone::Unreachable)
    }

    pub fn hear(stream: Stream, _deadline: Instant) -> Result<Vec<u8>, Alone> {
        match stream {}
    }
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

    pub type Stream = UnixStream;

    /// Sends one request. Each wait, here and for the answer, is given what is left of the budget at that moment, so that
    /// a server that takes or sends a byte at a time gains nothing.
    pub fn ask(server: &Found, frame: &[u8], deadline: Instant) -> Result<UnixStream, Alone> {
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
        Ok(stream)
    }

    /// The payload of the answer.
    pub fn hear(mut stream: UnixStream, deadline: Instant) -> Result<Vec<u8>, Alone> {
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
