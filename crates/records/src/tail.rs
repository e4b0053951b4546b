//! Following a log: the lines that this user's hook wrote, and no others (S23).

use std::path::PathBuf;

use crate::entry::Entry;
use crate::log::{Log, LogError};

/// A place in a log.
#[derive(Debug)]
pub struct Tail {
    log: Log,
}

impl Tail {
    /// At the end of the log as it is now, which need not be there yet.
    pub fn at_end(log: Log) -> Tail {
        Tail { log }
    }

    /// The last `most` lines before the place, oldest first.
    ///
    /// # Errors
    /// The log cannot be read; a line that is not ours is left out and is no error.
    pub fn latest(&self, most: usize) -> Result<Vec<Entry>, LogError> {
        let _ = (most, &self.log);
        unimplemented!()
    }

    /// The lines since the last call, oldest first, bounded; the place moves behind them. A log that was rotated,
    /// replaced, moved between project and state, or cut is followed.
    ///
    /// # Errors
    /// As [`Tail::latest`].
    pub fn advance(&mut self) -> Result<Vec<Entry>, LogError> {
        unimplemented!()
    }

    /// The folders whose change means that there may be more: that of the log's end in the state folder is enough.
    pub fn watched(&self) -> Vec<PathBuf> {
        unimplemented!()
    }
}
