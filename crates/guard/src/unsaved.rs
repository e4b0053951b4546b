//! Files that an editor holds with changes that are not saved: small files of the state folder, written by a server and
//! read by the hook.
//!
//! A file names the process that wrote it and when it ends to count; one of a process that is gone, or that is not the
//! one that wrote it, counts no more. At most an ask comes of it, so that a file that is wrong in any way is left out and
//! costs nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use agents::{Event, ToolCall};
use hooks::grants::{make_private, open_private, read_private};
use rules::plain::plain;
use serde::{Deserialize, Serialize};
use system::ancestry;
use system::clock::milliseconds;
use system::open::{Durability, Root};

use crate::shell;

/// How long a file counts after it was written; a server with unsaved buffers writes it anew before that.
pub const LASTS: Duration = Duration::from_secs(600);

/// Below the state folder.
const FOLDER: &str = "unsaved";
const VERSION: u32 = 1;
/// Largest file, in bytes, most paths in one, and most files that are looked at.
const LARGEST: u64 = 1 << 20;
const PATHS: usize = 1000;
const RECORDS: usize = 64;
/// Longest name of an editor, in characters.
const EDITOR: usize = 80;

/// What one server's editor holds, as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    process: u32,
    /// As [`ancestry::started`] has it.
    started: Option<String>,
    editor: String,
    /// Milliseconds since 1970.
    written: u64,
    files: Vec<PathBuf>,
}

/// Writes what one server's editor holds unsaved.
#[derive(Debug)]
pub struct Unsaved {
    state: PathBuf,
    /// The editor in its own words (`clientInfo.name`).
    pub editor: String,
}

impl Unsaved {
    /// Nothing is written yet.
    pub fn new(state: &Path, editor: &str) -> Unsaved {
        Unsaved { state: state.to_path_buf(), editor: editor.to_owned() }
    }

    /// Writes the canonical paths of all unsaved files; none removes the record.
    ///
    /// # Errors
    /// In one line.
    pub fn write(&self, files: &[PathBuf], now: SystemTime) -> Result<(), String> {
        let process = std::process::id();
        let name = name(process);
        // A path that is no text cannot be written down.
        let files: Vec<PathBuf> = files.iter().filter(|file| file.to_str().is_some()).take(PATHS).cloned().collect();
        if files.is_empty() {
            let folder = open_private(&self.state, Path::new(FOLDER)).map_err(|error| error.to_string())?;
            return folder.map_or(Ok(()), |folder| folder.remove(&name).map(drop).map_err(|error| error.to_string()));
        }
        let record = Record {
            version: VERSION,
            process,
            started: ancestry::started(process),
            editor: plain(&self.editor, EDITOR),
            written: milliseconds(now),
            files,
        };
        let text = serde_json::to_vec(&record).map_err(|error| error.to_string())?;
        let folder = make_private(&self.state, FOLDER).map_err(|error| error.to_string())?;
        sweep(&folder, now);
        folder.replace(&name, &text, Durability::Usual).map_err(|error| error.to_string())
    }
}

impl Drop for Unsaved {
    fn drop(&mut self) {
        let _ = self.write(&[], SystemTime::UNIX_EPOCH);
    }
}

/// What all editors hold unsaved at one moment.
#[derive(Debug, Default)]
pub struct Buffers {
    records: Vec<Record>,
}

impl Buffers {
    /// Those of a state folder. What is not private to this user, written by a process that is gone, or too old or too
    /// large is left out.
    pub fn read(state: &Path, now: SystemTime) -> Buffers {
        let Ok(Some(folder)) = open_private(state, Path::new(FOLDER)) else { return Buffers::default() };
        let names = folder.names(RECORDS).unwrap_or_default();
        let records = names.into_iter().filter_map(|file| read(&folder, Path::new(&file)));
        Buffers { records: records.filter(|record| record.version == VERSION && record.lasts(now)).collect() }
    }

    /// The editor that holds a file unsaved, in its own words: one bounded line.
    pub fn holder(&self, file: &Path) -> Option<String> {
        let record = self.records.iter().find(|record| record.files.iter().take(PATHS).any(|held| held == file))?;
        Some(match plain(&record.editor, EDITOR) {
            editor if editor.trim().is_empty() => "an editor".to_owned(),
            editor => editor,
        })
    }

    /// As [`Buffers::holder`], for any file below a folder.
    pub fn holder_below(&self, folder: &Path) -> Option<String> {
        let below = |record: &&Record| record.files.iter().take(PATHS).find(|held| held.starts_with(folder)).cloned();
        self.records.iter().find_map(|record| below(&record)).and_then(|file| self.holder(&file))
    }

    /// Whether no editor holds anything.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl Record {
    /// Whether it is new enough, and the process that wrote it is there.
    fn lasts(&self, now: SystemTime) -> bool {
        let age = milliseconds(now).checked_sub(self.written);
        let is_new = age.is_some_and(|age| u128::from(age) <= LASTS.as_millis());
        // Where the system tells when a process was started, it must be the one that wrote.
        let is_there = match ancestry::started(self.process) {
            Some(started) => self.started.as_ref() == Some(&started),
            None => !cfg!(unix),
        };
        is_new && is_there
    }
}

/// A record under its own name.
fn read(folder: &Root, file: &Path) -> Option<Record> {
    let bytes = read_private(folder, file, LARGEST).ok()??;
    let record: Record = serde_json::from_slice(&bytes).ok()?;
    (file == name(record.process)).then_some(record)
}

/// Removes what servers left that were killed, before it is so much that the record of one that runs is not read.
fn sweep(folder: &Root, now: SystemTime) {
    for file in folder.names(RECORDS).unwrap_or_default() {
        let file = Path::new(&file);
        let is_over = match read(folder, file) {
            Some(record) => !record.lasts(now),
            // It may be about to become one.
            None => folder.look(file).ok().flatten().and_then(|look| look.age(now)).is_some_and(|age| age > LASTS),
        };
        if is_over {
            let _ = folder.remove(file);
        }
    }
}

fn name(process: u32) -> PathBuf {
    PathBuf::from(format!("{process}.json"))
}

/// Whether a shell call may take what an editor holds unsaved: a scan of its bytes and, where it may change files, a look
/// for any record.
pub fn concerns(state: &Path, event: &Event) -> bool {
    let has_records = || std::fs::read_dir(state.join(FOLDER)).is_ok_and(|mut records| records.next().is_some());
    match &event.call {
        Some(Ok(ToolCall::Shell { command })) => event.kind.decides() && shell::may_change(command) && has_records(),
        _ => false,
    }
}

/// The editor that holds a file unsaved, by its canonical path.
pub fn holder(state: &Path, file: &Path, now: SystemTime) -> Option<String> {
    Buffers::read(state, now).holder(file)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    fn state() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap().join("state");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        (temp, path)
    }

    fn record(state: &Path) -> PathBuf {
        state.join(FOLDER).join(name(std::process::id()))
    }

    /// Changes the record as a text.
    fn edit(state: &Path, from: &str, to: &str) {
        let text = fs::read_to_string(record(state)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(record(state), text.replace(from, to)).unwrap();
    }

    #[test]
    fn an_unsaved_file_has_a_holder_until_it_is_saved() {
        let (_keep, state) = state();
        let now = SystemTime::now();
        assert_eq!(holder(&state, Path::new("/p/a"), now), None);
        let unsaved = Unsaved::new(&state, "Visual\u{202e} Code");
        unsaved.write(&["/p/a".into(), "/p/b".into()], now).unwrap();
        assert_eq!(holder(&state, Path::new("/p/a"), now).as_deref(), Some("Visual\\u{202e} Code"));
        assert_eq!(holder(&state, Path::new("/p/c"), now), None);
        assert!(Buffers::read(&state, now).holder_below(Path::new("/p")).is_some());
        assert_eq!(fs::metadata(record(&state)).unwrap().permissions().mode() & 0o777, 0o600);
        unsaved.write(&["/p/b".into()], now).unwrap();
        assert_eq!(holder(&state, Path::new("/p/a"), now), None);
        drop(unsaved);
        assert!(!record(&state).exists());
    }

    #[test]
    fn a_record_counts_for_ten_minutes_and_never_from_the_future() {
        let (_keep, state) = state();
        let now = SystemTime::now();
        let unsaved = Unsaved::new(&state, "");
        unsaved.write(&["/p/a".into()], now).unwrap();
        for (later, holds) in [(0, true), (599, true), (601, false)] {
            let found = holder(&state, Path::new("/p/a"), now + Duration::from_secs(later));
            assert_eq!(found.as_deref(), holds.then_some("an editor"), "{later}");
        }
        assert_eq!(holder(&state, Path::new("/p/a"), now - Duration::from_secs(5)), None);
    }

    #[test]
    fn a_process_that_is_gone_or_another_by_now_holds_nothing() {
        let (_keep, state) = state();
        let now = SystemTime::now();
        let unsaved = Unsaved::new(&state, "x");
        unsaved.write(&["/p/a".into()], now).unwrap();
        let started = ancestry::started(std::process::id()).unwrap();
        edit(&state, &format!("\"{started}\""), "\"12\"");
        assert_eq!(holder(&state, Path::new("/p/a"), now), None, "another process of the same number");
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let gone = format!("\"process\":{}", child.id());
        edit(&state, &format!("\"process\":{}", std::process::id()), &gone);
        fs::rename(record(&state), state.join(FOLDER).join(name(child.id()))).unwrap();
        assert_eq!(holder(&state, Path::new("/p/a"), now), None, "gone");
    }

    #[test]
    fn what_killed_servers_left_does_not_hide_one_that_runs() {
        let (_keep, state) = state();
        let now = SystemTime::now();
        let unsaved = Unsaved::new(&state, "x");
        unsaved.write(&["/p/a".into()], now).unwrap();
        let own = fs::read_to_string(record(&state)).unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let process = format!("\"process\":{}", std::process::id());
        for left in 0..200_u32 {
            let gone = child.id() + (left << 22);
            let path = state.join(FOLDER).join(name(gone));
            fs::write(&path, own.replace(&process, &format!("\"process\":{gone}"))).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        for _ in 0..5 {
            unsaved.write(&["/p/a".into()], now).unwrap();
        }
        assert_eq!(fs::read_dir(state.join(FOLDER)).unwrap().count(), 1);
        assert!(holder(&state, Path::new("/p/a"), now).is_some());
        // A file that no server wrote goes when it is old.
        fs::write(state.join(FOLDER).join("half"), "{").unwrap();
        unsaved.write(&["/p/a".into()], now).unwrap();
        assert!(state.join(FOLDER).join("half").exists());
        unsaved.write(&["/p/a".into()], now + LASTS * 2).unwrap();
        assert!(!state.join(FOLDER).join("half").exists());
    }

    #[test]
    fn a_hostile_record_is_left_out() {
        let (keep, state) = state();
        let now = SystemTime::now();
        let unsaved = Unsaved::new(&state, "x");
        let held = || holder(&state, Path::new("/p/a"), now).is_some();
        let whole = || {
            let _ = fs::remove_file(record(&state));
            unsaved.write(&["/p/a".into()], now).unwrap();
            assert!(held());
        };
        whole();
        fs::set_permissions(record(&state), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(!held(), "open to others");
        whole();
        fs::hard_link(record(&state), keep.path().join("other")).unwrap();
        assert!(!held(), "two names");
        whole();
        fs::rename(record(&state), keep.path().join("moved")).unwrap();
        symlink(keep.path().join("moved"), record(&state)).unwrap();
        assert!(!held(), "a link");
        fs::remove_file(record(&state)).unwrap();
        for text in ["", "{", "[]", "{\"version\":1}", &"[".repeat(100_000), &" ".repeat(2 << 20)] {
            fs::write(record(&state), text).unwrap();
            fs::set_permissions(record(&state), fs::Permissions::from_mode(0o600)).unwrap();
            assert!(!held(), "{text:.20}");
        }
        whole();
        fs::set_permissions(state.join(FOLDER), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!held(), "a folder open to others");
        fs::remove_dir_all(state.join(FOLDER)).unwrap();
        fs::write(state.join(FOLDER), "").unwrap();
        assert!(!held() && unsaved.write(&["/p/a".into()], now).is_err());
    }
}
