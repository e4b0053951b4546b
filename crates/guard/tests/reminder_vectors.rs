//! The reminder, the approval of tools and the guard of plans against recorded cases of another product, and the list of
//! where ours answers otherwise.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agents::{Dialect, Event, Permission};
use guard::assist::{Assist, Assisted, Part};
use guard::config::{AutoApprove, Config};
use guard::remind::classify::{self, Looked};
use guard::remind::counters::Count;
use guard::remind::state::Place;
use guard::remind::{Mode, Settings};
use serde_json::Value;

const CASES: &str = include_str!("../../../tests/fixtures/reminder.json");

/// Cases that Ruleline answers otherwise, and why.
const DEPARTURES: &[(&str, &str)] = &[
    ("t-serena-read_file-counts-as-read", PROSE),
    ("t-md-between-code", PROSE),
    ("t-vscode-mcp-openfiles-substring-FP", SUBSTRING),
    ("t-vscode-create_file-spread-FP", SUBSTRING),
    ("grep-name-vscode-mcp_grep", SUBSTRING),
    ("t-vscode-run_in_terminal-rg", "a search in any agent's terminal is a search"),
    ("grep-grok-1", "a tool of any agent means what it means there, whoever calls it"),
    ("t-codex-mcp-with-command-grep-FP", "the argument of a tool that is no shell is no command"),
    ("t-codex-read-tool-name-with-command", "a tool is known by its name; another argument does not make it a shell"),
    ("t-message-choice-read-call-while-grep-at-threshold", FILTER),
    ("bash-dsh-cat-pipe-grep", FILTER),
    ("bash-zcode-cat-pipe-grep", FILTER),
    ("remind-missing-session", FAILURE),
    ("reset-missing-no-tool", FAILURE),
    ("reset-missing-no-session", FAILURE),
    ("plan-context-rejects-non-codex", PLAN),
    ("plan-guard-rejects-non-codex", PLAN),
    ("grok-output-shapes", "grok has no dialect yet"),
    ("cli-default-client", "an agent that is not named is told by its payload"),
];

const FILTER: &str = "a filter at the end of a pipe is no search";
const PROSE: &str = "prose and data are read for what they say";
const SUBSTRING: &str = "tools are known by their whole names, never by a part";
const FAILURE: &str = "what cannot be counted costs a reminder: exit 0, nothing said (S17)";
const PLAN: &str = "whoever names the guard of plans gets it, for any agent";

/// Whose names and fields a client of the cases has.
fn dialect(client: &str) -> Dialect {
    match client {
        "codex" => Dialect::Codex,
        _ => Dialect::Claude,
    }
}

fn event(client: &str, name: &str, stdin: &Value) -> Result<Event, String> {
    let event = agents::parse(Some(dialect(client)), Some(name), stdin.to_string().as_bytes());
    event.map_err(|error| error.to_string())
}

fn event_name(command: &str) -> &'static str {
    match command {
        "reset" => "PostToolUse",
        "activate" => "SessionStart",
        "cleanup" => "SessionEnd",
        "plan-context" => "UserPromptSubmit",
        _ => "PreToolUse",
    }
}

fn part(command: &str) -> Part {
    Part::NAMED.iter().find(|(name, _)| *name == command).map(|(_, part)| *part).unwrap()
}

struct Run {
    _temporary: tempfile::TempDir,
    state: std::path::PathBuf,
    config: Config,
}

impl Run {
    fn new() -> Run {
        let temporary = tempfile::tempdir().unwrap();
        let state = temporary.path().canonicalize().unwrap().join("state");
        let reminder = Settings { mode: Some(Mode::Deny), ..Settings::default() };
        let auto_approve = AutoApprove { servers: vec!["serena".to_owned()], exclude: Vec::new() };
        Run { _temporary: temporary, state, config: Config { reminder, auto_approve, ..Config::default() } }
    }

    fn step(&self, client: &str, command: &str, stdin: &Value, at: f64) -> Assisted {
        let Ok(mut event) = event(client, event_name(command), stdin) else { return Assisted::default() };
        // What an event is called says the command here, whatever the payload says.
        event.kind = agents::EventKind::named(event_name(command));
        let assist = Assist {
            part: part(command),
            config: &self.config,
            state: Some(&self.state),
            home: None,
            root: Path::new("/nowhere"),
            cwd: Path::new("/nowhere"),
            lookup: None,
            standing: &Vec::new,
            now: time(at),
        };
        assist.assist(&event)
    }

    fn seed(&self, session: &str, counter: &Value) {
        let place = Place::new(&self.state, session, None);
        place
            .change(|kept| {
                let count = |number: &str, last: &str| Count {
                    number: counter[number].as_u64().unwrap() as u32,
                    last: counter[last].as_f64().map(milliseconds),
                };
                kept.counters.searches = count("grep", "last_grep");
                kept.counters.reads = count("read", "last_read");
                kept.counters.combined = count("combined", "last_combined");
                kept.counters.said = counter["last_deny"].as_f64().map(milliseconds);
            })
            .unwrap();
    }

    fn counters(&self, session: &str) -> Value {
        let counters = Place::new(&self.state, session, None).read().counters;
        let time = |last: Option<u64>| last.map(|last| (last - milliseconds(0.0)) as f64 / 1000.0);
        serde_json::json!({
            "grep": counters.searches.number, "read": counters.reads.number, "combined": counters.combined.number,
            "last_grep": time(counters.searches.last), "last_read": time(counters.reads.last),
            "last_combined": time(counters.combined.last), "last_deny": time(counters.said),
        })
    }
}

fn milliseconds(at: f64) -> u64 {
    1_700_000_000_000 + (at * 1000.0).round() as u64
}

fn time(at: f64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds(at))
}

fn decision(said: &Assisted) -> &'static str {
    match &said.word {
        Some((Permission::Deny, _)) => "deny",
        Some((Permission::Allow, _)) => "allow",
        _ if !said.context.is_empty() => "context",
        _ => "silent",
    }
}

/// What is said of one kind of too much.
fn kind_of(reason: &str) -> &'static str {
    if reason.contains("non-symbolic") {
        "mixed"
    } else if reason.contains("grep") {
        "grep"
    } else if reason.contains("read") && reason.contains("files") {
        "read"
    } else {
        "?"
    }
}

fn same(ours: &Value, theirs: &Value) -> bool {
    let number = |value: &Value| value.as_f64();
    theirs.as_object().unwrap().iter().all(|(key, value)| number(&ours[key]) == number(value))
}

fn look<'e>(event: &'e Event, servers: &[String]) -> Looked<'e> {
    classify::look(event, servers)
}

/// What is wrong with our answer to a case; none where it is the expected one.
fn differs(case: &Value) -> Option<String> {
    let client = case["client"].as_str().unwrap_or("claude-code");
    match case["kind"].as_str().unwrap() {
        "classify" => {
            let servers = Settings::default().servers;
            let Ok(event) = event(client, "PreToolUse", &case["stdin"]) else { return Some("not an event".to_owned()) };
            let looked = look(&event, &servers);
            let expect = &case["expect"];
            let ours = BTreeMap::from([
                ("grep", looked.search.is_some()),
                ("code_read", looked.read.is_some()),
                ("symbolic", looked.is_symbolic()),
            ]);
            // A read of what is no code is nothing here, so that reads and reads of code are one.
            let wrong =
                ours.into_iter().filter(|(key, ours)| expect[key].as_bool().is_some_and(|theirs| theirs != *ours));
            let wrong: Vec<_> = wrong.map(|(key, ours)| format!("{key} is {ours}")).collect();
            (!wrong.is_empty()).then(|| wrong.join(", "))
        }
        "timed" => {
            let run = Run::new();
            let steps = case["steps"].as_array().unwrap();
            for (number, step) in steps.iter().enumerate() {
                let command = step["command"].as_str().unwrap_or("remind");
                let said = run.step(client, command, &step["payload"], step["t"].as_f64().unwrap());
                let expected = case["expect"][number].as_str().unwrap();
                if decision(&said) != expected {
                    return Some(format!("step {number}: {} instead of {expected}", decision(&said)));
                }
                let session = step["payload"]["session_id"].as_str().or(step["payload"]["sessionId"].as_str());
                let theirs = &case["counters"][number];
                if let Some(session) = session.filter(|_| theirs.is_object()) {
                    let ours = run.counters(session);
                    if !same(&ours, theirs) {
                        return Some(format!("step {number}: counts {ours} instead of {theirs}"));
                    }
                }
            }
            None
        }
        "sequence" => {
            let run = Run::new();
            let steps = case["steps"].as_array().unwrap();
            let id = |stdin: &Value| stdin["session_id"].as_str().or(stdin["sessionId"].as_str()).unwrap().to_owned();
            let session = id(&steps[0]["stdin"]);
            if case["seed_counter"].is_object() {
                run.seed(&session, &case["seed_counter"]);
            }
            for (number, step) in steps.iter().enumerate() {
                let command = step["command"].as_str().unwrap();
                let said = run.step(client, command, &step["stdin"], step["t"].as_f64().unwrap());
                let expect = &step["expect"];
                let text = said.word.as_ref().map_or_else(|| said.context.join("\n"), |(_, reason)| reason.clone());
                let expected = expect["decision"].as_str().unwrap();
                if decision(&said) != expected {
                    return Some(format!("step {number}: {} instead of {expected}", decision(&said)));
                }
                if let Some(kind) = expect["deny_kind"].as_str().filter(|kind| kind_of(&text) != *kind) {
                    return Some(format!("step {number}: {text} is not about {kind}"));
                }
                let parts = ["reason_contains", "reason_contains2", "additionalContext_contains"];
                let missing = parts.iter().filter_map(|key| expect[*key].as_str()).find(|part| !text.contains(*part));
                if let Some(part) = missing {
                    return Some(format!("step {number}: no {part:?} in {text:?}"));
                }
            }
            let theirs = &case["expect_counter_after"];
            if theirs.is_object() {
                let ours = run.counters(&session);
                return (!same(&ours, theirs)).then(|| format!("counts {ours} instead of {theirs}"));
            }
            None
        }
        "gate" => {
            let run = Run::new();
            let since = case["seconds_since_last_deny"].as_f64();
            run.seed(
                "s",
                &serde_json::json!({
                    "grep": 0, "read": 0, "combined": 0, "last_grep": null, "last_read": null, "last_combined": null,
                    "last_deny": since.map(|_| 0.0),
                }),
            );
            let stdin = serde_json::json!({"session_id": "s", "tool_name": "Grep", "tool_input": {"pattern": "x"}});
            run.step("claude-code", "remind", &stdin, since.unwrap_or(0.0));
            let counts = run.counters("s")["grep"] == 1;
            (Some(counts) != case["expect"]["active"].as_bool()).then(|| format!("a call counts: {counts}"))
        }
        // Answers of a program with its own words and exit statuses.
        "error" | "output" | "raw" => Some("the form of an answer".to_owned()),
        other => panic!("a case of kind {other}"),
    }
}

#[test]
fn every_case_is_answered_as_recorded_or_is_a_departure_with_its_reason() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    assert!(cases.len() > 100);
    let mut wrong = Vec::new();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let departs = DEPARTURES.iter().any(|(known, _)| *known == id);
        match (differs(case), departs) {
            (Some(how), false) => wrong.push(format!("{id}: {how}")),
            (None, true) => wrong.push(format!("{id}: is answered as recorded, and is among the departures")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
