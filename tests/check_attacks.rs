//! `ruleline check` in repositories that attack whoever looks at them: nothing of theirs runs, nothing steers a terminal,
//! no option hides in a name (S19, S22, S25).

#![allow(clippy::unwrap_used, reason = "a test fails where nothing can be had")]

#[path = "support/repository.rs"]
mod repository;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use repository::Repository;

const RULES: &str = r#"
[[rule]]
id = "no-eval"
paths = ["**"]
forbid = ['eval']
why = "no \u001b[2J eval\nhere"
"#;

#[test]
fn s25_no_program_of_the_repository_runs() {
    let repository = Repository::with(RULES, &[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let witness = repository.base().join("ran");
    let attack = repository.base().join("attack.sh");
    fs::write(&attack, format!("#!/bin/sh\ntouch '{}'\ncat \"$@\"\n", witness.display())).unwrap();
    fs::set_permissions(&attack, fs::Permissions::from_mode(0o755)).unwrap();
    repository.git(&["checkout", "-qb", "work"]);
    repository.write("a.py", "x = eval(1)\n");
    repository.commit();
    repository.write("b.py", "y = eval(2)\n");
    repository.git(&["add", "b.py"]);
    for key in [
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "core.sshCommand",
        "core.askPass",
        "core.editor",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "credential.helper",
        "alias.diff-tree",
        "alias.ls-files",
    ] {
        repository.git(&["config", key, attack.to_str().unwrap()]);
    }
    repository.write(".git/info/attributes", "* filter=x diff=x text eol=crlf\n");
    repository.write(".gitattributes", "* filter=x diff=x\n*.py -diff\n");
    for hook in ["post-index-change", "post-checkout", "pre-commit", "reference-transaction"] {
        fs::copy(&attack, repository.root.join(".git/hooks").join(hook)).unwrap();
    }
    let index = fs::read(repository.root.join(".git/index")).unwrap();
    assert!(!witness.exists());
    assert_eq!(repository.sketch(&["--staged"]), ["deny no-eval b.py:1:5"]);
    assert_eq!(repository.sketch(&["--base", "main"]), ["deny no-eval a.py:1:5"]);
    assert_eq!(repository.sketch(&["a.py", "b.py"]).len(), 2);
    assert!(!witness.exists(), "something of the repository ran");
    assert_eq!(fs::read(repository.root.join(".git/index")).unwrap(), index, "and nothing was written");
}

#[test]
fn s25_the_environment_names_no_other_repository() {
    let repository = Repository::with(RULES, &[]);
    repository.write("a.py", "eval(1)\n");
    repository.git(&["add", "a.py"]);
    let other = Repository::with("", &[]);
    let folder = other.root.join(".git");
    let index = folder.join("index");
    let environment = [("GIT_DIR", folder.to_str().unwrap()), ("GIT_WORK_TREE", other.root.to_str().unwrap())];
    let checked = repository.check_in(&repository.root, &["--staged", "--format", "json"], &environment);
    assert_eq!(checked.sketch(), ["deny no-eval a.py:1:1"]);
    let environment = [("GIT_INDEX_FILE", index.to_str().unwrap())];
    assert_eq!(repository.check_in(&repository.root, &["--staged"], &environment).code, Some(2));
}

#[test]
fn s25_a_revision_is_no_option() {
    let repository = Repository::with(RULES, &[]);
    for revision in [
        "--output=stolen",
        "-h",
        "",
        "--all",
        "HEAD --output=stolen",
        "main\n--output=stolen",
        "$(touch stolen)",
        "main..main",
        "main:a.py",
        "\u{1b}[31m",
    ] {
        let checked = repository.check(&[&format!("--base={revision}")]);
        assert_eq!((checked.code, checked.stdout.as_str()), (Some(2), ""), "{revision:?}");
        assert!(checked.stderr.contains("is no revision of this repository"), "{checked:?}");
        assert!(!checked.stderr.contains('\u{1b}') && checked.stderr.lines().count() == 1, "{checked:?}");
    }
    assert!(!repository.root.join("stolen").exists());
}

#[test]
fn s22_names_and_lines_do_not_steer_the_terminal() {
    let repository = Repository::with(RULES, &[]);
    let names = ["a\nb.py", "\u{1b}[2Jc.py", "-d.py", "--staged", "\u{202e}e.py", "f \".py", ":(glob)**", "\u{7}"];
    for name in names {
        repository.write(name, "\u{1b}]0;owned\u{7} eval(1) \u{202e}\u{200b}\u{9b}31m\ttab\n");
    }
    repository.git(&["add", "-A"]);
    for words in [&[][..], &["--staged"], &["--", "-d.py", "--staged"]] {
        let checked = repository.check(words);
        assert_eq!(checked.code, Some(1), "{words:?}");
        let steering = |letter: char| letter.is_control() && letter != '\n' || rules::plain::is_hidden(letter);
        assert!(!checked.stdout.contains(steering), "{words:?}: {}", checked.stdout.escape_debug());
        assert!(!checked.stdout.contains("\nb.py"));
    }
    let sketch = repository.sketch(&["--staged"]);
    assert_eq!(sketch.len(), names.len());
    assert!(sketch.contains(&"deny no-eval a\nb.py:1:12".to_owned()), "JSON has the name itself: {sketch:?}");
    insta::assert_snapshot!(repository.check(&["--", "-d.py"]).stdout, @r##"
    deny[no-eval]: forbidden pattern
     --> -d.py:1:12
      |
    1 | \u{1b}]0;owned\u{7} eval(1) \u{202e}\u{200b}\u{9b}31m    tab
      |                     ^^^^
      |
      = why: no \u{1b}[2J eval\nhere
      = rule: .ruleline/rules.toml:3

    1 finding (1 deny) in 1 of 1 file
    "##);
}

#[test]
fn s22_secrets_are_in_no_output() {
    let rules = "[[rule]]\nid = \"s\"\npaths = [\"**\"]\nforbid = ['sk-[A-Z]+', 'eval']\nredact = true\n\n[[rule]]\nid = \"t\"\npaths = [\"**\"]\nforbid = ['b = ']\n";
    let repository = Repository::with(rules, &[]);
    repository.write("a.py", format!("{}b = eval('sk-SECRETSECRET')\n", " ".repeat(3)));
    repository.write("long.py", format!("{}b = eval('sk-SECRETSECRET') {}\n", "x".repeat(500), "y".repeat(500)));
    repository.git(&["add", "-A"]);
    for words in [&[][..], &["--staged"], &["--format", "json"]] {
        let checked = repository.check(words);
        assert!(checked.stdout.contains("sk-S…"), "{}", checked.stdout);
        assert!(!checked.stdout.contains("SECRET"), "{}", checked.stdout);
    }
}

#[test]
fn an_ignore_file_that_leads_away_is_not_read() {
    let repository = Repository::with(RULES, &[("a.py", "x\n")]);
    repository.write("b.py", "eval(1)\n");
    std::os::unix::fs::symlink("/dev/zero", repository.root.join(".gitignore")).unwrap();
    assert!(repository.sketch(&["."]).contains(&"deny no-eval b.py:1:1".to_owned()));
}
