//! The small JSON file beside a socket that says who listens there and for which roots.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Who listens. Unknown fields are ignored; another protocol's record is read far enough to be passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The protocol's number.
    pub protocol: u32,
    /// The server's version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// The canonical roots it stands for.
    pub roots: Vec<String>,
    /// The socket's file name, in the record's folder.
    pub socket: String,
    /// When it started, in milliseconds since 1970.
    pub started: u64,
}

impl Record {
    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers and texts are always JSON")
    }

    /// How many bytes the longest root that holds `path` has; none when no root does.
    pub(super) fn covers(&self, path: &Path) -> Option<usize> {
        let holding = self.roots.iter().filter(|root| Path::new(root).is_absolute() && path.starts_with(root));
        holding.map(String::len).max()
    }
}
