//! The folders that this process works with: the user's, with another state folder where the command line names one, and
//! below another home where a test asks for it.

use std::path::Path;

use system::{Folders, Refused};

use crate::hook::failpoint;

/// The folders; whether one may be used is asked of [`Folders::admit`].
///
/// # Errors
/// As [`Folders::find`].
pub fn find(state: Option<&Path>) -> Result<Folders, Refused> {
    let Some(home) = failpoint::home() else { return Folders::find(state) };
    let folders = Folders::below(&home);
    Ok(match state {
        Some(state) => folders.with_state(state),
        None => folders,
    })
}
