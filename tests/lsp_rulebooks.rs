//! Rulebooks in the editor: live problems, reloads, the last good one, several roots.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/lsp.rs"]
mod lsp;

use lsp::{Client, Project, places};
use serde_json::{Value, json};

fn forbidding(word: &str) -> String {
    format!("[[rule]]\nid = \"no-{word}\"\npaths = [\"**/*.py\"]\nforbid = ['{word}']\nwhy = \"no {word}\"\n")
}

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    let mut codes: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect();
    codes.sort_unstable();
    codes
}

/// Waits until the codes shown for a document are these.
fn wait_for_codes(client: &mut Client, uri: &str, expected: &[&str]) {
    client.wait_for(|message| {
        message["method"] == "textDocument/publishDiagnostics"
            && message["params"]["uri"] == uri
            && codes(message["params"]["diagnostics"].as_array().unwrap()) == expected
    });
}

const RULEBOOK: &str = ".ruleline/rules.toml";

#[test]
fn a_changed_rulebook_judges_open_documents_anew() {
    // Told by the client, told by the system, told by saving in the editor.
    for way in ["client", "system", "save"] {
        let project = Project::new(&forbidding("eval"));
        let mut parameters = project.parameters();
        if way == "client" {
            parameters["capabilities"]["workspace"] = json!({"didChangeWatchedFiles": {"dynamicRegistration": true}});
        }
        let mut client = Client::start(&parameters);
        if way == "client" {
            let asked = client.wait_for(|message| message["method"] == "client/registerCapability");
            let registration = &asked["params"]["registrations"][0];
            assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
            assert!(registration["registerOptions"]["watchers"].to_string().contains(".ruleline"));
        }
        let uri = project.uri("a.py");
        client.open(&uri, 1, "eval exec\n");
        assert_eq!(codes(&client.diagnostics(&uri, 1)), ["no-eval"]);
        if way == "save" {
            client.open(&project.uri(RULEBOOK), 1, &forbidding("exec"));
        }
        client.seen.clear();
        project.write(RULEBOOK, &forbidding("exec"));
        match way {
            "client" => {
                let change = json!({"uri": project.uri(RULEBOOK), "type": 2});
                client.notify("workspace/didChangeWatchedFiles", &json!({"changes": [change]}));
            }
            "save" => client.notify("textDocument/didSave", &json!({"textDocument": {"uri": project.uri(RULEBOOK)}})),
            _ => {}
        }
        wait_for_codes(&mut client, &uri, &["no-exec"]);
    }
}

#[test]
fn a_rulebook_that_comes_and_goes_is_noticed() {
    let project = Project::new("");
    std::fs::remove_dir_all(project.path(".ruleline")).unwrap();
    let mut client = Client::start(&project.parameters());
    let uri = project.uri("a.py");
    client.open(&uri, 1, "eval\n");
    assert!(client.diagnostics(&uri, 1).is_empty());
    client.seen.clear();
    project.write(RULEBOOK, &forbidding("eval"));
    wait_for_codes(&mut client, &uri, &["no-eval"]);
    client.seen.clear();
    std::fs::remove_dir_all(project.path(".ruleline")).unwrap();
    wait_for_codes(&mut client, &uri, &[]);
}

#[test]
fn the_last_good_rulebook_stays_and_the_failure_is_shown_on_the_file() {
    let project = Project::new(&forbidding("eval"));
    let mut client = Client::start(&project.parameters());
    let (uri, rulebook) = (project.uri("a.py"), project.uri(RULEBOOK));
    client.open(&uri, 1, "eval\n");
    assert_eq!(codes(&client.diagnostics(&uri, 1)), ["no-eval"]);
    client.seen.clear();
    project.write(RULEBOOK, "[[rule\n");
    wait_for_codes(&mut client, &rulebook, &["rulebook"]);
    client.replace(&uri, 2, "eval\neval\n");
    assert_eq!(codes(&client.diagnostics(&uri, 2)), ["no-eval", "no-eval"]);
    client.seen.clear();
    project.write(RULEBOOK, &forbidding("exec"));
    wait_for_codes(&mut client, &rulebook, &[]);
    client.replace(&uri, 3, "eval exec\n");
    assert_eq!(codes(&client.diagnostics(&uri, 3)), ["no-exec"]);
}

#[test]
fn a_rulebook_that_never_was_good_is_shown_at_once_and_judges_as_unchecked() {
    let project = Project::new("[[rule\n");
    let mut client = Client::start(&project.parameters());
    let rulebook = project.uri(RULEBOOK);
    wait_for_codes(&mut client, &rulebook, &["rulebook"]);
    let uri = project.uri("a.py");
    client.open(&uri, 1, "x\n");
    let diagnostics = client.diagnostics(&uri, 1);
    assert_eq!((codes(&diagnostics), &diagnostics[0]["severity"]), (vec!["rulebook"], &json!(2)));
}

#[test]
fn the_text_of_an_open_rulebook_is_checked_while_it_is_typed() {
    let project = Project::new(&forbidding("eval"));
    let mut client = Client::start(&project.parameters());
    let (uri, rulebook) = (project.uri("a.py"), project.uri(RULEBOOK));
    client.open(&uri, 1, "eval exec\n");
    client.open(&rulebook, 1, &forbidding("eval"));
    assert!(client.diagnostics(&rulebook, 1).is_empty());

    // A pattern with a mistake: the place inside it is underlined.
    let text = "# 😀\n[[rule]]\nid = 'a'\npaths = ['**']\nforbid = ['😀', 'ab(?=c)']\nforbit = ['x']\n";
    client.replace(&rulebook, 2, text);
    let diagnostics = client.diagnostics(&rulebook, 2);
    let found = places(&diagnostics);
    assert!(diagnostics.len() >= 2, "{diagnostics:#?}");
    assert!(found.iter().any(|(_, range)| range[0] == 4 && (15..24).contains(&range[1])), "{found:?}");
    assert!(found.iter().any(|(_, range)| range[0] == 5 && range[1] == 0), "{found:?}");

    // Unsaved text does not hold for other documents.
    client.replace(&rulebook, 3, &forbidding("exec"));
    assert!(client.diagnostics(&rulebook, 3).is_empty());
    client.replace(&uri, 2, "eval exec \n");
    assert_eq!(codes(&client.diagnostics(&uri, 2)), ["no-eval"]);

    // Closed without saving: the file on disk is what is shown again.
    client.seen.clear();
    client.notify("textDocument/didClose", &json!({"textDocument": {"uri": rulebook}}));
    assert!(client.next_diagnostics(&rulebook).is_empty());
}

#[test]
fn a_workspace_reached_over_a_link_is_one_workspace() {
    let project = Project::new("[[rule\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().canonicalize().unwrap().join("link");
    std::os::unix::fs::symlink(project.root(), &link).unwrap();
    let mut parameters = project.parameters();
    parameters["rootUri"] = json!(lsp::uri(&link));
    let mut client = Client::start(&parameters);
    wait_for_codes(&mut client, &project.uri(RULEBOOK), &["rulebook"]);
    let over_link = lsp::uri(&link.join(RULEBOOK));
    client.seen.clear();
    client.open(&over_link, 1, &forbidding("eval"));
    assert!(client.diagnostics(&over_link, 1).is_empty());
    wait_for_codes(&mut client, &project.uri(RULEBOOK), &[]);
    project.write(RULEBOOK, &forbidding("eval"));
    let uri = lsp::uri(&link.join("a.py"));
    client.notify("textDocument/didSave", &json!({"textDocument": {"uri": over_link}}));
    client.open(&uri, 1, "eval\n");
    assert_eq!(codes(&client.diagnostics(&uri, 1)), ["no-eval"]);
}

#[test]
fn a_json_rulebook_is_read_as_json() {
    let project = Project::new("");
    let mut client = Client::start(&project.parameters());
    let uri = project.uri(".ruleline/rules.json");
    client.open(&uri, 1, "{\"rules\": [{\"id\": \"a\", \"paths\": [\"**\"], \"forbid\": [\"x\"]}]}");
    assert!(client.diagnostics(&uri, 1).is_empty());
    client.replace(&uri, 2, "{\"rules\": [{\"id\": \"a\", \"paths\": [\"**\"], \"forbid\": [\"(\"]}]}");
    let diagnostics = client.diagnostics(&uri, 2);
    assert_eq!(codes(&diagnostics), ["rulebook"], "{diagnostics:#?}");
}

#[test]
fn s02_a_config_that_sets_what_is_the_users_alone_is_told_so() {
    let project = Project::new("");
    let mut client = Client::start(&project.parameters());
    let uri = project.uri(".ruleline/config.toml");
    client.open(&uri, 1, "baseline = \"disk\"\nask_unattended = \"ask\"\nnonsense = 1\n");
    let lines: Vec<_> =
        places(&client.diagnostics(&uri, 1)).into_iter().map(|(code, range)| (code, range[0])).collect();
    assert_eq!(lines, [("config".to_owned(), 1), ("config".to_owned(), 2)]);
    client.replace(&uri, 2, "baseline = \"disk\"\n");
    assert!(client.diagnostics(&uri, 2).is_empty());
}

#[test]
fn a_config_that_is_not_open_is_told_what_is_wrong_in_it_too() {
    let project = Project::new("");
    let uri = project.uri(".ruleline/config.toml");
    project.write(".ruleline/config.toml", "ask_unattended = \"ask\"\n");
    let mut client = Client::start(&project.parameters());
    wait_for_codes(&mut client, &uri, &["config"]);
    client.seen.clear();
    // While it is open its buffer counts, after that the file.
    client.open(&uri, 1, "baseline = \"disk\"\n");
    assert!(client.diagnostics(&uri, 1).is_empty());
    client.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
    wait_for_codes(&mut client, &uri, &["config"]);
    client.seen.clear();
    project.write(".ruleline/config.toml", "baseline = \"disk\"\n");
    let changes = json!({"changes": [{"uri": uri, "type": 2}]});
    client.notify("workspace/didChangeWatchedFiles", &changes);
    wait_for_codes(&mut client, &uri, &[]);
}

#[test]
fn each_folder_of_the_workspace_has_its_own_rules() {
    let (one, other) = (Project::new(&forbidding("eval")), Project::new(&forbidding("exec")));
    one.write("inner/.ruleline/rules.toml", &forbidding("pass"));
    let folder = |project: &Project, inner: &str| json!({"uri": lsp::uri(&project.path(inner)), "name": "w"});
    let mut parameters = one.parameters();
    parameters["workspaceFolders"] = json!([folder(&one, ""), folder(&one, "inner")]);
    let mut client = Client::start(&parameters);
    let text = "eval exec pass\n";
    let (in_one, in_inner, in_other) = (one.uri("a.py"), one.uri("inner/a.py"), other.uri("a.py"));
    for (uri, expected) in [(&in_one, vec!["no-eval"]), (&in_inner, vec!["no-eval", "no-pass"]), (&in_other, vec![])] {
        client.open(uri, 1, text);
        assert_eq!(codes(&client.diagnostics(uri, 1)), expected, "{uri}");
    }
    client.seen.clear();
    let event = json!({"added": [folder(&other, "")], "removed": [folder(&one, "")]});
    client.notify("workspace/didChangeWorkspaceFolders", &json!({"event": event}));
    wait_for_codes(&mut client, &in_other, &["no-exec"]);
    wait_for_codes(&mut client, &in_one, &[]);
    let status = client.request("workspace/executeCommand", &json!({"command": "ruleline.status"})).unwrap();
    assert_eq!(status["roots"].as_array().unwrap().len(), 2);
}

#[test]
fn a_client_that_pulls_is_told_of_a_broken_rulebook_in_words() {
    let project = Project::new("[[rule\n");
    let mut parameters = project.parameters();
    parameters["capabilities"]["textDocument"]["diagnostic"] = json!({});
    parameters["capabilities"]["workspace"] = json!({"diagnostics": {"refreshSupport": true}});
    let mut client = Client::start(&parameters);
    let said = client.wait_for(|message| message["method"] == "window/showMessage");
    assert!(said["params"]["message"].as_str().unwrap().contains("rules.toml:1"), "{said}");
    client.open(&project.uri(RULEBOOK), 1, "[[rule\n");
    assert_eq!(client.pull(&project.uri(RULEBOOK), None)["items"][0]["code"], "rulebook");
    assert_eq!(client.published(), Vec::<Value>::new());
}

#[test]
fn each_rulebook_is_loaded_once_and_each_text_parsed_once() {
    let rules = "[[rule]]\nid = \"a\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"os.system\"]\nwhy = \"w\"\n";
    let project = Project::new(rules);
    let mut client = Client::start(&project.parameters());
    for number in 0..5 {
        let uri = project.uri(&format!("{number}.py"));
        client.open(&uri, 1, "import os\nos.system('x')\n");
        assert_eq!(client.diagnostics(&uri, 1).len(), 1);
    }
    let status = client.request("workspace/executeCommand", &json!({"command": "ruleline.status"})).unwrap();
    assert_eq!((&status["rulebooksLoaded"], &status["textsParsed"]), (&json!(1), &json!(1)));
}
