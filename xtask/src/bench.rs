//! `cargo xtask bench`: the hook as a process, the server as an editor sees it, and functions alone, each beside a peer
//! in the same run. Prints a table of what must be reached and what was measured; nothing here fails a test.
//!
//! Absolute times differ by machine and minute, ratios within one run hardly do: every goal is a ratio.

mod corpus;
mod functions;
mod hook;
mod index;
mod lsp;
mod report;
mod rounds;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use report::Row;

/// Measures speed against what must be reached.
#[derive(Args)]
pub struct Bench {
    /// Write every number to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fewer rounds and smaller trees: a look, not a measurement
    #[arg(long)]
    quick: bool,
    /// Only these parts
    #[arg(value_enum)]
    parts: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Part {
    /// The hook's whole process, against /bin/true
    Hook,
    /// From a change in the editor to its diagnostics, against ruff
    Lsp,
    /// The symbol index, against a bare parse, ctags and ruff
    Index,
    /// Judging and parsing alone
    Functions,
}

impl Bench {
    pub fn run(self) -> Result<ExitCode> {
        let chosen = |part| self.parts.is_empty() || self.parts.contains(&part);
        let mut rows: Vec<Row> = Vec::new();
        let mut numbers = Map::new();
        if chosen(Part::Hook) {
            numbers.insert("hook".to_owned(), hook::measure(self.quick, &mut rows)?);
        }
        if chosen(Part::Lsp) {
            numbers.insert("lsp".to_owned(), lsp::measure(self.quick, &mut rows)?);
        }
        if chosen(Part::Index) {
            numbers.insert("index".to_owned(), index::measure(self.quick, &mut rows)?);
        }
        if chosen(Part::Functions) {
            numbers.insert("functions".to_owned(), functions::measure(self.quick)?);
        }
        println!();
        report::print(&rows);
        numbers.insert("rows".to_owned(), serde_json::to_value(&rows)?);
        if let Some(path) = self.json {
            let text = serde_json::to_string_pretty(&Value::Object(numbers))?;
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
