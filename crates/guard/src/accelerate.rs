//! What a running server may save the hook: one trait, and the proof its answer needs (S7).
//!
//! It is asked only where work is left that it could save. An answer can only deny: every claim is stated again from our
//! own copy of rulebook and change, one that does not stand makes the whole answer worthless, and no claim at all clears
//! nothing. Then the hook works alone.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use rules::claims::Claim;
use rules::{Change, Effect, FactSource, Finding, Judge, Verdict, Work};
use syntax::{Facts, Language};

use crate::books::LoadedBook;

/// One change, and the rulebooks that judge it.
#[derive(Debug)]
pub struct Question<'a> {
    /// The file's resolved path.
    pub file: &'a Path,
    /// The rulebooks, each with the change as it sees it.
    pub books: &'a [(Arc<LoadedBook>, Change)],
}

/// Waits for what a server claims of each rulebook, in their order, computed from exactly the bytes of the question; none
/// when it has no whole answer (a check that could not be made is no whole answer).
pub type Answer<'a> = Box<dyn FnOnce() -> Option<Vec<Vec<Claim>>> + 'a>;

/// A server that may know the answer already.
pub trait Accelerator {
    /// Asks, and leaves the waiting to whoever wants the answer; none when nobody was asked.
    fn ask<'a>(&'a self, question: &Question<'_>) -> Option<Answer<'a>>;
}

/// A server, and what is done while it thinks.
pub(crate) struct Meanwhile<'a> {
    pub server: &'a dyn Accelerator,
    pub work: &'a dyn Fn(),
}

impl Accelerator for Meanwhile<'_> {
    fn ask<'a>(&'a self, question: &Question<'_>) -> Option<Answer<'a>> {
        let answer = self.server.ask(question)?;
        Some(Box::new(|| {
            (self.work)();
            answer()
        }))
    }
}

/// The verdicts of a claimed refusal, each finding stated anew from our own copy; none unless all of them stand and one
/// denies.
pub fn proven(judge: &Judge<'_>, question: &Question<'_>, claims: &[Vec<Claim>]) -> Option<Vec<Verdict>> {
    if claims.len() != question.books.len() {
        return None;
    }
    let mut work = Work::default();
    let mut verdicts = Vec::with_capacity(claims.len());
    for (claims, (book, change)) in claims.iter().zip(question.books) {
        let stated = judge.restate(&book.book, change, claims, &mut work);
        let findings = stated.into_iter().collect::<Option<Vec<Finding>>>()?;
        verdicts.push(Verdict { findings, unchecked: Vec::new() });
    }
    let denies = verdicts.iter().any(|verdict| verdict.effect() == Some(Effect::Deny));
    denies.then_some(verdicts)
}

/// Has no facts: claims are proven without any.
pub(crate) struct NoFacts;

impl FactSource for NoFacts {
    fn facts(&self, _: Language, _: &Arc<str>) -> Result<Arc<Facts>, String> {
        Err("claims are proven without facts".to_owned())
    }
}

/// Facts of texts, but when the first are needed a server is asked: where one was, no facts are taken, and what is judged
/// without them counts for nothing.
pub(crate) struct AskFirst<'a> {
    ask: &'a dyn Fn() -> Option<Answer<'a>>,
    facts: &'a dyn FactSource,
    asked: OnceCell<Option<Answer<'a>>>,
}

impl<'a> AskFirst<'a> {
    pub fn new(ask: &'a dyn Fn() -> Option<Answer<'a>>, facts: &'a dyn FactSource) -> AskFirst<'a> {
        AskFirst { ask, facts, asked: OnceCell::new() }
    }

    /// The answer to wait for, if a server was asked.
    pub fn into_answer(self) -> Option<Answer<'a>> {
        self.asked.into_inner().flatten()
    }
}

impl FactSource for AskFirst<'_> {
    fn facts(&self, language: Language, text: &Arc<str>) -> Result<Arc<Facts>, String> {
        match self.asked.get_or_init(self.ask) {
            Some(_) => Err("a server was asked".to_owned()),
            None => self.facts.facts(language, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;

    use rules::{Check, ParseNow};

    use super::*;
    use crate::books::FromDisk;
    use crate::judge::{FileVerdict, Judging};
    use crate::stack::{Spelled, Surroundings};

    const RULES: &str = "[[rule]]\nid = \"sys\"\npaths = [\"**\"]\nforbid_calls = [\"os.system\"]\n\
                         [[rule]]\nid = \"todo\"\npaths = [\"**\"]\nforbid = [\"TODO\"]\non_fail = \"ask\"\n";

    /// A server that answers as it is told and counts the questions.
    struct Told {
        answer: Option<Vec<Vec<Claim>>>,
        asked: RefCell<usize>,
    }

    impl Accelerator for Told {
        fn ask<'a>(&'a self, _: &Question<'_>) -> Option<Answer<'a>> {
            *self.asked.borrow_mut() += 1;
            Some(Box::new(|| self.answer.clone()))
        }
    }

    /// The verdict on a file with this text, and how often the server was asked.
    fn judge(text: &str, answer: Option<Vec<Vec<Claim>>>) -> (FileVerdict, usize) {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join(".ruleline")).unwrap();
        fs::write(temp.path().join(".ruleline/rules.toml"), RULES).unwrap();
        let told = Told { answer, asked: RefCell::new(0) };
        let surroundings = Surroundings::default();
        let judging = Judging {
            books: &FromDisk,
            facts: &ParseNow,
            accelerator: Some(&told),
            surroundings: &surroundings,
            user: None,
        };
        let file = Spelled::new(temp.path().join("a.py"));
        let stack = judging.stack(&file);
        let change = Change::created("a.py".into(), vec!["a.py".into()], text.into());
        let judged = judging.judge(&file, &stack, &change, None);
        let asked = *told.asked.borrow();
        (judged, asked)
    }

    fn claim(line: u32, span: std::ops::Range<usize>) -> Claim {
        let name = "os.system".to_owned();
        Claim { rule: 0, check: Check::ForbidCalls, item: 0, line, span: Some(span), name, passed: false }
    }

    #[test]
    fn s07_a_server_is_asked_only_where_a_parse_is_left_to_save() {
        for (text, times) in [("x = 1\n", 0), ("# TODO\n", 0), ("import os\nos.system('x')\n", 1)] {
            assert_eq!(judge(text, None).1, times, "{text}");
        }
    }

    #[test]
    fn s07_a_server_can_never_loosen() {
        let text = "import os\nos.system('x')\n";
        let alone = judge(text, None).0;
        assert_eq!(alone.effect(), Some(Effect::Deny));
        for (name, answer) in [
            ("no finding", vec![vec![]]),
            ("no rulebook", vec![]),
            ("a rulebook too many", vec![vec![claim(2, 10..19)], vec![]]),
            ("a line that was not added", vec![vec![claim(7, 10..19)]]),
            ("bytes that are not there", vec![vec![claim(2, 10..1000)]]),
            ("no rule", vec![vec![Claim { rule: 9, ..claim(2, 10..19) }]]),
            ("one true and one false", vec![vec![claim(2, 10..19), claim(2, 10..1000)]]),
        ] {
            let judged = judge(text, Some(answer)).0;
            assert_eq!(judged.parts[0].verdict, alone.parts[0].verdict, "{name}");
        }
    }

    #[test]
    fn what_is_left_to_do_is_done_after_a_server_is_asked_and_before_it_is_waited_for() {
        let told = Told { answer: Some(vec![]), asked: RefCell::new(0) };
        let done = RefCell::new(Vec::new());
        let work = || done.borrow_mut().push(*told.asked.borrow());
        let meanwhile = Meanwhile { server: &told, work: &work };
        let answer = meanwhile.ask(&Question { file: Path::new("/a"), books: &[] }).unwrap();
        assert_eq!(*done.borrow(), [0; 0]);
        assert_eq!(answer(), Some(vec![]));
        assert_eq!(*done.borrow(), [1]);
    }

    #[test]
    fn s07_a_true_claim_is_said_in_our_own_words() {
        let text = "import os\nos.system('x')\n";
        let alone = judge(text, None).0;
        let claims = alone.parts[0].verdict.findings.iter().filter_map(Claim::of).collect();
        let saved = judge(text, Some(vec![claims])).0;
        assert_eq!(saved.parts[0].verdict, alone.parts[0].verdict);
    }
}
