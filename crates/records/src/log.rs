//! Where the lines lie, and appending one.
//!
//! A project with a `.ruleline` folder has its log in `.ruleline/traces/hooks.jsonl`, opened below the root without
//! following a link (S4); any other, and one whose file is not ours alone, in the state folder. The end of the chain
//! ([`crate::head`]) lies in the state folder and is the lock as well. Nothing is synced, no line is ever taken away, and
//! what stands before a line never keeps it from being written.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use system::digest::{hex, key, sha256};
use system::folders;
use system::open::{Access, Kind, OpenError, Root, largest_file, read_at};

use crate::entry::{Entry, Stretch};
use crate::head::{End, Head, Place};

/// How long the lock is waited for. Who holds it writes three times and reads once.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often it is tried.
const AGAIN: Duration = Duration::from_micros(500);
/// A file that is larger is followed by another, in bytes.
pub(crate) const FULL: u64 = 64 << 20;
/// The longest line, in bytes.
pub(crate) const LONGEST: usize = 1 << 20;
/// Most files of one log.
const FILES: u16 = 10_000;
/// Where a project has its log, and what keeps it out of the project's history.
const TRACES: &str = ".ruleline/traces";
const IGNORED: &[u8] = b"*\n";

/// The log of one project.
#[derive(Debug, Clone)]
pub struct Log {
    /// The project's root, canonical.
    pub root: PathBuf,
    /// The state folder.
    pub state: PathBuf,
}

/// Why a line was not written or read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", system::paths::shown(.path))]
pub struct LogError {
    /// The file.
    pub path: PathBuf,
    /// In one line, with the remedy.
    pub why: String,
    /// It was so at the last line too.
    pub is_known: bool,
}

impl LogError {
    fn new(path: &Path, why: impl Into<String>) -> LogError {
        LogError { path: path.to_path_buf(), why: why.into(), is_known: false }
    }

    fn io(path: &Path, error: &io::Error) -> LogError {
        let why = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full; make room".to_owned(),
            ErrorKind::ReadOnlyFilesystem => "the file system cannot be written to".to_owned(),
            ErrorKind::FileTooLarge => "the system's limit for the size of a file is reached".to_owned(),
            _ => format!("cannot be read or written ({error})"),
        };
        LogError::new(path, why)
    }
}

impl From<OpenError> for LogError {
    fn from(error: OpenError) -> LogError {
        match error {
            OpenError::NotRegular { path, what } => LogError::new(&path, format!("is {what}, no file; remove it")),
            OpenError::Link { path } => LogError::new(&path, "is a link or reached over one; remove the link"),
            OpenError::NotOurs { path, what } => LogError::new(&path, format!("{what}; remove it")),
            OpenError::NotFolder { path } => LogError::new(&path, "is no folder; remove it"),
            OpenError::Io { path, source } => LogError::io(&path, &source),
            other @ (OpenError::TooLarge { .. } | OpenError::Changing { .. }) => {
                let (OpenError::TooLarge { path, .. } | OpenError::Changing { path }) = &other else { unreachable!() };
                LogError::new(path, other.to_string())
            }
        }
    }
}

/// The file that a line goes to, as it stands before that.
struct Lines {
    file: File,
    path: PathBuf,
    place: Place,
    size: u64,
}

/// How a line follows what stands before it.
struct Follows {
    hash: [u8; 32],
    stretch: Option<Stretch>,
}

impl Log {
    /// The log of the project at `root`.
    pub fn new(root: &Path, state: &Path) -> Log {
        Log { root: root.to_path_buf(), state: state.to_path_buf() }
    }

    /// The file that lines are appended to now.
    pub fn path(&self) -> PathBuf {
        let known = self.head().ok().flatten().map(|head| head.place);
        let is_there = |folder: PathBuf| folder.symlink_metadata().is_ok_and(|found| found.is_dir());
        let place = known.unwrap_or_else(|| Place { in_project: is_there(self.root.join(".ruleline")), number: 0 });
        self.file(place)
    }

    /// Why lines cannot be written to the log, if the last one could not, in one line.
    pub fn trouble(&self) -> Option<String> {
        match self.head() {
            Ok(head) => head.filter(|head| head.told).map(|_| {
                let log = system::paths::shown(&self.path());
                format!("{log}: the last lines could not be written; problems.log in the state folder says why")
            }),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Appends one line and moves the chain's end; sets `entry.prev`, its id and its stretch. What a person should be
    /// told once comes back: why the log is not where it should be.
    ///
    /// # Errors
    /// The line is not in the log.
    pub fn append(&self, entry: &mut Entry) -> Result<Option<String>, LogError> {
        let (state, head_file) = self.hold()?;
        let read = Head::read(&head_file);
        let is_lost = read.is_err();
        let known = read.ok().flatten();
        let written = self.append_held(entry, &state, &head_file, known, is_lost);
        written.map_err(|mut error| {
            let head = known.unwrap_or_else(Head::start);
            error.is_known = head.told;
            if !head.told && !is_lost {
                // Bytes that are there already are written to on a full disk too.
                let _ = Head { told: true, ..head }.write(&head_file);
            }
            error
        })
    }

    fn append_held(
        &self,
        entry: &mut Entry,
        state: &Root,
        head_file: &File,
        known: Option<Head>,
        is_lost: bool,
    ) -> Result<Option<String>, LogError> {
        let mut refused = None;
        for in_project in [true, false] {
            let opened = self.open(state, in_project, known.as_ref());
            let written = match opened {
                Ok(None) => continue,
                Ok(Some(lines)) => write(entry, lines, head_file, known, is_lost),
                Err(error) => Err(error),
            };
            match written {
                Ok(()) => {
                    // Told when it begins.
                    let was_there = known.is_some_and(|head| !head.place.in_project && !head.told);
                    return Ok(refused.filter(|_| !was_there).map(|error: LogError| {
                        format!("{error}; the log of this project is kept in the state folder meanwhile")
                    }));
                }
                Err(error) => refused = Some(refused.unwrap_or(error)),
            }
        }
        Err(refused.unwrap_or_else(|| LogError::new(&self.root, "there is no place for its log")))
    }

    /// The state folder, and the file with the chain's end, locked.
    fn hold(&self) -> Result<(Root, File), LogError> {
        let path = self.folder().join("head");
        let open = || -> Result<(Root, File), OpenError> {
            let state = Root::open(&self.state)?;
            match state.open_private(&self.below_state().join("head"), Access::Change)? {
                Some((file, _)) => Ok((state, file)),
                None => Err(OpenError::NotFolder { path: path.clone() }),
            }
        };
        let (state, file) = match open() {
            Err(error) if error.is_not_found() => {
                let made = folders::create_private(&self.folder());
                made.map_err(|refused| LogError::new(&refused.folder, refused.why))?;
                open()?
            }
            opened => opened?,
        };
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok((state, file)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(AGAIN),
                Err(TryLockError::WouldBlock) => {
                    return Err(LogError::new(&path, "is held by another process; end it"));
                }
                Err(TryLockError::Error(error)) => return Err(LogError::io(&path, &error)),
            }
        }
    }

    /// The file to append to in the project or in the state folder; none when the project has no place for it.
    fn open(&self, state: &Root, in_project: bool, known: Option<&Head>) -> Result<Option<Lines>, LogError> {
        let first = known.filter(|head| head.place.in_project == in_project).map_or(0, |head| head.place.number);
        for number in first..FILES {
            let place = Place { in_project, number };
            let path = self.file(place);
            let opened = if in_project {
                match self.open_below_project(&name(number)) {
                    Err(error) if error.is_not_found() => return Ok(None),
                    opened => opened?,
                }
            } else {
                state.open_private(&self.below_state().join(name(number)), Access::Append)?
            };
            let Some((file, look)) = opened else { return Ok(None) };
            if look.size < FULL {
                return Ok(Some(Lines { file, path, place, size: look.size }));
            }
        }
        Err(LogError::new(&self.file(Place { in_project, number: FILES }), "there are too many files; remove old ones"))
    }

    fn open_below_project(&self, name: &str) -> Result<Option<(File, system::open::Look)>, OpenError> {
        let root = Root::open(&self.root)?;
        let relative = Path::new(TRACES).join(name);
        let opened = match root.open_private(&relative, Access::Append) {
            Err(error) if error.is_not_found() => {
                if root.look(Path::new(".ruleline"))?.is_none_or(|look| look.kind != Kind::Folder) {
                    return Ok(None);
                }
                root.make_folder(Path::new(TRACES))?;
                root.open_private(&relative, Access::Append)
            }
            opened => opened,
        }?;
        // The folder may have been there without it.
        if opened.as_ref().is_some_and(|(_, look)| look.size == 0) {
            root.create(&Path::new(TRACES).join(".gitignore"), IGNORED)?;
        }
        Ok(opened)
    }

    /// What is remembered of the chain's end; none when there is no line yet.
    pub(crate) fn head(&self) -> Result<Option<Head>, LogError> {
        let state = match Root::open(&self.state) {
            Err(error) if error.is_not_found() => return Ok(None),
            opened => opened?,
        };
        let path = self.below_state().join("head");
        let Some((file, _)) = state.open_private(&path, Access::Read)? else { return Ok(None) };
        Head::read(&file).map_err(|error| LogError::io(&self.state.join(path), &error))
    }

    /// Opens the file of a place for reading; none when it is not there.
    pub(crate) fn read(&self, place: Place) -> Result<Option<(File, u64)>, LogError> {
        let (root, relative) = if place.in_project {
            (&self.root, Path::new(TRACES).join(name(place.number)))
        } else {
            (&self.state, self.below_state().join(name(place.number)))
        };
        let root = match Root::open(root) {
            Err(error) if error.is_not_found() => return Ok(None),
            opened => opened?,
        };
        Ok(root.open_private(&relative, Access::Read)?.map(|(file, look)| (file, look.size)))
    }

    pub(crate) fn file(&self, place: Place) -> PathBuf {
        let folder = if place.in_project { self.root.join(TRACES) } else { self.folder() };
        folder.join(name(place.number))
    }

    /// The folder of the state folder that belongs to this log.
    pub(crate) fn folder(&self) -> PathBuf {
        self.state.join(self.below_state())
    }

    fn below_state(&self) -> PathBuf {
        Path::new("records").join(key(&self.root))
    }
}

fn name(number: u16) -> String {
    if number == 0 { "hooks.jsonl".to_owned() } else { format!("hooks.{number}.jsonl") }
}

/// Appends the line: the head with what is to come, the line in one piece, the head with what is there.
fn write(
    entry: &mut Entry,
    mut lines: Lines,
    head_file: &File,
    known: Option<Head>,
    is_lost: bool,
) -> Result<(), LogError> {
    let failed = |error: io::Error| LogError::io(&lines.path, &error);
    let follows = follows(&lines, known, is_lost).map_err(failed)?;
    entry.prev = hex(&follows.hash);
    entry.stretch = follows.stretch;
    entry.id = id(entry, lines.size);
    let line = entry.line(LONGEST);
    let mut bytes = Vec::with_capacity(line.len() + 2);
    // What is left of another line must not become part of this one.
    if follows.stretch.is_some() && lines.size > 0 && last_byte(&lines.file, lines.size).map_err(failed)? != b'\n' {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    let length = lines.size + bytes.len() as u64;
    if length > largest_file() {
        return Err(failed(ErrorKind::FileTooLarge.into()));
    }
    let before = End { length: lines.size, hash: follows.hash };
    let after = End { length, hash: sha256(line.as_bytes()) };
    let coming = Head { place: lines.place, before, after, told: false };
    if is_lost {
        Head::trim(head_file).map_err(failed)?;
    }
    coming.write(head_file).map_err(failed)?;
    let written = loop {
        match lines.file.write(&bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    match written {
        Ok(written) if written == bytes.len() => {}
        Ok(_) => return Err(LogError::io(&lines.path, &ErrorKind::StorageFull.into())),
        Err(error) => return Err(LogError::io(&lines.path, &error)),
    }
    Head { before: after, ..coming }.write(head_file).map_err(|error| LogError::io(&lines.path, &error))
}

/// How the next line follows: where the file is as the head says, it goes on; else it says what it found.
fn follows(lines: &Lines, known: Option<Head>, is_lost: bool) -> io::Result<Follows> {
    let broken = |hash, stretch| Ok(Follows { hash, stretch: Some(stretch) });
    let Some(head) = known else {
        let is_first = lines.size == 0 && !is_lost;
        return Ok(Follows { hash: End::start().hash, stretch: (!is_first).then_some(Stretch::Headless) });
    };
    let Head { before, after, .. } = head;
    if head.place != lines.place {
        let is_next = head.place.in_project == lines.place.in_project;
        // What was coming there last may not have come.
        let hash = if head.is_settled() { after.hash } else { before.hash };
        let is_first = before == End::start() && head.is_settled() && lines.size == 0;
        if is_first {
            return Ok(Follows { hash, stretch: None });
        }
        return broken(hash, if is_next { Stretch::Next } else { Stretch::Moved });
    }
    let size = lines.size;
    if head.is_settled() {
        return match size.cmp(&after.length) {
            std::cmp::Ordering::Equal => Ok(Follows { hash: after.hash, stretch: None }),
            std::cmp::Ordering::Less => broken(after.hash, Stretch::Cut),
            std::cmp::Ordering::Greater => broken(after.hash, Stretch::Foreign),
        };
    }
    // The last append was not seen to end.
    if size < before.length {
        return broken(before.hash, Stretch::Cut);
    }
    if size == before.length {
        return broken(before.hash, Stretch::Lost);
    }
    if size < after.length {
        return broken(before.hash, Stretch::Torn);
    }
    let is_ours = stands_at(&lines.file, before.length, after)?;
    match (is_ours, size == after.length) {
        (true, true) => Ok(Follows { hash: after.hash, stretch: None }),
        (true, false) => broken(after.hash, Stretch::Foreign),
        (false, _) => broken(before.hash, Stretch::Foreign),
    }
}

/// Whether the line that `end` is of stands before it, from `start` on.
pub(crate) fn stands_at(file: &File, start: u64, end: End) -> io::Result<bool> {
    let Some(length) = end.length.checked_sub(start).filter(|length| *length <= LONGEST as u64 + 2) else {
        return Ok(false);
    };
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    let read = read_at(file, &mut bytes, start)?;
    let line = bytes[..read].strip_suffix(b"\n").unwrap_or(&bytes[..read]);
    let line = line.strip_prefix(b"\n").unwrap_or(line);
    Ok(sha256(line) == end.hash)
}

fn last_byte(file: &File, size: u64) -> io::Result<u8> {
    let mut byte = [b'\n'];
    read_at(file, &mut byte, size - 1)?;
    Ok(byte[0])
}

/// What no other line of the log has: the line before, where this one stands, when and by whom it is written.
fn id(entry: &Entry, at: u64) -> String {
    let text = format!("{} {at} {} {}", entry.prev, entry.time, std::process::id());
    hex(&sha256(text.as_bytes())[..8])
}

#[cfg(test)]
pub(crate) mod tests;
