//! A server without an editor: the socket alone, until a signal or until nobody has asked for a while.
//!
//! For people who want the speed of a running server in a terminal. It offers nothing that needs a person.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use wire::EndpointError;

use super::{Judging, Socket};

/// Answers hooks for `roots` until nobody has asked for `idle`; for ever when that is zero. Its files go when it
/// returns or is dropped.
///
/// # Errors
/// In one line why there is no socket.
pub async fn serve(
    runtime: &Path,
    roots: &[PathBuf],
    judging: Arc<Judging>,
    idle: Duration,
) -> Result<(), EndpointError> {
    let socket = Socket::open(runtime, roots, judging)?;
    if idle.is_zero() {
        std::future::pending::<()>().await;
    }
    loop {
        match idle.checked_sub(socket.last_asked().elapsed()) {
            None | Some(Duration::ZERO) => return Ok(()),
            Some(left) => tokio::time::sleep(left).await,
        }
    }
}
