//! What is shown of a root's hooks: where they stand as diagnostics, and what a person can do as lenses and actions.
//!
//! Nothing of them is run here, ever, and nothing is parsed before it is trusted but the manifest that a person has open
//! in front of them: a bounded reader of data, so that they see what they write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hooks::manifest::{self, Manifest, Platform};
use hooks::standing::{Standing, sentence};
use hooks::{FOLDER, MANIFEST, Store, TreeDigest, builtin, foreign};
use system::Folders;

use crate::features::diagnostics::{Diagnostic, Severity};
use crate::features::reviews::Reviews;
use crate::text::Text;

/// The code of what is said about a root's hooks.
const HOOKS: &str = "hooks";

/// Where a root's hooks stand, as far as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The root, with links resolved.
    pub root: Arc<Path>,
    /// In one word.
    pub state: State,
    /// The bytes that are there; none when they cannot be read whole, or are gone.
    pub digest: Option<TreeDigest>,
    /// How many files there are.
    pub files: usize,
    /// What there is to say, in one line; none when all is well.
    pub sentence: Option<String>,
    /// The token of a review of exactly these bytes that was shown and not yet used.
    pub token: Option<String>,
}

/// Where hooks stand in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody has granted them.
    NotReviewed,
    /// The bytes are others than those that were granted.
    Changed,
    /// Granted as they are.
    Trusted,
    /// They cannot be read whole.
    Refused,
    /// The record of grants cannot be used.
    Lost,
}

impl State {
    /// As it stands in messages to the editor.
    pub fn word(self) -> &'static str {
        match self {
            State::NotReviewed => "notReviewed",
            State::Changed => "changed",
            State::Trusted => "trusted",
            State::Refused => "refused",
            State::Lost => "lost",
        }
    }
}

/// The root whose folder of hooks holds a file.
pub fn root_of(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find_map(|folder| {
        let root = folder.parent()?.parent()?;
        (folder == root.join(FOLDER)).then(|| root.to_path_buf())
    })
}

/// Whether a file is a manifest.
pub fn is_manifest(path: &Path) -> bool {
    path.ends_with(Path::new(FOLDER).join(MANIFEST))
}

/// Looks at the hooks of a root; none when there are none and never were. Blocks.
pub fn view(folders: Option<&Folders>, workspaces: &[PathBuf], root: &Path, reviews: &Reviews) -> Option<View> {
    let root: Arc<Path> = system::paths::resolve(root).into();
    let store = folders.filter(|folders| folders.admit(&folders.state, workspaces).is_ok());
    // Without a store nothing can be granted; an empty one says just that.
    let store = store.map_or_else(|| Store::new(Path::new("/nonexistent")), |folders| Store::new(&folders.state));
    let standing = Standing::read(&store, &root);
    let said = sentence(&standing, &root);
    let (state, digest, files) = match &standing {
        Standing::Absent => return None,
        Standing::NotReviewed { tree, .. } => (State::NotReviewed, Some(tree.digest), tree.files.len()),
        Standing::Trusted { grant } => (State::Trusted, Some(grant.digest), grant.files.len()),
        Standing::Changed { tree, .. } => {
            let files = tree.as_ref().map_or(0, |tree| tree.files.len());
            (State::Changed, tree.as_ref().map(|tree| tree.digest), files)
        }
        Standing::Refused { .. } => (State::Refused, None, 0),
        Standing::StoreLost { files, .. } => (State::Lost, None, files.unwrap_or(0)),
    };
    let token = digest.and_then(|digest| reviews.token(&root, digest));
    Some(View { root, state, digest, files, sentence: said, token })
}

/// What is wrong in a file of the folder of hooks with this text: where the hooks stand, and for a manifest what it says
/// wrongly.
pub fn of_file(path: &Path, text: &Text, view: Option<&View>) -> Vec<Diagnostic> {
    let mut shown: Vec<Diagnostic> = view.and_then(|view| standing(text, view)).into_iter().collect();
    if is_manifest(path) {
        shown.extend(of_manifest(path, text));
    }
    shown
}

/// What a manifest with this text says wrongly.
pub fn of_manifest(path: &Path, text: &Text) -> Vec<Diagnostic> {
    let folder = path.parent().unwrap_or(path);
    let has_file = |name: &str| folder.join(name).symlink_metadata().is_ok_and(|found| found.is_file());
    let manifest = Manifest::parse(text.text.as_bytes(), &has_file, Platform::HERE, &builtin::names());
    let shown = manifest.problems.into_iter().map(|problem| Diagnostic {
        span: problem.span,
        severity: match problem.severity {
            manifest::Severity::Error => Severity::Error,
            manifest::Severity::Warning => Severity::Warning,
        },
        code: HOOKS.to_owned(),
        message: problem.message,
        rule: None,
    });
    shown.collect()
}

/// Where the hooks stand, on the first line; nothing when they are trusted.
pub fn standing(text: &Text, view: &View) -> Option<Diagnostic> {
    let severity = match view.state {
        State::Trusted => return None,
        State::NotReviewed | State::Changed => Severity::Warning,
        State::Refused | State::Lost => Severity::Error,
    };
    let message = view.sentence.clone()?;
    Some(Diagnostic { span: text.line(0), severity, code: HOOKS.to_owned(), message, rule: None })
}

/// What is said on a file in which another tool finds hooks.
pub fn foreign_diagnostic(text: &Text, found: &foreign::Foreign) -> Diagnostic {
    let hooks = match found.hooks {
        Some(1) => "a hook".to_owned(),
        Some(many) => format!("{many} hooks"),
        None => "hooks".to_owned(),
    };
    let message = format!("{} runs {hooks} from this file; Ruleline cannot keep it from doing so", found.tool);
    Diagnostic { span: text.line(0), severity: Severity::Information, code: HOOKS.to_owned(), message, rule: None }
}

/// Something a person can do about a root's hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What the menu or lens says.
    pub title: String,
    /// What is done.
    pub command: Command,
}

/// The command behind an offer. Only that of a review can be made without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Shows every file.
    Review {
        /// The root.
        root: PathBuf,
    },
    /// Trusts the bytes of a review, after a question.
    Trust {
        /// The root.
        root: PathBuf,
        /// The bytes that were shown, in hex.
        digest: String,
        /// Of the review; without one a review is shown instead.
        token: Option<String>,
    },
    /// Takes trust back, after a question.
    Untrust {
        /// The root.
        root: PathBuf,
    },
}

impl Command {
    /// The root that it is about.
    pub fn root(&self) -> &Path {
        match self {
            Command::Review { root } | Command::Trust { root, .. } | Command::Untrust { root } => root,
        }
    }
}

/// What is offered; only reading where nothing may be trusted from here.
pub fn offers(view: &View, may_trust: bool) -> Vec<Offer> {
    let root = view.root.to_path_buf();
    let mut offers = Vec::new();
    if let Some(digest) = view.digest {
        let title = if view.state == State::Trusted { "Review trusted hooks" } else { "Review" };
        offers.push(Offer { title: title.to_owned(), command: Command::Review { root: root.clone() } });
        if may_trust && view.state != State::Trusted && view.state != State::Lost {
            let these = if view.files == 1 { "this file".to_owned() } else { format!("these {} files", view.files) };
            let title = format!("Trust {these} ({}…)", &digest.short()[..4]);
            let command = Command::Trust { root: root.clone(), digest: digest.hex(), token: view.token.clone() };
            offers.push(Offer { title, command });
        }
    }
    if may_trust && matches!(view.state, State::Trusted | State::Changed) {
        offers.push(Offer { title: "Untrust".to_owned(), command: Command::Untrust { root } });
    }
    offers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_know_their_root() {
        for (path, expected) in [
            ("/p/.ruleline/hooks/hooks.yaml", Some("/p")),
            ("/p/.ruleline/hooks/lib/a/b.sh", Some("/p")),
            ("/p/.ruleline/rules.toml", None),
            ("/p/hooks/hooks.yaml", None),
            ("/.ruleline/hooks/x", Some("/")),
            ("/p/.ruleline/hooks", None),
        ] {
            assert_eq!(root_of(Path::new(path)).as_deref(), expected.map(Path::new), "{path}");
        }
    }

    #[test]
    fn s09_nothing_is_offered_but_reading_where_nothing_may_be_trusted() {
        let view = |state| View {
            root: Path::new("/p").into(),
            state,
            digest: TreeDigest::parse(&"3f".repeat(32)),
            files: 3,
            sentence: None,
            token: None,
        };
        let titles = |state, may_trust| -> Vec<String> {
            offers(&view(state), may_trust).into_iter().map(|offer| offer.title).collect()
        };
        assert_eq!(titles(State::NotReviewed, true), ["Review", "Trust these 3 files (3f3f…)"]);
        assert_eq!(titles(State::Changed, true), ["Review", "Trust these 3 files (3f3f…)", "Untrust"]);
        assert_eq!(titles(State::Trusted, true), ["Review trusted hooks", "Untrust"]);
        assert_eq!(titles(State::Lost, true), ["Review"]);
        for state in [State::NotReviewed, State::Changed, State::Trusted] {
            assert_eq!(titles(state, false).len(), 1);
        }
    }
}
