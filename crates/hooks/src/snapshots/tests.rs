use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::testing::{Project, later};

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_snapshot_holds_the_bytes_and_lets_nobody_write() {
    let project = Project::with(&[("guard.sh", "g"), ("lib/deep/x.sh", "x")]);
    chmod(&project.at("guard.sh"), 0o777);
    let tree = project.tree();
    let written = Snapshot::write(&project.state, &tree).unwrap();
    assert_eq!(written.folder, project.state.join("snapshots").join(tree.digest.hex()));
    assert_eq!(written.tree.digest, tree.digest);
    for (path, bits) in
        [("", 0o700), ("guard.sh", 0o500), ("lib", 0o700), ("lib/deep", 0o700), ("lib/deep/x.sh", 0o400)]
    {
        assert_eq!(mode(&written.folder.join(path)), bits, "{path}");
    }
    assert_eq!(mode(&project.state.join("snapshots")), 0o700);
    let again = Snapshot::write(&project.state, &tree).unwrap();
    assert_eq!(again.folder, written.folder);
    assert_eq!(fs::read_dir(project.state.join("snapshots")).unwrap().count(), 1, "nothing is left beside");
}

#[test]
fn t01_the_project_may_change_the_copy_does_not() {
    let project = Project::with(&[("guard.sh", "reviewed"), ("lib/x", "x")]);
    let grant = project.trust(later(0));
    project.write("guard.sh", "evil");
    project.write("lib/new", "evil");
    let opened = Snapshot::open(&project.state, grant.digest).unwrap();
    assert_eq!(&*opened.tree.file("guard.sh").unwrap().bytes, b"reviewed");
    assert_eq!(opened.tree.files.len(), 2);
    assert_eq!(fs::read_to_string(opened.folder.join("guard.sh")).unwrap(), "reviewed");
}

#[test]
fn s14_a_copy_that_was_touched_is_lost_and_kept_aside() {
    type Touch = fn(&Path);
    let touches: [(&str, Touch); 10] = [
        ("bytes", |copy| {
            chmod(&copy.join("guard.sh"), 0o700);
            fs::write(copy.join("guard.sh"), "evil").unwrap();
            chmod(&copy.join("guard.sh"), 0o400);
        }),
        ("one more", |copy| {
            fs::write(copy.join("more"), "").unwrap();
            chmod(&copy.join("more"), 0o400);
        }),
        ("one less", |copy| fs::remove_file(copy.join("lib/x")).unwrap()),
        ("none left", |copy| {
            fs::remove_file(copy.join("lib/x")).unwrap();
            fs::remove_file(copy.join("guard.sh")).unwrap();
        }),
        ("renamed", |copy| fs::rename(copy.join("guard.sh"), copy.join("guard2.sh")).unwrap()),
        ("exec bit", |copy| chmod(&copy.join("guard.sh"), 0o500)),
        ("writable", |copy| chmod(&copy.join("guard.sh"), 0o600)),
        ("open to others", |copy| chmod(&copy.join("guard.sh"), 0o444)),
        ("open folder", |copy| chmod(&copy.join("lib"), 0o755)),
        ("link", |copy| {
            fs::remove_file(copy.join("guard.sh")).unwrap();
            symlink("lib/x", copy.join("guard.sh")).unwrap();
        }),
    ];
    for (what, touch) in touches {
        let project = Project::with(&[("guard.sh", "g"), ("lib/x", "x")]);
        let grant = project.trust(later(0));
        let copy = project.snapshot(&grant);
        touch(&copy);
        let error = Snapshot::open(&project.state, grant.digest).unwrap_err();
        assert!(error.why.contains("review and trust"), "{what}: {error}");
        assert!(!copy.exists(), "{what}");
        assert!(copy.with_file_name(format!("{}.lost-1", grant.digest.hex())).exists(), "{what}");
        assert!(Snapshot::open(&project.state, grant.digest).unwrap_err().why.contains("gone"), "{what}");
        // Trusting again mends it.
        project.trust(later(1));
        Snapshot::open(&project.state, grant.digest).unwrap();
    }
}

#[test]
fn s14_a_copy_that_is_no_folder_is_lost_too() {
    let project = Project::with(&[("guard.sh", "g")]);
    let grant = project.trust(later(0));
    let copy = project.snapshot(&grant);
    let moved = project.state.join("moved");
    fs::rename(&copy, &moved).unwrap();
    symlink(&moved, &copy).unwrap();
    assert!(Snapshot::open(&project.state, grant.digest).is_err());
    fs::write(&copy, "").unwrap();
    assert!(Snapshot::open(&project.state, grant.digest).is_err());
    project.trust(later(1));
    Snapshot::open(&project.state, grant.digest).unwrap();
    chmod(&project.state.join("snapshots"), 0o755);
    assert!(Snapshot::open(&project.state, grant.digest).unwrap_err().why.contains("open to other users"));
    assert!(copy.exists(), "the copy itself is not to blame");
}

#[test]
fn what_is_kept_aside_is_bounded() {
    let project = Project::with(&[("guard.sh", "g")]);
    let grant = project.trust(later(0));
    for round in 0..15 {
        chmod(&project.snapshot(&grant).join("guard.sh"), 0o666);
        assert!(Snapshot::open(&project.state, grant.digest).is_err());
        project.trust(later(round + 1));
    }
    assert_eq!(fs::read_dir(project.state.join("snapshots")).unwrap().count(), 1 + LOST);
}

#[test]
fn only_what_nobody_names_is_swept() {
    let project = Project::with(&[("guard.sh", "old")]);
    let old = project.trust(later(0));
    project.write("guard.sh", "new");
    let new = project.trust(later(1));
    fs::create_dir(project.state.join("snapshots/.half.1.new")).unwrap();
    let count = || fs::read_dir(project.state.join("snapshots")).unwrap().count();
    let soon = SystemTime::now() + KEPT - Duration::from_secs(60);
    let late = SystemTime::now() + KEPT + Duration::from_secs(60);
    sweep(&project.store, soon);
    assert_eq!(count(), 3);

    let bad = project.state.join("grants/other.json");
    fs::write(&bad, "{").unwrap();
    sweep(&project.store, late);
    assert_eq!(count(), 3, "who knows what the unreadable one names");
    fs::remove_file(&bad).unwrap();

    sweep(&project.store, late);
    assert_eq!(count(), 1);
    assert!(!project.snapshot(&old).exists());
    Snapshot::open(&project.state, new.digest).unwrap();
    project.store.withdraw(&project.root, later(2)).unwrap();
    sweep(&project.store, late);
    assert_eq!(count(), 1, "what was granted last can still be compared");
}

#[test]
fn many_write_the_same_at_once() {
    let project = Project::with(&[("guard.sh", "g"), ("lib/x", "x")]);
    let tree = project.tree();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Snapshot::write(&project.state, &tree).unwrap());
        }
    });
    assert_eq!(fs::read_dir(project.state.join("snapshots")).unwrap().count(), 1);
    Snapshot::open(&project.state, tree.digest).unwrap();
}
