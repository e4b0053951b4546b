//! One rule read from its table: keys, types, values. Every problem is recorded with its place; regexes are not checked.

use std::borrow::Cow;

use syntax::Span;

use crate::document::{Entry, Node, Value};
use crate::fix::Fix;
use crate::keys::{self, Word};
use crate::names::NameGlob;
use crate::paths::{self, Paths};
use crate::pattern::{Against, Pattern};
use crate::plain::plain;
use crate::rulebook::{Checks, OnDelete, Problems, Rule, Severity};
use crate::specs::{CallSpec, definition_fault};
use crate::verdict::Effect;

const KEYS: [&str; keys::RULE.len()] = keys::names(&keys::RULE);

/// Keys of the rulebook that this version cannot judge: a rule with one of them must not pass as if it had none.
const UNSUPPORTED: [&str; 4] = ["forbid_pattern", "commands", "scope", "test"];

/// The key of `known` that `key` was most likely meant to be.
pub(crate) fn nearest<'k>(key: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let distance = |known: &&str| strsim::damerau_levenshtein(key, known);
    known.into_iter().min_by_key(distance).filter(|near| distance(near) <= 1 + near.len() / 4)
}

struct Reader<'a> {
    text: &'a str,
    index: usize,
    problems: &'a mut Problems,
}

/// Reads the rule that has this number in the text, from 0; its problems go to the rule at `index`.
pub(crate) fn rule(text: &str, node: &Node, number: usize, index: usize, problems: &mut Problems) -> Rule {
    let no_entries = Vec::new();
    let entries = if let Value::Table(entries) = &node.value { entries } else { &no_entries };
    let find = |key: &str| entries.iter().find(|entry| entry.key == key);
    let id = find("id").and_then(|entry| match &entry.node.value {
        Value::Text(id) if !id.trim().is_empty() => Some((id.to_string(), entry.node.span.clone())),
        _ => None,
    });
    let span = node.span.start..entries.iter().map(|entry| entry.node.span.end).fold(node.span.end, usize::max);
    let (name, id_span) = match id {
        Some((id, span)) => (id, span),
        None => (format!("rule {}", number + 1), find("id").map_or(node.span.clone(), |entry| entry.node.span.clone())),
    };
    let mut rule = Rule {
        id: name,
        why: String::new(),
        on_fail: Effect::Deny,
        redact: false,
        on_delete: OnDelete::Ignore,
        paths: None,
        span,
        id_span,
        checks: Checks::default(),
        fix: None,
        broken: None,
    };
    let mut reader = Reader { text, index, problems };
    if let Value::Table(entries) = &node.value {
        reader.unknown_keys(entries);
        if find("id").is_none_or(|entry| !matches!(&entry.node.value, Value::Text(id) if !id.trim().is_empty())) {
            reader.error(rule.id_span.clone(), "a rule needs an `id`: a string that is not empty");
        }
        reader.settings(entries, &mut rule);
        reader.paths(find("paths"), &mut rule);
        reader.checks(entries, &mut rule.checks);
    } else {
        reader.error(node.span.clone(), format!("a rule is a table, not {}", node.value.kind()));
    }
    rule
}

impl Reader<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.problems.add(Severity::Error, Some(self.index), span, message);
    }

    fn warning(&mut self, span: Span, message: impl Into<String>) {
        self.problems.add(Severity::Warning, Some(self.index), span, message);
    }

    fn unknown_keys(&mut self, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| !KEYS.contains(&&*entry.key)) {
            let key = plain(&entry.key, 60);
            let message = if UNSUPPORTED.contains(&&*entry.key) {
                format!("`{key}` is not supported by this version; the rule is disabled and its files ask")
            } else {
                match nearest(&key, KEYS.into_iter().chain(UNSUPPORTED)) {
                    Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
                    None => format!("unknown key `{key}`; a rule knows {}", KEYS.join(", ")),
                }
            };
            self.error(entry.key_span.clone(), message);
        }
    }

    fn settings(&mut self, entries: &[Entry], rule: &mut Rule) {
        for Entry { key, node, .. } in entries {
            match (&**key, &node.value) {
                ("why", Value::Text(why)) => rule.why = why.to_string(),
                ("why", other) => {
                    self.text.get(node.span.clone()).unwrap_or_default().clone_into(&mut rule.why);
                    self.warning(node.span.clone(), format!("`why` is a string, not {}", other.kind()));
                }
                ("on_fail", value) => match self.word(key, node, value, &keys::ON_FAIL) {
                    Some("ask") => rule.on_fail = Effect::Ask,
                    Some("warn") => rule.on_fail = Effect::Warn,
                    _ => rule.on_fail = Effect::Deny,
                },
                ("on_delete", value) => match self.word(key, node, value, &keys::ON_DELETE) {
                    Some("judge") => rule.on_delete = OnDelete::Judge,
                    _ => rule.on_delete = OnDelete::Ignore,
                },
                ("redact", Value::Bool(redact)) => rule.redact = *redact,
                ("redact", other) => {
                    rule.redact = true;
                    let message = format!("`redact` is true or false, not {}; it counts as true", other.kind());
                    self.warning(node.span.clone(), message);
                }
                ("fix", Value::Text(text)) => match Fix::new(text) {
                    Ok(fix) => rule.fix = Some(fix),
                    Err(why) => self.warning(node.span.clone(), format!("{why}; nothing is offered")),
                },
                ("fix", other) => {
                    let message = format!("`fix` is a string, not {}; nothing is offered", other.kind());
                    self.warning(node.span.clone(), message);
                }
                _ => {}
            }
        }
        let has = |name: &str| entries.iter().find(|entry| entry.key == name);
        if let (Some(fix), None) = (has("fix"), has("forbid")) {
            self.warning(fix.key_span.clone(), "`fix` is not read without a `forbid`");
        }
    }

    /// The word of a closed set that a value is; an error for any other.
    fn word(&mut self, key: &str, node: &Node, value: &Value, words: &'static [Word]) -> Option<&'static str> {
        let said = if let Value::Text(text) = value { &**text } else { "" };
        let known = words.iter().map(|word| word.text).find(|word| *word == said);
        if known.is_none() {
            let (last, others) = words.split_last().expect("no set of words is empty");
            let others: Vec<String> = others.iter().map(|word| format!("\"{}\"", word.text)).collect();
            self.error(node.span.clone(), format!("`{key}` is {} or \"{}\"", others.join(", "), last.text));
        }
        known
    }

    fn paths(&mut self, entry: Option<&Entry>, rule: &mut Rule) {
        let needed = "a rule needs `paths`: a list of globs such as \"src/**\"";
        let Some(entry) = entry else {
            return self.error(rule.id_span.clone(), needed);
        };
        let Some(globs) = self.list(entry) else { return };
        let says_nothing = |glob: &str| glob.trim_matches(['!', ' ']).is_empty();
        if globs.is_empty() {
            return self.error(entry.node.span.clone(), needed);
        }
        let mut usable = true;
        for (glob, span) in &globs {
            if says_nothing(glob) {
                usable = false;
                self.error(span.clone(), "the glob is empty");
            } else if let Some(why) = paths::wrong(glob) {
                usable = false;
                self.error(span.clone(), why);
            } else if let Some(why) = paths::dead(glob) {
                self.warning(span.clone(), why);
            }
        }
        if globs.iter().all(|(glob, _)| glob.starts_with('!')) && usable {
            let why = "there are only exclusions, so the rule is about no file; add what it is about, such as \"**\"";
            self.warning(entry.node.span.clone(), why);
        }
        if usable {
            rule.paths = Some(Paths::new(globs.iter().map(|(glob, _)| &**glob)));
        }
    }

    fn checks(&mut self, entries: &[Entry], checks: &mut Checks) {
        let find = |key: &str| entries.iter().find(|entry| entry.key == key);
        checks.forbid = self.patterns(find("forbid"), Against::Line);
        checks.require = self.patterns(find("require"), Against::File);
        checks.forbid_calls = self.parsed(find("forbid_calls"), CallSpec::new);
        checks.forbid_imports = self.parsed(find("forbid_imports"), |text| {
            NameGlob::new(text).map_err(|why| format!("{why}; a module is named as `os`, `xml.*`"))
        });
        checks.require_def =
            self.parsed(find("require_def"), |text| definition_fault(text).map_or(Ok(text.trim().to_owned()), Err));
        checks.when = self.patterns(find("when"), Against::Line);
        let question = find("question");
        match question.map(|entry| (&entry.node.value, entry.node.span.clone())) {
            Some((Value::Text(text), _)) if !text.trim().is_empty() => {
                checks.question = Some(text.trim().to_owned());
            }
            Some((_, span)) => self.error(span, "`question` is a string that is not blank"),
            None if !checks.when.is_empty() => {
                let span = find("when").map_or(0..0, |entry| entry.key_span.clone());
                self.warning(span, "`when` is not read without a `question`");
            }
            None => {}
        }
        if let Some(entry) = find("calibration") {
            if !matches!(entry.node.value, Value::Text(_)) {
                self.error(entry.node.span.clone(), "`calibration` is the path of a file");
            } else if question.is_none() {
                self.error(entry.key_span.clone(), "`calibration` is for a rule with a `question`");
            }
        }
    }

    fn patterns(&mut self, entry: Option<&Entry>, against: Against) -> Vec<Pattern> {
        let sources = entry.and_then(|entry| self.list(entry)).unwrap_or_default();
        sources.into_iter().map(|(source, span)| Pattern::new(&source, span, against)).collect()
    }

    fn parsed<T>(&mut self, entry: Option<&Entry>, parse: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
        let mut parsed = Vec::new();
        let Some(entry) = entry else { return parsed };
        for (text, span) in self.list(entry).unwrap_or_default() {
            match parse(&text) {
                Ok(item) => parsed.push(item),
                Err(why) => self.error(span, format!("`{}` in `{}`: {why}", plain(&text, 60), entry.key)),
            }
        }
        parsed
    }

    /// A string, or a list of strings that are not empty.
    fn list<'n>(&mut self, entry: &'n Entry) -> Option<Vec<(Cow<'n, str>, Span)>> {
        let Entry { key, node, .. } = entry;
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut texts = Vec::with_capacity(items.len());
        let mut is_list = true;
        for item in items {
            match &item.value {
                Value::Text(text) if !text.is_empty() => texts.push((Cow::Borrowed(&**text), item.span.clone())),
                Value::Text(_) => {
                    is_list = false;
                    self.error(item.span.clone(), format!("`{key}` holds an empty string"));
                }
                other => {
                    is_list = false;
                    self.error(item.span.clone(), format!("`{key}` is a list of strings, not {}", other.kind()));
                }
            }
        }
        is_list.then_some(texts)
    }
}
