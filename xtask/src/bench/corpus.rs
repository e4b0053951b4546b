//! What is measured on: Python text from the standard library of the machine's own Python, rulebooks, projects,
//! payloads. All of it is made at run time in temporary folders.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::output;

/// Modules that every Python has and that use most of its syntax.
const MODULES: [&str; 14] = [
    "argparse.py",
    "ast.py",
    "inspect.py",
    "subprocess.py",
    "tarfile.py",
    "typing.py",
    "pathlib.py",
    "doctest.py",
    "zipfile.py",
    "mailbox.py",
    "optparse.py",
    "pickle.py",
    "statistics.py",
    "turtle.py",
];

/// Words that look names up at run time: in a text with one of them a forbidden name need not stand as it is.
const LOOK_UPS: [&str; 10] = [
    "getattr",
    "__import__",
    "import_module",
    "importlib",
    "__dict__",
    "__builtins__",
    "vars",
    "globals",
    "locals",
    "modules",
];

/// Python text of exactly `lines` lines that parses and looks no name up at run time.
pub fn python(lines: usize) -> Result<String> {
    let find = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
    let folder = PathBuf::from(output(Command::new("python3").args(["-c", find]))?);
    let mut library = String::from("import os\n");
    for module in MODULES {
        // A module that became a package in this Python is left out.
        library.push_str(&fs::read_to_string(folder.join(module)).unwrap_or_default());
    }
    for word in LOOK_UPS {
        library = library.replace(word, &format!("plain_{}", word.trim_matches('_')));
    }
    if library.lines().count() < 10_000 {
        bail!("too little of Python's standard library lies in {}", folder.display());
    }
    let taken: Vec<&str> = library.lines().cycle().take(lines).collect();
    // Whole statements only: up to a definition at the margin, then one-line statements.
    let starts = |pair: &[&str]| pair[0].is_empty() && (pair[1].starts_with("def ") || pair[1].starts_with("class "));
    let cut = taken.windows(2).rposition(starts).map_or(0, |line| line + 1);
    let mut text = taken[..cut].join("\n");
    text.push('\n');
    for number in cut..lines {
        writeln!(text, "padding_{number} = {number}").expect("writing to a string does not fail");
    }
    Ok(text)
}

/// The same text with closing parentheses lost all over it.
pub fn broken(text: &str, lost: usize) -> String {
    let lines = text.lines().count();
    let step = lines / (lost + 1);
    let mut due = step;
    let mut broken = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        if number >= due && line.ends_with(')') {
            broken.push_str(&line[..line.len() - 1]);
            due += step;
        } else {
            broken.push_str(line);
        }
        broken.push('\n');
    }
    broken
}

/// Rules that apply to every Python file and whose literals occur in none; three globs each.
pub fn quiet_rules(count: usize) -> String {
    let mut book = String::new();
    for rule in 0..count {
        let check = match rule % 5 {
            0 | 1 => format!("forbid = ['''\\bforbidden_word_{rule}\\b''']"),
            2 => format!("forbid_calls = [\"danger_{rule}.run\", \"unsafe_{rule}(shell=True)\"]"),
            3 => format!("forbid_calls = [\"*.detonate_{rule}\"]"),
            _ => format!("forbid_imports = [\"banned_{rule}.*\"]"),
        };
        let paths = format!("[\"**/*.py\", \"tools/**/step_{rule}_*.txt\", \"!vendor/part_{rule}/**\"]");
        writeln!(book, "[[rule]]\nid = \"quiet-{rule}\"\npaths = {paths}\n{check}\nwhy = \"measured\"\n")
            .expect("writing to a string does not fail");
    }
    book
}

/// The rule that refuses `os.system`.
pub const REFUSING_RULE: &str = "[[rule]]\nid = \"no-os-system\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"os.system\"]\n\
                                 why = \"use subprocess.run with a list\"\n\n";

/// Rules that apply to no Python file, as short as a rule can be.
pub fn distant_rules(count: usize) -> String {
    let mut book = String::new();
    for rule in 0..count {
        writeln!(book, "[[rule]]\nid=\"r{rule}\"\npaths=[\"d{rule}/*.md\"]\nforbid=[\"w{rule}\"]")
            .expect("writing to a string does not fail");
    }
    book
}

/// A git project in a folder of its own.
pub struct Project {
    pub root: PathBuf,
}

impl Project {
    /// Makes the folder, with a rulebook.
    pub fn create(root: PathBuf, rulebook: &str) -> Result<Project> {
        fs::create_dir_all(root.join(".ruleline"))?;
        fs::write(root.join(".ruleline/rules.toml"), rulebook)?;
        let git = Command::new("git").args(["init", "--quiet"]).arg(&root).stdin(Stdio::null()).status();
        git.context("git is needed for the projects that are measured on")?;
        Ok(Project { root })
    }

    /// Writes a file of the project.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().expect("a name has a folder"))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Adds `count` small files, a hundred to a folder.
    pub fn fill(&self, count: usize) -> Result<()> {
        for folder in 0..count.div_ceil(100) {
            let path = self.root.join(format!("package_{folder}"));
            fs::create_dir_all(&path)?;
            for file in 0..100.min(count - folder * 100) {
                fs::write(path.join(format!("module_{file}.py")), "value = 1\n")?;
            }
        }
        Ok(())
    }

    /// A payload of Claude Code's before a tool runs here, written beside the project; returns its file.
    pub fn payload(&self, name: &str, tool: &str, input: &Value) -> Result<PathBuf> {
        let payload = json!({
            "session_id": "5f1c2d3e-0000-4000-8000-000000000000",
            "transcript_path": self.root.with_extension("jsonl"),
            "cwd": self.root,
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": input,
            "tool_use_id": "toolu_01",
        });
        let path = self.root.with_extension(format!("{name}.json"));
        fs::write(&path, serde_json::to_vec(&payload)?)?;
        Ok(path)
    }

    /// An edit that puts `line` before a definition about the file's middle; returns the payload's file.
    pub fn edit(&self, name: &str, file: &Path, line: &str) -> Result<PathBuf> {
        let text = fs::read_to_string(file)?;
        let lines: Vec<&str> = text.lines().collect();
        let starts =
            |pair: &&[&str]| pair[0].is_empty() && (pair[1].starts_with("def ") || pair[1].starts_with("class "));
        let mut definitions = lines[lines.len() / 2..].windows(2).filter(starts).map(|pair| pair[1]);
        let once = |line: &&str| text.matches(*line).count() == 1;
        let old = definitions.find(once).context("no definition in the file's second half stands there once")?;
        let new = format!("{line}\n{old}");
        self.payload(name, "Edit", &json!({ "file_path": file, "old_string": old, "new_string": new }))
    }
}
