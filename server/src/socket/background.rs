//! A server without an editor: the socket alone, until a signal or until nobody has asked for a while.
//!
//! For people who want the speed of a running server in a terminal. It offers nothing that needs a person.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Judging, Socket};

/// How long nobody asks before it ends.
pub const IDLE: Duration = Duration::from_secs(600);

/// Answers hooks for `roots` until SIGTERM or SIGINT, or until nobody has asked for `idle`. Its files are removed when
/// it returns.
///
/// # Errors
/// In one line why there is no socket.
pub async fn run(runtime: &Path, roots: &[PathBuf], judging: Arc<Judging>, idle: Duration) -> anyhow::Result<()> {
    let (mut terminated, mut interrupted) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let socket = Socket::open(runtime, roots, judging)?;
    tokio::select! {
        () = received(&mut terminated) => {}
        () = received(&mut interrupted) => {}
        () = quiet(&socket, idle) => {}
    }
    Ok(())
}

async fn received(signal: &mut Signal) {
    signal.recv().await;
}

async fn quiet(socket: &Socket, idle: Duration) {
    loop {
        match idle.checked_sub(socket.last_asked().elapsed()) {
            None | Some(Duration::ZERO) => return,
            Some(left) => tokio::time::sleep(left).await,
        }
    }
}
