//! A place between the lines of a text that is carried along while the text changes.
//!
//! It stands before a line and knows that line and the one above by their digests, so that it is found again in another
//! state of the text. It ends when either of the two changes. It owns no text; all work is linear in what changed.

use std::hash::{DefaultHasher, Hash, Hasher};

use syntax::Span;

use crate::text::Text;

/// A place before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The line, from 0; as many as there are lines when it is behind the last.
    line: usize,
    above: Option<u64>,
    below: Option<u64>,
}

/// Lines that an edit replaced: `old` lines from `from` on became `new` lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// The first line, from 0.
    pub from: usize,
    /// How many there were.
    pub old: usize,
    /// How many there are.
    pub new: usize,
}

fn line(text: &Text, line: usize) -> Option<&str> {
    (line < text.lines()).then(|| &text.text[text.line(line)])
}

fn digest(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

impl Anchor {
    /// Before a line, from 0; behind the last line for one that is not there.
    pub fn before(text: &Text, at: usize) -> Anchor {
        let at = at.min(text.lines());
        let above = at.checked_sub(1).and_then(|above| line(text, above)).map(digest);
        Anchor { line: at, above, below: line(text, at).map(digest) }
    }

    /// The line, from 0.
    pub fn line(&self) -> u32 {
        u32::try_from(self.line).unwrap_or(u32::MAX)
    }

    /// The line to show it at, from 0: the last one for a place behind it.
    pub fn shown_line(&self, text: &Text) -> usize {
        self.line.min(text.lines().saturating_sub(1))
    }

    /// The bytes to underline: the line without what it is indented by.
    pub fn span(&self, text: &Text) -> Span {
        let span = text.line(self.shown_line(text));
        let indent = span.len() - text.text[span.clone()].trim_start().len();
        if indent == span.len() { span } else { span.start + indent..span.end }
    }

    /// The same place in another state of the text, the nearest of several; none when the lines around are gone.
    #[must_use]
    pub fn found_in(&self, text: &Text) -> Option<Anchor> {
        let fits = |at: usize| {
            let here = Anchor::before(text, at);
            (here.above, here.below) == (self.above, self.below)
        };
        if self.line <= text.lines() && fits(self.line) {
            return Some(*self);
        }
        let at = self.nearest(text, |above, below| above == self.above && below == self.below)?;
        Some(Anchor::before(text, at))
    }

    /// The most sensible place in another state of the text: where one of the lines around still is, else as far down.
    #[must_use]
    pub fn fitted_to(&self, text: &Text) -> Anchor {
        let one = |mine: Option<u64>, other: Option<u64>| mine.is_some() && mine == other;
        self.found_in(text).unwrap_or_else(|| {
            let at = self
                .nearest(text, |_, below| one(self.below, below))
                .or_else(|| self.nearest(text, |above, _| one(self.above, above)));
            Anchor::before(text, at.unwrap_or(self.line))
        })
    }

    /// The place nearest to this one whose lines above and below are wanted.
    fn nearest(&self, text: &Text, wanted: impl Fn(Option<u64>, Option<u64>) -> bool) -> Option<usize> {
        let mut above = None;
        let mut best: Option<usize> = None;
        for at in 0..=text.lines() {
            let below = line(text, at).map(digest);
            let is_nearer = best.is_none_or(|best| at.abs_diff(self.line) < best.abs_diff(self.line));
            if is_nearer && wanted(above, below) {
                best = Some(at);
            }
            above = below;
        }
        best
    }

    /// The place after an edit; none when a line around it was changed.
    #[must_use]
    pub fn carried(&self, replaced: &Replaced, after: &Text) -> Option<Anchor> {
        let Replaced { from, old, new } = *replaced;
        let first = self.line.saturating_sub(1);
        if old > 0 && from <= self.line && from + old > first {
            return None;
        }
        let is_above = if old == 0 { from <= self.line } else { from + old <= first };
        let at = if is_above { self.line - old + new } else { self.line };
        Some(Anchor::before(after, at))
    }
}

impl Replaced {
    /// What an edit changed that replaced the bytes of `span` by `inserted` bytes: whole lines, as few as possible.
    pub fn by(before: &Text, span: &Span, after: &Text, inserted: usize) -> Replaced {
        let index = |text: &Text, offset: usize| text.line_number(offset) as usize - 1;
        // A line more at both sides: a `\r` and a `\n` may have joined or parted.
        let first = index(before, span.start).min(index(after, span.start)).saturating_sub(1);
        let end = (index(before, span.end).max(first) + 2).min(before.places());
        let behind = before.places() - end;
        let behind = behind.min(after.places() - (index(after, span.start + inserted) + 1).min(after.places()));
        let old: Vec<&str> = (first..before.places() - behind).map(|at| &before.text[before.line(at)]).collect();
        let new: Vec<&str> = (first..after.places() - behind).map(|at| &after.text[after.line(at)]).collect();
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[same..], &new[same..]);
        let ends = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        Replaced { from: first + same, old: old.len() - ends, new: new.len() - ends }
    }

    /// The lines that are new, each once.
    pub fn lines<'a>(&self, after: &'a Text) -> impl Iterator<Item = &'a str> {
        (self.from..self.from + self.new).map(|at| &after.text[after.line(at)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(before: &str, span: Span, by: &str) -> (Text, Replaced) {
        let before = Text::new(before);
        let after = before.clone().replaced(&span, by);
        let replaced = Replaced::by(&before, &span, &after, by.len());
        (after, replaced)
    }

    #[test]
    fn edits_change_as_few_lines_as_they_do() {
        for (before, span, by, expected) in [
            ("a\nb\nc\n", 0..0, "x\n", (0, 0, 1)),
            ("a\nb\nc\n", 1..1, "\nx", (1, 0, 1)),
            ("a\nb\nc\n", 2..2, "x\n", (1, 0, 1)),
            ("a\nb\nc\n", 2..4, "", (1, 1, 0)),
            ("a\nb\nc\n", 2..3, "x", (1, 1, 1)),
            ("a\nb\nc\n", 1..2, "", (0, 2, 1)),
            ("a\nb\nc\n", 6..6, "x\n", (3, 0, 1)),
            ("a\nb\nc", 5..5, "\n", (3, 0, 1)),
            ("a\nb\nc", 5..5, "d", (2, 1, 1)),
            ("a\rb\nc", 2..2, "\n", (3, 0, 0)),
            ("a\r\nb", 1..2, "", (2, 0, 0)),
            ("a\r\nb", 2..2, "x", (1, 0, 1)),
            ("", 0..0, "a\nb\n", (0, 0, 2)),
            ("a\nb\nc\n", 0..6, "a\nc\n", (1, 1, 0)),
            ("a\nb\nc\n", 0..6, "", (0, 3, 0)),
            ("a\nb\n", 0..4, "a\nb\n", (3, 0, 0)),
        ] {
            let (_, replaced) = edit(before, span.clone(), by);
            assert_eq!((replaced.from, replaced.old, replaced.new), expected, "{before:?} {span:?} {by:?}");
        }
    }

    #[test]
    fn what_is_not_replaced_is_the_same_before_and_after() {
        let pieces = ["a", "\n", "\r", "b"];
        let texts: Vec<String> = (0..256).map(|it| (0..4).map(|at| pieces[it >> (2 * at) & 3]).collect()).collect();
        let lines = |text: &Text| (0..text.places()).map(|at| text.text[text.line(at)].to_owned()).collect::<Vec<_>>();
        for before in &texts {
            for (start, end) in (0..=4).flat_map(|start| (start..=4).map(move |end| (start, end))) {
                for by in ["", "\n", "\r", "x", "\nx", "a\n", "\r\n"] {
                    let (after, Replaced { from, old, new }) = edit(before, start..end, by);
                    let (mut left, right) = (lines(&Text::new(before.as_str())), lines(&after));
                    left.splice(from..from + old, right[from..from + new].iter().cloned());
                    assert_eq!(left, right, "{before:?} {start}..{end} {by:?}");
                }
            }
        }
    }

    #[test]
    fn a_place_moves_with_the_lines_around_it_and_ends_with_them() {
        // The place stands before "c", below "b".
        let before = "a\nb\nc\nd\n";
        for (span, by, expected) in [
            (0..0, "x\ny\n", Some(4)),
            (0..2, "", Some(1)),
            (0..1, "😀", Some(2)),
            (4..4, "x\n", Some(3)),
            (3..3, "\nx", Some(3)),
            (6..6, "x\n", Some(2)),
            (6..8, "", Some(2)),
            (6..7, "é", Some(2)),
            (8..8, "e", Some(2)),
            (2..3, "x", None),
            (4..5, "x", None),
            (4..6, "", None),
            (2..6, "", None),
            (3..4, "", None),
            (0..8, "other\n", None),
            (0..8, "x\na\nb\nc\nd\n", Some(3)),
        ] {
            let (after, replaced) = edit(before, span.clone(), by);
            let carried = Anchor::before(&Text::new(before), 2).carried(&replaced, &after);
            assert_eq!(carried.map(|anchor| anchor.line), expected, "{span:?} {by:?}");
            assert!(carried.is_none_or(|anchor| anchor == Anchor::before(&after, anchor.line)));
        }
    }

    #[test]
    fn places_at_the_edges_of_a_text() {
        for (before, at, span, by, expected) in [
            ("a\n", 0, 0..0, "x\n", Some(1)),
            ("a\n", 0, 0..1, "x", None),
            ("a\n", 1, 2..2, "x\n", Some(2)),
            ("a\n", 1, 0..0, "x\n", Some(2)),
            ("a\n", 9, 0..1, "b", None),
            ("", 0, 0..0, "x", None),
            ("a\nb\n", 0, 2..3, "x", Some(0)),
        ] {
            let (after, replaced) = edit(before, span.clone(), by);
            let carried = Anchor::before(&Text::new(before), at).carried(&replaced, &after);
            assert_eq!(carried.map(|anchor| anchor.line), expected, "{before:?} {at} {span:?} {by:?}");
        }
    }

    #[test]
    fn a_place_is_found_again_or_fitted() {
        let anchor = Anchor::before(&Text::new("a\nb\nc\nd\n"), 2);
        for (text, found, fitted) in [
            ("a\nb\nc\nd\n", Some(2), 2),
            ("x\ny\na\nb\nc\n", Some(4), 4),
            ("b\nc\nx\nx\nx\nx\nb\nc\n", Some(1), 1),
            ("a\nb\nx\nc\n", None, 3),
            ("b\nx\n", None, 1),
            ("q\n", None, 1),
            ("", None, 0),
            ("1\n2\n3\n4\n5\n", None, 2),
        ] {
            let text = Text::new(text);
            assert_eq!(anchor.found_in(&text).map(|it| it.line), found, "{:?}", text.text);
            assert_eq!(anchor.fitted_to(&text).line, fitted, "{:?}", text.text);
        }
    }

    #[test]
    fn what_is_underlined_is_there() {
        for (text, at, shown) in
            [("a\n    b c\n", 1, "b c"), ("a\nb\n", 7, "b"), ("", 0, ""), ("a\n  \nb", 1, "  "), ("😀\né", 1, "é")]
        {
            let text = Text::new(text);
            assert_eq!(&text.text[Anchor::before(&text, at).span(&text)], shown);
        }
    }
}
