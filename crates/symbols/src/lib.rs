//! The symbols of a workspace: what is defined, imported and called in which file.
//!
//! [`Index`] holds one root's, [`fill`] keeps it that of the files on disk, [`find`] and [`references`] answer, [`store`]
//! keeps it between two runs. It knows names and scopes as far as one file's text tells them: what needs types it cannot
//! tell, and says so. A hint for whoever searches, never a fact for a verdict (S8). No editor and no agent is known here.

pub mod file;
pub mod fill;
pub mod find;
pub mod index;
pub mod names;
pub mod occurrences;
pub mod references;
mod stamp;
pub mod store;
pub mod text;

pub use file::{FileSymbols, Kind};
pub use fill::{Filled, Filling, Progress};
pub use find::Found;
pub use index::{Entry, Index, Limits};
pub use occurrences::{Names, Role};
pub use references::{Bounds, Reference, References};
