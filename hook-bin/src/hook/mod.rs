//! `ruleline hook`: one event on stdin, one answer on stdout, whatever happens.
//!
//! An event that has nothing to say returns before anything is looked at. Judging runs on a thread of its own while
//! this one watches the clock (S15): at the deadline, and when the thread panics, the configured answer is given (S16).
//! Stdout carries the answer and nothing else.

pub mod arguments;
pub mod failpoint;
pub mod input;
pub mod problems;
mod work;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Instant;

use agents::{Answer, Decision, Event, EventKind, Head, Permission, RenderOptions};
use guard::config::OnFailure;

use crate::output;
use arguments::{Arguments, Guard};

const HELP: &str = "\
Answers one event of a coding agent: the event on stdin, the answer on stdout.

Usage: ruleline hook [GUARD] --agent NAME [FLAGS]

Guards (all of them when none is named):
  pre-edit                 what judges edits: rules, shell writes, self-protection

Flags:
  --agent NAME             who speaks: claude, codex
  --event EVENT            what happened, where the payload does not say
  --rules FILE             a rulebook elsewhere; with pre-edit in place of the project's, else beside it
  --project DIR            the project's root
  --state-dir DIR          another state folder, for tests and containers
  --approve                say allow where an edit was judged and nothing was found
  --no-instruction-check   leave out the check for text that instructs reviewers
  --no-server              ask no running server
  --no-log                 write nothing to problems.log
";

/// The stack of the thread that judges, in bytes.
const STACK: usize = 16 << 20;

/// What a panic said last.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// What could not be judged, and why.
struct Failure {
    /// In one line.
    reason: String,
    /// Only a wrong command line: the user's settings say nothing about it.
    usage: bool,
}

/// Answers the event on stdin.
pub fn run(words: &[OsString]) -> ExitCode {
    let begun = Instant::now();
    panic::set_hook(Box::new(|information| {
        if let Ok(mut last) = PANIC.lock() {
            *last = information.to_string();
        }
    }));
    let arguments = Arguments::read(words);
    if arguments.help {
        output::print(HELP);
        return ExitCode::SUCCESS;
    }
    for absent in &arguments.absent {
        output::complain(&format!("this version has no {absent}"));
    }
    let answer = answer(&arguments, begun + arguments.deadline);
    if let Some(line) = &answer.stderr {
        output::complain(line.strip_prefix("ruleline ").unwrap_or(line));
    }
    if let Some(line) = answer.stdout
        && let Err(error) = output::deliver(&format!("{line}\n"))
    {
        // The one answer that every agent takes without reading stdout.
        output::complain(&format!("the answer cannot be written ({error}): {line}"));
        std::process::exit(2);
    }
    // A thread that hangs must not keep the process.
    std::process::exit(i32::from(answer.exit));
}

fn answer(arguments: &Arguments, deadline: Instant) -> Answer {
    let read = input::read(agents::MAX_PAYLOAD, deadline);
    if let (Some(wrong), None) = (&arguments.wrong, arguments.agent) {
        return Answer::usage_error(wrong);
    }
    let parsed = read.map_err(|error| error.to_string()).and_then(|bytes| {
        let parse = || {
            failpoint::reach("parse");
            agents::parse(arguments.agent, arguments.event.as_deref(), &bytes)
        };
        let parsed = panic::catch_unwind(AssertUnwindSafe(parse)).map_err(|_| panic_words());
        parsed.map(|parsed| (parsed, bytes))
    });
    let (event, payload) = match parsed {
        Ok((Ok(event), payload)) => (event, payload),
        Ok((Err(error), _)) => match error.head() {
            Some(head) => {
                return fail(arguments, &presumed(head), &Failure { reason: error.reason.clone(), usage: false });
            }
            None => return Answer::usage_error(&error.reason),
        },
        Err(reason) => return fail_unread(arguments, reason),
    };
    if let Some(wrong) = &arguments.wrong {
        return fail(arguments, &event.head(), &Failure { reason: wrong.clone(), usage: true });
    }
    let everything = arguments.guard == Guard::All;
    if matches!(arguments.guard, Guard::Absent(_))
        || !(guard::concerns(&event, everything) || everything && work::may_have_hooks(arguments, &event))
    {
        return Answer::silent();
    }
    watch(arguments, event, payload, deadline)
}

/// Judges on another thread, and answers at the deadline whatever that thread does.
fn watch(arguments: &Arguments, event: Event, payload: Vec<u8>, deadline: Instant) -> Answer {
    let (done, result) = mpsc::channel();
    let strictness: Arc<OnceLock<OnFailure>> = Arc::default();
    let shared = (Arc::new(event), arguments.clone(), Arc::clone(&strictness));
    let event = Arc::clone(&shared.0);
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        let (event, arguments, strictness) = shared;
        let judged = panic::catch_unwind(AssertUnwindSafe(|| {
            failpoint::reach("judge");
            work::answer(&arguments, &event, &payload, deadline, &strictness)
        }));
        let _ = done.send(judged.map_err(|_| panic_words()));
        // The process ends now; a thread that ends beside it would only be in its way.
        loop {
            thread::park();
        }
    });
    if let Err(error) = worker {
        return fail(
            arguments,
            &event.head(),
            &Failure { reason: format!("no thread to judge on ({error})"), usage: false },
        );
    }
    let left = deadline.saturating_duration_since(Instant::now());
    let reason = match result.recv_timeout(left) {
        Ok(Ok(answer)) => return answer,
        Ok(Err(reason)) => reason,
        Err(RecvTimeoutError::Timeout) => format!("judging took longer than {} ms", arguments.deadline.as_millis()),
        Err(RecvTimeoutError::Disconnected) => "the thread that judges ended without a word".to_owned(),
    };
    let failure = Failure { reason, usage: false };
    match strictness.get() {
        Some(known) => fail_as(arguments, &event.head(), &failure, *known),
        None => fail(arguments, &event.head(), &failure),
    }
}

fn panic_words() -> String {
    let said = PANIC.lock().map(|last| last.clone()).unwrap_or_default();
    format!("an error of ruleline itself: {said}")
}

/// Nothing of the payload is known: only the command line tells who asks and about what.
fn fail_unread(arguments: &Arguments, reason: String) -> Answer {
    match agents::parse(arguments.agent, arguments.event.as_deref(), b"") {
        Err(error) => match error.head() {
            Some(head) => fail(arguments, &presumed(head), &Failure { reason, usage: false }),
            None => Answer::usage_error(&reason),
        },
        Ok(event) => fail(arguments, &event.head(), &Failure { reason, usage: false }),
    }
}

/// What cannot be told to be another event is a call about to run: an answer too many is better than none.
fn presumed(head: Head<'_>) -> Head<'_> {
    if head.kind == EventKind::Other && head.name.is_empty() {
        Head { kind: EventKind::PreToolUse, ..head }
    } else {
        head
    }
}

fn fail(arguments: &Arguments, head: &Head, failure: &Failure) -> Answer {
    let settings = || work::user_settings(arguments).on_failure;
    let strictness = if failure.usage || !head.kind.decides() {
        OnFailure::Ask
    } else {
        panic::catch_unwind(AssertUnwindSafe(settings)).unwrap_or(OnFailure::Ask)
    };
    fail_as(arguments, head, failure, strictness)
}

/// S17: only where a decision is due is it asked; elsewhere the event's neutral answer is given, and the failure noted.
fn fail_as(arguments: &Arguments, head: &Head, failure: &Failure, strictness: OnFailure) -> Answer {
    let reason = rules::plain::plain(&failure.reason, rules::plain::WHY);
    if !arguments.no_log {
        work::note(arguments, head, &reason);
    }
    if !head.kind.decides() {
        return Answer { stderr: Some(reason), ..Answer::silent() };
    }
    let what = if failure.usage { "was called wrongly" } else { "could not judge this" };
    let decision = Decision {
        permission: match strictness {
            OnFailure::Ask => Permission::Ask,
            OnFailure::Deny => Permission::Deny,
        },
        reason: format!("ruleline {what}: {reason}; a person decides"),
        ..Decision::silent()
    };
    let answer = agents::render(head, &decision, RenderOptions::default());
    Answer { stderr: Some(reason), ..answer }
}
