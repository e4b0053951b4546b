//! The log of decisions.
//!
//! One JSON line for each decision of the hook, appended under a lock, each with the digest of the one before; where the
//! chain ends is kept in the state folder, so that a line that this user's hook did not write is told from one that it
//! did. Owns the lines' shape, where they lie, appending and following. It judges nothing and knows no agent's words.

pub mod entry;
mod head;
pub mod log;
pub mod tail;

pub use entry::{Added, Entry, Finding, JudgedFile, Outcome, Stretch};
pub use log::{Log, LogError};
pub use tail::Tail;
