//! What calls do to files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use agents::{After, EditStep, Files, NotebookEdit, NotebookMode, ToolCall, edits};
use proptest::prelude::*;

struct Disk(HashMap<&'static str, &'static str>);

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<Option<Arc<str>>, String> {
        let path = path.to_str().unwrap();
        match self.0.get(path) {
            Some(&"<folder>") => Err("it is a folder".into()),
            text => Ok(text.map(|text| Arc::from(*text))),
        }
    }
}

fn disk(files: &[(&'static str, &'static str)]) -> Disk {
    Disk(files.iter().copied().collect())
}

/// `path: after`, one line a file.
fn outline(call: &ToolCall, disk: &Disk) -> Result<Vec<String>, String> {
    let cells = |cells: &[agents::Cell]| cells.iter().map(|cell| cell.source.clone()).collect::<Vec<_>>().join("|");
    Ok(edits(call, Some(Path::new("/p")), disk)?
        .iter()
        .map(|edit| {
            let after = match &edit.after {
                After::Text(text) => format!("text {text:?}"),
                After::Moved(text) => format!("moved {text:?}"),
                After::Deleted => "deleted".to_owned(),
                After::Notebook { before, after } => format!("cells {} -> {}", cells(before), cells(after)),
                After::Unknown { fresh, why } => {
                    let fresh: Vec<String> = fresh.iter().map(|one| format!("{:?}>{:?}", one.old, one.new)).collect();
                    format!("unknown {} ({why})", fresh.join(" "))
                }
            };
            format!("{}{}: {after}", edit.path.display(), if edit.before.is_some() { "" } else { " (new)" })
        })
        .collect())
}

fn edit(path: &str, steps: &[(&str, &str, bool)]) -> ToolCall {
    let steps = steps.iter().map(|(old, new, all)| EditStep { old: (*old).into(), new: (*new).into(), all: *all });
    ToolCall::Edit { path: path.into(), steps: steps.collect() }
}

#[test]
fn edits_are_applied_to_the_file() {
    let files = disk(&[
        ("/p/a", "x\ny\nx\n"),
        ("/p/empty", ""),
        ("/p/crlf", "x\r\ny\r\n"),
        ("/p/mixed", "x\r\ny\nz\n"),
        ("/p/aaa", "aaa"),
        ("/p/dir", "<folder>"),
    ]);
    let table: &[(ToolCall, &str)] = &[
        (edit("/p/a", &[("y", "z", false)]), r#"/p/a: text "x\nz\nx\n""#),
        (edit("a", &[("y", "z", false)]), r#"a: text "x\nz\nx\n""#),
        (edit("a", &[("x", "z", true)]), r#"a: text "z\ny\nz\n""#),
        (edit("a", &[("x", "z", false)]), r#"a: unknown "x">"z" (the old text stands in the file more than once)"#),
        (
            edit("aaa", &[("aa", "b", false)]),
            r#"aaa: unknown "aa">"b" (the old text stands in the file more than once)"#,
        ),
        (edit("aaa", &[("aa", "b", true)]), r#"aaa: text "ba""#),
        (edit("a", &[("q", "z", false)]), r#"a: unknown "q">"z" (the old text is not in the file)"#),
        (
            edit("a", &[("y", "z", false), ("q", "w", false)]),
            r#"a: unknown "y">"z" "q">"w" (edit 2: the old text is not in the file)"#,
        ),
        (edit("a", &[("y", "yy", false), ("yy\nx", "", false)]), r#"a: text "x\n\n""#),
        (edit("a", &[]), r#"a: text "x\ny\nx\n""#),
        (edit("a", &[("", "z", false)]), r#"a: unknown "">"z" (an empty old text, and the file is not empty)"#),
        (edit("empty", &[("", "z", false)]), r#"empty: text "z""#),
        (edit("new", &[("", "z\n", false), ("z", "q", false)]), r#"new (new): text "q\n""#),
        (edit("new", &[("z", "q", false)]), r#"new (new): unknown "z">"q" (there is no such file)"#),
        (edit("crlf", &[("x\ny", "b\nc\nd", false)]), r#"crlf: text "b\r\nc\r\nd\r\n""#),
        (edit("crlf", &[("x\r\ny", "b", false)]), r#"crlf: text "b\r\n""#),
        (edit("mixed", &[("x\ny", "b", false)]), r#"mixed: text "b\nz\n""#),
        (edit("dir", &[("x", "y", false)]), r#"dir (new): unknown "x">"y" (it is a folder)"#),
        (ToolCall::Write { path: "a".into(), content: "q".into() }, r#"a: text "q""#),
        (ToolCall::Write { path: "new".into(), content: "q".into() }, r#"new (new): text "q""#),
        (ToolCall::Write { path: "dir".into(), content: "q".into() }, r#"dir (new): unknown "">"q" (it is a folder)"#),
    ];
    for (call, wanted) in table {
        assert_eq!(outline(call, &files).unwrap(), [*wanted], "{call:?}");
    }
    for call in [
        ToolCall::Search { among: agents::Among::Texts, pattern: None },
        ToolCall::Shell { command: "x".into() },
        ToolCall::Other,
    ] {
        assert!(outline(&call, &files).unwrap().is_empty());
    }
}

#[test]
fn a_replacement_cannot_blow_the_text_up() {
    let text: &'static str = "a".repeat(1 << 20).leak();
    let files = disk(&[("/p/a", text)]);
    let new = "b".repeat(1 << 10);
    let got = outline(&edit("a", &[("a", &new, true)]), &files).unwrap();
    assert!(got[0].ends_with("(the edit makes the file too large)"));
    let swap: Vec<(&str, &str, bool)> = [("a", "b", true), ("b", "a", true)].repeat(1_000);
    let got = outline(&edit("a", &swap), &files).unwrap();
    assert!(got[0].ends_with("the edits are too costly to apply)"));
}

#[test]
fn patches_are_applied_to_their_files() {
    let files = disk(&[
        ("/p/a", "a\nb\nc\n"),
        ("/p/crlf", "a\r\nb\r\n"),
        ("/p/bare", "a"),
        ("/p/dir", "<folder>"),
        ("/p/n.ipynb", r#"{"cells":[{"cell_type":"code","source":"old"}]}"#),
    ]);
    let table: &[(&str, &[&str])] = &[
        ("*** Add File: new\n+x\n+y", &[r#"new (new): moved "x\ny\n""#]),
        ("*** Add File: a\n+b", &[r#"a: moved "b\n""#]),
        ("*** Delete File: a", &["a: deleted"]),
        ("*** Delete File: gone", &["gone (new): deleted"]),
        ("*** Update File: a\n@@\n-b\n+B", &[r#"a: text "a\nB\nc\n""#]),
        ("*** Update File: bare\n@@\n-a\n+b", &[r#"bare: text "b\n""#]),
        ("*** Update File: crlf\n@@\n-a\n+A\n+AA", &[r#"crlf: text "A\r\nAA\r\nb\r\n""#]),
        ("*** Update File: a\n*** Move to: sub/z", &["a: deleted", r#"sub/z (new): moved "a\nb\nc\n""#]),
        ("*** Update File: a\n*** Move to: z\n@@\n-b\n+B", &["a: deleted", r#"z (new): moved "a\nB\nc\n""#]),
        (
            "*** Update File: a\n*** Move to: z\n@@\n-q\n+B",
            &[
                "a: deleted",
                r#"z (new): unknown "">"a\nb\nc\n" "">"B\n" (the old lines of hunk 1 are not in the file)"#,
            ],
        ),
        (
            "*** Update File: a\n@@\n-c\n+C\n@@\n-a\n+bad",
            &[r#"a: unknown "">"C\nbad\n" (the old lines of hunk 2 are not in the file)"#],
        ),
        ("*** Update File: gone\n@@\n-x\n+bad", &[r#"gone (new): unknown "">"bad\n" (there is no such file)"#]),
        (
            "*** Update File: gone\n*** Move to: z",
            &["gone (new): deleted", "z (new): unknown  (there is no such file)"],
        ),
        ("*** Update File: dir\n@@\n-x\n+y", &[r#"dir (new): unknown "">"y\n" (it is a folder)"#]),
        ("*** Add File: dir\n+y", &[r#"dir (new): unknown "">"y\n" (it is a folder)"#]),
        ("*** Update File: a\n@@\n-a\n+A\n*** Update File: ./x/../a\n@@\n-A\n+AA", &[r#"a: text "AA\nb\nc\n""#]),
        ("*** Delete File: a\n*** Add File: /p/a\n+z", &[r#"a: moved "z\n""#]),
        ("*** Add File: new\n+x\n*** Update File: new\n@@\n-x\n+y", &[r#"new (new): moved "y\n""#]),
        (
            "*** Update File: a\n*** Move to: z\n*** Add File: a\n+n",
            &[r#"a: moved "n\n""#, r#"z (new): moved "a\nb\nc\n""#],
        ),
        (
            "*** Update File: n.ipynb\n@@\n-{\"cells\":[{\"cell_type\":\"code\",\"source\":\"old\"}]}\n+{\"cells\":[{\"source\":\"new\"}]}",
            &["n.ipynb: cells old -> new"],
        ),
    ];
    for (body, wanted) in table {
        let call = ToolCall::Patch { text: format!("*** Begin Patch\n{body}\n*** End Patch\n") };
        assert_eq!(outline(&call, &files).unwrap(), *wanted, "{body}");
    }
    let none = ToolCall::Patch { text: "*** Begin Patch\n*** End Patch\n".into() };
    assert_eq!(outline(&none, &files), Err("the patch names no file".into()));
}

#[test]
fn notebooks_are_given_as_cells() {
    let files = disk(&[
        (
            "/p/n.ipynb",
            r#"{"cells":[{"cell_type":"code","id":"c1","source":["old"]},{"cell_type":"code","source":"two"}]}"#,
        ),
        ("/p/bad.ipynb", "{}"),
    ]);
    let cell = |path: &str, cell: &str| {
        ToolCall::Notebook(NotebookEdit {
            path: path.into(),
            cell: Some(cell.into()),
            source: "new".into(),
            code: None,
            mode: NotebookMode::Replace,
        })
    };
    let write = |content: &str| ToolCall::Write { path: "n.ipynb".into(), content: content.into() };
    let table: &[(ToolCall, &str)] = &[
        (cell("n.ipynb", "c1"), "n.ipynb: cells old|two -> new|two"),
        (cell("n.ipynb", "c9"), r#"n.ipynb: unknown "">"new" (the notebook has no such cell)"#),
        (cell("bad.ipynb", "1"), r#"bad.ipynb: unknown "">"new" (the file does not parse as a notebook)"#),
        (cell("gone.ipynb", "1"), r#"gone.ipynb (new): unknown "">"new" (there is no such file)"#),
        (write(r#"{"cells":[{"source":"z"}]}"#), "n.ipynb: cells old|two -> z"),
        (write("plain"), r#"n.ipynb: text "plain""#),
        (edit("n.ipynb", &[("old", "older", false)]), "n.ipynb: cells old|two -> older|two"),
    ];
    for (call, wanted) in table {
        assert_eq!(outline(call, &files).unwrap(), [*wanted], "{call:?}");
    }
}

proptest! {
    /// Edits agree with the plain reading of what they say.
    #[test]
    fn edits_equal_a_model(text in "[ab\n]{0,12}", old in "[ab\n]{1,3}", new in "[abc\n]{0,3}", all in any::<bool>()) {
        let places = (0..text.len()).filter(|at| text[*at..].starts_with(&old)).count();
        let files = disk(&[("/p/a", text.clone().leak())]);
        let got = edits(&edit("a", &[(&old, &new, all)]), Some(Path::new("/p")), &files).unwrap().remove(0).after;
        if places == 0 || (places > 1 && !all) {
            let unknown = matches!(got, After::Unknown { .. });
            prop_assert!(unknown);
        } else {
            prop_assert_eq!(got, After::Text(text.replace(&old, &new).into()));
        }
    }

    /// A file with `\r\n` ends as the same file with `\n` would, ends apart.
    #[test]
    fn newlines_keep_the_files_style(text in "[ab\n]{0,12}\n", old in "[ab\n]{1,3}", new in "[abc\n]{0,3}") {
        let run = |text: String| {
            let files = disk(&[("/p/a", text.leak())]);
            edits(&edit("a", &[(&old, &new, true)]), Some(Path::new("/p")), &files).unwrap().remove(0).after
        };
        match (run(text.clone()), run(text.replace('\n', "\r\n"))) {
            (After::Text(lf), After::Text(crlf)) => prop_assert_eq!(lf.replace('\n', "\r\n"), crlf.to_string()),
            (lf, crlf) => prop_assert_eq!(lf, crlf),
        }
    }
}
