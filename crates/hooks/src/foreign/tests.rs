use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn found(files: &[(&str, &str)]) -> Vec<(String, Option<usize>)> {
    let keep = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let at = keep.path().join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }
    hooks_of_others(keep.path()).into_iter().map(|it| (it.path, it.hooks)).collect()
}

#[test]
fn each_tools_hooks_are_counted() {
    let groups = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "a"}, {"command": "b"}]}],
        "Stop": [{"hooks": [{"command": "c"}]}]}}"#;
    let flat = r#"{"version": 1, "hooks": {"preToolUse": [{"bash": "a"}], "stop": [{"command": "b"}]}}"#;
    let toml = "model = 'x'\n[[hooks.PreToolUse]]\nmatcher = 'a'\n[[hooks.PreToolUse.hooks]]\ntype = 'command'\n\
                [hooks.state.'x']\ntrusted_hash = 'y'\n";
    let expected = [
        (".claude/settings.json", groups, Some(3)),
        (".claude/settings.local.json", groups, Some(3)),
        (".codex/hooks.json", groups, Some(3)),
        (".codex/config.toml", toml, Some(1)),
        (".gemini/settings.json", groups, Some(3)),
        (".cursor/hooks.json", flat, Some(2)),
        (".github/hooks/a.json", flat, Some(2)),
        (".github/hooks/b.JSON", flat, Some(2)),
    ];
    let files: Vec<_> = expected.iter().map(|(path, text, _)| (*path, *text)).collect();
    let expected: Vec<_> = expected.iter().map(|(path, _, hooks)| ((*path).to_owned(), *hooks)).collect();
    assert_eq!(found(&files), expected);
}

#[test]
fn files_without_hooks_are_not_listed_and_garbled_ones_are() {
    assert_eq!(found(&[(".claude/settings.json", "{\"model\": 1}"), (".github/hooks/readme.md", "x")]), []);
    assert_eq!(found(&[(".claude/settings.json", "{\"hooks\": {}}"), (".codex/config.toml", "a = 1\n")]), []);
    for garbled in ["{", "", "[".repeat(100_000).as_str(), "{\"hooks\": 1}", "{\"hooks\": []}"] {
        assert_eq!(
            found(&[(".cursor/hooks.json", garbled)]),
            [(".cursor/hooks.json".to_owned(), None)],
            "{garbled:.9}"
        );
    }
    assert_eq!(found(&[(".codex/config.toml", "hooks = [")]), [(".codex/config.toml".to_owned(), None)]);
    for deep in [
        format!("hooks = {}", "[".repeat(100_000)),
        format!("hooks{} = 1", ".a".repeat(100_000)),
        format!("[hooks{}]", ".a".repeat(100_000)),
        format!("hooks = {}", "{a=".repeat(100_000)),
        "[[hooks.a]]\n".repeat(50_000),
    ] {
        let found = found(&[(".codex/config.toml", &deep)]);
        assert!(found.len() <= 1, "{deep:.20}");
    }
}

#[test]
fn links_and_giants_are_listed_and_not_read() {
    let keep = tempfile::tempdir().unwrap();
    let root = keep.path();
    fs::create_dir_all(root.join(".claude")).unwrap();
    fs::create_dir_all(root.join(".github")).unwrap();
    fs::write(root.join("real"), "{}").unwrap();
    symlink("../real", root.join(".claude/settings.json")).unwrap();
    fs::File::create(root.join(".claude/settings.local.json")).unwrap().set_len(100 << 30).unwrap();
    symlink("/", root.join(".github/hooks")).unwrap();
    let found: Vec<_> = hooks_of_others(root).into_iter().map(|it| (it.path, it.hooks)).collect();
    let expected = [".claude/settings.json", ".claude/settings.local.json", ".github/hooks"];
    assert_eq!(found, expected.map(|path| (path.to_owned(), None)));
    assert_eq!(hooks_of_others(&root.join("none")), []);
}
