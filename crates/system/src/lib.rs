//! The machine: folders of the user, opening below a root, paths and their spellings, git, digests.
//!
//! Everything read or written here may belong to somebody hostile: opens never block, sizes are bounded, links are
//! followed only where the caller says so. No rule, no agent and no editor is known here.

pub mod digest;
pub mod folders;
pub mod git;
pub mod open;
pub mod paths;
pub mod roots;

pub use folders::{Folders, Refused};
pub use open::OpenError;
