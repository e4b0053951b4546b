//! A loaded rulebook: its rules, and every problem of its text with the place to underline.

use syntax::Span;

use crate::verdict::Effect;

/// How a rulebook is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON, by the extension `.json`.
    Json,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The rule stays loaded.
    Warning,
    /// The rule is disabled (what it covers asks); without `rule`, the whole rulebook is.
    Error,
}

/// One problem of a rulebook's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The id, or the number from 1, of the rule it belongs to; none for the file as a whole.
    pub rule: Option<String>,
    /// What to underline, in the rulebook's text.
    pub span: Span,
    /// Line and column from 1 (columns in characters) of the span's start.
    pub line: u32,
    /// See `line`.
    pub column: u32,
    /// What is wrong and what would be right, in one line.
    pub message: String,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its id; `rule N` when it has none that can be used.
    pub id: String,
    /// Why it is there; empty when it does not say.
    pub why: String,
    /// What a finding does.
    pub on_fail: Effect,
    /// The rule's table in the rulebook's text, and the value of its `id` (where "go to rule" lands).
    pub span: Span,
    /// See `span`.
    pub id_span: Span,
}

/// A loaded rulebook.
#[derive(Debug, Clone)]
pub struct Rulebook {
    /// The rules in document order, disabled ones included.
    pub rules: Vec<Rule>,
    /// Every problem, in document order.
    pub problems: Vec<Problem>,
    /// SHA-256 of the text.
    pub digest: [u8; 32],
}

impl Rulebook {
    /// Loads a rulebook from its bytes. Never fails: what is wrong is in [`Rulebook::problems`], and what a wrong part
    /// would have covered asks.
    pub fn load(_bytes: &[u8], _format: Format) -> Rulebook {
        Rulebook { rules: Vec::new(), problems: Vec::new(), digest: [0; 32] }
    }
}
