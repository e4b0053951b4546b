//! The reminder: an agent that searches and reads its way through code is told what the index knows, once in a while.
//!
//! [`classify`] says what a call is, [`counters`] when it is enough, [`state`] keeps the counts between two calls, and
//! [`words`] says it. It refuses a call that may be made again at once, or says something beside it; it never judges,
//! and what it cannot keep costs a reminder and no call.

pub mod classify;
pub mod counters;
pub mod pattern;
pub mod state;
pub mod tools;
mod words;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use agents::{Event, ToolResponse};

use crate::symbols::SymbolLookup;
use classify::Looked;
pub use counters::{Limits, Reminder};
use state::{Kept, Place};
pub use words::Tools;
use words::{Known, SYMBOLS};

/// What becomes of a call that is one too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is refused, once.
    Deny,
    /// It goes through, and something is said beside it.
    Advise,
    /// Nothing is counted.
    Off,
}

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// None: refused where the session has symbolic tools, else advised.
    pub mode: Option<Mode>,
    /// How much is enough.
    pub limits: Limits,
    /// The servers whose tools are symbolic.
    pub servers: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { mode: None, limits: Limits::default(), servers: tools::SERVERS.map(str::to_owned).to_vec() }
    }
}

/// What is said of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It is refused, for this reason.
    Refusal(Reminder, String),
    /// It goes through, and this is said beside it.
    Hint(String),
}

/// What the reminder works with.
pub struct Reminding<'a> {
    /// The state folder.
    pub state: &'a Path,
    /// The settings.
    pub settings: &'a Settings,
    /// An index; none where there is none.
    pub lookup: Option<&'a dyn SymbolLookup>,
    /// The symbolic tools that the agent's own settings name; asked only when something is to be said.
    pub configured: &'a dyn Fn() -> Option<Tools>,
    /// The agent's working folder.
    pub cwd: &'a Path,
    /// When the call begins.
    pub now: SystemTime,
}

impl Reminding<'_> {
    /// Takes in a call that is about to run, and says what is to be said.
    ///
    /// # Errors
    /// In one line, why nothing can be kept: then nothing is said either.
    pub fn take(&self, event: &Event) -> Result<Option<Said>, String> {
        let (Some(session), false) = (&event.session, self.settings.mode == Some(Mode::Off)) else { return Ok(None) };
        let looked = classify::look(event, &self.settings.servers);
        if looked.is_neutral() {
            return Ok(None);
        }
        let place = Place::new(self.state, session, event.agent.as_deref());
        let now = milliseconds(self.now);
        let (reminder, kept) = place.change(|kept| {
            if kept.counters.is_quiet(now, &self.settings.limits) {
                return (None, kept.clone());
            }
            if looked.is_symbolic() {
                kept.counters.reset();
                kept.note(looked.symbolic.map_or(LSP, |tool| tool.prefix));
                return (None, kept.clone());
            }
            let reminder = kept.counters.take(now, looked.kinds(), &self.settings.limits);
            (reminder, kept.clone())
        })?;
        Ok(reminder.and_then(|reminder| self.say(reminder, &looked, &kept)))
    }

    /// A call is over: a symbolic tool that succeeded resets the counts.
    ///
    /// # Errors
    /// As [`Reminding::take`].
    pub fn reset(&self, event: &Event) -> Result<(), String> {
        let Some(session) = &event.session else { return Ok(()) };
        let looked = classify::look(event, &self.settings.servers);
        if !looked.is_symbolic() || event.response != ToolResponse::Succeeded {
            return Ok(());
        }
        Place::new(self.state, session, event.agent.as_deref()).change(|kept| {
            kept.counters.reset();
            kept.note(looked.symbolic.map_or(LSP, |tool| tool.prefix));
        })
    }

    fn say(&self, reminder: Reminder, looked: &Looked, kept: &Kept) -> Option<Said> {
        let tools = used(kept).or_else(|| (self.configured)());
        let mode = self.settings.mode.unwrap_or(if tools.is_some() { Mode::Deny } else { Mode::Advise });
        let known = self.know(looked);
        match mode {
            Mode::Deny => Some(Said::Refusal(reminder, words::refusal(reminder, known.as_ref(), tools.as_ref()))),
            Mode::Advise => words::hint(known.as_ref(), tools.as_ref()).map(Said::Hint),
            Mode::Off => None,
        }
    }

    /// What the index knows of what is searched for or read.
    fn know(&self, looked: &Looked) -> Option<Known> {
        let lookup = self.lookup?;
        let names = looked.search.iter().flatten();
        let definitions = names.map(|name| lookup.find(name, SYMBOLS)).find(|found| !found.is_empty());
        definitions.map(Known::Definitions).or_else(|| {
            let files = looked.read.iter().flatten().map(|path| classify::file_of(self.cwd, path));
            files.map(|file| lookup.outline(&file, SYMBOLS)).find(|found| !found.is_empty()).map(Known::Outline)
        })
    }
}

/// Stands for the agent's own tool among the prefixes that are kept.
const LSP: &str = "LSP";

/// A symbolic tool that the session used.
fn used(kept: &Kept) -> Option<Tools> {
    let ours = kept.tools.iter().find(|prefix| prefix.contains("ruleline"));
    ours.or_else(|| kept.tools.iter().find(|prefix| *prefix != LSP))
        .or(kept.tools.first())
        .map(|prefix| of_prefix(prefix))
}

fn of_prefix(prefix: &str) -> Tools {
    match prefix {
        LSP => Tools::Lsp,
        prefix => Tools::Server { prefix: prefix.to_owned(), is_ours: prefix.ends_with("ruleline__") },
    }
}

/// The tools of a server by its name in an agent's settings.
pub fn of_server(server: &str) -> Tools {
    of_prefix(&format!("mcp__{server}__"))
}

fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
