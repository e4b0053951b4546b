//! An editor as the server sees one: a small client that speaks the language server protocol over pipes.
//!
//! Blocking, with a time limit on everything it waits for. It knows only what the demonstration needs: open a file,
//! change it, see what is underlined.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use syntax::LineIndex;
use syntax::position::{Encoding, Position, Positions};

/// How long the server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest message that is read, in bytes.
const LONGEST: usize = 8 << 20;

/// One thing that is underlined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Squiggle {
    /// The rule's id.
    pub rule: String,
    /// What is said about it.
    pub message: String,
    /// From 1.
    pub line: u32,
    /// What is underlined, in bytes of the buffer.
    pub span: syntax::Span,
    /// As the server sent it.
    pub sent: Value,
}

/// A running server with one open buffer.
pub struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    requests: u64,
    uri: String,
    version: u64,
}

impl Editor {
    /// Starts the server, opens `root` as the workspace and `file` with `text` in a buffer.
    ///
    /// # Errors
    /// In one line: the server cannot be started, or does not answer.
    pub fn open(program: &Path, state: &Path, root: &Path, file: &str, text: &str) -> Result<Editor, String> {
        let mut child = Command::new(program)
            .arg("--stdio")
            .arg("--state-dir")
            .arg(state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
        let stdin = child.stdin.take();
        let (send, messages) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                while let Some(message) = read(&mut stdout) {
                    if send.send(message).is_err() {
                        return;
                    }
                }
            });
        }
        let mut editor = Editor { child, stdin, messages, requests: 0, uri: uri(&root.join(file)), version: 1 };
        let capabilities = json!({
            "general": {"positionEncodings": ["utf-16"]},
            "textDocument": {"publishDiagnostics": {"versionSupport": true}},
        });
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        editor.request(
            "initialize",
            &json!({
                "processId": std::process::id(),
                "rootUri": uri(root),
                "workspaceFolders": [{"uri": uri(root), "name": name}],
                "capabilities": capabilities,
            }),
        )?;
        editor.notify("initialized", &json!({}))?;
        editor.show(text)?;
        Ok(editor)
    }

    /// Opens the buffer with `text`.
    ///
    /// # Errors
    /// In one line: the server says nothing about it.
    pub fn show(&mut self, text: &str) -> Result<(), String> {
        let document = json!({"uri": self.uri, "languageId": "python", "version": self.version, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}))?;
        self.underlined(text).map(drop)
    }

    /// Changes the buffer's text to `text`; gives what is underlined then, and how long that took.
    ///
    /// # Errors
    /// In one line: the server says nothing about it.
    pub fn change(&mut self, text: &str) -> Result<(Vec<Squiggle>, Duration), String> {
        self.version += 1;
        let document = json!({"uri": self.uri, "version": self.version});
        let begun = Instant::now();
        self.notify("textDocument/didChange", &json!({"textDocument": document, "contentChanges": [{"text": text}]}))?;
        let underlined = self.underlined(text)?;
        Ok((underlined, begun.elapsed()))
    }

    /// Closes the buffer without saving it, and waits until no hook would guard what it held.
    ///
    /// # Errors
    /// In one line: the server goes on saying that the editor holds it.
    pub fn discard(&mut self, state: &Path, file: &Path) -> Result<(), String> {
        self.notify("textDocument/didClose", &json!({"textDocument": {"uri": self.uri}}))?;
        self.version += 1;
        let end = Instant::now() + PATIENCE;
        while guard::unsaved::holder(state, file, SystemTime::now()).is_some() {
            if Instant::now() > end {
                return Err("the server does not let go of a buffer that was closed".to_owned());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Ends the server as an editor does.
    ///
    /// # Errors
    /// In one line: it does not end, or not well.
    pub fn close(mut self) -> Result<(), String> {
        self.request("shutdown", &Value::Null)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "exit"}))?;
        self.stdin = None;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(format!("the server ended with {status}")),
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(format!("the server cannot be waited for: {error}")),
            }
        }
        Err("the server does not end".to_owned())
    }

    /// What is published for the buffer's present version.
    fn underlined(&mut self, text: &str) -> Result<Vec<Squiggle>, String> {
        let (uri, version) = (self.uri.clone(), self.version);
        let published = self.wait("diagnostics", |message| {
            let params = &message["params"];
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri
                && params["version"] == version
        })?;
        let index = LineIndex::new(text);
        let positions = Positions::new(text, &index, Encoding::Utf16);
        let offset = |place: &Value| {
            let number =
                |key: &str| place[key].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or_default();
            positions.offset(Position { line: number("line"), column: number("character") }).at
        };
        let squiggle = |sent: &Value| {
            let (start, end) = (offset(&sent["range"]["start"]), offset(&sent["range"]["end"]));
            Squiggle {
                rule: sent["code"].as_str().unwrap_or_default().to_owned(),
                message: sent["message"].as_str().unwrap_or_default().to_owned(),
                line: index.line_of(start) as u32 + 1,
                span: start..end.max(start),
                sent: sent.clone(),
            }
        };
        Ok(published["params"]["diagnostics"].as_array().into_iter().flatten().map(squiggle).collect())
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.requests += 1;
        let id = self.requests;
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        // A request without parameters has no such key.
        if let (Value::Null, Some(request)) = (params, request.as_object_mut()) {
            request.remove("params");
        }
        self.send(&request)?;
        let answer = self.wait(method, |message| message.get("method").is_none() && message["id"] == id)?;
        match answer.get("error") {
            Some(error) => Err(format!("the server answers {method} with {error}")),
            None => Ok(answer["result"].clone()),
        }
    }

    fn notify(&mut self, method: &str, params: &Value) -> Result<(), String> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let body = message.to_string();
        let stdin = self.stdin.as_mut().ok_or("the server is closed")?;
        let sent = write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| stdin.flush());
        sent.map_err(|error| format!("the server does not read: {error}"))
    }

    /// The next message that is wanted; the server's own requests are answered with nothing.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value, String> {
        let end = Instant::now() + PATIENCE;
        loop {
            let message = match self.messages.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return Err(format!("the server says nothing to {what}")),
                Err(RecvTimeoutError::Disconnected) => return Err(format!("the server ended before {what}")),
            };
            if wanted(&message) {
                return Ok(message);
            }
            if message.get("method").is_some() && message.get("id").is_some() {
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": null}))?;
            }
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next message; none at the end, and for what is no message.
fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.take(LONGEST as u64).read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                if let Some(number) = header.strip_prefix("Content-Length:") {
                    length = number.trim().parse().ok();
                }
            }
        }
    }
    let mut body = vec![0; length.filter(|length| *length <= LONGEST)?];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// The URI of a file.
fn uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(*byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_are_framed() {
        let text = "Content-Length: 2\r\n\r\n{}Content-Type: x\r\nContent-Length: 7\r\n\r\n{\"a\":1}";
        let mut from = text.as_bytes();
        assert_eq!(read(&mut from), Some(json!({})));
        assert_eq!(read(&mut from), Some(json!({"a": 1})));
        assert_eq!(read(&mut from), None);
        for broken in ["", "\r\n", "Content-Length: 99999999999\r\n\r\n{}", "Content-Length: 3\r\n\r\n{}"] {
            assert_eq!(read(&mut broken.as_bytes()), None, "{broken:?}");
        }
    }

    #[test]
    fn a_uri_escapes_all_but_the_plainest() {
        assert_eq!(uri(Path::new("/tmp/a b/ä.py")), "file:///tmp/a%20b/%C3%A4.py");
    }
}
