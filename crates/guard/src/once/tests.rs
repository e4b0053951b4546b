use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Barrier;
use std::thread;

use super::*;

fn state() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().canonicalize().unwrap().join("state");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    (temp, path)
}

fn exception(at: SystemTime) -> Exception {
    Exception {
        refusal: "0123456789abcdef".to_owned(),
        root: "/p".into(),
        rulebook: "/p/.ruleline/rules.toml".into(),
        rulebook_digest: [1; 32],
        rule: "no-eval".to_owned(),
        path: "/p/a.py".into(),
        added: [2; 32],
        at,
        by: Grantor { means: Means::Editor, processes: vec!["code".to_owned(), "zsh".to_owned()] },
    }
}

fn file(state: &Path) -> PathBuf {
    state.join(FOLDER).join(name(&exception(SystemTime::now()).bound()))
}

#[test]
fn s10_an_exception_is_used_once() {
    let (_keep, state) = state();
    let now = SystemTime::now();
    let store = Exceptions::new(&state);
    let allowed = exception(now);
    assert_eq!(store.offered(&allowed.bound(), now), None);
    store.allow(&allowed).unwrap();
    store.allow(&allowed).unwrap();
    assert_eq!(fs::metadata(file(&state)).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(state.join(FOLDER)).unwrap().permissions().mode() & 0o777, 0o700);
    let offer = store.offered(&allowed.bound(), now).unwrap();
    assert_eq!((&offer.refusal, &offer.by), (&allowed.refusal, &allowed.by));
    assert!(store.offered(&allowed.bound(), now).is_some(), "to look is not to use");
    assert!(store.take(std::slice::from_ref(&offer)));
    assert!(!store.take(&[offer]));
    assert_eq!(store.offered(&allowed.bound(), now), None);
    assert_eq!(fs::read_dir(state.join(FOLDER)).unwrap().count(), 0);
}

#[test]
fn s10_an_exception_is_for_nothing_else() {
    let (_keep, state) = state();
    let now = SystemTime::now();
    let store = Exceptions::new(&state);
    store.allow(&exception(now)).unwrap();
    let others = [
        Exception { root: "/q".into(), ..exception(now) },
        Exception { rulebook: "/p/other.toml".into(), ..exception(now) },
        Exception { rulebook_digest: [3; 32], ..exception(now) },
        Exception { rule: "no-exec".to_owned(), ..exception(now) },
        Exception { path: "/p/b.py".into(), ..exception(now) },
        Exception { added: [3; 32], ..exception(now) },
    ];
    for other in others {
        assert_eq!(store.offered(&other.bound(), now), None, "{other:?}");
        // A file under another's name is none.
        let copy = state.join(FOLDER).join(name(&other.bound()));
        fs::copy(file(&state), &copy).unwrap();
        assert_eq!(store.offered(&other.bound(), now), None, "{other:?}");
    }
}

#[test]
fn s10_no_clock_gives_an_exception_more_time() {
    let (_keep, state) = state();
    let now = SystemTime::now();
    let store = Exceptions::new(&state);
    store.allow(&exception(now)).unwrap();
    let offered = |at| store.offered(&exception(now).bound(), at).is_some();
    assert!(offered(now) && offered(now + LASTS));
    assert!(!offered(now + LASTS + Duration::from_secs(1)));
    assert!(!offered(now - Duration::from_secs(1)), "a clock that was set back");
    // Set back, and reached again when the exception is long over by the clock that nobody sets.
    let text = fs::read_to_string(file(&state)).unwrap();
    let up = uptime().unwrap().as_millis() as u64;
    let record: Record = serde_json::from_str(&text).unwrap();
    for (up, holds) in [(Some(up), true), (Some(u64::MAX), false), (None, false)] {
        let record = Record {
            up,
            bound: record.bound.clone(),
            refusal: String::new(),
            rule: String::new(),
            path: String::new(),
            processes: Vec::new(),
            ..record
        };
        fs::write(file(&state), serde_json::to_vec(&record).unwrap()).unwrap();
        assert_eq!(offered(now), holds, "{up:?}");
    }
    if let Some(old) = up.checked_sub(LASTS.as_millis() as u64 + 1) {
        fs::write(file(&state), text.replace(&format!("\"up\":{}", record.up.unwrap()), &format!("\"up\":{old}")))
            .unwrap();
        assert!(!offered(now));
    }
}

#[test]
fn s10_a_hostile_file_is_no_exception() {
    let (keep, state) = state();
    let now = SystemTime::now();
    let store = Exceptions::new(&state);
    let offered = || store.offered(&exception(now).bound(), now).is_some();
    let whole = || {
        let _ = fs::remove_file(file(&state));
        store.allow(&exception(now)).unwrap();
        assert!(offered());
    };
    whole();
    fs::set_permissions(file(&state), fs::Permissions::from_mode(0o640)).unwrap();
    assert!(!offered(), "open to others");
    whole();
    fs::hard_link(file(&state), keep.path().join("other")).unwrap();
    assert!(!offered(), "two names");
    whole();
    fs::rename(file(&state), keep.path().join("moved")).unwrap();
    symlink(keep.path().join("moved"), file(&state)).unwrap();
    assert!(!offered(), "a link");
    for text in ["", "{}", "[1]", "{\"version\":2}", &"{\"a\":".repeat(10_000), &" ".repeat(100_000)] {
        fs::remove_file(file(&state)).unwrap();
        fs::write(file(&state), text).unwrap();
        fs::set_permissions(file(&state), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(!offered(), "{text:.20}");
    }
    whole();
    fs::set_permissions(state.join(FOLDER), fs::Permissions::from_mode(0o770)).unwrap();
    assert!(!offered() && store.allow(&exception(now)).is_err(), "a folder open to others");
}

#[test]
fn s10_of_all_who_want_an_exception_at_once_one_gets_it() {
    let (_keep, state) = state();
    let now = SystemTime::now();
    let store = Exceptions::new(&state);
    for _ in 0..20 {
        store.allow(&exception(now)).unwrap();
        let barrier = Barrier::new(8);
        let won: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let offer = store.offered(&exception(now).bound(), now).unwrap();
                        barrier.wait();
                        usize::from(store.take(&[offer]))
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(won, 1);
    }
}

#[test]
fn s10_several_are_used_together_or_not_at_all() {
    let (_keep, state) = state();
    let now = SystemTime::now();
    let store = Exceptions::new(&state);
    let [one, two] = [exception(now), Exception { rule: "other".to_owned(), ..exception(now) }];
    store.allow(&one).unwrap();
    store.allow(&two).unwrap();
    let offers: Vec<Offer> = [&one, &two].map(|it| store.offered(&it.bound(), now).unwrap()).into();
    fs::remove_file(state.join(FOLDER).join(&offers[1].name)).unwrap();
    assert!(!store.take(&offers));
    assert!(store.offered(&one.bound(), now).is_some(), "what was not used is still there");
}

#[test]
fn s10_what_is_over_is_removed_with_the_next_one() {
    let (_keep, state) = state();
    let now = SystemTime::now();
    let store = Exceptions::new(&state);
    store.allow(&Exception { rule: "old".to_owned(), ..exception(now) }).unwrap();
    store.allow(&exception(now + LASTS + Duration::from_secs(5))).unwrap();
    assert_eq!(fs::read_dir(state.join(FOLDER)).unwrap().count(), 1);
}

#[test]
fn s10_the_digest_is_that_of_all_added_lines_whatever_their_numbers() {
    let change = |before: &str, after: &str| {
        Change::between("a".to_owned(), vec!["a".to_owned()], Some(before.into()), after.into())
    };
    let digest = |before: &str, after: &str| digest_of_added(&change(before, after));
    let long = (0..1000).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
    assert_eq!(digest("x\n", "x\neval(a)\n"), digest("y\nz\n", "y\neval(a)\nz\n"));
    assert_ne!(digest("", "a\nb\n"), digest("", "b\na\n"));
    assert_ne!(digest("", "ab\n"), digest("", "a\nb\n"));
    assert_ne!(digest("", &long), digest("", &long.replace("line 999", "line 99x")));
    assert_ne!(digest("a\nb\n", "a\n"), digest("a\nb\n", "b\n"), "what is left counts where nothing is added");
    let gone = Change::deleted("a".to_owned(), vec!["a".to_owned()], Some("a\n".into()));
    assert_ne!(digest_of_added(&gone), digest("a\n", ""));
}
