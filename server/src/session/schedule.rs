//! When each document is judged: at once after quiet, soon within a burst, never twice at a time.
//!
//! Knows keys and instants only; whoever calls owns the clock, so that no test sleeps. A document that nothing waits
//! for has no entry: an idle server has no timer.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a pause must be before a burst counts as over.
pub const PAUSE: Duration = Duration::from_millis(20);
/// How long a burst may put off judging.
pub const LONGEST: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Entry {
    /// When the document is to be judged next; none when nothing changed since the running judgement began.
    due: Option<Instant>,
    /// Of the changes that no result has been published for, the first.
    since: Instant,
    /// The last judgement came too late, so changes arrive faster than they are judged.
    burst: bool,
    running: bool,
}

/// The documents that wait for their judgement.
#[derive(Debug, Default)]
pub struct Schedule {
    entries: HashMap<String, Entry>,
}

impl Schedule {
    /// The document changed, or what it is judged by.
    pub fn changed(&mut self, key: &str, now: Instant) {
        let entry =
            self.entries.entry(key.to_owned()).or_insert(Entry { due: None, since: now, burst: false, running: false });
        entry.due = Some(if entry.burst { (now + PAUSE).min(entry.since + LONGEST) } else { now });
    }

    /// Somebody waits: no longer put off.
    pub fn hurry(&mut self, key: &str, now: Instant) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.due = entry.due.map(|_| now);
        }
    }

    /// Nobody waits for the document any more.
    pub fn forget(&mut self, key: &str) {
        self.entries.remove(key);
    }

    /// The documents to judge now; each counts as running from here on.
    pub fn start_due(&mut self, now: Instant) -> Vec<String> {
        let mut keys: Vec<String> = self
            .entries
            .iter_mut()
            .filter(|(_, entry)| !entry.running && entry.due.is_some_and(|due| due <= now))
            .map(|(key, entry)| {
                entry.running = true;
                entry.due = None;
                key.clone()
            })
            .collect();
        keys.sort_unstable();
        keys
    }

    /// The running judgement of a document ended; `current` when its result could be published.
    pub fn finished(&mut self, key: &str, current: bool, now: Instant) {
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        entry.running = false;
        match entry.due {
            None if current => drop(self.entries.remove(key)),
            None => entry.due = Some(now),
            Some(_) if current => {
                entry.since = now;
                entry.burst = false;
                entry.due = Some(now);
            }
            Some(due) => {
                entry.burst = true;
                entry.due = Some(due.max((now + PAUSE).min(entry.since + LONGEST)));
            }
        }
    }

    /// When [`Schedule::start_due`] has something next; none when nothing waits or what waits is running.
    pub fn next_due(&self) -> Option<Instant> {
        self.entries.values().filter(|entry| !entry.running).filter_map(|entry| entry.due).min()
    }

    /// Whether nothing waits and nothing runs.
    pub fn is_idle(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "file:///w/a.py";

    fn at(start: Instant, milliseconds: u64) -> Instant {
        start + Duration::from_millis(milliseconds)
    }

    #[test]
    fn the_first_change_after_quiet_is_judged_at_once() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        assert!(schedule.is_idle() && schedule.next_due().is_none());
        for turn in 0..3 {
            let now = at(start, turn * 1000);
            schedule.changed(KEY, now);
            assert_eq!(schedule.next_due(), Some(now));
            assert_eq!(schedule.start_due(now), [KEY]);
            assert_eq!(schedule.next_due(), None);
            schedule.finished(KEY, true, at(now, 3));
            assert!(schedule.is_idle());
        }
    }

    #[test]
    fn one_judgement_at_a_time() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        schedule.changed(KEY, start);
        assert_eq!(schedule.start_due(start).len(), 1);
        schedule.changed(KEY, at(start, 1));
        assert!(schedule.start_due(at(start, 1000)).is_empty());
        schedule.finished(KEY, false, at(start, 1000));
        assert_eq!(schedule.start_due(at(start, 1000) + PAUSE), [KEY]);
    }

    #[test]
    fn a_burst_is_put_off_by_its_pauses_but_not_for_ever() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        schedule.changed(KEY, start);
        schedule.start_due(start);
        schedule.changed(KEY, at(start, 5));
        schedule.finished(KEY, false, at(start, 6));
        // A change every 10 ms: each moves the time on, up to the longest delay since the first.
        let mut judged = None;
        for step in 1..40 {
            let now = at(start, step * 10);
            schedule.changed(KEY, now);
            if !schedule.start_due(now).is_empty() {
                judged = Some(now);
                break;
            }
        }
        assert_eq!(judged, Some(start + LONGEST));
    }

    #[test]
    fn who_waits_is_served_at_once() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        schedule.changed(KEY, start);
        schedule.start_due(start);
        schedule.changed(KEY, at(start, 5));
        schedule.finished(KEY, false, at(start, 6));
        assert!(schedule.start_due(at(start, 7)).is_empty());
        schedule.hurry(KEY, at(start, 7));
        assert_eq!(schedule.start_due(at(start, 7)), [KEY]);
    }

    #[test]
    fn a_stale_result_without_a_change_is_judged_again() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        schedule.changed(KEY, start);
        schedule.start_due(start);
        schedule.finished(KEY, false, at(start, 6));
        assert_eq!(schedule.start_due(at(start, 6)), [KEY]);
    }
}
