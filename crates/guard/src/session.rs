//! What held when an agent's session began (S6): the texts of rulebooks and project settings, kept in state by digest.
//!
//! Until the session ends the kept texts hold together with today's, and a change is announced once. The record is
//! JSON, versioned, replaced as a whole under a lock; a session is named by the digest of its id, so that no id reaches
//! outside. A record that cannot be read counts as none. Nothing here judges.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use system::digest::{hex, sha256, sha256_hex};
use system::folders;
use system::open::{Durability, Root};

const VERSION: u32 = 1;
/// Largest record, in bytes.
const RECORD: u64 = 1 << 20;
/// Most files one session keeps, and most bytes of their paths: a record that grows larger than is read counts as none,
/// and whoever makes folders could end what the session began with.
const FILES: usize = 1000;
const PATHS: usize = 64 << 10;
/// Most texts one session remembers to have been told.
const TOLD: usize = 1000;
/// Stands for the digest of a file that is not there.
const ABSENT: &str = "absent";
/// How long a session that says nothing is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Most sessions looked at in one sweep.
const SWEEP: usize = 1000;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Record {
    version: u32,
    /// Where the session began.
    cwd: Option<PathBuf>,
    files: BTreeMap<PathBuf, Kept>,
    /// Digests of what the session was told once.
    #[serde(default)]
    told: BTreeSet<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    /// The digest at first sight, or [`ABSENT`].
    first: String,
    /// The digest last announced, where it was another than at first sight.
    announced: Option<String>,
}

/// A file compared with what the session saw first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// As at first, or seen for the first time.
    Same,
    /// It is another now.
    Changed {
        /// Its bytes at first sight; none when there was no file then.
        first: Option<Vec<u8>>,
        /// This state was not announced before.
        news: bool,
    },
    /// It is another now, and what it was is lost.
    Lost,
}

/// One session's record, with the additions of this event.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    record: Record,
    fresh: Vec<(String, Vec<u8>)>,
    dirty: bool,
}

/// The folder of the session of `id` in this state folder.
pub fn folder(state: &Path, id: &str) -> PathBuf {
    state.join("sessions").join(sha256_hex(id.as_bytes()))
}

impl Session {
    /// The session of `id`, begun now if it is not known.
    pub fn open(state: &Path, id: &str, cwd: Option<&Path>) -> Session {
        let folder = folder(state, id);
        let known = read(&folder);
        let dirty = known.is_none();
        let record =
            known.unwrap_or_else(|| Record { version: VERSION, cwd: cwd.map(Path::to_path_buf), ..Record::default() });
        Session { folder, record, fresh: Vec::new(), dirty }
    }

    /// The session's folder in the state folder; it need not exist.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the session was not told this text yet; it counts as told from now on.
    pub fn tell(&mut self, text: &str) -> bool {
        let digest = sha256_hex(text.as_bytes());
        if self.record.told.contains(&digest) {
            return false;
        }
        if self.record.told.len() < TOLD {
            self.record.told.insert(digest);
            self.dirty = true;
        }
        true
    }

    /// The folder the session began in.
    pub fn first_cwd(&self) -> Option<&Path> {
        self.record.cwd.as_deref()
    }

    /// The files the session has seen.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.record.files.keys().map(PathBuf::as_path)
    }

    /// Compares a file's bytes (none: there is no file) with what was seen first, and keeps them if this is the first
    /// sight.
    pub fn see(&mut self, path: &Path, today: Option<&[u8]>) -> Seen {
        self.see_digested(path, today.map(|bytes| (bytes, sha256(bytes))))
    }

    /// As [`Session::see`], where the bytes' digest is known.
    pub fn see_digested(&mut self, path: &Path, today: Option<(&[u8], [u8; 32])>) -> Seen {
        let digest = today.map_or_else(|| ABSENT.to_owned(), |(_, digest)| hex(&digest));
        let paths: usize = self.record.files.keys().map(|path| path.as_os_str().len()).sum();
        let full = self.record.files.len() >= FILES || paths + path.as_os_str().len() > PATHS;
        let Some(kept) = self.record.files.get_mut(path) else {
            if !full {
                self.fresh.extend(today.map(|(bytes, _)| (digest.clone(), bytes.to_vec())));
                self.record.files.insert(path.to_path_buf(), Kept { first: digest, announced: None });
                self.dirty = true;
            }
            return Seen::Same;
        };
        if kept.first == digest {
            return Seen::Same;
        }
        let news = kept.announced.as_ref() != Some(&digest);
        if news {
            kept.announced = Some(digest);
            self.dirty = true;
        }
        if kept.first == ABSENT {
            return Seen::Changed { first: None, news };
        }
        match self.text(&self.record.files[path].first) {
            Some(first) => Seen::Changed { first: Some(first), news },
            None => Seen::Lost,
        }
    }

    fn text(&self, digest: &str) -> Option<Vec<u8>> {
        let bytes = system::open::read_below(&self.folder, Path::new(digest), crate::books::LARGEST).ok()??;
        (sha256_hex(&bytes) == digest).then_some(bytes)
    }

    /// Writes what this event added; nothing is written when nothing was.
    ///
    /// # Errors
    /// In one line, why the record was not written.
    pub fn save(self) -> Result<(), String> {
        if !self.dirty {
            return Ok(());
        }
        folders::create_private(&self.folder).map_err(|error| error.to_string())?;
        let root = Root::open(&self.folder).map_err(|error| error.to_string())?;
        let _lock = root.lock(Path::new("lock")).map_err(|error| error.to_string())?;
        // Another hook of this session may have written since: what was seen first stays first.
        let mut record = read(&self.folder).unwrap_or(Record { files: BTreeMap::new(), ..self.record.clone() });
        record.told.extend(self.record.told);
        for (path, kept) in self.record.files {
            match record.files.get_mut(&path) {
                Some(known) => known.announced = kept.announced.or(known.announced.take()),
                None => {
                    record.files.insert(path, kept);
                }
            }
        }
        let write = |name: &str, bytes: &[u8]| {
            root.replace(Path::new(name), bytes, Durability::Usual).map_err(|error| error.to_string())
        };
        for (digest, bytes) in &self.fresh {
            write(digest, bytes)?;
        }
        let json = serde_json::to_vec(&record).map_err(|error| error.to_string())?;
        write("session.json", &json)
    }
}

fn read(folder: &Path) -> Option<Record> {
    let bytes = system::open::read_below(folder, Path::new("session.json"), RECORD).ok()??;
    let record: Record = serde_json::from_slice(&bytes).ok()?;
    (record.version == VERSION).then_some(record)
}

/// Removes the sessions that said nothing new for seven days before `now`.
pub fn sweep(state: &Path, now: SystemTime) {
    let Ok(sessions) = fs::read_dir(state.join("sessions")) else { return };
    for session in sessions.take(SWEEP).flatten() {
        let old = session.metadata().ok().filter(fs::Metadata::is_dir).and_then(|found| found.modified().ok());
        let age = old.and_then(|then| now.duration_since(then).ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_dir_all(session.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap().join("state");
        (temp, path)
    }

    fn see(state: &Path, path: &str, today: Option<&str>) -> Seen {
        let mut session = Session::open(state, "id", Some(Path::new("/first")));
        let seen = session.see(Path::new(path), today.map(str::as_bytes));
        session.save().unwrap();
        seen
    }

    #[test]
    fn s06_what_was_seen_first_is_kept_and_a_change_is_news_once() {
        let (_keep, state) = state();
        let changed = |first: &str, news| Seen::Changed { first: Some(first.into()), news };
        for (today, expected) in [
            (Some("one"), Seen::Same),
            (Some("one"), Seen::Same),
            (Some("two"), changed("one", true)),
            (Some("two"), changed("one", false)),
            (None, changed("one", true)),
            (None, changed("one", false)),
            (Some("one"), Seen::Same),
        ] {
            assert_eq!(see(&state, "/r/rules.toml", today), expected, "{today:?}");
        }
        assert_eq!(see(&state, "/r/new", None), Seen::Same);
        assert_eq!(see(&state, "/r/new", Some("x")), Seen::Changed { first: None, news: true });
        let session = Session::open(&state, "id", Some(Path::new("/second")));
        assert_eq!(session.first_cwd(), Some(Path::new("/first")));
    }

    #[test]
    fn s06_no_number_of_long_paths_ends_what_a_session_began_with() {
        let (_keep, state) = state();
        see(&state, "/r/rules.toml", Some("one"));
        let mut session = Session::open(&state, "id", None);
        for number in 0..FILES {
            session.see(Path::new(&format!("/{}/{number}", "\u{1}".repeat(3000))), Some(b"x"));
        }
        session.save().unwrap();
        let known = Session::open(&state, "id", Some(Path::new("/second")));
        assert_eq!(known.first_cwd(), Some(Path::new("/first")));
        let changed = Seen::Changed { first: Some(b"one".to_vec()), news: true };
        assert_eq!(see(&state, "/r/rules.toml", Some("two")), changed);
    }

    #[test]
    fn s06_a_tampered_text_is_lost_not_believed() {
        let (_keep, state) = state();
        see(&state, "/r", Some("one"));
        let text = state.join("sessions").join(sha256_hex(b"id")).join(sha256_hex(b"one"));
        fs::write(text, "other").unwrap();
        assert_eq!(see(&state, "/r", Some("two")), Seen::Lost);
    }

    #[test]
    fn s06_nothing_is_written_when_nothing_is_new() {
        let (_keep, state) = state();
        see(&state, "/r", Some("one"));
        let folder = state.join("sessions").join(sha256_hex(b"id"));
        let written = || fs::metadata(folder.join("session.json")).unwrap().modified().unwrap();
        let before = written();
        see(&state, "/r", Some("one"));
        assert_eq!(written(), before);
    }

    #[test]
    fn s06_hostile_session_ids_stay_inside() {
        let (keep, state) = state();
        for id in ["../../escape", "/etc/passwd", "", "a\0b", &"x".repeat(100_000), "..", "\u{202e}"] {
            let mut session = Session::open(&state, id, None);
            session.see(Path::new("/r"), Some(b"x"));
            session.save().unwrap();
        }
        let outside: Vec<_> = fs::read_dir(keep.path()).unwrap().flatten().map(|it| it.file_name()).collect();
        assert_eq!(outside, ["state"]);
        assert_eq!(fs::read_dir(state.join("sessions")).unwrap().count(), 7);
    }

    #[test]
    fn s06_a_garbled_record_counts_as_none() {
        let (_keep, state) = state();
        see(&state, "/r", Some("one"));
        let record = state.join("sessions").join(sha256_hex(b"id")).join("session.json");
        for garbage in ["", "{", "[]", "{\"version\":2,\"cwd\":null,\"files\":{}}", "{\"version\":1}"] {
            fs::write(&record, garbage).unwrap();
            assert_eq!(see(&state, "/r", Some("one")), Seen::Same, "{garbage}");
        }
    }

    #[test]
    fn old_sessions_are_swept() {
        let (_keep, state) = state();
        see(&state, "/r", Some("one"));
        sweep(&state, SystemTime::now() + KEPT - Duration::from_secs(60));
        assert_eq!(fs::read_dir(state.join("sessions")).unwrap().count(), 1);
        sweep(&state, SystemTime::now() + KEPT + Duration::from_secs(60));
        assert_eq!(fs::read_dir(state.join("sessions")).unwrap().count(), 0);
    }
}
