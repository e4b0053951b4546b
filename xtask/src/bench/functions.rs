//! Judging and parsing alone: criterion's own program, and the medians it writes.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::report::print_table;
use crate::process::{cargo, run};
use crate::workspace;

/// Runs the microbenchmarks and collects their medians in nanoseconds.
pub fn measure(quick: bool) -> Result<Value> {
    let mut bench = cargo(&["bench", "--locked", "--package", "ruleline-functions", "--"]);
    if quick {
        bench.args(["--warm-up-time", "0.5", "--measurement-time", "1"]);
    }
    run(&mut bench)?;
    let mut medians = Map::new();
    let folder = workspace::target().join("criterion");
    for group in fs::read_dir(&folder).with_context(|| format!("criterion left nothing in {}", folder.display()))? {
        let group = group?;
        for function in fs::read_dir(group.path())?.flatten() {
            let Ok(text) = fs::read(function.path().join("new/estimates.json")) else { continue };
            let estimates: Value = serde_json::from_slice(&text)?;
            let name = format!("{}/{}", group.file_name().display(), function.file_name().display());
            medians.insert(name, estimates["median"]["point_estimate"].clone());
        }
    }
    println!("\nFunctions alone");
    let rows =
        medians.iter().map(|(name, median)| [name.clone(), format!("{:.4}", median.as_f64().unwrap_or(0.0) / 1e6)]);
    print_table(&["function".to_owned(), "p50 ms".to_owned()], &rows.collect::<Vec<_>>());
    Ok(Value::Object(medians))
}
