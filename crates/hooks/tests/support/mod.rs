//! A folder of hooks and a project for them, and what its scripts come to under the real interpreter.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it, and all of it is test code")]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hooks::answer::Outcome;
use hooks::builtin;
use hooks::manifest::{Entry, Manifest, Platform};
use hooks::run::{self, Launch};
use hooks::series::{Came, Part, run_all};

/// A folder of hooks and a project for them.
pub struct Place {
    _keep: tempfile::TempDir,
    pub folder: PathBuf,
    pub root: PathBuf,
}

/// What hooks are given where a test does not care.
pub const PAYLOAD: &str = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;

impl Place {
    pub fn new() -> Place {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        let (folder, root) = (base.join("hooks"), base.join("project"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&root).unwrap();
        Place { _keep: keep, folder, root }
    }

    pub fn script(&self, name: &str, text: &str) {
        fs::write(self.folder.join(format!("{name}.sh")), text).unwrap();
    }

    /// The entries of a manifest whose entries under an event are these.
    pub fn entries(&self, event: &str, entries: &str) -> Vec<Entry> {
        let text = format!("hooks:\n  {event}:\n{entries}");
        let manifest = Manifest::parse(
            text.as_bytes(),
            &|file| self.folder.join(file).exists(),
            Platform::HERE,
            &builtin::names(),
        );
        assert_eq!(manifest.problems, [], "{text}");
        manifest.entries
    }

    pub fn launch<'a>(&'a self, event: &'a str, payload: &'a str) -> Launch<'a> {
        Launch {
            event,
            tools: &["Bash", "shell"],
            folder: &self.folder,
            root: &self.root,
            workspaces: &[],
            payload,
            deadline: Instant::now() + Duration::from_secs(20),
            interpreters: &[],
        }
    }

    /// What one entry with this script comes to.
    pub fn outcome(&self, script: &str) -> Outcome {
        self.script("it", script);
        let entries = self.entries("PreToolUse", "    - script: it\n");
        run::run(&entries[0], &self.launch("PreToolUse", PAYLOAD)).outcome
    }

    pub fn came(&self, event: &str, entries: &str, may_allow: bool) -> Came {
        let entries = self.entries(event, entries);
        let entries: Vec<&Entry> = entries.iter().collect();
        run_all(&[Part { whose: "hooks of X", entries: &entries, launch: self.launch(event, PAYLOAD), may_allow }])
    }
}
