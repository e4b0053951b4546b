//! Where files are judged: the rulebooks that hold for each, the same calls as in the hook, and the result as plain data.
//!
//! Two rulebooks that say the same of the same place (the base's and today's, a worktree's and its main checkout's) are
//! heard once. It prints nothing and reads no file but rulebooks.

use std::path::{Path, PathBuf};

use agents::notebook;
use guard::books::PROJECT_RULES;
use guard::config::{InstructionCheck, PROJECT_CONFIG};
use guard::judge::{Judging, Part};
use guard::{LoadedBook, Place, RulebookSource as _, Surroundings};
use rules::plain::{self, plain};
use rules::{Cell, Change, Check, Counting, Effect, Finding, Judge, ParseNow, Rulebook, Unchecked, Verdict};
use syntax::position::{Encoding, Positions};
use syntax::{LineIndex, Span};
use system::paths;

use super::Refusal;
use super::books::Shelf;
use super::excerpt::Excerpt;
use super::report::{Found, INSTRUCTIONS, Open, Origin, Outcome, Problem, RULEBOOK, Range, Report};
use super::subject::{Content, Sides, Subject, Text};

/// What is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All lines of files in which nothing changed.
    Files,
    /// What the index adds.
    Staged,
    /// What a branch adds.
    Branch,
}

/// Everything a file is judged with.
pub struct Bench {
    /// What is judged.
    pub scope: Scope,
    /// What is done about text that instructs.
    pub instructions: InstructionCheck,
    /// The rulebooks.
    pub shelf: Shelf,
    /// What is known beside the files.
    pub surroundings: Surroundings,
    /// The user's folders; none when the user database has none.
    pub user: Option<PathBuf>,
    /// What paths are shown relative to.
    pub root: PathBuf,
}

impl Bench {
    /// Judges one file.
    pub fn judge(&self, subject: &Subject, sides: Result<Sides, String>) -> Outcome {
        let judging = Judging {
            books: &self.shelf,
            facts: &ParseNow,
            accelerator: None,
            surroundings: &self.surroundings,
            user: self.user.as_deref(),
        };
        let stack = judging.stack(&subject.file);
        let mut outcome = Outcome { path: self.shown(&subject.file.written), ..Outcome::default() };
        let sides = match sides {
            Ok(sides) => sides,
            Err(why) => {
                outcome.is_covered = true;
                outcome.open.push(Open { path: outcome.path.clone(), rule: None, why, origin: None });
                return outcome;
            }
        };
        outcome.is_opaque = sides.after == Text::Opaque;
        let change = change(&outcome.path, &sides);
        let judged = judging.judge(&subject.file, &stack, &change, None);
        outcome.is_covered = !judged.parts.is_empty();
        for why in judged.failures {
            outcome.open.push(Open { path: outcome.path.clone(), rule: None, why, origin: None });
        }
        self.instructions(&change, &judged.parts, &mut outcome);
        for part in judged.parts {
            self.hear(&part.book, None, &part.change, part.verdict, &mut outcome);
        }
        for (book, names) in self.shelf.base_for(&subject.file) {
            outcome.is_covered = true;
            let change = change.named(change.path.clone(), names);
            let verdict = Judge::new(&ParseNow).judge(&book.loaded.book, &change);
            self.hear(&book.loaded, Some(&book.revision), &change, verdict, &mut outcome);
        }
        if self.scope == Scope::Branch {
            outcome.found.extend(rulebook_changed(subject, &change));
        }
        outcome.found.sort_by(|one, other| (one.line, &one.range).cmp(&(other.line, &other.range)));
        outcome
    }

    /// What a file comes to whose judging ended in an error of our own.
    pub fn failed(&self, subject: &Subject) -> Outcome {
        let path = self.shown(&subject.file.written);
        let why = "an error of ruleline itself, told on stderr".to_owned();
        let open = vec![Open { path: path.clone(), rule: None, why, origin: None }];
        Outcome { path, is_covered: true, open, ..Outcome::default() }
    }

    /// Takes over what one rulebook says.
    fn hear(
        &self,
        book: &LoadedBook,
        revision: Option<&str>,
        change: &Change,
        verdict: Verdict,
        outcome: &mut Outcome,
    ) {
        let origin = |rule: Option<usize>| {
            let rule = book.book.rules.get(rule?)?;
            let line = line_of(book.book.text(), rule.id_span.start);
            Some(Origin { rulebook: self.shown(&book.path), line, revision: revision.map(str::to_owned) })
        };
        for finding in verdict.findings.iter().filter(|finding| self.counts(finding.check, outcome.is_opaque)) {
            let found = found(book, change, finding, origin(finding.rule));
            let said = |known: &Found| {
                (&known.rule, known.line, &known.range, &known.what, known.effect)
                    == (&found.rule, found.line, &found.range, &found.what, found.effect)
            };
            if !outcome.found.iter().any(said) {
                outcome.found.push(found);
            }
        }
        for Unchecked { rule, check, why } in verdict.unchecked {
            let id = rule.and_then(|rule| book.book.rules.get(rule)).map(|rule| rule.id.clone());
            let known = |open: &Open| open.rule == id && open.why == why;
            if self.counts(check, outcome.is_opaque) && !outcome.open.iter().any(known) {
                outcome.open.push(Open { path: outcome.path.clone(), rule: id, why, origin: origin(rule) });
            }
        }
    }

    /// Whether a check has anything to do with what is judged.
    fn counts(&self, check: Check, is_opaque: bool) -> bool {
        match check {
            Check::Load => true,
            Check::AnyChange => self.scope != Scope::Files,
            _ => !is_opaque,
        }
    }

    fn instructions(&self, change: &Change, parts: &[Part], outcome: &mut Outcome) {
        let effect = match self.instructions {
            InstructionCheck::Off => return,
            InstructionCheck::Warn => Effect::Warn,
            InstructionCheck::Ask => Effect::Ask,
        };
        let books: Vec<&Rulebook> = parts.iter().map(|part| &part.book.book).collect();
        // The secrets that are masked are those of the rules about this file, by its name in the innermost root.
        let change = parts.first().map_or(change, |part| &part.change);
        for finding in Judge::new(&ParseNow).judge_instructions(&books, change, effect) {
            outcome.found.push(found_without_rule(INSTRUCTIONS, change, &finding));
        }
    }

    /// Adds what is wrong with the rulebooks.
    ///
    /// # Errors
    /// There was something to judge and no rulebook at all.
    pub fn conclude(&self, report: &mut Report) -> Result<(), Refusal> {
        // Also where there is nothing to judge, a broken rulebook is told.
        let own = match &self.surroundings.named {
            Some(named) => Place::named(&named.path),
            None => Place::of_project(&self.root),
        };
        let _ = self.shelf.load(&own);
        for (path, why) in self.shelf.unreadable() {
            report.open.push(Open { path: self.shown(&path), rule: None, why, origin: None });
        }
        for (revision, loaded) in self.shelf.all() {
            let problems = loaded.book.problems.iter();
            report.problems.extend(problems.map(|problem| self.problem(&loaded, revision.as_deref(), problem)));
        }
        let is_judged = report.outcomes.iter().any(|outcome| outcome.is_covered) || report.outcomes.is_empty();
        if is_judged || report.open().next().is_some() {
            return Ok(());
        }
        Err(format!("no rulebook: {PROJECT_RULES} is neither here nor above; `ruleline init` writes one"))
    }

    fn problem(&self, loaded: &LoadedBook, revision: Option<&str>, problem: &rules::Problem) -> Problem {
        let text = loaded.book.text();
        let index = LineIndex::new(text);
        let line = index.span(text, problem.line.saturating_sub(1) as usize).unwrap_or_default();
        let hit = problem.span.start.clamp(line.start, line.end)..problem.span.end.clamp(line.start, line.end);
        // Enough of the line is shown around what is wrong; a rulebook may be one long line.
        let shown = around(text, &line, &hit);
        let excerpt =
            Excerpt::whole(&text[shown.clone()], &(hit.start - shown.start..hit.end.min(shown.end) - shown.start));
        Problem {
            rulebook: self.shown(&loaded.path),
            revision: revision.map(str::to_owned),
            severity: problem.severity,
            rule: problem.rule.clone(),
            range: range(text, &index, &problem.span),
            message: problem.message.clone(),
            excerpt: (!text.is_empty()).then_some(excerpt),
        }
    }

    /// A path as it is shown: relative to the root where it lies below.
    fn shown(&self, path: &Path) -> String {
        let below = paths::relative(&self.root, path).or_else(|| paths::relative(&paths::resolve(&self.root), path));
        below.filter(|name| !name.is_empty()).unwrap_or_else(|| paths::shown(path))
    }
}

/// The change that two sides make; of a file without text only that it changed.
fn change(path: &str, sides: &Sides) -> Change {
    let (path, names) = (path.to_owned(), vec![path.to_owned()]);
    let (before, after) = (sides.before.known(), &sides.after);
    let after = match after {
        Text::Absent => return Change::deleted(path, names, before),
        Text::Opaque => return Change::between(path, names, before, "".into()),
        Text::Known(after) => after.clone(),
    };
    if notebook::is_notebook(&path)
        && let Some(after) = notebook::cells(&after)
    {
        let before = before.as_deref().and_then(notebook::cells);
        return Change::cells(path, names, before.as_deref().map(cells).as_deref(), &cells(&after));
    }
    Change::between(path, names, before, after)
}

fn cells(cells: &[agents::Cell]) -> Vec<Cell<'_>> {
    cells.iter().map(|cell| Cell { is_code: cell.code, source: &cell.source }).collect()
}

fn found(book: &LoadedBook, change: &Change, finding: &Finding, origin: Option<Origin>) -> Found {
    let rule = finding.rule.and_then(|rule| book.book.rules.get(rule));
    let id = rule.map_or(INSTRUCTIONS, |rule| &rule.id);
    Found {
        why: rule.map(|rule| rule.why.clone()).unwrap_or_default(),
        message: rules::reason::message(&book.book, finding),
        origin,
        ..found_without_rule(id, change, finding)
    }
}

fn found_without_rule(id: &str, change: &Change, finding: &Finding) -> Found {
    let line = change.added.iter().find(|line| line.number == finding.line).map(|line| line.span.clone());
    let index = LineIndex::new(&change.text);
    let line = line.or_else(|| index.span(&change.text, (finding.line as usize).checked_sub(1)?));
    let place = finding.span.as_ref().zip(line);
    let excerpt = place.as_ref().map(|(span, line)| Excerpt::quoted(&change.text, line, span, &finding.text));
    let range = place.map(|(span, line)| {
        let start = span.start.max(line.start);
        range(&change.text, &index, &(start..span.end.max(start)))
    });
    Found {
        rule: id.to_owned(),
        effect: finding.effect,
        what: finding.what.clone(),
        why: String::new(),
        message: plain(&finding.what, plain::WHY),
        text: finding.text.clone(),
        line: finding.line,
        range,
        cell: None,
        excerpt,
        origin: None,
    }
    .in_cell(&change.counting)
}

impl Found {
    /// The same with lines counted in the notebook's cell, where there are cells.
    fn in_cell(self, counting: &Counting) -> Found {
        let Counting::Cells(first_lines) = counting else { return self };
        let cell = first_lines.partition_point(|first| *first <= self.line);
        let Some(before) = cell.checked_sub(1).and_then(|cell| first_lines.get(cell)).map(|first| first - 1) else {
            return self;
        };
        let range =
            self.range.map(|range| Range { line: range.line - before, end_line: range.end_line - before, ..range });
        Found { line: self.line - before, range, cell: Some(cell as u32), ..self }
    }
}

/// A changed rulebook is told, whatever it says (S26): it decides on what comes after it.
fn rulebook_changed(subject: &Subject, change: &Change) -> Option<Found> {
    let Content::Blobs { old, new, .. } = &subject.content else { return None };
    let path = &subject.file.written;
    if !(path.ends_with(PROJECT_RULES) || path.ends_with(PROJECT_CONFIG)) || old == new {
        return None;
    }
    let what = match (old, new) {
        (None, _) => "a rulebook or its settings are new",
        (_, None) => "a rulebook or its settings are deleted",
        _ => "a rulebook or its settings are changed",
    };
    let line = change.added.first().map_or(0, |line| line.number);
    let message = format!("{what}: a person looks at what that means for the rules");
    Some(Found {
        rule: RULEBOOK.to_owned(),
        effect: Effect::Ask,
        what: what.to_owned(),
        why: String::new(),
        message,
        text: String::new(),
        line,
        range: None,
        cell: None,
        excerpt: None,
        origin: None,
    })
}

fn line_of(text: &str, offset: usize) -> u32 {
    LineIndex::new(text).line_of(offset) as u32 + 1
}

/// Where a span of `text` stands.
fn range(text: &str, index: &LineIndex, span: &Span) -> Range {
    let positions = Positions::new(text, index, Encoding::Utf32);
    let (start, end) = (positions.position(span.start).at, positions.position(span.end).at);
    Range { line: start.line + 1, column: start.column + 1, end_line: end.line + 1, end_column: end.column + 1 }
}

/// As much of `line` as is shown around `hit`.
fn around(text: &str, line: &Span, hit: &Span) -> Span {
    let floor = |at: usize| (line.start..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(line.start);
    let start = floor(hit.start.saturating_sub(plain::LINE).max(line.start));
    let end = floor((hit.start + plain::LINE * 2).min(line.end));
    start..end.max(start)
}
