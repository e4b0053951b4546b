//! One connection: one request read, one answer written, each within its time. Knows nothing of what is judged.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::timeout;
use wire::{Decoder, Refusal, Request, Response};

use super::Judging;

/// How long a request may take to arrive, and an answer to be taken: a hook has given up long before.
const PATIENCE: Duration = Duration::from_secs(2);
/// Up to this many bytes a request is read, and answered if its answer is known, without another thread.
const SHORT: usize = 64 << 10;
/// How long to wait after a connection could not be taken.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// Answers one connection. `place` is held until judging has ended, also when nobody waits for the answer any more.
pub(super) async fn serve(mut stream: UnixStream, judging: Arc<Judging>, place: OwnedSemaphorePermit) {
    let Ok(Some(payload)) = timeout(PATIENCE, read(&mut stream)).await else {
        return;
    };
    let frame = if payload.len() > SHORT {
        on_a_thread(move || respond(&judging, Request::read(&payload)), place).await
    } else {
        let request = Request::read(&payload);
        match request.as_ref().ok().and_then(|request| judging.known(request)) {
            Some(response) => Some(response.to_frame()),
            None => on_a_thread(move || respond(&judging, request), place).await,
        }
    };
    if let Some(frame) = frame {
        let _ = timeout(PATIENCE, stream.write_all(&frame)).await;
    }
}

fn respond(judging: &Judging, request: Result<Request, Refusal>) -> Vec<u8> {
    request.map_or_else(Response::Refused, |request| judging.answer(&request)).to_frame()
}

/// A thread of its own: the pool is the session's, and a hook must not wait behind the documents it judges.
async fn on_a_thread(work: impl FnOnce() -> Vec<u8> + Send + 'static, place: OwnedSemaphorePermit) -> Option<Vec<u8>> {
    let (reply, answer) = oneshot::channel();
    let working = std::thread::Builder::new().name("hook".into()).spawn(move || {
        let frame = work();
        drop(place);
        let _ = reply.send(frame);
    });
    working.ok()?;
    answer.await.ok()
}

/// Says that there is no place, without waiting for anything.
pub(super) fn refuse(stream: &UnixStream) {
    let _ = stream.try_write(&Response::Refused(Refusal::Busy).to_frame());
}

/// The request's payload; none when the stream ends before it or announces too much.
async fn read(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let mut decoder = Decoder::default();
    let mut piece = vec![0; 16 * 1024];
    loop {
        let count = stream.read(&mut piece).await.ok().filter(|&count| count > 0)?;
        if let Some(payload) = decoder.feed(&piece[..count]).ok()? {
            return Some(payload.to_vec());
        }
    }
}
