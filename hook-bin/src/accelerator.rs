//! Asks a running server what it knows of a change already, so that the hook need not parse it.
//!
//! Only puts the question into the socket's words and the claims back into the guard's. Whether they hold is proved
//! there, against our own bytes; whatever is odd about an answer is no answer, and nothing is ever said about it.

use std::path::PathBuf;
use std::time::Duration;

use guard::accelerate::{Accelerator, Question};
use rules::claims::Claim;
use rules::{Change, Counting};
use wire::{BookRequest, Client, Digest, JudgeRequest, Judged, Splice};

/// The longest dotted name that is worth saying, in bytes.
const LONGEST_NAME: usize = 512;

/// The servers of this user, asked over their sockets.
pub struct Servers {
    client: Client,
}

impl Servers {
    /// Servers whose endpoints stand in this folder, asked within one budget for all questions.
    pub fn in_folder(runtime: PathBuf, budget: Duration) -> Servers {
        Servers { client: Client::new(runtime, budget) }
    }
}

impl Accelerator for Servers {
    fn claims(&self, question: &Question<'_>) -> Option<Vec<Vec<Claim>>> {
        claims(self.client.judge(request(question)?).ok()?)
    }
}

/// The question as a request; none where a server could not come to the same change from texts alone, or where a path
/// has no spelling in JSON.
fn request(question: &Question<'_>) -> Option<JudgeRequest> {
    let (_, change) = question.books.first()?;
    let alike = |other: &Change| {
        let texts_alone = !other.deleted && other.code.is_none() && other.counting == Counting::File;
        texts_alone && other.before == change.before && other.text == change.text
    };
    if !question.books.iter().all(|(_, change)| alike(change)) {
        return None;
    }
    let books = question.books.iter().map(|(book, change)| {
        Some(BookRequest {
            path: book.path.to_str()?.to_owned(),
            digest: digest(&book.bytes),
            shown: change.path.clone(),
            names: change.names.clone(),
        })
    });
    Some(JudgeRequest {
        path: question.file.to_str()?.to_owned(),
        before: change.before.as_ref().map(|before| digest(before.as_bytes())),
        after: digest(change.text.as_bytes()),
        edit: Splice::between(change.before.as_deref().unwrap_or_default(), &change.text),
        books: books.collect::<Option<_>>()?,
    })
}

/// The claims of an answer; none where something could not be checked, for then the reason is ours to find, and none
/// where a name is no name: it would stand in our words.
fn claims(judged: Judged) -> Option<Vec<Vec<Claim>>> {
    let is_name = |claim: &wire::Claim| {
        claim.name.len() <= LONGEST_NAME && claim.name.chars().all(|it| it.is_alphanumeric() || "_.?*".contains(it))
    };
    let book = |answer: wire::BookAnswer| {
        let usable = answer.unchecked.is_empty() && answer.claims.iter().all(is_name);
        usable.then(|| answer.claims.into_iter().map(Claim::from).collect())
    };
    judged.books.into_iter().map(book).collect()
}

fn digest(bytes: &[u8]) -> Digest {
    Digest(system::digest::sha256(bytes))
}
