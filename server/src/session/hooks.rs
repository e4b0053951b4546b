//! What a person does about a root's hooks from the editor: review, trust after a review, untrust (S9).
//!
//! A command without the token of a review that was shown opens the review and nothing else. Whoever cannot be a person
//! at this editor is refused: a server that an agent started, a workspace that its user does not trust.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hooks::{Grantor, Store, Tree};
use rules::plain::{PATH, plain};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::hooks::{Command, View};
use crate::features::reviews::Opened;
use crate::session::Session;
use crate::session::editor::{Answer, CannotAsk, Level, Place};
use crate::session::event::{Event, Reply};
use crate::text::Text;

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
}

impl Question {
    /// The answer that agrees.
    pub fn yes(&self) -> &'static str {
        match self {
            Question::Trust { .. } => "Trust",
            Question::Untrust { .. } => "Untrust",
        }
    }
}

/// The answer that does not.
pub const NO: &str = "Cancel";

impl Session {
    /// Why nothing can be trusted from here; none when it can.
    pub(super) fn distrust(&self) -> Option<String> {
        if self.settings.restricted() {
            return Some("this workspace is not trusted in the editor".to_owned());
        }
        if let Err(agent) = &self.engine.person {
            return Some(format!("this server was started by {agent}, and only a person may trust"));
        }
        self.engine.folders.is_none().then(|| "this user's folders are not known".to_owned())
    }

    pub(super) fn command_hooks(&mut self, command: Command, reply: Reply) {
        let root = system::paths::resolve(command.root());
        if !self.works_in(&root) {
            let _ = reply.send(Err(format!("Ruleline: {} holds nothing that is open here", shown(&root))));
            return;
        }
        let wants_trust = !matches!(command, Command::Review { .. });
        if let Some(why) = self.distrust().filter(|_| wants_trust) {
            let _ = reply.send(Err(format!("Ruleline: {why}; `ruleline hooks` in a terminal shows what there is")));
            return;
        }
        match command {
            Command::Trust { digest, token, .. } => {
                match token.and_then(|token| self.engine.reviews.spend(&root, &digest, &token)) {
                    Some(files) => {
                        self.look_at_hooks_again();
                        self.ask_person(Question::Trust { root, digest, files }, reply);
                    }
                    None => self.review(root, reply),
                }
            }
            Command::Review { .. } => self.review(root, reply),
            Command::Untrust { .. } => self.ask_person(Question::Untrust { root }, reply),
        }
    }

    /// A root is somebody's business here if something of it is open.
    fn works_in(&self, root: &Path) -> bool {
        let near = |path: &Path| path.starts_with(root) || root.starts_with(path);
        self.workspaces.to_paths().iter().any(|folder| near(&system::paths::resolve(folder)))
            || self.documents.values().filter_map(|it| it.resolved.as_deref()).any(|path| path.starts_with(root))
    }

    fn review(&self, root: PathBuf, reply: Reply) {
        let (engine, workspaces) = (self.engine.clone(), self.workspaces.to_paths());
        self.work(move || {
            let made = match &engine.folders {
                Some(folders) => engine.reviews.make(folders, &workspaces, &root),
                None => Err("this user's folders are not known".to_owned()),
            };
            Event::Reviewed { made, reply }
        });
    }

    pub(super) fn take_review(&mut self, made: Result<Opened, String>, reply: Reply) {
        let answer = made.map_err(|why| format!("Ruleline: {why}")).map(|opened| {
            let file = shown(&opened.file);
            let next = match self.distrust() {
                None => "then trust them from hooks.yaml",
                Some(_) => "they cannot be trusted from here",
            };
            let files = counted(opened.files);
            let said = format!("Review the {files} of {} in {file}; {next}", shown(&opened.root));
            let text = Text::new(opened.text);
            let place = Place { path: Arc::from(&*opened.file), span: text.line(0), text, otherwise: said.clone() };
            self.editor.open(place);
            self.look_at_hooks_again();
            json!({"message": said, "file": system::paths::shown(&opened.file), "digest": opened.digest.hex()})
        });
        let _ = reply.send(answer);
    }

    fn ask_person(&self, question: Question, reply: Reply) {
        let text = match &question {
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
        };
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
                let command = match question {
                    Question::Trust { .. } => "trust",
                    Question::Untrust { .. } => "untrust",
                };
                let why = format!(
                    "Ruleline: nothing was changed: this editor cannot ask you; `ruleline hooks {command}` in a terminal \
                     can"
                );
                self.editor.say(Level::Warning, &why);
                let _ = reply.send(Err(why));
                return;
            }
        }
        let (engine, workspaces) = (self.engine.clone(), self.workspaces.to_paths());
        self.work(move || Event::Granted { done: act(&engine, &workspaces, &question), reply });
    }

    pub(super) fn take_grant(&mut self, done: Result<String, String>, reply: Reply) {
        match &done {
            Ok(said) => self.editor.say(Level::Info, said),
            Err(why) => self.editor.say(Level::Warning, why),
        }
        self.look_at_hooks_again();
        let _ = reply.send(done.map(|said| json!({"message": said})));
    }

    /// Where the hooks of each root stand, for whoever shows it in a line.
    pub(super) fn hook_status(&self) -> Value {
        let root = |view: &View| {
            json!({
                "root": system::paths::shown(&view.root),
                "state": view.state.word(),
                "files": view.files,
                "digest": view.digest.map(|digest| digest.hex()),
                "message": view.sentence,
            })
        };
        self.hook_files.iter().filter_map(|file| file.view.as_ref()).map(root).collect()
    }

    /// Tells the client where hooks stand, if that is another than it was told last.
    pub(super) fn tell_status(&mut self) {
        let status = json!({"hooks": self.hook_status()});
        if self.told_status.as_ref() != Some(&status) {
            self.editor.tell_status(&status);
            self.told_status = Some(status);
        }
    }

    /// Where hooks stand is shown anew, and what can be done about it.
    pub(super) fn look_at_hooks_again(&mut self) {
        let is_shown = |path: &Path| {
            crate::features::hooks::root_of(path).is_some() || self.engine.reviews.root_of(path).is_some()
        };
        let shown = self.documents.iter().filter(|(_, it)| it.path.as_deref().is_some_and(is_shown));
        let keys: Vec<String> = shown.map(|(key, _)| key.clone()).collect();
        for key in &keys {
            self.touch(key);
        }
        self.survey();
        self.refresh_hooks = true;
    }
}

/// Does what a person agreed to; what is to be said.
fn act(engine: &Engine, workspaces: &[PathBuf], question: &Question) -> Result<String, String> {
    let folders = engine.folders.as_ref().ok_or("Ruleline: this user's folders are not known")?;
    folders.admit(&folders.state, workspaces).map_err(|refused| format!("Ruleline: {refused}"))?;
    let store = Store::new(&folders.state);
    match question {
        Question::Trust { root, digest, .. } => {
            let by = engine.person.clone().map_err(|agent| format!("Ruleline: this server was started by {agent}"))?;
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

fn counted(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

fn shown(path: &Path) -> String {
    plain(&system::paths::shown(path), PATH)
}
