//! One line of the log.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The call was refused.
    Deny,
    /// A person was asked.
    Ask,
    /// It was judged, and nothing was found.
    Allow,
    /// Nothing to say.
    None,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The shape of this line; 1.
    pub v: u32,
    /// Sixteen hex digits that no other line of this log has.
    pub id: String,
    /// When, as RFC 3339 in UTC with milliseconds.
    pub time: String,
    /// Who asked, by the name that `--agent` takes.
    pub agent: String,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The event in ruleline's name for it.
    pub event: String,
    /// The tool in the agent's name for it; empty where the event is about none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The project it was decided for.
    pub root: PathBuf,
    /// The files that a call changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<JudgedFile>,
    /// The shell command, secrets masked and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Digest (hex) of each rulebook that was looked at, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rulebooks: Vec<(PathBuf, String)>,
    /// What each guard said (`rules`, `instructions`, `protection`, `hooks`, `unsaved`), and microseconds it took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<(String, Outcome, u64)>,
    /// The answer.
    pub decision: Outcome,
    /// Why, as the agent was told; masked and bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Ids of the exceptions that a person allowed and this decision used up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_once: Vec<String>,
    /// The processes above the hook, innermost first (S13).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// Microseconds from start to answer.
    pub took: u64,
    /// SHA-256 (hex) of the line before, without its line feed; of nothing for the first. Set by [`crate::Log::append`].
    #[serde(default)]
    pub prev: String,
}

/// One file of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedFile {
    /// The file, canonical.
    pub path: PathBuf,
    /// SHA-256 (hex) of the added lines as `guard::once` counts them.
    pub digest: String,
    /// The added lines, masked, bounded in number and length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Added>,
    /// What was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The file would be gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// One added line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// Its number in the text after, from 1.
    pub line: u32,
    /// The line of the text before in whose place or before which it would stand, from 1.
    pub at: u32,
    /// The text, masked.
    pub text: String,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id; none for the instruction check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The rulebook it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rulebook: Option<PathBuf>,
    /// SHA-256 (hex) of the rulebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rulebook_digest: Option<String>,
    /// `deny`, `ask` or `warn`.
    pub effect: String,
    /// The line in the text after, from 1.
    pub line: u32,
    /// The line of the text before where it would stand, from 1.
    pub at: u32,
    /// What was found, masked and bounded.
    pub what: String,
}
