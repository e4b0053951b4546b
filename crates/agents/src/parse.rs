//! A payload's bytes to an [`Event`].
//!
//! One pass over the JSON keeps the few fields that are needed and skips the rest. What cannot be read is an error with
//! a reason, never an empty event.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::path::PathBuf;

use memchr::memmem;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::event::{Dialect, Event, EventKind, Head, PermissionMode, ToolCall, ToolResponse};
use crate::json::{self, Fields, Reading, Value};
use crate::tools;

/// The most that is read of one payload, in bytes: 64 MiB.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// Why a payload is not an event, and what could be made out of it for the answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ParseError {
    /// One line.
    pub reason: String,
    /// Who speaks, as named by the caller or guessed; none when neither.
    pub dialect: Option<Dialect>,
    /// What it seems to be about.
    pub kind: EventKind,
    /// The agent's own name of the event; empty when none was found.
    pub name: String,
    /// Who is asked, where that was found.
    pub mode: PermissionMode,
}

impl ParseError {
    /// What an answer needs to know; none when nobody knows who asks ([`crate::Answer::usage_error`] is for that).
    pub fn head(&self) -> Option<Head<'_>> {
        self.dialect.map(|dialect| Head { dialect, kind: self.kind, name: &self.name, mode: self.mode })
    }
}

/// Reads one payload.
///
/// Without a dialect the payload's own fields tell it. `event` is what the event is when the payload does not say, or
/// says something unknown.
///
/// # Errors
/// The bytes are not one JSON object, or nothing in it tells an event, or who speaks.
pub fn parse(dialect: Option<Dialect>, event: Option<&str>, bytes: &[u8]) -> Result<Event, ParseError> {
    read(bytes).map_err(|reason| broken(dialect, event, bytes, reason)).and_then(|mut payload| {
        let guessed = dialect.or_else(|| payload.dialect());
        let name = payload.take_text("hook_event_name");
        let (kind, name) = payload.kind(name, event);
        let Some(dialect) = guessed else {
            let reason = "the payload does not tell which agent it comes from; name it with --agent".to_owned();
            return Err(ParseError { reason, dialect: None, kind, name, mode: PermissionMode::Unknown });
        };
        let mode = payload.take_text("permission_mode");
        let mode = mode.as_deref().map_or(PermissionMode::Unknown, PermissionMode::named);
        if kind == EventKind::Other && name.is_empty() {
            let reason = "the payload names neither an event nor a tool".to_owned();
            return Err(ParseError { reason, dialect: Some(dialect), kind, name, mode });
        }
        let (cwd, cwd_error) = match payload.fields.take(&["cwd"]) {
            Ok(Some(Value::Text(cwd))) => (Some(PathBuf::from(cwd)), None),
            Ok(None | Some(Value::Null)) => (None, None),
            Ok(Some(_)) => (None, Some("`cwd` is not a text".to_owned())),
            Err(reason) => (None, Some(reason)),
        };
        let (tool, call) = payload.call(dialect, kind);
        let call = match (call, cwd_error) {
            (Some(Ok(_)), Some(reason)) => Some(Err(reason)),
            (call, _) => call,
        };
        let stop_active = matches!(payload.fields.take(&["stop_hook_active"]), Ok(Some(Value::Bool(true))));
        Ok(Event {
            dialect,
            kind,
            name,
            session: payload.take_text("session_id"),
            agent: payload.take_text("agent_id"),
            cwd,
            mode,
            tool,
            call_id: payload.take_text("tool_use_id"),
            call,
            response: payload.response,
            source: payload.take_text("source"),
            stop_active,
        })
    })
}

/// The fields that are kept; all others are skipped unread.
const KEPT: [&str; 14] = [
    "hook_event_name",
    "session_id",
    "agent_id",
    "cwd",
    "permission_mode",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "stop_hook_active",
    "prompt_id",
    "turn_id",
    "transcript_path",
    "model",
    "source",
];

/// The field that tells how a call went, and the one that tells that it went wrong.
const RESPONSE: &str = "tool_response";
const ERROR: &str = "error";

struct Payload {
    fields: Fields,
    response: ToolResponse,
}

impl Payload {
    fn take_text(&mut self, name: &str) -> Option<String> {
        match self.fields.take(&[name]) {
            Ok(Some(Value::Text(text))) => Some(text),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> &str {
        let found = self.fields.0.iter().find(|(key, _)| json::same_key(key, name));
        if let Some((_, Value::Text(text))) = found { text } else { "" }
    }

    /// Who speaks, by the fields that only one of them sends.
    fn dialect(&self) -> Option<Dialect> {
        let transcript = self.text("transcript_path");
        let id = self.text("tool_use_id");
        let claude = self.fields.has(&["prompt_id"]) || id.starts_with("toolu_") || transcript.contains(".claude/");
        let codex = self.fields.has(&["turn_id"]) || id.starts_with("call_") || transcript.contains(".codex/");
        if claude {
            Some(Dialect::Claude)
        } else if codex || (self.fields.has(&["model"]) && self.text("tool_name") == "apply_patch") {
            Some(Dialect::Codex)
        } else {
            // Claude Code's protocol is what the others imitate.
            self.fields.has(&["hook_event_name"]).then_some(Dialect::Claude)
        }
    }

    /// The event: as the payload names it, else as the caller does, else by whether a tool has run.
    fn kind(&self, name: Option<String>, event: Option<&str>) -> (EventKind, String) {
        let kind = name.as_deref().map_or(EventKind::Other, EventKind::named);
        if kind != EventKind::Other {
            return (kind, name.unwrap_or_default());
        }
        if let Some(event) = event {
            return (EventKind::named(event), event.to_owned());
        }
        if let Some(name) = name {
            return (kind, name);
        }
        let kind = match (self.fields.has(&["tool_name", "tool_input"]), self.response != ToolResponse::None) {
            (false, _) => EventKind::Other,
            (true, false) => EventKind::PreToolUse,
            (true, true) => EventKind::PostToolUse,
        };
        (kind, kind.name().to_owned())
    }

    fn call(&mut self, dialect: Dialect, kind: EventKind) -> (String, Option<Result<ToolCall, String>>) {
        let name = self.fields.take(&["tool_name"]);
        let input = self.fields.take(&["tool_input"]);
        let tool = match name {
            Ok(Some(Value::Text(tool))) => tool,
            Ok(None | Some(Value::Null)) => String::new(),
            Ok(Some(_)) => return (String::new(), Some(Err("`tool_name` is not a text".to_owned()))),
            Err(reason) => return (String::new(), Some(Err(reason))),
        };
        let call = match input {
            Ok(None) if tool.is_empty() && !kind.decides() => None,
            Ok(input) => Some(tools::read(dialect, &tool, input)),
            Err(reason) => Some(Err(reason)),
        };
        (tool, call)
    }
}

fn read(bytes: &[u8]) -> Result<Payload, String> {
    if bytes.len() > MAX_PAYLOAD {
        return Err(format!("the payload is larger than {} MiB", MAX_PAYLOAD >> 20));
    }
    let text = json::text(bytes)?;
    if text.trim_ascii().is_empty() {
        return Err("the payload is empty".to_owned());
    }
    object(&text)
        .or_else(|error| json::mend(&text).map_or(Err(error), |mended| object(&mended)))
        .map_err(|error| format!("the payload is not a JSON object: {error}"))
}

fn object(text: &str) -> Result<Payload, serde_json::Error> {
    let left = Cell::new(0);
    let mut input = serde_json::Deserializer::from_str(text);
    let payload = TopLevel(Reading::new(&left)).deserialize(&mut input)?;
    input.end()?;
    Ok(payload)
}

struct TopLevel<'a>(Reading<'a>);

impl<'de> DeserializeSeed<'de> for TopLevel<'_> {
    type Value = Payload;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Payload, D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = Payload;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Payload, A::Error> {
        let mut payload = Payload { fields: Fields::default(), response: ToolResponse::None };
        while let Some(key) = map.next_key::<Cow<str>>()? {
            if KEPT.iter().any(|name| json::same_key(&key, name)) {
                payload.fields.0.push((key.into_owned(), map.next_value_seed(self.0)?));
            } else if json::same_key(&key, RESPONSE) {
                payload.response = map.next_value_seed(ResponseSeed)?;
            } else {
                if json::same_key(&key, ERROR) && payload.response == ToolResponse::None {
                    payload.response = ToolResponse::Failed;
                }
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(payload)
    }
}

/// Reads how a call went, and nothing else of what may be large.
struct ResponseSeed;

impl<'de> DeserializeSeed<'de> for ResponseSeed {
    type Value = ToolResponse;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<ToolResponse, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ResponseSeed {
    type Value = ToolResponse;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("the result of a call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolResponse, A::Error> {
        let mut response = ToolResponse::Succeeded;
        while let Some(key) = map.next_key::<Cow<str>>()? {
            if json::same_key(&key, "is_error") {
                let value: Box<RawValue> = map.next_value()?;
                if value.get() == "true" {
                    response = ToolResponse::Failed;
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(response)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ToolResponse, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ToolResponse::Unclear)
    }

    fn visit_str<E>(self, _: &str) -> Result<ToolResponse, E> {
        Ok(ToolResponse::Unclear)
    }

    fn visit_bool<E>(self, _: bool) -> Result<ToolResponse, E> {
        Ok(ToolResponse::Unclear)
    }

    fn visit_i64<E>(self, _: i64) -> Result<ToolResponse, E> {
        Ok(ToolResponse::Unclear)
    }

    fn visit_u64<E>(self, _: u64) -> Result<ToolResponse, E> {
        Ok(ToolResponse::Unclear)
    }

    fn visit_f64<E>(self, _: f64) -> Result<ToolResponse, E> {
        Ok(ToolResponse::Unclear)
    }

    fn visit_unit<E>(self) -> Result<ToolResponse, E> {
        Ok(ToolResponse::Unclear)
    }
}

/// Makes of a payload that does not parse what an answer to it needs.
fn broken(dialect: Option<Dialect>, event: Option<&str>, bytes: &[u8], reason: String) -> ParseError {
    let name = glimpse(bytes, b"\"hook_event_name\"").or(event).unwrap_or_default().to_owned();
    let mode = glimpse(bytes, b"\"permission_mode\"").map_or(PermissionMode::Unknown, PermissionMode::named);
    ParseError { reason, dialect, kind: EventKind::named(&name), name, mode }
}

/// The plain word that a quoted key is followed by. Inside a JSON string the key's quotes would be escaped.
fn glimpse<'a>(bytes: &'a [u8], key: &[u8]) -> Option<&'a str> {
    let rest = &bytes[memmem::find(bytes, key)? + key.len()..];
    let rest = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = rest.iter().take(60).position(|byte| !byte.is_ascii_alphanumeric())?;
    (rest[end] == b'"').then(|| std::str::from_utf8(&rest[..end]).ok()).flatten()
}
