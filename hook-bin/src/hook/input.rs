//! The payload on stdin: bounded in size and time.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::time::Instant;

#[cfg(unix)]
use unix::Stdin;
#[cfg(windows)]
use windows::Stdin;

/// How much is read at once, in bytes.
const PIECE: usize = 16 << 10;

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
    let mut stdin = Stdin::open();
    let mut bytes = Vec::new();
    let mut total = 0;
    loop {
        let piece = stdin.read(deadline)?;
        if piece.is_empty() {
            return if total > cap { Err(InputError::TooLarge(cap)) } else { Ok(bytes) };
        }
        total += piece.len();
        if total <= cap {
            bytes.extend_from_slice(piece);
        } else {
            bytes = Vec::new();
        }
    }
}
