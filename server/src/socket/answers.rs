//! Answers that were given already: judging is pure, so that the same question has the same answer.
//!
//! A question is the same where every digest and every name in it is; the edit is not compared, for the digests of the
//! texts say what it does. Bounded in number and size, the oldest goes first. Knows nothing of how an answer is found.

use std::collections::{HashMap, VecDeque};

use wire::{BookRequest, Digest, JudgeRequest, Judged};

/// How many answers are kept.
const MOST: usize = 256;
/// The longest names that a kept question has, and the most claims that a kept answer has.
const LONGEST: usize = 8 << 10;
const MOST_CLAIMS: usize = 64;

/// What an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    path: String,
    before: Option<Digest>,
    after: Digest,
    books: Vec<BookRequest>,
}

impl Key {
    /// None where it is too long to be kept.
    fn of(request: &JudgeRequest) -> Option<Key> {
        let names =
            |book: &BookRequest| book.path.len() + book.shown.len() + book.names.iter().map(String::len).sum::<usize>();
        let length = request.path.len() + request.books.iter().map(names).sum::<usize>();
        let JudgeRequest { path, before, after, books, .. } = request;
        (length <= LONGEST).then(|| Key { path: path.clone(), before: *before, after: *after, books: books.clone() })
    }
}

/// Answers by their questions.
#[derive(Debug, Default)]
pub(super) struct Answers {
    known: HashMap<Key, Judged>,
    order: VecDeque<Key>,
}

impl Answers {
    /// The answer to this question, if it is kept.
    pub fn get(&self, request: &JudgeRequest) -> Option<Judged> {
        self.known.get(&Key::of(request)?).cloned()
    }

    /// Keeps an answer.
    pub fn keep(&mut self, request: &JudgeRequest, judged: &Judged) {
        let size = judged.books.iter().map(|book| book.claims.len() + book.unchecked.len()).sum::<usize>();
        let Some(key) = Key::of(request).filter(|_| size <= MOST_CLAIMS) else { return };
        if self.known.insert(key.clone(), judged.clone()).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::Splice;

    use super::*;

    fn request(number: u8, name: &str) -> JudgeRequest {
        let book =
            BookRequest { path: "/b".into(), digest: Digest([0; 32]), shown: "a".into(), names: vec![name.into()] };
        let edit = Splice { start: 0, end: 0, text: "x".into() };
        JudgeRequest { path: "/a".into(), before: None, after: Digest([number; 32]), edit, books: vec![book] }
    }

    fn judged(request: &JudgeRequest) -> Judged {
        Judged { before: request.before, after: request.after, books: Vec::new() }
    }

    #[test]
    fn only_the_same_question_has_the_same_answer() {
        type Bend = fn(&mut JudgeRequest);

        let mut answers = Answers::default();
        let asked = request(1, "a");
        answers.keep(&asked, &judged(&asked));
        assert_eq!(answers.get(&asked), Some(judged(&asked)));
        let bends: [(&str, Bend); 6] = [
            ("path", |it| it.path.push('x')),
            ("before", |it| it.before = Some(Digest([7; 32]))),
            ("after", |it| it.after.0[0] ^= 1),
            ("rulebook", |it| it.books[0].digest.0[0] ^= 1),
            ("name", |it| it.books[0].names[0].push('x')),
            ("shown", |it| it.books[0].shown.push('x')),
        ];
        for (name, bend) in bends {
            let mut other = asked.clone();
            bend(&mut other);
            assert_eq!(answers.get(&other), None, "{name}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
        let mut answers = Answers::default();
        for number in 0..=255 {
            for name in ["a", "b"] {
                let asked = request(number, name);
                answers.keep(&asked, &judged(&asked));
                answers.keep(&asked, &judged(&asked));
            }
        }
        assert_eq!((answers.known.len(), answers.order.len()), (MOST, MOST));
        assert_eq!(answers.get(&request(0, "a")), None);
        assert!(answers.get(&request(255, "b")).is_some());
        let long = request(0, &"n".repeat(LONGEST));
        answers.keep(&long, &judged(&long));
        assert_eq!(answers.get(&long), None);
    }
}
