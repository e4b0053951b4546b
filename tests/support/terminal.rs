//! A person at a terminal, and programs that pretend to be one: `ruleline` on a pseudo-terminal, by way of Python.

#![allow(dead_code, reason = "each test file uses its part")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::hook::Project;

/// What came of a command on a terminal.
#[derive(Debug)]
pub struct Shown {
    pub code: i64,
    /// All that the terminal showed, what was typed among it.
    pub text: String,
}

/// A command, and what is typed while it runs.
pub struct Sitting<'a> {
    project: &'a Project,
    words: Vec<String>,
    environment: Vec<(String, String)>,
    answers: Vec<(String, String)>,
    meanwhile: Option<String>,
    terminal: bool,
}

impl<'a> Sitting<'a> {
    /// `ruleline hooks WORDS` in the project, with its state folder.
    pub fn hooks(project: &'a Project, words: &[&str]) -> Sitting<'a> {
        let state = project.state();
        let mut all = vec![env!("CARGO_BIN_EXE_ruleline"), "hooks"];
        all.extend(words);
        all.extend(["--state-dir", state.to_str().unwrap()]);
        Sitting {
            project,
            words: all.into_iter().map(str::to_owned).collect(),
            environment: Vec::new(),
            answers: Vec::new(),
            meanwhile: None,
            terminal: true,
        }
    }

    /// Runs it as the last words of this command.
    pub fn below(mut self, words: &[&str]) -> Self {
        self.words.splice(0..0, words.iter().map(|word| (*word).to_owned()));
        self
    }

    pub fn with(mut self, variable: &str, value: &str) -> Self {
        self.environment.push((variable.to_owned(), value.to_owned()));
        self
    }

    /// Once `question` is shown, `answer` is typed, with a line end.
    pub fn answer(mut self, question: &str, answer: &str) -> Self {
        self.answers.push((question.to_owned(), format!("{answer}\n")));
        self
    }

    /// As [`Sitting::answer`], and before it is typed somebody else does this.
    pub fn answer_after(mut self, question: &str, answer: &str, command: &str) -> Self {
        self.meanwhile = Some(command.to_owned());
        self.answer(question, answer)
    }

    /// In a session without a terminal; the answers are its stdin.
    pub fn without_a_terminal(mut self) -> Self {
        self.terminal = false;
        self
    }

    /// Runs it. The processes above this test are not looked at.
    pub fn run(self) -> Shown {
        let mut environment = json!({
            "PATH": "/usr/bin:/bin", "TERM": "dumb",
            "RULELINE_TEST_HOME": self.project.home, "RULELINE_TEST_TOP": std::process::id().to_string(),
        });
        for (name, value) in &self.environment {
            environment[name] = json!(value);
        }
        let told = json!({
            "words": self.words, "cwd": self.project.root, "env": environment,
            "answers": self.answers, "meanwhile": self.meanwhile, "terminal": self.terminal,
        });
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/terminal.py");
        let mut python = Command::new("python3");
        let mut python =
            python.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 is installed");
        python.stdin.take().unwrap().write_all(told.to_string().as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        Shown { code: shown["code"].as_i64().unwrap(), text: shown["text"].as_str().unwrap().to_owned() }
    }
}
