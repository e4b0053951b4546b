//! A session in front of a real hook process, when trust comes and goes: what starts to run, what stops, and what asks.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/trust.rs"]
mod trust;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use trust::{BLOCK, blocking, leave, marks, script, send, shell, trust, untrust, write_hooks};

#[test]
fn hooks_of_a_clone_run_only_after_a_person_granted_them() {
    let (project, mark) = blocking();
    let first = shell(&project, "one", "ls");
    assert_eq!(first.decision(), "silent");
    assert!(first.context().contains("2 hook files"), "{first:?}");
    assert!(first.context().contains("never reviewed"), "{first:?}");
    assert_eq!(shell(&project, "one", "ls").stdout, "", "it is said once");
    trust(&project.state(), &project.root);
    let waiting = shell(&project, "one", "ls");
    assert_eq!(waiting.decision(), "silent");
    assert!(waiting.context().contains("start with the next session"), "{waiting:?}");
    assert_eq!(marks(&mark), [""; 0]);
    let said = shell(&project, "two", "ls");
    assert_eq!(said.decision(), "deny");
    assert!(said.reason().starts_with("block (hooks of "), "{said:?}");
    assert!(said.reason().ends_with(": not block"), "{said:?}");
    assert_eq!(marks(&mark), ["block"]);
}

#[test]
fn t01_changed_bytes_stop_the_hooks_and_the_guarded_calls_ask() {
    let (project, mark) = blocking();
    trust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny");
    let block = project.root.join(".ruleline/hooks/block.sh");
    let good = fs::read(&block).unwrap();
    fs::write(&block, leave(&mark, "evil")).unwrap();
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "ask");
    assert!(said.reason().contains("block.sh"), "{said:?}");
    assert!(said.context().contains("changed since they were trusted"), "{said:?}");
    let again = shell(&project, "s", "ls");
    assert_eq!((again.decision().as_str(), again.context().as_str()), ("ask", ""), "{again:?}");
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "a"}});
    assert_eq!(send(&project, "s", "PreToolUse", &read).decision(), "silent", "no hook looked at reads");
    fs::write(&block, good).unwrap();
    assert_eq!(shell(&project, "s", "ls").decision(), "deny", "the very bytes are trusted again");
    assert_eq!(marks(&mark), ["block", "block"]);
}

type Act<'a> = &'a dyn Fn();

#[test]
fn every_kind_of_change_is_one() {
    let (project, _) = blocking();
    let folder = project.root.join(".ruleline/hooks");
    trust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny");
    let block = folder.join("block.sh");
    let text = fs::read_to_string(&block).unwrap();
    let mode = |bits| fs::set_permissions(&block, fs::Permissions::from_mode(bits)).unwrap();
    let cases: [(&str, Act<'_>, Act<'_>); 5] = [
        ("block.sh", &|| fs::write(&block, text.replace('e', "E")).unwrap(), &|| fs::write(&block, &text).unwrap()),
        ("block.sh", &|| mode(0o755), &|| mode(0o644)),
        ("new.sh", &|| fs::write(folder.join("new.sh"), "").unwrap(), &|| {
            fs::remove_file(folder.join("new.sh")).unwrap();
        }),
        ("block.sh", &|| fs::rename(&block, folder.join("b.sh")).unwrap(), &|| {
            fs::rename(folder.join("b.sh"), &block).unwrap();
        }),
        ("gone", &|| fs::rename(&folder, project.root.join("away")).unwrap(), &|| {
            fs::rename(project.root.join("away"), &folder).unwrap();
        }),
    ];
    mode(0o644);
    trust(&project.state(), &project.root);
    for (name, change, undo) in cases {
        change();
        let said = shell(&project, "s", "ls");
        assert_eq!(said.decision(), "ask", "{name}: {said:?}");
        assert!(said.reason().contains(name), "{name}: {said:?}");
        undo();
        assert_eq!(shell(&project, "s", "ls").decision(), "deny", "{name}");
    }
}

#[test]
fn a_person_may_choose_that_granted_hooks_go_on() {
    let (project, mark) = blocking();
    project.write_home(".config/ruleline/config.toml", "on_change = \"keep\"\n");
    trust(&project.state(), &project.root);
    fs::write(project.root.join(".ruleline/hooks/block.sh"), leave(&mark, "evil")).unwrap();
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "deny");
    assert!(said.context().contains("goes on running"), "{said:?}");
    assert_eq!(marks(&mark), ["block"], "what was granted ran, not what is there");
    project.write(".ruleline/config.toml", "on_change = \"keep\"\n");
    project.write_home(".config/ruleline/config.toml", "");
    assert_eq!(shell(&project, "s", "ls").decision(), "ask", "a project cannot choose it");
}

#[test]
fn t22_untrusting_acts_at_once_and_trusting_again_too() {
    let (project, mark) = blocking();
    trust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny");
    untrust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "silent");
    fs::write(project.root.join(".ruleline/hooks/block.sh"), script(&mark, "new")).unwrap();
    trust(&project.state(), &project.root);
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "deny");
    assert_eq!(marks(&mark), ["block", "new"]);
}

#[test]
fn s13_no_event_lifts_a_freeze() {
    let (project, mark) = blocking();
    shell(&project, "s", "ls");
    trust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "silent");
    let start = json!({"source": "clear"});
    send(&project, "s", "SessionEnd", &json!({}));
    assert_eq!(shell(&project, "s", "ls").decision(), "silent", "an end that was forged begins nothing");
    send(&project, "s", "SessionStart", &start);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny", "a beginning takes a grant made since the last freeze");
    // Bytes that were trusted once, before: only the latest grant counts.
    let block = project.root.join(".ruleline/hooks/block.sh");
    let old = fs::read(&block).unwrap();
    fs::write(&block, script(&mark, "new")).unwrap();
    trust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny");
    fs::write(&block, old).unwrap();
    send(&project, "s", "SessionStart", &start);
    assert_eq!(shell(&project, "s", "ls").decision(), "ask");
    assert_eq!(marks(&mark), ["block", "new"]);
}

#[test]
fn s14_a_snapshot_that_is_not_what_was_granted_is_a_lost_guard() {
    let (project, mark) = blocking();
    let grant = trust(&project.state(), &project.root);
    let copy = project.state().join("snapshots").join(grant.digest.hex()).join("block.sh");
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&copy, leave(&mark, "evil")).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o400)).unwrap();
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "ask");
    assert!(said.reason().contains("other bytes than were granted"), "{said:?}");
    assert_eq!(marks(&mark), [""; 0]);
    trust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny", "trusting again makes a new copy");
}

#[test]
fn s03_a_state_folder_in_a_workspace_holds_no_trust() {
    let (project, mark) = blocking();
    trust(&project.state(), &project.root);
    let inside = project.root.join("state");
    trust(&inside, &project.root);
    let payload = project.payload("Bash", &json!({"command": "ls"})).to_string();
    let words = ["hook", "--agent", "claude", "--state-dir", inside.to_str().unwrap()];
    let said = project.run(&words, &[], payload.as_bytes());
    assert_eq!(said.decision(), "ask", "whether they are trusted is not known");
    assert!(said.reason().contains("lies in the workspace"), "{said:?}");
    assert_eq!(marks(&mark), [""; 0]);
}

#[test]
fn who_leaves_the_folder_a_session_began_in_keeps_its_guards() {
    let (project, _) = blocking();
    trust(&project.state(), &project.root);
    send(&project, "s", "SessionStart", &json!({"source": "startup"}));
    let away = |session: &str| {
        let more = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": project.outside});
        send(&project, session, "PreToolUse", &more)
    };
    assert_eq!(away("s").decision(), "deny");
    assert_eq!(away("other").decision(), "silent", "a session that began elsewhere has none");
    // Folder and record are gone: the session alone knows.
    fs::remove_dir_all(project.root.join(".ruleline")).unwrap();
    fs::remove_dir_all(project.state().join("grants")).unwrap();
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "ask", "{said:?}");
    assert!(said.reason().contains("nobody took it back"), "{said:?}");
}

#[test]
fn a_root_that_becomes_a_link_keeps_its_guards_for_the_session() {
    let (project, mark) = blocking();
    trust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny");
    fs::remove_file(&mark).unwrap();
    let moved = project.base().join("moved");
    fs::rename(&project.root, &moved).unwrap();
    fs::remove_dir_all(moved.join(".ruleline/hooks")).unwrap();
    std::os::unix::fs::symlink(&moved, &project.root).unwrap();
    for _ in 0..2 {
        let said = shell(&project, "s", "ls");
        assert_eq!(said.decision(), "ask", "{said:?}");
        assert!(said.reason().contains("a link stands where"), "{said:?}");
    }
    assert_eq!(marks(&mark), [""; 0]);
}

#[test]
fn a_store_that_is_spoiled_before_a_session_hides_no_guard() {
    let (project, mark) = blocking();
    trust(&project.state(), &project.root);
    let grants = project.state().join("grants");
    let spoil = |mode| fs::set_permissions(&grants, fs::Permissions::from_mode(mode)).unwrap();
    let nameless = || {
        send(
            &project,
            "",
            "PreToolUse",
            &json!({"session_id": null, "tool_name": "Bash", "tool_input": {"command": "ls"}}),
        )
    };
    spoil(0o755);
    for said in [shell(&project, "s", "ls"), shell(&project, "s", "ls"), nameless()] {
        assert_eq!(said.decision(), "ask", "{said:?}");
        assert!(said.reason().contains("is open to other users"), "{said:?}");
    }
    assert_eq!(marks(&mark), [""; 0]);
    spoil(0o700);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny");
}

#[test]
fn a_state_folder_that_is_spoiled_hides_no_guard() {
    let (project, mark) = blocking();
    trust(&project.state(), &project.root);
    let spoil = |mode| fs::set_permissions(project.state(), fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(shell(&project, "s", "ls").decision(), "deny");
    fs::remove_file(&mark).unwrap();
    fs::remove_dir_all(project.root.join(".ruleline/hooks")).unwrap();
    spoil(0o777);
    for session in ["s", "new"] {
        let said = shell(&project, session, "ls");
        assert_eq!(said.decision(), "ask", "{session}: the record of the grant is still named: {said:?}");
    }
    fs::remove_dir_all(project.state().join("grants")).unwrap();
    let said = shell(&project, "s", "ls");
    assert_eq!(said.decision(), "ask", "the session's record is still named: {said:?}");
    assert!(said.reason().contains("can be written by others"), "{said:?}");
    assert_eq!(shell(&project, "another", "ls").decision(), "silent");
}

#[test]
fn s03_a_state_folder_in_a_workspace_holds_no_trust_wherever_the_agent_works() {
    let (project, mark) = blocking();
    let inside = project.root.join("state");
    trust(&inside, &project.root);
    let mut payload = project.payload("Bash", &json!({"command": "ls"}));
    payload["cwd"] = json!(project.outside);
    let words = ["hook", "--agent", "claude", "--state-dir", inside.to_str().unwrap()];
    write_hooks(&project.outside, BLOCK, &[("block.sh", &script(&mark, "block"))]);
    trust(&inside, &project.outside);
    let said = project.run(&words, &[], payload.to_string().as_bytes());
    assert_eq!(said.decision(), "ask", "{said:?}");
    assert_eq!(marks(&mark), [""; 0]);
}
