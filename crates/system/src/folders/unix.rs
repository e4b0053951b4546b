//! The user database, owners and modes.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use nix::unistd::{Uid, User};

use super::{Account, Refused};
use crate::looks;

/// The user's own, the state, the cache and the runtime folder below the home.
pub(super) const LAYOUT: [&str; 4] =
    [".config/ruleline", ".local/state/ruleline", ".cache/ruleline", ".local/run/ruleline"];

/// Whose process this is; none when the user database does not know, or knows no absolute home.
pub fn account() -> Option<Account> {
    let user = User::from_uid(Uid::current()).ok()??;
    user.dir.is_absolute().then_some(Account { name: user.name, home: user.dir })
}

/// The number of the user that runs this process.
pub(crate) fn user() -> u32 {
    Uid::current().as_raw()
}

/// The home folder, as the user database has it.
pub(super) fn home() -> Result<PathBuf, Refused> {
    account().map(|account| account.home).ok_or_else(|| {
        let why = format!("the user database has no home folder for user {}", Uid::current());
        Refused { folder: PathBuf::from("~"), why }
    })
}

/// The runtime folder in use, wherever the home is.
pub(super) fn runtime_of(home: &Path) -> PathBuf {
    let uid = Uid::current().as_raw();
    let [session, temporary] = runtimes_of(home);
    match session.parent().map(fs::symlink_metadata) {
        Some(Ok(found)) if found.is_dir() && found.uid() == uid => session,
        _ => temporary,
    }
}

/// Below the session's folder, else below the temporary one.
pub(super) fn runtimes_of(_home: &Path) -> [PathBuf; 2] {
    let uid = Uid::current().as_raw();
    [format!("/run/user/{uid}/ruleline"), format!("/tmp/ruleline-{uid}")].map(PathBuf::from)
}

/// Whether `folder` and every folder above it that exists is a real folder of ours or root's that others cannot write.
/// A sticky folder (`/tmp`) may stand above, and a link of root's directly below `/` (`/home`, `/tmp`) is the system's
/// own layout.
///
/// # Errors
/// [`Refused`] with the part that is wrong.
pub fn check(folder: &Path) -> Result<(), Refused> {
    check_owned(folder, user())
}

/// As [`check`], for a folder that belongs to the user `owner`.
///
/// # Errors
/// [`Refused`] with the part that is wrong.
pub fn check_owned(folder: &Path, owner: u32) -> Result<(), Refused> {
    let refuse = |part: &Path, what: &str| {
        let why = if part == folder { what.to_owned() } else { format!("{} {what}", part.display()) };
        Err(Refused { folder: folder.to_path_buf(), why })
    };
    if !folder.is_absolute() || folder.components().any(|part| part == Component::ParentDir) {
        return refuse(folder, "is not an absolute path");
    }
    let mut part = PathBuf::new();
    for (depth, component) in folder.components().enumerate() {
        part.push(component);
        let found = match looks::at(&part) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return refuse(&part, &format!("cannot be looked at ({error})")),
        };
        if found.is_symlink() {
            if depth == 1 && found.uid() == 0 && part != folder {
                continue;
            }
            return refuse(&part, "is a link");
        }
        if !found.is_dir() {
            return refuse(&part, "is no folder");
        }
        let last = part == folder;
        if found.uid() != owner && (last || found.uid() != 0) {
            return refuse(&part, &format!("belongs to user {}", found.uid()));
        }
        let mode = found.mode();
        let sticky = mode & 0o1000 != 0 && !last;
        if mode & 0o022 != 0 && !sticky && !(own_group(&found, owner) && mode & 0o002 == 0) {
            return refuse(&part, "can be written by others");
        }
    }
    Ok(())
}

/// Many systems give each user a group of the same number and a umask that lets it write; nobody else is in it.
fn own_group(found: &fs::Metadata, owner: u32) -> bool {
    owner != 0 && found.uid() == owner && found.gid() == owner
}

/// Makes `folder` and what is missing above it, all 0700, and checks the result.
///
/// # Errors
/// [`Refused`] when it cannot be made or fails [`check`].
pub fn create_private(folder: &Path) -> Result<(), Refused> {
    check(folder)?;
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    if let Err(error) = made {
        return Err(Refused { folder: folder.to_path_buf(), why: format!("cannot be made ({error})") });
    }
    check(folder)
}
