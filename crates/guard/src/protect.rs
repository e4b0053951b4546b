//! Self-protection (S11): what a person must do and no agent may, whatever the rules say.
//!
//! One table of paths: settings and hook files of the agents, Ruleline's own folders and program, what steers git. A
//! path is tried as written and with links resolved, in any case of letters. Nothing switches this off.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use system::{Folders, looks, paths};

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

const RULEBOOK: &str = "a rulebook";
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
    file(&[".claude", "*rules.toml"], RULEBOOK),
    file(&[".claude", "*rules.json"], RULEBOOK),
    folder(&[".claude", "hooks"], CLAUDE),
    folder(&[".claude", "plugins"], CLAUDE),
    file(&[".claude.json"], CLAUDE),
    folder(&["claude-code", "managed-settings.d"], CLAUDE),
    file(&["claude-code", "managed-settings.json"], CLAUDE),
    folder(&["claudecode"], CLAUDE),
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

/// Where the table's files stand below a root and below the home folder; a link in their place, or another name of
/// theirs, does not take the protection away.
const PLACES: &[(&str, &[&str])] = &[
    (".ruleline", &["rules.toml", "rules.json", "config.toml"]),
    (".claude", &["settings.json", "settings.local.json", "hooks"]),
    (".codex", &["config.toml", "hooks.json", "hooks", "rules"]),
    (".gemini", &["settings.json", "hooks"]),
    (".copilot", &["config.json", "hooks"]),
    (".cursor", &["hooks.json", "hooks"]),
    (".github", &["hooks", "copilot"]),
    (".vscode", &["settings.json"]),
    (".git", &["config", "hooks"]),
];

/// What the folders of the user stand in.
const OWN_ABOVE: [&str; 6] = [".config", "state", ".cache", "run", "roaming", "local"];

/// Whether a text may name something of the table or a folder of ours; a scan of its bytes.
pub fn may_name(text: &str) -> bool {
    let has = |part: &str| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some();
    TABLE.iter().filter_map(|kept| kept.parts.first()).any(|part| has(part))
}

/// Whether a folder may lie in something of the table or in a folder of ours; a look at its names.
pub fn may_lie_in(folder: &Path) -> bool {
    let mut before = String::new();
    folder.components().any(|part| {
        let name = part.as_os_str().to_string_lossy().to_lowercase();
        let ours = name == "ruleline" && OWN_ABOVE.contains(&before.as_str());
        let listed = TABLE.iter().any(|kept| kept.parts.first().is_some_and(|first| *first == name));
        before = name;
        ours || listed
    })
}

/// What is protected on this machine beside the table.
#[derive(Debug, Clone)]
pub struct Protection {
    home: Option<PathBuf>,
    folders: Vec<PathBuf>,
    /// Looked up when it is first asked for.
    program: OnceCell<Option<PathBuf>>,
    rulebook: Option<PathBuf>,
}

impl Protection {
    /// The user's folders, the folder of the running program, and the rulebook of the command line.
    pub fn new(folders: Option<&Folders>, rulebook: Option<PathBuf>) -> Protection {
        let home = folders.map(|folders| folders.home.clone());
        Protection { home, folders: folders.map(Folders::all).unwrap_or_default(), program: OnceCell::new(), rulebook }
    }

    /// Why only a person may touch `file`; none when anybody may. `roots` are those whose files may be linked to it.
    pub fn objection(&self, file: &Spelled, roots: &[&Path]) -> Option<String> {
        let what = file.each().find_map(|path| self.kept(path)).or_else(|| self.kept_elsewhere(file, roots))?;
        let path = rules::plain::plain(&paths::shown(&file.written), rules::plain::PATH);
        Some(format!("{path} is {what}: a person must change it, no agent may"))
    }

    /// Why only a person may touch all that stands below `folder`: the settings, the sessions and the grants do.
    pub fn objection_to_all_below(&self, folder: &Spelled) -> Option<String> {
        let holds =
            |path: &Path| self.folders.iter().any(|own| own.starts_with(path) || paths::resolve(own).starts_with(path));
        let found = folder.each().any(holds);
        let path = rules::plain::plain(&paths::shown(&folder.written), rules::plain::PATH);
        found.then(|| format!("{path} holds a folder of Ruleline: a person must change it, no agent may"))
    }

    /// The folder of the running program.
    fn program(&self) -> Option<&Path> {
        let folder = || std::env::current_exe().ok()?.parent().map(Path::to_path_buf);
        self.program.get_or_init(folder).as_deref()
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
        let own = |folder: &PathBuf| path.starts_with(folder) || path.starts_with(paths::resolve(folder));
        if self.folders.iter().any(own) {
            return Some("in a folder of Ruleline");
        }
        if self.rulebook.as_ref().is_some_and(|book| path == book || path == paths::resolve(book)) {
            return Some(RULEBOOK);
        }
        let beside =
            |folder: &Path| path.parent().is_some_and(|parent| parent == folder || parent == paths::resolve(folder));
        self.program().is_some_and(beside).then_some("in the folder of the running Ruleline")
    }
}

impl Protection {
    /// Whether a file of the table is a link to `file`, or another name of it.
    fn kept_elsewhere(&self, file: &Spelled, roots: &[&Path]) -> Option<&'static str> {
        let identity = paths::identity(&file.resolved).filter(|found| found.names > 1);
        // `Some` of what it is, if `place` leads to the file.
        let leads = |place: &Path, found: &fs::Metadata| {
            if found.is_symlink() {
                let below = file.resolved.strip_prefix(paths::resolve(place)).ok()?;
                return self.kept(&if below.as_os_str().is_empty() { place.to_path_buf() } else { place.join(below) });
            }
            let same = found.is_file() && identity.is_some() && identity == paths::identity(place);
            same.then(|| self.kept(place)).flatten()
        };
        let mut bases: Vec<&Path> = roots.iter().copied().chain(self.home.as_deref()).collect();
        bases.sort_unstable();
        bases.dedup();
        bases.into_iter().find_map(|base| {
            PLACES.iter().find_map(|(folder, inside)| {
                let folder = base.join(folder);
                let found = looks::at(&folder).ok()?;
                leads(&folder, &found).or_else(|| {
                    inside.iter().find_map(|name| {
                        let place = folder.join(name);
                        leads(&place, &looks::at(&place).ok()?)
                    })
                })
            })
        })
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
    use std::os::unix::fs::symlink;

    use super::*;

    fn spelled(path: &str) -> Spelled {
        Spelled { written: PathBuf::from(path), resolved: PathBuf::from(path) }
    }

    #[test]
    fn s11_what_is_protected_and_what_is_not() {
        let state = Path::new("/elsewhere/state").to_path_buf();
        let folders = Folders { state, ..Folders::below(Path::new("/home/me")) };
        let program = OnceCell::from(Some("/opt/ruleline/bin".into()));
        let rulebook = Some("/p/the.book".into());
        let protection = Protection { program, ..Protection::new(Some(&folders), rulebook) };
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
            "/elsewhere/state/sessions/x",
            "/opt/ruleline/bin/ruleline",
            "/p/.claude/my-rules.toml",
            "/p/the.book",
        ] {
            assert!(protection.objection(&spelled(path), &[]).is_some(), "{path}");
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
            assert_eq!(protection.objection(&spelled(path), &[]), None, "{path}");
        }
    }

    #[test]
    fn s11_a_link_to_a_protected_file_is_protected() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join(".claude")).unwrap();
        symlink(base.join(".claude/settings.json"), base.join("notes.txt")).unwrap();
        symlink(base.join(".claude"), base.join("dir")).unwrap();
        let protection = Protection::new(None, None);
        for path in ["notes.txt", "dir/settings.json"] {
            assert!(protection.objection(&Spelled::new(base.join(path)), &[]).is_some(), "{path}");
        }
    }

    #[test]
    fn s11_what_a_protected_name_is_linked_to_is_protected() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for folder in ["root/.codex", "root/dots", "home/dots", "home/.claude"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        symlink("dots", base.join("root/.claude")).unwrap();
        symlink("../dots/mine.json", base.join("home/.claude/settings.json")).unwrap();
        fs::write(base.join("root/.codex/config.toml"), "").unwrap();
        fs::hard_link(base.join("root/.codex/config.toml"), base.join("root/free.toml")).unwrap();
        fs::write(base.join("root/a"), "").unwrap();
        fs::hard_link(base.join("root/a"), base.join("root/b")).unwrap();
        let protection = Protection { home: Some(base.join("home")), ..Protection::new(None, None) };
        for (path, kept) in [
            ("root/dots/settings.json", true),
            ("root/dots/hooks/a.sh", true),
            ("root/dots/notes.md", false),
            ("home/dots/mine.json", true),
            ("home/dots/other.json", false),
            ("root/free.toml", true),
            ("root/b", false),
        ] {
            let objection = protection.objection(&Spelled::new(base.join(path)), &[&base.join("root")]);
            assert_eq!(objection.is_some(), kept, "{path}: {objection:?}");
        }
    }
}
