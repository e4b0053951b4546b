//! The `ruleline` command.

fn main() -> std::process::ExitCode {
    ruleline_hook::run(&std::env::args_os().skip(1).collect::<Vec<_>>())
}
