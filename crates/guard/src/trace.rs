//! What a decision was made of, as the log keeps it: files with their added lines and findings, rulebooks, what each guard
//! said and how long it took.
//!
//! All text is masked and bounded here, once, before it leaves. Decides nothing: it is made of what was decided.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::hooks::answer::Word;
use records::{Added, Entry, JudgedFile, Outcome};
use rules::secrets::Masking;
use rules::{Change, Counting, Effect, Finding, Rulebook};
use syntax::lines::lines;
use system::digest::hex;

use crate::lifting::Used;
use crate::once::digest_of_added;
use crate::reasons::Report;

/// Most files of a line, most added lines of all of them and most characters of each, and most findings.
const FILES: usize = 100;
const LINES: usize = 200;
const LINE: usize = 400;
const FINDINGS: usize = 200;
/// Most rulebooks.
const BOOKS: usize = 64;
/// Longest id of a rule, in characters; a longer one is in no rulebook that is worth it.
const ID: usize = 300;
/// Longest text of a finding, command and reason, in characters.
const WHAT: usize = 500;
const COMMAND: usize = 2000;
const REASON: usize = 4000;

/// What one decision was made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The project it was decided for, canonical.
    pub root: PathBuf,
    /// As [`Entry::files`].
    pub files: Vec<JudgedFile>,
    /// As [`Entry::rulebooks`].
    pub rulebooks: Vec<(PathBuf, String)>,
    /// As [`Entry::guards`].
    pub guards: Vec<(String, Outcome, u64)>,
    /// As [`Entry::command`].
    pub command: Option<String>,
    /// As [`Entry::reason`].
    pub reason: String,
    /// As [`Entry::allowed_once`].
    pub allowed_once: Vec<String>,
    /// Something was found, or could not be judged.
    pub is_finding: bool,
}

/// How long each guard took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// The rules.
    pub rules: Duration,
    /// The instruction check.
    pub instructions: Duration,
    /// Self-protection.
    pub protection: Duration,
    /// The guard of unsaved buffers.
    pub unsaved: Duration,
    /// Hooks.
    pub hooks: Duration,
}

/// Everything that a trace is made of, so that whoever answers need not wait for it.
#[derive(Debug)]
pub struct Basis {
    pub(crate) root: PathBuf,
    pub(crate) reports: Vec<Report>,
    pub(crate) command: Option<String>,
    pub(crate) reason: String,
    pub(crate) used: Option<Used>,
    pub(crate) word: Option<Word>,
    /// What a command does, beside files.
    pub(crate) protects: bool,
    pub(crate) takes: bool,
    pub(crate) failed: bool,
    pub(crate) spent: Spent,
}

impl Trace {
    /// Fills in what an entry says of what was decided.
    pub fn fill(self, entry: &mut Entry) {
        entry.root = self.root;
        entry.files = self.files;
        entry.rulebooks = self.rulebooks;
        entry.guards = self.guards;
        entry.command = self.command;
        entry.reason = self.reason;
        entry.allowed_once = self.allowed_once;
    }
}

/// A command as it is kept where no rulebook was looked at.
pub fn command(text: &str) -> String {
    Masking::new(&[]).text(text, COMMAND)
}

impl Basis {
    /// Whether what a person allowed once was used up.
    pub fn uses_up(&self) -> bool {
        self.used.is_some()
    }

    /// Masks, bounds and counts.
    pub fn trace(self) -> Trace {
        let parts = || self.reports.iter().flat_map(|report| &report.judged.parts);
        let mut seen = HashSet::new();
        let loaded: Vec<_> =
            parts().map(|part| &part.book).filter(|book| seen.insert((&book.path, book.digest()))).collect();
        let books: Vec<&Rulebook> = loaded.iter().map(|book| &book.book).collect();
        let mut room = Room { lines: LINES, findings: FINDINGS };
        let files = self.reports.iter().take(FILES).map(|report| judged(report, &books, &mut room)).collect();
        let guards = self.guards();
        let is_finding = self.failed
            || self.used.is_some()
            || guards.iter().any(|(_, outcome, _)| matches!(outcome, Outcome::Deny | Outcome::Ask))
            || self.reports.iter().any(Report::has_findings);
        let (allowed_once, words) = self.used.map_or_else(Default::default, |used| (used.refusals, used.words));
        let said =
            words.iter().map(String::as_str).chain(Some(self.reason.as_str()).filter(|reason| !reason.is_empty()));
        let reason = said.collect::<Vec<_>>().join("\n");
        Trace {
            root: self.root,
            files,
            rulebooks: loaded.iter().take(BOOKS).map(|book| (book.path.clone(), hex(&book.digest()))).collect(),
            guards,
            command: self.command.as_deref().map(|command| Masking::new(&books).text(command, COMMAND)),
            reason: Masking::new(&books).text(&reason, REASON),
            allowed_once,
            is_finding,
        }
    }

    /// What each guard said that looked at something.
    fn guards(&self) -> Vec<(String, Outcome, u64)> {
        let mut guards = Vec::new();
        let mut said = |name: &str, outcome, took: Duration| {
            guards.push((name.to_owned(), outcome, u64::try_from(took.as_micros()).unwrap_or(u64::MAX)));
        };
        let outcome = |effect: Option<Effect>| match effect {
            Some(Effect::Deny) => Outcome::Deny,
            Some(Effect::Ask) => Outcome::Ask,
            Some(Effect::Warn) | None => Outcome::Allow,
        };
        let asks = |is_asking| if is_asking { Outcome::Ask } else { Outcome::Allow };
        if !self.reports.is_empty() {
            let effects = self.reports.iter().filter_map(|report| report.judged.effect());
            said("rules", outcome(effects.max()), self.spent.rules);
            let found = self.reports.iter().flat_map(|report| &report.instructions).map(|finding| finding.effect);
            said("instructions", outcome(found.max()), self.spent.instructions);
        }
        let held = self.reports.iter().any(|report| report.unsaved.is_some());
        if !self.reports.is_empty() || self.takes {
            said("unsaved", asks(held || self.takes), self.spent.unsaved);
        }
        let objects = self.reports.iter().any(|report| report.objection.is_some());
        if !self.reports.is_empty() || self.protects {
            said("protection", asks(objects || self.protects), self.spent.protection);
        }
        if let Some(word) = self.word {
            let word = match word {
                Word::Deny => Outcome::Deny,
                Word::Ask => Outcome::Ask,
                Word::Allow => Outcome::Allow,
                Word::Continue => Outcome::None,
            };
            said("hooks", word, self.spent.hooks);
        }
        guards
    }
}

/// What room is left in a line of the log.
struct Room {
    lines: usize,
    findings: usize,
}

fn judged(report: &Report, books: &[&Rulebook], room: &mut Room) -> JudgedFile {
    let change = &report.change;
    let mut places = Places::of(change);
    let mut found: Vec<(u32, records::Finding)> = Vec::new();
    let mut masking = Masking::new(books);
    let mut add = |finding: &Finding, rule: Option<(&str, &Path, [u8; 32])>| {
        if room.findings > 0 {
            room.findings -= 1;
            let said = records::Finding {
                rule: rule.map(|(id, ..)| id.chars().take(ID).collect()),
                rulebook: rule.map(|(_, path, _)| path.to_path_buf()),
                rulebook_digest: rule.map(|(.., digest)| hex(&digest)),
                effect: name(finding.effect).to_owned(),
                line: finding.line,
                at: 0,
                what: masking.text(&finding.what, WHAT),
            };
            found.push((finding.line, said));
        }
    };
    for (index, part) in report.judged.parts.iter().enumerate() {
        for finding in &report.verdict(index).findings {
            let rule = finding.rule.and_then(|rule| part.book.book.rules.get(rule));
            add(finding, rule.map(|rule| (rule.id.as_str(), part.book.path.as_path(), part.book.digest())));
        }
    }
    report.instructions.iter().for_each(|finding| add(finding, None));
    let wanted: HashSet<u32> = found.iter().map(|(line, _)| *line).collect();
    let added = added(change, &wanted, books, room, &mut places);
    found.sort_by_key(|(line, _)| *line);
    let findings =
        found.into_iter().map(|(line, finding)| records::Finding { at: places.at(line), ..finding }).collect();
    JudgedFile {
        path: report.file.clone(),
        digest: hex(&digest_of_added(change)),
        added,
        findings,
        deleted: change.deleted,
    }
}

/// The added lines there is room for: those with findings before the others, in the order of the text.
fn added(
    change: &Change,
    wanted: &HashSet<u32>,
    books: &[&Rulebook],
    room: &mut Room,
    places: &mut Places,
) -> Vec<Added> {
    let is_wanted = |number: &u32| wanted.contains(number);
    let most = room.lines.min(change.added.len());
    let first = change.added.iter().filter(|line| is_wanted(&line.number)).count().min(most);
    let (mut hit, mut other) = (first, most - first);
    let mut masking = Masking::new(books);
    let mut kept = Vec::with_capacity(most);
    places.rewind();
    for line in &change.added {
        let left = if is_wanted(&line.number) { &mut hit } else { &mut other };
        if *left > 0 {
            *left -= 1;
            let text = masking.line(&change.text[line.span.clone()], LINE);
            kept.push(Added { line: line.number, at: places.at(line.number), text });
        }
        if kept.len() == most {
            break;
        }
    }
    room.lines -= kept.len();
    places.rewind();
    kept
}

fn name(effect: Effect) -> &'static str {
    match effect {
        Effect::Deny => "deny",
        Effect::Ask => "ask",
        Effect::Warn => "warn",
    }
}

/// Where lines of the text after would stand in that before; asked for in rising order. Each text is gone through once.
struct Places<'a> {
    change: &'a Change,
    after: Lines<'a>,
    before: Lines<'a>,
    /// How many of the added lines were passed.
    added: usize,
}

/// The lines of a text, and how many were taken.
struct Lines<'a> {
    text: &'a str,
    taken: u32,
    next: usize,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Lines<'a> {
        Lines { text, taken: 0, next: 0 }
    }

    fn next(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.next..];
        let line = lines(rest).next()?;
        self.next += line.next;
        self.taken += 1;
        Some(&rest[line.span])
    }
}

impl<'a> Places<'a> {
    fn of(change: &'a Change) -> Places<'a> {
        let before = Lines::of(change.before.as_deref().unwrap_or_default());
        Places { change, after: Lines::of(&change.text), before, added: 0 }
    }

    fn rewind(&mut self) {
        *self = Places::of(self.change);
    }

    /// The line before that `line` of the text after would stand at, from 1; 0 where that is not known.
    fn at(&mut self, line: u32) -> u32 {
        if line == 0 || self.change.counting != Counting::File {
            return 0;
        }
        while self.after.taken + 1 < line {
            let Some(text) = self.after.next() else { break };
            if self.change.added.get(self.added).is_some_and(|added| added.number == self.after.taken) {
                self.added += 1;
                continue;
            }
            // It stands in the text before as well, behind those that were found there.
            while self.before.next().is_some_and(|it| it != text) {}
        }
        self.before.taken + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_added_line_has_its_place_in_the_text_before() {
        for (before, after, expected) in [
            ("a\nb\nc\n", "a\nX\nc\n", vec![(2, 2)]),
            ("a\nb\nc\n", "a\nb\nX\nY\nc\n", vec![(3, 3), (4, 3)]),
            ("", "X\nY\n", vec![(1, 1), (2, 1)]),
            ("a\nb\nc\nd\n", "d\nX\n", vec![(2, 5)]),
            ("a\n", "X\na\nY\n", vec![(1, 1), (3, 2)]),
        ] {
            let names = vec!["a".to_owned()];
            let change = Change::between("a".to_owned(), names, Some(before.into()), after.into());
            let mut places = Places::of(&change);
            let found: Vec<(u32, u32)> =
                change.added.iter().map(|line| (line.number, places.at(line.number))).collect();
            assert_eq!(found, expected, "{before:?} {after:?}");
        }
        let unknown = Change::unknown("a".to_owned(), vec!["a".to_owned()], None, [("", "X")]);
        assert_eq!(Places::of(&unknown).at(1), 0);
    }

    #[test]
    fn lines_with_findings_are_kept_before_the_others() {
        let text = (1..=1000).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
        let change = Change::created("a".to_owned(), vec!["a".to_owned()], text.into());
        let mut room = Room { lines: LINES, findings: FINDINGS };
        let kept = added(&change, &HashSet::from([999, 500]), &[], &mut room, &mut Places::of(&change));
        let numbers: Vec<u32> = kept.iter().map(|line| line.line).collect();
        assert_eq!(numbers, (1..=198).chain([500, 999]).collect::<Vec<_>>());
        assert_eq!((room.lines, kept[199].text.as_str()), (0, "line 999"));
    }
}
