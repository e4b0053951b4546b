//! Attacks on project hooks from the outside: a clone that wants to run, a socket that lies, an editor's settings, a
//! repository made to cost time.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/lsp.rs"]
mod lsp;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "support/socket.rs"]
mod socket;
#[path = "support/trust.rs"]
mod trust;

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hook::{Project, say};
use hooks::Tree;
use serde_json::json;
use socket::{Manner, Server};
use trust::{shell, trust, write_hooks};

/// A clone with every way in which a repository may try to be run: hooks of ours, of git, of agents and of editors.
fn clone() -> Project {
    let project = Project::with_rules("[[rule]]\nid = \"no-bad\"\npaths = [\"**\"]\nforbid = [\"bad\"]\n");
    let mark = project.root.join("RAN");
    let run = format!("touch {}\n", mark.display());
    let events =
        ["PreToolUse", "PostToolUse", "SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "Notification"];
    let entries = events.iter().fold(String::new(), |all, event| all + &format!("  {event}:\n    - script: run\n"));
    let command = format!("    - command: [touch, {}]\n", mark.display());
    write_hooks(&project.root, &format!("{entries}{command}"), &[("run.sh", &run), ("ruleline.sh", &run)]);
    for name in ["bash", "git", "ruleline-server", "python3", "sh"] {
        for folder in ["", ".ruleline/", ".ruleline/hooks/"] {
            let path = project.root.join(format!("{folder}{name}"));
            fs::write(&path, format!("#!/bin/sh\n{run}")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    for file in [".git/hooks/pre-commit", ".git/hooks/fsmonitor", ".envrc", ".nvim.lua", ".claude/hooks/x.sh"] {
        project.write(file, &run);
    }
    project.write(
        ".git/config",
        format!("[core]\n\tfsmonitor = {}\n\thooksPath = .git/hooks\n", project.root.join("git").display()),
    );
    project.write("a.py", "x = 1\n");
    project
}

/// What an editor says that trusts the workspace and opens the hooks and a file, as bytes on stdin.
fn session_of_an_editor(project: &Project) -> String {
    let options = json!({"trusted": true});
    let root = lsp::uri(&project.root);
    let parameters = json!({"processId": null, "rootUri": root, "capabilities": {}, "initializationOptions": options});
    let mut bytes = lsp::request(1, "initialize", &parameters);
    bytes.extend(lsp::notification("initialized", &json!({})));
    for file in ["a.py", ".ruleline/hooks/hooks.yaml", ".ruleline/hooks/run.sh"] {
        let path = project.root.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let document = json!({"uri": lsp::uri(&path), "languageId": "x", "version": 1, "text": text});
        bytes.extend(lsp::notification("textDocument/didOpen", &json!({"textDocument": document})));
    }
    let review = json!({"command": "ruleline.reviewHooks", "arguments": [{"root": root}]});
    bytes.extend(lsp::request(2, "workspace/executeCommand", &review));
    bytes.extend(lsp::request(3, "shutdown", &serde_json::Value::Null));
    bytes.extend(lsp::notification("exit", &serde_json::Value::Null));
    String::from_utf8(bytes).unwrap()
}

/// The programs that a command started, itself included, as the system saw them.
fn started(project: &Project, words: &[&str], stdin: &str) -> (Vec<String>, hook::Said) {
    let log = project.base().join("execve");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=execve", "-o"]).arg(&log);
    command.args(words).current_dir(&project.root).env_clear();
    command.env("RULELINE_TEST_HOME", &project.home).env("PATH", format!(".:{}:/usr/bin:/bin", project.root.display()));
    command.env("RULELINE_TEST_TOP", std::process::id().to_string());
    let said = say(command, stdin.as_bytes());
    let text = fs::read_to_string(&log).unwrap();
    let programs = text.lines().filter(|line| line.contains(" = 0")).filter_map(|line| line.split('"').nth(1));
    (programs.map(str::to_owned).collect(), said)
}

#[test]
fn a_clone_runs_nothing_in_any_command_before_trust() {
    let project = clone();
    let (ruleline, state) = (env!("CARGO_BIN_EXE_ruleline"), project.state());
    let state = state.to_str().unwrap();
    let event = |name: &str| json!({"session_id": "s", "hook_event_name": name, "cwd": project.root}).to_string();
    let write = project.payload_write("a.py", "x = 2\n").to_string();
    let bash = project.payload("Bash", &json!({"command": "git init x; ls > y"})).to_string();
    let hook = [ruleline, "hook", "--agent", "claude", "--state-dir", state];
    let mut runs: Vec<(Vec<&str>, String)> = vec![
        (hook.to_vec(), write),
        (hook.to_vec(), bash),
        (vec![ruleline, "check", "--rules", ".ruleline/rules.toml", "a.py"], String::new()),
        (vec![ruleline, "check"], String::new()),
        (vec![ruleline, "hooks", "list", "--state-dir", state], String::new()),
        (vec![ruleline, "hooks", "show", "--state-dir", state], String::new()),
        (vec![ruleline, "hooks", "diff", "--state-dir", state], String::new()),
        (vec![ruleline, "hooks", "trust", "--state-dir", state], "y\n".to_owned()),
        (vec![ruleline, "demo"], String::new()),
    ];
    for name in ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "Notification", "PostToolUse"] {
        runs.push((hook.to_vec(), event(name)));
    }
    let server = env!("CARGO_BIN_EXE_ruleline-server");
    runs.push((vec![server, "--stdio", "--state-dir", state], session_of_an_editor(&project)));
    for (words, stdin) in runs {
        let (programs, said) = started(&project, &words, &stdin);
        assert!(programs.iter().any(|program| program == words[0]), "{words:?}: {said:?}");
        for program in &programs {
            assert!(!Path::new(program).starts_with(&project.root), "{words:?} ran {program}");
            assert!(Path::new(program).is_absolute(), "{words:?} ran {program}");
        }
        assert!(!project.root.join("RAN").exists(), "{words:?}");
    }
}

#[test]
fn s12_only_the_hook_runs_hooks_even_when_they_are_trusted() {
    let project = clone();
    trust(&project.state(), &project.root);
    let (ruleline, state) = (env!("CARGO_BIN_EXE_ruleline"), project.state());
    for words in [
        vec![ruleline, "check", "a.py"],
        vec![ruleline, "hooks", "list", "--state-dir", state.to_str().unwrap()],
        vec![ruleline, "hooks", "show", "--state-dir", state.to_str().unwrap()],
        vec![ruleline, "hooks", "diff", "--state-dir", state.to_str().unwrap()],
    ] {
        started(&project, &words, "");
        assert!(!project.root.join("RAN").exists(), "{words:?}");
    }
    let mut server = Command::new(env!("CARGO_BIN_EXE_ruleline-server"));
    server.args(["--stdio", "--state-dir"]).arg(&state).current_dir(&project.root);
    let parameters = json!({"processId": null, "rootUri": lsp::uri(&project.root), "capabilities": {}});
    let mut client = lsp::Client::start_by(server, &parameters);
    for file in ["a.py", ".ruleline/hooks/hooks.yaml", ".ruleline/hooks/run.sh"] {
        let path = project.root.join(file);
        client.open(&lsp::uri(&path), 1, &fs::read_to_string(&path).unwrap());
        client.diagnostics(&lsp::uri(&path), 1);
    }
    assert_eq!(client.end().0, Some(0));
    assert!(!project.root.join("RAN").exists());
    shell(&project, "s", "ls");
    assert!(project.root.join("RAN").exists(), "the hook does: the marks above would have shown");
}

#[test]
fn t23_no_socket_says_what_is_trusted() {
    let project = clone();
    let runtime = project.state().join("run");
    for manner in [Manner::SaysClean, Manner::SaysTruth, Manner::OtherJson, Manner::Stalls] {
        let server = Server::start(&runtime, &project.root, manner);
        let said = shell(&project, "s", "ls");
        assert_eq!(said.decision(), "silent", "{manner:?}: {said:?}");
        assert!(!project.root.join("RAN").exists(), "{manner:?}");
        assert_eq!(server.asked(), 0, "{manner:?}: trust is no question for a server");
        server.kill();
    }
}

#[test]
fn t24_no_setting_of_a_workspace_names_a_store_or_a_program() {
    let project = clone();
    let elsewhere = project.root.join("store");
    trust(&elsewhere, &project.root);
    let settings = json!({
        "server": {"path": project.root.join("ruleline-server")}, "state_dir": elsewhere, "stateDir": elsewhere,
        "grants": elsewhere, "trusted": true, "interpreters": [project.root.join("bash")], "on_change": "keep",
    });
    project.write(".vscode/settings.json", json!({"ruleline": settings}).to_string());
    let mut server = Command::new(env!("CARGO_BIN_EXE_ruleline-server"));
    server.args(["--stdio", "--state-dir"]).arg(project.state()).current_dir(&project.root);
    let parameters = json!({
        "processId": null, "rootUri": lsp::uri(&project.root), "capabilities": {}, "initializationOptions": {"trusted": false},
    });
    let mut client = lsp::Client::start_by(server, &parameters);
    client.notify("workspace/didChangeConfiguration", &json!({"settings": {"ruleline": settings}}));
    let manifest = project.root.join(".ruleline/hooks/hooks.yaml");
    client.open(&lsp::uri(&manifest), 1, "hooks: {}\n");
    let said = client.diagnostics(&lsp::uri(&manifest), 1);
    assert!(said[0]["message"].as_str().unwrap().contains("never reviewed"), "{said:?}");
    let warned = client.seen.iter().filter(|message| message["method"] == "window/showMessage").count();
    assert!(warned >= 5, "each of them is refused aloud");
    project.write(
        ".ruleline/config.toml",
        "interpreters = [\"/tmp/x\"]\non_change = \"keep\"\nproject_hooks_may_allow = true\n",
    );
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "silent");
    assert!(!project.root.join("RAN").exists());
}

/// Fills a folder of hooks with what costs time or confuses, and gives what the refusal must name.
type Attack = (&'static str, fn(&Path), &'static str);

const HOSTILE: [Attack; 9] = [
    (
        "many files",
        |folder| (0..20_000).for_each(|number| fs::write(folder.join(format!("f{number}")), "").unwrap()),
        "256",
    ),
    (
        "many folders",
        |folder| (0..5_000).for_each(|number| fs::create_dir(folder.join(format!("d{number}"))).unwrap()),
        "folders",
    ),
    ("a sparse file", |folder| fs::File::create(folder.join("x.sh")).unwrap().set_len(100 << 30).unwrap(), "x.sh"),
    (
        "a fifo",
        |folder| {
            let made = Command::new("mkfifo").arg(folder.join("x.sh")).status().unwrap();
            assert!(made.success());
        },
        "x.sh",
    ),
    ("a link", |folder| symlink("/etc/passwd", folder.join("x.sh")).unwrap(), "x.sh"),
    ("a device", |folder| symlink("/dev/zero", folder.join("x.sh")).unwrap(), "x.sh"),
    (
        "a name with an escape",
        |folder| fs::write(folder.join(std::ffi::OsStr::from_bytes(b"\x1b[2Jx.sh")), "").unwrap(),
        "\\u{1b}[2Jx.sh",
    ),
    (
        "a name that is no text",
        |folder| fs::write(folder.join(std::ffi::OsStr::from_bytes(b"\xffx.sh")), "").unwrap(),
        "x.sh",
    ),
    (
        "deep folders",
        |folder| fs::create_dir_all((0..200).fold(folder.to_path_buf(), |path, _| path.join("d"))).unwrap(),
        "deep",
    ),
];

#[test]
fn t19_a_hostile_folder_is_refused_with_the_reason_and_costs_little() {
    for (what, fill, named) in HOSTILE {
        let project = Project::new();
        write_hooks(&project.root, "  PreToolUse:\n    - script: x\n", &[]);
        fill(&project.root.join(".ruleline/hooks"));
        let begun = Instant::now();
        let said = shell(&project, "s", "ls");
        // Far above what it should take, far below what reading all of it would.
        assert!(begun.elapsed() < Duration::from_secs(5), "{what}: {:?}", begun.elapsed());
        assert_eq!(said.decision(), "silent", "{what}: {said:?}");
        assert!(said.context().contains("cannot be read whole"), "{what}: {said:?}");
        assert!(said.context().contains(named), "{what}: {said:?}");
        assert!(!said.stdout.contains('\u{1b}') && !said.stderr.contains('\u{1b}'), "{what}");
        assert!(Tree::read(&project.root).is_err(), "{what}");
    }
}

#[test]
fn t13_a_granted_bomb_of_aliases_runs_nothing_and_says_so() {
    let project = Project::new();
    let bomb = (1..40)
        .fold("a0: &a0 [x]\n".to_owned(), |text, n| text + &format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}]\n", n - 1));
    project.write(".ruleline/hooks/hooks.yaml", bomb);
    trust(&project.state(), &project.root);
    let begun = Instant::now();
    let said = trust::send(&project, "s", "SessionStart", &json!({"source": "startup"}));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(said.context().contains("alias"), "{said:?}");
    assert_eq!(shell(&project, "s", "ls").decision(), "silent");
}

#[test]
fn t09_variables_that_name_folders_lead_nowhere() {
    let project = clone();
    let fake = project.root.join("fake");
    trust(&fake.join(".local/state/ruleline"), &project.root);
    write_hooks(&fake.join(".config/ruleline/.."), "  PreToolUse:\n    - script: run\n", &[("run.sh", "touch RAN\n")]);
    let payload = project.payload("Bash", &json!({"command": "ls"})).to_string();
    let state = project.state();
    let words = ["hook", "--agent", "claude", "--state-dir", state.to_str().unwrap()];
    let fake = fake.to_str().unwrap();
    let variables = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "APPDATA", "USERPROFILE"]
        .map(|name| (name, fake));
    let said = project.run(&words, &variables, payload.as_bytes());
    assert_eq!(said.decision(), "silent", "{said:?}");
    assert!(!project.root.join("RAN").exists());
}
