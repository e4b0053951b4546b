//! Which files stand below folders: by git's ignore rules, with those that git tracks all the same (S26).
//!
//! Links are never followed out of the root they stand in. What `check` judges and what the editor counts are the files
//! found here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rules::plain::{self, plain};
use system::git::{self, GitError};
use system::paths;

use crate::stack::{Spelled, innermost};
use crate::subject::{Content, Subject};

/// How far a walk goes.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Most files.
    pub files: usize,
    /// Whether git is asked for the files that it tracks although they are ignored.
    pub asks_git: bool,
    /// Whether to go no further; asked at each folder.
    pub stop: &'a dyn Fn() -> bool,
}

impl Limits<'_> {
    /// To the end.
    pub const NONE: Limits<'static> = Limits { files: usize::MAX, asks_git: true, stop: &|| false };
}

/// How far a walk went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// To the end.
    #[default]
    Whole,
    /// There are more files than the limit.
    More,
    /// Until it was stopped.
    Stopped,
}

/// The files found, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Found {
    /// In the order of their paths.
    pub subjects: Vec<Subject>,
    /// Folders and files that could not be read.
    pub unread: Vec<Unread>,
    /// How far the walk went; where it did not go to the end, the files are some of all.
    pub extent: Extent,
}

/// A folder or file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// It.
    pub path: PathBuf,
    /// Why, in one line.
    pub why: String,
}

impl Unread {
    fn new(path: &Path, why: String) -> Unread {
        Unread { path: path.to_path_buf(), why }
    }
}

/// Where a file was come upon: the folder that was asked for, and the file in it.
type Place = (PathBuf, PathBuf);

/// The files that `asked` names: itself, or what stands below; the working folder when nothing is asked.
///
/// # Errors
/// In one line, which of `asked` is not there.
pub fn files(cwd: &Path, asked: &[PathBuf], limits: Limits<'_>) -> Result<Found, String> {
    let here = [cwd.to_path_buf()];
    let mut walk = Walk { limits, places: BTreeMap::new(), unread: Vec::new(), extent: Extent::Whole };
    for path in if asked.is_empty() { &here[..] } else { asked } {
        let written = paths::absolute(path);
        let shown = plain(&paths::shown(path), plain::PATH);
        let resolved = paths::resolve(&written);
        let metadata = resolved.metadata().map_err(|error| format!("{shown}: {error}"))?;
        let folder = if metadata.is_dir() { &written } else { written.parent().unwrap_or(&written) };
        let root = innermost(folder).unwrap_or_else(|| folder.to_path_buf());
        if !resolved.starts_with(paths::resolve(&root)) {
            walk.unread.push(Unread::new(&written, "a link leads out of the project to it".to_owned()));
        } else if metadata.is_dir() {
            walk.below(&resolved);
        } else {
            let name = resolved.file_name().map(PathBuf::from).unwrap_or_default();
            let folder = resolved.parent().unwrap_or(&resolved).to_path_buf();
            walk.add(resolved, (folder, name));
        }
    }
    let subjects = walk.places.into_iter().map(|(written, place)| subject(written, place)).collect();
    Ok(Found { subjects, unread: walk.unread, extent: walk.extent })
}

fn subject(path: PathBuf, (folder, relative): Place) -> Subject {
    Subject { file: Spelled::new(path), content: Content::Disk { folder, relative } }
}

/// A walk on its way.
struct Walk<'a> {
    limits: Limits<'a>,
    places: BTreeMap<PathBuf, Place>,
    unread: Vec<Unread>,
    extent: Extent,
}

impl Walk<'_> {
    /// Adds a file, unless there are enough.
    fn add(&mut self, path: PathBuf, place: Place) {
        if self.places.len() < self.limits.files || self.places.contains_key(&path) {
            self.places.insert(path, place);
        } else {
            self.extent = Extent::More;
        }
    }

    fn add_below(&mut self, folder: &Path, path: &Path) {
        if let Ok(relative) = path.strip_prefix(folder) {
            self.add(path.to_path_buf(), (folder.to_path_buf(), relative.to_path_buf()));
        }
    }

    /// Whether there is reason to go on.
    fn goes_on(&mut self) -> bool {
        if self.extent == Extent::Whole && (self.limits.stop)() {
            self.extent = Extent::Stopped;
        }
        self.extent == Extent::Whole
    }

    /// Adds the files below `top`.
    fn below(&mut self, top: &Path) {
        let repositories = system::walk::below(top, &mut Below { top, walk: self });
        if self.limits.asks_git {
            for root in &repositories {
                self.tracked(top, root);
            }
        }
    }

    /// Ignore rules hide files from the walk; what git tracks is judged all the same.
    fn tracked(&mut self, top: &Path, root: &Path) {
        if !self.goes_on() {
            return;
        }
        match git::tracked(root) {
            Ok(tracked) => {
                let paths = tracked.iter().map(|path| root.join(path));
                let files = paths.filter(|path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()));
                files.filter(|path| !behind_a_link(root, path)).for_each(|path| self.add_below(top, &path));
            }
            Err(error) if is_no_repository(&error) => {}
            Err(error) => {
                let why = format!("ignored files that git tracks are not known ({error})");
                self.unread.push(Unread::new(root, plain(&why, plain::WHY)));
            }
        }
    }
}

/// A walk below one of the folders that were asked for.
struct Below<'w, 'a> {
    top: &'w Path,
    walk: &'w mut Walk<'a>,
}

impl system::walk::Visitor for Below<'_, '_> {
    fn goes_on(&mut self) -> bool {
        self.walk.goes_on()
    }

    fn file(&mut self, path: PathBuf) {
        self.walk.add_below(self.top, &path);
    }

    fn unread(&mut self, folder: &Path, why: String) {
        self.walk.unread.push(Unread::new(folder, why));
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_walk_ends_at_its_limits_and_says_so() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for name in ["a", "b/c", "b/d", "e/f"] {
            let path = base.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        for (files, found, extent) in [(3, 3, Extent::More), (4, 4, Extent::Whole)] {
            let walked = super::files(&base, &[], Limits { files, ..Limits::NONE }).unwrap();
            assert_eq!((walked.subjects.len(), walked.extent), (found, extent), "{files}");
        }
        let walked = super::files(&base, &[], Limits { stop: &|| true, ..Limits::NONE }).unwrap();
        assert_eq!((walked.subjects.len(), walked.extent), (0, Extent::Stopped));
        let twice = super::files(&base, &[base.clone(), base.join("b")], Limits { files: 4, ..Limits::NONE }).unwrap();
        assert_eq!((twice.subjects.len(), twice.extent), (4, Extent::Whole), "a file that is there already is no more");
        assert!(super::files(&base, &[base.join("gone")], Limits::NONE).unwrap_err().contains("gone"));
    }
}
