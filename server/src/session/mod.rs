//! The session: one task that owns all state and handles one event at a time.
//!
//! Reading files, asking git and judging are done by workers on snapshots; what they find comes back as an event and is
//! shown only if the document is still in the state that was judged. A panic in one event costs that event. Nothing
//! here names LSP types, and nothing here waits for the editor.

pub mod client;
pub mod counting;
pub mod document;
pub mod editor;
pub mod event;
mod handle;
pub mod hooks;
pub mod live;
pub mod questions;
pub mod refusals;
pub mod rulebook;
pub mod schedule;
pub mod settings;
mod snapshot;
mod status;
pub mod symbols;
pub mod unsaved;
mod watch;
mod workers;
pub mod workspaces;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use crate::engine::Engine;
use crate::facts::Digest;
use crate::session::client::Profile;
use crate::session::counting::Counting;
use crate::session::document::Document;
use crate::session::editor::Editor;
use crate::session::event::{Event, HookFile};
use crate::session::live::Live;
use crate::session::schedule::Schedule;
use crate::session::settings::Settings;
use crate::session::unsaved::UnsavedFiles;
use crate::session::watch::Watcher;
use crate::session::workers::Workers;
use crate::session::workspaces::Workspaces;
use crate::text::Text;

/// Tells the time; tests bring their own.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// Whether a worker is reading the rulebooks of the roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Survey {
    #[default]
    Idle,
    Running,
    /// Running, and something changed meanwhile.
    Outdated,
}

/// All state of the server.
pub struct Session {
    engine: Arc<Engine>,
    editor: Arc<dyn Editor>,
    clock: Clock,
    /// Where workers send what they found. Weak, so that the session ends with those who send it events.
    events: mpsc::WeakUnboundedSender<Event>,
    profile: Profile,
    settings: Settings,
    workspaces: Workspaces,
    /// Tells the socket which folders are served.
    roots: tokio::sync::watch::Sender<Vec<PathBuf>>,
    documents: HashMap<String, Document>,
    schedule: Schedule,
    last_stamp: u64,
    /// The config.toml of the roots' projects, as they were last read.
    configs: Vec<(PathBuf, Text)>,
    /// The files of hooks of the roots, as they were last looked at.
    hook_files: Vec<HookFile>,
    /// The problems shown on rulebooks and config.toml that are not open, by the digest of what was shown.
    shown_files: HashMap<PathBuf, Digest>,
    barriers: Vec<oneshot::Sender<()>>,
    survey: Survey,
    watcher: Option<Watcher>,
    workers: Workers,
    /// What rules find in the workspace, and who counts it.
    counting: Counting,
    counters: Workers,
    /// Who fills the symbol indexes.
    fillers: Workers,
    /// The client may be asked and told.
    is_ready: bool,
    /// Where hooks stand may have changed: the client is to ask for lenses again.
    refresh_hooks: bool,
    /// What the client was last told of how things stand.
    told_status: Option<Value>,
    /// What agents are told.
    live: Live,
    /// What the editor holds unsaved.
    unsaved: UnsavedFiles,
}

impl Session {
    /// A session without documents.
    pub fn new(
        engine: Arc<Engine>,
        editor: Arc<dyn Editor>,
        clock: Clock,
        events: &mpsc::UnboundedSender<Event>,
        roots: tokio::sync::watch::Sender<Vec<PathBuf>>,
    ) -> Session {
        Session {
            engine,
            editor,
            clock,
            events: events.downgrade(),
            profile: Profile::default(),
            settings: Settings::default(),
            workspaces: Workspaces::default(),
            roots,
            documents: HashMap::new(),
            schedule: Schedule::default(),
            last_stamp: 0,
            configs: Vec::new(),
            hook_files: Vec::new(),
            shown_files: HashMap::new(),
            barriers: Vec::new(),
            survey: Survey::default(),
            watcher: None,
            workers: Workers::default(),
            counting: Counting::default(),
            counters: Workers::one(),
            fillers: Workers::one(),
            is_ready: false,
            refresh_hooks: false,
            told_status: None,
            live: Live::default(),
            unsaved: UnsavedFiles::default(),
        }
    }

    /// Handles events until nobody can send any more. Everything that has arrived is taken in before anything is
    /// judged; without events there is no timer.
    pub async fn run(mut self, mut events: mpsc::UnboundedReceiver<Event>) {
        loop {
            let event = match events.try_recv() {
                Ok(event) => event,
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {
                    self.settle();
                    match self.next_due() {
                        None => match events.recv().await {
                            Some(event) => event,
                            None => return,
                        },
                        Some(due) => match tokio::time::timeout_at(due.into(), events.recv()).await {
                            Ok(Some(event)) => event,
                            Ok(None) => return,
                            Err(_) => continue,
                        },
                    }
                }
            };
            self.survive(event);
        }
    }

    /// When there is something to do without an event; none when there is nothing.
    fn next_due(&self) -> Option<Instant> {
        let due = [self.schedule.next_due(), self.live.next_due(), self.unsaved.next_due()];
        due.into_iter().flatten().min()
    }

    /// Handles one event; a panic is logged and costs that event alone.
    fn survive(&mut self, event: Event) {
        if std::panic::catch_unwind(AssertUnwindSafe(|| self.handle(event))).is_err() {
            tracing::error!("an event panicked; its effect is lost, the server goes on");
        }
    }

    /// Starts what is due, and lets those go who waited for everything to be done.
    fn settle(&mut self) {
        if !self.barriers.is_empty() {
            let now = (self.clock)();
            for key in self.documents.keys() {
                self.schedule.hurry(key, now);
            }
        }
        self.settle_live();
        self.settle_unsaved();
        if self.counting.take_outdated() {
            self.editor.refresh_lenses();
        }
        for key in self.schedule.start_due((self.clock)()) {
            self.start_judging(&key);
        }
        if self.schedule.is_idle() && self.unsaved.is_idle() {
            for barrier in self.barriers.drain(..) {
                let _ = barrier.send(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
