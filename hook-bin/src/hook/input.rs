//! The payload on stdin: bounded in size and, where the system can wait with a limit, in time.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Why there is no payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// More than the cap.
    #[error("the payload is larger than {} MiB", .0 >> 20)]
    TooLarge(usize),
    /// It did not end in time.
    #[error("the payload did not end in time")]
    Late,
    /// The system said so.
    #[error("the payload cannot be read: {0}")]
    Io(String),
}

/// All of stdin. What is over the cap is read and thrown away, so that the agent can finish writing.
///
/// # Errors
/// [`InputError`].
pub fn read(cap: usize, deadline: Instant) -> Result<Vec<u8>, InputError> {
    let stdin = io::stdin();
    let mut bytes = Vec::new();
    let mut piece = [0; 16 << 10];
    let mut total = 0;
    loop {
        wait(&stdin, deadline)?;
        match rustix::io::read(&stdin, &mut piece) {
            Ok(0) if total > cap => return Err(InputError::TooLarge(cap)),
            Ok(0) => return Ok(bytes),
            Ok(count) => {
                total += count;
                if total <= cap {
                    bytes.extend_from_slice(&piece[..count]);
                } else {
                    bytes = Vec::new();
                }
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(errno) => return Err(InputError::Io(errno.to_string())),
        }
    }
}

fn wait(stdin: &io::Stdin, deadline: Instant) -> Result<(), InputError> {
    let left = deadline.saturating_duration_since(Instant::now());
    let limit = Timespec::try_from(left).ok();
    let mut waited = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
    match poll(&mut waited, limit.as_ref()) {
        Ok(0) => Err(InputError::Late),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(errno) => Err(InputError::Io(errno.to_string())),
    }
}
