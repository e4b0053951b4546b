//! What must be reached, what was measured, and the two tables.

use serde::Serialize;

/// One goal.
#[derive(Debug, Serialize)]
pub struct Row {
    pub what: String,
    pub must: String,
    pub measured: String,
    pub ok: bool,
}

impl Row {
    /// A goal of the form "at most".
    pub fn at_most(what: impl Into<String>, unit: &str, measured: f64, limit: f64) -> Row {
        Row {
            what: what.into(),
            must: format!("<= {limit:.2} {unit}"),
            measured: format!("{measured:.2}"),
            ok: measured <= limit,
        }
    }
}

/// Prints the goals as a table.
pub fn print(rows: &[Row]) {
    let heads = ["what", "must reach", "measured", ""].map(str::to_owned);
    let cells = rows.iter().map(|row| {
        [row.what.clone(), row.must.clone(), row.measured.clone(), if row.ok { "ok" } else { "NOT" }.to_owned()]
    });
    print_table(&heads, &cells.collect::<Vec<_>>());
}

/// Prints rows under heads, each column as wide as its widest cell.
pub fn print_table<const COLUMNS: usize>(heads: &[String; COLUMNS], rows: &[[String; COLUMNS]]) {
    let width = |column: usize| rows.iter().chain([heads]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let rule = widths.map(|width| "-".repeat(width));
    for row in [heads, &rule].into_iter().chain(rows) {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        println!("| {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}
