//! Globs over dotted names: `*`, `?` and `[...]` as in fnmatch, all of which cross dots.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// The longest name glob, in bytes.
const LONGEST: usize = 512;

/// A glob over dotted names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameGlob {
    text: Box<str>,
    tokens: Box<[Token]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Char(char),
    Any,
    Run,
    Class { negated: bool, ranges: Box<[(char, char)]> },
}

impl NameGlob {
    /// Reads a glob, or says in one line why the text is none.
    pub fn new(text: &str) -> Result<NameGlob, String> {
        let text = text.trim();
        let text: Cow<str> = if text.is_ascii() { text.into() } else { text.nfkc().collect::<String>().into() };
        if text.is_empty() {
            return Err("the name is empty".into());
        }
        if text.len() > LONGEST {
            return Err(format!("the name is longer than {LONGEST} bytes"));
        }
        let mut tokens = Vec::with_capacity(text.len());
        let mut rest = text.chars();
        while let Some(next) = rest.next() {
            tokens.push(match next {
                '*' if tokens.last() == Some(&Token::Run) => continue,
                '*' => Token::Run,
                '?' => Token::Any,
                '[' => class(&mut rest)?,
                '.' => Token::Char(next),
                _ if is_name_character(next) => Token::Char(next),
                _ => return Err(format!("`{next}` has no place in a dotted name")),
            });
        }
        Ok(NameGlob { text: text.as_ref().into(), tokens: tokens.into() })
    }

    /// Whether the whole of `name` matches. The `?` of a name (a call on something without a name) is matched by `*`
    /// alone.
    pub fn matches(&self, name: &str) -> bool {
        let is_other =
            |own: Option<&Token>, end: Option<char>| matches!(own, Some(Token::Char(own)) if Some(*own) != end);
        // Nearly every name differs at one of its ends.
        if is_other(self.tokens.last(), name.chars().next_back()) || is_other(self.tokens.first(), name.chars().next())
        {
            return false;
        }
        let name: Vec<char> = name.chars().collect();
        let (mut token, mut at) = (0, 0);
        let mut last_run: Option<(usize, usize)> = None;
        loop {
            match self.tokens.get(token) {
                Some(Token::Run) => {
                    last_run = Some((token, at));
                    token += 1;
                    continue;
                }
                Some(one) if name.get(at).is_some_and(|it| one.takes(*it)) => {
                    token += 1;
                    at += 1;
                    continue;
                }
                None if at == name.len() => return true,
                _ => {}
            }
            match last_run {
                Some((run, from)) if from < name.len() => {
                    last_run = Some((run, from + 1));
                    token = run + 1;
                    at = from + 1;
                }
                _ => return false,
            }
        }
    }

    /// A word that stands in every text in which something of this name can be called: its last segment without a
    /// wildcard. None when it has no such segment.
    pub fn word(&self) -> Option<&str> {
        self.text.rsplit('.').find(|segment| !segment.is_empty() && !segment.contains(['*', '?', '[', ']']))
    }
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Token::Char(own) => *own == character,
            Token::Any => character != '?',
            Token::Class { negated, ranges } => {
                character != '?' && *negated != ranges.iter().any(|(from, to)| (*from..=*to).contains(&character))
            }
            Token::Run => false,
        }
    }
}

/// What stands between brackets, up to and with the closing one.
fn class(rest: &mut std::str::Chars) -> Result<Token, String> {
    let unclosed = || "`[` without `]`".to_owned();
    let mut inside = Vec::new();
    let negated = rest.clone().next() == Some('!');
    if negated {
        rest.next();
    }
    loop {
        match rest.next().ok_or_else(unclosed)? {
            ']' if !inside.is_empty() => break,
            next => inside.push(next),
        }
    }
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&from) = inside.get(at) {
        if let Some(&['-', to]) = inside.get(at + 1..at + 3) {
            ranges.push((from, to));
            at += 3;
        } else {
            ranges.push((from, from));
            at += 1;
        }
    }
    Ok(Token::Class { negated, ranges: ranges.into() })
}

/// Whether a character can stand in an identifier.
pub(crate) fn is_name_character(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_cross_dots() {
        for (glob, name, expected) in [
            ("eval", "eval", true),
            ("eval", "evaluate", false),
            ("*.eval", "a.b.eval", true),
            ("*.eval", "eval", false),
            ("*eval", "literal_eval", true),
            ("subprocess.*", "subprocess.run", true),
            ("xml.etree.*", "xml.etree.ElementTree.parse", true),
            ("os.?ystem", "os.system", true),
            ("os.[ps]ystem", "os.system", true),
            ("os.[!s]ystem", "os.system", false),
            ("os.[a-z]ystem", "os.system", true),
            ("*", "?.x", true),
            ("*.execute", "?.execute", true),
            ("?.execute", "?.execute", false),
            ("[?].execute", "?.execute", false),
            ("ｅval", "eval", true),
            ("a*b*c", "aXbXXc", true),
            ("a*b*c", "aXbXX", false),
        ] {
            assert_eq!(NameGlob::new(glob).unwrap().matches(name), expected, "{glob} on {name}");
        }
        assert!(!NameGlob::new(&"*a".repeat(250)).unwrap().matches(&"a".repeat(249)));
    }

    #[test]
    fn not_every_text_is_a_name() {
        for wrong in ["", " ", "eval()", "os.[", "a b", "os::system", "a-b", &"a".repeat(600)] {
            assert!(NameGlob::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words() {
        for (glob, word) in [
            ("os.system", Some("system")),
            ("subprocess.*", Some("subprocess")),
            ("pickle.load*", Some("pickle")),
            ("*.execute", Some("execute")),
            ("*", None),
            ("ev?l", None),
        ] {
            assert_eq!(NameGlob::new(glob).unwrap().word(), word, "{glob}");
        }
    }
}
