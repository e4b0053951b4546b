//! `ruleline hooks`: what hooks a person and a project have, and the place where a person trusts a project's.
//!
//! Showing needs nobody; trust and its end need a person at a terminal ([`person`]). Whether hooks are trusted is asked of
//! `hooks::standing`, and nothing of them is interpreted before they are. All text of a project is escaped.

mod diff;
mod list;
mod person;
mod show;
mod trust;
mod untrust;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use hooks::standing::{Standing, sentence};
use hooks::{Store, TreeDigest};
use rules::plain::{self, plain};
use serde_json::{Value, json};
use system::{Folders, paths, roots};

use super::Command;
use crate::output::{complain, deliver};

/// The row of the command table.
pub const COMMAND: Command = Command { name: "hooks", about: "shows the hooks of a project, and trusts them", run };

/// Shows the hooks of the user and of the project, and trusts those of the project.
///
/// A project's hooks (.ruleline/hooks) run only after a person has trusted exactly their bytes; once a byte, a mode or a
/// name is another they stop. What runs is a private copy of what was trusted.
#[derive(Parser)]
#[command(name = "ruleline hooks", after_help = HELP)]
struct Arguments {
    /// What to do.
    #[arg(value_enum, value_name = "ACTION", default_value_t = Action::List)]
    action: Action,
    /// The project's root, by default the innermost one from the working folder upwards that has hooks.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Another state folder, for tests and containers.
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// One JSON object instead (list, show, diff).
    #[arg(long)]
    json: bool,
    /// With trust: refuse unless this is the digest of what is there, in 12 to 64 hex digits. What the terminal asks for
    /// must be typed all the same.
    #[arg(long, value_name = "HEX")]
    expect_digest: Option<String>,
}

const HELP: &str = "\
Trust and its end ask on the terminal of this command, never on stdin; no flag and no variable answers for a person, and
where a coding agent runs the command it is refused.

Exit status:
  0  done, or shown; also when what is there is trusted already
  1  nothing was done: the person did not confirm, or there is nothing to show, compare, trust or untrust
  2  an error or a refusal: no terminal, an agent, another digest, hooks or records that cannot be read";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Action {
    /// The hooks of the user and of every project around, and where they stand.
    List,
    /// Every file of the project's hooks, whole, with what is odd about it.
    Show,
    /// What changed since they were trusted.
    Diff,
    /// Trust the bytes that are there now.
    Trust,
    /// Take the trust back.
    Untrust,
}

/// What an action prints, and its exit status.
struct Said {
    text: String,
    status: u8,
}

/// Why an action was not done, in one line.
type Refusal = String;

impl Said {
    fn done(text: String) -> Said {
        Said { text, status: 0 }
    }

    fn nothing(text: String) -> Said {
        Said { text, status: 1 }
    }

    /// The same in both forms: a text, or one JSON object.
    fn in_form(
        arguments: &Arguments,
        status: u8,
        text: impl FnOnce() -> String,
        value: impl FnOnce() -> Value,
    ) -> Said {
        Said { text: if arguments.json { format!("{:#}\n", value()) } else { text() }, status }
    }
}

fn run(words: &[OsString]) -> ExitCode {
    let arguments: Arguments = match super::read("hooks", words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match act(&arguments) {
        Ok(said) => match deliver(&said.text) {
            Ok(()) => ExitCode::from(said.status),
            Err(error) => {
                complain(&format!("what is to be shown cannot be written: {error}"));
                ExitCode::from(2)
            }
        },
        Err(refusal) => {
            complain(&refusal);
            ExitCode::from(2)
        }
    }
}

fn act(arguments: &Arguments) -> Result<Said, Refusal> {
    let grants = matches!(arguments.action, Action::Trust | Action::Untrust);
    if grants && arguments.json {
        return Err("--json shows and never trusts or untrusts; a person does that at a terminal".to_owned());
    }
    if arguments.expect_digest.is_some() && arguments.action != Action::Trust {
        return Err("--expect-digest belongs to `ruleline hooks trust`".to_owned());
    }
    let place = Place::find(arguments)?;
    match arguments.action {
        Action::List => Ok(list::list(&place, arguments)),
        Action::Show => show::show(&place, arguments),
        Action::Diff => diff::diff(&place, arguments),
        Action::Trust => trust::trust(&place, arguments.expect_digest.as_deref()),
        Action::Untrust => untrust::untrust(&place),
    }
}

/// Where the command works.
struct Place {
    folders: Folders,
    store: Store,
    /// The named root or the working folder, with links resolved.
    folder: PathBuf,
    is_named: bool,
}

impl Place {
    fn find(arguments: &Arguments) -> Result<Place, Refusal> {
        let escaped = |refused: system::Refused| plain(&refused.to_string(), plain::WHY);
        let folder = match &arguments.project {
            Some(project) => project.clone(),
            None => std::env::current_dir().map_err(|error| format!("the working folder is gone ({error})"))?,
        };
        let folder = paths::resolve(&paths::absolute(&folder));
        let folders = crate::folders::find(arguments.state_dir.as_deref()).map_err(escaped)?;
        folders.admit(&folders.state, &workspaces(&folder)).map_err(escaped)?;
        let store = Store::new(&folders.state);
        Ok(Place { folders, store, folder, is_named: arguments.project.is_some() })
    }

    /// The roots with hooks, or with a grant for hooks that are gone, from here upwards, outermost first.
    fn roots(&self) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> =
            guard::hooks::roots_above(&self.folder, Some(&self.store)).map(Path::to_path_buf).collect();
        roots.reverse();
        roots
    }

    /// The one root that is meant.
    fn root(&self) -> PathBuf {
        if self.is_named {
            return self.folder.clone();
        }
        self.roots().pop().unwrap_or_else(|| self.folder.clone())
    }
}

fn workspaces(folder: &Path) -> Vec<PathBuf> {
    roots::enclosing(folder).into_iter().map(|root| root.path).collect()
}

/// A path in one line, escaped.
fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy(), plain::PATH)
}

fn no_hooks(root: &Path) -> String {
    format!("no hooks in {}\n", shown(&root.join(hooks::FOLDER)))
}

/// Where a root's hooks stand, in one word.
fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Absent => "absent",
        Standing::NotReviewed { last: None, .. } => "not-reviewed",
        Standing::NotReviewed { last: Some(_), .. } => "untrusted",
        Standing::Trusted { .. } => "trusted",
        Standing::Changed { .. } => "changed",
        Standing::Refused { .. } => "refused",
        Standing::StoreLost { .. } => "store-lost",
    }
}

/// The digest of what is there, where it could be read.
fn digest(standing: &Standing) -> Option<TreeDigest> {
    match standing {
        Standing::NotReviewed { tree, .. } => Some(tree.digest),
        Standing::Changed { tree, .. } => tree.as_ref().map(|tree| tree.digest),
        Standing::Trusted { grant } => Some(grant.digest),
        Standing::Absent | Standing::Refused { .. } | Standing::StoreLost { .. } => None,
    }
}

/// The keys that every JSON object about a root begins with: `root`, `standing`, `says` (null where there is nothing to
/// say) and `digest`.
fn json_head(root: &Path, standing: &Standing) -> Value {
    json!({
        "root": root.to_string_lossy(),
        "standing": word(standing),
        "says": sentence(standing, root),
        "digest": digest(standing).map(|digest| digest.hex()),
    })
}

/// The object with further keys.
fn with(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}
