//! Starts one hook and waits for it, never longer than its deadline.
//!
//! A script runs from the snapshot under an interpreter with an absolute path, in a process group of its own, with an
//! environment that is built anew and with bounded output. The deadline bounds the wait as well as the kill: a grandchild
//! that keeps a pipe open keeps nobody waiting.

mod environment;
mod ground;
mod program;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::answer::{self, Left, Outcome};
use crate::builtin::{self, Call};
use crate::manifest::{Action, Entry, OnError};

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

/// The bytes that are kept of each stream.
const KEPT: usize = 64 << 10;

/// How a hook is started.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// One of [`crate::EVENTS`].
    pub event: &'a str,
    /// The names of the tool, the canonical one last; none for an event without a tool.
    pub tools: &'a [&'a str],
    /// The folder its script is taken from: a snapshot, or the user's own hooks.
    pub folder: &'a Path,
    /// The root it works for; its working folder.
    pub root: &'a Path,
    /// Further workspaces whose programs nobody has read.
    pub workspaces: &'a [PathBuf],
    /// One line of JSON for stdin, without its line end.
    pub payload: &'a str,
    /// When everything must be over; the entry's own timeout may end it earlier.
    pub deadline: Instant,
    /// Interpreters the user configured, tried before the fixed list.
    pub interpreters: &'a [PathBuf],
}

/// How one hook came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What came out.
    pub outcome: Outcome,
    /// For the person, in one line.
    pub note: Option<String>,
}

/// What a process left behind, and its bytes.
struct Finished {
    end: answer::End,
    stdout: Kept,
    stderr: Kept,
}

/// The first bytes of a stream.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    cut: bool,
}

impl Kept {
    fn take(&mut self, more: &[u8]) {
        let room = KEPT - self.bytes.len();
        self.bytes.extend_from_slice(&more[..more.len().min(room)]);
        self.cut |= more.len() > room;
    }
}

/// Runs one entry.
pub fn run(entry: &Entry, launch: &Launch<'_>) -> Ran {
    let now = Instant::now();
    let deadline = now.checked_add(entry.timeout).map_or(launch.deadline, |own| own.min(launch.deadline));
    if deadline <= now {
        return Ran { outcome: Outcome::Ended("no time was left for it".to_owned()), note: None };
    }
    let environment = environment::build(launch);
    let command = match &entry.action {
        Action::Builtin(name) => return run_builtin(name, launch, deadline),
        Action::Script { file, .. } => program::script(file, launch, &environment),
        Action::Command(words) => program::named(words, launch, &environment),
    };
    match command.and_then(|command| platform::run(command, launch.payload, deadline)) {
        Err(why) => Ran { outcome: Outcome::Unstarted(rules::plain::plain(&why, rules::plain::WHY)), note: None },
        Ok(finished) => {
            let left = Left {
                end: finished.end,
                stdout: &finished.stdout.bytes,
                stdout_cut: finished.stdout.cut,
                stderr: &finished.stderr.bytes,
            };
            let (outcome, note) = answer::read(left, entry.on_error.unwrap_or(OnError::Allow));
            Ran { outcome, note }
        }
    }
}

fn run_builtin(name: &str, launch: &Launch<'_>, deadline: Instant) -> Ran {
    let call = Call { event: launch.event, tools: launch.tools, payload: launch.payload, root: launch.root, deadline };
    let outcome = builtin::named(name)
        .map_or_else(|| Outcome::Unstarted(format!("there is no builtin {name}")), |builtin| builtin.run(&call));
    Ran { outcome, note: None }
}
