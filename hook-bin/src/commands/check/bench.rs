//! Where files are judged: the rulebooks that hold for each, the same calls as in the hook, and the result as plain data.
//!
//! Two rulebooks that say the same of the same place (the base's and today's, a worktree's and its main checkout's) are
//! heard once. It prints nothing and reads no file but rulebooks.

use std::path::{Path, PathBuf};

use guard::books::PROJECT_RULES;
use guard::config::{InstructionCheck, PROJECT_CONFIG};
use guard::judge::Judging;
use guard::stack::Owner;
use guard::subject::{self, Content, Sides, Subject, Text};
use guard::{LoadedBook, Place, RulebookSource as _, Surroundings};
use rules::{Change, Check, Effect, Judge, ParseNow, Unchecked, Verdict};
use syntax::LineIndex;
use system::paths;

use super::Refusal;
use super::books::Shelf;
use super::excerpt::Excerpt;
use super::places::Places;
use super::report::{Found, INSTRUCTIONS, Open, Origin, Outcome, Problem, RULEBOOK, Range, Report};

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
        let mut outcome = Outcome::of(self.shown(&subject.file.written));
        let sides = match sides {
            Ok(sides) => sides,
            Err(why) => return outcome.left_open(why),
        };
        outcome.is_opaque = sides.after == Text::Opaque;
        let change = subject::change(&outcome.path, &sides);
        let places = Places::new(&change);
        let judged = judging.judge(&subject.file, &stack, &change, None);
        outcome.is_covered = !judged.parts.is_empty();
        let effect = match self.instructions {
            InstructionCheck::Off => None,
            InstructionCheck::Warn => Some(Effect::Warn),
            InstructionCheck::Ask => Some(Effect::Ask),
        };
        for finding in effect.map(|effect| judging.instructions(&judged, &change, effect)).unwrap_or_default() {
            outcome.add(places.found(INSTRUCTIONS, &finding));
        }
        for why in judged.failures {
            outcome.open.push(Open { path: outcome.path.clone(), rule: None, why, origin: None });
        }
        for part in judged.parts {
            self.hear(&part.book, part.owner, None, &places, part.verdict, &mut outcome);
        }
        for (book, names) in self.shelf.base_for(&subject.file) {
            outcome.is_covered = true;
            let change = change.named(change.path.clone(), names);
            let verdict = Judge::new(&ParseNow).judge(&book.loaded.book, &change);
            self.hear(&book.loaded, Owner::Project, Some(&book.revision), &places, verdict, &mut outcome);
        }
        if self.scope == Scope::Branch {
            outcome.found.extend(rulebook_changed(subject, &change));
        }
        outcome.in_order()
    }

    /// What a file comes to whose judging ended in an error of our own.
    pub fn failed(&self, subject: &Subject) -> Outcome {
        let why = "an error of ruleline itself, told on stderr".to_owned();
        Outcome::of(self.shown(&subject.file.written)).left_open(why)
    }

    /// Takes over what one rulebook says.
    fn hear(
        &self,
        book: &LoadedBook,
        owner: Owner,
        revision: Option<&str>,
        places: &Places<'_>,
        verdict: Verdict,
        outcome: &mut Outcome,
    ) {
        let telling = self.shelf.telling(book);
        let origin = |rule: Option<usize>| {
            let line = telling.get(rule?)?.line;
            Some(Origin { rulebook: self.shown(&book.path), line, revision: revision.map(str::to_owned) })
        };
        let is_opaque = outcome.is_opaque;
        for finding in verdict.findings.iter().filter(|finding| self.counts(finding.check, is_opaque)) {
            let rule = finding.rule.and_then(|rule| book.book.rules.get(rule));
            let found = places.found(rule.map_or(INSTRUCTIONS, |rule| &rule.id), finding);
            let found = Found { origin: origin(finding.rule), ..found };
            let is_quotable = owner != Owner::Project
                || finding.rule.and_then(|rule| telling.get(rule)).is_some_and(|it| !it.instructs);
            outcome.add(if is_quotable {
                let why = rule.map(|rule| rule.why.clone()).unwrap_or_default();
                let fix = book.book.fix(finding, &places.change.text);
                Found { why, message: rules::reason::message(&book.book, finding, fix.as_deref()), ..found }
            } else {
                found
            });
        }
        for Unchecked { rule, check, why } in verdict.unchecked {
            let id = rule.and_then(|rule| book.book.rules.get(rule)).map(|rule| rule.id.clone());
            let known = |open: &Open| open.rule == id && open.why == why;
            if self.counts(check, is_opaque) && !outcome.open.iter().any(known) {
                outcome.open.push(Open { path: outcome.path.clone(), rule: id, why, origin: origin(rule) });
            }
        }
    }

    /// Whether a check has anything to do with what is judged.
    fn counts(&self, check: Check, is_opaque: bool) -> bool {
        subject::counts(check, is_opaque, self.scope != Scope::Files)
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
        report.problems.extend(self.shelf.unreadable().into_iter().map(|(path, why)| Problem {
            rulebook: self.shown(&path),
            revision: None,
            severity: rules::Severity::Error,
            rule: None,
            range: None,
            message: format!("the rulebook cannot be read: {why}"),
            excerpt: None,
        }));
        for (revision, loaded) in self.shelf.all() {
            let index = LineIndex::new(loaded.book.text());
            let problems = loaded.book.problems.iter();
            report.problems.extend(problems.map(|problem| self.problem(&loaded, &index, revision.as_deref(), problem)));
        }
        let is_judged = report.outcomes.iter().any(|outcome| outcome.is_covered) || report.outcomes.is_empty();
        if is_judged || report.open().next().is_some() || !report.problems.is_empty() {
            return Ok(());
        }
        Err(format!("no rulebook: {PROJECT_RULES} is neither here nor above; `ruleline init` writes one"))
    }

    fn problem(
        &self,
        loaded: &LoadedBook,
        index: &LineIndex,
        revision: Option<&str>,
        problem: &rules::Problem,
    ) -> Problem {
        let text = loaded.book.text();
        let line = index.span(text, problem.line.saturating_sub(1) as usize).unwrap_or_default();
        Problem {
            rulebook: self.shown(&loaded.path),
            revision: revision.map(str::to_owned),
            severity: problem.severity,
            rule: problem.rule.clone(),
            range: Some(Range::of(text, index, &problem.span)),
            message: problem.message.clone(),
            excerpt: (!text.is_empty()).then(|| Excerpt::around(text, &line, &problem.span)),
        }
    }

    /// A path as it is shown: relative to the root where it lies below.
    pub fn shown(&self, path: &Path) -> String {
        let below = paths::relative(&self.root, path).or_else(|| paths::relative(&paths::resolve(&self.root), path));
        below.filter(|name| !name.is_empty()).unwrap_or_else(|| paths::shown(path))
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
