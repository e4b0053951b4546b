//! Judges many files on all processors, in the order they were given whatever finishes first, and tells how far it is.
//!
//! Progress goes to stderr, only to a terminal, and only when it takes long. A file that ends its judging with a panic
//! is one that could not be checked.

use std::io::{self, IsTerminal as _, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use guard::subject::{self, Subject};

use super::bench::Bench;
use super::report::{Outcome, Report};

/// Files that one thread takes at a time; their texts are asked of git at once.
const CHUNK: usize = 32;
/// The most threads.
const THREADS: usize = 16;
/// The stack of each, in bytes.
const STACK: usize = 16 << 20;
/// After which time progress is told, and how often.
const PATIENCE: Duration = Duration::from_millis(700);
const PACE: Duration = Duration::from_millis(100);

/// Judges all of `subjects`.
pub fn judge_all(bench: &Bench, subjects: &[Subject]) -> Report {
    let chunks: Vec<&[Subject]> = subjects.chunks(CHUNK).collect();
    let next = AtomicUsize::new(0);
    let judged = AtomicUsize::new(0);
    let (done, results) = mpsc::channel();
    let mut outcomes: Vec<Vec<Outcome>> = Vec::new();
    outcomes.resize_with(chunks.len(), Vec::new);
    let work = |done: mpsc::Sender<(usize, Vec<Outcome>)>| {
        while let Some((index, chunk)) = take(&next, &chunks) {
            let mut outcomes = Vec::with_capacity(chunk.len());
            subject::read_each(chunk, |subject, sides| {
                let judge = AssertUnwindSafe(|| bench.judge(subject, sides));
                outcomes.push(panic::catch_unwind(judge).unwrap_or_else(|_| bench.failed(subject)));
                judged.fetch_add(1, Ordering::Relaxed);
            });
            let _ = done.send((index, outcomes));
        }
    };
    thread::scope(|scope| {
        // What no thread can be had for is judged here.
        let mut spawned = 0;
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(chunks.len());
        for _ in 0..threads {
            let (work, done) = (&work, done.clone());
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || work(done));
            spawned += usize::from(thread.is_ok());
        }
        if spawned == 0 {
            work(done);
        } else {
            drop(done);
        }
        let mut teller = Teller::new(subjects.len());
        loop {
            match results.recv_timeout(PACE) {
                Ok((index, found)) => outcomes[index] = found,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            teller.tell(judged.load(Ordering::Relaxed));
        }
        teller.end();
    });
    Report { outcomes: outcomes.into_iter().flatten().collect(), ..Report::default() }
}

fn take<'a>(next: &AtomicUsize, chunks: &[&'a [Subject]]) -> Option<(usize, &'a [Subject])> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, *chunks.get(index)?))
}

/// Tells on a terminal how far it is.
struct Teller {
    all: usize,
    since: Instant,
    told: Option<Instant>,
    is_terminal: bool,
}

impl Teller {
    fn new(all: usize) -> Teller {
        Teller { all, since: Instant::now(), told: None, is_terminal: io::stderr().is_terminal() }
    }

    fn tell(&mut self, judged: usize) {
        let is_due = self.told.map_or(self.since.elapsed() > PATIENCE, |told| told.elapsed() > PACE);
        if self.is_terminal && is_due {
            self.told = Some(Instant::now());
            let _ = write!(io::stderr(), "\rjudged {judged} of {} files", self.all);
        }
    }

    fn end(&self) {
        if self.told.is_some() {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}
