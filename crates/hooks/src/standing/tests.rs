use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, SystemTime};

use super::*;
use crate::FOLDER;
use crate::testing::{Project, later};

/// In short words, by both ways of asking.
fn standing(project: &Project) -> String {
    let read = words(&Standing::read(&project.store, &project.root));
    assert_eq!(words(&Standing::look(&project.store, &project.root)), read);
    read
}

fn words(standing: &Standing) -> String {
    match standing {
        Standing::Absent => "absent".to_owned(),
        Standing::NotReviewed { tree, last } => {
            format!("not reviewed {}{}", tree.files.len(), if last.is_some() { " any more" } else { "" })
        }
        Standing::Trusted { .. } => "trusted".to_owned(),
        Standing::Changed { changes, .. } => {
            let all: Vec<_> = changes.iter().map(|it| format!("{}: {}", it.path, it.how.word())).collect();
            format!("changed {}", all.join(", "))
        }
        Standing::Refused { grant, .. } => format!("refused, granted: {}", grant.is_some()),
        Standing::StoreLost { files, .. } => format!("lost {files:?}"),
    }
}

#[test]
fn from_nothing_to_trusted_and_back() {
    let project = Project::with(&[]);
    assert_eq!(standing(&project), "absent");
    project.write("hooks.yaml", "hooks:\n");
    project.write("guard.sh", "exit 2\n");
    assert_eq!(standing(&project), "not reviewed 2");
    project.trust(later(0));
    assert_eq!(standing(&project), "trusted");
    project.write("guard.sh", "exit 0\n");
    assert_eq!(standing(&project), "changed guard.sh: edited");
    project.write("guard.sh", "exit 2\n");
    assert_eq!(standing(&project), "trusted", "the bytes are back");
    project.write("lib/common.sh", "");
    assert_eq!(standing(&project), "changed lib/common.sh: added");
    project.remove("lib/common.sh");
    assert_eq!(standing(&project), "trusted", "an empty folder is nothing");
    project.remove("guard.sh");
    assert_eq!(standing(&project), "changed guard.sh: removed");
    project.write("guard.sh", "exit 2\n");
    fs::set_permissions(project.at("guard.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(standing(&project), "changed guard.sh: exec bit only");
    fs::set_permissions(project.at("guard.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(standing(&project), "trusted");
    fs::rename(project.at("guard.sh"), project.at("guard2.sh")).unwrap();
    assert_eq!(standing(&project), "changed guard.sh: removed, guard2.sh: added");
    fs::remove_dir_all(project.at("")).unwrap();
    assert_eq!(standing(&project), "changed guard.sh: removed, hooks.yaml: removed");
    fs::create_dir(project.at("")).unwrap();
    assert_eq!(standing(&project), "changed guard.sh: removed, hooks.yaml: removed");
    project.write("hooks.yaml", "hooks:\n");
    project.write("guard.sh", "exit 2\n");
    project.store.withdraw(&project.root, later(1)).unwrap();
    assert_eq!(standing(&project), "not reviewed 2 any more");
    fs::remove_dir_all(project.at("")).unwrap();
    assert_eq!(standing(&project), "absent");
}

#[test]
fn t21_line_ends_are_a_change_that_is_named() {
    let project = Project::with(&[("guard.sh", "a\nb\n"), ("x", "1\n")]);
    project.trust(later(0));
    project.write("guard.sh", "a\r\nb\r\n");
    project.write("x", "2\r\n");
    assert_eq!(standing(&project), "changed guard.sh: line endings only, x: edited");
}

#[test]
fn t18_only_the_latest_grant_counts() {
    let project = Project::with(&[("guard.sh", "old")]);
    project.trust(later(0));
    project.write("guard.sh", "new");
    project.trust(later(1));
    project.write("guard.sh", "old");
    assert_eq!(standing(&project), "changed guard.sh: edited");
}

#[test]
fn t10_equal_bytes_in_another_root_are_not_trusted() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    let clone = project.beside("clone");
    assert_eq!(words(&Standing::read(&project.store, &clone)), "not reviewed 1");
}

#[test]
fn t11_a_forged_git_file_inherits_nothing() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    let worktree = project.beside("worktree");
    fs::create_dir_all(project.root.join(".git/worktrees/w")).unwrap();
    fs::write(project.root.join(".git/worktrees/w/commondir"), "../..\n").unwrap();
    fs::write(worktree.join(".git"), format!("gitdir: {}/.git/worktrees/w\n", project.root.display())).unwrap();
    assert_eq!(words(&Standing::look(&project.store, &worktree)), "not reviewed 1");
}

#[test]
fn t09_what_a_repository_ships_as_a_store_is_none() {
    let project = Project::with(&[("guard.sh", "g")]);
    let grant = project.trust(later(0));
    for inside in [".local/state/ruleline/grants", ".ruleline/grants", "grants"] {
        let ships = project.root.join(inside);
        fs::create_dir_all(&ships).unwrap();
        fs::copy(project.record(), ships.join(project.record().file_name().unwrap())).unwrap();
    }
    fs::remove_file(project.record()).unwrap();
    assert_eq!(standing(&project), "not reviewed 1");
    assert!(grant.files.len() == 1);
}

#[test]
fn t03_a_link_after_the_grant_refuses_all_of_it() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    let outside = project.root.join("outside.sh");
    fs::write(&outside, "g").unwrap();
    project.remove("guard.sh");
    symlink(&outside, project.at("guard.sh")).unwrap();
    assert_eq!(standing(&project), "refused, granted: true");
    project.remove("guard.sh");
    project.write("guard.sh", "g");
    assert_eq!(standing(&project), "trusted");
}

#[test]
fn t04_the_folder_swapped_for_a_link_is_refused() {
    let project = Project::with(&[("guard.sh", "g")]);
    project.trust(later(0));
    let moved = project.root.join("moved");
    fs::rename(project.root.join(".ruleline"), &moved).unwrap();
    symlink(&moved, project.root.join(".ruleline")).unwrap();
    assert_eq!(standing(&project), "refused, granted: true");
}

#[test]
fn what_the_machines_owner_grants_is_copied_at_first_sight() {
    let project = Project::with(&[("guard.sh", "g")]);
    let grant = project.trust(later(0));
    let machine = project.root.parent().unwrap().join("etc");
    fs::create_dir(&machine).unwrap();
    fs::set_permissions(&machine, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(project.record(), machine.join(project.record().file_name().unwrap())).unwrap();
    fs::remove_dir_all(project.state.join("snapshots")).unwrap();
    let store = project.store.clone().with_machine(&machine, rustix::process::getuid().as_raw());
    project.write("guard.sh", "evil");
    assert_eq!(words(&Standing::look(&store, &project.root)), "changed guard.sh: edited");
    assert!(!project.snapshot(&grant).exists(), "only the granted bytes are copied");
    project.write("guard.sh", "g");
    assert_eq!(words(&Standing::look(&store, &project.root)), "trusted");
    assert_eq!(Snapshot::open(&project.state, grant.digest).unwrap().tree.digest, grant.digest);
}

#[test]
fn t13_a_malformed_record_trusts_nothing() {
    let project = Project::with(&[("guard.sh", "g"), ("x", "")]);
    project.trust(later(0));
    fs::write(project.record(), "{").unwrap();
    assert_eq!(standing(&project), "lost Some(2)");
    symlink("x", project.at("link")).unwrap();
    assert_eq!(standing(&project), "lost None");
}

#[test]
fn what_was_remembered_is_not_read_again_and_never_trusted_more() {
    let project = Project::with(&[("guard.sh", "other")]);
    let other = project.trust(later(0));
    project.write("guard.sh", "g");
    std::thread::sleep(Duration::from_millis(2100));
    let signature = Signature::look(&project.root).unwrap().unwrap();
    project.store.remember(&project.root, &signature, project.tree().digest);
    assert_eq!(standing(&project), "changed guard.sh: edited", "known bytes are not granted ones");
    project.store.remember(&project.root, &signature, other.digest);

    let grant = project.trust(later(1));
    assert_eq!(standing(&project), "trusted");
    let signature = Signature::look(&project.root).unwrap().unwrap();
    assert_eq!(project.store.remembered(&project.root, &signature), Some(grant.digest));

    // Same size, same time of writing: the system's own time of change tells.
    let written = fs::metadata(project.at("guard.sh")).unwrap().modified().unwrap();
    project.write("guard.sh", "h");
    fs::File::options().write(true).open(project.at("guard.sh")).unwrap().set_modified(written).unwrap();
    assert_eq!(words(&Standing::look(&project.store, &project.root)), "changed guard.sh: edited");

    project.write("guard.sh", "g");
    project.store.withdraw(&project.root, later(5)).unwrap();
    assert_eq!(words(&Standing::look(&project.store, &project.root)), "not reviewed 1 any more");
    assert!(SystemTime::now() > written);
}

#[test]
fn what_people_are_told() {
    let project = Project::with(&[("guard.sh", "g")]);
    let root = project.root.display().to_string();
    let told = || {
        let text = sentence(&Standing::read(&project.store, &project.root), &project.root);
        text.map(|text| text.replace(&root, "ROOT")).unwrap_or_default()
    };
    assert_eq!(
        told(),
        "1 hook file in ROOT was never reviewed, so it does not run; `ruleline hooks show` shows it, `ruleline hooks \
         trust` turns it on"
    );
    for name in ["a", "b", "c", "d"] {
        project.write(name, "1\n");
    }
    assert!(told().starts_with("5 hook files in ROOT were never reviewed, so none of them runs; "), "{}", told());
    project.trust(later(0));
    assert_eq!(told(), "");
    for name in ["a", "b", "c", "d"] {
        project.write(name, "1\r\n");
    }
    project.write("guard.sh", "h");
    assert_eq!(
        told(),
        "the hooks in ROOT changed since they were trusted (a: line endings only, b: line endings only, c: line \
         endings only, and 2 more), so none of them runs; `ruleline hooks diff` shows how, `ruleline hooks trust` \
         trusts them as they are now"
    );
    fs::remove_dir_all(project.at("")).unwrap();
    assert!(told().starts_with("the trusted hooks in ROOT are gone, so none of them runs"), "{}", told());
    project.store.withdraw(&project.root, later(1)).unwrap();
    project.write("a", "");
    assert!(told().starts_with("1 hook file in ROOT was untrusted, so it does not run"), "{}", told());
    fs::create_dir(project.at("x\u{1b}[31m")).unwrap();
    assert!(told().starts_with("the hooks in ROOT cannot be read whole, so none of them runs: ROOT"), "{}", told());
    assert!(told().contains("x\\u{1b}[31m: its name holds control"), "{}", told());
    fs::write(project.record(), "").unwrap();
    assert!(told().starts_with("the record of trust for the hooks in ROOT cannot be used"), "{}", told());
    assert!(!told().chars().any(char::is_control));
}

#[test]
fn s19_a_root_with_a_hostile_name_is_shown_escaped() {
    let project = Project::with(&[("guard.sh", "g")]);
    let odd = project.beside("r\n\u{1b}[31m\u{202e}");
    let text = sentence(&Standing::read(&project.store, &odd), &odd).unwrap();
    assert!(text.contains("r\\n\\u{1b}[31m\\u{202e}"), "{text}");
    assert!(fs::metadata(odd.join(FOLDER)).is_ok());
}
