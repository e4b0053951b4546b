//! `cargo xtask demo`: builds both programs and runs `ruleline demo`.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::Result;
use clap::Args;

use crate::process::{cargo, run_with_retries};
use crate::workspace;

/// Builds and runs the demonstration.
#[derive(Args)]
pub struct Demo {
    /// Passed on to `ruleline demo`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Demo {
    pub fn run(self) -> Result<ExitCode> {
        let start = Instant::now();
        run_with_retries(&mut cargo(&["build", "--locked", "--package", "ruleline"]))?;
        println!("built in {:.1} s\n", start.elapsed().as_secs_f64());
        let status =
            Command::new(workspace::program("ruleline", "dev", None)).arg("demo").args(self.arguments).status()?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
