//! Findings with their places: from bytes of a change's text to lines and columns of the file, or of a notebook's cell.

use rules::{Change, Counting, Finding};
use syntax::position::{Encoding, Positions};
use syntax::{LineIndex, Span};

use super::excerpt::Excerpt;
use super::report::{Found, Range};

/// A change with its lines counted once for all findings.
pub struct Places<'a> {
    /// The change.
    pub change: &'a Change,
    index: LineIndex,
}

impl<'a> Places<'a> {
    /// Counts the lines of a change.
    pub fn new(change: &'a Change) -> Places<'a> {
        Places { change, index: LineIndex::new(&change.text) }
    }

    /// A finding at its place, without what its rule says of it.
    pub fn found(&self, rule: &str, finding: &Finding) -> Found {
        let text = &self.change.text;
        let line = (finding.line as usize).checked_sub(1).and_then(|line| self.index.span(text, line));
        let place = finding.span.as_ref().zip(line);
        let range = place.as_ref().map(|(span, line)| {
            let start = span.start.max(line.start);
            Range::of(text, &self.index, &(start..span.end.max(start)))
        });
        let found = Found {
            rule: rule.to_owned(),
            effect: finding.effect,
            what: finding.what.clone(),
            why: String::new(),
            message: finding.what.clone(),
            text: finding.text.clone(),
            line: finding.line,
            range,
            cell: None,
            // What a finding does not quote is not shown either.
            excerpt: place
                .filter(|_| !finding.text.is_empty())
                .map(|(span, line)| Excerpt::quoted(text, &line, span, &finding.text)),
            origin: None,
        };
        match &self.change.counting {
            Counting::Cells(first_lines) => in_cell(found, first_lines),
            Counting::File | Counting::NewText => found,
        }
    }
}

/// The same with lines counted in the notebook's cell.
fn in_cell(found: Found, first_lines: &[u32]) -> Found {
    let cell = first_lines.partition_point(|first| *first <= found.line);
    let Some(before) = cell.checked_sub(1).and_then(|cell| first_lines.get(cell)).map(|first| first - 1) else {
        return found;
    };
    let range =
        found.range.map(|range| Range { line: range.line - before, end_line: range.end_line - before, ..range });
    Found { line: found.line - before, range, cell: Some(cell as u32), ..found }
}

impl Range {
    /// Where a span of `text` stands; `index` is its index.
    pub fn of(text: &str, index: &LineIndex, span: &Span) -> Range {
        let positions = Positions::new(text, index, Encoding::Utf32);
        let (start, end) = (positions.position(span.start).at, positions.position(span.end).at);
        Range { line: start.line + 1, column: start.column + 1, end_line: end.line + 1, end_column: end.column + 1 }
    }
}
