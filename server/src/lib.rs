//! The language server: diagnostics for a buffer's current edit, judged as the hook judges it.
//!
//! `lsp/` speaks the protocol, `session/` owns all state, `features/` makes what is shown, `socket/` answers hooks. Logs
//! go to stderr; stdout is the protocol.

pub mod engine;
pub mod facts;
mod features;
pub mod indexes;
mod log;
mod lsp;
mod mcp;
pub mod rulebooks;
mod session;
#[cfg(unix)]
pub mod socket;
mod text;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
#[cfg(unix)]
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgGroup, Parser};
use system::Folders;

use crate::engine::Engine;

/// Ruleline's language server: speaks LSP on stdin and stdout.
#[derive(Debug, Parser)]
#[command(name = "ruleline-server", version, group(ArgGroup::new("rooted").args(["background", "mcp"])))]
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
    /// Answer hooks without an editor, until nobody asks any more.
    #[arg(long, conflicts_with = "stdio")]
    background: bool,
    /// Answer an agent's questions about symbols over MCP on stdin and stdout, for the one root given.
    #[arg(long, conflicts_with_all = ["stdio", "background"])]
    mcp: bool,
    /// How long a server in the background stays when nobody asks; 0 is for ever.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "background")]
    idle_exit: u64,
    /// The projects a server in the background answers for, the one that MCP is about; without any that of the
    /// present folder.
    #[arg(value_name = "ROOT", requires = "rooted")]
    roots: Vec<PathBuf>,
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
    let log = log::start(&arguments.log);
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
    let code = runtime.block_on(async {
        if arguments.mcp {
            return mcp::serve(&root_of(arguments.roots.first().cloned()), folders).await;
        }
        let engine = Engine::new(folders, engine::person());
        if arguments.background {
            in_background(engine, arguments.roots, Duration::from_secs(arguments.idle_exit)).await
        } else {
            with_editor(engine).await
        }
    });
    runtime.shutdown_background();
    log.finish();
    // The thread that reads stdin would keep the process until the client closes it.
    std::process::exit(code.into())
}

/// Serves an editor, and hooks for the editor's folders; gives the exit code. The socket goes before this returns.
#[cfg(unix)]
async fn with_editor(engine: Engine) -> u8 {
    let runtime = engine.folders.as_ref().map(|folders| folders.runtime.clone());
    let unsaved = engine.unsaved.clone();
    let mut attending = None;
    let code = {
        let serving = lsp::serve(engine, |session| {
            attending = runtime.map(|runtime| tokio::spawn(socket::attend(runtime, session)));
        });
        tokio::select! {
            code = serving => code,
            signal = ending_signal() => 128 + signal,
        }
    };
    if let Some(attending) = attending {
        attending.abort();
        let _ = attending.await;
    }
    unsaved.close();
    code
}

/// Hooks have no socket here.
#[cfg(not(unix))]
async fn with_editor(engine: Engine) -> u8 {
    let unsaved = engine.unsaved.clone();
    let code = lsp::serve(engine, |_| {}).await;
    unsaved.close();
    code
}

/// Serves hooks alone; gives the exit code.
#[cfg(unix)]
async fn in_background(engine: Engine, mut roots: Vec<PathBuf>, idle: Duration) -> u8 {
    let Some(runtime) = engine.folders.as_ref().map(|folders| folders.runtime.clone()) else {
        eprintln!("ruleline-server: no socket: this user's folders are not known");
        return 1;
    };
    if roots.is_empty() {
        roots.push(root_of(None));
    }
    let judging = Arc::new(socket::Judging::new(Arc::new(engine)));
    tokio::select! {
        served = socket::background::serve(&runtime, &roots, judging, idle) => match served {
            Ok(()) => 0,
            Err(error) => {
                // Somebody waits in a terminal: said at once, not through the log's thread.
                eprintln!("ruleline-server: {error}");
                1
            }
        },
        _ = ending_signal() => 0,
    }
}

/// The root that was asked for, else the project of the working folder.
fn root_of(asked: Option<PathBuf>) -> PathBuf {
    asked.map_or_else(
        || {
            let here = std::env::current_dir().unwrap_or_default();
            system::roots::enclosing(&here).into_iter().next().map_or(here, |root| root.path)
        },
        |asked| system::paths::absolute(&asked),
    )
}

/// Hooks have no socket here.
#[cfg(not(unix))]
async fn in_background(_: Engine, _: Vec<PathBuf>, _: Duration) -> u8 {
    eprintln!("ruleline-server: there is no socket on this platform; hooks work alone");
    1
}

/// The number of the signal that asks this process to end.
#[cfg(unix)]
async fn ending_signal() -> u8 {
    use tokio::signal::unix::{SignalKind, signal};

    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => 15,
        _ = interrupt.recv() => 2,
    }
}
