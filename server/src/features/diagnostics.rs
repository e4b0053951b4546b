//! What a document's current edit does to the rules that hold for it: the one function behind push and pull.
//!
//! The lines that the edit adds are judged as a hook would judge them: same rulebooks, same `Change`, same words. What
//! unchanged lines violate is shown beside it as hints. Everything that comes from a repository passes [`rules::plain`]
//! or the reasons of `rules`, which do that themselves.

use std::path::Path;
use std::sync::Arc;

use rules::{Change, Check, Effect, FactSource, Finding, Judge, Unchecked, Verdict};
use syntax::Span;

use crate::features::actions::plain_id;
use crate::features::baseline::Before;
use crate::rulebooks::Book;
use crate::stack::{Held, Holding};
use crate::text::Text;

/// The code of what the instruction check finds.
pub const INSTRUCTION_CHECK: &str = "instruction-check";
/// The code of what is wrong in a rulebook.
pub const RULEBOOK: &str = "rulebook";

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Stands in unchanged lines: an edit of other lines would not be refused for it.
    Hint,
    /// A rule says so and stops nothing.
    Information,
    /// A person would be asked.
    Warning,
    /// The edit would be refused.
    Error,
}

/// Where a rule stands.
#[derive(Debug, Clone)]
pub struct RulePlace {
    /// The rule's id.
    pub id: String,
    /// The rulebook.
    pub path: Arc<Path>,
    /// Its content when it was judged by.
    pub book: Arc<Book>,
    /// The rule's id in the text.
    pub span: Span,
}

/// One thing to show.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// What to underline.
    pub span: Span,
    /// How much it matters.
    pub severity: Severity,
    /// The rule's id, [`INSTRUCTION_CHECK`] or [`RULEBOOK`].
    pub code: String,
    /// Rule, why, and what would pass: plain text in one line.
    pub message: String,
    /// The rule behind it.
    pub rule: Option<RulePlace>,
}

/// What is to be shown of one state of one document.
#[derive(Debug)]
pub struct Report {
    /// The document's stamp when it was made.
    pub stamp: u64,
    /// The client's number of the text; none for a file that is not open.
    pub version: Option<i32>,
    /// The text it is about.
    pub text: Text,
    /// What is to be shown, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// A document as it is judged.
pub struct Subject<'a> {
    /// Its text.
    pub text: &'a Text,
    /// What the current edit is measured against.
    pub before: &'a Before,
    /// What holds for it.
    pub held: &'a Held,
    /// Whether violations in unchanged lines are shown.
    pub hints: bool,
}

impl Subject<'_> {
    /// Judges the document's current edit.
    pub fn diagnose(&self, facts: &dyn FactSource) -> Vec<Diagnostic> {
        let judge = Judge { facts, case: self.held.case };
        let before = self.before_text();
        let is_edited = before.as_ref() != Some(&self.text.text);
        let edit = Change::between(self.held.shown.clone(), Vec::new(), before, self.text.text.clone());
        let whole = (self.hints && edit.before.is_some())
            .then(|| Change::created(self.held.shown.clone(), Vec::new(), self.text.text.clone()));
        let mut shown = self.unreadable();
        for holding in &self.held.holdings {
            let rules = holding.book.rules();
            let mut verdict = Verdict::default();
            let mut standing = Vec::new();
            for names in &holding.views {
                if is_edited {
                    merge(&mut verdict, judge.judge(rules, &edit.named(edit.path.clone(), names.clone())));
                }
                if let Some(whole) = &whole {
                    let found = judge.judge(rules, &whole.named(whole.path.clone(), names.clone())).findings;
                    standing.extend(found.into_iter().filter(is_about_the_text));
                }
            }
            standing.retain(|old| !verdict.findings.iter().any(|new| is_same(new, old)));
            standing.dedup_by(|one, other| is_same(one, other));
            let first = edit.added.first().map(|line| &line.span);
            shown.extend(
                standing.iter().map(|finding| Diagnostic {
                    severity: Severity::Hint,
                    ..self.show_finding(holding, finding, None)
                }),
            );
            shown.extend(verdict.findings.iter().map(|finding| self.show_finding(holding, finding, first)));
            shown.extend(verdict.unchecked.iter().map(|unchecked| self.show_unchecked(holding, unchecked, first)));
        }
        shown.sort_by_key(|diagnostic| (diagnostic.span.start, std::cmp::Reverse(diagnostic.severity)));
        shown
    }

    fn unreadable(&self) -> Vec<Diagnostic> {
        let shown = self.held.unreadable.iter().map(|why| Diagnostic {
            span: self.text.line(0),
            severity: Severity::Warning,
            code: RULEBOOK.to_owned(),
            message: format!("a rulebook cannot be read: {}", rules::plain::plain(why, rules::plain::WHY)),
            rule: None,
        });
        shown.collect()
    }

    /// The text before as the editor would show it: an editor drops a byte order mark.
    fn before_text(&self) -> Option<Arc<str>> {
        let before = self.before.text.as_ref()?;
        match before.strip_prefix('\u{feff}') {
            Some(rest) if !self.text.text.starts_with('\u{feff}') => Some(rest.into()),
            _ => Some(before.clone()),
        }
    }

    fn show_finding(&self, holding: &Holding, finding: &Finding, first: Option<&Span>) -> Diagnostic {
        let severity = match finding.effect {
            Effect::Deny => Severity::Error,
            Effect::Ask => Severity::Warning,
            Effect::Warn => Severity::Information,
        };
        let span = match (&finding.span, finding.check) {
            (Some(span), _) => span.clone(),
            (None, Check::AnyChange) => first.cloned().unwrap_or_else(|| self.text.line(0)),
            (None, _) => self.text.line(0),
        };
        let rule = finding.rule.and_then(|rule| holding.place_of(rule));
        let message = rules::reason::message(holding.book.rules(), finding);
        Diagnostic { span, severity, ..said_by(rule, INSTRUCTION_CHECK, &message) }
    }

    fn show_unchecked(&self, holding: &Holding, unchecked: &Unchecked, first: Option<&Span>) -> Diagnostic {
        let span = first.cloned().unwrap_or_else(|| self.text.line(0));
        let why = rules::plain::plain(&unchecked.why, rules::plain::WHY);
        let message = match (unchecked.rule, unchecked.check) {
            (None, _) => {
                let path = rules::plain::plain(&system::paths::shown(&holding.path), rules::plain::PATH);
                format!("the rulebook {path} cannot be used: {why}")
            }
            (Some(_), Check::Load) => format!("the rule is disabled: {why}"),
            (Some(_), _) => format!("cannot be checked: {why}"),
        };
        let rule = unchecked.rule.and_then(|rule| holding.place_of(rule));
        Diagnostic { span, severity: Severity::Warning, ..said_by(rule, RULEBOOK, &message) }
    }
}

/// What a rule says, or what is said under the code `otherwise` where no rule does.
fn said_by(rule: Option<RulePlace>, otherwise: &str, message: &str) -> Diagnostic {
    let (code, message) = match &rule {
        Some(rule) => {
            let id = plain_id(&rule.id);
            let message = format!("{id}: {message}");
            (id, message)
        }
        None => (otherwise.to_owned(), message.to_owned()),
    };
    Diagnostic { span: 0..0, severity: Severity::Warning, code, message, rule }
}

/// Whether a finding is one that the text alone gives, whatever was changed in it.
fn is_about_the_text(finding: &Finding) -> bool {
    match finding.check {
        Check::Forbid | Check::ForbidCalls | Check::ForbidImports | Check::Require | Check::RequireDef => true,
        Check::Load | Check::AnyChange | Check::Question | Check::Instructions => false,
    }
}

/// Takes over what another view of the file gave beyond what is known.
fn merge(verdict: &mut Verdict, other: Verdict) {
    for finding in other.findings {
        if !verdict.findings.iter().any(|known| is_same(known, &finding)) {
            verdict.findings.push(finding);
        }
    }
    for unchecked in other.unchecked {
        if !verdict.unchecked.contains(&unchecked) {
            verdict.unchecked.push(unchecked);
        }
    }
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    (one.rule, one.check, one.item, &one.span) == (other.rule, other.check, other.item, &other.span)
}

/// What is wrong in a rulebook.
pub fn show_problems(problems: &[rules::Problem]) -> Vec<Diagnostic> {
    let shown = problems.iter().map(|problem| Diagnostic {
        span: problem.span.clone(),
        severity: match problem.severity {
            rules::Severity::Error => Severity::Error,
            rules::Severity::Warning => Severity::Warning,
        },
        code: RULEBOOK.to_owned(),
        message: problem.message.clone(),
        rule: None,
    });
    shown.collect()
}
