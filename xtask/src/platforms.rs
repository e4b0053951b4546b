//! `cargo xtask platforms`: type-checks for Windows, so that its code stays honest. No gate: where the target cannot be
//! had it says so.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::process::{cargo, run};
use crate::tools;

const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// Type-checks for other platforms.
#[derive(Args)]
pub struct Platforms {}

impl Platforms {
    #[allow(clippy::unused_self, reason = "every command is run alike")]
    pub fn run(self) -> Result<ExitCode> {
        tools::need_target(WINDOWS)?;
        // The grammars are C and are compiled even for a check.
        tools::need_program("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64-win32")?;
        run(&mut cargo(&["check", "--locked", "--workspace", "--target", WINDOWS]))?;
        println!("{WINDOWS}: ok");
        Ok(ExitCode::SUCCESS)
    }
}
