//! The log under everything that can happen to it: many hooks at once, hooks that are killed, files in its place that
//! are not ours, lines that somebody changed. The answer is the same each time, and out before its line.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/log.rs"]
mod log;

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hook::Project;
use serde_json::{Value, json};

const RULES: &str = "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"eval\"]\n";
/// A user that is neither the one who runs this nor root.
const SOMEBODY: u32 = 54321;
/// A log of this size takes no line more.
const FULL: u64 = 64 << 20;

fn project() -> Project {
    Project::with_rules(RULES)
}

fn refused(project: &Project) -> Value {
    project.payload_write("a.py", "x = eval(y)\n")
}

fn hook(project: &Project, payload: &Value) -> hook::Said {
    project.hook(&["--agent", "claude"], payload.to_string())
}

/// Starts a hook that the test goes on beside.
fn start(project: &Project, payload: &Value, fault: &str) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ruleline"))
        .args(["hook", "--agent", "claude", "--state-dir"])
        .arg(project.state())
        .current_dir(&project.root)
        .env_clear()
        .env("RULELINE_TEST_HOME", &project.home)
        .env("RULELINE_TEST_FAIL", fault)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    child
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn s23_64_hooks_at_once_leave_one_unbroken_chain() {
    let project = project();
    thread::scope(|scope| {
        for number in 0..64 {
            let project = &project;
            scope.spawn(move || {
                let (mut payload, expected) = match number % 4 {
                    0 => (refused(project), "deny"),
                    1 => (project.payload_write("b.py", "x = 1\n"), "silent"),
                    2 => (project.payload("Bash", &json!({"command": "ls"})), "silent"),
                    _ => (project.payload_write(".claude/settings.json", "{}"), "ask"),
                };
                payload["session_id"] = json!(format!("s{number}"));
                let said = hook(project, &payload);
                assert_eq!(said.decision(), expected, "{said:?}");
            });
        }
    });
    let file = log::in_project(&project);
    let lines = log::lines(&file);
    let of = |member: &str| lines.iter().map(|line| line[member].as_str().unwrap()).collect::<HashSet<_>>().len();
    assert_eq!((lines.len(), of("session"), of("id")), (64, 64, 64));
    log::assert_unbroken(&file);
    let decided = |outcome: &str| lines.iter().filter(|line| line["decision"] == outcome).count();
    assert_eq!(["deny", "allow", "none", "ask"].map(decided), [16; 4]);
    // The state folder knows where it ends.
    let head = fs::read_to_string(log::head(&project)).unwrap();
    assert!(head.contains(&log::digest(log::raw(&file).last().unwrap())), "{head}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(file.with_file_name(".gitignore")).unwrap(), "*\n");
}

#[test]
fn the_answer_is_out_before_its_line_is_written() {
    let project = project();
    assert_eq!(hook(&project, &refused(&project)).decision(), "deny");
    let mut child = start(&project, &refused(&project), "hang@record");
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("\"permissionDecision\":\"deny\""), "{answer}");
    assert_eq!(log::lines(&log::in_project(&project)).len(), 1, "the line is not written yet");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(hook(&project, &refused(&project)).decision(), "deny");
    assert_eq!(log::lines(&log::in_project(&project)).len(), 2);
    log::assert_unbroken(&log::in_project(&project));

    // A log that hangs does not keep the process, and one that breaks changes nothing.
    for fault in ["hang@record", "panic@record"] {
        let mut child = start(&project, &refused(&project), fault);
        until("the hook ends", || child.try_wait().unwrap().is_some());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{fault}");
        assert!(String::from_utf8(output.stdout).unwrap().contains("\"deny\""), "{fault}");
    }
    let mut quiet = start(&project, &project.payload("Read", &json!({"file_path": "/x"})), "panic@record");
    assert_eq!(quiet.wait().unwrap().code(), Some(0));
}

#[test]
fn s23_hooks_killed_at_any_moment_leave_a_log_that_goes_on() {
    let project = project();
    hook(&project, &refused(&project));
    for round in 0..24 {
        let mut children: Vec<Child> = (0..3).map(|_| start(&project, &refused(&project), "")).collect();
        thread::sleep(Duration::from_micros(1500 * round));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    let said = hook(&project, &refused(&project));
    assert_eq!((said.decision().as_str(), said.stderr.as_str()), ("deny", ""));
    let file = log::in_project(&project);
    let lines = log::lines(&file);
    assert_eq!(log::chain(&file).len(), lines.len(), "each whole line hangs together with the last");
    let known = [Value::Null, json!("lost"), json!("torn")];
    assert!(lines.iter().all(|line| known.contains(&line["stretch"])), "{lines:#?}");
    // Nothing is left locked, and the next line has nothing to say of what was.
    hook(&project, &refused(&project));
    assert_eq!(log::last(&file)["stretch"], Value::Null);
}

#[test]
fn s23_what_a_hook_left_that_was_killed_in_the_midst_is_told_from_what_a_stranger_did() {
    // The head names a line that is to come: as a hook leaves it that is killed before or within its one write.
    for (kept, stretch) in [(0, json!("lost")), (40, json!("torn")), (usize::MAX, Value::Null)] {
        let project = project();
        hook(&project, &refused(&project));
        let file = log::in_project(&project);
        let (short, head) = (fs::read(&file).unwrap(), fs::read_to_string(log::head(&project)).unwrap());
        hook(&project, &refused(&project));
        let whole = fs::read(&file).unwrap();
        let after = fs::read_to_string(log::head(&project)).unwrap();
        // `before` of the head before, `after` of the head after.
        let (first, second): (Vec<&str>, Vec<&str>) =
            (head.split_whitespace().collect(), after.split_whitespace().collect());
        let text = [&second[..4], &first[6..8], &second[6..8]].concat().join(" ") + " ";
        fs::write(log::head(&project), format!("{text}{}\n", &log::digest(&text)[..16])).unwrap();
        let end = short.len().saturating_add(kept).min(whole.len());
        fs::write(&file, &whole[..end]).unwrap();
        assert_eq!(hook(&project, &refused(&project)).stderr, "", "{kept}");
        let text = fs::read_to_string(&file).unwrap();
        let line: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(line["stretch"], stretch, "{kept}");
        let follows = if kept == usize::MAX { &whole[short.len()..] } else { &short[..] };
        assert_eq!(line["prev"], log::digest(std::str::from_utf8(follows).unwrap().trim_end()), "{kept}");
    }
}

type Prepare<'a> = &'a dyn Fn(&Path, &Path) -> bool;

/// What may stand in the place of a file of ours; the other path is a file that must stay as it is. False where this
/// user cannot make it.
const HOSTILE: [(&str, Prepare<'static>); 8] = [
    ("a link", &|file, other| symlink(other, file).is_ok()),
    ("a link to nothing", &|file, other| symlink(other.with_extension("none"), file).is_ok()),
    ("a second name", &|file, other| fs::hard_link(other, file).is_ok()),
    ("a FIFO", &|file, _| Command::new("mkfifo").arg(file).status().unwrap().success()),
    ("a device", &|file, _| symlink("/dev/zero", file).is_ok()),
    ("a folder", &|file, _| fs::create_dir(file).is_ok()),
    ("somebody else's", &|file, _| {
        fs::write(file, "").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        let is_theirs = chown(file, Some(SOMEBODY), None).is_ok();
        is_theirs || fs::remove_file(file).is_err()
    }),
    ("open to others", &|file, _| {
        fs::write(file, "").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).is_ok()
    }),
];

#[test]
fn s04_what_stands_in_the_place_of_the_log_takes_no_line_and_changes_no_answer() {
    for (what, prepare) in HOSTILE {
        let project = project();
        let other = project.outside.join("other");
        fs::write(&other, "kept").unwrap();
        fs::create_dir(project.root.join(".ruleline/traces")).unwrap();
        if !prepare(&log::in_project(&project), &other) {
            continue;
        }
        let said = hook(&project, &refused(&project));
        assert_eq!(said.decision(), "deny", "{what}: {said:?}");
        assert!(said.stderr.contains("hooks.jsonl") && said.stderr.contains("state folder"), "{what}: {said:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{what}: {said:?}");
        let again = hook(&project, &refused(&project));
        assert_eq!((again.decision().as_str(), again.stderr.as_str()), ("deny", ""), "{what}: told once");
        assert_eq!(log::lines(&log::in_state(&project)).len(), 2, "{what}");
        log::assert_unbroken(&log::in_state(&project));
        assert_eq!(fs::read_to_string(&other).unwrap(), "kept", "{what}");
        assert_eq!(fs::read_dir(&project.outside).unwrap().count(), 1, "{what}");
    }
}

#[test]
fn s04_a_linked_folder_on_the_way_takes_no_line() {
    let project = project();
    symlink(&project.outside, project.root.join(".ruleline/traces")).unwrap();
    assert_eq!(hook(&project, &refused(&project)).decision(), "deny");
    assert_eq!(fs::read_dir(&project.outside).unwrap().count(), 0);
    assert_eq!(log::lines(&log::in_state(&project)).len(), 1);
}

#[test]
fn s23_what_stands_in_the_place_of_the_head_is_not_followed_and_changes_no_answer() {
    for (what, prepare) in HOSTILE {
        let project = project();
        hook(&project, &refused(&project));
        let other = project.outside.join("other");
        fs::write(&other, "kept").unwrap();
        let head = log::head(&project);
        fs::remove_file(&head).unwrap();
        if !prepare(&head, &other) {
            continue;
        }
        let said = hook(&project, &refused(&project));
        assert_eq!(said.decision(), "deny", "{what}: {said:?}");
        assert!(said.stderr.contains("this decision is not in the log") && said.stderr.contains("head"), "{said:?}");
        assert_eq!(log::lines(&log::in_project(&project)).len(), 1, "{what}");
        assert_eq!(fs::read_to_string(&other).unwrap(), "kept", "{what}");
        // Once it is gone the log goes on and says that its end was not known.
        let _ = fs::remove_file(&head).or_else(|_| fs::remove_dir(&head));
        assert_eq!(hook(&project, &refused(&project)).stderr, "", "{what}");
        assert_eq!(log::last(&log::in_project(&project))["stretch"], "headless", "{what}");
    }
}

#[test]
fn s23_a_head_of_any_bytes_or_size_costs_no_line() {
    for (what, write) in [
        ("nothing", &(|head: &Path| fs::write(head, "").unwrap()) as &dyn Fn(&Path)),
        ("text", &|head: &Path| fs::write(head, "1 p 00000 t 99999999999999999999 x").unwrap()),
        ("bytes", &|head: &Path| fs::write(head, [0xff; 201]).unwrap()),
        ("a flipped digit", &|head: &Path| {
            let text = fs::read_to_string(head).unwrap();
            let flipped = text.replacen('0', "1", 1);
            fs::write(head, flipped).unwrap();
        }),
        ("a terabyte", &|head: &Path| fs::OpenOptions::new().write(true).open(head).unwrap().set_len(1 << 40).unwrap()),
    ] {
        let project = project();
        hook(&project, &refused(&project));
        let head = log::head(&project);
        write(&head);
        let said = hook(&project, &refused(&project));
        assert_eq!((said.decision().as_str(), said.stderr.as_str()), ("deny", ""), "{what}");
        let line = log::last(&log::in_project(&project));
        assert_eq!(line["stretch"], "headless", "{what}");
        hook(&project, &refused(&project));
        let line = log::last(&log::in_project(&project));
        assert_eq!((log::lines(&log::in_project(&project)).len(), &line["stretch"]), (3, &Value::Null), "{what}");
    }
}

#[test]
fn s23_a_giant_log_is_followed_by_another_file_and_never_read() {
    let project = project();
    hook(&project, &refused(&project));
    let file = log::in_project(&project);
    let before = log::raw(&file).pop().unwrap();
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(FULL << 14).unwrap();
    assert_eq!(hook(&project, &refused(&project)).decision(), "deny");
    let next = file.with_file_name("hooks.1.jsonl");
    let line = log::last(&next);
    assert_eq!((&line["stretch"], &line["prev"]), (&json!("next"), &json!(log::digest(&before))));
    assert_eq!(fs::metadata(&file).unwrap().len(), FULL << 14, "nothing was written to it");
}

#[test]
fn a_log_that_somebody_holds_delays_no_answer_and_is_told() {
    let project = project();
    hook(&project, &refused(&project));
    let held = fs::File::open(log::head(&project)).unwrap();
    held.lock().unwrap();
    let said = hook(&project, &refused(&project));
    assert_eq!(said.decision(), "deny");
    assert!(said.stderr.contains("is held by another process"), "{said:?}");
    held.unlock().unwrap();
    assert_eq!(hook(&project, &refused(&project)).stderr, "");
    log::assert_unbroken(&log::in_project(&project));
}

#[test]
fn a_disk_that_takes_no_more_costs_the_line_and_not_the_answer() {
    let project = project();
    hook(&project, &refused(&project));
    let payload = refused(&project).to_string();
    let say = || {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_ruleline")]);
        command.args(["hook", "--agent", "claude", "--state-dir"]).arg(project.state());
        command.current_dir(&project.root).env_clear().env("RULELINE_TEST_HOME", &project.home);
        hook::say(command, payload.as_bytes())
    };
    let first = say();
    assert_eq!(first.decision(), "deny", "{first:?}");
    assert!(first.stderr.contains("this decision is not in the log"), "{first:?}");
    let second = say();
    assert_eq!((second.decision().as_str(), second.stderr.as_str()), ("deny", ""), "told once");
    assert_eq!(hook(&project, &refused(&project)).stderr, "");
    assert_eq!(log::lines(&log::in_project(&project)).len(), 2);
    log::assert_unbroken(&log::in_project(&project));
}

#[test]
fn s23_what_somebody_did_to_the_lines_shows() {
    type Tamper<'a> = &'a dyn Fn(&mut Vec<String>);
    let cases: [(&str, Tamper<'_>, Value); 8] = [
        ("a changed line", &|lines| lines[1] = lines[1].replace("deny", "none"), Value::Null),
        ("a changed last line", &|lines| lines[3] = lines[3].replace("deny", "none"), Value::Null),
        ("two lines in another order", &|lines| lines.swap(1, 2), Value::Null),
        ("a line less", &|lines| drop(lines.remove(1)), json!("cut")),
        ("the last line less", &|lines| drop(lines.pop()), json!("cut")),
        ("no line", &Vec::clear, json!("cut")),
        ("a line more", &|lines| lines.push(lines[3].replace("deny", "none")), json!("foreign")),
        (
            "a line that follows",
            &|lines| {
                let mut more: Value = serde_json::from_str(&lines[3]).unwrap();
                more["prev"] = json!(log::digest(&lines[3]));
                lines.push(more.to_string());
            },
            json!("foreign"),
        ),
    ];
    for (what, tamper, stretch) in cases {
        let project = project();
        let file = log::in_project(&project);
        for _ in 0..4 {
            hook(&project, &refused(&project));
        }
        let mut lines = log::raw(&file);
        tamper(&mut lines);
        fs::write(&file, lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>()).unwrap();
        let said = hook(&project, &refused(&project));
        assert_eq!((said.decision().as_str(), said.stderr.as_str()), ("deny", ""), "{what}");
        assert_eq!(log::last(&file)["stretch"], stretch, "{what}");
        let (chain, all) = (log::chain(&file).len(), log::lines(&file).len());
        assert!(chain < all || stretch == "cut", "{what}: the chain is whole");
    }
}

#[test]
fn s23_a_log_that_came_with_the_repository_is_not_gone_on_with() {
    let project = project();
    let other = project.base().join("clone");
    hook(&project, &refused(&project));
    fs::rename(&project.root, &other).unwrap();
    // The same lines under another root: nothing of this user's is known of them.
    let payload = refused(&project).to_string().replace(project.root.to_str().unwrap(), other.to_str().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_ruleline"));
    command.args(["hook", "--agent", "claude", "--state-dir"]).arg(project.state());
    command.current_dir(&other).env_clear().env("RULELINE_TEST_HOME", &project.home);
    assert_eq!(hook::say(command, payload.as_bytes()).decision(), "deny");
    let line = log::last(&other.join(".ruleline/traces/hooks.jsonl"));
    assert_eq!((&line["stretch"], &line["prev"]), (&json!("headless"), &json!(log::digest(""))));
}
