//! Questions about symbols, and the indexes that answer them: when they are filled, and with what.
//!
//! Nothing is indexed before the client is ready, and nothing at all where the setting says so. Filling goes on beside
//! everything else; a question is answered by a worker with what is there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use symbols::Progress;
use tokio::sync::oneshot;

use crate::features::hover::Hover;
use crate::features::symbols::{Desk, Node, Opened, Place, Symbol};
use crate::indexes::{Rooted, limits};
use crate::session::Session;
use crate::session::editor::Filling;
use crate::session::settings::Symbols;
use crate::text::{Position, Text};

/// How often the client is told how far filling is.
const TOLD: Duration = Duration::from_millis(250);
/// How long the cache folder may be behind while files change.
const KEPT: Duration = Duration::from_secs(30);
/// So many files that changed at once are looked for rather than looked at.
const MANY: usize = 200;

/// One question.
pub enum Question {
    /// The symbols of a document.
    Outline {
        /// The document.
        key: String,
        /// Gets them with the text that their spans are of.
        reply: oneshot::Sender<(Text, Vec<Node>)>,
    },
    /// The symbols of the workspace that are like something.
    Search {
        /// What.
        query: String,
        /// Gets them.
        reply: oneshot::Sender<Vec<Symbol>>,
    },
    /// Where what stands at a place is defined.
    Definitions {
        /// The document.
        key: String,
        /// The place.
        at: Position,
        /// Gets the places.
        reply: oneshot::Sender<Vec<Place>>,
    },
    /// Where what stands at a place is meant.
    References {
        /// The document.
        key: String,
        /// The place.
        at: Position,
        /// Whether definitions count.
        with_definitions: bool,
        /// Gets the places.
        reply: oneshot::Sender<Vec<Place>>,
    },
    /// What stands at a place.
    Hover {
        /// The document.
        key: String,
        /// The place.
        at: Position,
        /// Gets it with the text that its span is of.
        reply: oneshot::Sender<Option<(Text, Hover)>>,
    },
}

impl Session {
    /// Has a question about symbols answered; one about what is not open is answered with nothing.
    pub(super) fn ask_symbols(&mut self, question: Question) {
        if self.settings.symbols != Symbols::All {
            return;
        }
        let open: Vec<Opened> = self.documents.values().filter_map(opened).collect();
        let (engine, encoding) = (self.engine.clone(), self.profile.encoding);
        let document = |key: &str| self.documents.get(key).and_then(opened);
        let asked = match &question {
            Question::Search { .. } => None,
            Question::Outline { key, .. }
            | Question::Definitions { key, .. }
            | Question::References { key, .. }
            | Question::Hover { key, .. } => document(key),
        };
        self.answer(move || {
            let (indexes, facts, folders) = (&engine.indexes, &engine.facts, engine.folders.as_ref());
            let desk = Desk { indexes, facts, folders, open: &open };
            match (question, asked) {
                (Question::Search { query, reply }, _) => drop(reply.send(desk.search(&query))),
                (Question::Outline { reply, .. }, Some(document)) => {
                    let all = desk.outline(&document);
                    drop(reply.send((document.text, all)));
                }
                (Question::Definitions { at, reply, .. }, Some(document)) => {
                    let offset = document.text.offset(at, encoding).at;
                    drop(reply.send(desk.definitions(&document, offset)));
                }
                (Question::References { at, with_definitions, reply, .. }, Some(document)) => {
                    let offset = document.text.offset(at, encoding).at;
                    drop(reply.send(desk.references(&document, offset, with_definitions)));
                }
                (Question::Hover { at, reply, .. }, Some(document)) => {
                    let offset = document.text.offset(at, encoding).at;
                    let told = desk.hover(&document, offset);
                    drop(reply.send(told.map(|told| (document.text, told))));
                }
                (_, None) => {}
            }
        });
    }

    /// The workspace's roots may be others by now: those that are new are indexed.
    pub(super) fn index_roots(&mut self) {
        if !self.is_ready {
            return;
        }
        let wanted = self.settings.symbols != Symbols::Off;
        let home = self.engine.folders.as_ref().map(|folders| folders.home.clone());
        // An editor without a project has a folder all the same: nobody wants to wait for all that is below.
        let is_project = |folder: &PathBuf| {
            let folder = system::paths::resolve(folder);
            folder.parent().is_some() && !home.as_ref().is_some_and(|home| home.starts_with(&folder))
        };
        let mut folders = if wanted { self.workspaces.to_paths() } else { Vec::new() };
        folders.retain(is_project);
        let limits = |root: &Path| limits(root, self.engine.folders.as_ref());
        for rooted in self.engine.indexes.set_roots(&folders, limits) {
            self.fill(rooted);
        }
    }

    fn fill(&self, rooted: Arc<Rooted>) {
        let (engine, editor) = (self.engine.clone(), self.editor.clone());
        self.fillers.run(move || {
            let last = std::sync::Mutex::new(Instant::now());
            editor.tell_filling(&rooted.folder, Filling::Began);
            let progress = |progress: Progress| {
                if let Ok(mut last) = last.try_lock()
                    && last.elapsed() > TOLD
                {
                    *last = Instant::now();
                    editor.tell_filling(&rooted.folder, Filling::Goes(progress));
                }
            };
            // The editor goes on meanwhile, and wants to be fast.
            let threads = std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2));
            rooted.fill(engine.folders.as_ref(), Some(threads), &progress);
            editor.tell_filling(&rooted.folder, Filling::Ended);
        });
    }

    /// Files changed on disk.
    pub(super) fn note_symbols(&self, paths: &[PathBuf]) {
        let indexes = &self.engine.indexes;
        let sources = paths.iter().filter(|path| syntax::Language::of(&path.to_string_lossy(), "").is_some());
        let changed: Vec<_> = sources.filter_map(|path| indexes.of(path)).collect();
        if changed.is_empty() {
            return;
        }
        let engine = self.engine.clone();
        self.fillers.run(move || {
            if changed.len() > MANY {
                for rooted in engine.indexes.all() {
                    rooted.fill(engine.folders.as_ref(), None, &|_| {});
                }
            } else {
                for (rooted, path) in &changed {
                    rooted.refresh(path);
                    rooted.keep(engine.folders.as_ref(), KEPT);
                }
            }
        });
    }

    /// A document is not open any more.
    pub(super) fn close_symbols(&self, path: Option<PathBuf>) {
        if let Some((rooted, path)) = path.and_then(|path| self.engine.indexes.of(&path)) {
            rooted.index.close(&path);
            self.fillers.run(move || rooted.refresh(&path));
        }
    }
}

impl Session {
    /// The client goes: the cache folder gets what it does not know yet.
    pub(super) fn keep_symbols(&self) {
        for rooted in self.engine.indexes.all() {
            rooted.keep(self.engine.folders.as_ref(), Duration::ZERO);
        }
    }
}

fn opened(document: &crate::session::document::Document) -> Option<Opened> {
    Some(Opened { path: document.path.clone()?, text: document.text.clone() })
}
