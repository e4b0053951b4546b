//! What a worker gets of the session, and what it does with it: reads the baseline and the rulebooks, and judges.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::Engine;
use crate::features::baseline::Before;
use crate::features::diagnostics::{Subject, show_problems};
use crate::session::event::Judged;
use crate::session::settings::Settings;
use crate::session::workspaces::Workspaces;
use crate::stack;
use crate::text::Text;

/// One state of one document with what it is judged by.
pub struct Snapshot {
    /// What judging shares.
    pub engine: Arc<Engine>,
    /// The settings.
    pub settings: Settings,
    /// The file; none for a document that is none.
    pub path: Option<PathBuf>,
    /// The workspace's folders.
    pub workspaces: Workspaces,
    /// The text.
    pub text: Text,
    /// The text that was judged last, near which the facts are looked for.
    pub last_text: Option<Arc<str>>,
    /// The baseline, once it has been read.
    pub before: Option<Arc<Before>>,
}

impl Snapshot {
    /// Judges the document. Blocks: reads files, may run git.
    pub fn judge(&self) -> Judged {
        let before = self.before.clone().unwrap_or_else(|| Before::read(self.path.as_deref(), &self.settings).into());
        let mut diagnostics = Vec::new();
        if let Some(path) = &self.path {
            let roots = self.workspaces.to_paths();
            let folders = self.engine.folders.as_ref().filter(|folders| folders.admit(&folders.user, &roots).is_ok());
            if stack::is_rulebook(path, folders) {
                let book = self.engine.rulebooks.content(path, self.text.text.as_bytes().to_vec());
                diagnostics.extend(show_problems(&book.problems()));
            }
            if self.workspaces.root_of(path).is_some() {
                let held = stack::held(&self.engine.rulebooks, path, folders);
                let subject = Subject { text: &self.text, before: &before, held: &held, hints: self.settings.hints };
                diagnostics.extend(subject.diagnose(&self.engine.facts.near(self.last_text.clone())));
            }
        }
        Judged { diagnostics, before }
    }
}
