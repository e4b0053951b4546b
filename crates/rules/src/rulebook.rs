//! A loaded rulebook: its rules, and every problem of its text with the place to underline.
//!
//! Loading is cheap: keys, types, globs and specs are checked, regexes are not. A regex is checked when its rule is
//! selected for a path, or all of them by [`Rulebook::validate`]; which of the two came first changes no verdict.

use std::sync::Arc;

use syntax::{LineIndex, Span};

use crate::document::{self, Entry, Value};
use crate::fix::Fix;
use crate::names::NameGlob;
use crate::paths::Paths;
use crate::pattern::Pattern;
use crate::plain::plain;
use crate::selection::{self, Selected};
use crate::specs::CallSpec;
use crate::verdict::Effect;
use crate::{Work, ids, reading};

/// The longest rulebook, in bytes.
pub const LONGEST: usize = 1 << 20;
/// The most rules of one rulebook.
pub const MOST_RULES: usize = 10_000;

/// How a rulebook is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON, by the extension `.json`.
    Json,
}

impl Format {
    /// The format of the rulebook at `path`: JSON by its extension, else TOML.
    pub fn of(path: &str) -> Format {
        if path.to_ascii_lowercase().ends_with(".json") { Format::Json } else { Format::Toml }
    }
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

/// Whether deleting a file can break what a rule requires of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDelete {
    /// It cannot.
    #[default]
    Ignore,
    /// A deleted file has nothing that is required.
    Judge,
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
    /// Whether quoted lines are masked where the rule's patterns match.
    pub redact: bool,
    /// See [`OnDelete`].
    pub on_delete: OnDelete,
    /// The files it is about; none when its `paths` cannot be read, so that it may be about any.
    pub paths: Option<Paths>,
    /// The rule's table in the rulebook's text, and the value of its `id` (where "go to rule" lands).
    pub span: Span,
    /// See `span`.
    pub id_span: Span,
    pub(crate) checks: Checks,
    /// What may stand in place of a match of `forbid`.
    pub(crate) fix: Option<Fix>,
    /// The first error of the rule, when it has one: it is disabled.
    pub(crate) broken: Option<String>,
}

/// What a rule looks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checks {
    pub forbid: Vec<Pattern>,
    pub forbid_calls: Vec<CallSpec>,
    pub forbid_imports: Vec<NameGlob>,
    pub require: Vec<Pattern>,
    pub require_def: Vec<String>,
    /// A question about the added lines.
    pub question: Option<String>,
    /// It is only asked when an added line matches one of these, if there are any.
    pub when: Vec<Pattern>,
}

impl Rule {
    /// Whether it has no check, so that any change of its files is its business.
    pub fn is_about_any_change(&self) -> bool {
        self.checks.is_empty()
    }
}

impl Checks {
    /// Whether the rule has no check: any change of its paths is its business.
    pub fn is_empty(&self) -> bool {
        self.forbid.is_empty()
            && self.forbid_calls.is_empty()
            && self.forbid_imports.is_empty()
            && self.require.is_empty()
            && self.require_def.is_empty()
            && self.question.is_none()
    }

    /// Every pattern, with the key it stands under.
    pub fn patterns(&self) -> impl Iterator<Item = (&'static str, &Pattern)> {
        let forbid = self.forbid.iter().map(|pattern| ("forbid", pattern));
        let require = self.require.iter().map(|pattern| ("require", pattern));
        forbid.chain(require).chain(self.when.iter().map(|pattern| ("when", pattern)))
    }
}

/// A loaded rulebook.
#[derive(Debug, Clone)]
pub struct Rulebook {
    /// The rules in document order, disabled ones included.
    pub rules: Vec<Rule>,
    /// The problems found so far, in document order; all of them after [`Rulebook::validate`].
    pub problems: Vec<Problem>,
    text: Arc<String>,
    /// The number in the text of each of the rules, in order, where some were left out.
    numbers: Option<Vec<usize>>,
}

impl Rulebook {
    /// Loads a rulebook from its bytes. Never fails: what is wrong is in [`Rulebook::problems`], and what a wrong part
    /// would have covered asks. Regexes are not looked at yet.
    pub fn load(bytes: &[u8], format: Format) -> Rulebook {
        Rulebook::load_with(bytes, format, None)
    }

    /// As [`Rulebook::load`], for who judges files that have no other names than these: rules that are about none of
    /// them may be left out, with their problems. No verdict on such a file is another for it.
    pub fn load_about(bytes: &[u8], format: Format, names: &[String]) -> Rulebook {
        Rulebook::load_with(bytes, format, Some(names))
    }

    /// As [`Rulebook::load_about`], where the text is at hand; without `names`, as [`Rulebook::load`].
    pub fn load_text(text: String, format: Format, names: Option<&[String]>) -> Rulebook {
        if text.len() > LONGEST {
            return Rulebook::too_long();
        }
        // A byte order mark gives way to blanks, so that places stay.
        let readable = match text.strip_prefix('\u{feff}') {
            Some(rest) => format!("   {rest}").into(),
            None => std::borrow::Cow::Borrowed(&*text),
        };
        let mut problems = Problems::default();
        let some = names.filter(|_| format == Format::Toml).and_then(|names| selection::read(&readable, names));
        let (mut rules, numbers) = match some {
            Some(Selected { rules, numbers, problems: found }) => {
                problems = found;
                (rules, Some(numbers))
            }
            None => (read(&readable, format, &mut problems), None),
        };
        let problems = problems.place(&text, &mut rules);
        Rulebook { rules, problems, text: text.into(), numbers }
    }

    fn load_with(bytes: &[u8], format: Format, names: Option<&[String]>) -> Rulebook {
        if bytes.len() > LONGEST {
            return Rulebook::too_long();
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Rulebook::load_text(text.to_owned(), format, names),
            Err(error) => {
                let text = String::from_utf8_lossy(bytes);
                let place = error.valid_up_to()..text.len().min(error.valid_up_to() + 3);
                Rulebook::unread(place, not_utf8(bytes), &text)
            }
        }
    }

    fn too_long() -> Rulebook {
        Rulebook::unread(0..0, format!("the rulebook is longer than {} KiB", LONGEST >> 10), "")
    }

    /// A text that is no rulebook.
    fn unread(place: Span, why: String, text: &str) -> Rulebook {
        let mut problems = Problems::default();
        problems.of_file(place, why);
        Rulebook {
            rules: Vec::new(),
            problems: problems.place(text, &mut []),
            text: Arc::new(text.to_owned()),
            numbers: None,
        }
    }

    /// As [`Rulebook::load`], with everything checked: for who shows problems.
    pub fn load_validated(bytes: &[u8], format: Format) -> Rulebook {
        let mut book = Rulebook::load(bytes, format);
        book.validate();
        book
    }

    /// Checks what loading left unchecked and adds its problems.
    pub fn validate(&mut self) {
        let rules = 0..self.rules.len();
        let of_rule =
            |rule| self.pattern_problems(rule).chain(self.pattern_warnings(rule)).chain(self.fix_warning(rule));
        let problems = rules.flat_map(of_rule);
        let problems: Vec<Problem> = problems.collect();
        for problem in problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        self.problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    }

    /// The rulebook's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the rule that has this number in the text, from 0, is among the rules; none when it was left out.
    pub(crate) fn index_of(&self, number: usize) -> Option<usize> {
        match &self.numbers {
            Some(numbers) => numbers.binary_search(&number).ok(),
            None => (number < self.rules.len()).then_some(number),
        }
    }

    /// Why no rule of it can be trusted to be there, if it is so: every change asks.
    pub fn unusable(&self) -> Option<String> {
        let whole = |problem: &&Problem| problem.rule.is_none() && problem.severity == Severity::Error;
        self.problems.iter().find(whole).map(Problem::with_line)
    }

    /// Why a rule is disabled, if it is: what it covers asks.
    pub fn disabled(&self, rule: usize) -> Option<String> {
        let known = self.rules.get(rule)?.broken.clone();
        known.or_else(|| self.pattern_problems(rule).next().map(|problem| problem.with_line()))
    }

    fn pattern_problems(&self, rule: usize) -> impl Iterator<Item = Problem> + '_ {
        let rule = &self.rules[rule];
        rule.checks.patterns().filter_map(|(key, pattern)| {
            let fault = pattern.fault()?;
            Some(self.in_pattern(rule, key, pattern, Severity::Error, &fault.span, &fault.message))
        })
    }

    fn pattern_warnings(&self, rule: usize) -> impl Iterator<Item = Problem> + '_ {
        let rule = &self.rules[rule];
        rule.checks.patterns().filter_map(|(key, pattern)| {
            let (span, message) = pattern.unlike_python()?;
            Some(self.in_pattern(rule, key, pattern, Severity::Warning, span, message))
        })
    }

    /// A group that `fix` takes something from and a pattern has not got.
    fn fix_warning(&self, rule: usize) -> Option<Problem> {
        let rule = &self.rules[rule];
        let fix = rule.fix.as_ref()?;
        let lacking = rule.checks.forbid.iter().find_map(|pattern| {
            let group = fix.lacks(pattern.regex(&mut Work::default()).ok()?)?;
            Some((pattern, group))
        });
        let (pattern, group) = lacking?;
        let source = plain(pattern.source(), 60);
        let message = format!("`fix` takes `{group}`, which `{source}` has not got; nothing is offered for it");
        let (id, span) = (Some(rule.id.clone()), pattern.span.clone());
        Some(Problem::placed(&self.text, Severity::Warning, id, span, message))
    }

    /// A problem at a part of a pattern.
    fn in_pattern(
        &self,
        rule: &Rule,
        key: &str,
        pattern: &Pattern,
        severity: Severity,
        part: &Span,
        message: &str,
    ) -> Problem {
        let place = |offset| document::place_in_string(&self.text, &pattern.span, offset);
        let start = place(part.start);
        let span = start..place(part.end).max(start);
        Problem::placed(&self.text, severity, Some(rule.id.clone()), span, format!("`{key}` pattern: {message}"))
    }
}

impl Problem {
    fn placed(text: &str, severity: Severity, rule: Option<String>, span: Span, message: String) -> Problem {
        let (line, column) = line_and_column(text, &LineIndex::new(text), span.start);
        Problem { severity, rule, span, line, column, message }
    }

    /// The message with its line in front.
    pub fn with_line(&self) -> String {
        format!("line {}: {}", self.line, self.message)
    }
}

/// Problems as they are found, without their lines.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Found>,
}

#[derive(Debug)]
struct Found {
    severity: Severity,
    rule: Option<usize>,
    span: Span,
    message: String,
}

impl Problems {
    /// An error of the file as a whole.
    pub fn of_file(&mut self, span: Span, message: String) {
        self.add(Severity::Error, None, span, message);
    }

    /// A problem of the rule with this index, or of the file.
    pub fn add(&mut self, severity: Severity, rule: Option<usize>, span: Span, message: impl Into<String>) {
        self.found.push(Found { severity, rule, span, message: message.into() });
    }

    /// The problems in document order with their lines; disables the rules that have an error.
    fn place(mut self, text: &str, rules: &mut [Rule]) -> Vec<Problem> {
        if self.found.is_empty() {
            return Vec::new();
        }
        self.found.sort_by_key(|found| (found.span.start, found.span.end));
        let lines = LineIndex::new(text);
        let mut placed = Vec::with_capacity(self.found.len());
        for Found { severity, rule, span, message } in self.found {
            let (line, column) = line_and_column(text, &lines, span.start);
            let mut of_rule = rule.and_then(|index| rules.get_mut(index));
            let id = of_rule.as_ref().map(|rule| rule.id.clone());
            let problem = Problem { severity, rule: id, span, line, column, message };
            if let Some(rule) = of_rule.as_mut().filter(|rule| severity == Severity::Error && rule.broken.is_none()) {
                rule.broken = Some(problem.with_line());
            }
            placed.push(problem);
        }
        placed
    }
}

/// Line and column, both from 1.
fn line_and_column(text: &str, lines: &LineIndex, offset: usize) -> (u32, u32) {
    let line = lines.line_of(offset);
    let before = text.get(lines.start(line).unwrap_or_default()..offset).unwrap_or_default();
    (line as u32 + 1, before.chars().count() as u32 + 1)
}

fn not_utf8(bytes: &[u8]) -> String {
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_utf16 { "the rulebook is UTF-16; save it as UTF-8".into() } else { "the rulebook is not UTF-8 here".into() }
}

fn read(text: &str, format: Format, problems: &mut Problems) -> Vec<Rule> {
    let top = match document::parse(text, format) {
        Ok(top) => top,
        Err(errors) => {
            for error in errors {
                problems.of_file(error.span, format!("the rulebook does not parse: {}", error.message));
            }
            return Vec::new();
        }
    };
    let list = top.iter().find(|entry| entry.key == "rule").or_else(|| top.iter().find(|entry| entry.key == "rules"));
    for entry in &top {
        if list.is_none_or(|list| list.key_span != entry.key_span) {
            problems.add(Severity::Warning, None, entry.key_span.clone(), unknown_at_top(entry));
        }
    }
    let Some(list) = list else { return Vec::new() };
    let Value::List(items) = &list.node.value else {
        let message = match (&list.node.value, format) {
            (Value::Table(_), Format::Toml) => {
                "expected a list of rules: write `[[rule]]`, with two brackets".to_owned()
            }
            (other, _) => format!("expected a list of rules ([[rule]] tables), not {}", other.kind()),
        };
        problems.of_file(list.key_span.clone(), message);
        return Vec::new();
    };
    if items.len() > MOST_RULES {
        problems.of_file(list.key_span.clone(), format!("more than {MOST_RULES} rules"));
        return Vec::new();
    }
    let rules: Vec<Rule> =
        items.iter().enumerate().map(|(index, item)| reading::rule(text, item, index, index, problems)).collect();
    ids::collisions(&rules, problems);
    rules
}

fn unknown_at_top(entry: &Entry) -> String {
    match &*entry.key {
        "rules" => "`rules` is not read because there is `rule`; put all rules under one of them".into(),
        "settings" => "settings belong into config.toml; this is not read".into(),
        key => {
            let key = crate::plain::plain(key, 60);
            match reading::nearest(&key, ["rule", "rules"]) {
                Some(near) => format!("the key `{key}` is not read; did you mean `{near}`?"),
                None => format!("the key `{key}` is not read; rules stand under `rule`"),
            }
        }
    }
}
