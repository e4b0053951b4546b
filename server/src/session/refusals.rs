//! What a person does about a refusal: reads it, and allows it once after a question (S9, S10).
//!
//! A command without the token of a review that was shown opens the review and nothing else. Whoever cannot be a person
//! at this editor is refused; what nobody can allow is shown with the reason.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::features::allowance::{allowances, review};
use crate::features::decisions;
use crate::session::Session;
use crate::session::editor::Place;
use crate::session::event::{Event, Reply};
use crate::session::questions::Question;
use crate::text::Text;

/// A command about a refusal, by the id of its decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Shows it.
    Review {
        /// The decision.
        id: String,
    },
    /// Allows it once, after a question.
    Allow {
        /// The decision.
        id: String,
        /// Of the review; without one the review is shown instead.
        token: Option<String>,
    },
}

/// A review of a refusal that can be opened.
#[derive(Debug)]
pub struct Opened {
    file: PathBuf,
    text: String,
    said: String,
}

impl Session {
    pub(super) fn command_refusal(&mut self, command: Command, reply: Reply) {
        match command {
            Command::Review { id } => self.review_refusal(&id, reply),
            Command::Allow { id, token } => {
                if let Some(why) = self.why_nobody("allow") {
                    let _ = reply.send(Err(format!("Ruleline: nothing was allowed: {why}")));
                    return;
                }
                match token.and_then(|token| self.engine.reviews.spend_allowance(&id, &token)) {
                    Some(allowance) => {
                        self.look_at_reviews_again();
                        self.ask_person(Question::Allow(Box::new(allowance)), reply);
                    }
                    None => self.review_refusal(&id, reply),
                }
            }
        }
    }

    fn review_refusal(&self, id: &str, reply: Reply) {
        let Some(entry) = self.live.decisions.get(id).cloned() else {
            let _ = reply.send(Err("Ruleline: there is no such decision among the last of this workspace".to_owned()));
            return;
        };
        let nobody = self.why_nobody("allow");
        let (engine, workspaces) = (self.engine.clone(), self.workspaces.to_paths());
        self.work(move || {
            let acts = nobody.map_or_else(|| allowances(&entry), Err);
            let text = review(&entry, acts.as_deref().map_err(String::as_str));
            let next = match &acts {
                Ok(_) => "then allow it there".to_owned(),
                Err(why) => format!("it cannot be allowed from here: {why}"),
            };
            let made = match &engine.folders {
                Some(folders) => {
                    let acts = acts.unwrap_or_default();
                    engine.reviews.make_of_refusal(folders, &workspaces, &entry.id, &text, acts)
                }
                None => Err("this user's folders are not known".to_owned()),
            };
            let made = made.map(|file| {
                let said = format!("Review what {} was refused in {}; {next}", agent(&entry), decisions::path(&file));
                Opened { file, text, said }
            });
            Event::RefusalReviewed { made, reply }
        });
    }

    pub(super) fn take_refusal_review(&mut self, made: Result<Opened, String>, reply: Reply) {
        let answer = made.map_err(|why| format!("Ruleline: {why}")).map(|Opened { file, text, said }| {
            let text = Text::new(text);
            let place = Place { path: Arc::from(&*file), span: text.line(0), text, otherwise: said.clone() };
            self.editor.open(place);
            self.look_at_reviews_again();
            json!({"message": said, "file": system::paths::shown(&file)})
        });
        let _ = reply.send(answer);
    }

    /// What reviews of refusals offer has changed.
    fn look_at_reviews_again(&mut self) {
        let folder = self.engine.folders.as_ref().map(crate::features::reviews::folder);
        let is_review = |path: &PathBuf| folder.as_deref().is_some_and(|folder| path.starts_with(folder));
        let reviews = self.documents.iter().filter(|(_, it)| it.path.as_ref().is_some_and(is_review));
        let keys: Vec<String> = reviews.map(|(key, _)| key.clone()).collect();
        for key in &keys {
            self.touch(key);
        }
    }
}

fn agent(entry: &records::Entry) -> String {
    rules::plain::plain(&entry.agent, rules::plain::ID)
}
