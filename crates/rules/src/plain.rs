//! Text of others on its way to a person or an agent: one line, bounded, nothing that hides or reorders.
//!
//! Whatever came from a repository or a payload (reasons, ids, paths, lines of files) passes [`plain`] before it is put
//! into a sentence of ours. A sink with its own syntax (JSON, SARIF, Markdown) still needs its own encoder after this.

use std::fmt::Write;

/// The longest line of a file quoted in a reason, in characters.
pub const LINE: usize = 120;
/// The longest id, in characters.
pub const ID: usize = 80;
/// The longest path, in characters.
pub const PATH: usize = 300;
/// The longest `why` or question, in characters.
pub const WHY: usize = 500;

/// `text` as one line of at most `limit` characters (an ellipsis included): controls, line ends, characters that
/// reorder text and characters without width are shown as escapes.
pub fn plain(text: &str, limit: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(limit.saturating_mul(4)));
    let mut used = 0;
    let mut piece = String::new();
    let mut before = None;
    for character in text.chars() {
        piece.clear();
        write_plain(&mut piece, before, character);
        used += piece.chars().count();
        if used > limit {
            while shown.chars().count() + 1 > limit && shown.pop().is_some() {}
            shown.push('…');
            return shown;
        }
        shown.push_str(&piece);
        before = Some(character);
    }
    shown
}

fn write_plain(out: &mut String, before: Option<char>, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push(' '),
        '\u{fe0f}' if before.is_some_and(|it| !it.is_ascii() && !is_hidden(it)) => out.push(character),
        _ if character.is_control() || is_hidden(character) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
        }
        _ => out.push(character),
    }
}

/// Whether a character changes how others are shown, or takes no room itself.
pub fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_shown() {
        for (text, shown) in [
            ("plain text, ä 漢 🦀", "plain text, ä 漢 🦀"),
            ("a\nb\r\nc\td", "a\\nb\\r\\nc d"),
            ("x\u{202e}evil\u{2066}", "x\\u{202e}evil\\u{2066}"),
            ("ig\u{200b}nore \u{feff}", "ig\\u{200b}nore \\u{feff}"),
            ("\u{1b}[31mred\u{7}\u{9b}", "\\u{1b}[31mred\\u{7}\\u{9b}"),
            ("warn ⚠\u{fe0f} ok", "warn ⚠\u{fe0f} ok"),
            ("⚠\u{fe0f}\u{fe0f}", "⚠\u{fe0f}\\u{fe0f}"),
            ("a\u{e0041}", "a\\u{e0041}"),
        ] {
            assert_eq!(plain(text, 100), shown);
        }
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(plain("abcdef", 6), "abcdef");
        assert_eq!(plain("abcdefg", 6), "abcde…");
        assert_eq!(plain("äöüäöüß", 6), "äöüäö…");
        assert_eq!(plain("abc", 0), "…");
        assert!(plain(&"\u{200b}".repeat(10_000), 50).chars().count() <= 50);
    }

    proptest::proptest! {
        #[test]
        fn the_result_is_one_bounded_line(text in ".*", limit in 1_usize..50) {
            let shown = plain(&text, limit);
            proptest::prop_assert!(shown.chars().count() <= limit);
            proptest::prop_assert!(!shown.chars().any(char::is_control));
            proptest::prop_assert_eq!(plain(&shown, limit), shown);
        }
    }
}
