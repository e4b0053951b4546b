use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::*;
use crate::snapshots::Snapshot;
use crate::testing::{Project, by, later};
use crate::tree::{Signature, Tree};

#[test]
fn a_grant_is_read_as_it_was_written() {
    let project = Project::with(&[("guard.sh", "g"), ("lib/x", "\0\u{ff}")]);
    assert_eq!(project.store.read(&project.root).unwrap(), None);
    let granted = project.trust(later(0));
    assert_eq!(project.store.read(&project.root).unwrap(), Some(Record::Granted(granted.clone())));
    assert_eq!(granted.root, project.root);
    assert_eq!(granted.digest, project.tree().digest);
    assert_eq!(granted.by.processes, ["zsh", "sshd"]);
    assert_eq!(
        project.store.all().into_iter().map(Result::unwrap).collect::<Vec<_>>(),
        [Record::Granted(granted.clone())]
    );
    let withdrawn = project.store.withdraw(&project.root, later(5)).unwrap();
    assert_eq!(withdrawn, Some(granted.clone()));
    let record = project.store.read(&project.root).unwrap().unwrap();
    assert_eq!(record, Record::Withdrawn { last: granted, at: later(5) });
    assert_eq!(project.store.withdraw(&project.root, later(6)).unwrap(), None, "there is none any more");
}

#[test]
fn the_store_is_private_and_named_by_digest() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(project.state.join("grants")), 0o700);
    assert_eq!(mode(project.record()), 0o600);
}

#[test]
fn t06_only_what_was_reviewed_is_granted() {
    let project = Project::with(&[("guard.sh", "reviewed")]);
    let reviewed = project.tree().digest;
    project.write("guard.sh", "other");
    let error = project.store.grant(&project.root, &project.tree(), reviewed, &by(), later(0)).unwrap_err();
    assert!(matches!(error, GrantError::Changed { .. }), "{error}");
    assert!(error.to_string().contains(&reviewed.short()));
    assert_eq!(project.store.read(&project.root).unwrap(), None);
    assert!(!project.state.join("snapshots").exists(), "nothing is copied either");
}

#[test]
fn t10_a_record_holds_for_its_root_alone() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    let other = project.beside("clone");
    assert_eq!(project.store.read(&other).unwrap(), None, "the same bytes elsewhere need their own grant");
    let forged = project.state.join("grants").join(format!("{}.json", system::digest::key(&other)));
    fs::copy(project.record(), &forged).unwrap();
    fs::set_permissions(&forged, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(project.store.read(&other).unwrap_err().why.contains("another root"));
    assert_eq!(project.store.all().iter().filter(|it| it.is_err()).count(), 1);
}

#[test]
fn a_root_reached_over_a_link_is_the_root_itself() {
    let project = Project::with(&[("guard.sh", "g")]);
    let link = project.root.parent().unwrap().join("link");
    symlink(&project.root, &link).unwrap();
    let granted = project.store.grant(&link, &project.tree(), project.tree().digest, &by(), later(0)).unwrap();
    assert_eq!(granted.root, project.root);
    assert!(project.store.read(&project.root).unwrap().is_some());
}

#[test]
fn a_root_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt as _;

    let project = Project::with(&[("guard.sh", "g")]);
    let odd = project.root.parent().unwrap().join(std::ffi::OsStr::from_bytes(b"r\xff\n"));
    fs::rename(&project.root, &odd).unwrap();
    let tree = Tree::read(&odd).unwrap().unwrap();
    let granted = project.store.grant(&odd, &tree, tree.digest, &by(), later(0)).unwrap();
    assert_eq!(project.store.read(&odd).unwrap(), Some(Record::Granted(granted)));
}

#[test]
fn t13_a_record_that_cannot_be_used_is_left_alone() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    let good = fs::read_to_string(project.record()).unwrap();
    let digest = project.tree().digest.hex();
    for bad in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        good[..good.len() / 2].to_owned(),
        good.replace("\"version\": 1", "\"version\": 2"),
        good.replace("\"version\": 1", "\"version\": -1"),
        good.replace("\"version\": 1", "\"version\": 1, \"version\": 1"),
        good.replace("\"version\": 1", "\"version\": 1, \"more\": 1"),
        good.replace(&digest, &"0".repeat(64)),
        good.replace(&digest, "short"),
        good.replace("guard.sh", "other.sh"),
        good.replace("\"executable\": false", "\"executable\": true"),
        good.replace("\"terminal\"", "\"nobody\""),
        good.replace("\"at\": ", "\"at\": 99999999999999999999"),
        "[".repeat(100_000),
        format!("{{\"version\": 1, \"grant\": {}{}}}", "[".repeat(1000), "]".repeat(1000)),
        " ".repeat(5 << 20),
    ] {
        fs::write(project.record(), &bad).unwrap();
        let error = project.store.read(&project.root).unwrap_err();
        assert_eq!(error.path, project.record(), "{bad:.40}");
        assert!(!error.why.contains('\n'));
        let tree = project.tree();
        assert!(project.store.grant(&project.root, &tree, tree.digest, &by(), later(9)).is_err(), "{bad:.40}");
        assert!(project.store.withdraw(&project.root, later(9)).is_err());
        assert!(project.store.all()[0].is_err());
        assert_eq!(fs::read_to_string(project.record()).unwrap(), bad, "untouched");
    }
    fs::write(project.record(), good).unwrap();
    assert!(project.store.read(&project.root).unwrap().is_some());
}

#[test]
fn s04_a_store_that_others_can_touch_is_not_used() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    let grants = project.state.join("grants");
    let why = || project.store.read(&project.root).unwrap_err().why;
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for (path, bad, good) in
        [(&project.record(), 0o644, 0o600), (&project.record(), 0o620, 0o600), (&grants, 0o770, 0o700)]
    {
        mode(path, bad);
        assert!(why().contains("open to other users"), "{bad:o}");
        mode(path, good);
    }
    let elsewhere = project.state.join("elsewhere");
    fs::hard_link(project.record(), &elsewhere).unwrap();
    assert!(why().contains("hard link"));
    fs::remove_file(project.record()).unwrap();
    symlink(&elsewhere, project.record()).unwrap();
    assert!(why().contains("link"));
    fs::remove_file(project.record()).unwrap();
    fs::rename(&elsewhere, project.record()).unwrap();
    assert!(project.store.read(&project.root).unwrap().is_some());
    fs::rename(&grants, project.state.join("moved")).unwrap();
    symlink(project.state.join("moved"), &grants).unwrap();
    assert!(why().contains("link"));
    let tree = project.tree();
    assert!(project.store.grant(&project.root, &tree, tree.digest, &by(), later(1)).is_err());
}

#[test]
fn s13_a_later_grant_is_later_whatever_the_clock_says() {
    let project = Project::with(&[("guard.sh", "g")]);
    let first = project.trust(later(1000));
    project.write("guard.sh", "h");
    let second = project.trust(later(10));
    assert!(second.at > first.at);
    project.store.withdraw(&project.root, later(2000)).unwrap();
    let third = project.trust(later(20));
    assert!(third.at > later(2000));
    project.store.withdraw(&project.root, later(0)).unwrap();
    let record = project.store.read(&project.root).unwrap();
    assert_eq!(
        record,
        Some(Record::Withdrawn { at: third.at, last: third }),
        "nothing is taken back before it was given"
    );
}

#[test]
fn t12_untrust_wins_a_tie() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    project.store.withdraw(&project.root, later(5)).unwrap();
    let tree = project.tree();
    let error = project.store.grant(&project.root, &tree, tree.digest, &by(), later(5)).unwrap_err();
    assert!(error.to_string().contains("stay so"), "{error}");
    assert!(matches!(project.store.read(&project.root).unwrap(), Some(Record::Withdrawn { .. })));
    project.trust(later(6));
}

#[test]
fn t12_writers_at_once_lose_nothing() {
    let project = Project::with(&[("guard.sh", "g")]);
    let roots: Vec<_> = (0..4).map(|number| project.beside(&format!("clone{number}"))).collect();
    std::thread::scope(|scope| {
        for root in &roots {
            for _ in 0..2 {
                let store = &project.store;
                scope.spawn(move || {
                    for round in 0..5 {
                        let tree = Tree::read(root).unwrap().unwrap();
                        // Two who trust and untrust the same root may refuse one another; nobody breaks a record.
                        let _ = store.grant(root, &tree, tree.digest, &by(), later(round));
                        store.read(root).unwrap().unwrap();
                        store.withdraw(root, later(round)).unwrap();
                        let _ = store.grant(root, &tree, tree.digest, &by(), later(round + 1));
                    }
                });
            }
        }
    });
    let all = project.store.all();
    assert_eq!(all.len(), roots.len());
    for record in all {
        Snapshot::open(&project.state, record.unwrap().grant().digest).unwrap();
    }
    let left: Vec<_> = fs::read_dir(project.state.join("grants")).unwrap().flatten().map(|it| it.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{left:?}");
}

#[test]
fn the_machines_owner_grants_too_and_a_person_overrules() {
    let project = Project::with(&[("guard.sh", "g")]);
    let granted = project.trust(later(0));
    let machine = project.root.parent().unwrap().join("etc");
    fs::create_dir(&machine).unwrap();
    fs::set_permissions(&machine, fs::Permissions::from_mode(0o755)).unwrap();
    let record = machine.join(project.record().file_name().unwrap());
    fs::rename(project.record(), &record).unwrap();
    let me = rustix::process::getuid().as_raw();
    let store = project.store.clone().with_machine(&machine, me);
    let found = store.read(&project.root).unwrap().unwrap();
    assert_eq!(found.grant().digest, granted.digest);
    assert_eq!(found.grant().by.means, Means::System, "whatever the file says");

    fs::set_permissions(&record, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(store.read(&project.root).is_err());
    fs::set_permissions(&record, fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(&machine, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(store.read(&project.root).is_err());
    fs::set_permissions(&machine, fs::Permissions::from_mode(0o755)).unwrap();
    let other = project.store.clone().with_machine(&machine, me + 1);
    assert!(other.read(&project.root).is_err(), "of another owner");

    store.withdraw(&project.root, later(5)).unwrap();
    assert!(matches!(store.read(&project.root).unwrap(), Some(Record::Withdrawn { .. })), "a person said no");
}

#[test]
fn what_is_remembered_is_never_fresh_and_never_more() {
    let project = Project::with(&[("guard.sh", "g")]);
    let digest = project.tree().digest;
    let at = |hash: &str, fresh| Signature { hash: hash.to_owned(), fresh };
    project.store.remember(&project.root, &at("a", true), digest);
    assert_eq!(project.store.remembered(&project.root, &at("a", false)), None);
    project.store.remember(&project.root, &at("a", false), digest);
    assert_eq!(project.store.remembered(&project.root, &at("a", false)), Some(digest));
    assert_eq!(project.store.remembered(&project.root, &at("a", true)), None);
    assert_eq!(project.store.remembered(&project.root, &at("b", false)), None);
    assert_eq!(project.store.remembered(&project.beside("x"), &at("a", false)), None);
    let file = project.record().with_extension("look");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(project.store.remembered(&project.root, &at("a", false)), None, "open to others");
}

#[test]
fn who_granted_is_said_in_bounded_plain_words() {
    let mut processes: Vec<String> = (0..100).map(|number| format!("p{number}\u{1b}[31m")).collect();
    let sentence = Grantor { means: Means::Editor, processes: processes.clone() }.sentence();
    assert!(sentence.starts_with("in an editor by p0\\u{1b}[31m < p1"), "{sentence}");
    assert!(sentence.ends_with("< ...") && sentence.len() < 400);
    processes.clear();
    assert_eq!(Grantor { means: Means::System, processes }.sentence(), "by the machine's owner");
    assert_eq!(by().sentence(), "at a terminal by zsh < sshd");
}
