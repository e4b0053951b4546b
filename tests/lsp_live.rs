//! What an agent is doing, in the editor as it happens: a real hook refuses, a real server shows it, a person allows it
//! once, and the hook asks before it writes over what the editor holds unsaved.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/lsp.rs"]
mod lsp;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use hook::Project;
use lsp::{Client, uri};
use serde_json::{Value, json};

const RULES: &str = "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"eval\"]\nwhy = \"eval runs what it is given\"\n";
const BEFORE: &str = "import os\n\n\ndef run(x):\n    return x\n";
const OLD: &str = "    return x\n";
const NEW: &str = "    return eval(x)\n";
const FILE: &str = "src/a.py";

/// A project, and an editor that has it open and a file of it.
struct Case {
    project: Project,
    client: Client,
    file: String,
    version: i32,
}

impl Case {
    fn new() -> Case {
        Case::with(&json!({}), &[])
    }

    fn with(options: &Value, environment: &[(&str, &str)]) -> Case {
        let project = Project::with_rules(RULES);
        project.write(FILE, BEFORE);
        let client = start(&project, options, environment);
        let mut case = Case { file: uri(&project.root.join(FILE)), project, client, version: 1 };
        case.client.open(&case.file, 1, BEFORE);
        assert_eq!(case.client.diagnostics(&case.file, 1), [Value::Null; 0]);
        case
    }

    fn payload(&self, agent: &str, new: &str) -> Value {
        let mut payload = self
            .project
            .payload("Edit", &json!({"file_path": self.project.root.join(FILE), "old_string": OLD, "new_string": new}));
        if agent == "codex" {
            let patch = format!("*** Begin Patch\n*** Update File: {FILE}\n@@\n-{OLD}+{new}*** End Patch\n");
            payload["tool_name"] = "apply_patch".into();
            payload["tool_input"] = json!({"command": patch});
        }
        payload
    }

    /// What the hook tells an agent that would write `new`.
    fn edit(&self, agent: &str, new: &str) -> hook::Said {
        self.project.hook(&["--agent", agent], self.payload(agent, new).to_string())
    }

    fn decision(&mut self) -> Value {
        let told = self.client.wait_for(|message| message["method"] == "ruleline/decision");
        told["params"].clone()
    }

    /// Waits until a refusal is shown in the file.
    fn shown(&mut self, words: &str) -> Value {
        let file = self.file.clone();
        let said = |one: &Value| one["message"].as_str().is_some_and(|message| message.contains(words));
        let published = self.client.wait_for(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == file
                && message["params"]["diagnostics"].as_array().unwrap().iter().any(said)
        });
        published["params"]["diagnostics"].as_array().unwrap().iter().find(|one| said(one)).unwrap().clone()
    }

    fn run(&mut self, command: &str, arguments: &Value) -> Result<Value, Value> {
        let params = json!({"command": command, "arguments": [arguments]});
        self.client.request("workspace/executeCommand", &params)
    }

    fn questions(&self) -> usize {
        self.client.seen.iter().filter(|message| message["method"] == "window/showMessageRequest").count()
    }

    /// Opens the review of a refusal; its URI, and the lenses over it.
    fn review(&mut self, id: &str) -> (String, Vec<Value>) {
        let reply = self.run("ruleline.reviewRefusal", &json!({"id": id})).unwrap();
        let review = reply["file"].as_str().unwrap().to_owned();
        let document = uri(Path::new(&review));
        self.client.open(&document, 1, &fs::read_to_string(&review).unwrap());
        (document.clone(), self.lenses(&document))
    }

    fn lenses(&mut self, document: &str) -> Vec<Value> {
        let params = json!({"textDocument": {"uri": document}});
        self.client.request("textDocument/codeLens", &params).unwrap().as_array().cloned().unwrap_or_default()
    }

    fn press(&mut self, lens: &Value) -> Result<Value, Value> {
        let command = &lens["command"];
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        self.client.request("workspace/executeCommand", &params)
    }

    fn replace(&mut self, text: &str) {
        self.version += 1;
        let (file, version) = (self.file.clone(), self.version);
        self.client.replace(&file, version, text);
        self.client.diagnostics(&file, version);
    }
}

fn start(project: &Project, options: &Value, environment: &[(&str, &str)]) -> Client {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ruleline-server"));
    command.args(["--stdio", "--state-dir"]).arg(project.state());
    command.env_clear().env("RULELINE_TEST_TOP", std::process::id().to_string());
    command.envs(environment.iter().copied());
    let parameters = json!({
        "processId": null,
        "clientInfo": {"name": "Test\u{202e} Editor"},
        "rootUri": uri(&project.root),
        "initializationOptions": options,
        "capabilities": {
            "window": {"showDocument": {"support": true}},
            "workspace": {"codeLens": {"refreshSupport": true}},
            "textDocument": {"publishDiagnostics": {"dataSupport": true}},
            "experimental": {"rulelineDecisions": true, "rulelineStatus": true},
        },
    });
    Client::start_by(command, &parameters)
}

#[test]
fn a_refusal_appears_where_the_line_would_have_stood() {
    let mut case = Case::new();
    // The buffer has another line above than the file has.
    case.replace(&format!("import sys\n{BEFORE}"));
    fs::write(case.project.root.join(FILE), format!("import sys\n{BEFORE}")).unwrap();
    case.client.seen.clear();
    let said = case.edit("claude", NEW);
    assert_eq!(said.decision(), "deny", "{said:?}");
    let told = case.decision();
    assert_eq!(told["agent"], "claude");
    assert_eq!(told["decision"], "deny");
    assert_eq!(told["tool"], "Edit");
    assert_eq!(told["uri"], case.file);
    assert_eq!(told["reviewable"], true);
    assert_eq!(told["findings"][0]["rule"], "no-eval");
    assert_eq!(told["findings"][0]["line"], 6);
    assert!(told["reason"].as_str().unwrap().contains("eval runs what it is given"), "{told}");
    let shown = case.shown("claude was refused here");
    assert_eq!(
        shown["message"],
        "claude was refused here: return eval(x)\nno-eval: calls eval. eval runs what it is given"
    );
    assert_eq!((&shown["severity"], &shown["code"]), (&json!(1), &json!("no-eval")));
    assert_eq!(shown["range"]["start"]["line"], 5);
    // It goes with the text.
    case.replace(&format!("import re\nimport sys\n{BEFORE}"));
    let file = case.file.clone();
    let moved = case.client.diagnostics(&file, case.version);
    assert_eq!(moved[0]["range"]["start"]["line"], 6, "{moved:?}");
    // It ends when a person writes there.
    case.replace(&format!("import re\nimport sys\n{}", BEFORE.replace("return x", "return 3")));
    let (file, version) = (case.file.clone(), case.version);
    assert_eq!(case.client.diagnostics(&file, version), [Value::Null; 0]);
}

#[test]
fn every_decision_is_told_once_and_kept_for_who_asks_later() {
    let mut case = Case::new();
    case.edit("claude", NEW);
    case.decision();
    case.edit("codex", NEW);
    case.client.wait_for(|message| message["method"] == "ruleline/decision" && message["params"]["agent"] == "codex");
    case.edit("claude", "    return int(x)\n");
    case.client
        .wait_for(|message| message["method"] == "ruleline/decision" && message["params"]["decision"] == "allow");
    let told = case.client.seen.iter().filter(|message| message["method"] == "ruleline/decision").count();
    assert_eq!(told, 3);
    let kept = case.run("ruleline.decisions", &json!({})).unwrap();
    let brief = |one: &Value| format!("{} {}", one["agent"].as_str().unwrap(), one["decision"].as_str().unwrap());
    let kept: Vec<String> = kept.as_array().unwrap().iter().map(brief).collect();
    assert_eq!(kept, ["claude allow", "codex deny", "claude deny"]);
    assert_eq!(case.run("ruleline.decisions", &json!({"limit": 1})).unwrap().as_array().unwrap().len(), 1);
    case.client
        .wait_for(|message| message["method"] == "ruleline/status" && message["params"]["decisions"]["judged"] == 3);
    // A server that starts later knows them, and tells nobody of them anew.
    drop(std::mem::replace(&mut case.client, start(&case.project, &json!({}), &[])));
    let mut kept = json!([]);
    for _ in 0..100 {
        kept = case.run("ruleline.decisions", &json!({})).unwrap();
        if kept != json!([]) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(kept.as_array().unwrap().len(), 3);
    assert!(!case.client.seen.iter().any(|message| message["method"] == "ruleline/decision"));
}

#[test]
fn s10_allowed_once_is_used_once_by_exactly_these_lines() {
    let mut case = Case::new();
    assert_eq!(case.edit("claude", NEW).decision(), "deny");
    let id = case.decision()["id"].as_str().unwrap().to_owned();
    let (document, lenses) = case.review(&id);
    let review = document.strip_prefix("file://").unwrap().to_owned();
    let text = fs::read_to_string(&review).unwrap();
    for part in ["claude was refused with Edit", "no-eval", "     5 |     return eval(x)", "eval runs what it is given"]
    {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert_eq!(fs::metadata(&review).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(lenses.len(), 1, "{lenses:?}");
    assert_eq!(lenses[0]["command"]["title"], "Allow this once");

    // A person who thinks better of it.
    case.client.chooses = Some("Cancel");
    case.press(&lenses[0]).unwrap();
    assert_eq!(case.questions(), 1);
    assert_eq!(case.edit("claude", NEW).decision(), "deny");

    let (_, lenses) = case.review(&id);
    case.client.chooses = Some("Allow once");
    let reply = case.press(&lenses[0]).unwrap();
    assert!(reply["message"].as_str().unwrap().contains("Allowed once against rule no-eval in src/a.py"), "{reply}");

    // Other lines, another file: the rule holds.
    assert_eq!(case.edit("claude", "    return eval(x) or 1\n").decision(), "deny");
    case.project.write("src/b.py", BEFORE);
    let mut other = case.payload("claude", NEW);
    other["tool_input"]["file_path"] = json!(case.project.root.join("src/b.py"));
    assert_eq!(case.project.decision(&other), "deny");
    // A read that asks for leave does not use it up; the edit does, and the next is refused again.
    case.client.seen.clear();
    let passed = case.edit("claude", NEW);
    assert_ne!(passed.decision(), "deny", "{passed:?}");
    let used = case
        .client
        .wait_for(|message| message["method"] == "ruleline/decision" && message["params"]["used"] == json!([id]));
    assert_ne!(used["params"]["decision"], "deny");
    assert_eq!(case.edit("claude", NEW).decision(), "deny");
}

#[test]
fn s09_a_token_is_needed_and_is_good_for_one_act() {
    let mut case = Case::new();
    case.edit("claude", NEW);
    let id = case.decision()["id"].as_str().unwrap().to_owned();
    let (_, lenses) = case.review(&id);
    let token = lenses[0]["command"]["arguments"][0]["token"].as_str().unwrap().to_owned();
    case.client.chooses = Some("Allow once");
    for arguments in [
        json!({"id": id}),
        json!({"id": id, "token": "0".repeat(32)}),
        json!({"id": id, "token": ""}),
        json!({"id": id, "token": null}),
    ] {
        let _ = case.run("ruleline.allowOnce", &arguments);
        assert_eq!(case.questions(), 0, "{arguments}");
    }
    assert_eq!(case.edit("claude", NEW).decision(), "deny");
    for arguments in [json!({}), json!({"id": 3}), json!({"id": "0000000000000000"}), json!({"id": "x", "token": {}})] {
        let run = case.run("ruleline.allowOnce", &arguments);
        assert!(run.is_err(), "{arguments}: {run:?}");
    }
    // The first review's token went with the reviews that came after it.
    let _ = case.run("ruleline.allowOnce", &json!({"id": id, "token": token}));
    assert_eq!(case.questions(), 0);
    let (_, lenses) = case.review(&id);
    case.press(&lenses[0]).unwrap();
    assert_eq!(case.questions(), 1);
    let _ = case.press(&lenses[0]);
    assert_eq!(case.questions(), 1, "a token is used once");
}

#[test]
fn s09_nobody_but_a_person_allows() {
    let restricted = Case::with(&json!({"trusted": false}), &[]);
    let below_an_agent = Case::with(&json!({}), &[("CLAUDECODE", "1")]);
    for (mut case, why) in [(restricted, "not trusted in the editor"), (below_an_agent, "only a person may allow")] {
        case.edit("claude", NEW);
        let id = case.decision()["id"].as_str().unwrap().to_owned();
        let (_, lenses) = case.review(&id);
        assert_eq!(lenses, [Value::Null; 0]);
        let error = case.run("ruleline.allowOnce", &json!({"id": id, "token": "0".repeat(32)})).unwrap_err();
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
        assert_eq!(case.questions(), 0);
    }
    let mut case = Case::new();
    case.client.asks = false;
    case.edit("claude", NEW);
    let id = case.decision()["id"].as_str().unwrap().to_owned();
    let (_, lenses) = case.review(&id);
    let error = case.press(&lenses[0]).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("cannot ask you"), "{error}");
    assert_eq!(case.edit("claude", NEW).decision(), "deny");
}

#[test]
fn an_allowance_ends_with_the_rulebook_it_was_given_against() {
    let mut case = Case::new();
    case.edit("claude", NEW);
    let id = case.decision()["id"].as_str().unwrap().to_owned();
    let (_, lenses) = case.review(&id);
    case.client.chooses = Some("Allow once");
    case.press(&lenses[0]).unwrap();
    case.project.write(".ruleline/rules.toml", format!("{RULES}\n# another\n"));
    assert_eq!(case.edit("claude", NEW).decision(), "deny");
}

#[test]
fn an_edit_of_what_the_editor_holds_unsaved_asks() {
    let mut case = Case::new();
    assert_eq!(case.edit("claude", "    return int(x)\n").decision(), "silent");
    case.replace(&format!("{BEFORE}# mine\n"));
    let asked = wait_until(|| {
        let said = case.edit("claude", "    return int(x)\n");
        (said.decision() == "ask").then_some(said)
    });
    let reason = asked.reason();
    assert!(reason.contains("unsaved changes in Test\\u{202e} Editor would be lost"), "{reason}");
    // A rule's refusal stands above it.
    assert_eq!(case.edit("claude", NEW).decision(), "deny");
    // Saved: nothing is lost any more.
    case.project.write(FILE, format!("{BEFORE}# mine\n"));
    case.client.notify("textDocument/didSave", &json!({"textDocument": {"uri": case.file}}));
    wait_until(|| (case.edit("claude", "    return int(x)\n").decision() == "silent").then_some(()));
    // Unsaved again, and switched off by the user.
    case.replace(BEFORE);
    wait_until(|| (case.edit("claude", "    return int(x)\n").decision() == "ask").then_some(()));
    case.project.write_home(".config/ruleline/config.toml", "unsaved_buffers = \"off\"\n");
    assert_eq!(case.edit("claude", "    return int(x)\n").decision(), "silent");
    case.project.write_home(".config/ruleline/config.toml", "");
    assert_eq!(case.edit("claude", "    return int(x)\n").decision(), "ask");
    // An editor that was killed holds nothing.
    let Case { project, client, .. } = case;
    drop(client);
    let payload = project.payload(
        "Edit",
        &json!({"file_path": project.root.join(FILE), "old_string": OLD, "new_string": "    return int(x)\n"}),
    );
    assert_eq!(project.decision(&payload), "silent");
}

#[test]
fn an_editor_that_goes_leaves_nothing_behind() {
    let mut case = Case::new();
    case.replace(&format!("{BEFORE}# mine\n"));
    wait_until(|| (case.edit("claude", "    return int(x)\n").decision() == "ask").then_some(()));
    let Case { project, client, .. } = case;
    assert_eq!(client.end().0, Some(0));
    let mut left = Vec::new();
    let mut folders = vec![project.state()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if !["cache", "records", "sessions"]
                .iter()
                .any(|kept| entry.path().starts_with(project.state().join(kept)))
            {
                left.push(entry.path().strip_prefix(project.state()).unwrap().display().to_string());
            }
        }
    }
    left.sort();
    assert_eq!(left, [""; 0]);
}

#[test]
fn an_editor_that_goes_while_it_asks_leaves_no_server() {
    for (is_killed, code) in [(false, 0), (true, 1)] {
        let mut case = Case::new();
        case.edit("claude", NEW);
        let id = case.decision()["id"].as_str().unwrap().to_owned();
        let (_, lenses) = case.review(&id);
        case.client.answers = false;
        case.client.send_request("workspace/executeCommand", &lenses[0]["command"]);
        case.client.wait_for(|message| message["method"] == "window/showMessageRequest");
        let Case { project, client, .. } = case;
        let ended = if is_killed { client.hang_up() } else { client.end().0 };
        assert_eq!(ended, Some(code), "killed: {is_killed}");
        let again = project
            .payload("Edit", &json!({"file_path": project.root.join(FILE), "old_string": OLD, "new_string": NEW}));
        assert_eq!(project.decision(&again), "deny");
    }
}

fn wait_until<T>(mut is: impl FnMut() -> Option<T>) -> T {
    let end = std::time::Instant::now() + lsp::PATIENCE;
    loop {
        if let Some(found) = is() {
            return found;
        }
        assert!(std::time::Instant::now() < end, "it never came");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
