//! Lenses over the rules of a rulebook: what each rule finds in the workspace, counted when it is seen and not before.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/lsp.rs"]
mod lsp;

use std::collections::BTreeMap;
use std::process::Command;

use lsp::{Client, Project};
use serde_json::{Value, json};

const RULEBOOK: &str = ".ruleline/rules.toml";
const RULES: &str = "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\", \"**/*.ipynb\"]\nforbid_calls = [\"eval\"]\n\n\
                     [[rule]]\nid = \"word\"\npaths = [\"src/**\"]\nforbid = ['bad+']\non_fail = \"warn\"\n\n\
                     [[rule]]\nid = \"locked\"\npaths = [\"gen/**\"]\n\n\
                     [[rule]]\nid = \"broken\"\npaths = [\"gen/**\"]\nforbid = ['(']\n";

struct Case {
    project: Project,
    client: Client,
    version: i32,
}

impl Case {
    fn of(project: Project, trusted: &Value) -> Case {
        let mut parameters = project.parameters();
        parameters["capabilities"]["workspace"] = json!({"codeLens": {"refreshSupport": true}});
        parameters["capabilities"]["window"] = json!({"showDocument": {"support": true}});
        parameters["initializationOptions"] = json!({"trusted": trusted});
        let mut client = Client::start(&parameters);
        client.open(&project.uri(RULEBOOK), 1, &std::fs::read_to_string(project.path(RULEBOOK)).unwrap());
        Case { project, client, version: 1 }
    }

    fn new() -> Case {
        let project = Project::new(RULES);
        project.write("src/a.py", "eval(1)  # bad\neval(2)\n");
        project.write("src/b.py", "eval(1)\n");
        project.write("src/copy.py", "eval(1)\n");
        project.write("gen/c.txt", "bad\n");
        project.write("image.py", "eval\0(1)\n");
        Case::of(project, &json!(true))
    }

    fn lenses(&mut self) -> Vec<Value> {
        let params = json!({"textDocument": {"uri": self.project.uri(RULEBOOK)}});
        self.client.request("textDocument/codeLens", &params).unwrap().as_array().cloned().unwrap_or_default()
    }

    fn resolve(&mut self, lens: &Value) -> Value {
        self.client.request("codeLens/resolve", lens).unwrap()
    }

    /// Line and title of every lens, asked for anew.
    fn titles(&mut self) -> Vec<String> {
        let title = |lens: &Value| {
            let line = lens["range"]["start"]["line"].as_u64().unwrap();
            format!("{line} {}", lens["command"]["title"].as_str().unwrap())
        };
        self.lenses().iter().map(|lens| title(&self.resolve(lens))).collect()
    }

    fn command(&mut self, name: &str, argument: &Value) -> Result<Value, Value> {
        self.client.request("workspace/executeCommand", &json!({"command": name, "arguments": [argument]}))
    }

    /// How many files were judged for counts, and how many texts parsed.
    fn work(&mut self) -> (u64, u64) {
        let status = self.command("ruleline.status", &Value::Null).unwrap();
        let number = |name: &str| status[name].as_u64().unwrap();
        (number("filesCounted"), number("textsParsed"))
    }

    fn replace(&mut self, text: &str) {
        self.version += 1;
        self.client.replace(&self.project.uri(RULEBOOK), self.version, text);
    }

    fn save(&mut self, name: &str) {
        self.client.notify("textDocument/didSave", &json!({"textDocument": {"uri": self.project.uri(name)}}));
    }

    /// Waits until the client is told to ask for lenses again.
    fn wait_for_refresh(&mut self) {
        self.client.wait_for(|message| message["method"] == "workspace/codeLens/refresh");
        self.client.seen.clear();
    }
}

#[test]
fn each_rule_says_what_it_finds_once_its_lens_is_seen() {
    let mut case = Case::new();
    let lenses = case.lenses();
    assert!(lenses.iter().all(|lens| lens.get("command").is_none()), "{lenses:#?}");
    assert_eq!(case.work(), (0, 0), "nothing is counted before it is seen");
    insta::assert_snapshot!(case.titles().join("\n"), @r#"
    0 4 findings in 3 files
    5 1 finding in 1 file
    11 about any change of its files
    15 disabled by an error
    "#);
    // The rulebook itself is a file as well; the image has no text to parse, and two contents are the same.
    assert_eq!(case.work(), (6, 2), "each file is judged once for all rules, each content parsed once");
    case.titles();
    assert_eq!(case.work(), (6, 2), "asking again judges nothing");

    case.project.write("src/b.py", "eval(3)\neval(4)\n");
    case.client.open(&case.project.uri("src/b.py"), 1, "eval(3)\neval(4)\n");
    case.client.diagnostics(&case.project.uri("src/b.py"), 1);
    let parsed = case.work().1;
    case.save("src/b.py");
    case.wait_for_refresh();
    assert_eq!(case.titles()[0], "0 5 findings in 3 files");
    assert_eq!(case.work(), (7, parsed), "the changed file alone is judged, and what the editor has parsed is parsed");
}

#[test]
fn counts_are_those_of_check() {
    let project = Project::new(&RULES.replace("forbid = ['(']", "question = \"Is it generated?\""));
    project.git(&["init", "-q"]);
    project.write(".gitignore", "ignored/\n");
    project.write("src/a.py", "import builtins as b\nb.eval(1); eval(2)  # bad badd\n");
    project.write("ignored/tracked.py", "eval(1)\n");
    project.write("ignored/other.py", "eval(1)\n");
    project.write("src/inner/.ruleline/rules.toml", "[[rule]]\nid = \"x\"\npaths = [\"**\"]\nforbid = ['.']\n");
    project.write("gen/a.txt", "one\ntwo\n");
    let cell = json!({"cell_type": "code", "source": ["eval(1)\n", "eval(2)"], "metadata": {}, "outputs": []});
    project.write("n.ipynb", &json!({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).to_string());
    project.git(&["add", "-f", "ignored/tracked.py"]);
    let check = Command::new(env!("CARGO_BIN_EXE_ruleline"))
        .args(["check", "--format", "json"])
        .current_dir(project.root())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&check.stdout).unwrap();
    let mut of_check: BTreeMap<String, usize> = BTreeMap::new();
    for finding in report["findings"].as_array().unwrap() {
        *of_check.entry(finding["rule"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for (trusted, hidden) in [(json!(true), 0), (json!(null), 1), (json!(false), 1)] {
        let other = Project::new("");
        let mut case = Case::of(project_at(&project, other), &trusted);
        let lenses = case.lenses();
        for lens in &lenses {
            let (rule, title) =
                (lens["data"]["rule"].as_str().unwrap(), case.resolve(lens)["command"]["title"].clone());
            let counted = title.as_str().unwrap().split(' ').next().unwrap().parse().unwrap_or(0);
            // Only git knows what it tracks although it is ignored.
            let hidden = if rule == "no-eval" { hidden } else { 0 };
            assert_eq!(counted + hidden, of_check.get(rule).copied().unwrap_or(0), "{rule}: {title}");
        }
        assert_eq!(lenses.len(), 4);
    }
    assert!(of_check["no-eval"] >= 5, "{of_check:?}");
}

/// A copy of a project, so that each server has its own.
fn project_at(from: &Project, to: Project) -> Project {
    let copied = Command::new("cp").arg("-a").arg(from.root().join(".")).arg(to.root()).status().unwrap();
    assert!(copied.success());
    to
}

#[test]
fn clicking_a_lens_opens_the_places() {
    let mut case = Case::new();
    let lens = case.lenses()[0].clone();
    let resolved = case.resolve(&lens);
    assert_eq!(resolved["command"]["command"], "ruleline.showFindings");
    let answer = case.command("ruleline.showFindings", &resolved["command"]["arguments"][0]).unwrap();
    let shown = case.client.wait_for(|message| message["method"] == "window/showDocument");
    let file = answer["file"].as_str().unwrap();
    assert_eq!(shown["params"]["uri"], lsp::uri(file.as_ref()));
    assert!(file.contains("/reviews/"), "{file}");
    let text = std::fs::read_to_string(file).unwrap().replace(&case.project.root().display().to_string(), "ROOT");
    insta::assert_snapshot!(text, @r#"
    Rule no-eval of ROOT/.ruleline/rules.toml:2
    4 findings in 3 files

    ROOT/src/a.py:1: calls eval
    ROOT/src/a.py:2: calls eval
    ROOT/src/b.py:1: calls eval
    ROOT/src/copy.py:1: calls eval
    "#);

    let rulebook = case.project.uri(RULEBOOK);
    for argument in [
        json!({"rulebook": rulebook, "rule": "gone"}),
        json!({"rulebook": rulebook}),
        json!({"rulebook": case.project.uri("src/a.py"), "rule": "no-eval"}),
        json!({"rulebook": "file:///etc/.ruleline/rules.toml", "rule": "no-eval"}),
        json!(3),
    ] {
        case.command("ruleline.showFindings", &argument).unwrap_err();
    }
}

#[test]
fn lenses_of_before_and_of_nobody_are_refused() {
    let mut case = Case::new();
    let old = case.lenses()[0].clone();
    case.lenses();
    assert_eq!(case.client.request("codeLens/resolve", &old).unwrap_err()["code"], -32801);
    let at = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let elsewhere = json!({"rulebook": "file:///etc/.ruleline/rules.toml", "rule": "a", "says": "", "asked": 0});
    let resolved = case.resolve(&json!({"range": at, "data": elsewhere}));
    assert_eq!(resolved["command"]["title"], "not counted: no such rulebook is saved here");
    for data in [json!(null), json!({"rulebook": 3}), json!({"rulebook": "::", "rule": "a", "says": "", "asked": 1})] {
        case.client.request("codeLens/resolve", &json!({"range": at, "data": data})).unwrap_err();
    }
    assert_eq!(case.work().0, 0);
}

#[test]
fn what_is_not_saved_is_not_counted_and_saving_counts_it() {
    let mut case = Case::new();
    let changed = RULES.replace("\"eval\"", "\"exec\"");
    case.replace(&changed);
    assert_eq!(case.titles()[..2], ["0 save to count its findings", "5 1 finding in 1 file"]);
    case.project.write("src/b.py", "exec(1)\n");
    case.project.write(RULEBOOK, &changed);
    case.client.seen.clear();
    case.save(RULEBOOK);
    case.wait_for_refresh();
    assert_eq!(case.titles()[..2], ["0 1 finding in 1 file", "5 1 finding in 1 file"]);

    // Half-typed and saved: what held before holds on, and there is no lens to stand anywhere.
    case.replace("[[rule]]\nid = \"no");
    assert_eq!(case.titles(), Vec::<String>::new());
}

#[test]
fn a_rulebook_of_which_nothing_is_open_has_no_lenses() {
    let (project, other) = (Project::new(RULES), Project::new(RULES));
    let mut case = Case::of(project, &json!(true));
    let uri = other.uri(RULEBOOK);
    case.client.open(&uri, 1, RULES);
    let params = json!({"textDocument": {"uri": uri}});
    assert_eq!(case.client.request("textDocument/codeLens", &params).unwrap(), json!([]));
    case.client.open(&case.project.uri("a.py"), 1, "eval(1)\n");
    let params = json!({"textDocument": {"uri": case.project.uri("a.py")}});
    assert_eq!(case.client.request("textDocument/codeLens", &params).unwrap(), Value::Null);
}
