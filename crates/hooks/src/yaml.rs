//! A YAML document as nodes with their places, bounded before anything is built.
//!
//! One document, no aliases and no tags: what a manifest does not need cannot be used against it. Scalars are read by
//! YAML 1.2's core schema. The parser below hands out events and never recurses, neither does this.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

/// Largest document, in bytes.
pub const LARGEST: usize = 256 << 10;
/// Most nodes.
const NODES: usize = 10_000;
/// Deepest nesting.
const DEPTH: usize = 16;

/// One node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing was written, or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer or a float.
    Number(f64),
    /// Any other scalar.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in document order; keys are scalars, each once.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// As written, without quotes.
    pub text: String,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// Why a text is no document that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// What is wrong, without a full stop; may hold text of the document.
    pub why: String,
}

/// A collection that is not closed yet.
enum Open {
    List(Vec<Node>),
    Map(Vec<(Key, Node)>, Option<Key>),
}

struct Frame {
    open: Open,
    start: usize,
}

/// The document in `text`; none when there is nothing in it but comments.
///
/// # Errors
/// [`Wrong`] for the first thing that is wrong.
pub fn parse(text: &str) -> Result<Option<Node>, Wrong> {
    if text.len() > LARGEST {
        return Err(Wrong { span: 0..0, why: format!("it is larger than {LARGEST} bytes") });
    }
    let places = Places::of(text);
    let mut frames: Vec<Frame> = Vec::new();
    let (mut document, mut documents, mut nodes) = (None, 0, 0);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = places.byte(error.marker().index());
            Wrong { span: at..at, why: format!("it is not valid YAML ({})", error.info()) }
        })?;
        let span = places.span(span);
        let wrong = |why: &str| Err(Wrong { span: span.clone(), why: why.to_owned() });
        let node = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return wrong("it holds more than one document");
                }
                continue;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
            Event::Alias(_) => return wrong("it uses an alias (`*name`); write the value out"),
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                return wrong("it uses a tag (`!name`); leave it out");
            }
            Event::SequenceStart(_, None) | Event::MappingStart(_, None) => {
                nodes += 1;
                if frames.len() >= DEPTH {
                    return wrong("it is nested too deeply");
                }
                if let Some(Frame { open: Open::Map(_, None), .. }) = frames.last() {
                    return wrong("a key is not a plain text");
                }
                let open = match event {
                    Event::SequenceStart(..) => Open::List(Vec::new()),
                    _ => Open::Map(Vec::new(), None),
                };
                frames.push(Frame { open, start: span.start });
                continue;
            }
            Event::Scalar(text, style, _, None) => {
                nodes += 1;
                if let Some(Frame { open: Open::Map(pairs, key @ None), .. }) = frames.last_mut() {
                    if pairs.iter().any(|(known, _)| known.text == *text) {
                        return wrong(&format!("the key \"{text}\" stands twice"));
                    }
                    *key = Some(Key { text: text.into_owned(), span });
                    continue;
                }
                let value = if style == ScalarStyle::Plain { scalar(&text) } else { Value::Text(text.into_owned()) };
                Node { value, span }
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(frame) = frames.pop() else { continue };
                let value = match frame.open {
                    Open::List(items) => Value::List(items),
                    Open::Map(pairs, _) => Value::Map(pairs),
                };
                Node { value, span: frame.start..span.end.max(frame.start) }
            }
        };
        if nodes > NODES {
            return Err(Wrong { span: node.span, why: format!("it has more than {NODES} values") });
        }
        match frames.last_mut().map(|frame| &mut frame.open) {
            None => document = Some(node),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Map(pairs, key)) => pairs.extend(key.take().map(|key| (key, node))),
        }
    }
    Ok(document.filter(|node| node.value != Value::Null))
}

/// A plain scalar by the core schema.
fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Number(f64::NAN),
        _ => {}
    }
    let (sign, digits) = match text.as_bytes()[0] {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        return Value::Number(sign * f64::INFINITY);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        let number = digits.strip_prefix(prefix).filter(|_| digits.len() == text.len());
        if let Some(number) = number.and_then(|it| u32::from_str_radix(it, radix).ok()) {
            return Value::Number(f64::from(number));
        }
    }
    // What Rust reads as a number beside YAML (`inf`, `nan`, `infinity`) has letters other than an exponent's.
    let numeric = digits.starts_with(|it: char| it.is_ascii_digit() || it == '.')
        && digits.contains(|it: char| it.is_ascii_digit())
        && digits.chars().all(|it| it.is_ascii_digit() || matches!(it, '.' | 'e' | 'E' | '+' | '-'));
    match digits.parse::<f64>() {
        Ok(number) if numeric => Value::Number(sign * number),
        _ => Value::Text(text.to_owned()),
    }
}

/// Bytes of characters: the parser counts the latter.
struct Places {
    /// The byte of each character; none where they are the same.
    bytes: Option<Vec<u32>>,
    length: usize,
}

impl Places {
    fn of(text: &str) -> Places {
        let bytes = (!text.is_ascii()).then(|| {
            text.char_indices().map(|(at, _)| u32::try_from(at).expect("a manifest is far smaller")).collect()
        });
        Places { bytes, length: text.len() }
    }

    fn byte(&self, character: usize) -> usize {
        match &self.bytes {
            None => character.min(self.length),
            Some(bytes) => bytes.get(character).map_or(self.length, |at| *at as usize),
        }
    }

    fn span(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        parse(text).unwrap_err().why
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        for (text, value) in [
            ("1", Value::Number(1.0)),
            ("-2.5", Value::Number(-2.5)),
            ("1e3", Value::Number(1000.0)),
            ("0x10", Value::Number(16.0)),
            (".inf", Value::Number(f64::INFINITY)),
            ("-.inf", Value::Number(f64::NEG_INFINITY)),
            ("yes", Value::Text("yes".into())),
            ("inf", Value::Text("inf".into())),
            ("1.2.3", Value::Text("1.2.3".into())),
            ("-", Value::List(vec![Node { value: Value::Null, span: 1..1 }])),
            ("\"1\"", Value::Text("1".into())),
            ("True", Value::Bool(true)),
        ] {
            assert_eq!(parse(text).unwrap().map(|node| node.value), Some(value), "{text}");
        }
        for text in ["", "# only this\n", "~", "null", "---\n", "\u{feff}"] {
            assert_eq!(parse(text).unwrap(), None, "{text:?}");
        }
    }

    #[test]
    fn places_are_bytes() {
        let text = "# ä🦀\nkey: [ö, b]\n";
        let Some(Node { value: Value::Map(pairs), .. }) = parse(text).unwrap() else { panic!("a mapping") };
        let (key, list) = &pairs[0];
        assert_eq!(&text[key.span.clone()], "key");
        let Value::List(items) = &list.value else { panic!("a list") };
        assert_eq!(&text[items[0].span.clone()], "ö");
        assert_eq!(&text[items[1].span.clone()], "b");
    }

    #[test]
    fn t13_what_could_grow_is_refused() {
        assert!(why("a: &x [1]\nb: *x\n").contains("alias"));
        assert!(why("a: 1\na: 2\n").contains("twice"));
        assert!(why("a: 1\n---\nb: 2\n").contains("more than one document"));
        assert!(why("a: !!python/object x\n").contains("tag"));
        assert!(why("? [a]\n: b\n").contains("key"));
        for nested in ["[", "{a: ", "- "] {
            let why = why(&nested.repeat(50_000));
            assert!(why.contains("nested too deeply") || why.contains("not valid YAML"), "{nested}: {why}");
        }
        assert!(why(&"- a\n".repeat(20_000)).contains("values"));
        assert!(why(&"x".repeat(LARGEST + 1)).contains("larger"));
        assert!(why("a: [unclosed\n").contains("not valid YAML"));
    }
}
