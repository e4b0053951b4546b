//! Trust: the cases of other systems, each as what it is here.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::SystemTime;

use hooks::standing::sentence;
use hooks::{FOLDER, Grantor, Means, Standing, Store, Tree, TreeDigest};
use serde_json::Value;

struct Project {
    _keep: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
    store: Store,
}

impl Project {
    fn new() -> Project {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        let store = Store::new(&base.join("state")).with_machine(&base.join("none"), 0);
        let project = Project { root: base.join("root"), _keep: keep, base, store };
        project.write("hooks.yaml", "hooks:\n");
        project.write("block-dangerous.sh", "exit 2\n");
        project.write("block-dangerous.ps1", "exit 2\n");
        project
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(FOLDER).join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn trust(&self) {
        let tree = Tree::read(&self.root).unwrap().unwrap();
        let by = Grantor { means: Means::Terminal, processes: Vec::new() };
        self.store.grant(&self.root, &tree, tree.digest, &by, SystemTime::now()).unwrap();
    }

    /// `trusted`, `not reviewed`, `refused`, or the changed files.
    fn standing(&self) -> String {
        match Standing::read(&self.store, &self.root) {
            Standing::Absent => "absent".to_owned(),
            Standing::NotReviewed { .. } => "not reviewed".to_owned(),
            Standing::Trusted { .. } => "trusted".to_owned(),
            Standing::Changed { changes, .. } => {
                changes.into_iter().map(|change| change.path).collect::<Vec<_>>().join(" ")
            }
            Standing::Refused { .. } => "refused".to_owned(),
            Standing::StoreLost { .. } => "lost".to_owned(),
        }
    }
}

/// What a case comes to.
type Check = fn(&Project);

/// Each case of the corpus; a comment says where we differ, and why.
const CASES: [(&str, Check); 17] = [
    ("S-digest-stable", |project| {
        let (one, two) = (Tree::read(&project.root).unwrap().unwrap(), Tree::read(&project.root).unwrap().unwrap());
        assert_eq!(one.digest, two.digest);
        let paths: Vec<_> = one.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["block-dangerous.ps1", "block-dangerous.sh", "hooks.yaml"]);
        assert!(one.files.iter().all(|file| file.sha256 == system::digest::sha256(&file.bytes)));
        assert_eq!(TreeDigest::parse(&one.digest.hex()), Some(one.digest));
    }),
    ("S-digest-nested-edit", |project| {
        project.write("lib/common.sh", "a");
        project.trust();
        project.write("lib/common.sh", "b");
        assert_eq!(project.standing(), "lib/common.sh");
    }),
    // Here the exec bit is part of what is trusted.
    ("S-digest-mode-change", |project| {
        project.trust();
        let script = project.at("block-dangerous.sh");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(project.standing(), "block-dangerous.sh");
    }),
    // Here a link refuses the whole folder.
    ("S-digest-symlink-script-HOLE", |project| {
        fs::create_dir_all(project.root.join("tools")).unwrap();
        fs::write(project.root.join("tools/x.sh"), "").unwrap();
        symlink("../../tools/x.sh", project.at("guard.sh")).unwrap();
        assert_eq!(project.standing(), "refused");
    }),
    // Here anything that is no file refuses the whole folder.
    ("S-digest-fifo", |project| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, project.at("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert_eq!(project.standing(), "refused");
    }),
    // Here the order is that of the bytes.
    ("S-digest-order", |project| {
        fs::remove_dir_all(project.at("")).unwrap();
        for name in ["B.sh", "a.sh", "_x", "lib", "Z", "\u{e4}", "hooks.yaml", ".hidden", "10", "9", "a-b", "ab", "a.b"]
        {
            project.write(name, "");
        }
        let tree = Tree::read(&project.root).unwrap().unwrap();
        let paths: Vec<_> = tree.files.iter().map(|file| file.path.clone()).collect();
        let sorted: Vec<_> = paths.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        assert_eq!(paths, sorted);
    }),
    ("S-trust_store-grant", |project| {
        project.trust();
        assert_eq!(project.standing(), "trusted");
    }),
    // Here a guard that went away is a change: it is missed.
    ("S-trust_store-emptied", |project| {
        project.trust();
        fs::remove_dir_all(project.at("")).unwrap();
        fs::create_dir(project.at("")).unwrap();
        assert_eq!(project.standing(), "block-dangerous.ps1 block-dangerous.sh hooks.yaml");
    }),
    ("S-trust_store-edit-manifest", |project| {
        project.trust();
        project.write("hooks.yaml", "hooks: {}\n");
        assert_eq!(project.standing(), "hooks.yaml");
    }),
    ("S-trust_store-add", |project| {
        project.trust();
        project.write("common.sh", "");
        assert_eq!(project.standing(), "common.sh");
    }),
    ("S-trust_store-remove", |project| {
        project.trust();
        fs::remove_file(project.at("block-dangerous.ps1")).unwrap();
        assert_eq!(project.standing(), "block-dangerous.ps1");
    }),
    ("S-trust_store-two-dirs", |project| {
        project.trust();
        let other = Project { root: project.base.join("other"), store: project.store.clone(), ..Project::new() };
        other.write("x.sh", "");
        other.trust();
        other.write("x.sh", "changed");
        assert_eq!((project.standing(), other.standing()), ("trusted".to_owned(), "x.sh".to_owned()));
    }),
    ("S-trust_store-untrust-never", |project| {
        assert_eq!(project.store.withdraw(&project.root, SystemTime::now()).unwrap(), None);
        assert_eq!(project.standing(), "not reviewed");
    }),
    // Here each root has a record of its own, which no other grant touches.
    ("S-trust_store-comments-survive", |project| {
        project.trust();
        let before = project.store.read(&project.root).unwrap();
        let other = Project { root: project.base.join("other"), store: project.store.clone(), ..Project::new() };
        other.write("x.sh", "");
        other.trust();
        assert_eq!(project.store.read(&project.root).unwrap(), before);
    }),
    ("S-trust_store-revert-edit", |project| {
        project.trust();
        project.write("block-dangerous.sh", "exit 0\n");
        assert_eq!(project.standing(), "block-dangerous.sh");
        project.write("block-dangerous.sh", "exit 2\n");
        assert_eq!(project.standing(), "trusted");
    }),
    // The same facts in our words: how many, where, that nothing ran, what to do.
    ("S-session_notice-0", |project| {
        let text = sentence(&Standing::read(&project.store, &project.root), &project.root).unwrap();
        for part in
            ["3 hook files", project.root.to_str().unwrap(), "never reviewed", "none of them runs", "hooks trust"]
        {
            assert!(text.contains(part), "{text}");
        }
    }),
    ("S-session_notice-1", |project| {
        for name in ["a", "b", "c", "d", "e"] {
            project.write(name, "1");
        }
        project.trust();
        for name in ["a", "b", "c", "d", "e"] {
            project.write(name, "2");
        }
        let text = sentence(&Standing::read(&project.store, &project.root), &project.root).unwrap();
        for part in ["changed since they were trusted", "(a, b, c, and 2 more)", "none of them runs", "hooks diff"] {
            assert!(text.contains(part), "{text}");
        }
    }),
];

#[test]
fn cases_of_the_corpus() {
    let all: Value = serde_json::from_str(include_str!("fixtures/script-hooks.json")).unwrap();
    let groups = ["digest", "trust_store", "session_notice"];
    let of_groups = all["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["group"].as_str().is_some_and(|group| groups.contains(&group)));
    let expected: BTreeSet<&str> = of_groups.map(|case| case["id"].as_str().unwrap()).collect();
    assert_eq!(CASES.iter().map(|(id, _)| *id).collect::<BTreeSet<_>>(), expected);
    for (id, case) in CASES {
        eprintln!("{id}");
        case(&Project::new());
    }
}
