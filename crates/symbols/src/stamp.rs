//! What a file looks like from outside: whether it is worth reading again.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A file that was written this shortly before it was looked at may be written again without looking any other.
const FRESH: Duration = Duration::from_secs(2);

/// Size and times of a file. A file that still has its stamp has still its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    size: u64,
    /// Nanoseconds since 1970.
    modified: u64,
    /// What a program that sets the time of a file cannot set; 0 where the system has no such thing.
    changed: u64,
    /// The file behind the name; 0 where the system does not say.
    file: u64,
}

impl Stamp {
    /// The stamp of a file that was looked at right now; none where it may be written again without a trace.
    pub fn of(metadata: &Metadata) -> Option<Stamp> {
        let modified = metadata.modified().ok()?;
        let age = SystemTime::now().duration_since(modified).ok()?;
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        let (changed, file) = inner(metadata);
        (age > FRESH).then(|| Stamp { size: metadata.len(), modified: since(modified), changed, file })
    }
}

#[cfg(unix)]
fn inner(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    let changed = metadata.ctime().wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec());
    (changed.cast_unsigned(), metadata.ino())
}

#[cfg(not(unix))]
fn inner(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, FileTimes};

    use super::*;

    #[test]
    fn a_file_that_was_just_written_has_no_stamp_and_another_text_another_one() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a");
        let write = |text: &str, age: Duration| {
            fs::write(&path, text).unwrap();
            let times = FileTimes::new().set_modified(SystemTime::now() - age);
            File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
            Stamp::of(&path.symlink_metadata().unwrap())
        };
        assert_eq!(write("one", Duration::ZERO), None);
        let one = write("one", Duration::from_secs(60));
        assert!(one.is_some());
        assert_eq!(one, Stamp::of(&path.symlink_metadata().unwrap()));
        assert_ne!(one, write("two", Duration::from_secs(60)), "the same size and about the same time");
    }
}
