//! Hooks that are part of Ruleline: one trait, and one table from which the manifest takes the names it knows.
//!
//! Neither of the two has what it works with in this version: they say so, and the one that guards asks.

use std::path::Path;
use std::time::Instant;

use crate::answer::{Outcome, Word};

/// What a builtin gets to see.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The event's name.
    pub event: &'a str,
    /// The names of the tool, the canonical one last; none for an event without a tool.
    pub tools: &'a [&'a str],
    /// The payload a script would get, one line of JSON.
    pub payload: &'a str,
    /// The root whose manifest names it, or in which the user's works.
    pub root: &'a Path,
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
    &[&Duet, &MemoryCapture]
}

/// Their names.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|builtin| builtin.name()).collect()
}

/// The builtin of this name.
pub fn named(name: &str) -> Option<&'static dyn Builtin> {
    all().iter().find(|builtin| builtin.name() == name).copied()
}

/// Tools that change nothing, by their canonical names.
const HARMLESS: [&str; 3] = ["read", "search", "list"];

/// A second opinion on destructive calls.
struct Duet;

impl Builtin for Duet {
    fn name(&self) -> &'static str {
        "duet"
    }

    /// Without a decider there is no second opinion, so that a person gives it.
    fn run(&self, call: &Call<'_>) -> Outcome {
        // A tool that is known has both names; what an agent calls its own tool says nothing of what it does.
        let harmless = matches!(call.tools, [_, canonical] if HARMLESS.contains(canonical));
        if call.event != "PreToolUse" || harmless {
            return Outcome::Said { word: Word::Continue, reason: String::new() };
        }
        let reason = "no decider is configured for duet, so that a person gives the second opinion";
        Outcome::Said { word: Word::Ask, reason: reason.to_owned() }
    }
}

/// What tools gave, kept for later.
struct MemoryCapture;

impl Builtin for MemoryCapture {
    fn name(&self) -> &'static str {
        "memory-capture"
    }

    fn run(&self, _: &Call<'_>) -> Outcome {
        Outcome::Failed("memory-capture is not configured and kept nothing".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(name: &str, event: &str, tools: &[&str]) -> Outcome {
        let call = Call { event, tools, payload: "{}", root: Path::new("/"), deadline: Instant::now() };
        named(name).expect("a builtin").run(&call)
    }

    #[test]
    fn duet_without_a_decider_asks_before_what_may_change_something() {
        for (event, tools, asks) in [
            ("PreToolUse", &["Bash", "shell"][..], true),
            ("PreToolUse", &["Read", "read"], false),
            ("PreToolUse", &["read", "read"], false),
            ("PreToolUse", &["read"], true),
            ("PreToolUse", &["mcp__files__delete"], true),
            ("PreToolUse", &[], true),
            ("PostToolUse", &["Bash", "shell"], false),
            ("Stop", &[], false),
        ] {
            let said = outcome("duet", event, tools);
            assert_eq!(matches!(said, Outcome::Said { word: Word::Ask, .. }), asks, "{event} {tools:?}: {said:?}");
        }
    }

    #[test]
    fn memory_capture_says_that_it_keeps_nothing() {
        for event in ["PostToolUse", "SessionEnd"] {
            let Outcome::Failed(why) = outcome("memory-capture", event, &[]) else { panic!("{event}") };
            assert!(why.contains("not configured"), "{why}");
        }
        assert_eq!(names(), ["duet", "memory-capture"]);
    }
}
