//! What a rule's `fix` would write in place of a match of its `forbid`.
//!
//! A finding holds its place, so that the match is found again only where somebody wants to know what would pass. Nothing
//! is written here.

use regex::Captures;

use crate::{Check, Finding, Rulebook, Work};

/// The longest `fix`, in bytes.
const LONGEST: usize = 4096;

/// A replacement with places for what the pattern's groups matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fix {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Numbered(usize),
    Named(String),
}

impl Fix {
    /// Reads `$1`, `${1}` and `${name}` as groups and `$$` as a dollar sign; any other `$` is one.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn new(source: &str) -> Result<Fix, String> {
        if source.len() > LONGEST {
            return Err(format!("`fix` is longer than {LONGEST} bytes"));
        }
        if source.contains(['\n', '\r']) {
            return Err("`fix` is one line: it stands in place of a part of one".into());
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = source;
        while let Some(at) = rest.find('$') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('$') {
                text.push('$');
                rest = after;
                continue;
            }
            let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
            let braced = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (group, after) = match braced {
                Some((group, after)) => (group, after),
                None => rest.split_at(digits),
            };
            let Some(part) = Part::group(group) else {
                if braced.is_some() {
                    return Err(format!("`${{{group}}}` names no group; `$$` is a dollar sign"));
                }
                text.push('$');
                continue;
            };
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(part);
            rest = after;
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Fix { parts })
    }

    /// With what the groups matched, which the pattern has got: see [`Fix::lacks`].
    fn expand(&self, captures: &Captures) -> String {
        let mut text = String::new();
        for part in &self.parts {
            text.push_str(match part {
                Part::Text(part) => part,
                Part::Numbered(group) => captures.get(*group).map_or("", |it| it.as_str()),
                Part::Named(group) => captures.name(group).map_or("", |it| it.as_str()),
            });
        }
        text
    }

    /// The first group that it takes something from and a pattern has not got.
    pub fn lacks(&self, regex: &regex::Regex) -> Option<String> {
        self.parts.iter().find_map(|part| match part {
            Part::Numbered(group) if *group >= regex.captures_len() => Some(format!("${group}")),
            Part::Named(name) if !regex.capture_names().flatten().any(|it| it == name) => Some(format!("${{{name}}}")),
            _ => None,
        })
    }
}

impl Part {
    fn group(name: &str) -> Option<Part> {
        if let Ok(number) = name.parse() {
            return Some(Part::Numbered(number));
        }
        let is_name = |it: char| it.is_alphanumeric() || it == '_';
        (name.starts_with(|it: char| it.is_alphabetic() || it == '_') && name.chars().all(is_name))
            .then(|| Part::Named(name.to_owned()))
    }
}

impl Rulebook {
    /// What may be written in place of a finding's span in the text it was found in; none where the rule does not say.
    pub fn fix(&self, finding: &Finding, text: &str) -> Option<String> {
        let rule = self.rules.get(finding.rule?)?;
        let fix = rule.fix.as_ref()?;
        let span = finding.span.clone().filter(|_| finding.check == Check::Forbid)?;
        let pattern = rule.checks.forbid.get(finding.item)?;
        let (before, after) = (text.get(..span.start)?, text.get(span.start..)?);
        let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let end = after.find(['\n', '\r']).map_or(text.len(), |at| span.start + at);
        let regex = pattern.regex(&mut Work::default()).ok()?;
        if fix.lacks(regex).is_some() {
            return None;
        }
        let captures = regex.captures(&text[start..end])?;
        let found = captures.get(0)?.range();
        (start + found.start == span.start && start + found.end == span.end).then(|| fix.expand(&captures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Format, Judge, ParseNow};

    fn fixed(pattern: &str, fix: &str, text: &str) -> Vec<Option<String>> {
        let rules = format!("[[rule]]\nid = \"r\"\npaths = ['**']\nforbid = ['{pattern}']\nfix = '{fix}'\n");
        let book = Rulebook::load(rules.as_bytes(), Format::Toml);
        assert_eq!(book.problems, [], "{rules}");
        let change = Change::created("a".into(), vec!["a".into()], text.into());
        let verdict = Judge::new(&ParseNow).judge(&book, &change);
        verdict.findings.iter().map(|finding| book.fix(finding, text)).collect()
    }

    #[test]
    fn groups_of_the_match_stand_in_the_fix() {
        for (pattern, fix, text, expected) in [
            ("print", "log.info", "x = print(1)\n", Some("log.info")),
            (r"print\((.*)\)", "log.info($1)", "a\r\n  print(x, y) # z\r\nb", Some("log.info(x, y)")),
            (r"(?P<what>\w+)\.old\(", "${what}.new(", "😀 thing.old(", Some("thing.new(")),
            ("a(b)?c", "x$1${1}y", "ac", Some("xy")),
            ("a", "", "a", Some("")),
            ("a", "$$1 $ $x", "a", Some("$1 $ $x")),
            ("a", "$1", "a", None),
            ("a", "${none}", "a", None),
            ("^b", "c", "a\rb", Some("c")),
        ] {
            assert_eq!(fixed(pattern, fix, text), [expected.map(str::to_owned)], "{pattern} {fix} {text:?}");
        }
        assert_eq!(fixed("a|b", "[$0]", "a\nb\nc"), [Some("[a]".to_owned()), Some("[b]".to_owned())]);
    }

    #[test]
    fn what_is_no_replacement_is_told() {
        for (fix, told) in [
            ("'''a\nb'''", "one line"),
            ("'${}'", "names no group"),
            ("'${a-b}'", "names no group"),
            ("1", "`fix` is a string"),
        ] {
            let rules = format!("[[rule]]\nid = \"r\"\npaths = ['**']\nforbid = ['a']\nfix = {fix}\n");
            let book = Rulebook::load(rules.as_bytes(), Format::Toml);
            assert!(book.problems.iter().any(|problem| problem.message.contains(told)), "{:?}", book.problems);
            assert!(book.disabled(0).is_none(), "a fix that cannot be read changes no verdict");
        }
        let rules = "[[rule]]\nid = \"r\"\npaths = ['**']\nforbid = ['a(b)']\nfix = '$2'\n";
        let book = Rulebook::load_validated(rules.as_bytes(), Format::Toml);
        assert_eq!(book.problems[0].message, "`fix` takes `$2`, which `a(b)` has not got; nothing is offered for it");
    }
}
