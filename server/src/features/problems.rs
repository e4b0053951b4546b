//! What is wrong in our own files: rulebooks and config.toml.

use std::path::Path;

use guard::Config;
use guard::config::PROJECT_CONFIG;

use crate::features::diagnostics::{Diagnostic, RULEBOOK, Severity};
use crate::text::Text;

/// The code of what is wrong in a config.toml.
const CONFIG: &str = "config";

/// What is wrong in a rulebook.
pub fn of_rulebook(problems: &[rules::Problem]) -> Vec<Diagnostic> {
    let shown = problems.iter().map(|problem| Diagnostic {
        span: problem.span.clone(),
        severity: match problem.severity {
            rules::Severity::Error => Severity::Error,
            rules::Severity::Warning => Severity::Warning,
        },
        code: RULEBOOK.to_owned(),
        message: rules::plain::plain(&problem.message, rules::plain::WHY),
        rule: None,
    });
    shown.collect()
}

/// Whether a file is a project's config.toml.
pub fn is_config(path: &Path) -> bool {
    path.ends_with(PROJECT_CONFIG)
}

/// What is wrong in a config.toml with this text: keys it does not know, and in a project's such as are the user's alone.
pub fn of_config(path: &Path, text: &Text) -> Vec<Diagnostic> {
    let mut config = Config::default();
    let bytes = Ok(Some(text.text.as_bytes().to_vec()));
    if is_config(path) {
        config.add_project(path, bytes);
    } else {
        config.add_user(path, bytes);
    }
    let shown = config.problems.iter().map(|problem| Diagnostic {
        span: text.line(problem.line.saturating_sub(1) as usize),
        severity: Severity::Error,
        code: CONFIG.to_owned(),
        message: rules::plain::plain(&problem.message, rules::plain::WHY),
        rule: None,
    });
    shown.collect()
}
