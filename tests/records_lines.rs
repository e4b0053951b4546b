//! What stands in a line of the log and what never does: secrets, and anything at all where nobody wants it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/log.rs"]
mod log;

use std::fs;

use hook::Project;
use serde_json::{Value, json};

const RULES: &str = r#"
[[rule]]
id = "no-eval"
paths = ["**/*.py"]
forbid_calls = ["eval"]

[[rule]]
id = "no-names"
paths = ["**/*.py"]
forbid = ["corp-[a-z0-9]+"]
redact = true

[[rule]]
id = "no-todo"
paths = ["**/*.py"]
forbid = ["TODO"]
on_fail = "warn"
"#;
const CONFIG: &str = ".config/ruleline/config.toml";

fn hook(project: &Project, payload: &Value) -> hook::Said {
    project.hook(&["--agent", "claude"], payload.to_string())
}

#[test]
fn a_line_says_who_wanted_what_and_what_became_of_it() {
    let project = Project::with_rules(RULES);
    project.write("src/a.py", "import os\n\n\ndef f(x):\n    return x\n");
    let input = json!({"file_path": project.root.join("src/a.py"), "old_string": "    return x\n",
        "new_string": "    # TODO\n    return eval(x)\n"});
    assert_eq!(hook(&project, &project.payload("Edit", &input)).decision(), "deny");
    let line = log::last(&log::in_project(&project));
    let book = project.root.join(".ruleline/rules.toml");
    for (member, expected) in [
        ("v", json!(1)),
        ("agent", json!("claude")),
        ("session", json!("s")),
        ("event", json!("PreToolUse")),
        ("tool", json!("Edit")),
        ("root", json!(project.root)),
        ("decision", json!("deny")),
        ("rulebooks", json!([[book, log::digest(RULES)]])),
    ] {
        assert_eq!(line[member], expected, "{member}");
    }
    let file = &line["files"][0];
    assert_eq!(file["path"], json!(project.root.join("src/a.py")));
    let added = json!([{"line": 5, "at": 5, "text": "    # TODO"}, {"line": 6, "at": 5, "text": "    return eval(x)"}]);
    assert_eq!(file["added"], added);
    assert_eq!(file["digest"], log::digest("    # TODO\n    return eval(x)\n"));
    let finding = |rule: &str, effect: &str, line: u32, what: &str| {
        json!({"rule": rule, "rulebook": book, "rulebook_digest": log::digest(RULES), "effect": effect, "line": line,
            "at": 5, "what": what})
    };
    let found = file["findings"].as_array().unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1], finding("no-eval", "deny", 6, "calls eval"));
    assert_eq!((&found[0]["rule"], &found[0]["effect"]), (&json!("no-todo"), &json!("warn")));
    let guards: Vec<_> = line["guards"].as_array().unwrap().iter().map(|guard| (&guard[0], &guard[1])).collect();
    assert!(guards.contains(&(&json!("rules"), &json!("deny"))), "{guards:?}");
    assert!(guards.contains(&(&json!("protection"), &json!("allow"))), "{guards:?}");
    assert!(line["reason"].as_str().unwrap().starts_with("ruleline blocked this edit of src/a.py"), "{line}");
    assert!(line["took"].as_u64().unwrap() > 0);
    assert!(!line["parents"].as_array().unwrap().is_empty(), "{line}");
}

#[test]
fn each_kind_of_answer_has_its_word() {
    let project = Project::with_rules(RULES);
    let read = project.payload("Read", &json!({"file_path": project.root.join("a.py")}));
    let list = project.payload("Bash", &json!({"command": "ls -l"}));
    let copy = project.payload("Bash", &json!({"command": "cp x .claude/settings.json"}));
    for (payload, decision) in [
        (&project.payload_write("a.py", "eval(x)\n"), "deny"),
        (&project.payload_write(".claude/settings.json", "{}"), "ask"),
        (&project.payload_write("a.py", "x = 1\n"), "allow"),
        (&read, "none"),
        (&list, "none"),
        (&copy, "ask"),
    ] {
        hook(&project, payload);
        assert_eq!(log::last(&log::in_project(&project))["decision"], decision, "{payload}");
    }
    let lines = log::lines(&log::in_project(&project));
    assert_eq!((lines.len(), &lines[4]["command"]), (6, &json!("ls -l")));
    assert_eq!(lines[5]["command"], "cp x .claude/settings.json");
    // Codex is refused where nobody can be asked.
    let patch = "*** Begin Patch\n*** Add File: .codex/config.toml\n+x = 1\n*** End Patch\n";
    let payload = project.payload("apply_patch", &json!({"command": patch}));
    project.hook(&["--agent", "codex"], payload.to_string());
    let line = log::last(&log::in_project(&project));
    assert_eq!((&line["agent"], &line["decision"]), (&json!("codex"), &json!("deny")));
}

#[test]
fn s16_what_could_not_be_judged_has_a_line_with_the_reason() {
    let project = Project::with_rules(RULES);
    let payload = project.payload_write("a.py", "x = 1\n").to_string();
    let say = |fault: &str, more: &[&str], stdin: &str| {
        let state = project.state();
        let words = [&["hook", "--agent", "claude", "--state-dir", state.to_str().unwrap()], more].concat();
        project.run(&words, &[("RULELINE_TEST_FAIL", fault)], stdin.as_bytes())
    };
    for (fault, more, stdin, part) in [
        ("panic@judge", &[][..], payload.as_str(), "an error of ruleline itself"),
        ("panic@decide", &[], &payload, "an error of ruleline itself"),
        ("hang@judge", &["--deadline-ms", "100"], &payload, "took longer than 100 ms"),
        ("", &[], "{\"tool_name\":", "not"),
        ("", &["--bogus"], &payload, "--bogus"),
    ] {
        assert_eq!(say(fault, more, stdin).decision(), "ask", "{fault}");
        let line = log::last(&log::in_project(&project));
        assert_eq!(line["decision"], "ask", "{fault}");
        assert!(line["reason"].as_str().unwrap().contains(part), "{line}");
    }
    log::assert_unbroken(&log::in_project(&project));
}

#[test]
fn s20_no_secret_stands_in_any_line() {
    let project = Project::with_rules(RULES);
    let content = "key = 'sk-abcdefghijklmnopqrstuvwxyz012345'\npassword = \"hunter2hunter2\"\nname = 'corp-a1b2c3d4'\n\
                   url = 'https://me:opensesame@host/'\npem = '''-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA0Z3VS5JJ\n\
                   qgBAqhkIG9w0BAQEFAASC\n-----END RSA PRIVATE KEY-----'''\neval(key)\n";
    let command = "DB_PASSWORD=hunter2hunter2 psql postgres://u:opensesame@h > src/out.py; \
                   curl -H 'Authorization: Bearer abcdefgh12345678' x; echo ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let patch = format!(
        "*** Begin Patch\n*** Add File: b.py\n{}*** End Patch\n",
        content.lines().flat_map(|line| ["+", line, "\n"]).collect::<String>()
    );
    for (agent, payload) in [
        ("claude", project.payload_write("a.py", content)),
        ("claude", project.payload("Bash", &json!({"command": command}))),
        ("claude", project.payload("Bash", &json!({"command": command.replace('>', "|")}))),
        ("codex", project.payload("apply_patch", &json!({"command": patch}))),
    ] {
        project.hook(&["--agent", agent], payload.to_string());
    }
    let file = log::in_project(&project);
    let text = log::raw(&file).join("\n");
    for secret in [
        "sk-abcdefgh",
        "hunter2",
        "corp-a1b2",
        "opensesame",
        "IIEowIBAAKCAQEA0Z3VS5JJ",
        "BAqhkIG9w0BAQEFAASC",
        "abcdefgh12345678",
        "ghp_0123",
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let lines = log::lines(&file);
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["files"][0]["added"][0]["text"], "key = 'sk-a…'");
    assert!(lines[1]["command"].as_str().unwrap().starts_with("DB_PASSWORD=hunt… psql postgres://u:open…@h"));
    assert!(lines[2]["command"].as_str().unwrap().starts_with("DB_PASSWORD=hunt…"));
    // What was judged is not kept whole either, but its digest is.
    assert_eq!(lines[0]["files"][0]["digest"], log::digest(content));
}

#[test]
fn s19_a_line_is_one_line_and_bounded_whatever_comes_in() {
    let project = Project::with_rules(RULES);
    let long = "é\u{202e}\u{0}\r\u{2028}x".repeat(4000);
    let content = format!("{}eval(1)\n", "x = '\u{1}\u{202e}'\n".repeat(100_000));
    let mut write = project.payload_write("a.py", &content);
    write["session_id"] = json!(long);
    let mut other = project.payload(&long, &json!({"command": long}));
    other["session_id"] = json!("a\n{\"v\":1}\n");
    let command = project.payload("Bash", &json!({"command": format!("echo '{long}'\n> a.py")}));
    for payload in [&write, &other, &command] {
        hook(&project, payload);
    }
    let file = log::in_project(&project);
    log::assert_unbroken(&file);
    let lines = log::lines(&file);
    assert_eq!(lines.len(), 3);
    assert!(log::raw(&file).iter().all(|line| line.len() < 300_000), "bounded");
    assert_eq!(lines[0]["files"][0]["added"].as_array().unwrap().len(), 200);
    let session = lines[0]["session"].as_str().unwrap();
    assert!(session.len() < 3000 && !session.contains('\u{202e}'), "{session}");
    assert!(!lines[1]["session"].as_str().unwrap().contains('\n'));
    assert_eq!(lines[0]["files"][0]["findings"][0]["line"], 100_001, "what was found is kept before the rest");
}

/// Whether anything was recorded anywhere.
fn traces(project: &Project) -> Vec<String> {
    let places =
        [project.root.join(".ruleline/traces"), project.state().join("records"), project.state().join("problems.log")];
    places.iter().filter(|place| place.exists()).map(|place| place.display().to_string()).collect()
}

#[test]
fn with_no_log_nothing_is_written() {
    let project = Project::with_rules(RULES);
    let payloads = [
        project.payload_write("a.py", "eval(x)\n").to_string(),
        project.payload_write("a.py", "x = 1\n").to_string(),
        project.payload_write(".claude/settings.json", "{}").to_string(),
        project.payload("Bash", &json!({"command": "ls"})).to_string(),
        "garbage".to_owned(),
    ];
    let decided: Vec<String> =
        payloads.iter().map(|payload| project.hook(&["--agent", "claude", "--no-log"], payload).decision()).collect();
    assert_eq!(traces(&project), [""; 0]);
    let logged: Vec<String> =
        payloads.iter().map(|payload| project.hook(&["--agent", "claude"], payload).decision()).collect();
    assert_eq!(decided, logged, "the answer is the same");
    assert_eq!(log::lines(&log::in_project(&project)).len(), 5);
}

#[test]
fn the_user_says_how_much_is_recorded_and_a_project_does_not() {
    let cases = [
        ("log = \"off\"\n", "", 0),
        ("log = \"findings\"\n", "", 3),
        ("log = \"all\"\n", "", 5),
        ("", "log = \"off\"\n", 5),
        ("log = \"findings\"\n", "log = \"all\"\n", 3),
    ];
    for (user, theirs, count) in cases {
        let project = Project::with_rules(RULES);
        project.write_home(CONFIG, user);
        project.write(".ruleline/config.toml", theirs);
        for payload in [
            project.payload_write("a.py", "eval(x)\n"),
            project.payload_write("a.py", "x = 1\n"),
            project.payload_write("a.py", "x = 1  # TODO\n"),
            project.payload_write(".claude/settings.json", "{}"),
            project.payload("Bash", &json!({"command": "ls"})),
        ] {
            hook(&project, &payload);
        }
        assert_eq!(log::lines(&log::in_project(&project)).len(), count, "{user:?} {theirs:?}");
    }
}

#[test]
fn s04_a_project_without_a_folder_of_ours_is_left_as_it_is() {
    let project = Project::new();
    hook(&project, &project.payload_write("a.py", "x = 1\n"));
    assert_eq!(fs::read_dir(&project.root).unwrap().count(), 1, "only .git");
    assert_eq!(log::lines(&log::in_state(&project)).len(), 1);
    // Each project has its own.
    let payload = json!({"cwd": project.outside, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "ls"}});
    hook(&project, &payload);
    assert_eq!(fs::read_dir(project.state().join("records")).unwrap().count(), 2);
}

#[test]
fn s03_a_state_folder_inside_of_a_workspace_takes_no_line() {
    let project = Project::new();
    let state = project.root.join("state");
    let said = project.run(
        &["hook", "--agent", "claude", "--state-dir", state.to_str().unwrap()],
        &[],
        project.payload("Bash", &json!({"command": "ls"})).to_string().as_bytes(),
    );
    assert_eq!(said.decision(), "silent");
    assert!(!state.exists());
}
