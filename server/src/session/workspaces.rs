//! The folders of the workspace: which one a file belongs to.
//!
//! Everything that is kept is kept by root. The longest root that holds a file wins; a file in none has no rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The roots, longest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workspaces {
    roots: Vec<Arc<Path>>,
}

impl Workspaces {
    /// Adds a folder; one that is there already is not added again.
    pub fn add(&mut self, folder: &Path) {
        let folder: Arc<Path> = system::paths::normalize(folder).into();
        if !self.roots.contains(&folder) {
            self.roots.push(folder);
            self.roots.sort_by_key(|root| std::cmp::Reverse(root.components().count()));
        }
    }

    /// Removes a folder.
    pub fn remove(&mut self, folder: &Path) {
        let folder = system::paths::normalize(folder);
        self.roots.retain(|root| **root != *folder);
    }

    /// The roots, longest first.
    pub fn roots(&self) -> &[Arc<Path>] {
        &self.roots
    }

    /// The roots as a list of paths.
    pub fn to_paths(&self) -> Vec<PathBuf> {
        self.roots.iter().map(|root| root.to_path_buf()).collect()
    }

    /// The root that a file belongs to: as its path is written, else with links resolved.
    pub fn root_of(&self, path: &Path) -> Option<Arc<Path>> {
        let holds = |path: &Path| self.roots.iter().find(|root| path.starts_with(root)).cloned();
        holds(&system::paths::normalize(path)).or_else(|| holds(&system::paths::resolve(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_root_wins() {
        let mut workspaces = Workspaces::default();
        for folder in ["/w", "/w/inner", "/w/inner/", "/other"] {
            workspaces.add(Path::new(folder));
        }
        assert_eq!(workspaces.roots().len(), 3);
        for (path, expected) in [
            ("/w/a.py", Some("/w")),
            ("/w/inner/a.py", Some("/w/inner")),
            ("/w/inner/../a.py", Some("/w")),
            ("/w/innermost/a.py", Some("/w")),
            ("/wider/a.py", None),
            ("/a.py", None),
        ] {
            assert_eq!(workspaces.root_of(Path::new(path)).as_deref(), expected.map(Path::new), "{path}");
        }
        workspaces.remove(Path::new("/w/inner"));
        assert_eq!(workspaces.root_of(Path::new("/w/inner/a.py")).as_deref(), Some(Path::new("/w")));
    }
}
