//! Every case of `fixtures/rules.json` through the real hook: the decision, and the lines each rule found.
//!
//! A case whose answer is another is listed in [`DEPARTURES`] with its reason; a departure that is none any more fails.

#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

#[path = "support/hook.rs"]
mod hook;

use std::path::Path;

use hook::{Project, Said};
use serde_json::{Value, json};

/// Cases that are answered otherwise, each with its reason.
const DEPARTURES: &[(&str, &str)] = &[(
    "miss-bash-git-mv",
    "what programs write by themselves (git mv, rm, cp) waits for the analysis of shell commands",
)];

#[test]
fn every_case_has_its_answer() {
    let fixture: Value = serde_json::from_str(include_str!("fixtures/rules.json")).unwrap();
    let cases = fixture["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let departs = DEPARTURES.iter().find(|(known, _)| *known == id);
        match (check(case), departs) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Err(why), None) => wrong.push(format!("{id}: {why}")),
            (Ok(()), Some((_, reason))) => {
                wrong.push(format!("{id}: is as expected, but listed as departing: {reason}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn check(case: &Value) -> Result<(), String> {
    let project = Project::new();
    let place = |text: &str| {
        let root = text.replace("$ROOT", project.root.to_str().unwrap());
        root.replace("$OUTSIDE", project.outside.to_str().unwrap())
    };
    for (path, content) in case["files"].as_object().unwrap() {
        lay(&project.root.join(path), content, &place);
    }
    let rules = format!("rulebook.{}", case["rules_format"].as_str().unwrap());
    project.write(&rules, place(case["rules"].as_str().unwrap()));
    let stdin = match case["raw_stdin"].as_str() {
        Some(raw) => place(raw),
        None => filled(&case["payload"], &place).to_string(),
    };
    let mut arguments = vec!["pre-edit"];
    let own: Vec<&str> = case["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    if !own.contains(&"--agent") {
        arguments.extend(["--agent", "claude"]);
    }
    arguments.extend(own);
    arguments.extend(["--rules", &rules]);
    let said = project.hook(&arguments, stdin);
    let decision = said.decision();
    let expected = match &case["expect"] {
        Value::Array(any) => any.clone(),
        one => vec![one.clone()],
    };
    let fits = |expected: &Value| match expected.as_str() {
        Some("allow") => decision == "allow" || decision == "silent",
        other => other == Some(&decision),
    };
    if !expected.iter().any(fits) {
        return Err(format!("expected {}, got {decision}: {said:?}", case["expect"]));
    }
    match case["lines"].as_object() {
        Some(lines) if decision == "deny" || decision == "ask" => {
            lines.iter().try_for_each(|(rule, lines)| found_lines(&said, rule, lines))
        }
        _ => Ok(()),
    }
}

/// The lines that the reason names for a rule: `ID — line 3: TEXT; line 5: TEXT`, `ID — the file: ...`, or the whole
/// file where no line is named. At most five are shown.
fn found_lines(said: &Said, rule: &str, expected: &Value) -> Result<(), String> {
    let reason = said.reason();
    let starts = |line: &&str| {
        let line = line.trim_start_matches("- ").trim_start_matches("also for a person: ");
        line.strip_prefix(rule).is_some_and(|rest| rest.starts_with([' ', ':']))
    };
    let mut lines: Vec<u64> = Vec::new();
    for line in reason.lines().filter(starts) {
        let named = line.split("line ").skip(1).filter_map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let ends = rest[digits.len()..].starts_with([':', ' ', ',', '.']) || rest.len() == digits.len();
            ends.then(|| digits.parse::<u64>().ok()).flatten()
        });
        let before = lines.len();
        lines.extend(named);
        if lines.len() == before {
            lines.push(0);
        }
    }
    lines.sort_unstable();
    lines.dedup();
    let mut expected: Vec<u64> = expected.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    expected.sort_unstable();
    expected.truncate(5);
    if lines == expected {
        Ok(())
    } else {
        Err(format!("{rule}: expected lines {expected:?}, got {lines:?}: {reason}"))
    }
}

/// Writes a file of a case: text, bytes, a link, or generated text.
fn lay(path: &Path, content: &Value, place: &dyn Fn(&str) -> String) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    match content {
        Value::String(text) => std::fs::write(path, place(text)).unwrap(),
        Value::Object(object) if object.contains_key("symlink") => {
            std::os::unix::fs::symlink(place(object["symlink"].as_str().unwrap()), path).unwrap();
        }
        Value::Object(object) if object.contains_key("b64") => {
            std::fs::write(path, base64(object["b64"].as_str().unwrap())).unwrap();
        }
        other => std::fs::write(path, generated(other)).unwrap(),
    }
}

/// A payload with its placeholders filled in and its generated texts made.
fn filled(value: &Value, place: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => json!(place(text)),
        Value::Array(items) => items.iter().map(|item| filled(item, place)).collect(),
        Value::Object(object) if object.contains_key("$gen") => json!(generated(value)),
        Value::Object(object) => object.iter().map(|(key, item)| (key.clone(), filled(item, place))).collect(),
        other => other.clone(),
    }
}

fn generated(value: &Value) -> String {
    let count = value["n"].as_u64().unwrap();
    let last = value["last"].as_str();
    match value["$gen"].as_str().unwrap() {
        "lines" => {
            let format = value["fmt"].as_str().unwrap();
            let mut text: String = (0..count).map(|index| format.replace("{i}", &index.to_string()) + "\n").collect();
            if let Some(last) = last {
                text.extend([last, "\n"]);
            }
            text
        }
        "repeat" => {
            let piece = value["s"].as_str().unwrap();
            piece.repeat(usize::try_from(count).unwrap()) + last.unwrap_or_default()
        }
        other => panic!("unknown generator {other}"),
    }
}

fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0u32;
    let mut held = 0;
    let mut bytes = Vec::new();
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let digit = ALPHABET.iter().position(|known| *known == byte).unwrap();
        bits = bits << 6 | u32::try_from(digit).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}
