//! `ruleline symbols` in a terminal: what it prints, and what it keeps.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

struct Case {
    _temporary: tempfile::TempDir,
    root: PathBuf,
}

impl Case {
    fn new() -> Case {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let case = Case { _temporary: temporary, root };
        case.write("shop/cart.py", "class Cart:\n    def total(self):\n        return 0\n");
        case.write("shop/order.py", "from shop.cart import Cart\nCart().total()\n");
        case
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.root.join(path).parent().unwrap()).unwrap();
        std::fs::write(self.root.join(path), text).unwrap();
    }

    fn run(&self, words: &[&str]) -> Output {
        let state = self.root.with_file_name("state");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ruleline"));
        command.args(["symbols", "--state-dir"]).arg(&state).args(words).current_dir(&self.root);
        command.env("RULELINE_TEST_HOME", self.root.parent().unwrap()).output().unwrap()
    }

    fn says(&self, words: &[&str]) -> (String, Option<i32>) {
        let output = self.run(words);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    }

    fn cache(&self) -> PathBuf {
        self.root.with_file_name("state").join("cache/symbols")
    }
}

#[test]
fn definitions_and_uses_are_printed_with_their_lines() {
    let case = Case::new();
    for (words, expected, status) in [
        (&["Cart"][..], "shop/cart.py:1: class Cart\n", 0),
        (&["crt"], "shop/cart.py:1: class Cart\n", 0),
        (&["--exact", "crt"], "", 1),
        (&["--exact", "Cart.total"], "shop/cart.py:2: method Cart.total\n", 0),
        (&["--outline", "shop/cart.py"], "shop/cart.py:1: class Cart\nshop/cart.py:2: method Cart.total\n", 0),
        (
            &["--references", "Cart.total"],
            "shop/cart.py:2: definition: def total(self):\nshop/order.py:2: call: Cart().total()\n",
            0,
        ),
        (
            &["--references", "Cart", "--limit", "1"],
            "shop/cart.py:1: definition: class Cart:\n... there are more; --limit says how many are shown\n",
            0,
        ),
        (&["nothing"], "", 1),
    ] {
        assert_eq!(case.says(words), (expected.to_owned(), Some(status)), "{words:?}");
    }
    let (printed, _) = case.says(&["--json", "--exact", "Cart"]);
    let found =
        json!({"found": [{"path": "shop/cart.py", "line": 1, "kind": "class", "name": "Cart"}], "partial": false});
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), found);
}

#[test]
fn the_index_is_kept_for_the_user_alone_and_can_be_done_without() {
    let case = Case::new();
    case.says(&["--no-cache", "Cart"]);
    assert!(!case.cache().exists());
    case.says(&["Cart"]);
    let kept: Vec<_> = std::fs::read_dir(case.cache()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&case.cache()), mode(&kept[0])), (0o700, 0o600));
    }
    // Of another version, or broken: as if there were none.
    std::fs::write(&kept[0], "RLSYMS\0\u{7f} and more").unwrap();
    assert_eq!(case.says(&["--exact", "Cart"]).0, "shop/cart.py:1: class Cart\n");
    case.write("shop/cart.py", "\n\nclass Cart: pass\n");
    assert_eq!(case.says(&["--exact", "Cart"]).0, "shop/cart.py:3: class Cart\n");
}

#[test]
fn what_is_wrong_is_said() {
    let case = Case::new();
    for (words, part) in [
        (&[][..], "required"),
        (&["--outline", "shop"], "shop is no source file of "),
        (&["--outline", "nothing.py"], "nothing.py is no source file of "),
        (&["--project", "/nothing/there", "Cart"], "/nothing/there is no folder"),
    ] {
        let output = case.run(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(part), "{words:?}: {said}");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn settings_bound_the_index_and_a_wrong_one_is_named() {
    let case = Case::new();
    // What was kept under other limits does not count.
    case.says(&["Cart"]);
    case.write(".ruleline/config.toml", "[symbols]\nfiles = 1\n");
    let output = case.run(&["--json", "--exact", "Cart"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the project has more than is indexed: 1 file"), "{said}");
    case.write(".ruleline/config.toml", "[symbols]\nfile_kib = 1\n");
    case.write("shop/large.py", &format!("class Large: pass\n{}", "# more\n".repeat(1_000)));
    assert_eq!(case.says(&["--exact", "Large"]), (String::new(), Some(1)));
    for (text, complaint) in [
        ("files = 0", "`symbols.files` is a whole number from 1 to 1000000"),
        ("mib = 4096", "`symbols.mib` is a whole number from 1 to 1024"),
        ("file = 1", "`symbols` has no key `file`"),
    ] {
        case.write(".ruleline/config.toml", &format!("[symbols]\n{text}\n"));
        let output = case.run(&["--exact", "Cart"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(complaint) && said.contains("config.toml:1"), "{text}: {said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "shop/cart.py:1: class Cart\n", "{text}");
    }
}
