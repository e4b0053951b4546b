//! What a hook that ran said, by exit code and by JSON on stdout; the stricter of the two wins.
//!
//! Exit 0 proceeds, exit 2 blocks with stderr as the reason, anything else is a failure. Stdout counts only if it is
//! exactly one JSON object in one of the two known shapes; a deny there counts whatever the exit code. What begins as
//! one and cannot be read may have been a deny: a call that a guard says such a thing of is not let through for it. A
//! script that puts a command into its answer without quoting it leaves that to whoever wrote the command.

use rules::plain::{self, plain};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::manifest::OnError;

/// Longest reason, in characters.
const REASON: usize = 300;

/// What a hook says of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// Nothing.
    Continue,
    /// Goes ahead.
    Allow,
    /// A person decides.
    Ask,
    /// Blocked.
    Deny,
}

/// How one hook came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It answered.
    Said {
        /// What.
        word: Word,
        /// Why; bounded, escaped, may be empty.
        reason: String,
    },
    /// It ran and failed: another exit code. In one line.
    Failed(String),
    /// It began an answer that cannot be read. In one line.
    Garbled(String),
    /// It was stopped at its deadline, or killed by a signal. In one line.
    Ended(String),
    /// It never ran. In one line.
    Unstarted(String),
}

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Somehow: the system did not tell.
    Unseen,
    /// It was killed when its time was up.
    Deadline,
}

/// What a process left behind.
#[derive(Debug, Clone, Copy)]
pub struct Left<'a> {
    /// How it ended.
    pub end: End,
    /// The first bytes of stdout.
    pub stdout: &'a [u8],
    /// Stdout was longer.
    pub stdout_cut: bool,
    /// The first bytes of stderr.
    pub stderr: &'a [u8],
}

/// Reads what a process left behind. `on_error` is what a failure comes to, which an ask on stdout is weighed against. The
/// second value is a note for the person where stdout held text that is not an answer.
pub fn read(left: Left<'_>, on_error: OnError) -> (Outcome, Option<String>) {
    let stdout = left.stdout.trim_ascii();
    let (said, note, garbled) = match spoken(stdout, left.stdout_cut) {
        Ok(said) => (said, None, None),
        Err(Odd::Ignored(why)) => (None, Some(why), None),
        Err(Odd::Garbled(why)) => (None, None, Some(why)),
    };
    let stderr = plain(String::from_utf8_lossy(left.stderr).trim(), REASON);
    let behind = |what: String| if stderr.is_empty() { what } else { format!("{what}: {stderr}") };
    let by_code = match left.end {
        End::Code(0) => Outcome::Said { word: Word::Continue, reason: String::new() },
        End::Code(2) => Outcome::Said { word: Word::Deny, reason: stderr },
        End::Code(code) => Outcome::Failed(behind(format!("exit status {code}"))),
        End::Signal(signal) => Outcome::Ended(behind(format!("it was ended by signal {signal}"))),
        End::Unseen => Outcome::Ended(behind("how it ended is not known".to_owned())),
        End::Deadline => Outcome::Ended(behind("it took too long and was stopped".to_owned())),
    };
    let outcome = match (by_code, said) {
        (Outcome::Said { word, reason }, Some((said, why)))
            if said > word || (said == Word::Deny && reason.is_empty()) =>
        {
            Outcome::Said { word: said, reason: if why.is_empty() { reason } else { why } }
        }
        (Outcome::Failed(_) | Outcome::Ended(_), Some((Word::Deny, reason))) => {
            Outcome::Said { word: Word::Deny, reason }
        }
        (Outcome::Failed(_), Some((Word::Ask, reason))) if on_error != OnError::Deny => {
            Outcome::Said { word: Word::Ask, reason }
        }
        (by_code, _) => by_code,
    };
    match (outcome, garbled) {
        // Stricter than any way of ending but a deny.
        (Outcome::Said { word: Word::Continue, .. } | Outcome::Failed(_), Some(why)) => (Outcome::Garbled(why), None),
        (Outcome::Said { word: Word::Deny, reason }, _) if reason.is_empty() => {
            (Outcome::Said { word: Word::Deny, reason: "it blocks this and printed no reason".to_owned() }, note)
        }
        (outcome, _) => (outcome, note),
    }
}

/// What on stdout is no answer, in one line.
enum Odd {
    /// It says nothing.
    Ignored(String),
    /// It began as an answer.
    Garbled(String),
}

/// The answer on stdout: a word and a reason, none when there is nothing on it.
fn spoken(stdout: &[u8], cut: bool) -> Result<Option<(Word, String)>, Odd> {
    if stdout.is_empty() {
        return Ok(None);
    }
    if !stdout.starts_with(b"{") {
        return Err(Odd::Ignored("its stdout is not one JSON object and was ignored".to_owned()));
    }
    if cut {
        return Err(Odd::Garbled("its answer on stdout is longer than can be read".to_owned()));
    }
    let wrong = |error: serde_json::Error| {
        let error = plain(&error.to_string(), plain::LINE);
        Odd::Garbled(format!("its answer on stdout cannot be read: {error}"))
    };
    let line: Line<'_> = serde_json::from_slice(stdout).map_err(wrong)?;
    let specific = line.hook_specific_output.map(RawValue::get).filter(|text| text.starts_with('{'));
    let specific: Specific = specific.map(serde_json::from_str).transpose().map_err(wrong)?.unwrap_or_default();
    line.word(&specific)
}

/// Both shapes in one: keys that are not known are left alone, one that stands twice makes it no answer. What is of the
/// wrong kind costs itself alone, so that no odd reason takes a deny away.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    decision: Option<Value>,
    reason: Option<Value>,
    /// Claude Code's way to stop everything.
    r#continue: Option<Value>,
    stop_reason: Option<Value>,
    #[serde(borrow)]
    hook_specific_output: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    permission_decision: Option<Value>,
    permission_decision_reason: Option<Value>,
}

impl Line<'_> {
    fn word(&self, specific: &Specific) -> Result<Option<(Word, String)>, Odd> {
        let mut said: Vec<(Word, String)> = Vec::new();
        if self.r#continue == Some(Value::Bool(false)) {
            said.push((Word::Deny, reason(self.stop_reason.as_ref())));
        }
        let mut unknown = None;
        for (decision, why) in
            [(&self.decision, &self.reason), (&specific.permission_decision, &specific.permission_decision_reason)]
        {
            let word = match decision.as_ref().map(|decision| decision.as_str().ok_or(decision)) {
                None | Some(Ok("")) => continue,
                Some(Ok("allow" | "approve")) => Word::Allow,
                Some(Ok("ask")) => Word::Ask,
                Some(Ok("deny" | "block")) => Word::Deny,
                Some(Ok("continue" | "defer")) => Word::Continue,
                Some(Ok(other)) => {
                    unknown = Some(format!("\"{}\"", plain(other, plain::ID)));
                    continue;
                }
                Some(Err(other)) => {
                    unknown = Some(plain(&other.to_string(), plain::ID));
                    continue;
                }
            };
            said.push((word, reason(why.as_ref())));
        }
        let strictest = said.into_iter().max_by_key(|(word, _)| *word);
        match (strictest, unknown) {
            (None | Some((Word::Continue | Word::Allow, _)), Some(unknown)) => {
                let why = format!("its decision {unknown} is none of allow, deny, ask, continue and was ignored");
                Err(Odd::Ignored(why))
            }
            (strictest, _) => Ok(strictest),
        }
    }
}

/// A reason as it is shown; empty where it is no text.
fn reason(written: Option<&Value>) -> String {
    plain(written.and_then(Value::as_str).unwrap_or_default().trim(), REASON)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(code: i32, stdout: &str, stderr: &str) -> (Outcome, Option<String>) {
        let left =
            Left { end: End::Code(code), stdout: stdout.as_bytes(), stdout_cut: false, stderr: stderr.as_bytes() };
        read(left, OnError::Allow)
    }

    fn word(code: i32, stdout: &str) -> String {
        match left(code, stdout, "why").0 {
            Outcome::Said { word, reason } => format!("{word:?} {reason}").trim().to_owned(),
            Outcome::Failed(why) => format!("Failed {why}"),
            Outcome::Garbled(why) => format!("Garbled {why}"),
            Outcome::Ended(why) => format!("Ended {why}"),
            Outcome::Unstarted(why) => format!("Unstarted {why}"),
        }
    }

    #[test]
    fn the_stricter_of_code_and_json_wins() {
        let specific = |decision: &str| {
            format!(
                r#"{{"hookSpecificOutput": {{"hookEventName": "PreToolUse", "permissionDecision": "{decision}", "permissionDecisionReason": "r"}}}}"#
            )
        };
        for (code, stdout, expected) in [
            (0, "", "Continue"),
            (2, "", "Deny why"),
            (1, "", "Failed exit status 1: why"),
            (0, r#"{"decision": "deny", "reason": "no"}"#, "Deny no"),
            (0, r#" {"decision": "ask", "reason": "sure?"}  "#, "Ask sure?"),
            (0, r#"{"decision": "allow"}"#, "Allow"),
            (0, r#"{"decision": "continue", "reason": "x"}"#, "Continue"),
            (0, r#"{"decision": "block", "reason": "no"}"#, "Deny no"),
            (0, &specific("deny"), "Deny r"),
            (0, &specific("allow"), "Allow r"),
            (2, r#"{"decision": "allow"}"#, "Deny why"),
            (2, r#"{"decision": "ask", "reason": "sure?"}"#, "Deny why"),
            (1, r#"{"decision": "deny", "reason": "no"}"#, "Deny no"),
            (1, r#"{"decision": "allow"}"#, "Failed exit status 1: why"),
            (0, r#"{"continue": false, "stopReason": "stop"}"#, "Deny stop"),
            (
                0,
                r#"{"decision": "allow", "hookSpecificOutput": {"permissionDecision": "deny"}}"#,
                "Deny it blocks this and printed no reason",
            ),
            (1, r#"{"decision": "ask", "reason": "sure?"}"#, "Ask sure?"),
            (0, r#"{"decision": "deny", "reason": 5}"#, "Deny it blocks this and printed no reason"),
            (0, r#"{"decision": "deny", "reason": "no", "continue": "x", "hookSpecificOutput": 3}"#, "Deny no"),
            (
                0,
                r#"{"decision": 3, "hookSpecificOutput": {"permissionDecision": "deny"}}"#,
                "Deny it blocks this and printed no reason",
            ),
        ] {
            assert_eq!(word(code, stdout), expected, "{code} {stdout}");
        }
    }

    #[test]
    fn a_deny_has_the_reason_that_was_given() {
        let said = r#"{"decision": "deny", "reason": "by JSON"}"#;
        let reason = |stderr: &str| left(2, said, stderr).0;
        let deny = |reason: &str| Outcome::Said { word: Word::Deny, reason: reason.to_owned() };
        assert_eq!(reason("by stderr"), deny("by stderr"));
        assert_eq!(reason(""), deny("by JSON"));
        assert_eq!(left(2, "", "").0, deny("it blocks this and printed no reason"));
    }

    #[test]
    fn an_ask_is_weighed_against_what_a_failure_comes_to() {
        let left = Left { end: End::Code(1), stdout: br#"{"decision": "ask"}"#, stdout_cut: false, stderr: b"" };
        let asks = Outcome::Said { word: Word::Ask, reason: String::new() };
        assert_eq!(read(left, OnError::Allow).0, asks);
        assert_eq!(read(left, OnError::Ask).0, asks);
        assert!(matches!(read(left, OnError::Deny).0, Outcome::Failed(_)));
    }

    #[test]
    fn what_is_no_answer_is_noted_and_ignored() {
        for stdout in [
            "formatted 3 files",
            "[]",
            "x {\"decision\": \"deny\"}",
            r#"{"decision": "Deny"}"#,
            r#"{"decision": 3}"#,
            r#"{"decision": ["deny"]}"#,
            r#"{"decision": "allow", "hookSpecificOutput": {"permissionDecision": "DENY"}}"#,
        ] {
            let (outcome, note) = left(0, stdout, "");
            assert_eq!(outcome, Outcome::Said { word: Word::Continue, reason: String::new() }, "{stdout}");
            assert!(note.is_some_and(|note| note.contains("ignored")), "{stdout}");
        }
        assert_eq!(left(0, r#"{"suppressOutput": true}"#, "").1, None);
    }

    #[test]
    fn a_begun_answer_that_cannot_be_read_is_not_silence() {
        for stdout in [
            "{",
            r#"{"decision": "deny"} {"decision": "allow"}"#,
            r#"{"decision": "deny", "decision": "allow"}"#,
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow"}}"#,
            r#"{"\u0064ecision": "deny", "decision": "allow"}"#,
            &format!("{{\"x\": {}", "[".repeat(60_000)),
            "{\"decision\": \"deny\"}\0",
            r#"{"decision": "deny", "reason": "no echo "x""}"#,
        ] {
            for code in [0, 1] {
                let (outcome, note) = left(code, stdout, "");
                assert!(matches!(outcome, Outcome::Garbled(_)), "{code} {stdout}: {outcome:?}");
                assert_eq!(note, None, "it is told once");
            }
            assert_eq!(word(2, stdout), "Deny why", "{stdout}");
        }
        let cut = Left { end: End::Code(0), stdout: b"{\"decision\": \"deny\"}", stdout_cut: true, stderr: b"" };
        assert!(matches!(read(cut, OnError::Allow).0, Outcome::Garbled(_)));
    }

    #[test]
    fn an_end_is_no_exit_code() {
        let ended = |end, stdout: &'static str| {
            read(Left { end, stdout: stdout.as_bytes(), stdout_cut: false, stderr: b"" }, OnError::Allow).0
        };
        assert_eq!(ended(End::Signal(11), ""), Outcome::Ended("it was ended by signal 11".into()));
        assert!(matches!(ended(End::Deadline, r#"{"decision": "allow"}"#), Outcome::Ended(_)));
        assert!(matches!(ended(End::Unseen, ""), Outcome::Ended(_)));
        let deny = Outcome::Said { word: Word::Deny, reason: "no".into() };
        assert_eq!(ended(End::Deadline, r#"{"decision": "deny", "reason": "no"}"#), deny);
    }

    #[test]
    fn s19_a_reason_is_one_bounded_line() {
        let (Outcome::Said { reason, .. }, _) = left(2, "", &format!("\n\u{1b}[31mred\nline {}", "x".repeat(1000)))
        else {
            panic!("exit 2 answers")
        };
        assert!(reason.starts_with("\\u{1b}[31mred\\nline xxx"), "{reason}");
        assert_eq!(reason.chars().count(), REASON);
        let (Outcome::Said { reason, .. }, _) = left(2, "", " \n") else { panic!("exit 2 answers") };
        assert_eq!(reason, "it blocks this and printed no reason");
    }
}
