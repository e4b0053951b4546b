//! The language server.

fn main() -> std::process::ExitCode {
    ruleline_server::run(std::env::args_os())
}
