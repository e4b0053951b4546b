//! The symbol indexes of the workspace's roots, shared by the session, the socket and MCP.
//!
//! An index is made of what the cache folder has of its root and of the files that changed since. While it is filled it
//! answers with what it has; afterwards files are looked at again when somebody asks and the last look is old. Owns no
//! thread and knows no editor.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::time::{Duration, Instant};

use guard::Config;
use guard::config::IndexLimits;
use symbols::{Filled, Filling, Index, Limits, Progress, store};
use system::Folders;

/// A look at the files that is older is repeated before an answer.
const STALE: Duration = Duration::from_secs(5);

/// How much of a root is taken in, as its settings and the user's say when the index is made.
pub fn limits(root: &Path, folders: Option<&Folders>) -> Limits {
    let config = Config::load(folders.map(|folders| folders.user.as_path()), [root]);
    let IndexLimits { files, file_kib, mib } = config.symbols;
    Limits::new(files, file_kib, mib)
}

/// The index of one root.
#[derive(Debug)]
pub struct Rooted {
    /// The root, as the workspace names it.
    pub folder: PathBuf,
    /// Its index.
    pub index: Index,
    stop: AtomicBool,
    /// When the files were last looked at; held while they are.
    looked: Mutex<Option<Instant>>,
    /// When the cache folder last got what is known, where something changed since.
    changed: AtomicBool,
    kept: Mutex<Option<Instant>>,
}

impl Rooted {
    /// An empty index of a folder.
    pub fn new(folder: &Path, limits: Limits) -> Rooted {
        Rooted {
            folder: folder.to_path_buf(),
            index: Index::new(folder, limits),
            stop: AtomicBool::new(false),
            looked: Mutex::default(),
            changed: AtomicBool::new(false),
            kept: Mutex::default(),
        }
    }

    /// Nobody wants this index any more.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Set when nobody wants answers any more.
    pub fn stopped(&self) -> &AtomicBool {
        &self.stop
    }

    /// Fills the index: with what the cache folder has, and with what changed since; keeps what came of it. None where
    /// somebody else is at it.
    pub fn fill(
        &self,
        folders: Option<&Folders>,
        threads: Option<usize>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Option<Filled> {
        let mut looked = match self.looked.try_lock() {
            Ok(looked) => looked,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let is_first = looked.is_none();
        let known = is_first && folders.is_some_and(|folders| store::load(&self.index, folders));
        let before = self.index.files();
        let filled = self.index.fill(&Filling { stop: &self.stop, progress, threads });
        if !filled.is_stopped {
            *looked = Some(Instant::now());
            if filled.parsed > 0 || filled.files != before || (is_first && !known) {
                self.changed.store(true, Ordering::Relaxed);
            }
            self.keep(folders, Duration::ZERO);
        }
        Some(filled)
    }

    /// A file is another than the cache folder knows.
    pub fn refresh(&self, path: &str) {
        self.index.refresh(path);
        self.changed.store(true, Ordering::Relaxed);
    }

    /// Writes what changed to the cache folder, where hooks without a server find it, unless that was done within
    /// `pause`.
    pub fn keep(&self, folders: Option<&Folders>, pause: Duration) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = kept.is_none_or(|kept| kept.elapsed() >= pause);
        let Some(folders) = folders.filter(|_| is_due && self.changed.swap(false, Ordering::Relaxed)) else { return };
        *kept = Some(Instant::now());
        if let Err(why) = store::save(&self.index, folders) {
            tracing::warn!("the index of {} is not kept: {why}", self.folder.display());
        }
    }

    /// Waits while the index is being filled.
    pub fn wait_until_filled(&self) {
        drop(self.looked.lock());
    }

    /// Looks at the files again if the last look is old. An index that was never filled stays as it is.
    pub fn look(&self, folders: Option<&Folders>) {
        let last = match self.looked.try_lock() {
            Ok(looked) => *looked,
            Err(_) => return,
        };
        if last.is_some_and(|last| last.elapsed() > STALE) {
            self.fill(folders, None, &|_| {});
        }
    }
}

/// The indexes of all roots.
#[derive(Debug, Default)]
pub struct Indexes {
    roots: RwLock<Vec<Arc<Rooted>>>,
}

impl Indexes {
    /// The workspace has these roots by now; gives the indexes that are new and empty.
    pub fn set_roots(&self, folders: &[PathBuf], limits: impl Fn(&Path) -> Limits) -> Vec<Arc<Rooted>> {
        let mut roots = self.roots.write().unwrap_or_else(PoisonError::into_inner);
        roots.retain(|root| {
            let stays = folders.contains(&root.folder);
            if !stays {
                root.stop();
            }
            stays
        });
        let is_known = |folder: &PathBuf| roots.iter().any(|root| root.folder == *folder);
        let fresh: Vec<_> = folders.iter().filter(|folder| !is_known(folder)).cloned().collect();
        let fresh: Vec<_> = fresh.iter().map(|folder| Arc::new(Rooted::new(folder, limits(folder)))).collect();
        roots.extend(fresh.iter().cloned());
        // The longest wins.
        roots.sort_by_key(|root| std::cmp::Reverse(root.folder.components().count()));
        fresh
    }

    /// All of them, the longest root first.
    pub fn all(&self) -> Vec<Arc<Rooted>> {
        self.roots.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The index that a file belongs to, and what the file is called there.
    pub fn of(&self, path: &Path) -> Option<(Arc<Rooted>, String)> {
        let path = system::paths::resolve(path);
        self.all().into_iter().find_map(|root| {
            let relative = root.index.relative(&path)?;
            Some((root, relative))
        })
    }
}
