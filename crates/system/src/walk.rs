//! The files below a folder that git's ignore rules do not hide.
//!
//! No link is followed; `.git` is left out, other hidden files are not. What only this user ignores (a global ignore
//! file) changes nothing, so that the answer is the same on every machine. Opens nothing but ignore files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::ignored::Ignored;
use crate::roots;

/// Whoever is told what a walk comes upon.
pub trait Visitor {
    /// Whether there is reason to go on; asked at each folder.
    fn goes_on(&mut self) -> bool;
    /// A regular file.
    fn file(&mut self, path: PathBuf);
    /// A folder that cannot be read, and why, in one line.
    fn unread(&mut self, folder: &Path, why: String);
}

/// Walks below `top` and gives the repositories that it came upon, `top`'s own among them.
pub fn below(top: &Path, visitor: &mut dyn Visitor) -> BTreeSet<PathBuf> {
    let mut repositories = BTreeSet::new();
    if roots::enclosing(top).iter().any(|root| root.has_git) {
        repositories.insert(top.to_path_buf());
    }
    let mut pending = vec![(top.to_path_buf(), Ignored::above(top))];
    while let Some((folder, ignored)) = pending.pop() {
        if !visitor.goes_on() {
            break;
        }
        let ignored = match folder.join(".git").symlink_metadata() {
            Ok(_) => {
                repositories.insert(folder.clone());
                Ignored::of_repository(&folder)
            }
            Err(_) => ignored,
        };
        let ignored = ignored.and_of(&folder);
        let entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(error) => {
                visitor.unread(&folder, error.to_string());
                continue;
            }
        };
        for entry in entries.flatten().filter(|entry| entry.file_name() != ".git") {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !ignored.hides(&path, true) => pending.push((path, ignored.clone())),
                Ok(kind) if kind.is_file() && !ignored.hides(&path, false) => visitor.file(path),
                _ => {}
            }
        }
    }
    repositories
}
