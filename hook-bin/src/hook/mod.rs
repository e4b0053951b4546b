//! `ruleline hook`: one event on stdin, one answer on stdout, whatever happens.
//!
//! An event that has nothing to say returns before anything is looked at. Judging runs on a thread of its own while
//! this one watches the clock (S15): at the deadline, and when the thread panics, the configured answer is given (S16).
//! Stdout carries the answer and nothing else; the line of the log is written behind it.

pub mod arguments;
pub mod failpoint;
pub mod input;
pub mod problems;
mod record;
mod work;

use std::cell::LazyCell;
use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use agents::{Answer, Decision, Event, EventKind, Head, Permission, RenderOptions};
use guard::assist::Part;
use guard::config::OnFailure;
use system::looks;

use crate::output;
use arguments::{Arguments, Guard};
use record::Record;
use work::Worded;

const HELP: &str = "\
Answers one event of a coding agent: the event on stdin, the answer on stdout.

Usage: ruleline hook [GUARD] --agent NAME [FLAGS]

Guards (all of them when none is named):
  pre-edit                 what judges edits: rules, shell writes, self-protection
  remind, reset            reminds an agent that searches and reads of the symbol index; begins anew
  auto-approve             approves the symbolic tools that the user's settings name
  plan-guard, plan-context keeps symbolic tools that edit out of plan mode; says so at the prompt
  activate, cleanup        tells a session that begins what there is; removes what was counted in it

Flags:
  --agent NAME             who speaks: claude, codex
  --event EVENT            what happened, where the payload does not say
  --rules FILE             a rulebook elsewhere; with pre-edit in place of the project's, else beside it
  --project DIR            the project's root
  --state-dir DIR          another state folder, for tests and containers
  --approve                say allow where an edit was judged and nothing was found
  --no-instruction-check   leave out the check for text that instructs reviewers
  --no-server              ask no running server
  --no-log                 record nothing, neither in the log of decisions nor in problems.log
";

/// The stack of the thread that judges, in bytes.
const STACK: usize = 16 << 20;

/// How long the process stays for the line of the log once the answer is out.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// What a panic said last.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// What could not be judged, and why.
struct Failure {
    /// In one line.
    reason: String,
    /// Only a wrong command line: the user's settings say nothing about it.
    usage: bool,
    /// What the settings say, where they were read before.
    known: Option<OnFailure>,
    /// When the process began.
    begun: Instant,
}

/// An answer, and what is done once it is out.
struct Reply<'a> {
    answer: Answer,
    then: Option<Box<dyn FnOnce() + 'a>>,
}

impl From<Answer> for Reply<'_> {
    fn from(answer: Answer) -> Self {
        Reply { answer, then: None }
    }
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
    let exit = looks::once(|| answer(&arguments, begun));
    // A thread that hangs must not keep the process.
    std::process::exit(i32::from(exit));
}

/// Gives the answer, does what is left, and says what to exit with.
fn answer(arguments: &Arguments, begun: Instant) -> u8 {
    let Reply { answer: Answer { stdout, stderr, mut exit }, then } = reply(arguments, begun);
    if let Some(line) = &stderr {
        output::complain(line.strip_prefix("ruleline ").unwrap_or(line));
    }
    if let Some(line) = stdout
        && let Err(error) = output::deliver(&format!("{line}\n"))
    {
        output::complain(&format!("the answer cannot be written ({error}): {line}"));
        // The one answer that every agent takes without reading stdout.
        exit = 2;
    }
    if let Some(then) = then {
        let _ = panic::catch_unwind(AssertUnwindSafe(then));
    }
    exit
}

fn reply(arguments: &Arguments, begun: Instant) -> Reply<'_> {
    let deadline = begun + arguments.deadline;
    let read = input::read(agents::MAX_PAYLOAD, deadline);
    if let (Some(wrong), None) = (&arguments.wrong, arguments.agent) {
        return Answer::usage_error(wrong).into();
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
        Ok((Err(error), _)) => {
            return match error.head() {
                Some(head) => Failure::of(&error.reason, begun).reply(arguments, &presumed(head), None),
                None => Answer::usage_error(&error.reason).into(),
            };
        }
        Err(reason) => return fail_unread(arguments, &reason, begun),
    };
    if let Some(wrong) = &arguments.wrong {
        let failure = Failure { usage: true, ..Failure::of(wrong, begun) };
        return failure.reply(arguments, &event.head(), Some(&event));
    }
    if matches!(arguments.guard, Guard::Absent(_)) {
        return Answer::silent().into();
    }
    let everything = arguments.guard == Guard::All;
    let folders = LazyCell::new(|| work::folders(arguments));
    let concerns = match arguments.guard {
        Guard::Part(part) => guard::assist::concerns(&event, part),
        _ => {
            guard::concerns(&event, everything)
                || work::may_lose_unsaved(folders.as_ref(), &event)
                || everything && guard::assist::concerns(&event, Part::All)
                || everything && work::may_have_hooks(folders.as_ref(), &event)
        }
    };
    if !concerns {
        let then = move || {
            if let Some(record) = Record::quiet(arguments, folders.as_ref(), &event, begun) {
                record.write();
            }
        };
        return Reply { answer: Answer::silent(), then: Some(Box::new(then)) };
    }
    watch(arguments, event, payload, begun)
}

/// Judges on another thread, and answers at the deadline whatever that thread does.
fn watch(arguments: &Arguments, event: Event, payload: Vec<u8>, begun: Instant) -> Reply<'_> {
    let deadline = begun + arguments.deadline;
    let (done, result) = mpsc::channel();
    let (go_on, is_out) = mpsc::channel();
    let (written, is_written) = mpsc::channel();
    let strictness: Arc<OnceLock<OnFailure>> = Arc::default();
    let shared = (Arc::new(event), arguments.clone(), Arc::clone(&strictness));
    let event = Arc::clone(&shared.0);
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        let (event, arguments, strictness) = shared;
        looks::once(|| {
            let judged = panic::catch_unwind(AssertUnwindSafe(|| {
                failpoint::reach("judge");
                let Worded { answer, record } =
                    work::answer(&arguments, &event, &payload, (begun, deadline), &strictness);
                match record {
                    Some(record) if record.comes_first() => {
                        write(record);
                        (answer, None)
                    }
                    record => (answer, record),
                }
            }));
            let (judged, record) = match judged {
                Ok((answer, record)) => (Ok(answer), record),
                Err(_) => (Err(panic_words()), None),
            };
            let _ = done.send(judged);
            if let Some(record) = record
                && is_out.recv() == Ok(())
            {
                write(record);
            }
        });
        let _ = written.send(());
        // The process ends now; a thread that ends beside it would only be in its way.
        loop {
            thread::park();
        }
    });
    if let Err(error) = worker {
        let failure = Failure::of(&format!("no thread to judge on ({error})"), begun);
        return failure.reply(arguments, &event.head(), Some(&event));
    }
    let left = deadline.saturating_duration_since(Instant::now());
    let reason = match result.recv_timeout(left) {
        Ok(Ok(answer)) => {
            let then = move || {
                let _ = go_on.send(());
                let _ = is_written.recv_timeout(AFTERWARDS);
            };
            return Reply { answer, then: Some(Box::new(then)) };
        }
        Ok(Err(reason)) => reason,
        Err(RecvTimeoutError::Timeout) => format!("judging took longer than {} ms", arguments.deadline.as_millis()),
        Err(RecvTimeoutError::Disconnected) => "the thread that judges ended without a word".to_owned(),
    };
    let failure = Failure { known: strictness.get().copied(), ..Failure::of(&reason, begun) };
    failure.reply(arguments, &event.head(), Some(&event))
}

/// Writes a line of the log, whatever that comes to.
fn write(record: Record) {
    let _ = panic::catch_unwind(AssertUnwindSafe(|| record.write()));
}

fn panic_words() -> String {
    let said = PANIC.lock().map(|last| last.clone()).unwrap_or_default();
    format!("an error of ruleline itself: {said}")
}

/// Nothing of the payload is known: only the command line tells who asks and about what.
fn fail_unread<'a>(arguments: &'a Arguments, reason: &str, begun: Instant) -> Reply<'a> {
    let failure = Failure::of(reason, begun);
    match agents::parse(arguments.agent, arguments.event.as_deref(), b"") {
        Err(error) => match error.head() {
            Some(head) => failure.reply(arguments, &presumed(head), None),
            None => Answer::usage_error(reason).into(),
        },
        Ok(event) => failure.reply(arguments, &event.head(), None),
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

impl Failure {
    fn of(reason: &str, begun: Instant) -> Failure {
        let reason = rules::plain::plain(reason, rules::plain::WHY);
        Failure { reason, usage: false, known: None, begun }
    }

    /// What becomes of the event.
    fn strictness(&self, arguments: &Arguments, head: &Head) -> OnFailure {
        let settings = || work::user_settings(arguments).on_failure;
        match self.known {
            Some(known) => known,
            None if self.usage || !head.kind.decides() => OnFailure::Ask,
            None => panic::catch_unwind(AssertUnwindSafe(settings)).unwrap_or(OnFailure::Ask),
        }
    }

    /// S17: only where a decision is due is it asked; elsewhere the event's neutral answer is given, and the failure
    /// noted. `event` is what is known of it.
    fn reply<'a>(&self, arguments: &'a Arguments, head: &Head, event: Option<&Event>) -> Reply<'a> {
        let reason = &self.reason;
        if !arguments.no_log {
            work::note(arguments, head, reason);
        }
        let (decision, stdout) = if head.kind.decides() && arguments.guard.judges() {
            let what = if self.usage { "was called wrongly" } else { "could not judge this" };
            let decision = Decision {
                permission: match self.strictness(arguments, head) {
                    OnFailure::Ask => Permission::Ask,
                    OnFailure::Deny => Permission::Deny,
                },
                reason: format!("ruleline {what}: {reason}; a person decides"),
                ..Decision::silent()
            };
            let stdout = agents::render(head, &decision, RenderOptions::default()).stdout;
            (decision, stdout)
        } else {
            (Decision::silent(), None)
        };
        let answer = Answer { stdout, stderr: Some(reason.clone()), exit: 0 };
        let answered = agents::answered(head, &decision, RenderOptions::default());
        let record = || Record::failed(arguments, head, event, answered, reason, self.begun);
        let Ok(Some(record)) = panic::catch_unwind(AssertUnwindSafe(record)) else { return answer.into() };
        // Whatever kept the event from being judged may keep the line from being written.
        let then = move || {
            let (written, is_written) = mpsc::channel();
            let writer = thread::Builder::new().spawn(move || {
                write(record);
                let _ = written.send(());
            });
            if writer.is_ok() {
                let _ = is_written.recv_timeout(AFTERWARDS);
            }
        };
        Reply { answer, then: Some(Box::new(then)) }
    }
}
