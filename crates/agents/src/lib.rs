//! One event and one decision for every agent; a dialect per agent that parses what it sends and renders what it reads.
//!
//! Only this crate knows an agent's field names. It knows no rules, touches no file but through [`edit::Files`].

pub mod decision;
pub mod edit;
pub mod event;
mod json;
pub mod notebook;
pub mod parse;
pub mod patch;
mod payload;
pub mod render;
pub mod settings;
mod tools;

pub use decision::{Decision, Permission};
pub use edit::{After, Cell, FileEdit, Files, Fresh, edits};
pub use event::{
    Among, Dialect, EditStep, Event, EventKind, Head, NotebookEdit, NotebookMode, PermissionMode, ToolCall,
    ToolResponse,
};
pub use parse::{MAX_PAYLOAD, ParseError, parse};
pub use payload::payload;
pub use render::{Answer, AskUnattended, RenderOptions, answered, render, takes_context};
