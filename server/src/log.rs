//! The log on stderr, written by a thread of its own.
//!
//! A client that does not read stderr must not stop the server: what does not fit into the queue is dropped and counted.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, channel, sync_channel};
use std::time::Duration;

use tracing_subscriber::EnvFilter;

/// How many lines may wait.
const LINES: usize = 1024;

/// How long the end of the process waits for lines that are still to be written.
const PATIENCE: Duration = Duration::from_millis(500);

/// Logs to stderr from here on; a level that is none counts as `warn`.
pub fn start(level: &str) -> Log {
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("warn"));
    let queue = LineQueue::start(std::io::stderr());
    let log = Log(queue.clone());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(move || queue.clone()).with_ansi(false).init();
    log
}

/// The log of this process.
pub struct Log(LineQueue);

impl Log {
    /// Waits until what was logged so far is written, as long as somebody reads it.
    pub fn finish(&self) {
        let (written, waiting) = channel();
        if self.0.entries.try_send(Entry::Mark(written)).is_ok() {
            let _ = waiting.recv_timeout(PATIENCE);
        }
    }
}

/// What the writing thread is handed.
enum Entry {
    Line(Vec<u8>),
    /// To be answered when all before it is written.
    Mark(std::sync::mpsc::Sender<()>),
}

/// Takes whole lines and never waits.
#[derive(Clone)]
struct LineQueue {
    entries: SyncSender<Entry>,
    dropped: Arc<AtomicUsize>,
}

impl LineQueue {
    fn start(mut out: impl Write + Send + 'static) -> LineQueue {
        let (entries, waiting) = sync_channel(LINES);
        let dropped = Arc::new(AtomicUsize::new(0));
        let missed = dropped.clone();
        std::thread::spawn(move || {
            for entry in waiting {
                // A log that cannot be written has nobody to tell.
                match entry {
                    Entry::Line(line) => drop(out.write_all(&line)),
                    Entry::Mark(written) => drop(written.send(())),
                }
                let missed = missed.swap(0, Ordering::Relaxed);
                if missed > 0 {
                    let _ = writeln!(out, "({missed} lines of the log were dropped)");
                }
            }
        });
        LineQueue { entries, dropped }
    }
}

impl Write for LineQueue {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if let Err(TrySendError::Full(_)) = self.entries.try_send(Entry::Line(line.to_vec())) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// Writes nothing before it is told to.
    struct Stuck(Receiver<()>, std::sync::mpsc::Sender<Vec<u8>>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_end_waits_for_what_was_logged_but_not_for_a_reader_that_is_stuck() {
        let (go, gate) = channel();
        let (written, read) = channel();
        let mut queue = LineQueue::start(Stuck(gate, written));
        queue.write_all(b"last words\n").unwrap();
        let log = Log(queue);
        log.finish();
        assert!(read.try_recv().is_err());
        drop(go);
        log.finish();
        assert_eq!(read.try_recv().unwrap(), b"last words\n");
    }

    #[test]
    fn a_reader_that_is_stuck_costs_lines_and_nothing_else() {
        let (go, gate) = channel();
        let (written, read) = channel();
        let mut queue = LineQueue::start(Stuck(gate, written));
        for number in 0..3 * LINES {
            queue.write_all(format!("{number}\n").as_bytes()).unwrap();
        }
        drop(go);
        drop(queue);
        let lines: Vec<_> = read.iter().map(|line| String::from_utf8(line).unwrap()).collect();
        assert_eq!(lines[0], "0\n");
        assert!(lines.concat().contains("lines of the log were dropped"));
        assert!(lines.len() < 2 * LINES);
    }
}
