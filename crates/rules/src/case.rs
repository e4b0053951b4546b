//! One change before one rulebook: what the checks share while they judge it.
//!
//! Facts are asked for at most once for each text, and only when a check needs them; budgets are those of one change, so
//! that a verdict does not depend on what was judged before.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use regex::Regex;
use syntax::{Facts, Language, LineIndex, Span};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::candidates::{self, Words};
use crate::excerpt::{excerpt, joined};
use crate::names::NameGlob;
use crate::pattern::Pattern;
use crate::rulebook::Rule;
use crate::verdict::{Check, Effect, Finding, Unchecked, Verdict};
use crate::{Change, Counting, FactSource, Work, secrets};

/// Estimated bytes that patterns compiled for one change may take.
const HEAVIEST: u64 = 32 << 20;
/// Findings kept for one check of one rule; more of the same tell nobody more.
const MOST_FINDINGS: usize = 1000;

pub(crate) struct Case<'a> {
    pub change: &'a Change,
    pub work: &'a mut Work,
    facts: &'a dyn FactSource,
    /// The rules that are about the file.
    rules: Vec<&'a Rule>,
    weight: u64,
    language: OnceCell<Option<Language>>,
    after: Option<Result<Arc<Facts>, String>>,
    before: Option<Result<Arc<Facts>, String>>,
    /// What the literal pass over many added lines found.
    occurring: OnceCell<Option<HashSet<usize>>>,
    words: Option<Words>,
    lines: OnceCell<LineIndex>,
    /// The line last quoted, and what of it is masked.
    quoted: Option<(Span, Vec<Span>)>,
}

impl<'a> Case<'a> {
    pub fn new(change: &'a Change, facts: &'a dyn FactSource, rules: Vec<&'a Rule>, work: &'a mut Work) -> Case<'a> {
        Case {
            change,
            work,
            facts,
            rules,
            weight: 0,
            language: OnceCell::new(),
            after: None,
            before: None,
            occurring: OnceCell::new(),
            words: None,
            lines: OnceCell::new(),
            quoted: None,
        }
    }

    /// The text as a parser sees it.
    pub fn code(&self) -> &'a Arc<str> {
        self.change.code.as_ref().unwrap_or(&self.change.text)
    }

    /// The language of the file, by any of its names or by its first line.
    pub fn language(&self) -> Option<Language> {
        let change = self.change;
        *self.language.get_or_init(|| {
            if matches!(change.counting, Counting::Cells(_)) {
                return Some(Language::Python);
            }
            let texts = [Some(&change.text), change.before.as_ref().filter(|_| !change.result_known())];
            let names = || change.names.iter().chain([&change.path]);
            texts.into_iter().flatten().find_map(|text| names().find_map(|name| Language::of(name, text)))
        })
    }

    /// The facts of the text after the edit.
    pub fn facts(&mut self, language: Language) -> Result<Arc<Facts>, String> {
        if let Some(facts) = &self.after {
            return facts.clone();
        }
        self.work.texts_parsed += 1;
        let facts = self.facts.facts(language, self.code());
        self.after.insert(facts).clone()
    }

    /// The facts of the text before the edit; none where there was no text.
    pub fn facts_before(&mut self, language: Language) -> Result<Option<Arc<Facts>>, String> {
        let Some(text) = self.change.before.as_ref().filter(|_| self.change.result_known()) else { return Ok(None) };
        if self.before.is_none() {
            self.work.texts_parsed += 1;
            self.before = Some(self.facts.facts(language, text));
        }
        self.before.clone().transpose()
    }

    /// Whether one of these names of the rules may be meant somewhere in the code.
    pub fn may_name<'n>(&mut self, names: impl IntoIterator<Item = &'n NameGlob>) -> bool {
        let code = self.code();
        if self.language().is_some_and(|language| !language.reads_as_written(code)) {
            return true;
        }
        let words = self.words.get_or_insert_with(|| {
            let all = self.rules.iter().map(|rule| &rule.checks);
            let all =
                all.flat_map(|checks| checks.forbid_calls.iter().map(|spec| &spec.name).chain(&checks.forbid_imports));
            // Identifiers are compared normalised: where that changes the text, so is the text.
            let is_normal = || is_nfkc_quick(code.chars().filter(|it| !it.is_ascii())) == IsNormalized::Yes;
            if code.is_ascii() || is_normal() {
                Words::of(code, all)
            } else {
                Words::of(&code.nfkc().collect::<String>(), all)
            }
        });
        words.may_name(names)
    }

    /// As [`Case::may_name`] for one name. Where it stands on the line of this place, the rest need not be looked through.
    pub fn may_name_at(&mut self, name: &NameGlob, offset: usize) -> bool {
        let line = &self.code()[self.change.line_at(offset)];
        (line.is_ascii() && Words::of(line, [name]).may_name([name])) || self.may_name([name])
    }

    /// Whether some added line may hold a match.
    pub fn may_occur(&self, pattern: &Pattern) -> bool {
        let change = self.change;
        let ([first, .., last] | [first @ last]) = change.added.as_slice() else { return false };
        // Many lines are searched in one go, together with what stands between them.
        let all = &change.text[first.span.start..last.span.end];
        let occurring = self.occurring.get_or_init(|| {
            let checks = self.rules.iter().map(|rule| &rule.checks);
            let patterns: Vec<&Pattern> = checks.flat_map(|checks| checks.forbid.iter().chain(&checks.when)).collect();
            candidates::patterns(all, &patterns)
        });
        match occurring {
            Some(occurring) => occurring.contains(&pattern.span.start),
            None if change.added.len() > 32 => pattern.may_occur(all),
            None => change.added.iter().any(|line| pattern.may_occur(&change.text[line.span.clone()])),
        }
    }

    /// The compiled pattern, or why it cannot be used.
    pub fn regex<'p>(&mut self, pattern: &'p Pattern) -> Result<&'p Regex, String> {
        self.weight = self.weight.saturating_add(pattern.weight());
        if self.weight > HEAVIEST {
            return Err("the patterns for this change are too large together".into());
        }
        self.work.patterns_tried += 1;
        pattern.regex(self.work).map_err(str::to_owned)
    }

    /// As [`Change::number_at`], for many places of one text.
    pub fn number_at(&self, offset: usize) -> u32 {
        if !self.change.result_known() {
            return self.change.number_at(offset);
        }
        // An added line knows its number.
        if let Some(line) = self.change.added_in(&(offset..offset)).iter().find(|line| line.span.contains(&offset)) {
            return line.number;
        }
        self.lines.get_or_init(|| LineIndex::new(&self.change.text)).line_of(offset) as u32 + 1
    }

    /// The line that `span` starts on, as it may be shown.
    pub fn quote(&mut self, span: &Span) -> String {
        let line = self.change.line_at(span.start);
        let text = &self.change.text[line.clone()];
        if self.quoted.as_ref().is_none_or(|(quoted, _)| *quoted != line) {
            self.quoted = Some((line.clone(), self.masked(text)));
        }
        let masked = self.quoted.as_ref().map_or(&[][..], |(_, masked)| masked);
        let hit = span.start - line.start..span.end.min(line.end).saturating_sub(line.start);
        excerpt(text, &hit, masked)
    }

    /// What of a line is never shown: all of it where a pattern that says so cannot be used.
    fn masked(&mut self, text: &str) -> Vec<Span> {
        let mut masked = secrets::spans(text);
        let redacting = self.rules.iter().filter(|rule| rule.redact);
        for pattern in redacting.flat_map(|rule| &rule.checks.forbid).filter(|pattern| pattern.may_occur(text)) {
            match pattern.regex(self.work) {
                Ok(regex) => masked.extend(regex.find_iter(text).map(|found| found.range())),
                Err(_) => masked.push(0..text.len()),
            }
        }
        joined(masked)
    }
}

/// Where one rule's findings go.
pub(crate) struct Report<'a> {
    pub rule: &'a Rule,
    pub index: usize,
    pub verdict: &'a mut Verdict,
}

impl Report<'_> {
    /// A finding at a place; false once there are as many as are kept.
    pub fn found(&mut self, case: &mut Case, check: Check, item: usize, line: u32, span: Span, what: String) -> bool {
        let same = |finding: &&Finding| finding.rule == Some(self.index) && finding.check == check;
        if self.verdict.findings.iter().rev().take_while(same).count() >= MOST_FINDINGS {
            return false;
        }
        let text = case.quote(&span);
        self.push(check, item, line, Some(span), text, what);
        true
    }

    /// A finding that needs no quote: of the file as a whole (line 0, no span) or of a definition.
    pub fn stated(&mut self, check: Check, item: usize, line: u32, span: Option<Span>, what: String) {
        self.push(check, item, line, span, String::new(), what);
    }

    /// A check that could not be made. A rule that only warns says so and stops nothing.
    pub fn unchecked(&mut self, check: Check, why: String) {
        if self.rule.on_fail == Effect::Warn && check != Check::Load {
            return self.push(check, 0, 0, None, String::new(), format!("cannot be checked: {why}"));
        }
        self.verdict.unchecked.push(Unchecked { rule: Some(self.index), check, why });
    }

    fn push(&mut self, check: Check, item: usize, line: u32, span: Option<Span>, text: String, what: String) {
        let effect = match (check, self.rule.on_fail) {
            (Check::Question, Effect::Deny) => Effect::Ask,
            (_, effect) => effect,
        };
        self.verdict.findings.push(Finding { rule: Some(self.index), check, item, effect, line, span, text, what });
    }
}
