//! What was counted so far, kept in the state folder: one file for each session and agent of it.
//!
//! A file is named by the digest of both ids, so that no id reaches outside; it is JSON, versioned, changed under a lock
//! and replaced at once. What cannot be read counts as nothing. Files that nobody wrote for seven days are swept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use system::digest::{hex, sha256_of};
use system::folders;
use system::open::{Durability, Root};

use super::counters::Counters;

const VERSION: u32 = 1;
const FOLDER: &str = "reminders";
/// Largest file, in bytes.
const LARGEST: u64 = 64 << 10;
/// How long a file stays that nobody writes.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Most files looked at in one sweep.
const SWEEP: usize = 1000;
/// Most prefixes of symbolic tools that are kept, and most bytes of one.
const TOOLS: usize = 8;
const TOOL: usize = 200;

/// What is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Kept {
    version: u32,
    /// See [`Counters`].
    pub counters: Counters,
    /// What stands before the symbolic tools that were used: `mcp__serena__`.
    pub tools: BTreeSet<String>,
}

impl Kept {
    /// A symbolic tool with this prefix is there.
    pub fn note(&mut self, prefix: &str) {
        if self.tools.len() < TOOLS && prefix.len() <= TOOL {
            self.tools.insert(prefix.to_owned());
        }
    }
}

/// Where it is kept.
#[derive(Debug, Clone)]
pub struct Place {
    folder: PathBuf,
    /// What the files of the session begin with.
    session: String,
    name: String,
}

impl Place {
    /// Of one agent of one session.
    pub fn new(state: &Path, session: &str, agent: Option<&str>) -> Place {
        // Twenty hex digits tell sessions of one user apart.
        let digest = |id: &str| hex(&sha256_of(&[id.as_bytes()]))[..20].to_owned();
        let session = digest(session);
        let name = format!("{session}-{}.json", agent.map_or_else(|| "main".to_owned(), digest));
        Place { folder: state.join(FOLDER), session, name }
    }

    /// What is kept; nothing where there is none that can be read.
    pub fn read(&self) -> Kept {
        let bytes = system::open::read_below(&self.folder, Path::new(&self.name), LARGEST).ok().flatten();
        let kept = bytes.and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        kept.filter(|kept| kept.version == VERSION).unwrap_or_default()
    }

    /// Changes what is kept, one process at a time; gives what `change` gives.
    ///
    /// # Errors
    /// In one line, why nothing can be kept; `change` may have been called.
    pub fn change<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> Result<T, String> {
        let plain = |error: system::OpenError| error.to_string();
        folders::create_private(&self.folder).map_err(|error| error.to_string())?;
        let root = Root::open(&self.folder).map_err(plain)?;
        let _lock = root.lock(Path::new(&format!("{}.lock", self.session))).map_err(plain)?;
        let before = self.read();
        let mut kept = Kept { version: VERSION, ..before.clone() };
        let given = change(&mut kept);
        if kept != before {
            let json = serde_json::to_vec(&kept).map_err(|error| error.to_string())?;
            root.replace(Path::new(&self.name), &json, Durability::Usual).map_err(plain)?;
        }
        Ok(given)
    }

    /// Removes what is kept of the session, all of its agents included, and nothing else.
    pub fn remove(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().take(SWEEP).flatten() {
            if entry.file_name().to_string_lossy().starts_with(&self.session) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Removes what nobody wrote for seven days before `now`.
pub fn sweep(state: &Path, now: SystemTime) {
    for entry in fs::read_dir(state.join(FOLDER)).into_iter().flatten().take(SWEEP).flatten() {
        let modified = entry.metadata().ok().filter(fs::Metadata::is_file).and_then(|found| found.modified().ok());
        if modified.and_then(|then| now.duration_since(then).ok()).is_some_and(|age| age > KEPT) {
            let _ = fs::remove_file(entry.path());
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

    fn count(place: &Place) -> u32 {
        place
            .change(|kept| {
                kept.counters.searches.number += 1;
                kept.counters.searches.number
            })
            .unwrap()
    }

    #[test]
    fn each_agent_of_each_session_has_its_own() {
        let (_keep, state) = state();
        let place = |session, agent| Place::new(&state, session, agent);
        assert_eq!((count(&place("s", None)), count(&place("s", None))), (1, 2));
        assert_eq!(count(&place("s", Some("a"))), 1);
        assert_eq!(count(&place("t", None)), 1);
        place("s", None).remove();
        assert_eq!((count(&place("s", None)), count(&place("s", Some("a"))), count(&place("t", None))), (1, 1, 2));
    }

    #[test]
    fn hostile_ids_stay_inside() {
        let (keep, state) = state();
        for id in ["../../x", "/etc/passwd", "", ".", "a\0b", &"x".repeat(100_000), "\u{202e}"] {
            let place = Place::new(&state, id, Some(id));
            count(&place);
            place.remove();
            assert_eq!(count(&place), 1, "{id:?}");
        }
        let outside: Vec<_> = fs::read_dir(keep.path()).unwrap().flatten().map(|it| it.file_name()).collect();
        assert_eq!(outside, ["state"]);
    }

    #[test]
    fn what_is_broken_or_of_another_version_counts_as_nothing() {
        let (_keep, state) = state();
        let place = Place::new(&state, "s", None);
        count(&place);
        let file = state.join(FOLDER).join(&place.name);
        let whole = fs::read_to_string(&file).unwrap();
        for broken in ["", "{", "[]", "null", &whole.replace("\"version\":1", "\"version\":2")] {
            fs::write(&file, broken).unwrap();
            assert_eq!(count(&place), 1, "{broken}");
        }
    }

    #[test]
    fn old_ones_are_swept() {
        let (_keep, state) = state();
        count(&Place::new(&state, "s", None));
        let files = || fs::read_dir(state.join(FOLDER)).unwrap().count();
        sweep(&state, SystemTime::now() + KEPT - Duration::from_secs(60));
        assert_eq!(files(), 2);
        sweep(&state, SystemTime::now() + KEPT + Duration::from_secs(60));
        assert_eq!(files(), 0);
    }
}
