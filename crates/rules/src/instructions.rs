//! Instruction-like text: added lines that address a reviewer or an agent instead of a reader.
//!
//! In code only comments and strings are read, in prose every line; a sentence may go on in the next line. A cheap look
//! for cue words on the bytes comes first, and a pattern is compiled only when all its cues are there, so that ordinary
//! edits pay next to nothing. A heuristic: nothing here proves a text harmless.

mod cues;
mod normal;
mod patterns;
mod reading;

use syntax::Span;

use crate::change::Change;
use cues::Cues;
use reading::{Kind, Reading};

/// The most hits that one change gives; what follows is not looked at.
const MAX_HITS: usize = 100;

/// Text longer than this is looked at in windows, so that cues far apart do not count together.
const WINDOW: usize = 600;

/// How much of a window the next one sees again: longer than any pattern's match is meant to be.
const OVERLAP: usize = 200;

/// One line that reads like an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The line's number, as the change counts.
    pub line: u32,
    /// The line in the change's text, without the blanks around it.
    pub span: Span,
}

/// The added lines of a change that address a reviewer or an agent, in order.
pub fn scan(change: &Change) -> Vec<Hit> {
    let text: &str = &change.text;
    let mut reading = None;
    let mut hits = Vec::new();
    let mut former: Option<Line> = None;
    let mut ahead: Option<Line> = None;
    for added in &change.added {
        if text.get(added.span.clone()).is_none() {
            continue;
        }
        let line = ahead.take().filter(|ahead| ahead.span == added.span).unwrap_or_else(|| Line::of(text, &added.span));
        let mut read = |first: &Line, second: Option<&Line>| {
            let cues = second.map_or(first.cues, |second| first.cues | second.cues);
            patterns::any_possible(cues) && {
                let reading = reading.get_or_insert_with(|| Reading::of(change));
                objects(reading, text, &first.span, second.map(|second| &second.span))
            }
        };
        let before = former.replace(line.clone());
        if line.cues.is_empty() {
            continue;
        }
        let mut hit = read(&line, None);
        if !hit {
            ahead = next_line(text, &line.span).map(|next| Line::of(text, &next));
            hit = ahead.as_ref().is_some_and(|next| read(&line, Some(next)));
        }
        if !hit && let Some(previous) = previous_line(text, &line.span) {
            // Two added lines with cues have been looked at together with the first of them.
            let known = before.filter(|before| before.span == previous);
            let seen = known.as_ref().is_some_and(|known| !known.cues.is_empty());
            hit = !seen && read(&known.unwrap_or_else(|| Line::of(text, &previous)), Some(&line));
        }
        if hit {
            hits.push(Hit { line: added.number, span: trimmed(text, &added.span) });
            if hits.len() == MAX_HITS {
                break;
            }
        }
    }
    hits
}

/// A line and what it holds.
#[derive(Clone)]
struct Line {
    span: Span,
    cues: Cues,
}

impl Line {
    fn of(text: &str, span: &Span) -> Line {
        Line { span: span.clone(), cues: cues::of_raw(&text[span.clone()]) }
    }
}

/// Whether a line, or a sentence that goes over from it into the second one, objects.
fn objects(reading: &Reading, text: &str, first: &Span, second: Option<&Span>) -> bool {
    let Some(second) = second else {
        return reading.pieces(text, first).any(|(piece, kind)| matches(&text[piece], kind));
    };
    let Some((end, kind)) = reading.pieces(text, first).last() else { return false };
    let Some((start, next_kind)) = reading.pieces(text, second).next() else { return false };
    let blank = |span: Span| text[span].trim().is_empty();
    let whole = kind == Kind::String || blank(first.start..end.start);
    if kind != next_kind || !whole || !blank(end.end..first.end) || !blank(second.start..start.start) {
        return false;
    }
    let head = last(&text[end], OVERLAP);
    let tail = first_of(without_marker(&text[start]), OVERLAP);
    if tail.is_empty() || head.trim_end().ends_with(['.', ':', ';', '!', '?', '|', '{', '}']) {
        return false;
    }
    // What one line says by itself has been looked at; only what needs both counts.
    matches(&format!("{head} {tail}"), kind) && !matches(head, kind) && !matches(tail, kind)
}

fn matches(piece: &str, kind: Kind) -> bool {
    if !patterns::any_possible(cues::of_raw(piece)) {
        return false;
    }
    let normal = normal::normal(piece);
    windows(&normal.text).any(|window| patterns::matches(window, cues::of_normal(window), kind))
        || normal.cyrillic.as_deref().is_some_and(|text| patterns::matches_russian(text, kind))
}

/// The text in overlapping pieces.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let end = boundary(text, from + WINDOW);
        start = (end < text.len()).then(|| boundary(text, end - OVERLAP));
        Some(&text[from..end])
    })
}

/// The first place from `at` on where a letter begins or the text ends.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

fn last(text: &str, length: usize) -> &str {
    &text[boundary(text, text.len().saturating_sub(length))..]
}

fn first_of(text: &str, length: usize) -> &str {
    &text[..boundary(text, length)]
}

/// A line without what marks it as a comment; nothing for a line that begins something new (a list item, a heading).
fn without_marker(line: &str) -> &str {
    let line = line.trim_start();
    for marker in ["//", "#", "--", ";", "*", "%", ">"] {
        if let Some(rest) = line.strip_prefix(marker) {
            let begins = rest.starts_with('#') || rest.trim_start().starts_with(['-', '*', '+']);
            return if begins { "" } else { rest.trim_start_matches('/').trim_start() };
        }
    }
    if line.starts_with(['-', '+', '|', '<', '"', '\'', '`']) { "" } else { line }
}

/// The line after this one, without its end.
fn next_line(text: &str, line: &Span) -> Option<Span> {
    let rest = &text[line.end..];
    let end = if rest.starts_with("\r\n") { 2 } else { rest.starts_with(['\n', '\r']).into() };
    let start = line.end + end;
    let length = text[start..].find(['\n', '\r']).unwrap_or(text.len() - start);
    (end > 0 && length > 0).then_some(start..start + length)
}

/// The line before this one, without its end.
fn previous_line(text: &str, line: &Span) -> Option<Span> {
    let before = &text[..line.start];
    let before = before.strip_suffix("\r\n").or_else(|| before.strip_suffix(['\n', '\r']))?;
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    (start < before.len()).then_some(start..before.len())
}

fn trimmed(text: &str, line: &Span) -> Span {
    let whole = &text[line.clone()];
    let start = line.start + (whole.len() - whole.trim_start().len());
    start..start + whole.trim().len()
}

#[cfg(test)]
mod tests;
