//! What of a text is never kept or shown: what the rules with `redact` match, and the shapes of well-known tokens.
//!
//! A heuristic: a secret without a shape of its own and without a name before it is not found. Linear in the text; of a
//! long line only what can be shown is looked at. Whoever keeps several lines of one text hands them over in order.

use std::ops::Range;

use crate::excerpt::joined;
use crate::{Rulebook, Work};

/// How far behind what is shown a line is looked at, in bytes: a secret that begins in what is shown must be known there.
const BEHIND: usize = 8 << 10;
/// Longest text that is looked at at once, in bytes.
const LONGEST: usize = 256 << 10;

/// How a well-known token begins, and how many characters follow at least.
const TOKENS: [(&str, usize); 36] = [
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("whsec_", 20),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 30),
    ("dop_v1_", 30),
    ("shpat_", 20),
    ("SG.", 30),
    ("key-", 32),
    ("AccountKey=", 20),
    ("eyJ", 30),
    ("dckr_pat_", 20),
    ("hvs.", 20),
    ("tskey-", 16),
];

/// Words in the name of what is secret, in lower case.
const NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "private_key",
    "credential",
    "pwd",
];

const KEY_BEGINS: &str = "PRIVATE KEY-----";
const KEY_ENDS: &str = "-----END";

/// Masks the lines of one text, one after the other.
pub struct Masking<'a> {
    books: &'a [&'a Rulebook],
    work: Work,
    in_key: bool,
}

impl<'a> Masking<'a> {
    /// With the secrets of these rulebooks, whatever files their rules are about.
    pub fn new(books: &'a [&'a Rulebook]) -> Masking<'a> {
        Masking { books, work: Work::default(), in_key: false }
    }

    /// The next line with its secrets masked, cut to `most` characters.
    pub fn line(&mut self, line: &str, most: usize) -> String {
        let (shown, is_cut) = cut(line, most);
        let looked = floor(line, shown.len().saturating_add(BEHIND));
        let masked = self.spans(&line[..looked]);
        let mut kept = hidden(shown, &masked);
        if is_cut {
            kept.push('…');
        }
        kept
    }

    /// A text of several lines, masked and cut to `most` characters.
    pub fn text(&mut self, text: &str, most: usize) -> String {
        let mut kept = String::new();
        let mut left = most;
        for (number, line) in text[..floor(text, LONGEST)].split('\n').enumerate() {
            if number > 0 {
                kept.push('\n');
                left = left.saturating_sub(1);
            }
            if left == 0 {
                kept.push('…');
                break;
            }
            let line = self.line(line, left);
            left = left.saturating_sub(line.chars().count());
            kept.push_str(&line);
        }
        kept
    }

    fn spans(&mut self, line: &str) -> Vec<Range<usize>> {
        let mut found = spans(line);
        found.extend(self.of_key(line));
        let rules = self.books.iter().flat_map(|book| &book.rules).filter(|rule| rule.redact);
        for pattern in rules.flat_map(|rule| &rule.checks.forbid).filter(|pattern| pattern.may_occur(line)) {
            match pattern.regex(&mut self.work) {
                Ok(regex) => found.extend(regex.find_iter(line).map(|found| found.range())),
                Err(_) => found.push(0..line.len()),
            }
        }
        joined(found)
    }

    /// What of a line belongs to a private key in PEM.
    fn of_key(&mut self, line: &str) -> Option<Range<usize>> {
        let begins = line.find("-----BEGIN").and_then(|at| Some(at + line[at..].find(KEY_BEGINS)? + KEY_BEGINS.len()));
        let ends = line.rfind(KEY_ENDS);
        if begins.is_none() && !self.in_key {
            return None;
        }
        let is_body = |it: char| it.is_ascii_alphanumeric() || "+/=\"' ,\\:-\t\r".contains(it);
        if begins.is_none() && ends.is_none() && !line.chars().all(is_body) {
            self.in_key = false;
            return None;
        }
        let start = begins.unwrap_or(0);
        let end = ends.filter(|end| *end >= start);
        self.in_key = end.is_none();
        (start < end.unwrap_or(line.len())).then(|| start..end.unwrap_or(line.len()))
    }
}

/// Where well-known tokens, and values that are named as secret, stand in a line; in no order.
pub fn spans(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let starts = at == 0 || !is_word(bytes[at - 1]);
        match starts.then(|| token_at(bytes, at)).flatten() {
            Some(end) => {
                found.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    found.extend(named(line));
    found.extend(in_url(line));
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b'.' | b'+' | b'/' | b'=' | b'~')
}

fn run(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| !is_token(*byte)).map_or(bytes.len(), |length| from + length)
}

/// The bytes that a well-known token begins with.
const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut index = 0;
    while index < TOKENS.len() {
        first[TOKENS[index].0.as_bytes()[0] as usize] = true;
        index += 1;
    }
    first
};

fn token_at(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    if !FIRST[rest[0] as usize] {
        return None;
    }
    let (start, least) = TOKENS.iter().find(|(start, _)| rest.starts_with(start.as_bytes()))?;
    let end = run(bytes, at + start.len());
    (end - at - start.len() >= *least).then_some(end)
}

/// Values behind a name that says that they are secret: `password = "..."`, `API_TOKEN=...`, `--password ...`,
/// `Authorization: Bearer ...`.
fn named(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    let is_part = |byte: u8| is_word(byte) || byte == b'-';
    // Looked for are the signs behind a name, not the names: there are fewer of them, and they are found in one go.
    for (sign, byte) in bytes.iter().enumerate() {
        let is_flag = *byte == b'-' && bytes[sign..].starts_with(b"--") && (sign == 0 || !is_part(bytes[sign - 1]));
        let (start, end) = match byte {
            b'=' | b':' => {
                let blanks = bytes[..sign].iter().rev().take_while(|it| matches!(**it, b' ' | b'\t')).count();
                let quoted = sign - blanks;
                let end = quoted - usize::from(quoted > 0 && is_quote(bytes[quoted - 1]));
                (bytes[..end].iter().rposition(|it| !is_part(*it)).map_or(0, |before| before + 1), end)
            }
            b'-' if is_flag => {
                let length = bytes[sign..].iter().position(|it| !is_part(*it));
                (sign, length.map_or(bytes.len(), |length| sign + length))
            }
            _ => continue,
        };
        // What stands in a value that is masked needs no look: there would be no end of them.
        let is_masked = found.last().is_some_and(|last| last.contains(&start));
        if !is_masked && is_secret_name(&line[start..end]) {
            found.extend(value_of(bytes, start, end));
        }
    }
    let lower = line.to_ascii_lowercase();
    if let Some(at) = lower.find("authorization") {
        for scheme in ["bearer ", "basic ", "token "] {
            if let Some(behind) = lower[at..].find(scheme).map(|behind| at + behind + scheme.len()) {
                let end = run(bytes, behind);
                found.extend((end - behind >= 6).then_some(behind..end));
            }
        }
    }
    found
}

fn is_secret_name(word: &str) -> bool {
    let least = NAMES.iter().map(|name| name.len()).min().unwrap_or(0);
    if word.len() < least {
        return false;
    }
    let lower = word.to_ascii_lowercase();
    NAMES.iter().any(|name| lower.contains(name))
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn value_of(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let is_quote = |byte: &&u8| is_quote(**byte);
    let skip = |from: usize| from + bytes[from..].iter().take_while(|it| matches!(**it, b' ' | b'\t')).count();
    let is_flag = bytes[start..end].starts_with(b"--");
    let mut at = end + usize::from(bytes.get(end).as_ref().is_some_and(is_quote));
    at = skip(at);
    let is_tight = at == end;
    let sign = bytes.get(at).filter(|it| matches!(**it, b'=' | b':'));
    let mut value = match sign {
        Some(_) => at + 1,
        None if is_flag && !is_tight => at,
        None => return None,
    };
    let is_close = bytes.get(value).is_some_and(|it| !it.is_ascii_whitespace());
    value = skip(value);
    if let Some(quote) = bytes.get(value).filter(is_quote) {
        let from = value + 1;
        let length = bytes[from..].iter().position(|it| it == quote)?;
        let has_blank = bytes[from..from + length].contains(&b' ');
        return (length >= 6 && !has_blank).then_some(from..from + length);
    }
    // Without quotes only what a shell takes as a value: code names functions and variables there.
    let is_variable = bytes[start..end].iter().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_');
    if !(is_flag || (is_variable && is_tight && is_close && sign == Some(&b'='))) {
        return None;
    }
    let length = bytes[value..].iter().position(|it| it.is_ascii_whitespace() || b"\"'`;|&()<>".contains(it));
    let until = length.map_or(bytes.len(), |length| value + length);
    (until - value >= 4 && bytes[value] != b'$').then_some(value..until)
}

/// The password in `scheme://user:password@host`.
fn in_url(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, sign) in line.match_indices("://") {
        let rest = &line[at + sign.len()..];
        let end = rest.find(|it: char| it.is_whitespace() || "/\"'`<>".contains(it)).unwrap_or(rest.len());
        let Some(host) = rest[..end].rfind('@') else { continue };
        let Some(colon) = rest[..host].find(':') else { continue };
        let start = at + sign.len();
        if colon + 1 < host && rest.as_bytes()[colon + 1] != b'$' {
            found.push(start + colon + 1..start + host);
        }
    }
    found
}

/// `text` with each of `masked` (in order, apart) reduced to its first four characters.
fn hidden(text: &str, masked: &[Range<usize>]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for mask in masked.iter().filter(|mask| mask.start < text.len()) {
        let end = mask.end.min(text.len());
        shown.push_str(&text[at.min(mask.start)..mask.start]);
        let secret = &text[mask.start..end];
        if secret.chars().nth(4).is_some() {
            shown.extend(secret.chars().take(4));
        }
        shown.push('…');
        at = end;
    }
    shown.push_str(&text[at..]);
    shown
}

/// At most `most` characters, and whether there were more.
fn cut(text: &str, most: usize) -> (&str, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

/// The last boundary of characters at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Format;

    fn masked(line: &str) -> String {
        Masking::new(&[]).line(line, 400)
    }

    #[test]
    fn s20_tokens_are_known_by_their_shape() {
        for (line, shown) in [
            ("key = sk-abcdefghijklmnopqrstuvwx", "key = sk-a…"),
            ("a ghp_0123456789abcdefghijABCDEFGHIJ012345 b", "a ghp_… b"),
            ("AKIAIOSFODNN7EXAMPLE", "AKIA…"),
            ("'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIi.abc-_x'", "'eyJh…'"),
            ("xoxb-1234567890-abc", "xoxb…"),
            ("password = \"hunter2hunter2\"", "password = \"hunt…\""),
            ("{\"api_key\": \"0123456789\"}", "{\"api_key\": \"0123…\"}"),
            ("DB_PASSWORD=hunter22 ./run", "DB_PASSWORD=hunt… ./run"),
            ("mysql --password hunter22 -h x", "mysql --password hunt… -h x"),
            ("mysql --password=hunter22 -h x", "mysql --password=hunt… -h x"),
            ("curl -H 'Authorization: Bearer abcdef123456'", "curl -H 'Authorization: Bearer abcd…'"),
            ("git clone https://me:hunter22@host/x.git", "git clone https://me:hunt…@host/x.git"),
            ("postgres://u:pw@h", "postgres://u:…@h"),
        ] {
            assert_eq!(masked(line), shown);
        }
    }

    #[test]
    fn what_only_looks_a_little_like_a_secret_is_shown() {
        for line in [
            "token = get_token()",
            "password: str",
            "risk-averse and task-oriented",
            "if secret == other:",
            "sk-short",
            "DB_PASSWORD=$OTHER",
            "https://host/a@b",
            "https://me@host",
            "basic understanding of authorization",
            "eyJ",
            "",
        ] {
            assert_eq!(masked(line), line);
        }
    }

    #[test]
    fn s20_a_private_key_is_masked_over_its_lines() {
        let text = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----\nb";
        let shown = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE…\n…\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(Masking::new(&[]).text(text, 400), shown);
        let one = "k = '-----BEGIN PRIVATE KEY-----\\nMIIEow\\n-----END PRIVATE KEY-----'";
        assert!(!masked(one).contains("IIEow"), "{}", masked(one));
        let open = "-----BEGIN PRIVATE KEY-----\nMIIE\nfn main() {}\nMIIE";
        assert!(Masking::new(&[]).text(open, 400).ends_with("fn main() {}\nMIIE"));
    }

    #[test]
    fn s20_rules_that_redact_mask_whatever_file_it_is() {
        let rules = b"[[rule]]\nid = 's'\npaths = ['*.env']\nforbid = 'corp-[a-z]+'\nredact = true\n";
        let book = Rulebook::load(rules, Format::Toml);
        let books = [&book];
        assert_eq!(Masking::new(&books).line("x corp-abcdef y", 400), "x corp… y");
        assert_eq!(Masking::new(&books).line(&format!("{}corp-abcdef", "x".repeat(398)), 400), "x".repeat(398) + "……");
    }

    proptest! {
        #[test]
        fn a_line_is_bounded_and_no_secret_is_shown(before in "[a ='é]{0,60}", secret in "[a-z0-9]{20,60}", most in 0_usize..120) {
            let line = format!("{before} ghp_{secret} x");
            let shown = Masking::new(&[]).line(&line, most);
            prop_assert!(shown.chars().count() <= most + 2);
            prop_assert!(!shown.contains(&secret[..8]));
        }

        #[test]
        fn any_text_is_masked_without_harm(text in ".{0,200}", most in 0_usize..300) {
            let shown = Masking::new(&[]).text(&text.replace('x', "password='"), most);
            prop_assert!(shown.chars().count() <= most + 3 + 2 * text.lines().count());
        }
    }
}
