//! One line of the log.
//!
//! Plain data as it is written and read: unknown members are no error, absent ones have a value. A path that is not
//! UTF-8 is written with the bad bytes replaced: it can be shown, and no exception can be made for it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The call was refused.
    Deny,
    /// A person was asked.
    Ask,
    /// It was judged, and nothing was found.
    Allow,
    /// Nothing to say.
    None,
}

/// Why a line could not simply follow the one before: what stands before it is not what this user's hook left there. The
/// chain goes on with the last line that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stretch {
    /// The log has lines, and where its chain ended is not known.
    Headless,
    /// The hook ended before it could write the line before.
    Lost,
    /// The hook ended, or the disk was full, in the midst of the line before.
    Torn,
    /// Lines were taken away.
    Cut,
    /// Somebody else wrote.
    Foreign,
    /// The log goes on in the other place: below the project, or in the state folder.
    Moved,
    /// The file before is full.
    Next,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The shape of this line; 1.
    pub v: u32,
    /// Sixteen hex digits that no other line of this log has.
    pub id: String,
    /// When, as RFC 3339 in UTC with milliseconds.
    pub time: String,
    /// Who asked, by the name that `--agent` takes.
    pub agent: String,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The event in ruleline's name for it.
    pub event: String,
    /// The tool in the agent's name for it; empty where the event is about none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The project it was decided for.
    #[serde(serialize_with = "text_of")]
    pub root: PathBuf,
    /// The files that a call changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<JudgedFile>,
    /// The shell command, secrets masked and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Digest (hex) of each rulebook that was looked at, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty", serialize_with = "texts_of")]
    pub rulebooks: Vec<(PathBuf, String)>,
    /// What each guard said (`rules`, `instructions`, `protection`, `hooks`, `unsaved`), and microseconds it took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<(String, Outcome, u64)>,
    /// The answer.
    pub decision: Outcome,
    /// Why, as the agent was told, behind who allowed what was used up; masked and bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Ids of the exceptions that a person allowed and this decision used up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_once: Vec<String>,
    /// The processes above the hook, innermost first (S13).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// Microseconds from start to answer.
    pub took: u64,
    /// SHA-256 (hex) of the line before, without its line feed; of nothing for the first. Set by [`crate::Log::append`].
    #[serde(default)]
    pub prev: String,
    /// Set where the line begins a new stretch of the log. Set by [`crate::Log::append`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Stretch>,
}

/// One file of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedFile {
    /// The file, canonical.
    #[serde(serialize_with = "text_of")]
    pub path: PathBuf,
    /// SHA-256 (hex) of the added lines as `guard::once` counts them.
    pub digest: String,
    /// The added lines, masked, bounded in number and length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Added>,
    /// What was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The file would be gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// One added line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// Its number in the text after, from 1.
    pub line: u32,
    /// The line of the text before in whose place or before which it would stand, from 1; 0 where that is not known.
    pub at: u32,
    /// The text, masked.
    pub text: String,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id; none for the instruction check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The rulebook it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "text_of_any")]
    pub rulebook: Option<PathBuf>,
    /// SHA-256 (hex) of the rulebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rulebook_digest: Option<String>,
    /// `deny`, `ask` or `warn`.
    pub effect: String,
    /// The line in the text after, from 1; 0 is the file as a whole.
    pub line: u32,
    /// The line of the text before where it would stand, from 1; 0 where that is not known.
    pub at: u32,
    /// What was found, masked and bounded.
    pub what: String,
}

fn text_of<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

#[expect(clippy::ref_option, reason = "serde hands over what the member is")]
fn text_of_any<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

fn texts_of<S: Serializer>(books: &[(PathBuf, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(books.iter().map(|(path, digest)| (path.to_string_lossy(), digest)))
}

impl Entry {
    /// The line without its line feed, never longer than `most` bytes: what is too long loses its added lines, then what
    /// else can be done without.
    pub(crate) fn line(&mut self, most: usize) -> String {
        let mut line = self.text();
        for less in [Entry::without_lines, Entry::without_files, Entry::bare] {
            if line.len() > most {
                less(self);
                line = self.text();
            }
        }
        line
    }

    fn text(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and lists of them become JSON")
    }

    fn without_lines(&mut self) {
        self.files.iter_mut().for_each(|file| file.added.clear());
    }

    fn without_files(&mut self) {
        self.files.clear();
        self.rulebooks.clear();
        self.command = None;
    }

    fn bare(&mut self) {
        self.parents.clear();
        self.guards.clear();
        self.allowed_once.truncate(64);
        let texts = [&mut self.agent, &mut self.event, &mut self.tool, &mut self.reason, &mut self.time];
        for text in texts.into_iter().chain(&mut self.session).chain(&mut self.allowed_once) {
            *text = text.chars().take(200).collect();
        }
        if self.root.as_os_str().len() > 4096 {
            self.root = PathBuf::new();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn entry(tool: &str) -> Entry {
        Entry {
            v: 1,
            id: String::new(),
            time: "2026-01-31T12:00:00.123Z".to_owned(),
            agent: "claude".to_owned(),
            session: None,
            event: "PreToolUse".to_owned(),
            tool: tool.to_owned(),
            root: "/p".into(),
            files: Vec::new(),
            command: None,
            rulebooks: Vec::new(),
            guards: Vec::new(),
            decision: Outcome::None,
            reason: String::new(),
            allowed_once: Vec::new(),
            parents: Vec::new(),
            took: 1,
            prev: String::new(),
            stretch: None,
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let mut whole = entry("Edit");
        whole.files.push(JudgedFile {
            path: "/p/a.py".into(),
            digest: "00".to_owned(),
            added: vec![Added { line: 3, at: 2, text: "x".to_owned() }],
            findings: vec![Finding {
                rule: Some("r".to_owned()),
                rulebook: Some("/p/.ruleline/rules.toml".into()),
                rulebook_digest: None,
                effect: "deny".to_owned(),
                line: 3,
                at: 2,
                what: "bad".to_owned(),
            }],
            deleted: false,
        });
        whole.rulebooks.push(("/p/r".into(), "ab".to_owned()));
        whole.stretch = Some(Stretch::Torn);
        let line = whole.line(1 << 20);
        assert_eq!(serde_json::from_str::<Entry>(&line).unwrap(), whole);
        assert!(!line.contains('\n'));
    }

    #[test]
    fn a_line_is_bounded_and_says_what_was_decided_whatever_there_was() {
        let mut huge = entry(&"t".repeat(100_000));
        let text = "\u{1}".repeat(400);
        let added = (0..200).map(|line| Added { line, at: line, text: text.clone() }).collect();
        let file = JudgedFile { path: "/p".into(), digest: String::new(), added, findings: Vec::new(), deleted: false };
        huge.files = vec![file.clone(), file];
        huge.reason = "r".repeat(10_000);
        huge.decision = Outcome::Deny;
        let mut large = huge.clone();
        let line = large.line(200_000);
        assert!(line.len() <= 200_000 && large.files.len() == 2 && large.files[0].added.is_empty());
        let line = huge.line(8000);
        assert!(line.len() <= 8000);
        assert_eq!(serde_json::from_str::<Entry>(&line).unwrap().decision, Outcome::Deny);
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_costs_no_line() {
        use std::os::unix::ffi::OsStringExt as _;

        let mut odd = entry("Read");
        odd.root = std::ffi::OsString::from_vec(b"/a\xffb".to_vec()).into();
        assert!(odd.line(1000).contains("/a\u{fffd}b"));
    }
}
