//! Which part may know which: the directions that ARCHITECTURE.md draws, held against cargo's own view of the workspace
//! and against the source.

#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each package and what it may use of the others; ARCHITECTURE.md draws it.
const USES: [(&str, &[&str]); 12] = [
    ("ruleline-system", &[]),
    ("ruleline-syntax", &[]),
    ("ruleline-agents", &[]),
    ("ruleline-rules", &["ruleline-syntax"]),
    ("ruleline-wire", &["ruleline-rules", "ruleline-system"]),
    ("ruleline-hooks", &["ruleline-rules", "ruleline-system"]),
    ("ruleline-records", &["ruleline-system"]),
    ("ruleline-symbols", &["ruleline-syntax", "ruleline-system"]),
    (
        "ruleline-guard",
        &[
            "ruleline-agents",
            "ruleline-hooks",
            "ruleline-records",
            "ruleline-rules",
            "ruleline-syntax",
            "ruleline-system",
        ],
    ),
    (
        "ruleline-hook",
        &[
            "ruleline-agents",
            "ruleline-guard",
            "ruleline-hooks",
            "ruleline-records",
            "ruleline-rules",
            "ruleline-symbols",
            "ruleline-syntax",
            "ruleline-system",
            "ruleline-wire",
        ],
    ),
    (
        "ruleline-server-lib",
        &[
            "ruleline-agents",
            "ruleline-guard",
            "ruleline-hooks",
            "ruleline-records",
            "ruleline-rules",
            "ruleline-symbols",
            "ruleline-syntax",
            "ruleline-system",
            "ruleline-wire",
        ],
    ),
    // All but the first two are what its tests look into.
    (
        "ruleline",
        &[
            "ruleline-hook",
            "ruleline-server-lib",
            "ruleline-guard",
            "ruleline-hooks",
            "ruleline-rules",
            "ruleline-symbols",
            "ruleline-system",
            "ruleline-wire",
        ],
    ),
];

/// Only the server runs tasks and speaks LSP.
const ONLY_THE_SERVER: [&str; 2] = ["tokio", "tower-lsp"];

/// The names of a package's dependencies as `cargo tree` prints them; without `depth` all of them.
fn dependencies(package: &str, edges: &str, more: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p}", "--package", package])
        .args(["--edges", edges])
        .args(more)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo tree -p {package}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let names = text.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| !name.starts_with('['));
    names.filter(|name| *name != package).map(str::to_owned).collect()
}

/// Every package of the workspace but xtask, by the manifests that lie in it.
fn members() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.to_owned(), root.join("server"), root.join("hook-bin")];
    folders.extend(fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()));
    let name = |folder: PathBuf| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let package = &manifest[manifest.find("[package]").expect("a package")..];
        package.lines().find_map(|line| line.strip_prefix("name = ")).expect("a name").trim_matches('"').to_owned()
    };
    folders.into_iter().map(name).collect()
}

#[test]
fn packages_use_only_what_stands_under_them() {
    let members = members();
    for package in &members {
        let (_, uses) = USES.iter().find(|(name, _)| name == package).unwrap_or_else(|| panic!("{package} has no row"));
        for dependency in dependencies(package, "normal,build,dev", &["--depth", "1"]) {
            let allowed = uses.contains(&dependency.as_str()) || !members.contains(&dependency);
            assert!(allowed, "{package} must not depend on {dependency}");
        }
    }
}

#[test]
fn the_two_programs_do_not_know_each_other() {
    assert!(!dependencies("ruleline-server-lib", "normal", &[]).contains("ruleline-hook"));
    assert!(!dependencies("ruleline-hook", "normal", &[]).contains("ruleline-server-lib"));
}

#[test]
fn nothing_below_the_server_runs_tasks_or_speaks_lsp() {
    for package in members().iter().filter(|name| !["ruleline", "ruleline-server-lib"].contains(&name.as_str())) {
        let known = dependencies(package, "normal", &[]);
        for name in ONLY_THE_SERVER {
            assert!(!known.contains(name), "{package} must not depend on {name}");
        }
    }
}

#[test]
fn the_hook_alone_builds_without_the_server() {
    let known = dependencies("ruleline", "normal", &["--no-default-features"]);
    assert!(known.contains("ruleline-hook"), "the list is not the hook's: {known:?}");
    for name in ONLY_THE_SERVER {
        assert!(!known.contains(name), "the hook must not depend on {name}");
    }
}

/// Every Rust file of the product below `folder`, relative to the root; tests and examples may name what they like.
fn sources(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open = vec![root.join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files.retain(|file| file.contains("/src/"));
    files
}

/// The lines of `folder`'s sources whose code (not comments) holds one of `words`, as `file:line`.
fn code_with(folder: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in sources(folder) {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).unwrap();
        for (index, line) in text.lines().enumerate() {
            // Printing on stderr is anybody's right.
            let code = line.split_once("//").map_or(line, |(code, _)| code).replace("eprint", "");
            if words.iter().any(|word| code.contains(word)) {
                found.push(format!("{file}:{}", index + 1));
            }
        }
    }
    found
}

#[test]
fn names_stay_where_they_belong() {
    // What, in which folders it is looked for, and below which path it may stand.
    let table: [(&str, &[&str], &[&str], &str); 4] = [
        ("tower-lsp's types", &["tower_lsp"], &["server", "hook-bin", "crates"], "server/src/lsp"),
        ("the parsers", &["tree_sitter", "ruff_python"], &["server", "hook-bin", "crates"], "crates/syntax/"),
        ("unsafe code", &["unsafe_code"], &["server", "hook-bin", "crates"], "hook-bin/src/memory.rs:"),
        ("printing on stdout, which is the protocol", &["println!(", "print!("], &["server", "crates"], "nowhere"),
    ];
    for (what, words, folders, home) in table {
        for place in folders.iter().flat_map(|folder| code_with(folder, words)) {
            assert!(place.starts_with(home), "{place}: {what} belongs to {home}");
        }
    }
}
