//! The way out: a queue of whole frames that one thread writes to stdout.
//!
//! Nothing that writes here ever waits for the client: a client that stops reading must not stop the server from
//! reading. Notifications of ours wait until the client says that it is ready: before the answer to `initialize` it may
//! not get any, and clients lose those that follow at its heels. What waits is bounded: diagnostics of one URI take one slot, the newest replaces the one not yet written,
//! and a client that lets more than [`CAP`] bytes pile up is given up.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::Notify;

/// How many bytes may wait for the client.
pub const CAP: usize = 64 << 20;

enum Slot {
    Frame(Vec<u8>),
    /// The newest frame of this key, kept in [`Queue::newest`].
    Newest(String),
}

#[derive(Default)]
struct Queue {
    slots: VecDeque<Slot>,
    newest: HashMap<String, Vec<u8>>,
    /// Notifications with their keys, until the client is ready.
    held: Option<Vec<(Option<String>, Vec<u8>)>>,
    bytes: usize,
    writing: bool,
    closed: bool,
}

impl Queue {
    fn add(&mut self, key: Option<String>, frame: Vec<u8>) {
        match key {
            None => self.slots.push_back(Slot::Frame(frame)),
            Some(key) => match self.newest.insert(key.clone(), frame) {
                Some(older) => self.bytes -= older.len(),
                None => self.slots.push_back(Slot::Newest(key)),
            },
        }
    }

    fn idle(&self) -> bool {
        self.closed || (self.slots.is_empty() && !self.writing)
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let frame = match self.slots.pop_front()? {
            Slot::Frame(frame) => frame,
            Slot::Newest(key) => self.newest.remove(&key).unwrap_or_default(),
        };
        self.bytes -= frame.len();
        Some(frame)
    }

    fn close(&mut self) {
        *self = Queue { closed: true, ..Queue::default() };
    }
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    given_up: Notify,
    cap: usize,
}

/// A handle on the queue; clones share it.
#[derive(Clone)]
pub struct Pump {
    shared: Arc<Shared>,
}

impl Pump {
    /// Starts the thread that writes to `out`.
    pub fn start(out: impl Write + Send + 'static) -> Pump {
        Pump::with_cap(out, CAP)
    }

    fn with_cap(out: impl Write + Send + 'static, cap: usize) -> Pump {
        let queue = Mutex::new(Queue { held: Some(Vec::new()), ..Queue::default() });
        let shared = Arc::new(Shared { queue, changed: Condvar::new(), given_up: Notify::new(), cap });
        let pump = Pump { shared };
        let writer = pump.clone();
        std::thread::spawn(move || writer.write_all(out));
        pump
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, mut out: impl Write) {
        while let Some(frame) = self.next() {
            if let Err(error) = out.write_all(&frame).and_then(|()| out.flush()) {
                tracing::warn!("the client is gone: {error}");
                self.give_up(&mut self.lock());
                return;
            }
        }
    }

    /// Waits for the next frame; none once the queue is closed.
    fn next(&self) -> Option<Vec<u8>> {
        let mut queue = self.lock();
        queue.writing = false;
        self.shared.changed.notify_all();
        loop {
            if queue.closed {
                return None;
            }
            if let Some(frame) = queue.pop() {
                queue.writing = true;
                return Some(frame);
            }
            queue = self.shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_up(&self, queue: &mut Queue) {
        queue.close();
        self.shared.changed.notify_all();
        self.shared.given_up.notify_one();
    }

    /// The client is ready: what was held is written, and nothing is held any more.
    pub fn release(&self) {
        let mut queue = self.lock();
        for (key, frame) in queue.held.take().into_iter().flatten() {
            queue.add(key, frame);
        }
        self.shared.changed.notify_all();
    }

    fn push(&self, key: Option<String>, frame: Vec<u8>, may_be_held: bool) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        queue.bytes += frame.len();
        match &mut queue.held {
            Some(held) if may_be_held => held.push((key, frame)),
            _ => queue.add(key, frame),
        }
        if queue.bytes > self.shared.cap {
            tracing::error!("the client reads nothing; giving it up with {} bytes unread", queue.bytes);
            self.give_up(&mut queue);
        }
        self.shared.changed.notify_all();
    }

    /// Sends a notification. With a key it takes the place of the one with the same key that was not yet written.
    pub fn notify<P: Serialize>(&self, key: Option<&str>, method: &'static str, params: &P) {
        #[derive(Serialize)]
        struct Notification<'a, P> {
            jsonrpc: &'static str,
            method: &'static str,
            params: &'a P,
        }
        match serde_json::to_string(&Notification { jsonrpc: "2.0", method, params }) {
            Ok(body) => {
                let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
                self.push(key.map(str::to_owned), frame, true);
            }
            Err(error) => tracing::error!("{method} cannot be written as JSON: {error}"),
        }
    }

    /// Waits until everything is written, at most this long. Blocks.
    pub fn drain(&self, most: Duration) {
        let end = Instant::now() + most;
        let mut queue = self.lock();
        while !queue.idle() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                tracing::warn!("the client did not read the last messages");
                return;
            }
            queue = self.shared.changed.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Resolves when the client is given up.
    pub async fn given_up(&self) {
        self.shared.given_up.notified().await;
    }

    /// A writer whose bytes are queued frame by frame, whatever pieces they arrive in.
    pub fn writer(&self) -> FrameWriter {
        FrameWriter { pump: self.clone(), partial: Vec::new() }
    }
}

/// See [`Pump::writer`].
pub struct FrameWriter {
    pump: Pump,
    partial: Vec<u8>,
}

impl FrameWriter {
    fn accept(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.partial.extend_from_slice(bytes);
        while let Some(length) = frame_length(&self.partial)? {
            let rest = self.partial.split_off(length);
            self.pump.push(None, std::mem::replace(&mut self.partial, rest), false);
        }
        Ok(())
    }
}

/// The length of the frame that `bytes` begins with, once all of it is there.
fn frame_length(bytes: &[u8]) -> std::io::Result<Option<usize>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let body = std::str::from_utf8(&bytes[..end])
        .ok()
        .and_then(|head| {
            head.lines().find_map(|line| line.strip_prefix("Content-Length:")?.trim().parse::<usize>().ok())
        })
        .ok_or_else(|| std::io::Error::other("a frame without its length"))?;
    let whole = end + 4 + body;
    Ok((bytes.len() >= whole).then_some(whole))
}

impl tokio::io::AsyncWrite for FrameWriter {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(self.accept(bytes).map(|()| bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A client that reads nothing until it is told to.
    struct SlowClient {
        go: mpsc::Receiver<()>,
        reading: bool,
        read: mpsc::Sender<Vec<u8>>,
    }

    impl Write for SlowClient {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if !self.reading {
                self.reading = self.go.recv().is_ok();
            }
            self.read.send(bytes.to_vec()).map_err(|_| std::io::Error::other("gone"))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn slow(cap: usize) -> (Pump, mpsc::Sender<()>, mpsc::Receiver<Vec<u8>>) {
        let (go, gate) = mpsc::channel();
        let (read, frames) = mpsc::channel();
        (Pump::with_cap(SlowClient { go: gate, reading: false, read }, cap), go, frames)
    }

    fn text(frames: &mpsc::Receiver<Vec<u8>>) -> String {
        frames.try_iter().map(|frame| String::from_utf8(frame).unwrap()).collect()
    }

    #[test]
    fn newest_of_a_key_replaces_the_unread_one() {
        let (pump, go, frames) = slow(CAP);
        pump.release();
        pump.notify(None, "first", &0);
        while !pump.lock().writing {
            std::thread::yield_now();
        }
        for version in 1..=100 {
            pump.notify(Some("a.py"), "publish", &version);
            pump.notify(Some("b.py"), "publish", &-version);
        }
        pump.notify(None, "last", &0);
        assert_eq!(pump.lock().slots.len(), 3);
        go.send(()).unwrap();
        pump.drain(Duration::from_secs(60));
        let read = text(&frames);
        let order: Vec<_> = ["\"first\"", ":100}", ":-100}", "\"last\""].iter().map(|piece| read.find(piece)).collect();
        assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{read}");
        assert_eq!(read.matches("publish").count(), 2, "{read}");
    }

    #[test]
    fn notifications_wait_until_the_client_is_ready_and_answers_do_not() {
        let (pump, go, frames) = slow(CAP);
        go.send(()).unwrap();
        pump.notify(Some("a.py"), "publish", &1);
        pump.notify(None, "status", &0);
        pump.notify(Some("a.py"), "publish", &2);
        pump.writer().accept(b"Content-Length: 6\r\n\r\nanswer").unwrap();
        pump.drain(Duration::from_secs(60));
        assert!(text(&frames).ends_with("answer"));
        pump.release();
        pump.drain(Duration::from_secs(60));
        let read = text(&frames);
        assert!(read.contains(":2}") && read.contains("status") && !read.contains(":1}"), "{read}");
    }

    #[test]
    fn a_client_that_never_reads_is_given_up_at_the_cap() {
        let (pump, _go, _frames) = slow(1000);
        for _ in 0..100 {
            pump.notify(None, "message", &"x".repeat(50));
        }
        assert!(pump.lock().closed);
        assert_eq!(pump.lock().bytes, 0);
        pump.drain(Duration::from_secs(60));
    }

    #[test]
    fn frames_are_whole_however_they_are_written() {
        let frame = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let stream = [frame("{}"), frame("{\"ä\":1}"), frame("")].concat();
        for piece in [1, 2, 3, 7, 1000] {
            let (pump, go, frames) = slow(CAP);
            go.send(()).unwrap();
            let mut writer = pump.writer();
            for bytes in stream.as_bytes().chunks(piece) {
                writer.accept(bytes).unwrap();
            }
            pump.drain(Duration::from_secs(60));
            let read: Vec<_> = frames.try_iter().collect();
            assert_eq!(read.len(), 3, "in pieces of {piece}");
            assert_eq!(read.concat(), stream.as_bytes());
        }
    }
}
