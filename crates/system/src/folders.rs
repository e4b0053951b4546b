//! The user's folders, found in the user database and never in the environment (S1, S3).
//!
//! A folder is used only if nobody else can put something in its place: it and every folder above it are real folders,
//! owned by the user or root, and not writable by others. Nothing is created but by [`create_private`].

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub(crate) use platform::user;
pub use platform::{account, check, create_private};
#[cfg(unix)]
pub use unix::check_owned;

/// Why a folder is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{folder} is not used: {why}", folder = .folder.display())]
pub struct Refused {
    /// The folder that was asked for.
    pub folder: PathBuf,
    /// Which part is wrong, and how, in one line.
    pub why: String,
}

/// Whose process this is, as the user database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The name a person logs in with.
    pub name: String,
    /// The home folder.
    pub home: PathBuf,
}

/// Where this user's things live. The paths are absolute; they need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// The home folder, as the user database has it.
    pub home: PathBuf,
    /// `config.toml`, `rules.toml`, `hooks/`.
    pub user: PathBuf,
    /// Sessions, grants, records.
    pub state: PathBuf,
    /// What can be computed again.
    pub cache: PathBuf,
    /// Endpoints of running servers.
    pub runtime: PathBuf,
}

impl Folders {
    /// The folders of the user that runs this process; `state` takes the place of the state folder, and holds the
    /// endpoints and the cache too, so that a hook and a server with a state folder of their own meet nobody else.
    ///
    /// # Errors
    /// The user database has no absolute home folder for this user.
    pub fn find(state: Option<&Path>) -> Result<Folders, Refused> {
        let home = platform::home()?;
        let folders = Folders { runtime: platform::runtime_of(&home), ..Folders::below(&home) };
        Ok(match state {
            Some(state) => folders.with_state(state),
            None => folders,
        })
    }

    /// The same with another state folder, which holds the endpoints and the cache too.
    #[must_use]
    pub fn with_state(self, state: &Path) -> Folders {
        let state = crate::paths::absolute(state);
        Folders { runtime: state.join("run"), cache: state.join("cache"), state, ..self }
    }

    /// The folders of a user whose home is `home`, the runtime folder among them.
    pub fn below(home: &Path) -> Folders {
        let [user, state, cache, runtime] = platform::LAYOUT.map(|folder| home.join(folder));
        Folders { home: home.to_path_buf(), user, state, cache, runtime }
    }

    /// All of them, for whoever protects them: those in use, and those that are used unless the command line says
    /// otherwise.
    pub fn all(&self) -> Vec<PathBuf> {
        let usual = Folders::below(&self.home);
        let mut all = vec![self.user.clone(), self.state.clone(), self.cache.clone(), self.runtime.clone()];
        let others = [usual.state, usual.cache].into_iter().chain(platform::runtimes_of(&self.home));
        for folder in others {
            if !all.contains(&folder) {
                all.push(folder);
            }
        }
        all
    }

    /// Whether `folder` may be used by someone who works in `workspaces`. A workspace that is the home folder, or holds
    /// it, is not counted for the folders below the home: keeping one's home in git gives nobody else a say in it.
    ///
    /// # Errors
    /// [`Refused`] when it lies in a workspace, or as [`check`].
    pub fn admit(&self, folder: &Path, workspaces: &[PathBuf]) -> Result<(), Refused> {
        let own = folder.starts_with(&self.home);
        let inside = workspaces
            .iter()
            .find(|workspace| folder.starts_with(workspace) && !(own && self.home.starts_with(workspace)));
        if let Some(workspace) = inside {
            let why = format!("it lies in the workspace {}", workspace.display());
            return Err(Refused { folder: folder.to_path_buf(), why });
        }
        check(folder)
    }
}

/// A name that is one path component and nothing else: no separator, no `.` or `..`, not empty.
pub fn is_plain_name(name: &OsStr) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(only)), None) if only == name)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use nix::unistd::{Uid, User};

    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap();
        (temp, path)
    }

    #[test]
    fn s01_folders_come_from_the_user_database() {
        let home = User::from_uid(Uid::current()).unwrap().unwrap().dir;
        let found = Folders::find(None).unwrap();
        assert_eq!(found.user, home.join(".config/ruleline"));
        assert_eq!(found.state, home.join(".local/state/ruleline"));
        assert!(found.runtime.starts_with("/run/user") || found.runtime.starts_with("/tmp"));
        let own = Folders::find(Some(Path::new("/own"))).unwrap();
        assert_eq!(
            own,
            Folders { state: "/own".into(), cache: "/own/cache".into(), runtime: "/own/run".into(), ..found }
        );
    }

    #[test]
    fn s01_links_and_folders_open_to_others_are_refused() {
        let (_keep, base) = folder();
        let open = base.join("open");
        fs::create_dir_all(open.join("below")).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        fs::create_dir(base.join("real")).unwrap();
        symlink(base.join("real"), base.join("link")).unwrap();
        fs::write(base.join("file"), "").unwrap();
        for (path, why) in [
            ("link", "is a link"),
            ("link/below", "is a link"),
            ("open", "can be written by others"),
            ("open/below", "can be written by others"),
            ("open/not/there", "can be written by others"),
            ("file", "is no folder"),
            ("file/below", "is no folder"),
        ] {
            let refused = check(&base.join(path)).unwrap_err();
            assert!(refused.why.ends_with(why), "{path}: {refused}");
        }
        for path in ["real", "real/not/there"] {
            assert_eq!(check(&base.join(path)), Ok(()), "{path}");
        }
        assert!(check(Path::new("relative")).is_err());
        assert!(check(&base.join("real/../real")).is_err());
    }

    #[test]
    fn s01_a_sticky_parent_is_allowed_above_but_not_as_the_folder() {
        let (_keep, base) = folder();
        let sticky = base.join("sticky");
        fs::create_dir_all(sticky.join("own")).unwrap();
        fs::set_permissions(&sticky, fs::Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(check(&sticky.join("own")), Ok(()));
        assert!(check(&sticky).is_err());
    }

    #[test]
    fn s03_a_state_folder_in_a_workspace_is_refused() {
        let (_keep, base) = folder();
        let folders = Folders { state: base.join("work/state"), ..Folders::below(&base) };
        assert!(folders.admit(&folders.state, &[base.join("elsewhere")]).is_ok());
        assert!(folders.admit(&folders.state, &[base.join("work")]).is_err());
        assert!(
            folders.admit(&folders.state, std::slice::from_ref(&base)).is_ok(),
            "a home kept in git is still a home"
        );
    }

    #[test]
    fn private_folders_are_made_for_the_owner_alone() {
        let (_keep, base) = folder();
        let made = base.join("a/b");
        create_private(&made).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
        create_private(&made).unwrap();
    }

    #[test]
    fn a_plain_name_is_one_component() {
        for (name, plain) in [("a", true), ("", false), (".", false), ("..", false), ("a/b", false), ("a/", false)] {
            assert_eq!(is_plain_name(OsStr::new(name)), plain, "{name:?}");
        }
    }
}
