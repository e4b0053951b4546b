//! `ruleline check`: the rulebook over files, over what is staged, or over what a branch changes.
//!
//! The same rulebooks, the same `Change`, the same `Judge` and the same words as in the hook and the editor. Here
//! stands only what is asked and what the exit status says; what is judged comes from [`guard::walk`] and [`revisions`], the
//! judging from [`bench`], the looks from [`text`] and [`json`].

mod bench;
mod books;
mod excerpt;
mod json;
mod places;
mod progress;
mod report;
mod revisions;
mod text;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use guard::config::InstructionCheck;
use guard::stack::Named;
use guard::walk::{self, Limits};
use guard::{Config, Surroundings};
use system::{paths, roots};

use super::Command;
use crate::output::{complain, deliver};
use bench::{Bench, Scope};
use books::Shelf;
use report::{Open, Report};

/// The row of the command table.
pub const COMMAND: Command = Command { name: "check", about: "judges files, or what is staged or committed", run };

/// Judges files or a diff by the rulebooks that hold for them.
///
/// Without --staged or --base every line of every file counts as added. Rules without a check ("any change of these
/// paths") say nothing then, since nothing changed, and text that instructs reviewers is looked for only with
/// --instructions. Folders are walked by git's ignore rules, hidden files included; files that git tracks are judged
/// even if they are ignored. Links are not followed, binary files are left out.
#[derive(Parser)]
#[command(name = "ruleline check", after_help = EXIT)]
struct Arguments {
    /// Files and folders, by default the working folder; with --staged or --base by default the whole repository.
    #[arg(value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// A rulebook in place of the project's.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Judge what the index changes against HEAD: the next commit.
    #[arg(long, conflicts_with = "base")]
    staged: bool,
    /// Judge what HEAD changes since it left REV (their merge base): the pull request. What is not committed is not
    /// looked at. The rulebooks of REV hold together with today's, and a changed rulebook is a finding of its own.
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    base: Option<OsString>,
    /// How the result is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Look for text that instructs reviewers in whole files too; a diff is always looked at.
    #[arg(long)]
    instructions: bool,
}

const EXIT: &str = "\
Exit status:
  0  nothing denies and nothing asks (a rule that only warns is printed and does not count)
  1  something denies, asks, or could not be checked
  2  an error: a broken rulebook, no rulebook at all, a revision git does not know";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: excerpts and a summary.
    Text,
    /// For scripts: one JSON object.
    Json,
}

/// Why nothing was judged, in one line.
type Refusal = String;

fn run(words: &[OsString]) -> ExitCode {
    let arguments: Arguments = match super::read("check", words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match check(&arguments) {
        Ok(report) => {
            let text = match arguments.format {
                Format::Text => text::render(&report, is_coloured()),
                Format::Json => json::render(&report),
            };
            if let Err(error) = deliver(&text) {
                complain(&format!("the report cannot be written: {error}"));
                return ExitCode::from(2);
            }
            ExitCode::from(report.status())
        }
        Err(refusal) => {
            complain(&refusal);
            ExitCode::from(2)
        }
    }
}

fn check(arguments: &Arguments) -> Result<Report, Refusal> {
    let cwd = std::env::current_dir().map_err(|error| format!("the working folder is gone ({error})"))?;
    let root = guard::stack::innermost(&cwd).unwrap_or_else(|| cwd.clone());
    let user = user(&cwd)?;
    let projects: Vec<PathBuf> = roots::enclosing(&cwd).into_iter().map(|root| root.path).collect();
    let config = Config::load(user.as_deref(), projects.iter().map(PathBuf::as_path));
    for problem in &config.problems {
        complain(&rules::plain::plain(&problem.to_string(), rules::plain::WHY));
    }
    let mut instructions = config.instruction_check;
    let mut shelf = Shelf::default();
    let mut open = Vec::new();
    let (scope, subjects) = if arguments.staged {
        (Scope::Staged, revisions::staged(&cwd, &arguments.paths)?)
    } else if let Some(revision) = &arguments.base {
        let branch = revisions::branch(&cwd, revision, &arguments.paths)?;
        shelf.lay_down(branch.rulebooks);
        (Scope::Branch, branch.subjects)
    } else {
        instructions = if arguments.instructions { InstructionCheck::Ask } else { InstructionCheck::Off };
        let found = walk::files(&cwd, &arguments.paths, Limits::NONE)?;
        open = found.unread;
        (Scope::Files, found.subjects)
    };
    let named = arguments.rules.as_deref().map(named).transpose()?;
    let mut surroundings = Surroundings::new(cwd, None);
    surroundings.named = named;
    let bench = Bench { scope, instructions, shelf, surroundings, user, root };
    let mut report = progress::judge_all(&bench, &subjects);
    let open = open.into_iter().map(|it| Open { path: bench.shown(&it.path), rule: None, why: it.why, origin: None });
    report.open = open.collect();
    bench.conclude(&mut report)?;
    Ok(report)
}

/// The user's folder; none where there is no such user, as in many containers.
fn user(cwd: &Path) -> Result<Option<PathBuf>, Refusal> {
    let Ok(folders) = crate::folders::find(None) else { return Ok(None) };
    let workspaces: Vec<PathBuf> = roots::enclosing(cwd).into_iter().map(|root| root.path).collect();
    match folders.admit(&folders.user, &workspaces) {
        Ok(()) => Ok(Some(folders.user)),
        Err(refused) if folders.user.symlink_metadata().is_ok() => Err(refused.to_string()),
        Err(_) => Ok(None),
    }
}

fn named(path: &Path) -> Result<Named, Refusal> {
    let absolute = paths::absolute(path);
    if absolute.is_file() {
        return Ok(Named { path: absolute, replaces: true });
    }
    Err(format!("--rules {}: there is no such file", rules::plain::plain(&paths::shown(path), rules::plain::PATH)))
}

/// Colours are for terminals, and not for those whose user wants none (no-color.org).
fn is_coloured() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
