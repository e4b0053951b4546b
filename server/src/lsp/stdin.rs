//! The way in: stdin that ends when it should, not when the client closes it.
//!
//! tower-lsp serves until end of file; clients leave stdin open after `exit`. So the end is made here.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use crate::lsp::gate::Life;

/// A reader that gives end of file once `end` has resolved, and tells that its end is reached.
pub struct Until<R> {
    inner: R,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
    ended: bool,
    life: Arc<Life>,
}

impl<R> Until<R> {
    /// Reads `inner` until `end`.
    pub fn new(inner: R, end: impl Future<Output = ()> + Send + 'static, life: Arc<Life>) -> Until<R> {
        Until { inner, end: Box::pin(end), ended: false, life }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Until<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.ended = self.ended || self.end.as_mut().poll(context).is_ready();
        let before = buffer.filled().len();
        let read = if self.ended { Poll::Ready(Ok(())) } else { Pin::new(&mut self.inner).poll_read(context, buffer) };
        if matches!(&read, Poll::Ready(done) if done.is_err() || buffer.filled().len() == before) {
            self.life.end_input();
        }
        read
    }
}
