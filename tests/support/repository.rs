//! A real git repository in a temporary folder, and `ruleline check` as a process in it.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A repository beside a home folder of its own.
pub struct Repository {
    temp: tempfile::TempDir,
    pub root: PathBuf,
}

/// What a check said.
#[derive(Debug)]
pub struct Checked {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Repository {
    /// A folder that is no repository yet.
    pub fn folder() -> Repository {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("root");
        fs::create_dir(&root).unwrap();
        Repository { temp, root }
    }

    /// A repository without a commit, with this rulebook in the work tree.
    pub fn empty(rules: &str) -> Repository {
        let repository = Repository::folder();
        repository.git(&["init", "-q", "-b", "main"]);
        repository.write(".ruleline/rules.toml", rules);
        repository
    }

    /// A repository whose first commit is the rulebook and these files.
    pub fn with(rules: &str, files: &[(&str, &str)]) -> Repository {
        let repository = Repository::empty(rules);
        for (path, text) in files {
            repository.write(path, text);
        }
        repository.commit();
        repository
    }

    /// The folder that holds the repository.
    pub fn base(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap();
    }

    pub fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root.join(from), self.root.join(to)).unwrap();
    }

    pub fn git(&self, words: &[&str]) {
        git(&self.root, words);
    }

    /// Commits everything.
    pub fn commit(&self) {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-qm", "x", "--allow-empty"]);
    }

    pub fn check(&self, words: &[&str]) -> Checked {
        self.check_in(&self.root, words, &[])
    }

    pub fn check_in(&self, folder: &Path, words: &[&str], environment: &[(&str, &str)]) -> Checked {
        let output = Command::new(env!("CARGO_BIN_EXE_ruleline"))
            .arg("check")
            .args(words)
            .current_dir(folder)
            .env_clear()
            .env("RULELINE_TEST_HOME", self.base().join("home"))
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Checked {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The findings of a check as `EFFECT RULE PATH:LINE:COLUMN`, and what was left open as `open RULE PATH`.
    pub fn sketch(&self, words: &[&str]) -> Vec<String> {
        self.check(&[words, &["--format", "json"]].concat()).sketch()
    }
}

impl Checked {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn sketch(&self) -> Vec<String> {
        let json = self.json();
        let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let found = json["findings"].as_array().unwrap().iter().map(|found| {
            let place =
                ["line", "column"].map(|key| found[key].as_u64().map_or_else(String::new, |it| format!(":{it}")));
            format!("{} {} {}{}", word(&found["effect"]), word(&found["rule"]), word(&found["path"]), place.concat())
        });
        let open = json["unchecked"].as_array().unwrap().iter();
        let open = open.map(|open| format!("open {} {}", word(&open["rule"]), word(&open["path"])));
        found.chain(open).collect()
    }
}

/// Runs git as a person would.
pub fn git(folder: &Path, words: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}
