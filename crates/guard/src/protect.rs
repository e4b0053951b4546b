//! Self-protection (S11): what a person must do and no agent may, whatever the rules say.
//!
//! One table of paths: settings and hook files of the agents, Ruleline's own folders and program, what steers git. A
//! path is tried as written and with links resolved, in any case of letters. Nothing switches this off.

use std::path::Path;

use system::{Folders, paths};

use crate::stack::Spelled;

/// One entry of the table: a run of path components that stands anywhere in a path.
struct Kept {
    /// The folders and the file, by component; `*` is a run of characters.
    parts: &'static [&'static str],
    /// Everything below counts as well.
    below: bool,
    /// What it is.
    what: &'static str,
}

const fn file(parts: &'static [&'static str], what: &'static str) -> Kept {
    Kept { parts, below: false, what }
}

const fn folder(parts: &'static [&'static str], what: &'static str) -> Kept {
    Kept { parts, below: true, what }
}

const CLAUDE: &str = "settings of Claude Code";
const CODEX: &str = "settings of Codex";
const GEMINI: &str = "settings of Gemini CLI";
const COPILOT: &str = "settings of Copilot";
const CURSOR: &str = "settings of Cursor";
const OTHER: &str = "settings of an agent";
const GIT: &str = "what steers git";

const TABLE: &[Kept] = &[
    folder(&[".ruleline"], "Ruleline's folder"),
    file(&[".claude", "settings*.json"], CLAUDE),
    folder(&[".claude", "hooks"], CLAUDE),
    folder(&[".claude", "plugins"], CLAUDE),
    file(&[".claude.json"], CLAUDE),
    folder(&["claude-code", "managed-settings.d"], CLAUDE),
    file(&["claude-code", "managed-settings.json"], CLAUDE),
    folder(&["ClaudeCode"], CLAUDE),
    file(&[".codex", "*.toml"], CODEX),
    file(&[".codex", "hooks.json"], CODEX),
    folder(&[".codex", "hooks"], CODEX),
    folder(&[".codex", "rules"], CODEX),
    folder(&["etc", "codex"], CODEX),
    file(&[".gemini", "settings.json"], GEMINI),
    file(&[".gemini", "trusted*.json"], GEMINI),
    folder(&[".gemini", "hooks"], GEMINI),
    folder(&[".gemini", "policies"], GEMINI),
    folder(&[".gemini", "extensions"], GEMINI),
    folder(&["etc", "gemini-cli"], GEMINI),
    folder(&[".github", "hooks"], COPILOT),
    folder(&[".github", "copilot"], COPILOT),
    file(&[".copilot", "*.json"], COPILOT),
    folder(&[".copilot", "hooks"], COPILOT),
    file(&[".vscode", "settings.json"], COPILOT),
    file(&[".cursor", "hooks.json"], CURSOR),
    folder(&[".cursor", "hooks"], CURSOR),
    file(&[".cursor", "cli*.json"], CURSOR),
    file(&[".cursor", "permissions.json"], CURSOR),
    folder(&["etc", "cursor"], CURSOR),
    file(&[".codebuddy", "settings*.json"], OTHER),
    folder(&[".codebuddy", "hooks"], OTHER),
    file(&[".grok", "*.json"], OTHER),
    folder(&[".grok", "hooks"], OTHER),
    file(&[".zcode", "*.json"], OTHER),
    folder(&[".zcode", "hooks"], OTHER),
    file(&[".dsh", "*.json"], OTHER),
    folder(&[".dsh", "hooks"], OTHER),
    file(&[".git"], GIT),
    file(&[".git", "config"], GIT),
    file(&[".git", "config.worktree"], GIT),
    file(&[".git", "commondir"], GIT),
    folder(&[".git", "hooks"], GIT),
    file(&[".git", "**", "config"], GIT),
    file(&[".git", "**", "config.worktree"], GIT),
    file(&[".git", "**", "commondir"], GIT),
    file(&[".git", "**", "gitdir"], GIT),
    folder(&[".git", "**", "hooks"], GIT),
];

/// What is protected on this machine beside the table.
#[derive(Debug, Clone)]
pub struct Protection {
    folders: Option<Folders>,
    program: Option<std::path::PathBuf>,
}

impl Protection {
    /// The user's folders, and the folder of the running program.
    pub fn new(folders: Option<Folders>) -> Protection {
        let program = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_path_buf));
        Protection { folders, program }
    }

    /// Why only a person may touch `file`; none when anybody may.
    pub fn objection(&self, file: &Spelled) -> Option<String> {
        let what = file.each().find_map(|path| self.kept(path))?;
        let path = rules::plain::plain(&paths::shown(&file.written), rules::plain::PATH);
        Some(format!("{path} is {what}: a person must change it, no agent may"))
    }

    fn kept(&self, path: &Path) -> Option<&'static str> {
        let names: Vec<String> = path
            .components()
            .filter_map(|part| match part {
                std::path::Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
                _ => None,
            })
            .collect();
        let listed =
            TABLE.iter().find(|kept| (0..names.len()).any(|start| stands(kept.parts, kept.below, &names[start..])));
        if let Some(kept) = listed {
            return Some(kept.what);
        }
        let own = |folder: &Path| path.starts_with(folder) || path.starts_with(paths::resolve(folder));
        if self.folders.iter().flat_map(Folders::all).any(own) {
            return Some("in a folder of Ruleline");
        }
        let beside =
            |folder: &Path| path.parent().is_some_and(|parent| parent == folder || parent == paths::resolve(folder));
        self.program.as_deref().is_some_and(beside).then_some("in the folder of the running Ruleline")
    }
}

/// Whether `names`, in lower case, begin with these parts and (unless everything below counts) end with them.
fn stands(parts: &[&str], below: bool, names: &[String]) -> bool {
    match parts.split_first() {
        None => below || names.is_empty(),
        // Only one `**` stands in any entry, so that this recursion is two deep.
        Some((&"**", rest)) => (0..names.len()).any(|skip| stands(rest, below, &names[skip..])),
        Some((part, rest)) => match names.split_first() {
            Some((name, others)) => fits(&part.to_lowercase(), name) && stands(rest, below, others),
            None => false,
        },
    }
}

/// `*` stands for any characters, at most once.
fn fits(part: &str, name: &str) -> bool {
    match part.split_once('*') {
        None => part == name,
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    fn spelled(path: &str) -> Spelled {
        Spelled { written: PathBuf::from(path), resolved: PathBuf::from(path) }
    }

    #[test]
    fn s11_what_is_protected_and_what_is_not() {
        let protection = Protection {
            folders: Some(Folders::below(Path::new("/home/me"))),
            program: Some("/opt/ruleline/bin".into()),
        };
        for path in [
            "/p/.claude/settings.json",
            "/p/.claude/settings.local.json",
            "/p/deep/er/.claude/settings.json",
            "/home/me/.claude/settings.json",
            "/p/.CLAUDE/Settings.JSON",
            "/p/.claude/hooks/a/b.sh",
            "/etc/claude-code/managed-settings.json",
            "/p/.codex/hooks.json",
            "/p/.codex/config.toml",
            "/p/.gemini/settings.json",
            "/p/.github/hooks/x.json",
            "/home/me/.copilot/config.json",
            "/p/.cursor/hooks.json",
            "/p/.vscode/settings.json",
            "/p/.ruleline/rules.toml",
            "/p/.ruleline/hooks/x/y.sh",
            "/p/.ruleline",
            "/p/.git",
            "/p/.git/config",
            "/p/.git/hooks/pre-commit",
            "/p/.git/worktrees/w/commondir",
            "/p/.git/modules/a/b/config",
            "/p/.git/modules/a/hooks/x",
            "/home/me/.config/ruleline/rules.toml",
            "/home/me/.local/state/ruleline/sessions/x",
            "/home/me/.cache/ruleline/x",
            "/opt/ruleline/bin/ruleline",
        ] {
            assert!(protection.objection(&spelled(path)).is_some(), "{path}");
        }
        for path in [
            "/p/src/main.rs",
            "/p/.claude/skills/x/SKILL.md",
            "/p/.claude/CLAUDE.md",
            "/p/claude/settings.json",
            "/p/.gitignore",
            "/p/.github/workflows/ci.yml",
            "/p/.git/info/exclude",
            "/p/.vscode/launch.json",
            "/p/settings.json",
            "/p/x.ruleline",
            "/p/hooks/pre-commit",
            "/p/config",
            "/opt/ruleline/bin/project/a.py",
        ] {
            assert_eq!(protection.objection(&spelled(path)), None, "{path}");
        }
    }

    #[test]
    fn s11_a_link_to_a_protected_file_is_protected() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join(".claude")).unwrap();
        symlink(base.join(".claude/settings.json"), base.join("notes.txt")).unwrap();
        symlink(base.join(".claude"), base.join("dir")).unwrap();
        let protection = Protection { folders: None, program: None };
        for path in ["notes.txt", "dir/settings.json"] {
            assert!(protection.objection(&Spelled::new(base.join(path))).is_some(), "{path}");
        }
    }
}
