//! What an editor holds unsaved is asked about before it is lost, in the editor's own name; the user switches that off.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/log.rs"]
mod log;

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use guard::unsaved::Unsaved;
use hook::Project;
use serde_json::json;

const RULES: &str = "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"eval\"]\n";
const CONFIG: &str = ".config/ruleline/config.toml";

/// A project one file of which this process holds unsaved, as the editor of this name.
fn held(editor: &str) -> (Project, Unsaved) {
    let project = Project::with_rules(RULES);
    project.write("src/a.py", "x = 1\n");
    fs::DirBuilder::new().mode(0o700).create(project.state()).unwrap();
    let unsaved = Unsaved::new(&project.state(), editor);
    unsaved.write(&[project.root.join("src/a.py")], SystemTime::now()).unwrap();
    (project, unsaved)
}

fn edit(project: &Project) -> hook::Said {
    project.hook(&["--agent", "claude"], project.payload_write("src/a.py", "x = 2\n").to_string())
}

#[test]
fn an_edit_of_what_an_editor_holds_asks_in_its_name() {
    let (project, unsaved) = held("Visual Studio Code");
    let said = edit(&project);
    assert_eq!(said.decision(), "ask", "{said:?}");
    assert!(said.reason().contains("unsaved changes in Visual Studio Code would be lost"), "{said:?}");
    let line = log::last(&log::in_project(&project));
    let guard = line["guards"].as_array().unwrap().iter().find(|guard| guard[0] == "unsaved").unwrap();
    assert_eq!((&line["decision"], &guard[1]), (&json!("ask"), &json!("ask")));
    // A rule's refusal is a refusal, and another file is nobody's business.
    assert_eq!(project.decision(&project.payload_write("src/a.py", "eval(x)\n")), "deny");
    assert_eq!(project.decision(&project.payload_write("src/b.py", "x = 2\n")), "silent");
    unsaved.write(&[], SystemTime::now()).unwrap();
    assert_eq!(edit(&project).decision(), "silent", "saved");
}

#[test]
fn a_shell_that_would_write_over_it_or_take_it_away_asks() {
    let (project, _unsaved) = held("Neovim");
    for command in ["echo 1 > src/a.py", "rm src/a.py", "rm -rf src", "mv src/a.py b.py", "sed -i s/1/2/ src/a.py"] {
        let said =
            project.hook(&["--agent", "claude"], project.payload("Bash", &json!({"command": command})).to_string());
        assert_eq!(said.decision(), "ask", "{command}: {said:?}");
        assert!(said.reason().contains("Neovim"), "{command}: {said:?}");
    }
    let read = project.payload("Bash", &json!({"command": "cat src/a.py > /dev/null; ls src"}));
    assert_eq!(project.decision(&read), "silent");
}

#[test]
fn the_user_switches_it_off_and_a_project_only_on() {
    for (user, theirs, decision) in [
        ("", "", "ask"),
        ("unsaved_buffers = \"off\"\n", "", "silent"),
        ("", "unsaved_buffers = \"off\"\n", "ask"),
        ("unsaved_buffers = \"off\"\n", "unsaved_buffers = \"ask\"\n", "ask"),
    ] {
        let (project, _unsaved) = held("Neovim");
        project.write_home(CONFIG, user);
        project.write(".ruleline/config.toml", theirs);
        assert_eq!(edit(&project).decision(), decision, "{user:?} {theirs:?}");
    }
}

#[test]
fn s19_the_name_of_an_editor_is_one_harmless_line() {
    let (project, _unsaved) = held(&format!("Evil\n\u{202e}\u{1b}[2J{}", "x".repeat(10_000)));
    let reason = edit(&project).reason();
    assert!(reason.contains("unsaved changes in Evil\\n\\u{202e}"), "{reason}");
    assert!(reason.len() < 500 && !reason.contains('\u{1b}'), "{reason}");
}

#[test]
fn what_is_over_gone_or_not_ours_holds_nothing() {
    let (project, unsaved) = held("Neovim");
    let file = project.root.join("src/a.py");
    unsaved.write(std::slice::from_ref(&file), SystemTime::now() - Duration::from_secs(601)).unwrap();
    assert_eq!(edit(&project).decision(), "silent", "too old");
    unsaved.write(&[file], SystemTime::now()).unwrap();
    assert_eq!(edit(&project).decision(), "ask");
    let record = project.state().join(format!("unsaved/{}.json", std::process::id()));
    let whole = fs::read_to_string(&record).unwrap();
    // A process that is gone.
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let theirs = record.with_file_name(format!("{}.json", gone.id()));
    fs::write(&theirs, whole.replace(&std::process::id().to_string(), &gone.id().to_string())).unwrap();
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(&record).unwrap();
    assert_eq!(edit(&project).decision(), "silent", "gone");
    // Whatever stands there costs nothing.
    assert!(std::process::Command::new("mkfifo").arg(&record).status().unwrap().success());
    fs::write(record.with_file_name("1.json"), "[".repeat(1 << 20)).unwrap();
    assert_eq!(edit(&project).decision(), "silent", "hostile");
}
