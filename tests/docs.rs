//! The manual is true: every rulebook it shows loads without a problem.

#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

use std::fs;
use std::path::Path;

use rules::{Format, Rulebook};

/// The fenced blocks of one language in a page, each with the line it starts on.
fn blocks(page: &str, language: &str) -> Vec<(usize, String)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().map(str::trim).enumerate() {
        match &mut open {
            Some(block) if line == "```" => {
                found.push((block.0, std::mem::take(&mut block.1)));
                open = None;
            }
            Some(block) => block.1 += &format!("{line}\n"),
            None if line.strip_prefix("```") == Some(language) => open = Some((index + 2, String::new())),
            None => {}
        }
    }
    found
}

#[test]
fn every_rulebook_in_the_manual_loads() {
    let mut seen = 0;
    for page in ["docs/rulebook.md", "README.md"] {
        for (line, text) in blocks(page, "toml") {
            let book = Rulebook::load_validated(text.as_bytes(), Format::Toml);
            assert!(book.problems.is_empty(), "{page}:{line}: {:?}", book.problems);
            seen += book.rules.len();
        }
    }
    assert!(seen >= 10, "only {seen} rules were found in the pages");
}
