//! Which rulebooks hold for a document, with their contents at hand.
//!
//! `guard` says which hold and what they call the file; here they are taken from the shelf. For what is shown in the
//! editor the last good content of a rulebook holds.

use std::path::Path;
use std::sync::Arc;

use guard::stack::{Spelled, Surroundings};
use rules::Case;
use system::Folders;

use crate::features::diagnostics::RulePlace;
use crate::rulebooks::{Book, Rulebooks};

/// One rulebook that holds for a file.
#[derive(Debug, Clone)]
pub struct Holding {
    /// The rulebook's file.
    pub path: Arc<Path>,
    /// Its content.
    pub book: Arc<Book>,
    /// The file's names in the eyes of the rulebook; one entry for each root they are relative to.
    pub views: Vec<Vec<String>>,
}

impl Holding {
    /// Where the rule with this index stands.
    pub fn place_of(&self, rule: usize) -> Option<RulePlace> {
        let rule = self.book.rules().rules.get(rule)?;
        let (id, span) = (rule.id.clone(), rule.id_span.clone());
        Some(RulePlace { id, path: self.path.clone(), book: self.book.clone(), span })
    }
}

/// What holds for one file.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// The file's path as people are shown it.
    pub shown: String,
    /// Whether the file system tells upper from lower case.
    pub case: Case,
    /// The rulebooks.
    pub holdings: Vec<Holding>,
    /// Rulebooks that are there and cannot be read, a line each.
    pub unreadable: Vec<String>,
}

/// What holds for `file`; the user's rulebook too where the user's folders are known.
pub fn held(rulebooks: &Rulebooks, file: &Path, folders: Option<&Folders>) -> Held {
    let stack = guard::stack::stack(&Spelled::new(file.to_path_buf()), &Surroundings::default(), folders.map(|folders| folders.user.as_path()));
    let folder = stack.roots.first().map_or(file, |(root, _)| root);
    let case = if system::paths::ignores_case(folder) { Case::Folded } else { Case::Exact };
    let mut held = Held { shown: stack.shown, case, ..Held::default() };
    for holding in stack.holdings {
        let path = holding.place.path();
        let book = match rulebooks.at(&holding.place) {
            Ok(shelved) => shelved.map(|shelved| shelved.good),
            Err(why) => {
                held.unreadable.push(why);
                rulebooks.last_good(&path)
            }
        };
        held.holdings.extend(book.map(|book| Holding { path: path.into(), book, views: holding.views }));
    }
    held
}

/// Whether a file is a rulebook: a project's, or the user's.
pub fn is_rulebook(path: &Path, folders: Option<&Folders>) -> bool {
    path.ends_with(guard::books::PROJECT_RULES)
        || path.ends_with(".ruleline/rules.json")
        || folders.is_some_and(|folders| path == folders.user.join("rules.toml"))
}
