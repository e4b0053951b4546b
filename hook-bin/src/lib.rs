//! The `ruleline` command: the hook's hot path, and one file for each other command.
//!
//! `hook` comes first and pays for nothing else. Commands print through [`output`] and never decide anything by
//! themselves: what a rulebook says is asked of `guard`.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

pub mod accelerator;
pub mod commands;
pub mod folders;
pub mod hook;
pub mod index;
#[cfg(target_env = "musl")]
mod memory;
pub mod output;
pub mod programs;

const HELP: &str = "\
Ruleline: one rulebook for your editor and your coding agent.

Usage: ruleline COMMAND [ARGUMENTS]

Commands:
";

const HELP_END: &str = "
`ruleline COMMAND --help` says more. Options: --help, --version.
";

/// Runs the command that the words after the program's name ask for.
pub fn run(words: &[OsString]) -> ExitCode {
    let Some((name, rest)) = words.split_first() else {
        output::print(&help());
        return ExitCode::from(2);
    };
    if name == OsStr::new("hook") {
        return hook::run(rest);
    }
    if let Some(command) = commands::TABLE.iter().find(|command| name == OsStr::new(command.name)) {
        return (command.run)(rest);
    }
    match name.to_str() {
        Some("--help" | "-h" | "help") => output::print(&help()),
        Some("--version" | "-V") => output::print(concat!("ruleline ", env!("CARGO_PKG_VERSION"), "\n")),
        _ => {
            output::complain(&format!("{} is no command; `ruleline --help` lists them", name.display()));
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn help() -> String {
    let hook = ("hook", "answers one event of a coding agent (stdin to stdout)");
    let others = commands::TABLE.iter().map(|command| (command.name, command.about));
    let lines = std::iter::once(hook).chain(others).map(|(name, about)| format!("  {name:<12}{about}\n"));
    HELP.to_owned() + &lines.collect::<String>() + HELP_END
}
