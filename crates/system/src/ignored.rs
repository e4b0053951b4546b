//! What git ignores below a folder, by the repository's own files.
//!
//! These files are as hostile as their repository: none is read over a link (git follows none either), and one that is
//! too large says nothing, so that more is judged rather than less.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{open, roots};

/// Largest ignore file that is read, in bytes.
const LARGEST: u64 = 128 << 10;

/// The ignore rules that hold in a folder, the nearest first.
#[derive(Debug, Clone, Default)]
pub struct Ignored {
    /// Outside of a repository git ignores nothing.
    in_repository: bool,
    nearest: Option<Arc<Rules>>,
}

#[derive(Debug)]
struct Rules {
    rules: Gitignore,
    farther: Option<Arc<Rules>>,
}

impl Ignored {
    /// The rules from above `folder`, of the repository that holds it.
    pub fn above(folder: &Path) -> Ignored {
        let Some(repository) = roots::enclosing(folder).into_iter().find(|root| root.has_git) else {
            return Ignored::default();
        };
        let between: Vec<&Path> =
            folder.ancestors().skip(1).take_while(|above| above.starts_with(&repository.path)).collect();
        between.into_iter().rev().fold(Ignored::of_repository(&repository.path), |ignored, above| ignored.and_of(above))
    }

    /// The rules that hold in all of the repository at `root`, and none from outside of it.
    pub fn of_repository(root: &Path) -> Ignored {
        let checkout = roots::main_checkout(root);
        let exclude = open::read_below(checkout.as_deref().unwrap_or(root), Path::new(".git/info/exclude"), LARGEST);
        Ignored { in_repository: true, nearest: None }.and(root, exclude.ok().flatten())
    }

    /// These rules and those of the folder's own ignore file.
    #[must_use]
    pub fn and_of(&self, folder: &Path) -> Ignored {
        if !self.in_repository {
            return self.clone();
        }
        self.and(folder, open::read_below(folder, Path::new(".gitignore"), LARGEST).ok().flatten())
    }

    fn and(&self, folder: &Path, file: Option<Vec<u8>>) -> Ignored {
        let Some(bytes) = file else { return self.clone() };
        let mut builder = GitignoreBuilder::new(folder);
        for line in String::from_utf8_lossy(&bytes).lines() {
            // A line that is no glob ignores nothing.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(rules) if !rules.is_empty() => {
                let nearest = Some(Arc::new(Rules { rules, farther: self.nearest.clone() }));
                Ignored { nearest, ..self.clone() }
            }
            _ => self.clone(),
        }
    }

    /// Whether a file or folder right in the folder is ignored.
    pub fn hides(&self, path: &Path, is_folder: bool) -> bool {
        let mut next = self.nearest.as_ref();
        while let Some(rules) = next {
            match rules.rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = rules.farther.as_ref(),
            }
        }
        false
    }
}
