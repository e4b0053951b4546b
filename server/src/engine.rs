//! What judging shares across threads: the compiled rulebooks and the facts of texts.
//!
//! The session's workers and the socket's connections use one engine, so that each rulebook is compiled once and each
//! content parsed once whoever asks. It owns no documents and knows no editor.

use std::path::PathBuf;
use std::sync::Arc;

use hooks::{Grantor, Means};
use rules::plain::{ID, plain};
use system::Folders;
use system::ancestry;
use tokio::sync::watch;

use crate::facts::FactStore;
use crate::features::reviews::Reviews;
use crate::indexes::Indexes;
use crate::rulebooks::Rulebooks;
use crate::session::unsaved::Record;

/// The shared part of the server.
pub struct Engine {
    /// The rulebooks in use.
    pub rulebooks: Rulebooks,
    /// The facts of texts.
    pub facts: FactStore,
    /// The symbols of the workspace.
    pub indexes: Indexes,
    /// The user's folders, where they are as they must be.
    pub folders: Option<Folders>,
    /// The reviews of hooks and refusals that were shown.
    pub reviews: Reviews,
    /// What the editor holds unsaved, as hooks are told of it.
    pub unsaved: Arc<Record>,
    /// Who grants what is trusted from here; else the agent that started this server.
    pub person: Result<Grantor, String>,
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new(folders: Option<Folders>, person: Result<Grantor, String>) -> Engine {
        Engine {
            rulebooks: Rulebooks::default(),
            facts: FactStore::default(),
            indexes: Indexes::default(),
            folders,
            reviews: Reviews::default(),
            unsaved: Arc::default(),
            person,
        }
    }
}

impl Default for Engine {
    /// An engine without folders, at which nobody is.
    fn default() -> Engine {
        Engine::new(None, Err("nobody".to_owned()))
    }
}

/// Who is at this server: a person, with the processes above it, or an agent as far as these tell.
///
/// # Errors
/// The agent that started it.
pub fn person() -> Result<Grantor, String> {
    let chain = ancestry::chain();
    if let Some(sign) = ancestry::agent_of(&chain, std::env::vars_os()) {
        return Err(sign.agent.to_owned());
    }
    let processes = chain.iter().map(|process| plain(&process.label(), ID)).collect();
    Ok(Grantor { means: Means::Editor, processes })
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
