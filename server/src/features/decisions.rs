//! What an agent was told, as it is shown: one decision of the hook, every text of it in one plain line.
//!
//! Keeps the newest decisions of the workspace's logs, bounded in number and bytes. Reads no file and judges nothing.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use records::{Entry, Finding, JudgedFile, Outcome};
use rules::plain::{ID, PATH, WHY, plain};

use crate::features::diagnostics::INSTRUCTION_CHECK;

/// Most decisions that are kept.
pub const MOST: usize = 1000;
/// About how many bytes the kept ones take.
const BYTES: usize = 16 << 20;

/// One decision, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Names it in commands.
    pub id: String,
    /// When, as RFC 3339 in UTC.
    pub time: String,
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session: Option<String>,
    /// The event.
    pub event: String,
    /// The tool; empty where the event is about none.
    pub tool: String,
    /// The answer.
    pub outcome: Outcome,
    /// The project.
    pub root: String,
    /// The file it is most about.
    pub path: Option<PathBuf>,
    /// Why, as the agent was told.
    pub reason: String,
    /// What was found.
    pub findings: Vec<Found>,
    /// Whether a person may allow it once from here.
    pub reviewable: bool,
    /// The refusals whose exceptions this decision used up.
    pub used: Vec<String>,
    /// What was allowed of this refusal, with what came of it.
    pub exceptions: Vec<(String, Standing)>,
}

/// One finding of a decision, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The rule, or the instruction check.
    pub rule: String,
    /// `deny`, `ask` or `warn`.
    pub effect: String,
    /// The line, from 1, in the text as it is now.
    pub line: u32,
    /// The file.
    pub path: String,
    /// The rulebook.
    pub rulebook: Option<String>,
}

/// What came of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It can be used.
    Waiting,
    /// The agent used it.
    Used,
    /// Its time passed.
    Expired,
}

impl Standing {
    /// As it stands in messages to the editor.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Waiting => "waiting",
            Standing::Used => "used",
            Standing::Expired => "expired",
        }
    }
}

impl Decision {
    /// What is shown of an entry; `line` tells where a finding, by its number in the entry, stands now.
    pub fn of(entry: &Entry, line: impl Fn(usize) -> Option<u32>) -> Decision {
        let all = entry.files.iter().flat_map(|file| file.findings.iter().map(move |finding| (file, finding)));
        let found = |(number, (file, finding)): (usize, (&JudgedFile, &Finding))| Found {
            rule: plain(finding.rule.as_deref().unwrap_or(INSTRUCTION_CHECK), ID),
            effect: plain(&finding.effect, ID),
            line: line(number).unwrap_or(finding.at.max(1)),
            path: path(&file.path),
            rulebook: finding.rulebook.as_deref().map(path),
        };
        Decision {
            id: plain(&entry.id, ID),
            time: plain(&entry.time, ID),
            agent: plain(&entry.agent, ID),
            session: entry.session.as_deref().map(|session| plain(session, ID)),
            event: plain(&entry.event, ID),
            tool: plain(&entry.tool, ID),
            outcome: entry.decision,
            root: path(&entry.root),
            path: first_file(entry).map(|file| file.path.clone()),
            reason: plain(&entry.reason, WHY),
            findings: all.enumerate().map(found).collect(),
            reviewable: false,
            used: entry.allowed_once.iter().map(|id| plain(id, ID)).collect(),
            exceptions: Vec::new(),
        }
    }
}

/// The answer in one word.
pub fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Deny => "deny",
        Outcome::Ask => "ask",
        Outcome::Allow => "allow",
        Outcome::None => "none",
    }
}

/// A path as it is shown.
pub fn path(path: &Path) -> String {
    plain(&system::paths::shown(path), PATH)
}

/// Whether a finding stopped the agent.
pub fn stops(finding: &Finding) -> bool {
    matches!(finding.effect.as_str(), "deny" | "ask")
}

/// The file that a decision is most about: the first with something that stopped the agent.
fn first_file(entry: &Entry) -> Option<&JudgedFile> {
    entry.files.iter().find(|file| file.findings.iter().any(stops)).or(entry.files.first())
}

/// The newest decisions, the oldest first.
#[derive(Debug, Default)]
pub struct Decisions {
    kept: VecDeque<(Arc<Entry>, usize)>,
    bytes: usize,
}

impl Decisions {
    /// Takes decisions in; those that are known already are left out. They may be older than what is kept.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = Arc<Entry>>) {
        let mut known: HashSet<String> = self.kept.iter().map(|(entry, _)| entry.id.clone()).collect();
        for entry in entries {
            if known.insert(entry.id.clone()) {
                let bytes = weight(&entry);
                self.bytes += bytes;
                self.kept.push_back((entry, bytes));
            }
        }
        // The time is written so that its order is that of its text.
        self.kept.make_contiguous().sort_by(|(one, _), (other, _)| one.time.cmp(&other.time));
        while self.kept.len() > MOST || (self.bytes > BYTES && self.kept.len() > 1) {
            self.bytes -= self.kept.pop_front().map_or(0, |(_, bytes)| bytes);
        }
    }

    /// The decision with this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Entry>> {
        self.newest().find(|entry| entry.id == id)
    }

    /// All, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.kept.iter().rev().map(|(entry, _)| entry)
    }

    /// Forgets those of projects that are no longer followed.
    pub fn retain(&mut self, mut keep: impl FnMut(&Entry) -> bool) {
        self.kept.retain(|(entry, _)| keep(entry));
        self.bytes = self.kept.iter().map(|(_, bytes)| bytes).sum();
    }
}

/// An entry as it is kept: the lines of what was allowed are nobody's business any more.
pub fn kept(mut entry: Entry) -> Arc<Entry> {
    entry.parents = Vec::new();
    entry.guards.shrink_to_fit();
    if !matches!(entry.decision, Outcome::Deny | Outcome::Ask) {
        entry.files.iter_mut().for_each(|file| file.added = Vec::new());
    }
    Arc::new(entry)
}

/// About how many bytes an entry takes.
fn weight(entry: &Entry) -> usize {
    let finding = |it: &Finding| it.what.len() + it.rule.as_ref().map_or(0, String::len) + 400;
    let file = |it: &JudgedFile| {
        it.path.as_os_str().len()
            + it.added.iter().map(|line| line.text.len() + 40).sum::<usize>()
            + it.findings.iter().map(finding).sum::<usize>()
            + 200
    };
    entry.reason.len()
        + entry.command.as_ref().map_or(0, String::len)
        + entry.files.iter().map(file).sum::<usize>()
        + entry.rulebooks.len() * 200
        + 800
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A decision about one line of a file.
    pub fn entry(id: &str, outcome: Outcome, path: &str) -> Entry {
        let effect = if outcome == Outcome::Ask { "ask" } else { "deny" };
        let finding = Finding {
            rule: Some("no-eval".into()),
            rulebook: Some("/w/.ruleline/rules.toml".into()),
            rulebook_digest: Some("ab".repeat(32)),
            effect: effect.into(),
            line: 2,
            at: 2,
            what: "a call of eval".into(),
        };
        let stopped = matches!(outcome, Outcome::Deny | Outcome::Ask);
        Entry {
            v: 1,
            id: id.into(),
            time: format!("2026-01-31T12:00:00.{:0>3}Z", id.len()),
            agent: "claude".into(),
            session: Some("s".into()),
            event: "PreToolUse".into(),
            tool: "Edit".into(),
            root: "/w".into(),
            files: vec![JudgedFile {
                path: path.into(),
                digest: "cd".repeat(32),
                added: vec![records::Added { line: 2, at: 2, text: "eval(x)".into() }],
                findings: if stopped { vec![finding] } else { Vec::new() },
                deleted: false,
            }],
            command: None,
            rulebooks: Vec::new(),
            guards: vec![("rules".into(), outcome, 5)],
            decision: outcome,
            reason: "no-eval: eval runs anything".into(),
            allowed_once: Vec::new(),
            parents: vec!["bash".into()],
            took: 9,
            prev: String::new(),
            stretch: None,
        }
    }

    #[test]
    fn s19_every_text_is_one_plain_line() {
        let mut entry = entry("a\nb", Outcome::Deny, "/w/a\u{202e}.py");
        entry.agent = "clau\u{1b}[31mde".into();
        entry.reason = format!("one\ntwo {}", "x".repeat(9000));
        entry.session = Some("\u{200b}".into());
        entry.files[0].findings[0].rule = Some("no\u{7}".into());
        entry.files[0].findings[0].effect = "de\rny".into();
        let shown = Decision::of(&entry, |_| None);
        let mut texts = vec![&shown.id, &shown.agent, &shown.reason, shown.session.as_ref().unwrap(), &shown.root];
        texts.extend([&shown.findings[0].rule, &shown.findings[0].effect, &shown.findings[0].path]);
        for text in texts {
            assert!(!text.chars().any(|it| it.is_control() || rules::plain::is_hidden(it)), "{text:?}");
            assert!(text.chars().count() <= WHY);
        }
    }

    #[test]
    fn the_newest_are_kept_in_order_and_each_once() {
        let mut decisions = Decisions::default();
        let made = |number: usize| {
            let mut entry = entry(&format!("{number:04}"), Outcome::Allow, "/w/a.py");
            entry.time = format!("2026-01-31T12:00:{:02}.{:03}Z", number / 1000, number % 1000);
            Arc::new(entry)
        };
        decisions.extend((500..2500).map(made));
        decisions.extend((0..3000).map(made));
        let ids: Vec<String> = decisions.newest().map(|entry| entry.id.clone()).collect();
        assert_eq!(ids, (2000..3000).rev().map(|number| format!("{number:04}")).collect::<Vec<_>>());
    }

    #[test]
    fn large_ones_push_out_others() {
        let mut decisions = Decisions::default();
        let large = |number: usize| {
            let mut entry = entry(&format!("{number:04}"), Outcome::Deny, "/w/a.py");
            entry.reason = "x".repeat(BYTES / 10);
            Arc::new(entry)
        };
        decisions.extend((0..100).map(large));
        assert!((5..10).contains(&decisions.newest().count()));
        assert!(decisions.bytes <= BYTES);
    }
}
