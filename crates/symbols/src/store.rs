//! The index on disk: one file for each root in the user's cache folder, safe to delete.
//!
//! A head, a record for each file, where the records are, and a table of keys (the last parts of defined names, and paths)
//! that tells the files of a key without reading the rest: who has one question reads a few pages. A file of another
//! version, cut short or garbled counts as none. What it says is held against the files before anybody is told.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use syntax::Language;
use system::digest::{key, sha256};
use system::folders::{self, Folders};
use system::open::{Access, Durability, Root, read_at};

use crate::file::FileSymbols;
use crate::fill::each_on_threads;
use crate::index::{Digest, Entry, Index, Limits, shorts};
use crate::stamp::Stamp;

/// Where in the cache folder.
const FOLDER: &str = "symbols";
/// Names the format; another one is another format.
const MAGIC: [u8; 8] = *b"RLSYMS\x00\x01";
/// The head: magic, number of files, number of keys, where the directory is, where the keys are.
const HEAD: usize = 8 + 4 + 4 + 8 + 8;
/// An entry of the directory: where a record is, and how long.
const ENTRY: usize = 8 + 4;
/// A key: the first bytes of its digest, and the file's place in the directory.
const KEY: usize = 8 + 4;
/// Largest file that is read, in bytes.
const LARGEST: u64 = 1 << 30;
/// Largest record, in bytes.
const LARGEST_RECORD: u32 = 64 << 20;
/// An index that nobody wrote anew for so long is removed.
const KEPT: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// What is written of one file.
#[derive(Serialize, Deserialize)]
struct Record<'r> {
    #[serde(borrow)]
    path: &'r str,
    #[serde(borrow)]
    language: &'r str,
    digest: Digest,
    stamp: Option<Stamp>,
    symbols: FileSymbols,
}

impl Record<'_> {
    fn entry(self) -> Option<Entry> {
        let language = Language::named(self.language)?;
        let symbols = Arc::new(self.symbols);
        Some(Entry { language, digest: self.digest, stamp: self.stamp, is_open: false, symbols })
    }
}

/// Where the index of a root is kept.
pub fn file_of(folders: &Folders, root: &Path) -> PathBuf {
    folders.cache.join(FOLDER).join(format!("{}.index", key(root)))
}

/// Writes what the index knows.
///
/// # Errors
/// In one line, why it is not written; what was there stays.
pub fn save(index: &Index, folders: &Folders) -> Result<(), String> {
    let path = file_of(folders, index.root());
    let folder = path.parent().expect("it stands in the folder for indexes");
    folders.admit(&folders.cache, &[index.root().to_path_buf()]).map_err(|refused| refused.to_string())?;
    folders::create_private(folder).map_err(|error| error.to_string())?;
    let root = Root::open(folder).map_err(|error| error.to_string())?;
    let name = path.file_name().expect("it is named after the root");
    root.replace(Path::new(name), &encode(index), Durability::Usual).map_err(|error| error.to_string())?;
    sweep(folder);
    Ok(())
}

/// Fills an empty index with what was written of its root; says whether anything was.
pub fn load(index: &Index, folders: &Folders) -> bool {
    let Some(stored) = Stored::open(folders, index.root()) else { return false };
    let mut bytes = vec![0; usize::try_from(stored.length).unwrap_or(0)];
    if read_at(&stored.file, &mut bytes, 0).ok() != Some(bytes.len()) {
        return false;
    }
    let places: Vec<u32> = (0..stored.files).collect();
    let is_whole = Mutex::new(true);
    each_on_threads(
        &places,
        None,
        || (),
        |(), &place| {
            let entry = stored.directory + u64::from(place) * ENTRY as u64;
            let record = slice(&bytes, entry, ENTRY).map(|entry| (number(&entry[..8]), short(&entry[8..])));
            let record = record.and_then(|(at, length)| slice(&bytes, at, length as usize));
            let record = record.and_then(|bytes| postcard::from_bytes::<Record>(bytes).ok());
            match record.map(|record| (record.path, record.entry())) {
                Some((path, Some(entry))) if is_below(path) => index.set(path, entry),
                // A language of another version.
                Some(_) => {}
                None => *is_whole.lock().unwrap_or_else(PoisonError::into_inner) = false,
            }
            true
        },
    );
    if !is_whole.into_inner().unwrap_or_else(PoisonError::into_inner) {
        index.paths().iter().for_each(|path| index.remove(path));
    }
    index.files() > 0
}

/// The index of a root on disk, for one question.
#[derive(Debug)]
pub struct Stored {
    file: File,
    length: u64,
    files: u32,
    keys: u32,
    directory: u64,
    table: u64,
}

impl Stored {
    /// The index of a root; none where there is none that can be read.
    pub fn open(folders: &Folders, root: &Path) -> Option<Stored> {
        let path = file_of(folders, root);
        folders.admit(&folders.cache, &[root.to_path_buf()]).ok()?;
        let (file, _) =
            Root::open(path.parent()?).ok()?.open_private(Path::new(path.file_name()?), Access::Read).ok()??;
        let length = file.metadata().ok()?.len();
        let mut head = [0; HEAD];
        if length > LARGEST || read_at(&file, &mut head, 0).ok()? < HEAD || head[..8] != MAGIC {
            return None;
        }
        let (files, keys) = (short(&head[8..12]), short(&head[12..16]));
        let (directory, table) = (number(&head[16..24]), number(&head[24..32]));
        let ends = |at: u64, count: u32, size: usize| at.checked_add(u64::from(count) * size as u64);
        let is_inside = |end: Option<u64>| end.is_some_and(|end| end <= length);
        let is_whole = is_inside(ends(directory, files, ENTRY)) && is_inside(ends(table, keys, KEY));
        is_whole.then_some(Stored { file, length, files, keys, directory, table })
    }

    /// The files of a key (the last part of a defined name, or a path), `most` of them: each path and what was known of it.
    pub fn files_of(&self, key: &str, most: usize) -> Vec<(String, Entry)> {
        let wanted = digest_of(key);
        let (mut low, mut high) = (0, self.keys);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key_at(middle) {
                Some((digest, _)) if digest < wanted => low = middle + 1,
                Some(_) => high = middle,
                None => return Vec::new(),
            }
        }
        let same = (low..self.keys).map_while(|at| self.key_at(at).filter(|(digest, _)| *digest == wanted));
        let is_meant = |path: &str, entry: &Entry| {
            path == key || entry.symbols.definitions().any(|definition| definition.short() == key)
        };
        let read = same.filter_map(|(_, file)| self.record(file)).filter(|(path, entry)| is_meant(path, entry));
        read.take(most).collect()
    }

    /// An index of the files of a key alone, `most` of them.
    pub fn index_of(&self, root: &Path, key: &str, most: usize, limits: Limits) -> Index {
        let index = Index::new(root, limits);
        for (path, entry) in self.files_of(key, most) {
            index.set(&path, entry);
        }
        index
    }

    fn key_at(&self, at: u32) -> Option<(u64, u32)> {
        let mut bytes = [0; KEY];
        self.read(&mut bytes, self.table + u64::from(at) * KEY as u64)?;
        Some((number(&bytes[..8]), short(&bytes[8..])))
    }

    fn record(&self, file: u32) -> Option<(String, Entry)> {
        let mut bytes = [0; ENTRY];
        self.read(&mut bytes, self.directory + u64::from(file) * ENTRY as u64)?;
        let length = Some(short(&bytes[8..])).filter(|length| *length <= LARGEST_RECORD)?;
        let mut record = vec![0; length as usize];
        self.read(&mut record, number(&bytes[..8]))?;
        let record: Record = postcard::from_bytes(&record).ok()?;
        let path = Some(record.path).filter(|path| is_below(path))?.to_owned();
        Some((path, record.entry()?))
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Option<()> {
        (read_at(&self.file, bytes, at).ok()? == bytes.len()).then_some(())
    }
}

fn encode(index: &Index) -> Vec<u8> {
    let mut bytes = vec![0; HEAD];
    let (mut directory, mut keys) = (Vec::new(), Vec::new());
    for path in index.paths() {
        // What an open file is in the editor is not what it is on disk: without a stamp it is looked at again.
        let Some(entry) = index.entry(&path) else { continue };
        let (language, symbols) = (entry.language.name(), (*entry.symbols).clone());
        let record = Record { path: &path, language, digest: entry.digest, stamp: entry.stamp, symbols };
        let place = u32::try_from(directory.len() / ENTRY).expect("an index has fewer files than that");
        let at = bytes.len();
        bytes = postcard::to_extend(&record, bytes).expect("a vector takes what is written");
        directory.extend((at as u64).to_le_bytes());
        directory.extend(u32::try_from(bytes.len() - at).unwrap_or(u32::MAX).to_le_bytes());
        let of_file = shorts(&entry.symbols).into_iter().chain([&*path]);
        keys.extend(of_file.map(|key| (digest_of(key), place)));
    }
    keys.sort_unstable();
    let table = bytes.len() + directory.len();
    let files = u32::try_from(directory.len() / ENTRY).expect("an index has fewer files than that");
    let head = [
        &MAGIC[..],
        &files.to_le_bytes(),
        &u32::try_from(keys.len()).unwrap_or(u32::MAX).to_le_bytes(),
        &(bytes.len() as u64).to_le_bytes(),
        &(table as u64).to_le_bytes(),
    ];
    let head = head.concat();
    bytes[..HEAD].copy_from_slice(&head);
    bytes.extend(directory);
    for (digest, place) in keys {
        bytes.extend(digest.to_le_bytes());
        bytes.extend(place.to_le_bytes());
    }
    bytes
}

/// Removes the indexes of roots that nobody works in any more.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().ok().filter(fs::Metadata::is_file).and_then(|found| found.modified().ok());
        let age = modified.and_then(|then| SystemTime::now().duration_since(then).ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A path that stays below the root, whoever wrote it.
fn is_below(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| folders::is_plain_name(part.as_ref()))
}

fn digest_of(key: &str) -> u64 {
    number(&sha256(key.as_bytes())[..8])
}

fn slice(bytes: &[u8], at: u64, length: usize) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(length)?)
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

fn short(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::fill::Filling;

    fn place() -> (tempfile::TempDir, Folders, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let root = base.join("work");
        fs::create_dir_all(root.join("pkg")).unwrap();
        fs::write(root.join("pkg/a.py"), "class A:\n    def run(self): pass\n").unwrap();
        fs::write(root.join("b.py"), "def run(): pass\n").unwrap();
        let home = base.join("home");
        fs::create_dir(&home).unwrap();
        (temp, Folders::below(&home), root)
    }

    fn filled(root: &Path) -> Index {
        let index = Index::new(root, Limits::default());
        fill(&index);
        index
    }

    fn fill(index: &Index) -> usize {
        let filling = Filling { stop: &AtomicBool::new(false), progress: &|_| {}, threads: None };
        index.fill(&filling).parsed
    }

    #[test]
    fn an_index_is_read_as_it_was_written_and_nothing_is_parsed_again() {
        let (_keep, folders, root) = place();
        let index = filled(&root);
        save(&index, &folders).unwrap();
        let again = Index::new(&root, Limits::default());
        assert!(load(&again, &folders));
        for path in index.paths() {
            assert_eq!(again.entry(&path), index.entry(&path), "{path}");
        }
        assert_eq!((fill(&again), again.parses(), again.weight()), (0, 0, index.weight()));
        fs::write(root.join("b.py"), "def other(): pass\n").unwrap();
        fs::remove_file(root.join("pkg/a.py")).unwrap();
        assert_eq!((fill(&again), again.files()), (1, 1));
    }

    #[test]
    fn one_question_is_answered_from_the_file() {
        let (_keep, folders, root) = place();
        save(&filled(&root), &folders).unwrap();
        let stored = Stored::open(&folders, &root).unwrap();
        let paths = |key: &str, most| {
            let mut paths: Vec<_> = stored.files_of(key, most).into_iter().map(|(path, _)| path).collect();
            paths.sort();
            paths
        };
        assert_eq!(paths("run", 9), ["b.py", "pkg/a.py"]);
        assert_eq!(paths("run", 1).len(), 1);
        assert_eq!(paths("A", 9), ["pkg/a.py"]);
        assert_eq!(paths("pkg/a.py", 9), ["pkg/a.py"]);
        assert!(paths("nothing", 9).is_empty());
    }

    #[test]
    fn s08_a_garbled_file_counts_as_none_and_never_leads_out() {
        let (_keep, folders, root) = place();
        save(&filled(&root), &folders).unwrap();
        let path = file_of(&folders, &root);
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            for garbled in [whole[..cut].to_vec(), [&whole[..cut], &[0xff], &whole[cut + 1..]].concat()] {
                fs::write(&path, garbled).unwrap();
                let index = Index::new(&root, Limits::default());
                load(&index, &folders);
                assert!(index.paths().iter().all(|path| is_below(path)));
                if let Some(stored) = Stored::open(&folders, &root) {
                    stored.files_of("run", 9);
                }
            }
        }
        for path in ["", "/etc/passwd", "../a.py", "a/../b.py", "./a.py", "a//b.py"] {
            assert!(!is_below(path), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn s01_a_cache_that_others_can_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_keep, folders, root) = place();
        save(&filled(&root), &folders).unwrap();
        fs::set_permissions(&folders.cache, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Stored::open(&folders, &root).is_none());
        assert!(save(&filled(&root), &folders).is_err());
    }
}
