//! Windows cannot wait for a pipe with a limit: a thread reads, and is left behind when time is up.

use std::io::{self, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Instant;

use super::{InputError, PIECE};

pub(super) struct Stdin {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
}

impl Stdin {
    pub fn open() -> Stdin {
        let (read, pieces) = sync_channel(1);
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            let mut piece = vec![0; PIECE];
            loop {
                let next = match stdin.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    other => other.map(|count| piece[..count].to_vec()),
                };
                let more = next.as_ref().is_ok_and(|piece| !piece.is_empty());
                if read.send(next).is_err() || !more {
                    return;
                }
            }
        });
        Stdin { pieces, piece: Vec::new() }
    }

    /// What comes next; empty at the end.
    pub fn read(&mut self, deadline: Instant) -> Result<&[u8], InputError> {
        self.piece = match self.pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(piece)) => piece,
            Ok(Err(error)) => return Err(InputError::Io(error.to_string())),
            Err(RecvTimeoutError::Timeout) => return Err(InputError::Late),
            Err(RecvTimeoutError::Disconnected) => return Err(InputError::Io("its reader is gone".to_owned())),
        };
        Ok(&self.piece)
    }
}
