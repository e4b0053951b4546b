//! `hooks.yaml` to entries and problems, each with its place.
//!
//! A bad entry is skipped and its siblings load; nothing is ever left out without a problem that says so. The document
//! is bounded before anything is built ([`crate::yaml`]), and nothing it says is run or looked up here.

use std::ops::Range;
use std::time::Duration;

use rules::plain::{self, plain};

use crate::matcher::Matcher;
use crate::yaml::{self, Key, Node, Value};
use crate::{EVENTS, MANIFEST, keys};

/// How long a hook may take when its entry does not say.
pub const USUAL_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest timeout an entry may give.
pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);

/// Most hooks of a manifest, and of its problems that are listed.
const MOST: usize = 256;
/// Longest name that a known one is looked for to, in bytes.
const LONGEST_NAME: usize = 64;

/// The events that are about a tool, so that a matcher is asked.
const ABOUT_TOOLS: [&str; 4] = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"];
/// The keys of an entry.
const KEYS: [&str; keys::ENTRY.len()] = rules::keys::names(&keys::ENTRY);

/// Whether an event is about a tool, so that an entry for it may have a matcher.
pub fn is_about_tools(event: &str) -> bool {
    ABOUT_TOOLS.contains(&event)
}

/// Which half of a pair of scripts runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// `NAME.sh`.
    Unix,
    /// `NAME.ps1`.
    Windows,
}

impl Platform {
    /// This machine's.
    pub const HERE: Platform = if cfg!(windows) { Platform::Windows } else { Platform::Unix };

    fn name(self) -> &'static str {
        match self {
            Platform::Unix => "Unix",
            Platform::Windows => "Windows (win32)",
        }
    }

    /// The extension of its scripts.
    pub fn extension(self) -> &'static str {
        match self {
            Platform::Unix => "sh",
            Platform::Windows => "ps1",
        }
    }
}

/// What a hook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A script of the folder.
    Script {
        /// As the manifest names it.
        name: String,
        /// The file in the folder.
        file: String,
    },
    /// A hook that is part of Ruleline.
    Builtin(String),
    /// A program with its arguments, run without a shell.
    Command(Vec<String>),
}

impl Action {
    /// How the hook is called in texts; escaped.
    pub fn name(&self) -> String {
        let name = match self {
            Action::Script { name, .. } | Action::Builtin(name) => name,
            Action::Command(words) => words.first().map_or("", String::as_str),
        };
        plain(name, plain::ID)
    }
}

/// What becomes of a PreToolUse call when a hook ran and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// It proceeds, loudly.
    Allow,
    /// A person decides.
    Ask,
    /// It is refused.
    Deny,
}

/// One hook.
#[derive(Debug, Clone)]
pub struct Entry {
    /// One of [`EVENTS`].
    pub event: &'static str,
    /// What it runs.
    pub action: Action,
    /// None: every tool.
    pub matcher: Option<Matcher>,
    /// How long it may take.
    pub timeout: Duration,
    /// None: the default of its action.
    pub on_error: Option<OnError>,
    /// Where it stands in the manifest, in bytes.
    pub span: Range<usize>,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// An entry, an event or everything is skipped, or a key is not known.
    Error,
    /// It loads, and not as written.
    Warning,
}

/// One thing that is wrong in a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// How bad.
    pub severity: Severity,
    /// What is wrong and what to do, in one line, escaped.
    pub message: String,
    /// The event whose entry (or entries) are skipped for it; `*` is all of them.
    pub skips: Option<String>,
}

/// What a manifest says.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// In document order.
    pub entries: Vec<Entry>,
    /// In document order.
    pub problems: Vec<Problem>,
}

impl Manifest {
    /// Reads a manifest. `has_file` tells which files stand in its folder, `builtins` which builtin hooks there are.
    pub fn parse(bytes: &[u8], has_file: &dyn Fn(&str) -> bool, platform: Platform, builtins: &[&str]) -> Manifest {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
                let mut reading = Reading::new(valid, has_file, platform, builtins);
                reading.skip(valid.len()..valid.len(), "it is not UTF-8", "*");
                return reading.manifest;
            }
        };
        let mut reading = Reading::new(text, has_file, platform, builtins);
        match yaml::parse(text) {
            Ok(None) => {}
            Ok(Some(document)) => reading.document(&document),
            Err(wrong) => reading.skip(wrong.span, &wrong.why, "*"),
        }
        reading.manifest.problems.sort_by_key(|problem| problem.span.start);
        reading.manifest
    }

    /// The entries for an event whose tool has these names (none for an event without a tool: then a matcher is not
    /// asked), in document order.
    pub fn for_event<'a>(&'a self, event: &str, tool: &[&str]) -> Vec<&'a Entry> {
        let fits = |entry: &&Entry| {
            entry.event == event
                && (tool.is_empty() || entry.matcher.as_ref().is_none_or(|matcher| matcher.matches(tool)))
        };
        self.entries.iter().filter(fits).collect()
    }
}

struct Reading<'a> {
    text: &'a str,
    has_file: &'a dyn Fn(&str) -> bool,
    platform: Platform,
    builtins: &'a [&'a str],
    manifest: Manifest,
}

impl<'a> Reading<'a> {
    fn new(
        text: &'a str,
        has_file: &'a dyn Fn(&str) -> bool,
        platform: Platform,
        builtins: &'a [&'a str],
    ) -> Reading<'a> {
        Reading { text, has_file, platform, builtins, manifest: Manifest::default() }
    }

    fn document(&mut self, document: &Node) {
        let Value::Map(pairs) = &document.value else {
            let message = "it is not a mapping; it begins with `hooks:`";
            return self.skip(document.span.clone(), message, "*");
        };
        let Some((_, hooks)) = pairs.iter().find(|(key, _)| key.text == keys::TOP) else {
            let message = "the key \"hooks\" is missing, so there are no hooks; it is the only key that stands here";
            return self.skip(document.span.clone(), message, "*");
        };
        for (key, _) in pairs.iter().filter(|(key, _)| key.text != keys::TOP) {
            self.unknown_key(key, &[keys::TOP]);
        }
        self.hooks(hooks);
    }

    fn hooks(&mut self, hooks: &Node) {
        let Value::Map(events) = &hooks.value else {
            let message = "\"hooks\" is not a mapping of events to lists of hooks";
            return self.skip(hooks.span.clone(), message, "*");
        };
        // Those that are skipped count as well: each costs its reading.
        let mut seen = 0;
        for (key, entries) in events {
            let Some(event) = EVENTS.into_iter().find(|event| *event == key.text) else {
                let name = plain(&key.text, plain::ID);
                let near = nearest(&key.text, &EVENTS).map(|near| format!(", perhaps {near}")).unwrap_or_default();
                let message = format!("\"{name}\" is not an event{near}; events are {}", EVENTS.join(", "));
                self.skip(key.span.clone(), &message, "*");
                continue;
            };
            let Value::List(entries) = &entries.value else {
                let message = format!("\"{event}\" is not a list of hooks (each begins with `- `)");
                self.skip(key.span.clone(), &message, event);
                continue;
            };
            for (index, entry) in entries.iter().enumerate() {
                seen += 1;
                if seen > MOST {
                    let message = format!("there are more than {MOST} hooks; this one and all after it are skipped");
                    return self.skip(entry.span.clone(), &message, "*");
                }
                if let Err(wrong) = self.entry(event, entry) {
                    let message = format!("entry {} under \"{event}\" is skipped: {}", index + 1, wrong.why);
                    let severity = wrong.severity;
                    self.note(wrong.span, severity, &message, Some(event.to_owned()));
                }
            }
        }
    }

    fn entry(&mut self, event: &'static str, node: &Node) -> Result<(), Skipped> {
        let Value::Map(pairs) = &node.value else {
            return Err(Skipped::error(&node.span, "it is not a mapping of keys to values"));
        };
        let find = |name: &str| pairs.iter().find(|(key, _)| key.text == name);
        let whole = find_span(pairs, node);
        let actions: Vec<_> = keys::ACTIONS.into_iter().filter_map(find).collect();
        let (key, value) = match actions.as_slice() {
            [only] => only,
            [] => return Err(Skipped::error(&whole, "it names no \"script\", \"builtin\" or \"command\"")),
            [_, (second, _), ..] => {
                let why = "it names more than one of \"script\", \"builtin\" and \"command\"";
                return Err(Skipped::error(&second.span, why));
            }
        };
        let action = self.action(&key.text, value)?;
        let matcher = find("matcher").map(|(_, value)| matcher(value)).transpose()?;
        let on_error = find("on_error").map(|(_, value)| on_error(value)).transpose()?;
        let timeout = find("timeout").map(|(_, value)| timeout(value)).transpose()?;
        for (key, _) in pairs.iter().filter(|(key, _)| !KEYS.contains(&key.text.as_str())) {
            self.unknown_key(key, &KEYS);
        }
        if let (Some((key, _)), false) = (find("matcher"), is_about_tools(event)) {
            let message = format!("\"{event}\" is about no tool, so that the matcher is not asked; leave it out");
            self.note(key.span.clone(), Severity::Warning, &message, None);
        }
        let timeout = match timeout {
            Some(long) if long > LONGEST_TIMEOUT => {
                let span = find("timeout").map_or(whole.clone(), |(_, value)| value.span.clone());
                let message = format!("\"timeout\" counts as {} seconds, the most", LONGEST_TIMEOUT.as_secs());
                self.note(span, Severity::Warning, &message, None);
                LONGEST_TIMEOUT
            }
            Some(timeout) => timeout,
            None => USUAL_TIMEOUT,
        };
        self.manifest.entries.push(Entry { event, action, matcher, timeout, on_error, span: whole });
        Ok(())
    }

    fn action(&self, key: &str, value: &Node) -> Result<Action, Skipped> {
        match (key, &value.value) {
            ("script", Value::Text(name)) => self.script(name, &value.span),
            ("builtin", Value::Text(name)) if self.builtins.contains(&name.as_str()) => {
                Ok(Action::Builtin(name.clone()))
            }
            ("builtin", Value::Text(name)) => {
                let near = nearest(name, self.builtins).map(|near| format!(", perhaps {near}")).unwrap_or_default();
                let known = self.builtins.join(", ");
                let name = plain(name, plain::ID);
                Err(Skipped::error(&value.span, &format!("there is no builtin \"{name}\"{near}; there are {known}")))
            }
            ("command", Value::List(words)) => {
                let word = |node: &Node| match &node.value {
                    Value::Text(word) if !word.contains('\0') => Some(word.clone()),
                    Value::Number(_) | Value::Bool(_) => self.text.get(node.span.clone()).map(str::to_owned),
                    _ => None,
                };
                let words: Option<Vec<String>> = words.iter().map(word).collect();
                words
                    .filter(|words| words.first().is_some_and(|program| !program.is_empty()))
                    .map(Action::Command)
                    .ok_or_else(|| Skipped::error(&value.span, "\"command\" is not a list of texts, the program first"))
            }
            ("command", _) => {
                Err(Skipped::error(&value.span, "\"command\" is not a list: [program, argument]; no shell reads it"))
            }
            (key, Value::Null) => Err(Skipped::error(&value.span, &format!("\"{key}\" is empty"))),
            (key, _) => Err(Skipped::error(&value.span, &format!("\"{key}\" is not a text"))),
        }
    }

    fn script(&self, name: &str, span: &Range<usize>) -> Result<Action, Skipped> {
        if name.is_empty() || !name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_')) {
            let shown = plain(name, plain::ID);
            let why = format!(
                "\"script\" is \"{shown}\" and must be a bare file name: ASCII letters, digits, `-` and `_`, no folder, no \
                 extension"
            );
            return Err(Skipped::error(span, &why));
        }
        let file = format!("{name}.{}", self.platform.extension());
        if (self.has_file)(&file) {
            return Ok(Action::Script { name: name.to_owned(), file });
        }
        let why = format!("there is no {file} beside {MANIFEST}, which is what runs on {}", self.platform.name());
        Err(Skipped { span: span.clone(), severity: Severity::Warning, why })
    }

    fn unknown_key(&mut self, key: &Key, known: &[&str]) {
        let name = plain(&key.text, plain::ID);
        let near = nearest(&key.text, known).map(|near| format!(", perhaps {near}")).unwrap_or_default();
        let message = format!("\"{name}\" is not a key here{near}; it says nothing. Keys are {}", known.join(", "));
        self.note(key.span.clone(), Severity::Error, &message, None);
    }

    fn skip(&mut self, span: Range<usize>, message: &str, event: &str) {
        self.note(span, Severity::Error, message, Some(event.to_owned()));
    }

    fn note(&mut self, span: Range<usize>, severity: Severity, message: &str, skips: Option<String>) {
        let (severity, message, skips) = match self.manifest.problems.len() {
            0..MOST => (severity, message, skips),
            MOST => (Severity::Error, "there are more problems, from here on; mend those first", Some("*".to_owned())),
            _ => return,
        };
        let before = &self.text[..span.start.min(self.text.len())];
        let line = 1 + before.matches('\n').count() as u32;
        let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count() as u32;
        let message = plain(message, plain::WHY);
        self.manifest.problems.push(Problem { span, line, column, severity, message, skips });
    }
}

/// Why an entry is not loaded.
struct Skipped {
    span: Range<usize>,
    severity: Severity,
    why: String,
}

impl Skipped {
    fn error(span: &Range<usize>, why: &str) -> Skipped {
        Skipped { span: span.clone(), severity: Severity::Error, why: why.to_owned() }
    }
}

/// From the first key to the end of the last value.
fn find_span(pairs: &[(Key, Node)], node: &Node) -> Range<usize> {
    match (pairs.first(), pairs.last()) {
        (Some((first, _)), Some((_, last))) => first.span.start..last.span.end.max(first.span.end),
        _ => node.span.clone(),
    }
}

fn matcher(value: &Node) -> Result<Matcher, Skipped> {
    let Value::Text(pattern) = &value.value else {
        return Err(Skipped::error(&value.span, "\"matcher\" is not a text; quote it"));
    };
    if pattern == "*" {
        return Err(Skipped::error(&value.span, "\"matcher\" is a regular expression; leave it out for every tool"));
    }
    Matcher::new(pattern)
        .map_err(|why| Skipped::error(&value.span, &format!("\"matcher\" is not a valid regular expression ({why})")))
}

fn on_error(value: &Node) -> Result<OnError, Skipped> {
    let said = if let Value::Text(word) = &value.value { word.as_str() } else { "" };
    match keys::ON_ERROR.iter().map(|word| word.text).find(|word| *word == said) {
        Some("deny") => Ok(OnError::Deny),
        Some("ask") => Ok(OnError::Ask),
        Some(_) => Ok(OnError::Allow),
        None => {
            let known = rules::keys::texts(&keys::ON_ERROR).join(", ");
            Err(Skipped::error(&value.span, &format!("\"on_error\" is one of {known}")))
        }
    }
}

fn timeout(value: &Node) -> Result<Duration, Skipped> {
    match value.value {
        Value::Number(seconds) if seconds > 0.0 && seconds.is_finite() => {
            // Far above what counts, so that what is too long is said to be so and not to be wrong.
            Ok(Duration::from_secs_f64(seconds.min(1e9)))
        }
        _ => Err(Skipped::error(&value.span, "\"timeout\" must be a number of seconds greater than 0")),
    }
}

/// The known name that a wrong one is most likely meant to be.
fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    if wrong.len() > LONGEST_NAME {
        return None;
    }
    let near = known.iter().map(|name| (strsim::osa_distance(&wrong.to_lowercase(), &name.to_lowercase()), *name));
    near.min().filter(|(distance, name)| *distance <= 1 + name.len() / 4).map(|(_, name)| name)
}
