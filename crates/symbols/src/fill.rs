//! Filling the index: which files there are, and reading those that changed.
//!
//! Files are opened below the root without following links, parsed on several threads and let go of one by one. A file
//! that looks as it did when it was read is not read again.

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use syntax::{Language, Tree};
use system::digest::sha256;
use system::open::Root;

use crate::file::FileSymbols;
use crate::index::{Entry, Index};
use crate::stamp::Stamp;

/// Most threads that parse.
const THREADS: usize = 8;
/// How long one text may be parsed. A text that takes longer has no symbols.
const PATIENCE: Duration = Duration::from_secs(5);
/// Stack of a thread that parses, in bytes.
const STACK: usize = 16 << 20;
/// A file without an extension is read this far to see whether its first line names a language.
const FIRST_LINE: usize = 128;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files looked at.
    pub done: usize,
    /// Files to look at.
    pub all: usize,
}

/// What filling came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filled {
    /// Files read and parsed.
    pub parsed: usize,
    /// Files that are in the index now.
    pub files: usize,
    /// Some files are left out: there are more than the limits allow.
    pub is_partial: bool,
    /// It was stopped before it was done.
    pub is_stopped: bool,
}

/// How it is done.
pub struct Filling<'a> {
    /// Set to stop it.
    pub stop: &'a AtomicBool,
    /// Told now and then how far it is, by any thread.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Most threads; none leaves it to the machine.
    pub threads: Option<usize>,
}

impl Index {
    /// Makes the index that of the files that are there now.
    pub fn fill(&self, filling: &Filling) -> Filled {
        let mut walk = Walk { index: self, stop: filling.stop, found: Vec::new(), is_partial: false };
        system::walk::below(self.root(), &mut walk);
        let Walk { mut found, is_partial, .. } = walk;
        let is_stopped = || filling.stop.load(Ordering::Relaxed);
        if is_stopped() {
            return Filled { files: self.files(), is_stopped: true, ..Filled::default() };
        }
        found.sort_unstable();
        for path in self.paths() {
            let is_there = found.binary_search_by(|known| (**known).cmp(&*path)).is_ok();
            if !is_there && self.entry(&path).is_some_and(|entry| !entry.is_open) {
                self.remove(&path);
            }
        }
        let (done, parsed, left_out) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(is_partial));
        each_on_threads(
            &found,
            filling.threads,
            || Root::open(self.root()).ok(),
            |root, path| {
                match root.as_ref().map(|root| self.look_at(root, path)) {
                    Some(Looked::Parsed) => drop(parsed.fetch_add(1, Ordering::Relaxed)),
                    Some(Looked::Full) => left_out.store(true, Ordering::Relaxed),
                    Some(Looked::Nothing) | None => {}
                }
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                (filling.progress)(Progress { done, all: found.len() });
                !is_stopped()
            },
        );
        Filled {
            parsed: parsed.into_inner(),
            files: self.files(),
            is_partial: left_out.into_inner(),
            is_stopped: is_stopped(),
        }
    }

    /// A file may have changed, come or gone.
    pub fn refresh(&self, path: &str) {
        if self.entry(path).is_some_and(|entry| entry.is_open) {
            return;
        }
        let is_there = self.root().join(path).symlink_metadata().is_ok_and(|found| found.is_file());
        match Root::open(self.root()) {
            Ok(root) if is_there => drop(self.look_at(&root, path)),
            _ => self.remove(path),
        }
    }

    /// Reads a file again if it looks otherwise than it was read; says whether what is known of it changed.
    pub(crate) fn make_current(&self, path: &str) -> bool {
        let Some(known) = self.entry(path).filter(|known| !known.is_open) else { return false };
        let looks = self.root().join(path).symlink_metadata();
        let stamp = looks.as_ref().ok().filter(|found| found.is_file()).and_then(Stamp::of);
        if stamp.is_some() && stamp == known.stamp {
            return false;
        }
        self.refresh(path);
        self.entry(path).is_none_or(|now| now.digest != known.digest)
    }

    /// Reads a file unless it looks as it did.
    fn look_at(&self, root: &Root, path: &str) -> Looked {
        let known = self.entry(path);
        if known.as_ref().is_some_and(|known| known.is_open) {
            return Looked::Nothing;
        }
        let full = self.root().join(path);
        let Ok(metadata) = full.symlink_metadata() else {
            self.remove(path);
            return Looked::Nothing;
        };
        let stamp = Stamp::of(&metadata);
        if stamp.is_some() && known.as_ref().is_some_and(|known| known.stamp == stamp) {
            return Looked::Nothing;
        }
        if known.is_none() && !self.has_room() {
            return Looked::Full;
        }
        let read = root.read(Path::new(path), self.limits().file_bytes);
        let Ok(Some(Ok(text))) = read.map(|bytes| bytes.map(String::from_utf8)) else {
            // Too large, no text, or not there any more.
            self.remove(path);
            return Looked::Nothing;
        };
        let Some(language) = Language::of(path, &text) else {
            self.remove(path);
            return Looked::Nothing;
        };
        let digest = sha256(text.as_bytes());
        if known.is_some_and(|known| known.digest == digest && known.language == language) {
            self.set_stamp(path, stamp);
            return Looked::Nothing;
        }
        let symbols = Arc::new(self.parse(language, &text));
        self.set(path, Entry { language, digest, stamp, is_open: false, symbols });
        Looked::Parsed
    }

    /// The symbols of a text; none of one that is too much work.
    pub(crate) fn parse(&self, language: Language, text: &str) -> FileSymbols {
        self.count_parse();
        let limits = syntax::Limits { deadline: Some(Instant::now() + PATIENCE), ..syntax::Limits::default() };
        match Tree::parse(language, text, &limits) {
            Ok(tree) => FileSymbols::new(&tree.facts(text), text),
            Err(_) => FileSymbols::default(),
        }
    }
}

/// Does `work` for each of `things`, on as many threads as the machine has processors or `threads` says, until it says
/// that this is enough; `start` gives each thread what it works with. A thing over which it panics is passed over.
pub(crate) fn each_on_threads<T: Sync, S>(
    things: &[T],
    threads: Option<usize>,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&S, &T) -> bool + Sync,
) {
    let next = AtomicUsize::new(0);
    let share = || {
        let own = start();
        while let Some(thing) = things.get(next.fetch_add(1, Ordering::Relaxed)) {
            let goes_on = panic::catch_unwind(AssertUnwindSafe(|| work(&own, thing)));
            if !goes_on.unwrap_or(true) {
                return;
            }
        }
    };
    let machine = || thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(machine).clamp(1, THREADS).min(things.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            // A thread that cannot be had leaves its share to the others.
            let _ = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, share);
        }
    });
}

/// What looking at a file came to.
enum Looked {
    Nothing,
    Parsed,
    /// There is no room for it.
    Full,
}

struct Walk<'a> {
    index: &'a Index,
    stop: &'a AtomicBool,
    found: Vec<String>,
    is_partial: bool,
}

impl system::walk::Visitor for Walk<'_> {
    fn goes_on(&mut self) -> bool {
        !self.stop.load(Ordering::Relaxed) && !self.is_partial
    }

    fn file(&mut self, path: PathBuf) {
        let Some(relative) = self.index.relative(&path) else { return };
        if !may_be_source(&path, &relative) {
            return;
        }
        if self.found.len() < self.index.limits().files {
            self.found.push(relative);
        } else {
            self.is_partial = true;
        }
    }

    fn unread(&mut self, _: &Path, _: String) {}
}

/// Whether a file is in a language, by its name, or where it has no extension by how it begins.
fn may_be_source(path: &Path, relative: &str) -> bool {
    if path.extension().is_some() {
        return Language::of(relative, "").is_some();
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let begins = Root::open(folder).and_then(|root| root.begin(Path::new(name), FIRST_LINE));
    let begins = begins.ok().flatten().unwrap_or_default();
    begins.starts_with(b"#!") && Language::of(relative, &String::from_utf8_lossy(&begins)).is_some()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::index::Limits;

    fn place(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for (path, text) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        (temp, root)
    }

    fn fill(index: &Index) -> Filled {
        index.fill(&Filling { stop: &AtomicBool::new(false), progress: &|_| {}, threads: None })
    }

    fn paths(index: &Index) -> Vec<String> {
        index.paths().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_git_ignores_links_and_what_is_no_source_are_left_out() {
        let (_keep, root) = place(&[
            (".git/HEAD", ""),
            (".gitignore", "/built\n"),
            ("a.py", "def f(): pass\n"),
            ("built/b.py", "def g(): pass\n"),
            ("notes.txt", "def h(): pass\n"),
            ("tool", "#!/usr/bin/env python3\ndef i(): pass\n"),
            ("LICENSE", "def j(): pass\n"),
            ("binary.py", "def k(): pass\n\0"),
            (".hidden/c.py", "def l(): pass\n"),
        ]);
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("a.py"), root.join("link.py")).unwrap();
        fs::write(root.join("latin.py"), b"# \xe9\ndef m(): pass\n").unwrap();
        let index = Index::new(&root, Limits::default());
        let filled = fill(&index);
        assert_eq!(paths(&index), [".hidden/c.py", "a.py", "binary.py", "tool"]);
        assert_eq!(filled, Filled { parsed: 4, files: 4, is_partial: false, is_stopped: false });
    }

    #[test]
    fn limits_are_kept_and_said() {
        let files: Vec<(String, String)> =
            (0..20).map(|number| (format!("{number}.py"), format!("def f{number}(): pass\n"))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let (_keep, root) = place(&files);
        for limits in [Limits { files: 5, ..Limits::default() }, Limits { bytes: 1, ..Limits::default() }] {
            let index = Index::new(&root, limits);
            let filled = fill(&index);
            assert!(filled.is_partial && filled.files <= 12, "{limits:?}: {filled:?}");
        }
        let index = Index::new(&root, Limits { file_bytes: 14, ..Limits::default() });
        assert_eq!(fill(&index).files, 0, "longer than the longest");
    }

    #[test]
    fn filling_can_be_stopped_at_any_time() {
        let files: Vec<String> = (0..200).map(|number| format!("{number}.py")).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "def f(): pass\n")).collect();
        let (_keep, root) = place(&files);
        let index = Index::new(&root, Limits::default());
        let stop = AtomicBool::new(false);
        let progress = |progress: Progress| {
            assert_eq!(progress.all, 200);
            stop.store(progress.done >= 10, Ordering::Relaxed);
        };
        let filled = index.fill(&Filling { stop: &stop, progress: &progress, threads: Some(2) });
        assert!(filled.is_stopped && filled.files < 20, "{filled:?}");
        assert_eq!(fill(&index).files, 200);
    }

    #[test]
    fn a_file_is_read_again_when_it_looks_otherwise() {
        let (_keep, root) = place(&[("a.py", "def f(): pass\n"), ("b.py", "def g(): pass\n")]);
        let index = Index::new(&root, Limits::default());
        fill(&index);
        assert_eq!((fill(&index).parsed, index.parses()), (0, 2), "the same text is not parsed again");
        fs::write(root.join("a.py"), "def h(): pass\n").unwrap();
        assert_eq!(index.find("h", 9).len(), 0, "it is not known of yet");
        assert_eq!(index.find("f", 9).len(), 0, "nobody is told of what is not there any more");
        assert_eq!(index.find("h", 9)[0].line, 1);
        fs::remove_file(root.join("b.py")).unwrap();
        assert_eq!(index.find("g", 9).len(), 0);
        assert_eq!(fill(&index).files, 1);
    }

    #[test]
    fn an_open_file_is_what_the_editor_says() {
        let (_keep, root) = place(&[("a.py", "def f(): pass\n")]);
        let index = Index::new(&root, Limits::default());
        fill(&index);
        let text = "\n\ndef g(): pass\n";
        let facts = Tree::parse(Language::Python, text, &syntax::Limits::default()).unwrap().facts(text);
        index.open("a.py", Language::Python, text, sha256(text.as_bytes()), &facts);
        fill(&index);
        index.refresh("a.py");
        assert_eq!((index.find("g", 9)[0].line, index.find("f", 9).len()), (3, 0));
        index.close("a.py");
        index.refresh("a.py");
        assert_eq!((index.find("g", 9).len(), index.find("f", 9).len()), (0, 1));
    }
}
