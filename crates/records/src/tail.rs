//! Following a log: the lines that this user's hook wrote, and no others (S23).
//!
//! The state folder knows the digest of the last line; each line of ours names the one before. Walking back from there
//! finds exactly our lines, wherever others stand between them. Bounded in bytes and lines; nothing is locked or written.

use std::collections::VecDeque;
use std::path::PathBuf;

use serde::Deserialize;
use system::digest::{bytes_of, sha256};
use system::open::read_at;

use crate::entry::{Entry, Stretch};
use crate::head::{Head, Place};
use crate::log::{Log, LogError, stands_at};

/// How far back one file is looked through, in bytes.
const WINDOW: u64 = 16 << 20;
/// Most lines that are given at once.
const MOST: usize = 2000;
/// Most files that are looked into at once.
const FILES: usize = 4;

/// A place in a log.
#[derive(Debug)]
pub struct Tail {
    log: Log,
    /// The last line before the place, and where it ends; none before the first line.
    seen: Option<Known>,
}

/// A line that is known to be ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    hash: [u8; 32],
    place: Place,
    end: u64,
}

/// What every line has, of this version or a later one.
#[derive(Deserialize)]
struct Link {
    prev: String,
    #[serde(default)]
    stretch: Option<Stretch>,
}

impl Tail {
    /// At the end of the log as it is now, which need not be there yet.
    pub fn at_end(log: Log) -> Tail {
        let seen = log.last().ok().flatten();
        Tail { log, seen }
    }

    /// The last `most` lines before the place, oldest first.
    ///
    /// # Errors
    /// The log cannot be read; a line that is not ours is left out and is no error.
    pub fn latest(&self, most: usize) -> Result<Vec<Entry>, LogError> {
        match self.seen {
            Some(seen) => self.log.walk(seen, None, most.min(MOST)),
            None => Ok(Vec::new()),
        }
    }

    /// The lines since the last call, oldest first, bounded; the place moves behind them. A log that was rotated,
    /// replaced, moved between project and state, or cut is followed.
    ///
    /// # Errors
    /// As [`Tail::latest`].
    pub fn advance(&mut self) -> Result<Vec<Entry>, LogError> {
        let Some(last) = self.log.last()? else { return Ok(Vec::new()) };
        if self.seen.is_some_and(|seen| seen.hash == last.hash) {
            return Ok(Vec::new());
        }
        let lines = self.log.walk(last, self.seen, MOST)?;
        self.seen = Some(last);
        Ok(lines)
    }

    /// The folders whose change means that there may be more: that of the log's end in the state folder is enough.
    pub fn watched(&self) -> Vec<PathBuf> {
        vec![self.log.folder()]
    }
}

impl Log {
    /// The last line that stands in its file; none before the first.
    fn last(&self) -> Result<Option<Known>, LogError> {
        let Some(head) = self.head()? else { return Ok(None) };
        let Head { place, before, after, .. } = head;
        let known = |end: crate::head::End| Known { hash: end.hash, place, end: end.length };
        let end = if head.is_settled() {
            after
        } else {
            let stands = self.read(place)?.is_some_and(|(file, size)| {
                size >= after.length && stands_at(&file, before.length, after).unwrap_or(false)
            });
            if stands { after } else { before }
        };
        Ok((end.hash != crate::head::End::start().hash).then(|| known(end)))
    }

    /// Our lines that end with `last`, oldest first: at most `most`, and none up to `until`.
    fn walk(&self, last: Known, until: Option<Known>, most: usize) -> Result<Vec<Entry>, LogError> {
        let mut found = VecDeque::new();
        let mut wanted = last.hash;
        let mut place = last.place;
        let mut end = Some(last.end);
        for _ in 0..FILES {
            let Some((file, size)) = self.read(place)? else { break };
            // A line may stand behind where it was expected if somebody wrote in between.
            let stop = end.take().map_or(size, |end| size.min(end + WINDOW / 16));
            let known = until.filter(|until| until.place == place && until.end <= stop);
            let start = known.map_or(0, |until| until.end).max(stop.saturating_sub(WINDOW));
            let mut bytes = vec![0; usize::try_from(stop - start).unwrap_or(0)];
            let read = read_at(&file, &mut bytes, start).map_err(|error| self.unreadable(place, &error))?;
            let mut stretch = None;
            for line in bytes[..read].rsplit(|byte| *byte == b'\n') {
                if found.len() == most || until.is_some_and(|until| until.hash == wanted) {
                    return Ok(found.into());
                }
                if line.is_empty() || sha256(line) != wanted {
                    continue;
                }
                let Ok(link) = serde_json::from_slice::<Link>(line) else { return Ok(found.into()) };
                if let Ok(entry) = serde_json::from_slice(line) {
                    found.push_front(entry);
                }
                let Some(before) = bytes_of(&link.prev) else { return Ok(found.into()) };
                (wanted, stretch) = (before, link.stretch);
            }
            place = match stretch {
                Some(Stretch::Next) if place.number > 0 => Place { number: place.number - 1, ..place },
                Some(Stretch::Moved) => self.newest(!place.in_project),
                _ => break,
            };
        }
        Ok(found.into())
    }

    /// The last file of a place.
    fn newest(&self, in_project: bool) -> Place {
        let place = |number| Place { in_project, number };
        let exists = |number: &u16| self.file(place(*number)).symlink_metadata().is_ok();
        place((1..10_000).take_while(exists).last().unwrap_or(0))
    }

    fn unreadable(&self, place: Place, error: &std::io::Error) -> LogError {
        LogError { path: self.file(place), why: format!("cannot be read ({error})"), is_known: false }
    }
}

#[cfg(test)]
mod tests;
