//! The index against Python's own `ast` over whole libraries: every definition at its line and none too many, every call at
//! its place, with the name that an import gives it.
//!
//! Reads the standard library of `python3`, and the folders that `RULELINE_CORPUS` names.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use serde::Deserialize;
use symbols::FileSymbols;
use syntax::{Language, Limits, LineIndex, Tree};

#[derive(Deserialize)]
struct Told {
    path: String,
    definitions: Vec<(String, u32)>,
    calls: Vec<(usize, usize, Option<String>)>,
}

fn corpora() -> Vec<String> {
    let find = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let output = Command::new("python3").args(["-c", find]).stderr(Stdio::inherit()).output().unwrap();
    let mut all = vec![String::from_utf8(output.stdout).unwrap().trim().to_owned()];
    all.extend(std::env::var("RULELINE_CORPUS").ok().filter(|folder| !folder.is_empty()));
    all
}

#[test]
#[ignore = "reads whole libraries"]
fn definitions_and_calls_are_those_that_python_finds() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python_ast.py");
    let output = Command::new("python3").arg(script).args(corpora()).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success());
    let told = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    let share = lines.len().div_ceil(std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    let counts = std::thread::scope(|scope| {
        let shares: Vec<_> = lines.chunks(share).map(|lines| scope.spawn(move || compare(lines))).collect();
        shares.into_iter().map(|share| share.join().unwrap()).reduce(Counts::and).unwrap()
    });
    let Counts { files, definitions, calls, resolved, wrong } = counts;
    eprintln!("{files} files, {definitions} definitions, {calls} calls, {resolved} of them of imported names");
    assert!(files > 300, "a library has more than {files} files");
    assert!(wrong.is_empty(), "{} of {files} files differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[derive(Default)]
struct Counts {
    files: usize,
    definitions: usize,
    calls: usize,
    resolved: usize,
    wrong: Vec<String>,
}

impl Counts {
    fn and(self, other: Counts) -> Counts {
        Counts {
            files: self.files + other.files,
            definitions: self.definitions + other.definitions,
            calls: self.calls + other.calls,
            resolved: self.resolved + other.resolved,
            wrong: [self.wrong, other.wrong].concat(),
        }
    }
}

fn compare(lines: &[&str]) -> Counts {
    let mut counts = Counts::default();
    for line in lines {
        let told: Told = serde_json::from_str(line).unwrap();
        let text = std::fs::read_to_string(&told.path).unwrap();
        counts.files += 1;
        counts.definitions += told.definitions.len();
        counts.calls += told.calls.len();
        counts.resolved += told.calls.iter().filter(|(_, _, name)| name.is_some()).count();
        counts.wrong.extend(differs(&told, &text).map(|how| format!("{}: {how}", told.path)));
    }
    counts
}

/// Where our names are others than `ast`'s by intent: a built-in is called by its own name, and what is looked up in a
/// module's `__dict__` is not taken for a part of the module.
fn is_ours(name: &str) -> bool {
    name.starts_with("builtins.") || name.contains(".__dict__.")
}

fn differs(told: &Told, text: &str) -> Option<String> {
    let tree = Tree::parse(Language::Python, text, &Limits::default()).ok()?;
    let symbols = FileSymbols::new(&tree.facts(text), text);
    let ours: BTreeSet<(String, u32)> =
        symbols.definitions().map(|defined| (defined.name.to_owned(), defined.line)).collect();
    let theirs: BTreeSet<(String, u32)> = told.definitions.iter().cloned().collect();
    if ours != theirs {
        let (missing, more) = (theirs.difference(&ours).next(), ours.difference(&theirs).next());
        return Some(format!("definition missing: {missing:?}; too many: {more:?}"));
    }
    if symbols.definitions().count() != told.definitions.len() {
        return Some("a definition is there twice".to_owned());
    }
    let lines = LineIndex::new(text);
    let start = |line: usize| lines.span(text, line - 1).map_or(0, |span| span.start);
    let mut named: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for called in symbols.calls() {
        named.entry(called.span.start).or_default().push(called.name);
    }
    for (line, column, name) in &told.calls {
        let Some(name) = name.as_ref().filter(|name| !is_ours(name)) else { continue };
        let at = start(*line) + column;
        if !named.get(&at).is_some_and(|names| names.contains(&name.as_str())) {
            return Some(format!("line {line}, column {column}: {name} is called, not {:?}", named.get(&at)));
        }
    }
    let theirs: BTreeSet<usize> = told.calls.iter().map(|(line, column, _)| start(*line) + column).collect();
    // A callee in brackets begins with them here, and there behind them if it is no name.
    let behind = |at: usize| text.len() - text[at..].trim_start_matches(['(', ' ', '\n', '\t', '\\']).len();
    // Python 2's way to print is read as what it meant.
    let is_old_print = |at: usize| text[at..].starts_with("print >>");
    let is_known = |at: usize| theirs.contains(&at) || theirs.contains(&behind(at)) || is_old_print(at);
    let more = named.keys().find(|at| !is_known(**at));
    more.map(|at| format!("line {}: no call {:?}", lines.line_of(*at) + 1, named[at]))
}
