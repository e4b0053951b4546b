//! What a running server may save the hook: one trait, and the proof its answer needs (S7).
//!
//! It is asked only where work is left that it could save. An answer can only deny: every claim is stated again from our
//! own copy of rulebook and change, one that does not stand makes the whole answer worthless, and no claim at all clears
//! nothing. Then the hook works alone.

use std::cell::Cell;
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

/// A server that may know the answer already.
pub trait Accelerator {
    /// What it claims of each rulebook, in their order, computed from exactly the bytes of the question; none when it
    /// has no whole answer (a check that could not be made is no whole answer).
    fn claims(&self, question: &Question<'_>) -> Option<Vec<Vec<Claim>>>;
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

/// Has no facts, and knows whether any were needed.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// Facts were asked for.
    pub needed: Cell<bool>,
}

impl FactSource for Probe {
    fn facts(&self, _: Language, _: &Arc<str>) -> Result<Arc<Facts>, String> {
        self.needed.set(true);
        Err("only looking whether facts are needed".to_owned())
    }
}
