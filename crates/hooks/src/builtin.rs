//! Hooks that are part of Ruleline: one trait, and one table whose names the manifest knows.

use std::path::Path;
use std::time::Instant;

use crate::answer::Outcome;

/// What a builtin gets to see.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The event's name.
    pub event: &'a str,
    /// The payload a script would get, one line of JSON.
    pub payload: &'a str,
    /// The root whose manifest names it; none for the user's.
    pub root: Option<&'a Path>,
    /// When the answer must be there.
    pub deadline: Instant,
}

/// One builtin hook.
pub trait Builtin: Sync {
    /// The name in manifests.
    fn name(&self) -> &'static str;
    /// Answers an event. One that is not configured says so.
    fn run(&self, call: &Call<'_>) -> Outcome;
}

/// Every builtin.
pub fn all() -> &'static [&'static dyn Builtin] {
    unimplemented!()
}

/// Their names.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|builtin| builtin.name()).collect()
}
