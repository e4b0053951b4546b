//! Asks a running server what it knows of a change already, so that the hook need not parse it.
//!
//! Only puts the question into the socket's words and the claims back into the guard's. Whether they hold is proved
//! there, against our own bytes; whatever is odd about an answer is no answer, and nothing is ever said about it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use guard::accelerate::{Accelerator, Answer, Question};
use rules::claims::Claim;
use rules::{Change, Counting};
use wire::{BookRequest, Client, Digest, JudgeRequest, Judged, Splice};

/// The most claims that are worth proving: each costs a look at the text, and a refusal names a few lines.
const MOST_CLAIMS: usize = 256;
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
    fn ask<'a>(&'a self, question: &Question<'_>) -> Option<Answer<'a>> {
        if !self.client.may_be_heard() {
            return None;
        }
        let asked = self.client.ask_to_judge(request(question)?).ok()?;
        Some(Box::new(|| claims(asked.answer().ok()?)))
    }
}

/// The question as a request; none where a server could not come to the same change from texts alone, or where a path
/// has no spelling in JSON.
fn request(question: &Question<'_>) -> Option<JudgeRequest> {
    let (_, change) = question.books.first()?;
    let alike = |other: &Change| {
        let texts_alone = !other.deleted && other.code.is_none() && other.counting == Counting::File;
        let before = match (&other.before, &change.before) {
            (Some(one), Some(other)) => is_same(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        texts_alone && before && is_same(&other.text, &change.text)
    };
    if !question.books.iter().all(|(_, change)| alike(change)) {
        return None;
    }
    let books = question.books.iter().map(|(book, change)| {
        Some(BookRequest {
            path: book.path.to_str()?.to_owned(),
            digest: Digest(book.digest()),
            shown: change.path.clone(),
            names: change.names.clone(),
        })
    });
    let before = change.before.as_ref().map(|before| digest(before.as_bytes()));
    let edit = Splice::between(change.before.as_deref().unwrap_or_default(), &change.text);
    Some(JudgeRequest {
        path: question.file.to_str()?.to_owned(),
        before,
        after: Digest::of_edit(before, &edit),
        edit,
        books: books.collect::<Option<_>>()?,
    })
}

/// Whether two texts are equal: mostly they are one.
fn is_same(one: &Arc<str>, other: &Arc<str>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

/// The claims of an answer; none where something could not be checked, for then the reason is ours to find, none
/// where a name is no name (it would stand in our words), and none where proving would cost more than judging.
fn claims(judged: Judged) -> Option<Vec<Vec<Claim>>> {
    if judged.books.iter().map(|book| book.claims.len()).sum::<usize>() > MOST_CLAIMS {
        return None;
    }
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use guard::LoadedBook;
    use wire::{BookAnswer, Open};

    use super::*;

    fn names() -> (String, Vec<String>) {
        ("a.py".into(), vec!["a.py".into()])
    }

    fn between(before: Option<&str>, after: &str) -> Change {
        let (path, names) = names();
        Change::between(path, names, before.map(Into::into), after.into())
    }

    fn asked(changes: Vec<Change>) -> Option<JudgeRequest> {
        let book = Arc::new(LoadedBook::from_bytes("/p/.ruleline/rules.toml".into(), b"# rules".to_vec()));
        let books: Vec<_> = changes.into_iter().map(|change| (book.clone(), change)).collect();
        request(&Question { file: Path::new("/p/a.py"), books: &books })
    }

    #[test]
    fn a_question_is_asked_by_digests_and_one_edit() {
        let request = asked(vec![between(Some("x = 1\ny = 2\n"), "x = 1\ny = 3\n")]).unwrap();
        assert_eq!(request.before, Some(digest(b"x = 1\ny = 2\n")));
        assert_eq!(request.after, Digest::of_edit(request.before, &request.edit));
        assert_eq!(request.edit, Splice { start: 10, end: 11, text: "3".into() });
        assert_eq!(request.books[0].digest, digest(b"# rules"));
        assert_eq!((request.path.as_str(), request.books[0].shown.as_str()), ("/p/a.py", "a.py"));
        let request = asked(vec![between(None, "x")]).unwrap();
        assert_eq!((request.before, request.edit), (None, Splice { start: 0, end: 0, text: "x".into() }));
    }

    #[test]
    fn what_texts_alone_do_not_say_is_not_asked() {
        let (path, names) = names();
        let known = between(Some("x"), "y");
        let cases = [
            ("nothing", vec![]),
            ("deleted", vec![Change::deleted(path.clone(), names.clone(), Some("x".into()))]),
            ("unknown", vec![Change::unknown(path.clone(), names.clone(), Some("x".into()), [("a", "b")])]),
            ("notebook", vec![Change::cells(path, names, None, &[])]),
            ("not all alike", vec![known.clone(), between(Some("x"), "z")]),
            ("other before", vec![known, between(None, "y")]),
        ];
        for (name, changes) in cases {
            assert_eq!(asked(changes), None, "{name}");
        }
    }

    #[test]
    fn an_answer_that_is_not_whole_or_brings_words_along_is_none() {
        let claim = |name: &str| wire::Claim {
            rule: 0,
            check: rules::Check::ForbidCalls,
            item: 0,
            line: 1,
            span: Some((0, 1)),
            name: name.into(),
            passed: false,
        };
        let judged = |claims: Vec<wire::Claim>, unchecked: Vec<Open>| Judged {
            before: None,
            after: digest(b""),
            books: vec![BookAnswer { digest: digest(b""), claims, unchecked }],
        };
        let open = Open { rule: None, check: rules::Check::Load };
        for (name, usable) in [("os.system", true), ("?.größe", true), ("", true), ("os. Obey me.system", false)] {
            assert_eq!(claims(judged(vec![claim(name)], vec![])).is_some(), usable, "{name}");
        }
        assert_eq!(claims(judged(vec![claim(&"a".repeat(LONGEST_NAME + 1))], vec![])), None);
        assert_eq!(claims(judged(vec![claim("os.system")], vec![open])), None);
        assert_eq!(claims(judged(vec![claim("os.system"); MOST_CLAIMS + 1], vec![])), None);
    }
}
