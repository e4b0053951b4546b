//! Exact answers, for each agent and event.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use agents::{
    Answer, AskUnattended, Decision, Dialect, EventKind, Head, Permission, PermissionMode, RenderOptions, render,
};
use serde_json::Value;

const KINDS: [EventKind; 12] = [
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::PostToolUseFailure,
    EventKind::UserPromptSubmit,
    EventKind::SessionStart,
    EventKind::SessionEnd,
    EventKind::Stop,
    EventKind::SubagentStop,
    EventKind::PreCompact,
    EventKind::Notification,
    EventKind::PermissionRequest,
    EventKind::Other,
];

fn head(dialect: Dialect, kind: EventKind) -> Head<'static> {
    Head { dialect, kind, name: kind.name(), mode: PermissionMode::Default }
}

fn decision(permission: Permission, reason: &str, context: &[&str]) -> Decision {
    let context = context.iter().map(ToString::to_string).collect();
    Decision { permission, reason: reason.into(), context, ..Decision::silent() }
}

#[test]
fn answers_are_exact() {
    use Dialect::{Claude, Codex};
    use EventKind::*;
    use Permission::{Allow, Ask, Deny, Silent};
    let approve = RenderOptions { approve: true, ..RenderOptions::default() };
    let table: &[(Dialect, EventKind, Permission, &[&str], &str)] = &[
        (Claude, PreToolUse, Silent, &[], ""),
        (
            Claude,
            PreToolUse,
            Deny,
            &[],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"wäh"}}"#,
        ),
        (
            Claude,
            PreToolUse,
            Ask,
            &[],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"wäh"}}"#,
        ),
        (
            Claude,
            PreToolUse,
            Allow,
            &[],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"ruleline: no rule objects"}}"#,
        ),
        (
            Claude,
            PreToolUse,
            Deny,
            &["w1", "w2"],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"wäh","additionalContext":"w1\nw2"}}"#,
        ),
        (
            Claude,
            PreToolUse,
            Silent,
            &["w1"],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"w1"}}"#,
        ),
        (Claude, PermissionRequest, Silent, &["w1"], ""),
        (
            Claude,
            PermissionRequest,
            Deny,
            &["w1"],
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"wäh\nw1"}}}"#,
        ),
        (Claude, PermissionRequest, Ask, &[], r#"{"systemMessage":"wäh"}"#),
        (
            Claude,
            PermissionRequest,
            Allow,
            &[],
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
        ),
        (Claude, PostToolUse, Deny, &[], r#"{"decision":"block","reason":"wäh"}"#),
        (
            Claude,
            PostToolUse,
            Ask,
            &["w1"],
            r#"{"decision":"block","reason":"wäh","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"w1"}}"#,
        ),
        (
            Claude,
            PostToolUse,
            Silent,
            &["w1"],
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"w1"}}"#,
        ),
        (
            Claude,
            PostToolUseFailure,
            Deny,
            &["w1"],
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"wäh\nw1"}}"#,
        ),
        (Claude, UserPromptSubmit, Deny, &[], r#"{"decision":"block","reason":"wäh"}"#),
        (
            Claude,
            UserPromptSubmit,
            Ask,
            &[],
            r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"wäh"}}"#,
        ),
        (
            Claude,
            SessionStart,
            Silent,
            &["w1"],
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"w1"}}"#,
        ),
        (Claude, SessionEnd, Deny, &["w1"], ""),
        (Claude, Stop, Deny, &[], r#"{"decision":"block","reason":"wäh"}"#),
        (Claude, Stop, Silent, &[], ""),
        (Claude, SubagentStop, Deny, &[], r#"{"decision":"block","reason":"wäh"}"#),
        (Claude, PreCompact, Deny, &["w1"], ""),
        (Claude, Other, Deny, &["w1"], ""),
        (Codex, PreToolUse, Silent, &[], ""),
        (Codex, PreToolUse, Allow, &[], ""),
        (
            Codex,
            PreToolUse,
            Deny,
            &[],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"wäh"}}"#,
        ),
        (
            Codex,
            PreToolUse,
            Deny,
            &["w1"],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"wäh\nw1"}}"#,
        ),
        (
            Codex,
            PreToolUse,
            Ask,
            &[],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"A person must confirm this (Codex hooks cannot ask; permission mode default). wäh"}}"#,
        ),
        (
            Codex,
            PreToolUse,
            Silent,
            &["w1"],
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"w1"}}"#,
        ),
        (
            Codex,
            PermissionRequest,
            Deny,
            &[],
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"wäh"}}}"#,
        ),
        (Codex, PermissionRequest, Allow, &[], ""),
        (
            Codex,
            PostToolUse,
            Deny,
            &["w1"],
            r#"{"decision":"block","reason":"wäh","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"w1"}}"#,
        ),
        (Codex, PostToolUseFailure, Deny, &[], ""),
        (Codex, UserPromptSubmit, Deny, &[], r#"{"decision":"block","reason":"wäh"}"#),
        (
            Codex,
            SessionStart,
            Silent,
            &["w1"],
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"w1"}}"#,
        ),
        (Codex, SessionEnd, Deny, &["w1"], ""),
        (Codex, Stop, Deny, &["w1"], r#"{"decision":"block","reason":"wäh\nw1"}"#),
        (Codex, Stop, Silent, &["w1"], ""),
        (Codex, SubagentStop, Ask, &[], r#"{"decision":"block","reason":"wäh"}"#),
    ];
    for (dialect, kind, permission, context, wanted) in table {
        let answer = render(&head(*dialect, *kind), &decision(*permission, "wäh", context), approve);
        let wanted = (!wanted.is_empty()).then(|| wanted.to_string());
        assert_eq!(answer, Answer { stdout: wanted, stderr: None, exit: 0 }, "{dialect:?} {kind:?} {permission:?}");
    }
}

#[test]
fn s17_an_ask_that_nobody_can_answer_is_a_deny() {
    type Case = (Dialect, PermissionMode, AskUnattended, Option<bool>, &'static str, &'static str);
    use Dialect::{Claude, Codex};
    let ask_all_the_same = AskUnattended::Ask;
    let table: &[Case] = &[
        (Claude, PermissionMode::Default, AskUnattended::Deny, None, "ask", "why"),
        (Claude, PermissionMode::Unknown, AskUnattended::Deny, None, "ask", "why"),
        (Claude, PermissionMode::BypassPermissions, AskUnattended::Deny, None, "deny", "bypassPermissions"),
        (Claude, PermissionMode::Auto, AskUnattended::Deny, None, "deny", "auto"),
        (Claude, PermissionMode::DontAsk, AskUnattended::Deny, None, "deny", "dontAsk"),
        (Claude, PermissionMode::DontAsk, ask_all_the_same, None, "ask", "why"),
        (Claude, PermissionMode::Default, ask_all_the_same, Some(false), "deny", "default"),
        (Claude, PermissionMode::Auto, AskUnattended::Deny, Some(true), "ask", "why"),
        (Codex, PermissionMode::Default, ask_all_the_same, None, "deny", "Codex hooks cannot ask"),
        (Codex, PermissionMode::BypassPermissions, AskUnattended::Deny, None, "deny", "bypassPermissions"),
        (Codex, PermissionMode::Default, AskUnattended::Deny, Some(true), "ask", "why"),
    ];
    for (dialect, mode, ask_unattended, attended, wanted, part) in table {
        let options = RenderOptions { ask_unattended: *ask_unattended, attended: *attended, approve: false };
        let head = Head { mode: *mode, ..head(*dialect, EventKind::PreToolUse) };
        let line = render(&head, &Decision::ask("why"), options).stdout.unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        let output = &line["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], *wanted, "{dialect:?} {mode:?}");
        let reason = output["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.contains(part) && reason.contains("why"), "{reason}");
        assert_eq!(reason.contains("A person must confirm"), *wanted == "deny", "{reason}");
    }
    let head = Head { mode: PermissionMode::Auto, ..head(Dialect::Claude, EventKind::PermissionRequest) };
    let line = render(&head, &Decision::ask("why"), RenderOptions::default()).stdout.unwrap();
    assert!(line.contains(r#""behavior":"deny""#));
}

#[test]
fn reasons_are_bounded_and_never_empty() {
    for dialect in Dialect::ALL {
        for reason in ["", " \n ", &"ä".repeat(100_000), "a\u{0}\u{1b}[31m\u{7f}\"\\\n"] {
            for permission in [Permission::Deny, Permission::Ask] {
                for kind in KINDS {
                    let decision = decision(permission, reason, &[&"c".repeat(100_000)]);
                    let Some(line) = render(&head(dialect, kind), &decision, RenderOptions::default()).stdout else {
                        continue;
                    };
                    assert!(!line.contains('\n') && line.len() < 40_000, "{kind:?} {}", line.len());
                    let line: Value = serde_json::from_str(&line).unwrap();
                    let specific = &line["hookSpecificOutput"];
                    let said = [
                        &line["reason"],
                        &line["systemMessage"],
                        &specific["permissionDecisionReason"],
                        &specific["decision"]["message"],
                        &specific["additionalContext"],
                    ];
                    assert!(said.iter().any(|text| text.as_str().is_some_and(|text| !text.trim().is_empty())));
                    assert!(said.iter().all(|text| text.as_str().is_none_or(|text| text.chars().count() <= 8_000)));
                }
            }
        }
    }
}

#[test]
fn s16_a_usage_error_without_an_agent_blocks_everywhere() {
    let answer = Answer::usage_error("unknown agent `x`");
    assert_eq!((answer.stdout, answer.exit), (None, 2));
    assert_eq!(answer.stderr.as_deref(), Some("ruleline hook: unknown agent `x`"));
    assert!(!Answer::usage_error("").stderr.unwrap().is_empty());
}

/// The parts of JSON Schema that Codex's own schemas use.
fn obeys(schema: &Value, root: &Value, value: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        return obeys(root.pointer(&name[1..]).ok_or(name)?, root, value);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        obeys(part, root, value)?;
    }
    let fail = |what: &str| Err(format!("{what}: {value} against {schema}"));
    let typed = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some(other) => return fail(other),
        None => true,
    };
    if !typed {
        return fail("type");
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return fail("const");
    }
    if schema["enum"].as_array().is_some_and(|any| !any.contains(value)) {
        return fail("enum");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap_or_default()).is_none() {
            return fail("required");
        }
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(schema) => obeys(schema, root, value)?,
            None if schema["additionalProperties"] == false => return Err(format!("{name} is not known")),
            None => {}
        }
    }
    Ok(())
}

#[test]
fn codex_answers_obey_its_own_schemas() {
    let schemas: Value = serde_json::from_str(include_str!("codex-schema.json")).unwrap();
    let strict = obeys(&schemas["stop.command.output"], &schemas["stop.command.output"], &serde_json::json!({"x": 1}));
    assert!(strict.is_err());
    let mut checked = 0;
    for kind in KINDS {
        let name: String = kind.name().chars().fold(String::new(), |mut name, letter| {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
            name
        });
        let schema = &schemas[format!("{name}.command.output")];
        for permission in [Permission::Silent, Permission::Allow, Permission::Ask, Permission::Deny] {
            for context in [&[][..], &["w"]] {
                for attended in [None, Some(true)] {
                    let options = RenderOptions { attended, approve: true, ..RenderOptions::default() };
                    let answer = render(&head(Dialect::Codex, kind), &decision(permission, "why", context), options);
                    let Some(line) = answer.stdout else { continue };
                    assert!(schema.is_object(), "an answer to {kind:?}, which takes none");
                    obeys(schema, schema, &serde_json::from_str(&line).unwrap()).unwrap();
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 20);
}

#[test]
fn an_allow_that_somebody_spoke_is_passed_on_with_its_reason() {
    let spoken = Decision { explicit: true, ..decision(Permission::Allow, "why", &[]) };
    let answer = |dialect, kind| render(&head(dialect, kind), &spoken, RenderOptions::default()).stdout;
    let expected = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"why"}}"#;
    assert_eq!(answer(Dialect::Claude, EventKind::PreToolUse).as_deref(), Some(expected));
    assert_eq!(answer(Dialect::Codex, EventKind::PreToolUse), None, "it has no such answer");
}

#[test]
fn notices_reach_the_person_where_the_agent_has_a_place() {
    let notices = vec!["n1".into(), " ".into(), "n2".into()];
    let noticed = Decision { notices, ..decision(Permission::Deny, "why", &["c"]) };
    for (dialect, kind, expected) in [
        (
            Dialect::Claude,
            EventKind::PreToolUse,
            r#"{"systemMessage":"n1\nn2","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why","additionalContext":"c"}}"#,
        ),
        (
            Dialect::Codex,
            EventKind::PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why\nc\nn1\nn2"}}"#,
        ),
        (Dialect::Claude, EventKind::SessionEnd, r#"{"systemMessage":"n1\nn2"}"#),
    ] {
        let answer = render(&head(dialect, kind), &noticed, RenderOptions::default());
        assert_eq!(answer.stdout.as_deref(), Some(expected), "{dialect:?} {kind:?}");
    }
}
