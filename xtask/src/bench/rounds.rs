//! Whole processes in turn: the plan for the program in `bench-programs` that runs them, and its samples.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::report::print_table;
use crate::process::{cargo, run_with_retries};
use crate::{dist, workspace};

/// The programs of `bench-programs`, built as the hook is.
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    pub fn build() -> Result<Programs> {
        let mut build = cargo(&["build", "--locked", "--release"]);
        build.current_dir(workspace::root().join("xtask/bench-programs"));
        let target = workspace::target().join("bench-programs");
        build.env("CARGO_TARGET_DIR", &target);
        let mut folder = target;
        if let Some(triple) = dist::static_target()? {
            build.args(["--target", triple]).env("RUSTFLAGS", dist::STATIC_FLAGS);
            folder.push(triple);
        }
        run_with_retries(&mut build)?;
        Ok(Programs { folder: folder.join("release") })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// One process to measure.
#[derive(Serialize)]
pub struct Case {
    #[serde(skip)]
    pub name: String,
    program: PathBuf,
    arguments: Vec<String>,
    input: Option<PathBuf>,
    times_itself: bool,
}

impl Case {
    pub fn new(name: &str, program: &Path, arguments: &[&str], input: Option<&Path>) -> Case {
        Case {
            name: name.to_owned(),
            program: program.to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            input: input.map(Path::to_owned),
            times_itself: false,
        }
    }

    /// The process prints its own time.
    #[must_use]
    pub fn timing_itself(self) -> Case {
        Case { times_itself: true, ..self }
    }
}

/// What one case gave.
#[derive(Deserialize)]
pub struct Samples {
    #[serde(skip)]
    pub name: String,
    nanoseconds: Vec<u64>,
    peak_kib: u64,
    exit: Option<i32>,
    pub output: String,
}

impl Samples {
    /// A percentile in milliseconds; `part` from 0 to 1.
    pub fn percentile(&self, part: f64) -> f64 {
        percentile(&self.nanoseconds, part)
    }

    /// The fastest in milliseconds.
    pub fn fastest(&self) -> f64 {
        self.percentile(0.0)
    }

    /// The median in milliseconds.
    pub fn median(&self) -> f64 {
        self.percentile(0.5)
    }
}

/// A percentile, in milliseconds, of nanoseconds; 0 of none.
#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "samples are few and far below 2^52 ns")]
pub fn percentile(nanoseconds: &[u64], part: f64) -> f64 {
    let mut sorted = nanoseconds.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).map_or(0.0, |&taken| taken as f64 / 1e6)
}

/// The samples of one plan, in the order of its cases; the first case is what the others are set against.
pub struct Outcome(Vec<Samples>);

impl Outcome {
    pub fn of(&self, name: &str) -> &Samples {
        self.0.iter().find(|samples| samples.name == name).expect("the case is in the plan")
    }

    /// A case's median by the first case's.
    pub fn ratio(&self, name: &str) -> f64 {
        self.of(name).median() / self.0[0].median()
    }

    pub fn print(&self, title: &str) {
        println!("\n{title}");
        let heads = [title_of_first(&self.0), "min ms".into(), "p50 ms".into(), "p95 ms".into(), "p50 ratio".into()];
        let heads = [&heads[..], &["peak KiB".to_owned(), "exit".to_owned(), "answer".to_owned()]].concat();
        let rows = self.0.iter().map(|samples| {
            [
                samples.name.clone(),
                format!("{:.3}", samples.percentile(0.0)),
                format!("{:.3}", samples.median()),
                format!("{:.3}", samples.percentile(0.95)),
                format!("{:.2}", self.ratio(&samples.name)),
                samples.peak_kib.to_string(),
                samples.exit.map_or_else(|| "signal".to_owned(), |code| code.to_string()),
                samples.output.chars().take(60).collect::<String>().replace('\n', " "),
            ]
        });
        let heads: [String; 8] = heads.try_into().expect("eight heads");
        print_table(&heads, &rows.collect::<Vec<_>>());
    }

    pub fn to_json(&self) -> Value {
        let case = |samples: &Samples| {
            json!({
                "case": samples.name,
                "samples": samples.nanoseconds.len(),
                "min_ms": samples.percentile(0.0),
                "p50_ms": samples.median(),
                "p95_ms": samples.percentile(0.95),
                "ratio": self.ratio(&samples.name),
                "peak_kib": samples.peak_kib,
                "exit": samples.exit,
                "answer": samples.output,
            })
        };
        self.0.iter().map(case).collect()
    }
}

/// The head of the first column names what ratios are taken against.
fn title_of_first(samples: &[Samples]) -> String {
    format!("case (ratio to {})", samples[0].name)
}

/// Runs every case once in each round.
pub fn run(programs: &Programs, rounds: usize, cases: Vec<Case>) -> Result<Outcome> {
    let plan = serde_json::to_vec(&json!({ "warmups": 3, "rounds": rounds, "cases": &cases }))?;
    let program = programs.path("rounds");
    let mut runner = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    runner.stdin.take().expect("stdin is piped").write_all(&plan)?;
    let output = runner.wait_with_output()?;
    if !output.status.success() {
        bail!("{} failed ({})", program.display(), output.status);
    }
    let mut samples: Vec<Samples> = serde_json::from_slice(&output.stdout)?;
    for (samples, case) in samples.iter_mut().zip(cases) {
        samples.name = case.name;
    }
    Ok(Outcome(samples))
}
