//! What a worker gets of the session, and what it does with it: reads the baseline and the rulebooks, and judges.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::Engine;
use crate::facts::Digest;
use crate::features::baseline::Before;
use crate::features::diagnostics::Subject;
use crate::features::problems;
use crate::rulebooks::is_rulebook;
use crate::session::event::Judged;
use crate::session::settings::{Baseline, Settings};
use crate::session::workspaces::Workspaces;
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
    /// The text whose facts were last asked for.
    pub parsed: Option<Digest>,
    /// The baseline, once it has been read.
    pub before: Option<Arc<Before>>,
}

impl Snapshot {
    /// Judges the document. Blocks: reads files, may run git.
    pub fn judge(&self) -> Judged {
        let Some(path) = &self.path else {
            return Judged::default();
        };
        let roots = self.workspaces.to_paths();
        let user = self.engine.folders.as_ref();
        let user = user.filter(|folders| folders.admit(&folders.user, &roots).is_ok()).map(|folders| &*folders.user);
        // Our own files are not judged by what they may just be mending.
        if is_rulebook(path, user) {
            let book = self.engine.rulebooks.content(path, self.text.text.as_bytes().to_vec());
            return Judged { diagnostics: problems::of_rulebook(&book.problems()), ..Judged::default() };
        }
        if problems::is_config(path) {
            return Judged { diagnostics: problems::of_config(path, &self.text), ..Judged::default() };
        }
        // A notebook is judged by its cells, which its JSON text does not show.
        let is_notebook = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"));
        if is_notebook || self.workspaces.root_of(path).is_none() {
            return Judged::default();
        }
        let subject = Subject::new(path, &self.text, user);
        // The disk may have changed since; reading it again costs less than being told.
        let known = self.before.clone().filter(|before| before.baseline != Baseline::Disk);
        let before = known.unwrap_or_else(|| {
            let baseline = self.settings.baseline.unwrap_or(subject.config.baseline);
            Before::read(path, baseline, self.settings.trusted).into()
        });
        let facts = self.engine.facts.telling();
        let diagnostics = subject.diagnose(&before, &self.engine.rulebooks, &facts, self.settings.hints);
        let parsed = facts.digest_of(&self.text.text).or(self.parsed);
        // What the document was is needed no longer, unless it is what the edit is measured against.
        let outlived = self.parsed.filter(|last| parsed != Some(*last) && self.engine.facts.text(*last) != before.text);
        if let Some(last) = outlived {
            self.engine.facts.forget(last);
        }
        Judged { diagnostics, before: Some(before), parsed }
    }
}
