//! Rulebook and change to verdict: loading and validating rules, globs, the checks, the reasons.
//!
//! Judging is pure: same rulebook, same change, same verdict, on any machine, at any time. No clock, no network; files
//! are read by whoever calls.

pub mod agreement;
pub mod change;
pub mod claims;
pub mod diff;
pub mod forest;
pub mod glob;
pub mod instructions;
pub mod judge;
pub mod keys;
pub mod paths;
pub mod plain;
pub mod reason;
pub mod rulebook;
pub mod secrets;
pub mod verdict;
pub mod work;

mod candidates;
mod case;
mod checks;
mod document;
mod excerpt;
mod fix;
mod ids;
mod names;
mod needles;
mod notebook;
mod ordinary;
mod pattern;
mod reading;
mod selection;
mod signatures;
mod specs;

pub use change::{AddedLine, Cell, Change, Counting};
pub use claims::Claim;
pub use forest::Forest;
pub use judge::{FactSource, Judge, ParseNow};
pub use paths::Case;
pub use rulebook::{Format, Problem, Rule, Rulebook, Severity};
pub use verdict::{Check, Effect, Finding, Unchecked, Verdict};
pub use work::Work;
