//! The rulebooks in use: each content compiled once, each file's last good content kept.
//!
//! Shared by the workers that judge documents and by the socket. A file is read again only after [`Rulebooks::forget`];
//! whoever watches the files calls that. Nothing here watches, and nothing here decides which rulebooks hold for a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rules::{Format, Rulebook};

use crate::facts::Digest;
use crate::text::Text;

/// How many contents stay compiled that no file has any more.
const SPARE: usize = 32;
/// The largest rulebook that is read, in bytes; the loader refuses a little less and says so.
const CAP: u64 = (1 << 20) + 1;

/// One content of a rulebook, loaded.
#[derive(Debug)]
pub struct Book {
    /// The rules.
    pub rules: Rulebook,
    /// The text they were loaded from, bad UTF-8 replaced.
    pub text: Text,
}

impl Book {
    /// Loads a text; the format goes by the file's extension.
    pub fn load(path: &Path, bytes: &[u8]) -> Book {
        let rules = Rulebook::load_validated(bytes, format_of(path));
        Book { text: Text::new(rules.text().clone()), rules }
    }

    /// Whether it is of use: nothing is wrong with the file as a whole.
    pub fn is_good(&self) -> bool {
        self.rules.unusable().is_none()
    }
}

/// A rulebook file as it was last read.
#[derive(Debug, Clone)]
pub struct Shelved {
    /// What the file holds.
    pub current: Arc<Book>,
    /// What it last held that was of use; the same as `current` where that is, or where it never was.
    pub good: Arc<Book>,
}

#[derive(Default)]
struct Shelf {
    contents: HashMap<(Digest, bool), Arc<Book>>,
    files: HashMap<PathBuf, Option<Shelved>>,
    /// What files last held that was of use, kept while they are read again.
    last_good: HashMap<PathBuf, Arc<Book>>,
    /// Counts [`Rulebooks::forget`]: what was read before is not kept after.
    epoch: u64,
}

/// The rulebooks in use.
#[derive(Default)]
pub struct Rulebooks {
    shelf: Mutex<Shelf>,
    loads: AtomicU64,
}

impl Rulebooks {
    /// How often a content was compiled.
    pub fn loads(&self) -> u64 {
        self.loads.load(Ordering::Relaxed)
    }

    /// The rulebook `relative` (to `root`), read at most once until it is forgotten; none when there is no such file.
    pub fn at(&self, root: &Path, relative: &Path) -> Option<Shelved> {
        let path = root.join(relative);
        let epoch = {
            let shelf = self.lock();
            if let Some(known) = shelf.files.get(&path) {
                return known.clone();
            }
            shelf.epoch
        };
        let read = match system::open::read_below(root, relative, CAP) {
            Ok(bytes) => bytes,
            // What cannot be read holds as a rulebook that cannot be loaded would: the loader says so for no text.
            Err(error) => {
                tracing::warn!("{error}");
                Some(vec![0xff])
            }
        };
        let current = read.map(|bytes| self.content(&path, &bytes));
        let mut shelf = self.lock();
        let shelved = current.map(|current| {
            let good = match shelf.last_good.get(&path) {
                Some(good) if !current.is_good() => good.clone(),
                _ => current.clone(),
            };
            if current.is_good() {
                shelf.last_good.insert(path.clone(), current.clone());
            }
            Shelved { current, good }
        });
        if shelf.epoch == epoch {
            shelf.files.insert(path, shelved.clone());
        }
        shelved
    }

    /// The compiled form of a content, by the file's extension; compiled at most once while it is kept.
    pub fn content(&self, path: &Path, bytes: &[u8]) -> Arc<Book> {
        let key = (system::digest::sha256(bytes), format_of(path) == Format::Json);
        if let Some(book) = self.lock().contents.get(&key) {
            return book.clone();
        }
        self.loads.fetch_add(1, Ordering::Relaxed);
        let book = Arc::new(Book::load(path, bytes));
        let mut shelf = self.lock();
        if shelf.contents.len() >= SPARE {
            shelf.contents.retain(|_, book| Arc::strong_count(book) > 1);
        }
        shelf.contents.entry(key).or_insert(book).clone()
    }

    /// Every rulebook file that was found, in the order of their paths.
    pub fn files(&self) -> Vec<(PathBuf, Shelved)> {
        let shelf = self.lock();
        let found = shelf.files.iter().filter_map(|(path, shelved)| Some((path.clone(), shelved.clone()?)));
        let mut found: Vec<_> = found.collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    /// The files are read again when they are next asked for. What they last held that was of use stays known.
    pub fn forget(&self) {
        let mut shelf = self.lock();
        shelf.files.clear();
        shelf.epoch += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a rulebook file is written.
pub fn format_of(path: &Path) -> Format {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        Format::Json
    } else {
        Format::Toml
    }
}
