//! From a change in the editor to its diagnostics: our server and `ruff server` on the same file, edit by edit in turn.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::corpus::{self, Project};
use super::report::{Row, print_table};
use super::rounds::percentile;
use client::Session;

pub mod client;

use crate::{dist, tools, workspace};

/// The lines of the file that is edited.
const LINES: usize = 10_000;
/// The closing parentheses that the broken file has lost.
const LOST: usize = 97;

/// One way of editing: what is put into a line and taken out again.
#[derive(Clone, Copy)]
enum Keystroke {
    /// A letter in a name: the findings stay what they are.
    Letter,
    /// A line that both servers have something to say about.
    Violation,
}

/// One server with what it took, in nanoseconds.
struct Contestant {
    name: &'static str,
    session: Session,
    opened: u64,
    changes: Vec<u64>,
}

/// Measures valid and broken text; adds the goals to `rows`.
pub fn measure(quick: bool, rows: &mut Vec<Row>) -> Result<Value> {
    let server = dist::server()?;
    let ruff = tools::need_python("ruff", &workspace::root().join("xtask/requirements.txt"))?.join("ruff");
    let edits = if quick { 40 } else { 200 };
    let valid = corpus::python(LINES)?;
    let broken = corpus::broken(&valid, LOST);
    let mut numbers = Vec::new();
    for (title, text, keystroke) in [
        ("a letter", &valid, Keystroke::Letter),
        ("a violation", &valid, Keystroke::Violation),
        ("a letter, broken code", &broken, Keystroke::Letter),
    ] {
        let contestants = contest(&server, &ruff, text, keystroke, edits)?;
        print(title, &contestants);
        let [ours, theirs] = &contestants;
        let ratio = |part| percentile(&ours.changes, part) / percentile(&theirs.changes, part);
        match (title, keystroke) {
            ("a letter", _) => {
                rows.push(Row::at_most("didChange to diagnostics, p50", "x ruff server", ratio(0.5), 0.5));
                rows.push(Row::at_most("didChange to diagnostics, p99", "x ruff server", ratio(0.99), 0.8));
            }
            (_, Keystroke::Letter) => {
                rows.push(Row::at_most("didChange, broken code, p99", "x ruff server", ratio(0.99), 1.0));
            }
            (_, Keystroke::Violation) => {}
        }
        numbers.push(json!({ "title": title, "servers": contestants.iter().map(to_json).collect::<Value>() }));
    }
    Ok(Value::Array(numbers))
}

fn contest(server: &Path, ruff: &Path, text: &str, keystroke: Keystroke, edits: usize) -> Result<[Contestant; 2]> {
    let folder = tempfile::tempdir()?;
    let rulebook = "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"eval\"]\nwhy = \"measured\"\n";
    let project = Project::create(folder.path().join("project"), rulebook)?;
    project.write("ruff.toml", "lint.select = [\"S307\"]\n")?;
    let file = project.write("app.py", text)?;
    let mut ruff_command = Command::new(ruff);
    ruff_command.arg("server");
    let mut contestants = [
        Contestant::start("ruleline-server", Command::new(server), &project, &file, text)?,
        Contestant::start("ruff server", ruff_command, &project, &file, text)?,
    ];
    let places = places(text);
    for edit in 0..edits {
        // Far apart, and the same for every run.
        let line = places[(edit * 7_919) % places.len()];
        let indent = text.lines().nth(line).map_or(0, |text| text.len() - text.trim_start().len());
        let (put, take) = match keystroke {
            Keystroke::Letter => (range(line, indent + 1, line, indent + 1), range(line, indent + 1, line, indent + 2)),
            Keystroke::Violation => (range(line, 0, line, 0), range(line, 0, line + 1, 0)),
        };
        let inserted = match keystroke {
            Keystroke::Letter => "x".to_owned(),
            Keystroke::Violation => format!("{}eval(z)\n", " ".repeat(indent)),
        };
        for (range, text) in [(put, inserted.as_str()), (take, "")] {
            for contestant in &mut contestants {
                let taken = contestant.session.change(&range, text).with_context(|| contestant.name)?;
                contestant.changes.push(taken);
            }
        }
    }
    Ok(contestants)
}

impl Contestant {
    fn start(name: &'static str, command: Command, project: &Project, file: &Path, text: &str) -> Result<Contestant> {
        let mut session = Session::start(command, &project.root, file).with_context(|| name)?;
        let opened = session.open(text).with_context(|| name)?;
        Ok(Contestant { name, session, opened, changes: Vec::new() })
    }
}

/// The lines that hold a plain statement and are no part of anything longer.
fn places(text: &str) -> Vec<usize> {
    let plain = |line: &str| {
        let code = line.trim_start();
        code.starts_with("return ") || (code.contains(" = ") && code.starts_with("self."))
    };
    text.lines().enumerate().filter(|(_, line)| plain(line)).map(|(number, _)| number).collect()
}

fn range(line: usize, character: usize, end_line: usize, end_character: usize) -> Value {
    json!({
        "start": { "line": line, "character": character },
        "end": { "line": end_line, "character": end_character },
    })
}

fn print(title: &str, contestants: &[Contestant]) {
    println!("\n{title} in and out of {LINES} lines: didChange to diagnostics");
    let heads = ["server", "initialize ms", "didOpen ms", "p50 ms", "p95 ms", "p99 ms", "peak MiB"].map(str::to_owned);
    let rows = contestants.iter().map(|contestant| {
        let change = |part| format!("{:.2}", percentile(&contestant.changes, part));
        [
            contestant.name.to_owned(),
            format!("{:.1}", percentile(&[contestant.session.initialized], 0.5)),
            format!("{:.1}", percentile(&[contestant.opened], 0.5)),
            change(0.5),
            change(0.95),
            change(0.99),
            (contestant.session.peak_kib() / 1024).to_string(),
        ]
    });
    print_table(&heads, &rows.collect::<Vec<_>>());
}

fn to_json(contestant: &Contestant) -> Value {
    json!({
        "name": contestant.name,
        "initialize_ms": percentile(&[contestant.session.initialized], 0.5),
        "open_ms": percentile(&[contestant.opened], 0.5),
        "p50_ms": percentile(&contestant.changes, 0.5),
        "p95_ms": percentile(&contestant.changes, 0.95),
        "p99_ms": percentile(&contestant.changes, 0.99),
        "peak_kib": contestant.session.peak_kib(),
    })
}

/// A figure in KiB of a process's memory, `VmHWM` its peak, `VmRSS` what it holds now; 0 where the system does not tell.
fn memory_kib(pid: u32, figure: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
