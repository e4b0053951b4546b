//! `forbid`, `require` and `question`: patterns over text.

use crate::AddedLine;
use crate::case::{Case, Report};
use crate::verdict::Check;

/// What a finding of `forbid` says.
pub(crate) const FORBIDDEN: &str = "forbidden pattern";
/// What a finding of a rule without checks says.
pub(crate) const ANY_CHANGE: &str = "any change";

/// What a deleted file lacks.
pub(crate) fn without_definition(name: &str) -> String {
    format!("a deleted file has no function {name}()")
}

/// Lines that a question names.
const QUESTION_LINES: usize = 5;

/// `forbid`: each added line, the first pattern that matches it.
pub(crate) fn forbid(case: &mut Case, report: &mut Report) {
    let patterns = &report.rule.checks.forbid;
    let mut ready = Vec::new();
    for (item, pattern) in patterns.iter().enumerate() {
        if !case.may_occur(pattern) {
            continue;
        }
        match case.regex(pattern) {
            Ok(regex) => ready.push((item, regex)),
            Err(why) => report.unchecked(Check::Forbid, why),
        }
    }
    if ready.is_empty() {
        return;
    }
    let change = case.change;
    for line in &change.added {
        let text = &change.text[line.span.clone()];
        let hit = ready.iter().find_map(|(item, regex)| regex.find(text).map(|found| (*item, found.range())));
        let Some((item, range)) = hit else { continue };
        let span = line.span.start + range.start..line.span.start + range.end;
        if !report.found(case, Check::Forbid, item, line.number, span, FORBIDDEN.into()) {
            return;
        }
    }
}

/// `require`: the whole file after the edit.
pub(crate) fn require(case: &mut Case, report: &mut Report) {
    let rule = report.rule;
    if rule.checks.require.is_empty() {
        return;
    }
    if !case.change.result_known() {
        return report.unchecked(Check::Require, "the file after this edit is not known".into());
    }
    for (item, pattern) in rule.checks.require.iter().enumerate() {
        if pattern.may_occur(&case.change.text) {
            match case.regex(pattern) {
                Ok(regex) if regex.is_match(&case.change.text) => continue,
                Ok(_) => {}
                Err(why) => {
                    report.unchecked(Check::Require, why);
                    continue;
                }
            }
        }
        report.stated(Check::Require, item, 0, None, format!("the file does not match `{}`", pattern.source()));
    }
}

/// `question`: asked when an added line matches its `when`, or is not blank; nobody but a person answers it.
pub(crate) fn question(case: &mut Case, report: &mut Report) {
    let checks = &report.rule.checks;
    let Some(question) = &checks.question else { return };
    let change = case.change;
    let mut ready = Vec::new();
    for pattern in &checks.when {
        if !case.may_occur(pattern) {
            continue;
        }
        match case.regex(pattern) {
            Ok(regex) => ready.push(regex),
            Err(why) => report.unchecked(Check::Question, why),
        }
    }
    let is_meant = |line: &&AddedLine| {
        let text = &change.text[line.span.clone()];
        if checks.when.is_empty() { !text.trim().is_empty() } else { ready.iter().any(|regex| regex.is_match(text)) }
    };
    for line in change.added.iter().filter(is_meant).take(QUESTION_LINES) {
        report.found(case, Check::Question, 0, line.number, line.span.clone(), question.clone());
    }
}
