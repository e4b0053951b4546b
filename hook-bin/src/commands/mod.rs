//! Every command but `hook`, one file each.
//!
//! A command is a row of [`TABLE`] and a function from its words to an exit status; help and dispatch follow from the
//! row.

use std::ffi::OsString;
use std::process::ExitCode;

pub mod check;
pub mod demo;
pub mod hooks;
pub mod init;
pub mod mcp;
pub mod symbols;

/// One command.
pub struct Command {
    /// What is typed.
    pub name: &'static str,
    /// What it does, in one line of the help.
    pub about: &'static str,
    /// Runs it with the words after its name.
    pub run: fn(&[OsString]) -> ExitCode,
}

/// The commands, in the order of the help.
pub const TABLE: &[Command] =
    &[init::COMMAND, check::COMMAND, hooks::COMMAND, symbols::COMMAND, mcp::COMMAND, demo::COMMAND];

/// Reads the words of a command.
///
/// # Errors
/// The exit status, when help was asked for or the words are wrong; that is printed already.
pub fn read<T: clap::Parser>(name: &str, words: &[OsString]) -> Result<T, ExitCode> {
    let name = OsString::from(format!("ruleline {name}"));
    T::try_parse_from(std::iter::once(name).chain(words.iter().cloned())).map_err(|error| {
        if error.use_stderr() {
            eprint!("{error}");
            ExitCode::from(2)
        } else {
            crate::output::print(&error.to_string());
            ExitCode::SUCCESS
        }
    })
}

/// `1 file`, `3 files`.
pub(crate) fn many(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
