//! The one line model: lines end at `\n`, `\r\n` or `\r`, and at nothing else.

use syntax::Span;

/// The lines of `text` without their ends; a final line end begins no further line.
pub fn lines(text: &str) -> impl Iterator<Item = Span> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let start = at;
        let end = memchr::memchr2(b'\n', b'\r', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        at = if bytes[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 };
        Some(start..end)
    })
}

/// Which line the byte at `offset` is on, from 1, and where that line starts.
pub fn line_of(text: &str, offset: usize) -> (u32, usize) {
    let mut number = 1;
    let mut start = 0;
    for line in lines(text) {
        if line.start > offset {
            break;
        }
        start = line.start;
        number += 1;
    }
    let bytes = text.as_bytes();
    let past_the_end = offset >= bytes.len() && matches!(bytes.last(), Some(b'\n' | b'\r'));
    if past_the_end { (number, bytes.len()) } else { ((number - 1).max(1), start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_three_things() {
        for (text, expected) in [
            ("", vec![]),
            ("a", vec!["a"]),
            ("a\n", vec!["a"]),
            ("a\n\nb", vec!["a", "", "b"]),
            ("a\r\nb\rc\n", vec!["a", "b", "c"]),
            ("\n", vec![""]),
            ("\r\n\r", vec!["", ""]),
            ("a\u{2028}b\u{c}c\u{85}d", vec!["a\u{2028}b\u{c}c\u{85}d"]),
        ] {
            let found: Vec<_> = lines(text).map(|line| &text[line]).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn offsets_have_lines() {
        for (text, offset, expected) in
            [("", 0, (1, 0)), ("a\nb", 0, (1, 0)), ("a\nb", 1, (1, 0)), ("a\nb", 2, (2, 2)), ("a\r\nb\n", 5, (3, 5))]
        {
            assert_eq!(line_of(text, offset), expected, "{text:?} {offset}");
        }
    }
}
