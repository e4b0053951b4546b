//! The symbol index of about a million lines of Python, as processes: cold beside a bare tree-sitter parse and ctags,
//! warm beside ruff's cached run, and what the server holds in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::lsp::client::Session;
use super::report::Row;
use super::rounds::{Case, Programs, run};
use crate::{dist, tools, workspace};

/// A class of the corpus that is asked for; the server has read everything once it is found.
const ASKED: &str = "ConfigEntries";
/// Python of the corpus is one version's text, so that figures of different days are of the same work.
const CORPUS: &str = "xtask/corpus.txt";

/// Measures the index; adds the goals to `rows`.
pub fn measure(quick: bool, rows: &mut Vec<Row>) -> Result<Value> {
    let programs = Programs::build()?;
    let (hook, server) = (dist::hook()?, dist::server()?);
    let root = corpus()?;
    let state = tempfile::tempdir()?;
    Ok(json!({
        "cold": cold(&programs, &hook, &root, quick, rows)?,
        "warm": warm(&programs, &hook, &root, state.path(), quick, rows)?,
        "server": memory(&server, &root, rows)?,
    }))
}

/// The folder of the package's text.
fn corpus() -> Result<PathBuf> {
    let bin = tools::need_python_text("million", &workspace::root().join(CORPUS))?;
    let library = bin.parent().expect("a folder of an environment").join("lib");
    let python = fs::read_dir(&library)?.next().context("the environment has no library")??.path();
    Ok(python.join("site-packages/homeassistant"))
}

/// Everything read, on one processor, so that threads of one do not win against none of another.
fn cold(programs: &Programs, hook: &Path, root: &Path, quick: bool, rows: &mut Vec<Row>) -> Result<Value> {
    tools::need_program("taskset", "util-linux")?;
    tools::need_program("ctags", "universal-ctags")?;
    let root = text(root);
    let bare = programs.path("bare-parse");
    let pinned = |name: &str, words: &[&str]| {
        let words = [&["--cpu-list", "0"], words].concat();
        Case::new(name, Path::new("/usr/bin/taskset"), &words, None)
    };
    let ctags = ["ctags", "--recurse", "--languages=Python", "--extras=+r", "--fields=+r", "-f", "/dev/null", root];
    let cases = vec![
        pinned("bare parse", &[text(&bare), root]),
        pinned("index, nothing kept", &[text(hook), "symbols", "--no-cache", "--project", root, "--exact", ASKED]),
        pinned("ctags with references", &ctags),
    ];
    let outcome = run(programs, if quick { 1 } else { 5 }, cases)?;
    outcome.print("a million lines, cold, on one processor");
    let parse = outcome.ratio("index, nothing kept");
    rows.push(Row::at_most("index, cold", "x bare tree-sitter parse", parse, 1.1));
    let ctags = parse / outcome.ratio("ctags with references");
    rows.push(Row::at_most("index, cold", "x ctags with references", ctags, 0.9));
    Ok(outcome.to_json())
}

/// Nothing changed since the last run.
fn warm(
    programs: &Programs,
    hook: &Path,
    root: &Path,
    state: &Path,
    quick: bool,
    rows: &mut Vec<Row>,
) -> Result<Value> {
    let ruff = tools::need_python("ruff", &workspace::root().join("xtask/requirements.txt"))?.join("ruff");
    let (root, cache) = (text(root), state.join("ruff"));
    let checked =
        ["check", "--isolated", "--quiet", "--exit-zero", "--select", "S307", "--cache-dir", text(&cache), root];
    let asked = ["symbols", "--state-dir", text(state), "--project", root, "--exact", ASKED];
    let cases = vec![Case::new("ruff, cached", &ruff, &checked, None), Case::new("index, kept", hook, &asked, None)];
    let outcome = run(programs, if quick { 5 } else { 20 }, cases)?;
    outcome.print("a million lines, warm");
    rows.push(Row::at_most("index, warm start", "x ruff's cached run", outcome.ratio("index, kept"), 1.5));
    Ok(outcome.to_json())
}

/// The server with the index, opened on the project as an editor does.
fn memory(server: &Path, root: &Path, rows: &mut Vec<Row>) -> Result<Value> {
    let state = tempfile::tempdir()?;
    let mut command = Command::new(server);
    command.arg("--state-dir").arg(state.path());
    let file = root.join("core.py");
    let mut session = Session::start(command, root, &file)?;
    session.open(&fs::read_to_string(&file)?)?;
    let taken = session.until_found(ASKED)?;
    let (held, peak) = (session.held_kib(), session.peak_kib());
    println!("\nthe server after a million lines: {held} KiB held, {peak} KiB at most, found after {taken} ms");
    rows.push(Row::at_most("server after a million lines", "MiB", mebibytes(held), 80.0));
    Ok(json!({ "held_kib": held, "peak_kib": peak, "found_ms": taken }))
}

#[allow(clippy::cast_precision_loss, reason = "memory is far below 2^52 KiB")]
fn mebibytes(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

fn text(path: &Path) -> &str {
    path.to_str().expect("folders of the cache and temporary ones have names in UTF-8")
}
