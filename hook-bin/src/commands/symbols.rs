//! `ruleline symbols`: what is defined where, and where it is meant.
//!
//! Reads the index of the project from the cache folder, brings it up to date and writes it back; what is printed is of
//! the files as they are.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Parser;
use guard::Config;
use rules::plain::{PATH, WHY, plain};
use serde_json::{Value, json};
use symbols::{Bounds, Filling, Found, Index, Limits, Reference, names, store};
use system::Folders;

use super::Command;
use crate::index::limits;
use crate::output::{complain, print};

/// The row of the command table.
pub const COMMAND: Command = Command { name: "symbols", about: "finds definitions and where they are used", run };

/// How long references are looked for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Finds definitions in the project by name, and where a name is used; exit 0 found, 1 nothing, 2 error.
///
/// What is found is what the text of each file says: names, scopes, imports. Types are not known, so that a method is
/// found by its name whatever it is called on.
#[derive(Parser)]
#[command(name = "ruleline symbols")]
struct Arguments {
    /// A name, or what is remembered of it: `Cart`, `Cart.total`, `shop.cart.Cart`, `crttot`.
    #[arg(required_unless_present_any = ["outline", "references"])]
    query: Option<String>,
    /// Only definitions that have exactly this name.
    #[arg(long, requires = "query")]
    exact: bool,
    /// All definitions of a file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "references"])]
    outline: Option<PathBuf>,
    /// Where a name is defined, imported, called or used.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["query", "outline"])]
    references: Option<String>,
    /// Most results.
    #[arg(long, value_name = "N", default_value = "50")]
    limit: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The project's root, by default the one that holds the working folder.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Neither read nor write the index in the cache folder.
    #[arg(long)]
    no_cache: bool,
    /// The folder for state instead of the user's own; for tests and containers.
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

fn run(words: &[OsString]) -> ExitCode {
    let arguments: Arguments = match super::read("symbols", words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match answer(&arguments) {
        Ok(found) => {
            print(&found.text);
            ExitCode::from(u8::from(found.is_empty))
        }
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

struct Answer {
    text: String,
    is_empty: bool,
}

fn answer(arguments: &Arguments) -> Result<Answer, String> {
    let project = arguments.project.as_deref().map_or_else(super::init::project_root, system::paths::absolute);
    if !project.is_dir() {
        return Err(format!("{} is no folder", shown(&system::paths::shown(&project))));
    }
    let folders = crate::folders::find(arguments.state_dir.as_deref()).ok();
    let config = Config::load(folders.as_ref().map(|folders| folders.user.as_path()), [project.as_path()]);
    for problem in &config.problems {
        complain(&plain(&problem.to_string(), WHY));
    }
    let index = index(&project, limits(&config), folders.as_ref().filter(|_| !arguments.no_cache));
    if let Some(name) = &arguments.references {
        let bounds =
            Bounds { deadline: Instant::now() + PATIENCE, places: arguments.limit, stop: &AtomicBool::new(false) };
        let found = index.references(&names::parts(name), &|_| None, bounds);
        return Ok(told(&found.found, found.is_partial, arguments, reference_line, reference_json));
    }
    let found = match (&arguments.outline, &arguments.query) {
        (Some(file), _) => {
            let path = system::paths::resolve(&system::paths::absolute(file));
            let known = index.relative(&path).and_then(|path| index.outline(&path));
            known.ok_or_else(|| {
                let file = shown(&system::paths::shown(file));
                format!("{file} is no source file of {}", shown(&system::paths::shown(&project)))
            })?
        }
        (None, query) => {
            let query = query.as_deref().unwrap_or_default();
            let most = arguments.limit.saturating_add(1);
            if arguments.exact { index.find(query, most) } else { index.search(query, most) }
        }
    };
    let is_partial = found.len() > arguments.limit && arguments.outline.is_none();
    let most = if arguments.outline.is_some() { found.len() } else { arguments.limit };
    let found = &found[..found.len().min(most)];
    Ok(told(found, is_partial, arguments, definition_line, definition_json))
}

/// The index of a project as it is now.
fn index(project: &Path, limits: Limits, folders: Option<&Folders>) -> Index {
    let index = Index::new(project, limits);
    let known = folders.is_some_and(|folders| store::load(&index, folders));
    let files = index.files();
    let filled = index.fill(&Filling { stop: &AtomicBool::new(false), progress: &|_| {}, threads: None });
    if let Some(folders) = folders.filter(|_| !known || filled.parsed > 0 || filled.files != files)
        && let Err(why) = store::save(&index, folders)
    {
        complain(&format!("the index is not kept: {}", plain(&why, WHY)));
    }
    if filled.is_partial {
        complain(&format!("the project has more than is indexed: {} are known", super::many(filled.files, "file")));
    }
    index
}

fn told<T>(
    found: &[T],
    is_partial: bool,
    arguments: &Arguments,
    line: fn(&T) -> String,
    value: fn(&T) -> Value,
) -> Answer {
    let mut text = String::new();
    if arguments.json {
        let all: Vec<Value> = found.iter().map(value).collect();
        text = format!("{:#}\n", json!({ "found": all, "partial": is_partial }));
    } else {
        for one in found {
            let _ = writeln!(text, "{}", line(one));
        }
        if is_partial {
            let _ = writeln!(text, "... there are more; --limit says how many are shown");
        }
    }
    Answer { text, is_empty: found.is_empty() }
}

fn definition_line(found: &Found) -> String {
    format!("{}:{}: {} {}", shown(&found.path), found.line, found.kind.name(), shown(&found.name))
}

fn definition_json(found: &Found) -> Value {
    json!({ "path": &*found.path, "line": found.line, "kind": found.kind.name(), "name": found.name })
}

fn reference_line(found: &Reference) -> String {
    let text = plain(line_of(found).trim(), WHY);
    format!("{}:{}: {}: {text}", shown(&found.path), found.line, found.role.name())
}

fn reference_json(found: &Reference) -> Value {
    json!({ "path": &*found.path, "line": found.line, "role": found.role.name(), "text": line_of(found) })
}

fn line_of(found: &Reference) -> &str {
    found.text.lines().nth(found.line as usize - 1).unwrap_or_default()
}

fn shown(text: &str) -> String {
    plain(text, PATH)
}
