//! The hooks of the user and of projects at one event: whose there are, which of them may run, and what they come to.
//!
//! The user's hooks run as they stand; a project's run only as the private copy of what a person granted, and only if the
//! session began with that grant. All of it is decided anew at each event from the store and the session's record. Where
//! a guard that was granted cannot run, a call it would have looked at asks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use ::hooks::answer::Word;
use ::hooks::freeze::{Frozen, Ruling};
use ::hooks::manifest::{Entry, Manifest, Platform};
use ::hooks::run::Launch;
use ::hooks::series::{Part, run_all};
use ::hooks::standing::{Standing, sentence};
use ::hooks::{Grant, MANIFEST, Snapshot, Store, Tree, builtin};
use agents::{Event, EventKind, ToolCall};
use rules::plain::{self, plain};
use system::{Folders, paths};

use crate::config::Config;
use crate::session::Session;

/// How far upwards a folder of hooks is looked for, in folders.
const HEIGHT: usize = 128;
/// Most lines of news at one event.
const NEWS: usize = 12;

/// What the hooks of an event came to.
#[derive(Debug, Default)]
pub struct Found {
    /// The strictest word and its reason; none when no hook said anything.
    pub word: Option<(Word, String)>,
    /// Why a person must decide in place of a hook that cannot, each in one line.
    pub asks: Vec<String>,
    /// What the agent and the person should know, each in one line.
    pub news: Vec<String>,
    /// What the person alone should know, each in one line.
    pub notices: Vec<String>,
}

/// What hooks are run with.
pub struct Running<'a> {
    /// The event.
    pub event: &'a Event,
    /// The bytes it was read from.
    pub payload: &'a [u8],
    /// The agent's working folder.
    pub cwd: &'a Path,
    /// The settings of the user.
    pub config: &'a Config,
    /// The user's folder, where it may be used.
    pub user: Option<&'a Path>,
    /// The state folder, where it may be used, or why not; none where there is none.
    pub state: Option<Result<&'a Path, String>>,
    /// When all of it must be over.
    pub deadline: Instant,
}

/// Whether there may be hooks for an event: a look at names, no file is read. `files` are those the event is about.
pub fn present<'a>(folders: Option<&Folders>, cwd: &'a Path, files: impl IntoIterator<Item = &'a Path>) -> bool {
    let users = folders.is_some_and(|folders| exists(&folders.user.join("hooks").join(MANIFEST)));
    users || {
        let store = folders.map(|folders| Store::new(&folders.state)).filter(Store::holds_any);
        let places = [cwd].into_iter().chain(files);
        places.into_iter().any(|place| place.ancestors().take(HEIGHT).any(|root| is_root(root, store.as_ref())))
    }
}

/// The file that a call names, as far as its fields tell it.
pub fn named_file(event: &Event) -> Option<&Path> {
    match event.call.as_ref()?.as_ref().ok()? {
        ToolCall::Read { path } | ToolCall::Write { path, .. } | ToolCall::Edit { path, .. } => Some(Path::new(path)),
        ToolCall::Notebook(edit) => Some(Path::new(&edit.path)),
        _ => None,
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The folders from `place` upwards that have hooks, or had them when somebody granted them, innermost first. `place` has
/// no link in it.
pub fn roots_above<'a>(place: &'a Path, store: Option<&'a Store>) -> impl Iterator<Item = &'a Path> {
    place.ancestors().take(HEIGHT).filter(move |folder| is_root(folder, store))
}

/// A folder has hooks, or had them when somebody granted them.
fn is_root(folder: &Path, store: Option<&Store>) -> bool {
    exists(&folder.join(::hooks::FOLDER)) || store.is_some_and(|store| store.holds(&paths::resolve(folder)))
}

/// One manifest with what its scripts are run from.
struct Source {
    whose: String,
    manifest: Manifest,
    folder: PathBuf,
    root: PathBuf,
    may_allow: bool,
}

impl Running<'_> {
    /// Runs every hook that the event is for: the user's, then those of each root, outermost first. Where `denied` says
    /// that the call is refused already nothing runs, and only what is new is told.
    pub fn run(&self, files: &[PathBuf], denied: impl FnOnce() -> bool, mut session: Option<&mut Session>) -> Found {
        let mut found = Found::default();
        let mut sources = Vec::new();
        self.of_user(&mut sources, &mut found);
        self.of_projects(files, session.as_deref(), &mut sources, &mut found);
        if self.event.kind == EventKind::SessionStart {
            for source in &sources {
                found.news.extend(skipped(source));
            }
        }
        found.news.truncate(NEWS);
        let tools = self.tools();
        let chosen: Vec<(&Source, Vec<&Entry>)> = sources
            .iter()
            .map(|source| (source, source.manifest.for_event(self.event.kind.name(), &tools)))
            .filter(|(_, entries)| !entries.is_empty())
            .collect();
        if chosen.is_empty() || denied() {
            return found;
        }
        let payload = match agents::payload(self.event, self.payload) {
            Ok(payload) => payload,
            Err(why) => {
                let why = format!("hooks could not be given the event: {why}");
                self.missing(&mut found, &why);
                return found;
            }
        };
        let parts: Vec<Part<'_>> =
            chosen.iter().map(|(source, entries)| self.part(source, entries, &tools, &payload)).collect();
        let came = run_all(&parts);
        let is_new = |note: &String| session.as_deref_mut().is_none_or(|session| session.tell(note));
        found.notices.extend(came.notes.into_iter().filter(is_new));
        found.word = (came.word != Word::Continue).then_some((came.word, came.reason));
        found
    }

    fn part<'a>(
        &'a self,
        source: &'a Source,
        entries: &'a [&'a Entry],
        tools: &'a [&'a str],
        payload: &'a str,
    ) -> Part<'a> {
        let launch = Launch {
            event: self.event.kind.name(),
            tools,
            folder: &source.folder,
            root: &source.root,
            payload,
            deadline: self.deadline,
            interpreters: &self.config.interpreters,
        };
        Part { whose: &source.whose, entries, launch, may_allow: source.may_allow }
    }

    fn tools(&self) -> Vec<&str> {
        if self.event.tool.is_empty() {
            return Vec::new();
        }
        let canonical = self.event.call.as_ref().and_then(|call| call.as_ref().ok()).and_then(ToolCall::canonical);
        [Some(self.event.tool.as_str()), canonical].into_iter().flatten().collect()
    }

    fn of_user(&self, sources: &mut Vec<Source>, found: &mut Found) {
        let Some(folder) = self.user.map(|user| user.join("hooks")).filter(|folder| exists(&folder.join(MANIFEST)))
        else {
            return;
        };
        match Tree::read_folder(&folder) {
            Ok(tree) => {
                let root = paths::resolve(self.cwd);
                let root = root.ancestors().find(|root| exists(&root.join(".ruleline")) || exists(&root.join(".git")));
                let root = root.unwrap_or(self.cwd).to_path_buf();
                if let Some(manifest) = tree.as_ref().and_then(manifest) {
                    sources.push(Source {
                        whose: "the user's hooks".to_owned(),
                        manifest,
                        folder,
                        root,
                        may_allow: true,
                    });
                }
            }
            Err(refused) => self.missing(found, &format!("the user's hooks cannot be read: {refused}")),
        }
    }

    fn of_projects(&self, files: &[PathBuf], session: Option<&Session>, sources: &mut Vec<Source>, found: &mut Found) {
        let (state, store) = match &self.state {
            Some(Ok(state)) => (*state, Store::new(state)),
            Some(Err(why)) => {
                if let Some(root) = self.roots(files, None).first() {
                    let root = shown(root);
                    self.missing(found, &format!("whether the hooks of {root} are trusted cannot be known: {why}"));
                }
                return;
            }
            None => return,
        };
        let mut frozen = match session.map(|session| Frozen::open(session.folder())) {
            None => None,
            Some(Ok(frozen)) => Some(frozen),
            Some(Err(lost)) => {
                self.missing(found, &format!("which hooks this session began with cannot be known: {lost}"));
                return;
            }
        };
        let mut roots = self.roots(files, store.holds_any().then_some(&store));
        // Those whose hooks and record are both gone are known to the session alone.
        let places = self.places(files);
        let held = frozen.iter().flat_map(Frozen::roots).filter(|root| places.iter().any(|it| it.starts_with(root)));
        roots.extend(held.collect::<Vec<_>>());
        roots.sort_by_key(|root| (root.components().count(), root.clone()));
        roots.dedup();
        let begins = self.event.kind == EventKind::SessionStart;
        let keep = self.config.keeps_changed_hooks;
        for root in roots {
            let standing = Standing::look(&store, &root);
            let ruling = match &mut frozen {
                Some(frozen) => {
                    let ruled = frozen.rule(&root, &standing, begins, keep, SystemTime::now());
                    found.news.extend(ruled.news);
                    ruled.ruling
                }
                None => without_a_session(&root, &standing, keep),
            };
            match ruling {
                Ruling::Nothing => {}
                Ruling::Run(grant) => match Snapshot::open(state, grant.digest) {
                    Ok(snapshot) => sources.extend(self.source(&root, &snapshot)),
                    Err(why) => self.missing(found, &format!("the hooks of {} cannot run: {why}", shown(&root))),
                },
                Ruling::Stopped { grant, why } => {
                    let guarded =
                        Snapshot::open(state, grant.digest).ok().map(|snapshot| self.guards(&root, &snapshot));
                    if guarded.unwrap_or(true) {
                        self.missing(found, &why);
                    }
                }
            }
        }
        if let Some(Err(error)) = frozen.map(Frozen::save) {
            found.notices.push(format!("what hooks this session began with cannot be recorded: {error}"));
        }
    }

    /// The roots with hooks, each once and with links resolved.
    fn roots(&self, files: &[PathBuf], store: Option<&Store>) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> = Vec::new();
        for place in self.places(files) {
            for root in roots_above(&place, store) {
                if !roots.iter().any(|known| known == root) {
                    roots.push(root.to_path_buf());
                }
            }
        }
        roots
    }

    /// The working folder and the files the event is about, with links resolved.
    fn places(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let named = named_file(self.event).map(|file| self.cwd.join(file));
        let places = [self.cwd.to_path_buf()].into_iter().chain(named).chain(files.iter().cloned());
        let mut places: Vec<PathBuf> = places.map(|place| paths::resolve(&place)).collect();
        places.dedup();
        places
    }

    fn source(&self, root: &Path, snapshot: &Snapshot) -> Option<Source> {
        let manifest = manifest(&snapshot.tree)?;
        let whose = format!("hooks of {}", shown(root));
        let may_allow = self.config.project_hooks_may_allow;
        Some(Source { whose, manifest, folder: snapshot.folder.clone(), root: root.to_path_buf(), may_allow })
    }

    /// Whether a hook of a granted manifest would have looked at this event.
    fn guards(&self, root: &Path, snapshot: &Snapshot) -> bool {
        let tools = self.tools();
        let source = self.source(root, snapshot);
        source.is_some_and(|source| !source.manifest.for_event(self.event.kind.name(), &tools).is_empty())
    }

    /// A hook that should have looked at the event cannot: where a decision is due, a person takes it.
    fn missing(&self, found: &mut Found, why: &str) {
        let why = plain(why, plain::WHY);
        if self.event.kind.decides() {
            found.asks.push(format!("ruleline asks about this: {why}; a person decides"));
        } else {
            found.notices.push(why);
        }
    }
}

/// Without a session nothing can be frozen: what stands now decides.
fn without_a_session(root: &Path, standing: &Standing, keep: bool) -> Ruling {
    let stopped = |grant: &Grant| {
        let why = sentence(standing, root).unwrap_or_default();
        Ruling::Stopped { grant: grant.clone(), why }
    };
    match standing {
        Standing::Trusted { grant } => Ruling::Run(grant.clone()),
        Standing::Changed { grant, .. } if keep => Ruling::Run(grant.clone()),
        Standing::Changed { grant, .. } | Standing::Refused { grant: Some(grant), .. } => stopped(grant),
        _ => Ruling::Nothing,
    }
}

/// What the manifest of a folder of hooks says on this machine; none when there is no manifest. Not asked of bytes that
/// nobody granted.
pub fn manifest(tree: &Tree) -> Option<Manifest> {
    let bytes = Arc::clone(&tree.file(MANIFEST)?.bytes);
    Some(Manifest::parse(&bytes, &|name| tree.file(name).is_some(), Platform::HERE, &builtin::names()))
}

/// What a manifest says that is not done, where it would have guarded.
fn skipped(source: &Source) -> Vec<String> {
    let guards = |event: &str| matches!(event, "PreToolUse" | "PermissionRequest" | "*");
    let problems = source.manifest.problems.iter().filter(|problem| problem.skips.as_deref().is_some_and(guards));
    problems.map(|it| format!("{}: {MANIFEST}:{}:{}: {}", source.whose, it.line, it.column, it.message)).collect()
}

fn shown(root: &Path) -> String {
    plain(&paths::shown(root), plain::PATH)
}
