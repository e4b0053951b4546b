//! The roots a file lies in: folders upwards that hold `.git` or `.ruleline`, and the main checkout of a linked
//! worktree.
//!
//! Only names and two small files are looked at; no git process runs. What is found is as hostile as its repository.

use std::path::{Path, PathBuf};

use crate::open::read_below;
use crate::{looks, paths};

/// The longest path that is looked at, in bytes: the system opens none longer.
const LONGEST: usize = 4096;
/// Size of a `.git` or `commondir` file, in bytes.
const POINTER: u64 = 4096;

/// One root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The folder.
    pub path: PathBuf,
    /// It holds `.ruleline/`.
    pub has_ruleline: bool,
    /// It holds `.git`, a folder or a file.
    pub has_git: bool,
    /// Its `.git` is a file, as in a linked worktree: there may be a [`main_checkout`].
    pub may_be_linked: bool,
}

/// Every root from `folder` upwards, itself included, innermost first.
pub fn enclosing(folder: &Path) -> Vec<Root> {
    look_at_all(folder.ancestors()).collect()
}

/// The innermost root that holds `folder`; nothing above it is looked at.
pub fn innermost(folder: &Path) -> Option<Root> {
    look_at_all(folder.ancestors()).next()
}

/// As [`enclosing`], where those of the folder `known` are known: what holds that folder too is not looked at again.
pub fn enclosing_within(folder: &Path, known: &Path, roots: &[Root]) -> Vec<Root> {
    let shared = |root: &&Root| folder.starts_with(&root.path);
    look_at_all(folder.ancestors().filter(|part| !known.starts_with(part)))
        .chain(roots.iter().filter(shared).cloned())
        .collect()
}

fn look_at_all<'a>(folders: impl Iterator<Item = &'a Path>) -> impl Iterator<Item = Root> {
    let looked_at = folders.filter(|folder| folder.as_os_str().len() <= LONGEST).map(look_at);
    looked_at.filter(|root| root.has_ruleline || root.has_git)
}

fn look_at(folder: &Path) -> Root {
    let git = looks::at(&folder.join(".git")).ok();
    Root {
        has_ruleline: looks::at(&folder.join(".ruleline")).is_ok(),
        has_git: git.is_some(),
        may_be_linked: git.is_some_and(|git| git.is_file()),
        path: folder.to_path_buf(),
    }
}

/// The folder of the main checkout when `root` is a linked worktree; none otherwise, and for a bare main repository.
pub fn main_checkout(root: &Path) -> Option<PathBuf> {
    let pointer = one_line(root, ".git")?;
    let git_dir = paths::normalize(&root.join(pointer.strip_prefix("gitdir:")?.trim()));
    let common = one_line(&git_dir, "commondir")?;
    let common = paths::normalize(&git_dir.join(common.trim()));
    let main = common.file_name().is_some_and(|name| name == ".git").then(|| common.parent()).flatten()?;
    (main != root).then(|| main.to_path_buf())
}

fn one_line(folder: &Path, name: &str) -> Option<String> {
    let bytes = read_below(folder, Path::new(name), POINTER).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn s05_roots_are_found_innermost_first() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("out/.ruleline")).unwrap();
        fs::create_dir_all(base.join("out/in/.git")).unwrap();
        fs::create_dir_all(base.join("out/in/a/b")).unwrap();
        let found: Vec<_> = enclosing(&base.join("out/in/a/b")).into_iter().map(|root| root.path).collect();
        assert_eq!(found[..2], [base.join("out/in"), base.join("out")]);
        let found = enclosing(&base.join("out/in/none/yet"));
        assert!(
            found[0].has_git && !found[0].has_ruleline,
            "a folder that is not there yet lies in its parents' roots"
        );
        let deep = enclosing(&base.join("out").join("d/".repeat(1000)));
        assert_eq!(deep[0].path, base.join("out"), "no depth leads out of a root");
    }

    #[test]
    fn s05_roots_from_a_known_folder_upwards_are_the_same() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for root in ["a/.git", "a/b/.ruleline", "a/b/c/d/.git", "x/.git"] {
            fs::create_dir_all(base.join(root)).unwrap();
        }
        let known = base.join("a/b");
        for folder in ["a/b", "a/b/c", "a/b/c/d", "a/b/c/d/none/yet", "a", "x", "a/bc"] {
            let folder = base.join(folder);
            assert_eq!(enclosing_within(&folder, &known, &enclosing(&known)), enclosing(&folder), "{folder:?}");
        }
    }

    #[test]
    fn s05_a_linked_worktree_knows_its_main_checkout() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let git_dir = base.join("main/.git/worktrees/w");
        fs::create_dir_all(&git_dir).unwrap();
        fs::write(git_dir.join("commondir"), "../..\n").unwrap();
        fs::create_dir_all(base.join("w")).unwrap();
        for pointer in [format!("gitdir: {}\n", git_dir.display()), "gitdir: ../main/.git/worktrees/w".to_owned()] {
            fs::write(base.join("w/.git"), pointer).unwrap();
            assert_eq!(main_checkout(&base.join("w")), Some(base.join("main")));
        }
        assert_eq!(main_checkout(&base.join("main")), None, "a .git folder is no pointer");
        for hostile in ["", "gitdir:", "gitdir: /nowhere", &"gitdir: x".repeat(1000)] {
            fs::write(base.join("w/.git"), hostile).unwrap();
            assert_eq!(main_checkout(&base.join("w")), None, "{hostile:.20}");
        }
    }
}
