//! A language client for tests: real processes, real frames, no editor.
//!
//! [`Client`] talks turn by turn; [`frame`], [`request`] and [`notification`] make bytes for tests that write a whole
//! session at once.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// One message with its header.
pub fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A request's frame.
pub fn request(id: i64, method: &str, params: &Value) -> Vec<u8> {
    let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
    if !params.is_null() {
        message["params"] = params.clone();
    }
    frame(&message)
}

/// A notification's frame.
pub fn notification(method: &str, params: &Value) -> Vec<u8> {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params.clone();
    }
    frame(&message)
}

/// Reads one message; none at the end.
pub fn read_message(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.parse().expect("a length is a number");
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("a body is JSON"))
}

/// Starts a server; its endpoint for hooks is not in the user's own folder.
pub fn start() -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ruleline-server"));
    command.args(["--stdio", "--state-dir", concat!(env!("CARGO_TARGET_TMPDIR"), "/state")]);
    spawn(command)
}

fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server starts")
}

/// Waits for the server's end; none, and the server killed, when it does not come.
pub fn exit_code(child: &mut Child) -> Option<i32> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status.code();
        }
        if Instant::now() > end {
            let _ = child.kill();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The URI of a file.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A workspace in a temporary folder.
pub struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// One with this rulebook.
    pub fn new(rulebook: &str) -> Project {
        let project = Project { folder: tempfile::tempdir().expect("a temporary folder") };
        project.write(".ruleline/rules.toml", rulebook);
        project
    }

    /// Its folder, links resolved.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there")
    }

    /// A file of it.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    /// The URI of a file of it.
    pub fn uri(&self, relative: &str) -> String {
        uri(&self.path(relative))
    }

    /// Writes a file, and the folders it stands in.
    pub fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("folders can be made");
        std::fs::write(path, text).expect("files can be written");
    }

    /// Parameters of `initialize` for it.
    pub fn parameters(&self) -> Value {
        json!({
            "processId": null,
            "rootUri": uri(&self.root()),
            "capabilities": {
                "general": {"positionEncodings": ["utf-16"]},
                "textDocument": {"publishDiagnostics": {
                    "relatedInformation": true, "codeDescriptionSupport": true, "dataSupport": true,
                }},
            },
        })
    }

    /// Runs git in it, with an identity of its own and nobody's settings.
    pub fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"])
            .args(["-c", "commit.gpgsign=false"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .current_dir(self.root())
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A client that talks turn by turn.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    log: Receiver<String>,
    /// Everything received so far.
    pub seen: Vec<Value>,
    /// Whether the server's requests are answered.
    pub answers: bool,
    /// What is chosen when a person is asked.
    pub chooses: Option<&'static str>,
    /// Whether a person can be asked.
    pub asks: bool,
    /// What `initialize` gave.
    pub initialized: Value,
    last_id: i64,
}

impl Client {
    /// Starts a server and introduces itself.
    pub fn start(parameters: &Value) -> Client {
        Client::of(start(), parameters)
    }

    /// As [`Client::start`], for a command that runs a server.
    pub fn start_by(command: Command, parameters: &Value) -> Client {
        Client::of(spawn(command), parameters)
    }

    fn of(mut child: Child, parameters: &Value) -> Client {
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut stderr = child.stderr.take().expect("piped");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read_message(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let (sender, log) = channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            let _ = sender.send(text);
        });
        let mut client = Client {
            child,
            stdin,
            messages,
            log,
            seen: Vec::new(),
            answers: true,
            chooses: None,
            asks: true,
            initialized: Value::Null,
            last_id: 0,
        };
        client.initialized = client.request("initialize", parameters).expect("initialize is answered");
        client.notify("initialized", &json!({}));
        client
    }

    /// Writes bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("open").write_all(bytes).expect("the server reads");
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) {
        self.write(&notification(method, params));
    }

    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&request(id, method, params));
        let answer = self.wait_for(|message| message.get("method").is_none() && message["id"] == id);
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// Sends a request whose answer nobody waits for.
    pub fn send_request(&mut self, method: &str, params: &Value) {
        self.last_id += 1;
        self.write(&request(self.last_id, method, params));
    }

    /// The first message, received already or yet to come, that is wanted.
    pub fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(message) = self.seen.iter().find(|message| wanted(message)) {
            return message.clone();
        }
        loop {
            let message = match self.messages.recv_timeout(PATIENCE) {
                Ok(message) => message,
                Err(error) => panic!("no such message ({error}) after {:#?}", self.seen),
            };
            if self.answers && message.get("method").is_some() && message.get("id").is_some() {
                if !self.asks && message["method"] == "window/showMessageRequest" {
                    let error = json!({"code": -32601, "message": "no such method"});
                    self.write(&frame(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error})));
                    self.seen.push(message);
                    continue;
                }
                let result = match message["method"].as_str() {
                    Some("window/showDocument") => json!({"success": true}),
                    Some("window/showMessageRequest") => {
                        self.chooses.map_or(Value::Null, |title| json!({"title": title}))
                    }
                    _ => Value::Null,
                };
                self.write(&frame(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})));
            }
            self.seen.push(message.clone());
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Opens a document.
    pub fn open(&mut self, uri: &str, version: i32, text: &str) {
        let document = json!({"uri": uri, "languageId": "python", "version": version, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }

    /// Replaces a document's text.
    pub fn replace(&mut self, uri: &str, version: i32, text: &str) {
        self.change(uri, version, &json!([{"text": text}]));
    }

    /// Changes a document.
    pub fn change(&mut self, uri: &str, version: i32, changes: &Value) {
        let document = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", &json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Waits for what is published for a document in this version.
    pub fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        let published = self.wait_for(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && message["params"]["version"] == version
        });
        published["params"]["diagnostics"].as_array().expect("a list").clone()
    }

    /// Waits for the next publication for a document, after everything seen so far is forgotten.
    pub fn next_diagnostics(&mut self, uri: &str) -> Vec<Value> {
        let published = self.wait_for(|message| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri
        });
        published["params"]["diagnostics"].as_array().expect("a list").clone()
    }

    /// What was published so far, with everything sent before now taken into account.
    pub fn published(&mut self) -> Vec<Value> {
        self.request("workspace/executeCommand", &json!({"command": "ruleline.status"})).expect("status is answered");
        let published = self.seen.iter().filter(|message| message["method"] == "textDocument/publishDiagnostics");
        published.map(|message| message["params"].clone()).collect()
    }

    /// Pulls a document's diagnostics.
    pub fn pull(&mut self, uri: &str, former: Option<&str>) -> Value {
        let params = json!({"textDocument": {"uri": uri}, "previousResultId": former});
        self.request("textDocument/diagnostic", &params).expect("a pull is answered")
    }

    /// Ends the server as the protocol says; gives its exit code and what it logged.
    pub fn end(mut self) -> (Option<i32>, String) {
        self.request("shutdown", &Value::Null).expect("shutdown is answered");
        self.notify("exit", &Value::Null);
        let code = exit_code(&mut self.child);
        (code, self.log.recv_timeout(PATIENCE).unwrap_or_default())
    }

    /// Closes the server's input without a word, as an editor that was killed does; gives its exit code.
    pub fn hang_up(mut self) -> Option<i32> {
        drop(self.stdin.take());
        exit_code(&mut self.child)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Rule ids with line and column of their start and end, sorted.
pub fn places(diagnostics: &[Value]) -> Vec<(String, [u64; 4])> {
    let number = |value: &Value| value.as_u64().expect("a number");
    let mut places: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| {
            let (start, end) = (&diagnostic["range"]["start"], &diagnostic["range"]["end"]);
            let ends = [&start["line"], &start["character"], &end["line"], &end["character"]].map(number);
            (diagnostic["code"].as_str().expect("a code").to_owned(), ends)
        })
        .collect();
    places.sort();
    places
}
