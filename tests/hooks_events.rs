//! Hooks of the user and of projects in front of a real hook process: who runs, in which order, and what an
//! answer becomes.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/trust.rs"]
mod trust;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hook::Project;
use serde_json::json;
use trust::{BLOCK, blocking, leave, marks, send, send_to, shell, trust, untrust, write_hooks};

#[test]
fn other_tools_and_other_events_pass() {
    let (project, mark) = blocking();
    trust(&project.state(), &project.root);
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": project.root.join("a")}});
    assert_eq!(send(&project, "s", "PreToolUse", &read).decision(), "silent");
    let ran = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {}});
    assert_eq!(send(&project, "s", "PostToolUse", &ran).stdout, "");
    assert_eq!(marks(&mark), [""; 0]);
}

#[test]
fn the_canonical_name_of_a_tool_fits_every_agent() {
    let project = Project::new();
    let entries = "  PreToolUse:\n    - script: no\n      matcher: edit\n";
    write_hooks(&project.root, entries, &[("no.sh", "echo no >&2; exit 2\n")]);
    trust(&project.state(), &project.root);
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
    let patch = json!({"tool_name": "apply_patch", "tool_input": {"command": patch}, "turn_id": "t"});
    assert_eq!(send_to(&project, "codex", "s", "PreToolUse", &patch).decision(), "deny");
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "a", "old_string": "", "new_string": "x"}});
    assert_eq!(send(&project, "s", "PreToolUse", &edit).decision(), "deny");
}

#[test]
fn t16_the_users_hooks_run_first_then_each_root_from_the_outside() {
    let project = Project::new();
    let mark = project.base().join("mark");
    let inner = project.root.join("vendor/inner");
    fs::create_dir_all(inner.join(".git")).unwrap();
    let entries = "  PreToolUse:\n    - script: it\n";
    write_hooks(&project.root, entries, &[("it.sh", &leave(&mark, "outer"))]);
    write_hooks(&inner, entries, &[("it.sh", &leave(&mark, "inner"))]);
    project.write_home(".config/ruleline/hooks/hooks.yaml", format!("hooks:\n{entries}"));
    project.write_home(".config/ruleline/hooks/it.sh", leave(&mark, "user"));
    trust(&project.state(), &project.root);
    trust(&project.state(), &inner);
    let from_inside = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": inner});
    assert_eq!(send(&project, "s", "PreToolUse", &from_inside).decision(), "silent");
    assert_eq!(marks(&mark), ["user", "outer", "inner"]);
    let by_file = json!({"tool_name": "Read", "tool_input": {"file_path": inner.join("a")}, "cwd": project.outside});
    send(&project, "s", "PreToolUse", &by_file);
    assert_eq!(marks(&mark).len(), 6, "the file's roots count as well as the working folder's");
    untrust(&project.state(), &inner);
    send(&project, "s", "PreToolUse", &from_inside);
    assert_eq!(marks(&mark)[6..], ["user", "outer"], "an inner folder takes nothing away");
}

#[test]
fn answers_are_joined_with_the_rules_and_a_refused_call_runs_no_hook() {
    let project = Project::with_rules("[[rule]]\nid = \"no-bad\"\npaths = [\"**\"]\nforbid = [\"bad\"]\n");
    let mark = project.base().join("mark");
    let ask = format!("{}echo '{{\"decision\":\"ask\",\"reason\":\"sure?\"}}'\n", leave(&mark, "ask"));
    write_hooks(&project.root, "  PreToolUse:\n    - script: ask\n", &[("ask.sh", &ask)]);
    trust(&project.state(), &project.root);
    let write = |text: &str| json!({"tool_name": "Write", "tool_input": {"file_path": project.root.join("a"), "content": text}});
    let said = send(&project, "s", "PreToolUse", &write("bad"));
    assert_eq!(said.decision(), "deny");
    assert!(!said.reason().contains("sure?"), "{said:?}");
    assert_eq!(marks(&mark), [""; 0]);
    let said = send(&project, "s", "PreToolUse", &write("good"));
    assert_eq!(said.decision(), "ask");
    assert!(said.reason().contains("sure?"), "{said:?}");
}

#[test]
fn an_allow_counts_only_from_the_user_or_with_the_users_word() {
    let project = Project::new();
    let allow = "echo '{\"decision\":\"allow\",\"reason\":\"fine\"}'\n";
    write_hooks(&project.root, "  PreToolUse:\n    - script: it\n", &[("it.sh", allow)]);
    trust(&project.state(), &project.root);
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "silent");
    assert!(said.answer()["systemMessage"].as_str().unwrap().contains("its allow does not count"), "{said:?}");
    assert_eq!(shell(&project, "s", "ls").stdout, "", "it is said once a session");
    project.write_home(".config/ruleline/config.toml", "project_hooks_may_allow = true\n");
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "allow");
    assert!(said.reason().ends_with(": fine"), "{said:?}");
    assert_eq!(shell(&project, "s", "ruleline hooks trust").decision(), "ask", "an allow outranks nothing");
    project.write_home(".config/ruleline/config.toml", "");
    project.write_home(".config/ruleline/hooks/hooks.yaml", "hooks:\n  PreToolUse:\n    - script: it\n");
    project.write_home(".config/ruleline/hooks/it.sh", allow);
    assert_eq!(shell(&project, "s", "ls").decision(), "allow");
}

#[test]
fn a_failure_is_what_the_entry_says_and_is_told_once() {
    let project = Project::new();
    let entries = "  PreToolUse:\n    - script: it\n";
    for (more, text, decision) in [
        ("", "exit 1", "silent"),
        ("      on_error: ask\n", "exit 1", "ask"),
        ("      on_error: deny\n", "exit 1", "deny"),
        ("      timeout: 0.1\n", "sleep 20", "ask"),
        ("", "kill -9 $$", "ask"),
        ("", r#"printf '{"decision": "deny", "reason": "%s"}' 'no "ls"'"#, "ask"),
    ] {
        write_hooks(&project.root, &format!("{entries}{more}"), &[("it.sh", text)]);
        trust(&project.state(), &project.root);
        let said = shell(&project, "s", "ls");
        assert_eq!(said.decision(), decision, "{more}{text}: {said:?}");
        if decision == "silent" {
            assert!(said.answer()["systemMessage"].as_str().unwrap().contains("it failed"), "{said:?}");
            assert!(said.stderr.contains("it failed"), "{said:?}");
            assert_eq!(shell(&project, "s", "ls").stdout, "");
        }
    }
}

#[test]
fn every_event_has_its_form() {
    let project = Project::new();
    let events =
        ["PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "SessionStart", "SessionEnd", "Notification"];
    let mark = project.base().join("mark");
    let entries: String =
        events.iter().fold(String::new(), |all, event| all + &format!("  {event}:\n    - script: it\n"));
    let text = format!("read -r line\necho \"$line\" >> {}\necho why >&2\nexit 2\n", mark.display());
    write_hooks(&project.root, &entries, &[("it.sh", &text)]);
    trust(&project.state(), &project.root);
    let blocked = |event: &str, more: serde_json::Value| send(&project, "s", event, &more).answer();
    let answer =
        blocked("PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x"}));
    assert_eq!(answer["decision"], "block");
    assert!(answer["reason"].as_str().unwrap().ends_with(": why"), "{answer}");
    for (event, more) in
        [("UserPromptSubmit", json!({"prompt": "p"})), ("Stop", json!({})), ("SubagentStop", json!({}))]
    {
        assert_eq!(blocked(event, more)["decision"], "block", "{event}");
    }
    let start = blocked("SessionStart", json!({"source": "startup"}));
    assert!(start["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("why"), "{start}");
    assert_eq!(send(&project, "s", "SessionEnd", &json!({"reason": "x"})).stdout, "");
    send(&project, "s", "Notification", &json!({"message": "m"}));
    let lines: Vec<serde_json::Value> = marks(&mark).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named: Vec<&str> = lines.iter().map(|line| line["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(named, events);
    assert_eq!(lines[0]["tool_response"], "x");
    assert_eq!(lines[1]["extra"]["prompt"], "p");
    assert_eq!(lines[4]["extra"]["source"], "startup");
    let codex = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x", "turn_id": "t"});
    let codex = send_to(&project, "codex", "s", "PostToolUse", &codex).answer();
    assert_eq!(codex["decision"], "block");
}

#[test]
fn a_beginning_tells_who_trusted_and_what_is_skipped() {
    let project = Project::new();
    let entries = "  PreToolUse:\n    - script: nowhere\n    - script: it\n";
    write_hooks(&project.root, entries, &[("it.sh", "exit 0\n")]);
    trust(&project.state(), &project.root);
    let start = |session: &str| send(&project, session, "SessionStart", &json!({"source": "startup"})).context();
    let told = start("one");
    assert!(told.contains("trusted since the last session here"), "{told}");
    assert!(told.contains("bash"), "the processes it was granted from: {told}");
    assert!(told.contains("hooks.yaml:3:15"), "{told}");
    let told = start("two");
    assert!(!told.contains("since the last session"), "it is told once: {told}");
    assert!(told.contains("nowhere.sh"), "{told}");
}

#[test]
fn the_users_hooks_need_no_grant_and_their_errors_are_not_silence() {
    let project = Project::new();
    project.write_home(".config/ruleline/hooks/hooks.yaml", "hooks:\n  PreToolUse:\n    - script: it\n");
    project.write_home(".config/ruleline/hooks/it.sh", "echo mine >&2; exit 2\n");
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "deny");
    assert_eq!(said.reason(), "it (the user's hooks): mine");
    std::os::unix::fs::symlink("/etc/passwd", project.home.join(".config/ruleline/hooks/link")).unwrap();
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "ask");
    assert!(said.reason().contains("link"), "{said:?}");
}

#[test]
fn t17_an_agent_is_asked_about_before_it_touches_trust() {
    let (project, _) = blocking();
    let grant = trust(&project.state(), &project.root);
    let store = project.state().join("grants");
    let write = |path: PathBuf| json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}});
    for path in [
        project.root.join(".ruleline/hooks/block.sh"),
        project.root.join(".ruleline/hooks/hooks.yaml"),
        store.join("x.json"),
        project.state().join("snapshots").join(grant.digest.hex()).join("block.sh"),
        project.home.join(".config/ruleline/hooks/hooks.yaml"),
    ] {
        assert_eq!(send(&project, "s", "PreToolUse", &write(path.clone())).decision(), "ask", "{}", path.display());
    }
    untrust(&project.state(), &project.root);
    let remove = format!("rm -rf {}", store.display());
    for command in
        ["ruleline hooks trust", "script -qc 'ruleline hooks trust' /dev/null", "rm .ruleline/hooks/block.sh", &remove]
    {
        let said = shell(&project, "s", command);
        assert_eq!(said.decision(), "ask", "{command}: {said:?}");
        assert!(said.reason().contains("self-protection"), "{command}: {said:?}");
    }
}

#[test]
fn a_guard_that_was_named_alone_runs_no_hook() {
    let (project, mark) = blocking();
    trust(&project.state(), &project.root);
    let payload = project.payload("Bash", &json!({"command": "ls"}));
    assert_eq!(project.hook(&["pre-edit", "--agent", "claude"], payload.to_string()).stdout, "");
    assert_eq!(marks(&mark), [""; 0]);
}

#[test]
fn a_link_or_a_deep_folder_leads_around_no_guard() {
    let project = Project::new();
    write_hooks(&project.root, "  PreToolUse:\n    - script: no\n", &[("no.sh", "exit 2\n")]);
    trust(&project.state(), &project.root);
    let deep = project.root.join("d/".repeat(300));
    let link = project.outside.join("link");
    fs::create_dir_all(&deep).unwrap();
    std::os::unix::fs::symlink(project.root.join("d/d"), &link).unwrap();
    let read = |session: &str, cwd: &Path, path: &Path| {
        let more = json!({"tool_name": "Read", "tool_input": {"file_path": path}, "cwd": cwd});
        send(&project, session, "PreToolUse", &more).decision()
    };
    let outside = &project.outside;
    assert_eq!(read("one", outside, &outside.join("a")), "silent");
    assert_eq!(read("two", outside, &link.join("secret")), "deny");
    assert_eq!(read("three", &link, Path::new("secret")), "deny");
    assert_eq!(read("four", &deep, Path::new("secret")), "deny");
}

#[test]
fn a_patch_runs_the_hooks_of_every_root_it_writes_below_before_and_after() {
    let project = Project::new();
    let (one, other) = (project.base().join("one"), project.base().join("other"));
    let mark = project.base().join("mark");
    let entries = "  PreToolUse:\n    - script: it\n  PostToolUse:\n    - script: it\n";
    for (root, name) in [(&one, "one"), (&other, "other")] {
        write_hooks(root, entries, &[("it.sh", &leave(&mark, name))]);
        trust(&project.state(), root);
    }
    let (to, from) = (one.join("a").display().to_string(), other.join("b").display().to_string());
    fs::write(&from, "x\n").unwrap();
    let patch =
        format!("*** Begin Patch\n*** Add File: {to}\n+x\n*** Update File: {from}\n@@\n-x\n+y\n*** End Patch\n");
    let patch = json!({"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "ok"});
    for event in ["PreToolUse", "PostToolUse"] {
        send_to(&project, "codex", event, event, &patch);
        assert_eq!(marks(&mark), ["one", "other"], "{event}");
        fs::remove_file(&mark).unwrap();
    }
}

#[test]
fn what_cannot_be_told_with_one_answer_is_told_with_the_next() {
    let (project, _) = blocking();
    trust(&project.state(), &project.root);
    send(&project, "s", "SessionStart", &json!({"source": "startup"}));
    fs::write(project.root.join(".ruleline/hooks/block.sh"), "exit 0\n").unwrap();
    assert_eq!(send(&project, "s", "PreCompact", &json!({"trigger": "auto"})).stdout, "");
    let said = send(&project, "s", "UserPromptSubmit", &json!({"prompt": "p"}));
    assert!(said.context().contains("changed since they were trusted"), "{said:?}");
}

#[test]
fn a_stop_is_blocked_by_no_failure() {
    let (project, _) = blocking();
    project.write_home(".config/ruleline/config.toml", "");
    let user = project.home.join(".config/ruleline");
    fs::set_permissions(&user, fs::Permissions::from_mode(0o777)).unwrap();
    for event in ["Stop", "SubagentStop", "PostToolUse"] {
        let said = send(&project, "s", event, &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
        assert!(!said.stdout.contains("block\""), "{event}: {said:?}");
        assert!(said.stderr.contains("is not used"), "{event}: {said:?}");
    }
    assert_eq!(shell(&project, "s", "ls").decision(), "ask");
}

#[test]
fn t19_roots_within_roots_are_told_of_and_not_all_read() {
    let project = Project::new();
    let text = "# \n".repeat(300_000);
    let mut folder = project.root.clone();
    for _ in 0..40 {
        folder.push("d");
        let scripts: Vec<(String, &str)> = (0..8).map(|number| (format!("s{number}.sh"), text.as_str())).collect();
        let scripts: Vec<(&str, &str)> = scripts.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        write_hooks(&folder, BLOCK, &scripts);
    }
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": folder});
    let said = send(&project, "s", "PreToolUse", &more);
    assert!(said.context().contains("were not looked at"), "{said:?}");
    assert_eq!(said.context().lines().count(), 5, "{said:?}");
    assert_eq!(send(&project, "s", "PreToolUse", &more).stdout, "", "it is said once");
}

#[test]
fn s11_a_command_that_names_what_is_protected_in_any_way_asks() {
    let (project, _) = blocking();
    let silent = [
        "ls ~",
        "rm -rf build/*",
        "rm $FILE",
        "cp ~/a ~/b",
        "mv a b",
        "echo x > $OUT/y",
        "cat ~/.config/ruleline/rules.toml",
    ];
    for command in silent {
        assert_eq!(shell(&project, "s", command).decision(), "silent", "{command}");
    }
    for command in [
        "cp forged.json ~/.config/ruleline/config.toml",
        "cp forged.json \"$HOME/.local/state/ruleline/grants/x.json\"",
        "echo '{}' > ~/.local/state/ruleline/grants/x.json",
        "echo '{}' > \"$HOME\"/.claude/settings.json",
        "echo '{}' | tee ~/.local/state/ruleline/grants/x.json",
        "rm -rf ~/.config",
        "mv ~/.local/state /tmp/x",
        "rm -rf .ruleline/hooks/*",
        "rm -rf .rule'line'",
        "sudo -n rm .ruleline/hooks/block.sh",
    ] {
        let said = shell(&project, "s", command);
        assert_eq!(said.decision(), "ask", "{command}: {said:?}");
        assert!(said.reason().contains("self-protection"), "{command}: {said:?}");
    }
    let inside = json!({
        "tool_name": "Bash", "tool_input": {"command": "rm block.sh"}, "cwd": project.root.join(".ruleline/hooks"),
    });
    assert_eq!(send(&project, "s", "PreToolUse", &inside).decision(), "ask");
}

#[test]
fn t08_a_program_of_any_workspace_is_no_program_of_a_hook() {
    let project = Project::new();
    let mark = project.base().join("mark");
    let inner = project.root.join("vendor/inner");
    fs::create_dir_all(inner.join(".git")).unwrap();
    let bin = project.root.join("bin");
    for (folder, name) in [(&bin, "evil"), (&project.outside, "mine")] {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("tool"), format!("#!/bin/sh\n{}", leave(&mark, name))).unwrap();
        fs::set_permissions(folder.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text = "hooks:\n  PreToolUse:\n    - command: [tool]\n    - script: it\n";
    project.write_home(".config/ruleline/hooks/hooks.yaml", text);
    project.write_home(".config/ruleline/hooks/it.sh", "tool\n");
    let path = format!("{}:{}:/usr/bin:/bin", bin.display(), project.outside.display());
    let state = project.state();
    let words = ["hook", "--agent", "claude", "--state-dir", state.to_str().unwrap()];
    let mut payload = project.payload("Bash", &json!({"command": "ls"}));
    // Where it began, below it, and elsewhere in the same session.
    for cwd in [&project.root, &inner, &project.home] {
        payload["cwd"] = json!(cwd);
        let said = project.run(&words, &[("PATH", &path)], payload.to_string().as_bytes());
        assert_eq!(said.decision(), "silent", "{}: {said:?}", cwd.display());
    }
    assert_eq!(marks(&mark), ["mine"; 6]);
}

#[test]
fn s01_hooks_of_the_user_that_others_may_write_do_not_run() {
    let project = Project::new();
    let mark = project.base().join("mark");
    let folder = project.home.join(".config/ruleline/hooks");
    project.write_home(".config/ruleline/hooks/hooks.yaml", "hooks:\n  PreToolUse:\n    - script: it\n");
    project.write_home(".config/ruleline/hooks/it.sh", leave(&mark, "ran"));
    for (path, usual) in [(folder.clone(), 0o755), (folder.join("it.sh"), 0o644), (folder.join("hooks.yaml"), 0o644)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(usual | 0o002)).unwrap();
        let said = shell(&project, "s", "ls");
        assert_eq!(said.decision(), "ask", "{}: {said:?}", path.display());
        assert!(said.reason().contains("written by others"), "{said:?}");
        fs::set_permissions(&path, fs::Permissions::from_mode(usual)).unwrap();
    }
    assert_eq!(marks(&mark), [""; 0]);
    assert_eq!(shell(&project, "s", "ls").decision(), "silent");
    assert_eq!(marks(&mark), ["ran"]);
}

#[test]
fn a_path_of_any_length_costs_little_and_leads_around_no_guard() {
    let project = Project::new();
    write_hooks(&project.root, "  PreToolUse:\n    - script: no\n", &[("no.sh", "exit 2\n")]);
    trust(&project.state(), &project.root);
    let root = project.root.display();
    for (session, path, decision) in [
        ("one", format!("{root}/{}secret", "a/../".repeat(100_000)), "deny"),
        ("two", format!("{root}/{}", "a/".repeat(1_000_000)), "deny"),
        ("three", format!("/{}", "a/".repeat(1_000_000)), "silent"),
    ] {
        let more = json!({"tool_name": "Read", "tool_input": {"file_path": path}, "cwd": project.outside});
        assert_eq!(send(&project, session, "PreToolUse", &more).decision(), decision, "{path:.60}");
    }
}
