//! The profile folder as the system has it, and folders below it.
//!
//! The places below `AppData` are fixed: the system makes those it would name from `USERPROFILE`, which a repository can
//! set through an agent's settings. Owners and access lists are not looked at; instead nothing is used but what lies in
//! the profile, which the system keeps from other users, and is reached without a link.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use known_folders::{KnownFolder, get_known_folder_path};

use super::{Account, Refused};
use crate::paths;

/// The user's own, the state, the cache and the runtime folder below the home.
pub(super) const LAYOUT: [&str; 4] = [
    "AppData/Roaming/ruleline",
    "AppData/Local/ruleline/state",
    "AppData/Local/ruleline/cache",
    "AppData/Local/ruleline/run",
];

/// Whose process this is; the name is that of the profile folder.
pub fn account() -> Option<Account> {
    let home = home().ok()?;
    let name = home.file_name()?.to_string_lossy().into_owned();
    Some(Account { name, home })
}

/// Users have no number here.
pub(crate) fn user() -> u32 {
    0
}

/// The profile folder.
pub(super) fn home() -> Result<PathBuf, Refused> {
    let found = get_known_folder_path(KnownFolder::Profile).map(|folder| paths::normalize(&folder));
    found.filter(|folder| paths::windows::is_on_a_drive(folder)).ok_or_else(|| Refused {
        folder: PathBuf::from("~"),
        why: "the system knows no profile folder on a local drive for this user".to_owned(),
    })
}

/// The runtime folder in use. Nothing is put there, as there is no socket.
pub(super) fn runtime_of(home: &Path) -> PathBuf {
    let [.., runtime] = LAYOUT;
    home.join(runtime)
}

/// Every runtime folder that may be in use.
pub(super) fn runtimes_of(home: &Path) -> [PathBuf; 1] {
    [runtime_of(home)]
}

/// Whether `folder` lies in the profile of this user, and it and every folder above it that exists is a real folder.
///
/// # Errors
/// [`Refused`] with the part that is wrong.
pub fn check(folder: &Path) -> Result<(), Refused> {
    let refuse = |part: &Path, what: &str| {
        let why = if part == folder { what.to_owned() } else { format!("{} {what}", part.display()) };
        Err(Refused { folder: folder.to_path_buf(), why })
    };
    if !paths::windows::is_on_a_drive(folder) || folder.components().any(|part| part == Component::ParentDir) {
        return refuse(folder, "is not an absolute path on a local drive");
    }
    let mut part = PathBuf::new();
    for component in folder.components() {
        part.push(component);
        if !part.has_root() {
            continue;
        }
        let found = match fs::symlink_metadata(&part) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return refuse(&part, &format!("cannot be looked at ({error})")),
        };
        if paths::windows::has_reparse_point(&found) {
            return refuse(&part, "is a link or mount");
        }
        if !found.is_dir() {
            return refuse(&part, "is no folder");
        }
    }
    if paths::resolve(folder).starts_with(paths::resolve(&home()?)) {
        return Ok(());
    }
    refuse(folder, "is not in the user's profile folder; who else can write elsewhere is not looked at on Windows")
}

/// Makes `folder` and what is missing above it, with the access list of the profile, and checks the result.
///
/// # Errors
/// [`Refused`] when it cannot be made or fails [`check`].
pub fn create_private(folder: &Path) -> Result<(), Refused> {
    check(folder)?;
    if let Err(error) = fs::create_dir_all(folder) {
        return Err(Refused { folder: folder.to_path_buf(), why: format!("cannot be made ({error})") });
    }
    check(folder)
}
