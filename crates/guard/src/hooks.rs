//! The hooks of the user and of projects at one event: whose there are, which of them may run, and what they come to.
//!
//! The user's hooks run as they stand; a project's run only as the private copy of what a person granted, and only if the
//! session began with that grant. All of it is decided anew at each event from the store and the session's record. Where
//! a guard that was granted cannot run, a call it would have looked at asks.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use ::hooks::answer::Word;
use ::hooks::freeze::{Frozen, Ruling, unknown};
use ::hooks::manifest::{Entry, Manifest, Platform};
use ::hooks::run::Launch;
use ::hooks::series::{Part, run_all};
use ::hooks::standing::{Standing, sentence};
use ::hooks::{Grant, MANIFEST, Snapshot, Store, Tree, builtin};
use agents::{Event, EventKind, ToolCall};
use rules::plain::{self, plain};
use system::{Folders, paths, roots};

use crate::config::Config;
use crate::session::{self, Session};

/// The longest path below which a folder of hooks is looked for, in bytes: the system opens none longer.
const LONGEST: usize = 4096;
/// Most roots at one event whose hooks nobody ever granted: all that is done is to tell of them, and telling reads them.
const STRANGE: usize = 4;
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
    /// The state folder, or why it may not be used.
    pub state: Result<&'a Path, String>,
    /// The state folder, whether or not it may be used: the names in one that may not be can make a call ask, no more.
    pub named_state: Option<&'a Path>,
    /// When all of it must be over.
    pub deadline: Instant,
}

/// Whether there may be hooks for an event of an agent that works in `cwd`: a look at names, no file is read.
pub fn present(folders: Option<&Folders>, event: &Event, cwd: &Path) -> bool {
    let users = folders.is_some_and(|folders| exists(&folders.user.join("hooks").join(MANIFEST)));
    users || {
        let store = folders.map(|folders| Store::new(&folders.state)).filter(Store::holds_any);
        let session = folders.zip(event.session.as_deref());
        // What a session met counts wherever the agent went, and when folder and grant are gone.
        session.is_some_and(|(folders, id)| Frozen::is_there(&session::folder(&folders.state, id)))
            || places(event, cwd).iter().any(|place| roots_above(place, store.as_ref()).next().is_some())
    }
}

/// The working folder and the files that a call names in its fields, with links resolved.
fn places(event: &Event, cwd: &Path) -> Vec<PathBuf> {
    let call = event.call.as_ref().and_then(|call| call.as_ref().ok());
    let named: Vec<&str> = match call {
        Some(ToolCall::Read { path } | ToolCall::Write { path, .. } | ToolCall::Edit { path, .. }) => vec![path],
        Some(ToolCall::Notebook(edit)) => vec![&edit.path],
        Some(ToolCall::Patch { text }) => {
            let sections = agents::patch::sections(text).unwrap_or_default();
            sections.iter().flat_map(agents::patch::Section::files).collect()
        }
        _ => Vec::new(),
    };
    let mut places: Vec<PathBuf> = named.into_iter().map(|file| cwd.join(file)).collect();
    places.push(cwd.to_path_buf());
    resolved(places)
}

fn resolved(mut places: Vec<PathBuf>) -> Vec<PathBuf> {
    for place in &mut places {
        // What the system does not open an agent may still shorten before it does.
        *place = if place.as_os_str().len() > LONGEST { paths::normalize(place) } else { paths::resolve(place) };
    }
    places.sort_unstable();
    places.dedup();
    places
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The folders from `place` upwards that have hooks, or had them when somebody granted them, innermost first. `place` has
/// no link in it.
pub fn roots_above<'a>(place: &'a Path, store: Option<&'a Store>) -> impl Iterator<Item = &'a Path> {
    above(place).filter(move |folder| is_root(folder, store))
}

fn above(place: &Path) -> impl Iterator<Item = &Path> {
    place.ancestors().filter(|folder| folder.as_os_str().len() <= LONGEST)
}

fn is_root(folder: &Path, store: Option<&Store>) -> bool {
    exists(&folder.join(::hooks::FOLDER)) || store.is_some_and(|store| store.holds(folder))
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
        self.of_projects(files, session.as_deref_mut(), &mut sources, &mut found);
        for skipped in sources.iter().flat_map(skipped) {
            let new = self.is_heard() && session.as_deref_mut().is_some_and(|session| session.tell(&skipped));
            if new || self.event.kind == EventKind::SessionStart {
                found.news.push(skipped);
            }
        }
        if found.news.len() > NEWS {
            let more = found.news.len() - NEWS;
            found.news.truncate(NEWS);
            found.news.push(format!("{more} more like these are not shown; `ruleline hooks list` shows all"));
        }
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
        let workspaces = self.workspaces(files, session.as_deref());
        let parts: Vec<Part<'_>> = chosen
            .iter()
            .map(|(source, entries)| Part {
                whose: &source.whose,
                entries,
                launch: Launch {
                    event: self.event.kind.name(),
                    tools: &tools,
                    folder: &source.folder,
                    root: &source.root,
                    workspaces: &workspaces,
                    payload: &payload,
                    deadline: self.deadline,
                    interpreters: &self.config.interpreters,
                },
                may_allow: source.may_allow,
            })
            .collect();
        let came = run_all(&parts);
        let is_new = |note: &String| session.as_deref_mut().is_none_or(|session| session.tell(note));
        found.notices.extend(came.notes.into_iter().filter(is_new));
        found.word = (came.word != Word::Continue).then_some((came.word, came.reason));
        found
    }

    /// The roots around all that the event is about: a hook for one of them runs no program of another. Whoever keeps the
    /// home folder in git keeps the programs there all the same.
    fn workspaces(&self, files: &[PathBuf], session: Option<&Session>) -> Vec<PathBuf> {
        let began = session.and_then(Session::first_cwd).map(Path::to_path_buf);
        let mut folders: Vec<PathBuf> = self.places(files, began);
        folders.extend(std::env::current_dir().ok().map(|folder| paths::resolve(&folder)));
        let mut roots: Vec<PathBuf> =
            folders.iter().flat_map(|folder| roots::enclosing(folder)).map(|root| root.path).collect();
        roots.retain(|root| !self.user.is_some_and(|user| user.starts_with(root)));
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// What is news reaches the agent with this event's answer.
    fn is_heard(&self) -> bool {
        agents::takes_context(&self.event.head())
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

    fn of_projects(
        &self,
        files: &[PathBuf],
        session: Option<&mut Session>,
        sources: &mut Vec<Source>,
        found: &mut Found,
    ) {
        // Whoever leaves the folder a session began in does not leave its guards.
        let began = session.as_deref().and_then(Session::first_cwd).map(Path::to_path_buf);
        let written = [Some(self.cwd.to_path_buf()), began.clone()].into_iter().flatten();
        let places = self.places(files, began);
        let (state, store) = match &self.state {
            Ok(state) => (*state, Store::new(state)),
            Err(why) => {
                // Whoever spoils the folder must not have to leave the hooks in place for that to be noticed.
                let store = self.named_state.map(Store::new).filter(Store::holds_any);
                let record = self.named_state.zip(self.event.session.as_deref());
                if let Some(root) = roots_of(&places, store.as_ref()).first() {
                    let root = shown(root);
                    self.missing(found, &format!("whether the hooks of {root} are trusted cannot be known: {why}"));
                } else if record.is_some_and(|(state, id)| Frozen::is_there(&session::folder(state, id))) {
                    self.missing(found, &format!("which hooks this session began with cannot be known: {why}"));
                }
                return;
            }
        };
        let mut frozen = match session.as_deref().map(|session| Frozen::open(session.folder())) {
            None => None,
            Some(Ok(frozen)) => Some(frozen),
            Some(Err(lost)) => {
                self.missing(found, &format!("which hooks this session began with cannot be known: {lost}"));
                return;
            }
        };
        let mut roots = roots_of(&places, store.holds_any().then_some(&store));
        // Those whose hooks and record are both gone are known to the session alone, and one that became a link only by
        // the path as it is written.
        let mut near = places.clone();
        near.extend(written.map(|place| paths::normalize(&place)));
        let held = frozen.iter().flat_map(Frozen::roots).filter(|root| near.iter().any(|it| it.starts_with(root)));
        roots.extend(held);
        roots.sort_by_key(|root| (root.components().count(), root.clone()));
        roots.dedup();
        let granted = |root: &Path| store.holds(root) || frozen.as_ref().is_some_and(|frozen| frozen.has_grant(root));
        let mut strange = 0;
        let (roots, skipped): (Vec<PathBuf>, Vec<PathBuf>) = roots.into_iter().partition(|root| {
            let known = granted(root);
            strange += usize::from(!known);
            known || strange <= STRANGE
        });
        if let Some(first) = skipped.first() {
            let text = format!(
                "more than {STRANGE} folders of hooks that nobody reviewed stand here, so those from {} on were not looked at; none of them runs",
                shown(first)
            );
            let new = self.is_heard() && session.is_none_or(|session| session.tell(&text));
            found.news.extend(new.then_some(text));
        }
        let mut is_unknown = false;
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
                None => without_a_session(&store, &root, &standing, keep),
            };
            match ruling {
                Ruling::Nothing => {}
                Ruling::Run(grant) => match Snapshot::open(state, grant.digest) {
                    Ok(snapshot) => sources.extend(self.source(&root, &snapshot)),
                    Err(why) => self.missing(found, &format!("the hooks of {} cannot run: {why}", shown(&root))),
                },
                // One reason for a person to decide is enough: a folder of records may be lost for every root.
                Ruling::Unknown { .. } if is_unknown => {}
                Ruling::Unknown { why } => {
                    is_unknown = true;
                    self.missing(found, &why);
                }
                Ruling::Stopped { grant, why } => {
                    let guarded =
                        Snapshot::open(state, grant.digest).ok().map(|snapshot| self.guards(&root, &snapshot));
                    if guarded.unwrap_or(true) {
                        self.missing(found, &why);
                    }
                }
            }
        }
        if !found.news.is_empty() && !self.is_heard() {
            // Told where nobody hears it, it would never be told again: the next event begins where this one did.
            found.news.clear();
            return;
        }
        if let Some(Err(error)) = frozen.map(Frozen::save) {
            found.notices.push(format!("what hooks this session began with cannot be recorded: {error}"));
        }
    }

    /// What the event is about, with links resolved: working folder, named and written files, and where the session
    /// began.
    fn places(&self, files: &[PathBuf], began: Option<PathBuf>) -> Vec<PathBuf> {
        let mut all = places(self.event, self.cwd);
        all.extend(resolved(files.iter().cloned().chain(began).collect()));
        all.sort_unstable();
        all.dedup();
        all
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

/// The roots with hooks above these places, each once.
fn roots_of(places: &[PathBuf], store: Option<&Store>) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let mut roots = Vec::new();
    for place in places {
        // What was looked at for one place was looked at up to the top.
        let new = above(place).take_while(|folder| seen.insert(*folder));
        roots.extend(new.filter(|folder| is_root(folder, store)).map(Path::to_path_buf));
    }
    roots
}

/// Without a session nothing can be frozen: what stands now decides.
fn without_a_session(store: &Store, root: &Path, standing: &Standing, keep: bool) -> Ruling {
    let stopped = |grant: &Grant| {
        let why = sentence(standing, root).unwrap_or_default();
        Ruling::Stopped { grant: grant.clone(), why }
    };
    match standing {
        Standing::Trusted { grant } => Ruling::Run(grant.clone()),
        Standing::Changed { grant, .. } if keep => Ruling::Run(grant.clone()),
        Standing::Changed { grant, .. } | Standing::Refused { grant: Some(grant), .. } => stopped(grant),
        _ => unknown(store, root, standing).map_or(Ruling::Nothing, |why| Ruling::Unknown { why }),
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
