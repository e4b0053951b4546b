//! Manifests: the cases of other systems, and what is ours on top.

#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

use std::time::Duration;

use hooks::manifest::{Manifest, Platform, Severity};
use hooks::{Action, OnError, builtin};

fn read(yaml: &str) -> Manifest {
    Manifest::parse(yaml.as_bytes(), &|_| true, Platform::Unix, &builtin::names())
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
        (
            "hooks:\n  PreToolUse:\n    - script: a\n      matcher: \"*\"\n",
            "4:16 error skips PreToolUse: entry 1 under \"PreToolUse\" is skipped: \"matcher\" is a regular expression; leave \
             it out for every tool",
        ),
        (
            "hooks:\n  PreToolUse:\n    - script: a # x\0\n    - script: b\n",
            "3:20 error skips *: it is not valid YAML (found unprintable character)",
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

#[test]
fn t13_what_a_manifest_costs_is_bounded() {
    let many = |line: &str, count: usize| read(&format!("hooks:\n  PreToolUse:\n{}", line.repeat(count)));
    let manifest = many("    - script: a\n", 300);
    assert_eq!(manifest.entries.len(), 256);
    assert_eq!(manifest.problems.len(), 1);
    let problem = &manifest.problems[0];
    assert_eq!((problem.line, problem.skips.as_deref()), (259, Some("*")));
    assert_eq!(problem.message, "there are more than 256 hooks; this one and all after it are skipped");
    let manifest = many("    - {script: a.b, matcher: '('}\n", 300);
    assert_eq!(manifest.problems.len(), 257, "those that are skipped count");
    let keys: Vec<String> = (0..300).map(|key| format!("k{key}: 1")).collect();
    let manifest = many(&format!("    - {{script: a, {}}}\n", keys.join(", ")), 1);
    assert_eq!((manifest.entries.len(), manifest.problems.len()), (1, 257));
    assert_eq!(manifest.problems[256].skips.as_deref(), Some("*"));
    assert!(manifest.problems[256].message.contains("more problems"));
    for pattern in [r"\pL{99}", r"(a|\w){50}", "(?:x{900}){900}"] {
        let manifest = many(&format!("    - {{script: a, matcher: '{pattern}'}}\n"), 1);
        assert!(manifest.problems[0].message.contains("regular expression"), "{pattern}: {:?}", manifest.problems);
    }
    let long = format!("hooks:\n  PreToolUse:\n    - {{script: a, ? \"{}\" : 1}}\n", "ä".repeat(100_000));
    assert!(read(&long).problems[0].message.chars().count() <= 500);
}

#[test]
fn problems_stand_in_document_order() {
    let text = "hooks:\n  Stop:\n    - {script: a.b, x: 1}\n    - {script: a, x: 1}\n    - {}\nmore: 1\n";
    let lines: Vec<u32> = read(text).problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [3, 4, 5, 6]);
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

/// What is wrong in a manifest, how many hooks load all the same, and what the one problem says.
const ROWS: [(&str, usize, &str); 15] = [
    ("hooks: []\n", 0, "not a mapping of events"),
    ("hooks: text\n", 0, "not a mapping of events"),
    ("hooks: 3\n", 0, "not a mapping of events"),
    ("text\n", 0, "not a mapping"),
    ("hooks: {}\nhooks: {}\n", 0, "stands twice"),
    ("hooks: {}\n---\nhooks: {}\n", 0, "more than one document"),
    ("hooks:\n  pretooluse:\n    - script: a\n", 0, "perhaps PreToolUse"),
    ("hooks:\n  Stop: {script: a}\n", 0, "not a list of hooks"),
    ("hooks:\n  Stop:\n    - script: b.sh\n    - script: a\n", 1, "no extension"),
    ("hooks:\n  Stop:\n    - script: \"b\\0\"\n    - script: a\n", 1, "\\u{0}"),
    ("hooks:\n  Stop:\n    - {script: b, timeout: .nan}\n    - script: a\n", 1, "greater than 0"),
    ("hooks:\n  Stop:\n    - {script: b, timeout: [1]}\n    - script: a\n", 1, "greater than 0"),
    ("hooks:\n  Stop:\n    - {script: [b]}\n    - script: a\n", 1, "not a text"),
    ("hooks:\n  PreToolUse:\n    - {script: b, matcher: true}\n    - script: a\n", 1, "not a text"),
    ("hooks:\n  Stop:\n    - {command: []}\n    - script: a\n", 1, "the program first"),
];

#[test]
fn every_kind_of_error_is_one_problem_and_leaves_the_others() {
    for (yaml, entries, part) in ROWS {
        let manifest = read(yaml);
        assert_eq!(manifest.entries.len(), entries, "{yaml}: {:?}", manifest.problems);
        assert_eq!(manifest.problems.len(), 1, "{yaml}: {:?}", manifest.problems);
        assert!(manifest.problems[0].message.contains(part), "{yaml}: {:?}", manifest.problems);
        assert!(manifest.problems[0].skips.is_some(), "{yaml}");
    }
}
