//! What a look at an entry of a folder tells without opening it.
//!
//! Plain data, the same on every system; where a system has no such thing the field says what is nearest.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link; on Windows anything with a reparse point.
    Link,
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl Kind {
    /// As it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::File => "a file",
            Kind::Folder => "a folder",
            Kind::Link => "a link",
            Kind::Fifo => "a FIFO",
            Kind::Socket => "a socket",
            Kind::Device => "a device",
        }
    }
}

/// An entry as it was found; equal looks mean that nothing was changed in between, as far as the clock of the file
/// system tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// What it is.
    pub kind: Kind,
    /// In bytes.
    pub size: u64,
    /// Permission bits; on Windows 0.
    pub mode: u32,
    /// The user it belongs to; on Windows 0.
    pub owner: u32,
    /// The group it belongs to; on Windows 0.
    pub group: u32,
    /// How many names it has on the disk.
    pub names: u64,
    /// The file system.
    pub device: u64,
    /// Which of its files.
    pub inode: u64,
    /// When its bytes were written last, in nanoseconds since 1970.
    pub modified: i128,
    /// When anything of it was changed last, in nanoseconds since 1970; on Windows as `modified`.
    pub changed: i128,
}

impl Look {
    /// Whether its owner may execute it.
    pub fn executable(&self) -> bool {
        self.mode & 0o100 != 0
    }

    /// How long before `now` anything of it was changed last; none when that is still to come.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        let changed = Duration::from_nanos(u64::try_from(self.changed).ok()?);
        now.duration_since(UNIX_EPOCH).ok()?.checked_sub(changed)
    }

    /// Why somebody else may have a say in it: it belongs to another user than that of this process or the machine's
    /// owner, or others may write it. None when nobody has.
    pub fn not_ours_alone(&self) -> Option<&'static str> {
        if cfg!(windows) {
            return None;
        }
        let user = crate::folders::user();
        if self.owner != user && self.owner != 0 {
            return Some("belongs to another user");
        }
        // A group of the same number as its user has nobody else in it.
        let own_group = user != 0 && self.owner == user && self.group == user;
        let others = if own_group { 0o002 } else { 0o022 };
        (self.mode & others != 0).then_some("can be written by others")
    }

    /// Why it is not private to the user of this process: another owner, or anybody else may read or write it. None
    /// when it is.
    pub fn not_private(&self) -> Option<&'static str> {
        if cfg!(windows) {
            return None;
        }
        if self.owner != crate::folders::user() {
            return Some("belongs to another user");
        }
        (self.mode & 0o077 != 0).then_some("is open to other users")
    }
}
