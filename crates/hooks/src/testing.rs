//! A project, a state folder and a person, for the tests of this crate.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{FOLDER, Grant, Grantor, Means, Store, Tree};
use system::digest::key;

pub(crate) struct Project {
    _keep: tempfile::TempDir,
    pub root: PathBuf,
    pub state: PathBuf,
    pub store: Store,
}

/// A time so many seconds after one that is fixed.
pub(crate) fn later(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_796_097_840 + seconds)
}

pub(crate) fn by() -> Grantor {
    Grantor { means: Means::Terminal, processes: vec!["zsh".to_owned(), "sshd".to_owned()] }
}

impl Project {
    pub fn with(files: &[(&str, &str)]) -> Project {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        let state = base.join("state");
        let store = Store::new(&state).with_machine(&base.join("none"), 0);
        let project = Project { _keep: keep, root: base.join("root"), state, store };
        fs::create_dir_all(project.root.join(FOLDER)).unwrap();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(FOLDER).join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).unwrap();
    }

    pub fn tree(&self) -> Tree {
        Tree::read(&self.root).unwrap().unwrap()
    }

    /// A person reviews and trusts what is there.
    pub fn trust(&self, at: SystemTime) -> Grant {
        let tree = self.tree();
        self.store.grant(&self.root, &tree, tree.digest, &by(), at).unwrap()
    }

    /// A copy of the root's hooks in another root.
    pub fn beside(&self, name: &str) -> PathBuf {
        let other = self.root.parent().unwrap().join(name);
        fs::create_dir_all(other.join(FOLDER)).unwrap();
        for file in &self.tree().files {
            let at = other.join(FOLDER).join(&file.path);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, &file.bytes).unwrap();
        }
        other
    }

    /// The file that holds the grant of the root.
    pub fn record(&self) -> PathBuf {
        self.state.join("grants").join(format!("{}.json", key(&self.root)))
    }

    pub fn snapshot(&self, grant: &Grant) -> PathBuf {
        self.state.join("snapshots").join(grant.digest.hex())
    }

    pub fn session(&self, name: &str) -> PathBuf {
        self.state.join("sessions").join(name)
    }
}
