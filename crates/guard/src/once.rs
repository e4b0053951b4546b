//! What a person allowed once: one rule, one file, the very lines that were refused, one use, ten minutes (S10).
//!
//! An exception is a file of the state folder under the rules of grants, named by the digest of all that it is bound to.
//! It is used up before the answer is given, never covers self-protection, what could not be judged or the instruction
//! check, and says who allowed it. A file that is wrong in any way is no exception.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hooks::grants::{Grantor, Means, make_private, open_private, read_private};
use rules::Change;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use system::clock::{milliseconds, uptime};
use system::digest::{hex, sha256};
use system::open::{Durability, Root};

/// How long an exception waits to be used.
pub const LASTS: Duration = Duration::from_secs(600);

/// Below the state folder.
const FOLDER: &str = "once";
const VERSION: u32 = 1;
/// Largest file, in bytes.
const LARGEST: u64 = 64 << 10;
/// Most files that are looked at when old ones are removed.
const RECORDS: usize = 1000;
/// Most processes of a chain that are kept, and most characters of each.
const PROCESSES: usize = 64;
const PROCESS: usize = 300;

/// One exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// The id of the refusal that a person looked at.
    pub refusal: String,
    /// The project's root, canonical.
    pub root: PathBuf,
    /// The rulebook, and the digest of its bytes.
    pub rulebook: PathBuf,
    /// See `rulebook`.
    pub rulebook_digest: [u8; 32],
    /// The rule's id.
    pub rule: String,
    /// The file, canonical.
    pub path: PathBuf,
    /// Of the refused lines; see [`digest_of_added`].
    pub added: [u8; 32],
    /// When it was allowed.
    pub at: SystemTime,
    /// Who allowed it.
    pub by: Grantor,
}

/// What an exception is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound<'a> {
    /// As [`Exception::root`].
    pub root: &'a Path,
    /// As [`Exception::rulebook`].
    pub rulebook: &'a Path,
    /// As [`Exception::rulebook_digest`].
    pub rulebook_digest: [u8; 32],
    /// As [`Exception::rule`].
    pub rule: &'a str,
    /// As [`Exception::path`].
    pub path: &'a Path,
    /// As [`Exception::added`].
    pub added: [u8; 32],
}

/// An exception as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    version: u32,
    /// Hex of [`Bound::key`].
    bound: String,
    refusal: String,
    /// For whoever looks into the folder; what holds is `bound`.
    rule: String,
    path: String,
    /// Milliseconds since 1970.
    at: u64,
    /// Milliseconds since the machine was started, where it tells: a clock that is set back gives no exception more time.
    up: Option<u64>,
    editor: bool,
    processes: Vec<String>,
}

/// An exception that was found and may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The file in the folder of exceptions.
    name: PathBuf,
    /// As [`Exception::refusal`].
    pub refusal: String,
    /// As [`Exception::by`].
    pub by: Grantor,
}

/// The exceptions of a user.
#[derive(Debug, Clone)]
pub struct Exceptions {
    state: PathBuf,
}

impl Exceptions {
    /// Those in a state folder, which the caller has admitted ([`system::Folders::admit`]).
    pub fn new(state: &Path) -> Exceptions {
        Exceptions { state: state.to_path_buf() }
    }

    /// Records an exception, durably. Allowed twice it counts once.
    ///
    /// # Errors
    /// It is not recorded; in one line.
    pub fn allow(&self, exception: &Exception) -> Result<(), String> {
        let bound = exception.bound();
        let processes = exception.by.processes.iter().take(PROCESSES);
        let record = Record {
            version: VERSION,
            bound: bound.key(),
            refusal: exception.refusal.clone(),
            rule: exception.rule.clone(),
            path: exception.path.to_string_lossy().into_owned(),
            at: milliseconds(exception.at),
            up: uptime().map(|up| up.as_millis() as u64),
            editor: exception.by.means == Means::Editor,
            processes: processes.map(|name| name.chars().take(PROCESS).collect()).collect(),
        };
        let text = serde_json::to_vec(&record).map_err(|error| error.to_string())?;
        if text.len() as u64 > LARGEST {
            return Err("the exception is too large to be recorded".to_owned());
        }
        let folder = make_private(&self.state, FOLDER).map_err(|error| error.to_string())?;
        sweep(&folder, exception.at);
        folder.replace(&name(&bound), &text, Durability::Synced).map_err(|error| error.to_string())
    }

    /// Whether there may be any: a look at one name.
    pub fn has_any(&self) -> bool {
        self.state.join(FOLDER).symlink_metadata().is_ok()
    }

    /// The exception for exactly this, if there is one that may be used now. It is not used up yet.
    pub fn offered(&self, bound: &Bound<'_>, now: SystemTime) -> Option<Offer> {
        let folder = open_private(&self.state, Path::new(FOLDER)).ok()??;
        let name = name(bound);
        let bytes = read_private(&folder, &name, LARGEST).ok()??;
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        let counts = record.version == VERSION && record.bound == bound.key() && record.is_alive(now);
        let means = if record.editor { Means::Editor } else { Means::Terminal };
        let by = Grantor { means, processes: record.processes };
        counts.then_some(Offer { name, refusal: record.refusal, by })
    }

    /// Uses up all of these, or none: whoever else wants one of them at the same time does not get it.
    pub fn take(&self, offers: &[Offer]) -> bool {
        let Ok(Some(folder)) = open_private(&self.state, Path::new(FOLDER)) else { return false };
        let mut taken: Vec<(&Path, PathBuf)> = Vec::new();
        for (number, offer) in offers.iter().enumerate() {
            // Only one renaming of a name succeeds, and each process has names of its own to rename to.
            let used = PathBuf::from(format!(".{}-{number}.used", std::process::id()));
            if folder.rename(&offer.name, &used).is_err() {
                for (name, used) in &taken {
                    let _ = folder.rename(used, name);
                }
                return false;
            }
            taken.push((&offer.name, used));
        }
        for (_, used) in &taken {
            // What is not removed has no name that counts.
            let _ = folder.remove(used);
        }
        true
    }
}

impl Exception {
    fn bound(&self) -> Bound<'_> {
        Bound {
            root: &self.root,
            rulebook: &self.rulebook,
            rulebook_digest: self.rulebook_digest,
            rule: &self.rule,
            path: &self.path,
            added: self.added,
        }
    }
}

impl Bound<'_> {
    /// The digest of all of it in hex, each part with its length before it.
    fn key(&self) -> String {
        let parts = [
            self.root.as_os_str().as_encoded_bytes(),
            self.rulebook.as_os_str().as_encoded_bytes(),
            &self.rulebook_digest,
            self.rule.as_bytes(),
            self.path.as_os_str().as_encoded_bytes(),
            &self.added,
        ];
        let mut text = Vec::new();
        for part in parts {
            text.extend_from_slice(&(part.len() as u64).to_le_bytes());
            text.extend_from_slice(part);
        }
        hex(&sha256(&text))
    }
}

impl Record {
    /// Whether its time has come and is not over, by the wall clock and by the one that nobody sets.
    fn is_alive(&self, now: SystemTime) -> bool {
        let within = |then: u64, now: u64| {
            let age = now.checked_sub(then);
            age.is_some_and(|age| u128::from(age) <= LASTS.as_millis())
        };
        let up = match (self.up, uptime()) {
            (Some(then), Some(now)) => within(then, now.as_millis() as u64),
            (then, now) => then.is_none() && now.is_none(),
        };
        up && within(self.at, milliseconds(now))
    }
}

fn name(bound: &Bound<'_>) -> PathBuf {
    PathBuf::from(format!("{}.json", bound.key()))
}

/// Removes what is over.
fn sweep(folder: &Root, now: SystemTime) {
    for name in folder.names(RECORDS).unwrap_or_default() {
        let name = Path::new(&name);
        let age = folder.look(name).ok().flatten().and_then(|look| look.age(now));
        if age.is_some_and(|age| age > LASTS) {
            let _ = folder.remove(name);
        }
    }
}

/// SHA-256 over the texts of a change's added lines in order, whatever their numbers. Where no line is added, what is
/// left of the file counts in their place, so that one change that only takes away is not another.
pub fn digest_of_added(change: &Change) -> [u8; 32] {
    if change.added.is_empty() {
        // No text of lines ends like this.
        let mut left = sha256(change.text.as_bytes()).to_vec();
        left.push(if change.deleted { b'd' } else { b'k' });
        return sha256(&left);
    }
    let mut digest = Sha256::new();
    for line in &change.added {
        digest.update(&change.text.as_bytes()[line.span.clone()]);
        digest.update(b"\n");
    }
    digest.finalize().into()
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
