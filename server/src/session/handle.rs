//! What each event does to the session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use guard::config::{PROJECT_CONFIG, read_project};
use guard::stack::{Spelled, Surroundings, stack};
use serde_json::Value;
use syntax::Span;
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::facts::Digest;
use crate::features::actions::{self, Command};
use crate::features::diagnostics::{Diagnostic, Report, Severity};
use crate::features::{hooks, problems};
use crate::rulebooks::{Book, is_rulebook};
use crate::session::client::Profile;
use crate::session::document::{self, Document, Edit};
use crate::session::editor::{Level, Place, Target};
use crate::session::event::{Event, HookFile, Judged};
use crate::session::snapshot::Snapshot;
use crate::session::watch::{Watcher, is_of_head, is_of_hooks, is_of_rules};
use crate::session::{Session, Survey};
use crate::text::Text;

impl Session {
    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::Started { profile, folders } => self.start(profile, &folders),
            Event::Ready => self.watch(),
            Event::Opened { key, uri, path, version, text } => self.open(&key, uri, path, version, text),
            Event::Changed { key, version, edits } => self.change(&key, version, edits),
            Event::Saved { key } => self.save(&key),
            Event::Closed { key } => self.close(&key),
            Event::Folders { added, removed } => self.change_folders(&added, &removed),
            Event::Configured { settings } => self.configure(&settings),
            Event::Watched { paths } => self.notice(&paths),
            Event::Wanted { key, reply } => self.want(&key, reply),
            Event::Commanded { key, command, reply } => {
                let _ = reply.send(self.obey(key.as_deref(), &command));
            }
            Event::Hooks { command, reply } => self.command_hooks(command, reply),
            Event::Reviewed { made, reply } => self.take_review(made, reply),
            Event::Answered { question, answer, reply } => self.take_answer(question, &answer, reply),
            Event::Done { question, done, reply } => self.take_done(question, done, reply),
            Event::Live(news) => self.take_news(news),
            Event::Decisions { limit, reply } => {
                let _ = reply.send(self.list_decisions(limit));
            }
            Event::Refusal { command, reply } => self.command_refusal(command, reply),
            Event::RefusalReviewed { made, reply } => self.take_refusal_review(made, reply),
            Event::Compared(compared) => self.take_compared(compared),
            Event::Leaving => {
                self.leave();
                self.keep_symbols();
            }
            Event::Symbols(question) => self.ask_symbols(question),
            Event::Inquired { key, inquiry } => self.inquire(&key, inquiry),
            Event::CountWanted { path, waiter } => self.want_count(&path, waiter),
            Event::Counted { path, count, stopped } => self.take_count(path, count, &stopped),
            Event::Listed { made, reply } => self.take_listing(made, reply),
            Event::Reload { reply } => {
                self.engine.rulebooks.forget();
                self.counting.restart();
                self.judge_all_anew();
                let _ = reply.send(());
            }
            Event::Status { reply } => {
                let _ = reply.send(self.status());
            }
            Event::Judged { key, stamp, found } => self.take_judgement(&key, stamp, found),
            Event::Surveyed { configs, hook_files } => self.take_survey(configs, hook_files),
            Event::Barrier { reply } => self.barriers.push(reply),
            #[cfg(test)]
            Event::Panic => panic!("injected"),
        }
    }

    fn start(&mut self, profile: Profile, folders: &[PathBuf]) {
        for problem in self.settings.initialize(&profile.options) {
            self.editor.say(Level::Warning, &format!("Ruleline: {problem}"));
        }
        self.editor.meet(&profile);
        self.profile = profile;
        self.live.begin();
        self.change_folders(folders, &[]);
    }

    fn watch(&mut self) {
        if self.profile.watches {
            self.editor.watch();
        }
        self.watcher = Watcher::start(self.events.clone(), self.engine.folders.as_ref());
        self.watch_roots();
        self.look_at_logs();
        self.is_ready = true;
        self.index_roots();
    }

    /// Watches, of all roots whose rulebooks may hold for something open, those that the client does not watch.
    fn watch_roots(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let workspace = self.workspaces.to_paths();
        let by_client = |root: &Path| self.profile.watches && workspace.iter().any(|folder| root.starts_with(folder));
        for folder in &workspace {
            watcher.watch_above(folder, by_client);
        }
        for folder in self.documents.values().filter_map(|document| document.path.as_deref()?.parent()) {
            watcher.watch_above(folder, by_client);
        }
    }

    pub(super) fn user_folder(&self) -> Option<&Path> {
        self.engine.folders.as_ref().map(|folders| folders.user.as_path())
    }

    fn open(&mut self, key: &str, uri: Arc<str>, path: Option<PathBuf>, version: i32, text: String) {
        let resolved = path.as_deref().map(system::paths::resolve);
        if let Some((shown, _)) = resolved.as_ref().and_then(|path| self.shown_files.remove_entry(path)) {
            self.clear(&Target::File(shown), None);
        }
        let document = Document {
            uri,
            path,
            resolved,
            version,
            text: Text::new(text),
            stamp: 0,
            running: None,
            before: None,
            parsed: None,
            report: None,
            waiting: Vec::new(),
        };
        self.schedule.forget(key);
        if self.documents.insert(key.to_owned(), document).is_some() {
            tracing::warn!("{key} was opened twice");
        }
        self.watch_roots();
        self.open_live(key);
        self.unsaved.look(key, false, (self.clock)());
        self.touch(key);
    }

    fn change(&mut self, key: &str, version: i32, edits: Vec<Edit>) {
        let encoding = self.profile.encoding;
        let Some(document) = self.documents.get_mut(key) else {
            tracing::warn!("a change of {key}, which is not open");
            return;
        };
        if !document.is_older_than(version) {
            tracing::warn!("version {version} of {key} came after version {}", document.version);
            return;
        }
        let (refusals, resolved) = (&mut self.live.refusals, document.resolved.as_deref());
        let carry = |before: &Text, span: &Span, after: &Text, inserted: usize| {
            if let Some(path) = resolved {
                refusals.carry(path, before, span, after, inserted);
            }
        };
        let (text, moved) = document::apply(document.text.clone(), edits, encoding, carry);
        if moved > 0 {
            tracing::warn!("version {version} of {key}: {moved} positions out of range were clamped");
        }
        document.text = text;
        document.version = version;
        self.unsaved.look(key, true, (self.clock)());
        self.touch(key);
    }

    fn save(&mut self, key: &str) {
        let Some(document) = self.documents.get_mut(key) else { return };
        document.before = None;
        self.unsaved.clean(key, (self.clock)());
        self.counting.outdate();
        match document.path.clone() {
            Some(path) if is_of_rules(&path, self.user_folder()) => self.notice(&[path]),
            _ => self.touch(key),
        }
    }

    fn close(&mut self, key: &str) {
        self.schedule.forget(key);
        let Some(document) = self.documents.remove(key) else { return };
        for waiting in document.waiting {
            let _ = waiting.send(None);
        }
        if let Some(path) = &document.resolved {
            self.counting.forget(path);
        }
        self.clear(&Target::Document(document.uri), Some(document.version));
        self.unsaved.clean(key, (self.clock)());
        self.close_live(document.resolved.as_deref());
        self.close_symbols(document.resolved.clone());
        if document.path.is_some_and(|path| is_rulebook(&path, self.user_folder()) || problems::is_config(&path)) {
            self.survey();
        }
    }

    fn change_folders(&mut self, added: &[PathBuf], removed: &[PathBuf]) {
        for folder in removed {
            self.workspaces.remove(folder);
        }
        for folder in added {
            self.workspaces.add(folder);
        }
        self.roots.send_replace(self.workspaces.to_paths());
        self.watch_roots();
        self.engine.rulebooks.forget();
        self.judge_all_anew();
        self.look_at_logs();
        self.index_roots();
    }

    fn configure(&mut self, settings: &Value) {
        let former = self.settings.clone();
        for problem in self.settings.change(settings) {
            self.editor.say(Level::Warning, &format!("Ruleline: {problem}"));
        }
        if self.settings != former {
            self.index_roots();
            self.judge_all_anew();
        }
    }

    fn notice(&mut self, paths: &[PathBuf]) {
        self.note_symbols(paths);
        let hooks = paths.iter().any(|path| is_of_hooks(path));
        let rules = paths.iter().any(|path| is_of_rules(path, self.user_folder()) && !is_of_hooks(path));
        if hooks {
            if let Some(watcher) = &mut self.watcher {
                watcher.look_again();
            }
            self.watch_roots();
            self.look_at_hooks_again();
        }
        if !rules && !paths.iter().any(|path| is_of_head(path)) {
            return;
        }
        if rules {
            self.engine.rulebooks.forget();
            self.counting.restart();
        }
        self.counting.outdate();
        if let Some(watcher) = &mut self.watcher {
            watcher.look_again();
        }
        self.watch_roots();
        self.judge_all_anew();
        if rules {
            self.look_at_logs();
        }
    }

    fn want(&mut self, key: &str, reply: oneshot::Sender<Option<Arc<Report>>>) {
        let now = (self.clock)();
        let Some(document) = self.documents.get_mut(key) else {
            let _ = reply.send(None);
            return;
        };
        if let Some(report) = document.current_report() {
            let _ = reply.send(Some(report.clone()));
        } else {
            document.waiting.push(reply);
            self.schedule.hurry(key, now);
        }
    }

    fn obey(&self, key: Option<&str>, command: &Command) -> Result<String, String> {
        match command {
            Command::OpenRule { path, id } => {
                let gone = || format!("Ruleline: there is no rule {} in that rulebook any more", actions::plain_id(id));
                let files = self.engine.rulebooks.files();
                let (_, shelved) = files.iter().find(|(known, _)| **known == **path).ok_or_else(gone)?;
                let rule = shelved.current.rules().rules.iter().find(|rule| rule.id == *id).ok_or_else(gone)?;
                let text = shelved.current.text.clone();
                let line = text.line_number(rule.id_span.start);
                let shown = rules::plain::plain(&system::paths::shown(path), rules::plain::PATH);
                let said = format!("Rule {} stands in {shown}:{line}", actions::plain_id(id));
                let place = Place { path: path.clone(), text, span: rule.id_span.clone(), otherwise: said.clone() };
                self.editor.open(place);
                Ok(said)
            }
            Command::Explain { path, id, line } => {
                let report = key.and_then(|key| self.documents.get(key)).and_then(|document| document.report.as_ref());
                let said = report.and_then(|report| actions::explain(report, path, id, *line));
                let gone = || format!("Ruleline: rule {} finds nothing here any more", actions::plain_id(id));
                let said = said.ok_or_else(gone)?;
                self.editor.say(Level::Info, &said);
                Ok(said)
            }
        }
    }

    /// Gives a document a new stamp: whatever is being found about it is of the past.
    pub(super) fn touch(&mut self, key: &str) {
        if let Some(document) = self.documents.get_mut(key) {
            self.last_stamp += 1;
            document.stamp = self.last_stamp;
            self.schedule.changed(key, (self.clock)());
        }
    }

    fn judge_all_anew(&mut self) {
        let keys: Vec<String> = self.documents.keys().cloned().collect();
        for key in &keys {
            if let Some(document) = self.documents.get_mut(key) {
                document.before = None;
            }
            self.touch(key);
        }
        self.survey();
        if self.profile.pulls && !keys.is_empty() {
            self.editor.refresh();
        }
    }

    pub(super) fn start_judging(&mut self, key: &str) {
        let may_trust = self.distrust().is_none();
        let Some(document) = self.documents.get_mut(key) else {
            self.schedule.forget(key);
            return;
        };
        let stamp = document.stamp;
        document.running = Some(stamp);
        let snapshot = Snapshot {
            engine: self.engine.clone(),
            settings: self.settings.clone(),
            workspaces: self.workspaces.clone(),
            path: document.path.clone(),
            text: document.text.clone(),
            parsed: document.parsed,
            may_trust,
            before: document.before.clone(),
        };
        let key = key.to_owned();
        self.work(move || {
            let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| snapshot.judge())).ok();
            Event::Judged { key, stamp, found }
        });
    }

    /// Has `work` done by a worker and brings back what it gives.
    pub(super) fn work(&self, work: impl FnOnce() -> Event + Send + 'static) {
        let events = self.events.clone();
        self.workers.run(move || {
            let event = work();
            if let Some(events) = events.upgrade() {
                let _ = events.send(event);
            }
        });
    }

    /// Has `work` done by a worker that answers by itself.
    pub(super) fn answer(&self, work: impl FnOnce() + Send + 'static) {
        self.workers.run(work);
    }

    fn take_judgement(&mut self, key: &str, stamp: u64, found: Option<Judged>) {
        let now = (self.clock)();
        let Some(document) = self.documents.get_mut(key).filter(|document| document.running == Some(stamp)) else {
            return;
        };
        document.running = None;
        document.parsed = found.as_ref().and_then(|found| found.parsed).or(document.parsed);
        let current = document.stamp == stamp;
        self.schedule.finished(key, current, now);
        if !current {
            return;
        }
        let found = match found {
            Some(found) => {
                document.before.clone_from(&found.before);
                found
            }
            None => Judged { diagnostics: vec![could_not_judge(&document.text)], ..Judged::default() },
        };
        let Judged { mut diagnostics, hooks: offers, allowances, .. } = found;
        let (text, resolved) = (document.text.clone(), document.resolved.clone());
        let refused = self.add_refused(resolved.as_deref(), &text, &mut diagnostics);
        let Some(document) = self.documents.get_mut(key) else { return };
        let other_offers = document.report.as_ref().is_some_and(|former| former.allowances != allowances);
        // Also where nothing is offered any more: the lenses of before are wrong then.
        let is_of_hooks = document.path.as_deref().is_some_and(|path| hooks::root_of(path).is_some());
        let version = Some(document.version);
        let report = Report { stamp, version, text, diagnostics, hooks: offers, refused, allowances };
        let report = Arc::new(report);
        document.report = Some(report.clone());
        for waiting in document.waiting.drain(..) {
            let _ = waiting.send(Some(report.clone()));
        }
        if !self.profile.pulls {
            self.editor.publish(&Target::Document(document.uri.clone()), &report);
        }
        if other_offers || (is_of_hooks && std::mem::take(&mut self.refresh_hooks)) {
            self.editor.refresh_lenses();
        }
        self.show_closed_files();
    }

    /// Reads the rulebooks and settings of the roots, so that what is wrong in them is shown before a file is opened.
    pub(super) fn survey(&mut self) {
        if self.survey != Survey::Idle {
            self.survey = Survey::Outdated;
            return;
        }
        self.survey = Survey::Running;
        let engine = self.engine.clone();
        let roots = self.workspaces.to_paths();
        self.work(move || {
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read_own_files(&engine, &roots)));
            if read.is_err() {
                tracing::error!("reading the rulebooks panicked");
            }
            let (configs, hook_files) = read.unwrap_or_default();
            Event::Surveyed { configs, hook_files }
        });
    }

    fn take_survey(&mut self, configs: Vec<(PathBuf, Text)>, hook_files: Vec<HookFile>) {
        if std::mem::take(&mut self.survey) == Survey::Outdated {
            self.survey();
        }
        self.configs = configs;
        self.hook_files = hook_files;
        self.tell_status();
        self.show_closed_files();
    }

    /// Shows what is wrong in rulebooks and config.toml that are not open, once for each content.
    pub(super) fn show_closed_files(&mut self) {
        let rulebooks = self.engine.rulebooks.files().into_iter();
        let rulebooks = rulebooks.map(|(path, shelved)| (path, OwnFile::Rulebook(shelved.current)));
        let configs = self.configs.iter().map(|(path, text)| (path.clone(), OwnFile::Config(text.clone())));
        let is_open = |path: &PathBuf| self.documents.values().any(|document| document.resolved.as_ref() == Some(path));
        let hooks = self.hook_files.iter().map(|file| (file.path.clone(), OwnFile::Hooks(file.clone())));
        let closed: Vec<_> = rulebooks.chain(configs).chain(hooks).filter(|(path, _)| !is_open(path)).collect();
        let gone = |path: &PathBuf| !closed.iter().any(|(known, _)| known == path);
        let gone: Vec<_> = self.shown_files.keys().filter(|path| gone(path)).cloned().collect();
        for path in gone {
            self.shown_files.remove(&path);
            self.clear(&Target::File(path), None);
        }
        for (path, file) in closed {
            let digest = file.digest();
            if self.shown_files.get(&path) == Some(&digest) {
                continue;
            }
            let (text, diagnostics) = match file {
                OwnFile::Rulebook(book) => (book.text.clone(), problems::of_rulebook(&book.problems())),
                OwnFile::Config(text) => {
                    let diagnostics = problems::of_config(&path, &text);
                    (text, diagnostics)
                }
                OwnFile::Hooks(file) => (file.text, file.diagnostics),
            };
            self.show_closed(&path, text, diagnostics);
            self.shown_files.insert(path, digest);
        }
    }

    /// Whether a file is shown as one of ours that is not open.
    pub(super) fn is_own_closed(&self, path: &Path) -> bool {
        self.configs.iter().any(|(config, _)| config == path)
            || self.hook_files.iter().any(|file| file.path == path)
            || self.engine.rulebooks.files().iter().any(|(rulebook, _)| rulebook == path)
    }

    /// A client that pulls does so for open documents only: of what is wrong in others it gets a message.
    fn show_closed(&self, path: &Path, text: Text, mut diagnostics: Vec<Diagnostic>) {
        if !self.profile.pulls {
            diagnostics.extend(self.refused_in(path, &text));
            self.editor.publish(&Target::File(path.to_path_buf()), &Report::of_file(text, diagnostics));
        } else if let Some(first) = diagnostics.first() {
            let shown = rules::plain::plain(&system::paths::shown(path), rules::plain::PATH);
            let line = text.line_number(first.span.start);
            self.editor.say(Level::Warning, &format!("Ruleline: {shown}:{line}: {}", first.message));
        }
    }

    fn clear(&self, target: &Target, version: Option<i32>) {
        if !self.profile.pulls {
            let report = Report { version, ..Report::of_file(Text::new(""), Vec::new()) };
            self.editor.publish(target, &report);
        }
    }
}

/// A file of ours that is not open.
enum OwnFile {
    Rulebook(Arc<Book>),
    Config(Text),
    Hooks(HookFile),
}

impl OwnFile {
    fn digest(&self) -> Digest {
        match self {
            OwnFile::Rulebook(book) => book.loaded.digest(),
            OwnFile::Config(text) => system::digest::sha256(text.text.as_bytes()),
            OwnFile::Hooks(file) => {
                let said: Vec<&str> = file.diagnostics.iter().map(|one| one.message.as_str()).collect();
                system::digest::sha256(said.join("\n").as_bytes())
            }
        }
    }
}

/// Takes the rulebooks that hold in the roots onto the shelf; the config.toml that hold there, and the files of hooks.
fn read_own_files(engine: &Engine, roots: &[PathBuf]) -> (Vec<(PathBuf, Text)>, Vec<HookFile>) {
    let user = engine.folders.as_ref().map(|folders| folders.user.as_path());
    let surroundings = Surroundings::default();
    let mut configs = BTreeMap::new();
    for root in roots {
        let stack = stack(&Spelled::new(root.join("any")), &surroundings, user);
        for holding in &stack.holdings {
            let _ = engine.rulebooks.at(&holding.place);
        }
        for (root, _) in stack.roots {
            if let Ok(Some(bytes)) = read_project(&root) {
                configs.insert(root.join(PROJECT_CONFIG), Text::new(String::from_utf8_lossy(&bytes)));
            }
        }
    }
    (configs.into_iter().collect(), read_hook_files(engine, roots))
}

/// The manifests of the roots and of those around them, and the files in which other tools find hooks.
fn read_hook_files(engine: &Engine, roots: &[PathBuf]) -> Vec<HookFile> {
    let mut files: BTreeMap<PathBuf, HookFile> = BTreeMap::new();
    for root in roots {
        let root = system::paths::resolve(root);
        let around: Vec<PathBuf> = system::roots::enclosing(&root).into_iter().map(|found| found.path).collect();
        for root in around.iter().chain([&root]) {
            let path = root.join(::hooks::FOLDER).join(::hooks::MANIFEST);
            let Some(view) = hooks::view(engine.folders.as_ref(), roots, root, &engine.reviews) else { continue };
            // Nothing of it is shown but that it is there.
            let text = Text::new("");
            let diagnostics = hooks::standing(&text, &view).into_iter().collect();
            files.insert(path.clone(), HookFile { path, text, diagnostics, view: Some(view) });
        }
        for found in ::hooks::foreign::hooks_of_others(&root) {
            let (path, text) = (root.join(&found.path), Text::new(""));
            let diagnostics = vec![hooks::foreign_diagnostic(&text, &found)];
            files.insert(path.clone(), HookFile { path, text, diagnostics, view: None });
        }
    }
    files.into_values().collect()
}

fn could_not_judge(text: &Text) -> Diagnostic {
    Diagnostic {
        span: text.line(0),
        severity: Severity::Warning,
        code: "could-not-judge".to_owned(),
        message: "Ruleline could not judge this text: an internal error, see the server's log".to_owned(),
        rule: None,
    }
}
