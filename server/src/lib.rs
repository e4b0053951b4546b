//! The language server: diagnostics for a buffer's current edit, judged as the hook judges it.
//!
//! `lsp/` speaks the protocol, `session/` owns all state, `features/` makes what is shown. Logs go to stderr; stdout is
//! the protocol.

pub mod engine;
pub mod facts;
mod features;
mod log;
mod lsp;
pub mod rulebooks;
mod session;
mod text;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use system::Folders;

use crate::engine::Engine;

/// Ruleline's language server: speaks LSP on stdin and stdout.
#[derive(Debug, Parser)]
#[command(name = "ruleline-server", version)]
struct Arguments {
    /// Speak LSP on stdin and stdout (there is no other way; accepted because editors say it).
    #[arg(long)]
    stdio: bool,
    /// The editor's process; accepted because editors say it.
    #[arg(long = "clientProcessId", value_name = "PID", hide = true)]
    client_process: Option<u32>,
    /// The folder for state instead of the user's own; for tests and containers.
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// What is logged to stderr: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: String,
}

/// Runs the server with these arguments, the program's name first. Does not return before the client is gone.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    log::start(&arguments.log);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(threads + 4)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("the server cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let folders = Folders::find(arguments.state_dir.as_deref());
    let folders = folders.inspect_err(|refused| tracing::warn!("the user's rulebook does not hold: {refused}")).ok();
    let code = runtime.block_on(lsp::serve(Engine::new(folders), |_| {}));
    runtime.shutdown_background();
    // The thread that reads stdin would keep the process until the client closes it.
    std::process::exit(code.into())
}
