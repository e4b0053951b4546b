//! The store between real processes: several at once, and ones that are killed in the middle.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use hooks::grants::Record;
use hooks::{FOLDER, Grantor, Means, Snapshot, Standing, Store, Tree};

/// Where a child of this test finds its project; only a child has it.
const BASE: &str = "RULELINE_TEST_STORE";

struct Project {
    _keep: tempfile::TempDir,
    base: PathBuf,
}

impl Project {
    fn new() -> Project {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("root").join(FOLDER).join("lib")).unwrap();
        for (path, text) in [("hooks.yaml", "hooks:\n"), ("guard.sh", "exit 2\n"), ("lib/x.sh", "true\n")] {
            fs::write(base.join("root").join(FOLDER).join(path), text).unwrap();
        }
        Project { _keep: keep, base }
    }

    /// This test program once more, as one who works with the store for `rounds` rounds.
    fn start(&self, rounds: u32) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["a_person_at_work", "--exact", "--ignored"])
            .env(BASE, &self.base)
            .env("ROUNDS", rounds.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }
}

fn store(base: &Path) -> Store {
    Store::new(&base.join("state")).with_machine(&base.join("none"), 0)
}

fn grant(base: &Path) -> Result<hooks::Grant, hooks::grants::GrantError> {
    let root = base.join("root");
    let tree = Tree::read(&root).unwrap().unwrap();
    let by = Grantor { means: Means::Terminal, processes: vec!["a".repeat(300); 64] };
    store(base).grant(&root, &tree, tree.digest, &by, SystemTime::now())
}

#[test]
#[ignore = "what the children of the other tests do"]
fn a_person_at_work() {
    let Some(base) = std::env::var_os(BASE).map(PathBuf::from) else { return };
    let rounds: u32 = std::env::var("ROUNDS").unwrap().parse().unwrap();
    for _ in 0..rounds {
        // Two at once may refuse one another, which is an answer.
        let _ = grant(&base);
        assert!(store(&base).read(&base.join("root")).unwrap().is_some());
        store(&base).withdraw(&base.join("root"), SystemTime::now()).unwrap();
    }
}

#[test]
fn t12_processes_at_once_leave_a_whole_store() {
    let project = Project::new();
    let children: Vec<Child> = (0..4).map(|_| project.start(10)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let record = store(&project.base).read(&project.base.join("root")).unwrap();
    assert!(matches!(record, Some(Record::Withdrawn { .. })), "each of them took it back last");
    let left = fs::read_dir(project.base.join("state/snapshots")).unwrap().count();
    assert_eq!(left, 1, "one copy, nothing beside it");
}

#[test]
fn a_grant_survives_whoever_is_killed_over_it() {
    let project = Project::new();
    grant(&project.base).unwrap();
    let mut seen = 0;
    for round in 0..25 {
        let mut child = project.start(10_000);
        std::thread::sleep(Duration::from_millis(5 + round * 3));
        child.kill().unwrap();
        child.wait().unwrap();
        let root = project.base.join("root");
        match Standing::read(&store(&project.base), &root) {
            Standing::Trusted { grant } => {
                Snapshot::open(&project.base.join("state"), grant.digest).unwrap();
                seen += 1;
            }
            Standing::NotReviewed { last: Some(_), .. } => seen += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, 25);
    let grant = grant(&project.base).unwrap();
    Snapshot::open(&project.base.join("state"), grant.digest).unwrap();
}

#[test]
fn t22_an_untrust_of_another_process_counts_at_once() {
    let project = Project::new();
    grant(&project.base).unwrap();
    let root = project.base.join("root");
    let mine = store(&project.base);
    assert!(matches!(Standing::look(&mine, &root), Standing::Trusted { .. }));
    assert!(project.start(1).wait().unwrap().success());
    assert!(matches!(Standing::look(&mine, &root), Standing::NotReviewed { .. }));
}
