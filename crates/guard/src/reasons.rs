//! The words for one file: why it is refused or asked about, and what is only said.
//!
//! `rules` makes the sentences of findings; here stand self-protection and what could not be judged beside them, and
//! what two versions of one rulebook both say is said once.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use agents::Permission;
use rules::plain::{PATH, WHY, plain};
use rules::reason::{Judged, Reason, reason};
use rules::{Change, Effect, Finding, Rulebook, Verdict};
use system::paths;

use crate::judge::{FileVerdict, Part};
use crate::stack::Owner;

/// Everything found about one file.
#[derive(Debug)]
pub struct Report {
    /// The change, as any rulebook's view shows it.
    pub change: Change,
    /// What the rulebooks say.
    pub judged: FileVerdict,
    /// What the instruction check found.
    pub instructions: Vec<Finding>,
    /// Why only a person may touch it.
    pub objection: Option<String>,
    /// The file, with links resolved.
    pub file: PathBuf,
    /// The editor that holds it with changes that are not saved.
    pub unsaved: Option<String>,
    /// What was taken out of the verdicts because a person allowed it once: the index of the part, and its verdict whole.
    pub lifted: Vec<(usize, Verdict)>,
}

/// One file's answer in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What is to be done; a failure is the caller's to weigh.
    pub permission: Permission,
    /// Why, for whoever is refused or asked; empty when nobody is.
    pub reason: String,
    /// What is only said; empty when there is nothing.
    pub warnings: String,
}

impl Report {
    /// The words.
    pub fn say(&self) -> Said {
        let verdicts = self.distinct();
        let origins: Vec<String> = self.judged.parts.iter().map(origin).collect();
        let books: Vec<Cow<'_, Rulebook>> = self.judged.parts.iter().map(quotable).collect();
        let judged: Vec<Judged<'_>> = (books.iter().zip(&origins).zip(&verdicts))
            .map(|((book, origin), verdict)| Judged { book, origin, verdict })
            .collect();
        let found = reason(&self.change, &judged, &self.instructions);
        let (effect, mut text, warnings) = match found {
            Some(Reason { effect, text, warnings }) => (Some(effect), text, warnings),
            None => (None, String::new(), String::new()),
        };
        let mut permission = match effect {
            Some(Effect::Deny) => Permission::Deny,
            Some(Effect::Ask) => Permission::Ask,
            Some(Effect::Warn) | None => Permission::Silent,
        };
        let objection = self.objection.iter().map(|why| format!("self-protection: {why}"));
        let unsaved = self.unsaved.iter().map(|editor| format!("unsaved changes in {editor} would be lost"));
        let failures = self.judged.failures.iter().map(|why| format!("cannot be judged: {}", plain(why, WHY)));
        let before = if permission == Permission::Deny { "also for a person: " } else { "" };
        for line in objection.chain(unsaved).chain(failures) {
            if text.is_empty() {
                text = format!("ruleline asks about this edit of {}:", plain(&self.change.path, PATH));
            }
            let _ = write!(text, "\n- {before}{line}");
        }
        if self.objection.is_some() || self.unsaved.is_some() {
            permission = permission.max(Permission::Ask);
        }
        Said { permission, reason: text, warnings }
    }

    /// Takes what one rule of one part objects to out of what is said.
    pub(crate) fn lift(&mut self, part: usize, rule: usize) {
        let verdict = &mut self.judged.parts[part].verdict;
        if !self.lifted.iter().any(|(lifted, _)| *lifted == part) {
            self.lifted.push((part, verdict.clone()));
        }
        verdict.findings.retain(|finding| finding.rule != Some(rule) || finding.effect == Effect::Warn);
    }

    /// Puts back what was taken out.
    pub(crate) fn restore(&mut self) {
        for (part, verdict) in self.lifted.drain(..) {
            self.judged.parts[part].verdict = verdict;
        }
    }

    /// The whole verdict of a part.
    pub(crate) fn verdict(&self, part: usize) -> &Verdict {
        let lifted = self.lifted.iter().find(|(lifted, _)| *lifted == part);
        lifted.map_or(&self.judged.parts[part].verdict, |(_, verdict)| verdict)
    }

    /// Whether anything was found, a warning among others.
    pub(crate) fn has_findings(&self) -> bool {
        let found = |part: usize| !self.verdict(part).findings.is_empty();
        !self.instructions.is_empty() || (0..self.judged.parts.len()).any(found)
    }

    /// The verdicts, without what an earlier part says of the same rule and place.
    fn distinct(&self) -> Vec<Verdict> {
        let parts = &self.judged.parts;
        let kept = |index: usize, part: &Part| {
            let others: Vec<&Part> = parts
                .iter()
                .enumerate()
                .filter(|(at, other)| same_book(part, other) && says_before((*at, other), (index, part)))
                .map(|(_, other)| other)
                .collect();
            let findings = part.verdict.findings.iter().filter(|finding| {
                let twin = |other: &&Part| other.verdict.findings.iter().any(|it| same(part, finding, other, it));
                !others.iter().any(twin)
            });
            let unchecked = part.verdict.unchecked.iter().filter(|one| {
                let id = rule_id(&part.book.book, one.rule);
                let twin = |other: &&Part| {
                    let mut said = other.verdict.unchecked.iter();
                    said.any(|it| {
                        (it.check, &it.why) == (one.check, &one.why) && rule_id(&other.book.book, it.rule) == id
                    })
                };
                !others.iter().any(twin)
            });
            Verdict { findings: findings.cloned().collect(), unchecked: unchecked.cloned().collect() }
        };
        parts.iter().enumerate().map(|(index, part)| kept(index, part)).collect()
    }
}

/// The rulebook as it may be quoted to an agent: a project's reasons that read like instructions are left out, and the
/// rule's id speaks alone (S19).
fn quotable(part: &Part) -> Cow<'_, Rulebook> {
    let mut book = Cow::Borrowed(&part.book.book);
    if part.owner != Owner::Project {
        return book;
    }
    let spoken: BTreeSet<usize> = part.verdict.findings.iter().filter_map(|finding| finding.rule).collect();
    for rule in spoken {
        if book.rules.get(rule).is_some_and(|rule| instructs(&rule.why)) {
            book.to_mut().rules[rule].why.clear();
        }
    }
    book
}

/// Whether a reason of a rulebook reads like instructions to whoever is given it.
pub fn instructs(why: &str) -> bool {
    let text = Change::created("why".to_owned(), vec!["why".to_owned()], why.into());
    !rules::instructions::scan(&text).is_empty()
}

fn origin(part: &Part) -> String {
    let path = paths::shown(&part.book.path);
    if part.earlier { format!("{path} as it was when the session began") } else { path }
}

fn same_book(one: &Part, other: &Part) -> bool {
    Arc::ptr_eq(&one.book, &other.book) || one.book.path == other.book.path
}

/// Today's rulebook speaks before the session's first, and the first view before the others.
fn says_before((at, other): (usize, &Part), (index, part): (usize, &Part)) -> bool {
    (other.earlier, at) < (part.earlier, index)
}

fn same(part: &Part, finding: &Finding, other: &Part, twin: &Finding) -> bool {
    let place = |it: &Finding| (it.check, it.effect, it.line, it.span.clone());
    place(finding) == place(twin)
        && finding.what == twin.what
        && rule_id(&part.book.book, finding.rule) == rule_id(&other.book.book, twin.rule)
}

fn rule_id(book: &Rulebook, rule: Option<usize>) -> Option<&str> {
    rule.and_then(|rule| book.rules.get(rule)).map(|rule| rule.id.as_str())
}
