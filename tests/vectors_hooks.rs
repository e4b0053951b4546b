//! The cases of other systems' hooks, each in front of the real programs. Where our answer is another one, the comment
//! says which and why. The groups about manifests, matchers and trust are walked by the tests of the hooks crate.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/terminal.rs"]
mod terminal;
#[path = "support/trust.rs"]
mod trust;

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use hook::{Project, Said};
use hooks::manifest::{Manifest, Platform};
use hooks::{Tree, builtin};
use serde_json::{Value, json};
use terminal::Sitting;
use trust::{marks, send, shell, trust, write_hooks};

/// Groups that the hooks crate walks case by case, in `tests/manifest.rs` and `tests/trust.rs`.
const IN_THE_CRATE: [&str; 5] = ["manifest_parse", "matcher", "digest", "trust_store", "session_notice"];

/// Groups about what the two builtins judge and keep, which neither does yet.
const OF_BUILTINS: [&str; 9] = [
    "classify",
    "is_destructive_bash",
    "extra_patterns",
    "paths",
    "duet",
    "verdict_parse",
    "agent",
    "privacy",
    "memory",
];

/// The user's hooks under one event: `NAME: SCRIPT`, each of which also leaves its name in a file, and what each entry
/// has besides.
struct Mine<'a> {
    project: &'a Project,
    event: &'a str,
}

impl Mine<'_> {
    fn hooks(&self, hooks: &[(&str, &str, &str)]) -> &Self {
        let mut entries = format!("hooks:\n  {}:\n", self.event);
        for (name, more, script) in hooks {
            entries = entries + "    - script: " + name + "\n" + more;
            let mark = self.project.base().join("mark");
            let script = format!("echo {name} >> {}\n{script}\n", mark.display());
            self.project.write_home(&format!(".config/ruleline/hooks/{name}.sh"), script);
        }
        self.project.write_home(".config/ruleline/hooks/hooks.yaml", entries);
        self
    }

    fn ran(&self) -> Vec<String> {
        marks(&self.project.base().join("mark"))
    }
}

fn before(project: &Project) -> Mine<'_> {
    Mine { project, event: "PreToolUse" }
}

fn after(project: &Project) -> Mine<'_> {
    Mine { project, event: "PostToolUse" }
}

/// What a shell call comes to with these hooks, each `NAME: SCRIPT`.
fn with(project: &Project, hooks: &[(&str, &str)]) -> Said {
    let hooks: Vec<_> = hooks.iter().map(|(name, script)| (*name, "", *script)).collect();
    before(project).hooks(&hooks);
    shell(project, "s", "ls")
}

fn ran_a_tool(project: &Project) -> Said {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x"});
    send(project, "s", "PostToolUse", &call)
}

/// The person is told, and nothing is decided.
fn is_told(said: &Said, part: &str) {
    let answer = said.answer();
    assert!(answer["systemMessage"].as_str().unwrap_or_default().contains(part), "{part}: {said:?}");
    assert!(answer["hookSpecificOutput"]["permissionDecision"].is_null(), "{said:?}");
}

fn listed(project: &Project, words: &[&str]) -> Said {
    let state = project.state();
    project.run(&[&["hooks"], words, &["--state-dir", state.to_str().unwrap()]].concat(), &[], b"")
}

/// What is wrong with a manifest: `LINE: MESSAGE`; nothing of it may be left to run.
fn wrong(yaml: &str) -> Vec<String> {
    let manifest = Manifest::parse(yaml.as_bytes(), &|_| true, Platform::Unix, &builtin::names());
    assert!(manifest.entries.is_empty(), "{yaml}");
    manifest.problems.iter().map(|it| format!("{}: {}", it.line, it.message)).collect()
}

fn is(said: &Said, decision: &str, part: &str) {
    assert_eq!(said.decision(), decision, "{said:?}");
    assert!(part.is_empty() || said.reason().contains(part), "{part}: {said:?}");
}

const ALLOW: &str = r#"echo '{"decision":"allow","reason":"because one"}'"#;
const ALLOW_TWO: &str = r#"echo '{"decision":"allow","reason":"because two"}'"#;
const ASK: &str = r#"echo '{"decision":"ask","reason":"because one"}'"#;
const ASK_TWO: &str = r#"echo '{"decision":"ask","reason":"because two"}'"#;
const DENY: &str = r#"echo '{"decision":"deny","reason":"nope"}'"#;

type Case = (&'static str, fn(&Project));

const SCOPES: [Case; 5] = [
    ("S-scopes-profile-first", |project| {
        before(project).hooks(&[("audit", "", "")]);
        let format = format!("echo format >> {}\n", project.base().join("mark").display());
        write_hooks(&project.root, "  PreToolUse:\n    - script: format\n", &[("format.sh", &format)]);
        trust(&project.state(), &project.root);
        is(&shell(project, "s", "ls"), "silent", "");
        assert_eq!(before(project).ran(), ["audit", "format"]);
        let list = listed(project, &[]).stdout;
        assert!(list.find("audit.sh").unwrap() < list.find("format.sh").unwrap(), "{list}");
    }),
    ("S-scopes-profile-no-grant", |project| {
        is(&with(project, &[("audit", "exit 2")]), "deny", "audit");
        assert!(!project.state().join("grants").exists());
    }),
    ("S-scopes-none", |project| {
        let said = shell(project, "s", "ls");
        assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    }),
    ("S-scopes-no-manifest", |project| {
        project.write(".ruleline/hooks/notes.txt", "x");
        trust(&project.state(), &project.root);
        is(&shell(project, "s", "ls"), "silent", "");
        let said = shell(project, "s", "ls");
        assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    }),
    // Here every root around has its say: a folder inside takes no guard of the outer one away.
    ("S-scopes-nearest-ancestor-wins", |project| {
        let inner = project.root.join("sub");
        for (root, script) in [(&project.root, "echo outer >&2; exit 2\n"), (&inner, "exit 0\n")] {
            write_hooks(root, "  PreToolUse:\n    - script: it\n", &[("it.sh", script)]);
            trust(&project.state(), root);
        }
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": inner});
        is(&send(project, "s", "PreToolUse", &call), "deny", "outer");
    }),
];

/// A project with two granted files.
fn granted(project: &Project) {
    let long = format!("exit 0\n# {}\n", "x".repeat(500));
    write_hooks(&project.root, "  PreToolUse:\n    - script: it\n", &[("it.sh", &long)]);
    project.write(".ruleline/hooks/lib/common.sh", "common\n");
    trust(&project.state(), &project.root);
}

const COMMANDS: [Case; 5] = [
    ("S-commands-4", |project| {
        granted(project);
        let shown = Sitting::hooks(project, &["untrust"]).answer("[y/N] ", "y").run();
        assert_eq!(shown.code, 0, "{shown:?}");
    }),
    ("S-commands-5", |project| assert_eq!(listed(project, &["list", "x"]).code, Some(2))),
    ("S-commands-9", |project| {
        granted(project);
        for name in ["a", "b", "c", "d", "e", "f", "g"] {
            project.write(&format!(".ruleline/hooks/{name}.sh"), "");
        }
        let list = listed(project, &["list"]).stdout;
        for part in ["changed since they were trusted", "none of them runs", "a.sh", "more)"] {
            assert!(list.contains(part), "{part}: {list}");
        }
    }),
    // Here a long line is not cut either: it goes on in the next one.
    ("S-commands-10", |project| {
        granted(project);
        let shown = listed(project, &["show"]).stdout;
        let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("{part}: {shown}"));
        assert!(at("== hooks.yaml ") < at("== it.sh ") && at("== it.sh ") < at("== lib/common.sh "));
        assert!(shown.matches('x').count() >= 500, "{shown}");
        assert!(shown.lines().any(|line| line.starts_with("3 files. ")), "{shown}");
    }),
    ("S-commands-12", |project| {
        granted(project);
        trust::untrust(&project.state(), &project.root);
        let short = Tree::read(&project.root).unwrap().unwrap().digest.short();
        let shown = Sitting::hooks(project, &["trust"]).answer("exactly these bytes: ", &short).run();
        assert!(shown.text.contains("They run in sessions that begin from now on."), "{shown:?}");
    }),
];

const RUN: [Case; 10] = [
    ("S-run-0", |project| is(&with(project, &[("it", "exit 0")]), "silent", "")),
    // Here a guard that gave no answer in time is no consent: a person decides.
    ("S-run-4", |project| {
        before(project).hooks(&[("wedged", "      timeout: 0.2\n", "sleep 20; exit 1")]);
        is(&shell(project, "s", "ls"), "ask", "wedged");
    }),
    ("S-run-5", |project| {
        before(project).hooks(&[("it", "      timeout: 0.2\n", "trap 'exit 2' TERM; sleep 20; exit 2")]);
        is(&shell(project, "s", "ls"), "ask", "it (");
    }),
    // Here a signal is told as one.
    ("S-run-6", |project| is(&with(project, &[("it", "kill -SEGV $$")]), "ask", "signal 11")),
    ("S-run-7", |project| {
        before(project).hooks(&[("it", "", "sleep 5")]);
        let state = project.state();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ruleline"));
        command.args(["hook", "--agent", "claude", "--state-dir"]).arg(state).env_clear();
        command.env("RULELINE_TEST_HOME", &project.home).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let payload = project.payload("Bash", &json!({"command": "ls"})).to_string();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
        while before(project).ran().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        assert_eq!(String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout), "", "no outcome is made up");
    }),
    ("S-run-8", |project| {
        let entries = "hooks:\n  PreToolUse:\n    - command: [no-such-program-here]\n";
        project.write_home(".config/ruleline/hooks/hooks.yaml", entries);
        is(&shell(project, "s", "ls"), "ask", "no-such-program-here");
    }),
    ("S-run-10", |project| {
        before(project).hooks(&[("it", "", "exec <&-; exit 0")]);
        is(&shell(project, "s", &format!("echo {}", "x".repeat(300_000))), "silent", "");
    }),
    // Here it is seen when the manifest is read, and told as the session begins.
    ("S-run-12", |project| {
        project.write_home(".config/ruleline/hooks/it.sh/x", "");
        project.write_home(".config/ruleline/hooks/hooks.yaml", "hooks:\n  PreToolUse:\n    - script: it\n");
        let said = send(project, "s", "SessionStart", &json!({"source": "startup"}));
        assert!(said.context().contains("there is no it.sh"), "{said:?}");
    }),
    // Here a bash that is missing where the settings say is looked for in the usual places, never on the PATH. On a machine
    // without any the hook cannot be started, which is `S-run-8`.
    ("S-run-13", |project| {
        project.write_home(".config/ruleline/config.toml", "interpreters = [\"/nowhere/bash\"]\n");
        is(&with(project, &[("it", "exit 2")]), "deny", "it (");
    }),
    // Here the deadline bounds the wait as well: the answer is there while the grandchild still sleeps.
    ("S-run-14", |project| {
        let late = project.base().join("late");
        let script = format!("setsid sh -c 'sleep 3; touch {}' &\nsleep 20", late.display());
        before(project).hooks(&[("it", "      timeout: 0.3\n", &script)]);
        is(&shell(project, "s", "ls"), "ask", "");
        assert!(!late.exists());
    }),
];

const GATE: [Case; 8] = [
    ("S-gate-post-only", |project| {
        after(project).hooks(&[("it", "", "exit 2")]);
        assert_eq!(shell(project, "s", "ls").stdout, "");
        assert!(after(project).ran().is_empty());
    }),
    ("S-gate-matching-in-order", |project| {
        before(project).hooks(&[
            ("writes-only", "      matcher: Write\n", ""),
            ("shells-only", "      matcher: Bash\n", ""),
            ("everything", "", ""),
        ]);
        is(&shell(project, "s", "ls"), "silent", "");
        assert_eq!(before(project).ran(), ["shells-only", "everything"]);
    }),
    ("S-gate-first-block-wins", |project| {
        is(&with(project, &[("a", "echo A >&2; exit 2"), ("b", "echo B >&2; exit 2")]), "deny", ": A");
        assert_eq!(before(project).ran(), ["a"]);
    }),
    ("S-gate-all-ok", |project| {
        assert_eq!(with(project, &[("a", ""), ("b", "")]).stdout, "");
        assert_eq!(before(project).ran(), ["a", "b"]);
    }),
    ("S-gate-post-failure", |project| {
        after(project).hooks(&[("a", "", "echo F >&2; exit 1"), ("b", "", "")]);
        let said = ran_a_tool(project);
        is_told(&said, "exit status 1: F");
        assert_eq!(after(project).ran(), ["a", "b"]);
    }),
    // Here the first that blocks ends the series after a tool too: its reason is what the model is told.
    ("S-gate-post-block", |project| {
        after(project).hooks(&[("a", "", "echo R >&2; exit 2"), ("b", "", "")]);
        let answer = ran_a_tool(project).answer();
        assert_eq!(answer["decision"], "block");
        assert_eq!(answer["reason"], "a (the user's hooks): R");
    }),
    ("S-gate-notice-dedup", |project| {
        let said = with(project, &[("it", "echo F >&2; exit 1")]);
        is_told(&said, ": F");
        assert_eq!(shell(project, "s", "ls").stdout, "");
    }),
    // Here a person decides, with the reason.
    ("S-gate-missing-session-cwd", |project| {
        before(project).hooks(&[("it", "", "exit 0")]);
        let gone = project.base().join("gone");
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": gone});
        is(&send(project, "s", "PreToolUse", &call), "ask", "not there any more");
    }),
];

const INTEROP: [Case; 2] = [
    ("S-interop-1", |project| {
        let script = "read -r call\n[[ $call == *'rm -rf /'* ]] && { echo 'BLOCKED: rm -rf' >&2; exit 2; }\nexit 0";
        before(project).hooks(&[("block-dangerous", "", script)]);
        is(&shell(project, "s", "rm -rf /"), "deny", "BLOCKED");
        is(&shell(project, "s", "ls"), "silent", "");
    }),
    ("S-interop-2", |project| {
        let script = "read -r call\n[[ $call == *'/.env\"'* ]] && exit 2\nexit 0";
        before(project).hooks(&[("block-env-read", "      matcher: read\n", script)]);
        let read = |name: &str| {
            let call = json!({"tool_name": "Read", "tool_input": {"file_path": project.root.join(name)}});
            send(project, "s", "PreToolUse", &call).decision()
        };
        assert_eq!([read(".env"), read("env")], ["deny", "silent"]);
    }),
];

const RUNNER: [Case; 15] = [
    ("D-runner-allow", |project| is(&with(project, &[("a", ALLOW)]), "allow", "")),
    ("D-runner-deny", |project| is(&with(project, &[("a", DENY)]), "deny", "nope")),
    ("D-runner-ask", |project| is(&with(project, &[("a", ASK)]), "ask", "because one")),
    ("D-runner-deny-after-allow", |project| is(&with(project, &[("a", ALLOW), ("b", DENY)]), "deny", "nope")),
    ("D-runner-ask-then-allow", |project| is(&with(project, &[("a", ASK), ("b", ALLOW)]), "ask", "")),
    ("D-runner-two-asks", |project| is(&with(project, &[("a", ASK), ("b", ASK_TWO)]), "ask", "because two")),
    ("D-runner-two-allows", |project| is(&with(project, &[("a", ALLOW), ("b", ALLOW_TWO)]), "allow", "because one")),
    ("D-runner-deny-stops", |project| {
        is(&with(project, &[("a", DENY), ("x", "")]), "deny", "");
        assert_eq!(before(project).ran(), ["a"]);
    }),
    ("D-runner-ask-then-deny", |project| is(&with(project, &[("a", ASK), ("b", DENY)]), "deny", "nope")),
    // Here nothing is said, so that what the agent itself allows or asks still holds; so in all that follow.
    ("D-runner-all-continue", |project| {
        is(&with(project, &[("a", r#"echo '{"decision":"continue","reason":"x"}'"#)]), "silent", "");
    }),
    ("D-runner-unknown-decision", |project| {
        let said = with(project, &[("a", r#"echo '{"decision":"DENY"}'"#)]);
        is_told(&said, "DENY");
    }),
    ("D-runner-hook-error", |project| {
        let said = with(project, &[("a", "exit 1")]);
        is_told(&said, "it failed");
    }),
    ("D-runner-unregistered-builtin", |project| {
        let entries = "hooks:\n  PreToolUse:\n    - builtin: does-not-exist\n";
        project.write_home(".config/ruleline/hooks/hooks.yaml", entries);
        let said = send(project, "s", "SessionStart", &json!({"source": "startup"}));
        assert!(said.context().contains("does-not-exist"), "{said:?}");
        is(&shell(project, "s", "ls"), "silent", "");
    }),
    ("D-runner-other-event", |project| {
        before(project).hooks(&[("a", "", DENY)]);
        assert_eq!(send(project, "s", "SessionStart", &json!({"source": "startup"})).stdout, "");
        assert!(before(project).ran().is_empty());
    }),
    ("D-runner-bad-json", |project| is_told(&with(project, &[("a", "echo not json")]), "not one JSON object")),
];

const SUBPROCESS: [Case; 8] = [
    // Here no shell reads a command, on any system: it is a list of words.
    ("D-subprocess-shell-windows", |_| {
        assert!(wrong("hooks:\n  PreToolUse:\n    - command: x\n")[0].contains("is not a list"));
    }),
    ("D-subprocess-3", |project| is(&with(project, &[("a", DENY)]), "deny", "nope")),
    // Here what gave no answer in time is no consent.
    ("D-subprocess-4", |project| {
        before(project).hooks(&[("a", "      timeout: 0.1\n", "sleep 5")]);
        is(&shell(project, "s", "ls"), "ask", "");
    }),
    // Here the stricter of the two wins: a hook that failed allows nothing.
    ("D-subprocess-6", |project| {
        let said = with(project, &[("a", r#"echo '{"decision":"allow"}'; exit 1"#)]);
        is_told(&said, "it failed");
    }),
    ("D-subprocess-7", |project| is(&with(project, &[("a", r#"echo '{"decision":"deny"}'; exit 2"#)]), "deny", "")),
    ("D-subprocess-9", |project| {
        before(project).hooks(&[("a", "      timeout: 0.5\n", &format!("{DENY}; exec >&-; sleep 20"))]);
        is(&shell(project, "s", "ls"), "deny", "nope");
    }),
    ("D-subprocess-10", |project| is(&with(project, &[("a", r#"echo '{"decision":""}'"#)]), "silent", "")),
    // Here 0 is an error: nobody means it.
    ("D-subprocess-14", |_| {
        let yaml = "hooks:\n  Stop:\n    - script: a\n";
        let manifest = Manifest::parse(yaml.as_bytes(), &|_| true, Platform::Unix, &[]);
        assert_eq!(manifest.entries[0].timeout, Duration::from_secs(30));
        assert!(wrong(&format!("{yaml}      timeout: 0\n"))[0].starts_with("4: "));
    }),
];

const VALIDATION: [Case; 5] = [
    ("D-config_validation-0", |_| {
        let told = wrong("hooks:\n  BadEvent:\n    - command: [echo]\n");
        assert!(told[0].starts_with("2: \"BadEvent\" is not an event"), "{told:?}");
    }),
    // Here the kind of an entry is its key.
    ("D-config_validation-1", |_| {
        let told = wrong("hooks:\n  PreToolUse:\n    - badtype: echo\n");
        assert!(told[0].contains("it names no \"script\""), "{told:?}");
    }),
    ("D-config_validation-5", |_| {
        let told = wrong("hooks:\n  \"\":\n    - command: [x]\n");
        assert!(told[0].starts_with("2: \"\" is not an event"), "{told:?}");
    }),
    // Here such an entry is wrong, aloud, and counts for nothing.
    ("D-config_validation-7", |_| {
        let told = wrong("hooks:\n  PreToolUse:\n    - name: duet\n");
        assert!(told[0].contains("it names no \"script\""), "{told:?}");
    }),
    ("D-config_validation-collect-all", |_| {
        let yaml = "hooks:\n  BadEvent: []\n  Stop:\n    - script: a\n      timeout: -1\n    - builtin: duett\n";
        assert!(wrong(yaml).len() >= 3);
    }),
];

/// Walks the cases of one group, and holds that there are no others.
fn walk(group: &str, cases: &[Case]) {
    let expected: BTreeSet<String> = ids(group);
    assert_eq!(cases.iter().map(|(id, _)| (*id).to_owned()).collect::<BTreeSet<_>>(), expected);
    for (id, case) in cases {
        eprintln!("{id}");
        case(&Project::new());
    }
}

fn corpus() -> Vec<Value> {
    let text = include_str!("../crates/hooks/tests/fixtures/script-hooks.json");
    let all: Value = serde_json::from_str(text).unwrap();
    all["cases"].as_array().unwrap().clone()
}

fn ids(group: &str) -> BTreeSet<String> {
    let of_group = corpus().into_iter().filter(|case| case["group"] == group);
    of_group.map(|case| case["id"].as_str().unwrap().to_owned()).collect()
}

const WALKED: [(&str, &[Case]); 8] = [
    ("scopes", &SCOPES),
    ("commands", &COMMANDS),
    ("run", &RUN),
    ("gate", &GATE),
    ("interop", &INTEROP),
    ("runner", &RUNNER),
    ("subprocess", &SUBPROCESS),
    ("config_validation", &VALIDATION),
];

#[test]
fn every_case_has_its_place() {
    let known: BTreeSet<&str> = WALKED.iter().map(|(group, _)| *group).chain(IN_THE_CRATE).chain(OF_BUILTINS).collect();
    for case in corpus() {
        assert!(known.contains(case["group"].as_str().unwrap()), "{}", case["id"]);
    }
    for name in ["manifest.rs", "trust.rs"] {
        assert!(fs::exists(format!("{}/crates/hooks/tests/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    }
}

/// A test for each group, so that they run beside each other.
macro_rules! groups {
    ($($name:ident: $group:literal;)*) => {$(
        #[test]
        fn $name() {
            let (group, cases) = WALKED.iter().find(|(group, _)| *group == $group).unwrap();
            walk(group, cases);
        }
    )*};
}

groups! {
    whose_hooks_run: "scopes";
    what_the_command_takes_and_says: "commands";
    what_a_run_comes_to: "run";
    which_hooks_an_event_runs: "gate";
    scripts_of_other_tools_work: "interop";
    the_strictest_answer_wins: "runner";
    what_a_program_prints_counts: "subprocess";
    what_is_wrong_is_told: "config_validation";
}
