//! The server as a process under clients that behave badly or fast: order, exit codes, what is held back, what is lost.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/lsp.rs"]
mod lsp;

use std::io::{BufReader, Write};
use std::sync::mpsc::channel;

use lsp::{Client, PATIENCE, Project, exit_code, notification, read_message, request, start};
use serde_json::{Value, json};

const RULES: &str = r#"
[[rule]]
id = "no-eval"
paths = ["**/*.py"]
forbid = ['eval\(']
why = "eval runs whatever it is given"
"#;

/// Small, fast, the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn units(text: &str, encoding: &str) -> usize {
    match encoding {
        "utf-8" => text.len(),
        "utf-16" => text.encode_utf16().count(),
        _ => text.chars().count(),
    }
}

fn parameters(project: &Project, encodings: &[&str]) -> Value {
    let mut parameters = project.parameters();
    parameters["capabilities"]["general"]["positionEncodings"] = json!(encodings);
    parameters
}

/// A whole session with many edits against a model of lines: its bytes, and the text it ends with.
fn session(project: &Project, edits: usize, encoding: &str, random: &mut Random) -> (Vec<u8>, String) {
    let uri = project.uri("a.py");
    let mut lines: Vec<String> = vec!["a = 1".into(), "b = eval(x)".into(), String::new()];
    let mut bytes = request(1, "initialize", &parameters(project, &[encoding]));
    bytes.extend(notification("initialized", &json!({})));
    let document = json!({"uri": uri, "languageId": "python", "version": 1, "text": lines.join("\n")});
    bytes.extend(notification("textDocument/didOpen", &json!({"textDocument": document})));
    for edit in 0..edits {
        let at = random.below(lines.len());
        let line = lines[at].clone();
        let stops: Vec<usize> = line.char_indices().map(|(stop, _)| stop).chain([line.len()]).collect();
        let (one, other) = (stops[random.below(stops.len())], stops[random.below(stops.len())]);
        let (from, to) = (one.min(other), one.max(other));
        let text = ["x", "é", "😀", "eval(", "\nq = eval(1)\n", "", "z = 2"][random.below(7)];
        let place = |stop: usize| json!({"line": at, "character": units(&line[..stop], encoding)});
        let change = json!({"range": {"start": place(from), "end": place(to)}, "text": text});
        let document = json!({"uri": uri, "version": edit + 2});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        bytes.extend(notification("textDocument/didChange", &params));
        let new = format!("{}{text}{}", &line[..from], &line[to..]);
        lines.splice(at..=at, new.split('\n').map(str::to_owned));
    }
    (bytes, lines.join("\n"))
}

/// The line and column where the first `eval(` of each line stands.
fn expected(text: &str, encoding: &str) -> Vec<(u64, u64)> {
    let found = text.split('\n').enumerate().filter_map(|(number, line)| {
        let column = units(&line[..line.find("eval(")?], encoding);
        Some((number as u64, column as u64))
    });
    found.collect()
}

fn first_of_each_line(diagnostics: &[Value]) -> Vec<(u64, u64)> {
    let mut places: Vec<_> =
        lsp::places(diagnostics).into_iter().map(|(_, [line, column, ..])| (line, column)).collect();
    places.sort_unstable();
    places.dedup_by_key(|(line, _)| *line);
    places
}

#[test]
fn half_of_a_surrogate_pair_does_not_end_the_session() {
    let project = Project::new(RULES);
    let mut client = Client::start(&project.parameters());
    let uri = project.uri("a.py");
    client.open(&uri, 1, "x = 1\n");
    let change = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "MARK\neval(1)\n"}]});
    let frame = notification("textDocument/didChange", &change);
    let text = String::from_utf8(frame).unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    let body = body.replace("MARK", "'\\ud83d'");
    client.write(format!("Content-Length: 0\r\n\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    assert_eq!(client.diagnostics(&uri, 2).len(), 1);
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn ten_thousand_changes_in_any_chunking_to_a_client_that_reads_last() {
    const EDITS: usize = 10_000;
    for (encoding, seed) in [("utf-8", 77), ("utf-16", 1078), ("utf-32", 2079)] {
        let project = Project::new(RULES);
        let mut random = Random(seed);
        let (mut bytes, text) = session(&project, EDITS, encoding, &mut random);
        bytes.extend(request(2, "shutdown", &Value::Null));
        bytes.extend(notification("exit", &Value::Null));

        let mut child = start();
        let mut stdin = child.stdin.take().unwrap();
        let (sender, written) = channel();
        std::thread::spawn(move || {
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let most = if random.below(3) == 0 { 7 } else { 9000 };
                let (piece, after) = rest.split_at((1 + random.below(most)).min(rest.len()));
                stdin.write_all(piece).unwrap();
                rest = after;
            }
            sender.send(stdin).unwrap();
        });
        let _stdin_stays_open = written.recv_timeout(PATIENCE).expect("the server reads all that is written");

        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (mut last, mut shut_down, mut version) = (Value::Null, false, 0);
        while let Some(message) = read_message(&mut stdout) {
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == project.uri("a.py")
            {
                let published = message["params"]["version"].as_u64().unwrap();
                assert!(published >= version, "{encoding}: version {published} after {version}");
                version = published;
                last = message["params"]["diagnostics"].clone();
            }
            shut_down |= message["id"] == 2 && message.get("error").is_none();
        }
        assert_eq!(exit_code(&mut child), Some(0), "{encoding}");
        assert!(shut_down, "{encoding}: shutdown was answered");
        assert_eq!(version, EDITS as u64 + 1, "{encoding}");
        let (found, expected) = (first_of_each_line(last.as_array().unwrap()), expected(&text, encoding));
        assert!(found == expected, "{encoding}: {} places, expected {}", found.len(), expected.len());
    }
}

#[test]
fn exit_codes() {
    let project = Project::new(RULES);
    let hello = request(1, "initialize", &project.parameters());
    let bye = request(2, "shutdown", &Value::Null);
    let exit = notification("exit", &Value::Null);
    for (name, bytes, stays_open, code) in [
        ("after shutdown", [&hello[..], &bye, &exit].concat(), true, 0),
        ("without shutdown", [&hello[..], &exit].concat(), true, 1),
        ("before initialize", exit.clone(), true, 1),
        ("stdin closed after initialize", hello.clone(), false, 1),
        ("stdin closed after shutdown", [&hello[..], &bye].concat(), false, 1),
        ("stdin closed at once", Vec::new(), false, 1),
        ("garbage", [&hello[..], b"Content-Length: 3\r\n\r\n{]x"].concat(), true, 1),
    ] {
        let mut child = start();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&bytes).unwrap();
        let open = stays_open.then_some(stdin);
        assert_eq!(exit_code(&mut child), Some(code), "{name}");
        drop(open);
    }
}

#[test]
fn a_client_that_never_reads_still_ends_the_server() {
    let project = Project::new(RULES);
    let (mut bytes, _) = session(&project, 3000, "utf-16", &mut Random(9));
    for id in 0..2000 {
        bytes.extend(request(100 + id, "workspace/executeCommand", &json!({"command": "ruleline.status"})));
    }
    bytes.extend(request(3, "shutdown", &Value::Null));
    bytes.extend(notification("exit", &Value::Null));
    let mut child = start();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&bytes).unwrap();
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn a_client_that_is_gone_ends_the_server() {
    let project = Project::new(RULES);
    let mut child = start();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    stdin.write_all(&session(&project, 10, "utf-16", &mut Random(9)).0).unwrap();
    assert_eq!(exit_code(&mut child), Some(1));
}

#[test]
fn messages_right_behind_initialize_are_not_lost() {
    for round in 0..10 {
        let project = Project::new(RULES);
        let (mut bytes, text) = session(&project, 5, "utf-16", &mut Random(3 + round * 7));
        bytes.extend(request(2, "shutdown", &Value::Null));
        bytes.extend(notification("exit", &Value::Null));
        let mut child = start();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut last = None;
        while let Some(message) = read_message(&mut stdout) {
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == project.uri("a.py")
            {
                last = Some(message["params"].clone());
            }
        }
        assert_eq!(exit_code(&mut child), Some(0));
        let last = last.expect("the document that was opened behind initialize is known");
        assert_eq!(last["version"], 6);
        assert_eq!(first_of_each_line(last["diagnostics"].as_array().unwrap()), expected(&text, "utf-16"));
    }
}

#[test]
fn a_client_that_never_answers_blocks_nothing() {
    let project = Project::new(RULES);
    let mut parameters = project.parameters();
    parameters["capabilities"]["workspace"] = json!({"didChangeWatchedFiles": {"dynamicRegistration": true}});
    parameters["capabilities"]["window"] = json!({"showDocument": {"support": true}});
    let mut client = Client::start(&parameters);
    client.answers = false;
    client.wait_for(|message| message["method"] == "client/registerCapability");
    let uri = project.uri("a.py");
    client.open(&uri, 1, "eval(1)\n");
    client.diagnostics(&uri, 1);
    for version in 2..500 {
        let rulebook = project.uri(".ruleline/rules.toml");
        let command = json!({"command": "ruleline.openRule", "arguments": [{"rulebook": rulebook, "rule": "no-eval"}]});
        client.send_request("workspace/executeCommand", &command);
        client.replace(&uri, version, &format!("eval({version})\n"));
    }
    client.diagnostics(&uri, 499);
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn uris_are_given_back_as_they_were_written() {
    let project = Project::new(RULES);
    let mut client = Client::start(&project.parameters());
    let root = lsp::uri(&project.root());
    for name in ["ä.py", "a b.py", "%C3%A4x.py", "x/../[1].py", "UPPER.PY", "a^b`{}|.py", "%e4.py"] {
        let uri = format!("{root}/{name}");
        client.open(&uri, 1, "x = eval(1)\n");
        assert_eq!(client.diagnostics(&uri, 1).len(), usize::from(name != "UPPER.PY"), "{uri}");
        let range = json!({"start": {"line": 0, "character": 5}, "end": {"line": 0, "character": 5}});
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
        let actions = client.request("textDocument/codeAction", &params).unwrap();
        let explain =
            actions.as_array().unwrap().iter().find(|action| action["command"]["command"] == "ruleline.explain");
        if let Some(explain) = explain {
            assert_eq!(explain["command"]["arguments"][0]["uri"], *uri);
        }
        client.seen.clear();
        client.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
        assert!(client.next_diagnostics(&uri).is_empty(), "{uri} is cleared");
    }
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn other_schemes_and_wrong_uris_do_no_harm() {
    let project = Project::new(RULES);
    let mut client = Client::start(&project.parameters());
    for uri in [
        "untitled:Untitled-1",
        "vscode-notebook-cell:/w/n.ipynb#W0s",
        "git:/w/a.py?%7B%22ref%22%7D",
        "file:///nowhere/a.py",
        "file://elsewhere/w/a.py",
    ] {
        client.open(uri, 1, "eval(1)\n");
        assert!(client.diagnostics(uri, 1).is_empty(), "no rule holds for {uri}");
        client.change(uri, 2, &json!([{"text": "eval(2)\n"}]));
        assert!(client.diagnostics(uri, 2).is_empty());
    }
    for params in
        [json!({"nonsense": 1}), json!({"textDocument": {"uri": "a.py", "languageId": "", "version": 1, "text": ""}})]
    {
        client.notify("textDocument/didOpen", &params);
    }
    client.change("file:///never/opened.py", 7, &json!([{"text": "x"}]));
    client.request("textDocument/nonsense", &json!({})).unwrap_err();
    let (code, log) = client.end();
    assert_eq!(code, Some(0));
    assert!(log.contains("opened.py"), "a change of what is not open is logged: {log}");
}

#[test]
fn pulls_between_changes_are_all_answered_and_the_last_is_right() {
    let project = Project::new(RULES);
    let mut pulling = project.parameters();
    pulling["capabilities"]["textDocument"]["diagnostic"] = json!({});
    pulling["capabilities"]["workspace"] = json!({"diagnostics": {"refreshSupport": true}});
    let mut client = Client::start(&pulling);
    let uri = project.uri("a.py");
    client.open(&uri, 1, "x = 1\n");
    for version in 2..=500 {
        client.replace(&uri, version, &"eval(1)\n".repeat(usize::try_from(version).unwrap() % 7));
        client.send_request("textDocument/diagnostic", &json!({"textDocument": {"uri": uri}}));
    }
    assert_eq!(client.pull(&uri, None)["items"].as_array().unwrap().len(), 500 % 7);
    let answers = client.seen.iter().filter(|message| message["result"]["kind"] == "full").count();
    assert_eq!(answers, 500);
}

#[test]
fn a_client_that_does_not_read_the_log_blocks_nothing() {
    let project = Project::new(RULES);
    let mut bytes = request(1, "initialize", &project.parameters());
    bytes.extend(notification("initialized", &json!({})));
    let document = json!({"uri": format!("file:///not/open/{}.py", "x".repeat(1000)), "version": 1});
    for _ in 0..1000 {
        let params = json!({"textDocument": document, "contentChanges": []});
        bytes.extend(notification("textDocument/didChange", &params));
    }
    bytes.extend(request(2, "shutdown", &Value::Null));
    bytes.extend(notification("exit", &Value::Null));
    let mut child = start();
    let _nobody_reads = child.stderr.take();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&bytes).unwrap();
    assert_eq!(exit_code(&mut child), Some(0));
}
