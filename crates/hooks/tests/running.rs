//! Real scripts under the real interpreter: what comes out, in which order, and what an attacker's environment does.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use hooks::answer::{Outcome, Word};
use hooks::run::{self, Launch};
use hooks::series::{Part, run_all};
use support::{PAYLOAD, Place};

fn said(word: Word, reason: &str) -> Outcome {
    Outcome::Said { word, reason: reason.to_owned() }
}

#[test]
fn exit_codes_and_answers() {
    let place = Place::new();
    for (script, expected) in [
        ("exit 0", said(Word::Continue, "")),
        ("echo '  no rm  ' >&2; exit 2", said(Word::Deny, "no rm")),
        ("cat >/dev/null; echo x >&2; exit 1", Outcome::Failed("exit status 1: x".into())),
        ("kill -SEGV $$", Outcome::Ended("it was ended by signal 11".into())),
        (r#"echo '{"decision":"deny","reason":"nope"}'"#, said(Word::Deny, "nope")),
        (r#"echo '{"decision":"allow"}'; exit 1"#, Outcome::Failed("exit status 1".into())),
        (r#"echo '{"decision":"deny"}'; exit 2"#, said(Word::Deny, "it blocks this and printed no reason")),
        (r#"echo '{"decision":""}'"#, said(Word::Continue, "")),
        ("exec <&-; exit 0", said(Word::Continue, "")),
        ("no-such-program", Outcome::Failed(String::new())),
    ] {
        let got = place.outcome(script);
        match (&got, &expected) {
            (Outcome::Failed(why), Outcome::Failed(part)) if part.is_empty() => {
                assert!(why.starts_with("exit status 127: "), "{script}: {why}");
            }
            _ => assert_eq!(got, expected, "{script}"),
        }
    }
}

#[test]
fn scripts_get_the_payload_and_their_place() {
    let place = Place::new();
    fs::create_dir(place.folder.join("lib")).unwrap();
    fs::write(place.folder.join("lib/common.sh"), "block() { echo \"BLOCKED: $1\" >&2; exit 2; }\n").unwrap();
    let script = r#"
source "$(dirname "$0")/lib/common.sh"
read -r line
[[ $line == *'"command":"rm -rf /"'* ]] || exit 3
[[ $PWD == "$RULELINE_PROJECT_DIR" && $PWD == "$CLAUDE_PROJECT_DIR" ]] || exit 4
[[ $0 == "$RULELINE_HOOK_DIR"/it.sh ]] || exit 5
read -r more && exit 6
block "rm -rf"
"#;
    assert_eq!(place.outcome(script), said(Word::Deny, "BLOCKED: rm -rf"));
}

#[test]
fn a_large_payload_and_a_large_output_block_nobody() {
    let place = Place::new();
    let payload = format!("{{\"text\":\"{}\"}}", "x".repeat(8 << 20));
    for (script, expected) in [
        ("exit 0", said(Word::Continue, "")),
        ("wc -c >&2; exit 2", said(Word::Deny, &(payload.len() + 1).to_string())),
        ("head -c 5000000 /dev/zero >&2; head -c 5000000 /dev/zero; exit 0", said(Word::Continue, "")),
        ("exec cat", Outcome::Garbled("its answer on stdout is longer than can be read".into())),
    ] {
        place.script("it", script);
        let entries = place.entries("PreToolUse", "    - script: it\n");
        let ran = run::run(&entries[0], &place.launch("PreToolUse", &payload));
        assert_eq!(ran.outcome, expected, "{script}");
    }
}

#[test]
fn what_cannot_start_says_so() {
    let place = Place::new();
    place.script("it", "exit 0");
    let entries = place.entries("PreToolUse", "    - script: it\n");
    let unstarted = |launch: &Launch| match run::run(&entries[0], launch).outcome {
        Outcome::Unstarted(why) => why,
        other => panic!("{other:?}"),
    };
    let launch = place.launch("PreToolUse", PAYLOAD);
    assert!(unstarted(&Launch { root: Path::new("/nowhere/at/all"), ..launch }).contains("not there any more"));
    fs::remove_file(place.folder.join("it.sh")).unwrap();
    assert!(unstarted(&launch).contains("there is no file it.sh"));
    fs::create_dir(place.folder.join("it.sh")).unwrap();
    assert!(unstarted(&launch).contains("there is no file it.sh"));
    fs::remove_dir(place.folder.join("it.sh")).unwrap();
    std::os::unix::fs::symlink("/bin/true", place.folder.join("it.sh")).unwrap();
    assert!(unstarted(&launch).contains("there is no file it.sh"), "a link is no script");
}

#[test]
fn commands_are_run_without_a_shell_and_never_from_the_project() {
    let place = Place::new();
    let program = place.root.join("evil");
    fs::write(&program, "#!/bin/sh\nexit 2\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let came = |words: &str| place.came("PreToolUse", &format!("    - command: {words}\n"), true);
    assert_eq!(came("[printf, '{\"decision\": \"%s\"}', deny]").word, Word::Deny);
    assert_eq!(came("[/bin/sh, -c, 'exit 0; $(touch x)']").word, Word::Continue);
    for words in [
        "[./evil]".to_owned(),
        "[../project/evil]".to_owned(),
        format!("[{}]", program.display()),
        "[no-such-program-here]".into(),
        "[/proc/self/cwd/evil]".into(),
        format!("[{}/hooks/../project/evil]", place.folder.parent().unwrap().display()),
    ] {
        let came = came(&words);
        assert_eq!(came.word, Word::Ask, "{words}: {came:?}");
        assert_eq!(came.ran, 0, "{words}");
    }
}

/// One hook for each word, with the precedence of the whole.
#[test]
fn the_strictest_word_wins_and_a_deny_ends_it() {
    let place = Place::new();
    for (name, text) in [
        ("allow1", r#"echo '{"decision":"allow","reason":"1"}'"#),
        ("allow2", r#"echo '{"decision":"allow","reason":"2"}'"#),
        ("ask1", r#"echo '{"decision":"ask","reason":"1"}'"#),
        ("ask2", r#"echo '{"decision":"ask","reason":"2"}'"#),
        ("deny", r#"echo '{"decision":"deny","reason":"no"}'"#),
        ("go", r#"echo '{"decision":"continue","reason":"x"}'"#),
        ("fail", "exit 1"),
        ("shout", r#"echo '{"decision":"DENY"}'"#),
        ("mark", "echo mark >> marks"),
    ] {
        place.script(name, text);
    }
    for (names, word, reason) in [
        ("allow1", Word::Allow, "allow1 (hooks of X): 1"),
        ("deny", Word::Deny, "deny (hooks of X): no"),
        ("ask1", Word::Ask, "ask1 (hooks of X): 1"),
        ("allow1 deny", Word::Deny, "deny (hooks of X): no"),
        ("ask1 allow1", Word::Ask, "ask1 (hooks of X): 1"),
        ("ask1 ask2", Word::Ask, "ask2 (hooks of X): 2"),
        ("allow1 allow2", Word::Allow, "allow1 (hooks of X): 1"),
        ("allow1 ask1 allow2", Word::Ask, "ask1 (hooks of X): 1"),
        ("deny mark", Word::Deny, "deny (hooks of X): no"),
        ("ask1 deny", Word::Deny, "deny (hooks of X): no"),
        ("go", Word::Continue, ""),
        ("shout", Word::Continue, ""),
        ("fail", Word::Continue, ""),
    ] {
        let entries = names.split(' ').fold(String::new(), |text, name| format!("{text}    - script: {name}\n"));
        let came = place.came("PreToolUse", &entries, true);
        assert_eq!((came.word, came.reason.as_str()), (word, reason), "{names}");
        let noted = names.contains("fail") || names.contains("shout");
        assert_eq!(!came.notes.is_empty(), noted, "{names}: {:?}", came.notes);
    }
    assert!(!place.root.join("marks").exists(), "nothing runs behind a deny");
    let came = place.came("PreToolUse", "    - script: allow1\n", false);
    assert_eq!(came.word, Word::Continue, "a project's allow does not count");
    assert_eq!(came.notes.len(), 1);
}

#[test]
fn a_failure_is_what_its_entry_says_and_stops_nothing_behind_the_call() {
    let place = Place::new();
    place.script("fail", "echo broken >&2; exit 1");
    place.script("slow", "sleep 20");
    place.script("block", "echo R >&2; exit 2");
    for (event, entry, word) in [
        ("PreToolUse", "script: fail", Word::Continue),
        ("PreToolUse", "script: fail\n      on_error: allow", Word::Continue),
        ("PreToolUse", "script: fail\n      on_error: ask", Word::Ask),
        ("PreToolUse", "script: fail\n      on_error: deny", Word::Deny),
        ("PermissionRequest", "script: fail\n      on_error: deny", Word::Deny),
        ("PostToolUse", "script: fail\n      on_error: deny", Word::Continue),
        ("PreToolUse", "script: slow\n      timeout: 0.05", Word::Ask),
        ("PreToolUse", "script: slow\n      timeout: 0.05\n      on_error: allow", Word::Ask),
        ("PreToolUse", "script: slow\n      timeout: 0.05\n      on_error: deny", Word::Deny),
        ("PostToolUse", "script: slow\n      timeout: 0.05", Word::Continue),
        ("PostToolUse", "script: block", Word::Deny),
        ("Stop", "script: block", Word::Deny),
        ("PreToolUse", "builtin: duet", Word::Ask),
        ("PostToolUse", "builtin: memory-capture", Word::Continue),
    ] {
        let came = place.came(event, &format!("    - {entry}\n"), true);
        assert_eq!(came.word, word, "{event} {entry}: {came:?}");
        assert_eq!(came.notes.len(), usize::from(word == Word::Continue), "{event} {entry}: {came:?}");
    }
    let came = place.came("PostToolUse", "    - script: fail\n    - script: block\n", true);
    assert_eq!((came.ran, came.word), (2, Word::Deny), "what fails leaves the others running");
}

#[test]
fn t02_the_bytes_that_began_run_to_the_end() {
    // The snapshot is never written again; what is edited is the project's copy, which bash does not read.
    let place = Place::new();
    let copy = place.root.join("it.sh");
    let script = format!("sleep 0.2; cat {} >&2; exit 2", copy.display());
    fs::write(&copy, "old").unwrap();
    place.script("it", &script);
    let entries = place.entries("PreToolUse", "    - script: it\n");
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| run::run(&entries[0], &place.launch("PreToolUse", PAYLOAD)).outcome);
        fs::write(&copy, "echo EVIL").unwrap();
        running.join().unwrap()
    });
    assert_eq!(outcome, said(Word::Deny, "echo EVIL"), "the edited copy is data to the script, not its text");
}

/// Runs this test again in a process with the environment of an attacker.
#[test]
fn t07_t08_the_environment_of_the_agent_steers_nothing() {
    const AGAIN: &str = "RULELINE_TEST_HOSTILE_ENVIRONMENT";
    if std::env::var_os(AGAIN).is_some() {
        let mut place = Place::new();
        place.root = std::env::current_dir().unwrap().join("repo/inner");
        let script = r#"
for name in BASH_ENV ENV SHELLOPTS_GIVEN PS4 LD_PRELOAD LD_LIBRARY_PATH NODE_OPTIONS PYTHONSTARTUP PYTHONPATH RUBYOPT \
    PERL5OPT GIT_DIR GIT_SSH_COMMAND CDPATH ANTHROPIC_API_KEY; do
    [[ $name == PS4 ]] && continue
    [[ -n ${!name} ]] && { echo "$name" >&2; exit 2; }
done
[[ $- == *x* ]] && { echo traced >&2; exit 2; }
declare -F | grep -q hijack && { echo function >&2; exit 2; }
[[ $PATH == */proc/* || $PATH == *repo* ]] && { echo "PATH $PATH" >&2; exit 2; }
[[ -n $TMPDIR ]] && { echo TMPDIR >&2; exit 2; }
command -v helper >/dev/null && { echo helper >&2; exit 2; }
[[ :$PATH: == *::* || :$PATH: == *:.:* || :$PATH: == *:bin:* || :$PATH: == *project* ]] && { echo "PATH $PATH" >&2; exit 2; }
[[ $HOME == */elsewhere ]] && { echo HOME >&2; exit 2; }
[[ $LANG == C.UTF-8 ]] || { echo LANG >&2; exit 2; }
exit 0
"#;
        place.script("it", script);
        let entries = place.entries("PreToolUse", "    - script: it\n");
        let workspaces = [std::env::current_dir().unwrap().join("repo")];
        let launch = Launch { workspaces: &workspaces, ..place.launch("PreToolUse", PAYLOAD) };
        assert_eq!(run::run(&entries[0], &launch).outcome, said(Word::Continue, ""));
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let marker = base.path().join("marker");
    let evil = base.path().join("evil.sh");
    fs::write(&evil, format!("touch {}\n", marker.display())).unwrap();
    let bash = base.path().join("bash");
    fs::write(&bash, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    fs::set_permissions(&bash, fs::Permissions::from_mode(0o755)).unwrap();
    // A root inside a repository whose folder of programs stands first on the PATH.
    let repository = base.path().canonicalize().unwrap().join("repo");
    fs::create_dir_all(repository.join("inner")).unwrap();
    fs::create_dir_all(repository.join("bin")).unwrap();
    fs::create_dir_all(repository.join("inner/bin")).unwrap();
    for program in ["bin/helper", "bin/cat", "inner/bin/helper", "inner/bin/grep"] {
        fs::copy(&bash, repository.join(program)).unwrap();
    }
    let path = [repository.join("bin"), repository.join("inner/bin"), "/proc/self/cwd/bin".into()]
        .map(|folder| folder.display().to_string());
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "t07_t08_the_environment_of_the_agent_steers_nothing"])
        .current_dir(base.path())
        .env(AGAIN, "1")
        .env("BASH_ENV", &evil)
        .env("ENV", &evil)
        .env("SHELLOPTS", "xtrace")
        .env("PS4", format!("$(touch {})", marker.display()))
        .env("BASH_FUNC_hijack%%", format!("() {{ touch {}; }}", marker.display()))
        .env("LD_LIBRARY_PATH", base.path())
        .env("NODE_OPTIONS", "--require /evil.js")
        .env("PYTHONSTARTUP", &evil)
        .env("PYTHONPATH", base.path())
        .env("RUBYOPT", "-revil")
        .env("PERL5OPT", "-Mevil")
        .env("GIT_DIR", base.path())
        .env("GIT_SSH_COMMAND", &evil)
        .env("CDPATH", base.path())
        .env("ANTHROPIC_API_KEY", "secret")
        .env("HOME", base.path().join("elsewhere"))
        .env("LANG", "C.UTF-8")
        .env("TMPDIR", repository.join("inner"))
        .env("LC_a[$(touch x)]", "x")
        .env("PATH", format!(":.:bin:{}:{}", path.join(":"), std::env::var("PATH").unwrap()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!marker.exists(), "something of the attacker's ran");
}

#[test]
fn t20_a_grandchild_that_keeps_the_pipe_keeps_nobody_waiting() {
    let place = Place::new();
    // The one place where time is asserted: far from both what it should take and what the grandchild takes.
    for (script, expected) in [
        ("setsid sleep 6 & sleep 6", "Ended"),
        ("setsid sleep 6 & exit 0", "Said"),
        ("trap '' TERM INT; setsid sleep 6 & while :; do sleep 1; done", "Ended"),
        ("yes", "Ended"),
        ("yes >&2", "Ended"),
    ] {
        place.script("it", script);
        let entries = place.entries("PreToolUse", "    - script: it\n      timeout: 0.3\n");
        let begun = Instant::now();
        let ran = run::run(&entries[0], &place.launch("PreToolUse", PAYLOAD));
        assert!(begun.elapsed() < Duration::from_secs(4), "{script}: {:?}", begun.elapsed());
        assert!(format!("{:?}", ran.outcome).starts_with(expected), "{script}: {:?}", ran.outcome);
    }
    place.script("it", "setsid sleep 6 & exit 0");
    let entries = place.entries("PreToolUse", "    - script: it\n");
    let begun = Instant::now();
    assert_eq!(run::run(&entries[0], &place.launch("PreToolUse", PAYLOAD)).outcome, said(Word::Continue, ""));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let launch = Launch { deadline: Instant::now(), ..place.launch("PreToolUse", PAYLOAD) };
    assert_eq!(run::run(&entries[0], &launch).outcome, Outcome::Ended("no time was left for it".into()));
}

#[test]
fn an_answer_that_was_written_counts_after_the_deadline() {
    let place = Place::new();
    place.script("it", r#"echo '{"decision":"deny","reason":"in time"}'; exec 1>&-; sleep 20"#);
    let entries = place.entries("PreToolUse", "    - script: it\n      timeout: 0.5\n");
    let ran = run::run(&entries[0], &place.launch("PreToolUse", PAYLOAD));
    assert_eq!(ran.outcome, said(Word::Deny, "in time"));
}

#[test]
fn an_answer_in_a_filter_of_the_script_counts() {
    let place = Place::new();
    for script in [
        "exec > >(sleep 0.02; cat)\necho '{\"decision\":\"deny\",\"reason\":\"late\"}'",
        "exec 2> >(sleep 0.02; cat >&2)\necho late >&2; exit 2",
    ] {
        assert_eq!(place.outcome(script), said(Word::Deny, "late"), "{script}");
    }
}

#[test]
fn t20_a_hook_that_leaves_its_group_is_ended_as_well() {
    let place = Place::new();
    let alive = place.root.join("alive");
    // Into the group of this test, where no kill of the hook's own group reaches it.
    place.script(
        "it",
        "exec perl -e 'setpgrp(0, getpgrp(getppid())); select(undef, undef, undef, 1.5); open(F, \">alive\")'",
    );
    let entries = place.entries("PreToolUse", "    - script: it\n      timeout: 0.5\n");
    let outcome = run::run(&entries[0], &place.launch("PreToolUse", PAYLOAD)).outcome;
    if matches!(&outcome, Outcome::Failed(why) if why.starts_with("exit status 127")) {
        return; // no Perl here
    }
    assert!(matches!(&outcome, Outcome::Ended(_)), "{outcome:?}");
    std::thread::sleep(Duration::from_secs(2));
    assert!(!alive.exists(), "it went on after its end");
}

#[test]
fn behind_the_fact_every_hook_runs_and_every_refusal_is_told() {
    let place = Place::new();
    for name in ["a", "b", "c"] {
        place.script(name, &format!("echo {name} >> ran; echo no {name} >&2; exit 2"));
    }
    place.script("asks", r#"echo '{"decision":"ask","reason":"hm"}'"#);
    let entries = "    - script: a\n    - script: asks\n    - script: b\n    - script: c\n";
    let came = place.came("PostToolUse", entries, true);
    assert_eq!((came.word, came.ran), (Word::Deny, 4));
    assert_eq!(came.reason, "a (hooks of X): no a; b (hooks of X): no b; c (hooks of X): no c");
    assert_eq!(fs::read_to_string(place.root.join("ran")).unwrap(), "a\nb\nc\n");
    for event in ["PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact"] {
        assert_eq!(place.came(event, entries, true).ran, 1, "{event}");
    }
}

#[test]
fn s15_hooks_that_no_time_is_left_for_ask() {
    let place = Place::new();
    place.script("slow", "sleep 9");
    place.script("deny", "exit 2");
    let entries = place.entries("PreToolUse", "    - script: slow\n    - script: deny\n    - script: deny\n");
    let entries: Vec<_> = entries.iter().collect();
    let launch =
        Launch { deadline: Instant::now() + Duration::from_millis(300), ..place.launch("PreToolUse", PAYLOAD) };
    let came = run_all(&[Part { whose: "hooks of X", entries: &entries, launch, may_allow: true }]);
    assert_eq!(came.word, Word::Ask);
    assert_eq!(came.reason, "deny (hooks of X): it could not judge this (no time was left for it); a person decides");
}

#[test]
fn s19_what_a_hook_prints_reorders_and_colours_nothing() {
    let place = Place::new();
    let came = |script: &str| {
        place.script("it", script);
        let came = place.came("PreToolUse", "    - script: it\n      on_error: ask\n", true);
        [vec![came.reason], came.notes].concat().join("\n")
    };
    for script in [
        r"printf '\033[2J\r\xe2\x80\xaeevil\xff\x00' >&2; exit 2",
        r"printf '\033[2J\r\xe2\x80\xaeevil' >&2; exit 1",
        r#"printf '{"decision":"ask","reason":"\\u001b[2J\\u202eevil"}'"#,
        r#"printf '{"decision":"\\u001b[2J\\u202eevil"}'"#,
        r#"printf '{"\\u001b\\u202e'"#,
    ] {
        let shown = came(script);
        assert!(!shown.is_empty(), "{script}");
        let bad = |it: char| (it.is_control() && it != '\n') || it == '\u{202e}';
        assert!(!shown.contains(bad), "{script}: {shown:?}");
    }
}
