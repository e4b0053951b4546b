//! `ruleline demo` as a process: it comes out as it tells, says so in its exit status, and leaves nothing behind.

#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Runs a demonstration with its temporary files below `folder`.
fn demo(program: &Path, folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.arg("demo").args(words).env_clear().env("RULELINE_TEST_HOME", folder.join("home"));
    command.env("TMPDIR", folder).output().unwrap()
}

/// The text without the name of the temporary project, which is another each time.
fn steady(text: &str, folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap();
    let prefix = format!("{}/ruleline-demo-", folder.display());
    let mut pieces = text.split(&prefix);
    let first = pieces.next().unwrap().to_owned();
    // Six characters tell one from another.
    pieces.fold(first, |steady, piece| steady + "BASE" + &piece[6..])
}

#[test]
fn everything_comes_out_as_it_is_told() {
    let temp = tempfile::tempdir().unwrap();
    let ran = demo(Path::new(env!("CARGO_BIN_EXE_ruleline")), temp.path(), &[]);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&ran.stderr));
    let shown = steady(text.split("Time taken:").next().unwrap(), temp.path());
    insta::assert_snapshot!(shown, @r##"
    A project with one file, prices.py, and one rule, in .ruleline/rules.toml:

        [[rule]]
        id = "no-eval"
        paths = ["**/*.py"]
        forbid_calls = ["eval", "exec"]
        why = "eval runs whatever it is given; ast.literal_eval reads literals and nothing else."

    In an editor, line 5 of the buffer is changed:

      -     label = "🛒 total"; amount = sum(order)
      +     label = "🛒 total"; amount = eval(order)

    It is underlined at once:

        error: no-eval: calls eval. eval runs whatever it is given; ast.literal_eval reads literals and nothing else.
         --> prices.py:5:33
          |
        5 |     label = "🛒 total"; amount = eval(order)
          |                                  ^^^^

    Claude Code wants to make the same edit with Edit. The hook answers Claude Code:

        ruleline blocked this edit of prices.py:
        - no-eval — line 5: label = "🛒 total"; amount = eval(order) [calls eval]. eval runs whatever it is given; ast.literal_eval reads literals and nothing else.

    Codex wants to make the same edit with apply_patch. The hook answers Codex:

        ruleline blocked this edit of prices.py:
        - no-eval — line 5: label = "🛒 total"; amount = eval(order) [calls eval]. eval runs whatever it is given; ast.literal_eval reads literals and nothing else.

    All three name the same rule and line and give the same reason; both agents are told it in the same words,
    with the server running and without it.

    An edit that no rule forbids:

      -     label = "🛒 total"; amount = sum(order)
      +     label = "🛒 total"; amount = round(sum(order), 2)

    Nothing is underlined, and the hook says nothing to either agent.

    The project brings a hook, hooks.yaml and no-force.sh:

        hooks:
          PreToolUse:
            - script: no-force
              matcher: Bash

        read -r call
        if [[ $call == *'push --force'* ]]; then echo 'nobody pushes by force here' >&2; exit 2; fi

    Nobody has read it. Claude Code wants to run `git push --force`; the hook does not run, and Claude Code is told:

        2 hook files in BASE/shop were never reviewed, so none of them runs; `ruleline hooks show` shows them, `ruleline hooks trust` turns them on

    A person reads it with `ruleline hooks show` and trusts its bytes with `ruleline hooks trust`; here the
    demonstration does, for itself alone. In the next session the same call is refused:

        no-force (hooks of BASE/shop): nobody pushes by force here

    Somebody makes its `exit 2` an `exit 0`. The hook stops, and what it would have guarded is left to a person:

        ruleline asks about this: the hooks in BASE/shop changed since they were trusted (no-force.sh), so none of them runs; `ruleline hooks diff` shows how, `ruleline hooks trust` trusts them as they are now; a person decides
    "##);
    for what in
        ["editor: from the change", "Claude Code: the hook", "Codex: the hook", "without the server", "a trusted hook"]
    {
        assert!(text.split("Time taken:").nth(1).unwrap().contains(what), "{what}: {text}");
    }
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn scripts_get_one_object() {
    let temp = tempfile::tempdir().unwrap();
    let ran = demo(Path::new(env!("CARGO_BIN_EXE_ruleline")), temp.path(), &["--json"]);
    let said: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((said["ok"].as_bool(), ran.status.code()), (Some(true), Some(0)), "{said:#}");
    let scenes: Vec<String> = said["scenes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scene| {
            let what = scene.get("edit").unwrap_or(&scene["hook"]);
            format!("{} {what} {}", scene["who"], scene["decision"]).replace('"', "")
        })
        .collect();
    let expected = [
        "editor refused null",
        "claude refused deny",
        "codex refused deny",
        "editor allowed null",
        "claude allowed null",
        "codex allowed null",
        "claude never reviewed null",
        "claude trusted deny",
        "claude changed ask",
    ];
    assert_eq!(scenes, expected);
    let diagnostic = &said["scenes"][0]["diagnostics"][0];
    let range = [&diagnostic["range"]["start"], &diagnostic["range"]["end"]];
    assert_eq!(range.map(|place| place["character"].as_u64().unwrap()), [33, 37], "UTF-16 columns behind an emoji");
    assert_eq!(said["scenes"][1]["reason"], said["scenes"][2]["reason"]);
}

#[test]
fn what_cannot_be_shown_or_fails_is_no_success() {
    let temp = tempfile::tempdir().unwrap();
    let alone = temp.path().join("ruleline");
    fs::copy(env!("CARGO_BIN_EXE_ruleline"), &alone).unwrap();
    let without = demo(&alone, temp.path(), &[]);
    assert_eq!((without.status.code(), without.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&without.stderr).contains("ruleline-server is neither beside"));

    // A server that says nothing about any file.
    let server = temp.path().join("ruleline-server");
    fs::write(&server, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&server, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ended = demo(&alone, temp.path(), &["--json"]);
    let said: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((said["ok"].as_bool(), ended.status.code()), (Some(false), Some(1)));
    fs::remove_file(&server).unwrap();
    fs::remove_file(&alone).unwrap();
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0, "nothing is left");
}
