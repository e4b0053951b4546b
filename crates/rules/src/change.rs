//! The heart: one file before and after an edit, with the lines the edit adds.
//!
//! Everything that edits becomes one of these: an agent's Write or patch, a buffer against its baseline, a git diff.
//! A move is two changes: the source deleted, the target created with all of its content added.

use std::sync::Arc;

use syntax::Span;
use syntax::lines::lines;

use crate::{diff, notebook};

/// How the numbers of [`AddedLine`] count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counting {
    /// Lines of the file after the edit, from 1.
    File,
    /// The file after the edit is unknown: lines of the edit's new text, from 1 for each new text.
    NewText,
    /// A notebook: `text` is the sources of its cells one after the other; this is the first line (from 1) of each cell.
    Cells(Vec<u32>),
}

/// One line that the edit adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLine {
    /// From 1, counted as [`Change::counting`] says.
    pub number: u32,
    /// Where it stands in [`Change::text`], without its line end.
    pub span: Span,
}

/// One cell of a notebook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<'a> {
    /// Whether it holds code; prose and raw cells do not.
    pub is_code: bool,
    /// Its text.
    pub source: &'a str,
}

/// One file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path as shown to people and agents: relative to the root with `/`, or absolute outside of it.
    pub path: String,
    /// The spellings that globs are tried on: as written and with links resolved, relative to the rulebook's root
    /// where the file lies below it. At least one.
    pub names: Vec<String>,
    /// The file is deleted (or moved away): `text` is empty, nothing is added.
    pub deleted: bool,
    /// The file before the edit; none when there was none or it is unknown.
    pub before: Option<Arc<str>>,
    /// What the added lines are ranges of: the file after the edit, or the new text alone when that is unknown.
    pub text: Arc<str>,
    /// The same bytes as `text` with what is not code (a notebook's prose cells and magics) blanked, where they differ.
    pub code: Option<Arc<str>>,
    /// How lines are counted; [`Counting::NewText`] says that the file after the edit is unknown.
    pub counting: Counting,
    /// The lines the edit adds, in order.
    pub added: Vec<AddedLine>,
}

impl Change {
    /// A file with this text after the edit, and with or without one before it.
    pub fn between(path: String, names: Vec<String>, before: Option<Arc<str>>, after: Arc<str>) -> Change {
        let added = numbered(diff::added(before.as_deref().unwrap_or_default(), &after));
        Change { path, names, deleted: false, before, text: after, code: None, counting: Counting::File, added }
    }

    /// A file that is new at its path, also by being moved there: all of its lines are added.
    pub fn created(path: String, names: Vec<String>, after: Arc<str>) -> Change {
        Change::between(path, names, None, after)
    }

    /// A file that is deleted or moved away.
    pub fn deleted(path: String, names: Vec<String>, before: Option<Arc<str>>) -> Change {
        let (text, counting) = (Arc::from(""), Counting::File);
        Change { path, names, deleted: true, before, text, code: None, counting, added: Vec::new() }
    }

    /// An edit whose result is unknown: for each place the old and the new text. Added are the lines of each new text
    /// that its old text does not have, counted from 1 for each.
    pub fn unknown<'a>(
        path: String,
        names: Vec<String>,
        before: Option<Arc<str>>,
        pieces: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Change {
        let mut text = String::new();
        let mut added = Vec::new();
        for (old, new) in pieces {
            let offset = text.len();
            let lines = numbered(diff::added(old, new)).into_iter();
            added.extend(
                lines.map(|AddedLine { number, span }| AddedLine {
                    number,
                    span: span.start + offset..span.end + offset,
                }),
            );
            text.push_str(new);
            if !new.is_empty() && !new.ends_with(['\n', '\r']) {
                text.push('\n');
            }
        }
        let text = Arc::from(text);
        Change { path, names, deleted: false, before, text, code: None, counting: Counting::NewText, added }
    }

    /// A notebook given by its cells: their sources stand one after the other.
    pub fn cells(path: String, names: Vec<String>, before: Option<&[Cell]>, after: &[Cell]) -> Change {
        let joined = notebook::join(after);
        let before = before.map(notebook::join);
        // Prose that becomes code is new code: lines are compared together with the kind of their cell.
        let old = before.iter().flat_map(|before| before.lines().map(|(span, is_code)| (&before.text[span], is_code)));
        let new = joined.lines().map(|(span, is_code)| (&joined.text[span], is_code));
        let is_new = diff::added_among(&old.collect::<Vec<_>>(), &new.collect::<Vec<_>>());
        let lines = joined.lines().map(|(span, _)| span).enumerate();
        let added = numbered(lines.filter(|(index, _)| is_new[*index]).collect());
        Change {
            path,
            names,
            deleted: false,
            before: before.map(|before| before.code.into()),
            text: joined.text.into(),
            code: Some(joined.code.into()),
            counting: Counting::Cells(joined.first_lines),
            added,
        }
    }

    /// Whether the file after the edit is known.
    pub fn result_known(&self) -> bool {
        self.counting != Counting::NewText
    }

    /// The same change as seen by a rulebook whose root gives the file these names.
    #[must_use]
    pub fn named(&self, path: String, names: Vec<String>) -> Change {
        Change { path, names, ..self.clone() }
    }

    /// The added lines that a span touches.
    pub fn added_in(&self, span: &Span) -> &[AddedLine] {
        let from = self.added.partition_point(|line| line.span.end < span.start);
        let touching = self.added[from..]
            .partition_point(|line| line.span.start < span.end || (span.is_empty() && line.span.start == span.start));
        &self.added[from..from + touching]
    }

    /// Where a line of this number is, in words: `line 3`, `line 3 of the new text`, `cell 2, line 3`, `the file`.
    pub fn place(&self, number: u32) -> String {
        match &self.counting {
            _ if number == 0 => "the file".into(),
            Counting::File => format!("line {number}"),
            Counting::NewText => format!("line {number} of the new text"),
            Counting::Cells(first_lines) => {
                let cell = first_lines.partition_point(|first| *first <= number).max(1);
                let first = first_lines.get(cell - 1).copied().unwrap_or(1);
                format!("cell {cell}, line {}", (number + 1).saturating_sub(first))
            }
        }
    }

    /// The line that starts at or last before `offset`, without its end.
    pub fn line_at(&self, offset: usize) -> Span {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let start = memchr::memrchr2(b'\n', b'\r', &bytes[..offset]).map_or(0, |end| end + 1);
        let end = memchr::memchr2(b'\n', b'\r', &bytes[offset..]).map_or(bytes.len(), |length| offset + length);
        start..end
    }

    /// The number of the line at `offset`, counted as the change counts. Where new texts are counted, only an added
    /// line has a number of its own; another has that of the added line before it.
    pub fn number_at(&self, offset: usize) -> u32 {
        if self.counting == Counting::NewText {
            let behind = self.added.partition_point(|line| line.span.start <= offset);
            return self.added.get(behind.saturating_sub(1)).map_or(1, |line| line.number);
        }
        let before = &self.text.as_bytes()[..self.line_at(offset).start];
        lines(std::str::from_utf8(before).unwrap_or_default()).count() as u32 + 1
    }
}

fn numbered(lines: Vec<(usize, Span)>) -> Vec<AddedLine> {
    lines.into_iter().map(|(index, span)| AddedLine { number: index as u32 + 1, span }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn between(before: &str, after: &str) -> Change {
        Change::between("a".into(), vec!["a".into()], Some(before.into()), after.into())
    }

    #[test]
    fn new_texts_are_counted_apart() {
        let pieces = [("a\nb", "a\nX"), ("", "Y\nZ\n"), ("q", "")];
        let change = Change::unknown("a".into(), vec!["a".into()], None, pieces);
        let found: Vec<_> = change.added.iter().map(|line| (line.number, &change.text[line.span.clone()])).collect();
        assert_eq!(found, [(2, "X"), (1, "Y"), (2, "Z")]);
        assert_eq!(change.number_at(change.added[1].span.start), 1);
        assert!(!change.result_known());
    }

    #[test]
    fn spans_touch_added_lines() {
        let change = between("a\nb\nc\n", "a\nB1\nB2\nc\n");
        let numbers = |span: Span| change.added_in(&span).iter().map(|line| line.number).collect::<Vec<_>>();
        assert_eq!(numbers(0..1), [0; 0]);
        assert_eq!(numbers(0..3), [2]);
        assert_eq!(numbers(3..6), [2, 3]);
        assert_eq!(numbers(2..2), [2]);
        assert_eq!(numbers(8..9), [0; 0]);
    }

    #[test]
    fn prose_that_becomes_code_is_added() {
        let cell = |is_code, source| Cell { is_code, source };
        let before = [cell(true, "x"), cell(false, "eval(y)")];
        let after = [cell(true, "x"), cell(true, "eval(y)")];
        let change = Change::cells("n.ipynb".into(), vec!["n.ipynb".into()], Some(&before), &after);
        assert_eq!(change.added, [AddedLine { number: 2, span: 2..9 }]);
        assert_eq!(change.counting, Counting::Cells(vec![1, 2]));
    }

    proptest! {
        #[test]
        fn numbers_agree_with_the_text(before in "[ab\n\r]{0,40}", after in "[ab\n\ré]{0,40}") {
            let change = between(&before, &after);
            for line in &change.added {
                prop_assert_eq!(change.number_at(line.span.start), line.number);
                prop_assert_eq!(change.line_at(line.span.start), line.span.clone());
                let at = lines(&after).nth(line.number as usize - 1).map(|line| line.span);
                prop_assert_eq!(at, Some(line.span.clone()));
            }
        }
    }
}
