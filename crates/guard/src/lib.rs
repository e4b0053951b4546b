//! One event through all guards to one decision.
//!
//! Which rulebooks hold for a file, what a session saw first, settings under the law, self-protection, the files that
//! `check` walks over, and the judging that the hook, `check` and the server share. It knows no agent's words and no editor; files are read through `system`.

pub mod accelerate;
pub mod assist;
pub mod books;
pub mod config;
pub mod decide;
pub mod hooks;
pub mod judge;
mod lifting;
pub mod once;
pub mod protect;
pub mod reasons;
pub mod remind;
pub mod schemas;
pub mod session;
pub mod shell;
pub mod stack;
pub mod subject;
pub mod symbols;
pub mod trace;
pub mod unsaved;
pub mod walk;

pub use books::{FromDisk, LoadedBook, Place, RulebookSource};
pub use config::Config;
pub use decide::{Guards, concerns};
pub use judge::{FileVerdict, Judging, Part};
pub use stack::{Spelled, Stack, Surroundings};
pub use trace::{Basis, Trace};
