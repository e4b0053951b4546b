//! What a person can do about a diagnostic: have it mended as the rule says, go to the rule, have it explained.

use std::path::Path;
use std::sync::Arc;

use crate::features::diagnostics::{Diagnostic, Report, Severity};
use crate::text::{Encoding, Position};

/// Most characters of a replacement in a menu.
const SHOWN: usize = 60;

/// One offered action.
#[derive(Debug, Clone)]
pub struct Action {
    /// What the menu says.
    pub title: String,
    /// What it does.
    pub does: Does,
    /// The diagnostic that it is for: an index into the report's.
    pub diagnostic: usize,
}

/// What an action does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// Runs a command of the server.
    Run(Command),
    /// Writes this in place of what is underlined.
    Write(String),
}

/// The command behind an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Opens the rulebook at the rule.
    OpenRule {
        /// The rulebook.
        path: Arc<Path>,
        /// The rule.
        id: String,
    },
    /// Says which rule of which rulebook speaks, why and where.
    Explain {
        /// The rulebook.
        path: Arc<Path>,
        /// The rule.
        id: String,
        /// The line, from 1, of the document.
        line: u32,
    },
}

/// The actions for the diagnostics that touch a range, each rule once.
pub fn offer(report: &Report, from: Position, to: Position, encoding: Encoding) -> Vec<Action> {
    let (from, to) = (report.text.offset(from, encoding).at, report.text.offset(to, encoding).at);
    let mut offered: Vec<Action> = Vec::new();
    for (index, diagnostic) in report.diagnostics.iter().enumerate() {
        let Some(rule) = &diagnostic.rule else { continue };
        if diagnostic.span.start > to || diagnostic.span.end < from {
            continue;
        }
        if let Some(fix) = &rule.fix {
            offered.push(Action { title: mending(fix, &rule.id), does: Does::Write(fix.clone()), diagnostic: index });
        }
        let line = report.text.line_number(diagnostic.span.start);
        let (path, id) = (rule.path.clone(), rule.id.clone());
        let open = Command::OpenRule { path: path.clone(), id: id.clone() };
        let open = Does::Run(open);
        if offered.iter().any(|action| action.does == open) {
            continue;
        }
        offered.push(Action { title: format!("Go to rule {}", plain_id(&id)), does: open, diagnostic: index });
        let explain = Command::Explain { path, id: id.clone(), line };
        offered.push(Action {
            title: format!("Explain {}", plain_id(&id)),
            does: Does::Run(explain),
            diagnostic: index,
        });
    }
    offered
}

fn mending(fix: &str, id: &str) -> String {
    match rules::plain::plain(fix, SHOWN) {
        fix if fix.trim().is_empty() => format!("Take it out ({})", plain_id(id)),
        fix => format!("Write {fix} instead ({})", plain_id(id)),
    }
}

/// Explains the rule's finding nearest to the line; none when the report has none of that rule.
pub fn explain(report: &Report, path: &Path, id: &str, line: u32) -> Option<String> {
    let of_rule =
        |diagnostic: &&Diagnostic| diagnostic.rule.as_ref().is_some_and(|rule| rule.id == id && *rule.path == *path);
    let distance = |diagnostic: &&Diagnostic| report.text.line_number(diagnostic.span.start).abs_diff(line);
    let diagnostic = report.diagnostics.iter().filter(of_rule).min_by_key(distance)?;
    let rule = diagnostic.rule.as_ref()?;
    let effect = effect_of(diagnostic.severity);
    Some(format!(
        "Line {}: {} [rule {} of {}, line {}; {effect}]",
        report.text.line_number(diagnostic.span.start),
        diagnostic.message,
        plain_id(id),
        rules::plain::plain(&system::paths::shown(path), rules::plain::PATH),
        rule.text.line_number(rule.span.start),
    ))
}

/// What becomes of an agent's edit for a finding.
pub fn effect_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "an agent's edit that adds this line is refused",
        Severity::Warning => "an agent's edit that adds this line asks a person",
        Severity::Information => "an agent's edit that adds this line goes ahead and is told so",
        Severity::Hint => "the line stood there before: an edit of other lines is not judged by it",
    }
}

/// An id as it may be shown.
pub fn plain_id(id: &str) -> String {
    rules::plain::plain(id, rules::plain::ID)
}
