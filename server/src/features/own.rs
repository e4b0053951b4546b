//! The files that people write for Ruleline, and what may stand at a place in each.
//!
//! Every key and word comes from the tables of the crate that reads the file; here stands only which table a place has.

use std::path::Path;

use guard::config::keys::{AGENT, AUTO_APPROVE, CONFIG, REMINDER, SESSION, SYMBOLS};
use guard::config::{Law, law_of};
use hooks::keys::{ACTIONS, ENTRY, EVENTS, TOP};
use hooks::manifest::is_about_tools;
use hooks::{EVENTS as EVENT_NAMES, MANIFEST};
use rules::Format;
use rules::keys::{Key, RULE, Word};

use crate::features::writing::{Grammar, ITEM};
use crate::features::{hooks as hook_files, problems};
use crate::rulebooks::is_rulebook;

/// A file that people write for Ruleline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnFile {
    /// A rulebook.
    Rulebook(Format),
    /// A `config.toml`.
    Config {
        /// A project's, not the user's.
        of_project: bool,
    },
    /// A `hooks.yaml`.
    Manifest,
}

/// What a table may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// These keys.
    Keys(&'static [Key]),
    /// The rules of a JSON rulebook, under one key.
    Rules,
    /// The agents' names.
    Agents,
    /// The one key of a manifest.
    Hooks,
    /// The events' names.
    Events,
    /// A list of entries.
    Entries,
}

impl OwnFile {
    /// Which of ours a file is, if any; `user` is the user's folder.
    pub fn of(path: &Path, user: Option<&Path>) -> Option<OwnFile> {
        let of_user = |name: &Path| user.is_some_and(|user| path == user.join(name));
        if is_rulebook(path, user) {
            Some(OwnFile::Rulebook(Format::of(&path.to_string_lossy())))
        } else if problems::is_config(path) {
            Some(OwnFile::Config { of_project: true })
        } else if of_user(Path::new("config.toml")) {
            Some(OwnFile::Config { of_project: false })
        } else if hook_files::is_manifest(path) || of_user(&Path::new("hooks").join(MANIFEST)) {
            Some(OwnFile::Manifest)
        } else {
            None
        }
    }

    /// Its language.
    pub fn grammar(self) -> Grammar {
        match self {
            OwnFile::Rulebook(Format::Json) => Grammar::Json,
            OwnFile::Rulebook(Format::Toml) | OwnFile::Config { .. } => Grammar::Toml,
            OwnFile::Manifest => Grammar::Yaml,
        }
    }

    /// What the table at this path may hold; none for one that means nothing.
    pub fn table(self, path: &[String]) -> Option<Table> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match (self, path.as_slice()) {
            (OwnFile::Rulebook(_), ["rule" | "rules"]) => Some(Table::Keys(&RULE)),
            (OwnFile::Rulebook(_), []) => Some(Table::Rules),
            (OwnFile::Config { .. }, []) => Some(Table::Keys(&CONFIG)),
            (OwnFile::Config { .. }, ["reminder"]) => Some(Table::Keys(&REMINDER)),
            (OwnFile::Config { .. }, ["auto_approve"]) => Some(Table::Keys(&AUTO_APPROVE)),
            (OwnFile::Config { .. }, ["session"]) => Some(Table::Keys(&SESSION)),
            (OwnFile::Config { .. }, ["symbols"]) => Some(Table::Keys(&SYMBOLS)),
            (OwnFile::Config { .. }, ["agents"]) => Some(Table::Agents),
            (OwnFile::Config { .. }, ["agents", _]) => Some(Table::Keys(&AGENT)),
            (OwnFile::Manifest, []) => Some(Table::Hooks),
            (OwnFile::Manifest, [TOP]) => Some(Table::Events),
            (OwnFile::Manifest, [TOP, event]) if EVENT_NAMES.contains(event) => Some(Table::Entries),
            (OwnFile::Manifest, [TOP, event, ITEM]) if EVENT_NAMES.contains(event) => Some(Table::Keys(&ENTRY)),
            _ => None,
        }
    }

    /// Whether a key may be written into the table at this path, which has some keys already.
    pub fn admits(self, key: &Key, path: &[String], there: &[String]) -> bool {
        let is_there = |name: &str| there.iter().any(|known| known == name);
        match self {
            _ if is_there(key.name) => false,
            OwnFile::Config { of_project: true } => {
                let name = path.first().map_or(key.name, String::as_str);
                law_of(name) != Some(Law::UserOnly)
            }
            OwnFile::Manifest if ACTIONS.contains(&key.name) => !ACTIONS.iter().any(|action| is_there(action)),
            OwnFile::Manifest if key.name == "matcher" => path.get(1).is_some_and(|event| is_about_tools(event)),
            _ => true,
        }
    }

    /// The words that the value of a key may be, the names of tools in a matcher among them.
    pub fn words(self, key: &Key) -> &'static [Word] {
        match (self, key.name) {
            (OwnFile::Manifest, "matcher") => &hooks::keys::TOOLS,
            _ => key.words(),
        }
    }
}

/// What an event's name means.
pub fn event(name: &str) -> Option<&'static Word> {
    EVENTS.iter().find(|event| event.text == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_ours() {
        let user = Some(Path::new("/home/me/.config/ruleline"));
        let (toml, json) = (Some(OwnFile::Rulebook(Format::Toml)), Some(OwnFile::Rulebook(Format::Json)));
        let config = |of_project| Some(OwnFile::Config { of_project });
        for (path, expected) in [
            ("/p/.ruleline/rules.toml", toml),
            ("/p/.ruleline/rules.json", json),
            ("/home/me/.config/ruleline/rules.toml", toml),
            ("/p/.ruleline/config.toml", config(true)),
            ("/home/me/.config/ruleline/config.toml", config(false)),
            ("/p/.ruleline/hooks/hooks.yaml", Some(OwnFile::Manifest)),
            ("/home/me/.config/ruleline/hooks/hooks.yaml", Some(OwnFile::Manifest)),
            ("/p/rules.toml", None),
            ("/p/config.toml", None),
            ("/p/hooks.yaml", None),
            ("/p/.ruleline/hooks/other.yaml", None),
        ] {
            assert_eq!(OwnFile::of(Path::new(path), user), expected, "{path}");
        }
    }
}
