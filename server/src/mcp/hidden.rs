//! Files that no tool tells of: such as hold secrets by their name, and those that the agent's own settings keep from it.

use std::path::Path;

use agents::settings::{self, Denied, From};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use system::open;

/// Names of files that hold secrets, in the syntax of ignore files.
const SECRETS: [&str; 22] = [
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".aws/credentials",
];

/// Largest settings file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// What is hidden below one root.
#[derive(Debug)]
pub struct Hidden {
    rules: Vec<Gitignore>,
}

impl Hidden {
    /// Below `root`, for an agent of the user whose home this is.
    pub fn new(root: &Path, home: Option<&Path>) -> Hidden {
        let secrets = SECRETS.iter().map(|&name| name.to_owned());
        let of_project = settings::OF_PROJECT.iter().map(|file| (root, Path::new(file)));
        let of_user = home.map(|home| (home, Path::new(settings::OF_USER)));
        let read = of_project.chain(of_user).filter_map(|(folder, file)| {
            let bytes = open::read_below(folder, file, LARGEST).ok()??;
            Some((folder, settings::unreadable(&bytes)))
        });
        let denied =
            read.flat_map(|(folder, all)| all.into_iter().filter_map(move |one| below(root, home, folder, &one)));
        let each = [secrets.collect::<Vec<_>>(), denied.collect()];
        Hidden { rules: each.iter().filter_map(|patterns| rules(root, patterns)).collect() }
    }

    /// Whether a file, by its path relative to the root, is hidden.
    pub fn hides(&self, path: &str) -> bool {
        self.rules.iter().any(|rules| matches!(rules.matched_path_or_any_parents(path, false), Match::Ignore(_)))
    }
}

/// A pattern as it counts below the root; none where it is about nothing there.
fn below(root: &Path, home: Option<&Path>, folder: &Path, denied: &Denied) -> Option<String> {
    let from = match denied.from {
        From::Anywhere => return Some(denied.pattern.clone()),
        From::Project => folder,
        From::Home => home?,
        From::Top => Path::new("/"),
    };
    let full = from.join(&denied.pattern);
    let relative = full.strip_prefix(root).ok()?.to_str()?;
    Some(format!("/{}", if cfg!(windows) { relative.replace('\\', "/") } else { relative.to_owned() }))
}

fn rules(root: &Path, patterns: &[String]) -> Option<Gitignore> {
    let mut rules = GitignoreBuilder::new(root);
    for pattern in patterns {
        // What is no pattern hides nothing, here and with the agent.
        let _ = rules.add_line(None, pattern);
    }
    rules.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s28_secrets_and_what_the_agent_may_not_read_are_hidden() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (root, home) = (base.join("home/work"), base.join("home"));
        for (path, deny) in [
            (root.join(".claude/settings.json"), r#"["Read(./private/**)", "Read(*.secret)"]"#),
            (root.join(".claude/settings.local.json"), r#"["Read(/local.py)"]"#),
            (
                home.join(".claude/settings.json"),
                r#"["Read(~/work/mine.py)", "Read(//etc/passwd)", "Read(~/.ssh/**)"]"#,
            ),
        ] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!(r#"{{"permissions": {{"deny": {deny}}}}}"#)).unwrap();
        }
        let hidden = Hidden::new(&root, Some(&home));
        for (path, expected) in [
            (".env", true),
            ("deploy/.env.production", true),
            (".env.example", false),
            ("keys/id_rsa", true),
            ("server.pem", true),
            (".aws/credentials", true),
            ("private/a/b.py", true),
            ("a/private/b.py", false),
            ("x/y.secret", true),
            ("local.py", true),
            ("a/local.py", false),
            ("mine.py", true),
            ("src/main.py", false),
            ("etc/passwd", false),
        ] {
            assert_eq!(hidden.hides(path), expected, "{path}");
        }
    }
}
