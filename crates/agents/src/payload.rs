//! What a hook script is given: the agent's own payload under Claude Code's field names, as one line of strict JSON.
//!
//! Values stand as the agent sent them, numbers and the order of keys included; only what strict readers refuse is
//! mended. Built when a script is about to run, never before.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::event::{Event, EventKind};
use crate::json;

/// The fields that keep a place of their own; all others stand in `extra`.
const NAMED: [&str; 6] = ["hook_event_name", "session_id", "cwd", "tool_name", "tool_input", "tool_response"];

/// How deep values may stand in one another: a script whose reader gives up on what is deeper would have judged nothing.
const DEPTH: usize = 128;

/// The line for a script, without its line end. `bytes` are those that `event` was read from.
///
/// # Errors
/// In one line: the bytes are no JSON object, or one nested deeper than readers of JSON follow.
pub fn payload(event: &Event, bytes: &[u8]) -> Result<String, String> {
    let text = json::text(bytes)?;
    let text = json::mend(&text).map_or(text, Cow::Owned);
    let fields = fields(&text).map_err(|error| format!("the payload is not a JSON object: {error}"))?;
    if is_deeper(&text, DEPTH) {
        return Err(format!("its values are nested more than {DEPTH} deep"));
    }
    let name = if event.name.is_empty() { event.kind.name() } else { &event.name };
    let canonical = if event.kind == EventKind::Other { name } else { event.kind.name() };
    let mut line = Line { out: String::with_capacity(text.len() + 64), empty: true };
    line.out.push('{');
    line.text("hook_event_name", canonical);
    line.text("event", canonical);
    for named in &NAMED[1..] {
        let found = fields.iter().find(|(key, _)| json::same_key(key, named));
        if let Some((_, value)) = found {
            line.value(named, value);
        }
    }
    let others = fields.iter().filter(|(key, _)| !NAMED.iter().any(|named| json::same_key(key, named)));
    let mut extra = Line { out: "{".to_owned(), empty: true };
    for (key, value) in others {
        extra.value(key, value);
    }
    extra.out.push('}');
    line.key("extra");
    line.out.push_str(&extra.out);
    line.out.push('}');
    Ok(line.out)
}

/// Whether lists and objects stand more than `depth` deep in one another; strings are passed over.
fn is_deeper(text: &str, depth: usize) -> bool {
    let (mut inside, mut escaped, mut open) = (false, false, 0_usize);
    text.bytes().any(|byte| {
        if inside {
            inside = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
            return false;
        }
        match byte {
            b'"' => inside = true,
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > depth
    })
}

/// An object that is being written.
struct Line {
    out: String,
    empty: bool,
}

impl Line {
    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(',');
        }
        self.out.push_str(&serde_json::Value::from(key).to_string());
        self.out.push(':');
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.out.push_str(&serde_json::Value::from(text).to_string());
    }

    /// A value as it was sent, without the blanks and line ends between its parts.
    fn value(&mut self, key: &str, value: &RawValue) {
        self.key(key);
        let (mut inside, mut escaped) = (false, false);
        self.out.extend(value.get().chars().filter(|character| {
            if inside {
                inside = *character != '"' || escaped;
                escaped = *character == '\\' && !escaped;
                return true;
            }
            inside = *character == '"';
            !matches!(character, ' ' | '\t' | '\r' | '\n')
        }));
    }
}

/// The fields of the object in `text`, in order.
fn fields(text: &str) -> Result<Vec<(String, Box<RawValue>)>, serde_json::Error> {
    struct Fields;

    impl<'de> Visitor<'de> for Fields {
        type Value = Vec<(String, Box<RawValue>)>;

        fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut fields = Vec::new();
            while let Some(field) = map.next_entry()? {
                fields.push(field);
            }
            Ok(fields)
        }
    }

    let mut input = serde_json::Deserializer::from_str(text);
    let fields = input.deserialize_map(Fields)?;
    input.end()?;
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, parse};

    fn line(dialect: Dialect, bytes: &[u8]) -> String {
        payload(&parse(Some(dialect), None, bytes).unwrap(), bytes).unwrap()
    }

    #[test]
    fn a_script_gets_the_payload_under_known_names() {
        let claude = br#"{
            "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/w", "permission_mode": "plan",
            "tool_name": "Bash", "tool_input": {"command": "echo \" a  b \\\"", "big": 123456789012345678901234567890, "b": 1, "a": 1.0 },
            "tool_use_id": "toolu_1"
        }"#;
        assert_eq!(
            line(Dialect::Claude, claude),
            r#"{"hook_event_name":"PreToolUse","event":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"echo \" a  b \\\"","big":123456789012345678901234567890,"b":1,"a":1.0},"extra":{"permission_mode":"plan","tool_use_id":"toolu_1"}}"#
        );
        let codex = br#"{"hookEventName":"PostToolUse","sessionId":"s","tool_name":"apply_patch","tool_input":{"command":"x"},"tool_response":"ok","turn_id":"t"}"#;
        assert_eq!(
            line(Dialect::Codex, codex),
            r#"{"hook_event_name":"PostToolUse","event":"PostToolUse","session_id":"s","tool_name":"apply_patch","tool_input":{"command":"x"},"tool_response":"ok","extra":{"turn_id":"t"}}"#
        );
        let start = br#"{"hook_event_name":"SessionStart","source":"clear"}"#;
        assert_eq!(
            line(Dialect::Claude, start),
            r#"{"hook_event_name":"SessionStart","event":"SessionStart","extra":{"source":"clear"}}"#
        );
    }

    #[test]
    fn what_readers_do_not_follow_is_not_handed_to_them() {
        let nested = |depth: usize| {
            let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let text = format!(
                r#"{{"hook_event_name":"PreToolUse","tool_name":"mcp__a__b","tool_input":{{"a":{value},"b":"\\\"[[["}}}}"#
            );
            let event = parse(Some(Dialect::Claude), None, br#"{"hook_event_name":"Stop"}"#).unwrap();
            payload(&event, text.as_bytes())
        };
        assert!(nested(DEPTH - 2).is_ok());
        assert!(nested(DEPTH - 1).unwrap_err().contains("nested"));
        assert!(nested(100_000).unwrap_err().contains("nested"));
    }

    #[test]
    fn the_line_is_strict_json_on_one_line() {
        let sent = b"\xef\xbb\xbf{\"hook_event_name\":\"PreToolUse\",\r\n\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"a\tb\nc\\ud800\"}}";
        let line = line(Dialect::Claude, sent);
        assert!(!line.contains(['\n', '\r', '\t']));
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["tool_input"]["command"], "a\tb\nc\u{fffd}");
    }
}
