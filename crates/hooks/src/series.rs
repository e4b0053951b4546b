//! All hooks of one event, one after the other, to one word: deny ends it, else the last ask, else the first allow.
//!
//! Behind the fact there is nothing to stop: there every hook runs, and each refusal is told.

use crate::answer::{Outcome, Word};
use crate::manifest::{Entry, OnError};
use crate::run::{Launch, run};

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

/// The events that are told after the fact.
const AFTERWARDS: [&str; 5] = ["PostToolUse", "PostToolUseFailure", "SessionStart", "SessionEnd", "Notification"];

/// Runs them. Only before a tool runs does a failure ask or deny.
pub fn run_all(parts: &[Part<'_>]) -> Came {
    let mut came = Came { word: Word::Continue, reason: String::new(), notes: Vec::new(), ran: 0 };
    for part in parts {
        for entry in part.entries {
            let ran = run(entry, &part.launch);
            came.ran += usize::from(!matches!(ran.outcome, Outcome::Unstarted(_)));
            let name = format!("{} ({})", entry.action.name(), part.whose);
            came.notes.extend(ran.note.map(|note| format!("{name}: {note}")));
            let guards = matches!(part.launch.event, "PreToolUse" | "PermissionRequest");
            let (word, reason) = match ran.outcome {
                Outcome::Said { word: Word::Allow, .. } if !part.may_allow => {
                    came.notes.push(format!("{name}: its allow does not count; only the user's own hooks may allow"));
                    continue;
                }
                Outcome::Said { word, reason } => (word, reason),
                Outcome::Failed(why) => match (guards, entry.on_error) {
                    (true, Some(OnError::Ask)) => (Word::Ask, format!("it failed ({why}); a person decides")),
                    (true, Some(OnError::Deny)) => (Word::Deny, format!("it failed ({why})")),
                    _ => {
                        came.notes.push(format!("{name}: it failed ({why})"));
                        continue;
                    }
                },
                Outcome::Ended(why) | Outcome::Garbled(why) | Outcome::Unstarted(why) if guards => {
                    let denies = entry.on_error == Some(OnError::Deny);
                    let word = if denies { Word::Deny } else { Word::Ask };
                    (word, format!("it could not judge this ({why}); a person decides"))
                }
                Outcome::Ended(why) | Outcome::Garbled(why) | Outcome::Unstarted(why) => {
                    came.notes.push(format!("{name}: {why}"));
                    continue;
                }
            };
            let reason =
                if reason.is_empty() { format!("{name} says {}", said(word)) } else { format!("{name}: {reason}") };
            match word {
                Word::Deny if !AFTERWARDS.contains(&part.launch.event) => return Came { word, reason, ..came },
                Word::Deny if came.word == Word::Deny => came.reason = format!("{}; {reason}", came.reason),
                Word::Deny => (came.word, came.reason) = (word, reason),
                _ if came.word == Word::Deny => {}
                // The last ask, and an allow only where nothing was said before.
                Word::Ask => (came.word, came.reason) = (word, reason),
                Word::Allow if came.word == Word::Continue => (came.word, came.reason) = (word, reason),
                Word::Allow | Word::Continue => {}
            }
        }
    }
    came
}

fn said(word: Word) -> &'static str {
    match word {
        Word::Continue => "nothing",
        Word::Allow => "allow",
        Word::Ask => "ask",
        Word::Deny => "deny",
    }
}
