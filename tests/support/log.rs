//! The log of decisions as a stranger reads it: lines of JSON, each with the SHA-256 of the one before.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::hook::Project;

/// Where a project with a `.ruleline` folder has its log.
pub fn in_project(project: &Project) -> PathBuf {
    project.root.join(".ruleline/traces/hooks.jsonl")
}

/// What the state folder holds of the one log that was written to.
pub fn folder_in_state(project: &Project) -> PathBuf {
    let folders: Vec<PathBuf> =
        fs::read_dir(project.state().join("records")).unwrap().map(|found| found.unwrap().path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders[0].clone()
}

/// The log of a project whose own folder takes no lines.
pub fn in_state(project: &Project) -> PathBuf {
    folder_in_state(project).join("hooks.jsonl")
}

/// Where the state folder remembers the end of the chain.
pub fn head(project: &Project) -> PathBuf {
    folder_in_state(project).join("head")
}

/// The lines of a log as they stand there, without those that are empty.
pub fn raw(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    text.trim_matches('\0').lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The decisions of a log; none where there is no log.
pub fn lines(file: &Path) -> Vec<Value> {
    let found = if file.exists() { raw(file) } else { Vec::new() };
    found.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The last decision.
pub fn last(file: &Path) -> Value {
    lines(file).pop().expect("there is a line")
}

pub fn digest(text: &str) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap());
    Sha256::digest(text.as_bytes()).iter().flat_map(digits).collect()
}

/// Each line follows the one before, and says nothing of a stretch.
pub fn assert_unbroken(file: &Path) {
    let mut before = String::new();
    for line in raw(file) {
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["prev"], digest(&before), "{line}");
        assert_eq!(value["stretch"], Value::Null, "{line}");
        before = line;
    }
}

/// The numbers of the lines that hang together with the last one and stand in order, from it to the first.
pub fn chain(file: &Path) -> Vec<usize> {
    let raw = raw(file);
    let numbers: HashMap<String, usize> = raw.iter().enumerate().map(|(number, line)| (digest(line), number)).collect();
    let mut found = Vec::new();
    let mut next = raw.len().checked_sub(1);
    while let Some(number) = next {
        found.push(number);
        let value: Value = serde_json::from_str(&raw[number]).unwrap();
        next = numbers.get(value["prev"].as_str().unwrap()).copied().filter(|before| *before < number);
    }
    found
}
