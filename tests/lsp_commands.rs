//! Code actions and commands: go to the rule, explain, reload, status.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/lsp.rs"]
mod lsp;

use lsp::{Client, Project};
use serde_json::{Value, json};

const RULES: &str =
    "# comment\n[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid = ['eval\\(']\nwhy = \"no eval\"\n";

struct Case {
    project: Project,
    client: Client,
    uri: String,
}

impl Case {
    fn new(shows_documents: bool) -> Case {
        let project = Project::new(RULES);
        let mut parameters = project.parameters();
        parameters["capabilities"]["window"] = json!({"showDocument": {"support": shows_documents}});
        let mut client = Client::start(&parameters);
        let uri = project.uri("a.py");
        client.open(&uri, 1, "x = 1\ny = eval(1)\n");
        client.diagnostics(&uri, 1);
        Case { project, client, uri }
    }

    fn actions(&mut self, line: u32, only: &Value) -> Vec<Value> {
        let at = json!({"line": line, "character": 5});
        let params = json!({
            "textDocument": {"uri": self.uri},
            "range": {"start": at, "end": at},
            "context": {"diagnostics": [], "only": only},
        });
        let answer = self.client.request("textDocument/codeAction", &params).unwrap();
        answer.as_array().cloned().unwrap_or_default()
    }

    fn run(&mut self, command: &Value) -> Result<Value, Value> {
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        self.client.request("workspace/executeCommand", &params)
    }
}

fn titles(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["title"].as_str().unwrap()).collect()
}

#[test]
fn actions_are_offered_where_the_rule_speaks() {
    let mut case = Case::new(true);
    let both = ["Go to rule no-eval", "Explain no-eval"];
    for (line, only, expected) in [
        (1, Value::Null, &both[..]),
        (1, json!(["quickfix"]), &both),
        (1, json!([""]), &both),
        (1, json!(["refactor", "source.fixAll"]), &[]),
        (0, Value::Null, &[]),
    ] {
        assert_eq!(titles(&case.actions(line, &only)), expected, "line {line}, only {only}");
    }
    let actions = case.actions(1, &Value::Null);
    assert_eq!(actions[0]["kind"], "quickfix");
    assert_eq!(actions[0]["diagnostics"][0]["code"], "no-eval");
}

#[test]
fn the_fix_of_a_rule_is_offered_as_an_edit_and_passes() {
    let project = Project::new(
        "[[rule]]\nid = \"no-print\"\npaths = [\"**/*.py\"]\nforbid = ['print\\((\\w*)\\)']\nfix = 'log($1)'\n\n\
         [[rule]]\nid = \"no-semicolon\"\npaths = [\"**/*.py\"]\nforbid = [';$']\nfix = ''\n",
    );
    let client = Client::start(&project.parameters());
    let mut case = Case { uri: project.uri("a.py"), project, client };
    let uri = case.uri.clone();
    case.client.open(&uri, 1, "s = '😀'; print(s);\n");
    let shown = case.client.diagnostics(&uri, 1);
    assert!(shown[0]["message"].as_str().unwrap().ends_with("In its place: `log(s)`"), "{shown:?}");
    let at = json!({"line": 0, "character": 12});
    let end = json!({"line": 0, "character": 18});
    let params = json!({
        "textDocument": {"uri": uri}, "range": {"start": at, "end": end}, "context": {"diagnostics": []},
    });
    let actions = case.client.request("textDocument/codeAction", &params).unwrap();
    let actions = actions.as_array().unwrap();
    assert_eq!(
        titles(actions),
        [
            "Write log(s) instead (no-print)",
            "Go to rule no-print",
            "Explain no-print",
            "Take it out (no-semicolon)",
            "Go to rule no-semicolon",
            "Explain no-semicolon",
        ]
    );
    let edit = &actions[0]["edit"]["changes"][&uri][0];
    assert_eq!(actions[0]["isPreferred"], true);
    assert_eq!(
        *edit,
        json!({"range": {"start": {"line": 0, "character": 10}, "end": {"line": 0, "character": 18}}, "newText": "log(s)"})
    );
    case.client.change(&uri, 2, &json!([{"range": edit["range"], "text": edit["newText"]}]));
    let left = case.client.diagnostics(&uri, 2);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["code"], "no-semicolon");
}

#[test]
fn go_to_rule_opens_the_rulebook_at_the_id() {
    let mut case = Case::new(true);
    let actions = case.actions(1, &Value::Null);
    case.run(&actions[0]["command"]).unwrap();
    let shown = case.client.wait_for(|message| message["method"] == "window/showDocument");
    assert_eq!(shown["params"]["uri"], case.project.uri(".ruleline/rules.toml"));
    assert_eq!(shown["params"]["selection"]["start"], json!({"line": 2, "character": 5}));
}

#[test]
fn go_to_rule_says_the_place_where_documents_cannot_be_shown() {
    let mut case = Case::new(false);
    let actions = case.actions(1, &Value::Null);
    let result = case.run(&actions[0]["command"]).unwrap();
    let said = case.client.wait_for(|message| message["method"] == "window/showMessage");
    let message = said["params"]["message"].as_str().unwrap();
    assert!(message.ends_with("rules.toml:3"), "{message}");
    assert_eq!(result["message"], message);
}

#[test]
fn explain_says_which_rule_of_which_rulebook_why_and_where() {
    let mut case = Case::new(true);
    let actions = case.actions(1, &Value::Null);
    let explain = actions[1]["command"].clone();
    let result = case.run(&explain).unwrap();
    let said = case.client.wait_for(|message| message["method"] == "window/showMessage");
    let message = said["params"]["message"].as_str().unwrap();
    for part in ["Line 2", "no-eval", "no eval", ".ruleline/rules.toml", "line 3", "refused"] {
        assert!(message.contains(part), "{part:?} in {message}");
    }
    assert_eq!(result["message"], message);

    case.client.replace(&case.uri.clone(), 2, "x = 1\n");
    case.client.diagnostics(&case.uri.clone(), 2);
    let error = case.run(&explain).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("no-eval"), "{error}");
}

#[test]
fn s22_a_message_holds_no_links() {
    let project = Project::new(&RULES.replace("no eval", "see [here](command:workbench.action.quit)"));
    let mut client = Client::start(&project.parameters());
    let uri = project.uri("a.py");
    client.open(&uri, 1, "eval(1)\n");
    client.diagnostics(&uri, 1);
    let argument = json!({"uri": uri, "rulebook": project.uri(".ruleline/rules.toml"), "rule": "no-eval", "line": 1});
    let command = json!({"command": "ruleline.explain", "arguments": [argument]});
    client.request("workspace/executeCommand", &command).unwrap();
    let said = client.wait_for(|message| message["method"] == "window/showMessage");
    let message = said["params"]["message"].as_str().unwrap();
    assert!(message.contains("[here]") && !message.contains("]("), "{message}");
}

#[test]
fn commands_do_nothing_for_what_they_do_not_know() {
    let mut case = Case::new(true);
    let elsewhere = json!({"rulebook": "file:///etc/passwd", "rule": "no-eval"});
    let rulebook = case.project.uri(".ruleline/rules.toml");
    for (command, arguments) in [
        ("ruleline.openRule", json!([elsewhere])),
        ("ruleline.openRule", json!([{"rulebook": rulebook, "rule": "other"}])),
        ("ruleline.openRule", json!([{"rulebook": "http://h/x", "rule": "no-eval"}])),
        ("ruleline.openRule", json!([3])),
        ("ruleline.openRule", json!([])),
        ("ruleline.explain", json!([{"uri": "::", "rulebook": rulebook, "rule": "no-eval"}])),
        ("ruleline.trust", json!([])),
    ] {
        case.run(&json!({"command": command, "arguments": arguments})).unwrap_err();
    }
    let shown = case.client.seen.iter().find(|message| message["method"] == "window/showDocument");
    assert_eq!(shown, None);
}

#[test]
fn status_and_reload() {
    let mut case = Case::new(true);
    let status = case.run(&json!({"command": "ruleline.status", "arguments": []})).unwrap();
    assert_eq!(status["documents"], 1);
    assert_eq!(status["rulebooks"][0]["rules"], 1);
    case.client.seen.clear();
    let token = json!({"command": "ruleline.reload", "arguments": [], "workDoneToken": "t"});
    case.client.request("workspace/executeCommand", &token).unwrap();
    let uri = case.uri.clone();
    assert_eq!(case.client.next_diagnostics(&uri).len(), 1);
    for kind in ["begin", "end"] {
        case.client.wait_for(|message| {
            message["method"] == "$/progress"
                && message["params"]["token"] == "t"
                && message["params"]["value"]["kind"] == kind
        });
    }
}
