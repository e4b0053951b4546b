//! The hook as a process: a throw-away project, home and state folder, a payload in, an answer out.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// A project in a temporary folder, beside a home folder and a folder outside of it.
pub struct Project {
    temp: tempfile::TempDir,
    pub root: PathBuf,
    pub home: PathBuf,
    pub outside: PathBuf,
}

/// What a hook said.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Project {
    /// A project with `.git/` and nothing else.
    pub fn new() -> Project {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let [root, home, outside] = ["root", "home", "outside"].map(|name| base.join(name));
        for folder in [&root.join(".git"), &home, &outside] {
            fs::create_dir_all(folder).unwrap();
        }
        Project { temp, root, home, outside }
    }

    /// A project with this rulebook.
    pub fn with_rules(rules: &str) -> Project {
        let project = Project::new();
        project.write(".ruleline/rules.toml", rules);
        project
    }

    /// Writes a file below the root.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.root.join(path), text);
    }

    /// Writes a file below the home folder.
    pub fn write_home(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.home.join(path), text);
    }

    pub fn base(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    pub fn state(&self) -> PathBuf {
        self.base().join("state")
    }

    /// The payload of a Write of `path` (relative to the root).
    pub fn payload_write(&self, path: &str, content: &str) -> Value {
        self.payload("Write", &json!({"file_path": self.root.join(path), "content": content}))
    }

    /// The payload of any tool.
    pub fn payload(&self, tool: &str, input: &Value) -> Value {
        json!({
            "session_id": "s", "hook_event_name": "PreToolUse", "permission_mode": "default",
            "cwd": self.root, "tool_name": tool, "tool_input": input,
        })
    }

    /// Runs `ruleline hook ARGUMENTS --state-dir STATE` with these bytes on stdin.
    pub fn hook(&self, arguments: &[&str], stdin: impl AsRef<[u8]>) -> Said {
        let state = self.state();
        let mut words = vec!["hook"];
        words.extend(arguments);
        words.extend(["--state-dir", state.to_str().unwrap()]);
        self.run(&words, &[], stdin.as_ref())
    }

    /// Runs `ruleline` with more environment.
    pub fn run(&self, words: &[&str], environment: &[(&str, &str)], stdin: &[u8]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ruleline"));
        command.args(words).current_dir(&self.root).env_clear();
        command.env("RULELINE_TEST_HOME", &self.home).envs(environment.iter().copied());
        say(command, stdin)
    }

    /// The decision on a payload for Claude Code: `deny`, `ask`, `allow`, or `silent`.
    pub fn decision(&self, payload: &Value) -> String {
        self.hook(&["--agent", "claude"], payload.to_string()).decision()
    }
}

impl Said {
    /// What is decided: `deny`, `ask`, `allow`, or `silent` when nothing is; anything else than a valid answer fails.
    pub fn decision(&self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        if self.stdout.is_empty() {
            return "silent".to_owned();
        }
        let answer = self.answer();
        let specific = &answer["hookSpecificOutput"];
        assert!(specific["hookEventName"].is_string(), "{self:?}");
        specific["permissionDecision"].as_str().unwrap_or("silent").to_owned()
    }

    /// Why.
    pub fn reason(&self) -> String {
        self.answer()["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned()
    }

    /// What is said to the model beside the decision.
    pub fn context(&self) -> String {
        if self.stdout.is_empty() {
            return String::new();
        }
        self.answer()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    }

    /// The one line of JSON on stdout.
    pub fn answer(&self) -> Value {
        assert_eq!(self.stdout.trim_end().lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs a command with these bytes on stdin; a process that does not read them is no error.
pub fn say(mut command: Command, stdin: &[u8]) -> Said {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
