//! One line of the log for each event: what is written of it, and where.
//!
//! The answer comes first and is never lost to the log: a line is written once the answer is out, unless an exception was
//! used up, whose line comes before. Whoever has nothing to say pays for a few names looked at and three small writes.
//! That a line cannot be written is said once, and changes nothing else.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use agents::{Event, Head, Permission, ToolCall};
use guard::config::{Config, Log as Wanted};
use guard::trace::{self, Basis};
use records::{Entry, Log, Outcome};
use rules::plain::{WHY, plain};
use system::{Folders, ancestry, clock, paths, roots};

use super::arguments::Arguments;
use super::{failpoint, problems, work};
use crate::output;

/// Longest name of a session, tool and event, in characters.
const NAME: usize = 200;
/// Most processes above this one that are named, and most characters of each.
const PARENTS: usize = 16;
const PROCESS: usize = 80;

/// A line that is to be written. What takes time of it is left to the writing.
pub struct Record {
    entry: Entry,
    folders: Folders,
    /// Where the agent works, with links resolved.
    cwd: PathBuf,
    /// What was decided on; none where nothing was.
    basis: Option<Basis>,
    wanted: Wanted,
    /// The processes above are named as well.
    with_parents: bool,
}

impl Record {
    /// Of an event that nothing is to be said of; none where that is not recorded.
    pub fn quiet(arguments: &Arguments, folders: Option<&Folders>, event: &Event, begun: Instant) -> Option<Record> {
        let folders = folders.filter(|_| !arguments.no_log)?;
        let wanted = Config::log_of_user(&folders.user);
        if wanted != Wanted::All {
            return None;
        }
        let cwd = paths::resolve(&work::working_folder(event));
        let mut entry = of_event(event, Outcome::None, begun);
        entry.root = project(arguments, &cwd);
        if let Some(Ok(ToolCall::Shell { command })) = &event.call {
            entry.command = Some(trace::command(command));
        }
        Some(Record { entry, folders: folders.clone(), cwd, basis: None, wanted, with_parents: false })
    }

    /// Of an event that was decided on: what was answered, and why.
    pub fn decided(
        folders: Folders,
        event: &Event,
        (answer, basis): (Permission, Basis),
        wanted: Wanted,
        begun: Instant,
    ) -> Record {
        let outcome = match answer {
            Permission::Silent => Outcome::None,
            Permission::Allow => Outcome::Allow,
            Permission::Ask => Outcome::Ask,
            Permission::Deny => Outcome::Deny,
        };
        let entry = of_event(event, outcome, begun);
        let cwd = work::working_folder(event);
        Record { entry, folders, cwd, basis: Some(basis), wanted, with_parents: true }
    }

    /// Of an event that could not be judged; `event` is what is known of it.
    pub fn failed(
        arguments: &Arguments,
        head: &Head,
        event: Option<&Event>,
        answer: Permission,
        reason: &str,
        begun: Instant,
    ) -> Option<Record> {
        let folders = work::folders(arguments).filter(|_| !arguments.no_log)?;
        let wanted = Config::log_of_user(&folders.user);
        if wanted == Wanted::Off {
            return None;
        }
        let cwd = paths::resolve(&event.map_or_else(|| paths::absolute(Path::new(".")), work::working_folder));
        let outcome = match answer {
            Permission::Silent | Permission::Allow => Outcome::None,
            Permission::Ask => Outcome::Ask,
            Permission::Deny => Outcome::Deny,
        };
        let mut entry = match event {
            Some(event) => of_event(event, outcome, begun),
            None => entry(head, outcome, begun),
        };
        entry.root = project(arguments, &cwd);
        entry.reason = trace::command(reason);
        Some(Record { entry, folders, cwd, basis: None, wanted, with_parents: true })
    }

    /// Whether it must stand before the answer is given: an exception was used up.
    pub fn comes_first(&self) -> bool {
        self.basis.as_ref().is_some_and(Basis::uses_up)
    }

    /// Writes the line. What is wrong with the log is noted once.
    pub fn write(mut self) {
        failpoint::reach("record");
        if let Some(trace) = self.basis.take().map(Basis::trace) {
            if self.wanted == Wanted::Findings && !trace.is_finding {
                return;
            }
            self.cwd = paths::resolve(&self.cwd);
            trace.fill(&mut self.entry);
        }
        if !self.may_use_state() {
            return;
        }
        if self.with_parents {
            self.entry.parents = parents();
        }
        let state = &self.folders.state;
        let told = match Log::new(&self.entry.root, state).append(&mut self.entry) {
            Ok(told) => told,
            Err(error) if error.is_known => None,
            Err(error) => Some(format!("this decision is not in the log: {error}")),
        };
        if let Some(told) = told {
            let told = plain(&told, WHY);
            problems::note(state, &self.entry.agent, &self.entry.event, &told);
            output::complain(&told);
        }
    }

    /// Whether the state folder may be used by whoever works here; as [`Folders::admit`] has it, but only those
    /// workspaces are looked for that could hold both.
    fn may_use_state(&self) -> bool {
        let Folders { state, home, .. } = &self.folders;
        let around = |place: &Path| {
            let both = state.ancestors().find(|above| place.starts_with(above)).unwrap_or(Path::new("/"));
            let is_own = state.starts_with(home) && home.starts_with(both);
            let roots = if is_own { Vec::new() } else { roots::enclosing(both) };
            roots.into_iter().map(|root| root.path)
        };
        // What holds the working folder holds its project as well.
        let elsewhere = (!self.cwd.starts_with(&self.entry.root)).then(|| around(&self.entry.root));
        let workspaces: Vec<PathBuf> = around(&self.cwd).chain(elsewhere.into_iter().flatten()).collect();
        self.folders.admit(state, &workspaces).is_ok()
    }
}

/// The project that an event without files is about.
fn project(arguments: &Arguments, cwd: &Path) -> PathBuf {
    match &arguments.project {
        Some(project) => paths::resolve(&paths::absolute(project)),
        None => roots::innermost(cwd).map_or_else(|| cwd.to_path_buf(), |root| root.path),
    }
}

fn of_event(event: &Event, decision: Outcome, begun: Instant) -> Entry {
    Entry {
        session: event.session.as_deref().map(name),
        tool: name(&event.tool),
        ..entry(&event.head(), decision, begun)
    }
}

fn entry(head: &Head, decision: Outcome, begun: Instant) -> Entry {
    let known = head.kind.name();
    Entry {
        v: 1,
        id: String::new(),
        time: clock::rfc3339(SystemTime::now()),
        agent: head.dialect.name().to_owned(),
        session: None,
        event: if known.is_empty() { name(head.name) } else { known.to_owned() },
        tool: String::new(),
        root: PathBuf::new(),
        files: Vec::new(),
        command: None,
        rulebooks: Vec::new(),
        guards: Vec::new(),
        decision,
        reason: String::new(),
        allowed_once: Vec::new(),
        parents: Vec::new(),
        took: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        prev: String::new(),
        stretch: None,
    }
}

fn name(text: &str) -> String {
    plain(text, NAME)
}

/// The processes above this one, innermost first.
fn parents() -> Vec<String> {
    let above = ancestry::chain().into_iter().skip(1).take(PARENTS);
    above.map(|process| plain(&process.label(), PROCESS)).collect()
}
