//! Which tools a hook is for.

use regex::{Regex, RegexBuilder};

/// Longest pattern, in bytes.
const LONGEST: usize = 1000;
/// Most memory of a compiled pattern, in bytes; a manifest may have hundreds.
const COMPILED: usize = 128 << 10;

/// A pattern over tool names: a regular expression that matches a whole name.
#[derive(Debug, Clone)]
pub struct Matcher {
    pattern: String,
    names: Names,
}

/// What stands for any characters but a line end.
const ANYTHING: &str = ".*";

#[derive(Debug, Clone)]
enum Names {
    /// Names, and names with `.*` in them: what nearly every manifest says. Compiling it would cost more than all the rest
    /// that a hook with nothing to say does.
    Listed,
    Like(Regex),
}

impl Matcher {
    /// The pattern of this text.
    ///
    /// # Errors
    /// Why it is no regular expression, or too large, in one line.
    pub fn new(pattern: &str) -> Result<Matcher, String> {
        if pattern.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        let literal = |name: &str| name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-'));
        let names = if pattern.split('|').flat_map(|listed| listed.split(ANYTHING)).all(literal) {
            Names::Listed
        } else {
            // Alone first, so that no unbalanced pattern closes the anchor's group and leaves it.
            let compile = |text: &str| RegexBuilder::new(text).size_limit(COMPILED).build();
            compile(pattern)
                .and_then(|_| compile(&format!(r"\A(?:{pattern})\z")))
                .map(Names::Like)
                .map_err(|error| last_line(&error.to_string()))?
        };
        Ok(Matcher { pattern: pattern.to_owned(), names })
    }

    /// The text as it was written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether any of these names matches: the agent's own name of the tool, and the canonical one.
    pub fn matches(&self, names: &[&str]) -> bool {
        names.iter().any(|name| match &self.names {
            Names::Listed => self.pattern.split('|').any(|listed| is_like(listed, name)),
            Names::Like(pattern) => pattern.is_match(name),
        })
    }
}

/// Whether a name is this one, which may have `.*` in it. Each piece between two of them is taken where it stands first:
/// whatever fits behind a later place fits behind that one.
fn is_like(listed: &str, name: &str) -> bool {
    let Some((start, rest)) = listed.split_once(ANYTHING) else { return listed == name };
    let (between, end) = rest.rsplit_once(ANYTHING).unwrap_or(("", rest));
    let inner = name.strip_prefix(start).and_then(|name| name.strip_suffix(end)).filter(|name| !name.contains('\n'));
    let found = inner.and_then(|inner| {
        between.split(ANYTHING).try_fold(inner, |left, piece| Some(&left[left.find(piece)? + piece.len()..]))
    });
    found.is_some()
}

/// The parser's message without the picture of the pattern above it.
fn last_line(message: &str) -> String {
    let line = message.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it cannot be read");
    line.trim().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_is_matched() {
        for (pattern, name, expected) in [
            ("edit", "edit", true),
            ("edit", "credit_check", false),
            ("edit", "edit\n", false),
            ("edit", "Edit", false),
            ("write_file|edit", "edit", true),
            ("write_file|edit", "edit_file", false),
            ("mcp_github_.*", "mcp_github_create", true),
            ("mcp__.*", "xmcp__a", false),
            ("Bash|apply_patch", "apply_patch", true),
            ("(?i)bash", "BASH", true),
            ("", "", true),
            ("", "x", false),
            (".*", "anything", true),
            ("a|", "", true),
            ("Bash|mcp__.*", "mcp__github__create", true),
            ("mcp__.*__create.*", "mcp__github__create_issue", true),
            ("mcp__.*__create", "mcp__create", false),
            ("a.*a", "a", false),
            ("a.*", "a\n", false),
        ] {
            assert_eq!(Matcher::new(pattern).unwrap().matches(&[name]), expected, "{pattern} on {name:?}");
        }
        assert!(Matcher::new("shell").unwrap().matches(&["Bash", "shell"]), "the canonical name counts as well");
        assert!(!Matcher::new("shell").unwrap().matches(&[]));
    }

    #[test]
    fn no_pattern_leaves_its_anchor() {
        assert!(Matcher::new("a)|(?:.*").is_err());
        assert!(Matcher::new("(").is_err());
        assert!(Matcher::new("(?:a{1000}){1000}").is_err(), "what is too large is refused");
        assert!(Matcher::new(&"a".repeat(LONGEST + 1)).is_err());
        assert!(!Matcher::new("(?x)a # |.*").is_ok_and(|it| it.matches(&["b"])), "a comment must not eat the anchor");
    }

    proptest::proptest! {
        #[test]
        fn listed_names_are_what_the_expression_says(
            pattern in "(a|b|_|-|\\||\\.\\*|\\.\\*){0,8}", name in "(a|b|_|-|\n|ä){0,5}"
        ) {
            let matcher = Matcher::new(&pattern).unwrap();
            proptest::prop_assert!(matches!(matcher.names, Names::Listed), "nothing is compiled for it");
            let listed = matcher.matches(&[name.as_str()]);
            let like = Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap().is_match(&name);
            proptest::prop_assert_eq!(listed, like);
        }
    }
}
