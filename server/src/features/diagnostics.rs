//! What a document's current edit does to the rules that hold for it: the one function behind push and pull.
//!
//! The lines that the edit adds are judged as a hook would judge them: same rulebooks, same `Change`, same words. What
//! unchanged lines violate is shown beside it as hints. Everything that comes from a repository passes [`rules::plain`]
//! or the reasons of `rules`, which do that themselves.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use guard::config::InstructionCheck;
use guard::{Config, Judging, Part, Spelled, Stack, Surroundings};
use rules::plain::{ID, PATH, WHY, plain};
use rules::{Change, Check, Effect, FactSource, Finding, Unchecked};
use syntax::Span;

use crate::features::allowance;
use crate::features::baseline::Before;
use crate::features::hooks::Offer;
use crate::rulebooks::{LastGood, Rulebooks};
use crate::text::Text;

/// The code of what the instruction check finds.
pub const INSTRUCTION_CHECK: &str = "instruction-check";
/// The code of what is wrong in a rulebook, and of what no rule says.
pub const RULEBOOK: &str = "rulebook";

/// How many diagnostics of one document are shown; more than anyone looks at, few enough for any client.
const MOST: usize = 2000;

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
    /// Its text when it was judged by.
    pub text: Arc<Text>,
    /// The rule's id in the text.
    pub span: Span,
    /// What the rule would have in place of what is underlined.
    pub fix: Option<String>,
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
    /// What can be done about the hooks that the document is of.
    pub hooks: Vec<Offer>,
    /// Which of the diagnostics are what an agent was refused.
    pub refused: Vec<Refused>,
    /// What can be allowed after the review that the document is.
    pub allowances: Vec<allowance::Offer>,
}

/// One diagnostic that is a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// An index into the report's.
    pub diagnostic: usize,
    /// The decision.
    pub decision: String,
    /// Whether it may be allowed once.
    pub reviewable: bool,
}

impl Report {
    /// What is shown of a file that is not open.
    pub fn of_file(text: Text, diagnostics: Vec<Diagnostic>) -> Report {
        let (hooks, refused, allowances) = (Vec::new(), Vec::new(), Vec::new());
        Report { stamp: 0, version: None, text, diagnostics, hooks, refused, allowances }
    }
}

/// A document as it is judged.
pub struct Subject<'a> {
    text: &'a Text,
    file: Spelled,
    stack: Stack,
    surroundings: Surroundings,
    user: Option<&'a Path>,
    /// The settings that hold for it.
    pub config: Config,
}

impl<'a> Subject<'a> {
    /// The document `path` with this text; `user` is the user's folder, where it may be used.
    pub fn new(path: &Path, text: &'a Text, user: Option<&'a Path>) -> Subject<'a> {
        let surroundings = Surroundings::default();
        let file = Spelled::new(path.to_path_buf());
        let stack = guard::stack::stack(&file, &surroundings, user);
        let config = Config::load(user, stack.roots.iter().map(|(root, _)| root.as_path()));
        Subject { text, file, stack, surroundings, user, config }
    }

    /// Judges the current edit: what leads from `before` to the text. With `hints` also what is violated elsewhere.
    pub fn diagnose(
        &self,
        before: &Before,
        rulebooks: &Rulebooks,
        facts: &dyn FactSource,
        hints: bool,
    ) -> Vec<Diagnostic> {
        let books = LastGood::of(rulebooks);
        let judging =
            Judging { books: &books, facts, accelerator: None, surroundings: &self.surroundings, user: self.user };
        let judge = |before: Option<Arc<str>>| {
            let (path, names) = (self.stack.shown.clone(), vec![self.stack.shown.clone()]);
            let change = Change::between(path, names, before, self.text.text.clone());
            let judged = judging.judge(&self.file, &self.stack, &change, None);
            (change, judged)
        };
        let before = self.before_text(before);
        let mut shown = Shown { text: self.text, first_changed: None, texts: HashMap::new(), diagnostics: Vec::new() };
        let mut new = HashSet::new();
        if before.as_ref() != Some(&self.text.text) {
            let (change, judged) = judge(before.clone());
            shown.first_changed = change.added.first().map(|line| line.span.clone());
            for part in &judged.parts {
                new.extend(part.verdict.findings.iter().map(|finding| place(part, finding)));
                part.verdict.findings.iter().for_each(|finding| shown.finding(part, finding));
                part.verdict.unchecked.iter().for_each(|unchecked| shown.unchecked(part, unchecked));
            }
            judged.failures.iter().for_each(|why| shown.failure(why));
            let effect = match self.config.instruction_check {
                InstructionCheck::Off => None,
                InstructionCheck::Warn => Some(Effect::Warn),
                InstructionCheck::Ask => Some(Effect::Ask),
            };
            let instructions = effect.map(|effect| judging.instructions(&judged, &change, effect));
            instructions.iter().flatten().for_each(|finding| shown.instruction(finding));
        }
        if hints && before.is_some() {
            for part in judge(None).1.parts {
                let standing = part.verdict.findings.iter().filter(|finding| is_about_the_text(finding));
                standing
                    .filter(|it| !new.contains(&place(&part, it)))
                    .for_each(|finding| shown.standing(&part, finding));
            }
        }
        books.unreadable().iter().for_each(|why| shown.failure(&format!("a rulebook cannot be read: {why}")));
        shown.into_diagnostics()
    }

    /// The text before as the editor would show it: an editor drops a byte order mark.
    fn before_text(&self, before: &Before) -> Option<Arc<str>> {
        let before = before.text.as_ref()?;
        match before.strip_prefix('\u{feff}') {
            Some(rest) if !self.text.text.starts_with('\u{feff}') => Some(rest.into()),
            _ => Some(before.clone()),
        }
    }
}

/// What tells findings of one file apart.
type FindingPlace = (PathBuf, Option<usize>, Check, usize, Option<Span>);

fn place(part: &Part, finding: &Finding) -> FindingPlace {
    (part.book.path.clone(), finding.rule, finding.check, finding.item, finding.span.clone())
}

/// Whether a finding is one that the text alone gives, whatever was changed in it.
fn is_about_the_text(finding: &Finding) -> bool {
    match finding.check {
        Check::Forbid | Check::ForbidCalls | Check::ForbidImports | Check::Require | Check::RequireDef => true,
        Check::Load | Check::AnyChange | Check::Question | Check::Instructions => false,
    }
}

fn severity_of(effect: Effect) -> Severity {
    match effect {
        Effect::Deny => Severity::Error,
        Effect::Ask => Severity::Warning,
        Effect::Warn => Severity::Information,
    }
}

/// What is to be shown, as it is gathered.
struct Shown<'a> {
    text: &'a Text,
    first_changed: Option<Span>,
    /// The texts of rulebooks that have something to say.
    texts: HashMap<PathBuf, Arc<Text>>,
    diagnostics: Vec<Diagnostic>,
}

impl Shown<'_> {
    fn finding(&mut self, part: &Part, finding: &Finding) {
        let severity = severity_of(finding.effect);
        let span = match (&finding.span, finding.check) {
            (Some(span), _) => span.clone(),
            (None, Check::AnyChange) => self.first_line(),
            (None, _) => self.text.line(0),
        };
        self.add_finding(part, finding, span, severity);
    }

    fn instruction(&mut self, finding: &Finding) {
        let severity = severity_of(finding.effect);
        let span = finding.span.clone().unwrap_or_else(|| self.first_line());
        let (code, message) = (INSTRUCTION_CHECK.to_owned(), rules::reason::INSTRUCTIONS.to_owned());
        self.diagnostics.push(Diagnostic { span, severity, code, message, rule: None });
    }

    /// A finding in what the edit does not change.
    fn standing(&mut self, part: &Part, finding: &Finding) {
        let span = finding.span.clone().unwrap_or_else(|| self.text.line(0));
        self.add_finding(part, finding, span, Severity::Hint);
    }

    fn unchecked(&mut self, part: &Part, unchecked: &Unchecked) {
        let why = plain(&unchecked.why, WHY);
        let message = match (unchecked.rule, unchecked.check) {
            (None, _) => {
                let path = plain(&system::paths::shown(&part.book.path), PATH);
                format!("the rulebook {path} cannot be used: {why}")
            }
            (Some(_), Check::Load) => format!("the rule is disabled: {why}"),
            (Some(_), _) => format!("cannot be checked: {why}"),
        };
        let span = self.first_line();
        self.add(part, unchecked.rule, None, span, Severity::Warning, &message);
    }

    fn failure(&mut self, why: &str) {
        let (span, code, message) = (self.first_line(), RULEBOOK.to_owned(), plain(why, WHY));
        self.diagnostics.push(Diagnostic { span, severity: Severity::Warning, code, message, rule: None });
    }

    fn first_line(&self) -> Span {
        self.first_changed.clone().unwrap_or_else(|| self.text.line(0))
    }

    fn add_finding(&mut self, part: &Part, finding: &Finding, span: Span, severity: Severity) {
        let fix = part.book.book.fix(finding, &self.text.text);
        let message = rules::reason::message(&part.book.book, finding, fix.as_deref());
        self.add(part, finding.rule, fix, span, severity, &message);
    }

    fn add(
        &mut self,
        part: &Part,
        rule: Option<usize>,
        fix: Option<String>,
        span: Span,
        severity: Severity,
        message: &str,
    ) {
        let rule = rule.and_then(|rule| self.place_of(part, rule)).map(|rule| RulePlace { fix, ..rule });
        let (code, message) = match &rule {
            Some(rule) => (plain(&rule.id, ID), format!("{}: {message}", plain(&rule.id, ID))),
            None => (RULEBOOK.to_owned(), message.to_owned()),
        };
        self.diagnostics.push(Diagnostic { span, severity, code, message, rule });
    }

    fn place_of(&mut self, part: &Part, rule: usize) -> Option<RulePlace> {
        let rule = part.book.book.rules.get(rule)?;
        let path = &part.book.path;
        let text = self.texts.entry(path.clone()).or_insert_with(|| Text::new(part.book.book.text()).into());
        let (id, span) = (rule.id.clone(), rule.id_span.clone());
        Some(RulePlace { id, path: path.as_path().into(), text: text.clone(), span, fix: None })
    }

    /// In the order of the text, each once (a file can be seen under several names), no more than can be looked at.
    fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut known = HashSet::new();
        let mut diagnostics = self.diagnostics;
        diagnostics.retain(|it| known.insert((it.span.clone(), it.code.clone(), it.message.clone())));
        diagnostics.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
        let more = diagnostics.len().saturating_sub(MOST);
        diagnostics.truncate(MOST);
        if more > 0 {
            let message = format!("{more} more findings in this file are not shown");
            let (span, code) = (self.text.line(0), RULEBOOK.to_owned());
            diagnostics.push(Diagnostic { span, severity: Severity::Information, code, message, rule: None });
        }
        diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, std::cmp::Reverse(diagnostic.severity)));
        diagnostics
    }
}
