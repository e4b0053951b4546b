//! Counting searches and reads: when an agent that could ask for symbols has searched and read enough. Pure.
//!
//! Gaps count between one call and the next, with their ends; a call of a parallel batch that another of its kind was
//! counted for is not counted; a clock that goes backwards starts anew and denies nothing.

use serde::{Deserialize, Serialize};

/// How much is enough, and how long what remains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Searches in a row.
    pub searches: u32,
    /// Reads of code in a row.
    pub reads: u32,
    /// Both together.
    pub combined: u32,
    /// The longest gap between two searches that are in a row, in seconds.
    pub search_gap: u32,
    /// The same of reads.
    pub read_gap: u32,
    /// The same of both together.
    pub combined_gap: u32,
    /// How long nothing is said after something was, in seconds.
    pub quiet: u32,
    /// Calls that begin this shortly after each other are of one batch, in milliseconds.
    pub batch: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            searches: 3,
            reads: 3,
            combined: 4,
            search_gap: 1000,
            read_gap: 1000,
            combined_gap: 2000,
            quiet: 120,
            batch: 200,
        }
    }
}

/// What a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    /// A search.
    pub search: bool,
    /// A read of code.
    pub read: bool,
}

/// What there was too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reminder {
    /// Searches.
    Searches,
    /// Reads of code.
    Reads,
    /// Both together.
    Both,
}

/// One count, and when it was last raised, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    /// How many.
    pub number: u32,
    /// When.
    pub last: Option<u64>,
}

/// What one session, or one agent of it, did so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Searches.
    pub searches: Count,
    /// Reads of code.
    pub reads: Count,
    /// Both together.
    pub combined: Count,
    /// When something was last said.
    pub said: Option<u64>,
    /// The batch that is under way.
    batch: Batch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Batch {
    last: u64,
    search: bool,
    read: bool,
}

impl Counters {
    /// Whether nothing is counted and nothing said, because something was said just now.
    pub fn is_quiet(&self, now: u64, limits: &Limits) -> bool {
        // Calls of one batch come in any order.
        self.said.is_some_and(|said| now.abs_diff(said) < seconds(limits.quiet))
    }

    /// A symbolic tool was used: the counts begin anew, what was said stays said.
    pub fn reset(&mut self) {
        *self = Counters { said: self.said, ..Counters::default() };
    }

    /// Takes in a call that begins at `now`; what is to be said of it. Nothing changes while it is quiet.
    pub fn take(&mut self, now: u64, kinds: Kinds, limits: &Limits) -> Option<Reminder> {
        if self.is_quiet(now, limits) {
            return None;
        }
        let is_batch = now.abs_diff(self.batch.last) < u64::from(limits.batch);
        let before = if is_batch { self.batch } else { Batch::default() };
        let fresh = Kinds { search: kinds.search && !before.search, read: kinds.read && !before.read };
        let last = if is_batch { now.max(before.last) } else { now };
        self.batch = Batch { last, search: before.search || kinds.search, read: before.read || kinds.read };
        if fresh.search {
            self.searches.raise(now, limits.search_gap);
        }
        if fresh.read {
            self.reads.raise(now, limits.read_gap);
        }
        // A batch is one step, whatever is in it.
        if (fresh.search || fresh.read) && !before.search && !before.read {
            self.combined.raise(now, limits.combined_gap);
        }
        let reminder = if fresh.search && self.searches.number >= limits.searches {
            Reminder::Searches
        } else if fresh.read && self.reads.number >= limits.reads {
            Reminder::Reads
        } else if (fresh.search || fresh.read) && self.combined.number >= limits.combined {
            Reminder::Both
        } else {
            return None;
        };
        let batch = self.batch;
        *self = Counters { said: Some(now), batch, ..Counters::default() };
        Some(reminder)
    }
}

impl Count {
    fn raise(&mut self, now: u64, gap: u32) {
        let goes_on = self.last.and_then(|last| now.checked_sub(last)).is_some_and(|since| since <= seconds(gap));
        self.number = if goes_on { self.number.saturating_add(1) } else { 1 };
        self.last = Some(now);
    }
}

fn seconds(seconds: u32) -> u64 {
    u64::from(seconds) * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Kinds = Kinds { search: true, read: false };
    const READ: Kinds = Kinds { search: false, read: true };

    fn run(calls: &[(u64, Kinds)]) -> Vec<Option<Reminder>> {
        let mut counters = Counters::default();
        let take = |(at, kinds): &(u64, Kinds)| counters.take(*at, *kinds, &Limits::default());
        calls.iter().map(take).collect()
    }

    #[test]
    fn a_batch_counts_once() {
        let at = |time| (time, SEARCH);
        assert_eq!(run(&[at(1000), at(1010), at(1200), at(1390)]), [None; 4]);
        // Whoever began first need not come first.
        assert_eq!(run(&[at(1100), at(1000), at(1050), at(1010), at(1290), at(1120)]), [None; 6]);
        let said = run(&[at(1000), at(3000), at(5100), at(5000), at(5050), at(5001)]);
        assert_eq!(said, [None, None, Some(Reminder::Searches), None, None, None]);
        // After two that counted, one of a batch is denied and the others go.
        let said = run(&[at(1000), at(3000), at(5000), at(5001), at(5002), at(5100)]);
        assert_eq!(said, [None, None, Some(Reminder::Searches), None, None, None]);
        // A search and a read of one batch are one step.
        let mixed = run(&[at(1000), (1001, READ), at(3000), (3001, READ), at(5000)]);
        assert_eq!(mixed, [None, None, None, None, Some(Reminder::Searches)]);
    }

    #[test]
    fn a_clock_that_goes_backwards_harms_nothing() {
        let hour: u64 = 3_600_000;
        let at = |time| (hour + time, SEARCH);
        assert_eq!(run(&[at(0), at(1000), (0, SEARCH), (1000, SEARCH), (2000, SEARCH)])[4], Some(Reminder::Searches));
        let said = run(&[at(0), at(1000), at(2000), (0, SEARCH), (1000, SEARCH), (2000, SEARCH)]);
        assert_eq!(
            said[2..],
            [Some(Reminder::Searches), None, None, Some(Reminder::Searches)],
            "not quiet for an hour"
        );
    }
}
