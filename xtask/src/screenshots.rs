//! `cargo xtask screenshots`: the pictures of README and manual, made by the tests in real editors.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;

use crate::{neovim, test, vscode, workspace};

/// Draws the pictures in docs.
#[derive(Args)]
pub struct Screenshots {}

impl Screenshots {
    #[allow(clippy::unused_self, reason = "every command is run alike")]
    pub fn run(self) -> Result<ExitCode> {
        let docs = workspace::root().join("docs");
        neovim::screenshot(&docs.join("neovim.svg"))?;
        let images = docs.join("images");
        let tally = vscode::test(test::BROWSER_LIMIT, Some(&images))?;
        if tally.failed > 0 {
            bail!("the pictures are of tests that failed: {}", tally.failures.join("; "));
        }
        println!("{}", docs.display());
        Ok(ExitCode::SUCCESS)
    }
}
