//! Symbols in an editor: outline, search of the workspace, definition, references, hover, and how far the index is.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/lsp.rs"]
mod lsp;

use lsp::{Client, Project};
use serde_json::{Value, json};

const CART: &str = "\
class Cart:
    \"\"\"🛒\"\"\"
    def total(self): return 0


def make_cart(): return Cart()
";

const ORDER: &str = "\
from shop.cart import Cart, make_cart as make

def order():
    cart = make()
    x = \"🛒\"; Cart.total(cart)
    return cart.total()
";

struct Case {
    project: Project,
    client: Client,
}

impl Case {
    fn new(options: &Value) -> Case {
        let project = Project::new("");
        for (path, text) in [
            ("shop/__init__.py", "from .cart import Cart\n"),
            ("shop/cart.py", CART),
            ("shop/order.py", ORDER),
            ("other.py", "# Cart\nclass Cart: pass\n"),
        ] {
            project.write(path, text);
        }
        Case::of(project, options)
    }

    fn of(project: Project, options: &Value) -> Case {
        let mut parameters = project.parameters();
        parameters["initializationOptions"] = options.clone();
        parameters["capabilities"]["window"] = json!({"workDoneProgress": true});
        let client = Client::start(&parameters);
        let mut case = Case { project, client };
        if options.get("symbols").is_none() {
            case.wait_for("make_cart");
        }
        case
    }

    fn open(&mut self, path: &str, text: &str) {
        self.client.open(&self.project.uri(path), 1, text);
    }

    /// Path and line of each place of an answer, from 1.
    fn places(&self, answer: &Value) -> Vec<String> {
        let root = self.project.uri("");
        let place = |place: &Value| {
            let place = if place["location"].is_object() { &place["location"] } else { place };
            let path = place["uri"].as_str().unwrap().strip_prefix(&root).unwrap();
            let start = &place["range"]["start"];
            format!("{path}:{}:{}", start["line"].as_u64().unwrap() + 1, start["character"])
        };
        answer.as_array().map(|all| all.iter().map(place).collect()).unwrap_or_default()
    }

    fn ask(&mut self, method: &str, path: &str, (line, character): (u64, u64)) -> Value {
        let params = json!({
            "textDocument": {"uri": self.project.uri(path)},
            "position": {"line": line - 1, "character": character},
            "context": {"includeDeclaration": true},
        });
        self.client.request(method, &params).unwrap()
    }

    /// Waits until the index has a name.
    fn wait_for(&mut self, name: &str) {
        let begun = std::time::Instant::now();
        while self.search(name).is_empty() {
            assert!(begun.elapsed() < lsp::PATIENCE, "{name} is never found");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    fn search(&mut self, query: &str) -> Vec<String> {
        let answer = self.client.request("workspace/symbol", &json!({"query": query})).unwrap();
        self.places(&answer)
    }
}

#[test]
fn an_outline_is_nested_and_of_the_buffer() {
    let mut case = Case::new(&json!({}));
    case.open("shop/cart.py", "class A:\n    def b(self):\n        def c(): pass\ndef d(): pass\n");
    let params = json!({"textDocument": {"uri": case.project.uri("shop/cart.py")}});
    let answer = case.client.request("textDocument/documentSymbol", &params).unwrap();
    let shape = |node: &Value| (node["name"].clone(), node["kind"].clone(), node["children"].as_array().unwrap().len());
    assert_eq!(shape(&answer[0]), (json!("A"), json!(5), 1));
    assert_eq!(shape(&answer[0]["children"][0]), (json!("b"), json!(6), 1));
    assert_eq!(shape(&answer[0]["children"][0]["children"][0]), (json!("c"), json!(12), 0));
    assert_eq!(shape(&answer[1]), (json!("d"), json!(12), 0));
    assert_eq!(answer[0]["selectionRange"]["start"], json!({"line": 0, "character": 6}));
}

#[test]
fn the_workspace_is_searched_by_what_is_remembered() {
    let mut case = Case::new(&json!({}));
    assert_eq!(case.search("Cart")[..2], ["other.py:2:6", "shop/cart.py:1:6"]);
    assert_eq!(case.search("mkcrt"), ["shop/cart.py:6:4"]);
    assert_eq!(case.search("Cart.total"), ["shop/cart.py:3:8"]);
    assert!(case.search("nothing").is_empty());
}

#[test]
fn a_definition_is_found_through_imports() {
    let mut case = Case::new(&json!({}));
    case.open("shop/order.py", ORDER);
    for (at, expected) in [
        ((1, 22), &["shop/cart.py:1:6"][..]),
        // An alias.
        ((4, 12), &["shop/cart.py:6:4"]),
        // Behind an emoji, in the units of the editor.
        ((5, 14), &["shop/cart.py:1:6"]),
        ((5, 19), &["shop/cart.py:3:8"]),
        // On a variable: by its name.
        ((6, 17), &["shop/cart.py:3:8"]),
        // A module.
        ((1, 12), &["shop/cart.py:1:0"]),
        ((3, 5), &["shop/order.py:3:4"]),
        // In a string.
        ((5, 10), &[]),
    ] {
        let answer = case.ask("textDocument/definition", "shop/order.py", at);
        assert_eq!(case.places(&answer), expected, "{at:?}");
    }
}

#[test]
fn references_are_those_that_may_be_meant() {
    let mut case = Case::new(&json!({}));
    case.open("shop/order.py", ORDER);
    let answer = case.ask("textDocument/references", "shop/order.py", (1, 22));
    let expected =
        ["shop/__init__.py:1:18", "shop/cart.py:1:6", "shop/cart.py:6:24", "shop/order.py:1:22", "shop/order.py:5:14"];
    assert_eq!(case.places(&answer), expected, "not the other Cart");
    let answer = case.ask("textDocument/references", "shop/order.py", (4, 12));
    assert_eq!(case.places(&answer), ["shop/cart.py:6:4", "shop/order.py:1:28", "shop/order.py:4:11"]);
}

#[test]
fn a_hover_tells_what_a_name_is_and_where() {
    let mut case = Case::new(&json!({}));
    case.open("shop/order.py", ORDER);
    let answer = case.ask("textDocument/hover", "shop/order.py", (6, 17));
    assert_eq!(answer["contents"]["value"], "method Cart.total, shop/cart.py:3\ndef total(self): return 0");
    assert_eq!(answer["range"]["start"], json!({"line": 5, "character": 16}));
    assert_eq!(case.ask("textDocument/hover", "shop/order.py", (5, 10)), Value::Null);
}

#[test]
fn what_is_typed_and_what_changes_on_disk_is_found() {
    let mut case = Case::new(&json!({}));
    case.open("shop/order.py", "def typed_only(): pass\n");
    assert_eq!(case.search("typedonly"), ["shop/order.py:1:4"]);
    case.client.notify("textDocument/didClose", &json!({"textDocument": {"uri": case.project.uri("shop/order.py")}}));
    assert!(case.search("typedonly").is_empty());
    case.project.write("shop/fresh.py", "\ndef fresh_one(): pass\n");
    let change = json!({"changes": [{"uri": case.project.uri("shop/fresh.py"), "type": 1}]});
    case.client.notify("workspace/didChangeWatchedFiles", &change);
    case.wait_for("freshone");
    assert_eq!(case.search("freshone"), ["shop/fresh.py:2:4"]);
}

#[test]
fn what_was_typed_is_kept_for_whoever_asks_without_a_server() {
    let mut case = Case::new(&json!({}));
    case.open("shop/order.py", "def typed_only(): pass\n");
    assert_eq!(case.search("typedonly"), ["shop/order.py:1:4"]);
    case.project.write("shop/order.py", "\ndef typed_only(): pass\n");
    case.project.write("shop/fresh.py", "def fresh_one(): pass\n");
    let change = json!({"changes": [{"uri": case.project.uri("shop/fresh.py"), "type": 1}]});
    case.client.notify("workspace/didChangeWatchedFiles", &change);
    case.wait_for("freshone");
    let Case { project, client } = case;
    client.end();
    // The file as it is on disk, whatever the editor had.
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_ruleline"))
        .args(["symbols", "--json", "typed_only", "--state-dir", concat!(env!("CARGO_TARGET_TMPDIR"), "/state")])
        .current_dir(project.root())
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(found["found"][0]["line"], 2);
    let folders = system::Folders::find(Some(concat!(env!("CARGO_TARGET_TMPDIR"), "/state").as_ref())).unwrap();
    let stored = symbols::store::Stored::open(&folders, &project.root()).unwrap();
    assert_eq!(stored.files_of("fresh_one", 9).len(), 1);
}

#[test]
fn how_far_the_index_is_can_be_shown() {
    let project = Project::new("");
    for number in 0..400 {
        project.write(&format!("{number}.py"), &"def f(): pass\n".repeat(200));
    }
    project.write("last.py", "def make_cart(): pass\n");
    let mut case = Case::of(project, &json!({}));
    let begin = case.client.wait_for(|message| message["params"]["value"]["kind"] == "begin");
    let token = begin["params"]["token"].clone();
    assert_eq!(begin["params"]["value"]["title"], "Ruleline: indexing symbols");
    let end = |message: &Value| message["params"]["value"]["kind"] == "end" && message["params"]["token"] == token;
    case.client.wait_for(end);
}

#[test]
fn symbols_can_be_left_to_another_server() {
    for options in [json!({"symbols": "agents"}), json!({"symbols": "off"})] {
        let mut case = Case::new(&options);
        assert!(
            case.client.request("workspace/symbol", &json!({"query": "Cart"})).is_err()
                || case.search("Cart").is_empty()
        );
        case.open("shop/order.py", ORDER);
        assert_eq!(case.ask("textDocument/hover", "shop/order.py", (6, 17)), Value::Null, "{options}");
    }
}
