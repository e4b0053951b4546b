//! Hooks of a user and of a project: what their manifest says, who trusts which bytes, and how they run.
//!
//! A project's hooks are read, shown and compared as bytes; nothing of them is interpreted before a person has granted
//! exactly those bytes, and what runs is the private copy of what was granted. This crate knows no agent's words, no
//! editor and no rule; the clock and the answers of models are handed in.

pub mod answer;
pub mod builtin;
pub mod compare;
pub mod digest;
pub mod foreign;
pub mod freeze;
pub mod grants;
pub mod keys;
pub mod manifest;
pub mod matcher;
pub mod review;
pub mod run;
pub mod series;
pub mod snapshots;
pub mod standing;
pub mod tree;
mod yaml;

#[cfg(unix)]
#[cfg(test)]
mod testing;
mod texts;

pub use digest::TreeDigest;
pub use grants::{Grant, Grantor, Means, Store};
pub use manifest::{Action, Entry, Manifest, OnError};
pub use snapshots::Snapshot;
pub use standing::Standing;
pub use tree::{Tree, TreeFile};

/// A project's hooks, relative to its root.
pub const FOLDER: &str = ".ruleline/hooks";
/// The manifest, in the folder of hooks.
pub const MANIFEST: &str = "hooks.yaml";

/// The events a hook may be for, as manifests name them.
pub const EVENTS: [&str; keys::EVENTS.len()] = rules::keys::texts(&keys::EVENTS);
