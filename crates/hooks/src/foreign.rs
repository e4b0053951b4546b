//! Hooks that other tools would run from a root: listed so that a person knows, since Ruleline cannot gate them.
//!
//! Files are read as data, bounded, and never over a link; one that cannot be understood is listed without a number.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;
use system::open::Root;
use toml::de::{DeTable, DeValue};

/// Largest file that is looked into, in bytes.
const LARGEST: u64 = 1 << 20;
/// Most files of a folder that are looked at.
const FILES: usize = 256;

/// A file in which another tool finds hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Below the root, parts joined by `/`; not escaped.
    pub path: String,
    /// Whose file it is.
    pub tool: &'static str,
    /// How many hooks it names; none when it cannot be read.
    pub hooks: Option<usize>,
}

/// How a file is written.
#[derive(Clone, Copy)]
enum Format {
    Json,
    Toml,
}

/// Files in which hooks stand under the key `hooks`.
const PLACES: [(&str, &str, Format); 6] = [
    (".claude/settings.json", "Claude Code", Format::Json),
    (".claude/settings.local.json", "Claude Code", Format::Json),
    (".codex/hooks.json", "Codex", Format::Json),
    (".codex/config.toml", "Codex", Format::Toml),
    (".gemini/settings.json", "Gemini CLI", Format::Json),
    (".cursor/hooks.json", "Cursor", Format::Json),
];
/// A folder in which every JSON file holds hooks, and whose it is.
const FOLDER: (&str, &str) = (".github/hooks", "GitHub Copilot, VS Code");

/// The files below `root` in which other tools find hooks. Bounded; follows no link.
pub fn hooks_of_others(root: &Path) -> Vec<Foreign> {
    let Ok(root) = Root::open(root) else { return Vec::new() };
    let mut found: Vec<Foreign> =
        PLACES.iter().filter_map(|(path, tool, format)| look_into(&root, path, tool, *format)).collect();
    let (folder, tool) = FOLDER;
    let names = match root.folder(Path::new(folder)) {
        Ok(Some(folder)) => folder.names(FILES).unwrap_or_default(),
        Ok(None) => Vec::new(),
        // Where there is something else, a link to a folder among others, the tool may find what we do not look at.
        Err(_) => {
            found.push(Foreign { path: folder.to_owned(), tool, hooks: None });
            Vec::new()
        }
    };
    let mut names: Vec<String> = names.iter().filter_map(json_name).collect();
    names.sort_unstable();
    found.extend(names.iter().filter_map(|name| look_into(&root, &format!("{folder}/{name}"), tool, Format::Json)));
    found
}

fn json_name(name: &OsString) -> Option<String> {
    let json = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    name.to_str().filter(|_| json).map(str::to_owned)
}

/// None when there is no such file, or no hook in it.
fn look_into(root: &Root, path: &str, tool: &'static str, format: Format) -> Option<Foreign> {
    let hooks = match root.read(Path::new(path), LARGEST) {
        Ok(None) => return None,
        Ok(Some(bytes)) => count(&bytes, format),
        Err(_) => None,
    };
    (hooks != Some(0)).then(|| Foreign { path: path.to_owned(), tool, hooks })
}

fn count(bytes: &[u8], format: Format) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    match format {
        Format::Json => count_json(text.trim_start_matches('\u{feff}')),
        Format::Toml => count_toml(text),
    }
}

/// `hooks` holds for each event a list of hooks, or of groups that hold them under `hooks`; other keys hold no lists.
fn count_json(text: &str) -> Option<usize> {
    let all: Value = serde_json::from_str(text).ok()?;
    let Some(hooks) = all.get("hooks") else { return Some(0) };
    let entries = hooks.as_object()?.values().filter_map(Value::as_array).flatten();
    Some(entries.map(|entry| entry.get("hooks").and_then(Value::as_array).map_or(1, Vec::len)).sum())
}

/// As [`count_json`].
fn count_toml(text: &str) -> Option<usize> {
    let all = DeTable::parse(text).ok()?.into_inner();
    let Some(hooks) = all.get("hooks") else { return Some(0) };
    let entries = hooks.get_ref().as_table()?.values().filter_map(|event| event.get_ref().as_array()).flatten();
    let of_entry =
        |entry: &DeValue<'_>| entry.get("hooks").and_then(|hooks| hooks.get_ref().as_array()).map_or(1, |it| it.len());
    Some(entries.map(|entry| of_entry(entry.get_ref())).sum())
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
