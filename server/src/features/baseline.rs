//! What a buffer's current edit is measured against: git HEAD, the file on disk, or nothing.
//!
//! HEAD is asked only in a workspace that a person trusts (S25); where it cannot be told, the disk is taken.

use std::path::Path;
use std::sync::Arc;

use crate::session::settings::{Baseline, Settings};

/// A document before its current edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// The text; none where there is no such file.
    pub text: Option<Arc<str>>,
    /// Where it is from.
    pub baseline: Baseline,
}

impl Before {
    /// Reads the baseline of a document. Blocks.
    pub fn read(path: Option<&Path>, settings: &Settings) -> Before {
        let nothing = Before { text: None, baseline: Baseline::All };
        let Some(path) = path else {
            return nothing;
        };
        match settings.baseline {
            Baseline::All => nothing,
            Baseline::Head if settings.trusted => head(path).unwrap_or_else(|| disk(path)),
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
