//! What is asked while one of our own files is written: what may stand at a place, what stands there, what it means.
//!
//! The session hands a worker the text as it is now and goes on; the worker answers whoever asked. A question about what
//! is not open, or is none of our files, is answered with nothing.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::features::completion::{self, Suggestion};
use crate::features::diagnostics::{Report, RulePlace};
use crate::features::hover::{self, Hover};
use crate::features::own::OwnFile;
use crate::session::Session;
use crate::session::counting::Lenses;
use crate::text::{Position, Text};

/// One question.
pub enum Inquiry {
    /// What may be written at a place.
    Completion {
        /// The place.
        at: Position,
        /// Gets the suggestions, and the text that their spans are of.
        reply: oneshot::Sender<(Text, Vec<Suggestion>)>,
    },
    /// The lenses over the rules of a rulebook.
    Lenses {
        /// Gets them.
        reply: oneshot::Sender<Lenses>,
    },
    /// What stands at a place of one of our files.
    Meaning {
        /// The place.
        at: Position,
        /// Gets what it means, if it means something, and the text it is of.
        reply: oneshot::Sender<Meaning>,
    },
    /// Which rules the findings at a place are of.
    Findings {
        /// The place.
        at: Position,
        /// What was found in the document.
        report: Arc<Report>,
        /// Gets the rules.
        reply: oneshot::Sender<Option<Hover>>,
    },
}

/// The answer to [`Inquiry::Meaning`].
pub enum Meaning {
    /// It is none of our files: what was found in it may have something to tell.
    NotOurs,
    /// What it means, and the text it is of.
    Ours(Option<Hover>, Text),
}

impl Session {
    /// Has a question about a document answered.
    pub(super) fn inquire(&mut self, key: &str, inquiry: Inquiry) {
        let Some(document) = self.documents.get(key) else { return };
        let (path, resolved) = (document.path.clone(), document.resolved.clone());
        let file = path.as_deref().and_then(|path| OwnFile::of(path, self.user_folder()));
        let (text, encoding) = (document.text.clone(), self.profile.encoding);
        match (inquiry, file, path) {
            (Inquiry::Completion { at, reply }, Some(file), Some(path)) => self.answer(move || {
                let offset = text.offset(at, encoding).at;
                let all = completion::suggest(file, &path, &text.text, offset);
                let _ = reply.send((text, all));
            }),
            (Inquiry::Lenses { reply }, Some(OwnFile::Rulebook(_)), _) => {
                self.ask_lenses(&resolved.unwrap_or_default(), &text, reply);
            }
            (Inquiry::Completion { .. } | Inquiry::Lenses { .. }, ..) => {}
            (Inquiry::Meaning { at, reply }, Some(file), _) => self.answer(move || {
                let offset = text.offset(at, encoding).at;
                let told = hover::of_file(file, &text.text, offset);
                let _ = reply.send(Meaning::Ours(told, text));
            }),
            (Inquiry::Meaning { reply, .. }, None, _) => drop(reply.send(Meaning::NotOurs)),
            (Inquiry::Findings { at, report, reply }, ..) => {
                let engine = self.engine.clone();
                self.answer(move || {
                    let why = |rule: &RulePlace| {
                        let book = engine.rulebooks.content(&rule.path, rule.text.text.as_bytes().to_vec());
                        let rules = &book.rules().rules;
                        rules.iter().find(|known| known.id == rule.id).map(|known| known.why.clone())
                    };
                    let offset = report.text.offset(at, encoding).at;
                    let _ = reply.send(hover::of_findings(&report, offset, why));
                });
            }
        }
    }
}
