//! Exceptions against what was found (S10): which findings a person allowed once, and what becomes of the decision.
//!
//! Nothing is used up here unless the decision is another without it, and nothing but findings of rules is ever lifted:
//! self-protection, what could not be judged, the instruction check and hooks stand. Words and store are elsewhere.

use std::path::Path;
use std::time::SystemTime;

use rules::Effect;
use rules::plain::{ID, PATH, plain};

use crate::once::{Bound, Exceptions, Offer, digest_of_added};
use crate::reasons::Report;

/// Most rules of all files for which an exception is looked for.
const RULES: usize = 200;

/// The exceptions for what was found.
pub(crate) struct Lifting {
    store: Exceptions,
    lifted: Vec<Lifted>,
}

/// One rule of one rulebook about one file.
struct Lifted {
    report: usize,
    part: usize,
    rule: usize,
    offer: Offer,
    /// `no-eval in src/a.py was allowed once by a person ...`.
    words: String,
}

/// What was used up.
#[derive(Debug)]
pub(crate) struct Used {
    /// The ids of the refusals that a person looked at.
    pub refusals: Vec<String>,
    /// Who allowed what, each in one line.
    pub words: Vec<String>,
}

impl Lifting {
    /// Looks for exceptions for what these reports refuse or ask about; none where there is not one.
    pub fn find(state: &Path, root: &Path, reports: &[Report]) -> Option<Lifting> {
        let objections = reports.iter().enumerate().flat_map(|(index, report)| {
            let parts = report.judged.parts.iter().enumerate();
            parts.flat_map(move |(part, judged)| {
                let mut rules: Vec<usize> = judged
                    .verdict
                    .findings
                    .iter()
                    .filter(|it| it.effect > Effect::Warn)
                    .filter_map(|it| it.rule)
                    .collect();
                rules.dedup();
                rules.into_iter().map(move |rule| (index, part, rule))
            })
        });
        let objections: Vec<_> = objections.take(RULES).collect();
        let store = Exceptions::new(state);
        if objections.is_empty() || !store.has_any() {
            return None;
        }
        let now = SystemTime::now();
        let digests: Vec<_> = reports.iter().map(|report| digest_of_added(&report.change)).collect();
        let offered = |(report, part, rule): (usize, usize, usize)| {
            let judged = &reports[report].judged.parts[part];
            let id = judged.book.book.rules.get(rule)?.id.as_str();
            let bound = Bound {
                root,
                rulebook: &judged.book.path,
                rulebook_digest: judged.book.digest(),
                rule: id,
                path: &reports[report].file,
                added: digests[report],
            };
            let offer = store.offered(&bound, now)?;
            let words = format!(
                "ruleline: {} in {} was allowed once by a person {}; this uses it up",
                plain(id, ID),
                plain(&reports[report].change.path, PATH),
                offer.by.sentence()
            );
            Some(Lifted { report, part, rule, offer, words })
        };
        let lifted: Vec<Lifted> = objections.into_iter().filter_map(offered).collect();
        (!lifted.is_empty()).then_some(Lifting { store, lifted })
    }

    /// Takes all that was allowed out of the reports.
    pub fn lift(&self, reports: &mut [Report]) {
        self.lift_all_but(reports, &[]);
    }

    fn lift_all_but(&self, reports: &mut [Report], not: &[usize]) {
        reports.iter_mut().for_each(Report::restore);
        for (_, lifted) in self.lifted.iter().enumerate().filter(|(index, _)| !not.contains(index)) {
            reports[lifted.report].lift(lifted.part, lifted.rule);
        }
    }

    /// Uses up what the decision depends on, and puts back all else. `weigh` says what the reports come to.
    pub fn settle<T: PartialOrd>(self, reports: &mut [Report], weigh: impl Fn(&[Report]) -> T) -> Option<Used> {
        self.lift(reports);
        let with = weigh(reports);
        reports.iter_mut().for_each(Report::restore);
        if with >= weigh(reports) {
            return None;
        }
        let mut not = Vec::new();
        for index in 0..self.lifted.len() {
            not.push(index);
            self.lift_all_but(reports, &not);
            if weigh(reports) != with {
                not.pop();
            }
        }
        self.lift_all_but(reports, &not);
        let used = self.lifted.into_iter().enumerate().filter(|(index, _)| !not.contains(index));
        let (offers, words): (Vec<Offer>, Vec<String>) = used.map(|(_, lifted)| (lifted.offer, lifted.words)).unzip();
        if !self.store.take(&offers) {
            // Somebody else was faster: it is as if nobody had allowed anything.
            reports.iter_mut().for_each(Report::restore);
            return None;
        }
        Some(Used { refusals: offers.into_iter().map(|offer| offer.refusal).collect(), words })
    }
}
