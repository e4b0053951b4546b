//! Which bytes of a root's hooks run in one agent session.
//!
//! The granted digest is recorded when a session begins (or at the first event of an unknown session). A first grant
//! waits for the next session; a new grant for a root that had one resumes at once; a beginning of the same session again
//! takes only a grant made after the last freeze. A record outlives the session's end until it is swept: no event lifts
//! it. The record is a file in the session's folder of the state folder, beside what the session saw of rulebooks.

mod record;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use record::{Held, Record};

use system::clock::milliseconds;
use system::digest::key;

use crate::grants::store::{canonical, wrong};
use crate::grants::{self, Grant, Place, Store, StoreError};
use crate::standing::{Standing, sentence};
use crate::texts::{count, shown};

/// Most sessions whose records are looked at.
const SESSIONS: usize = 10_000;

/// What a session holds of each root's hooks.
#[derive(Debug)]
pub struct Frozen {
    folder: PathBuf,
    store: Store,
    record: Record,
    before: Record,
    /// Grants that the session is told of now.
    announced: Vec<Grant>,
}

/// What is done with a root's hooks at one event.
#[derive(Debug, Clone)]
pub enum Ruling {
    /// Nothing runs and nothing is to be said beyond `news`.
    Nothing,
    /// The snapshot of this grant runs.
    Run(Grant),
    /// Something was granted, and what cannot be read: any call may be one that a guard would have looked at.
    Unknown {
        /// Why, in one line.
        why: String,
    },
    /// They were frozen as trusted and are not any more, through no act of a person that ends them: a guard is missing.
    Stopped {
        /// What was frozen, or granted last.
        grant: Grant,
        /// Why, in one line.
        why: String,
    },
}

/// A ruling, and what the session has not been told yet.
#[derive(Debug, Clone)]
pub struct Ruled {
    /// The ruling.
    pub ruling: Ruling,
    /// Each in one line.
    pub news: Vec<String>,
}

impl Frozen {
    /// What the session in this folder (`<state>/sessions/<digest>`) holds; a record that cannot be read is an error:
    /// nothing runs then, and what would have been guarded asks.
    ///
    /// # Errors
    /// As said.
    pub fn open(session: &Path) -> Result<Frozen, StoreError> {
        let state = session.parent().and_then(Path::parent);
        let Some(state) = state else { return Err(wrong(session, "is no folder of a session")) };
        let record = record::read(session)?;
        Ok(Frozen {
            folder: session.to_path_buf(),
            store: Store::new(state),
            before: record.clone(),
            record,
            announced: Vec::new(),
        })
    }

    /// Whether the session in this folder met hooks; a look at a name.
    pub fn is_there(session: &Path) -> bool {
        session.join(record::FILE).symlink_metadata().is_ok()
    }

    /// Whether the session began with a grant for this root, which has no link in it.
    pub fn has_grant(&self, root: &Path) -> bool {
        self.record.roots.get(&key(root)).is_some_and(|held| held.grant.is_some())
    }

    /// The roots the session has met, those whose folder of hooks is gone among them: they are still ruled on.
    pub fn roots(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.record.roots.values().filter_map(|held| held.root.path())
    }

    /// Rules on a root's hooks at one event. `begins`: the event is the beginning of a session. `keep`: the person chose
    /// that the granted snapshot goes on when the bytes changed. The first sight of a root in a session freezes what is
    /// granted then, whether or not the session is new.
    pub fn rule(&mut self, root: &Path, standing: &Standing, begins: bool, keep: bool, now: SystemTime) -> Ruled {
        if let Some(ruled) = self.rule_on_link(root) {
            return ruled;
        }
        let root = canonical(root);
        let key = key(&root);
        let first = !self.record.roots.contains_key(&key);
        if first {
            if matches!(standing, Standing::Absent) {
                return Ruled { ruling: Ruling::Nothing, news: Vec::new() };
            }
            if let Some(why) = unknown(&self.store, &root, standing) {
                // Not frozen: what was granted counts from the first event that can read it.
                let news = begins.then(|| why.clone()).into_iter().collect();
                return Ruled { ruling: Ruling::Unknown { why }, news };
            }
            if !record::has_room(&self.record) {
                return no_room(&root, standing);
            }
        }
        let at = milliseconds(now);
        let fresh = Held { root: Place::of(&root), grant: None, at, told: Vec::new(), told_since: at };
        let mut held = self.record.roots.remove(&key).unwrap_or(fresh);
        let mut news = Vec::new();
        if begins {
            // What was said before may be out of the agent's sight by now.
            held.tell_again(at);
        }
        if let Some(grant) = standing.grant().filter(|grant| may_take(&held, grant, first, begins)) {
            if let (Some(former), false) = (&held.grant, begins) {
                let again = if former.digest == grant.digest { "trusted again" } else { "trusted as they are now" };
                held.tell_again(at);
                news.push(format!("the hooks in {} were {again}, {}; they run", shown(&root), grant.how()));
                self.announced.push(grant.clone());
            } else if !self.store.was_announced(grant) {
                news.push(new_grant(&root, grant));
                self.announced.push(grant.clone());
            }
            held.at = at.max(held.at.saturating_add(u64::from(!first)));
            held.grant = Some(grant.clone());
        }
        let ruling = self.ruling(&root, standing, held.grant.as_ref(), keep);
        news.extend(told(&mut held, &root, standing, &ruling));
        self.record.roots.insert(key, held);
        Ruled { ruling, news }
    }

    /// A link stands where a root was: what is found behind it are the hooks of another folder, and a guard is missing.
    fn rule_on_link(&mut self, root: &Path) -> Option<Ruled> {
        let held = self.record.roots.get_mut(&key(root)).filter(|_| canonical(root) != root)?;
        let grant = held.grant.clone()?;
        let why = format!(
            "a link stands where {} was when this session began, so the hooks that were trusted there do not run; put the folder back",
            shown(root)
        );
        let is_new = held.tell(system::digest::sha256_hex(why.as_bytes()));
        let news = is_new.then(|| why.clone()).into_iter().collect();
        Some(Ruled { ruling: Ruling::Stopped { grant, why }, news })
    }

    fn ruling(&self, root: &Path, standing: &Standing, frozen: Option<&Grant>, keep: bool) -> Ruling {
        let Some(frozen) = frozen else { return Ruling::Nothing };
        let stopped = |why: String| Ruling::Stopped { grant: frozen.clone(), why };
        if let Some(grant) = standing.grant()
            && grant.digest != frozen.digest
        {
            let place = shown(root);
            return stopped(format!(
                "the grant for the hooks in {place} is an older one than this session began with, so none of them runs"
            ));
        }
        let why = || sentence(standing, root).unwrap_or_default();
        match standing {
            Standing::Trusted { grant } => Ruling::Run(grant.clone()),
            Standing::Changed { grant, .. } if keep => Ruling::Run(grant.clone()),
            Standing::NotReviewed { last: Some(_), .. } => Ruling::Nothing,
            Standing::Changed { .. } | Standing::Refused { grant: Some(_), .. } | Standing::StoreLost { .. } => {
                stopped(why())
            }
            Standing::NotReviewed { last: None, .. } | Standing::Absent | Standing::Refused { grant: None, .. } => {
                match self.store.read(root) {
                    Ok(Some(grants::Record::Withdrawn { .. })) => Ruling::Nothing,
                    _ => stopped(format!(
                        "the grant for the hooks in {} is gone, and nobody took it back, so none of them runs; review and trust them again",
                        shown(root)
                    )),
                }
            }
        }
    }

    /// Writes what was added; nothing is written when nothing was.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(self) -> Result<(), StoreError> {
        if self.record != self.before {
            record::add(&self.folder, self.record)?;
        }
        for grant in &self.announced {
            self.store.announced(grant);
        }
        Ok(())
    }
}

/// Why it is not known what a root was granted, where there is a record of it.
pub fn unknown(store: &Store, root: &Path, standing: &Standing) -> Option<String> {
    let is_lost = matches!(standing, Standing::StoreLost { .. }) && store.holds(root);
    is_lost.then(|| sentence(standing, root)).flatten()
}

/// A root that the record cannot take is one whose hooks do not run.
fn no_room(root: &Path, standing: &Standing) -> Ruled {
    let why = format!(
        "the session works in more roots than it can keep in mind, so the hooks in {} do not run; begin a new session",
        shown(root)
    );
    match standing.grant() {
        Some(grant) => Ruled { ruling: Ruling::Stopped { grant: grant.clone(), why }, news: Vec::new() },
        None => Ruled { ruling: Ruling::Nothing, news: Vec::new() },
    }
}

/// Whether the session takes this grant now.
fn may_take(held: &Held, grant: &Grant, first: bool, begins: bool) -> bool {
    let at = milliseconds(grant.at);
    match &held.grant {
        _ if first => true,
        // A new grant for a root that had one.
        Some(former) => grant.at > former.at,
        // A first grant waits for a beginning, and a beginning can be forged: it takes only what is newer than the
        // last one.
        None => begins && at > held.at,
    }
}

/// What the session has not been told yet.
fn told(held: &mut Held, root: &Path, standing: &Standing, ruling: &Ruling) -> Option<String> {
    let (state, text) = match (standing, ruling) {
        (_, Ruling::Stopped { why, .. }) => (format!("stopped {}", state_of(standing, why)), Some(why.clone())),
        (Standing::Trusted { .. }, Ruling::Run(_)) => return None,
        (Standing::Changed { .. }, Ruling::Run(_)) => {
            let text = format!(
                "the hooks in {} changed since they were trusted; what was trusted goes on running, as your settings say",
                shown(root)
            );
            (format!("kept {}", state_of(standing, "")), Some(text))
        }
        (Standing::Trusted { grant } | Standing::Changed { grant, .. }, Ruling::Nothing) => {
            let text = format!(
                "the hooks in {} were trusted while this session runs, {}; they start with the next session",
                shown(root),
                grant.how()
            );
            (format!("later {} {}", milliseconds(grant.at), grant.digest.hex()), Some(text))
        }
        _ => (state_of(standing, ""), sentence(standing, root)),
    };
    let digest = system::digest::sha256_hex(state.as_bytes());
    text.filter(|_| held.tell(digest))
}

/// What tells one state of a root's hooks from another.
fn state_of(standing: &Standing, why: &str) -> String {
    match standing {
        Standing::Absent => format!("absent {why}"),
        Standing::NotReviewed { tree, last } => format!("unreviewed {} {}", tree.digest.hex(), last.is_some()),
        Standing::Trusted { grant } => format!("trusted {} {why}", grant.digest.hex()),
        Standing::Changed { tree, .. } => {
            format!("changed {}", tree.as_ref().map_or_else(|| "gone".to_owned(), |tree| tree.digest.hex()))
        }
        Standing::Refused { refused, .. } => format!("refused {refused}"),
        Standing::StoreLost { error, .. } => format!("lost {error}"),
    }
}

fn new_grant(root: &Path, grant: &Grant) -> String {
    let files = count(grant.files.len(), "hook file");
    let were = if grant.files.len() == 1 { "was" } else { "were" };
    format!(
        "{files} in {} {were} trusted since the last session here, {}; if that was not you, `ruleline hooks untrust`",
        shown(root),
        grant.how()
    )
}

/// The digests that sessions of this state folder name; none when one of their records cannot be read.
pub(crate) fn digests_in_use(state: &Path) -> Option<HashSet<String>> {
    let mut digests = HashSet::new();
    let sessions = match fs::read_dir(state.join("sessions")) {
        Ok(sessions) => sessions,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(digests),
        Err(_) => return None,
    };
    for (index, session) in sessions.flatten().enumerate() {
        if index == SESSIONS {
            return None;
        }
        let record = record::read(&session.path()).ok()?;
        digests.extend(record.roots.into_values().filter_map(|held| held.grant).map(|grant| grant.digest.hex()));
    }
    Some(digests)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
