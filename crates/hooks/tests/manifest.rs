//! Manifests: the cases of other systems, and what is ours on top.

#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

use std::time::Duration;

use hooks::manifest::{Manifest, Platform, Severity};
use hooks::matcher::Matcher;
use hooks::{Action, OnError, builtin};
use serde_json::Value;

/// Cases whose answer is another one here, each with the reason.
const DEPARTURES: [(&str, &str); 6] = [
    ("S-manifest_parse-script-shape-1", "the same refusal in other words"),
    ("S-manifest_parse-script-shape-2", "the same refusal in other words"),
    ("S-manifest_parse-script-shape-4", "the same refusal in other words"),
    (
        "S-manifest_parse-timeout-over-cap",
        "what is over the cap is clamped with a warning when it is read, not when it runs",
    ),
    (
        "S-manifest_parse-unknown-key-ignored",
        "`command` is a key of its own here, and an entry has exactly one of the three",
    ),
    ("S-matcher-8", "a pattern that leaves its anchor is no pattern"),
];

fn cases(group: &str) -> Vec<Value> {
    let text = include_str!("fixtures/script-hooks.json");
    let all: Value = serde_json::from_str(text).unwrap();
    let cases =
        all["cases"].as_array().unwrap().iter().filter(|case| case["group"] == group).cloned().collect::<Vec<_>>();
    assert!(!cases.is_empty(), "{group}");
    cases
}

fn departs(case: &Value) -> bool {
    DEPARTURES.iter().any(|(id, _)| case["id"] == *id)
}

fn read(yaml: &str) -> Manifest {
    Manifest::parse(yaml.as_bytes(), &|_| true, Platform::Unix, &builtin::names())
}

#[test]
fn manifests_of_the_corpus() {
    for case in cases("manifest_parse").iter().filter(|case| !departs(case)) {
        let (id, input, expect) = (&case["id"], &case["input"], &case["expect"]);
        let platform = if input["platform"] == "win32" { Platform::Windows } else { Platform::Unix };
        let exists = input["script_exists"] != false;
        let manifest =
            Manifest::parse(input["yaml"].as_str().unwrap().as_bytes(), &|_| exists, platform, &builtin::names());
        let names: Vec<String> = manifest.entries.iter().map(|entry| entry.action.name()).collect();
        if let Some(specs) = expect["specs"].as_array() {
            assert_eq!(names, specs.iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>(), "{id}");
        }
        if let Some(count) = expect["warnings"].as_u64() {
            assert_eq!(manifest.problems.len() as u64, count, "{id}: {:?}", manifest.problems);
        }
        for part in expect["warning_contains"].as_array().into_iter().flatten() {
            let part = part.as_str().unwrap();
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
fn matchers_of_the_corpus() {
    for case in cases("matcher") {
        let (pattern, subject) = (case["matcher"].as_str().unwrap(), case["subject"].as_str().unwrap());
        let matched = Matcher::new(pattern).is_ok_and(|matcher| matcher.matches(&[subject]));
        assert_eq!(matched, case["match"].as_bool().unwrap() != departs(&case), "{}", case["id"]);
    }
}

#[test]
fn every_departure_is_a_case() {
    let ids: Vec<Value> =
        ["manifest_parse", "matcher"].into_iter().flat_map(cases).map(|case| case["id"].clone()).collect();
    for (id, why) in DEPARTURES {
        assert!(ids.iter().any(|known| known == id) && !why.is_empty(), "{id}");
    }
}

/// `line:column severity skips: message`, a line for each problem.
fn problems(yaml: &str) -> String {
    let line = |problem: &hooks::manifest::Problem| {
        let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
        let skips = problem.skips.as_deref().map(|event| format!(" skips {event}")).unwrap_or_default();
        format!("{}:{} {severity}{skips}: {}", problem.line, problem.column, problem.message)
    };
    read(yaml).problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn problems_say_where_and_what_to_do() {
    for (yaml, expected) in [
        (
            "hooks:\n  PreToolUs:\n    - script: a\n",
            "2:3 error skips *: \"PreToolUs\" is not an event, perhaps PreToolUse; events are PreToolUse, PostToolUse, \
             PostToolUseFailure, UserPromptSubmit, SessionStart, SessionEnd, Stop, SubagentStop, PreCompact, Notification, \
             PermissionRequest",
        ),
        (
            "hooks:\n  PreToolUse:\n    - builtin: duett\n",
            "3:16 error skips PreToolUse: entry 1 under \"PreToolUse\" is skipped: there is no builtin \"duett\", perhaps \
             duet; there are duet, memory-capture",
        ),
        (
            "hooks:\n  Stop:\n    - script: a\n      # ä🦀\n      timeouts: 3\n",
            "5:7 error: \"timeouts\" is not a key here, perhaps timeout; it says nothing. Keys are script, builtin, \
             command, matcher, timeout, on_error",
        ),
        (
            "hooks:\n  PreToolUse:\n    - script: a\n      builtin: duet\n",
            "4:7 error skips PreToolUse: entry 1 under \"PreToolUse\" is skipped: it names more than one of \"script\", \
             \"builtin\" and \"command\"",
        ),
        (
            "hooks:\n  Stop:\n    - command: ls -l\n",
            "3:16 error skips Stop: entry 1 under \"Stop\" is skipped: \"command\" is not a list: [program, argument]; no \
             shell reads it",
        ),
        (
            "hooks:\n  PreToolUse:\n    - script: a\n      on_error: warn\n",
            "4:17 error skips PreToolUse: entry 1 under \"PreToolUse\" is skipped: \"on_error\" is one of allow, ask, deny",
        ),
        (
            "hooks:\n  Stop:\n    - script: a\n      timeout: 1e30\n",
            "4:16 warning: \"timeout\" counts as 600 seconds, the most",
        ),
        (
            "hooks:\n  Stop:\n    - script: a\n      matcher: Bash\n",
            "4:7 warning: \"Stop\" is about no tool, so that the matcher is not asked; leave it out",
        ),
        (
            "more: 1\nhooks:\n  Stop:\n    - script: \"a\\u202eb\"\n",
            "1:1 error: \"more\" is not a key here; it says nothing. Keys are hooks\n4:15 error skips Stop: entry 1 under \
             \"Stop\" is skipped: \"script\" is \"a\\u{202e}b\" and must be a bare file name: ASCII letters, digits, `-` and \
             `_`, no folder, no extension",
        ),
        ("hooks: &a\n  Stop: *a\n", "2:9 error skips *: it uses an alias (`*name`); write the value out"),
        ("", ""),
        ("# nothing\n", ""),
        ("hooks: {}\n", ""),
    ] {
        assert_eq!(problems(yaml), expected, "{yaml}");
    }
}

#[test]
fn a_bad_entry_leaves_its_siblings() {
    let manifest = read(
        "\u{feff}hooks:\r\n  PreToolUse:\r\n    - script: a\r\n      nonsense: 1\r\n      on_error: deny\r\n    - {}\r\n    - command: [ruff, \
         check, 3]\r\n      matcher: Write|Edit\r\n      timeout: 0.25\r\n  PostToolUse:\r\n    - builtin: memory-capture\r\n",
    );
    let shown: Vec<_> =
        manifest.entries.iter().map(|it| (it.event, it.action.clone(), it.timeout, it.on_error)).collect();
    let words = ["ruff", "check", "3"].map(str::to_owned).to_vec();
    assert_eq!(
        shown,
        [
            (
                "PreToolUse",
                Action::Script { name: "a".into(), file: "a.sh".into() },
                Duration::from_secs(30),
                Some(OnError::Deny)
            ),
            ("PreToolUse", Action::Command(words), Duration::from_millis(250), None),
            ("PostToolUse", Action::Builtin("memory-capture".into()), Duration::from_secs(30), None),
        ]
    );
    assert_eq!(manifest.problems.len(), 2);
    let fits = |event, tool: &[&str]| manifest.for_event(event, tool).len();
    assert_eq!(fits("PreToolUse", &["Bash", "shell"]), 1);
    assert_eq!(fits("PreToolUse", &["Write", "write"]), 2);
    assert_eq!(fits("PostToolUse", &["Bash"]), 1);
    assert_eq!(fits("Stop", &[]), 0);
}

#[test]
fn t13_a_hostile_manifest_is_refused_at_once() {
    let bomb = (1..30).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
        let before = n - 1;
        text + &format!("a{n}: &a{n} [*a{before}, *a{before}, *a{before}, *a{before}]\n")
    });
    for text in
        [bomb, "[".repeat(200_000), "? ".repeat(100_000), "- ".repeat(100_000), "a: b\n".repeat(50_000), "\u{0}".into()]
    {
        let manifest = read(&text);
        assert!(manifest.entries.is_empty());
        assert_eq!(manifest.problems.len(), 1, "{:?}", manifest.problems);
        assert_eq!(manifest.problems[0].skips.as_deref(), Some("*"));
    }
    assert_eq!(Manifest::parse(b"hooks:\n  \xff", &|_| true, Platform::Unix, &[]).problems[0].line, 2);
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "(hooks:\n|  [A-Za-z]{4,11}:\n|    - |script: |matcher: |\\[|\\{|\"|'|\\||>|ä|\t|\r\n|#|&a|\\*a|!t|[a-z]{1,3}|[0-9.]{1,3}|: |\n){0,40}") {
        let manifest = read(&text);
        for problem in &manifest.problems {
            proptest::prop_assert!(problem.span.start <= problem.span.end && problem.span.end <= text.len());
            proptest::prop_assert!(text.is_char_boundary(problem.span.start) && text.is_char_boundary(problem.span.end));
            proptest::prop_assert!(!problem.message.chars().any(char::is_control));
        }
    }
}
