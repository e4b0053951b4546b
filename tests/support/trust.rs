//! Hooks in a throw-away project, and a person who grants and takes back.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hooks::{Grant, Grantor, Means, Store, Tree};
use serde_json::{Value, json};

use crate::hook::{Project, Said};

/// Writes the hooks of a root: the entries below `hooks:` and the scripts.
pub fn write_hooks(root: &Path, entries: &str, scripts: &[(&str, &str)]) {
    let folder = root.join(".ruleline/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("hooks.yaml"), format!("hooks:\n{entries}")).unwrap();
    for (name, text) in scripts {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// Hooks that refuse shell calls, for a manifest.
pub const BLOCK: &str = "  PreToolUse:\n    - script: block\n      matcher: Bash\n";

/// A project whose one hook refuses shell calls, and leaves a mark.
pub fn blocking() -> (Project, PathBuf) {
    let project = Project::new();
    let mark = project.base().join("mark");
    write_hooks(&project.root, BLOCK, &[("block.sh", &script(&mark, "block"))]);
    (project, mark)
}

/// A script that leaves its name in a file, and refuses.
pub fn script(mark: &Path, name: &str) -> String {
    format!("echo {name} >> {}\necho 'not {name}' >&2\nexit 2\n", mark.display())
}

/// A script that leaves its name in a file.
pub fn leave(mark: &Path, name: &str) -> String {
    format!("echo {name} >> {}\n", mark.display())
}

/// Trusts what is there now, as a person at a terminal would.
pub fn trust(state: &Path, root: &Path) -> Grant {
    let tree = Tree::read(root).unwrap().expect("there are hooks");
    let by = Grantor { means: Means::Terminal, processes: vec!["ruleline".into(), "bash".into()] };
    Store::new(state).grant(root, &tree, tree.digest, &by, SystemTime::now()).unwrap()
}

/// Takes it back.
pub fn untrust(state: &Path, root: &Path) {
    Store::new(state).withdraw(root, SystemTime::now()).unwrap().expect("there was a grant");
}

/// Sends an event of a session of Claude Code.
pub fn send(project: &Project, session: &str, event: &str, more: &Value) -> Said {
    send_to(project, "claude", session, event, more)
}

/// Sends an event of a session of an agent.
pub fn send_to(project: &Project, agent: &str, session: &str, event: &str, more: &Value) -> Said {
    let mut payload = json!({
        "session_id": session, "hook_event_name": event, "permission_mode": "default", "cwd": project.root,
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    project.hook(&["--agent", agent], payload.to_string())
}

/// A shell call of a session of Claude Code, before it runs.
pub fn shell(project: &Project, session: &str, command: &str) -> Said {
    send(project, session, "PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": command}}))
}

/// The lines of a file that hooks write into, in order.
pub fn marks(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}
