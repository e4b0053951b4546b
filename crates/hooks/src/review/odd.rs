//! What in a line hides or misleads.

use rules::plain::is_hidden;

/// A run of more blanks, or of more empty lines, pushes what follows out of sight.
pub(super) const BLANKS: usize = 40;

/// What is odd about a line, each in one line.
pub(super) fn remarks(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut tell = |holds: bool, text: &str| {
        if holds {
            found.push(text.to_owned());
        }
    };
    let has = |test: fn(char) -> bool| line.chars().any(test);
    tell(has(|it| it == '\r'), "a carriage return inside the line, by which a terminal overwrites what stands before");
    tell(has(|it| it == '\0'), "a NUL, which bash leaves out");
    tell(
        has(|it| it.is_control() && !matches!(it, '\t' | '\r' | '\0')),
        "control characters (shown as escapes), which can make a terminal hide or rewrite text",
    );
    tell(
        has(reorders),
        "characters that reorder text (shown as escapes): it does not run in the order it seems to stand",
    );
    tell(has(|it| is_hidden(it) && !reorders(it)), "invisible characters (shown as escapes)");
    tell(has(|it| it.is_whitespace() && !it.is_ascii()), "blanks that are not ASCII and separate no words in a shell");
    if let Some(word) = mixed_word(line) {
        let shown = rules::plain::plain(word, 40);
        found.push(format!("letters of another script in the word {shown}, which may look like another"));
    }
    let run = longest_run(line);
    if run > BLANKS {
        found.push(format!("{run} blanks in a row; what stands behind is easily missed"));
    }
    found
}

fn reorders(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first word in which ASCII letters and letters of a script that resembles them stand together.
fn mixed_word(line: &str) -> Option<&str> {
    line.split(|it: char| !it.is_alphanumeric() && it != '_')
        .find(|word| word.chars().any(|it| it.is_ascii_alphabetic()) && word.chars().any(resembles_latin))
}

/// Letters of Greek, Cyrillic, Armenian, Cherokee and Lisu, letters of mathematics and full width.
fn resembles_latin(character: char) -> bool {
    matches!(
        character,
        '\u{370}'..='\u{58f}'
            | '\u{13a0}'..='\u{13ff}'
            | '\u{1d00}'..='\u{1dbf}'
            | '\u{2100}'..='\u{218f}'
            | '\u{a4d0}'..='\u{a4ff}'
            | '\u{ab30}'..='\u{abbf}'
            | '\u{ff00}'..='\u{ff5e}'
            | '\u{1d400}'..='\u{1d7ff}'
    )
}

fn longest_run(line: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    // Blanks before the first word are an indentation, which is odd only where it is longer still.
    let mut indented = true;
    for character in line.chars() {
        if character.is_whitespace() {
            run += 1;
        } else {
            longest = longest.max(if indented { run / 2 } else { run });
            (run, indented) = (0, false);
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t15_what_hides_is_remarked() {
        for (line, part) in [
            ("echo safe\rrm -rf x", "carriage return"),
            ("a\0b", "NUL"),
            ("\u{1b}[2K", "control"),
            ("\u{9b}2K", "control"),
            ("a\u{202e}b", "reorder"),
            ("a\u{200b}b", "invisible"),
            ("a\u{e0041}b", "invisible"),
            ("rm\u{a0}-rf", "not ASCII"),
            ("\u{441}url evil", "another script"),
            ("c\u{3bf}de", "another script"),
            (&format!("true;{}rm", " ".repeat(10_000)), "10000 blanks"),
            (&format!("true;{}rm", "\t".repeat(41)), "41 blanks"),
            (&format!("{}rm", " ".repeat(200)), "100 blanks"),
        ] {
            let found = remarks(line);
            assert!(found.iter().any(|it| it.contains(part)), "{line:.30?}: {found:?}");
        }
        for line in
            ["echo 'grüße'", "\t\tif x; then", "# 漢字 とコード", "привет мир", "x=\"naïve\"", "", "⚠\u{fe0f} a"]
        {
            let found: Vec<String> = remarks(line).into_iter().filter(|it| !it.contains("invisible")).collect();
            assert_eq!(found, Vec::<String>::new(), "{line}");
        }
    }
}
