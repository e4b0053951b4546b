//! `ruleline hooks` as a person meets it: what it shows for each standing, and who may trust and untrust (S9).

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/terminal.rs"]
mod terminal;
#[path = "support/trust.rs"]
mod trust;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use hook::{Project, Said};
use hooks::{Store, Tree};
use serde_json::Value;
use terminal::Sitting;
use trust::{send, shell, trust, untrust, write_hooks};

const GUARD: &str =
    "  PreToolUse:\n    - script: guard\n      matcher: Bash|apply_patch\n      timeout: 10\n      on_error: ask\n";
const SCRIPT: &str = "echo 'not here' >&2\nexit 2\n";

/// A project with one hook, in two files.
fn guarded() -> Project {
    let project = Project::new();
    write_hooks(&project.root, GUARD, &[("guard.sh", SCRIPT)]);
    project
}

fn hooks(project: &Project, words: &[&str]) -> Said {
    let state = project.state();
    let all = [&["hooks"], words, &["--state-dir", state.to_str().unwrap()]].concat();
    project.run(&all, &[], b"")
}

fn short(project: &Project) -> String {
    Tree::read(&project.root).unwrap().unwrap().digest.short()
}

fn is_trusted(project: &Project) -> bool {
    matches!(Store::new(&project.state()).read(&project.root), Ok(Some(hooks::grants::Record::Granted(_))))
}

/// What was said, with all that differs from run to run replaced.
fn steady(project: &Project, text: &str) -> String {
    let mut rest = text.replace(project.base().to_str().unwrap(), "BASE");
    let mut steady = String::new();
    // `DATE UTC` is 16 characters before the zone, and a version stands behind the interpreter that plays the terminal.
    while let Some(at) = rest.find(" UTC") {
        steady += &rest[..at - 16];
        steady += "DATE";
        rest = rest[at + 4..].to_owned();
    }
    rest = steady + &rest;
    let mut steady = String::new();
    while let Some(at) = rest.find("python") {
        steady += &rest[..at + 6];
        rest = rest[at + 6..].trim_start_matches(|it: char| it.is_ascii_digit() || it == '.').to_owned();
    }
    steady + &rest
}

#[test]
fn without_hooks_it_says_where_it_looked() {
    let project = Project::new();
    let said = hooks(&project, &[]);
    assert_eq!(said.code, Some(0));
    insta::assert_snapshot!(steady(&project, &said.stdout), @"
    Hooks of the user: none in BASE/home/.config/ruleline/hooks

    Hooks of projects: none in BASE/root and above
    ");
    for action in ["show", "diff"] {
        let said = hooks(&project, &[action]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_eq!(steady(&project, &said.stdout), "no hooks in BASE/root/.ruleline/hooks\n");
    }
}

#[test]
fn hooks_that_nobody_reviewed_are_counted_and_not_read() {
    let project = guarded();
    // Nothing of an untrusted manifest is interpreted, so it does not matter what it says.
    write_hooks(&project.root, "{{{ not yaml", &[]);
    insta::assert_snapshot!(steady(&project, &hooks(&project, &["list"]).stdout), @"
    Hooks of the user: none in BASE/home/.config/ruleline/hooks

    Hooks of the project BASE/root
      2 hook files in BASE/root were never reviewed, so none of them runs; `ruleline hooks show` shows them, `ruleline hooks trust` turns them on
      digest ab8af02ab0a9
    ");
    insta::assert_snapshot!(steady(&project, &hooks(&project, &["diff"]).stdout), @"the hooks in BASE/root were never trusted, so there is nothing to compare with; `ruleline hooks show` shows them");
}

#[test]
fn show_is_the_review_of_every_file() {
    let project = guarded();
    let said = hooks(&project, &["show"]);
    assert_eq!(said.code, Some(0));
    insta::assert_snapshot!(steady(&project, &said.stdout), @"
    Hooks in BASE/root
    2 files, 138 bytes, digest 66e5f19fabd8

    Nothing odd was seen. Read the files all the same.

    == guard.sh (27 bytes, 2 lines, sha256 3260afc48951) ==
        1 | echo 'not here' >&2
        2 | exit 2

    == hooks.yaml (111 bytes, 6 lines, sha256 63e8e2563841) ==
        1 | hooks:
        2 |   PreToolUse:
        3 |     - script: guard
        4 |       matcher: Bash|apply_patch
        5 |       timeout: 10
        6 |       on_error: ask

    2 files. `ruleline hooks trust` turns exactly these bytes on; it asks for 66e5f19fabd8. A grant covers no interpreter, no
    program and no file outside this folder.
    ");
}

#[test]
fn trusted_hooks_are_listed_with_what_they_do() {
    let project = guarded();
    let entries = "  PreToolUse:\n    - script: guard\n      matcher: Bash|apply_patch\n      timeout: 1.5\n      on_error: ask\n    - builtin: duet\n    - scrpt: guard\n  Stop:\n    - command: [ruff, check, --quiet]\n";
    write_hooks(&project.root, entries, &[]);
    trust(&project.state(), &project.root);
    project.write_home(".config/ruleline/hooks/hooks.yaml", "hooks:\n  PreToolUse:\n    - script: mine\n");
    project.write_home(".config/ruleline/hooks/mine.sh", "exit 0\n");
    insta::assert_snapshot!(steady(&project, &hooks(&project, &[]).stdout), @r#"
    Hooks of the user in BASE/home/.config/ruleline/hooks
      they run without a question, for you put them there
        PreToolUse  (every tool)  mine.sh

    Hooks of the project BASE/root
      trusted on DATE at a terminal by ruleline < bash
      2 files, digest 6d0ae7176607
        PreToolUse  Bash|apply_patch  guard.sh            1.5 s, on error: ask
        PreToolUse  (every tool)      duet (builtin)
        Stop                          ruff check --quiet
      hooks.yaml:8:7: error: entry 3 under "PreToolUse" is skipped: it names no "script", "builtin" or "command"
    "#);
    insta::assert_snapshot!(steady(&project, &hooks(&project, &["diff"]).stdout), @"nothing differs: the hooks in BASE/root are what was trusted on DATE at a terminal by ruleline < bash");
    assert!(hooks(&project, &["show"]).stdout.ends_with("These bytes are trusted.\n"));
}

#[test]
fn changed_hooks_are_named_and_compared() {
    let project = guarded();
    trust(&project.state(), &project.root);
    project.write(".ruleline/hooks/guard.sh", "echo 'not here' >&2\nexit 0\n");
    project.write(".ruleline/hooks/lib/more.sh", "true\n");
    insta::assert_snapshot!(steady(&project, &hooks(&project, &[]).stdout), @"
    Hooks of the user: none in BASE/home/.config/ruleline/hooks

    Hooks of the project BASE/root
      the hooks in BASE/root changed since they were trusted (guard.sh, lib/more.sh: added), so none of them runs; `ruleline hooks diff` shows how, `ruleline hooks trust` trusts them as they are now
      digest 6638725e3f39
      guard.sh: edited
      lib/more.sh: added
    ");
    insta::assert_snapshot!(steady(&project, &hooks(&project, &["diff"]).stdout), @"
    The hooks in BASE/root were trusted on DATE at a terminal by ruleline < bash. Since then:

      guard.sh: edited
      lib/more.sh: added

    --- granted/guard.sh
    +++ now/guard.sh
    @@ -1,2 +1,2 @@
     echo 'not here' >&2
    -exit 2
    +exit 0
    --- /dev/null
    +++ now/lib/more.sh
    @@ -1,0 +1,1 @@
    +true
    ");
    fs::remove_dir_all(project.root.join(".ruleline/hooks")).unwrap();
    insta::assert_snapshot!(steady(&project, &hooks(&project, &[]).stdout), @"
    Hooks of the user: none in BASE/home/.config/ruleline/hooks

    Hooks of the project BASE/root
      the trusted hooks in BASE/root are gone, so none of them runs; bring the files back, or `ruleline hooks untrust`
      guard.sh: removed
      hooks.yaml: removed
    ");
    insta::assert_snapshot!(steady(&project, &hooks(&project, &["diff"]).stdout), @"
    The hooks in BASE/root were trusted on DATE at a terminal by ruleline < bash. Since then:

      guard.sh: removed
      hooks.yaml: removed
    ");
}

#[test]
fn untrusted_hooks_can_still_be_compared() {
    let project = guarded();
    trust(&project.state(), &project.root);
    untrust(&project.state(), &project.root);
    insta::assert_snapshot!(steady(&project, &hooks(&project, &[]).stdout), @"
    Hooks of the user: none in BASE/home/.config/ruleline/hooks

    Hooks of the project BASE/root
      2 hook files in BASE/root were untrusted, so none of them runs; `ruleline hooks show` shows them, `ruleline hooks trust` turns them on
      digest 66e5f19fabd8
    ");
    let said = hooks(&project, &["diff"]);
    assert_eq!(said.code, Some(0));
    insta::assert_snapshot!(steady(&project, &said.stdout), @"nothing differs: the hooks in BASE/root are what was trusted on DATE at a terminal by ruleline < bash, and are not trusted any more");
}

#[test]
fn a_folder_that_cannot_be_read_whole_is_refused_with_the_reason() {
    let project = guarded();
    symlink("/etc/passwd", project.root.join(".ruleline/hooks/link.sh")).unwrap();
    insta::assert_snapshot!(steady(&project, &hooks(&project, &[]).stdout), @"
    Hooks of the user: none in BASE/home/.config/ruleline/hooks

    Hooks of the project BASE/root
      the hooks in BASE/root cannot be read whole, so none of them runs: BASE/root/.ruleline/hooks/link.sh: it is a link, and only plain files and folders are taken; remove it
    ");
    for action in ["show", "diff"] {
        let said = hooks(&project, &[action]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{action}");
        let why = "root/.ruleline/hooks/link.sh: it is a link, and only plain files and folders are taken; remove it";
        assert!(said.stderr.trim_end().ends_with(why), "{said:?}");
    }
}

#[test]
fn a_store_that_cannot_be_read_is_no_trust() {
    let project = guarded();
    trust(&project.state(), &project.root);
    let grants = project.state().join("grants");
    let record = fs::read_dir(&grants)
        .unwrap()
        .map(|it| it.unwrap().path())
        .find(|it| it.extension().is_some_and(|it| it == "json"));
    fs::write(record.unwrap(), "{").unwrap();
    let said = hooks(&project, &[]).stdout;
    assert!(said.contains("the record of trust for the hooks in") && said.contains("none of them runs"), "{said}");
    assert_eq!(hooks(&project, &["diff"]).code, Some(2));
}

#[test]
fn hooks_of_other_tools_are_told_of() {
    let project = guarded();
    project.write(
        ".claude/settings.json",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{}, {}]}], "Stop": [{"hooks": [{}]}]}}"#,
    );
    project.write(".cursor/hooks.json", "{");
    insta::assert_snapshot!(steady(&project, &hooks(&project, &[]).stdout), @"
    Hooks of the user: none in BASE/home/.config/ruleline/hooks

    Hooks of the project BASE/root
      2 hook files in BASE/root were never reviewed, so none of them runs; `ruleline hooks show` shows them, `ruleline hooks trust` turns them on
      digest 66e5f19fabd8

    Hooks of other tools
      BASE/root/.claude/settings.json: 3 hooks of Claude Code
      BASE/root/.cursor/hooks.json: perhaps hooks of Cursor
      Ruleline cannot gate these: whether they run is up to the tool they belong to.
    ");
}

#[test]
fn every_root_around_is_listed_and_the_innermost_is_meant() {
    let project = guarded();
    let inner = project.root.join("vendor/inner");
    write_hooks(&inner, "  Stop:\n    - script: inner\n", &[("inner.sh", "exit 0\n")]);
    let mut words = vec!["hooks", "list", "--json", "--project"];
    let (state, inner) = (project.state(), inner.to_str().unwrap().to_owned());
    words.extend([&inner, "--state-dir", state.to_str().unwrap()]);
    let said: Value = serde_json::from_str(&project.run(&words, &[], b"").stdout).unwrap();
    let roots: Vec<&str> = said["projects"].as_array().unwrap().iter().map(|it| it["root"].as_str().unwrap()).collect();
    assert_eq!(roots, [project.root.to_str().unwrap(), &inner]);
    let shown = hooks(&project, &["show", "--project", &inner]).stdout;
    assert!(shown.contains("inner.sh") && !shown.contains("guard.sh"), "{shown}");
}

#[test]
fn scripts_get_one_object() {
    let project = guarded();
    trust(&project.state(), &project.root);
    project.write(".ruleline/hooks/guard.sh", "exit 0\n");
    let read = |words: &[&str]| -> Value { serde_json::from_str(&hooks(&project, words).stdout).unwrap() };
    let listed = &read(&["--json"])["projects"][0];
    assert_eq!((listed["standing"].as_str(), listed["files"].as_u64()), (Some("changed"), Some(2)));
    assert_eq!(listed["changes"][0], serde_json::json!({"path": "guard.sh", "how": "edited"}));
    assert_eq!(listed["entries"], serde_json::json!([]), "what is not trusted is not interpreted");
    assert_ne!(listed["digest"], listed["granted"]["digest"]);
    let diff = read(&["diff", "--json"]);
    assert!(diff["text"].as_str().unwrap().contains("-exit 2"), "{diff:#}");
    let shown = read(&["show", "--json"]);
    assert_eq!(shown["digest"], listed["digest"]);
    assert!(shown["text"].as_str().unwrap().contains("guard.sh"));
}

#[test]
fn s22_nothing_of_a_project_steers_a_terminal() {
    let project = Project::new();
    let root = project.root.join("re\u{1b}[2J\u{202e}po");
    let evil = "echo \u{1b}[8mhidden\u{1b}[0m \u{202e}txt\u{200b} \u{9b}1m\r\nrm -rf /\rls\n";
    write_hooks(&root, GUARD, &[("guard.sh", evil)]);
    let root = root.to_str().unwrap().to_owned();
    let clean = |text: &str| {
        let steers = |it: char| (it.is_control() && it != '\n') || rules::plain::is_hidden(it);
        assert!(!text.contains(steers), "{text:?}");
    };
    for action in ["list", "show", "diff"] {
        let said = hooks(&project, &[action, "--project", &root]);
        clean(&said.stdout);
        clean(&said.stderr);
    }
    assert!(hooks(&project, &["show", "--project", &root]).stdout.contains(r"\u{1b}[8mhidden"));
    let digest = Tree::read(root.as_ref()).unwrap().unwrap().digest.short();
    let shown = Sitting::hooks(&project, &["trust", "--project", &root]).answer("these bytes: ", &digest).run();
    clean(&shown.text);
    assert!(shown.text.contains("guard.sh:"), "{}", shown.text);
    project.write("re\u{1b}[2J\u{202e}po/.ruleline/hooks/guard.sh", evil.replace("hidden", "other"));
    for action in ["list", "diff"] {
        clean(&hooks(&project, &[action, "--project", &root]).stdout);
    }
    fs::write(format!("{root}/.ruleline/hooks/x\u{1b}[31m.sh"), "").unwrap();
    for action in ["list", "show", "diff"] {
        let said = hooks(&project, &[action, "--project", &root]);
        clean(&said.stdout);
        clean(&said.stderr);
    }
}

#[test]
fn a_person_trusts_what_the_terminal_shows() {
    let project = guarded();
    let shown = Sitting::hooks(&project, &["trust"]).answer("these bytes: ", &short(&project)).run();
    assert_eq!(shown.code, 0, "{}", shown.text);
    insta::assert_snapshot!(steady(&project, &shown.text), @"
    Hooks in BASE/root: 2 files, 138 bytes
      guard.sh (27 bytes)
      hooks.yaml (111 bytes)
    `ruleline hooks show` shows every file whole.
    Once trusted they run as you, with all that you may do, when an agent works here.
    Type 66e5f19fabd8 to trust exactly these bytes: 66e5f19fabd8
    Trusted: 2 files of the hooks in BASE/root, digest 66e5f19fabd8.
    They run in sessions that begin from now on.
    ");
    assert!(is_trusted(&project));
    assert_eq!(shell(&project, "new", "ls").decision(), "deny");

    let again = Sitting::hooks(&project, &["trust"]).run();
    assert_eq!(again.code, 0);
    insta::assert_snapshot!(steady(&project, &again.text), @"the hooks in BASE/root are trusted already, on DATE at a terminal by ruleline < python terminal.py");
}

#[test]
fn a_change_is_trusted_anew() {
    let project = guarded();
    trust(&project.state(), &project.root);
    project.write(".ruleline/hooks/guard.sh", ". ../../tools/lib.sh\nexit 0\n");
    let shown = Sitting::hooks(&project, &["trust"]).answer("these bytes: ", &short(&project)).run();
    assert_eq!(shown.code, 0, "{}", shown.text);
    insta::assert_snapshot!(steady(&project, &shown.text), @"
    Hooks in BASE/root: 2 files, 139 bytes
      guard.sh (28 bytes)
      hooks.yaml (111 bytes)
    1 remark:
      guard.sh:1: reaches what the grant does not cover: . ../../tools/lib.sh, ../../tools/lib.sh
    `ruleline hooks show` shows every file whole, `ruleline hooks diff` what differs from what was trusted on DATE at a terminal by ruleline < bash.
    Once trusted they run as you, with all that you may do, when an agent works here.
    Type 18c6a32e7557 to trust exactly these bytes: 18c6a32e7557
    Trusted: 2 files of the hooks in BASE/root, digest 18c6a32e7557.
    They run from the next event on in sessions that began with hooks of this project, and in every new one.
    ");
}

#[test]
fn anything_but_the_digest_trusts_nothing() {
    let project = guarded();
    let short = short(&project);
    for answer in ["", "y", "yes", &short[..11], &format!("{short}0"), &"x".repeat(5000)] {
        let shown = Sitting::hooks(&project, &["trust"]).answer("these bytes: ", answer).run();
        assert_eq!(shown.code, 1, "{answer:.20}: {}", shown.text);
        assert!(shown.text.contains(&format!("nothing was trusted: {short} was not typed")), "{}", shown.text);
        assert!(!is_trusted(&project), "{answer:.20}");
    }
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let project = guarded();
    let short = short(&project);
    let wait = "echo ready; until read -t 0; do sleep 0.02; done; \"$@\"; exit $?";
    let sitting = Sitting::hooks(&project, &["trust"]).below(&["/bin/bash", "-c", wait, "bash"]);
    let shown = sitting.answer("ready", &short).answer("these bytes: ", "").run();
    assert_eq!((shown.code, is_trusted(&project)), (1, false), "{}", shown.text);
}

#[test]
fn t06_what_changes_between_the_question_and_its_answer_is_not_trusted() {
    let project = guarded();
    let script = project.root.join(".ruleline/hooks/guard.sh");
    let evil = format!("echo evil >> {}", script.display());
    let wait = Sitting::hooks(&project, &["trust"]).answer_after("these bytes: ", &short(&project), &evil).run();
    assert_eq!(wait.code, 2, "{}", wait.text);
    assert!(wait.text.contains("review them again"), "{}", wait.text);
    assert!(!is_trusted(&project));
}

#[test]
fn an_expected_digest_is_one_more_check_and_no_answer() {
    let project = guarded();
    let full = Tree::read(&project.root).unwrap().unwrap().digest.hex();
    let other = "0".repeat(64);
    let shown = Sitting::hooks(&project, &["trust", "--expect-digest", &other]).run();
    assert_eq!(shown.code, 2, "{}", shown.text);
    assert!(shown.text.contains("review them again"), "{}", shown.text);
    let shown = Sitting::hooks(&project, &["trust", "--expect-digest", &full]).answer("these bytes: ", "").run();
    assert_eq!((shown.code, is_trusted(&project)), (1, false), "{}", shown.text);
    for wrong in ["", "xyz", "0123", &"0".repeat(65)] {
        assert_eq!(hooks(&project, &["trust", "--expect-digest", wrong]).code, Some(2), "{wrong}");
    }
    let typed = Sitting::hooks(&project, &["trust", "--expect-digest", &full[..12].to_uppercase()]);
    assert_eq!(typed.answer("these bytes: ", &full[..12]).run().code, 0);
    assert!(is_trusted(&project));
}

#[test]
fn s09_without_a_terminal_nobody_trusts() {
    let project = guarded();
    let short = short(&project);
    let shown = Sitting::hooks(&project, &["trust"]).answer("", &short).without_a_terminal().run();
    assert_eq!(shown.code, 2);
    assert!(shown.text.contains("only a person may do this, at a terminal"), "{}", shown.text);
    let json = Sitting::hooks(&project, &["trust", "--json"]).answer("these bytes: ", &short).run();
    assert_eq!(json.code, 2, "{}", json.text);
    let behind = ["/bin/bash", "-mc", "\"$@\" & wait $!", "bash"];
    let background = Sitting::hooks(&project, &["trust"]).below(&behind).run();
    assert_eq!(background.code, 2, "{}", background.text);
    assert!(background.text.contains("in the background of its terminal"), "{}", background.text);
    assert!(!is_trusted(&project));

    trust(&project.state(), &project.root);
    let shown = Sitting::hooks(&project, &["untrust"]).answer("", "y").without_a_terminal().run();
    assert_eq!(shown.code, 2);
    assert!(is_trusted(&project), "who takes a guard away must be a person, too");
}

#[test]
fn s09_t17_an_agent_above_this_command_is_refused() {
    let project = guarded();
    let short = short(&project);
    let claude = project.base().join("claude");
    fs::write(&claude, "#!/bin/sh\n\"$@\"\nexit $?\n").unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let codex = project.base().join("codex");
    fs::copy("/bin/bash", &codex).unwrap();
    let gemini = project.base().join("gemini.py");
    fs::write(&gemini, "import subprocess, sys\nsys.exit(subprocess.call(sys.argv[1:]))\n").unwrap();
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let (claude, codex, gemini) = (path(&claude), path(&codex), path(&gemini));
    trust(&project.state(), &project.root);
    for (agent, above) in [
        ("Claude Code", vec![claude.as_str()]),
        ("Codex", vec![&codex, "-c", "\"$@\"; exit $?", "codex"]),
        ("Gemini CLI", vec!["/usr/bin/env", "python3", "-u", &gemini]),
        ("Claude Code", vec![&claude, "/bin/sh", "-c", "\"$@\"; exit $?", "sh"]),
    ] {
        for (action, question, answer) in [("trust", "these bytes: ", short.as_str()), ("untrust", "[y/N] ", "y")] {
            let shown = Sitting::hooks(&project, &[action]).below(&above).answer(question, answer).run();
            assert_eq!(shown.code, 2, "{above:?}: {}", shown.text);
            let said = format!("only a person may do this, and {agent} runs this command: process ");
            assert!(shown.text.contains(&said), "{above:?}: {}", shown.text);
        }
    }
    assert!(is_trusted(&project));
}

#[test]
fn s09_what_an_agent_sets_refuses_as_well() {
    let project = guarded();
    for variable in ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "COPILOT_CLI", "CURSOR_AGENT"] {
        let sitting = Sitting::hooks(&project, &["trust"]).with(variable, "1");
        let shown = sitting.answer("these bytes: ", &short(&project)).run();
        assert_eq!(shown.code, 2, "{variable}: {}", shown.text);
        assert!(shown.text.contains(variable), "{}", shown.text);
    }
    assert!(!is_trusted(&project));
}

#[test]
fn s09_a_new_grant_is_announced_with_the_processes_that_made_it() {
    let project = guarded();
    assert_eq!(Sitting::hooks(&project, &["trust"]).answer("these bytes: ", &short(&project)).run().code, 0);
    let begins = || send(&project, &another(&project), "SessionStart", &serde_json::json!({"source": "startup"}));
    let told = steady(&project, &begins().context());
    let expected = "were trusted since the last session here, on DATE at a terminal by ruleline < python";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("if that was not you"), "{told}");
    assert!(!begins().context().contains("trusted since"), "it is told once");
}

/// Another session each time.
fn another(project: &Project) -> String {
    let sessions = fs::read_dir(project.state().join("sessions")).map_or(0, Iterator::count);
    format!("session-{sessions}")
}

#[test]
fn a_grant_records_by_which_processes() {
    let project = guarded();
    let sitting = Sitting::hooks(&project, &["trust"]).below(&["/bin/sh", "-c", "\"$@\"; exit $?", "sh"]);
    assert_eq!(sitting.answer("these bytes: ", &short(&project)).run().code, 0);
    let grant = Store::new(&project.state()).read(&project.root).unwrap().unwrap().grant().clone();
    assert_eq!(grant.by.means, hooks::Means::Terminal);
    assert_eq!(grant.by.processes[0], "ruleline");
    assert_eq!(
        grant.by.processes.len(),
        3,
        "{:?}: the shell and what plays the terminal are above",
        grant.by.processes
    );
}

#[test]
fn a_person_takes_trust_back() {
    let project = guarded();
    trust(&project.state(), &project.root);
    assert_eq!(shell(&project, "s", "ls").decision(), "deny");
    let kept = Sitting::hooks(&project, &["untrust"]).answer("[y/N] ", "").run();
    assert_eq!((kept.code, is_trusted(&project)), (1, true), "{}", kept.text);
    let shown = Sitting::hooks(&project, &["untrust"]).answer("[y/N] ", "y").run();
    assert_eq!(shown.code, 0);
    insta::assert_snapshot!(steady(&project, &shown.text), @"
    Hooks in BASE/root: 2 files, digest 66e5f19fabd8, trusted on DATE at a terminal by ruleline < bash
    Without trust none of them runs any more, guards among them.
    Untrust them? [y/N] y
    Untrusted: none of the hooks in BASE/root runs until they are trusted again.
    ");
    assert!(!is_trusted(&project));
    assert_eq!(shell(&project, "s", "ls").decision(), "silent", "it acts at once");
    let again = Sitting::hooks(&project, &["untrust"]).run();
    assert_eq!(again.code, 1, "{}", again.text);
}

#[test]
fn what_cannot_be_trusted_says_why() {
    let project = guarded();
    fs::remove_dir_all(project.root.join(".ruleline/hooks")).unwrap();
    assert_eq!(Sitting::hooks(&project, &["trust"]).run().code, 1);
    write_hooks(&project.root, GUARD, &[("guard.sh", SCRIPT)]);
    symlink("guard.sh", project.root.join(".ruleline/hooks/link.sh")).unwrap();
    let shown = Sitting::hooks(&project, &["trust"]).run();
    assert_eq!(shown.code, 2);
    assert!(shown.text.contains("link.sh"), "{}", shown.text);
}

#[test]
fn s03_a_state_folder_in_the_project_is_refused() {
    let project = guarded();
    let state = project.root.join("state");
    fs::create_dir(&state).unwrap();
    let said = project.run(&["hooks", "list", "--state-dir", state.to_str().unwrap()], &[], b"");
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    assert!(said.stderr.contains("lies in the workspace"), "{said:?}");
}
