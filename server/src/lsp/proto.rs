//! Our types to the protocol's and back. Byte spans become positions here, in the agreed encoding.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use syntax::Span;
use tower_lsp::lsp_types::{
    self as lsp, CodeAction, CodeActionKind, CodeActionOrCommand, CodeDescription, DiagnosticRelatedInformation,
    DiagnosticSeverity, Location, NumberOrString, TextDocumentContentChangeEvent, Url,
};

use crate::features::actions::{Action, Command, Does};
use crate::features::allowance;
use crate::features::decisions::{self, Decision, Found, Standing};
use crate::features::diagnostics::{Diagnostic, Report, RulePlace, Severity};
use crate::features::hooks::{self, Offer};
use crate::lsp::uri;
use crate::session::client::Profile;
use crate::session::document::Edit;
use crate::session::refusals;
use crate::text::{Encoding, Position, Text};

/// Who says it, in every diagnostic.
pub const SOURCE: &str = "ruleline";
/// Opens the rulebook at a rule.
pub const OPEN_RULE: &str = "ruleline.openRule";
/// Says why a rule speaks.
pub const EXPLAIN: &str = "ruleline.explain";
/// Reads everything again.
pub const RELOAD: &str = "ruleline.reload";
/// Gives the state in numbers.
pub const STATUS: &str = "ruleline.status";
/// Shows every file of a root's hooks.
pub const REVIEW_HOOKS: &str = "ruleline.reviewHooks";
/// Trusts what a review showed.
pub const TRUST_HOOKS: &str = "ruleline.trustHooks";
/// Takes trust back.
pub const UNTRUST_HOOKS: &str = "ruleline.untrustHooks";
/// Gives what agents were told.
pub const DECISIONS: &str = "ruleline.decisions";
/// Shows what an agent was refused.
pub const REVIEW_REFUSAL: &str = "ruleline.reviewRefusal";
/// Allows it once.
pub const ALLOW_ONCE: &str = "ruleline.allowOnce";
/// Shows what a rule finds in the workspace.
pub const SHOW_FINDINGS: &str = "ruleline.showFindings";
/// The commands that `workspace/executeCommand` knows.
pub const COMMANDS: [&str; 11] = [
    OPEN_RULE,
    EXPLAIN,
    RELOAD,
    STATUS,
    REVIEW_HOOKS,
    TRUST_HOOKS,
    UNTRUST_HOOKS,
    DECISIONS,
    REVIEW_REFUSAL,
    ALLOW_ONCE,
    SHOW_FINDINGS,
];

/// How many decisions a client gets that does not say.
const LIMIT: usize = 200;

/// A position as the client counts.
pub fn from_position(position: lsp::Position) -> Position {
    Position { line: position.line, column: position.character }
}

/// A span of a text as the client counts.
pub fn to_range(text: &Text, span: &Span, encoding: Encoding) -> lsp::Range {
    let at = |offset| {
        let position = text.position(offset, encoding);
        lsp::Position::new(position.line, position.column)
    };
    lsp::Range::new(at(span.start), at(span.end))
}

/// One change of a document.
pub fn from_change(change: TextDocumentContentChangeEvent) -> Edit {
    let range = change.range.map(|range| (from_position(range.start), from_position(range.end)));
    Edit { range, text: change.text }
}

/// A report's diagnostics, with what the client can show.
pub fn to_diagnostics(report: &Report, profile: &Profile) -> Vec<lsp::Diagnostic> {
    report.diagnostics.iter().map(|diagnostic| to_diagnostic(&report.text, diagnostic, profile)).collect()
}

fn to_diagnostic(text: &Text, diagnostic: &Diagnostic, profile: &Profile) -> lsp::Diagnostic {
    let rule = diagnostic.rule.as_ref().and_then(|rule| Some((rule, uri::from_path(&rule.path)?)));
    let related = rule.as_ref().filter(|_| profile.relates).map(|(rule, book)| {
        vec![DiagnosticRelatedInformation {
            location: Location::new(book.clone(), to_range(&rule.text, &rule.span, profile.encoding)),
            message: format!("rule {}", crate::features::actions::plain_id(&rule.id)),
        }]
    });
    lsp::Diagnostic {
        range: to_range(text, &diagnostic.span, profile.encoding),
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Information => DiagnosticSeverity::INFORMATION,
            Severity::Hint => DiagnosticSeverity::HINT,
        }),
        code: Some(NumberOrString::String(diagnostic.code.clone())),
        code_description: rule
            .as_ref()
            .filter(|_| profile.links_codes)
            .map(|(rule, book)| CodeDescription { href: line_link(book, rule) }),
        source: Some(SOURCE.to_owned()),
        message: diagnostic.message.clone(),
        related_information: related,
        tags: None,
        data: rule.filter(|_| profile.keeps_data).map(|(rule, book)| json!({"rulebook": book, "rule": rule.id})),
    }
}

/// The rulebook with the line of the rule, as editors understand it.
fn line_link(book: &Url, rule: &RulePlace) -> Url {
    let mut link = book.clone();
    link.set_fragment(Some(&format!("L{}", rule.text.line_number(rule.span.start))));
    link
}

/// An action as the client offers it; `document` is the raw URI of the document.
pub fn to_action(action: &Action, report: &Report, document: &str, profile: &Profile) -> Option<CodeActionOrCommand> {
    let diagnostic = report.diagnostics.get(action.diagnostic)?;
    let offered = CodeAction {
        title: action.title.clone(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![to_diagnostic(&report.text, diagnostic, profile)]),
        ..CodeAction::default()
    };
    Some(CodeActionOrCommand::CodeAction(match &action.does {
        Does::Run(command) => {
            let (command, arguments) = to_command(command, document)?;
            let (title, command) = (action.title.clone(), command.to_owned());
            CodeAction { command: Some(lsp::Command { title, command, arguments: Some(vec![arguments]) }), ..offered }
        }
        Does::Write(text) => {
            let range = to_range(&report.text, &diagnostic.span, profile.encoding);
            let edits = vec![lsp::TextEdit { range, new_text: text.clone() }];
            let changes = Some([(Url::parse(document).ok()?, edits)].into());
            let edit = Some(lsp::WorkspaceEdit { changes, ..lsp::WorkspaceEdit::default() });
            CodeAction { edit, is_preferred: Some(true), ..offered }
        }
    }))
}

/// What can be done about hooks, as lenses over the first line.
pub fn to_lenses(offers: &[Offer]) -> Vec<lsp::CodeLens> {
    let lens =
        |offer: &Offer| lsp::CodeLens { range: lsp::Range::default(), command: to_hook_command(offer), data: None };
    offers.iter().map(lens).collect()
}

/// The same as actions.
pub fn to_hook_actions(offers: &[Offer]) -> Vec<CodeActionOrCommand> {
    let action = |offer: &Offer| {
        Some(CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("Hooks: {}", offer.title),
            kind: Some(CodeActionKind::QUICKFIX),
            command: Some(to_hook_command(offer)?),
            ..CodeAction::default()
        }))
    };
    offers.iter().filter_map(action).collect()
}

/// What can be done about the refusals that touch a range, each decision once.
pub fn to_refusal_actions(
    report: &Report,
    from: lsp::Position,
    to: lsp::Position,
    profile: &Profile,
) -> Vec<CodeActionOrCommand> {
    let at = |position| report.text.offset(from_position(position), profile.encoding).at;
    let (from, to) = (at(from), at(to));
    let mut offered: Vec<&str> = Vec::new();
    let mut actions = Vec::new();
    for refused in &report.refused {
        let Some(diagnostic) = report.diagnostics.get(refused.diagnostic) else { continue };
        let touches = diagnostic.span.start <= to && diagnostic.span.end >= from;
        if !touches || offered.contains(&refused.decision.as_str()) {
            continue;
        }
        offered.push(&refused.decision);
        let allow = if refused.reviewable { " and allow it once" } else { "" };
        let title = format!("Review this refusal{allow}");
        let command = command(&title, REVIEW_REFUSAL, json!({"id": refused.decision}));
        let diagnostic = to_diagnostic(&report.text, diagnostic, profile);
        actions.push(quick_fix(title, command, Some(vec![diagnostic])));
    }
    actions
}

/// What can be allowed after a review, as lenses over the first line.
pub fn to_allow_lenses(offers: &[allowance::Offer]) -> Vec<lsp::CodeLens> {
    let lens = |offer: &allowance::Offer| lsp::CodeLens {
        range: lsp::Range::default(),
        command: Some(to_allow_command(offer)),
        data: None,
    };
    offers.iter().map(lens).collect()
}

/// The same as actions.
pub fn to_allow_actions(offers: &[allowance::Offer]) -> Vec<CodeActionOrCommand> {
    offers.iter().map(|offer| quick_fix(offer.title.clone(), to_allow_command(offer), None)).collect()
}

fn to_allow_command(offer: &allowance::Offer) -> lsp::Command {
    command(&offer.title, ALLOW_ONCE, json!({"id": offer.refusal, "token": offer.token}))
}

fn command(title: &str, command: &str, argument: Value) -> lsp::Command {
    lsp::Command { title: title.to_owned(), command: command.to_owned(), arguments: Some(vec![argument]) }
}

fn quick_fix(title: String, command: lsp::Command, diagnostics: Option<Vec<lsp::Diagnostic>>) -> CodeActionOrCommand {
    let kind = Some(CodeActionKind::QUICKFIX);
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind,
        diagnostics,
        command: Some(command),
        ..CodeAction::default()
    })
}

/// The command about a refusal that a client sends back.
///
/// # Errors
/// Which argument is missing or wrong, in one line.
pub fn from_refusal_command(name: &str, arguments: &[Value]) -> Result<refusals::Command, String> {
    let given = arguments.first().unwrap_or(&Value::Null);
    let text = |key: &str| given.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = text("id").ok_or(format!("{name}: no text \"id\" in its argument"))?;
    Ok(match name {
        ALLOW_ONCE => refusals::Command::Allow { id, token: text("token") },
        _ => refusals::Command::Review { id },
    })
}

/// How many decisions a client asks for.
pub fn from_limit(arguments: &[Value]) -> usize {
    let limit = arguments.first().and_then(|given| given.get("limit")).and_then(Value::as_u64);
    limit.map_or(LIMIT, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// A decision as a client gets it.
pub fn to_decision(decision: &Decision) -> Value {
    let finding = |found: &Found| {
        json!({
            "rule": found.rule,
            "effect": found.effect,
            "path": found.path,
            "line": found.line,
            "rulebook": found.rulebook,
        })
    };
    let exception = |(rule, standing): &(String, Standing)| json!({"rule": rule, "state": standing.word()});
    json!({
        "id": decision.id,
        "time": decision.time,
        "agent": decision.agent,
        "session": decision.session,
        "event": decision.event,
        "tool": decision.tool,
        "decision": decisions::word(decision.outcome),
        "root": decision.root,
        "path": decision.path.as_deref().map(decisions::path),
        "uri": decision.path.as_deref().and_then(uri::from_path),
        "reason": decision.reason,
        "findings": decision.findings.iter().map(finding).collect::<Vec<_>>(),
        "reviewable": decision.reviewable,
        "allowed": decision.exceptions.iter().map(exception).collect::<Vec<_>>(),
        "used": decision.used,
    })
}

fn to_hook_command(offer: &Offer) -> Option<lsp::Command> {
    let root = uri::from_path(offer.command.root())?;
    let (command, arguments) = match &offer.command {
        hooks::Command::Review { .. } => (REVIEW_HOOKS, json!({"root": root})),
        hooks::Command::Trust { digest, token, .. } => {
            (TRUST_HOOKS, json!({"root": root, "digest": digest, "token": token}))
        }
        hooks::Command::Untrust { .. } => (UNTRUST_HOOKS, json!({"root": root})),
    };
    Some(lsp::Command { title: offer.title.clone(), command: command.to_owned(), arguments: Some(vec![arguments]) })
}

/// The command about hooks that a client sends back.
///
/// # Errors
/// Which argument is missing or wrong, in one line.
pub fn from_hook_command(name: &str, arguments: &[Value]) -> Result<hooks::Command, String> {
    let given = arguments.first().unwrap_or(&Value::Null);
    let text = |key: &str| given.get(key).and_then(Value::as_str);
    let root = text("root").ok_or(format!("{name}: no text \"root\" in its argument"))?;
    let root = uri::text_to_path(root).ok_or(format!("{name}: \"root\" names no folder"))?;
    Ok(match name {
        TRUST_HOOKS => hooks::Command::Trust {
            root,
            digest: text("digest").unwrap_or_default().to_owned(),
            token: text("token").map(str::to_owned),
        },
        UNTRUST_HOOKS => hooks::Command::Untrust { root },
        _ => hooks::Command::Review { root },
    })
}

fn to_command(command: &Command, document: &str) -> Option<(&'static str, Value)> {
    Some(match command {
        Command::OpenRule { path, id } => (OPEN_RULE, json!({"rulebook": uri::from_path(path)?, "rule": id})),
        Command::Explain { path, id, line } => {
            let rulebook = uri::from_path(path)?;
            (EXPLAIN, json!({"uri": document, "rulebook": rulebook, "rule": id, "line": line}))
        }
    })
}

/// The command that a client sends back, and the URI of the document it is about.
///
/// # Errors
/// Which argument is missing or wrong, in one line.
pub fn from_command(name: &str, arguments: &[Value]) -> Result<(Command, Option<Url>), String> {
    let given = arguments.first().unwrap_or(&Value::Null);
    let text =
        |key: &str| given.get(key).and_then(Value::as_str).ok_or(format!("{name}: no text \"{key}\" in its argument"));
    let rulebook = text("rulebook")?;
    let path: Arc<Path> = uri::text_to_path(rulebook).ok_or(format!("{name}: \"rulebook\" names no file"))?.into();
    let id = text("rule")?.to_owned();
    if name == OPEN_RULE {
        return Ok((Command::OpenRule { path, id }, None));
    }
    let document = Url::parse(text("uri")?).map_err(|error| format!("{name}: \"uri\" is wrong ({error})"))?;
    let line = given.get("line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok()).unwrap_or(1);
    Ok((Command::Explain { path, id, line }, Some(document)))
}
