//! What hooks ask this server: an endpoint in the runtime folder, and answers from the texts, facts and rulebooks that
//! are in memory already.
//!
//! It grants nothing, runs nothing and writes nothing but the endpoint's own files, which go when it goes. Every
//! request is a stranger's: bounded in bytes, time and number, from this user alone. The session neither waits for it
//! nor is waited for: they share stores, not a task.

mod answers;
pub mod background;
mod exchange;
mod judging;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use wire::{Endpoint, EndpointError, Folder};

use crate::engine::SessionHandle;
pub use judging::Judging;

/// How many requests are read, judged or answered at a time; more are told to work alone.
const MOST_AT_ONCE: usize = 32;

/// An endpoint and the task that takes its connections; dropping it ends both.
pub struct Socket {
    endpoint: Endpoint,
    accepting: JoinHandle<()>,
    asked: Arc<Mutex<Instant>>,
}

impl Socket {
    /// Opens an endpoint for `roots` in the runtime folder, inside a tokio runtime.
    ///
    /// # Errors
    /// In one line why there is none; the server works on without.
    pub fn open(runtime: &Path, roots: &[PathBuf], judging: Arc<Judging>) -> Result<Socket, EndpointError> {
        let folder = Folder::create(runtime)?;
        let (endpoint, listener) = Endpoint::open(folder, &resolved(roots), env!("CARGO_PKG_VERSION"))?;
        let listener = listener.set_nonblocking(true).and_then(|()| UnixListener::from_std(listener));
        let listener = listener.map_err(|source| EndpointError::Io { path: endpoint.socket(), source })?;
        let asked = Arc::new(Mutex::new(Instant::now()));
        let accepting = tokio::spawn(accept(listener, judging, asked.clone()));
        Ok(Socket { endpoint, accepting, asked })
    }

    /// Stands for these roots from now on.
    ///
    /// # Errors
    /// Its record stays as it was.
    pub fn set_roots(&mut self, roots: &[PathBuf]) -> Result<(), EndpointError> {
        self.endpoint.set_roots(&resolved(roots))
    }

    /// When it was last asked, or opened.
    pub fn last_asked(&self) -> Instant {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Keeps an endpoint open for the session's folders, as long as there is a session.
pub async fn attend(runtime: PathBuf, session: SessionHandle) {
    let judging = Arc::new(Judging::new(session.engine().clone()));
    let mut roots = session.roots();
    let mut socket: Option<Socket> = None;
    loop {
        let wanted = roots.borrow_and_update().clone();
        let outcome = match &mut socket {
            _ if wanted.is_empty() => {
                socket = None;
                Ok(())
            }
            Some(socket) => socket.set_roots(&wanted),
            None => Socket::open(&runtime, &wanted, judging.clone()).map(|opened| socket = Some(opened)),
        };
        if let Err(error) = outcome {
            tracing::warn!("{error}");
        }
        if roots.changed().await.is_err() {
            return;
        }
    }
}

/// A hook knows a file by its canonical path.
fn resolved(roots: &[PathBuf]) -> Vec<PathBuf> {
    roots.iter().map(|root| system::paths::resolve(root)).collect()
}

async fn accept(listener: UnixListener, judging: Arc<Judging>, asked: Arc<Mutex<Instant>>) {
    let places = Arc::new(Semaphore::new(MOST_AT_ONCE));
    let own = rustix::process::geteuid().as_raw();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, mostly: others must close some first.
                tracing::warn!("a connection was lost: {error}");
                tokio::time::sleep(exchange::PAUSE).await;
                continue;
            }
        };
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            continue;
        }
        *asked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        match places.clone().try_acquire_owned() {
            Ok(place) => drop(tokio::spawn(exchange::serve(stream, judging.clone(), place))),
            Err(_) => exchange::refuse(&stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::watch;
    use wire::{Alone, Client};

    use super::*;
    use crate::engine::Engine;

    /// Asks on a thread of its own, as another process does.
    async fn ping(runtime: &Path, file: &Path) -> Result<u32, Alone> {
        let (client, file) = (Client::new(runtime.to_owned(), Duration::from_secs(30)), file.to_owned());
        let (reply, answer) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || reply.send(client.ping(&file).map(|pong| pong.pid)));
        answer.await.unwrap()
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    #[test]
    fn a_hook_does_not_wait_behind_the_documents_of_the_session() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (release, released) = std::sync::mpsc::channel::<()>();
        runtime.spawn_blocking(move || released.recv());
        let (_keep, folder) = place();
        runtime.block_on(async {
            let judging = Arc::new(Judging::new(Arc::new(Engine::default())));
            let _socket = Socket::open(&folder.join("run"), std::slice::from_ref(&folder), judging).unwrap();
            assert_eq!(ping(&folder.join("run"), &folder.join("a.py")).await, Ok(std::process::id()));
        });
        release.send(()).unwrap();
    }

    #[tokio::test]
    async fn the_endpoint_follows_the_folders_of_the_session() {
        let (_keep, folder) = place();
        let run = folder.join("run");
        for name in ["p", "q"] {
            std::fs::create_dir(folder.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(folder.join("q"), folder.join("linked")).unwrap();
        let (roots, told) = watch::channel(Vec::new());
        let attending = tokio::spawn(attend(run.clone(), SessionHandle::new(Arc::default(), told)));
        let found = async |name: &str, expected: bool| {
            let file = folder.join(name).join("a.py");
            while ping(&run, &file).await.is_ok() != expected {
                tokio::task::yield_now().await;
            }
        };
        found("p", false).await;
        roots.send(vec![folder.join("p")]).unwrap();
        found("p", true).await;
        found("q", false).await;
        roots.send(vec![folder.join("p"), folder.join("linked")]).unwrap();
        found("q", true).await;
        roots.send(vec![folder.join("q")]).unwrap();
        found("p", false).await;
        found("q", true).await;
        roots.send(Vec::new()).unwrap();
        found("q", false).await;
        assert_eq!(std::fs::read_dir(&run).unwrap().count(), 0);
        roots.send(vec![folder.join("p")]).unwrap();
        found("p", true).await;
        drop(roots);
        attending.await.unwrap();
        assert_eq!(std::fs::read_dir(&run).unwrap().count(), 0);
    }
}
