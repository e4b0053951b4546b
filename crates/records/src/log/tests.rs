use std::fs;

use super::*;
use crate::entry::tests::entry;

pub(crate) struct Bench {
    _keep: tempfile::TempDir,
    pub log: Log,
}

impl Bench {
    pub fn new() -> Bench {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("p/.ruleline")).unwrap();
        folders::create_private(&base.join("state")).unwrap();
        Bench { log: Log::new(&base.join("p"), &base.join("state")), _keep: temp }
    }

    pub fn append(&self, tool: &str) -> Entry {
        let mut line = entry(tool);
        self.log.append(&mut line).unwrap();
        line
    }

    fn file(&self) -> PathBuf {
        self.log.root.join(".ruleline/traces/hooks.jsonl")
    }

    fn in_state(&self) -> PathBuf {
        self.log.folder().join("hooks.jsonl")
    }

    fn head(&self) -> Head {
        self.log.head().unwrap().unwrap()
    }
}

/// The lines of a file that are entries, each with whether it names the one before.
fn chained(path: &Path) -> Vec<(Entry, bool)> {
    let text = fs::read_to_string(path).unwrap();
    let mut before = sha256(b"");
    let mut found = Vec::new();
    for line in text.lines() {
        if let Ok(entry) = serde_json::from_str::<Entry>(line) {
            let follows = entry.prev == hex(&before);
            found.push((entry, follows));
            before = sha256(line.as_bytes());
        }
    }
    found
}

#[test]
fn each_line_names_the_one_before() {
    let bench = Bench::new();
    for number in 0..5 {
        bench.append(&number.to_string());
    }
    let lines = chained(&bench.file());
    assert!(lines.iter().all(|(entry, follows)| *follows && entry.stretch.is_none()), "{lines:?}");
    let ids: std::collections::HashSet<&str> = lines.iter().map(|(entry, _)| entry.id.as_str()).collect();
    assert!(ids.len() == 5 && ids.iter().all(|id| id.len() == 16));
    assert_eq!(bench.log.path(), bench.file());
    assert_eq!(fs::read_to_string(bench.log.root.join(".ruleline/traces/.gitignore")).unwrap(), "*\n");
    assert!(bench.head().is_settled());
}

#[test]
fn a_project_without_a_folder_of_ours_has_its_log_in_state() {
    let bench = Bench::new();
    fs::remove_dir(bench.log.root.join(".ruleline")).unwrap();
    bench.append("a");
    assert_eq!(chained(&bench.in_state()).len(), 1);
    assert_eq!(fs::read_dir(&bench.log.root).unwrap().count(), 0);
    assert_eq!(bench.log.path(), bench.in_state());
    // Once the project has one, the log goes on there.
    fs::create_dir(bench.log.root.join(".ruleline")).unwrap();
    let moved = bench.append("b");
    assert_eq!((moved.stretch, bench.log.path()), (Some(Stretch::Moved), bench.file()));
}

type Change<'a> = &'a dyn Fn(&str) -> String;

/// What the next line says after something was done to the file, and whether it still names the last one of ours there.
#[test]
fn s23_whatever_happened_to_the_file_the_chain_goes_on_and_says_so() {
    let half = |text: &str| text[..text.len() - 10].to_owned();
    let first = |text: &str| text.lines().next().unwrap().to_owned() + "\n";
    let cases: [(&str, Change<'_>, Option<Stretch>); 7] = [
        ("nothing", &str::to_owned, None),
        ("the last line is cut", &half, Some(Stretch::Cut)),
        ("the last line is gone", &first, Some(Stretch::Cut)),
        ("all is gone", &|_| String::new(), Some(Stretch::Cut)),
        ("a line more", &|text| text.to_owned() + "{\"v\":1}\n", Some(Stretch::Foreign)),
        ("half a line more", &|text| text.to_owned() + "{\"v\":1", Some(Stretch::Foreign)),
        ("bytes that are no text", &|text| text.to_owned() + "\0\0\0\n\n", Some(Stretch::Foreign)),
    ];
    for (what, change, stretch) in cases {
        let bench = Bench::new();
        bench.append("a");
        let last = bench.append("b");
        let text = fs::read_to_string(bench.file()).unwrap();
        let hash = hex(&sha256(text.lines().last().unwrap().as_bytes()));
        fs::write(bench.file(), change(&text)).unwrap();
        let next = bench.append("c");
        assert_eq!(next.stretch, stretch, "{what}");
        assert_eq!(next.prev, hash, "{what}: {last:?}");
        let text = fs::read_to_string(bench.file()).unwrap();
        let line = text.lines().last().unwrap();
        assert_eq!(serde_json::from_str::<Entry>(line).unwrap(), next, "{what}: a line of its own");
        assert_eq!(bench.append("d").stretch, None, "{what}: and then it goes on");
    }
}

#[test]
fn s23_a_hook_that_was_killed_between_head_and_line_is_told_from_a_stranger() {
    let interrupted = |bench: &Bench, line: &str| {
        let head = bench.head();
        let after = End { length: head.after.length + line.len() as u64 + 1, hash: sha256(line.as_bytes()) };
        let path = bench.log.folder().join("head");
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        Head { after, ..head }.write(&file).unwrap();
    };
    let line = serde_json::to_string(&Entry { prev: String::new(), ..entry("lost") }).unwrap();
    for (written, stretch) in [
        (String::new(), Some(Stretch::Lost)),
        (line[..20].to_owned(), Some(Stretch::Torn)),
        (format!("{line}\n"), None),
        (format!("{line}\nmore"), Some(Stretch::Foreign)),
        (format!("{}\n", "x".repeat(line.len())), Some(Stretch::Foreign)),
    ] {
        let bench = Bench::new();
        bench.append("a");
        let hash = bench.head().after.hash;
        interrupted(&bench, &line);
        let mut text = fs::read_to_string(bench.file()).unwrap();
        text.push_str(&written);
        fs::write(bench.file(), text).unwrap();
        let next = bench.append("c");
        assert_eq!(next.stretch, stretch, "{written:.30}");
        let is_there = written.starts_with(&format!("{line}\n"));
        assert_eq!(next.prev, hex(&if is_there { sha256(line.as_bytes()) } else { hash }), "{written:.30}");
    }
}

#[test]
fn a_lost_head_stops_nothing_and_is_seen() {
    let bench = Bench::new();
    bench.append("a");
    for damage in [None, Some("garbage"), Some("")] {
        let head = bench.log.folder().join("head");
        match damage {
            None => fs::remove_file(&head).unwrap(),
            Some(text) => fs::write(&head, text).unwrap(),
        }
        assert_eq!(bench.append("b").stretch, Some(Stretch::Headless), "{damage:?}");
        assert_eq!(bench.append("c").stretch, None);
    }
}

#[cfg(unix)]
type Prepare<'a> = &'a dyn Fn(&Path, &Path);

#[cfg(unix)]
#[test]
fn s04_a_file_that_is_not_ours_alone_takes_no_line() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let cases: [(&str, Prepare<'_>); 8] = [
        ("link", &|file, other| symlink(other, file).unwrap()),
        ("hard link", &|file, other| fs::hard_link(other, file).unwrap()),
        ("folder", &|file, _| fs::create_dir(file).unwrap()),
        ("open to others", &|file, _| {
            fs::write(file, "").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        }),
        ("FIFO", &|file, _| {
            assert!(std::process::Command::new("mkfifo").arg(file).status().unwrap().success());
        }),
        ("dangling link", &|file, other| symlink(other.with_extension("none"), file).unwrap()),
        ("linked folder", &|file, other| {
            fs::remove_dir(file.parent().unwrap()).unwrap();
            symlink(other.parent().unwrap(), file.parent().unwrap()).unwrap();
        }),
        ("linked folder of ours", &|file, other| {
            fs::remove_dir_all(file.parent().unwrap().parent().unwrap()).unwrap();
            symlink(other.parent().unwrap(), file.parent().unwrap().parent().unwrap()).unwrap();
        }),
    ];
    for (what, prepare) in cases {
        let bench = Bench::new();
        let outside = bench.log.root.with_file_name("outside");
        fs::create_dir(&outside).unwrap();
        let other = outside.join("other");
        fs::write(&other, "kept").unwrap();
        fs::create_dir(bench.log.root.join(".ruleline/traces")).unwrap();
        prepare(&bench.file(), &other);
        let told = bench.log.append(&mut entry("a")).unwrap();
        assert!(told.is_some(), "{what}");
        assert_eq!(bench.log.append(&mut entry("b")).unwrap(), None, "{what}: told once");
        assert_eq!(chained(&bench.in_state()).len(), 2, "{what}");
        assert_eq!(fs::read_to_string(&other).unwrap(), "kept", "{what}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{what}");
    }
}

#[test]
fn a_full_file_is_followed_by_another() {
    let bench = Bench::new();
    bench.append("a");
    let last = bench.append("b");
    let size = fs::metadata(bench.file()).unwrap().len();
    // Grown by a stranger up to the bound, which costs the disk nothing.
    let file = fs::OpenOptions::new().write(true).open(bench.file()).unwrap();
    file.set_len(FULL).unwrap();
    let next = bench.append("c");
    assert_eq!(next.stretch, Some(Stretch::Next));
    let more = bench.log.root.join(".ruleline/traces/hooks.1.jsonl");
    assert_eq!(chained(&more).len(), 1);
    assert_eq!(bench.log.path(), more);
    assert_eq!(bench.append("d").stretch, None);
    let text = fs::read(bench.file()).unwrap();
    let line = text[..size as usize - 1].rsplit(|byte| *byte == b'\n').next().unwrap();
    assert_eq!(serde_json::from_slice::<Entry>(line).unwrap(), last);
    assert_eq!(next.prev, hex(&sha256(line)));
}

#[test]
fn a_lock_that_is_held_is_waited_for_briefly() {
    let bench = Bench::new();
    bench.append("a");
    let (_state, held) = bench.log.hold().unwrap();
    let refused = bench.log.append(&mut entry("b")).unwrap_err();
    assert!(refused.to_string().contains("is held by another process"), "{refused}");
    drop(held);
    assert_eq!(bench.append("c").stretch, None);
}

#[test]
fn what_keeps_lines_out_of_commits_is_made_with_the_first_of_them() {
    let bench = Bench::new();
    let traces = bench.log.root.join(".ruleline/traces");
    fs::create_dir(&traces).unwrap();
    bench.append("a");
    assert_eq!(fs::read(traces.join(".gitignore")).unwrap(), IGNORED);
    fs::write(traces.join(".gitignore"), "!*\n").unwrap();
    bench.append("b");
    assert_eq!(fs::read(traces.join(".gitignore")).unwrap(), b"!*\n", "what a person wrote stays");
}

#[cfg(unix)]
#[test]
fn s23_many_at_once_lose_and_tear_nothing() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let bench = &bench;
            scope.spawn(move || {
                for number in 0..50 {
                    bench.append(&format!("{thread}-{number}"));
                }
            });
        }
    });
    let lines = chained(&bench.file());
    assert_eq!(lines.len(), 400);
    assert!(lines.iter().all(|(entry, follows)| *follows && entry.stretch.is_none()));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]
    #[test]
    fn s23_no_bytes_before_it_cost_a_line(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300), keep in 0_usize..600) {
        let bench = Bench::new();
        bench.append("a");
        let mut text = fs::read(bench.file()).unwrap();
        text.truncate(keep);
        text.extend(bytes);
        fs::write(bench.file(), &text).unwrap();
        let next = bench.append("b");
        let now = fs::read(bench.file()).unwrap();
        proptest::prop_assert!(now.starts_with(&text));
        let line = now[..now.len() - 1].rsplit(|byte| *byte == b'\n').next().unwrap();
        proptest::prop_assert_eq!(serde_json::from_slice::<Entry>(line).unwrap(), next);
    }
}
