//! What is shown of a source: one line, escaped, with the offending range in it.
//!
//! A line that a rule masks or cuts is shown as the finding quotes it and never as it stands in the file, so that no
//! excerpt says more than the reason does.

use std::fmt::Write as _;
use std::ops::Range;

use rules::plain::{self, plain};
use syntax::Span;

/// One line of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, escaped.
    pub line: String,
    /// What is underlined, in bytes of `line`.
    pub range: Range<usize>,
}

impl Excerpt {
    /// The line of `text` that is quoted as `quoted`, and what of `span` is in it.
    pub fn quoted(text: &str, line: &Span, span: &Span, quoted: &str) -> Excerpt {
        let start = span.start.clamp(line.start, line.end);
        let end = span.end.clamp(start, line.end);
        let raw = &text[line.clone()];
        if raw.trim() == quoted && raw.len() <= plain::LINE * 8 {
            return Excerpt::whole(raw, &(start - line.start..end - line.start));
        }
        // Masked or cut: what stands where the hit stood, if both sides of it are there, else all of it.
        let shown = plain(quoted, plain::LINE * 8);
        let before = plain(raw[..start - line.start].trim_start(), plain::LINE * 8);
        let behind = plain(raw[end - line.start..].trim_end(), plain::LINE * 8);
        let range = match shown.strip_prefix(&before).and_then(|rest| rest.strip_suffix(&behind)) {
            Some(between) => before.len()..before.len() + between.len(),
            None => 0..shown.len(),
        };
        Excerpt { line: shown, range }
    }

    /// As much of a line as is worth showing around `span`, or what of it is in the line.
    pub fn around(text: &str, line: &Span, span: &Span) -> Excerpt {
        let floor = |at: usize| (line.start..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(line.start);
        let hit = span.start.clamp(line.start, line.end)..span.end.clamp(line.start, line.end);
        let start = floor(hit.start.saturating_sub(plain::LINE).max(line.start));
        let end = floor((hit.start + plain::LINE * 2).min(line.end)).max(start);
        Excerpt::whole(&text[start..end], &(hit.start - start..hit.end.min(end).max(hit.start) - start))
    }

    /// The line as it stands.
    fn whole(raw: &str, hit: &Range<usize>) -> Excerpt {
        let mut line = String::with_capacity(raw.len());
        let mut range = None..None;
        for (at, character) in raw.char_indices() {
            if at == hit.start {
                range.start = Some(line.len());
            }
            if at >= hit.end && range.end.is_none() {
                range.end = Some(line.len());
            }
            match character {
                '\t' => line.push_str("    "),
                // A character that takes no room is nothing to look at by itself, whatever stands before it.
                _ if character.is_control() || plain::is_hidden(character) => {
                    let _ = write!(line, "\\u{{{:x}}}", u32::from(character));
                }
                _ => line.push(character),
            }
        }
        let start = range.start.unwrap_or(line.len());
        Excerpt { range: start..range.end.unwrap_or(line.len()).max(start), line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn underlined(excerpt: &Excerpt) -> String {
        let Range { start, end } = excerpt.range;
        format!("{}[{}]{}", &excerpt.line[..start], &excerpt.line[start..end], &excerpt.line[end..])
    }

    #[test]
    fn a_line_is_escaped_and_its_range_moves_along() {
        for (raw, hit, expected) in [
            ("a bad b", 2..5, "a [bad] b"),
            ("\tbad", 1..4, "    [bad]"),
            ("🦀 bad\u{1b}[31m", 5..8, "🦀 [bad]\\u{1b}[31m"),
            ("x\u{202e}bad", 4..7, "x\\u{202e}[bad]"),
            ("b\u{200b}d", 0..5, "[b\\u{200b}d]"),
            ("bad", 3..3, "bad[]"),
            ("", 0..0, "[]"),
        ] {
            assert_eq!(underlined(&Excerpt::whole(raw, &hit)), expected);
        }
    }

    #[test]
    fn what_is_masked_or_cut_is_shown_as_it_is_quoted() {
        let text = "x = 'sk-SECRET' # bad";
        for (span, quoted, expected) in [
            (18..21, "x = 'sk-S…' # bad", "[x = 'sk-S…' # bad]"),
            (5..14, "x = 'sk-S…' # bad", "x = '[sk-S…]' # bad"),
            (5..14, "…'sk-S…' # bad", "[…'sk-S…' # bad]"),
            (5..14, "x = 'sk-SECRET' # bad", "x = '[sk-SECRET]' # bad"),
        ] {
            assert_eq!(underlined(&Excerpt::quoted(text, &(0..text.len()), &span, quoted)), expected);
        }
    }

    #[test]
    fn a_long_line_is_shown_around_its_hit() {
        let text = format!("{}hit{}", "é".repeat(1000), "ü".repeat(1000));
        let excerpt = Excerpt::around(&text, &(0..text.len()), &(2000..2003));
        assert!(excerpt.line.len() < 500 && &excerpt.line[excerpt.range] == "hit");
        let excerpt = Excerpt::around(&text, &(0..text.len()), &(2000..5000));
        assert_eq!(excerpt.range.end, excerpt.line.len());
    }

    #[test]
    fn of_a_range_over_several_lines_the_quoted_one_is_shown() {
        let text = "  f(\n x)\n";
        assert_eq!(underlined(&Excerpt::quoted(text, &(0..4), &(2..7), "f(")), "  [f(]");
        assert_eq!(underlined(&Excerpt::quoted(text, &(5..8), &(2..7), "x)")), "[ x])");
    }
}
