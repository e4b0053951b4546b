//! A language client just large enough to time a server: one document, incremental changes, pushed diagnostics.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// How long an answer may take before the server counts as broken.
const PATIENCE: Duration = Duration::from_secs(20);
/// Servers that load their configuration after `initialized` get this long before anything is timed.
const SETTLE: Duration = Duration::from_millis(500);

/// How long a server has until a large project is indexed and it rests.
const AT_REST: Duration = Duration::from_secs(20);

/// One server with one open document.
pub struct Session {
    process: Child,
    stdin: Arc<Mutex<ChildStdin>>,
    arriving: Receiver<(Instant, Value)>,
    uri: String,
    version: i64,
    /// From starting the process to its answer to `initialize`, in nanoseconds.
    pub initialized: u64,
}

impl Session {
    /// Starts a server on a folder and introduces the client.
    pub fn start(mut command: Command, root: &Path, file: &Path) -> Result<Session> {
        let start = Instant::now();
        let mut process = command
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the server does not start")?;
        let stdin = Arc::new(Mutex::new(process.stdin.take().expect("stdin is piped")));
        let stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let (sender, arriving) = channel();
        let answers = Arc::clone(&stdin);
        std::thread::spawn(move || {
            let mut stdout = stdout;
            while let Some(message) = read(&mut stdout) {
                let arrived = Instant::now();
                if let Some(answer) = answer(&message) {
                    if send(&answers, &answer).is_err() {
                        break;
                    }
                } else if sender.send((arrived, message)).is_err() {
                    break;
                }
            }
        });
        let mut session = Session { process, stdin, arriving, uri: uri(file), version: 0, initialized: 0 };
        let parameters = json!({
            "processId": std::process::id(),
            "rootUri": uri(root),
            "workspaceFolders": [{ "uri": uri(root), "name": "project" }],
            "initializationOptions": { "baseline": "disk" },
            "capabilities": {
                "general": { "positionEncodings": ["utf-8", "utf-16"] },
                "textDocument": { "publishDiagnostics": { "versionSupport": true } },
                "workspace": { "configuration": true, "workspaceFolders": true },
            },
        });
        session.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters }))?;
        session.wait(|message| message["id"] == 1)?;
        session.initialized = nanoseconds(start, Instant::now());
        session.notify("initialized", &json!({}))?;
        std::thread::sleep(SETTLE);
        Ok(session)
    }

    /// Opens the document; returns the nanoseconds to its diagnostics.
    pub fn open(&mut self, text: &str) -> Result<u64> {
        self.version = 1;
        let document = json!({ "uri": self.uri, "languageId": "python", "version": 1, "text": text });
        let start = Instant::now();
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }))?;
        self.diagnosed(start)
    }

    /// Replaces a range; returns the nanoseconds to the diagnostics of the new text.
    pub fn change(&mut self, range: &Value, text: &str) -> Result<u64> {
        self.version += 1;
        let change = json!({
            "textDocument": { "uri": self.uri, "version": self.version },
            "contentChanges": [{ "range": range, "text": text }],
        });
        let start = Instant::now();
        self.notify("textDocument/didChange", &change)?;
        self.diagnosed(start)
    }

    /// The peak memory of the server in KiB.
    pub fn peak_kib(&self) -> u64 {
        super::memory_kib(self.process.id(), "VmHWM")
    }

    /// The memory that the server holds now, in KiB.
    pub fn held_kib(&self) -> u64 {
        super::memory_kib(self.process.id(), "VmRSS")
    }

    /// Asks for a symbol until it is found and nothing more comes in; returns the milliseconds that took.
    pub fn until_found(&mut self, name: &str) -> Result<u128> {
        let start = Instant::now();
        let mut taken = None;
        for id in 2.. {
            let parameters = json!({ "query": name });
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "workspace/symbol", "params": parameters }))?;
            let (_, answer) = self.wait(|message| message["id"] == id)?;
            let is_found = answer["result"].as_array().is_some_and(|found| !found.is_empty());
            match taken {
                // What filling needed beside the index is given back a moment after.
                None if is_found => taken = Some(start.elapsed().as_millis()),
                Some(taken) if start.elapsed() > AT_REST => return Ok(taken),
                None if start.elapsed() > AT_REST => bail!("{name} is not found within {} s", AT_REST.as_secs()),
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("{name} is not found");
    }

    /// Waits for the diagnostics of the current version; a server that names no version is taken at its next ones.
    fn diagnosed(&self, start: Instant) -> Result<u64> {
        let (uri, version) = (self.uri.clone(), self.version);
        let (arrived, _) = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == *uri
                && message["params"]["version"].as_i64().is_none_or(|named| named == version)
        })?;
        Ok(nanoseconds(start, arrived))
    }

    fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Result<(Instant, Value)> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.arriving.recv_timeout(left) {
                Ok((arrived, message)) if wanted(&message) => return Ok((arrived, message)),
                Ok(_) => {}
                Err(_) => bail!("the server did not answer within {} s", PATIENCE.as_secs()),
            }
        }
    }

    fn notify(&self, method: &str, parameters: &Value) -> Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }))
    }

    fn send(&self, message: &Value) -> Result<()> {
        send(&self.stdin, message).context("the server ended")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a request of the server gets at once; none for everything else.
fn answer(message: &Value) -> Option<Value> {
    let method = message["method"].as_str()?;
    let id = message.get("id")?;
    let result = match method {
        "workspace/configuration" => {
            let count = message["params"]["items"].as_array().map_or(0, Vec::len);
            Value::Array(vec![Value::Null; count])
        }
        _ => Value::Null,
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn read(stdout: &mut BufReader<ChildStdout>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length: ") {
                    length = value.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    stdout.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn send(stdin: &Mutex<ChildStdin>, message: &Value) -> std::io::Result<()> {
    let body = message.to_string();
    let mut stdin = stdin.lock().expect("a holder of the lock does not panic");
    stdin.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
    stdin.flush()
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn nanoseconds(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.duration_since(from).as_nanos()).unwrap_or(u64::MAX)
}
