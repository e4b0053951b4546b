//! What an agent says, in canonical terms.

use std::path::PathBuf;

/// An agent's way of speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
}

/// What happened or is about to happen. An agent's own names map onto these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are Claude Code's own event names")]
pub enum EventKind {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    UserPromptSubmit,
    SessionStart,
    SessionEnd,
    Stop,
    SubagentStop,
    PreCompact,
    Notification,
    PermissionRequest,
    /// Any other: nothing is ever said.
    Other,
}

impl EventKind {
    /// Whether a decision on a tool call is due.
    pub fn decides(self) -> bool {
        matches!(self, EventKind::PreToolUse | EventKind::PermissionRequest)
    }
}

/// Who is asked before a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are Claude Code's own mode names")]
pub enum PermissionMode {
    Default,
    AcceptEdits,
    Plan,
    BypassPermissions,
    DontAsk,
    Auto,
    /// The agent did not say, or said something unknown.
    Unknown,
}

impl PermissionMode {
    /// Nobody is there to answer an ask (S17).
    pub fn unattended(self) -> bool {
        matches!(self, PermissionMode::BypassPermissions | PermissionMode::Auto | PermissionMode::DontAsk)
    }
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Who speaks.
    pub dialect: Dialect,
    /// What happened.
    pub kind: EventKind,
    /// The agent's own name of the event, needed in the answer; empty when it gave none.
    pub name: String,
    /// The agent's session id; untrusted text.
    pub session: Option<String>,
    /// The subagent's id; untrusted text.
    pub agent: Option<String>,
    /// The agent's working folder.
    pub cwd: Option<PathBuf>,
    /// Who is asked.
    pub mode: PermissionMode,
    /// The agent's own name of the tool; empty where the event has none.
    pub tool: String,
    /// The call, where the event has one. `Err` says in one line why a guarded tool's input could not be read.
    pub call: Option<Result<ToolCall, String>>,
}

/// One tool call in canonical terms. Paths are as the agent wrote them.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolCall {
    /// Reads a file.
    Read {
        /// The file.
        path: String,
    },
    /// Searches text or names.
    Search,
    /// Lists a folder.
    List,
    /// Replaces a file's whole content.
    Write {
        /// The file.
        path: String,
        /// Its new text.
        content: String,
    },
    /// Replaces pieces of a file, in order, each on the text the former left.
    Edit {
        /// The file.
        path: String,
        /// The replacements.
        steps: Vec<EditStep>,
    },
    /// A patch in the `*** Begin Patch` form; paths are relative to the event's cwd.
    Patch {
        /// The patch.
        text: String,
    },
    /// Changes one cell of a notebook.
    Notebook(NotebookEdit),
    /// Runs a command: a shell text, or an argument vector that no shell sees.
    Shell {
        /// The text; an argument vector is given quoted.
        command: String,
    },
    /// A tool of an MCP server.
    Mcp {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
        /// Its input, as JSON text.
        input: String,
    },
    /// Any other tool.
    Other,
}

/// One replacement of an [`ToolCall::Edit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditStep {
    /// What is replaced; empty creates the file.
    pub old: String,
    /// What stands there afterwards.
    pub new: String,
    /// Every occurrence, not just the only one.
    pub all: bool,
}

/// A change of one notebook cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookEdit {
    /// The notebook.
    pub path: String,
    /// The cell; none is the first (or, when inserting, the start).
    pub cell: Option<String>,
    /// Its new source.
    pub source: String,
    /// Whether it is code; none leaves what it was.
    pub code: Option<bool>,
    /// What is done.
    pub mode: NotebookMode,
}

/// What a notebook edit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "said by their names")]
pub enum NotebookMode {
    Replace,
    Insert,
    Delete,
}
