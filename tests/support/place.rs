//! A project in a temporary folder, the hook as a process in it, and the real server beside it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A project with a rulebook and a state folder of its own.
pub struct Place {
    _temporary: tempfile::TempDir,
    /// The project.
    pub root: PathBuf,
    /// The state folder that hook and server are given.
    pub state: PathBuf,
}

impl Place {
    /// A project with this rulebook.
    pub fn with_rulebook(rulebook: &str) -> Place {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let place = Place { root: base.join("project"), state: base.join("state"), _temporary: temporary };
        std::fs::create_dir_all(place.root.join(".git")).unwrap();
        place.write(".ruleline/rules.toml", rulebook);
        place
    }

    /// Writes a file of the project.
    pub fn write(&self, file: &str, text: &str) {
        let path = self.root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes the user's settings.
    pub fn configure(&self, text: &str) {
        let path = self.state.with_file_name(".config/ruleline/config.toml");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a file, or makes sure that there is none.
    pub fn set(&self, file: &str, text: Option<&str>) {
        match text {
            Some(text) => self.write(file, text),
            None => drop(std::fs::remove_file(self.root.join(file))),
        }
    }

    /// Where servers with this state folder open their endpoints.
    pub fn runtime(&self) -> PathBuf {
        self.state.join("run")
    }

    /// What the hook prints for an event, with further flags.
    pub fn hook(&self, agent: &str, payload: &Value, flags: &[&str]) -> Vec<u8> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ruleline"))
            .env("RULELINE_TEST_HOME", self.state.parent().unwrap())
            .args(["hook", "--agent", agent, "--no-log", "--state-dir"])
            .arg(&self.state)
            .args(flags)
            .current_dir(&self.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "the hook's answer is what it prints");
        output.stdout
    }
}

/// A running `ruleline-server --background`; killed when dropped.
pub struct Background {
    child: Child,
}

impl Background {
    /// Starts one for the project, and waits until its record is there.
    pub fn start(place: &Place, flags: &[&str]) -> Background {
        let child = Command::new(env!("CARGO_BIN_EXE_ruleline-server"))
            .args(["--background", "--state-dir"])
            .arg(&place.state)
            .args(flags)
            .arg(&place.root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        let started = Background { child };
        until("the server has a record", || records(&place.runtime()).iter().any(|record| record["pid"] == pid));
        started
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Its exit code, once it has ended by itself.
    pub fn ended(&mut self) -> Option<i32> {
        let mut status = None;
        until("the server ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.and_then(|status| status.code())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The records in a runtime folder.
pub fn records(runtime: &Path) -> Vec<Value> {
    let Ok(entries) = std::fs::read_dir(runtime) else {
        return Vec::new();
    };
    let json =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "json"));
    json.filter_map(|path| {
        let mut text = String::new();
        std::fs::File::open(path).ok()?.read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    })
    .collect()
}

/// Waits for something that other processes do; fails when it takes far too long.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
