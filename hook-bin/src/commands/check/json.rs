//! The result as one JSON object, for scripts.
//!
//! ```json
//! {
//!   "version": 1,
//!   "findings": [{
//!     "rule": "no-eval",            "instruction-check" or "rulebook" where no rule is behind it
//!     "effect": "deny",             or "ask", "warn"
//!     "path": "src/a.py",           relative to the project's root, else absolute
//!     "line": 3, "column": 5,       from 1, columns in characters; null for the file as a whole
//!     "end_line": 3, "end_column": 9,   the end is exclusive
//!     "cell": null,                 the cell, from 1, that lines are counted in: notebooks only
//!     "message": "calls eval. Parse the input instead.",
//!     "text": "x = eval(y)",        the line, masked where the rule says so
//!     "rulebook": ".ruleline/rules.toml", "rule_line": 4,   null where no rule is behind it
//!     "revision": null              the base's revision, when the rulebook is the base's
//!   }],
//!   "unchecked": [{ "path", "rule", "why", "rulebook", "rule_line", "revision" }],
//!   "problems": [{ "severity", "rule", "rulebook", "revision", "line", "column", "end_line", "end_column", "message" }],
//!   "summary": { "files", "binary", "files_with_findings", "deny", "ask", "warn", "unchecked", "errors", "exit" }
//! }
//! ```
//! Keys are only added within a version. Order: by path, then by place. What is quoted is escaped as for a terminal; paths
//! and ids are as they are.

use rules::plain::{self, plain};
use rules::{Effect, Severity};
use serde_json::{Value, json};

use super::report::{Found, Open, Origin, Problem, Report};

/// The version of the schema.
const VERSION: u32 = 1;

/// The whole result, with a line end.
pub fn render(report: &Report) -> String {
    let summary = report.summary();
    let value = json!({
        "version": VERSION,
        "findings": report.found().map(|(path, found)| finding(path, found)).collect::<Vec<_>>(),
        "unchecked": report.open().map(unchecked).collect::<Vec<_>>(),
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
        "summary": {
            "files": summary.files,
            "binary": summary.binary,
            "files_with_findings": summary.with_findings,
            "deny": summary.deny,
            "ask": summary.ask,
            "warn": summary.warn,
            "unchecked": summary.unchecked,
            "errors": summary.errors,
            "exit": report.status(),
        },
    });
    format!("{value:#}\n")
}

fn finding(path: &str, found: &Found) -> Value {
    let whole = (found.line > 0).then_some(found.line);
    let origin = Source::of(found.origin.as_ref());
    json!({
        "rule": found.rule,
        "effect": match found.effect {
            Effect::Deny => "deny",
            Effect::Ask => "ask",
            Effect::Warn => "warn",
        },
        "path": path,
        "line": found.range.as_ref().map(|range| range.line).or(whole),
        "column": found.range.as_ref().map(|range| range.column),
        "end_line": found.range.as_ref().map(|range| range.end_line),
        "end_column": found.range.as_ref().map(|range| range.end_column),
        "cell": found.cell,
        "message": plain(&found.message, plain::WHY * 2),
        "text": plain(&found.text, plain::LINE * 8),
        "rulebook": origin.rulebook,
        "rule_line": origin.line,
        "revision": origin.revision,
    })
}

fn unchecked(open: &Open) -> Value {
    let origin = Source::of(open.origin.as_ref());
    json!({
        "path": open.path,
        "rule": open.rule,
        "why": plain(&open.why, plain::WHY),
        "rulebook": origin.rulebook,
        "rule_line": origin.line,
        "revision": origin.revision,
    })
}

fn problem(problem: &Problem) -> Value {
    json!({
        "severity": match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "rule": problem.rule,
        "rulebook": problem.rulebook,
        "revision": problem.revision,
        "line": problem.range.as_ref().map(|range| range.line),
        "column": problem.range.as_ref().map(|range| range.column),
        "end_line": problem.range.as_ref().map(|range| range.end_line),
        "end_column": problem.range.as_ref().map(|range| range.end_column),
        "message": plain(&problem.message, plain::WHY),
    })
}

/// An origin whose parts may be null.
#[derive(Default)]
struct Source<'a> {
    rulebook: Option<&'a str>,
    line: Option<u32>,
    revision: Option<&'a str>,
}

impl Source<'_> {
    fn of(origin: Option<&Origin>) -> Source<'_> {
        origin.map_or_else(Source::default, |origin| Source {
            rulebook: Some(&origin.rulebook),
            line: Some(origin.line),
            revision: origin.revision.as_deref(),
        })
    }
}
