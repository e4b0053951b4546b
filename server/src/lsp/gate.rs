//! Stands before tower-lsp's router and mends what it cannot do.
//!
//! - Messages right behind `initialize` wait until it has been answered (they would be refused).
//! - `exit` never reaches the router, which would stop without its last answers; it is told to [`Life`] instead.
//! - The raw `initialize` parameters and the raw URI of each opened document are kept: the typed ones lose names and
//!   spelling.
//! - `null` where there are no parameters is taken for none, as clients write it with `shutdown`.
//! - A handler that panics answers with an error; it would end the server.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tower_lsp::jsonrpc::{Error, Request, RequestBuilder, Response};
use tower_lsp::lsp_types::Url;
use tower_service::Service;

/// What the gate saw of the connection's life.
#[derive(Default)]
pub struct Life {
    initializing: AtomicBool,
    waiting: Mutex<Option<Waker>>,
    parameters: Mutex<Option<Value>>,
    raw_uris: Mutex<HashMap<String, String>>,
    shut_down: AtomicBool,
    exited: AtomicBool,
    exit: Notify,
    input_ended: watch::Sender<bool>,
}

impl Life {
    /// The raw parameters of `initialize`; once.
    pub fn take_parameters(&self) -> Value {
        lock(&self.parameters).take().unwrap_or_default()
    }

    /// The URI of an opened document as the client wrote it.
    pub fn raw_uri(&self, uri: &Url) -> String {
        lock(&self.raw_uris).get(uri.as_str()).cloned().unwrap_or_else(|| uri.to_string())
    }

    /// Resolves at `exit`.
    pub async fn exit(&self) {
        self.exit.notified().await;
    }

    /// The client will say nothing more.
    pub fn end_input(&self) {
        self.input_ended.send_replace(true);
    }

    /// Resolves once the client will say nothing more.
    pub async fn input_end(&self) {
        let _ = self.input_ended.subscribe().wait_for(|ended| *ended).await;
    }

    /// As the protocol says: 0 when `exit` came after `shutdown`, else 1.
    pub fn exit_code(&self) -> u8 {
        u8::from(!(self.shut_down.load(Ordering::SeqCst) && self.exited.load(Ordering::SeqCst)))
    }

    fn keep_raw_uri(&self, parameters: Option<&Value>) {
        let Some(raw) = parameters.and_then(|all| all.pointer("/textDocument/uri")).and_then(Value::as_str) else {
            return;
        };
        match Url::parse(raw) {
            Ok(uri) if uri.as_str() == raw => drop(lock(&self.raw_uris).remove(raw)),
            Ok(uri) => drop(lock(&self.raw_uris).insert(uri.into(), raw.to_owned())),
            Err(error) => tracing::warn!("a document cannot be opened, its URI is wrong ({error})"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the held messages pass when `initialize` is over, however it ended.
struct Initializing(Arc<Life>);

impl Drop for Initializing {
    fn drop(&mut self) {
        self.0.initializing.store(false, Ordering::SeqCst);
        if let Some(waker) = lock(&self.0.waiting).take() {
            waker.wake();
        }
    }
}

/// The service that tower-lsp's server calls; `inner` is its router.
pub struct Gate<S> {
    /// The router.
    pub inner: S,
    /// What is seen is told here.
    pub life: Arc<Life>,
}

impl<S> Service<Request> for Gate<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        *lock(&self.life.waiting) = Some(context.waker().clone());
        if self.life.initializing.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        if request.params().is_some_and(Value::is_null) {
            let (method, id, _) = request.into_parts();
            let bare = Request::build(method);
            request = id.into_iter().fold(bare, RequestBuilder::id).finish();
        }
        let mut initializing = None;
        match request.method() {
            "initialize" => {
                self.life.initializing.store(true, Ordering::SeqCst);
                *lock(&self.life.parameters) = request.params().cloned();
                initializing = Some(Initializing(self.life.clone()));
            }
            "textDocument/didOpen" => self.life.keep_raw_uri(request.params()),
            "shutdown" => self.life.shut_down.store(true, Ordering::SeqCst),
            "exit" => {
                self.life.exited.store(true, Ordering::SeqCst);
                self.life.exit.notify_one();
                return Box::pin(std::future::ready(Ok(None)));
            }
            _ => {}
        }
        let (method, id) = (request.method().to_owned(), request.id().cloned());
        let answer = AssertUnwindSafe(self.inner.call(request)).catch_unwind();
        Box::pin(async move {
            let answer = answer.await;
            drop(initializing);
            answer.unwrap_or_else(|_| {
                tracing::error!("the handler of {method} panicked");
                Ok(id.map(|id| Response::from_error(id, Error::internal_error())))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A router whose `initialize` takes a while and whose `panic` panics.
    struct Router(Arc<Notify>);

    impl Service<Request> for Router {
        type Response = Option<Response>;
        type Error = std::convert::Infallible;
        type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request) -> Self::Future {
            let answered = self.0.clone();
            Box::pin(async move {
                let bare = request.method() == "bare" && request.params().is_none();
                match request.method() {
                    "initialize" => answered.notified().await,
                    "panic" => panic!("injected"),
                    _ => {}
                }
                let result = if bare { json!("no parameters") } else { Value::Null };
                Ok(request.id().cloned().map(|id| Response::from_ok(id, result)))
            })
        }
    }

    fn gate() -> (Gate<Router>, Arc<Notify>) {
        let answered = Arc::new(Notify::new());
        (Gate { inner: Router(answered.clone()), life: Arc::default() }, answered)
    }

    async fn ready(gate: &mut Gate<Router>) {
        std::future::poll_fn(|context| gate.poll_ready(context)).await.unwrap();
    }

    #[tokio::test]
    async fn messages_wait_until_initialize_is_answered() {
        let (mut gate, answered) = gate();
        ready(&mut gate).await;
        let initialize = tokio::spawn(gate.call(Request::build("initialize").params(json!({"a": 1})).id(1).finish()));
        assert!(ready(&mut gate).now_or_never().is_none());
        answered.notify_one();
        ready(&mut gate).await;
        assert!(initialize.await.unwrap().unwrap().is_some());
        assert_eq!(gate.life.take_parameters(), json!({"a": 1}));
    }

    #[tokio::test]
    async fn a_dropped_initialize_holds_nothing_back() {
        let (mut gate, _answered) = gate();
        drop(gate.call(Request::build("initialize").id(1).finish()));
        ready(&mut gate).await;
    }

    #[tokio::test]
    async fn a_panicking_handler_is_an_error() {
        let (mut gate, _) = gate();
        let answer = gate.call(Request::build("panic").id(7).finish()).await.unwrap().unwrap();
        assert!(answer.is_error());
        assert!(gate.call(Request::build("panic").finish()).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn parameters_that_are_null_are_none() {
        let (mut gate, _) = gate();
        let request = Request::build("bare").params(Value::Null).id(7).finish();
        let answer = gate.call(request).await.unwrap().unwrap();
        assert_eq!((answer.id(), answer.result()), (&7.into(), Some(&json!("no parameters"))));
        assert!(gate.call(Request::build("bare").params(Value::Null).finish()).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn exit_codes() {
        for (methods, code) in [(&["shutdown", "exit"][..], 0), (&["exit"], 1), (&["shutdown"], 1), (&[], 1)] {
            let (mut gate, _) = gate();
            for method in methods {
                let _ = gate.call(Request::build(*method).finish()).await;
            }
            assert_eq!(gate.life.exit_code(), code, "{methods:?}");
            assert_eq!(gate.life.exit().now_or_never().is_some(), methods.contains(&"exit"));
        }
    }

    #[tokio::test]
    async fn uris_keep_the_spelling_they_were_last_opened_with() {
        let (mut gate, _) = gate();
        for raw in ["file:///w/ä.py", "file:///w/a b.py", "FILE:///w/../x/[1].py", "untitled:Untitled-1"] {
            let uri = Url::parse(raw).unwrap();
            for spelling in [raw, uri.as_str(), raw] {
                let parameters = json!({"textDocument": {"uri": spelling}});
                let _ = gate.call(Request::build("textDocument/didOpen").params(parameters).finish()).await;
                assert_eq!(gate.life.raw_uri(&uri), spelling);
            }
        }
    }
}
