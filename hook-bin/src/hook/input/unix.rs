//! Waits with `poll`, so that no thread is needed.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{InputError, PIECE};

pub(super) struct Stdin {
    stdin: io::Stdin,
    piece: [u8; PIECE],
}

impl Stdin {
    pub fn open() -> Stdin {
        Stdin { stdin: io::stdin(), piece: [0; PIECE] }
    }

    /// What comes next; empty at the end.
    pub fn read(&mut self, deadline: Instant) -> Result<&[u8], InputError> {
        loop {
            self.wait(deadline)?;
            match rustix::io::read(&self.stdin, &mut self.piece) {
                Ok(count) => return Ok(&self.piece[..count]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(errno) => return Err(InputError::Io(errno.to_string())),
            }
        }
    }

    fn wait(&self, deadline: Instant) -> Result<(), InputError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = Timespec::try_from(left).ok();
        let mut waited = [PollFd::from_borrowed_fd(self.stdin.as_fd(), PollFlags::IN)];
        match poll(&mut waited, limit.as_ref()) {
            Ok(0) => Err(InputError::Late),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(InputError::Io(errno.to_string())),
        }
    }
}
