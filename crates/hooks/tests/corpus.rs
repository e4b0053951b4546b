//! The cases of two other systems on manifests, matchers and running, each through the real reader, the real runner and
//! the real bash. Where the answer is another one here it says so, with the reason.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use hooks::answer::{Outcome, Word};
use hooks::manifest::{Entry, Manifest, Platform};
use hooks::matcher::Matcher;
use hooks::run::{self, Launch};
use hooks::series::{Came, Part, run_all};
use hooks::{Action, builtin};
use serde_json::Value;
use support::{PAYLOAD, Place};

/// Cases whose answer is another one here, each with the reason. What it is instead is asserted where the group is read.
const DEPARTURES: [(&str, &str); 22] = [
    ("S-manifest_parse-script-shape-1", "the same refusal in other words"),
    ("S-manifest_parse-script-shape-2", "the same refusal in other words"),
    ("S-manifest_parse-script-shape-4", "the same refusal in other words"),
    ("S-manifest_parse-timeout-over-cap", "a timeout over the cap is clamped with a warning when it is read"),
    ("S-manifest_parse-unknown-key-ignored", "`command` is a key of its own here, and an entry has one of the three"),
    ("S-matcher-8", "a pattern that leaves its anchor is no pattern"),
    ("S-run-4", "a guard that is stopped at its deadline has not judged: a person decides"),
    ("S-run-5", "a guard that is stopped at its deadline has not judged: a person decides"),
    ("S-run-6", "a guard that is killed has not judged: a person decides"),
    ("S-run-7", "nothing cancels a hook but its deadline"),
    ("S-run-14", "whoever keeps a pipe is not waited for"),
    ("S-gate-post-block", "a refusal names its hook in the way every reason does"),
    ("S-gate-missing-session-cwd", "a hook that cannot start leaves the call to a person"),
    ("D-runner-all-continue", "nothing said is not an allow: what the agent itself asks still holds"),
    ("D-runner-unknown-decision", "nothing said is not an allow"),
    ("D-runner-hook-error", "nothing said is not an allow"),
    ("D-runner-unregistered-builtin", "nothing said is not an allow, and the manifest's problem says why"),
    ("D-runner-other-event", "nothing said is not an allow"),
    ("D-runner-bad-json", "nothing said is not an allow"),
    ("D-subprocess-shell-windows", "no shell reads a command"),
    ("D-subprocess-6", "the stricter of exit code and answer counts"),
    ("D-config_validation-7", "an entry without an action is an error, so that no builtin is silently off"),
];

fn cases(group: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("fixtures/script-hooks.json")).unwrap();
    let cases: Vec<Value> =
        all["cases"].as_array().unwrap().iter().filter(|case| case["group"] == group).cloned().collect();
    assert!(!cases.is_empty(), "{group}");
    cases
}

fn id(case: &Value) -> &str {
    case["id"].as_str().unwrap()
}

fn departs(case: &Value) -> bool {
    DEPARTURES.iter().any(|(departed, _)| *departed == id(case))
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn every_departure_is_a_case() {
    let groups = ["manifest_parse", "matcher", "run", "gate", "interop", "runner", "subprocess", "config_validation"];
    let all: Vec<Value> = groups.into_iter().flat_map(cases).collect();
    let known: BTreeSet<&str> = all.iter().map(id).collect();
    for (departed, why) in DEPARTURES {
        assert!(known.contains(departed) && !why.is_empty(), "{departed}");
    }
}

#[test]
fn manifest_parse() {
    for case in cases("manifest_parse").iter().filter(|case| !departs(case)) {
        let (id, input, expect) = (id(case), &case["input"], &case["expect"]);
        let platform = if input["platform"] == "win32" { Platform::Windows } else { Platform::Unix };
        let exists = input["script_exists"] != false;
        let yaml = input["yaml"].as_str().unwrap();
        let manifest = Manifest::parse(yaml.as_bytes(), &|_| exists, platform, &builtin::names());
        let names: Vec<String> = manifest.entries.iter().map(|entry| entry.action.name()).collect();
        if expect["specs"].is_array() {
            assert_eq!(names, texts(&expect["specs"]), "{id}");
        }
        if let Some(count) = expect["warnings"].as_u64() {
            assert_eq!(manifest.problems.len() as u64, count, "{id}: {:?}", manifest.problems);
        }
        for part in texts(&expect["warning_contains"]) {
            assert!(manifest.problems.iter().any(|problem| problem.message.contains(part)), "{id}: {part}");
        }
        if let Some(suffix) = expect["path_suffix"].as_str() {
            let Action::Script { file, .. } = &manifest.entries[0].action else { panic!("{id}") };
            assert!(file.ends_with(suffix), "{id}: {file}");
        }
        if let Some(milliseconds) = expect["timeoutMs"].as_u64() {
            assert_eq!(manifest.entries[0].timeout, Duration::from_millis(milliseconds), "{id}");
        }
    }
}

#[test]
fn matcher() {
    for case in cases("matcher") {
        let (pattern, subject) = (case["matcher"].as_str().unwrap(), case["subject"].as_str().unwrap());
        let matched = Matcher::new(pattern).is_ok_and(|matcher| matcher.matches(&[subject]));
        assert_eq!(matched, case["match"].as_bool().unwrap() != departs(&case), "{}", id(&case));
    }
}

/// What an outcome is in the corpus' words.
fn kind(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Said { word: Word::Deny, .. } => "block",
        Outcome::Said { .. } => "ok",
        Outcome::Failed(_) => "failed",
        Outcome::Ended(_) => "ended",
        Outcome::Garbled(_) => "garbled",
        Outcome::Unstarted(_) => "unrunnable",
    }
}

#[test]
fn run() {
    for case in cases("run") {
        let (id, place) = (id(&case), Place::new());
        let exit = case["exit"].as_u64().unwrap_or(0);
        let mut timeout = "20";
        let mut script = format!("cat >/dev/null; exit {exit}");
        if case["timeout"] == true || case["cancelled"] == true {
            (timeout, script) = ("0.2", format!("sleep 9; exit {exit}"));
        } else if let Some(seconds) = case["setsid_grandchild_holds_pipes_s"].as_u64() {
            (timeout, script) = ("0.3", format!("setsid sleep {seconds} & wait"));
        } else if let Some(signal) = case["signal"].as_str() {
            script = format!("kill -{} $$", signal.trim_start_matches("SIG"));
        } else if case["reads_stdin"] == false {
            script = format!("exec <&-; exit {exit}");
        }
        place.script("wedged", &script);
        let entries = place.entries("PreToolUse", &format!("    - script: wedged\n      timeout: {timeout}\n"));
        let mut launch = place.launch("PreToolUse", PAYLOAD);
        if case["script_is_dir"] == true {
            fs::remove_file(place.folder.join("wedged.sh")).unwrap();
            fs::create_dir(place.folder.join("wedged.sh")).unwrap();
        }
        if case["bash_missing"] == true {
            // No machine here is without one, so it is the project's own that is not taken.
            launch.root = Path::new("/bin");
        }
        if case["spawn_error"] == "ENOENT" {
            launch.root = Path::new("/nowhere/at/all");
        }
        let outcome = run::run(&entries[0], &launch).outcome;
        let expected = match &case["expect"]["kind"] {
            _ if departs(&case) => "ended",
            Value::String(kind) => kind,
            _ => "unrunnable",
        };
        if case["bash_missing"] != true || fs::canonicalize("/bin").unwrap() == Path::new("/usr/bin") {
            assert_eq!(kind(&outcome), expected, "{id}: {outcome:?}");
        }
    }
}

/// Runs entries of one event whose names and outcomes are given, each a script of that name; every script that ran adds
/// its name to `ran` in the project.
fn run_gate(place: &Place, event: &str, hooks: &[(&str, &str)], matchers: &[(&str, &str)]) -> Came {
    for (name, text) in hooks {
        place.script(name, &format!("echo {name} >> ran\n{text}"));
    }
    let entry = |(name, _): &(&str, &str)| {
        let matcher = matchers.iter().find(|(of, matcher)| of == name && *matcher != "-");
        let matcher = matcher.map(|(_, matcher)| format!("      matcher: {matcher}\n")).unwrap_or_default();
        format!("    - script: {name}\n{matcher}")
    };
    let entries: Vec<String> = hooks.iter().map(entry).collect();
    let all = place.entries(event, &entries.concat());
    let manifest = Manifest { entries: all, problems: Vec::new() };
    let launch = Launch { tools: &["bash"], ..place.launch(event, PAYLOAD) };
    let chosen = manifest.for_event(event, launch.tools);
    run_all(&[Part { whose: "hooks of X", entries: &chosen, launch, may_allow: true }])
}

fn ran(place: &Place) -> Vec<String> {
    fs::read_to_string(place.root.join("ran")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn gate() {
    for case in cases("gate") {
        let (id, place) = (id(&case), Place::new());
        let event = if id.contains("post") { "PostToolUse" } else { "PreToolUse" };
        let scripts: Vec<(String, String)> = texts(&case["outcomes"])
            .into_iter()
            .enumerate()
            .map(|(index, outcome)| {
                let (what, text) = outcome.split_once(' ').unwrap_or((outcome, ""));
                let text = text.split(' ').next().unwrap();
                let code = ["ok", "failed", "block"].iter().position(|known| *known == what).unwrap();
                (format!("h{index}"), format!("echo {text} >&2; exit {code}"))
            })
            .collect();
        let hooks: Vec<(&str, &str)> = scripts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        match id {
            "S-gate-post-only" => {
                let entries = place.entries("PostToolUse", "    - builtin: memory-capture\n");
                let manifest = Manifest { entries, problems: Vec::new() };
                assert!(manifest.for_event("PreToolUse", &["bash"]).is_empty());
            }
            "S-gate-matching-in-order" => {
                let setup: Vec<(&str, &str)> =
                    texts(&case["setup"]).iter().map(|it| it.split_once(':').unwrap()).collect();
                let hooks: Vec<(&str, &str)> = setup.iter().map(|(name, _)| (*name, "exit 0")).collect();
                run_gate(&place, event, &hooks, &setup);
                assert_eq!(ran(&place), texts(&case["expect"]));
            }
            "S-gate-first-block-wins" => {
                let came = run_gate(&place, event, &hooks, &[]);
                assert_eq!((came.word, came.reason.as_str(), came.ran), (Word::Deny, "h0 (hooks of X): A", 1));
                assert_eq!(ran(&place), ["h0"]);
            }
            "S-gate-all-ok" => {
                let came = run_gate(&place, event, &[("a", "exit 0"), ("b", "exit 0")], &[]);
                assert_eq!((came.word, came.notes.len(), came.ran), (Word::Continue, 0, 2));
            }
            "S-gate-post-failure" => {
                let came = run_gate(&place, event, &hooks, &[]);
                assert_eq!((came.word, came.ran), (Word::Continue, 2));
                assert_eq!(came.notes, ["h0 (hooks of X): it failed (exit status 1: F)"]);
            }
            "S-gate-post-block" => {
                let came = run_gate(&place, event, &hooks, &[]);
                assert_eq!((came.word, came.reason.as_str(), came.ran), (Word::Deny, "h0 (hooks of X): R", 2));
            }
            "S-gate-notice-dedup" => {
                let notes = || run_gate(&place, event, &hooks[..1], &[]).notes;
                assert_eq!(notes(), notes(), "a session that was told the one knows the other");
            }
            "S-gate-missing-session-cwd" => {
                place.script("guard", "exit 0");
                let entries = place.entries(event, "    - script: guard\n");
                let launch = Launch { root: Path::new("/nowhere/at/all"), ..place.launch(event, PAYLOAD) };
                let entries: Vec<&Entry> = entries.iter().collect();
                let came = run_all(&[Part { whose: "hooks of X", entries: &entries, launch, may_allow: true }]);
                assert_eq!((came.word, came.ran), (Word::Ask, 0));
                assert!(came.reason.starts_with("guard (hooks of X): it could not judge this (the working folder"));
            }
            other => panic!("{other} is new"),
        }
    }
}

#[test]
fn interop() {
    let place = Place::new();
    place.script(
        "block-dangerous",
        r#"grep -qE '"command": ?"rm -rf /' && { echo "BLOCKED: rm" >&2; exit 2; }; exit 0"#,
    );
    place.script("block-env-read", r#"grep -qE '"file_path": ?"[^"]*/\.env"' && { echo secret >&2; exit 2; }; exit 0"#);
    for case in cases("interop") {
        let entries = place.entries("PreToolUse", &format!("    - script: {}\n", case["script"].as_str().unwrap()));
        let outcome = |payload: &str| run::run(&entries[0], &place.launch("PreToolUse", payload)).outcome;
        let Outcome::Said { word: Word::Deny, reason } = outcome(&case["input"].to_string()) else {
            panic!("{}", id(&case))
        };
        assert!(reason.contains("BLOCKED") || !case["expect"].as_str().unwrap().contains("BLOCKED"), "{reason}");
        assert_eq!(kind(&outcome(r#"{"tool_name":"bash","tool_input":{"command":"ls"}}"#)), "ok", "{}", id(&case));
    }
}

#[test]
fn runner() {
    for case in cases("runner") {
        let (id, place) = (id(&case), Place::new());
        let mut entries = Vec::new();
        let hooks = if case["hooks"].is_array() { texts(&case["hooks"]) } else { vec!["deny"] };
        for (index, hook) in hooks.iter().enumerate() {
            let (word, number) = hook.split_once('#').unwrap_or((hook, ""));
            let text = match word {
                "error" => "exit 1".to_owned(),
                "x" => "echo x >> ran".to_owned(),
                _ if word.starts_with("echo ") => word.to_owned(),
                _ => format!(r##"echo '{{"decision":"{word}","reason":"#{number}"}}'"##),
            };
            place.script(&format!("h{index}"), &text);
            entries.push(match word.strip_prefix("builtin ") {
                Some(builtin) => format!("    - builtin: {builtin}\n"),
                None => format!("    - script: h{index}\n"),
            });
        }
        let text = format!("hooks:\n  PreToolUse:\n{}", entries.concat());
        let manifest = Manifest::parse(text.as_bytes(), &|_| true, Platform::HERE, &builtin::names());
        let event = case["fired"].as_str().unwrap_or("PreToolUse");
        let chosen = manifest.for_event(event, &["Bash", "shell"]);
        let launch = place.launch(event, PAYLOAD);
        let came = run_all(&[Part { whose: "hooks of X", entries: &chosen, launch, may_allow: true }]);
        let expect = case["expect"].as_str().unwrap_or("allow");
        let word = match expect.split(' ').next().unwrap() {
            _ if departs(&case) => Word::Continue,
            "allow" => Word::Allow,
            "ask" => Word::Ask,
            "deny" | "x" => Word::Deny,
            other => panic!("{id}: {other}"),
        };
        assert_eq!(came.word, word, "{id}: {came:?}");
        if let Some((_, number)) = expect.split_once('#') {
            assert!(came.reason.ends_with(&format!("#{}", &number[..1])), "{id}: {came:?}");
        }
        let is_told = id.contains("unknown") || id.contains("error") || id.contains("bad-json");
        assert_eq!(!came.notes.is_empty(), is_told, "{id}: {came:?}");
        assert_eq!(!manifest.problems.is_empty(), id.contains("unregistered"), "{id}: {:?}", manifest.problems);
        assert_eq!(ran(&place), [""; 0], "{id}: nothing runs behind a deny");
    }
}

#[test]
fn subprocess() {
    for case in cases("subprocess") {
        let (id, place) = (id(&case), Place::new());
        let stdout = case["stdout"].as_str().unwrap_or_default();
        let exit = case["exit"].as_u64().unwrap_or(0);
        match id {
            "D-subprocess-shell-windows" => {
                let manifest = Manifest::parse(
                    b"hooks:\n  PreToolUse:\n    - command: x\n",
                    &|_| true,
                    Platform::Windows,
                    &builtin::names(),
                );
                assert!(manifest.problems[0].message.contains("no shell reads it"));
            }
            "D-subprocess-14" => {
                let timeout = |line: &str| {
                    let text = format!("hooks:\n  PreToolUse:\n    - builtin: duet\n{line}");
                    Manifest::parse(text.as_bytes(), &|_| true, Platform::HERE, &builtin::names())
                };
                assert_eq!(timeout("").entries[0].timeout, Duration::from_secs(30));
                assert!(timeout("      timeout: 0\n").entries.is_empty(), "0 is an error here");
            }
            "D-subprocess-4" => {
                place.script("it", case["command"].as_str().unwrap());
                let came = place.came("PostToolUse", "    - script: it\n      timeout: 0.1\n", true);
                assert_eq!(came.word, Word::Continue, "where nothing is left to stop");
                assert!(came.notes[0].contains("took too long"), "{came:?}");
            }
            _ => {
                let slow = if case["timed_out"] == true { "sleep 9" } else { "" };
                place.script("it", &format!("echo '{stdout}'\n{slow}\nexit {exit}"));
                let came = place.came("PreToolUse", "    - script: it\n      timeout: 0.5\n", true);
                let word = match case["expect"].as_str().unwrap().split(' ').next().unwrap() {
                    "deny" => Word::Deny,
                    "continue" => Word::Continue,
                    "allow" if departs(&case) => Word::Continue,
                    other => panic!("{id}: {other}"),
                };
                assert_eq!(came.word, word, "{id}: {came:?}");
            }
        }
    }
}

#[test]
fn config_validation() {
    for case in cases("config_validation") {
        let id = id(&case);
        let hook = |key: &str| case["hook"][key].as_str();
        let event = hook("event").unwrap_or("PreToolUse");
        let mut keys = Vec::new();
        keys.extend(hook("command").map(|command| format!("command: [{command}]")));
        keys.extend(hook("type").filter(|kind| *kind != "subprocess").map(|kind| format!("type: {kind}")));
        keys.extend(hook("name").map(|name| format!("name: {name}")));
        let text = if case["hook"].is_object() {
            format!("hooks:\n  \"{event}\":\n    - {{{}}}\n", keys.join(", "))
        } else {
            "hooks:\n  Nope: []\n  Stop:\n    - script: a\n      timeout: x\n    - builtin: duett\n".to_owned()
        };
        let manifest = Manifest::parse(text.as_bytes(), &|_| true, Platform::HERE, &builtin::names());
        let least = match case["errors_at_least"].as_u64() {
            Some(least) => usize::try_from(least).unwrap(),
            None => texts(&case["errors"]).len() + usize::from(departs(&case)),
        };
        assert!(manifest.problems.len() >= least && least > 0, "{id}: {:?}", manifest.problems);
    }
}
