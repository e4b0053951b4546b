//! What the judging thread does: folders and settings of the user, then one decision, then its words.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use agents::{
    Answer, AskUnattended, Decision, Dialect, Event, EventKind, Head, RenderOptions, ToolCall, answered, render,
};
use guard::assist;
use guard::books::{FromDisk, LoadedBook, Place, RulebookSource};
use guard::config::{self, Config, OnFailure};
use guard::decide::{Assisting, HookRun};
use guard::protect::Protection;
use guard::stack::{Named, Surroundings};
use guard::symbols::SymbolLookup;
use guard::{Guards, decide};
use rules::{FactSource, ParseNow};
use syntax::{Facts, Language};
use system::{Folders, paths};

use super::arguments::{Arguments, Guard};
use super::record::Record;
use super::{failpoint, problems};
use crate::accelerator::Servers;
use crate::index::{self, Index};

/// Trees of texts up to this long are left to the end of the process, in bytes.
const LEFT: usize = 256 << 10;
/// What hooks leave of the deadline for the answer.
const RESERVE: Duration = Duration::from_millis(500);

/// As [`ParseNow`], but frees no small first tree: the process ends before that would pay.
#[derive(Default)]
struct ParseOnce {
    has_parsed: Cell<bool>,
}

impl FactSource for ParseOnce {
    fn facts(&self, language: Language, text: &Arc<str>) -> Result<Arc<Facts>, String> {
        let tree = ParseNow::tree(language, text)?;
        let facts = Arc::new(tree.facts(text));
        if text.len() <= LEFT && !self.has_parsed.replace(true) {
            std::mem::forget(tree);
        }
        Ok(facts)
    }
}

/// As [`FromDisk`], but frees no rulebook: it is needed until the answer is given, and then the process ends.
struct KeptFromDisk;

impl KeptFromDisk {
    fn keep(book: &Arc<LoadedBook>) {
        std::mem::forget(Arc::clone(book));
    }
}

impl RulebookSource for KeptFromDisk {
    fn load(&self, place: &Place) -> Result<Option<Arc<LoadedBook>>, String> {
        FromDisk.load(place).inspect(|book| book.iter().for_each(KeptFromDisk::keep))
    }

    fn load_about(&self, place: &Place, names: &[String]) -> Result<Option<Arc<LoadedBook>>, String> {
        FromDisk.load_about(place, names).inspect(|book| book.iter().for_each(KeptFromDisk::keep))
    }

    fn recall(&self, path: &Path, bytes: Vec<u8>) -> Arc<LoadedBook> {
        FromDisk.recall(path, bytes)
    }
}

/// An answer, and what is to be recorded of it.
pub struct Worded {
    /// The answer.
    pub answer: Answer,
    /// None where nothing is.
    pub record: Option<Record>,
}

/// Decides on the event and says so in the agent's words. `strictness` is told what becomes of an event that cannot be
/// judged as soon as that is known.
pub fn answer(
    arguments: &Arguments,
    event: &Event,
    payload: &[u8],
    (begun, deadline): (Instant, Instant),
    strictness: &OnceLock<OnFailure>,
) -> Worded {
    let folders = folders(arguments);
    let surroundings = surroundings(arguments, event);
    let everything = arguments.guard == Guard::All;
    let part = match arguments.guard {
        Guard::Part(part) => Some(part),
        _ if judges(arguments, event, folders.as_ref(), &surroundings.cwd) => None,
        _ => Some(assist::Part::All),
    };
    let quiet = |folders: Option<&Folders>| {
        let record = Record::quiet(arguments, folders, event, begun);
        Worded { answer: Answer::silent(), record }
    };
    if part == Some(assist::Part::All) && !(everything && assist::concerns(event, assist::Part::All)) {
        return quiet(folders.as_ref());
    }
    let user = folders.as_ref().map(|folders| folders.user.as_path());
    let config = Config::load(user, [surroundings.root().as_path()]);
    let _ = strictness.set(config.on_failure);
    failpoint::reach("decide");
    let named = surroundings.named.as_ref().map(|named| named.path.clone());
    let protection = Protection::new(folders.as_ref(), named);
    let servers = folders.as_ref().filter(|_| !arguments.no_server);
    let servers = servers.map(|folders| Servers::in_folder(folders.runtime.clone(), wire::BUDGET));
    let limits = index::limits(&config);
    let index = folders.as_ref().map(|folders| Index { folders, surroundings: &surroundings, limits });
    let lookup = index.as_ref().map(|index| index as &dyn SymbolLookup);
    let helps = everything || !arguments.guard.judges();
    let guards = Guards {
        folders: folders.as_ref(),
        books: &KeptFromDisk,
        facts: &ParseOnce::default(),
        accelerator: servers.as_ref().map(|servers| servers as _),
        surroundings: &surroundings,
        config: &config,
        protection: &protection,
        no_instruction_check: arguments.no_instruction_check,
        hooks: everything.then(|| HookRun { payload, deadline: deadline.checked_sub(RESERVE).unwrap_or(deadline) }),
        assist: helps.then(|| Assisting { lookup, now: SystemTime::now() - begun.elapsed() }),
        traced: !arguments.no_log && config.log != config::Log::Off,
    };
    let decide::Decided { decision, notes, basis } = match part {
        Some(part) => guards.help(event, part),
        None => guards.decide(event),
    };
    if part == Some(assist::Part::All) && decision == Decision::silent() && notes.is_empty() {
        return quiet(folders.as_ref());
    }
    let (head, options) = (event.head(), options(arguments, &event.head(), &config));
    let answer = render(&head, &decision, options);
    let answer = match arguments.guard {
        // A stop is answered with JSON there, if there is anything to say or not.
        Guard::Part(assist::Part::Cleanup) if event.dialect == Dialect::Codex && answer.stdout.is_none() => {
            Answer { stdout: Some("{}".to_owned()), ..answer }
        }
        _ => answer,
    };
    let stderr = (!notes.is_empty()).then(|| notes.join("; "));
    let record = basis.zip(folders).map(|(basis, folders)| {
        let answered = answered(&head, &decision, options);
        Record::decided(folders, event, (answered, basis), config.log, begun)
    });
    Worded { answer: Answer { stderr, ..answer }, record }
}

/// Whether there is anything to judge, and not only somebody to help.
fn judges(arguments: &Arguments, event: &Event, folders: Option<&Folders>, cwd: &Path) -> bool {
    let everything = arguments.guard == Guard::All;
    let is_quiet = || match &event.call {
        Some(Ok(ToolCall::Shell { command })) => guard::shell::is_quiet(command, cwd),
        _ => false,
    };
    (guard::concerns(event, everything) && !is_quiet())
        || (everything && guard::hooks::present(folders, event, cwd))
        || may_lose_unsaved(folders, event)
}

/// Whether hooks may have something to say on an event; a look at names.
pub fn may_have_hooks(folders: Option<&Folders>, event: &Event) -> bool {
    event.kind != EventKind::Other && guard::hooks::present(folders, event, &working_folder(event))
}

/// Whether an editor may lose what it holds by an event.
pub fn may_lose_unsaved(folders: Option<&Folders>, event: &Event) -> bool {
    folders.is_some_and(|folders| guard::unsaved::concerns(&folders.state, event))
}

/// The agent's working folder; this process' own where the agent does not say.
pub fn working_folder(event: &Event) -> PathBuf {
    paths::absolute(event.cwd.as_deref().unwrap_or(Path::new(".")))
}

fn options(arguments: &Arguments, head: &Head, config: &Config) -> RenderOptions {
    RenderOptions {
        ask_unattended: match config.ask_unattended {
            config::AskUnattended::Deny => AskUnattended::Deny,
            config::AskUnattended::Ask => AskUnattended::Ask,
        },
        attended: config.attended.iter().any(|agent| agent == head.dialect.name()).then_some(true),
        approve: arguments.approve,
    }
}

fn surroundings(arguments: &Arguments, event: &Event) -> Surroundings {
    let cwd = working_folder(event);
    let project = arguments.project.as_deref().map(paths::absolute);
    let mut surroundings = Surroundings::new(cwd, project);
    surroundings.named = arguments.rules.as_ref().map(|rules| {
        let below_root = surroundings.root().join(rules);
        let path = if below_root.exists() { below_root } else { surroundings.cwd.join(rules) };
        Named { path: paths::normalize(&path), replaces: arguments.guard == Guard::PreEdit }
    });
    surroundings
}

/// The folders of the user; none when the user database has none.
pub fn folders(arguments: &Arguments) -> Option<Folders> {
    crate::folders::find(arguments.state.as_deref()).ok()
}

/// What the user's own file says, for an event that was not judged.
pub fn user_settings(arguments: &Arguments) -> Config {
    let folders = folders(arguments);
    let user = folders.filter(|folders| system::folders::check(&folders.user).is_ok());
    Config::load(user.as_ref().map(|folders| folders.user.as_path()), [])
}

/// Notes in the state folder that an event was not judged.
pub fn note(arguments: &Arguments, head: &Head, reason: &str) {
    let Some(folders) = folders(arguments) else { return };
    let cwd = paths::absolute(Path::new("."));
    let workspaces: Vec<PathBuf> = system::roots::enclosing(&cwd).into_iter().map(|root| root.path).collect();
    if folders.admit(&folders.state, &workspaces).is_ok() {
        problems::note(&folders.state, head.dialect.name(), head.name, reason);
    }
}
