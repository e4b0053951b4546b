//! The rulebooks of one run: each loaded and validated once, and those of the base revision beside today's (S26).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use guard::books::{LARGEST, LoadedBook, Place};
use guard::{RulebookSource, Spelled};
use syntax::LineIndex;

/// A rulebook that the base revision has.
pub struct BaseBook {
    /// The project's root.
    pub root: PathBuf,
    /// The revision as it was named.
    pub revision: String,
    /// What it says.
    pub loaded: Arc<LoadedBook>,
}

type Load = Result<Option<Arc<LoadedBook>>, String>;

/// The rulebooks in use.
#[derive(Default)]
pub struct Shelf {
    today: Mutex<BTreeMap<PathBuf, Load>>,
    base: Vec<BaseBook>,
    /// By the rulebook's digest.
    told: Mutex<HashMap<[u8; 32], Arc<[Telling]>>>,
}

/// How a rule is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    /// The line, from 1, of its id.
    pub line: u32,
    /// Its reason reads like instructions, and whoever reads the result may be an agent: a project's is left out (S19).
    pub instructs: bool,
}

impl Shelf {
    /// Adds the rulebooks of the base revision.
    pub fn lay_down(&mut self, books: Vec<BaseBook>) {
        self.base = books;
    }

    /// The base's rulebooks that hold for `file`, each with the file's names; those that say what today's say are left
    /// out.
    pub fn base_for<'a>(&'a self, file: &Spelled) -> Vec<(&'a BaseBook, Vec<String>)> {
        let others = self.base.iter().filter(|book| {
            let today = self.load(&Place::of_project(&book.root));
            !matches!(today, Ok(Some(today)) if today.digest() == book.loaded.digest())
        });
        others.map(|book| (book, file.names_below(&book.root))).filter(|(_, names)| !names.is_empty()).collect()
    }

    /// How the rules of a rulebook are told.
    pub fn telling(&self, loaded: &LoadedBook) -> Arc<[Telling]> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let of_book = || {
            let index = LineIndex::new(loaded.book.text());
            let telling = |rule: &rules::Rule| Telling {
                line: index.line_of(rule.id_span.start) as u32 + 1,
                instructs: guard::reasons::instructs(&rule.why),
            };
            loaded.book.rules.iter().map(telling).collect()
        };
        told.entry(loaded.digest()).or_insert_with(of_book).clone()
    }

    /// All that was loaded so far: today's in the order of their paths, then the base's with their revision.
    pub fn all(&self) -> Vec<(Option<String>, Arc<LoadedBook>)> {
        let today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        let today = today.values().filter_map(|load| load.as_ref().ok()?.clone()).map(|book| (None, book));
        let base = self.base.iter().map(|book| (Some(book.revision.clone()), book.loaded.clone()));
        today.chain(base).collect()
    }

    /// The rulebooks of today that are there and cannot be read, with why.
    pub fn unreadable(&self) -> Vec<(PathBuf, String)> {
        let today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        today.iter().filter_map(|(path, load)| Some((path.clone(), load.as_ref().err()?.clone()))).collect()
    }
}

impl RulebookSource for Shelf {
    fn load(&self, place: &Place) -> Load {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        today.entry(place.path()).or_insert_with(|| read(place)).clone()
    }

    fn recall(&self, path: &Path, bytes: Vec<u8>) -> Arc<LoadedBook> {
        Arc::new(validated(path.to_path_buf(), bytes))
    }
}

fn read(place: &Place) -> Load {
    let bytes = system::open::read_below(&place.root, &place.relative, LARGEST).map_err(|error| error.to_string())?;
    Ok(bytes.map(|bytes| Arc::new(validated(place.path(), bytes))))
}

fn validated(path: PathBuf, bytes: Vec<u8>) -> LoadedBook {
    let mut loaded = LoadedBook::from_bytes(path, bytes);
    loaded.book.validate();
    loaded
}
