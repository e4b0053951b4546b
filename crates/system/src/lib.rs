//! The machine: folders of the user, opening below a root, paths and their spellings, git and what it ignores, digests, the
//! processes above this one and its terminal.
//!
//! Everything read or written here may belong to somebody hostile: opens never block, sizes are bounded, links are
//! followed only where the caller says so. No rule and no editor is known here, and of agents nothing but
//! their names ([`ancestry`]).

pub mod ancestry;
pub mod clock;
pub mod digest;
pub mod folders;
pub mod git;
pub mod ignored;
pub mod looks;
pub mod open;
pub mod paths;
pub mod roots;
pub mod terminal;
pub mod walk;

pub use folders::{Folders, Refused};
pub use open::OpenError;
