//! A request to its answer, from what the server has in memory: rulebooks compiled once, texts and trees of what it has
//! parsed before. What is not in memory is read from disk, and only if it is exactly what the hook named.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use guard::books::LARGEST;
use rules::{Change, Judge, Verdict};
use wire::{BookAnswer, BookRequest, Claim, Digest, JudgeRequest, Judged, Open, Pong, Refusal, Request, Response};

use crate::engine::Engine;
use crate::rulebooks::Book;

/// The most rulebooks of one request; a file has one for each root above it.
const MOST_BOOKS: usize = 64;
/// The longest text judged, in bytes: what a hook itself would read.
const LONGEST_TEXT: usize = system::open::JUDGED_CAP as usize;

/// Answers from an engine that the session fills and uses too.
pub struct Judging {
    engine: Arc<Engine>,
    judged: AtomicU64,
}

impl Judging {
    /// Answers from this engine.
    pub fn new(engine: Arc<Engine>) -> Judging {
        Judging { engine, judged: AtomicU64::new(0) }
    }

    /// Answers one request. Bounded as judging is in a hook.
    pub fn answer(&self, request: &Request) -> Response {
        match request {
            Request::Ping => Response::Pong(Pong {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                pid: std::process::id(),
                judged: self.judged.load(Ordering::Relaxed),
                parses: self.engine.facts.parses(),
            }),
            Request::Judge(request) => self.judge(request).map_or_else(Response::Refused, Response::Judged),
        }
    }

    fn judge(&self, request: &JudgeRequest) -> Result<Judged, Refusal> {
        if request.books.len() > MOST_BOOKS {
            return Err(Refusal::Request);
        }
        let books = request.books.iter().map(|book| self.book(book)).collect::<Result<Vec<_>, _>>()?;
        let before = request.before.map(|digest| self.before(&request.path, digest)).transpose()?;
        let after: Arc<str> = request.edit.apply(before.as_deref().unwrap_or_default()).ok_or(Refusal::Request)?.into();
        if after.len() > LONGEST_TEXT {
            return Err(Refusal::Large);
        }
        if digest(after.as_bytes()) != request.after {
            return Err(Refusal::Stale);
        }
        let facts = self.engine.facts.near(before.clone());
        let change = Change::between(String::new(), Vec::new(), before, after);
        let judge = Judge { facts: &facts };
        let answers = request.books.iter().zip(&books).map(|(asked, book)| {
            let verdict = judge.judge(book.rules(), &change.named(asked.shown.clone(), asked.names.clone()));
            claims(asked.digest, &verdict)
        });
        let books = answers.collect();
        self.judged.fetch_add(1, Ordering::Relaxed);
        Ok(Judged { before: request.before, after: request.after, books })
    }

    /// The rulebook with exactly the bytes asked for.
    fn book(&self, asked: &BookRequest) -> Result<Arc<Book>, Refusal> {
        let path = Path::new(&asked.path);
        if let Some(book) = self.engine.rulebooks.known(path, asked.digest.0) {
            return Ok(book);
        }
        let (folder, name) = path.parent().zip(path.file_name()).ok_or(Refusal::Request)?;
        let bytes = system::open::read_below(folder, Path::new(name), LARGEST);
        let bytes = bytes.ok().flatten().filter(|bytes| digest(bytes) == asked.digest).ok_or(Refusal::Stale)?;
        Ok(self.engine.rulebooks.content(path, bytes))
    }

    /// The text before, from memory or as it is on disk.
    fn before(&self, path: &str, wanted: Digest) -> Result<Arc<str>, Refusal> {
        if let Some(text) = self.engine.facts.text(wanted.0) {
            return Ok(text);
        }
        let text = system::open::read_judged(Path::new(path)).ok().flatten();
        let text = text.filter(|text| digest(text.as_bytes()) == wanted).ok_or(Refusal::Stale)?;
        Ok(text.into())
    }
}

fn digest(bytes: &[u8]) -> Digest {
    Digest(system::digest::sha256(bytes))
}

fn claims(digest: Digest, verdict: &Verdict) -> BookAnswer {
    BookAnswer {
        digest,
        claims: verdict.findings.iter().map(Claim::from).collect(),
        unchecked: verdict.unchecked.iter().map(Open::from).collect(),
    }
}
