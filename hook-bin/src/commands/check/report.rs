//! The result of a run as plain data, that [`super::text`] and [`super::json`] write.
//!
//! Everything a repository says is kept as it is here; whoever writes it for a terminal escapes it.

use std::collections::HashSet;

use rules::Effect;

use super::excerpt::Excerpt;

/// The rule id of what the instruction check finds.
pub const INSTRUCTIONS: &str = "instruction-check";
/// The rule id of a changed rulebook.
pub const RULEBOOK: &str = "rulebook";

/// A place in a file; lines and columns count from 1, columns in characters, the end is exclusive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// Where it starts.
    pub line: u32,
    /// See `line`.
    pub column: u32,
    /// Where it ends.
    pub end_line: u32,
    /// See `end_line`.
    pub end_column: u32,
}

/// Where a rule stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The rulebook as shown.
    pub rulebook: String,
    /// The line of the rule's id, from 1.
    pub line: u32,
    /// The revision whose rulebook it is, unless it is today's.
    pub revision: Option<String>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The rule's id, [`INSTRUCTIONS`] or [`RULEBOOK`].
    pub rule: String,
    /// What it does.
    pub effect: Effect,
    /// What was found.
    pub what: String,
    /// Why the rule is there; may be empty.
    pub why: String,
    /// In the words of the hook.
    pub message: String,
    /// The quoted line, masked where the rule says so; empty for the file as a whole.
    pub text: String,
    /// The line it is reported on, counted as the file (a notebook: as its cell) counts; 0 for the file as a whole.
    pub line: u32,
    /// Where it stands; none for the file as a whole.
    pub range: Option<Range>,
    /// The notebook's cell, from 1, in which lines are counted.
    pub cell: Option<u32>,
    /// What is shown of the source.
    pub excerpt: Option<Excerpt>,
    /// Where the rule stands; none when no rule is behind it.
    pub origin: Option<Origin>,
}

/// One thing that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The file or folder as shown.
    pub path: String,
    /// The rule that could not be asked; none when it is more than one.
    pub rule: Option<String>,
    /// Why.
    pub why: String,
    /// Where the rule stands.
    pub origin: Option<Origin>,
}

/// What is wrong with a rulebook.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The rulebook as shown.
    pub rulebook: String,
    /// The revision whose rulebook it is, unless it is today's.
    pub revision: Option<String>,
    /// How bad it is.
    pub severity: rules::Severity,
    /// The rule it belongs to.
    pub rule: Option<String>,
    /// Where it stands; none when the rulebook cannot be read.
    pub range: Option<Range>,
    /// What is wrong.
    pub message: String,
    /// What is shown of the rulebook.
    pub excerpt: Option<Excerpt>,
}

/// What one file came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The file as shown.
    pub path: String,
    /// It has no text, so that only rules about any change were asked.
    pub is_opaque: bool,
    /// A rulebook holds for it.
    pub is_covered: bool,
    /// In the order of the file.
    pub found: Vec<Found>,
    /// What could not be checked.
    pub open: Vec<Open>,
    /// What was found already.
    known: HashSet<Saying>,
}

/// What makes two findings one: rule, effect, line, place, what.
type Saying = (String, Effect, u32, Option<Range>, String);

impl Outcome {
    /// Nothing so far of the file shown as `path`.
    pub fn of(path: String) -> Outcome {
        Outcome { path, ..Outcome::default() }
    }

    /// The same for a file that could not be judged at all.
    #[must_use]
    pub fn left_open(mut self, why: String) -> Outcome {
        self.open.push(Open { path: self.path.clone(), rule: None, why, origin: None });
        Outcome { is_covered: true, ..self }
    }

    /// Adds a finding, unless another rulebook said the same.
    pub fn add(&mut self, found: Found) {
        let saying = (found.rule.clone(), found.effect, found.line, found.range.clone(), found.what.clone());
        if self.known.insert(saying) {
            self.found.push(found);
        }
    }

    /// The same with its findings in the order of the file; none is added any more.
    #[must_use]
    pub fn in_order(mut self) -> Outcome {
        self.found.sort_by(|one, other| (one.line, &one.range).cmp(&(other.line, &other.range)));
        Outcome { known: HashSet::new(), ..self }
    }
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// One for each file, in the order of their paths.
    pub outcomes: Vec<Outcome>,
    /// What could not be looked at.
    pub open: Vec<Open>,
    /// What is wrong with the rulebooks.
    pub problems: Vec<Problem>,
}

/// Counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files judged.
    pub files: usize,
    /// Files without text among them.
    pub binary: usize,
    /// Files with a finding.
    pub with_findings: usize,
    /// Findings that deny.
    pub deny: usize,
    /// Findings that ask.
    pub ask: usize,
    /// Findings that warn.
    pub warn: usize,
    /// What could not be checked.
    pub unchecked: usize,
    /// Errors of rulebooks.
    pub errors: usize,
}

impl Report {
    /// Findings with their file.
    pub fn found(&self) -> impl Iterator<Item = (&str, &Found)> {
        self.outcomes.iter().flat_map(|outcome| outcome.found.iter().map(|found| (outcome.path.as_str(), found)))
    }

    /// What could not be checked.
    pub fn open(&self) -> impl Iterator<Item = &Open> {
        self.open.iter().chain(self.outcomes.iter().flat_map(|outcome| &outcome.open))
    }

    /// Counts everything.
    pub fn summary(&self) -> Summary {
        let count = |effect| self.found().filter(|(_, found)| found.effect == effect).count();
        Summary {
            files: self.outcomes.len(),
            binary: self.outcomes.iter().filter(|outcome| outcome.is_opaque).count(),
            with_findings: self.outcomes.iter().filter(|outcome| !outcome.found.is_empty()).count(),
            deny: count(Effect::Deny),
            ask: count(Effect::Ask),
            warn: count(Effect::Warn),
            unchecked: self.open().count(),
            errors: self.problems.iter().filter(|problem| problem.is_error()).count(),
        }
    }

    /// The exit status.
    pub fn status(&self) -> u8 {
        let summary = self.summary();
        match () {
            () if summary.errors > 0 => 2,
            () if summary.deny + summary.ask + summary.unchecked > 0 => 1,
            () => 0,
        }
    }
}

impl Problem {
    /// Today's rulebook is broken. What the base's had wrong is no error of whoever mends it: it only asks.
    pub fn is_error(&self) -> bool {
        self.severity == rules::Severity::Error && self.revision.is_none()
    }
}
