//! Writing rulebooks, settings and hooks.yaml in the editor: completion and hover, over half-typed and hostile texts.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/lsp.rs"]
mod lsp;

use std::fmt::Write as _;

use lsp::{Client, Project};
use serde_json::{Value, json};

const RULEBOOK: &str = ".ruleline/rules.toml";

/// A client that has one document open, with a cursor in it.
struct Writer {
    client: Client,
    uri: String,
    version: i32,
    at: Value,
}

impl Writer {
    /// Opens `file` with a text in which `|` is the cursor.
    fn open(project: &Project, file: &str, marked: &str, capabilities: &Value) -> Writer {
        let mut parameters = project.parameters();
        for (name, value) in capabilities.as_object().unwrap() {
            parameters["capabilities"]["textDocument"][name] = value.clone();
        }
        let (client, uri) = (Client::start(&parameters), project.uri(file));
        let mut writer = Writer { client, uri, version: 0, at: Value::Null };
        writer.client.open(&writer.uri.clone(), 0, "");
        writer.write(marked);
        writer
    }

    fn write(&mut self, marked: &str) {
        let (before, _) = marked.split_once('|').unwrap();
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap().encode_utf16().count();
        self.at = json!({"line": line, "character": column});
        self.version += 1;
        self.client.replace(&self.uri.clone(), self.version, &marked.replacen('|', "", 1));
    }

    fn ask(&mut self, method: &str) -> Value {
        let params = json!({"textDocument": {"uri": self.uri}, "position": self.at});
        self.client.request(method, &params).unwrap()
    }

    fn items(&mut self) -> Vec<Value> {
        self.ask("textDocument/completion")["items"].as_array().cloned().unwrap_or_default()
    }

    /// Each suggestion in a line: what is shown, what it holds, where it goes and what is written there.
    fn completion(&mut self) -> String {
        let mut shown = String::new();
        for item in self.items() {
            let edit = &item["textEdit"];
            let [from, to] = ["start", "end"].map(|end| edit["range"][end]["character"].as_u64().unwrap());
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (label, detail, new) = (text(&item["label"]), text(&item["detail"]), text(&edit["newText"]));
            let snippet = if item["insertTextFormat"] == 2 { "snippet " } else { "" };
            writeln!(shown, "{label} ({detail}) {from}..{to} {snippet}{new:?}").unwrap();
        }
        shown
    }

    fn labels(&mut self) -> Vec<String> {
        self.items().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    /// What is told of the cursor's place.
    fn hover(&mut self) -> String {
        let told = self.ask("textDocument/hover");
        told["contents"]["value"].as_str().unwrap_or("nothing").to_owned()
    }
}

fn snippets() -> Value {
    json!({"completion": {"completionItem": {"snippetSupport": true}}})
}

#[test]
fn keys_of_a_half_typed_rule() {
    let project = Project::new("");
    let marked = "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"\non|\nwhy = \"\n\n[[rule]]\nforbid = []\n";
    let mut writer = Writer::open(&project, RULEBOOK, marked, &snippets());
    insta::assert_snapshot!(writer.completion(), @r#"
    on_fail ("deny" | "ask" | "warn") 0..2 snippet "on_fail = \"${1|deny,ask,warn|}\""
    redact (true | false) 0..2 snippet "redact = ${1|true,false|}"
    forbid (list of regular expressions) 0..2 snippet "forbid = ['$1']"
    fix (text, beside `forbid`) 0..2 snippet "fix = \"$1\""
    require (list of regular expressions) 0..2 snippet "require = ['$1']"
    forbid_calls (list of texts) 0..2 snippet "forbid_calls = [\"$1\"]"
    forbid_imports (list of texts) 0..2 snippet "forbid_imports = [\"$1\"]"
    require_def (list of texts) 0..2 snippet "require_def = [\"$1\"]"
    question (text) 0..2 snippet "question = \"$1\""
    when (list of regular expressions, beside `question`) 0..2 snippet "when = ['$1']"
    calibration (text, beside `question`) 0..2 snippet "calibration = \"$1\""
    on_delete ("ignore" | "judge") 0..2 snippet "on_delete = \"${1|ignore,judge|}\""
    [[rule]] () 0..2 snippet "[[rule]]\nid = \"$1\"\npaths = [\"$2\"]\nforbid = ['$3']\nwhy = \"$4\"\n"
    "#);
    let item = &writer.items()[1];
    insta::assert_json_snapshot!(item, @r#"
    {
      "detail": "true | false",
      "documentation": "masks what the rule's patterns match wherever a line is quoted, for secrets",
      "filterText": "redact",
      "insertTextFormat": 2,
      "kind": 10,
      "label": "redact",
      "sortText": "001",
      "textEdit": {
        "newText": "redact = ${1|true,false|}",
        "range": {
          "end": {
            "character": 2,
            "line": 3
          },
          "start": {
            "character": 0,
            "line": 3
          }
        }
      }
    }
    "#);
}

#[test]
fn values_keep_the_quotes_that_were_typed() {
    let project = Project::new("");
    let mut writer = Writer::open(&project, RULEBOOK, "# 🦀\r\n[[rule]]\r\non_fail = 'd|", &snippets());
    insta::assert_snapshot!(writer.completion(), @r#"
    deny (holds without the key) 10..12 "'deny'"
    ask () 10..12 "'ask'"
    warn () 10..12 "'warn'"
    "#);
    writer.write("[[rule]]\nredact = |");
    insta::assert_snapshot!(writer.completion(), @r#"
    true () 9..9 "true"
    false (holds without the key) 9..9 "false"
    "#);
}

#[test]
fn a_client_without_snippets_gets_plain_text() {
    let project = Project::new("");
    let mut writer = Writer::open(&project, RULEBOOK, "|", &json!({}));
    insta::assert_snapshot!(writer.completion(), @r#"
    [[rule]] () 0..0 "[[rule]]\nid = \"\"\npaths = [\"\"]\nforbid = ['']\nwhy = \"\"\n"
    "#);
}

#[test]
fn settings_hooks_and_json_rulebooks_are_completed_too() {
    let project = Project::new("");
    project.write(".ruleline/hooks/no-force.sh", "exit 0\n");
    let mut writer = Writer::open(&project, ".ruleline/config.toml", "on_failure = \"|", &json!({}));
    assert_eq!(writer.labels(), ["ask", "deny"]);
    writer.write("on_failure = \"deny\"\n|");
    assert_eq!(writer.labels(), ["baseline", "instruction_check", "unsaved_buffers"]);
    let manifest = ".ruleline/hooks/hooks.yaml";
    let mut writer = Writer::open(&project, manifest, "hooks:\n  PreToolUse:\n    - script: |\n", &json!({}));
    assert_eq!(writer.labels(), ["no-force"]);
    writer.write("hooks:\n  PreToolUse:\n    - script: no-force\n      on_error: |\n");
    assert_eq!(writer.labels(), ["allow", "ask", "deny"]);
    writer.write("hooks:\n  PreToolUse:\n    - script: no-force\n      |\n");
    assert_eq!(writer.labels(), ["matcher", "timeout", "on_error"]);
    let mut writer = Writer::open(&project, ".ruleline/rules.json", "{\"rules\": [{\"on_fail\": \"|", &json!({}));
    assert_eq!(writer.labels(), ["deny", "ask", "warn"]);
}

#[test]
fn nothing_is_suggested_where_nothing_of_ours_is_written() {
    let project = Project::new("");
    let mut writer = Writer::open(&project, "a.py", "on|", &snippets());
    assert_eq!(writer.ask("textDocument/completion"), Value::Null);
    assert_eq!(writer.hover(), "nothing");
    for marked in ["# on|", "[[rule]]\nforbid = ['|']", "[[rule]]\nwhy = \"d|", "[other]\nx|"] {
        let mut writer = Writer::open(&project, RULEBOOK, marked, &snippets());
        assert!(writer.labels().iter().all(|label| label == "[[rule]]"), "{marked}");
        assert_eq!(writer.hover(), "nothing", "{marked}");
    }
    let mut client = Client::start(&project.parameters());
    let at = json!({"line": 0, "character": 0});
    let params = json!({"textDocument": {"uri": project.uri(RULEBOOK)}, "position": at});
    assert_eq!(client.request("textDocument/completion", &params), Ok(Value::Null), "it is not open");
}

#[test]
fn hover_says_what_a_key_means() {
    let project = Project::new("");
    let mut writer = Writer::open(&project, RULEBOOK, "[[rule]]\non_fa|il = \"ask\"\n", &json!({}));
    insta::assert_snapshot!(writer.hover(), @r#"
    on_fail: what a finding does
    deny: refuses the edit
    ask: leaves the edit to a person
    warn: says so and lets the edit through
    Without it: "deny"
    "#);
    let told = writer.ask("textDocument/hover");
    assert_eq!(told["contents"]["kind"], "plaintext");
    assert_eq!(told["range"], json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 7}}));
    writer.write("[[rule]]\non_fail = \"as|k\n");
    insta::assert_snapshot!(writer.hover(), @r#"
    ask: leaves the edit to a person
    on_fail: what a finding does
    "#);
    let mut writer = Writer::open(&project, ".ruleline/config.toml", "on_fail|ure = 3\n", &json!({}));
    insta::assert_snapshot!(writer.hover(), @r#"
    on_failure: what an event gets that could not be judged
    ask: a person decides
    deny: it is refused
    Without it: "ask"
    A project may only make it stricter.
    "#);
    let manifest = ".ruleline/hooks/hooks.yaml";
    let mut writer = Writer::open(&project, manifest, "hooks:\n  Stop:\n    - time|out: 3\n", &json!({}));
    insta::assert_snapshot!(writer.hover(), @r#"
    timeout: how many seconds the hook may take; fractions too, at most 600
    For example: 10
    Without it: 30
    "#);
}

const EVAL: &str = "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid = ['eval']\nforbid_calls = [\"eval\"]\n\
                    why = \"see [here](command:x) <b>\"\n";

#[test]
fn hover_on_a_finding_says_which_rule_of_which_rulebook_once() {
    let project = Project::new(EVAL);
    let mut writer = Writer::open(&project, "a.py", "x = ev|al(1)\n", &json!({}));
    let root = project.root().display().to_string();
    insta::assert_snapshot!(writer.hover().replace(&root, "ROOT"), @r#"
    no-eval: see [here](command:x) <b>
    ROOT/.ruleline/rules.toml, line 2: an agent's edit that adds this line is refused
    "#);
    writer.write("x| = eval(1)\n");
    assert_eq!(writer.hover(), "nothing");
}

#[test]
fn s22_a_client_that_takes_markdown_alone_gets_it_without_markup() {
    let project = Project::new(EVAL);
    let markdown = json!({"hover": {"contentFormat": ["markdown"]}});
    let mut writer = Writer::open(&project, "a.py", "ev|al(1)\n", &markdown);
    let told = writer.ask("textDocument/hover");
    assert_eq!(told["contents"]["kind"], "markdown");
    let text = told["contents"]["value"].as_str().unwrap();
    assert!(text.contains(r"see \[here\]\(command\:x\) \<b\>"), "{text}");
}

#[test]
fn large_and_odd_texts_are_answered() {
    let project = Project::new("");
    let large = "[[rule]]\nid = \"a\"\n".repeat((1 << 20) / 18);
    let deep = format!("x = {}", "[".repeat(1 << 19));
    let nested = format!("x = {}", "{a=".repeat(1 << 18));
    let lines = "[[rule]]\n".to_owned() + &"# x\n".repeat(100_000);
    let mut writer = Writer::open(&project, RULEBOOK, "|", &snippets());
    for (text, answered) in [
        (large.as_str(), true),
        (&lines, true),
        (&deep, false),
        (&nested, false),
        (&"x".repeat((1 << 20) + 1), false),
        ("[[rule]]\r\nid = \0\r\n", true),
        ("\u{feff}[[rule]]\n", true),
    ] {
        let end = format!("{text}|");
        writer.write(&end);
        assert_eq!(!writer.labels().is_empty(), answered, "{:?}", &text[..text.len().min(20)]);
        writer.hover();
    }
    writer.write("[[rule]]\nid = \"a\"\n|");
    for at in [[9999, 0], [0, 9999], [u32::MAX, u32::MAX], [1, 99]] {
        writer.at = json!({"line": at[0], "character": at[1]});
        writer.labels();
        writer.hover();
    }
    writer.at = json!({"line": u32::MAX, "character": 0});
    assert!(writer.labels().contains(&"paths".to_owned()), "a place behind the text is its end");
}
