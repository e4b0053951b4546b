//! What a person does about a root's hooks from the editor: review, trust after a review, untrust (S9).
//!
//! A command without the token of a review that was shown opens the review and nothing else. Whoever cannot be a person
//! at this editor is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::features::decisions::path as shown;
use crate::features::hooks::{Command, View};
use crate::features::reviews::Opened;
use crate::session::Session;
use crate::session::editor::Place;
use crate::session::event::{Event, Reply};
use crate::session::questions::{Question, counted};
use crate::text::Text;

impl Session {
    /// Why nothing can be trusted from here; none when it can.
    pub(super) fn distrust(&self) -> Option<String> {
        self.why_nobody("trust")
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
