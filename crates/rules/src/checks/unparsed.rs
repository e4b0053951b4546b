//! Added lines that do not parse: names are looked for in their text, and what is left could not be checked.

use syntax::{Facts, Span};

use crate::case::Case;
use crate::excerpt::joined;
use crate::names::is_name_character;

/// Lines named in one message.
const LINES: usize = 3;

/// The part of an added line that stands in a region which does not parse.
pub(crate) struct Part {
    pub line: u32,
    pub span: Span,
}

/// The parts that hold code, in order.
pub(crate) fn parts(case: &Case, facts: &Facts) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for region in joined(facts.errors.clone()) {
        let region = region.start..region.end.max(region.start + 1);
        for line in case.change.added_in(&region) {
            let span = line.span.start.max(region.start)..line.span.end.min(region.end);
            let has_code = span.start < span.end
                && case.code()[span.clone()]
                    .char_indices()
                    .any(|(offset, it)| !it.is_whitespace() && !is_quiet(facts, span.start + offset));
            if has_code {
                parts.push(Part { line: line.number, span });
            }
        }
    }
    parts
}

/// That these lines do not parse, in words; nothing without lines.
pub(crate) fn describe(case: &Case, mut lines: Vec<u32>) -> Option<String> {
    lines.dedup();
    let named: Vec<String> = lines.iter().take(LINES).map(|line| case.change.place(*line)).collect();
    let more = if lines.len() > LINES { " and more" } else { "" };
    let verb = if lines.len() == 1 { "does" } else { "do" };
    (!lines.is_empty()).then(|| format!("{}{more} {verb} not parse", named.join(", ")))
}

/// Whether a comment or a string stands at `at`.
fn is_quiet(facts: &Facts, at: usize) -> bool {
    let inside = |spans: &[Span]| {
        let behind = spans.partition_point(|span| span.start <= at);
        behind > 0 && spans[behind - 1].end > at
    };
    inside(&facts.comments) || inside(&facts.strings)
}

/// The dotted names before a parenthesis in `part`, outside of comments and strings.
pub(crate) fn calls_in<'t>(text: &'t str, part: &Span, facts: &Facts) -> Vec<(Span, &'t str)> {
    let mut calls = Vec::new();
    let mut name: Option<Span> = None;
    // What stands right before a name may make it the end of a longer one.
    let is_open = |it: char| is_name_character(it) || matches!(it, '.' | ')' | ']');
    let mut is_attribute = text[..part.start].chars().next_back().is_some_and(is_open);
    for (offset, character) in text[part.clone()].char_indices() {
        let at = part.start + offset;
        if is_quiet(facts, at) {
            (name, is_attribute) = (None, true);
            continue;
        }
        let ends = at + character.len_utf8();
        match (&mut name, character) {
            (Some(name), _) if name.end == at && (character == '.' || is_name_character(character)) => name.end = ends,
            (_, _) if is_name_character(character) && !is_attribute => name = Some(at..ends),
            (Some(found), '(') => {
                calls.push((found.clone(), &text[found.clone()]));
                (name, is_attribute) = (None, false);
            }
            (_, ' ' | '\t' | '\\') => {}
            (_, _) if is_name_character(character) => {}
            _ => {
                is_attribute = matches!(character, '.' | ')' | ']');
                name = None;
            }
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_a_parenthesis() {
        let facts = Facts::default();
        for (text, expected) in [
            ("  eval(x)", vec!["eval"]),
            ("my.eval(x); literal_eval (x)", vec!["my.eval", "literal_eval"]),
            ("f().eval(x)", vec!["f"]),
            ("eval \\", vec![]),
            ("x = os . system(1)", vec![]),
            ("def f(: os.system(1)", vec!["f", "os.system"]),
        ] {
            let found: Vec<_> = calls_in(text, &(0..text.len()), &facts).into_iter().map(|(_, name)| name).collect();
            assert_eq!(found, expected, "{text}");
        }
        let quiet = "x(1)  # eval(eval(1)) 'eval(1)'";
        let facts = Facts { comments: vec![6..21, 21..21], strings: vec![22..22, 22..31], ..Facts::default() };
        assert_eq!(calls_in(quiet, &(0..quiet.len()), &facts), [(0..1, "x")]);
        let cut = "my.eval(x)";
        assert!(calls_in(cut, &(3..10), &facts).is_empty());
    }
}
