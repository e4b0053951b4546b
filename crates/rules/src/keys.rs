//! The keys of a rule with what they mean: the one table behind loading, completion and hover.
//!
//! [`Key`] and [`Word`] also describe the other files that people write for Ruleline; each table stands in the crate
//! that reads its file, and a test there holds it against the reading. No words of an editor's protocol here.

/// A word of a closed set of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// As it is written, without quotes.
    pub text: &'static str,
    /// What it means, in one line without a full stop.
    pub about: &'static str,
}

/// What may stand behind a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// One of these words.
    Words(&'static [Word]),
    /// `true` or `false`.
    Bool,
    /// Text.
    Text,
    /// A list of texts.
    Texts,
    /// A list of regular expressions.
    Patterns,
    /// A number.
    Number,
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table of names that people choose, each a table with these keys.
    Named(&'static [Key]),
}

/// A key of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What it means, in one line without a full stop.
    pub about: &'static str,
    /// What it may hold.
    pub values: Values,
    /// A value as it may be written.
    pub example: &'static str,
    /// What holds without the key, as it would be written; none where nothing does.
    pub usual: Option<&'static str>,
    /// It must be there.
    pub required: bool,
    /// A key beside which alone it means something.
    pub needs: Option<&'static str>,
}

impl Key {
    /// A key that may be left out and has no default.
    pub const fn new(name: &'static str, values: Values, example: &'static str, about: &'static str) -> Key {
        Key { name, about, values, example, usual: None, required: false, needs: None }
    }

    /// The same with what holds without it.
    #[must_use]
    pub const fn usually(self, usual: &'static str) -> Key {
        Key { usual: Some(usual), ..self }
    }

    /// The same where it must be there.
    #[must_use]
    pub const fn required(self) -> Key {
        Key { required: true, ..self }
    }

    /// The same where it means something only beside another key.
    #[must_use]
    pub const fn needing(self, other: &'static str) -> Key {
        Key { needs: Some(other), ..self }
    }

    /// The words that it may hold; none where these are not a closed set.
    pub const fn words(&self) -> &'static [Word] {
        match self.values {
            Values::Words(words) => words,
            Values::Bool => &BOOL,
            _ => &[],
        }
    }
}

/// The key of this name.
pub fn find<'k>(keys: &'k [Key], name: &str) -> Option<&'k Key> {
    keys.iter().find(|key| key.name == name)
}

/// The names of keys.
pub const fn names<const N: usize>(keys: &[Key; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = keys[index].name;
        index += 1;
    }
    names
}

/// The texts of words.
pub const fn texts<const N: usize>(words: &[Word; N]) -> [&'static str; N] {
    let mut texts = [""; N];
    let mut index = 0;
    while index < N {
        texts[index] = words[index].text;
        index += 1;
    }
    texts
}

const BOOL: [Word; 2] = [Word { text: "true", about: "yes" }, Word { text: "false", about: "no" }];

/// What a finding may do.
pub(crate) const ON_FAIL: [Word; 3] = [
    Word { text: "deny", about: "refuses the edit" },
    Word { text: "ask", about: "leaves the edit to a person" },
    Word { text: "warn", about: "says so and lets the edit through" },
];

/// What deleting a file may do.
pub(crate) const ON_DELETE: [Word; 2] = [
    Word { text: "ignore", about: "deleting a file breaks nothing" },
    Word { text: "judge", about: "deleting a file breaks the rule's `require` and `require_def`" },
];

/// The keys of a rule.
pub const RULE: [Key; 15] = [
    Key::new("id", Values::Text, r#""no-eval""#, "the name in every message; no two rules may share it").required(),
    Key::new(
        "paths",
        Values::Texts,
        r#"["src/**/*.py", "!src/vendored/**"]"#,
        "globs of the files that the rule is about, from the project's root; `!` in front excludes",
    )
    .required(),
    Key::new(
        "why",
        Values::Text,
        r#""use ast.literal_eval, or parse the input""#,
        "one line for whoever is refused: what would pass",
    ),
    Key::new("on_fail", Values::Words(&ON_FAIL), r#""ask""#, "what a finding does").usually(r#""deny""#),
    Key::new(
        "redact",
        Values::Bool,
        "true",
        "masks what the rule's patterns match wherever a line is quoted, for secrets",
    )
    .usually("false"),
    Key::new(
        "forbid",
        Values::Patterns,
        r"['\bTODO\b']",
        "regular expressions, each tried on each added line; a match is a finding",
    ),
    Key::new(
        "fix",
        Values::Text,
        r#""log.info""#,
        "what may be written in place of a match of `forbid`; `$1` and `${name}` are what its groups matched",
    )
    .needing("forbid"),
    Key::new(
        "require",
        Values::Patterns,
        r"['(?m)^# SPDX-License-Identifier: ']",
        "regular expressions that must match somewhere in the whole file after the edit",
    ),
    Key::new(
        "forbid_calls",
        Values::Texts,
        r#"["os.system", "subprocess.*(shell=True)"]"#,
        "dotted names that Python code may not call, whatever it imports them as; `*` stands for any characters",
    ),
    Key::new(
        "forbid_imports",
        Values::Texts,
        r#"["requests", "requests.*"]"#,
        "dotted modules that Python code may not import",
    ),
    Key::new(
        "require_def",
        Values::Texts,
        r#"["setup", "Plugin.run"]"#,
        "functions and methods that the file must define after the edit, with a body that does something",
    ),
    Key::new(
        "question",
        Values::Text,
        r#""Does the added code log personal data?""#,
        "a question about the added lines, in words; a person is asked",
    ),
    Key::new(
        "when",
        Values::Patterns,
        r"['\blog(ger)?\.']",
        "regular expressions: the question is put only when an added line matches one",
    )
    .needing("question"),
    Key::new(
        "calibration",
        Values::Text,
        r#""calibration.json""#,
        "the path of a file for the question's model; this version has no model and does not read it",
    )
    .needing("question"),
    Key::new("on_delete", Values::Words(&ON_DELETE), r#""judge""#, "whether deleting a file can break the rule")
        .usually(r#""ignore""#),
];

/// The keys that a new rule begins with.
pub const FIRST: [&str; 4] = ["id", "paths", "forbid", "why"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Rulebook};

    /// A rule with these lines, and those that every rule needs where they are not among them.
    fn load(lines: &[String]) -> Rulebook {
        let is_there = |key: &Key| lines.iter().any(|line| line.starts_with(&format!("{} =", key.name)));
        let needed = RULE.iter().filter(|key| key.required && !is_there(key)).map(|key| line(key, key.example));
        load_whole(&needed.chain(lines.iter().cloned()).collect::<Vec<_>>())
    }

    fn load_whole(lines: &[String]) -> Rulebook {
        Rulebook::load_validated(format!("[[rule]]\n{}\n", lines.join("\n")).as_bytes(), Format::Toml)
    }

    fn line(key: &Key, value: &str) -> String {
        format!("{} = {value}", key.name)
    }

    /// The line of a key, with that of the one it needs.
    fn lines(key: &Key, value: &str) -> Vec<String> {
        let needed = key.needs.and_then(|name| find(&RULE, name)).map(|other| line(other, other.example));
        [line(key, value)].into_iter().chain(needed).collect()
    }

    #[test]
    fn the_loader_takes_every_key_and_every_value_of_the_table() {
        for key in &RULE {
            let book = load(&lines(key, key.example));
            assert_eq!(book.problems, [], "{}", key.name);
            for word in key.words() {
                let quoted = if key.values == Values::Bool { word.text.to_owned() } else { format!("{:?}", word.text) };
                assert_eq!(load(&lines(key, &quoted)).problems, [], "{} = {quoted}", key.name);
            }
            if key.needs.is_some() {
                assert!(!load(&[line(key, key.example)]).problems.is_empty(), "{} alone", key.name);
            }
        }
    }

    #[test]
    fn the_loader_takes_no_other_value_and_names_those_of_the_table() {
        for key in &RULE {
            for wrong in ["1", r#""nonsense""#] {
                let book = load(&lines(key, wrong));
                let Values::Words(words) = key.values else {
                    let takes_text = wrong != "1" && key.values != Values::Bool;
                    assert!(takes_text || !book.problems.is_empty(), "{} = {wrong}", key.name);
                    continue;
                };
                let message = &book.problems[0].message;
                let named: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
                let known: Vec<&str> = words.iter().map(|word| word.text).collect();
                assert_eq!(named, known, "{message}");
            }
        }
    }

    #[test]
    fn what_is_said_to_hold_without_a_key_does() {
        let said = |book: &Rulebook| {
            let rule = &book.rules[0];
            (rule.on_fail, rule.redact, rule.on_delete)
        };
        let mut seen = 0;
        for key in &RULE {
            let Some(usual) = key.usual else { continue };
            assert_eq!(said(&load(&[line(key, usual)])), said(&load(&[])), "{}", key.name);
            assert_ne!(said(&load(&[line(key, key.example)])), said(&load(&[])), "{}", key.name);
            seen += 1;
        }
        assert_eq!(seen, 3);
        for key in RULE.iter().filter(|key| key.required) {
            let others = RULE.iter().filter(|other| other.required && other.name != key.name);
            let book = load_whole(&others.map(|other| line(other, other.example)).collect::<Vec<_>>());
            assert!(
                book.problems.iter().any(|problem| problem.message.contains(&format!("needs `{}`", key.name))
                    || problem.message.contains(&format!("needs an `{}`", key.name))),
                "{:?}",
                book.problems
            );
        }
    }

    #[test]
    fn an_unknown_key_is_told_the_keys_of_the_table() {
        let book = load(&["zzzzzzzz = 1".into()]);
        let (_, told) = book.problems[0].message.split_once("a rule knows ").unwrap();
        assert_eq!(told.split(", ").collect::<Vec<_>>(), names(&RULE));
    }

    #[test]
    fn a_new_rule_of_its_first_keys_loads() {
        let keys = FIRST.map(|name| find(&RULE, name).unwrap());
        assert!(RULE.iter().filter(|key| key.required).all(|key| keys.contains(&key)));
        assert_eq!(load(&keys.map(|key| line(key, key.example))).problems, []);
    }

    #[test]
    fn a_line_says_what_each_key_and_word_means() {
        let words = RULE.iter().flat_map(Key::words);
        for about in RULE.iter().map(|key| key.about).chain(words.map(|word| word.about)) {
            assert!(
                !about.is_empty() && about.len() <= 140 && !about.contains('\n') && !about.ends_with('.'),
                "{about}"
            );
        }
    }
}
