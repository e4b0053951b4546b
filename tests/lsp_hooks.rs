//! Project hooks in an editor: where they stand, reviewing, trusting, untrusting, and who cannot.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/lsp.rs"]
mod lsp;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use hooks::grants::Record;
use hooks::{Means, Store};
use lsp::{Client, Project};
use serde_json::{Value, json};

const MANIFEST: &str = ".ruleline/hooks/hooks.yaml";
const TEXT: &str = "hooks:\n  PreToolUse:\n    - script: block\n";

struct Case {
    project: Project,
    state: PathBuf,
    _keep: tempfile::TempDir,
}

impl Case {
    fn new() -> Case {
        let keep = tempfile::tempdir().unwrap();
        let state = keep.path().canonicalize().unwrap().join("state");
        let project = Project::new("");
        project.write(MANIFEST, TEXT);
        project.write(".ruleline/hooks/block.sh", "exit 2\n");
        Case { project, state, _keep: keep }
    }

    /// A server as a person's editor starts it.
    fn server(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ruleline-server"));
        command.args(["--stdio", "--state-dir"]).arg(&self.state);
        alone(&mut command);
        command
    }

    fn parameters(&self) -> Value {
        let mut parameters = self.project.parameters();
        parameters["capabilities"]["window"] = json!({"showDocument": {"support": true}});
        parameters["capabilities"]["workspace"] = json!({"codeLens": {"refreshSupport": true}});
        parameters["capabilities"]["experimental"] = json!({"rulelineStatus": true});
        parameters
    }

    fn open(&self, command: Command, parameters: &Value) -> Editor {
        let mut client = Client::start_by(command, parameters);
        let uri = self.project.uri(MANIFEST);
        client.open(&uri, 1, TEXT);
        let mut editor = Editor { client, uri, version: 1 };
        editor.said();
        editor
    }

    fn editor(&self) -> Editor {
        self.open(self.server(), &self.parameters())
    }

    fn record(&self) -> Option<Record> {
        Store::new(&self.state).read(&self.project.root()).unwrap()
    }

    fn is_trusted(&self) -> bool {
        matches!(self.record(), Some(Record::Granted(_)))
    }
}

/// The chain of processes ends at this one, and nobody's environment counts.
fn alone(command: &mut Command) {
    command.env_clear().env("RULELINE_TEST_TOP", std::process::id().to_string());
}

struct Editor {
    client: Client,
    uri: String,
    version: i32,
}

impl Editor {
    /// What is said of the manifest's present text.
    fn said(&mut self) -> Vec<String> {
        let diagnostics = self.client.diagnostics(&self.uri, self.version);
        diagnostics.iter().map(|one| one["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Changes the text and gives what is said of it then.
    fn replace(&mut self, text: &str) -> Vec<String> {
        self.version += 1;
        let (uri, version) = (self.uri.clone(), self.version);
        self.client.replace(&uri, version, text);
        self.said()
    }

    fn lenses(&mut self) -> Vec<Value> {
        let params = json!({"textDocument": {"uri": self.uri}});
        self.client.request("textDocument/codeLens", &params).unwrap().as_array().cloned().unwrap_or_default()
    }

    fn titles(&mut self) -> Vec<String> {
        self.lenses().iter().map(|lens| lens["command"]["title"].as_str().unwrap().to_owned()).collect()
    }

    fn actions(&mut self, uri: &str) -> Vec<String> {
        let at = json!({"line": 0, "character": 0});
        let params = json!({
            "textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": {"diagnostics": []},
        });
        let answer = self.client.request("textDocument/codeAction", &params).unwrap();
        answer.as_array().unwrap().iter().map(|action| action["title"].as_str().unwrap().to_owned()).collect()
    }

    /// The command whose lens begins so.
    fn command(&mut self, title: &str) -> Value {
        let lenses = self.lenses();
        let found = lenses.iter().find(|lens| lens["command"]["title"].as_str().unwrap().starts_with(title));
        found.unwrap_or_else(|| panic!("no {title}: {lenses:?}"))["command"].clone()
    }

    fn run(&mut self, command: &Value) -> Result<Value, Value> {
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        self.client.request("workspace/executeCommand", &params)
    }

    fn press(&mut self, title: &str) -> Result<Value, Value> {
        let command = self.command(title);
        self.run(&command)
    }

    fn requests(&self, method: &str) -> Vec<&Value> {
        self.client.seen.iter().filter(|message| message["method"] == method).collect()
    }
}

#[test]
fn a_person_reviews_trusts_and_untrusts() {
    let case = Case::new();
    let mut editor = case.editor();
    assert!(editor.said()[0].contains("2 hook files"), "{:?}", editor.said());
    assert!(editor.said()[0].contains("never reviewed"));
    assert_eq!(editor.titles()[0], "Review");
    assert!(editor.titles()[1].starts_with("Trust these 2 files ("), "{:?}", editor.titles());

    editor.press("Trust these").unwrap();
    assert_eq!(editor.requests("window/showMessageRequest").len(), 0, "without a review there is no question");
    let shown = editor.client.wait_for(|message| message["method"] == "window/showDocument");
    let file = shown["params"]["uri"].as_str().unwrap().strip_prefix("file://").unwrap().to_owned();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("exit 2") && text.contains("script: block"), "{text}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!case.is_trusted());

    editor.client.chooses = Some("Cancel");
    editor.press("Trust these").unwrap();
    let question = editor.requests("window/showMessageRequest")[0]["params"]["message"].as_str().unwrap().to_owned();
    assert!(question.contains(&case.project.root().display().to_string()), "{question}");
    assert!(question.contains("2 files, "), "{question}");
    assert!(!case.is_trusted());

    editor.press("Review").unwrap();
    editor.client.chooses = Some("Trust");
    let answer = editor.press("Trust these").unwrap();
    assert!(answer["message"].as_str().unwrap().contains("next session"), "{answer}");
    let Some(Record::Granted(grant)) = case.record() else { panic!("trusted") };
    assert_eq!(grant.by.means, Means::Editor);
    assert!(grant.by.processes.iter().any(|process| process.contains("ruleline-server")), "{:?}", grant.by);
    assert_eq!(editor.replace(&format!("{TEXT}\n")), [""; 0], "nothing is wrong any more");
    assert_eq!(editor.titles(), ["Review trusted hooks", "Untrust"]);

    case.project.write(".ruleline/hooks/block.sh", "exit 0\n");
    let said = editor.replace(TEXT);
    assert!(said[0].contains("changed since they were trusted (block.sh)"), "{said:?}");
    editor.client.chooses = Some("Untrust");
    editor.press("Untrust").unwrap();
    assert!(matches!(case.record(), Some(Record::Withdrawn { .. })));
    assert!(editor.replace(&format!("{TEXT}\n"))[0].contains("untrusted"));
}

#[test]
fn s09_a_token_is_used_once_and_only_for_what_was_shown() {
    let case = Case::new();
    let mut editor = case.editor();
    editor.client.chooses = Some("Trust");
    editor.press("Review").unwrap();
    let trust = editor.command("Trust these");
    // The bytes change between the review and the click.
    case.project.write(".ruleline/hooks/block.sh", "exit 0\n");
    let error = editor.run(&trust).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("changed since the review"), "{error}");
    case.project.write(".ruleline/hooks/block.sh", "exit 2\n");
    let questions = editor.requests("window/showMessageRequest").len();
    editor.run(&trust).unwrap();
    assert_eq!(editor.requests("window/showMessageRequest").len(), questions, "used up: it only reviews again");
    let root = format!("file://{}", case.project.root().display());
    let digest = trust["arguments"][0]["digest"].clone();
    for arguments in [
        json!([{"root": root}]),
        json!([{"root": root, "digest": digest}]),
        json!([{"root": root, "digest": digest, "token": "0".repeat(32)}]),
        json!([{"root": root, "digest": "0", "token": trust["arguments"][0]["token"]}]),
        json!([{"root": root, "digest": 3, "token": {}}]),
    ] {
        editor.run(&json!({"command": "ruleline.trustHooks", "arguments": arguments})).unwrap();
        assert_eq!(editor.requests("window/showMessageRequest").len(), questions, "{arguments}");
    }
    for arguments in
        [json!([]), json!([3]), json!([{"root": 3}]), json!([{"root": "http://x/"}]), json!([{"root": "file:///"}])]
    {
        let run = editor.run(&json!({"command": "ruleline.trustHooks", "arguments": arguments}));
        assert!(run.is_err(), "{arguments}: {run:?}");
    }
    assert!(!case.is_trusted());
    editor.press("Trust these").unwrap();
    assert!(case.is_trusted(), "the way of a person is open still");
}

#[test]
fn s09_an_editor_that_cannot_ask_changes_nothing_and_names_the_terminal() {
    let case = Case::new();
    let mut editor = case.editor();
    editor.client.asks = false;
    editor.press("Review").unwrap();
    let error = editor.press("Trust these").unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("`ruleline hooks trust` in a terminal"), "{error}");
    assert!(!case.is_trusted());
}

#[test]
fn lenses_go_when_nothing_can_be_done_any_more() {
    let case = Case::new();
    let mut editor = case.editor();
    assert!(!editor.titles().is_empty());
    editor.client.seen.clear();
    symlink("/etc/passwd", case.project.path(".ruleline/hooks/link.sh")).unwrap();
    editor.client.wait_for(|message| message["method"] == "workspace/codeLens/refresh");
    assert_eq!(editor.titles(), [""; 0]);
}

#[test]
fn s09_a_server_that_an_agent_started_offers_no_trust() {
    let case = Case::new();
    let agent = case.state.parent().unwrap().join("claude");
    symlink("/bin/sh", &agent).unwrap();
    let mut below = Command::new(&agent);
    let line =
        format!("\"{}\" --stdio --state-dir \"{}\"; exit", env!("CARGO_BIN_EXE_ruleline-server"), case.state.display());
    below.args(["-c", &line]);
    alone(&mut below);
    let mut marked = case.server();
    marked.env("CLAUDECODE", "1");
    for command in [below, marked] {
        let mut editor = case.open(command, &case.parameters());
        editor.client.chooses = Some("Trust");
        assert_eq!(editor.titles(), ["Review"]);
        editor.press("Review").unwrap();
        assert_eq!(editor.titles(), ["Review"], "no review gives an agent a token");
        let root = format!("file://{}", case.project.root().display());
        for command in ["ruleline.trustHooks", "ruleline.untrustHooks"] {
            let run = editor.run(&json!({"command": command, "arguments": [{"root": root}]}));
            assert!(run.unwrap_err()["message"].as_str().unwrap().contains("only a person may trust"));
        }
        assert_eq!(editor.requests("window/showMessageRequest").len(), 0);
    }
    assert!(!case.is_trusted());
}

#[test]
fn a_workspace_that_is_not_trusted_is_only_told_about() {
    let case = Case::new();
    let mut parameters = case.parameters();
    parameters["initializationOptions"] = json!({"trusted": false});
    let mut editor = case.open(case.server(), &parameters);
    assert!(editor.said()[0].contains("never reviewed"));
    assert_eq!(editor.titles(), ["Review"]);
    let root = format!("file://{}", case.project.root().display());
    let run = editor.run(&json!({"command": "ruleline.trustHooks", "arguments": [{"root": root}]}));
    assert!(run.unwrap_err()["message"].as_str().unwrap().contains("not trusted in the editor"));
}

#[test]
fn every_file_of_the_folder_says_where_its_hooks_stand() {
    let case = Case::new();
    let mut editor = case.editor();
    let script = case.project.uri(".ruleline/hooks/block.sh");
    editor.client.open(&script, 1, "exit 2\n");
    let said = editor.client.diagnostics(&script, 1);
    assert!(said[0]["message"].as_str().unwrap().contains("never reviewed"));
    assert_eq!(said[0]["code"], "hooks");
    let actions = editor.actions(&script);
    assert_eq!(actions[0], "Hooks: Review");
    assert!(actions[1].starts_with("Hooks: Trust these 2 files ("), "{actions:?}");
    let params = json!({"textDocument": {"uri": script}});
    assert_eq!(editor.client.request("textDocument/codeLens", &params).unwrap(), Value::Null);
}

#[test]
fn a_manifest_is_checked_while_it_is_written() {
    let case = Case::new();
    let mut editor = case.editor();
    editor.replace("# ä🦀\nhooks:\n  PreToolUse:\n    - builtin: duett\n");
    let (uri, version) = (editor.uri.clone(), editor.version);
    let said = editor.client.diagnostics(&uri, version);
    let wrong = said.iter().find(|one| one["message"].as_str().unwrap().contains("duett")).unwrap();
    assert_eq!(wrong["range"]["start"], json!({"line": 3, "character": 15}));
    assert_eq!(wrong["severity"], 1);
    assert!(wrong["message"].as_str().unwrap().contains("perhaps duet"));
}

#[test]
fn a_closed_manifest_and_hooks_of_other_tools_are_told_at_the_start() {
    let case = Case::new();
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}).to_string();
    case.project.write(".claude/settings.json", &settings);
    let mut client = Client::start_by(case.server(), &case.parameters());
    let said = client.next_diagnostics(&case.project.uri(MANIFEST));
    assert!(said[0]["message"].as_str().unwrap().contains("never reviewed"));
    let said = client.next_diagnostics(&case.project.uri(".claude/settings.json"));
    assert_eq!(said[0]["severity"], 3);
    assert!(said[0]["message"].as_str().unwrap().contains("Claude Code"), "{said:?}");
    let status = client.wait_for(|message| message["method"] == "ruleline/status");
    let hooks = &status["params"]["hooks"][0];
    assert_eq!(hooks["state"], "notReviewed");
    assert_eq!(hooks["files"], 2);
    assert_eq!(hooks["root"], case.project.root().display().to_string());
}

#[test]
fn a_folder_that_cannot_be_read_whole_says_why() {
    let case = Case::new();
    symlink("/etc/passwd", case.project.path(".ruleline/hooks/link.sh")).unwrap();
    let mut editor = case.editor();
    assert!(editor.said()[0].contains("link.sh"), "{:?}", editor.said());
    assert_eq!(editor.titles(), [""; 0]);
    let root = format!("file://{}", case.project.root().display());
    let run = editor.run(&json!({"command": "ruleline.reviewHooks", "arguments": [{"root": root}]}));
    assert!(run.unwrap_err()["message"].as_str().unwrap().contains("cannot be read whole"));
}

#[test]
fn a_server_runs_no_hook() {
    let case = Case::new();
    let mark = case.state.parent().unwrap().join("mark");
    case.project.write(".ruleline/hooks/block.sh", &format!("touch {}\n", mark.display()));
    let mut editor = case.editor();
    editor.client.chooses = Some("Trust");
    editor.press("Review").unwrap();
    editor.press("Trust these").unwrap();
    assert!(case.is_trusted());
    let file = case.project.uri("a.py");
    editor.client.open(&file, 1, "x = 1\n");
    editor.client.diagnostics(&file, 1);
    editor.client.notify("textDocument/didSave", &json!({"textDocument": {"uri": file}}));
    let (code, _) = editor.client.end();
    assert_eq!(code, Some(0));
    assert!(!mark.exists());
}

#[test]
fn a_change_outside_of_the_editor_is_seen() {
    let case = Case::new();
    let mut editor = case.editor();
    let next = |editor: &mut Editor, part: &str| {
        let uri = editor.uri.clone();
        editor.client.seen.clear();
        editor.client.wait_for(|message| {
            let said = &message["params"]["diagnostics"];
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && (part.is_empty() && said.as_array().is_some_and(Vec::is_empty)
                    || !part.is_empty() && said.to_string().contains(part))
        });
    };
    let root = case.project.root();
    let tree = hooks::Tree::read(&root).unwrap().unwrap();
    let by = hooks::Grantor { means: Means::Terminal, processes: Vec::new() };
    fs::create_dir_all(&case.state).unwrap();
    fs::set_permissions(&case.state, fs::Permissions::from_mode(0o700)).unwrap();
    let store = Store::new(&case.state);
    store.grant(&root, &tree, tree.digest, &by, std::time::SystemTime::now()).unwrap();
    next(&mut editor, "");
    case.project.write(".ruleline/hooks/block.sh", "exit 0\n");
    next(&mut editor, "block.sh");
    // A folder in the folder, and then a file of it.
    case.project.write(".ruleline/hooks/lib/deep/a.sh", "exit 0\n");
    next(&mut editor, "deep/a.sh");
    fs::remove_file(case.project.path(".ruleline/hooks/lib/deep/a.sh")).unwrap();
    next(&mut editor, "(block.sh)");
    store.withdraw(&root, std::time::SystemTime::now()).unwrap();
    next(&mut editor, "untrusted");
}

#[test]
fn the_page_about_the_protocol_names_all_that_the_server_does() {
    let page = include_str!("../docs/protocol.md");
    let case = Case::new();
    let mut editor = case.editor();
    let commands = editor.client.initialized["capabilities"]["executeCommandProvider"]["commands"].clone();
    let mut known: Vec<&str> = commands.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let mut written: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(name, _)| name).collect();
    written.retain(|name| name.starts_with("ruleline."));
    known.sort_unstable();
    written.sort_unstable();
    assert_eq!(written, known);
    let status = editor.client.wait_for(|message| message["method"] == "ruleline/status");
    assert!(page.contains("`ruleline/status`"));
    let mut keys = vec![&status["params"], &status["params"]["hooks"][0], &status["params"]["rulebooks"][0]];
    keys.extend([&status["params"]["decisions"], &status["params"]["log"]]);
    for key in keys.iter().flat_map(|part| part.as_object().unwrap().keys()) {
        assert!(page.contains(&format!("\"{key}\":")), "{key}");
    }
}
