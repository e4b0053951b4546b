//! The one place that writes stdout: an answer of the hook, or what a command prints, and nothing else.

use std::io::{self, Write as _};

/// Writes `text` to stdout, whether anybody reads it or not.
pub fn print(text: &str) {
    let _ = deliver(text);
}

/// Writes `text` to stdout. A reader that went away is nobody's error.
///
/// # Errors
/// The text could not be written.
pub fn deliver(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes one line to stderr.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "ruleline: {line}");
}
