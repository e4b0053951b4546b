//! Everything that can happen to the session: a closed list, handled one at a time in order of arrival.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::facts::Digest;
use crate::features::actions::Command;
use crate::features::allowance;
use crate::features::baseline::Before;
use crate::features::counts::Count;
use crate::features::decisions::Decision;
use crate::features::diagnostics::Diagnostic;
use crate::features::diagnostics::Report;
use crate::features::hooks::{self, Offer, View};
use crate::features::reviews::Opened;
use crate::session::client::Profile;
use crate::session::counting::{Listing, Waiter};
use crate::session::document::Edit;
use crate::session::editor::Answer;
use crate::session::live::News;
use crate::session::questions::Question;
use crate::session::refusals;
use crate::session::rulebook::Inquiry;
use crate::session::symbols;
use crate::session::unsaved::Compared;
use crate::text::Text;

/// Gets what was done, as the answer to a command, or why nothing was.
pub type Reply = oneshot::Sender<Result<Value, String>>;

/// A file in which hooks are found, ours or another tool's, with what is said about it.
#[derive(Debug, Clone)]
pub struct HookFile {
    /// The file, with links resolved.
    pub path: PathBuf,
    /// Its text.
    pub text: Text,
    /// What is said.
    pub diagnostics: Vec<Diagnostic>,
    /// Where the hooks stand, for a manifest of ours.
    pub view: Option<View>,
}

/// One event. `key` names a document: its URI as normalised by the client's side of the server.
pub enum Event {
    /// `initialize`: who the client is, and the folders of the workspace that are files.
    Started {
        /// What the client said of itself.
        profile: Profile,
        /// The workspace's folders.
        folders: Vec<PathBuf>,
    },
    /// `initialized`: the client may be asked for things.
    Ready,
    /// `textDocument/didOpen`
    Opened {
        /// The document.
        key: String,
        /// Its URI as the client wrote it.
        uri: Arc<str>,
        /// The file, for a URI that names one.
        path: Option<PathBuf>,
        /// The client's number of the text.
        version: i32,
        /// The text.
        text: String,
    },
    /// `textDocument/didChange`
    Changed {
        /// The document.
        key: String,
        /// The client's number of the text after.
        version: i32,
        /// What changed.
        edits: Vec<Edit>,
    },
    /// `textDocument/didSave`
    Saved {
        /// The document.
        key: String,
    },
    /// `textDocument/didClose`
    Closed {
        /// The document.
        key: String,
    },
    /// `workspace/didChangeWorkspaceFolders`
    Folders {
        /// Folders that came.
        added: Vec<PathBuf>,
        /// Folders that went.
        removed: Vec<PathBuf>,
    },
    /// `workspace/didChangeConfiguration`
    Configured {
        /// The settings under our name.
        settings: Value,
    },
    /// Watched files changed, came or went.
    Watched {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// Somebody wants the report of a document's present text: a pull, or actions for it.
    Wanted {
        /// The document.
        key: String,
        /// Gets the report; none when no such document is open.
        reply: oneshot::Sender<Option<Arc<Report>>>,
    },
    /// A question about symbols.
    Symbols(symbols::Question),
    /// A command that one of our actions offered.
    Commanded {
        /// The document it was offered in, if any.
        key: Option<String>,
        /// The command.
        command: Command,
        /// Gets what was said, or why nothing could be.
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// A command about hooks.
    Hooks {
        /// The command.
        command: hooks::Command,
        /// Gets what came of it.
        reply: Reply,
    },
    /// A worker has read hooks for a review.
    Reviewed {
        /// The review, or why there is none.
        made: Result<Opened, String>,
        /// Of the command.
        reply: Reply,
    },
    /// A person answered.
    Answered {
        /// What they were asked.
        question: Question,
        /// What they chose, if they could be asked.
        answer: Answer,
        /// Of the command.
        reply: Reply,
    },
    /// A worker has done what a person agreed to.
    Done {
        /// What they were asked.
        question: Question,
        /// What is to be said.
        done: Result<String, String>,
        /// Of the command.
        reply: Reply,
    },
    /// Something about the logs of decisions, or about files in which something was refused.
    Live(News),
    /// `ruleline.decisions`
    Decisions {
        /// At most so many.
        limit: usize,
        /// Gets them, the newest first.
        reply: oneshot::Sender<Vec<Decision>>,
    },
    /// A command about a refusal.
    Refusal {
        /// The command.
        command: refusals::Command,
        /// Gets what came of it.
        reply: Reply,
    },
    /// A worker has written the review of a refusal.
    RefusalReviewed {
        /// The review, or why there is none.
        made: Result<refusals::Opened, String>,
        /// Of the command.
        reply: Reply,
    },
    /// A worker has compared documents with their files; none when it panicked.
    Compared(Option<Compared>),
    /// The client is about to go.
    Leaving,
    /// Something is asked about a document, mostly while it is written.
    Inquired {
        /// The document.
        key: String,
        /// What.
        inquiry: Inquiry,
    },
    /// Somebody wants to know what a rule finds in the workspace.
    CountWanted {
        /// The rulebook.
        path: PathBuf,
        /// Who, and of which rule.
        waiter: Waiter,
    },
    /// A worker has counted what the rules of a rulebook find.
    Counted {
        /// The rulebook.
        path: PathBuf,
        /// What it came to.
        count: Count,
        /// Which count it is; set when it was stopped.
        stopped: Arc<AtomicBool>,
    },
    /// A worker has written a text of findings.
    Listed {
        /// The text, or why there is none.
        made: Result<Listing, String>,
        /// Of the command.
        reply: Reply,
    },
    /// `ruleline.reload`
    Reload {
        /// Told when everything is forgotten and judging began anew.
        reply: oneshot::Sender<()>,
    },
    /// `ruleline.status`
    Status {
        /// Gets the state in numbers.
        reply: oneshot::Sender<Value>,
    },
    /// A worker is done with a document.
    Judged {
        /// The document.
        key: String,
        /// The stamp it was judged under.
        stamp: u64,
        /// What was found; none when the worker panicked.
        found: Option<Judged>,
    },
    /// A worker has read the rulebooks of the roots.
    Surveyed {
        /// The projects' config.toml that were found.
        configs: Vec<(PathBuf, Text)>,
        /// The files of hooks that were found.
        hook_files: Vec<HookFile>,
    },
    /// Told when everything before it is done and shown.
    Barrier {
        /// Told.
        reply: oneshot::Sender<()>,
    },
    /// Panics where it is handled.
    #[cfg(test)]
    Panic,
}

/// What a worker found.
#[derive(Default)]
pub struct Judged {
    /// What is to be shown.
    pub diagnostics: Vec<Diagnostic>,
    /// What the text was measured against; none when no rule could hold for it.
    pub before: Option<Arc<Before>>,
    /// The text whose facts were last asked for.
    pub parsed: Option<Digest>,
    /// What can be done about the hooks that it is of.
    pub hooks: Vec<Offer>,
    /// What can be allowed after the review that it is.
    pub allowances: Vec<allowance::Offer>,
}
