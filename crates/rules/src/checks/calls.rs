//! `forbid_calls`: calls of forbidden names, and forbidden callables passed on as values.
//!
//! A call counts when the edit adds a line of it, or when an added line changes what its name means.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use syntax::facts::ArgumentKind;
use syntax::{Call, Facts, Language, Span, Use};
use unicode_normalization::UnicodeNormalization;

use crate::case::{Case, Report};
use crate::checks::unparsed;
use crate::signatures::{Takes, takes};
use crate::specs::{CallSpec, Condition};
use crate::verdict::Check;

/// So many calls that could not be checked are named.
const MOST_UNSURE: usize = 20;

/// What the specs say to one call or use.
enum Answer {
    Allowed,
    Forbidden { item: usize, what: String },
    Unsure { why: String },
}

/// Where the edit touches a call, and the line to report.
struct Touched {
    line: u32,
    span: Span,
    /// Where no line of the call is added, only what gives its name a meaning: the whole call.
    by_meaning: Option<Span>,
}

pub(crate) fn check(case: &mut Case, report: &mut Report) {
    let specs = &report.rule.checks.forbid_calls;
    if specs.is_empty() || case.change.added.is_empty() {
        return;
    }
    let Some(language) = case.language() else { return };
    if !case.may_name(specs.iter().map(|spec| &spec.name)) {
        return;
    }
    let facts = match case.facts(language) {
        Ok(facts) => facts,
        Err(why) => return report.unchecked(Check::ForbidCalls, format!("the calls of the file: {why}")),
    };
    let change = case.change;
    let mut known = Known::default();
    let mut spots: Vec<(Touched, Answer)> = Vec::new();
    for call in &facts.calls {
        match answer_call(call, specs) {
            Answer::Allowed => {}
            answer => {
                let touched = touched(case, &call.span, &call.callee, &call.bindings);
                spots.extend(touched.map(|touched| (touched, answer)));
            }
        }
    }
    for used in &facts.uses {
        match answer_use(used, specs) {
            Answer::Allowed => {}
            answer => {
                let touched = touched(case, &used.span, &used.span, &used.bindings);
                spots.extend(touched.map(|touched| (touched, answer)));
            }
        }
    }
    spots.sort_by_key(|(touched, _)| (touched.line, touched.span.start));
    let mut unsure = Vec::new();
    for (touched, answer) in spots {
        if let Some(whole) = &touched.by_meaning {
            match known.had_this_meaning(case, language, &facts, specs, whole) {
                Ok(true) => continue,
                Ok(false) => {}
                Err(why) => {
                    unsure.push((touched.line, format!("what the name meant before the edit: {why}")));
                    continue;
                }
            }
        }
        match answer {
            Answer::Forbidden { item, what } => {
                if !report.found(case, Check::ForbidCalls, item, touched.line, touched.span, what) {
                    break;
                }
            }
            Answer::Unsure { why } => unsure.push((touched.line, why)),
            Answer::Allowed => {}
        }
    }
    let unparsed = unparsed(case, report, &facts, specs);
    let more = unsure.len().saturating_sub(MOST_UNSURE);
    unsure.truncate(MOST_UNSURE);
    for why in unsure.into_iter().map(|(line, why)| format!("{}: {why}", change.place(line))).chain(unparsed) {
        report.unchecked(Check::ForbidCalls, why);
    }
    if more > 0 {
        report.unchecked(Check::ForbidCalls, format!("{more} more calls"));
    }
}

/// Findings by the text alone where it does not parse, and the lines that stay unchecked.
fn unparsed(case: &mut Case, report: &mut Report, facts: &Facts, specs: &[CallSpec]) -> Option<String> {
    let mut unchecked = Vec::new();
    let is_hit = |call: &&Call| !call.names.is_empty();
    // Most texts parse, and each rule would count all calls again.
    let known: LazyCell<HashSet<&Span>, _> =
        LazyCell::new(|| facts.calls.iter().filter(is_hit).map(|call| &call.callee).collect());
    for part in unparsed::parts(case, facts) {
        let mut is_found = false;
        for (span, name) in unparsed::calls_in(case.code(), &part.span, facts) {
            let is_known = known.contains(&span);
            let name: String = name.nfkc().collect();
            let spec = specs.iter().position(|spec| spec.condition.is_none() && spec.name.matches(&name));
            if let Some(item) = spec {
                is_found = true;
                if !is_known {
                    let what = format!("calls {}", specs[item].describe(&name));
                    report.found(case, Check::ForbidCalls, item, part.line, span, what);
                }
            }
        }
        if !is_found {
            unchecked.push(part.line);
        }
    }
    unparsed::describe(case, unchecked)
}

fn answer_call(call: &Call, specs: &[CallSpec]) -> Answer {
    let mut unsure = Answer::Allowed;
    for (item, spec) in specs.iter().enumerate() {
        let Some(name) = call.names.iter().find(|name| spec.name.matches(name)) else { continue };
        let met = spec.condition.as_ref().map_or(Met::Yes, |condition| met(condition, name, call));
        match met {
            Met::Yes => return Answer::Forbidden { item, what: format!("calls {}", spec.describe(name)) },
            Met::Unknown(why) if matches!(unsure, Answer::Allowed) => {
                unsure = Answer::Unsure { why: format!("whether it calls {}: {why}", spec.describe(name)) };
            }
            Met::No | Met::Unknown(_) => {}
        }
    }
    unsure
}

fn answer_use(used: &Use, specs: &[CallSpec]) -> Answer {
    let mut unsure = Answer::Allowed;
    for (item, spec) in specs.iter().enumerate() {
        let Some(name) = used.names.iter().find(|name| spec.name.matches(name)) else { continue };
        match spec.condition {
            None => return Answer::Forbidden { item, what: format!("passes {name} on") },
            Some(_) if matches!(unsure, Answer::Allowed) => {
                unsure =
                    Answer::Unsure { why: format!("{} may be called where {name} is passed on", spec.describe(name)) };
            }
            Some(_) => {}
        }
    }
    unsure
}

enum Met {
    Yes,
    No,
    Unknown(String),
}

/// Whether a call of `name` meets a condition.
fn met(condition: &Condition, name: &str, call: &Call) -> Met {
    let keyword = &condition.keyword;
    let by_name = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Keyword(name) if name == keyword);
    if let Some(argument) = call.arguments.iter().find(|argument| by_name(&argument.kind)) {
        return match &argument.value {
            Some(value) if condition.is_met_by(value) => Met::Yes,
            Some(_) => Met::No,
            None => Met::Unknown(format!("`{keyword}` is not a constant")),
        };
    }
    let mut place = 0;
    let mut unknown = None;
    for argument in &call.arguments {
        match argument.kind {
            ArgumentKind::KeywordSplat => unknown = Some(format!("`**` may hold `{keyword}`")),
            ArgumentKind::Splat if takes(name, keyword) != Takes::KeywordOnly => {
                return Met::Unknown(format!("`*` may hold `{keyword}`"));
            }
            ArgumentKind::Positional => {
                // A constant that cannot meet the condition is no reason to ask; any other value here is.
                let is_ruled_out = argument.value.as_ref().is_some_and(|value| !condition.is_met_by(value));
                if takes(name, keyword) == Takes::At(place) && !is_ruled_out {
                    return Met::Unknown(format!("`{keyword}` is given by its place"));
                }
                place += 1;
            }
            ArgumentKind::Splat | ArgumentKind::Keyword(_) => {}
        }
    }
    unknown.map_or(Met::No, Met::Unknown)
}

/// Whether and where the edit touches something at `span`, to be underlined at `mark`.
fn touched(case: &Case, span: &Span, mark: &Span, bindings: &[Span]) -> Option<Touched> {
    let change = case.change;
    if let Some(line) = change.added_in(span).first() {
        // The mark stands on the reported line; where it does not, that line's part of the call does.
        let on_line = line.span.start <= mark.start && mark.start < line.span.end.max(line.span.start + 1);
        let part = span.start.max(line.span.start)..span.end.min(line.span.end);
        let blanks = change.text[part.clone()].len() - change.text[part.clone()].trim_start().len();
        let span = if on_line { mark.clone() } else { part.start + blanks..part.end };
        return Some(Touched { line: line.number, span, by_meaning: None });
    }
    let is_added = |binding: &Span| !change.added_in(binding).is_empty();
    bindings.iter().any(is_added).then(|| Touched {
        line: case.number_at(mark.start),
        span: mark.clone(),
        by_meaning: Some(span.clone()),
    })
}

/// How many forbidden calls of each text there are, before the edit and after it.
#[derive(Default)]
struct Known {
    before: Option<HashMap<String, usize>>,
    after: HashMap<String, usize>,
}

impl Known {
    /// Whether the call at `whole` was as forbidden before the edit: then an added line that binds its name changed
    /// nothing.
    fn had_this_meaning(
        &mut self,
        case: &mut Case,
        language: Language,
        facts: &Facts,
        specs: &[CallSpec],
        whole: &Span,
    ) -> Result<bool, String> {
        let change = case.change;
        if self.before.is_none() {
            let before = case.facts_before(language)?;
            let text = change.before.as_deref().unwrap_or_default();
            self.before = Some(before.map_or_else(HashMap::new, |facts| counts(&facts, text, specs, |_| true)));
            let untouched = |span: &Span| change.added_in(span).is_empty();
            self.after = counts(facts, case.code(), specs, untouched);
        }
        let text = case.code().get(whole.clone()).unwrap_or_default();
        let before = self.before.as_ref().and_then(|counts| counts.get(text)).copied().unwrap_or_default();
        Ok(self.after.get(text).is_some_and(|after| *after <= before))
    }
}

/// The text of each thing that is not allowed, counted.
fn counts(facts: &Facts, text: &str, specs: &[CallSpec], is_meant: impl Fn(&Span) -> bool) -> HashMap<String, usize> {
    let calls = facts.calls.iter().filter(|call| !matches!(answer_call(call, specs), Answer::Allowed));
    let uses = facts.uses.iter().filter(|used| !matches!(answer_use(used, specs), Answer::Allowed));
    let mut counts = HashMap::new();
    for span in calls.map(|call| &call.span).chain(uses.map(|used| &used.span)).filter(|span| is_meant(span)) {
        *counts.entry(text.get(span.clone()).unwrap_or_default().to_owned()).or_default() += 1;
    }
    counts
}
