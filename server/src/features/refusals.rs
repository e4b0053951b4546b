//! What agents were just refused, where it would have stood: for a while a diagnostic with the agent's name.
//!
//! A refusal ends after [`LASTS`], when a line around its place changes, when the file then has the line, and when it
//! was allowed. Bounded in number: of one file and of all the oldest go first. Texts are given, never read here.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use records::{Entry, Finding, JudgedFile, Outcome};
use rules::plain::{ID, LINE, WHY, plain};
use syntax::Span;

use crate::features::anchor::{Anchor, Replaced};
use crate::features::decisions::stops;
use crate::features::diagnostics::{Diagnostic, INSTRUCTION_CHECK, RulePlace, Severity};
use crate::rulebooks::Rulebooks;
use crate::text::Text;

/// How long one is shown.
pub const LASTS: Duration = Duration::from_secs(600);
/// Most of one file.
const MOST_OF_FILE: usize = 20;
/// Most of all.
pub const MOST: usize = 200;

/// One line that an agent could not write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The decision.
    pub decision: Arc<str>,
    /// The finding's number in the decision; none for one without findings.
    pub finding: Option<usize>,
    /// The file, canonical.
    pub path: Arc<Path>,
    severity: Severity,
    code: String,
    message: String,
    /// The rule's id and its rulebook.
    rule: Option<(String, Arc<Path>)>,
    /// The line, where the log has it whole; and how often the file had it.
    line: Option<String>,
    had: usize,
    anchor: Anchor,
}

impl Refusal {
    /// Those of a decision that stopped an agent, placed in the texts of the files as they are on disk.
    pub fn of(entry: &Entry, mut text: impl FnMut(&Path) -> Text) -> Vec<Refusal> {
        if !matches!(entry.decision, Outcome::Deny | Outcome::Ask) {
            return Vec::new();
        }
        let (mut refusals, mut number) = (Vec::new(), 0);
        for file in &entry.files {
            let of_file = number..number + file.findings.len();
            number = of_file.end;
            let stopping: Vec<_> = of_file.zip(&file.findings).filter(|(_, finding)| stops(finding)).collect();
            // Where no line stopped it, a guard did.
            let without = entry.files.iter().all(|file| !file.findings.iter().any(stops));
            if stopping.is_empty() && !without {
                continue;
            }
            let text = text(&file.path);
            if without {
                refusals.push(Refusal::by_guard(entry, file, &text));
            }
            let each = stopping.into_iter().take(MOST_OF_FILE);
            refusals.extend(each.map(|(number, finding)| Refusal::by_rule(entry, file, number, finding, &text)));
        }
        refusals
    }

    fn by_rule(entry: &Entry, file: &JudgedFile, number: usize, finding: &Finding, text: &Text) -> Refusal {
        let line = file.added.iter().find(|added| added.line == finding.line).map(|added| added.text.clone());
        let line = line.filter(|line| !line.trim().is_empty());
        let code = plain(finding.rule.as_deref().unwrap_or(INSTRUCTION_CHECK), ID);
        let severity = if finding.effect == "deny" { Severity::Error } else { Severity::Warning };
        let rulebook = finding.rulebook.as_deref().map(Arc::from);
        Refusal {
            decision: entry.id.as_str().into(),
            finding: Some(number),
            path: file.path.as_path().into(),
            severity,
            message: sentence(&entry.agent, severity, &said(line.as_deref(), &code, &finding.what)),
            code,
            rule: finding.rule.clone().zip(rulebook),
            had: line.as_deref().map_or(0, |line| occurrences(text, line)),
            line,
            anchor: Anchor::before(text, finding.at.saturating_sub(1) as usize),
        }
    }

    fn by_guard(entry: &Entry, file: &JudgedFile, text: &Text) -> Refusal {
        let guard = entry.guards.iter().find(|(_, outcome, _)| *outcome == entry.decision);
        let code = guard.map_or_else(|| "decision".to_owned(), |(name, _, _)| plain(name, ID));
        let severity = if entry.decision == Outcome::Deny { Severity::Error } else { Severity::Warning };
        let at = file.added.first().map_or(1, |added| added.at);
        Refusal {
            decision: entry.id.as_str().into(),
            finding: None,
            path: file.path.as_path().into(),
            severity,
            message: sentence(&entry.agent, severity, &plain(&entry.reason, WHY)),
            code,
            rule: None,
            line: None,
            had: 0,
            anchor: Anchor::before(text, at.saturating_sub(1) as usize),
        }
    }

    /// Puts it where it fits best in a text that may be another than that on disk.
    pub fn fit(&mut self, text: &Text) {
        self.anchor = self.anchor.fitted_to(text);
    }

    /// Whether both are about the same line of the same file, so that the newer says all.
    fn repeats(&self, other: &Refusal) -> bool {
        self.path == other.path
            && self.code == other.code
            && self.line == other.line
            && self.anchor == other.anchor
            && self.message == other.message
    }

    fn diagnostic(&self, text: &Text, rulebooks: &Rulebooks) -> Diagnostic {
        let rule = self.rule.as_ref().and_then(|(id, path)| place_of(rulebooks, id, path));
        let (rule, why) = rule.map_or((None, String::new()), |(rule, why)| (Some(rule), why));
        let message = rules::reason::sentence(&self.message, &why);
        Diagnostic { span: self.anchor.span(text), severity: self.severity, code: self.code.clone(), message, rule }
    }
}

fn sentence(agent: &str, severity: Severity, what: &str) -> String {
    let agent = plain(agent, ID);
    match severity {
        Severity::Error => format!("{agent} was refused here: {what}"),
        _ => format!("{agent} had to ask here: {what}"),
    }
}

/// The line, where it is known, and what was found in it.
fn said(line: Option<&str>, code: &str, what: &str) -> String {
    let what = format!("{code}: {}", plain(what, WHY));
    line.map_or_else(|| what.clone(), |line| format!("{}\n{what}", plain(line.trim(), LINE)))
}

fn occurrences(text: &Text, line: &str) -> usize {
    syntax::lines::lines(&text.text).filter(|it| text.text[it.span.clone()] == *line).count()
}

/// The rule in its rulebook as it is now, and why it is there.
fn place_of(rulebooks: &Rulebooks, id: &str, path: &Arc<Path>) -> Option<(RulePlace, String)> {
    let files = rulebooks.files();
    let (_, shelved) = files.iter().find(|(known, _)| **known == **path)?;
    let rule = shelved.current.rules().rules.iter().find(|rule| rule.id == id)?;
    let text = Arc::new(shelved.current.text.clone());
    let place = RulePlace { id: id.to_owned(), path: path.clone(), text, span: rule.id_span.clone(), fix: None };
    Some((place, plain(&rule.why, WHY)))
}

/// Those that are shown, the oldest first.
#[derive(Debug, Default)]
pub struct Refusals {
    shown: Vec<(Refusal, Instant)>,
}

/// Files in which something came or went.
pub type Files = BTreeSet<Arc<Path>>;

impl Refusals {
    /// Shows one; what it repeats, and the oldest where there are too many, go.
    pub fn add(&mut self, refusal: Refusal, now: Instant) -> Files {
        let mut gone = Files::new();
        gone.insert(refusal.path.clone());
        let repeated = self.shown.iter().position(|(one, _)| one.repeats(&refusal));
        let of_file = |(one, _): &&(Refusal, Instant)| one.path == refusal.path;
        let crowded = (self.shown.iter().filter(of_file).count() >= MOST_OF_FILE)
            .then(|| self.shown.iter().position(|one| of_file(&one)))
            .flatten();
        let oldest = (self.shown.len() >= MOST).then_some(0);
        if let Some(at) = repeated.or(crowded).or(oldest) {
            gone.insert(self.shown.remove(at).0.path);
        }
        self.shown.push((refusal, now + LASTS));
        gone
    }

    /// When the next one ends by itself.
    pub fn next_due(&self) -> Option<Instant> {
        self.shown.first().map(|(_, until)| *until)
    }

    /// Ends those whose time has come.
    pub fn expire(&mut self, now: Instant) -> Files {
        self.end(|_, until| until <= now)
    }

    /// Ends those of a decision.
    pub fn forget(&mut self, decision: &str) -> Files {
        self.end(|refusal, _| *refusal.decision == *decision)
    }

    /// Ends those of files that are not wanted any more.
    pub fn retain(&mut self, wanted: impl Fn(&Path) -> bool) -> Files {
        self.end(|refusal, _| !wanted(&refusal.path))
    }

    fn end(&mut self, ends: impl Fn(&Refusal, Instant) -> bool) -> Files {
        let mut files = Files::new();
        self.shown.retain(|(refusal, until)| {
            let ends = ends(refusal, *until);
            if ends {
                files.insert(refusal.path.clone());
            }
            !ends
        });
        files
    }

    /// Carries those of a file over an edit that replaced the bytes of `span`.
    pub fn carry(&mut self, path: &Path, before: &Text, span: &Span, after: &Text, inserted: usize) {
        if !self.is_in(path) {
            return;
        }
        let replaced = Replaced::by(before, span, after, inserted);
        self.keep(path, |refusal| {
            let has_line = refusal.line.as_deref().is_some_and(|line| replaced.lines(after).any(|it| it == line));
            refusal.anchor.carried(&replaced, after).filter(|_| !has_line)
        });
    }

    /// Finds those of a file again in another state of its text.
    pub fn find(&mut self, path: &Path, text: &Text) {
        let mut counted: HashMap<String, usize> = HashMap::new();
        self.keep(path, |refusal| {
            let has_line = refusal.line.as_ref().is_some_and(|line| {
                let count = counted.entry(line.clone()).or_insert_with(|| occurrences(text, line));
                *count > refusal.had
            });
            refusal.anchor.found_in(text).filter(|_| !has_line)
        });
    }

    fn keep(&mut self, path: &Path, mut anchor: impl FnMut(&Refusal) -> Option<Anchor>) {
        self.shown.retain_mut(|(refusal, _)| {
            if *refusal.path != *path {
                return true;
            }
            match anchor(refusal) {
                Some(anchor) => refusal.anchor = anchor,
                None => return false,
            }
            true
        });
    }

    /// Whether a file has any.
    pub fn is_in(&self, path: &Path) -> bool {
        self.shown.iter().any(|(refusal, _)| *refusal.path == *path)
    }

    /// The files that have any.
    pub fn files(&self) -> Files {
        self.shown.iter().map(|(refusal, _)| refusal.path.clone()).collect()
    }

    /// What is shown of a file with this text; each with its decision.
    pub fn diagnostics(&self, path: &Path, text: &Text, rulebooks: &Rulebooks) -> Vec<(Diagnostic, Arc<str>)> {
        let of_file = self.shown.iter().filter(|(refusal, _)| *refusal.path == *path);
        of_file.map(|(refusal, _)| (refusal.diagnostic(text, rulebooks), refusal.decision.clone())).collect()
    }

    /// The line, from 1, at which a decision's finding stands now.
    pub fn line(&self, decision: &str, finding: usize) -> Option<u32> {
        let of = |(one, _): &&(Refusal, Instant)| *one.decision == *decision && one.finding == Some(finding);
        self.shown.iter().find(of).map(|(refusal, _)| refusal.anchor.line() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::decisions::tests::entry;

    const FILE: &str = "/w/a.py";

    fn one(id: &str, text: &str) -> Vec<Refusal> {
        Refusal::of(&entry(id, Outcome::Deny, FILE), |_| Text::new(text))
    }

    fn shown(refusals: &Refusals, text: &str) -> Vec<(u32, String)> {
        let text = Text::new(text);
        let diagnostics = refusals.diagnostics(Path::new(FILE), &text, &Rulebooks::default());
        diagnostics.into_iter().map(|(it, _)| (text.line_number(it.span.start), it.message)).collect()
    }

    #[test]
    fn a_refusal_names_the_agent_the_rule_and_what_was_found() {
        let mut refusals = Refusals::default();
        let now = Instant::now();
        for refusal in one("1", "a\nb\n") {
            refusals.add(refusal, now);
        }
        assert_eq!(
            shown(&refusals, "a\nb\n"),
            [(2, "claude was refused here: eval(x)\nno-eval: a call of eval".to_owned())]
        );
        assert_eq!(refusals.line("1", 0), Some(2));
        let asked = Refusal::of(&entry("2", Outcome::Ask, FILE), |_| Text::new(""));
        assert_eq!(asked[0].message, "claude had to ask here: eval(x)\nno-eval: a call of eval");
        assert_eq!(asked[0].severity, Severity::Warning);
        for outcome in [Outcome::Allow, Outcome::None] {
            assert_eq!(Refusal::of(&entry("3", outcome, FILE), |_| Text::new("")), []);
        }
    }

    #[test]
    fn what_a_guard_refused_stands_at_the_first_line_it_would_have_added() {
        let mut refused = entry("1", Outcome::Ask, FILE);
        refused.files[0].findings.clear();
        refused.guards = vec![("rules".into(), Outcome::Allow, 1), ("unsaved".into(), Outcome::Ask, 1)];
        refused.reason = "unsaved changes would be lost".into();
        let refusals = Refusal::of(&refused, |_| Text::new("a\nb\n"));
        assert_eq!(refusals[0].code, "unsaved");
        assert_eq!(refusals[0].message, "claude had to ask here: unsaved changes would be lost");
    }

    #[test]
    fn a_refusal_ends_after_its_time_and_leaves_no_timer() {
        let mut refusals = Refusals::default();
        let now = Instant::now();
        refusals.add(one("1", "a\nb\n").remove(0), now);
        assert_eq!(refusals.next_due(), Some(now + LASTS));
        assert!(refusals.expire(now + LASTS.saturating_sub(Duration::from_millis(1))).is_empty());
        assert_eq!(refusals.expire(now + LASTS).len(), 1);
        assert_eq!(refusals.next_due(), None);
    }

    #[test]
    fn a_refusal_ends_when_the_file_has_the_line() {
        let path = Path::new(FILE);
        for (before, after, ends) in [
            ("a\nb\n", "a\nb\neval(x)\n", true),
            ("a\nb\n", "a\nb\nc\n", false),
            ("eval(x)\na\nb\n", "eval(x)\na\nb\nc\n", false),
            ("eval(x)\na\nb\n", "eval(x)\na\nb\neval(x)\n", true),
            ("a\nb\n", "a\nc\n", true),
        ] {
            let mut refusals = Refusals::default();
            refusals.add(one("1", before).remove(0), Instant::now());
            refusals.find(path, &Text::new(after));
            assert_eq!(refusals.is_in(path), !ends, "{before:?} {after:?}");
        }
        let mut refusals = Refusals::default();
        let before = Text::new("a\nb\n");
        refusals.add(one("1", "a\nb\n").remove(0), Instant::now());
        let after = before.clone().replaced(&(4..4), "eval(x)\n");
        refusals.carry(path, &before, &(4..4), &after, 8);
        assert!(!refusals.is_in(path));
    }

    #[test]
    fn a_repeated_refusal_stands_once_and_there_are_never_too_many() {
        let mut refusals = Refusals::default();
        let now = Instant::now();
        for number in 0..5 {
            refusals.add(one(&number.to_string(), "a\nb\n").remove(0), now);
        }
        assert_eq!(refusals.shown.len(), 1);
        assert_eq!(&*refusals.shown[0].0.decision, "4");
        for number in 0..1000 {
            let mut other = entry(&format!("x{number}"), Outcome::Deny, &format!("/w/{}.py", number % 30));
            other.files[0].findings[0].what = number.to_string();
            for refusal in Refusal::of(&other, |_| Text::new("a\nb\n")) {
                refusals.add(refusal, now);
            }
            assert!(refusals.shown.len() <= MOST);
        }
        for number in 0..100 {
            let mut other = entry(&format!("y{number}"), Outcome::Deny, FILE);
            other.files[0].findings[0].what = number.to_string();
            refusals.add(Refusal::of(&other, |_| Text::new("a\nb\n")).remove(0), now);
        }
        assert_eq!(refusals.diagnostics(Path::new(FILE), &Text::new(""), &Rulebooks::default()).len(), MOST_OF_FILE);
    }
}
