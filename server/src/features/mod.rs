//! What the editor shows: functions from a document, its rulebooks and its baseline to reports and actions.
//!
//! Nothing here knows LSP types or owns state; byte spans inside, converted at the edge.

pub mod actions;
pub mod allowance;
pub mod anchor;
pub mod baseline;
pub mod completion;
pub mod counts;
pub mod decisions;
pub mod diagnostics;
pub mod hooks;
pub mod hover;
pub mod own;
pub mod problems;
pub mod refusals;
pub mod reviews;
pub mod symbols;
pub mod writing;
