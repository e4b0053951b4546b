//! `cargo xtask`: everything that a person or CI runs on this repository.
//!
//! A file per command. What a command needs and does not find is installed where that is possible, else the command
//! fails and says what to install; nothing is skipped without a word.

#![allow(clippy::print_stdout, reason = "what these commands print is their result")]

mod agents;
mod bench;
mod debian;
mod demo;
mod dist;
mod editors;
mod emacs;
mod helix;
mod kakoune;
mod neovim;
mod node;
mod platforms;
mod process;
mod project;
mod schemas;
mod screenshots;
mod tally;
mod terminal;
mod test;
mod tools;
mod vscode;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds, tests and measures Ruleline.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Builds and runs the demonstration
    Demo(demo::Demo),
    /// Installs what the tests need and runs all of them
    Test(test::Test),
    /// Measures speed against what must be reached
    Bench(bench::Bench),
    /// Builds the release archives under target/dist
    Dist(dist::Dist),
    /// Draws the pictures of the manual in real editors
    Screenshots(screenshots::Screenshots),
    /// Writes the JSON Schemas of rulebook, settings and hooks
    Schemas(schemas::Schemas),
    /// Type-checks for other platforms
    Platforms(platforms::Platforms),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Demo(demo) => demo.run(),
        Task::Test(test) => test.run(),
        Task::Bench(bench) => bench.run(),
        Task::Dist(dist) => dist.run(),
        Task::Screenshots(screenshots) => screenshots.run(),
        Task::Schemas(schemas) => schemas.run(),
        Task::Platforms(platforms) => platforms.run(),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
