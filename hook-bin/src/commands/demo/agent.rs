//! The coding agents as the hook sees them: their payloads, word for word as the real programs send them, given to the
//! real hook process.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// One agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

/// One line of a file that becomes another.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    /// The file, relative to the project.
    pub file: &'a str,
    /// The whole line as it is.
    pub old: &'a str,
    /// The whole line as it shall be.
    pub new: &'a str,
}

/// What the hook answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Everything on stdout.
    pub stdout: String,
    /// `deny`, `ask`, `allow`; none when it said nothing.
    pub decision: Option<String>,
    /// Why.
    pub reason: String,
    /// What the model is told besides.
    pub context: String,
    /// From starting the process to its end.
    pub took: Duration,
}

impl Agent {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "Claude Code",
            Agent::Codex => "Codex",
        }
    }

    /// Its name for `--agent`.
    pub fn flag(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
        }
    }

    /// What it calls the tool.
    pub fn tool(self) -> &'static str {
        match self {
            Agent::Claude => "Edit",
            Agent::Codex => "apply_patch",
        }
    }

    /// What it sends before it makes this edit.
    pub fn payload(self, root: &Path, edit: Edit<'_>) -> Value {
        let Edit { file, old, new } = edit;
        match self {
            Agent::Claude => json!({
                "session_id": "3c7b7a0e-6f0c-4a55-9d5e-1c1d1f8f2b11",
                "transcript_path": root.join("transcript.jsonl"),
                "cwd": root,
                "prompt_id": "3c7b7a0e-6f0c-4a55-9d5e-1c1d1f8f2b12",
                "permission_mode": "acceptEdits",
                "hook_event_name": "PreToolUse",
                "tool_name": self.tool(),
                "tool_input": {
                    "file_path": root.join(file),
                    "old_string": old,
                    "new_string": new,
                    "replace_all": false,
                },
                "tool_use_id": "toolu_01",
            }),
            Agent::Codex => json!({
                "session_id": "019ad0a2-7c3d-7f10-b1f5-8a8f0f3f9c21",
                "turn_id": "019ad0a2-7c3d-7f10-b1f5-8a8f0f3f9c22",
                "transcript_path": root.join("rollout.jsonl"),
                "cwd": root,
                "hook_event_name": "PreToolUse",
                "model": "gpt-5.5",
                "permission_mode": "bypassPermissions",
                "tool_name": self.tool(),
                "tool_input": {
                    "command": format!(
                        "*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch\n"
                    ),
                },
                "tool_use_id": "call_01",
            }),
        }
    }

    /// What it sends before it runs this command in a shell.
    pub fn shell(self, root: &Path, session: &str, command: &str) -> Value {
        let mut payload = self.payload(root, Edit { file: "", old: "", new: "" });
        payload["session_id"] = json!(session);
        payload["tool_name"] = json!("Bash");
        payload["tool_input"] = json!({"command": command});
        payload
    }

    /// Asks the hook about what this agent sends.
    ///
    /// # Errors
    /// In one line: the process cannot be run, or its answer is none.
    pub fn ask(
        self,
        program: &Path,
        state: &Path,
        root: &Path,
        payload: &Value,
        flags: &[&str],
    ) -> Result<Answer, String> {
        let payload = payload.to_string();
        let failed = |error: std::io::Error| format!("the hook cannot be run: {error}");
        let begun = Instant::now();
        let mut child = Command::new(program)
            .args(["hook", "--agent", self.flag(), "--no-log", "--state-dir"])
            .arg(state)
            .args(flags)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(payload.as_bytes()).map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        let took = begun.elapsed();
        if !output.status.success() {
            return Err(format!("the hook ended with {}", output.status));
        }
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let said: Value = match stdout.trim() {
            "" => Value::Null,
            line => serde_json::from_str(line).map_err(|error| format!("the hook's answer is no JSON: {error}"))?,
        };
        let said = &said["hookSpecificOutput"];
        Ok(Answer {
            decision: said["permissionDecision"].as_str().map(str::to_owned),
            reason: said["permissionDecisionReason"].as_str().unwrap_or_default().to_owned(),
            context: said["additionalContext"].as_str().unwrap_or_default().to_owned(),
            stdout,
            took,
        })
    }
}
