//! One line for each event that could not be judged, in `problems.log` of the state folder: seconds since 1970, the
//! agent, the event (`-` where it is not known), why.
//!
//! The line is ours, one line whatever was in it, and the file is bounded. That it cannot be written is no problem of
//! the event.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use system::folders;
use system::open::Root;

/// Where it stops, in bytes.
const CAP: u64 = 1 << 20;

/// Adds a line.
pub fn note(state: &Path, agent: &str, event: &str, reason: &str) {
    if folders::create_private(state).is_err() {
        return;
    }
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let plain = |text: &str, limit| rules::plain::plain(text, limit);
    let event = if event.is_empty() { "-" } else { event };
    let line = format!("{seconds} {agent} {} {}\n", plain(event, 80), plain(reason, 500));
    if let Ok(root) = Root::open(state) {
        let _ = root.append(Path::new("problems.log"), line.as_bytes(), CAP);
    }
}
