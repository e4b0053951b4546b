//! What the session asks of the editor. The LSP side implements it; nothing here waits for the editor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use symbols::Progress;
use syntax::Span;

use crate::features::decisions::Decision;
use crate::features::diagnostics::Report;
use crate::session::client::Profile;
use crate::text::Text;

/// Whom a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// An open document, by the URI as the client wrote it.
    Document(Arc<str>),
    /// A file that is not open.
    File(PathBuf),
}

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// To be seen.
    Info,
    /// Something does not work as asked.
    Warning,
}

/// A place in a file to be opened.
#[derive(Debug, Clone)]
pub struct Place {
    /// The file.
    pub path: Arc<Path>,
    /// Its text.
    pub text: Text,
    /// What to select.
    pub span: Span,
    /// What to say where the place cannot be opened.
    pub otherwise: String,
}

/// How far the index of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    /// It is being filled from now on.
    Began,
    /// So far.
    Goes(Progress),
    /// It is filled.
    Ended,
}

/// A person's choice, none when they made none; or the editor cannot ask.
pub type Answer = Result<Option<String>, CannotAsk>;

/// The editor showed no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CannotAsk;

/// What is done with a person's answer.
pub type Answered = Box<dyn FnOnce(Answer) + Send>;

/// The editor at the other end.
pub trait Editor: Send + Sync {
    /// Who the client is; told once, before anything else.
    fn meet(&self, profile: &Profile);
    /// Shows a report in place of the former one of the same target.
    fn publish(&self, target: &Target, report: &Report);
    /// Asks the client to pull again.
    fn refresh(&self);
    /// Says something to the person.
    fn say(&self, level: Level, text: &str);
    /// Asks the client to watch the rulebooks and HEADs of the workspace.
    fn watch(&self);
    /// Opens a place.
    fn open(&self, place: Place);
    /// Asks the person; `answered` gets the answer.
    fn ask(&self, question: &str, choices: [&'static str; 2], answered: Answered);
    /// Asks the client to ask for lenses again.
    fn refresh_lenses(&self);
    /// Tells how far the index of a folder is.
    fn tell_filling(&self, folder: &Path, filling: Filling);
    /// Tells a client that wants to know how things stand.
    fn tell_status(&self, status: &Value);
    /// Tells a client that wants to know of a decision.
    fn tell_decision(&self, decision: &Decision);
}
