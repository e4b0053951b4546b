//! Which servers to ask about a file, best first. Reads records, connects to nothing, removes nothing.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Folder, RECORD, Record, SOCKET};
use crate::message::PROTOCOL;

/// How many servers are tried for one request.
pub const TRIES: usize = 3;

/// A server that stands for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its instance's name, the same for all its files.
    pub stem: String,
    /// Its socket.
    pub socket: PathBuf,
    /// Its record.
    pub record: Record,
}

/// The servers of this protocol whose roots hold the canonical `path`: the longest root first, then the newest, at most
/// [`TRIES`]; those that are left alone at `now` are not among them. `in_time` is asked before each record is read.
pub fn discover(folder: &Folder, path: &Path, now: SystemTime, in_time: impl Fn() -> bool) -> Vec<Found> {
    let mut found = Vec::new();
    for stem in folder.stems(RECORD) {
        if !in_time() {
            break;
        }
        let Some(record) = Folder::read(&folder.file(&stem, RECORD))
            .and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok())
            .filter(|record| record.protocol == PROTOCOL && record.socket == format!("{stem}.{SOCKET}"))
        else {
            continue;
        };
        if let Some(length) = record.covers(path)
            && !folder.left_alone(&stem, now)
        {
            let socket = folder.file(&stem, SOCKET);
            found.push((length, Found { stem, socket, record }));
        }
    }
    found.sort_by(|(length, one), (other_length, other)| {
        let rank = |length: &usize, found: &Found| Reverse((*length, found.record.started, found.stem.clone()));
        rank(length, one).cmp(&rank(other_length, other))
    });
    found.into_iter().map(|(_, found)| found).take(TRIES).collect()
}
