//! What a hook that ran said, by exit code and by JSON on stdout; the stricter of the two wins.
//!
//! Exit 0 proceeds, exit 2 blocks with stderr as the reason, anything else is a failure. Stdout counts only if it is
//! exactly one JSON object in one of the two known shapes; a deny there counts whatever the exit code. What begins as
//! one and cannot be read may have been a deny: a call that a guard says such a thing of is not let through for it. A
//! script that puts a command into its answer without quoting it leaves that to whoever wrote the command.

use rules::plain::{self, plain};
use serde::Deserialize;

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
    /// By this signal; 0 where the system has none.
    Signal(i32),
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

/// Reads what a process left behind. The second value is a note for the person where stdout held text that is not an
/// answer.
pub fn read(left: Left<'_>) -> (Outcome, Option<String>) {
    let stdout = left.stdout.trim_ascii();
    let (said, note) = match spoken(stdout, left.stdout_cut) {
        Ok(said) => (said, None),
        Err(why) => (None, Some(why)),
    };
    let begun = note.as_deref().filter(|_| stdout.starts_with(b"{")).map(str::to_owned);
    let stderr = plain(String::from_utf8_lossy(left.stderr).trim(), REASON);
    let behind = |what: String| if stderr.is_empty() { what } else { format!("{what}: {stderr}") };
    let by_code = match left.end {
        End::Code(0) => Outcome::Said { word: Word::Continue, reason: String::new() },
        End::Code(2) => {
            let reason =
                if stderr.is_empty() { "it blocks this and printed no reason".to_owned() } else { stderr.clone() };
            Outcome::Said { word: Word::Deny, reason }
        }
        End::Code(code) => Outcome::Failed(behind(format!("exit status {code}"))),
        End::Signal(signal) => Outcome::Ended(behind(format!("it was ended by signal {signal}"))),
        End::Deadline => Outcome::Ended(behind("it took too long and was stopped".to_owned())),
    };
    let outcome = match (by_code, said) {
        (Outcome::Said { word, reason }, Some((said, why))) if said > word => {
            Outcome::Said { word: said, reason: if why.is_empty() { reason } else { why } }
        }
        (Outcome::Failed(_) | Outcome::Ended(_), Some((Word::Deny, why))) => {
            Outcome::Said { word: Word::Deny, reason: why }
        }
        (by_code, _) => by_code,
    };
    match (outcome, begun) {
        // Stricter than any way of ending but a deny.
        (Outcome::Said { word: Word::Continue, .. } | Outcome::Failed(_), Some(why)) => (Outcome::Garbled(why), None),
        (outcome, _) => (outcome, note),
    }
}

/// The answer on stdout: a word and a reason, none when there is nothing on it.
fn spoken(stdout: &[u8], cut: bool) -> Result<Option<(Word, String)>, String> {
    if stdout.is_empty() {
        return Ok(None);
    }
    if !stdout.starts_with(b"{") {
        return Err("its stdout is not one JSON object and was ignored".to_owned());
    }
    if cut {
        return Err("its answer on stdout is longer than can be read".to_owned());
    }
    let line: Line = serde_json::from_slice(stdout).map_err(|error| {
        let error = plain(&error.to_string(), plain::LINE);
        format!("its answer on stdout cannot be read: {error}")
    })?;
    line.word()
}

/// Both shapes in one: keys that are not known are left alone, one that stands twice makes it no answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    decision: Option<String>,
    reason: Option<String>,
    /// Claude Code's way to stop everything.
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    hook_specific_output: Option<Specific>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
}

impl Line {
    fn word(self) -> Result<Option<(Word, String)>, String> {
        let shorten = |reason: Option<String>| plain(reason.unwrap_or_default().trim(), REASON);
        let mut said: Vec<(Word, String)> = Vec::new();
        if self.r#continue == Some(false) {
            said.push((Word::Deny, shorten(self.stop_reason)));
        }
        let specific = self.hook_specific_output;
        let (decision, reason) =
            specific.map_or((None, None), |it| (it.permission_decision, it.permission_decision_reason));
        let mut unknown = None;
        for (decision, reason) in [(self.decision, self.reason), (decision, reason)] {
            match decision.as_deref() {
                None | Some("") => {}
                Some("allow" | "approve") => said.push((Word::Allow, shorten(reason))),
                Some("ask") => said.push((Word::Ask, shorten(reason))),
                Some("deny" | "block") => said.push((Word::Deny, shorten(reason))),
                Some("continue" | "defer") => said.push((Word::Continue, shorten(reason))),
                Some(other) => unknown = Some(plain(other, plain::ID)),
            }
        }
        let strictest = said.into_iter().max_by_key(|(word, _)| *word);
        match (strictest, unknown) {
            (None, Some(unknown)) => Err(format!("its decision \"{unknown}\" is none of allow, deny, ask, continue")),
            (strictest, _) => Ok(strictest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(code: i32, stdout: &str, stderr: &str) -> (Outcome, Option<String>) {
        read(Left { end: End::Code(code), stdout: stdout.as_bytes(), stdout_cut: false, stderr: stderr.as_bytes() })
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
            (0, r#"{"decision": "allow", "hookSpecificOutput": {"permissionDecision": "deny"}}"#, "Deny"),
        ] {
            assert_eq!(word(code, stdout), expected, "{code} {stdout}");
        }
    }

    #[test]
    fn what_is_no_answer_is_noted_and_ignored() {
        for stdout in ["formatted 3 files", "[]", "x {\"decision\": \"deny\"}"] {
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
            r#"{"decision": "Deny"}"#,
            r#"{"decision": 3}"#,
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
        assert!(matches!(read(cut).0, Outcome::Garbled(_)));
    }

    #[test]
    fn an_end_is_no_exit_code() {
        let ended =
            |end, stdout: &'static str| read(Left { end, stdout: stdout.as_bytes(), stdout_cut: false, stderr: b"" }).0;
        assert_eq!(ended(End::Signal(11), ""), Outcome::Ended("it was ended by signal 11".into()));
        assert!(matches!(ended(End::Deadline, r#"{"decision": "allow"}"#), Outcome::Ended(_)));
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
