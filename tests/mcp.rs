//! `ruleline mcp` as a process that an agent starts: what its tools say, and what they never tell.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Case {
    _temporary: tempfile::TempDir,
    root: PathBuf,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last: u64,
}

impl Case {
    fn new(files: &[(&str, &str)]) -> Case {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(root.join(".git")).unwrap();
        for (path, text) in files {
            write(&root, path, text);
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_ruleline"))
            .args(["mcp", "--state-dir"])
            .arg(root.with_file_name("state"))
            .env("RULELINE_TEST_HOME", root.parent().unwrap())
            .current_dir(&root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut case = Case { _temporary: temporary, root, child, stdin, stdout, last: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"},
        });
        let answer = case.request("initialize", &hello);
        assert_eq!(answer["serverInfo"]["name"], "ruleline");
        case.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        case
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "no answer to {method}");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                assert_eq!(message.get("error"), None, "{message}");
                return message["result"].clone();
            }
        }
    }

    /// What a tool says, and whether that is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        (answer["content"][0]["text"].as_str().unwrap().to_owned(), answer["isError"] == true)
    }

    fn says(&mut self, tool: &str, arguments: &Value) -> String {
        let (said, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{said}");
        said
    }

    fn refuses(&mut self, tool: &str, arguments: &Value) -> String {
        let (said, is_error) = self.call(tool, arguments);
        assert!(is_error, "{said}");
        said
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write(root: &Path, path: &str, text: &str) {
    std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
    std::fs::write(root.join(path), text).unwrap();
}

const CART: &str = "class Cart:\n    def total(self):\n        return 0\n\n\ndef make_cart():\n    return Cart()\n";

fn shop() -> Case {
    Case::new(&[
        ("shop/cart.py", CART),
        ("shop/order.py", "from shop.cart import Cart\nc = Cart()\nc.total()  # note\n"),
        ("notes.md", "a note\n"),
    ])
}

#[test]
fn the_tools_are_listed_with_their_arguments() {
    let mut case = shop();
    let tools = case.request("tools/list", &json!({}))["tools"].clone();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["find_symbol", "symbols_overview", "find_references", "search_text"]);
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["name"]));
}

#[test]
fn symbols_are_found_shown_and_followed() {
    let mut case = shop();
    assert_eq!(case.says("find_symbol", &json!({"name": "Cart.total"})), "shop/cart.py:2 method Cart.total\n");
    let body = case.says("find_symbol", &json!({"name": "make_cart", "include_body": true}));
    assert_eq!(body, "shop/cart.py:6 function make_cart\n      6  def make_cart():\n      7      return Cart()\n");
    let like = case.says("find_symbol", &json!({"name": "mkcart"}));
    assert_eq!(like, "Nothing is called mkcart. Like it:\nshop/cart.py:6 function make_cart\n");
    assert_eq!(
        case.says("symbols_overview", &json!({"path": "shop/cart.py"})),
        "1 class Cart\n  2 method total\n6 function make_cart\n"
    );
    let overview = case.says("symbols_overview", &json!({"path": "shop"}));
    assert_eq!(overview, "shop/cart.py: class Cart, function make_cart\nshop/order.py: \n");
    assert_eq!(
        case.says("find_references", &json!({"name": "Cart"})),
        "shop/cart.py:1: definition: class Cart:\nshop/cart.py:7: call: return Cart()\n\
         shop/order.py:1: import: from shop.cart import Cart\nshop/order.py:2: call: c = Cart()\n"
    );
    assert_eq!(
        case.says("search_text", &json!({"pattern": "n.te"})),
        "notes.md:1: a note\nshop/order.py:3: c.total()  # note\n"
    );
    assert_eq!(
        case.says("search_text", &json!({"pattern": "note", "glob": "**/*.py"})),
        "shop/order.py:3: c.total()  # note\n"
    );
    assert_eq!(case.says("find_references", &json!({"name": "Cart", "limit": 1})).lines().count(), 2);
}

#[test]
fn what_changes_is_told_as_it_is() {
    let mut case = shop();
    case.says("find_symbol", &json!({"name": "make_cart"}));
    write(&case.root.clone(), "shop/cart.py", &format!("\n\n{CART}"));
    assert_eq!(case.says("find_symbol", &json!({"name": "make_cart"})), "shop/cart.py:8 function make_cart\n");
    std::fs::remove_file(case.root.join("shop/cart.py")).unwrap();
    assert!(case.says("find_symbol", &json!({"name": "make_cart"})).starts_with("Nothing is called make_cart"));
}

#[test]
fn a_wrong_call_is_answered_with_what_is_wrong() {
    let mut case = shop();
    for (tool, arguments, part) in [
        ("find_symbol", json!({}), "find_symbol takes `name`, a string"),
        ("find_symbol", json!({"name": 3}), "find_symbol takes `name`, a string"),
        ("find_symbol", json!({"name": "Cart", "depth": 1}), "takes no `depth`; it takes name, include_body, limit"),
        ("find_symbol", json!({"name": "a b"}), "is no name"),
        ("find_references", json!({"name": ""}), "is no name"),
        ("symbols_overview", json!({"path": "../.."}), "no source file or folder of this project"),
        ("symbols_overview", json!({"path": "/etc"}), "no source file or folder of this project"),
        ("search_text", json!({"pattern": "("}), "the pattern cannot be used"),
        ("search_text", json!({"pattern": "x", "glob": "[a"}), "the glob cannot be used"),
        ("search_text", json!({"pattern": "(a{1000}){1000}"}), "the pattern cannot be used"),
        ("delete", json!({}), "there is no tool delete; there are find_symbol"),
    ] {
        let said = case.refuses(tool, &arguments);
        assert!(said.contains(part), "{tool} {arguments}: {said}");
    }
}

#[test]
fn s28_nothing_is_told_of_what_is_hidden_ignored_or_outside() {
    let mut case = Case::new(&[
        (".gitignore", "built/\n"),
        (".env", "TOKEN=needle\n"),
        (".claude/settings.json", r#"{"permissions": {"deny": ["Read(./private/**)"]}}"#),
        ("built/b.py", "def needle(): pass\n"),
        ("private/p.py", "def needle(): pass\n"),
        ("open.py", "key = 'AKIAIOSFODNN7EXAMPLE'  # needle \u{202e}\ndef known(): pass\n"),
    ]);
    write(case.root.parent().unwrap(), "outside.py", "def needle(): pass\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(case.root.join("../outside.py"), case.root.join("link.py")).unwrap();
    assert!(case.says("find_symbol", &json!({"name": "needle"})).starts_with("Nothing is called needle"));
    let lines = case.says("search_text", &json!({"pattern": "needle"}));
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert!(lines.starts_with("open.py:1: ") && !lines.contains("IOSFODNN7") && !lines.contains('\u{202e}'), "{lines}");
    assert_eq!(case.says("find_references", &json!({"name": "needle"})), "needle is used nowhere.\n");
    case.refuses("symbols_overview", &json!({"path": "private/p.py"}));
    case.refuses("symbols_overview", &json!({"path": "link.py"}));
}

#[test]
fn s28_answers_are_bounded() {
    let lines = (0..5000).map(|number| format!("def needle_{number}(): pass  # {}", "x".repeat(200)));
    let text = lines.collect::<Vec<_>>().join(
        "
",
    );
    let mut case = Case::new(&[("many.py", &text)]);
    for (tool, arguments) in [
        ("search_text", json!({"pattern": "needle", "limit": 1_000_000})),
        ("find_symbol", json!({"name": "needl", "limit": 500, "include_body": true})),
        ("symbols_overview", json!({"path": "many.py"})),
    ] {
        let said = case.says(tool, &arguments);
        assert!(said.len() <= (64 << 10) + 100, "{tool}: {}", said.len());
    }
}

#[test]
fn it_ends_with_whoever_started_it() {
    let mut case = shop();
    case.says("find_symbol", &json!({"name": "Cart"}));
    drop(case.stdin.take());
    assert!(case.child.wait().unwrap().success());
}
