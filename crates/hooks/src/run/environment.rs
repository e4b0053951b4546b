//! The environment of a hook, built anew: what steers a shell, a loader, an interpreter or git is never passed on.
//!
//! A repository can set variables through an agent's settings, direnv or a container, so only names from a short list
//! pass, and those that name places only where the place is not the repository's.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Launch;
use super::ground::Ground;

/// Passed on as they are: language, time zone, terminal.
const PASSED: [&str; 4] = ["LANG", "LANGUAGE", "TZ", "TERM"];
/// Names of places: passed on if they are in no workspace.
#[cfg(unix)]
const PLACES: [&str; 1] = ["TMPDIR"];
#[cfg(windows)]
const PLACES: [&str; 11] = [
    "TEMP",
    "TMP",
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramFiles",
    "ProgramData",
];
#[cfg(unix)]
const USUAL_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
#[cfg(windows)]
const USUAL_PATH: [&str; 2] = [r"C:\Windows\System32", r"C:\Windows"];

/// What a hook's process gets.
pub(super) struct Environment {
    pub(super) variables: BTreeMap<OsString, OsString>,
    /// The folders of `PATH`.
    pub(super) path: Vec<PathBuf>,
    /// Where nothing is taken from.
    pub(super) ground: Ground,
}

pub(super) fn build(launch: &Launch<'_>) -> Environment {
    let ground = Ground::of(launch);
    let mut variables = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let known = name.to_str().is_some_and(|name| PASSED.contains(&name) || is_of_language(name));
        let place = PLACES.iter().any(|place| same_name(&name, place)) && ground.is_outside(Path::new(&value));
        if (known && is_a_word(&value)) || place {
            variables.insert(name, value);
        }
    }
    let given = std::env::var_os("PATH").unwrap_or_default();
    let mut path: Vec<PathBuf> = std::env::split_paths(&given).filter(|folder| ground.is_outside(folder)).collect();
    if path.is_empty() {
        path = USUAL_PATH.iter().map(PathBuf::from).collect();
    }
    if let Ok(joined) = std::env::join_paths(&path) {
        variables.insert("PATH".into(), joined);
    }
    if let Some(account) = system::folders::account() {
        variables.insert("HOME".into(), account.home.into_os_string());
        variables.insert("USER".into(), account.name.clone().into());
        variables.insert("LOGNAME".into(), account.name.into());
    }
    if cfg!(windows) {
        // Without it a name finds no program.
        variables.insert("PATHEXT".into(), ".COM;.EXE;.BAT;.CMD".into());
    }
    variables.insert("RULELINE_HOOK_DIR".into(), launch.folder.as_os_str().to_owned());
    for name in ["RULELINE_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
        variables.insert(name.into(), launch.root.as_os_str().to_owned());
    }
    Environment { variables, path, ground }
}

/// `LC_ALL`, `LC_TIME` and their like.
fn is_of_language(name: &str) -> bool {
    name.strip_prefix("LC_").is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_uppercase()))
}

/// Windows compares names without case.
fn same_name(name: &OsStr, known: &str) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(known) } else { name == known }
}

/// A time zone or language that is a path makes libraries read a file of anybody's choice.
fn is_a_word(value: &OsStr) -> bool {
    value.to_str().is_some_and(|value| {
        let part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '+' | '.' | ':' | '@' | ',' | '/');
        value.len() <= 100 && value.chars().all(part) && !value.starts_with(['/', '.', ':']) && !value.contains("..")
    })
}
