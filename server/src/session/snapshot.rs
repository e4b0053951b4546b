//! What a worker gets of the session, and what it does with it: reads the baseline and the rulebooks, and judges.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::engine::Engine;
use crate::facts::Digest;
use crate::features::allowance;
use crate::features::baseline::Before;
use crate::features::diagnostics::{Diagnostic, Subject};
use crate::features::own::OwnFile;
use crate::features::{hooks, problems};
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
    /// Whether hooks may be trusted from here.
    pub may_trust: bool,
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
        match OwnFile::of(path, user) {
            Some(OwnFile::Rulebook(_)) => {
                let book = self.engine.rulebooks.content(path, self.text.text.as_bytes().to_vec());
                return Judged { diagnostics: problems::of_rulebook(&book.problems()), ..Judged::default() };
            }
            Some(OwnFile::Config { .. }) => {
                return Judged { diagnostics: problems::of_config(path, &self.text), ..Judged::default() };
            }
            // The user's own: they need no trust.
            Some(OwnFile::Manifest) if hooks::root_of(path).is_none() => {
                return Judged { diagnostics: hooks::of_manifest(path, &self.text), ..Judged::default() };
            }
            Some(OwnFile::Manifest) | None => {}
        }
        let acts = self.engine.reviews.allowances(path);
        if !acts.is_empty() {
            return Judged { allowances: allowance::offers(&acts), ..Judged::default() };
        }
        if let Some(root) = hooks::root_of(path).or_else(|| self.engine.reviews.root_of(path)) {
            let view = hooks::view(self.engine.folders.as_ref(), &roots, &root, &self.engine.reviews);
            let offers = view.as_ref().map(|view| hooks::offers(view, self.may_trust)).unwrap_or_default();
            let diagnostics = match hooks::root_of(path) {
                Some(_) => hooks::of_file(path, &self.text, view.as_ref()),
                None => Vec::new(),
            };
            return Judged { diagnostics, hooks: offers, ..Judged::default() };
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
            Before::read(path, baseline, self.settings.trusted == Some(true)).into()
        });
        let facts = self.engine.facts.telling();
        let mut diagnostics = foreign(path, &self.text, &roots);
        diagnostics.extend(subject.diagnose(&before, &self.engine.rulebooks, &facts, self.settings.hints));
        let parsed = facts.digest_of(&self.text.text).or(self.parsed);
        // What the document was is needed no longer, unless it is what the edit is measured against.
        let outlived = self.parsed.filter(|last| parsed != Some(*last) && self.engine.facts.text(*last) != before.text);
        if let Some(last) = outlived {
            self.engine.facts.forget(last);
        }
        Judged { diagnostics, before: Some(before), parsed, ..Judged::default() }
    }
}

/// What is said on a file in which another tool finds hooks.
fn foreign(path: &Path, text: &Text, roots: &[PathBuf]) -> Vec<Diagnostic> {
    let root = roots.iter().find(|root| path.starts_with(root));
    let found = root
        .and_then(|root| ::hooks::foreign::hooks_of_others(root).into_iter().find(|it| root.join(&it.path) == path));
    found.iter().map(|found| hooks::foreign_diagnostic(text, found)).collect()
}

#[cfg(test)]
mod tests {
    use system::Folders;

    use super::*;

    #[test]
    fn what_is_wrong_in_the_users_own_files_is_shown() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let folders = Folders::below(&base);
        let user = folders.user.clone();
        let mut workspaces = Workspaces::default();
        workspaces.add(&base.join("project"));
        let engine = Arc::new(Engine::new(Some(folders), Err("nobody".into())));
        let said = |path: PathBuf, text: &str| {
            let snapshot = Snapshot {
                engine: engine.clone(),
                settings: Settings::default(),
                path: Some(path),
                workspaces: workspaces.clone(),
                text: Text::new(text),
                parsed: None,
                may_trust: false,
                before: None,
            };
            let found = snapshot.judge().diagnostics;
            found.into_iter().map(|it| (it.code, it.message)).collect::<Vec<_>>()
        };
        for (name, text, code, part) in [
            ("rules.toml", "[[rule]]\nid = 'a'\n", "rulebook", "needs `paths`"),
            ("config.toml", "nonsense = 1\n", "config", "not a key"),
            ("hooks/hooks.yaml", "hooks:\n  Never:\n", "hooks", "not an event"),
        ] {
            let found = said(user.join(name), text);
            assert!(matches!(&found[..], [(of, message)] if of == code && message.contains(part)), "{name}: {found:?}");
        }
        assert_eq!(said(user.join("config.toml"), "ask_unattended = \"ask\"\n"), []);
        assert_eq!(said(base.join("project/.ruleline/config.toml"), "ask_unattended = \"ask\"\n").len(), 1);
    }
}
