//! Which bytes of a root's hooks run in one agent session.
//!
//! The granted digest is recorded when a session begins (or at the first event of an unknown session). A first grant
//! waits for the next session; a new grant for a root that had one resumes at once; a beginning of the same session again
//! takes only a grant made after the last freeze. A record outlives the session's end until it is swept: no event lifts
//! it. The record is a file in the session's folder of the state folder, beside what the session saw of rulebooks.

use std::path::Path;
use std::time::SystemTime;

use crate::grants::{Grant, StoreError};
use crate::standing::Standing;

/// What a session holds of each root's hooks.
#[derive(Debug)]
pub struct Frozen {}

/// What is done with a root's hooks at one event.
#[derive(Debug, Clone)]
pub enum Ruling {
    /// Nothing runs and nothing is to be said beyond `news`.
    Nothing,
    /// The snapshot of this grant runs.
    Run(Grant),
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
    pub fn open(_session: &Path) -> Result<Frozen, StoreError> {
        unimplemented!()
    }

    /// Rules on a root's hooks at one event. `begins`: the event is the beginning of a session. `known`: the session was
    /// known before this event. `keep`: the person chose that the granted snapshot goes on when the bytes changed.
    pub fn rule(
        &mut self,
        _root: &Path,
        _standing: &Standing,
        _begins: bool,
        _known: bool,
        _keep: bool,
        _now: SystemTime,
    ) -> Ruled {
        unimplemented!()
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(self) -> Result<(), StoreError> {
        unimplemented!()
    }
}
