//! Watches rulebooks, hooks, grants, HEADs and logs ourselves, where the client cannot.
//!
//! Only single folders are watched: the roots, their `.ruleline`, its `hooks` with the folders in it as far as a bound
//! goes, their `.git`, the grants in the state folder, where logs of decisions end, and the folders of files in which
//! something was refused. The system tells of changes; nothing polls.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{EventKind, RecursiveMode, Watcher as _};
use system::Folders;
use tokio::sync::mpsc;

use crate::features;
use crate::session::event::Event;
use crate::session::live::News;

/// Most entries of a folder of hooks that are looked at for folders to watch.
const ENTRIES: usize = 1024;
/// Most folders in a folder of hooks that are watched.
const FOLDERS: usize = 64;

/// The folders that are watched.
pub struct Watcher {
    system: notify::RecommendedWatcher,
    folders: HashSet<PathBuf>,
    /// The folders above which roots were looked for.
    above: HashSet<PathBuf>,
    /// Where the user's grants are; the folder may come later.
    grants: Option<PathBuf>,
    /// The folders that are watched for files with refusals alone.
    lent: HashSet<PathBuf>,
    more: Arc<More>,
}

/// What is watched beside, as the system's thread knows it.
#[derive(Default)]
struct More {
    watched: Mutex<Watched>,
    /// The session was told that a log grew and has not looked yet: more of the same need not be told.
    told: AtomicBool,
}

#[derive(Default)]
struct Watched {
    /// The folders in which logs end.
    logs: HashSet<PathBuf>,
    /// Such as were moved or removed: the system watches them no more.
    lost: HashSet<PathBuf>,
    /// Files in which something was refused.
    files: HashSet<PathBuf>,
}

impl More {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a change means for logs and files with refusals.
    fn news(&self, change: &notify::Event) -> Vec<News> {
        let mut watched = self.lock();
        let is_gone = matches!(change.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
        let mut news = Vec::new();
        let (mut grew, mut touched) = (false, Vec::new());
        for path in &change.paths {
            if watched.logs.contains(path) {
                grew = true;
                if is_gone {
                    watched.lost.insert(path.clone());
                }
            }
            grew |= path.parent().is_some_and(|folder| watched.logs.contains(folder));
            if watched.files.contains(path) {
                touched.push(path.clone());
            }
        }
        if grew && !self.told.swap(true, Ordering::SeqCst) {
            news.push(News::Grown);
        }
        if !touched.is_empty() {
            news.push(News::Touched(touched));
        }
        news
    }
}

impl Watcher {
    /// Sends [`Event::Watched`] for what changes in rulebooks, hooks, HEADs, and in the user's folder and grants; none
    /// where the system cannot tell.
    pub fn start(events: mpsc::WeakUnboundedSender<Event>, folders: Option<&Folders>) -> Option<Watcher> {
        let of_user = folders.map(|folders| folders.user.clone());
        let more = Arc::new(More::default());
        let known = more.clone();
        let tell = move |change: notify::Result<notify::Event>| {
            let Ok(change) = change else { return };
            let concerns =
                |path: &PathBuf| is_of_head(path) || is_of_rules(path, of_user.as_deref()) || is_of_hooks(path);
            if !is_complete(change.kind) {
                return;
            }
            let Some(events) = events.upgrade() else { return };
            for news in known.news(&change) {
                let _ = events.send(Event::Live(news));
            }
            if change.paths.iter().any(concerns) {
                let _ = events.send(Event::Watched { paths: change.paths });
            }
        };
        match notify::recommended_watcher(tell) {
            Ok(system) => {
                let (folders_, above, lent) = (HashSet::new(), HashSet::new(), HashSet::new());
                let mut watcher = Watcher { system, folders: folders_, above, grants: None, lent, more };
                if let Some(folders) = folders {
                    watcher.watch(folders.user.clone());
                    watcher.grants = Some(folders.state.join("grants"));
                    watcher.watch(folders.state.clone());
                    watcher.watch_grants();
                }
                Some(watcher)
            }
            Err(error) => {
                tracing::warn!("rulebooks are not watched: {error}; save one in the editor to have it read again");
                None
            }
        }
    }

    /// Watches every root from a folder upwards, and the main checkout of a linked worktree, except those that are
    /// watched otherwise. A folder that was looked at is not looked at again.
    pub fn watch_above(&mut self, folder: &Path, otherwise: impl Fn(&Path) -> bool) {
        if !self.above.insert(folder.to_path_buf()) {
            return;
        }
        let enclosing: Vec<PathBuf> = system::roots::enclosing(folder).into_iter().map(|root| root.path).collect();
        let main: Vec<PathBuf> = enclosing.iter().filter_map(|root| system::roots::main_checkout(root)).collect();
        for root in enclosing.into_iter().chain(main).chain([folder.to_path_buf()]) {
            if !otherwise(&root) {
                for part in ["", ".ruleline", ::hooks::FOLDER, ".git", ".git/logs"] {
                    self.watch(root.join(part));
                }
                self.watch_below(&root.join(::hooks::FOLDER));
            }
        }
    }

    /// Watches the folders in a folder of hooks, over no link. Each is watched before it is looked into, so that what
    /// comes meanwhile is seen by one or the other.
    fn watch_below(&mut self, folder: &Path) {
        // `read_dir` would follow a link that stands at the folder itself.
        let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
        let mut waiting: Vec<PathBuf> = is_folder.then(|| folder.to_path_buf()).into_iter().collect();
        let (mut entries, mut folders) = (ENTRIES, FOLDERS);
        while let Some(folder) = waiting.pop() {
            self.watch(folder.clone());
            for entry in folder.read_dir().into_iter().flatten().take(entries) {
                entries -= 1;
                let entry = entry.ok().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
                if let Some(entry) = entry.filter(|_| folders > 0) {
                    folders -= 1;
                    waiting.push(entry.path());
                }
            }
        }
    }

    /// Something came or went: what was looked at is looked at again.
    pub fn look_again(&mut self) {
        self.above.clear();
        self.watch_grants();
    }

    /// The session looks at the logs: what comes from here on is to be told.
    pub fn told_of_logs(&self) {
        self.more.told.store(false, Ordering::SeqCst);
    }

    /// Watches the folders in which logs end, and no others; whether one was not watched before.
    pub fn watch_logs(&mut self, folders: &[PathBuf]) -> bool {
        let lost = {
            let mut watched = self.more.lock();
            watched.logs = folders.iter().cloned().collect();
            std::mem::take(&mut watched.lost)
        };
        for folder in lost.iter().filter(|folder| self.folders.remove(*folder)) {
            let _ = self.system.unwatch(folder);
        }
        let before = self.folders.len();
        for folder in folders {
            self.watch(folder.clone());
        }
        self.folders.len() > before
    }

    /// Watches these files, and no others, by the folders they are in.
    pub fn watch_files(&mut self, files: HashSet<PathBuf>) {
        let parents: HashSet<PathBuf> = files.iter().filter_map(|file| Some(file.parent()?.to_path_buf())).collect();
        self.more.lock().files = files;
        for folder in self.lent.difference(&parents).cloned().collect::<Vec<_>>() {
            self.lent.remove(&folder);
            if self.folders.remove(&folder) {
                let _ = self.system.unwatch(&folder);
            }
        }
        for folder in parents {
            if !self.folders.contains(&folder) {
                self.watch(folder.clone());
                if self.folders.contains(&folder) {
                    self.lent.insert(folder);
                }
            }
        }
    }

    fn watch_grants(&mut self) {
        if let Some(grants) = self.grants.clone() {
            self.watch(grants);
        }
    }

    fn watch(&mut self, folder: PathBuf) {
        // What is watched for good is not given back with a file.
        self.lent.remove(&folder);
        if !folder.is_dir() {
            self.folders.remove(&folder);
        } else if !self.folders.contains(&folder) {
            match self.system.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.folders.insert(folder)),
                Err(error) => tracing::warn!("{} is not watched: {error}", folder.display()),
            }
        }
    }
}

/// Whether a change left something whole behind. Where the system tells when a writer closes a file, the writes before
/// that are passed over: a file that is being saved is empty for a moment, and an empty rulebook is a good one.
fn is_complete(kind: EventKind) -> bool {
    let tells_of_closing = cfg!(any(target_os = "linux", target_os = "android"));
    match kind {
        EventKind::Access(access) => tells_of_closing && access == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Data(_)) => !tells_of_closing,
        _ => true,
    }
}

/// Whether the path is a `.ruleline` folder or in one, or in the user's folder.
pub fn is_of_rules(path: &Path, user: Option<&Path>) -> bool {
    path.iter().any(|name| name == ".ruleline") || user.is_some_and(|user| path.starts_with(user))
}

/// Whether the path is a file of hooks, a grant, or a folder that holds either.
pub fn is_of_hooks(path: &Path) -> bool {
    let grants = |path: &Path| path.file_name().is_some_and(|name| name == "grants");
    let is_grant = path.extension().is_some_and(|it| it == "json") && path.parent().is_some_and(grants);
    is_grant || grants(path) || path.ends_with(::hooks::FOLDER) || features::hooks::root_of(path).is_some()
}

/// Whether the path is a git folder's HEAD or its log.
pub fn is_of_head(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "HEAD")
}
