//! Which rulebooks hold for a file, and how each sees its path.

use std::path::Path;
use std::sync::Arc;

use crate::features::diagnostics::RulePlace;
use crate::rulebooks::{Book, Rulebooks};

/// One rulebook that holds for a file.
#[derive(Debug, Clone)]
pub struct Holding {
    /// The rulebook's file.
    pub path: Arc<Path>,
    /// Its last good content.
    pub book: Arc<Book>,
    /// The file's path as people are shown it.
    pub shown: String,
    /// The spellings of the file's path that globs are tried on.
    pub names: Vec<String>,
}

impl Holding {
    /// Where the rule with this index stands.
    pub fn place_of(&self, rule: usize) -> Option<RulePlace> {
        let rule = self.book.rules.rules.get(rule)?;
        Some(RulePlace { id: rule.id.clone(), path: self.path.clone(), book: self.book.clone(), span: rule.id_span.clone() })
    }
}

/// The rulebooks that hold for `file`.
pub fn holding(rulebooks: &Rulebooks, file: &Path) -> Vec<Holding> {
    let mut found = Vec::new();
    for root in system::roots::enclosing(file.parent().unwrap_or(file)) {
        for name in ["rules.toml", "rules.json"] {
            let relative = Path::new(".ruleline").join(name);
            if let Some(shelved) = rulebooks.at(&root.path, &relative) {
                let shown = system::paths::relative(&root.path, file).unwrap_or_default();
                found.push(Holding { path: root.path.join(relative).into(), book: shelved.good, names: vec![shown.clone()], shown });
            }
        }
    }
    found
}

/// Whether a file is a rulebook that could hold for something.
pub fn is_rulebook(path: &Path) -> bool {
    let in_folder = path.parent().and_then(Path::file_name).is_some_and(|folder| folder == ".ruleline");
    in_folder && path.file_name().is_some_and(|name| name == "rules.toml" || name == "rules.json")
}
