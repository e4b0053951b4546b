//! The rulebooks in use: each content compiled once, each file's last good content kept.
//!
//! Shared by the workers that judge documents and by the socket. A file is read again only after [`Rulebooks::forget`];
//! whoever watches the files calls that. Nothing here watches, and nothing here decides which rulebooks hold for a file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use guard::books::{LARGEST, PROJECT_RULES};
use guard::{LoadedBook, Place, RulebookSource};
use rules::{Problem, Rulebook};

use crate::facts::Digest;
use crate::text::Text;

/// How many contents stay compiled that no file has any more.
const SPARE: usize = 32;

/// One content of a rulebook, loaded.
#[derive(Debug)]
pub struct Book {
    /// The rules, with the bytes they were loaded from.
    pub loaded: Arc<LoadedBook>,
    /// The text with its lines.
    pub text: Text,
}

impl Book {
    fn new(loaded: LoadedBook) -> Book {
        Book { text: Text::new(loaded.book.text()), loaded: Arc::new(loaded) }
    }

    /// The rules.
    pub fn rules(&self) -> &Rulebook {
        &self.loaded.book
    }

    /// Everything that is wrong with it; patterns that no change has needed yet are checked too.
    pub fn problems(&self) -> Vec<Problem> {
        let mut rules = self.loaded.book.clone();
        rules.validate();
        rules.problems
    }
}

/// A rulebook file as it was last read.
#[derive(Debug, Clone)]
pub struct Shelved {
    /// What the file holds.
    pub current: Arc<Book>,
    /// What it last held that could be used as a whole; the same as `current` where that can, or where nothing could.
    pub good: Arc<Book>,
}

/// What reading a file gave: none when there is none, else in one line why it cannot be read.
type Reading = Result<Option<Shelved>, String>;

#[derive(Default)]
struct Shelf {
    contents: HashMap<(PathBuf, Digest), Arc<Book>>,
    files: HashMap<PathBuf, Reading>,
    /// What files last held that could be used, kept while they are read again.
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
    /// How often a content was loaded.
    pub fn loads(&self) -> u64 {
        self.loads.load(Ordering::Relaxed)
    }

    /// The rulebook at a place, read at most once until it is forgotten; none when there is no such file.
    ///
    /// # Errors
    /// In one line, why the file cannot be read.
    pub fn at(&self, place: &Place) -> Result<Option<Shelved>, String> {
        let path = place.path();
        let epoch = {
            let shelf = self.lock();
            if let Some(known) = shelf.files.get(&path) {
                return known.clone();
            }
            shelf.epoch
        };
        let read = system::open::read_below(&place.root, &place.relative, LARGEST).map_err(|error| error.to_string());
        let current = read.map(|bytes| bytes.map(|bytes| self.content(&path, bytes)));
        let mut shelf = self.lock();
        let reading = current.map(|current| current.map(|current| shelf.shelve(&path, current)));
        if shelf.epoch == epoch {
            shelf.files.insert(path, reading.clone());
        }
        reading
    }

    /// A content of a file that is loaded already; reads nothing.
    pub fn known(&self, path: &Path, digest: Digest) -> Option<Arc<Book>> {
        self.lock().contents.get(&(path.to_path_buf(), digest)).cloned()
    }

    /// The loaded form of a file's content, at hand or read earlier; loaded at most once while it is kept.
    pub fn content(&self, path: &Path, bytes: Vec<u8>) -> Arc<Book> {
        let key = (path.to_path_buf(), system::digest::sha256(&bytes));
        if let Some(book) = self.lock().contents.get(&key) {
            return book.clone();
        }
        self.loads.fetch_add(1, Ordering::Relaxed);
        let book = Arc::new(Book::new(LoadedBook::from_bytes(path.to_path_buf(), bytes)));
        let mut shelf = self.lock();
        if shelf.contents.len() >= SPARE {
            shelf.contents.retain(|_, book| Arc::strong_count(book) > 1);
        }
        shelf.contents.entry(key).or_insert(book).clone()
    }

    /// What a file last held that could be used.
    pub fn last_good(&self, path: &Path) -> Option<Arc<Book>> {
        self.lock().last_good.get(path).cloned()
    }

    /// Every rulebook file that was found, in the order of their paths.
    pub fn files(&self) -> Vec<(PathBuf, Shelved)> {
        let shelf = self.lock();
        let found = shelf.files.iter().filter_map(|(path, reading)| Some((path.clone(), reading.clone().ok()??)));
        let mut found: Vec<_> = found.collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    /// The files are read again when they are next asked for. What they last held that could be used stays known.
    pub fn forget(&self) {
        let mut shelf = self.lock();
        shelf.files.clear();
        shelf.epoch += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn shelve(&mut self, path: &Path, current: Arc<Book>) -> Shelved {
        if current.rules().unusable().is_none() {
            self.last_good.insert(path.to_path_buf(), current.clone());
        }
        let good = self.last_good.get(path).unwrap_or(&current).clone();
        Shelved { current, good }
    }
}

impl RulebookSource for Rulebooks {
    fn load(&self, place: &Place) -> Result<Option<Arc<LoadedBook>>, String> {
        Ok(self.at(place)?.map(|shelved| shelved.current.loaded.clone()))
    }

    fn recall(&self, path: &Path, bytes: Vec<u8>) -> Arc<LoadedBook> {
        self.content(path, bytes).loaded.clone()
    }
}

/// The same rulebooks by their last good contents: what holds for the editor while one is being written.
pub struct LastGood<'a> {
    rulebooks: &'a Rulebooks,
    /// Files that are there and cannot be read, a line each.
    unreadable: RefCell<Vec<String>>,
}

impl LastGood<'_> {
    /// The last good contents of these.
    pub fn of(rulebooks: &Rulebooks) -> LastGood<'_> {
        LastGood { rulebooks, unreadable: RefCell::default() }
    }

    /// The files that were asked for, are there and cannot be read, each in one line.
    pub fn unreadable(self) -> Vec<String> {
        self.unreadable.into_inner()
    }
}

impl RulebookSource for LastGood<'_> {
    fn load(&self, place: &Place) -> Result<Option<Arc<LoadedBook>>, String> {
        let book = match self.rulebooks.at(place) {
            Ok(shelved) => shelved.map(|shelved| shelved.good),
            Err(why) => {
                let mut unreadable = self.unreadable.borrow_mut();
                if !unreadable.contains(&why) {
                    unreadable.push(why);
                }
                self.rulebooks.last_good(&place.path())
            }
        };
        Ok(book.map(|book| book.loaded.clone()))
    }

    fn recall(&self, path: &Path, bytes: Vec<u8>) -> Arc<LoadedBook> {
        self.rulebooks.recall(path, bytes)
    }
}

/// Whether a file is a rulebook: a project's, or the user's.
pub fn is_rulebook(path: &Path, user: Option<&Path>) -> bool {
    path.ends_with(PROJECT_RULES)
        || path.ends_with(".ruleline/rules.json")
        || user.is_some_and(|user| path == Place::of_user(user).path())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[[rule]]\nid = \"a\"\npaths = [\"**\"]\nforbid = ['x']\n";

    struct Case {
        folder: tempfile::TempDir,
        rulebooks: Rulebooks,
    }

    impl Case {
        fn new() -> Case {
            Case { folder: tempfile::tempdir().unwrap(), rulebooks: Rulebooks::default() }
        }

        fn place(&self) -> Place {
            Place { root: self.folder.path().canonicalize().unwrap(), relative: "rules.toml".into() }
        }

        fn write(&self, text: &str) {
            std::fs::write(self.place().path(), text).unwrap();
            self.rulebooks.forget();
        }

        fn at(&self) -> Shelved {
            self.rulebooks.at(&self.place()).unwrap().unwrap()
        }
    }

    #[test]
    fn each_content_is_loaded_once() {
        let case = Case::new();
        case.write(GOOD);
        let first = case.at().current;
        case.rulebooks.forget();
        assert!(Arc::ptr_eq(&first, &case.at().current));
        assert!(Arc::ptr_eq(&first.loaded, &case.rulebooks.load(&case.place()).unwrap().unwrap()));
        assert!(Arc::ptr_eq(&first.loaded, &case.rulebooks.recall(&case.place().path(), GOOD.into())));
        assert_eq!(case.rulebooks.loads(), 1);
        case.write(&GOOD.replace('x', "y"));
        case.at();
        assert_eq!(case.rulebooks.loads(), 2);
    }

    #[test]
    fn the_last_good_content_stays() {
        let case = Case::new();
        case.write(GOOD);
        let good = case.at().good;
        case.write("[[rule\n");
        let broken = case.at();
        assert!(Arc::ptr_eq(&broken.good, &good) && !Arc::ptr_eq(&broken.current, &good));
        assert!(broken.current.problems().iter().any(|problem| problem.rule.is_none()));
        case.write(&GOOD.replace('x', "y"));
        assert!(Arc::ptr_eq(&case.at().good, &case.at().current));
    }

    #[test]
    fn a_file_that_is_not_there_is_none_and_one_that_is_no_file_says_why() {
        let case = Case::new();
        assert!(case.rulebooks.at(&case.place()).unwrap().is_none());
        std::fs::create_dir(case.place().path()).unwrap();
        case.rulebooks.forget();
        assert!(case.rulebooks.at(&case.place()).is_err());
    }

    #[test]
    fn contents_that_no_file_has_are_let_go() {
        let case = Case::new();
        for number in 0..10 * SPARE {
            case.rulebooks.content(Path::new("/r.toml"), format!("# {number}").into());
        }
        assert!(case.rulebooks.lock().contents.len() <= SPARE);
    }
}
