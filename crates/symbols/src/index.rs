//! The index of one workspace root: which file holds which symbols, and which files define a name.
//!
//! Read and written by many threads at once; whoever looks something up while it grows finds what is there by then. What
//! it says of a file is a hint: [`crate::place`] holds it against the file before anybody is told. Which files there are
//! and when they are read is [`crate::fill`]'s business.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry as Slot;
use serde::{Deserialize, Serialize};
use syntax::{Facts, Language};

use crate::file::{FileSymbols, last};
use crate::stamp::Stamp;

/// A SHA-256 of a text.
pub type Digest = [u8; 32];

/// How much is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Most files.
    pub files: usize,
    /// Largest file, in bytes.
    pub file_bytes: u64,
    /// Most bytes of symbols together.
    pub bytes: usize,
}

impl Default for Limits {
    /// 200,000 files of at most 2 MiB, 256 MiB of symbols.
    fn default() -> Limits {
        Limits { files: 200_000, file_bytes: 2 << 20, bytes: 256 << 20 }
    }
}

impl Limits {
    /// As `[symbols]` of config.toml says them: files, KiB of a file, MiB of symbols.
    pub fn new(files: u32, file_kib: u32, mib: u32) -> Limits {
        Limits { files: files as usize, file_bytes: u64::from(file_kib) << 10, bytes: (mib as usize) << 20 }
    }
}

/// What the index has of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file's language.
    pub language: Language,
    /// Names the text that the symbols are of.
    pub digest: Digest,
    /// What the file looked like when it was read; none where that tells nothing.
    pub stamp: Option<Stamp>,
    /// Whether the text is a buffer's, which is newer than the file.
    pub is_open: bool,
    /// The symbols.
    pub symbols: Arc<FileSymbols>,
}

/// The symbols of a workspace root. Paths are relative to it, with `/`.
#[derive(Debug)]
pub struct Index {
    root: PathBuf,
    limits: Limits,
    files: DashMap<Arc<str>, Entry>,
    /// The last part of a name, and the files that define it, each once.
    names: DashMap<Box<str>, Vec<Arc<str>>>,
    weight: AtomicUsize,
    parses: AtomicU64,
}

impl Index {
    /// An empty index of the folder `root`, whose links are resolved.
    pub fn new(root: &Path, limits: Limits) -> Index {
        Index {
            root: system::paths::resolve(root),
            limits,
            files: DashMap::new(),
            names: DashMap::new(),
            weight: AtomicUsize::new(0),
            parses: AtomicU64::new(0),
        }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How much is taken in.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How a file of the folder is called here; none for one outside of it, or whose name is no UTF-8.
    pub fn relative(&self, path: &Path) -> Option<String> {
        let relative = path.strip_prefix(&self.root).ok()?.to_str()?;
        let relative = if cfg!(windows) { relative.replace('\\', "/") } else { relative.to_owned() };
        Some(relative).filter(|relative| !relative.is_empty())
    }

    /// How many files it knows.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// About how many bytes its symbols take.
    pub fn weight(&self) -> usize {
        self.weight.load(Ordering::Relaxed)
    }

    /// How many texts were parsed for it.
    pub fn parses(&self) -> u64 {
        self.parses.load(Ordering::Relaxed)
    }

    /// Whether another file may be taken in.
    pub(crate) fn has_room(&self) -> bool {
        self.files.len() < self.limits.files && self.weight() < self.limits.bytes
    }

    /// What is known of a file.
    pub fn entry(&self, path: &str) -> Option<Entry> {
        self.files.get(path).map(|entry| entry.value().clone())
    }

    /// The files, in the order of their paths.
    pub fn paths(&self) -> Vec<Arc<str>> {
        let mut paths: Vec<_> = self.files.iter().map(|entry| entry.key().clone()).collect();
        paths.sort_unstable();
        paths
    }

    /// The files that define a name, by its last part.
    pub fn defining(&self, short: &str) -> Vec<Arc<str>> {
        self.names.get(short).map(|files| files.value().clone()).unwrap_or_default()
    }

    /// Shows each defined name's last part to `look`.
    pub(crate) fn each_name(&self, mut look: impl FnMut(&str)) {
        self.names.iter().for_each(|entry| look(entry.key()));
    }

    /// The text of an open file is this by now, and these are its facts.
    pub fn open(&self, path: &str, language: Language, text: &str, digest: Digest, facts: &Facts) {
        if self.files.get(path).is_some_and(|entry| entry.is_open && entry.digest == digest) {
            return;
        }
        let symbols = Arc::new(FileSymbols::new(facts, text));
        self.set(path, Entry { language, digest, stamp: None, is_open: true, symbols });
    }

    /// A file is not open any more: what stands on disk counts again.
    pub fn close(&self, path: &str) {
        if let Some(mut entry) = self.files.get_mut(path) {
            entry.is_open = false;
        }
    }

    /// Counts a text that was parsed.
    pub(crate) fn count_parse(&self) {
        self.parses.fetch_add(1, Ordering::Relaxed);
    }

    /// Says what a file looks like whose text is still the same.
    pub(crate) fn set_stamp(&self, path: &str, stamp: Option<Stamp>) {
        if let Some(mut entry) = self.files.get_mut(path) {
            entry.stamp = stamp;
        }
    }

    /// Takes in what is known of a file, in place of what was.
    pub(crate) fn set(&self, path: &str, entry: Entry) {
        let symbols = entry.symbols.clone();
        let path: Arc<str> = self.files.get(path).map_or_else(|| path.into(), |known| known.key().clone());
        self.weight.fetch_add(symbols.weight(), Ordering::Relaxed);
        // Names before the file, so that no name is lost to whoever looks at the same time.
        let fresh = shorts(&symbols);
        for short in &fresh {
            self.add_name(short, &path);
        }
        if let Some(former) = self.files.insert(path.clone(), entry) {
            self.weight.fetch_sub(former.symbols.weight(), Ordering::Relaxed);
            for short in shorts(&former.symbols).into_iter().filter(|short| fresh.binary_search(short).is_err()) {
                self.remove_name(short, &path);
            }
        }
    }

    /// A file is not there any more.
    pub fn remove(&self, path: &str) {
        if let Some((path, former)) = self.files.remove(path) {
            self.weight.fetch_sub(former.symbols.weight(), Ordering::Relaxed);
            for short in shorts(&former.symbols) {
                self.remove_name(short, &path);
            }
        }
    }

    fn add_name(&self, short: &str, path: &Arc<str>) {
        if let Some(mut files) = self.names.get_mut(short) {
            if !files.contains(path) {
                files.push(path.clone());
            }
            return;
        }
        let mut files = self.names.entry(short.into()).or_default();
        if !files.contains(path) {
            files.push(path.clone());
        }
    }

    fn remove_name(&self, short: &str, path: &Arc<str>) {
        if let Slot::Occupied(mut files) = self.names.entry(short.into()) {
            files.get_mut().retain(|file| file != path);
            if files.get().is_empty() {
                files.remove();
            }
        }
    }
}

/// The last parts of the names that a file defines, sorted, each once.
pub(crate) fn shorts(symbols: &FileSymbols) -> Vec<&str> {
    let mut shorts: Vec<&str> = symbols.definitions().map(|definition| last(definition.name)).collect();
    shorts.sort_unstable();
    shorts.dedup();
    shorts
}

#[cfg(test)]
mod tests {
    use syntax::Tree;

    use super::*;

    fn open(index: &Index, path: &str, text: &str) {
        let facts = Tree::parse(Language::Python, text, &syntax::Limits::default()).unwrap().facts(text);
        index.open(path, Language::Python, text, system::digest::sha256(text.as_bytes()), &facts);
    }

    fn names(index: &Index) -> Vec<String> {
        let mut names = Vec::new();
        index.each_name(|name| names.push(name.to_owned()));
        names.sort();
        names
    }

    #[test]
    fn names_come_and_go_with_their_files() {
        let index = Index::new(Path::new("/nowhere"), Limits::default());
        open(&index, "a.py", "def f(): pass\nclass C:\n    def m(self): pass\n");
        open(&index, "b.py", "def f(): pass\n");
        assert_eq!(names(&index), ["C", "f", "m"]);
        assert_eq!(index.defining("f").len(), 2);
        open(&index, "a.py", "def g(): pass\n");
        assert_eq!(names(&index), ["f", "g"]);
        index.remove("b.py");
        assert_eq!(names(&index), ["g"]);
        index.remove("a.py");
        index.remove("a.py");
        assert_eq!((names(&index).len(), index.files(), index.weight()), (0, 0, 0));
    }

    #[test]
    fn a_file_is_called_by_its_path_below_the_root() {
        let index = Index::new(Path::new("/nowhere"), Limits::default());
        for (path, name) in
            [("/nowhere/a/b.py", Some("a/b.py")), ("/nowhere", None), ("/other/a.py", None), ("/nowherea.py", None)]
        {
            assert_eq!(index.relative(Path::new(path)).as_deref(), name, "{path}");
        }
    }
}
