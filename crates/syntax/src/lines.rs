//! The one line model: a line ends at `\n`, `\r\n` or `\r`, and at nothing else.
//!
//! Diff, parser, editor and reasons all count lines through this module, so that a line number means the same
//! everywhere. Lines are numbered from 0 here; who shows them to people adds one.

use memchr::memchr2_iter;

use crate::Span;

/// One line of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line without its end.
    pub span: Span,
    /// Where its end stops: the start of the next line.
    pub next: usize,
}

/// The lines of `text`: a last line without an end counts, an empty one behind the last end does not.
pub fn lines(text: &str) -> impl Iterator<Item = Line> + '_ {
    let mut ends = line_ends(text.as_bytes());
    let mut start = 0;
    std::iter::from_fn(move || {
        let line = match ends.next() {
            Some(end) => Line { span: start..end.start, next: end.end },
            None if start < text.len() => Line { span: start..text.len(), next: text.len() },
            None => return None,
        };
        start = line.next;
        Some(line)
    })
}

/// The line ends of `bytes` in order: one or two bytes each.
fn line_ends(bytes: &[u8]) -> impl Iterator<Item = Span> + '_ {
    let mut done = 0;
    memchr2_iter(b'\n', b'\r', bytes).filter_map(move |at| {
        if at < done {
            return None;
        }
        done = at + if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
        Some(at..done)
    })
}

/// Where each line of a text starts.
///
/// Unlike [`lines`], it counts the empty line behind a last line end, where a cursor can stand: a text has one line
/// more than it has line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
    length: usize,
}

impl LineIndex {
    /// The index of `text`.
    pub fn new(text: &str) -> LineIndex {
        let mut starts = vec![0];
        starts.extend(line_ends(text.as_bytes()).map(|end| end.end));
        LineIndex { starts, length: text.len() }
    }

    /// How many lines there are: at least one.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The length of the text in bytes.
    pub fn text_length(&self) -> usize {
        self.length
    }

    /// The line, from 0, in which the byte at `offset` stands (its line end belongs to a line); an offset behind the
    /// text is in the last line.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// Where `line` (from 0) starts, if there is such a line.
    pub fn start(&self, line: usize) -> Option<usize> {
        self.starts.get(line).copied()
    }

    /// `line` (from 0) without its end, if there is such a line. `text` is the text the index was made from.
    pub fn span(&self, text: &str, line: usize) -> Option<Span> {
        let start = self.start(line)?;
        let Some(&next) = self.starts.get(line + 1) else {
            return Some(start..self.length);
        };
        let bytes = text.as_bytes();
        let end = match bytes.get(start..next) {
            Some([.., b'\r', b'\n']) => next - 2,
            _ => next - 1,
        };
        Some(start..end)
    }

    /// The lines (from 0) that a span touches; an empty span touches the line it stands in.
    pub fn lines_of(&self, span: &Span) -> std::ops::RangeInclusive<usize> {
        let last = span.end.saturating_sub(1).max(span.start);
        self.line_of(span.start)..=self.line_of(last)
    }

    /// Takes over an edit that replaced the bytes of `replaced` by `inserted` bytes; `text` is the text after it.
    /// Equal to a fresh index of `text`. Only the lines that the edit touches are read again.
    pub fn edit(&mut self, text: &str, replaced: &Span, inserted: usize) {
        let bytes = text.as_bytes();
        // A `\r` right before the edit and a `\n` right behind it may join or part.
        let dirty_start = replaced.start.saturating_sub(1);
        let dirty_end = (replaced.start + inserted + 1).min(bytes.len());
        // Starts up to here stand before anything that changed; a start is the end of a line end.
        let kept = self.starts.partition_point(|&start| start <= dirty_start).max(1);
        let tail = self.starts.partition_point(|&start| start <= replaced.end + 1).max(kept);
        let rescan = self.starts[kept - 1];
        let fresh: Vec<usize> =
            line_ends(&bytes[rescan..]).map(|end| rescan + end.end).take_while(|&start| start <= dirty_end).collect();
        for start in &mut self.starts[tail..] {
            *start = *start + inserted - replaced.len();
        }
        self.starts.splice(kept..tail, fresh);
        self.length = bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_three_ends_end_a_line() {
        let table: [(&str, &[&str]); 10] = [
            ("", &[]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\n\n", &["a", ""]),
            ("a\r\nb\rc\nd", &["a", "b", "c", "d"]),
            ("\r\r\n\n", &["", "", ""]),
            ("a\u{b}b\u{c}c\u{1c}\u{1d}\u{1e}d", &["a\u{b}b\u{c}c\u{1c}\u{1d}\u{1e}d"]),
            ("a\u{85}b\u{2028}c\u{2029}d", &["a\u{85}b\u{2028}c\u{2029}d"]),
            ("\n", &[""]),
            ("é\r", &["é"]),
        ];
        for (text, expected) in table {
            let found: Vec<&str> = lines(text).map(|line| &text[line.span]).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn spans_and_numbers_agree() {
        let text = "ab\r\nc\rd\n";
        let index = LineIndex::new(text);
        assert_eq!(index.count(), 4);
        let spans: Vec<Span> = (0..4).map(|line| index.span(text, line).unwrap()).collect();
        assert_eq!(spans, [0..2, 4..5, 6..7, 8..8]);
        assert_eq!(index.span(text, 4), None);
        let numbers: Vec<usize> = (0..=9).map(|offset| index.line_of(offset)).collect();
        assert_eq!(numbers, [0, 0, 0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(index.lines_of(&(1..4)), 0..=0);
        assert_eq!(index.lines_of(&(1..5)), 0..=1);
        assert_eq!(index.lines_of(&(6..6)), 2..=2);
    }

    proptest! {
        #[test]
        fn an_edited_index_is_a_fresh_one(
            text in "[ab\r\né]{0,24}", start in 0usize..30, length in 0usize..10, inserted in "[x\r\n]{0,4}"
        ) {
            let floor = |at: usize| { let mut at = at.min(text.len()); while !text.is_char_boundary(at) { at -= 1; } at };
            let replaced = floor(start)..floor(start + length).max(floor(start));
            let mut after = text.clone();
            after.replace_range(replaced.clone(), &inserted);
            let mut index = LineIndex::new(&text);
            index.edit(&after, &replaced, inserted.len());
            prop_assert_eq!(index, LineIndex::new(&after));
        }

        #[test]
        fn lines_and_their_ends_are_the_text(text in "[ab\r\n\u{2028}]{0,24}") {
            let mut at = 0;
            for line in lines(&text) {
                prop_assert_eq!(line.span.start, at);
                prop_assert!(matches!(&text[line.span.end..line.next], "\n" | "\r\n" | "\r" | ""));
                prop_assert!(!text[line.span].contains(['\r', '\n']));
                at = line.next;
            }
            prop_assert_eq!(at, text.len());
        }
    }
}
