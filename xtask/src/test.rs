//! `cargo xtask test`: installs what the tests need and runs all of them; `--ci` adds the format and lint checks.
//!
//! Every stage prints its time and is counted; what cannot be installed is a failed check with its reason. The last line
//! is `N passed, N failed`.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::process::{cargo, output, run, run_lines, run_with_retries};
use crate::tally::Tally;
use crate::{agents, emacs, helix, kakoune, neovim, tools, vscode, workspace};

/// No stage may hang: past its limit it is killed and counted as failed.
const CARGO_LIMIT: Duration = Duration::from_secs(45 * 60);
const EDITOR_LIMIT: Duration = Duration::from_secs(120);
pub const BROWSER_LIMIT: Duration = Duration::from_secs(10 * 60);

/// Installs what the tests need and runs all of them.
#[derive(Args)]
pub struct Test {
    /// Also check format and lints, as CI does
    #[arg(long)]
    ci: bool,
    /// Only these stages
    #[arg(value_enum)]
    stages: Vec<Stage>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Stage {
    /// rustfmt changes nothing
    Format,
    /// clippy has nothing to say
    Lint,
    /// Unit, property and end-to-end tests, the slow ones too
    Cargo,
    /// The plugin and the server in a real Neovim, and in an older one
    Neovim,
    /// The server in Emacs with eglot, set up as its page says
    Emacs,
    /// The server in Helix, set up as its page says
    Helix,
    /// The server in Kakoune with kakoune-lsp, set up as its page says
    Kakoune,
    /// The index and the reminder with the official MCP client and with Claude Code
    Agents,
    /// The extension in a real VS Code in a browser
    Vscode,
}

impl Test {
    pub fn run(self) -> Result<ExitCode> {
        let stages = match (self.stages.is_empty(), self.ci) {
            (false, _) => self.stages,
            (true, true) => {
                vec![
                    Stage::Format,
                    Stage::Lint,
                    Stage::Cargo,
                    Stage::Neovim,
                    Stage::Emacs,
                    Stage::Helix,
                    Stage::Kakoune,
                    Stage::Agents,
                    Stage::Vscode,
                ]
            }
            (true, false) => {
                vec![
                    Stage::Cargo,
                    Stage::Neovim,
                    Stage::Emacs,
                    Stage::Helix,
                    Stage::Kakoune,
                    Stage::Agents,
                    Stage::Vscode,
                ]
            }
        };
        run_with_retries(&mut cargo(&["fetch", "--locked"]))?;
        let mut total = Tally::default();
        let mut times = Vec::new();
        for stage in stages {
            println!("\n== {} ==", stage.name());
            let start = Instant::now();
            let tally = stage.run().unwrap_or_else(|error| {
                println!("{error:#}");
                Tally::failure(&format!("{}: {error:#}", stage.name()))
            });
            times.push(format!("{:<8} {:>7.1} s   {tally}", stage.name(), start.elapsed().as_secs_f64()));
            total.add(tally);
        }
        println!("\n{}", times.join("\n"));
        for failure in &total.failures {
            println!("failed: {failure}");
        }
        println!("{total}");
        Ok(if total.failed == 0 && total.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Format => "format",
            Stage::Lint => "lint",
            Stage::Cargo => "cargo",
            Stage::Neovim => "neovim",
            Stage::Emacs => "emacs",
            Stage::Helix => "helix",
            Stage::Kakoune => "kakoune",
            Stage::Agents => "agents",
            Stage::Vscode => "vscode",
        }
    }

    fn run(self) -> Result<Tally> {
        match self {
            Stage::Format => format(),
            Stage::Lint => lint(),
            Stage::Cargo => cargo_tests(),
            Stage::Neovim => neovim::test(EDITOR_LIMIT),
            Stage::Emacs => emacs::test(EDITOR_LIMIT),
            Stage::Helix => helix::test(),
            Stage::Kakoune => kakoune::test(),
            Stage::Agents => agents::test(),
            Stage::Vscode => vscode::test(BROWSER_LIMIT, None),
        }
    }
}

fn format() -> Result<Tally> {
    tools::need_component("rustfmt", "fmt")?;
    Ok(Tally::of("cargo fmt --check", run(&mut cargo(&["fmt", "--all", "--check"])).is_ok()))
}

fn lint() -> Result<Tally> {
    tools::need_component("clippy", "clippy")?;
    let mut clippy = cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"]);
    Ok(Tally::of("cargo clippy", run(&mut clippy).is_ok()))
}

fn cargo_tests() -> Result<Tally> {
    // A test traces which programs are started.
    tools::need_program("strace", "strace")?;
    let mut tally = Tally::default();
    let python = tools::need_python("corpus", &workspace::root().join("tests/corpus/requirements.txt"))?;
    let find = "import django, pathlib; print(pathlib.Path(django.__file__).parent)";
    let django = output(Command::new(python.join("python3")).args(["-c", find]))?;
    let mut test = cargo(&["test", "--locked", "--workspace", "--no-fail-fast", "--", "--include-ignored"]);
    test.env("RULELINE_CORPUS", django);
    let status = run_lines(&mut test, CARGO_LIMIT, |line| tally.read_cargo_line(line))?;
    // A crate that does not build, or a test program that crashed, prints no closing line.
    if !status.success() && tally.failed == 0 {
        tally.add(Tally::failure(&format!("cargo test ({status})")));
    }
    Ok(tally)
}
