//! Which files a rule is about: its globs, some including, some excluding, in any order.
//!
//! A file can have several names (as written, with links resolved): the rule is about it if it is about one of them.

use std::sync::OnceLock;

use crate::glob::{Glob, Steps, fold};

/// The globs of one rule.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    include: Vec<Glob>,
    exclude: Vec<Glob>,
    folded: OnceLock<Vec<Glob>>,
}

/// How names are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Upper and lower case differ.
    #[default]
    Exact,
    /// The file system does not tell them apart: what includes a file includes its other spellings too.
    Folded,
}

impl Paths {
    /// From globs as written, `!` in front of those that exclude.
    pub fn new<'a>(globs: impl IntoIterator<Item = &'a str>) -> Paths {
        let mut paths = Paths::default();
        for glob in globs {
            match glob.strip_prefix('!') {
                Some(excluded) => paths.exclude.push(Glob::new(excluded)),
                None => paths.include.push(Glob::new(glob)),
            }
        }
        paths
    }

    /// The globs that include, and those that exclude (without their `!`).
    pub fn globs(&self) -> (&[Glob], &[Glob]) {
        (&self.include, &self.exclude)
    }

    /// Whether a file with these names is meant. Where a file has relative names, its absolute ones are the business of
    /// globs that start with `/` alone: `!docs/**` must not be outdone by the same file's other name.
    pub fn apply(&self, names: &[String], case: Case, steps: &mut Steps) -> bool {
        let is_absolute = |text: &str| text.starts_with('/');
        let only_absolute = names.iter().all(|name| is_absolute(name));
        let excluded = |name: &String, steps: &mut Steps| {
            let mut rooted = self.exclude.iter().filter(|glob| is_absolute(glob.text()));
            is_absolute(name) && rooted.any(|glob| glob.matches_within(name, steps))
        };
        names.iter().any(|name| {
            let tried = |glob: &&Glob| only_absolute || !is_absolute(name) || is_absolute(glob.text());
            self.apply_to(name, &tried, case, steps)
        }) && !names.iter().any(|name| excluded(name, steps))
    }

    fn apply_to(&self, name: &str, tried: &dyn Fn(&&Glob) -> bool, case: Case, steps: &mut Steps) -> bool {
        let included = self.include.iter().filter(tried).any(|glob| glob.matches_within(name, steps)) || {
            case == Case::Folded && {
                let name = fold(name);
                self.folded().iter().filter(tried).any(|glob| glob.matches_within(&name, steps))
            }
        };
        included && !self.exclude.iter().filter(tried).any(|glob| glob.matches_within(name, steps))
    }

    fn folded(&self) -> &[Glob] {
        self.folded.get_or_init(|| self.include.iter().map(|glob| Glob::new(&fold(glob.text()))).collect())
    }
}

/// Why one glob, as written, cannot be used.
pub(crate) fn wrong(glob: &str) -> Option<&'static str> {
    if glob.len() > crate::glob::LONGEST {
        Some("the glob is longer than 1,024 bytes")
    } else if glob.contains('\\') {
        Some("`\\` has no meaning in a glob; write `/` between folders")
    } else {
        None
    }
}

/// Why one glob, as written, matches no file below the root, or hardly what was meant.
pub(crate) fn dead(glob: &str) -> Option<&'static str> {
    let bare = glob.trim_start_matches('!').trim_start_matches("./");
    let is_folder_name = !bare.is_empty() && bare.chars().all(|it| it.is_lowercase() || it == '_' || it == '-');
    if bare.starts_with('/') {
        Some("paths are relative to the root and never start with `/`; only a user's rulebook names absolute paths")
    } else if bare.split('/').any(|segment| segment == "..") {
        Some("paths are resolved and never contain `..`")
    } else if bare.contains("//") || bare.split('/').any(|segment| segment == ".") {
        Some("paths never contain `//` or `/./`")
    } else if is_folder_name {
        Some("this matches a file of that name alone; for all files of a folder write `NAME/**`")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applies(globs: &[&str], names: &[&str], case: Case) -> bool {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Paths::new(globs.iter().copied()).apply(&names, case, &mut Steps::default())
    }

    #[test]
    fn inclusions_and_exclusions() {
        for (globs, names, expected) in [
            (&["!docs/**", "**"][..], &["docs/a.md"][..], false),
            (&["**", "!docs/**"], &["src/a.md"], true),
            (&["!docs/**"], &["src/a.md"], false),
            (&["**", "!docs/**"], &["docs/a.md", "/r/docs/a.md"], false),
            (&["/r/**"], &["docs/a.md", "/r/docs/a.md"], true),
            (&["**", "!/r/docs/**"], &["docs/a.md", "/r/docs/a.md"], false),
            (&["**"], &["/elsewhere/a.md"], true),
            (&["real/**"], &["link/a", "real/a"], true),
            (&["link/**"], &["link/a", "real/a"], true),
            (&["**", "!link/**"], &["link/a", "real/a"], true),
            (&["!!x", "**"], &["!x"], false),
            (&["!!x", "**"], &["x"], true),
            (&["prod/**"], &["prod2/a.txt"], false),
        ] {
            assert_eq!(applies(globs, names, Case::Exact), expected, "{globs:?} {names:?}");
        }
    }

    #[test]
    fn folding_never_excludes_more() {
        assert!(!applies(&["Src/**"], &["src/a"], Case::Exact));
        assert!(applies(&["Src/**"], &["src/a"], Case::Folded));
        assert!(applies(&["**", "!Docs/**"], &["docs/a"], Case::Folded));
        assert!(applies(&["ÄB/*"], &["äb/X"], Case::Folded));
    }
}
