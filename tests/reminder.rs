//! The reminder and what else helps an agent, through the real hook: counted over processes, answered from a real index.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/hook.rs"]
mod hook;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use hook::Project;
use serde_json::{Value, json};

const CART: &str = "class Cart:\n    def total(self):\n        return 0\n";

/// A project with an index in the cache, and the agent's settings naming Serena.
fn shop() -> Project {
    let project = Project::new();
    project.write("shop/cart.py", CART);
    project.write(".mcp.json", r#"{"mcpServers": {"serena": {"command": "uvx"}}}"#);
    index(&project);
    project
}

fn index(project: &Project) {
    let indexed = Command::new(env!("CARGO_BIN_EXE_ruleline"))
        .args(["symbols", "--exact", "Cart", "--state-dir"])
        .arg(project.state())
        .env("RULELINE_TEST_HOME", &project.home)
        .current_dir(&project.root)
        .output()
        .unwrap();
    assert!(indexed.status.success(), "{indexed:?}");
}

fn grep(project: &Project, pattern: &str) -> Value {
    project.payload("Grep", &json!({"pattern": pattern}))
}

fn answer(project: &Project, agent: &str, words: &[&str], payload: &Value) -> Value {
    let arguments: Vec<&str> = words.iter().copied().chain(["--agent", agent]).collect();
    let said = project.hook(&arguments, payload.to_string());
    assert_eq!(said.code, Some(0), "{said:?}");
    if said.stdout.is_empty() { Value::Null } else { serde_json::from_str(&said.stdout).unwrap() }
}

/// Calls that are no batch: each begins a while after the one before.
fn later() {
    std::thread::sleep(Duration::from_millis(250));
}

fn decision(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("silent")
}

fn reason(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap()
}

#[test]
fn the_third_search_is_answered_with_file_line_and_the_call_to_make() {
    let project = shop();
    for _ in 0..2 {
        assert_eq!(answer(&project, "claude", &[], &grep(&project, "class Cart")), Value::Null);
        later();
    }
    let third = answer(&project, "claude", &[], &grep(&project, "class Cart"));
    assert_eq!(decision(&third), "deny");
    assert!(reason(&third).contains("class Cart is defined at shop/cart.py:1"), "{third}");
    let call = r#"mcp__serena__find_symbol {"name_path_pattern": "Cart", "relative_path": "shop/cart.py", "include_body": true}"#;
    assert!(reason(&third).contains(call), "{third}");
    later();
    assert_eq!(
        answer(&project, "claude", &[], &grep(&project, "class Cart")),
        Value::Null,
        "the same call goes through"
    );
}

#[test]
fn what_the_index_says_is_of_the_file_as_it_is() {
    let project = shop();
    project.write("shop/cart.py", format!("\n\n{CART}"));
    let read = project.payload("Read", &json!({"file_path": project.root.join("shop/cart.py")}));
    for _ in 0..2 {
        answer(&project, "codex", &["remind"], &read);
        later();
    }
    let third = answer(&project, "codex", &["remind"], &read);
    assert!(reason(&third).contains("shop/cart.py defines class Cart (line 3), method Cart.total (line 4)"), "{third}");
    assert_eq!(third["hookSpecificOutput"].as_object().unwrap().len(), 3, "Codex takes no further key: {third}");
}

#[test]
fn an_agent_without_symbolic_tools_is_told_and_not_refused() {
    let project = shop();
    fs::remove_file(project.root.join(".mcp.json")).unwrap();
    for _ in 0..2 {
        answer(&project, "claude", &[], &grep(&project, "Cart"));
        later();
    }
    let third = answer(&project, "claude", &[], &grep(&project, "Cart"));
    assert_eq!(decision(&third), "silent");
    let context = third["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(context, "ruleline: class Cart is defined at shop/cart.py:1.");
}

#[test]
fn a_symbolic_tool_begins_the_count_anew_and_its_name_is_told() {
    let project = shop();
    let symbolic = project.payload("mcp__plugin_tools_serena__find_symbol", &json!({}));
    for payload in
        [grep(&project, "Cart"), grep(&project, "Cart"), symbolic, grep(&project, "Cart"), grep(&project, "Cart")]
    {
        assert_eq!(answer(&project, "claude", &[], &payload), Value::Null);
        later();
    }
    let third = answer(&project, "claude", &[], &grep(&project, "Cart"));
    assert!(reason(&third).contains("mcp__plugin_tools_serena__find_symbol {"), "{third}");
}

#[test]
fn codex_shows_only_its_shell_so_that_what_succeeded_resets() {
    let project = shop();
    let shell = |command: &str| project.payload("Bash", &json!({"command": command}));
    let mut done = project.payload("mcp__serena__find_symbol", &json!({}));
    done["hook_event_name"] = "PostToolUse".into();
    for (response, expected) in [(json!({"isError": false}), "silent"), (json!({"isError": true}), "deny")] {
        let mut done = done.clone();
        done["tool_response"] = response;
        done["session_id"] = expected.into();
        let mut search = shell("rg Cart");
        search["session_id"] = expected.into();
        for payload in [&search, &search, &done] {
            assert_eq!(answer(&project, "codex", &[], payload), Value::Null);
            later();
        }
        assert_eq!(decision(&answer(&project, "codex", &[], &search)), expected);
    }
}

/// Starts all hooks before it waits for one; how many refuse.
fn at_once(project: &Project, number: usize) -> usize {
    let start = |_| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ruleline"))
            .args(["hook", "--agent", "claude", "--no-log", "--state-dir"])
            .arg(project.state())
            .env("RULELINE_TEST_HOME", &project.home)
            .current_dir(&project.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(grep(project, "Cart").to_string().as_bytes()).unwrap();
        child
    };
    let children: Vec<_> = (0..number).map(start).collect();
    let said = children.into_iter().map(|child| child.wait_with_output().unwrap());
    said.filter(|output| String::from_utf8_lossy(&output.stdout).contains("\"deny\"")).count()
}

#[test]
fn a_parallel_batch_counts_once_and_is_refused_once() {
    let project = shop();
    assert_eq!(at_once(&project, 24), 0, "alone they are one call");
    later();
    assert_eq!(answer(&project, "claude", &[], &grep(&project, "Cart")), Value::Null);
    later();
    assert_eq!(at_once(&project, 24), 1, "after two that counted");
}

#[test]
fn hostile_session_ids_touch_nothing_outside_of_the_state_folder() {
    let project = shop();
    fs::write(project.outside.join("kept"), "").unwrap();
    let victim = project.outside.to_str().unwrap().to_owned();
    let before = fs::read_dir(project.base()).unwrap().count();
    for id in [victim.as_str(), "../outside", "../../outside", ".", "..", &"x".repeat(300), "a\0b", ""] {
        let mut payload = grep(&project, "Cart");
        payload["session_id"] = id.into();
        payload["agent_id"] = id.into();
        answer(&project, "claude", &["remind"], &payload);
        payload["hook_event_name"] = "SessionEnd".into();
        answer(&project, "claude", &["cleanup"], &payload);
    }
    assert!(project.outside.join("kept").exists());
    assert_eq!(fs::read_dir(project.base()).unwrap().count(), before.max(4), "root, home, outside, state");
}

#[test]
fn a_session_that_ends_takes_its_counts_along_and_no_others() {
    let project = shop();
    let of = |session: &str, name: &str| {
        let mut payload = grep(&project, "Cart");
        payload["session_id"] = session.into();
        payload["hook_event_name"] = name.into();
        payload
    };
    for _ in 0..2 {
        for session in ["a", "b"] {
            answer(&project, "claude", &[], &of(session, "PreToolUse"));
        }
        later();
    }
    answer(&project, "claude", &[], &of("a", "SessionEnd"));
    assert_eq!(decision(&answer(&project, "claude", &[], &of("a", "PreToolUse"))), "silent");
    assert_eq!(decision(&answer(&project, "claude", &[], &of("b", "PreToolUse"))), "deny");
    let mut stop = of("b", "Stop");
    stop["stop_hook_active"] = false.into();
    assert_eq!(answer(&project, "codex", &["cleanup"], &stop), json!({}), "a stop of Codex wants JSON");
}

#[test]
fn symbolic_tools_are_approved_for_whom_the_user_names() {
    let project = shop();
    let call = |tool: &str, mode: &str| {
        let mut payload = project.payload(tool, &json!({}));
        payload["permission_mode"] = mode.into();
        payload
    };
    let approve = |payload: &Value| decision(&answer(&project, "claude", &[], payload)).to_owned();
    assert_eq!(approve(&call("mcp__serena__rename_symbol", "acceptEdits")), "silent", "nobody is named");
    let user = "[auto_approve]\nservers = [\"serena\"]\nexclude = [\"replace_*\"]\n";
    project.write(".ruleline/config.toml", user);
    assert_eq!(approve(&call("mcp__serena__rename_symbol", "acceptEdits")), "silent", "a project names nobody (S2)");
    fs::remove_file(project.root.join(".ruleline/config.toml")).unwrap();
    project.write_home(".config/ruleline/config.toml", user);
    for (tool, mode, expected) in [
        ("mcp__serena__rename_symbol", "acceptEdits", "allow"),
        ("mcp__serena__find_symbol", "auto", "allow"),
        ("mcp__serena__find_symbol", "default", "silent"),
        ("mcp__serena__find_symbol", "plan", "silent"),
        ("mcp__serena__find_symbol", "bypassPermissions", "silent"),
        ("mcp__serena__replace_content", "auto", "silent"),
        ("mcp__serena__execute_shell_command", "auto", "silent"),
        ("mcp__not_serena_evil__delete_all", "auto", "silent"),
        ("mcp__plugin_evil_serena__find_symbol", "auto", "silent"),
        ("mcp__serena_evil__find_symbol", "auto", "silent"),
    ] {
        assert_eq!(approve(&call(tool, mode)), expected, "{tool} {mode}");
    }
}

#[test]
fn a_plan_of_codex_is_kept_from_editing() {
    let project = shop();
    let mut payload = project.payload("mcp__plugin_x_serena__replace_symbol_body", &json!({}));
    payload["permission_mode"] = "plan".into();
    assert_eq!(decision(&answer(&project, "codex", &[], &payload)), "deny");
    assert_eq!(decision(&answer(&project, "claude", &[], &payload)), "silent", "Claude Code does it itself");
    let prompt = json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "permission_mode": "plan", "prompt": "x", "cwd": project.root});
    let said = answer(&project, "codex", &[], &prompt);
    assert!(said["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("read-only"), "{said}");
}

#[test]
fn a_session_is_told_what_there_is_as_it_begins() {
    let project = shop();
    project.write(".ruleline/rules.toml", "[[rule]]\nid = \"a\"\npaths = [\"**\"]\nforbid = ['x']\n");
    let start = |source: &str| json!({"session_id": source, "hook_event_name": "SessionStart", "source": source, "cwd": project.root});
    for source in ["startup", "resume", "clear", "compact"] {
        let said = answer(&project, "codex", &[], &start(source));
        let text = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.contains("mcp__serena__initial_instructions") && text.contains("1 rule holds here"), "{text}");
    }
    project.write_home(".config/ruleline/config.toml", "[session]\nbriefing = false\n");
    assert_eq!(answer(&project, "codex", &[], &start("again")), Value::Null);
}

#[test]
fn what_cannot_be_counted_costs_no_call() {
    let project = shop();
    fs::create_dir_all(project.state()).unwrap();
    fs::write(project.state().join("reminders"), "in the way").unwrap();
    for _ in 0..4 {
        assert_eq!(answer(&project, "claude", &[], &grep(&project, "Cart")), Value::Null);
        later();
    }
    for garbage in ["", "{", "[]", "\u{feff}{\"tool_name\""] {
        let said = project.hook(&["remind", "--agent", "claude"], garbage);
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{garbage:?}: {said:?}");
        assert!(!said.stderr.is_empty(), "{garbage:?}");
    }
}
