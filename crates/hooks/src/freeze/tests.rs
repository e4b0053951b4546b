use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::testing::{Project, by, later};
use crate::{FOLDER, Tree};

/// One event of a session, as a process of its own sees it.
struct Event<'a> {
    project: &'a Project,
    session: &'a str,
    begins: bool,
    keep: bool,
    at: u64,
}

impl Event<'_> {
    /// What it comes to: the ruling in one word with its digest, and the news.
    fn rule(&self) -> (String, Vec<String>) {
        let mut frozen = Frozen::open(&self.project.session(self.session)).unwrap();
        let standing = Standing::look(&self.project.store, &self.project.root);
        let ruled = frozen.rule(&self.project.root, &standing, self.begins, self.keep, later(self.at));
        frozen.save().unwrap();
        let word = match ruled.ruling {
            Ruling::Nothing => "nothing".to_owned(),
            Ruling::Run(grant) => format!("run {}", text_of(self.project, &grant)),
            Ruling::Unknown { .. } => "unknown".to_owned(),
            Ruling::Stopped { why, .. } => {
                assert!(!why.is_empty() && !why.contains('\n'));
                "stopped".to_owned()
            }
        };
        (word, ruled.news)
    }
}

/// What the snapshot of a grant has as `guard.sh`: the bytes that would run.
fn text_of(project: &Project, grant: &Grant) -> String {
    let snapshot = crate::Snapshot::open(&project.state, grant.digest).unwrap();
    String::from_utf8(snapshot.tree.file("guard.sh").unwrap().bytes.to_vec()).unwrap()
}

fn begin(project: &Project, session: &str, at: u64) -> (String, Vec<String>) {
    Event { project, session, begins: true, keep: false, at }.rule()
}

fn event(project: &Project, session: &str, at: u64) -> (String, Vec<String>) {
    Event { project, session, begins: false, keep: false, at }.rule()
}

/// The ruling, and that nothing is said.
fn quiet(ruled: (String, Vec<String>)) -> String {
    assert_eq!(ruled.1, Vec::<String>::new(), "{}", ruled.0);
    ruled.0
}

/// The ruling, and that one thing is said that holds `part`.
fn news(ruled: (String, Vec<String>), part: &str) -> String {
    assert!(ruled.1.len() == 1 && ruled.1[0].contains(part), "{ruled:?}");
    ruled.0
}

fn guarded() -> Project {
    Project::with(&[("guard.sh", "one"), ("hooks.yaml", "hooks:\n")])
}

#[test]
fn what_was_never_reviewed_does_not_run_and_is_told_once() {
    let project = guarded();
    assert_eq!(news(begin(&project, "s", 0), "2 hook files in"), "nothing");
    assert_eq!(quiet(event(&project, "s", 1)), "nothing");
    project.write("guard.sh", "other");
    assert_eq!(news(event(&project, "s", 2), "never reviewed"), "nothing");
    assert_eq!(quiet(event(&project, "s", 3)), "nothing");
    assert_eq!(news(event(&project, "t", 4), "never reviewed"), "nothing");
}

#[test]
fn a_root_without_hooks_leaves_no_trace() {
    let project = Project::with(&[]);
    assert_eq!(quiet(begin(&project, "s", 0)), "nothing");
    assert!(!project.session("s").exists());
}

#[test]
fn a_first_grant_waits_for_the_next_beginning() {
    let project = guarded();
    begin(&project, "s", 0);
    project.trust(later(10));
    assert_eq!(news(event(&project, "s", 11), "they start with the next session"), "nothing");
    assert_eq!(quiet(event(&project, "s", 12)), "nothing");
    let told = begin(&project, "s", 13);
    assert!(told.1[0].contains("at a terminal by zsh < sshd"), "{told:?}");
    assert!(told.1[0].contains("2026-12-01 04:04 UTC"), "{told:?}");
    assert_eq!(told.0, "run one", "after /clear");
    assert_eq!(quiet(begin(&project, "t", 14)), "run one", "one session was told of the grant");
}

#[test]
fn what_is_granted_at_first_sight_runs() {
    let project = guarded();
    project.trust(later(0));
    assert_eq!(news(event(&project, "s", 1), "trusted since the last session here"), "run one");
    assert_eq!(quiet(event(&project, "s", 2)), "run one");
}

#[test]
fn a_record_that_is_lost_before_the_first_event_is_not_taken_for_none() {
    let project = guarded();
    project.trust(later(0));
    let grants = project.record().parent().unwrap().to_path_buf();
    let open_to = |mode| fs::set_permissions(&grants, fs::Permissions::from_mode(mode)).unwrap();
    open_to(0o755);
    assert_eq!(quiet(event(&project, "s", 1)), "unknown");
    assert_eq!(news(begin(&project, "s", 2), "cannot be used"), "unknown");
    open_to(0o700);
    assert_eq!(event(&project, "s", 3).0, "run one", "nothing was frozen without it");
    let other = guarded();
    fs::create_dir_all(other.record().parent().unwrap()).unwrap();
    fs::set_permissions(other.record().parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(news(event(&other, "s", 1), "cannot be used"), "nothing", "there is no record to be lost");
}

#[test]
fn t01_changed_bytes_stop_the_hooks_and_are_told_once() {
    let project = guarded();
    project.trust(later(0));
    begin(&project, "s", 1);
    project.write("guard.sh", "evil");
    assert_eq!(news(event(&project, "s", 2), "changed since they were trusted (guard.sh)"), "stopped");
    assert_eq!(quiet(event(&project, "s", 3)), "stopped");
    project.write("guard.sh", "one");
    assert_eq!(quiet(event(&project, "s", 4)), "run one", "the bytes are back");
    project.write("guard.sh", "evil");
    assert_eq!(quiet(event(&project, "s", 5)), "stopped", "told already");
    assert_eq!(news(begin(&project, "s", 6), "changed"), "stopped", "a beginning has seen nothing of it");
    assert_eq!(quiet(event(&project, "s", 7)), "stopped");
    assert_eq!(news(begin(&project, "t", 8), "changed"), "stopped");
}

#[test]
fn who_chose_so_keeps_what_was_granted() {
    let project = guarded();
    project.trust(later(0));
    begin(&project, "s", 1);
    project.write("guard.sh", "evil");
    let kept = |at| Event { project: &project, session: "s", begins: false, keep: true, at }.rule();
    assert_eq!(news(kept(2), "goes on running"), "run one");
    assert_eq!(quiet(kept(3)), "run one");
    fs::remove_dir_all(project.at("")).unwrap();
    assert_eq!(news(kept(4), "goes on running"), "run one", "gone is changed as well");
    fs::create_dir(project.at("")).unwrap();
    symlink("/dev/zero", project.at("guard.sh")).unwrap();
    assert_eq!(news(kept(5), "cannot be read whole"), "stopped", "refused is not changed");
}

#[test]
fn trusting_anew_resumes_at_once() {
    let project = guarded();
    project.trust(later(0));
    begin(&project, "s", 1);
    project.write("guard.sh", "two");
    event(&project, "s", 2);
    project.trust(later(3));
    assert_eq!(news(event(&project, "s", 4), "trusted as they are now"), "run two");
    assert_eq!(quiet(event(&project, "s", 5)), "run two");
    assert_eq!(quiet(begin(&project, "t", 6)), "run two", "the session was told of the grant");
}

#[test]
fn t22_untrust_acts_at_once_and_trust_resumes() {
    let project = guarded();
    project.trust(later(0));
    begin(&project, "s", 1);
    project.store.withdraw(&project.root, later(2)).unwrap();
    assert_eq!(news(event(&project, "s", 3), "untrusted"), "nothing");
    assert_eq!(quiet(event(&project, "s", 4)), "nothing");
    fs::rename(project.at(""), project.root.join("aside")).unwrap();
    assert_eq!(quiet(event(&project, "s", 5)), "nothing", "also when the folder goes");
    fs::rename(project.root.join("aside"), project.at("")).unwrap();
    project.trust(later(6));
    assert_eq!(news(event(&project, "s", 7), "trusted again"), "run one");
}

#[test]
fn a_guard_that_is_lost_is_missed() {
    type Lose = fn(&Project);
    let lose: [(&str, Lose, &str); 6] = [
        ("record", |project| fs::remove_file(project.record()).unwrap(), "is gone, and nobody took it back"),
        ("garbled", |project| fs::write(project.record(), "{").unwrap(), "cannot be used"),
        (
            "open",
            |project| fs::set_permissions(project.record(), fs::Permissions::from_mode(0o666)).unwrap(),
            "open to",
        ),
        ("folder", |project| fs::remove_dir_all(project.at("")).unwrap(), "are gone"),
        (
            "folder and record",
            |project| {
                fs::remove_dir_all(project.at("")).unwrap();
                fs::remove_file(project.record()).unwrap();
            },
            "is gone, and nobody took it back",
        ),
        ("link", |project| symlink("guard.sh", project.at("link")).unwrap(), "cannot be read whole"),
    ];
    for (what, lose, part) in lose {
        let project = guarded();
        project.trust(later(0));
        begin(&project, "s", 1);
        lose(&project);
        assert_eq!(news(event(&project, "s", 2), part), "stopped", "{what}");
        assert_eq!(quiet(event(&project, "s", 3)), "stopped", "{what}");
        assert_eq!(news(begin(&project, "s", 4), part), "stopped", "{what}: a forged beginning lifts nothing");
        assert!(Frozen::open(&project.session("s")).unwrap().roots().eq([project.root.clone()]));
    }
}

#[test]
fn s13_no_event_lifts_a_freeze() {
    let project = guarded();
    begin(&project, "s", 10);
    // A grant that pretends to be older than the freeze, as one copied back would be.
    project.trust(later(5));
    assert_eq!(news(begin(&project, "s", 11), "start with the next session"), "nothing");
    assert_eq!(news(begin(&project, "s", 12), "start with the next session"), "nothing");
    assert_eq!(event(&project, "t", 13).0, "run one", "another session sees it for the first time");
}

#[test]
fn t18_an_older_grant_put_back_stops_the_session() {
    let project = guarded();
    project.trust(later(0));
    let old = fs::read(project.record()).unwrap();
    project.write("guard.sh", "two");
    project.trust(later(1));
    begin(&project, "s", 2);
    fs::write(project.record(), old).unwrap();
    project.write("guard.sh", "one");
    assert_eq!(news(event(&project, "s", 3), "an older one than this session began with"), "stopped");
    assert_eq!(begin(&project, "s", 4).0, "stopped");
}

#[test]
fn s13_the_record_outlives_everything_a_session_says() {
    let project = guarded();
    project.trust(later(0));
    begin(&project, "s", 1);
    project.write("guard.sh", "evil");
    for at in 2..30 {
        assert_eq!(begin(&project, "s", at).0, "stopped");
    }
}

#[test]
fn a_record_that_cannot_be_read_is_an_error_and_stays() {
    let project = guarded();
    project.trust(later(0));
    begin(&project, "s", 1);
    let file = project.session("s").join("hooks.json");
    let good = fs::read_to_string(&file).unwrap();
    for bad in [
        String::new(),
        "{".to_owned(),
        good[..good.len() - 10].to_owned(),
        good.replace("\"version\":1", "\"version\":2"),
        good.replace("\"told\":[", "\"more\":1,\"told\":["),
        good.replace("guard.sh", "other.sh"),
        "[".repeat(100_000),
    ] {
        fs::write(&file, &bad).unwrap();
        let error = Frozen::open(&project.session("s")).unwrap_err();
        assert!(error.why.contains("begin a new session"), "{bad:.30}: {error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), bad);
        assert!(digests_in_use(&project.state).is_none());
    }
    fs::write(&file, good).unwrap();
    assert_eq!(quiet(event(&project, "s", 2)), "run one");
    assert_eq!(digests_in_use(&project.state).unwrap().len(), 1);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(Frozen::open(&project.session("s")).is_err());
}

#[test]
fn a_snapshot_that_a_session_runs_is_not_swept() {
    let project = guarded();
    let one = project.trust(later(0));
    begin(&project, "s", 1);
    project.write("guard.sh", "two");
    project.trust(later(2));
    let late = SystemTime::now() + std::time::Duration::from_secs(30 * 24 * 60 * 60);
    crate::snapshots::sweep(&project.store, late);
    assert!(project.snapshot(&one).exists());
}

#[test]
fn events_at_once_agree_on_what_was_first() {
    let project = guarded();
    project.trust(later(0));
    let words: Vec<String> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..8).map(|_| scope.spawn(|| event(&project, "s", 1).0)).collect();
        started.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(words.iter().all(|word| word == "run one"), "{words:?}");
    assert_eq!(quiet(event(&project, "s", 2)), "run one");
}

#[test]
fn roots_of_a_session_are_kept_apart_and_bounded() {
    let project = guarded();
    let roots: Vec<_> = (0..70).map(|number| project.beside(&format!("r{number}"))).collect();
    let mut ruled = Vec::new();
    for root in &roots {
        let tree = Tree::read(root).unwrap().unwrap();
        project.store.grant(root, &tree, tree.digest, &by(), later(0)).unwrap();
        let mut frozen = Frozen::open(&project.session("s")).unwrap();
        let standing = Standing::look(&project.store, root);
        ruled.push(frozen.rule(root, &standing, false, false, later(1)).ruling);
        frozen.save().unwrap();
    }
    assert!(ruled[..64].iter().all(|it| matches!(it, Ruling::Run(_))));
    assert!(ruled[64..].iter().all(|it| matches!(it, Ruling::Stopped { .. })), "too many to keep in mind");
    fs::write(roots[0].join(FOLDER).join("guard.sh"), "evil").unwrap();
    let mut frozen = Frozen::open(&project.session("s")).unwrap();
    for (root, stops) in [(&roots[0], true), (&roots[1], false)] {
        let standing = Standing::look(&project.store, root);
        let ruling = frozen.rule(root, &standing, false, false, later(2)).ruling;
        assert_eq!(matches!(ruling, Ruling::Stopped { .. }), stops);
    }
}
