//! What a session holds of hooks, as it stands on the disk: `<session folder>/hooks.json`, versioned and bounded.

use std::collections::BTreeMap;
use std::path::Path;

use rules::plain::{WHY, plain};
use serde::{Deserialize, Serialize};
use system::open::{Durability, Root};

use crate::grants::store::{failed, hold, read_private, wrong};
use crate::grants::{Grant, Place, StoreError, WrittenGrant};

/// The file, and what a writer holds.
pub(super) const FILE: &str = "hooks.json";
const LOCK: &str = "hooks.lock";
const VERSION: u32 = 1;
/// Largest record, in bytes.
const RECORD: u64 = 32 << 20;
/// Most roots of a session.
const ROOTS: usize = 64;
/// Most things a session was told of one root.
const TOLD: usize = 64;

/// Every root the session met, by its key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub roots: BTreeMap<String, Held>,
}

/// What is held of one root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Held {
    pub root: Place,
    /// What runs; none when nothing was granted.
    #[serde(with = "written")]
    pub grant: Option<Grant>,
    /// When it was frozen, in milliseconds since 1970.
    pub at: u64,
    /// What the session was told, oldest first.
    pub told: Vec<String>,
    /// Since when: what was told before a beginning is told again. In milliseconds since 1970.
    pub told_since: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    roots: BTreeMap<String, Held>,
}

mod written {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    use super::{Grant, WrittenGrant};

    #[allow(clippy::ref_option, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(grant: &Option<Grant>, to: S) -> Result<S::Ok, S::Error> {
        grant.as_ref().map(WrittenGrant::from).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Grant>, D::Error> {
        let written = Option::<WrittenGrant>::deserialize(from)?;
        written.map(Grant::try_from).transpose().map_err(D::Error::custom)
    }
}

impl Held {
    /// Takes note that the session is told of `what`; says whether it is new.
    pub fn tell(&mut self, what: String) -> bool {
        if self.told.contains(&what) {
            return false;
        }
        if self.told.len() == TOLD {
            self.told.remove(0);
        }
        self.told.push(what);
        true
    }

    /// What was told is out of sight: all of it is told again.
    pub fn tell_again(&mut self, now: u64) {
        self.told.clear();
        self.told_since = now.max(self.told_since.saturating_add(1));
    }

    /// What this and another writer of the same session know.
    fn join(&mut self, other: Held) {
        if other.at > self.at {
            (self.grant, self.at) = (other.grant, other.at);
        }
        if other.told_since > self.told_since {
            self.told.clear();
        }
        if other.told_since >= self.told_since {
            self.told_since = other.told_since;
            for told in other.told {
                self.tell(told);
            }
        }
    }
}

/// The record of the session in `folder`; empty when there is none.
pub(super) fn read(folder: &Path) -> Result<Record, StoreError> {
    let opened = match Root::open(folder) {
        Ok(opened) => opened,
        Err(error) if error.is_not_found() => return Ok(Record::default()),
        Err(error) => return Err(failed(&error)),
    };
    read_in(&opened)
}

fn read_in(folder: &Root) -> Result<Record, StoreError> {
    let Some(bytes) = read_private(folder, Path::new(FILE), RECORD)? else { return Ok(Record::default()) };
    // An error may quote the file.
    let unusable = |why: String| {
        let what = format!("is no record of this session's hooks ({}); begin a new session", plain(&why, WHY));
        wrong(&folder.path().join(FILE), &what)
    };
    let written: Written = serde_json::from_slice(&bytes).map_err(|error| unusable(error.to_string()))?;
    if written.version != VERSION {
        return Err(unusable(format!("format {}", written.version)));
    }
    Ok(Record { roots: written.roots })
}

/// Adds `record` to what stands there: another hook of the session may have written since.
pub(super) fn add(folder: &Path, record: Record) -> Result<(), StoreError> {
    system::folders::create_private(folder).map_err(|refused| StoreError { path: refused.folder, why: refused.why })?;
    let opened = Root::open(folder).map_err(|error| failed(&error))?;
    let _lock = hold(&opened, LOCK)?;
    let mut all = read_in(&opened)?;
    for (key, held) in record.roots {
        let room = has_room(&all);
        match all.roots.get_mut(&key) {
            Some(known) => known.join(held),
            None if room => {
                all.roots.insert(key, held);
            }
            None => {
                let why = format!(
                    "holds {ROOTS} roots already, so that hooks of further ones do not run; begin a new session"
                );
                return Err(wrong(&folder.join(FILE), &why));
            }
        }
    }
    let text =
        serde_json::to_vec(&Written { version: VERSION, roots: all.roots }).expect("texts and numbers become JSON");
    if text.len() as u64 > RECORD {
        let why = "would grow too large, so that hooks of this root do not run; begin a new session";
        return Err(wrong(&folder.join(FILE), why));
    }
    opened.replace(Path::new(FILE), &text, Durability::Synced).map_err(|error| failed(&error))
}

/// Whether the session may hold one root more.
pub(super) fn has_room(record: &Record) -> bool {
    record.roots.len() < ROOTS
}
