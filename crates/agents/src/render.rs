//! A [`Decision`] to the exact bytes an agent reads.
//!
//! An answer has only the keys that its agent knows for that event: one more makes Codex drop the whole answer, a
//! missing event name makes Claude Code do so. Nothing to say is an empty stdout. Here no decision is made but one: an
//! ask that nobody can answer becomes a deny.

use std::borrow::Cow;

use serde::Serialize;

use crate::decision::{Decision, Permission};
use crate::event::{Dialect, EventKind, Head};

/// The most characters of a reason, and of the context.
const MAX_TEXT: usize = 8_000;

/// What becomes of an ask in a mode in which nobody answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AskUnattended {
    /// It is refused, saying that a person must confirm.
    #[default]
    Deny,
    /// It is asked all the same, where the agent has an ask.
    Ask,
}

/// What the user's settings say of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RenderOptions {
    /// See [`AskUnattended`].
    pub ask_unattended: AskUnattended,
    /// Whether a person is at this agent; none leaves it to the agent and its mode.
    pub attended: Option<bool>,
    /// An allow is said aloud, where the agent has one; else it is as nothing to say.
    pub approve: bool,
}

/// What the hook's process gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// One line of JSON without its line end; none prints nothing.
    pub stdout: Option<String>,
    /// One line for the person, without its line end.
    pub stderr: Option<String>,
    /// The exit status.
    pub exit: u8,
}

impl Answer {
    /// Nothing to say: every agent goes on as if there were no hook.
    pub fn silent() -> Answer {
        Answer { stdout: None, stderr: None, exit: 0 }
    }

    /// A usage error where no agent is known to answer in its own words: blocks in every agent (S16).
    pub fn usage_error(what: &str) -> Answer {
        let what = what.trim();
        let what = if what.is_empty() { "wrong usage" } else { what };
        Answer { stdout: None, stderr: Some(format!("ruleline hook: {what}")), exit: 2 }
    }
}

/// Renders a decision on an event.
pub fn render(head: &Head, decision: &Decision, options: RenderOptions) -> Answer {
    let words = Words::of(head, decision, options);
    let line = match head.dialect {
        Dialect::Claude => claude(head, words),
        Dialect::Codex => codex(head, words),
    };
    let stdout = (line != Line::default())
        .then(|| serde_json::to_string(&line).expect("texts and objects of texts always serialise"));
    Answer { stdout, ..Answer::silent() }
}

/// What the agent is told of a decision: where nobody can answer an ask, a deny.
pub fn answered(head: &Head, decision: &Decision, options: RenderOptions) -> Permission {
    match Words::of(head, decision, options).permission {
        Permission::Silent => decision.permission,
        said => said,
    }
}

/// Whether the agent reads context with an answer that decides nothing on this event.
pub fn takes_context(head: &Head) -> bool {
    let context = Decision { context: vec!["context".to_owned()], ..Decision::silent() };
    render(head, &context, RenderOptions::default()).stdout.is_some()
}

/// A decision as it will be said: bounded, never without a reason, an ask only where somebody can answer it.
struct Words<'a> {
    permission: Permission,
    reason: Cow<'a, str>,
    context: Option<String>,
    notices: Option<String>,
}

impl<'a> Words<'a> {
    fn of(head: &Head, decision: &'a Decision, options: RenderOptions) -> Words<'a> {
        // That nothing was found is all there is to say of an allow that nobody spoke.
        let unspoken = decision.permission == Permission::Allow && !decision.explicit;
        let mut reason = bounded(if unspoken { "" } else { &decision.reason });
        if reason.trim().is_empty() {
            reason = match decision.permission {
                Permission::Allow => "ruleline: no rule objects".into(),
                Permission::Deny => "ruleline refused this and gave no reason".into(),
                _ => "ruleline asks about this and gave no reason".into(),
            };
        }
        let (context, notices) = (joined(&decision.context), joined(&decision.notices));
        let mut permission = decision.permission;
        if permission == Permission::Ask && head.kind.decides() && !can_ask(head, options) {
            permission = Permission::Deny;
            reason = bounded(&format!("A person must confirm this ({}). {reason}", why_not(head))).into_owned().into();
        }
        if permission == Permission::Allow && !options.approve && !decision.explicit {
            permission = Permission::Silent;
        }
        Words { permission, reason, context, notices }
    }

    /// The reason with the context behind it, for answers that have no place for context.
    fn reason_and_context(self) -> String {
        match self.context {
            Some(context) => bounded(&format!("{}\n{context}", self.reason)).into_owned(),
            None => self.reason.into_owned(),
        }
    }

    /// The reason of what objects to something that cannot be stopped any more, and the context.
    fn into_context(self) -> Option<String> {
        match self.permission {
            Permission::Deny | Permission::Ask => Some(self.reason_and_context()),
            Permission::Silent | Permission::Allow => self.context,
        }
    }
}

/// S17: Codex runs the tool on an ask, so it is asked there only if the user says that somebody is there.
fn can_ask(head: &Head, options: RenderOptions) -> bool {
    match (options.attended, head.dialect) {
        (Some(attended), _) => attended,
        (None, Dialect::Codex) => false,
        (None, Dialect::Claude) => !head.mode.unattended() || options.ask_unattended == AskUnattended::Ask,
    }
}

/// The texts that are not empty, one below the other.
fn joined(texts: &[String]) -> Option<String> {
    let texts: Vec<&str> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| bounded(&texts.join("\n")).into_owned())
}

fn why_not(head: &Head) -> String {
    let mode = head.mode.name().map(|mode| format!("permission mode {mode}"));
    match (head.dialect, mode) {
        (Dialect::Codex, Some(mode)) => format!("Codex hooks cannot ask; {mode}"),
        (Dialect::Codex, None) => "Codex hooks cannot ask".to_owned(),
        (Dialect::Claude, Some(mode)) => format!("{mode}: nobody is asked"),
        (Dialect::Claude, None) => "nobody is there to ask".to_owned(),
    }
}

fn bounded(text: &str) -> Cow<'_, str> {
    if text.char_indices().nth(MAX_TEXT).is_none() {
        return text.into();
    }
    let note = " ... (cut)";
    let kept: String = text.chars().take(MAX_TEXT - note.len()).collect();
    (kept + note).into()
}

/// The union of what the agents' answers may hold; absent parts are left out, and without any nothing is said.
#[derive(Serialize, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific>,
}

#[derive(Serialize, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Behavior>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
}

#[derive(Serialize, PartialEq)]
struct Behavior {
    behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl Line {
    fn specific(specific: Specific) -> Line {
        Line { hook_specific_output: Some(specific), ..Line::default() }
    }

    fn block(reason: String) -> Line {
        Line { decision: Some("block"), reason: Some(reason), ..Line::default() }
    }

    fn system_message(message: String) -> Line {
        Line { system_message: Some(message), ..Line::default() }
    }

    fn context(head: &Head, context: Option<String>) -> Line {
        let specific = context.map(|context| Specific { additional_context: Some(context), ..specific(head) });
        Line { hook_specific_output: specific, ..Line::default() }
    }

    /// Blocks what has happened already; the context keeps its own place.
    fn block_with_context(head: &Head, words: Words) -> Line {
        let reason = words.reason.into_owned();
        Line { decision: Some("block"), reason: Some(reason), ..Line::context(head, words.context) }
    }
}

fn specific(head: &Head) -> Specific {
    let name = if head.name.is_empty() { head.kind.name() } else { head.name };
    Specific { hook_event_name: name.to_owned(), ..Specific::default() }
}

fn objects(words: &Words) -> bool {
    matches!(words.permission, Permission::Deny | Permission::Ask)
}

/// Every answer of Claude Code may carry a message for the person.
fn claude(head: &Head, mut words: Words) -> Line {
    let notices = words.notices.take();
    let line = claude_decision(head, words);
    let message: Vec<String> = line.system_message.into_iter().chain(notices).collect();
    Line { system_message: (!message.is_empty()).then(|| message.join("\n")), ..line }
}

fn claude_decision(head: &Head, words: Words) -> Line {
    match head.kind {
        EventKind::PreToolUse => {
            let decision = match words.permission {
                Permission::Silent => return Line::context(head, words.context),
                Permission::Allow => "allow",
                Permission::Ask => "ask",
                Permission::Deny => "deny",
            };
            Line::specific(Specific {
                permission_decision: Some(decision),
                permission_decision_reason: Some(words.reason.into_owned()),
                additional_context: words.context,
                ..specific(head)
            })
        }
        EventKind::PermissionRequest => match words.permission {
            Permission::Silent => Line::default(),
            // The person is being asked already; the reason goes beside the question.
            Permission::Ask => Line::system_message(words.reason.into_owned()),
            Permission::Allow => behavior(head, "allow", None),
            Permission::Deny => behavior(head, "deny", Some(words.reason_and_context())),
        },
        EventKind::PostToolUse | EventKind::Stop | EventKind::SubagentStop if objects(&words) => {
            Line::block_with_context(head, words)
        }
        EventKind::UserPromptSubmit if words.permission == Permission::Deny => Line::block_with_context(head, words),
        EventKind::SessionEnd | EventKind::PreCompact | EventKind::Other => Line::default(),
        _ => Line::context(head, words.into_context()),
    }
}

/// What is not one of its known keys for an event voids the whole answer there, so that a message for the person stands in
/// the context.
fn codex(head: &Head, mut words: Words) -> Line {
    words.context = joined(&words.context.into_iter().chain(words.notices.take()).collect::<Vec<_>>());
    match head.kind {
        EventKind::PreToolUse => match words.permission {
            // An allow without changed input is an error entry there.
            Permission::Silent | Permission::Allow => Line::context(head, words.context),
            Permission::Ask => decide(head, "ask", words),
            Permission::Deny => decide(head, "deny", words),
        },
        EventKind::PermissionRequest => match words.permission {
            Permission::Silent | Permission::Allow => Line::default(),
            Permission::Ask => Line::system_message(words.reason.into_owned()),
            Permission::Deny => behavior(head, "deny", Some(words.reason_and_context())),
        },
        EventKind::PostToolUse if objects(&words) => Line::block_with_context(head, words),
        EventKind::Stop | EventKind::SubagentStop if objects(&words) => Line::block(words.reason_and_context()),
        EventKind::UserPromptSubmit if words.permission == Permission::Deny => Line::block_with_context(head, words),
        EventKind::PostToolUse | EventKind::UserPromptSubmit | EventKind::SessionStart => {
            Line::context(head, words.into_context())
        }
        _ => Line::default(),
    }
}

/// Exactly the three keys that Codex takes.
fn decide(head: &Head, decision: &'static str, words: Words) -> Line {
    Line::specific(Specific {
        permission_decision: Some(decision),
        permission_decision_reason: Some(words.reason_and_context()),
        ..specific(head)
    })
}

fn behavior(head: &Head, behavior: &'static str, message: Option<String>) -> Line {
    Line::specific(Specific { decision: Some(Behavior { behavior, message }), ..specific(head) })
}
