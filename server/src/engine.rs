//! What judging shares across threads: the compiled rulebooks and the facts of texts.
//!
//! The session's workers and the socket's connections use one engine, so that each rulebook is compiled once and each
//! content parsed once whoever asks. It owns no documents and knows no editor.

use std::path::PathBuf;
use std::sync::Arc;

use system::Folders;
use tokio::sync::watch;

use crate::facts::FactStore;
use crate::rulebooks::Rulebooks;

/// The shared part of the server.
#[derive(Default)]
pub struct Engine {
    /// The rulebooks in use.
    pub rulebooks: Rulebooks,
    /// The facts of texts.
    pub facts: FactStore,
    /// The user's folders, where they are as they must be.
    pub folders: Option<Folders>,
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new(folders: Option<Folders>) -> Engine {
        Engine { folders, ..Engine::default() }
    }
}

/// What the socket holds of a session. Clones are cheap; all of it may be used from any thread.
#[derive(Clone)]
pub struct SessionHandle {
    engine: Arc<Engine>,
    roots: watch::Receiver<Vec<PathBuf>>,
}

impl SessionHandle {
    /// A handle on an engine whose workspace folders `roots` tells.
    pub fn new(engine: Arc<Engine>, roots: watch::Receiver<Vec<PathBuf>>) -> SessionHandle {
        SessionHandle { engine, roots }
    }

    /// The rulebooks and facts that diagnostics use too.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The workspace's folders now; the receiver tells when they change.
    pub fn roots(&self) -> watch::Receiver<Vec<PathBuf>> {
        self.roots.clone()
    }
}
