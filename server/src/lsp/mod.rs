//! The language server protocol: the only place that names tower-lsp.
//!
//! tower-lsp reads, routes and answers; handlers only hand events to the session. What it cannot do is mended by the
//! gate before it, the reader under it and the pump behind it (docs/decisions/0001-tower-lsp.md says when to swap it).

mod adapter;
mod capabilities;
mod frames;
mod gate;
mod own;
mod progress;
mod proto;
mod pump;
mod remote;
mod stdin;
mod symbols;
mod uri;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tower_lsp::{LspService, Server};

use crate::engine::{Engine, SessionHandle};
use crate::session::Session;
use crate::session::event::Event;
use adapter::Adapter;
use frames::Mended;
use gate::{Gate, Life};
use pump::Pump;
use remote::Remote;
use stdin::Until;

/// How long the last diagnostics may take to be made.
const LAST_JUDGED: Duration = Duration::from_secs(10);
/// How long a client may take to read the last messages.
const LAST_READ: Duration = Duration::from_secs(2);
/// How many handlers may await the session's reply. Those that do must never keep a change of a document waiting.
const HANDLERS: usize = 1024;

/// Serves one client on stdin and stdout; gives the exit code. `started` gets what the socket needs.
pub async fn serve(engine: Engine, started: impl FnOnce(SessionHandle)) -> u8 {
    let engine = Arc::new(engine);
    let (roots, roots_told) = watch::channel(Vec::new());
    started(SessionHandle::new(engine.clone(), roots_told));

    let pump = Pump::start(std::io::stdout());
    let life = Arc::new(Life::default());
    let (events, arriving) = mpsc::unbounded_channel();
    let remote = Arc::new(OnceLock::new());
    let (service, socket) = LspService::build(|client| {
        let remote = remote.get_or_init(|| Arc::new(Remote::new(client, pump.clone(), life.clone())));
        Adapter::new(events.clone(), life.clone(), remote.clone())
    })
    .custom_method("window/workDoneProgress/cancel", Adapter::ignore)
    .custom_method("$/setTrace", Adapter::ignore)
    .finish();
    let remote = remote.get().expect("made while the service was built").clone();
    let session = Session::new(engine, remote, Arc::new(Instant::now), &events, roots);
    tokio::spawn(session.run(arriving));

    let end = {
        let (life, pump, events) = (life.clone(), pump.clone(), events.clone());
        async move {
            tokio::select! {
                () = life.exit() => settled(&events).await,
                () = pump.given_up() => {}
            }
        }
    };
    let writer = pump.writer();
    let stdin = Until::new(Mended::new(tokio::io::stdin()), end, life.clone());
    let server = Server::new(stdin, writer, socket).concurrency_level(HANDLERS);
    server.serve(Gate { inner: service, life: life.clone() }).await;
    let _ = tokio::task::spawn_blocking(move || pump.drain(LAST_READ)).await;
    life.exit_code()
}

/// Waits until the session has done and shown everything that arrived, but not for ever.
async fn settled(events: &mpsc::UnboundedSender<Event>) {
    let (reply, done) = oneshot::channel();
    let _ = events.send(Event::Leaving);
    let _ = events.send(Event::Barrier { reply });
    if tokio::time::timeout(LAST_JUDGED, done).await.is_err() {
        tracing::warn!("the last diagnostics were not finished in {} s", LAST_JUDGED.as_secs());
    }
}
