//! One event and one decision for every agent; a dialect per agent that parses what it sends and renders what it reads.
//!
//! Only this crate knows an agent's field names. It knows no rules, touches no file but through [`edit::Files`].

pub mod decision;
pub mod edit;
pub mod event;

pub use decision::{Decision, Permission};
pub use edit::{After, FileEdit, Files, Fresh};
pub use event::{Dialect, EditStep, Event, EventKind, NotebookEdit, PermissionMode, ToolCall};
