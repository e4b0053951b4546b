//! The symbol index in the cache folder, as the hook asks it: one name or one file at a time, a few pages read.
//!
//! What it says is held against the files as they are; a file that changed is read again.

use std::path::{Path, PathBuf};

use guard::config::{Config, IndexLimits};
use guard::stack::Surroundings;
use guard::symbols::{Symbol, SymbolLookup};
use symbols::store::Stored;
use symbols::{Found, Limits};
use system::{Folders, paths};

/// Most files of one name that are looked at.
const FILES: usize = 16;

/// The indexes of the roots that an agent works in, the innermost first; nothing is opened before it is asked.
pub struct Index<'a> {
    /// The user's folders.
    pub folders: &'a Folders,
    /// Where the agent works.
    pub surroundings: &'a Surroundings,
    /// How much of a file that changed is read again.
    pub limits: Limits,
}

impl Index<'_> {
    fn stored(&self) -> impl Iterator<Item = (PathBuf, Stored)> {
        let enclosing = self.surroundings.enclosing().iter().map(|root| root.path.clone());
        let mut roots: Vec<PathBuf> =
            enclosing.chain([self.surroundings.root()]).map(|root| paths::resolve(&root)).collect();
        roots.dedup();
        roots.into_iter().filter_map(|root| Stored::open(self.folders, &root).map(|stored| (root, stored)))
    }
}

impl SymbolLookup for Index<'_> {
    fn find(&self, name: &str, limit: usize) -> Vec<Symbol> {
        let Some(short) = symbols::names::parts(name).last().copied() else { return Vec::new() };
        let found = self.stored().map(|(root, stored)| {
            let index = stored.index_of(&root, short, FILES, self.limits);
            index.find(name, limit)
        });
        told(found.filter(|found| !found.is_empty()).flatten(), limit)
    }

    fn outline(&self, file: &Path, limit: usize) -> Vec<Symbol> {
        let file = paths::resolve(file);
        let found = self.stored().filter_map(|(root, stored)| {
            let relative = paths::relative(&root, &file)?;
            stored.index_of(&root, &relative, 1, self.limits).outline(&relative)
        });
        told(found.flatten(), limit)
    }
}

/// The limits that settings say.
pub fn limits(config: &Config) -> Limits {
    let IndexLimits { files, file_kib, mib } = config.symbols;
    Limits::new(files, file_kib, mib)
}

fn told(found: impl Iterator<Item = Found>, limit: usize) -> Vec<Symbol> {
    let symbol = |found: Found| Symbol {
        name: found.name,
        kind: found.kind.name(),
        path: found.path.to_string(),
        line: found.line,
    };
    found.map(symbol).take(limit).collect()
}
