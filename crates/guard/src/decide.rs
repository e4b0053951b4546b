//! One event to one decision: deny over ask over nothing to say.
//!
//! Edits of files are judged by every rulebook that holds, by the instruction check and by self-protection; several
//! files are as bad as the worst. What could not be judged is never silence. Nothing here knows an agent's words, and an
//! event without anything to look at touches no disk.

mod outcome;

use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use agents::{After, Decision, Event, EventKind, FileEdit, Files, Permission, ToolCall};
use rules::plain::{PATH, WHY, plain};
use rules::{Change, Effect, FactSource};
use system::{Folders, paths, roots};

use crate::accelerate::{Accelerator, Meanwhile};
use crate::assist::{self, Assist};
use crate::books::{Place, RulebookSource};
use crate::config::{Config, InstructionCheck, PROJECT_CONFIG, UnsavedBuffers, read_project};
use crate::hooks::Running;
use crate::judge::Judging;
use crate::lifting::Lifting;
use crate::protect::Protection;
use crate::reasons::Report;
use crate::session::{self, Session};
use crate::shell;
use crate::stack::{self, Spelled, Surroundings};
use crate::symbols::SymbolLookup;
use crate::trace::Basis;
use crate::unsaved::Buffers;
use outcome::{Outcome, see_config};

/// Everything a decision is made with.
pub struct Guards<'a> {
    /// The user's folders; none when the user database has none.
    pub folders: Option<&'a Folders>,
    /// Rulebooks.
    pub books: &'a dyn RulebookSource,
    /// Facts of texts.
    pub facts: &'a dyn FactSource,
    /// A server that may save work.
    pub accelerator: Option<&'a dyn Accelerator>,
    /// What is known beside the files.
    pub surroundings: &'a Surroundings,
    /// The settings that hold everywhere.
    pub config: &'a Config,
    /// What only a person may touch.
    pub protection: &'a Protection,
    /// The instruction check is left out whatever the settings say.
    pub no_instruction_check: bool,
    /// What hooks are run with; none runs no hook.
    pub hooks: Option<HookRun<'a>>,
    /// What is said to an agent that does nothing wrong; none says nothing.
    pub assist: Option<Assisting<'a>>,
    /// What the decision was made of is wanted as well.
    pub traced: bool,
}

/// What helping needs beside the event.
#[derive(Clone, Copy)]
pub struct Assisting<'a> {
    /// An index of symbols.
    pub lookup: Option<&'a dyn SymbolLookup>,
    /// When the event came.
    pub now: SystemTime,
}

/// What hooks need beside the event.
#[derive(Debug, Clone, Copy)]
pub struct HookRun<'a> {
    /// The bytes the event was read from.
    pub payload: &'a [u8],
    /// When all hooks must be over.
    pub deadline: Instant,
}

/// A decision, and what the person at the machine should know and no agent.
#[derive(Debug)]
pub struct Decided {
    /// The decision.
    pub decision: Decision,
    /// Each in one line.
    pub notes: Vec<String>,
    /// What it was made of, where that was wanted.
    pub basis: Option<Basis>,
}

/// Whether anything is to be looked at for this event; decided without touching the disk. `whole` is false when only
/// edits are guarded.
pub fn concerns(event: &Event, whole: bool) -> bool {
    match event.kind {
        EventKind::SessionStart => whole,
        kind if kind.decides() => match &event.call {
            None => false,
            Some(Err(_)) => true,
            Some(Ok(ToolCall::Shell { command })) => shell::may_write(command, event.cwd.as_deref()),
            Some(Ok(call)) => matches!(
                call,
                ToolCall::Write { .. } | ToolCall::Edit { .. } | ToolCall::Patch { .. } | ToolCall::Notebook(_)
            ),
        },
        _ => false,
    }
}

impl Guards<'_> {
    /// Decides on one event.
    pub fn decide(&self, event: &Event) -> Decided {
        let mut outcome = Outcome::new(self.config.clone());
        let admitted = self.admit(&mut outcome);
        let state = admitted.state.as_deref().zip(event.session.as_deref());
        let mut session = state.map(|(state, id)| Session::open(state, id, event.cwd.as_deref()));
        let mut files = Vec::new();
        if event.kind == EventKind::SessionStart {
            self.begin(&admitted, session.as_mut());
        } else if event.kind.decides() {
            files = self.look_at(event, &admitted, session.as_mut(), &mut outcome);
        }
        let root = self.root_of(&outcome.reports);
        let lifting = admitted.state.as_deref().and_then(|state| Lifting::find(state, &root, &outcome.reports));
        if let Some(lifting) = &lifting {
            // A call that is allowed after all is the hooks' business.
            lifting.lift(&mut outcome.reports);
        }
        if let Some(run) = self.hooks {
            let begun = Instant::now();
            self.run_hooks(run, event, &files, &admitted, session.as_mut(), &mut outcome);
            outcome.spent.hooks = begun.elapsed();
        }
        if let Some(lifting) = lifting {
            outcome.use_up(lifting);
        }
        if let Some(assisting) = self.assist.filter(|_| assist::concerns(event, assist::Part::All)) {
            self.assist(assisting, assist::Part::All, event, &admitted, &mut outcome);
        }
        if !event.kind.decides() {
            // Nothing is asked here; who cannot be asked is told (S17).
            let failures = outcome.failures.drain(..);
            outcome.notices.extend(failures.map(|why| plain(&why, WHY)));
        }
        if let Some(Err(why)) = session.map(Session::save) {
            outcome.notes.push(format!("the session cannot be recorded: {why}"));
        }
        outcome.into_decided(self.traced.then(|| (root, command_of(event))))
    }

    /// The project that is decided for: that of the working folder if the call changes a file of it, or none at all; else
    /// that of the first file.
    fn root_of(&self, reports: &[Report]) -> PathBuf {
        let here = paths::resolve(&self.surroundings.root());
        match reports.first() {
            Some(first) if !reports.iter().any(|report| report.file.starts_with(&here)) => {
                stack::innermost(&first.file).unwrap_or(here)
            }
            _ => here,
        }
    }

    /// Which of the user's folders may be used. A folder that is there and unsafe is a failure: what it says is not
    /// known.
    fn admit(&self, outcome: &mut Outcome) -> Admitted {
        let Some(folders) = self.folders else {
            outcome
                .notes
                .push("the user database has no home folder for this user: no user's rules, no sessions".to_owned());
            return Admitted::default();
        };
        let workspaces: Vec<PathBuf> = self.surroundings.enclosing().iter().map(|root| root.path.clone()).collect();
        let user = match folders.admit(&folders.user, &workspaces) {
            Ok(()) => Some(folders.user.clone()),
            Err(refused) => {
                if folders.user.symlink_metadata().is_ok() {
                    outcome.failures.push(refused.to_string());
                }
                None
            }
        };
        let mut unusable = None;
        let state = match folders.admit(&folders.state, &workspaces) {
            Ok(()) => Some(folders.state.clone()),
            Err(refused) => {
                outcome.notes.push(refused.to_string());
                unusable = Some(refused.to_string());
                None
            }
        };
        Admitted { user, state, unusable, buffers: OnceCell::new() }
    }

    /// Records what holds in the folder a session begins in.
    fn begin(&self, admitted: &Admitted, session: Option<&mut Session>) {
        let (Some(session), Some(state)) = (session, &admitted.state) else { return };
        for root in roots::enclosing(&paths::resolve(&self.surroundings.cwd)) {
            let main = roots::main_checkout(&root.path).map(|main| paths::resolve(&main));
            let checkouts = std::iter::once(root.path).chain(main);
            for checkout in checkouts {
                self.record(session, &Place::of_project(&checkout));
                let _ = see_config(session, &checkout.join(PROJECT_CONFIG), &read_project(&checkout));
            }
        }
        if let Some(user) = &admitted.user {
            self.record(session, &Place::of_user(user));
        }
        session::sweep(state, SystemTime::now());
    }

    fn record(&self, session: &mut Session, place: &Place) {
        if let Ok(book) = self.books.load(place) {
            session.see_digested(&place.path(), book.as_ref().map(|book| (book.bytes(), book.digest())));
        }
    }

    /// What one part says that does not judge; nothing is judged.
    pub fn help(&self, event: &Event, part: assist::Part) -> Decided {
        let mut outcome = Outcome::new(self.config.clone());
        let admitted = self.admit(&mut outcome);
        // Nothing is asked here (S17).
        outcome.failures.clear();
        if let Some(assisting) = self.assist {
            self.assist(assisting, part, event, &admitted, &mut outcome);
        }
        let root = paths::resolve(&self.surroundings.root());
        outcome.into_decided(self.traced.then(|| (root, command_of(event))))
    }

    /// Adds what is said beside judging.
    fn assist(
        &self,
        assisting: Assisting<'_>,
        part: assist::Part,
        event: &Event,
        admitted: &Admitted,
        outcome: &mut Outcome,
    ) {
        let root = self.surroundings.root();
        let assist = Assist {
            part,
            config: &outcome.config,
            state: admitted.state.as_deref(),
            home: self.folders.map(|folders| folders.home.as_path()),
            root: &root,
            cwd: &self.surroundings.cwd,
            lookup: assisting.lookup,
            standing: &|| self.standing(admitted).into_iter().collect(),
            now: assisting.now,
        };
        let said = assist.assist(event);
        outcome.helps = said.word;
        outcome.news.extend(said.context);
        outcome.notes.extend(said.notes);
    }

    /// How many rules hold where the agent works; none where none do.
    fn standing(&self, admitted: &Admitted) -> Option<String> {
        let of_projects = self.surroundings.enclosing().iter().map(|root| Place::of_project(&root.path));
        let places = of_projects.chain(admitted.user.as_deref().map(Place::of_user));
        let books = places.filter_map(|place| self.books.load(&place).ok().flatten());
        let rules: usize = books.map(|book| book.book.rules.len()).sum();
        (rules > 0).then(|| {
            let many = if rules == 1 { "1 rule holds".to_owned() } else { format!("{rules} rules hold") };
            format!("ruleline: {many} here; an edit that a rule refuses is answered with the rule and what would pass.")
        })
    }

    fn run_hooks(
        &self,
        run: HookRun<'_>,
        event: &Event,
        files: &[PathBuf],
        admitted: &Admitted,
        session: Option<&mut Session>,
        outcome: &mut Outcome,
    ) {
        let unusable =
            || admitted.unusable.clone().unwrap_or_else(|| "the user database has no home folder".to_owned());
        // A folder that lies in any workspace may have come with it, whoever works there now (S3).
        let outside = |state| {
            let around: Vec<PathBuf> = self.surroundings.roots_above(state).into_iter().map(|root| root.path).collect();
            let admitted = self.folders.map_or(Ok(()), |folders| folders.admit(state, &around));
            admitted.map(|()| state).map_err(|refused| refused.to_string())
        };
        let state = admitted.state.as_deref().ok_or_else(unusable).and_then(outside);
        let running = Running {
            event,
            payload: run.payload,
            cwd: &self.surroundings.cwd,
            config: self.config,
            user: admitted.user.as_deref(),
            state,
            named_state: self.folders.map(|folders| folders.state.as_path()),
            deadline: run.deadline,
        };
        let denied = || outcome.reports.iter().any(|report| report.say().permission == Permission::Deny);
        let found = running.run(files, denied, session);
        outcome.hooks_ask = !found.asks.is_empty();
        outcome.news.extend(found.news);
        outcome.asks.extend(found.asks);
        outcome.notices.extend(found.notices);
        outcome.word = found.word;
    }

    /// Judges the edits of a call and gives the files they are of.
    fn look_at(
        &self,
        event: &Event,
        admitted: &Admitted,
        session: Option<&mut Session>,
        outcome: &mut Outcome,
    ) -> Vec<PathBuf> {
        let call = match &event.call {
            None => return Vec::new(),
            Some(Err(why)) => {
                outcome.failures.push(format!("the {} call cannot be read: {why}", event.tool));
                return Vec::new();
            }
            Some(Ok(call)) => call,
        };
        let files = Disk::default();
        let cwd = &self.surroundings.cwd;
        let edits = match call {
            ToolCall::Shell { command } => {
                let home = self.folders.map_or(Path::new("/"), |folders| &folders.home);
                let found = shell::read(command, shell::Place { cwd, home }, &files);
                outcome.asks.extend(found.asks);
                let held = found.changed.iter().find_map(|changed| {
                    let file = paths::resolve(&changed.path);
                    let buffers = admitted.buffers(&outcome.config)?;
                    let below = || changed.whole.then(|| buffers.holder_below(&file)).flatten();
                    let editor = buffers.holder(&file).or_else(below)?;
                    let shown = plain(&paths::shown(&changed.path), PATH);
                    Some(format!(
                        "ruleline asks about this command: unsaved changes of {shown} in {editor} would be lost"
                    ))
                });
                let mut objections = found.changed.into_iter().filter_map(|changed| {
                    let file = Spelled::new(paths::normalize(&changed.path));
                    let below = || changed.whole.then(|| self.protection.objection_to_all_below(&file)).flatten();
                    let why = self.protection.objection(&file, &[]).or_else(below)?;
                    Some(format!("ruleline asks about this command: self-protection: {why}"))
                });
                outcome.asks.extend(objections.next());
                outcome.protects = !outcome.asks.is_empty();
                outcome.takes = held.is_some();
                outcome.asks.extend(held);
                outcome.failures.extend(found.failures);
                Ok(found.edits)
            }
            call => agents::edits(call, Some(cwd), &files),
        };
        match edits {
            Err(why) => {
                outcome.failures.push(why);
                Vec::new()
            }
            Ok(edits) => {
                let mut session = session;
                for edit in &edits {
                    self.judge(edit, &files, admitted, session.as_deref_mut(), outcome);
                }
                edits.into_iter().map(|edit| cwd.join(edit.path)).collect()
            }
        }
    }

    fn judge(
        &self,
        edit: &FileEdit,
        files: &Disk,
        admitted: &Admitted,
        mut session: Option<&mut Session>,
        outcome: &mut Outcome,
    ) {
        let home = self.folders.map_or(Path::new("/"), |folders| &folders.home);
        let text = edit.path.to_string_lossy();
        let file = Spelled::new(paths::written(&text, &self.surroundings.cwd, home));
        let judging = Judging {
            books: self.books,
            facts: self.facts,
            accelerator: None,
            surroundings: self.surroundings,
            user: admitted.user.as_deref(),
        };
        let stack = judging.stack(&file);
        outcome.settle(&stack, session.as_deref_mut());
        let change = change_of(edit, &stack.shown);
        let here = self.surroundings.root();
        let roots: Vec<&Path> = stack.roots.iter().map(|(root, _)| root.as_path()).chain([here.as_path()]).collect();
        let protecting = Cell::new(Duration::ZERO);
        let objection = LazyCell::new(|| {
            let begun = Instant::now();
            let objection = self.protection.objection(&file, &roots);
            protecting.set(begun.elapsed());
            objection
        });
        let work = || {
            LazyCell::force(&objection);
        };
        let meanwhile = self.accelerator.map(|server| Meanwhile { server, work: &work });
        let judging = Judging { accelerator: meanwhile.as_ref().map(|server| server as _), ..judging };
        let begun = Instant::now();
        let mut judged = judging.judge(&file, &stack, &change, session);
        outcome.spent.rules += begun.elapsed();
        outcome.news.append(&mut judged.news);
        if !file.written.is_absolute() {
            judged.failures.push("the path is relative and the agent's working folder is not known".to_owned());
        }
        if file.each().any(paths::is_on_a_share) {
            judged.failures.push("a network share or device may hold any file; write the file's own path".to_owned());
        }
        // What stands there is this process' own view of the system, and not always the agent's.
        if file.each().any(|path| path.starts_with("/proc")) {
            judged.failures.push("a path through /proc may mean any file; write the file's own path".to_owned());
        }
        if let Some(other) = paths::other_meaning(&text, &self.surroundings.cwd, home) {
            judged.failures.push(format!(
                "a link stands before a `..`, so that the path may also mean {}; write it without `..`",
                paths::shown(&other)
            ));
        }
        if let (Some(why), false) = (files.unreadable(edit), judged.parts.is_empty()) {
            judged.failures.push(why);
        }
        let effect = match outcome.config.instruction_check {
            _ if self.no_instruction_check => None,
            InstructionCheck::Off => None,
            InstructionCheck::Warn => Some(Effect::Warn),
            InstructionCheck::Ask => Some(Effect::Ask),
        };
        let begun = Instant::now();
        let instructions = effect.map(|effect| judging.instructions(&judged, &change, effect)).unwrap_or_default();
        outcome.spent.instructions += begun.elapsed();
        let objection = LazyCell::force(&objection).clone();
        outcome.spent.protection += protecting.get();
        let begun = Instant::now();
        let buffers = admitted.buffers(&outcome.config);
        let unsaved = buffers.and_then(|buffers| file.each().find_map(|path| buffers.holder(path)));
        outcome.spent.unsaved += begun.elapsed();
        outcome.judged |= judged.failures.is_empty() && change.result_known();
        outcome.unknown |= !change.result_known();
        let file = file.resolved;
        outcome.reports.push(Report { change, judged, instructions, objection, file, unsaved, lifted: Vec::new() });
    }
}

/// The change that an edit is, whoever looks at it.
fn command_of(event: &Event) -> Option<String> {
    match &event.call {
        Some(Ok(ToolCall::Shell { command })) => Some(command.clone()),
        _ => None,
    }
}

fn change_of(edit: &FileEdit, shown: &str) -> Change {
    let (path, names) = (shown.to_owned(), vec![shown.to_owned()]);
    match &edit.after {
        After::Text(after) => Change::between(path, names, edit.before.clone(), Arc::clone(after)),
        After::Moved(after) => Change::created(path, names, Arc::clone(after)),
        After::Deleted => Change::deleted(path, names, edit.before.clone()),
        After::Notebook { before, after } => Change::cells(path, names, Some(&cells(before)), &cells(after)),
        After::Unknown { fresh, .. } => {
            let pieces = fresh.iter().map(|fresh| (fresh.old.as_str(), fresh.new.as_str()));
            Change::unknown(path, names, edit.before.clone(), pieces)
        }
    }
}

fn cells(cells: &[agents::Cell]) -> Vec<rules::Cell<'_>> {
    cells.iter().map(|cell| rules::Cell { source: &cell.source, is_code: cell.code }).collect()
}

#[derive(Debug, Default)]
struct Admitted {
    user: Option<PathBuf>,
    state: Option<PathBuf>,
    /// Why there is no state.
    unusable: Option<String>,
    /// What editors hold unsaved, once it was asked for.
    buffers: OnceCell<Buffers>,
}

impl Admitted {
    /// What editors hold unsaved, where that is anybody's business.
    fn buffers(&self, config: &Config) -> Option<&Buffers> {
        let state = self.state.as_deref().filter(|_| config.unsaved_buffers == UnsavedBuffers::Ask)?;
        Some(self.buffers.get_or_init(|| Buffers::read(state, SystemTime::now())))
    }
}

/// The files of the disk, with what could not be read.
#[derive(Debug, Default)]
struct Disk {
    unreadable: RefCell<Vec<(PathBuf, String)>>,
}

impl Disk {
    fn unreadable(&self, edit: &FileEdit) -> Option<String> {
        let unreadable = self.unreadable.borrow();
        unreadable.iter().find(|(path, _)| path.ends_with(&edit.path)).map(|(_, why)| why.clone())
    }
}

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<Option<Arc<str>>, String> {
        let read = system::open::read_judged(path).and_then(|found| {
            let text = path.to_string_lossy();
            // Globs read `\` as a separator; where there is no such name, so does the tool.
            if found.is_none() && text.contains('\\') {
                return system::open::read_judged(Path::new(&text.replace('\\', "/")));
            }
            Ok(found)
        });
        read.map(|found| found.map(Arc::from)).map_err(|error| {
            let why = error.to_string();
            self.unreadable.borrow_mut().push((path.to_path_buf(), why.clone()));
            why
        })
    }
}
