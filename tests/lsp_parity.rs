//! The editor and the hook say the same of one edit: the same rules, at the same lines, as strictly.
//!
//! Generated edits; the editor's buffer is the text that the agent would write, measured against the same file on disk.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/edits.rs"]
mod edits;
#[path = "support/lsp.rs"]
mod lsp;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "support/place.rs"]
mod place;

use std::collections::BTreeMap;

use lsp::Client;
use place::Place;
use serde_json::{Value, json};

/// What is said of one edit: how strict it is as a whole, and for each rule where it finds something.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    strictness: u64,
    findings: BTreeMap<String, Vec<u64>>,
}

const NOTHING: u64 = 0;
const WARN: u64 = 1;
const ASK: u64 = 2;
const DENY: u64 = 3;

/// `- ID — line 3: TEXT; the file: TEXT (and 2 more). WHY` for each rule that found something; what could not be checked
/// has no place.
fn said_by_hook(stdout: &[u8]) -> (Said, usize) {
    if stdout.is_empty() {
        return (Said { strictness: NOTHING, findings: BTreeMap::new() }, 0);
    }
    let answer: Value = serde_json::from_slice(stdout).unwrap();
    let specific = &answer["hookSpecificOutput"];
    let strictness = match specific["permissionDecision"].as_str() {
        Some("deny") => DENY,
        Some("ask") => ASK,
        _ => WARN,
    };
    let reason = specific["permissionDecisionReason"].as_str().unwrap_or_default();
    let context = specific["additionalContext"].as_str().unwrap_or_default();
    let mut findings: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut hidden = 0;
    for line in reason.lines().chain(context.lines()) {
        let item = line.trim_start_matches("- ").trim_start_matches("also for a person: ");
        let Some((id, places)) = item.split_once(" — ") else { continue };
        if id.contains(' ') || id.contains(':') {
            continue;
        }
        hidden += usize::from(places.contains(" more)"));
        let lines = findings.entry(id.to_owned()).or_default();
        for place in places.split("; ") {
            let place = place.split(':').next().unwrap_or_default();
            match place.strip_prefix("line ").and_then(|number| number.parse().ok()) {
                Some(number) => lines.push(number),
                None if place == "the file" => lines.push(1),
                None => {}
            }
        }
        lines.sort_unstable();
    }
    (Said { strictness, findings }, hidden)
}

fn said_by_editor(diagnostics: &[Value]) -> Said {
    let mut findings: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut strictness = NOTHING;
    for diagnostic in diagnostics {
        strictness = strictness.max(4 - diagnostic["severity"].as_u64().unwrap());
        let message = diagnostic["message"].as_str().unwrap();
        let code = diagnostic["code"].as_str().unwrap();
        let placeless = ["cannot be checked", "any change of this file"].iter().any(|words| message.contains(words));
        if code != "instruction-check" && !placeless {
            findings
                .entry(code.to_owned())
                .or_default()
                .push(diagnostic["range"]["start"]["line"].as_u64().unwrap() + 1);
        }
    }
    for lines in findings.values_mut() {
        lines.sort_unstable();
    }
    Said { strictness, findings }
}

#[test]
fn the_editor_and_the_hook_say_the_same() {
    let place = Place::with_rulebook(edits::RULEBOOK);
    let mut client = Client::start(&json!({
        "processId": null,
        "rootUri": lsp::uri(&place.root),
        "capabilities": {},
        "initializationOptions": {"baseline": "disk", "hints": false},
    }));
    let mut kinds = [0; 4];
    for (version, edit) in (1..).zip(edits::edits(7, 400)) {
        // A buffer that is what the file was holds no edit; an agent's Write of it is one.
        let Some(after) = edit.written().filter(|after| edit.before.as_deref() != Some(*after)) else { continue };
        place.set(edit.file, edit.before.as_deref());
        let (hook, hidden) = said_by_hook(&place.hook(edit.agent, &edit.payload(&place.root), &["--no-server"]));
        let uri = lsp::uri(&place.root.join(edit.file));
        client.open(&uri, version, after);
        let editor = said_by_editor(&client.diagnostics(&uri, version));
        client.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
        kinds[usize::try_from(hook.strictness).unwrap()] += 1;
        assert_eq!(editor.strictness, hook.strictness, "edit {version}: {edit:?}\n{editor:?}\n{hook:?}");
        if hidden == 0 {
            assert_eq!(editor.findings, hook.findings, "edit {version}: {edit:?}");
        }
    }
    assert!(kinds.iter().all(|kind| *kind > 2), "every kind of answer occurred: {kinds:?}");
}
