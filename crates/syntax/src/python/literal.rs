//! Constants as Python reads them: string literals decoded, numbers parsed.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::Literal;

/// An identifier as Python compares it.
pub(super) fn identifier(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Whether Python reads the text's ASCII characters as what they are: a coding line may name an encoding (UTF-7,
/// `unicode_escape`) in which harmless-looking text holds code.
pub(crate) fn reads_as_utf8(text: &str) -> bool {
    coding_lines(text).filter_map(declared_encoding).all(|encoding| {
        let encoding = encoding.to_ascii_lowercase().replace('_', "-");
        ["utf-8", "utf8", "u8", "ascii", "us-ascii", "latin1", "l1", "koi8-r", "koi8-u", "euc-jp", "euc-kr", "gb2312"]
            .contains(&encoding.as_str())
            || ["utf-8-", "latin-", "iso-8859-", "iso8859-", "windows-125", "cp125", "mac-"]
                .iter()
                .any(|family| encoding.starts_with(family))
    })
}

/// The lines in which Python looks for an encoding: the first, and the second where the first holds no code.
fn coding_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    (0..2).map_while(move |_| {
        let line = rest.trim_start_matches(['\u{feff}', ' ', '\t', '\u{c}']);
        if !(line.is_empty() || line.starts_with(['#', '\n', '\r'])) {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', line.as_bytes()).unwrap_or(line.len());
        rest = &line[end..];
        rest = rest.strip_prefix("\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
        Some(&line[..end])
    })
}

/// The encoding that a coding line declares.
fn declared_encoding(line: &str) -> Option<&str> {
    let comment = line.strip_prefix('#')?;
    let rest = comment.match_indices("coding").find_map(|(at, _)| {
        let rest = &comment[at + "coding".len()..];
        rest.strip_prefix([':', '='])
    })?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let end = rest.find(|character: char| !(character.is_ascii_alphanumeric() || "-_.".contains(character)));
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// The parts of a string literal: prefix letters, length of the quotes.
pub(super) struct Shape {
    pub(super) bytes: bool,
    pub(super) raw: bool,
    /// An f-string or t-string.
    pub(super) format: bool,
    prefix: usize,
}

/// The prefix of a string literal.
pub(super) fn shape(literal: &str) -> Shape {
    let prefix = literal.bytes().take_while(u8::is_ascii_alphabetic).count();
    let has = |letter: u8| literal.as_bytes()[..prefix].iter().any(|found| found.eq_ignore_ascii_case(&letter));
    Shape { bytes: has(b'b'), raw: has(b'r'), format: has(b'f') || has(b't'), prefix }
}

/// The text between the quotes.
fn content<'a>(literal: &'a str, shape: &Shape) -> Option<&'a str> {
    let quoted = literal.get(shape.prefix..)?;
    let quotes = if quoted.len() >= 6 && (quoted.starts_with("\"\"\"") || quoted.starts_with("'''")) { 3 } else { 1 };
    quoted.get(quotes..quoted.len().checked_sub(quotes)?)
}

/// Whether a string literal holds nothing.
pub(super) fn is_empty(literal: &str) -> bool {
    content(literal, &shape(literal)).is_none_or(str::is_empty)
}

/// Decodes one string literal without interpolations. None for bytes and for what cannot be told: `\N{...}`.
pub(super) fn decode(literal: &str) -> Option<String> {
    let shape = shape(literal);
    if shape.bytes {
        return None;
    }
    let content = content(literal, &shape)?;
    if memchr::memchr3(b'\\', b'\r', b'{', content.as_bytes()).is_none() && !content.contains('}') {
        return Some(content.to_owned());
    }
    let mut decoded = String::with_capacity(content.len());
    let mut rest = content.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\r' => {
                rest.next_if_eq(&'\n');
                decoded.push('\n');
            }
            '{' | '}' if shape.format => {
                rest.next_if_eq(&character);
                decoded.push(character);
            }
            '\\' if !shape.raw => escape(&mut rest, &mut decoded)?,
            _ => decoded.push(character),
        }
    }
    Some(decoded)
}

fn escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, decoded: &mut String) -> Option<()> {
    let letter = rest.next()?;
    let simple = match letter {
        '\n' => return Some(()),
        '\r' => {
            rest.next_if_eq(&'\n');
            return Some(());
        }
        '\\' | '\'' | '"' => letter,
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        'x' => code(rest, 2, 16)?,
        'u' => code(rest, 4, 16)?,
        'U' => code(rest, 8, 16)?,
        'N' => return None,
        '0'..='7' => {
            let mut value = letter.to_digit(8)?;
            for _ in 0..2 {
                let Some(digit) = rest.peek().and_then(|next| next.to_digit(8)) else { break };
                value = value * 8 + digit;
                rest.next();
            }
            char::from_u32(value)?
        }
        _ => {
            decoded.push('\\');
            letter
        }
    };
    decoded.push(simple);
    Some(())
}

fn code(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, digits: usize, radix: u32) -> Option<char> {
    let mut value = 0u32;
    for _ in 0..digits {
        value = value.checked_mul(radix)?.checked_add(rest.next()?.to_digit(radix)?)?;
    }
    char::from_u32(value)
}

/// A number; complex ones and integers that do not fit are known by their truth alone.
pub(super) fn number(text: &str, negative: bool) -> Option<Literal> {
    let digits: String = text.chars().filter(|&character| character != '_').collect::<String>().to_ascii_lowercase();
    let truthy =
        |digits: &str| digits.bytes().any(|digit| (b'1'..=b'9').contains(&digit) || digit.is_ascii_alphabetic());
    let integer = [("0x", 16), ("0o", 8), ("0b", 2)]
        .iter()
        .find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, *radix)))
        .or_else(|| digits.bytes().all(|digit| digit.is_ascii_digit()).then_some((digits.as_str(), 10)));
    if let Some((digits, radix)) = integer {
        return Some(match i128::from_str_radix(digits, radix) {
            Ok(value) => Literal::Int(if negative { -value } else { value }),
            Err(_) => Literal::Other { truthy: truthy(digits) },
        });
    }
    match digits.strip_suffix('j') {
        Some(imaginary) => Some(Literal::Other { truthy: imaginary.parse::<f64>().ok()? != 0.0 }),
        None => digits.parse::<f64>().ok().map(|value| Literal::Float(if negative { -value } else { value })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_decoded_as_python_does() {
        let table: [(&str, Option<&str>); 19] = [
            ("'plain'", Some("plain")),
            ("''", Some("")),
            ("\"\"\"tri\"ple\"\"\"", Some("tri\"ple")),
            (r"'a\n\t\\\'\x41\u00e9\U0001F600\101\0'", Some("a\n\t\\'A\u{e9}\u{1F600}A\0")),
            (r"'\q'", Some("\\q")),
            (r"r'\n'", Some("\\n")),
            (r"Rb'\n'", None),
            ("b'x'", None),
            ("u'x'", Some("x")),
            ("f'a{{b}}'", Some("a{b}")),
            ("'a{{b}}'", Some("a{{b}}")),
            ("'a\\\nb'", Some("ab")),
            ("'a\\\r\nb'", Some("ab")),
            ("'''a\r\nb\rc'''", Some("a\nb\nc")),
            (r"'\N{DIGIT ONE}'", None),
            (r"'\x4'", None),
            (r"'\ud800'", None),
            ("'", None),
            ("''''''", Some("")),
        ];
        for (literal, expected) in table {
            assert_eq!(decode(literal).as_deref(), expected, "{literal}");
        }
    }

    #[test]
    fn numbers_are_read_as_python_does() {
        let table = [
            ("0", Literal::Int(0)),
            ("1_000", Literal::Int(1000)),
            ("0xFF", Literal::Int(255)),
            ("0o17", Literal::Int(15)),
            ("0B11", Literal::Int(3)),
            ("1.5e3", Literal::Float(1500.0)),
            ("1e5", Literal::Float(100_000.0)),
            ("0j", Literal::Other { truthy: false }),
            ("2j", Literal::Other { truthy: true }),
            ("99999999999999999999999999999999999999999999", Literal::Other { truthy: true }),
        ];
        for (text, expected) in table {
            assert_eq!(number(text, false), Some(expected), "{text}");
        }
        assert_eq!(number("1", true), Some(Literal::Int(-1)));
    }

    #[test]
    fn identifiers_are_compared_normalised() {
        assert_eq!(identifier("ｅｖａｌ"), "eval");
        assert_eq!(identifier("e\u{301}"), "é");
        assert_eq!(identifier("eval"), "eval");
    }
}
