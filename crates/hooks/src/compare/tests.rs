use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::digest::TreeDigest;
use crate::tree::Signature;

fn tree(files: &[(&str, &[u8], bool)]) -> Tree {
    let mut files: Vec<TreeFile> = files
        .iter()
        .map(|(path, bytes, executable)| TreeFile {
            path: (*path).to_owned(),
            bytes: Arc::from(*bytes),
            sha256: system::digest::sha256(bytes),
            executable: *executable,
            names: 1,
        })
        .collect();
    files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    let digest = TreeDigest::of(&files);
    Tree { files, signature: Signature { hash: String::new(), fresh: true }, digest }
}

fn diff(before: &str, after: &str) -> String {
    unified(&tree(&[("x", before.as_bytes(), false)]), &tree(&[("x", after.as_bytes(), false)]))
}

#[test]
fn line_ends_are_told_from_other_changes() {
    for (one, other, same) in [
        ("a\nb\n", "a\r\nb\r\n", true),
        ("a\r\nb\n", "a\nb\r\n", true),
        ("a\n", "a\r", false),
        ("a\rb\n", "ab\n", false),
        ("a\r\r\n", "a\r\n", false),
        ("a\n", "a\n\n", false),
        ("", "\r\n", false),
    ] {
        assert_eq!(same_but_line_ends(one.as_bytes(), other.as_bytes()), same, "{one:?} {other:?}");
    }
}

#[test]
fn a_diff_shows_what_changed_and_nothing_else() {
    let before = (1..=20).fold(String::new(), |text, line| format!("{text}line {line}\n"));
    let after = before.replace("line 3\n", "line three\n").replace("line 18\n", "").replace("line 20\n", "line 20");
    assert_eq!(
        diff(&before, &after),
        "--- granted/x\n+++ now/x\n@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+line three\n line 4\n line 5\n line 6\n\
         @@ -15,6 +15,5 @@\n line 15\n line 16\n line 17\n-line 18\n line 19\n-line 20\n+line 20\n\\ No newline at end \
         of file\n"
    );
    assert_eq!(diff("a\n", "a\n"), "");
    assert_eq!(diff("", "a\n"), "--- granted/x\n+++ now/x\n@@ -1,0 +1,1 @@\n+a\n");
    let old = tree(&[("gone", b"1\n", false), ("mode", b"m", false), ("bin", b"\xff", false)]);
    let new = tree(&[("new\u{1b}", b"2\n", false), ("mode", b"m", true), ("bin", b"\xff\0", false)]);
    assert_eq!(
        unified(&old, &new),
        "--- granted/bin\n+++ now/bin\n@@ -1,1 +1,1 @@\n-\\xff\n\\ No newline at end of file\n+\\xff\\u{0}\n\\ No newline at end of file\n--- granted/gone\n+++ /dev/null\n@@ -1,1 \
         +1,0 @@\n-1\n--- granted/mode\n+++ now/mode\n(not executable before, executable now)\n--- /dev/null\n+++ \
         now/new\\u{1b}\n@@ -1,0 +1,1 @@\n+2\n"
    );
}

#[test]
fn t15_a_diff_is_escaped_and_bounded() {
    let text = diff("a\n", "\u{1b}[2K\ra\u{202e}\n");
    assert!(text.contains("+\\u{1b}[2K\\ra\\u{202e}\n"), "{text}");
    let long = diff("", &"x".repeat(1 << 20));
    assert!(long.len() < 3000 && long.contains("cut: the line has 1048576 bytes"), "{}", long.len());
    let many = diff(&"a\n".repeat(500_000), &"b\n".repeat(500_000));
    assert!(many.lines().count() < LINES + 5 && many.contains("more lines are not shown"));
}

proptest! {
    #[test]
    fn the_steps_lead_from_one_text_to_the_other(
        before in proptest::collection::vec("[abc]", 0..12),
        after in proptest::collection::vec("[abc]", 0..12),
    ) {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.iter().map(|it| &**it).collect(), after.iter().map(|it| &**it).collect());
        let steps = steps(&old, &new);
        let of = |mark: &'static str| steps.iter().filter(move |step| step.mark != mark);
        prop_assert_eq!(of("+").map(|step| old[step.old]).collect::<Vec<_>>(), old.clone());
        prop_assert_eq!(of("-").map(|step| new[step.new]).collect::<Vec<_>>(), new);
    }

    #[test]
    fn differences_are_what_changes_the_digest(
        before in proptest::collection::btree_map("[a-d]", ("[xy]{0,2}", any::<bool>()), 1..4),
        after in proptest::collection::btree_map("[a-d]", ("[xy]{0,2}", any::<bool>()), 1..4),
    ) {
        let tree_of = |files: &BTreeMap<String, (String, bool)>| {
            tree(&files.iter().map(|(path, (text, bit))| (&**path, text.as_bytes(), *bit)).collect::<Vec<_>>())
        };
        let (one, other) = (tree_of(&before), tree_of(&after));
        let granted: Vec<GrantedFile> = one.files.iter().map(|file| GrantedFile {
            path: file.path.clone(),
            sha256: system::digest::hex(&file.sha256),
            size: file.bytes.len() as u64,
            executable: file.executable,
        }).collect();
        let found = differences(&granted, Some(&one), &other);
        prop_assert_eq!(found.is_empty(), one.digest == other.digest);
        prop_assert_eq!(unified(&one, &other).is_empty(), one.digest == other.digest);
        let changed: Vec<_> = before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path))
            .collect::<std::collections::BTreeSet<_>>().into_iter().cloned().collect();
        prop_assert_eq!(found.into_iter().map(|it| it.path).collect::<Vec<_>>(), changed);
    }
}
