//! `ruleline mcp`: the symbol index for agents, over the Model Context Protocol.
//!
//! The server does the work; this finds it and becomes it, so that an agent's settings name one program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};

use clap::Parser;

use super::Command;
use crate::output::complain;
use crate::programs::server;

/// The row of the command table.
pub const COMMAND: Command = Command { name: "mcp", about: "answers an agent's questions about symbols (MCP)", run };

/// Answers an agent's questions about the project's symbols over MCP on stdin and stdout, until it hangs up.
///
/// The tools only read: find_symbol, symbols_overview, find_references, search_text. For Claude Code:
/// `claude mcp add ruleline -- ruleline mcp`.
#[derive(Parser)]
#[command(name = "ruleline mcp")]
struct Arguments {
    /// The project's root, by default the one that holds the working folder.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// The folder for state instead of the user's own; for tests and containers.
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

fn run(words: &[OsString]) -> ExitCode {
    let arguments: Arguments = match super::read("mcp", words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let root = arguments.project.as_deref().map_or_else(super::init::project_root, system::paths::absolute);
    let own = std::env::current_exe().map_err(|error| error.to_string());
    match own.and_then(|own| server(&own)) {
        // A repository may have put a folder of its own on the PATH.
        Ok(program) if system::paths::resolve(&program).starts_with(system::paths::resolve(&root)) => {
            complain(&format!("{} is not run: it lies in the project", program.display()));
            ExitCode::from(2)
        }
        Ok(program) => become_server(&program, &root, arguments.state_dir.as_deref()),
        Err(why) => {
            complain(&why);
            ExitCode::from(2)
        }
    }
}

fn become_server(program: &Path, root: &Path, state: Option<&Path>) -> ExitCode {
    let mut process = Process::new(program);
    process.arg("--mcp");
    if let Some(state) = state {
        process.arg("--state-dir").arg(state);
    }
    process.arg("--").arg(root);
    let error = replaced(&mut process);
    complain(&format!("{} cannot be run: {error}", program.display()));
    ExitCode::from(2)
}

/// Runs the process in place of this one; comes back only where it cannot.
#[cfg(unix)]
fn replaced(process: &mut Process) -> std::io::Error {
    use std::os::unix::process::CommandExt as _;
    process.exec()
}

/// Runs the process and ends as it does; comes back only where it cannot be run.
#[cfg(not(unix))]
fn replaced(process: &mut Process) -> std::io::Error {
    match process.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
