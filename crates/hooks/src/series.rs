//! All hooks of one event, one after the other, to one word: deny ends it, else the last ask, else the first allow.

use crate::answer::Word;
use crate::manifest::Entry;
use crate::run::Launch;

/// The hooks of one manifest that an event is for.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// How they are called in texts: `the user's hooks`, `hooks of ROOT`; escaped.
    pub whose: &'a str,
    /// The hooks, in document order.
    pub entries: &'a [&'a Entry],
    /// How they are started.
    pub launch: Launch<'a>,
    /// Whether an allow of theirs counts.
    pub may_allow: bool,
}

/// What all hooks of an event came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    /// The word.
    pub word: Word,
    /// Why, for the model and the person; names the hook.
    pub reason: String,
    /// What went wrong without stopping anything, each in one line, for the person.
    pub notes: Vec<String>,
    /// How many hooks ran.
    pub ran: usize,
}

/// Runs them. `event` is one of [`crate::EVENTS`]: only before a tool runs does a failure ask or deny.
pub fn run_all(_event: &str, _parts: &[Part<'_>]) -> Came {
    unimplemented!()
}
