//! Measures whole processes: every case of a plan in turn, round after round, so that noise falls on all alike.
//!
//! The plan comes as JSON on stdin, the samples go as JSON to stdout. A sample is the time from just before the process
//! is started to the end of its output and its own end. This program is small and static because a child starts in its
//! parent's memory: the peak memory the kernel reports for a child is never less than its parent's.

use std::fs::File;
use std::io::{PipeWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use wait4::Wait4;

/// What a pipe holds without a reader on every Linux.
const PIPE_BYTES: u64 = 60 * 1024;
/// How much of a case's output is kept.
const SHOWN_BYTES: usize = 400;

#[derive(Deserialize)]
struct Plan {
    warmups: usize,
    rounds: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    program: PathBuf,
    arguments: Vec<String>,
    /// The file whose bytes are the process's input; none: no input.
    input: Option<PathBuf>,
    /// The process prints its own time in nanoseconds: that is the sample.
    times_itself: bool,
}

#[derive(Default, Serialize)]
struct Samples {
    nanoseconds: Vec<u64>,
    peak_kib: u64,
    exit: Option<i32>,
    output: String,
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("a plan on stdin");
    let plan: Plan = serde_json::from_str(&text).expect("a plan");
    let mut samples: Vec<Samples> = plan.cases.iter().map(|_| Samples::default()).collect();
    for round in 0..plan.warmups + plan.rounds {
        for (case, samples) in plan.cases.iter().zip(&mut samples) {
            let taken = run(case, samples);
            if round >= plan.warmups {
                samples.nanoseconds.push(taken);
            }
        }
    }
    serde_json::to_writer(std::io::stdout(), &samples).expect("stdout is open");
}

fn run(case: &Case, samples: &mut Samples) -> u64 {
    let mut command = Command::new(&case.program);
    command.args(&case.arguments).stderr(Stdio::null()).stdin(Stdio::null());
    let mut feeder = None;
    if let Some(path) = &case.input {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        feeder = feed(path, writer);
        command.stdin(reader);
    }
    let (mut output, writer) = std::io::pipe().expect("a pipe");
    command.stdout(writer);
    let start = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", case.program.display()));
    // The command holds the pipe's other ends.
    drop(command);
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = output.read(&mut buffer).expect("the pipe is ours");
        if read == 0 {
            break;
        }
        let room = SHOWN_BYTES - shown.len();
        shown.extend_from_slice(&buffer[..read.min(room)]);
    }
    let end = child.wait4().expect("the child is ours");
    let taken = start.elapsed().as_nanos();
    if let Some(feeder) = feeder {
        feeder.join().expect("feeding does not panic");
    }
    samples.peak_kib = samples.peak_kib.max(end.rusage.maxrss / 1024);
    samples.exit = end.status.code();
    samples.output = String::from_utf8_lossy(&shown).into_owned();
    if case.times_itself {
        return samples.output.trim().parse().expect("a program that times itself prints nanoseconds");
    }
    u64::try_from(taken).expect("less than centuries")
}

/// Puts a file's bytes into a pipe: now if they fit, else while the process reads.
fn feed(path: &PathBuf, mut pipe: PipeWriter) -> Option<std::thread::JoinHandle<()>> {
    let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    if size <= PIPE_BYTES {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("a readable file");
        pipe.write_all(&bytes).expect("it fits the pipe");
        return None;
    }
    Some(std::thread::spawn(move || {
        let mut buffer = [0; 32 * 1024];
        while let Ok(read) = file.read(&mut buffer) {
            // A process may end without reading all.
            if read == 0 || pipe.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
    }))
}
