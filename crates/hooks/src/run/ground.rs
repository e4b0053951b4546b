//! What a repository may have put where it stands: no program, no folder of programs and no temporary folder is taken
//! from there.

use std::path::{Component, Path, PathBuf};

use system::paths::{self, Identity};

use super::Launch;

/// The folders of repositories.
pub(super) struct Ground {
    folders: Vec<PathBuf>,
    identities: Vec<Identity>,
}

impl Ground {
    /// The root of a launch and the other workspaces; beside the whole machine there is nothing.
    pub(super) fn of(launch: &Launch<'_>) -> Ground {
        let written = std::iter::once(launch.root).chain(launch.workspaces.iter().map(PathBuf::as_path));
        let written = written.filter(|folder| folder.parent().is_some());
        let folders: Vec<PathBuf> = written.flat_map(|folder| [folder.to_path_buf(), paths::resolve(folder)]).collect();
        let identities = folders.iter().filter_map(|folder| paths::identity(folder)).collect();
        Ground { folders, identities }
    }

    /// Whether a path is somebody else's, under whatever name: by its letters, behind its links, and by what stands there
    /// (another case, a second mount).
    pub(super) fn is_outside(&self, path: &Path) -> bool {
        if !is_steady(path) {
            return false;
        }
        let resolved = paths::resolve(path);
        let lies_in = |folder: &PathBuf| path.starts_with(folder) || resolved.starts_with(folder);
        let is_of_it = |part: &Path| paths::identity(part).is_some_and(|found| self.identities.contains(&found));
        !self.folders.iter().any(lies_in) && !resolved.ancestors().any(is_of_it)
    }
}

/// Whether a path means the same to the hook as it does here: absolute, without `..`, and not through what stands for the
/// process that asks (`/proc/self/cwd`, `/dev/fd/3`).
fn is_steady(path: &Path) -> bool {
    let moves = |folder: &str| cfg!(unix) && path.starts_with(folder);
    path.is_absolute() && !path.components().any(|it| it == Component::ParentDir) && !moves("/proc") && !moves("/dev")
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::Instant;

    use super::*;

    fn ground(root: &Path, workspaces: &[PathBuf]) -> Ground {
        Ground::of(&Launch {
            event: "PreToolUse",
            tools: &[],
            folder: root,
            root,
            workspaces,
            payload: "",
            deadline: Instant::now(),
            interpreters: &[],
        })
    }

    #[test]
    fn t08_nothing_of_the_repository_is_outside_under_any_name() {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        for folder in ["repo/bin", "repo/inner/.ruleline/hooks", "repo/inner/bin", "beside/bin", "repo2"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        symlink(base.join("repo/bin"), base.join("beside/link")).unwrap();
        let ground = ground(&base.join("repo/inner"), &[base.join("repo")]);
        for (path, expected) in [
            ("beside/bin", true),
            ("repo2", true),
            ("nowhere/yet", true),
            ("repo/inner", false),
            ("repo/inner/bin", false),
            ("repo/inner/not/yet", false),
            ("repo/bin", false),
            ("beside/link", false),
            ("beside/../beside/bin", false),
            ("repo/../beside", false),
        ] {
            assert_eq!(ground.is_outside(&base.join(path)), expected, "{path}");
        }
        for path in [
            "",
            ".",
            "bin",
            "./bin",
            "../bin",
            "/proc/self/cwd/bin",
            "/proc/thread-self/root",
            "/dev/fd/3",
            "//proc/self/cwd",
        ] {
            assert!(!ground.is_outside(Path::new(path)), "{path}");
        }
        assert!(ground.is_outside(Path::new("/usr/bin")));
        let second = Ground { folders: Vec::new(), identities: ground.identities };
        assert!(!second.is_outside(&base.join("repo/inner/bin")), "the folder itself is known, whatever its path");
    }

    #[test]
    fn the_whole_machine_is_nobodys_repository() {
        assert!(ground(Path::new("/"), &[]).is_outside(Path::new("/bin/sh")), "a container works in its root");
    }
}
