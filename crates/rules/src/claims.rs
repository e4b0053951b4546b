//! Findings as claims: small enough to send, and believed only where the receiver's own bytes bear them out.
//!
//! A claim can only add a refusal: whoever receives it rebuilds the finding from its own rulebook and text, and a claim
//! that does not fit them is nothing. That no claim came says nothing at all.

use std::collections::HashSet;

use syntax::Span;

use crate::case::{Case, Report};
use crate::checks::text;
use crate::judge::{Judge, Selection};
use crate::names::{NameGlob, is_name_character};
use crate::rulebook::{OnDelete, Rule};
use crate::verdict::{Check, Finding, Verdict};
use crate::{Change, Rulebook, Work};

/// A finding without its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The rule's number in the rulebook's text, from 0: its index where none was left out.
    pub rule: usize,
    /// Which check.
    pub check: Check,
    /// Which of the check's patterns or specs.
    pub item: usize,
    /// As [`Finding::line`].
    pub line: u32,
    /// As [`Finding::span`].
    pub span: Option<Span>,
    /// The name that a finding of `forbid_calls` or `forbid_imports` is about, as resolved; else empty.
    pub name: String,
    /// Whether that name is passed on as a value, not called.
    pub passed: bool,
}

impl Claim {
    /// The claim that a finding makes. None for the instruction check, which everybody makes alone, and for what could
    /// not be checked.
    pub fn of(finding: &Finding) -> Option<Claim> {
        let is_named = matches!(finding.check, Check::ForbidCalls | Check::ForbidImports);
        let name = is_named.then(|| finding.what.split(' ').nth(1)).flatten().unwrap_or_default();
        let is_place = finding.span.is_some() || !is_named && finding.check != Check::Forbid;
        (is_place && !finding.what.starts_with("cannot be checked")).then_some(())?;
        Some(Claim {
            rule: finding.rule?,
            check: finding.check,
            item: finding.item,
            line: finding.line,
            span: finding.span.clone(),
            name: name.to_owned(),
            passed: finding.check == Check::ForbidCalls && finding.what.starts_with("passes "),
        })
    }
}

impl Judge<'_> {
    /// The findings that claims are about, each in words made from the caller's own rulebook and text; none for a claim
    /// that these do not bear out. Parses nothing.
    pub fn restate(&self, book: &Rulebook, change: &Change, claims: &[Claim], work: &mut Work) -> Vec<Option<Finding>> {
        // Only what is claimed, and what masks secrets in the words of it, has to be known of the rulebook.
        let claimed: HashSet<usize> = claims.iter().filter_map(|claim| book.index_of(claim.rule)).collect();
        let needed = (0..book.rules.len()).filter(|index| book.rules[*index].redact || claimed.contains(index));
        let Selection { rules, usable, in_doubt } = self.select_of(book, change, needed);
        let mut case = Case::new(change, self.facts, usable, work);
        let mut restated = Vec::with_capacity(claims.len());
        for claim in claims {
            let usable =
                |index: &usize| !in_doubt && rules.binary_search(index).is_ok() && book.disabled(*index).is_none();
            let index = book.index_of(claim.rule).filter(usable);
            restated.push(
                index.and_then(|index| restate(&mut case, &book.rules[index], &Claim { rule: index, ..claim.clone() })),
            );
        }
        restated
    }
}

fn restate(case: &mut Case, rule: &Rule, claim: &Claim) -> Option<Finding> {
    let mut verdict = Verdict::default();
    let mut report = Report { rule, index: claim.rule, verdict: &mut verdict };
    let change = case.change;
    if change.deleted && claim.check != Check::AnyChange && rule.on_delete != OnDelete::Judge {
        return None;
    }
    let checks = &rule.checks;
    match claim.check {
        Check::Forbid => {
            let (span, text) = added(change, claim)?;
            checks.forbid.get(claim.item).filter(|pattern| pattern.may_occur(text))?;
            report.found(case, claim.check, claim.item, claim.line, span, text::FORBIDDEN.into());
        }
        Check::Question => {
            let question = checks.question.as_ref()?;
            let (span, text) = added(change, claim)?;
            let is_asked = checks.when.is_empty() || checks.when.iter().any(|pattern| pattern.may_occur(text));
            (is_asked && !text.trim().is_empty()).then_some(())?;
            report.found(case, claim.check, claim.item, claim.line, span, question.clone());
        }
        Check::ForbidCalls => {
            let spec = checks.forbid_calls.get(claim.item).filter(|spec| spec.name.matches(&claim.name))?;
            (!claim.passed || spec.condition.is_none()).then_some(())?;
            let what = if claim.passed {
                format!("passes {} on", claim.name)
            } else {
                format!("calls {}", spec.describe(&claim.name))
            };
            let span = named(case, claim, &spec.name)?;
            report.found(case, claim.check, claim.item, claim.line, span, what);
        }
        Check::ForbidImports => {
            let spec = checks.forbid_imports.get(claim.item).filter(|spec| spec.matches(&claim.name))?;
            let span = named(case, claim, spec)?;
            report.found(case, claim.check, claim.item, claim.line, span, format!("imports {}", claim.name));
        }
        Check::Require => {
            (claim.line == 0 && claim.span.is_none()).then_some(())?;
            text::require(case, &mut report);
        }
        Check::RequireDef => required_definition(case, &mut report, claim)?,
        Check::AnyChange => {
            checks.is_empty().then(|| report.stated(Check::AnyChange, 0, 0, None, text::ANY_CHANGE.into()))?;
        }
        Check::Load | Check::Instructions => return None,
    }
    verdict.findings.into_iter().find(|finding| Claim::of(finding).as_ref() == Some(claim))
}

/// The place of a claim and its text, where it is on the added line that the claim names.
fn added<'c>(change: &'c Change, claim: &Claim) -> Option<(Span, &'c str)> {
    let span = claim.span.clone()?;
    let text = change.text.get(span.clone())?;
    let line = change.added_in(&span).first()?;
    let is_on_line = line.span.start <= span.start && span.end <= line.span.end && line.number == claim.line;
    is_on_line.then_some((span, text))
}

/// The place of a claim about a name, where something that has a name stands there and the name can be meant.
fn named(case: &mut Case, claim: &Claim, name: &NameGlob) -> Option<Span> {
    let span = claim.span.clone()?;
    let text = case.change.text.get(span.clone())?;
    let is_name = text.chars().any(is_name_character) && case.number_at(span.start) == claim.line;
    (is_name && case.language().is_some() && case.may_name_at(name, span.start)).then_some(span)
}

fn required_definition(case: &mut Case, report: &mut Report, claim: &Claim) -> Option<()> {
    let name = report.rule.checks.require_def.get(claim.item)?;
    let change = case.change;
    if change.deleted {
        report.stated(Check::RequireDef, claim.item, 0, None, text::without_definition(name));
        return Some(());
    }
    (case.language().is_some() && change.result_known()).then_some(())?;
    let Some(span) = claim.span.clone() else {
        report.stated(Check::RequireDef, claim.item, 0, None, format!("no function {name}()"));
        return Some(());
    };
    let stands_there = change.text.get(span.clone()) == name.rsplit('.').next();
    (stands_there && case.number_at(span.start) == claim.line).then_some(())?;
    report.stated(Check::RequireDef, claim.item, claim.line, Some(span), format!("{name}() does nothing"));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, ParseNow};

    const RULES: &str = "[[rule]]\nid = 'words'\npaths = ['**']\nforbid = ['bad+']\nredact = true\n\
                         [[rule]]\nid = 'calls'\npaths = ['*.py']\nforbid_calls = ['os.system']\n\
                         [[rule]]\nid = 'locked'\npaths = ['gen/**']\n";

    fn claim(rule: usize, check: Check, line: u32, span: Option<Span>, name: &str) -> Claim {
        Claim { rule, check, item: 0, line, span, name: name.into(), passed: false }
    }

    #[test]
    fn a_claim_is_believed_only_where_the_bytes_bear_it_out() {
        let book = Rulebook::load(RULES.as_bytes(), Format::Toml);
        let text = "import os\nx = 'badddd'\nos.system(x)\n";
        let change = Change::between("a.py".into(), vec!["a.py".into()], Some("import os\n".into()), text.into());
        for (claim, believed) in [
            (claim(0, Check::Forbid, 2, Some(15..21), ""), true),
            (claim(0, Check::Forbid, 3, Some(15..21), ""), false),
            (claim(0, Check::Forbid, 3, Some(23..32), ""), false),
            (claim(0, Check::Forbid, 1, Some(0..6), ""), false),
            (claim(0, Check::Forbid, 2, Some(15..9999), ""), false),
            (claim(0, Check::Forbid, 2, None, ""), false),
            (claim(1, Check::ForbidCalls, 3, Some(23..32), "os.system"), true),
            (claim(1, Check::ForbidCalls, 3, Some(23..32), "os.popen"), false),
            (claim(1, Check::ForbidCalls, 2, Some(23..32), "os.system"), false),
            (claim(1, Check::Forbid, 3, Some(23..32), ""), false),
            (claim(2, Check::AnyChange, 0, None, ""), false),
            (claim(99, Check::AnyChange, 0, None, ""), false),
        ] {
            let restated =
                Judge::new(&ParseNow).restate(&book, &change, std::slice::from_ref(&claim), &mut Work::default());
            assert_eq!(restated[0].is_some(), believed, "{claim:?}");
            assert!(restated[0].iter().all(|finding| !finding.text.contains("badddd")));
        }
    }
}
