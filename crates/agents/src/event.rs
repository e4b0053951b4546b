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

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 2] = [Dialect::Claude, Dialect::Codex];

    /// The name that `--agent` takes.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Claude => "claude",
            Dialect::Codex => "codex",
        }
    }

    /// The dialect that `--agent` names.
    pub fn named(name: &str) -> Option<Dialect> {
        match name {
            "claude" | "claude-code" => Some(Dialect::Claude),
            "codex" => Some(Dialect::Codex),
            _ => None,
        }
    }
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
    const NAMED: [(&'static str, EventKind); 11] = [
        ("PreToolUse", EventKind::PreToolUse),
        ("PostToolUse", EventKind::PostToolUse),
        ("PostToolUseFailure", EventKind::PostToolUseFailure),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("SessionStart", EventKind::SessionStart),
        ("SessionEnd", EventKind::SessionEnd),
        ("Stop", EventKind::Stop),
        ("SubagentStop", EventKind::SubagentStop),
        ("PreCompact", EventKind::PreCompact),
        ("Notification", EventKind::Notification),
        ("PermissionRequest", EventKind::PermissionRequest),
    ];

    /// The kind an event's name stands for; the first letter may be small.
    pub fn named(name: &str) -> EventKind {
        let same = |known: &str| {
            name.len() == known.len() && name[1..] == known[1..] && name[..1].eq_ignore_ascii_case(&known[..1])
        };
        let known = name.is_ascii() && !name.is_empty();
        EventKind::NAMED
            .iter()
            .find(|(known_name, _)| known && same(known_name))
            .map_or(EventKind::Other, |(_, kind)| *kind)
    }

    /// The name that answers carry when the agent gave none; empty for [`EventKind::Other`].
    pub fn name(self) -> &'static str {
        EventKind::NAMED.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

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
    const NAMED: [(&'static str, PermissionMode); 6] = [
        ("default", PermissionMode::Default),
        ("acceptEdits", PermissionMode::AcceptEdits),
        ("plan", PermissionMode::Plan),
        ("bypassPermissions", PermissionMode::BypassPermissions),
        ("dontAsk", PermissionMode::DontAsk),
        ("auto", PermissionMode::Auto),
    ];

    /// The mode of this name.
    pub fn named(name: &str) -> PermissionMode {
        PermissionMode::NAMED
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(PermissionMode::Unknown, |(_, mode)| *mode)
    }

    /// The agents' own name of the mode; none for [`PermissionMode::Unknown`].
    pub fn name(self) -> Option<&'static str> {
        PermissionMode::NAMED.iter().find(|(_, mode)| *mode == self).map(|(name, _)| *name)
    }

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
    /// The agent's id of the call, for the record; untrusted text.
    pub call_id: Option<String>,
    /// The call, where the event has one. `Err` says in one line why a guarded tool's input could not be read.
    pub call: Option<Result<ToolCall, String>>,
    /// What is known of how the call went, where it is over.
    pub response: ToolResponse,
    /// How a session began (`startup`, `resume`, `clear`, `compact`, ...), where the event says; untrusted text.
    pub source: Option<String>,
    /// At a stop: the agent is already going on because a hook blocked the stop before.
    pub stop_active: bool,
}

impl Event {
    /// What an answer to this event needs to know of it.
    pub fn head(&self) -> Head<'_> {
        Head { dialect: self.dialect, kind: self.kind, name: &self.name, mode: self.mode }
    }
}

/// How a call went, by its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolResponse {
    /// There is no result.
    #[default]
    None,
    /// The result does not say.
    Unclear,
    /// The result is an object that does not say that it is an error.
    Succeeded,
    /// The result says that it is an error.
    Failed,
}

/// What an answer needs to know of the event it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// Who is answered.
    pub dialect: Dialect,
    /// What happened.
    pub kind: EventKind,
    /// The agent's own name of the event; empty stands for the name of `kind`.
    pub name: &'a str,
    /// Who is asked.
    pub mode: PermissionMode,
}

/// One tool call in canonical terms. Paths are as the agent wrote them.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolCall {
    /// Reads a file.
    Read {
        /// The file; empty where the call does not say.
        path: String,
    },
    /// Searches.
    Search {
        /// Through what.
        among: Among,
        /// What is searched for, where the call says.
        pattern: Option<String>,
    },
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
        /// The text; an argument vector is given quoted, except that of `sh -c TEXT`, which is given as TEXT.
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

impl ToolCall {
    /// What every agent's tool of this kind is called, for whoever names tools whatever the agent; none where only the
    /// agent's own name says what it is.
    pub fn canonical(&self) -> Option<&'static str> {
        match self {
            ToolCall::Read { .. } => Some("read"),
            ToolCall::Search { .. } => Some("search"),
            ToolCall::List => Some("list"),
            ToolCall::Write { .. } => Some("write"),
            ToolCall::Edit { .. } | ToolCall::Patch { .. } | ToolCall::Notebook(_) => Some("edit"),
            ToolCall::Shell { .. } => Some("shell"),
            ToolCall::Mcp { .. } | ToolCall::Other => None,
        }
    }
}

/// What a search goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// The text of files.
    Texts,
    /// The names of files.
    Paths,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_map_both_ways() {
        for (name, kind) in EventKind::NAMED {
            assert_eq!(EventKind::named(name), kind);
            assert_eq!(kind.name(), name);
        }
        for (name, kind) in [
            ("preToolUse", EventKind::PreToolUse),
            ("pretooluse", EventKind::Other),
            ("", EventKind::Other),
            ("éreToolUse", EventKind::Other),
            ("PostToolBatch", EventKind::Other),
        ] {
            assert_eq!(EventKind::named(name), kind, "{name}");
        }
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::named(dialect.name()), Some(dialect));
        }
        assert_eq!(PermissionMode::named("dontAsk").name(), Some("dontAsk"));
        assert_eq!(PermissionMode::named("yolo"), PermissionMode::Unknown);
    }
}
