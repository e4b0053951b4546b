//! `ruleline check` over files, as a process: what is judged, what it says and how it ends.

#![allow(clippy::unwrap_used, reason = "a test fails where nothing can be had")]

#[path = "support/repository.rs"]
mod repository;

use std::fs;
use std::os::unix::fs::symlink;

use repository::Repository;

const RULES: &str = r#"
[[rule]]
id = "no-eval"
paths = ["**/*.py", "*.ipynb"]
forbid_calls = ["eval"]
why = "Parse the input instead."

[[rule]]
id = "no-secrets"
paths = ["**"]
forbid = ['\bsk-[A-Za-z0-9]{8,}\b']
redact = true

[[rule]]
id = "no-print"
paths = ["src/*.py"]
forbid = ['\bprint\(']
on_fail = "ask"

[[rule]]
id = "later"
paths = ["**/*.py"]
forbid = ['LATER']
on_fail = "warn"

[[rule]]
id = "undo"
paths = ["migrations/*.py"]
require_def = ["downgrade"]

[[rule]]
id = "ci"
paths = ["ci/**"]
on_fail = "ask"
"#;

#[test]
fn what_is_found_decides_the_exit_status() {
    for (path, text, sketch, code) in [
        ("a.py", "x = 1\n", &[][..], 0),
        ("a.py", "x = eval(y)\n", &["deny no-eval a.py:1:5"], 1),
        ("src/a.py", "a = '🦀'; print(1)\n", &["ask no-print src/a.py:1:10"], 1),
        ("a.py", "# LATER\n", &["warn later a.py:1:3"], 0),
        ("a.py", "a\r\nb\reval(y)\n", &["deny no-eval a.py:3:1"], 1),
        ("migrations/1.py", "x = 1\n", &["deny undo migrations/1.py"], 1),
        ("ci/run", "rm -rf /\n", &[], 0),
        ("a.py", "\u{feff}eval(1)\n", &["deny no-eval a.py:1:2"], 1),
        ("a.md", "eval(1)", &[], 0),
        ("a.ipynb", NOTEBOOK, &["deny no-eval a.ipynb:2:1"], 1),
        ("a.py", "eval(1)\0", &[], 0),
        ("a.py", "x = (\neval(1)\n", &["deny no-eval a.py:2:1", "open no-eval a.py"], 1),
    ] {
        let repository = Repository::empty(RULES);
        repository.write(path, text);
        let checked = repository.check(&["--format", "json"]);
        assert_eq!((checked.sketch(), checked.code), (owned(sketch), Some(code)), "{path}: {text:?}");
        assert_eq!(checked.json()["summary"]["exit"], code);
        assert_eq!(repository.check(&[]).code, Some(code), "{path}: {text:?}");
    }
}

const NOTEBOOK: &str = r##"{"cells": [
    {"cell_type": "markdown", "source": ["# eval(1)\n", "LATER"]},
    {"cell_type": "code", "source": ["x = 1\n", "eval(x)"]}
]}"##;

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn the_text_has_an_excerpt_for_each_finding() {
    let repository = Repository::empty(RULES);
    repository.write("src/a.py", "x = 1\ndef f():\n\ta = \"🦀\"; return eval(a)  # LATER\n");
    repository.write("src/b.py", "key = 'sk-ABCDEFGHIJKL'; print(key)\n");
    repository.write("migrations/1.py", "def upgrade():\n    pass\n");
    repository.write("migrations/2.py", "def downgrade():\n    pass\n");
    insta::assert_snapshot!(repository.check(&[]).stdout, @r##"
    deny[undo]: no function downgrade()
    --> migrations/1.py
     = rule: .ruleline/rules.toml:27

    deny[undo]: downgrade() does nothing
    --> migrations/2.py:1:5
     = rule: .ruleline/rules.toml:27

    deny[no-eval]: calls eval
     --> src/a.py:3:18
      |
    3 |     a = "🦀"; return eval(a)  # LATER
      |                      ^^^^
      |
      = why: Parse the input instead.
      = rule: .ruleline/rules.toml:3

    warn[later]: forbidden pattern
     --> src/a.py:3:29
      |
    3 |     a = "🦀"; return eval(a)  # LATER
      |                                 ^^^^^
      |
      = rule: .ruleline/rules.toml:21

    deny[no-secrets]: forbidden pattern
     --> src/b.py:1:8
      |
    1 | key = 'sk-A…'; print(key)
      |        ^^^^^
      |
      = rule: .ruleline/rules.toml:9

    ask[no-print]: forbidden pattern
     --> src/b.py:1:26
      |
    1 | key = 'sk-A…'; print(key)
      | ^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = rule: .ruleline/rules.toml:15

    6 findings (4 deny, 1 ask, 1 warn) in 4 of 5 files
    "##);
}

#[test]
fn the_json_is_the_documented_one() {
    let repository = Repository::empty(RULES);
    repository.write("src/a.py", "a = '🦀'; eval(\n  a)\n");
    insta::assert_snapshot!(repository.check(&["--format", "json", "src/a.py"]).stdout, @r##"
    {
      "findings": [
        {
          "cell": null,
          "column": 10,
          "effect": "deny",
          "end_column": 14,
          "end_line": 1,
          "line": 1,
          "message": "calls eval. Parse the input instead.",
          "path": "src/a.py",
          "revision": null,
          "rule": "no-eval",
          "rule_line": 3,
          "rulebook": ".ruleline/rules.toml",
          "text": "a = '🦀'; eval("
        }
      ],
      "problems": [],
      "summary": {
        "ask": 0,
        "binary": 0,
        "deny": 1,
        "errors": 0,
        "exit": 1,
        "files": 1,
        "files_with_findings": 1,
        "unchecked": 0,
        "warn": 0
      },
      "unchecked": [],
      "version": 1
    }
    "##);
}

#[test]
fn a_broken_rulebook_is_shown_where_it_is_broken() {
    let repository = Repository::empty(
        "[[rule]]\nid = \"bad\"\npaths = [\"**/*.py\"]\nforbid = ['(unclosed']\n\n[[rule]]\nid = \"good\"\npaths = [\"**/*.py\", \"/abs\"]\nforbid = ['BAD']\n",
    );
    repository.write("a.py", "BAD\n");
    repository.write("a.md", "fine\n");
    let checked = repository.check(&[]);
    assert_eq!(checked.code, Some(2));
    insta::assert_snapshot!(checked.stdout, @r##"
    error[bad]: `forbid` pattern: unclosed group; write `\(` for the parenthesis itself
     --> .ruleline/rules.toml:4:12
      |
    4 | forbid = ['(unclosed']
      |            ^

    warning[good]: paths are relative to the root and never start with `/`; only a user's rulebook names absolute paths
     --> .ruleline/rules.toml:8:21
      |
    8 | paths = ["**/*.py", "/abs"]
      |                     ^^^^^^

    deny[good]: forbidden pattern
     --> a.py:1:1
      |
    1 | BAD
      | ^^^
      |
      = rule: .ruleline/rules.toml:7

    could not check[bad]: line 4: `forbid` pattern: unclosed group; write `\(` for the parenthesis itself
    --> a.py
     = rule: .ruleline/rules.toml:2

    1 finding (1 deny) in 1 of 3 files; 1 could not be checked; 1 error in the rulebook
    "##);
    assert_eq!(repository.sketch(&["a.py", "a.md"]), ["deny good a.py:1:1", "open bad a.py"]);

    repository.write(".ruleline/rules.toml", "[[rule\n");
    assert_eq!(repository.check(&[]).code, Some(2));
    assert_eq!(repository.sketch(&["a.md"]), ["open null a.md"]);
}

#[test]
fn ignored_files_are_left_out_unless_git_tracks_them() {
    let repository = Repository::empty(RULES);
    for path in ["a.py", "out/tracked.py", "out/ignored.py", ".hidden/a.py", "keep/x.log", "keep/y.log", "in/ne/r.py"] {
        repository.write(path, "eval(sk-ABCDEFGHIJKL)\n");
    }
    repository.git(&["add", "out/tracked.py"]);
    repository.write(".gitignore", "out/\n*.log\n!keep/y.log\nin/**\n");
    repository.write("in/ne/.gitignore", "!r.py\n");
    let paths = |words: &[&str]| {
        let json = repository.check(&[words, &["--format", "json"]].concat()).json();
        let mut paths: Vec<String> =
            json["findings"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect();
        paths.dedup();
        paths
    };
    assert_eq!(paths(&[]), [".hidden/a.py", "a.py", "keep/y.log", "out/tracked.py"]);
    assert_eq!(paths(&["keep"]), ["keep/y.log"]);
    assert_eq!(paths(&["out/ignored.py", "keep/x.log"]), ["keep/x.log", "out/ignored.py"], "what is named is judged");
    assert_eq!(
        repository.sketch(&["a.py", "keep", "./a.py", "."]).len(),
        repository.sketch(&[]).len(),
        "each file once"
    );
}

#[test]
fn outside_of_a_repository_nothing_is_ignored() {
    let folder = Repository::folder();
    folder.write(".ruleline/rules.toml", RULES);
    folder.write(".gitignore", "*.py\n");
    folder.write("a.py", "eval(1)\n");
    assert_eq!(folder.sketch(&[]), ["deny no-eval a.py:1:1"]);
}

#[test]
fn the_order_is_that_of_the_paths_however_many_threads_there_are() {
    let repository = Repository::empty(RULES);
    for number in 0..300 {
        repository.write(&format!("d{}/f{number}.py", number % 7), format!("{}eval(1)\n", "\n".repeat(number % 50)));
    }
    let first = repository.check(&["--format", "json"]);
    let mut sorted = first.json()["findings"].as_array().unwrap().clone();
    sorted.sort_by_key(|found| std::path::PathBuf::from(found["path"].as_str().unwrap()));
    assert_eq!(first.json()["findings"].as_array().unwrap(), &sorted);
    assert_eq!(sorted.len(), 300);
    assert_eq!(first.stdout, repository.check(&["--format", "json"]).stdout);
}

#[test]
fn another_rulebook_takes_the_projects_place() {
    let repository = Repository::empty(RULES);
    repository.write("a.py", "eval(1)\nFORBIDDEN\n");
    let rules = r#"{"rules": [{"id": "other", "paths": ["**/*.py"], "forbid": ["FORBIDDEN"]}]}"#;
    repository.write("../other.json", rules);
    assert_eq!(repository.sketch(&["--rules", "../other.json"]), ["deny other a.py:2:1"]);
    let checked = repository.check(&["--rules", "nowhere.toml"]);
    let said = "ruleline: --rules nowhere.toml: there is no such file\n";
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(2), said));
}

#[test]
fn s05_inner_and_outer_rulebooks_hold_together() {
    let repository = Repository::empty(RULES);
    repository.write("in/.ruleline/rules.toml", "[[rule]]\nid = \"inner\"\npaths = [\"*.py\"]\nforbid = ['INNER']\n");
    repository.write("in/a.py", "eval(1)\nINNER\n");
    assert_eq!(repository.sketch(&[]), ["deny no-eval in/a.py:1:1", "deny inner in/a.py:2:1"]);
    let checked = repository.check_in(&repository.root.join("in"), &["a.py", "--format", "json"], &[]);
    assert_eq!(checked.sketch(), ["deny no-eval a.py:1:1", "deny inner a.py:2:1"]);
}

#[test]
fn errors_are_told_and_nothing_is_judged() {
    let repository = Repository::folder();
    repository.write("a.py", "eval(1)\n");
    for (words, stderr) in [
        (
            &["a.py"][..],
            "ruleline: no rulebook: .ruleline/rules.toml is neither here nor above; `ruleline init` writes one\n",
        ),
        (&["none.py"], "ruleline: none.py: No such file or directory (os error 2)\n"),
        (
            &["--staged"],
            "ruleline: git rev-parse: fatal: not a git repository (or any of the parent directories): .git\n",
        ),
    ] {
        let checked = repository.check(words);
        assert_eq!(
            (checked.code, checked.stdout.as_str(), checked.stderr.as_str()),
            (Some(2), "", stderr),
            "{words:?}"
        );
    }
    let usage = repository.check(&["--staged", "--base", "HEAD"]);
    assert_eq!(usage.code, Some(2));
    assert_eq!(usage.stdout, "");
}

#[test]
fn s16_what_cannot_be_read_is_not_silently_left_out() {
    let repository = Repository::empty(RULES);
    repository.write("a.py", "x = 1\n");
    fs::create_dir(repository.root.join("outside")).unwrap();
    repository.write("../secret.py", "eval(1)\n");
    symlink("../secret.py", repository.root.join("link.py")).unwrap();
    symlink("a.py", repository.root.join("inside.py")).unwrap();
    let fifo = repository.root.join("fifo.py");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert_eq!(repository.sketch(&[]), Vec::<String>::new(), "links and pipes are no files");
    let named = repository.check(&["link.py", "--format", "json"]);
    assert_eq!((named.sketch(), named.code), (vec!["open null link.py".to_owned()], Some(1)));
    assert!(!named.stdout.contains("eval"), "nothing of what a link leads to is shown");
    symlink("..", repository.root.join("up")).unwrap();
    for through in ["up/secret.py", "up"] {
        let named = repository.check(&[through]);
        assert_eq!((named.code, named.stdout.contains("eval")), (Some(1), false), "{through}: {named:?}");
    }
    assert_eq!(repository.check(&["inside.py"]).code, Some(0));
    assert_eq!(repository.check(&["fifo.py"]).code, Some(1));

    fs::remove_file(repository.root.join(".ruleline/rules.toml")).unwrap();
    symlink("../../secret.py", repository.root.join(".ruleline/rules.toml")).unwrap();
    assert!(repository.sketch(&["a.py"]).iter().any(|line| line.starts_with("open null")), "a rulebook is no link");
    assert_eq!(repository.check(&["a.py"]).code, Some(2));
}
