//! Rulebooks as files: where one stands, what it says, and who loads it.
//!
//! A rulebook is opened below its root without following a link, regular and bounded (S27). The server puts a cache
//! behind [`RulebookSource`]; the hook reads each time.

use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
use std::sync::{Arc, OnceLock};

use rules::{Format, Rulebook, rulebook};

/// Largest rulebook that is read, in bytes; what `rules` loads is bounded by itself.
pub const LARGEST: u64 = 4 << 20;

/// A project's rulebook, relative to its root.
pub const PROJECT_RULES: &str = ".ruleline/rules.toml";

/// Where a rulebook stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The folder below which no link is followed.
    pub root: PathBuf,
    /// The file, relative to it.
    pub relative: PathBuf,
}

impl Place {
    /// The rulebook of the project at `root`.
    pub fn of_project(root: &Path) -> Place {
        Place { root: root.to_path_buf(), relative: PathBuf::from(PROJECT_RULES) }
    }

    /// The rulebook of the user whose folder this is.
    pub fn of_user(folder: &Path) -> Place {
        Place { root: folder.to_path_buf(), relative: PathBuf::from("rules.toml") }
    }

    /// A rulebook that a person named: only its last component must not be a link.
    pub fn named(path: &Path) -> Place {
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        Place { root: path.parent().map(Path::to_path_buf).unwrap_or_default(), relative: name }
    }

    /// The whole path.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.relative)
    }

    /// JSON by its extension, else TOML.
    pub fn format(&self) -> Format {
        Format::of(&self.relative.to_string_lossy())
    }
}

/// A rulebook with the bytes it was loaded from.
#[derive(Debug)]
pub struct LoadedBook {
    /// Its file.
    pub path: PathBuf,
    /// What it says.
    pub book: Rulebook,
    /// The file's bytes, where they are not those of the rulebook's text.
    unread: Option<Vec<u8>>,
    digest: OnceLock<[u8; 32]>,
}

impl LoadedBook {
    /// Loads a rulebook from bytes at hand.
    pub fn from_bytes(path: PathBuf, bytes: Vec<u8>) -> LoadedBook {
        LoadedBook::about(path, bytes, None)
    }

    /// As [`LoadedBook::from_bytes`]; with names, only what is about a file of these names has to be loaded.
    fn about(path: PathBuf, bytes: Vec<u8>, names: Option<&[String]>) -> LoadedBook {
        let format = Format::of(&path.to_string_lossy());
        let (book, unread) = match String::from_utf8(bytes) {
            Ok(text) if text.len() <= rulebook::LONGEST => (Rulebook::load_text(text, format, names), None),
            other => {
                let bytes = other.map_or_else(FromUtf8Error::into_bytes, String::into_bytes);
                (Rulebook::load(&bytes, format), Some(bytes))
            }
        };
        LoadedBook { path, book, unread, digest: OnceLock::new() }
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.unread.as_deref().unwrap_or(self.book.text().as_bytes())
    }

    /// SHA-256 of the bytes, computed when it is first asked for.
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| system::digest::sha256(self.bytes()))
    }
}

/// Whoever loads rulebooks.
pub trait RulebookSource {
    /// The rulebook at `place`; none when there is no such file.
    ///
    /// # Errors
    /// In one line, why the file cannot be read.
    fn load(&self, place: &Place) -> Result<Option<Arc<LoadedBook>>, String>;

    /// As [`RulebookSource::load`], for who judges a file that has no other names than these: rules about other files
    /// may be left out.
    ///
    /// # Errors
    /// As [`RulebookSource::load`].
    fn load_about(&self, place: &Place, names: &[String]) -> Result<Option<Arc<LoadedBook>>, String> {
        let _ = names;
        self.load(place)
    }

    /// A rulebook whose bytes were kept from earlier.
    fn recall(&self, path: &Path, bytes: Vec<u8>) -> Arc<LoadedBook>;
}

/// Reads the file at each request.
#[derive(Debug, Clone, Copy, Default)]
pub struct FromDisk;

impl FromDisk {
    fn read(place: &Place) -> Result<Option<Vec<u8>>, String> {
        system::open::read_below(&place.root, &place.relative, LARGEST).map_err(|error| error.to_string())
    }
}

impl RulebookSource for FromDisk {
    fn load(&self, place: &Place) -> Result<Option<Arc<LoadedBook>>, String> {
        Ok(FromDisk::read(place)?.map(|bytes| Arc::new(LoadedBook::from_bytes(place.path(), bytes))))
    }

    fn load_about(&self, place: &Place, names: &[String]) -> Result<Option<Arc<LoadedBook>>, String> {
        Ok(FromDisk::read(place)?.map(|bytes| Arc::new(LoadedBook::about(place.path(), bytes, Some(names)))))
    }

    fn recall(&self, path: &Path, bytes: Vec<u8>) -> Arc<LoadedBook> {
        Arc::new(LoadedBook::from_bytes(path.to_path_buf(), bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_rulebook_are_those_of_its_file_whatever_they_are() {
        let long = b"# \n".repeat(rulebook::LONGEST / 3 + 1);
        for bytes in [b"[[rule]]\nid = 'a'\n".to_vec(), b"\xff\xfe[".to_vec(), "\u{feff}# a\n".into(), long, vec![]] {
            let book = LoadedBook::from_bytes("/p/rules.toml".into(), bytes.clone());
            assert_eq!(book.bytes(), bytes);
            assert_eq!(book.digest(), system::digest::sha256(&bytes));
        }
    }
}
