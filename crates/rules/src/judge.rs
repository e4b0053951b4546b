//! One change against one rulebook: the function that the editor, the hook, `check` and `replay` call.

use std::sync::Arc;

use syntax::{Facts, Language, Limits, Tree};

use crate::case::{Case, Report};
use crate::checks::{calls, definitions, imports, text};
use crate::glob::Steps;
use crate::rulebook::{OnDelete, Rule};
use crate::verdict::{Check, Effect, Finding, Unchecked};
use crate::{Change, Rulebook, Verdict, Work, instructions, paths};

/// Where facts of a text come from: parsed now, or from a cache.
pub trait FactSource {
    /// The facts of `text`, or in one line why there are none (too large, out of time).
    ///
    /// # Errors
    /// The text could not be read within bounds.
    fn facts(&self, language: Language, text: &Arc<str>) -> Result<Arc<Facts>, String>;
}

/// Parses at each request, within the same limits everywhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParseNow;

impl ParseNow {
    /// The tree that facts are taken from.
    ///
    /// # Errors
    /// As [`FactSource::facts`].
    pub fn tree(language: Language, text: &str) -> Result<Tree, String> {
        Tree::parse(language, text, &Limits::default()).map_err(|stop| stop.to_string())
    }
}

impl FactSource for ParseNow {
    fn facts(&self, language: Language, text: &Arc<str>) -> Result<Arc<Facts>, String> {
        Ok(Arc::new(ParseNow::tree(language, text)?.facts(text)))
    }
}

/// What judging needs beside rulebook and change.
pub struct Judge<'a> {
    /// Facts of texts.
    pub facts: &'a dyn FactSource,
    /// How paths are compared.
    pub case: paths::Case,
}

impl<'a> Judge<'a> {
    /// A judge for a file system that tells upper from lower case.
    pub fn new(facts: &'a dyn FactSource) -> Judge<'a> {
        Judge { facts, case: paths::Case::Exact }
    }

    /// Judges one change against one rulebook.
    pub fn judge(&self, book: &Rulebook, change: &Change) -> Verdict {
        self.judge_counting(book, change, &mut Work::default())
    }

    /// As [`Judge::judge`], adding what it cost to `work`.
    pub fn judge_counting(&self, book: &Rulebook, change: &Change, work: &mut Work) -> Verdict {
        let mut verdict = Verdict::default();
        if let Some(why) = book.unusable() {
            verdict.unchecked.push(Unchecked { rule: None, check: Check::Load, why });
            return verdict;
        }
        let Selection { rules, usable, in_doubt } = self.select(book, change);
        let mut case = Case::new(change, self.facts, usable, work);
        for index in rules {
            let mut report = Report { rule: &book.rules[index], index, verdict: &mut verdict };
            if in_doubt {
                report.unchecked(Check::Load, "the globs of the rulebook take too long to match this path".into());
            } else if let Some(why) = book.disabled(index) {
                report.unchecked(Check::Load, why);
            } else {
                judge_rule(&mut case, &mut report);
            }
        }
        verdict
    }

    /// Looks for instruction-like text, which belongs to no rule: every finding has this effect. The rulebooks' secrets
    /// are masked in what is quoted.
    pub fn judge_instructions(&self, books: &[&Rulebook], change: &Change, effect: Effect) -> Vec<Finding> {
        let hits = instructions::scan(change);
        if hits.is_empty() {
            return Vec::new();
        }
        let rules = books.iter().flat_map(|book| self.select(book, change).usable).collect();
        let mut work = Work::default();
        let mut case = Case::new(change, self.facts, rules, &mut work);
        let mut finding = |hit: instructions::Hit| Finding {
            rule: None,
            check: Check::Instructions,
            item: 0,
            effect,
            line: hit.line,
            text: case.quote(&hit.span),
            span: Some(hit.span),
            what: "instruction-like text".into(),
        };
        hits.into_iter().map(&mut finding).collect()
    }

    /// Quotes the findings of several rulebooks about one change anew, so that what the secrets' rules of any of them
    /// match is masked in all. Each rulebook comes with the change as it sees it, in the order of the verdicts.
    pub fn mask(&self, books: &[(&Rulebook, &Change)], verdicts: &mut [Verdict]) {
        let quotes = |finding: &Finding| !finding.text.is_empty();
        if books.len() < 2 || !verdicts.iter().any(|verdict| verdict.findings.iter().any(quotes)) {
            return;
        }
        let usable = books.iter().flat_map(|(book, change)| self.select(book, change).usable);
        let redacting: Vec<&Rule> = usable.filter(|rule| rule.redact).collect();
        if redacting.is_empty() {
            return;
        }
        let mut work = Work::default();
        for ((_, change), verdict) in books.iter().zip(verdicts) {
            let mut case = Case::new(change, self.facts, redacting.clone(), &mut work);
            for finding in verdict.findings.iter_mut().filter(|finding| quotes(finding)) {
                if let Some(span) = &finding.span {
                    finding.text = case.quote(span);
                }
            }
        }
    }

    /// Whether judging needs neither a regex nor a parse: no literal of the rules that apply occurs.
    pub fn is_cheap(&self, book: &Rulebook, change: &Change) -> bool {
        let usable = self.select(book, change).usable;
        let mut work = Work::default();
        let mut case = Case::new(change, self.facts, usable.clone(), &mut work);
        change.deleted || usable.into_iter().all(|rule| is_cheap(&mut case, rule))
    }

    /// The rules that are about the file.
    pub(crate) fn select<'b>(&self, book: &'b Rulebook, change: &Change) -> Selection<'b> {
        self.select_of(book, change, 0..book.rules.len())
    }

    /// As [`Judge::select`], of these rules alone.
    pub(crate) fn select_of<'b>(
        &self,
        book: &'b Rulebook,
        change: &Change,
        rules: impl Iterator<Item = usize>,
    ) -> Selection<'b> {
        let mut steps = Steps::default();
        let rules: Vec<usize> = rules
            .filter(|index| self.may_apply(&book.rules[*index], change, &mut steps) || steps.exhausted())
            .collect();
        let in_doubt = steps.exhausted();
        let is_usable = |index: &&usize| !in_doubt && book.disabled(**index).is_none();
        let usable = rules.iter().filter(is_usable).map(|index| &book.rules[*index]).collect();
        Selection { rules, usable, in_doubt }
    }

    /// Whether a rule is about the file, as far as its `paths` can be read.
    fn may_apply(&self, rule: &Rule, change: &Change, steps: &mut Steps) -> bool {
        rule.paths.as_ref().is_none_or(|paths| paths.apply(&change.names, self.case, steps))
    }
}

/// What of a rulebook is about one file.
pub(crate) struct Selection<'b> {
    pub rules: Vec<usize>,
    /// Those of them that are not disabled.
    pub usable: Vec<&'b Rule>,
    /// Matching the globs took too long: any rule may be about the file.
    pub in_doubt: bool,
}

fn is_cheap(case: &mut Case, rule: &Rule) -> bool {
    let change = case.change;
    let checks = &rule.checks;
    let when = checks.when.iter().filter(|_| checks.question.is_some());
    let names = checks.forbid_calls.iter().map(|spec| &spec.name).chain(&checks.forbid_imports);
    let is_text_cheap = !checks.forbid.iter().chain(when).any(|pattern| case.may_occur(pattern))
        && !checks.require.iter().any(|pattern| change.result_known() && pattern.may_occur(&change.text));
    let is_named = (!checks.forbid_calls.is_empty() || !checks.forbid_imports.is_empty())
        && !change.added.is_empty()
        && case.may_name(names);
    let needs_facts = is_named || (!checks.require_def.is_empty() && change.result_known());
    is_text_cheap && !(needs_facts && case.language().is_some())
}

fn judge_rule(case: &mut Case, report: &mut Report) {
    let rule = report.rule;
    if rule.checks.is_empty() {
        report.stated(Check::AnyChange, 0, 0, None, text::ANY_CHANGE.into());
    } else if case.change.deleted {
        if rule.on_delete == OnDelete::Judge {
            deleted(report);
        }
    } else {
        text::forbid(case, report);
        calls::check(case, report);
        imports::check(case, report);
        text::require(case, report);
        definitions::check(case, report);
        text::question(case, report);
    }
}

/// A deleted file has nothing of what is required.
fn deleted(report: &mut Report) {
    let rule = report.rule;
    for (item, pattern) in rule.checks.require.iter().enumerate() {
        let what = format!("a deleted file does not match `{}`", pattern.source());
        report.stated(Check::Require, item, 0, None, what);
    }
    for (item, name) in rule.checks.require_def.iter().enumerate() {
        report.stated(Check::RequireDef, item, 0, None, text::without_definition(name));
    }
}
