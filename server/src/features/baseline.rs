//! What a buffer's current edit is measured against: git HEAD, the file on disk, or nothing.
//!
//! HEAD is asked only in a workspace that a person trusts (S25); where it cannot be told, the disk is taken.

use std::path::Path;
use std::sync::Arc;

use guard::config::Baseline;

/// A document before its current edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// The text; none where there is no such file.
    pub text: Option<Arc<str>>,
    /// Where it is from.
    pub baseline: Baseline,
}

impl Before {
    /// Reads a file's baseline; git is asked only if the workspace is trusted. Blocks.
    pub fn read(path: &Path, baseline: Baseline, trusted: bool) -> Before {
        match baseline {
            Baseline::All => Before { text: None, baseline: Baseline::All },
            Baseline::Head if trusted => head(path).unwrap_or_else(|| disk(path)),
            Baseline::Head | Baseline::Disk => disk(path),
        }
    }
}

fn disk(path: &Path) -> Before {
    let text = system::open::read_judged(path).unwrap_or_else(|error| {
        tracing::warn!("{error}");
        None
    });
    Before { text: text.map(Arc::from), baseline: Baseline::Disk }
}

/// The file at HEAD; none where there is no repository or it cannot be asked.
fn head(path: &Path) -> Option<Before> {
    let path = system::paths::resolve(path);
    let (folder, name) = (path.parent()?, path.file_name()?);
    system::roots::enclosing(folder).iter().find(|root| root.has_git)?;
    match system::git::head_blob(folder, Path::new(name)) {
        Ok(bytes) => {
            let text = bytes.map(|bytes| Arc::from(String::from_utf8_lossy(&bytes)));
            Some(Before { text, baseline: Baseline::Head })
        }
        Err(error) => {
            tracing::warn!("{} at HEAD: {error}", system::paths::shown(&path));
            None
        }
    }
}
