//! Line and column, as editors count them, to byte offsets and back.
//!
//! Columns are counted in the units of an [`Encoding`]. Positions that do not exist (behind the text or the line,
//! inside a surrogate pair or a character) are moved back to the nearest place before them that does, and the answer
//! says so.

use crate::Span;
use crate::lines::LineIndex;

/// The unit of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    Utf16,
    /// Characters (Unicode scalar values).
    Utf32,
}

/// A place in a text: both numbers count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in units of an encoding.
    pub column: u32,
}

/// A converted place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located<T> {
    /// The place.
    pub at: T,
    /// The place asked for does not exist; this is the nearest before it.
    pub clamped: bool,
}

/// A text with its line index, to convert places of.
#[derive(Debug, Clone, Copy)]
pub struct Positions<'a> {
    text: &'a str,
    index: &'a LineIndex,
    encoding: Encoding,
}

impl<'a> Positions<'a> {
    /// `index` must be the index of `text`.
    pub fn new(text: &'a str, index: &'a LineIndex, encoding: Encoding) -> Positions<'a> {
        Positions { text, index, encoding }
    }

    /// The byte offset of a position.
    pub fn offset(&self, position: Position) -> Located<usize> {
        let Some(span) = self.index.span(self.text, position.line as usize) else {
            return Located { at: self.text.len(), clamped: true };
        };
        let column = position.column as usize;
        let line = self.line_text(&span);
        if line.is_ascii() || self.encoding == Encoding::Utf8 {
            let mut at = column.min(line.len());
            while !line.is_char_boundary(at) {
                at -= 1;
            }
            return Located { at: span.start + at, clamped: at != column };
        }
        let mut units = 0;
        for (at, character) in line.char_indices() {
            if units == column {
                return Located { at: span.start + at, clamped: false };
            }
            let width = self.width(character);
            if units + width > column {
                return Located { at: span.start + at, clamped: true };
            }
            units += width;
        }
        Located { at: span.end, clamped: units != column }
    }

    /// The position of a byte offset. An offset between the two bytes of `\r\n` is moved before them.
    pub fn position(&self, offset: usize) -> Located<Position> {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.index.line_of(at);
        let span = self.index.span(self.text, line).unwrap_or(at..at);
        at = at.min(span.end);
        let before = self.line_text(&(span.start..at));
        let column = match self.encoding {
            Encoding::Utf8 => before.len(),
            _ if before.is_ascii() => before.len(),
            _ => before.chars().map(|character| self.width(character)).sum(),
        };
        Located { at: Position { line: saturate(line), column: saturate(column) }, clamped: at != offset }
    }

    fn line_text(&self, span: &Span) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    fn width(&self, character: char) -> usize {
        match self.encoding {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

fn saturate(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    #[test]
    fn places_that_do_not_exist_are_clamped_and_said_so() {
        let text = "a😀b\r\né";
        let table = [
            (Encoding::Utf16, (0, 1), 1, false),
            (Encoding::Utf16, (0, 2), 1, true), // inside the surrogate pair
            (Encoding::Utf16, (0, 3), 5, false),
            (Encoding::Utf8, (0, 3), 1, true), // inside the character
            (Encoding::Utf8, (0, 5), 5, false),
            (Encoding::Utf32, (0, 2), 5, false),
            (Encoding::Utf16, (0, 4), 6, false),
            (Encoding::Utf16, (0, 5), 6, true), // behind the line
            (Encoding::Utf16, (1, 1), 10, false),
            (Encoding::Utf16, (2, 0), 10, true), // behind the text
            (Encoding::Utf32, (u32::MAX, u32::MAX), 10, true),
        ];
        let index = LineIndex::new(text);
        for (encoding, (line, column), at, clamped) in table {
            let found = Positions::new(text, &index, encoding).offset(Position { line, column });
            assert_eq!(found, Located { at, clamped }, "{encoding:?} {line}:{column}");
        }
        let inside_line_end = Positions::new(text, &index, Encoding::Utf16).position(7);
        assert_eq!(inside_line_end, Located { at: Position { line: 0, column: 4 }, clamped: true });
    }

    /// Every place of the text, one character at a time.
    fn places(text: &str, encoding: Encoding) -> Vec<(usize, Position)> {
        let mut found = Vec::new();
        let (mut line, mut column) = (0, 0);
        let mut rest = text.char_indices().peekable();
        while let Some((at, character)) = rest.next() {
            found.push((at, Position { line, column }));
            match character {
                '\r' if rest.peek().is_some_and(|(_, next)| *next == '\n') => {
                    rest.next();
                    (line, column) = (line + 1, 0);
                }
                '\r' | '\n' => (line, column) = (line + 1, 0),
                _ => {
                    column += match encoding {
                        Encoding::Utf8 => character.to_string().len() as u32,
                        Encoding::Utf16 => character.encode_utf16(&mut [0; 2]).len() as u32,
                        Encoding::Utf32 => 1,
                    }
                }
            }
        }
        found.push((text.len(), Position { line, column }));
        found
    }

    proptest! {
        #[test]
        fn both_ways_agree_with_counting_characters(text in "[aé漢😀\r\n\u{2028}]{0,20}") {
            let index = LineIndex::new(&text);
            for encoding in ENCODINGS {
                let positions = Positions::new(&text, &index, encoding);
                for (offset, position) in places(&text, encoding) {
                    prop_assert_eq!(positions.position(offset), Located { at: position, clamped: false });
                    prop_assert_eq!(positions.offset(position), Located { at: offset, clamped: false });
                }
            }
        }

        #[test]
        fn a_clamped_place_is_the_nearest_before(text in "[aé😀\r\n]{0,12}", line in 0u32..5, column in 0u32..12) {
            let index = LineIndex::new(&text);
            for encoding in ENCODINGS {
                let asked = Position { line, column };
                let found = Positions::new(&text, &index, encoding).offset(asked);
                let all = places(&text, encoding);
                let nearest = all.iter().rfind(|(_, position)| *position <= asked).unwrap();
                prop_assert_eq!(found, Located { at: nearest.0, clamped: nearest.1 != asked });
            }
        }
    }
}
