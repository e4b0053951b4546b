//! The looks of all entries, folded into one [`Signature`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use system::open::{Kind, Look};

use super::Signature;

/// How long after a change the next one may carry the same time: the coarsest clock of a file system.
const COARSE: Duration = Duration::from_secs(2);

pub(super) struct Looks {
    /// Nanoseconds since 1970 from which on a change is fresh.
    fresh_from: i128,
    fresh: bool,
    entries: Vec<(String, Vec<u8>)>,
}

impl Looks {
    /// Nothing yet; the clock is read now, before anything is looked at.
    pub(super) fn now() -> Looks {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Before 1970 everything is fresh.
        let fresh_from = now.as_nanos().cast_signed() - COARSE.as_nanos().cast_signed();
        Looks { fresh_from, fresh: false, entries: Vec::new() }
    }

    /// Of a folder only that it is there, and which: its times change with what the walk sees anyway.
    pub(super) fn add(&mut self, path: &str, look: &Look) {
        let mut entry = look.device.to_be_bytes().to_vec();
        entry.extend(look.inode.to_be_bytes());
        entry.push(u8::from(look.kind == Kind::File));
        if look.kind == Kind::File {
            self.fresh |= look.modified.max(look.changed) >= self.fresh_from;
            entry.extend(look.size.to_be_bytes());
            entry.extend(look.mode.to_be_bytes());
            entry.extend(look.modified.to_be_bytes());
            entry.extend(look.changed.to_be_bytes());
        }
        self.entries.push((path.to_owned(), entry));
    }

    pub(super) fn signature(mut self) -> Signature {
        self.entries.sort_unstable();
        let mut text = b"ruleline-hooks-looks-v1\0".to_vec();
        for (path, entry) in &self.entries {
            text.extend((path.len() as u64).to_be_bytes());
            text.extend_from_slice(path.as_bytes());
            text.extend_from_slice(entry);
        }
        Signature { hash: system::digest::sha256_hex(&text), fresh: self.fresh }
    }
}
