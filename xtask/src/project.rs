//! What the editors in a terminal open: a project with a rule and hooks that nobody trusts yet, a server that keeps its
//! state beside it, and an agent that wants to edit.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::process::{build, run};
use crate::workspace;

const RULES: &str =
    "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"eval\"]\nwhy = \"parse it\"\n";
const MANIFEST: &str = "hooks:\n  PreToolUse:\n    - script: block\n      matcher: Bash\n";
/// What stands in the file `app.py`.
const TEXT: &str = "def f(n):\n    return n\n";
/// A line that the rule refuses, with signs that editors, servers and terminals count differently.
pub const LINE: &str = "x = \"😀é😀\"; y = eval(n)  # 😀";

/// The project, in a scratch folder with everything that belongs to it.
pub struct Project {
    _scratch: tempfile::TempDir,
    /// The scratch folder.
    pub base: PathBuf,
    /// The project's folder.
    pub root: PathBuf,
}

impl Project {
    /// Builds the programs and writes the project.
    pub fn new() -> Result<Project> {
        build()?;
        let scratch = tempfile::tempdir()?;
        let base = scratch.path().canonicalize()?;
        let project = Project { _scratch: scratch, root: base.join("project"), base };
        for folder in [".ruleline/hooks", ".git"] {
            fs::create_dir_all(project.root.join(folder))?;
        }
        for (name, text) in [
            (".ruleline/rules.toml", RULES),
            (".ruleline/hooks/hooks.yaml", MANIFEST),
            (".ruleline/hooks/block.sh", "exit 2\n"),
            ("app.py", TEXT),
        ] {
            fs::write(project.root.join(name), text)?;
        }
        let server = workspace::program("ruleline-server", "dev", None);
        let script = format!("exec '{}' --state-dir '{}'", server.display(), project.state().display());
        project.install("ruleline-server", &format!("#!/bin/sh\n{script}\n"))?;
        Ok(project)
    }

    /// Puts a script on the PATH of the editor.
    pub fn install(&self, name: &str, script: &str) -> Result<()> {
        fs::create_dir_all(self.base.join("bin"))?;
        let program = self.base.join("bin").join(name);
        fs::write(&program, script)?;
        run(Command::new("chmod").arg("700").arg(&program))
    }

    /// Writes a settings file of the editor as its page has it: the page's first block of this language.
    pub fn configure(&self, file: &str, page: &str, language: &str) -> Result<()> {
        let text = fs::read_to_string(workspace::root().join(page))?;
        let block = text.split(&format!("```{language}\n")).nth(1).and_then(|rest| rest.split("```").next());
        let file = self.base.join("home").join(file);
        fs::create_dir_all(file.parent().expect("it lies in a folder"))?;
        Ok(fs::write(file, block.with_context(|| format!("{page} has no block of {language}"))?)?)
    }

    /// The PATH of the editor: what was installed here, more folders, and the usual ones.
    pub fn path(&self, more: &[PathBuf]) -> Result<OsString> {
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let own = [self.base.join("bin")].into_iter().chain(more.iter().cloned());
        Ok(std::env::join_paths(own.chain(std::env::split_paths(&usual)))?)
    }

    /// The processes that say of themselves in the folder of sockets that they serve, as folders below `/proc`.
    pub fn servers(&self) -> Vec<PathBuf> {
        let records = fs::read_dir(self.state().join("run")).into_iter().flatten().flatten().map(|entry| entry.path());
        let records = records.filter(|path| path.extension().is_some_and(|it| it == "json"));
        let pid = |path: PathBuf| serde_json::from_slice::<Value>(&fs::read(path).ok()?).ok()?.get("pid")?.as_u64();
        records.filter_map(pid).map(|pid| PathBuf::from(format!("/proc/{pid}"))).collect()
    }

    /// Whether a real hook refuses an agent that would write a call of `eval` into the file.
    pub fn refuses(&self) -> Result<bool> {
        let input = json!({
            "file_path": self.root.join("app.py"), "old_string": "    return n", "new_string": "    return eval(n)",
        });
        let payload = json!({
            "session_id": "s", "hook_event_name": "PreToolUse", "cwd": self.root, "tool_name": "Edit", "tool_input": input,
        });
        let mut hook = Command::new(workspace::program("ruleline", "dev", None));
        hook.args(["hook", "--agent", "claude", "--state-dir"]).arg(self.state());
        hook.env_clear().env("RULELINE_TEST_HOME", self.base.join("hook-home"));
        let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        child.stdin.take().expect("it is piped").write_all(payload.to_string().as_bytes())?;
        let answer = String::from_utf8(child.wait_with_output()?.stdout)?;
        Ok(answer.contains("\"permissionDecision\":\"deny\""))
    }

    fn state(&self) -> PathBuf {
        self.base.join("state")
    }
}
