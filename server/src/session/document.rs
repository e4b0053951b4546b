//! One open document: its text as the editor has it, and what was last found in it.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::facts::Digest;
use crate::features::baseline::Before;
use crate::features::diagnostics::Report;
use crate::text::{Encoding, Position, Text};
use syntax::Span;

/// One replacement of a `didChange`; without a range the text is the whole document.
#[derive(Debug, Clone)]
pub struct Edit {
    /// What is replaced.
    pub range: Option<(Position, Position)>,
    /// By what.
    pub text: String,
}

/// One open document.
pub struct Document {
    /// The URI exactly as the client wrote it.
    pub uri: Arc<str>,
    /// The file, for a URI that names one.
    pub path: Option<PathBuf>,
    /// The same with links resolved: what rulebooks are known by.
    pub resolved: Option<PathBuf>,
    /// The client's number of the text.
    pub version: i32,
    /// The text.
    pub text: Text,
    /// Changes with everything that a report depends on; a report is current while it carries the same stamp.
    pub stamp: u64,
    /// The stamp that a worker is judging.
    pub running: Option<u64>,
    /// What the text is measured against, once a worker has read it.
    pub before: Option<Arc<Before>>,
    /// The text whose facts were last asked for.
    pub parsed: Option<Digest>,
    /// The last report; may be of an older stamp.
    pub report: Option<Arc<Report>>,
    /// Who waits for the report of the present stamp.
    pub waiting: Vec<oneshot::Sender<Option<Arc<Report>>>>,
}

impl Document {
    /// The report, if it is of the present text.
    pub fn current_report(&self) -> Option<&Arc<Report>> {
        self.report.as_ref().filter(|report| report.stamp == self.stamp)
    }

    /// Whether a text numbered `version` is newer than this one.
    pub fn is_older_than(&self, version: i32) -> bool {
        self.version < version
    }
}

/// The text after `edits`, each counted on what the former left, and how many places in them were out of range. `each`
/// is told of every edit: the text before, which bytes were replaced, the text after and how many bytes were inserted.
pub fn apply(
    mut text: Text,
    edits: Vec<Edit>,
    encoding: Encoding,
    mut each: impl FnMut(&Text, &Span, &Text, usize),
) -> (Text, usize) {
    let mut moved = 0;
    for edit in edits {
        let inserted = edit.text.len();
        let before = text.clone();
        let (span, after) = match edit.range {
            None => (0..text.text.len(), Text::new(edit.text)),
            Some((from, to)) => {
                let (start, end) = (text.offset(from, encoding), text.offset(to, encoding));
                moved += usize::from(start.clamped) + usize::from(end.clamped);
                let span = start.at..end.at.max(start.at);
                (span.clone(), text.replaced(&span, &edit.text))
            }
        };
        each(&before, &span, &after, inserted);
        text = after;
    }
    (text, moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    #[test]
    fn edits_are_counted_in_the_agreed_units() {
        for (encoding, from, to) in [(Encoding::Utf8, 4, 6), (Encoding::Utf16, 2, 3), (Encoding::Utf32, 1, 2)] {
            let edit = Edit { range: Some((at(1, from), at(1, to))), text: "e".into() };
            let (text, moved) = apply(Text::new("a\n😀é = 1\n"), vec![edit], encoding, |_, _, _, _| {});
            assert_eq!((&*text.text, moved), ("a\n😀e = 1\n", 0), "{encoding:?}");
        }
    }

    #[test]
    fn places_out_of_range_are_moved_to_the_nearest() {
        for (range, expected, moved) in [
            ((at(0, 99), at(0, 99)), "ab!\r\nc😀\r\n", 1),
            ((at(0, 99), at(1, 0)), "ab!c😀\r\n", 1),
            ((at(1, 2), at(1, 3)), "ab\r\nc!\r\n", 1),
            ((at(1, 2), at(1, 2)), "ab\r\nc!😀\r\n", 2),
            ((at(9, 0), at(9, 9)), "ab\r\nc😀\r\n!", 2),
            ((at(1, 0), at(0, 0)), "ab\r\n!c😀\r\n", 0),
            ((at(2, 0), at(2, 0)), "ab\r\nc😀\r\n!", 0),
        ] {
            let edit = Edit { range: Some(range), text: "!".into() };
            let (text, clamped) = apply(Text::new("ab\r\nc😀\r\n"), vec![edit], Encoding::Utf16, |_, _, _, _| {});
            assert_eq!((&*text.text, clamped > 0), (expected, moved > 0), "{range:?}");
        }
    }

    #[test]
    fn each_edit_is_counted_on_what_the_former_left() {
        let edits = vec![
            Edit { range: None, text: "one\ntwo\n".into() },
            Edit { range: Some((at(0, 0), at(1, 0))), text: String::new() },
            Edit { range: Some((at(0, 3), at(0, 3))), text: "\nthree".into() },
            Edit { range: Some((at(1, 0), at(1, 0))), text: "- ".into() },
        ];
        assert_eq!(&*apply(Text::new("gone"), edits, Encoding::Utf8, |_, _, _, _| {}).0.text, "two\n- three\n");
    }
}
