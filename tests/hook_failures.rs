//! Whatever comes in and whatever breaks, the hook answers: never silence where it could not judge.

#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;

use hook::Project;
use serde_json::json;

const CLAUDE: [&str; 3] = ["pre-edit", "--agent", "claude"];

fn deep(open: &str, count: usize) -> Vec<u8> {
    format!("{{\"tool_name\":\"Write\",\"tool_input\":{}", open.repeat(count)).into_bytes()
}

#[test]
fn s15_malformed_input_of_every_kind_asks_with_a_reason() {
    let project = Project::new();
    let utf16: Vec<u8> =
        project.payload_write("a", "x").to_string().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let whole = project.payload_write("a", "x").to_string();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("blank", b" \n\t".to_vec()),
        ("utf-16", utf16),
        ("garbage", vec![0x80, 0xff, 0x00, 0x07, 0xfe]),
        ("truncated", whole.as_bytes()[..whole.len() / 2].to_vec()),
        ("two objects", format!("{whole}{whole}").into_bytes()),
        ("array", b"[1,2]".to_vec()),
        ("null", b"null".to_vec()),
        ("text", b"\"x\"".to_vec()),
        ("number", b"7".to_vec()),
        ("nul", vec![0; 100]),
        ("deep objects", deep("{\"a\":", 100_000)),
        ("deep arrays", deep("[", 1_000_000)),
        ("no tool", b"{}".to_vec()),
        ("wrong types", b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Write\",\"tool_input\":[1]}".to_vec()),
        (
            "wrong path",
            json!({"tool_name": "Write", "tool_input": {"file_path": 3, "content": "x"}}).to_string().into(),
        ),
        (
            "wrong content",
            json!({"tool_name": "Write", "tool_input": {"file_path": "a", "content": {}}}).to_string().into(),
        ),
        (
            "wrong cwd",
            json!({"cwd": 1, "tool_name": "Write", "tool_input": {"file_path": "a", "content": "x"}})
                .to_string()
                .into(),
        ),
    ];
    for (name, stdin) in cases {
        let said = project.hook(&CLAUDE, &stdin);
        assert_eq!(said.decision(), "ask", "{name}: {said:?}");
        assert!(said.reason().len() > 30, "{name}: {said:?}");
    }
}

#[test]
fn a_path_of_which_the_file_is_not_known_asks() {
    let project = Project::new();
    let through = format!("/proc/1/root{}/a", project.root.display());
    let said = project
        .hook(&CLAUDE, json!({"tool_name": "Write", "tool_input": {"file_path": through, "content": "x"}}).to_string());
    assert_eq!(said.decision(), "ask", "{said:?}");
    assert!(said.reason().contains("/proc"), "{said:?}");
    // A process whose working folder is gone.
    let gone = project.root.join("gone");
    std::fs::create_dir(&gone).unwrap();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "rmdir \"$PWD\"; exec \"$0\" hook --agent claude --no-log", env!("CARGO_BIN_EXE_ruleline")]);
    command.current_dir(&gone).env("RULELINE_TEST_HOME", &project.home);
    let relative = json!({"tool_name": "Write", "tool_input": {"file_path": "a", "content": "x"}}).to_string();
    let said = hook::say(command, relative.as_bytes());
    assert_eq!(said.decision(), "ask", "{said:?}");
    assert!(said.reason().contains("working folder"), "{said:?}");
}

#[test]
fn s16_an_answer_that_cannot_be_written_blocks() {
    let project = Project::with_rules("[[rule]]\nid = 'r'\npaths = ['a']\n");
    let say = |words: &[&str], file: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" >/dev/full", env!("CARGO_BIN_EXE_ruleline")]).args(words);
        command.current_dir(&project.root).env("RULELINE_TEST_HOME", &project.home);
        hook::say(command, project.payload_write(file, "x").to_string().as_bytes())
    };
    let hook = ["hook", "--agent", "claude", "--no-log"];
    let refused = say(&hook, "a");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("no change of a is allowed"), "{refused:?}");
    assert_eq!(say(&hook, "b").code, Some(0), "where nothing is to be said, nothing is lost");
    assert_eq!(say(&["check"], "a").code, Some(2));
}

#[test]
fn s16_a_payload_over_the_cap_asks_and_is_read_to_its_end() {
    let project = Project::new();
    let said = project.hook(&CLAUDE, vec![b'x'; 100 << 20]);
    assert_eq!(said.decision(), "ask");
    assert!(said.reason().contains("64 MiB"), "{said:?}");
}

#[test]
fn what_can_be_read_is_read_through() {
    let project = Project::new();
    let path = project.root.join(".claude/settings.json").to_str().unwrap().to_owned();
    let plain = json!({"hook_event_name": "PreToolUse", "cwd": project.root, "tool_name": "Write",
        "tool_input": {"file_path": path, "content": "MARK"}})
    .to_string();
    for (name, stdin) in [
        ("bom", format!("\u{feff}{plain}")),
        ("raw controls", plain.replace("MARK", "a\u{1}b\tc\nd")),
        ("lone surrogate", plain.replace("MARK", "\\ud800")),
    ] {
        let said = project.hook(&CLAUDE, stdin);
        assert_eq!(said.decision(), "ask", "{name}");
        assert!(said.reason().contains("settings of Claude Code"), "{name} is judged: {said:?}");
    }
}

#[test]
fn s16_a_panic_anywhere_asks_with_a_reason_and_is_noted() {
    let project = Project::new();
    let state = project.state();
    for place in ["parse", "judge", "decide"] {
        for (agent, expected) in [("claude", "ask"), ("codex", "deny")] {
            let words = ["hook", "--agent", agent, "--state-dir", state.to_str().unwrap()];
            let fault = format!("panic@{place}");
            let payload = project.payload_write("a", "x").to_string();
            let said = project.run(&words, &[("RULELINE_TEST_FAIL", &fault)], payload.as_bytes());
            assert_eq!(said.decision(), expected, "{place}: {said:?}");
            assert!(said.reason().contains("error of ruleline itself"), "{said:?}");
        }
    }
    let noted = std::fs::read_to_string(state.join("problems.log")).unwrap();
    assert_eq!(noted.lines().count(), 6, "{noted}");
    let columns = |line: &str| line.splitn(4, ' ').map(str::to_owned).collect::<Vec<_>>();
    for line in noted.lines().map(columns) {
        assert!(line[0].parse::<u64>().is_ok() && ["claude", "codex"].contains(&line[1].as_str()), "{line:?}");
        // What failed while the payload was read is not known to be any event.
        assert!(["-", "PreToolUse"].contains(&line[2].as_str()), "{line:?}");
        assert!(line[3].starts_with("an error of ruleline itself"), "{line:?}");
    }
    assert_eq!(
        std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(state.join("problems.log")).unwrap()) & 0o777,
        0o600
    );
}

#[test]
fn s15_the_deadline_answers_whatever_the_engine_does() {
    let project = Project::new();
    let payload = project.payload_write("a", "x").to_string();
    let words = ["hook", "--agent", "claude", "--deadline-ms", "200", "--no-log"];
    for place in ["judge", "decide"] {
        let said = project.run(&words, &[("RULELINE_TEST_FAIL", &format!("hang@{place}"))], payload.as_bytes());
        assert_eq!(said.decision(), "ask", "{said:?}");
        assert!(said.reason().contains("200 ms"), "{said:?}");
    }
    assert!(!project.state().exists(), "--no-log writes nothing");
}

#[test]
fn s15_a_payload_that_never_ends_is_answered_at_the_deadline() {
    let project = Project::new();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ruleline"));
    command.args(["hook", "--agent", "claude", "--deadline-ms", "200", "--no-log"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .env("RULELINE_TEST_HOME", &project.home)
        .spawn()
        .unwrap();
    let _open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"permissionDecision\":\"ask\""));
}

#[test]
fn s15_hooks_that_take_their_time_share_one_deadline() {
    let project = Project::new();
    let entries =
        "hooks:\n  PreToolUse:\n    - script: slow\n      timeout: 600\n    - script: slow\n      timeout: 600\n";
    project.write_home(".config/ruleline/hooks/hooks.yaml", entries);
    let payload = project.payload("Bash", &serde_json::json!({"command": "ls"})).to_string();
    for script in ["sleep 30", "trap '' TERM INT HUP; setsid sleep 6 & while :; do sleep 1; done", "exec yes"] {
        let late = project.base().join("late");
        project.write_home(".config/ruleline/hooks/slow.sh", format!("{script}\ntouch {}\n", late.display()));
        let said = project.hook(&["--agent", "claude", "--deadline-ms", "1500"], &payload);
        assert_eq!(said.decision(), "ask", "{script}: {said:?}");
        assert!(!late.exists(), "{script}: the answer waited for the script");
    }
}

#[test]
fn s16_the_configured_answer_is_given() {
    let project = Project::new();
    project.write_home(".config/ruleline/config.toml", "on_failure = \"deny\"\n");
    assert_eq!(project.hook(&CLAUDE, "").decision(), "deny");
    let payload = project.payload_write("a", "x").to_string();
    for fault in ["panic@judge", "panic@decide"] {
        let said = project.run(&["hook", "--agent", "claude"], &[("RULELINE_TEST_FAIL", fault)], payload.as_bytes());
        assert_eq!(said.decision(), "deny", "{fault}");
    }
}

#[test]
fn s04_problems_are_noted_neither_in_the_project_nor_over_a_link() {
    let project = Project::new();
    let inside = project.root.join("state");
    let said = project.run(&["hook", "--agent", "claude", "--state-dir", inside.to_str().unwrap()], &[], b"");
    assert_eq!(said.decision(), "ask");
    assert!(!inside.exists());
    let state = project.state();
    std::fs::create_dir(&state).unwrap();
    let target = project.outside.join("target");
    std::fs::write(&target, "").unwrap();
    std::os::unix::fs::symlink(&target, state.join("problems.log")).unwrap();
    assert_eq!(project.hook(&CLAUDE, "").decision(), "ask");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "");
}

#[test]
fn s17_events_without_a_decision_get_their_neutral_answer() {
    let project = Project::new();
    for event in ["PostToolUse", "SessionStart", "Stop", "UserPromptSubmit", "SessionEnd"] {
        let said = project.hook(&["--agent", "claude", "--event", event], "garbage");
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{event}");
        assert!(!said.stderr.is_empty(), "{event}: a failure is said somewhere");
    }
}

#[test]
fn s16_a_usage_error_is_answered_in_the_dialect_or_blocks() {
    let project = Project::new();
    let payload = project.payload_write("a", "x").to_string();
    for arguments in
        [&["--agent", "claude", "--bogus"][..], &["nonsense", "--agent", "claude"], &["--agent", "claude", "--rules"]]
    {
        // --state-dir is added behind them and becomes the value of a flag that lacks one.
        let said = project.run(&[&["hook"], arguments].concat(), &[], payload.as_bytes());
        assert_eq!(said.decision(), "ask", "{arguments:?}");
        assert!(said.stderr.contains("ruleline"), "{arguments:?}");
    }
    let stop = json!({"hook_event_name": "Stop", "session_id": "s", "cwd": project.root}).to_string();
    let said = project.hook(&["--agent", "claude", "--bogus"], &stop);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""));
    assert!(said.stderr.contains("--bogus"));
    for arguments in [&["--bogus"][..], &["--agent", "nobody"], &["--agent"]] {
        let said = project.run(&[&["hook"], arguments].concat(), &[], payload.as_bytes());
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(!said.stderr.trim().is_empty(), "{arguments:?}");
    }
}

#[test]
fn guards_of_later_versions_are_neutral_and_say_so() {
    let project = Project::new();
    let payload = project.payload_write(".claude/settings.json", "{}").to_string();
    let said = project.hook(&["pick-skill", "--agent", "claude"], &payload);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""));
    assert!(said.stderr.contains("pick-skill"));
}

#[test]
fn s16_files_that_would_block_or_cannot_be_read_ask() {
    let project = Project::with_rules("[[rule]]\nid = \"r\"\npaths = [\"nothing\"]\n");
    let fifo = project.root.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    std::fs::create_dir(project.root.join("dir")).unwrap();
    for path in ["fifo", "dir"] {
        let edit = project
            .payload("Edit", &json!({"file_path": project.root.join(path), "old_string": "a", "new_string": "b"}));
        for payload in [edit, project.payload_write(path, "x")] {
            let said = project.hook(&["--agent", "claude"], payload.to_string());
            assert_eq!(said.decision(), "ask", "{path}: {said:?}");
        }
    }
}
