//! What agents are told in the workspace, as it happens: the logs are followed, refusals are shown where they would have
//! stood, and whoever wants to know is told of each decision.
//!
//! The system tells that a log grew; a worker reads what is new, however much it is, at most every [`REST`]. Only lines
//! that this user's hook wrote, of a project that is open here, are shown (S23). Without refusals there is no timer.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use guard::Config;
use records::{Entry, Log, Outcome, Tail};
use system::clock::rfc3339;
use system::folders::create_private;

use crate::engine::Engine;
use crate::features::allowance::{Allowance, allowances};
use crate::features::decisions::{self, Decision, Decisions, Standing};
use crate::features::diagnostics::{Diagnostic, Refused, Report};
use crate::features::refusals::{Files, MOST, Refusal, Refusals};
use crate::session::Session;
use crate::session::editor::Target;
use crate::session::event::Event;
use crate::text::Text;

/// How long a worker that read the logs is given rest.
const REST: Duration = Duration::from_millis(50);
/// Most projects whose logs are followed.
const PROJECTS: usize = 64;
/// How often a worker asks a log for more before others have their turn.
const ROUNDS: usize = 1000;
/// Most exceptions that are remembered.
const EXCEPTIONS: usize = 100;

/// What came to the session of logs and of files in which something was refused.
pub enum News {
    /// A log may have grown.
    Grown,
    /// A worker has read the logs; none when it panicked.
    Followed(Option<Box<Followed>>),
    /// Files that are not open and have refusals may have changed.
    Touched(Vec<PathBuf>),
    /// A worker has read such a file.
    Read {
        /// The file.
        path: Arc<Path>,
        /// Its text; empty where there is none.
        text: Text,
    },
}

/// What a worker found in the logs.
#[derive(Default)]
pub struct Followed {
    tails: Vec<Followable>,
    /// Decisions of before this server followed.
    former: Vec<Arc<Entry>>,
    /// New decisions, the oldest first, no more than are kept.
    fresh: Vec<Arc<Entry>>,
    counts: Counts,
    refusals: Vec<Refusal>,
    watched: Vec<PathBuf>,
    log: LogState,
    /// There is more to read.
    more: bool,
}

/// A log with the place up to which it was read.
struct Followable {
    root: PathBuf,
    /// All of it concerns the workspace; otherwise what is about files of it.
    whole: bool,
    tail: Tail,
}

/// How many decisions there were while this server lived.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Of them, refused.
    pub refused: u64,
    /// Of them, left to a person.
    pub asked: u64,
    /// All.
    pub judged: u64,
}

/// Whether decisions are recorded.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum LogState {
    /// As far as is known.
    #[default]
    Ok,
    /// The settings say not to.
    Off,
    /// They cannot be, or cannot be read; why.
    Broken(String),
}

/// What a person allowed from here.
struct Allowed {
    refusal: String,
    rule: String,
    at: Instant,
    used: bool,
}

/// The state behind.
#[derive(Default)]
pub struct Live {
    tails: Vec<Followable>,
    /// Folders of open documents.
    folders: BTreeSet<PathBuf>,
    /// There may be something to read.
    pub(super) grown: bool,
    /// What is told of at the first look though it was there before: decisions from this time on, as they write it.
    since: Option<String>,
    pub(super) running: bool,
    rests_until: Option<Instant>,
    pub(super) decisions: Decisions,
    pub(super) refusals: Refusals,
    /// The files that are not open for which something is published.
    published: HashSet<Arc<Path>>,
    exceptions: Vec<Allowed>,
    pub(super) counts: Counts,
    pub(super) log: LogState,
}

impl Live {
    /// Decisions from here on are told of.
    pub fn begin(&mut self) {
        self.since = Some(rfc3339(SystemTime::now()));
    }

    /// When there is something to do next.
    pub fn next_due(&self) -> Option<Instant> {
        let read = (self.grown && !self.running).then_some(self.rests_until).flatten();
        [read, self.refusals.next_due()].into_iter().flatten().min()
    }

    fn may_read(&self, now: Instant) -> bool {
        self.grown && !self.running && self.rests_until.is_none_or(|until| until <= now)
    }
}

impl Session {
    /// The logs are to be looked at: they grew, or others are to be followed.
    pub(super) fn look_at_logs(&mut self) {
        self.live.grown = true;
        self.live.rests_until.get_or_insert_with(|| (self.clock)());
    }

    /// A document was opened: its project may be one whose log is not followed yet, and it may hold refusals.
    pub(super) fn open_live(&mut self, key: &str) {
        let Some(document) = self.documents.get(key) else { return };
        let (Some(path), Some(resolved)) = (document.path.clone(), document.resolved.clone()) else { return };
        if self.live.refusals.is_in(&resolved) {
            self.live.refusals.find(&resolved, &document.text);
            self.watch_refused();
        }
        self.clear_closed(&resolved);
        let folder = resolved.parent().map(Path::to_path_buf).unwrap_or_default();
        let is_new = self.live.folders.len() < PROJECTS && !self.live.folders.contains(&folder);
        if is_new && self.workspaces.root_of(&path).is_some() {
            self.live.folders.insert(folder);
            self.look_at_logs();
        }
    }

    /// A document was closed: its file is what is shown now.
    pub(super) fn close_live(&mut self, resolved: Option<&Path>) {
        if let Some(path) = resolved.filter(|path| self.live.refusals.is_in(path)) {
            self.show_refusals(Files::from([Arc::from(path)]));
        }
    }

    pub(super) fn take_news(&mut self, news: News) {
        match news {
            News::Grown => {
                if let Some(watcher) = &self.watcher {
                    watcher.told_of_logs();
                }
                self.look_at_logs();
            }
            News::Followed(followed) => self.take_followed(followed.map(|it| *it)),
            News::Touched(paths) => {
                let files = self.live.refusals.files();
                self.show_refusals(
                    files.into_iter().filter(|file| paths.iter().any(|path| **file == **path)).collect(),
                );
            }
            News::Read { path, text } => self.take_read(&path, text),
        }
    }

    /// Ends what is over, and has the logs read if they are to be.
    pub(super) fn settle_live(&mut self) {
        let now = (self.clock)();
        let ended = self.live.refusals.expire(now);
        self.show_refusals(ended);
        if self.live.may_read(now) {
            self.live.grown = false;
            self.live.running = true;
            let engine = self.engine.clone();
            let workspaces = self.workspaces.to_paths();
            let folders: Vec<PathBuf> = self.live.folders.iter().cloned().collect();
            let tails = std::mem::take(&mut self.live.tails);
            let since = self.live.since.take();
            self.work(move || {
                let work = || follow(&engine, &workspaces, &folders, tails, since.as_deref());
                let followed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).ok();
                Event::Live(News::Followed(followed.map(Box::new)))
            });
        }
    }

    fn take_followed(&mut self, followed: Option<Followed>) {
        self.live.running = false;
        self.live.rests_until = Some((self.clock)() + REST);
        let Some(followed) = followed else {
            tracing::error!("reading the log of decisions panicked; it is followed anew");
            self.live.log = LogState::Broken("the log cannot be read: an internal error, see the server's log".into());
            return;
        };
        self.live.tails = followed.tails;
        self.live.log = followed.log;
        self.live.grown |= followed.more;
        if let Some(watcher) = &mut self.watcher {
            // What came before it was watched is to be read, too.
            self.live.grown |= watcher.watch_logs(&followed.watched);
        }
        self.live.counts.refused += followed.counts.refused;
        self.live.counts.asked += followed.counts.asked;
        self.live.counts.judged += followed.counts.judged;
        let roots: HashSet<PathBuf> = self.live.tails.iter().map(|it| it.root.clone()).collect();
        self.live.decisions.retain(|entry| roots.contains(&entry.root));
        let mut files = self.live.refusals.retain(|path| roots.iter().any(|root| path.starts_with(root)));
        self.live.decisions.extend(followed.former);
        self.live.decisions.extend(followed.fresh.iter().cloned());
        files.extend(self.add_refusals(followed.refusals));
        for id in followed.fresh.iter().flat_map(|entry| &entry.allowed_once) {
            files.extend(self.live.refusals.forget(id));
            self.live.exceptions.iter_mut().filter(|it| it.refusal == *id).for_each(|it| it.used = true);
        }
        self.show_refusals(files);
        if self.profile.wants_decisions {
            for entry in &followed.fresh {
                self.editor.tell_decision(&self.decision(entry));
            }
        }
        // The first word is said when rulebooks and hooks were looked at as well.
        if self.told_status.is_some() {
            self.tell_status();
        }
    }

    fn add_refusals(&mut self, refusals: Vec<Refusal>) -> Files {
        let (now, mut files) = ((self.clock)(), Files::new());
        for mut refusal in refusals {
            let open = self.documents.values().find(|document| document.resolved.as_deref() == Some(&*refusal.path));
            if let Some(document) = open {
                refusal.fit(&document.text);
            }
            files.extend(self.live.refusals.add(refusal, now));
        }
        files
    }

    /// Shows what is refused in files anew: in the reports of those that are open, else for the file's URI.
    fn show_refusals(&mut self, files: Files) {
        if files.is_empty() {
            return;
        }
        let mut touched = false;
        for path in files {
            let of_path = self.documents.iter().filter(|(_, it)| it.resolved.as_deref() == Some(&*path));
            let keys: Vec<String> = of_path.map(|(key, _)| key.clone()).collect();
            for key in &keys {
                self.touch(key);
                touched = true;
            }
            if keys.is_empty() {
                self.show_closed_refusals(path);
            }
        }
        self.watch_refused();
        if touched && self.profile.pulls {
            self.editor.refresh();
        }
    }

    fn show_closed_refusals(&mut self, path: Arc<Path>) {
        if self.is_own_closed(&path) {
            // Shown together with what is wrong in it.
            self.shown_files.remove(&*path);
            self.show_closed_files();
        } else if self.live.refusals.is_in(&path) {
            self.work(move || {
                let text = on_disk(&path);
                Event::Live(News::Read { path, text })
            });
        } else {
            self.clear_closed(&path);
        }
    }

    fn take_read(&mut self, path: &Arc<Path>, text: Text) {
        let is_open = self.documents.values().any(|document| document.resolved.as_deref() == Some(&**path));
        if is_open || self.is_own_closed(path) {
            return;
        }
        self.live.refusals.find(path, &text);
        if !self.live.refusals.is_in(path) {
            self.clear_closed(path);
            self.watch_refused();
            return;
        }
        let diagnostics = self.refused_in(path, &text);
        self.publish_closed(path, text, diagnostics);
        self.live.published.insert(path.clone());
    }

    /// Also to a client that pulls: it does so for open documents only.
    fn publish_closed(&self, path: &Path, text: Text, diagnostics: Vec<Diagnostic>) {
        let report = Report::of_file(text, diagnostics);
        self.editor.publish(&Target::File(path.to_path_buf()), &report);
    }

    fn clear_closed(&mut self, path: &Path) {
        if self.live.published.remove(path) {
            self.publish_closed(path, Text::new(""), Vec::new());
        }
    }

    /// What is refused in a file with this text.
    pub(super) fn refused_in(&self, path: &Path, text: &Text) -> Vec<Diagnostic> {
        let shown = self.live.refusals.diagnostics(path, text, &self.engine.rulebooks);
        shown.into_iter().map(|(diagnostic, _)| diagnostic).collect()
    }

    /// Adds what is refused in an open document to what is found in it.
    pub(super) fn add_refused(&self, path: Option<&Path>, text: &Text, found: &mut Vec<Diagnostic>) -> Vec<Refused> {
        let Some(path) = path else { return Vec::new() };
        let mut refused = Vec::new();
        for (diagnostic, decision) in self.live.refusals.diagnostics(path, text, &self.engine.rulebooks) {
            if let Some(entry) = self.live.decisions.get(&decision) {
                let reviewable = self.is_reviewable(entry);
                refused.push(Refused { diagnostic: found.len(), decision: decision.to_string(), reviewable });
            }
            found.push(diagnostic);
        }
        refused
    }

    fn watch_refused(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let is_open = |path: &Path| self.documents.values().any(|it| it.resolved.as_deref() == Some(path));
        let closed = self.live.refusals.files().into_iter().filter(|path| !is_open(path));
        watcher.watch_files(closed.map(|path| path.to_path_buf()).collect());
    }

    fn is_reviewable(&self, entry: &Entry) -> bool {
        self.why_nobody("allow").is_none() && allowances(entry).is_ok()
    }

    /// A decision as it is shown now.
    fn decision(&self, entry: &Entry) -> Decision {
        let mut decision = Decision::of(entry, |finding| self.live.refusals.line(&entry.id, finding));
        decision.reviewable = self.is_reviewable(entry);
        let now = (self.clock)();
        let of_entry = self.live.exceptions.iter().filter(|it| it.refusal == entry.id);
        decision.exceptions = of_entry.map(|it| (it.rule.clone(), it.standing(now))).collect();
        decision
    }

    /// The newest decisions, the newest first.
    pub(super) fn list_decisions(&self, limit: usize) -> Vec<Decision> {
        self.live.decisions.newest().take(limit).map(|entry| self.decision(entry)).collect()
    }

    /// A person allowed something.
    pub(super) fn note_allowed(&mut self, allowance: &Allowance) {
        if self.live.exceptions.len() >= EXCEPTIONS {
            self.live.exceptions.remove(0);
        }
        let (refusal, rule) = (allowance.refusal.clone(), rules::plain::plain(&allowance.rule, rules::plain::ID));
        self.live.exceptions.push(Allowed { refusal, rule, at: (self.clock)(), used: false });
    }
}

impl Allowed {
    fn standing(&self, now: Instant) -> Standing {
        if self.used {
            Standing::Used
        } else if now.saturating_duration_since(self.at) >= guard::once::LASTS {
            Standing::Expired
        } else {
            Standing::Waiting
        }
    }
}

/// The text of a file as an agent's edit would meet it; empty where there is none or it cannot be read.
fn on_disk(path: &Path) -> Text {
    let text = system::open::read_judged(path).unwrap_or_else(|error| {
        tracing::warn!("{error}");
        None
    });
    Text::new(text.unwrap_or_default())
}

/// Reads what is new in the logs of the projects that are open. Blocks.
fn follow(
    engine: &Engine,
    workspaces: &[PathBuf],
    folders: &[PathBuf],
    tails: Vec<Followable>,
    since: Option<&str>,
) -> Followed {
    let Some(user) = &engine.folders else {
        return Followed { log: LogState::Broken("this user's folders are not known".into()), ..Followed::default() };
    };
    if let Err(refused) = user.admit(&user.state, workspaces) {
        return Followed { log: LogState::Broken(refused.to_string()), ..Followed::default() };
    }
    let mut followed = Followed::default();
    // Only the user can say so.
    let settings = user.admit(&user.user, workspaces).is_ok().then_some(user.user.as_path());
    if Config::load(settings, []).log == guard::config::Log::Off {
        followed.log = LogState::Off;
    }
    let workspaces: Vec<PathBuf> = workspaces.iter().map(|folder| system::paths::resolve(folder)).collect();
    let mut known = tails;
    for (root, whole) in projects(&workspaces, folders) {
        let place = known.iter().position(|it| it.root == root).map(|at| known.swap_remove(at));
        let followable = place.unwrap_or_else(|| {
            let tail = Tail::at_end(Log::new(&root, &user.state));
            match tail.latest(decisions::MOST) {
                Ok(entries) => {
                    let ours = entries.into_iter().filter(|entry| is_ours(entry, &root, whole, &workspaces));
                    let is_former = |entry: &Entry| since.is_none_or(|since| entry.time.as_str() < since);
                    let (former, fresh): (Vec<Entry>, Vec<Entry>) = ours.partition(is_former);
                    followed.former.extend(former.into_iter().map(decisions::kept));
                    followed.take(fresh);
                }
                Err(error) => followed.log = LogState::Broken(error.to_string()),
            }
            Followable { root, whole, tail }
        });
        followed.tails.push(Followable { whole, ..followable });
    }
    for number in 0..followed.tails.len() {
        followed.advance(number, &workspaces);
    }
    followed.place_refusals();
    let mut watched: BTreeSet<PathBuf> = followed.tails.iter().flat_map(|it| it.tail.watched()).collect();
    watched.retain(|folder| folder.is_dir() || create_private(folder).is_ok());
    followed.watched = watched.into_iter().collect();
    followed
}

/// The projects of the workspace, and whether all that is decided in one concerns it: such as lie in a folder of the
/// workspace or are the one it lies in, but not those further out.
fn projects(workspaces: &[PathBuf], folders: &[PathBuf]) -> Vec<(PathBuf, bool)> {
    let mut projects: Vec<(PathBuf, bool)> = Vec::new();
    let mut add = |root: PathBuf, whole: bool| match projects.iter().position(|(known, _)| *known == root) {
        Some(at) => projects[at].1 |= whole,
        None if projects.len() < PROJECTS => projects.push((root, whole)),
        None => {}
    };
    for folder in workspaces {
        add(folder.clone(), true);
    }
    for folder in workspaces.iter().chain(folders) {
        for (number, root) in system::roots::enclosing(folder).into_iter().enumerate() {
            let inside = workspaces.iter().any(|workspace| root.path.starts_with(workspace));
            add(root.path, inside || number == 0);
        }
    }
    projects
}

/// Whether a line belongs to the project whose log it stands in, and concerns the workspace.
fn is_ours(entry: &Entry, root: &Path, whole: bool, workspaces: &[PathBuf]) -> bool {
    let inside = |path: &Path| workspaces.iter().any(|workspace| path.starts_with(workspace));
    entry.root == root && (whole || entry.files.iter().any(|file| inside(&file.path)))
}

impl Followed {
    fn advance(&mut self, number: usize, workspaces: &[PathBuf]) {
        for _ in 0..ROUNDS {
            let Followable { root, whole, tail } = &mut self.tails[number];
            let entries = match tail.advance() {
                Ok(entries) if entries.is_empty() => return,
                Ok(entries) => entries,
                Err(error) => {
                    self.log = LogState::Broken(error.to_string());
                    return;
                }
            };
            let ours = entries.into_iter().filter(|entry| is_ours(entry, root, *whole, workspaces));
            let ours: Vec<Entry> = ours.collect();
            self.take(ours);
        }
        self.more = true;
    }

    /// Takes new decisions in.
    fn take(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.counts.judged += 1;
            self.counts.refused += u64::from(entry.decision == Outcome::Deny);
            self.counts.asked += u64::from(entry.decision == Outcome::Ask);
            self.fresh.push(decisions::kept(entry));
        }
        let more = self.fresh.len().saturating_sub(decisions::MOST);
        self.fresh.drain(..more);
    }

    /// Places what was refused in the files as they are; the newest, as many as are shown.
    fn place_refusals(&mut self) {
        // One at a time: most decisions are about the file of the one before.
        let mut last: Option<(PathBuf, Text)> = None;
        let mut read = |path: &Path| match &last {
            Some((known, text)) if known == path => text.clone(),
            _ => last.insert((path.to_path_buf(), on_disk(path))).1.clone(),
        };
        for entry in self.fresh.iter().rev() {
            if self.refusals.len() >= MOST {
                break;
            }
            self.refusals.extend(Refusal::of(entry, &mut read).into_iter().rev());
        }
        self.refusals.reverse();
    }
}
