//! Rulebook and change to verdict: loading and validating rules, globs, the checks, the reasons.
//!
//! Judging is pure: same rulebook, same change, same verdict, on any machine, at any time. No clock, no network; files
//! are read by whoever calls.

pub mod change;
pub mod verdict;

pub use change::{AddedLine, Change, Counting};
pub use verdict::{Check, Effect, Finding, Unchecked, Verdict};

pub mod instructions;
pub mod judge;
pub mod rulebook;

pub use judge::{FactSource, Judge, ParseNow};
pub use rulebook::{Format, Problem, Rule, Rulebook, Severity};
