//! Verdicts in words: what an agent is told when an edit is refused, and what a person is asked.
//!
//! The only place that makes sentences of findings, so that editor, hook and `check` say the same. Everything that came
//! from a rulebook, a path or a file passes [`plain`] here.

use std::fmt::Write;

use crate::plain::{ID, LINE, PATH, WHY, plain};
use crate::verdict::{Check, Effect, Finding, Unchecked, Verdict};
use crate::{Change, Rule, Rulebook};

/// Places shown for each rule.
const PLACES: usize = 5;
/// Places shown for the instruction check and for a question.
const FEW: usize = 3;
/// Unchecked things shown for each rule.
const UNCHECKED: usize = 3;

/// What one rulebook says to a change.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The rulebook.
    pub book: &'a Rulebook,
    /// Where it stands, as shown to people: a path.
    pub origin: &'a str,
    /// What it says.
    pub verdict: &'a Verdict,
}

/// What is said about one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The strongest effect.
    pub effect: Effect,
    /// Why the edit is refused or a person is asked; empty when there are warnings alone.
    pub text: String,
    /// What is worth saying and stops nothing; empty when there is nothing.
    pub warnings: String,
}

/// One reason: what one rule has to say with one effect.
struct Item {
    effect: Effect,
    /// Index of the rulebook and of the rule: its `why` is said once.
    rule: Option<(usize, usize)>,
    text: String,
    why: String,
}

/// What rulebooks and the instruction check say to a change. None when there is nothing to say.
pub fn reason(change: &Change, judged: &[Judged], instructions: &[Finding]) -> Option<Reason> {
    let mut items: Vec<Item> = Vec::new();
    for (number, one) in judged.iter().enumerate() {
        items.extend(items_of(change, number, one));
    }
    if !instructions.is_empty() {
        items.push(of_instructions(change, instructions));
    }
    let effect = items.iter().map(|item| item.effect).max()?;
    let path = plain(&change.path, PATH);
    let mut text = String::new();
    if effect > Effect::Warn {
        let verb = if effect == Effect::Deny { "blocked" } else { "asks about" };
        text = format!("ruleline {verb} this edit of {path}:");
        // The instruction check stands first among what asks.
        let is_instruction = |item: &&Item| item.rule.is_none() && item.text.starts_with(INSTRUCTIONS);
        let forcing = items.iter().filter(|item| item.effect == effect);
        let (first, then): (Vec<_>, Vec<_>) = forcing.partition(is_instruction);
        let mut told = Vec::new();
        for item in first.into_iter().chain(then) {
            text.push_str(&line(item, "", &mut told));
        }
        for item in items.iter().filter(|item| item.effect == Effect::Ask && effect == Effect::Deny) {
            text.push_str(&line(item, "also for a person: ", &mut told));
        }
    }
    let mut warnings = String::new();
    let mut told = Vec::new();
    for item in items.iter().filter(|item| item.effect == Effect::Warn) {
        if warnings.is_empty() {
            warnings = format!("ruleline notes on this edit of {path}:");
        }
        warnings.push_str(&line(item, "", &mut told));
    }
    Some(Reason { effect, text, warnings })
}

/// What a finding says in one line without its place and rule, for a diagnostic that stands at the place; `fix` is what
/// [`Rulebook::fix`] has for it.
pub fn message(book: &Rulebook, finding: &Finding, fix: Option<&str>) -> String {
    let what = match finding.check {
        Check::AnyChange => "any change of this file is this rule's business".to_owned(),
        Check::Question => format!("{} (a person decides)", plain(&finding.what, WHY)),
        _ => plain(&finding.what, WHY),
    };
    let rule = finding.rule.and_then(|rule| book.rules.get(rule));
    let why = rule.map(|rule| would_pass(rule, fix));
    sentence(&what, &why.unwrap_or_default())
}

/// Why the rule is there, and what its `fix` would write in the places of findings.
fn would_pass(rule: &Rule, fixes: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let why = plain(&rule.why, WHY);
    let mut shown: Vec<String> = Vec::new();
    // What the rule masks may be in what its groups matched.
    for fix in fixes.into_iter().filter(|_| !rule.redact) {
        let fix = match plain(fix.as_ref(), LINE) {
            fix if fix.trim().is_empty() => "nothing".to_owned(),
            fix => format!("`{fix}`"),
        };
        if !shown.contains(&fix) {
            shown.push(fix);
        }
    }
    if shown.is_empty() { why } else { sentence(&why, &format!("In its place: {}", shown.join(", "))) }
}

/// What the instruction check says to a line it found.
pub const INSTRUCTIONS: &str = "instruction-like text in the change, addressed to a reviewer or an agent (the rules do \
                                not take instructions from the code)";

fn line(item: &Item, before: &str, told: &mut Vec<(usize, usize)>) -> String {
    let is_told = item.rule.is_some_and(|rule| told.contains(&rule));
    told.extend(item.rule);
    format!("\n- {before}{}", sentence(&item.text, if is_told { "" } else { &item.why }))
}

/// `text` and then `why`, if there is one.
pub fn sentence(text: &str, why: &str) -> String {
    match why.trim() {
        "" => text.to_owned(),
        why if text.trim().is_empty() => why.to_owned(),
        why if text.ends_with(['.', '!', '?']) => format!("{text} {why}"),
        why => format!("{text}. {why}"),
    }
}

fn items_of(change: &Change, number: usize, judged: &Judged) -> Vec<Item> {
    let Judged { book, origin, verdict } = judged;
    let mut items = Vec::new();
    let mut unchecked = verdict.unchecked.as_slice();
    let mut findings = verdict.findings.as_slice();
    while let Some(rule) =
        findings.first().map(|it| it.rule).into_iter().chain(unchecked.first().map(|it| it.rule)).min()
    {
        let (of_rule, rest) = findings.split_at(findings.partition_point(|finding| finding.rule <= rule));
        findings = rest;
        let (missed, rest) = unchecked.split_at(unchecked.partition_point(|one| one.rule <= rule));
        unchecked = rest;
        let Some(index) = rule else {
            let why = missed.iter().map(|one| plain(&one.why, WHY)).collect::<Vec<_>>().join("; ");
            let text = format!("the rulebook {} cannot be used: {why}", plain(origin, PATH));
            items.push(Item { effect: Effect::Ask, rule: None, text, why: String::new() });
            continue;
        };
        let Some(rule) = book.rules.get(index) else { continue };
        let id = plain(&rule.id, ID);
        let why = would_pass(rule, of_rule.iter().take(FEW).filter_map(|finding| book.fix(finding, &change.text)));
        let item = |effect, text| Item { effect, rule: Some((number, index)), text, why: why.clone() };
        let (questions, others): (Vec<&Finding>, Vec<&Finding>) =
            of_rule.iter().partition(|finding| finding.check == Check::Question);
        if let Some(first) = others.first() {
            items.push(item(first.effect, findings_text(change, &id, &others)));
        }
        if !missed.is_empty() {
            items.push(item(Effect::Ask, unchecked_text(&id, missed)));
        }
        if let Some(first) = questions.first() {
            items.push(item(first.effect, question_text(change, &id, &questions)));
        }
    }
    items
}

fn findings_text(change: &Change, id: &str, findings: &[&Finding]) -> String {
    if findings[0].check == Check::AnyChange {
        let path = plain(&change.path, PATH);
        return match findings[0].effect {
            Effect::Deny => format!("{id}: no change of {path} is allowed"),
            Effect::Ask => format!("{id}: any change to {path} goes to a person"),
            Effect::Warn => format!("{id}: {path} is changed"),
        };
    }
    let mut text = format!("{id} — {}", places(change, findings, PLACES));
    let mut calls: Vec<&str> = Vec::new();
    for finding in findings.iter().filter(|it| matches!(it.check, Check::ForbidCalls | Check::ForbidImports)) {
        if !calls.contains(&finding.what.as_str()) {
            calls.push(&finding.what);
        }
    }
    if !calls.is_empty() {
        calls.truncate(PLACES);
        let _ = write!(text, " [{}]", plain(&calls.join(", "), WHY));
    }
    text
}

/// `line 3: TEXT; line 5: TEXT (and 2 more)`, each place once.
fn places(change: &Change, findings: &[&Finding], most: usize) -> String {
    let mut places: Vec<String> = Vec::new();
    let mut last = None;
    let mut count = 0;
    for finding in findings {
        let text = if finding.text.trim().is_empty() { &finding.what } else { &finding.text };
        // The same line twice says nothing more, unless it is cut around another place.
        if last.replace((finding.line, text)) == Some((finding.line, text)) {
            continue;
        }
        count += 1;
        if count <= most {
            places.push(format!("{}: {}", change.place(finding.line), plain(text, WHY)));
        }
    }
    let mut text = places.join("; ");
    if count > most {
        let _ = write!(text, " (and {} more)", count - most);
    }
    text
}

fn unchecked_text(id: &str, missed: &[Unchecked]) -> String {
    let is_load = missed.iter().any(|one| one.check == Check::Load);
    let says = if is_load { "the rule is disabled" } else { "cannot be checked" };
    let mut whys: Vec<String> = missed.iter().take(UNCHECKED).map(|one| plain(&one.why, WHY)).collect();
    if missed.len() > UNCHECKED {
        whys.push(format!("and {} more", missed.len() - UNCHECKED));
    }
    format!("{id}: {says} — {}", whys.join("; "))
}

fn question_text(change: &Change, id: &str, findings: &[&Finding]) -> String {
    let question = plain(&findings[0].what, WHY);
    let lines: Vec<String> = findings.iter().take(FEW).map(|finding| change.place(finding.line)).collect();
    let more = if findings.len() > FEW { " and more" } else { "" };
    format!("{id}: {question} — no model is configured: a person decides; see {}{more}", lines.join(", "))
}

fn of_instructions(change: &Change, findings: &[Finding]) -> Item {
    let effect = findings.iter().map(|finding| finding.effect).max().unwrap_or(Effect::Ask);
    let findings: Vec<&Finding> = findings.iter().collect();
    let text = format!("{INSTRUCTIONS}: {}", places(change, &findings, FEW));
    Item { effect, rule: None, text, why: String::new() }
}
