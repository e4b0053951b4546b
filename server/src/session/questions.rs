//! What a person is asked before something is done for them, and what is then done (S9).
//!
//! The question names what it is about; only the answer that agrees does anything, by a worker. Whoever cannot be a
//! person at this editor is never asked: a server that an agent started, a workspace that its user does not trust.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use guard::once::{Exception, Exceptions};
use hooks::{Grantor, Store, Tree};
use serde_json::json;

use crate::engine::Engine;
use crate::features::allowance::Allowance;
use crate::features::decisions::path as shown;
use crate::session::Session;
use crate::session::editor::{Answer, CannotAsk, Level};
use crate::session::event::{Event, Reply};

/// What a person is asked, with what is done when they agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Whether these bytes are trusted.
    Trust {
        /// The root.
        root: PathBuf,
        /// The digest of the bytes that were shown.
        digest: String,
        /// How many files they are.
        files: usize,
    },
    /// Whether trust is taken back.
    Untrust {
        /// The root.
        root: PathBuf,
    },
    /// Whether an agent may once write what it was refused.
    Allow(Box<Allowance>),
}

impl Question {
    /// The answer that agrees.
    pub fn yes(&self) -> &'static str {
        match self {
            Question::Trust { .. } => "Trust",
            Question::Untrust { .. } => "Untrust",
            Question::Allow(_) => "Allow once",
        }
    }

    /// The question in words.
    fn text(&self) -> String {
        match self {
            Question::Trust { root, digest, files } => format!(
                "Trust the hooks of {} that you have just reviewed ({}, {}…)? They will run at every event of an agent \
                 here.",
                shown(root),
                counted(*files),
                &digest[..digest.len().min(12)]
            ),
            Question::Untrust { root } => {
                format!("Untrust the hooks of {}? What they guard is not guarded any more.", shown(root))
            }
            Question::Allow(allowance) => format!(
                "Allow once against {} of {}: exactly the lines that you have just reviewed ({}…)? It counts for one \
                 edit within {} minutes.",
                allowance.sentence(),
                shown(&allowance.root),
                allowance.short(),
                guard::once::LASTS.as_secs() / 60
            ),
        }
    }

    /// What else can be done where the editor cannot ask.
    fn otherwise(&self) -> &'static str {
        match self {
            Question::Trust { .. } => "`ruleline hooks trust` in a terminal can",
            Question::Untrust { .. } => "`ruleline hooks untrust` in a terminal can",
            Question::Allow(_) => "allow it from one that shows questions",
        }
    }
}

/// The answer that does not.
pub const NO: &str = "Cancel";

impl Session {
    /// Why nothing can be done from here that only a person `may` do; none when it can.
    pub(super) fn why_nobody(&self, may: &str) -> Option<String> {
        if self.settings.restricted() {
            return Some("this workspace is not trusted in the editor".to_owned());
        }
        if let Err(agent) = &self.engine.person {
            return Some(format!("this server was started by {agent}, and only a person may {may}"));
        }
        self.engine.folders.is_none().then(|| "this user's folders are not known".to_owned())
    }

    pub(super) fn ask_person(&self, question: Question, reply: Reply) {
        let text = question.text();
        let events = self.events.clone();
        let choices = [question.yes(), NO];
        let answered = Box::new(move |answer: Answer| {
            if let Some(events) = events.upgrade() {
                let _ = events.send(Event::Answered { question, answer, reply });
            }
        });
        self.editor.ask(&text, choices, answered);
    }

    pub(super) fn take_answer(&self, question: Question, answer: &Answer, reply: Reply) {
        match answer {
            Ok(Some(chosen)) if chosen == question.yes() => {}
            Ok(_) => {
                let _ = reply.send(Ok(json!({"message": "Ruleline: nothing was changed"})));
                return;
            }
            Err(CannotAsk) => {
                let why =
                    format!("Ruleline: nothing was changed: this editor cannot ask you; {}", question.otherwise());
                self.editor.say(Level::Warning, &why);
                let _ = reply.send(Err(why));
                return;
            }
        }
        let (engine, workspaces) = (self.engine.clone(), self.workspaces.to_paths());
        self.work(move || Event::Done { done: act(&engine, &workspaces, &question), question, reply });
    }

    pub(super) fn take_done(&mut self, question: Question, done: Result<String, String>, reply: Reply) {
        match &done {
            Ok(said) => self.editor.say(Level::Info, said),
            Err(why) => self.editor.say(Level::Warning, why),
        }
        match question {
            Question::Trust { .. } | Question::Untrust { .. } => self.look_at_hooks_again(),
            Question::Allow(allowance) => {
                if done.is_ok() {
                    self.note_allowed(&allowance);
                }
            }
        }
        let _ = reply.send(done.map(|said| json!({"message": said})));
    }
}

/// Does what a person agreed to; what is to be said.
fn act(engine: &Engine, workspaces: &[PathBuf], question: &Question) -> Result<String, String> {
    let folders = engine.folders.as_ref().ok_or("Ruleline: this user's folders are not known")?;
    folders.admit(&folders.state, workspaces).map_err(|refused| format!("Ruleline: {refused}"))?;
    let store = Store::new(&folders.state);
    let person = || engine.person.clone().map_err(|agent| format!("Ruleline: this server was started by {agent}"));
    match question {
        Question::Trust { root, digest, .. } => {
            let by = person()?;
            let tree = Tree::read(root).map_err(|refused| format!("Ruleline: not trusted: {refused}"))?;
            let tree = tree.ok_or_else(|| format!("Ruleline: not trusted: the hooks of {} are gone", shown(root)))?;
            if tree.digest.hex() != *digest {
                let root = shown(root);
                return Err(format!(
                    "Ruleline: not trusted: the hooks of {root} changed since the review; review them again"
                ));
            }
            trust(&store, root, &tree, &by)
        }
        Question::Untrust { root } => match store.withdraw(root, SystemTime::now()) {
            Ok(Some(_)) => Ok(format!("The hooks of {} are untrusted; none of them runs any more", shown(root))),
            Ok(None) => Ok(format!("The hooks of {} were not trusted", shown(root))),
            Err(error) => Err(format!("Ruleline: still trusted: {error}")),
        },
        Question::Allow(allowance) => allow(&folders.state, allowance, person()?),
    }
}

fn trust(store: &Store, root: &Path, tree: &Tree, by: &Grantor) -> Result<String, String> {
    let grant = store
        .grant(root, tree, tree.digest, by, SystemTime::now())
        .map_err(|error| format!("Ruleline: not trusted: {error}"))?;
    let files =
        if grant.files.len() == 1 { "1 hook file".to_owned() } else { format!("{} hook files", grant.files.len()) };
    Ok(format!(
        "{files} of {} trusted ({}); they start with an agent's next session",
        shown(root),
        grant.digest.short()
    ))
}

fn allow(state: &Path, allowance: &Allowance, by: Grantor) -> Result<String, String> {
    let said = allowance.sentence();
    let exception = Exception {
        refusal: allowance.refusal.clone(),
        root: allowance.root.clone(),
        rulebook: allowance.rulebook.clone(),
        rulebook_digest: allowance.rulebook_digest,
        rule: allowance.rule.clone(),
        path: allowance.path.clone(),
        added: allowance.added,
        at: SystemTime::now(),
        by,
    };
    Exceptions::new(state).allow(&exception).map_err(|why| format!("Ruleline: not allowed: {why}"))?;
    let minutes = guard::once::LASTS.as_secs() / 60;
    Ok(format!(
        "Allowed once against {said}: these lines may be written within {minutes} minutes; have the agent try again"
    ))
}

/// `1 file`, `3 files`.
pub(super) fn counted(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}
