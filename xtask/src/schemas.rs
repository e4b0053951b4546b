//! `cargo xtask schemas`: writes the JSON Schemas of the files that people write, from the tables of their loaders.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::process::{cargo, run};

/// Writes the schemas in schemas.
#[derive(Args)]
pub struct Schemas {}

impl Schemas {
    #[allow(clippy::unused_self, reason = "every command is run alike")]
    pub fn run(self) -> Result<ExitCode> {
        // The test that holds the files against the tables can write them too.
        let mut write = cargo(&["test", "--locked", "--quiet", "--package", "ruleline", "--test", "schemas"]);
        run(write.env("RULELINE_WRITE_SCHEMAS", "1"))?;
        Ok(ExitCode::SUCCESS)
    }
}
