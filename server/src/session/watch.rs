//! Watches rulebooks and HEADs ourselves, where the client cannot.
//!
//! Only single folders are watched, never trees: the roots, their `.ruleline` and their `.git`. The system tells of
//! changes; nothing polls.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use crate::session::event::Event;

/// The folders that are watched.
pub struct Watcher {
    watcher: notify::RecommendedWatcher,
    folders: HashSet<PathBuf>,
}

impl Watcher {
    /// Sends [`Event::Watched`] for what changes; none where the system cannot tell.
    pub fn start(events: mpsc::WeakUnboundedSender<Event>) -> Option<Watcher> {
        let tell = move |change: notify::Result<notify::Event>| {
            let Ok(change) = change else { return };
            if change.kind.is_access() || !change.paths.iter().any(|path| is_of_interest(path)) {
                return;
            }
            if let Some(events) = events.upgrade() {
                let _ = events.send(Event::Watched { paths: change.paths });
            }
        };
        match notify::recommended_watcher(tell) {
            Ok(watcher) => Some(Watcher { watcher, folders: HashSet::new() }),
            Err(error) => {
                tracing::warn!("rulebooks are not watched: {error}; save one in the editor to have it read again");
                None
            }
        }
    }

    /// Watches a root, and of its folders those that are there and matter.
    pub fn watch_root(&mut self, root: &Path) {
        for folder in [root.to_path_buf(), root.join(".ruleline"), root.join(".git"), root.join(".git/logs")] {
            if !folder.is_dir() {
                self.folders.remove(&folder);
            } else if !self.folders.contains(&folder) {
                match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                    Ok(()) => drop(self.folders.insert(folder)),
                    Err(error) => tracing::warn!("{} is not watched: {error}", folder.display()),
                }
            }
        }
    }
}

/// Whether a change of this path can change what holds: of a rulebook or its folder, or of a HEAD.
pub fn is_of_interest(path: &Path) -> bool {
    is_of_rules(path) || is_of_head(path)
}

/// Whether the path is a `.ruleline` folder or in one.
pub fn is_of_rules(path: &Path) -> bool {
    path.iter().any(|name| name == ".ruleline")
}

/// Whether the path is a git folder's HEAD or its log.
pub fn is_of_head(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "HEAD")
}
