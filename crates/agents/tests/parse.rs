//! What agents send, and what hostile input is, read into events.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;

use agents::{Among, Dialect, EventKind, PermissionMode, ToolCall, ToolResponse, parse};
use proptest::prelude::*;
use serde_json::json;

fn pre(tool: &str, input: &serde_json::Value) -> Result<ToolCall, String> {
    let payload = json!({"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": tool, "tool_input": input});
    parse(Some(Dialect::Claude), None, payload.to_string().as_bytes()).unwrap().call.unwrap()
}

#[test]
fn recorded_payloads_are_recognised_and_read() {
    for (folder, dialect) in [("claude", Dialect::Claude), ("codex", Dialect::Codex)] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads").join(folder);
        let mut seen = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            let bytes = std::fs::read(&file).unwrap();
            let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            let event = parse(None, None, &bytes).unwrap();
            assert_eq!(event.dialect, dialect, "{}", file.display());
            assert_eq!(event.name, value["hook_event_name"], "{}", file.display());
            assert_eq!(event.kind, EventKind::named(&event.name));
            assert_eq!(event.cwd.as_deref(), Some(Path::new("/home/user/project")));
            assert_eq!(event.session.as_deref(), value["session_id"].as_str());
            assert_eq!(event.call_id.as_deref(), value["tool_use_id"].as_str());
            assert_eq!(event.tool, value["tool_name"].as_str().unwrap_or_default());
            let mode = value["permission_mode"].as_str().map_or(PermissionMode::Unknown, PermissionMode::named);
            assert_eq!(event.mode, mode);
            assert_eq!(event.call.is_some(), value.get("tool_name").is_some(), "{}", file.display());
            if let Some(call) = event.call {
                assert_ne!(call.as_ref().unwrap(), &ToolCall::Other, "{}", file.display());
            }
            seen += 1;
        }
        assert!(seen > 10);
    }
}

#[test]
fn tools_are_read_by_name() {
    let edit = |path: &str, steps: &[(&str, &str, bool)]| {
        let steps = steps
            .iter()
            .map(|(old, new, all)| agents::EditStep { old: (*old).into(), new: (*new).into(), all: *all })
            .collect();
        Ok(ToolCall::Edit { path: path.into(), steps })
    };
    let write = |content: &str| Ok(ToolCall::Write { path: "a".into(), content: content.into() });
    let shell = |command: &str| Ok(ToolCall::Shell { command: command.into() });
    let patch = |text: &str| Ok(ToolCall::Patch { text: text.into() });
    let wrong = |part: &str| Err(part.to_owned());
    let begin = "*** Begin Patch\n*** Add File: a\n+x\n";
    let table: &[(&str, serde_json::Value, Result<ToolCall, String>)] = &[
        ("Read", json!({"file_path": "a", "offset": 3}), Ok(ToolCall::Read { path: "a".into() })),
        ("Read", json!({"file_path": 5}), Ok(ToolCall::Read { path: String::new() })),
        ("Grep", json!({"pattern": 5}), Ok(ToolCall::Search { among: Among::Texts, pattern: None })),
        ("Glob", json!({"pattern": "x"}), Ok(ToolCall::Search { among: Among::Paths, pattern: Some("x".into()) })),
        ("LS", json!({"path": "x"}), Ok(ToolCall::List)),
        ("Write", json!({"file_path": "a", "content": "x"}), write("x")),
        ("Write", json!({"filePath": "a", "content": begin}), write(begin)),
        ("Write", json!({"path": "a", "content": "x", "file_path": "a"}), write("x")),
        ("Write", json!({"path": "a", "content": "x", "file_path": "b"}), wrong("more than once")),
        ("Write", json!({"file_path": "a", "content": null}), wrong("not a text")),
        ("Write", json!({"file_path": "a"}), wrong("no `content`")),
        ("Write", json!({"content": "a"}), wrong("no `file_path`")),
        ("Write", json!({"file_path": "", "content": "a"}), wrong("empty")),
        ("Write", json!(null), wrong("not an object")),
        ("Write", json!([]), wrong("not an object")),
        ("Edit", json!({"file_path": "a", "content": "x"}), write("x")),
        ("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "y"}), edit("a", &[("x", "y", false)])),
        (
            "Edit",
            json!({"filePath": "a", "oldString": "x", "newString": "y", "replaceAll": true}),
            edit("a", &[("x", "y", true)]),
        ),
        ("Edit", json!({"file_path": "a", "new_string": "y"}), edit("a", &[("", "y", false)])),
        ("Edit", json!({"file_path": "a", "old_string": begin, "new_string": "y"}), edit("a", &[(begin, "y", false)])),
        ("Edit", json!({"file_path": "a", "old_string": "x", "new_string": 5}), wrong("not a text")),
        ("Edit", json!({"file_path": "a", "old_string": null, "new_string": "5"}), wrong("not a text")),
        ("Edit", json!({"file_path": "a", "old_string": "x"}), wrong("no `new_string`")),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": "false"}),
            wrong("replace_all"),
        ),
        ("Edit", json!("text"), wrong("not an object")),
        (
            "MultiEdit",
            json!({"file_path": "a", "edits": ["junk", {"old_string": "x", "new_string": "y"}]}),
            edit("a", &[("x", "y", false)]),
        ),
        ("MultiEdit", json!({"file_path": "a", "edits": []}), edit("a", &[])),
        ("MultiEdit", json!({"file_path": "a", "edits": [5]}), wrong("no edit")),
        ("MultiEdit", json!({"file_path": "a", "edits": "x"}), wrong("not a list")),
        ("NotebookEdit", json!({"notebook_path": "n", "new_source": 5}), wrong("new_source")),
        ("NotebookEdit", json!({"notebook_path": "n"}), wrong("new_source")),
        ("NotebookEdit", json!({"notebook_path": "n", "new_source": "x", "edit_mode": "zap"}), wrong("edit_mode")),
        ("Bash", json!({"command": "ls"}), shell("ls")),
        ("Bash", json!({"command": 5}), wrong("command")),
        ("Bash", json!({}), wrong("no `command`")),
        ("exec_command", json!({"cmd": "ls"}), shell("ls")),
        ("shell", json!({"command": ["apply_patch", begin]}), patch(begin)),
        ("exec_command", json!({"cmd": "ls", "workdir": "a b"}), shell("cd 'a b'\nls")),
        (
            "shell",
            json!({"command": ["apply_patch", begin], "workdir": "sub"}),
            shell(&format!("cd sub\napply_patch '{begin}'")),
        ),
        ("shell", json!({"command": ["ls"], "workdir": ""}), shell("ls")),
        ("shell", json!({"command": ["ls"], "workdir": 5}), wrong("`workdir`")),
        ("shell", json!({"command": ["/bin/bash", "-lc", "a 'b'"]}), shell("a 'b'")),
        ("shell", json!({"command": ["rm", "-rf", "it's", ""]}), shell(r"rm -rf 'it'\''s' ''")),
        ("local_shell", json!({"command": ["ls", 5]}), wrong("not a text")),
        ("apply_patch", json!({"input": begin}), patch(begin)),
        ("apply_patch", json!({"command": begin, "input": begin}), patch(begin)),
        ("apply_patch", json!({"command": begin, "input": "*** Begin Patch\n"}), wrong("two patches")),
        ("apply_patch", json!({"command": ["apply_patch", begin]}), patch(begin)),
        ("apply_patch", json!({"patch": "*** Add File: a"}), patch("*** Add File: a")),
        ("apply_patch", json!({"patch": 5}), wrong("no patch")),
        ("apply_patch", json!({}), wrong("no patch")),
        ("apply_patch", json!(begin), patch(begin)),
        ("patcher", json!({"anything": begin}), patch(begin)),
        ("patcher", json!({"anything": "x"}), Ok(ToolCall::Other)),
        ("Task", json!({"prompt": begin}), Ok(ToolCall::Other)),
        (
            "mcp__fs__write_file",
            json!({"a": [1, "x"]}),
            Ok(ToolCall::Mcp { server: "fs".into(), tool: "write_file".into(), input: r#"{"a":[1,"x"]}"#.into() }),
        ),
        ("mcp__x__apply_patch", json!({"input": begin}), patch(begin)),
        ("", json!({"file_path": "a", "content": "x"}), write("x")),
        ("", json!({"input": begin}), patch(begin)),
        ("", json!({"x": 1}), wrong("no tool")),
    ];
    for (tool, input, wanted) in table {
        let got = pre(tool, input);
        match wanted {
            Ok(call) => assert_eq!(got.as_ref(), Ok(call), "{tool} {input}"),
            Err(part) => {
                let reason = got.expect_err(&format!("{tool} {input}"));
                assert!(reason.contains(part), "{tool} {input}: {reason}");
                assert!(!reason.contains('\n'));
            }
        }
    }
}

#[test]
fn notebook_edits_are_read() {
    let input = json!({"notebook_path": "n.ipynb", "cell_id": 3, "new_source": "x", "cell_type": "markdown", "edit_mode": "insert"});
    let wanted = agents::NotebookEdit {
        path: "n.ipynb".into(),
        cell: Some("3".into()),
        source: "x".into(),
        code: Some(false),
        mode: agents::NotebookMode::Insert,
    };
    assert_eq!(pre("NotebookEdit", &input), Ok(ToolCall::Notebook(wanted)));
}

#[test]
fn odd_bytes_are_read() {
    let table: &[(&[u8], &str)] = &[
        (b"\xEF\xBB\xBF{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"a\",\"content\":\"x\"}}", "x"),
        (
            b"{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"a\",\"content\":\"x\ty\nz\x01\x00\"}}",
            "x\ty\nz\u{1}\0",
        ),
        (br#"{"tool_name":"Write","tool_input":{"file_path":"a","content":"\ud800x\udc00"}}"#, "\u{FFFD}x\u{FFFD}"),
        (b"{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"a\",\"content\":\"\xFF\"}}", "\u{FFFD}"),
        (br#"{"toolName":"Write","toolInput":{"filePath":"a","content":"x\u0000"},"noise":[{"a":{}}]}"#, "x\0"),
        (br#"{"noise":"\udbff","tool_name":"Write","tool_input":{"file_path":"a","content":"ok"}}"#, "ok"),
    ];
    for (bytes, content) in table {
        let event = parse(Some(Dialect::Claude), None, bytes).unwrap();
        assert_eq!(event.kind, EventKind::PreToolUse);
        let wanted = ToolCall::Write { path: "a".into(), content: (*content).into() };
        assert_eq!(event.call, Some(Ok(wanted)), "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn what_cannot_be_read_is_an_error_with_a_reason() {
    let deep = format!("{{\"tool_input\":{}", "[".repeat(100_000));
    let big = vec![b' '; agents::MAX_PAYLOAD + 1];
    let many = format!("{{\"tool_name\":\"X\",\"tool_input\":[{}1]}}", "1,".repeat(300_000));
    let table: &[(&[u8], &str)] = &[
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\xEF\xBB\xBF", "empty"),
        (b"garbage", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"5", "not a JSON object"),
        (b"{\"hook_event_name\":\"PreToolUse\"", "not a JSON object"),
        (b"{} {}", "not a JSON object"),
        (b"{\"a\":NaN}", "not a JSON object"),
        (b"\xFF\xFE{\0}\0", "UTF-16"),
        (b"\xFE\xFF\0{\0}", "UTF-16"),
        (b"{}", "neither an event nor a tool"),
        (deep.as_bytes(), "recursion"),
        (many.as_bytes(), "too many values"),
        (&big, "64 MiB"),
    ];
    for (bytes, part) in table {
        let error = parse(Some(Dialect::Claude), None, bytes).unwrap_err();
        assert!(error.reason.contains(part), "{}", error.reason);
        assert!(!error.reason.contains('\n'));
        assert_eq!(error.head().unwrap().dialect, Dialect::Claude);
    }
    let error =
        parse(Some(Dialect::Codex), None, b"{\"permission_mode\":\"dontAsk\",\"hook_event_name\" : \"Stop\",\"x")
            .unwrap_err();
    let head = error.head().unwrap();
    assert_eq!((head.kind, head.name, head.mode), (EventKind::Stop, "Stop", PermissionMode::DontAsk));
    let error = parse(Some(Dialect::Codex), Some("PreToolUse"), b"").unwrap_err();
    assert_eq!(error.head().unwrap().kind, EventKind::PreToolUse);
    assert!(parse(None, None, b"{}").unwrap_err().head().is_none());
}

#[test]
fn guarded_fields_of_the_wrong_type_are_never_silence() {
    for payload in [
        r#"{"hook_event_name":"PreToolUse","tool_name":"Write"}"#,
        r#"{"tool_name":"Write"}"#,
        r#"{"hook_event_name":"PreToolUse"}"#,
        r#"{"hook_event_name":"PreToolUse","tool_name":5,"tool_input":{"command":"ls"}}"#,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Write","tool_input":{"file_path":"a","content":"b"}}"#,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"a","command":"b"}}"#,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"a"},"toolInput":{"command":"b"}}"#,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"a"},"cwd":5}"#,
        r#"{"hook_event_name":5,"tool_name":"Bash","tool_input":{"command":["a",{}]}}"#,
    ] {
        let event = parse(Some(Dialect::Claude), None, payload.as_bytes()).unwrap();
        assert!(event.kind.decides(), "{payload}");
        assert!(matches!(event.call, Some(Err(_))), "{payload}: {:?}", event.call);
    }
}

#[test]
fn the_event_is_the_payloads_else_the_callers() {
    let table: &[(&str, Option<&str>, EventKind, &str)] = &[
        (r#"{"hook_event_name":"Stop","stop_hook_active":true}"#, Some("PreToolUse"), EventKind::Stop, "Stop"),
        (r#"{"tool_name":"X","tool_input":{}}"#, Some("preToolUse"), EventKind::PreToolUse, "preToolUse"),
        (r#"{"tool_name":"X","tool_input":{}}"#, None, EventKind::PreToolUse, "PreToolUse"),
        (r#"{"tool_name":"X","tool_input":{},"tool_response":{}}"#, None, EventKind::PostToolUse, "PostToolUse"),
        (r#"{"hook_event_name":"Novel"}"#, None, EventKind::Other, "Novel"),
        (r#"{"hook_event_name":"Novel"}"#, Some("PreToolUse"), EventKind::PreToolUse, "PreToolUse"),
        (r"{}", Some("SessionStart"), EventKind::SessionStart, "SessionStart"),
    ];
    for (payload, given, kind, name) in table {
        let event = parse(Some(Dialect::Claude), *given, payload.as_bytes()).unwrap();
        assert_eq!((event.kind, event.name.as_str()), (*kind, *name), "{payload}");
        assert_eq!(event.stop_active, *kind == EventKind::Stop);
    }
}

proptest! {
    #[test]
    fn no_bytes_break_the_parser(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(None, None, &bytes);
    }

    #[test]
    fn no_mangled_payload_breaks_the_parser(at in 0usize..300, byte in any::<u8>(), cut in 0usize..300) {
        let mut bytes = br#"{"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[{"old_string":"\ud83d\ude00","new_string":"b\t","replace_all":false}]},"tool_use_id":"toolu_1"}"#.to_vec();
        let length = bytes.len();
        bytes[at % length] = byte;
        let _ = parse(Some(Dialect::Claude), None, &bytes);
        bytes.truncate(cut);
        let _ = parse(None, None, &bytes);
    }

    /// Any string survives, however the writer escapes it.
    #[test]
    fn texts_arrive_as_they_were_sent(content in "[^\\\\]{0,20}[\u{0}-\u{1f}a]{0,3}", raw in any::<bool>()) {
        let mut payload = json!({"tool_name": "Write", "tool_input": {"file_path": "a", "content": content}}).to_string();
        if raw {
            payload = payload.replace("\\u0001", "\u{1}").replace("\\t", "\t").replace("\\n", "\n");
        }
        let event = parse(Some(Dialect::Claude), None, payload.as_bytes()).unwrap();
        prop_assert_eq!(event.call, Some(Ok(ToolCall::Write { path: "a".into(), content })));
    }
}

#[test]
fn how_a_call_went_is_told_by_its_result() {
    for (response, expected) in [
        (json!({"isError": false, "content": []}), ToolResponse::Succeeded),
        (json!({"is_error": true}), ToolResponse::Failed),
        (json!({"isError": "true"}), ToolResponse::Succeeded),
        (json!({}), ToolResponse::Succeeded),
        (json!("text"), ToolResponse::Unclear),
        (json!([{"type": "text"}]), ToolResponse::Unclear),
        (json!(null), ToolResponse::Unclear),
    ] {
        let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "mcp__s__t", "tool_response": response});
        let event = parse(Some(Dialect::Claude), None, payload.to_string().as_bytes()).unwrap();
        assert_eq!(event.response, expected, "{payload}");
    }
    let payload = json!({"hook_event_name": "SessionStart", "source": "compact"});
    let event = parse(Some(Dialect::Codex), None, payload.to_string().as_bytes()).unwrap();
    assert_eq!((event.response, event.source.as_deref()), (ToolResponse::None, Some("compact")));
}
