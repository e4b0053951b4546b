//! The one place that writes stdout: an answer of the hook, or what a command prints, and nothing else.

use std::io::{self, Write as _};

/// Writes `text` to stdout. A reader that went away is nobody's error.
pub fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Writes one line to stderr.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "ruleline: {line}");
}
