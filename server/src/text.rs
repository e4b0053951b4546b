//! A text with its lines: what a document and a rulebook are held as.
//!
//! Offsets inside are bytes; places in an editor's units are made and read here and nowhere else.

use std::sync::Arc;

pub use syntax::position::{Encoding, Position};
use syntax::position::{Located, Positions};
use syntax::{LineIndex, Span};

/// A text and where its lines begin.
#[derive(Debug, Clone)]
pub struct Text {
    /// The text.
    pub text: Arc<str>,
    index: LineIndex,
}

impl Text {
    /// Finds the lines of `text`.
    pub fn new(text: impl Into<Arc<str>>) -> Text {
        let text = text.into();
        Text { index: LineIndex::new(&text), text }
    }

    /// The text with the bytes of `span` replaced.
    #[must_use]
    pub fn replaced(mut self, span: &Span, by: &str) -> Text {
        let mut text = String::with_capacity(self.text.len() - span.len() + by.len());
        text.push_str(&self.text[..span.start]);
        text.push_str(by);
        text.push_str(&self.text[span.end..]);
        self.index.edit(&text, span, by.len());
        Text { text: text.into(), index: self.index }
    }

    /// The byte offset of an editor's place.
    pub fn offset(&self, place: Position, encoding: Encoding) -> Located<usize> {
        Positions::new(&self.text, &self.index, encoding).offset(place)
    }

    /// The editor's place of a byte offset.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        Positions::new(&self.text, &self.index, encoding).position(offset).at
    }

    /// How many lines there are; an empty one behind the last line end does not count.
    pub fn lines(&self) -> usize {
        self.places() - usize::from(self.text.is_empty() || self.text.ends_with(['\n', '\r']))
    }

    /// How many lines a cursor can stand in: at least one.
    pub fn places(&self) -> usize {
        self.index.count()
    }

    /// The bytes of a line (from 0) without its end; the text's end for one that is not there.
    pub fn line(&self, line: usize) -> Span {
        self.index.span(&self.text, line).unwrap_or(self.text.len()..self.text.len())
    }

    /// The number from 1 of the line in which a byte stands.
    pub fn line_number(&self, offset: usize) -> u32 {
        self.index.line_of(offset) as u32 + 1
    }
}
