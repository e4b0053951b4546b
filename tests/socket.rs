//! The real server's socket: who may use it, what it leaves behind, and what happens when it dies at any moment.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use wire::{Alone, Client, Pong};

#[allow(dead_code, reason = "shared with other tests")]
#[path = "support/edits.rs"]
mod edits;
#[path = "support/lsp.rs"]
mod lsp;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "support/place.rs"]
mod place;

use edits::RULEBOOK;
use place::{Background, Place, records, until};

const CLEAN: &str = "import os\n\n\ndef start():\n    return 1\n";

fn ping(place: &Place) -> Result<Pong, Alone> {
    Client::new(place.runtime(), Duration::from_secs(30)).ping(&place.root.join("a.py"))
}

/// An edit that adds a forbidden call; refused whoever judges.
fn refused_edit(place: &Place) -> Value {
    place.write("a.py", CLEAN);
    json!({
        "session_id": "s1", "cwd": place.root, "hook_event_name": "PreToolUse", "permission_mode": "default",
        "tool_name": "Edit",
        "tool_input": {"file_path": place.root.join("a.py"), "old_string": "return 1", "new_string": "os.system('x')"},
    })
}

fn leftovers(place: &Place) -> Vec<PathBuf> {
    fs::read_dir(place.runtime()).map_or(Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
}

fn sockets(place: &Place) -> Vec<PathBuf> {
    leftovers(place).into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "sock")).collect()
}

#[test]
fn a_background_server_answers_and_goes_without_a_trace() {
    for signal in ["TERM", "INT"] {
        let place = Place::with_rulebook(RULEBOOK);
        let mut server = Background::start(&place, &[]);
        let alone = place.hook("claude", &refused_edit(&place), &["--no-server"]);
        assert!(String::from_utf8_lossy(&alone).contains("deny"));
        assert_eq!(place.hook("claude", &refused_edit(&place), &[]), alone);
        let pong = ping(&place).unwrap();
        assert_eq!((pong.pid, pong.judged), (server.pid(), 1));
        assert_eq!(fs::metadata(place.runtime()).unwrap().permissions().mode() & 0o777, 0o700);
        server.signal(signal);
        assert_eq!(server.ended(), Some(0), "{signal}");
        assert!(leftovers(&place).is_empty(), "{signal}");
        assert_eq!(place.hook("claude", &refused_edit(&place), &[]), alone);
    }
}

#[test]
fn a_background_server_that_nobody_asks_goes_by_itself() {
    let place = Place::with_rulebook(RULEBOOK);
    let mut server = Background::start(&place, &["--idle-exit", "1"]);
    assert_eq!(server.ended(), Some(0));
    assert!(leftovers(&place).is_empty());
}

#[test]
fn servers_of_one_root_coexist_and_a_dead_ones_files_go_with_the_next_start() {
    let place = Place::with_rulebook(RULEBOOK);
    let first = Background::start(&place, &[]);
    let mut second = Background::start(&place, &[]);
    assert_eq!(records(&place.runtime()).len(), 2);
    assert_eq!(ping(&place).unwrap().pid, second.pid(), "the newest is asked");
    second.signal("KILL");
    second.ended();
    assert_eq!(sockets(&place).len(), 2, "a killed server leaves its files");
    assert_eq!(ping(&place).unwrap().pid, first.pid(), "the next one answers");
    let _third = Background::start(&place, &[]);
    assert_eq!(sockets(&place).len(), 2, "the dead one's files are gone");
}

#[test]
fn each_content_is_parsed_once() {
    let place = Place::with_rulebook(RULEBOOK);
    let payload = refused_edit(&place);
    let _server = Background::start(&place, &[]);
    let mut parses = Vec::new();
    for _ in 0..3 {
        place.hook("claude", &payload, &[]);
        parses.push(ping(&place).unwrap().parses);
    }
    assert_eq!(parses[0], parses[2], "the same question parses nothing anew");
    assert!((1..=2).contains(&parses[0]), "only the texts before and after are parsed: {parses:?}");
}

#[test]
fn the_editor_and_the_hook_share_what_was_parsed() {
    let place = Place::with_rulebook(RULEBOOK);
    let payload = refused_edit(&place);
    // That the buffer is unsaved is another question.
    place.configure("unsaved_buffers = \"off\"\n");
    let mut editor = Editor::start(&place);
    let after = CLEAN.replace("return 1", "os.system('x')");
    editor.open("a.py", &after);
    let shown = editor.diagnostics("a.py");
    assert_eq!(shown.len(), 1, "{shown:?}");
    let before = ping(&place).unwrap().parses;
    let alone = place.hook("claude", &payload, &["--no-server"]);
    assert_eq!(place.hook("claude", &payload, &[]), alone);
    let pong = ping(&place).unwrap();
    assert_eq!((pong.parses, pong.judged), (before, 1), "the hook's text is the buffer's: nothing is parsed for it");
    editor.quit();
}

#[test]
fn closing_the_editor_leaves_no_process_and_no_socket() {
    type Close = fn(&mut Editor);
    let ways: [(&str, Close); 3] = [
        ("shutdown and exit", Editor::quit),
        ("end of stdin", |editor| drop(editor.input.take())),
        ("SIGTERM", |editor| {
            let sent = Command::new("kill").args(["-TERM", &editor.child.id().to_string()]).status().unwrap();
            assert!(sent.success());
        }),
    ];
    for (way, close) in ways {
        let place = Place::with_rulebook(RULEBOOK);
        let mut editor = Editor::start(&place);
        assert_eq!(ping(&place).unwrap().pid, editor.child.id(), "{way}");
        close(&mut editor);
        until("the server ends", || editor.child.try_wait().unwrap().is_some());
        assert!(leftovers(&place).is_empty(), "{way}");
    }
}

#[test]
fn a_server_killed_at_any_moment_changes_no_answer() {
    let place = Place::with_rulebook(RULEBOOK);
    let payload = refused_edit(&place);
    let alone = place.hook("claude", &payload, &["--no-server"]);
    for step in 0..24 {
        let server = Background::start(&place, &[]);
        // Every other time it has stopped before: it dies with the request unread.
        if step % 2 == 1 {
            server.signal("STOP");
        }
        std::thread::scope(|scope| {
            let hook = scope.spawn(|| place.hook("claude", &payload, &[]));
            std::thread::sleep(Duration::from_millis(step));
            server.signal("KILL");
            assert_eq!(hook.join().unwrap(), alone, "step {step}");
        });
    }
}

#[test]
fn a_server_that_is_stopped_midway_changes_no_answer() {
    let place = Place::with_rulebook(RULEBOOK);
    let payload = refused_edit(&place);
    let alone = place.hook("claude", &payload, &["--no-server"]);
    let server = Background::start(&place, &[]);
    server.signal("STOP");
    assert_eq!(place.hook("claude", &payload, &[]), alone);
    assert!(sockets(&place)[0].with_extension("wait").exists(), "and it is left alone for a while");
    assert_eq!(place.hook("claude", &payload, &[]), alone);
    server.signal("CONT");
    fs::remove_file(sockets(&place)[0].with_extension("wait")).unwrap();
    assert_eq!(place.hook("claude", &payload, &[]), alone);
    assert!(ping(&place).is_ok());
}

#[test]
fn hostile_requests_leave_the_server_as_it_was() {
    let place = Place::with_rulebook(RULEBOOK);
    let _server = Background::start(&place, &[]);
    let socket = sockets(&place).remove(0);
    let frame = |payload: &[u8]| [&u32::try_from(payload.len()).unwrap().to_be_bytes(), payload].concat();
    let judge = |path: &str, book: &str, edit: &str| {
        let digest = "0".repeat(64);
        let request = format!(
            r#"{{"v":1,"op":"judge","judge":{{"path":{path},"before":"{digest}","after":"{digest}","edit":{edit},
            "books":[{{"path":{book},"digest":"{digest}","shown":"a","names":["a"]}}]}}}}"#
        );
        frame(request.as_bytes())
    };
    let (file, fine) = (r#""/etc/hostname""#, r#"{"start":0,"end":0,"text":""}"#);
    let cases: &[(&str, Vec<u8>, &str)] = &[
        ("nothing", vec![], ""),
        ("half a length", vec![0, 0], ""),
        ("too long", u32::MAX.to_be_bytes().to_vec(), ""),
        ("less than announced", vec![0, 0, 1, 0, b'{'], ""),
        ("an empty payload", frame(b""), r#"{"v":1,"error":"request"}"#),
        ("no JSON", frame(b"\xff\xfe"), r#"{"v":1,"error":"request"}"#),
        ("deep JSON", frame("[".repeat(1_000_000).as_bytes()), r#"{"v":1,"error":"request"}"#),
        ("another protocol", frame(br#"{"v":7,"op":"ping"}"#), r#"{"v":1,"error":"protocol"}"#),
        ("another operation", frame(br#"{"v":1,"op":"grant","root":"/"}"#), r#"{"v":1,"error":"request"}"#),
        ("a device", judge(file, r#""/dev/zero""#, fine), r#"{"v":1,"error":"stale"}"#),
        ("a folder", judge(file, r#""/""#, fine), r#"{"v":1,"error":"request"}"#),
        ("nowhere", judge(file, r#""""#, fine), r#"{"v":1,"error":"request"}"#),
        ("a relative rulebook", judge(file, r#""../x.toml""#, fine), r#"{"v":1,"error":"stale"}"#),
        ("NUL", judge(r#""\u0000""#, r#""/a\u0000b""#, fine), r#"{"v":1,"error":"stale"}"#),
        ("negative", judge(file, r#""/a""#, r#"{"start":-1,"end":0,"text":""}"#), r#"{"v":1,"error":"request"}"#),
    ];
    for (name, bytes, expected) in cases {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let payload = answer.get(4..).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(payload), *expected, "{name}");
    }
    assert!(ping(&place).is_ok());
}

#[test]
fn connections_without_a_request_keep_nobody_out_for_long() {
    let place = Place::with_rulebook(RULEBOOK);
    let payload = refused_edit(&place);
    let alone = place.hook("claude", &payload, &["--no-server"]);
    let _server = Background::start(&place, &[]);
    let socket = sockets(&place).remove(0);
    let idle: Vec<UnixStream> = (0..200).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    assert_eq!(place.hook("claude", &payload, &[]), alone);
    drop(idle);
    until("there is room again", || ping(&place).is_ok());
}

#[test]
fn many_hooks_at_once_all_answer() {
    let place = Place::with_rulebook(RULEBOOK);
    let payload = refused_edit(&place);
    let alone = place.hook("claude", &payload, &["--no-server"]);
    let _server = Background::start(&place, &[]);
    std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..60).map(|_| scope.spawn(|| place.hook("claude", &payload, &[]))).collect();
        for hook in hooks {
            assert_eq!(hook.join().unwrap(), alone);
        }
    });
}

#[test]
fn a_runtime_folder_that_others_can_enter_is_used_by_neither_side() {
    let place = Place::with_rulebook(RULEBOOK);
    let payload = refused_edit(&place);
    let alone = place.hook("claude", &payload, &["--no-server"]);
    let _server = Background::start(&place, &[]);
    fs::set_permissions(place.runtime(), fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(ping(&place), Err(Alone::UnsafeFolder));
    assert_eq!(place.hook("claude", &payload, &[]), alone);
    let second = Command::new(env!("CARGO_BIN_EXE_ruleline-server"))
        .args(["--background", "--state-dir"])
        .args([&place.state, &place.root])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("must be 700"), "{second:?}");
}

#[test]
fn a_stale_server_is_not_believed() {
    // Its memory of the rulebook is older than the file: what it says is computed from other bytes.
    let place = Place::with_rulebook(RULEBOOK);
    let payload = refused_edit(&place);
    let _server = Background::start(&place, &[]);
    place.hook("claude", &payload, &[]);
    place.write(".ruleline/rules.toml", "[[rule]]\nid = \"other\"\npaths = [\"**\"]\nforbid_calls = [\"os.popen\"]\n");
    let fresh = |session: &str| {
        let mut payload = payload.clone();
        payload["session_id"] = json!(session);
        payload
    };
    let alone = place.hook("claude", &fresh("s2"), &["--no-server"]);
    assert_eq!(place.hook("claude", &fresh("s3"), &[]), alone);
    assert!(alone.is_empty(), "the new rulebook has nothing against it");
    // So is its memory of a file that was changed behind its back.
    place.write(".ruleline/rules.toml", RULEBOOK);
    place.write("a.py", "x = 1\nreturn 1\nimport os\n");
    let alone = place.hook("claude", &fresh("s4"), &["--no-server"]);
    assert_eq!(place.hook("claude", &fresh("s5"), &[]), alone);
}

/// An editor: the real server spoken to over stdio.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    root: PathBuf,
}

impl Editor {
    /// Starts the server, initializes it, and waits until it can be found.
    fn start(place: &Place) -> Editor {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ruleline-server"))
            .args(["--stdio", "--state-dir"])
            .arg(&place.state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut editor = Editor { child, input, output, root: place.root.clone() };
        let root = editor.uri("");
        editor.send(&json!({"id": 1, "method": "initialize", "params": {"capabilities": {}, "rootUri": root}}));
        editor.receive(|message| message["id"] == 1);
        editor.send(&json!({"method": "initialized", "params": {}}));
        let pid = editor.child.id();
        until("the server has a record", || records(&place.runtime()).iter().any(|record| record["pid"] == pid));
        editor
    }

    fn uri(&self, file: &str) -> String {
        format!("file://{}", self.root.join(file).display()).trim_end_matches('/').to_owned()
    }

    fn open(&mut self, file: &str, text: &str) {
        let document = json!({"uri": self.uri(file), "languageId": "python", "version": 1, "text": text});
        self.send(&json!({"method": "textDocument/didOpen", "params": {"textDocument": document}}));
    }

    fn diagnostics(&mut self, file: &str) -> Vec<Value> {
        let uri = self.uri(file);
        let shown = self.receive(|message| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri.as_str()
        });
        shown["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn quit(&mut self) {
        self.send(&json!({"id": 2, "method": "shutdown"}));
        self.receive(|message| message["id"] == 2);
        self.send(&json!({"method": "exit"}));
    }

    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        let input = self.input.as_mut().unwrap();
        input.write_all(&lsp::frame(&message)).unwrap();
        input.flush().unwrap();
    }

    fn receive(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = lsp::read_message(&mut self.output).expect("the server goes on");
            if wanted(&message) {
                return message;
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
