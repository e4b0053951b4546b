//! Which files stand below folders: by git's ignore rules, with those that git tracks all the same (S26).
//!
//! Links are never followed out of the root they stand in; `.git` is left out, other hidden files are not. What only
//! this user ignores (a global ignore file) changes nothing, so that the answer is the same on every machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use guard::Spelled;
use guard::stack::innermost;
use rules::plain::{self, plain};
use system::git::{self, GitError};
use system::{paths, roots};

use super::Refusal;
use super::ignored::Ignored;
use super::report::Open;
use super::subject::{Content, Subject};

/// The files found, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Found {
    /// In the order of their paths.
    pub subjects: Vec<Subject>,
    /// Folders and files that could not be read.
    pub open: Vec<Open>,
}

/// A file as it was come upon: the folder that was asked for, and the file in it.
type Place = (PathBuf, PathBuf);

/// The files that `asked` names: itself, or what stands below; the working folder when nothing is asked.
pub fn files(cwd: &Path, asked: &[PathBuf]) -> Result<Found, Refusal> {
    let here = [cwd.to_path_buf()];
    let mut places = BTreeSet::new();
    let mut found = Found::default();
    for path in if asked.is_empty() { &here[..] } else { asked } {
        let written = paths::absolute(path);
        let shown = plain(&paths::shown(path), plain::PATH);
        let resolved = paths::resolve(&written);
        let metadata = resolved.metadata().map_err(|error| format!("{shown}: {error}"))?;
        let parent = written.parent().unwrap_or(&written);
        let root = innermost(parent).unwrap_or_else(|| parent.to_path_buf());
        let is_link = written.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        if is_link && !resolved.starts_with(paths::resolve(&root)) {
            found.open.push(Open::of_path(&written, "it is a link that leads out of the project".to_owned()));
        } else if metadata.is_dir() {
            below(&resolved, &mut places, &mut found.open);
        } else {
            let name = resolved.file_name().map(PathBuf::from).unwrap_or_default();
            let folder = resolved.parent().unwrap_or(&resolved).to_path_buf();
            places.insert((resolved.clone(), (folder, name)));
        }
    }
    found.subjects = places.into_iter().map(|(written, place)| subject(written, place)).collect();
    Ok(found)
}

fn subject(path: PathBuf, (folder, relative): Place) -> Subject {
    Subject { file: Spelled::new(path), content: Content::Disk { folder, relative } }
}

/// Adds the files below `folder`.
fn below(folder: &Path, places: &mut BTreeSet<(PathBuf, Place)>, open: &mut Vec<Open>) {
    let mut add = |path: &Path| {
        if let Ok(relative) = path.strip_prefix(folder) {
            places.insert((path.to_path_buf(), (folder.to_path_buf(), relative.to_path_buf())));
        }
    };
    let mut repositories = BTreeSet::new();
    if roots::enclosing(folder).iter().any(|root| root.has_git) {
        repositories.insert(folder.to_path_buf());
    }
    let mut pending = vec![(folder.to_path_buf(), Ignored::above(folder))];
    while let Some((folder, ignored)) = pending.pop() {
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
                open.push(Open::of_path(&folder, error.to_string()));
                continue;
            }
        };
        for entry in entries.flatten().filter(|entry| entry.file_name() != ".git") {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !ignored.hides(&path, true) => pending.push((path, ignored.clone())),
                Ok(kind) if kind.is_file() && !ignored.hides(&path, false) => add(&path),
                _ => {}
            }
        }
    }
    // Ignore rules hide files from the walk; what git tracks is judged all the same.
    for root in repositories {
        match git::tracked(&root) {
            Ok(tracked) => {
                let paths = tracked.iter().map(|path| root.join(path));
                let files = paths.filter(|path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()));
                files.filter(|path| !behind_a_link(&root, path)).for_each(|path| add(&path));
            }
            Err(error) if is_no_repository(&error) => {}
            Err(error) => {
                let why = format!("ignored files that git tracks are not known ({error})");
                open.push(Open::of_path(&root, plain(&why, plain::WHY)));
            }
        }
    }
}

/// Whether a folder between `root` and the file is a link by now: what git tracks there is not on disk.
fn behind_a_link(root: &Path, path: &Path) -> bool {
    let between = path.ancestors().skip(1).take_while(|folder| *folder != root && folder.starts_with(root));
    between.into_iter().any(|folder| folder.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()))
}

/// A `.git` that is no repository is nobody's.
fn is_no_repository(error: &GitError) -> bool {
    match error {
        GitError::Failed { message, .. } => message.contains("not a git repository"),
        _ => false,
    }
}
