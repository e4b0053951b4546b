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
/// How long to wait after a connection could not be taken.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// Answers one connection. `place` is held until judging has ended, also when nobody waits for the answer any more.
pub(super) async fn serve(mut stream: UnixStream, judging: Arc<Judging>, place: OwnedSemaphorePermit) {
    let Ok(Some(payload)) = timeout(PATIENCE, read(&mut stream)).await else {
        return;
    };
    let (reply, answer) = oneshot::channel();
    // A thread of its own: the pool is the session's, and a hook must not wait behind the documents it judges.
    let judging = std::thread::Builder::new().name("hook".into()).spawn(move || {
        let response = match Request::read(&payload) {
            Ok(request) => judging.answer(&request),
            Err(refusal) => Response::Refused(refusal),
        };
        drop(place);
        let _ = reply.send(response.to_frame());
    });
    if judging.is_ok()
        && let Ok(frame) = answer.await
    {
        let _ = timeout(PATIENCE, stream.write_all(&frame)).await;
    }
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
