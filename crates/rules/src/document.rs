//! A rulebook's text as a tree of values with their places, the same for TOML and JSON.
//!
//! Knows nothing of rules. Depth is bounded by the two parsers.

use std::borrow::Cow;

use jsonc_parser::ast;
use syntax::Span;
use toml::de::{DeTable, DeValue};

use crate::{Format, ordinary};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<'a> {
    pub span: Span,
    pub value: Value<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Text(Cow<'a, str>),
    Bool(bool),
    List(Vec<Node<'a>>),
    /// In document order.
    Table(Vec<Entry<'a>>),
    /// A number, a date or null: what it is called, for messages.
    Other(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<'a> {
    pub key: Cow<'a, str>,
    pub key_span: Span,
    pub node: Node<'a>,
}

/// What does not parse, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub span: Span,
    pub message: String,
}

impl Value<'_> {
    /// What the value is called in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Bool(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}

/// The top-level table of a text.
pub(crate) fn parse(text: &str, format: Format) -> Result<Vec<Entry<'_>>, Vec<SyntaxError>> {
    match format {
        Format::Toml => ordinary::parse(text).map_or_else(|| parse_toml(text), Ok),
        Format::Json => parse_json(text).map_err(|error| vec![error]),
    }
}

pub(crate) fn parse_toml(text: &str) -> Result<Vec<Entry<'_>>, Vec<SyntaxError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(toml_table(table.into_inner()));
    }
    let place = |error: &toml::de::Error| error.span().unwrap_or(0..text.len().min(1));
    Err(errors
        .iter()
        .take(20)
        .map(|error| SyntaxError { span: place(error), message: error.message().replace('\n', ", ") })
        .collect())
}

fn toml_table(table: DeTable<'_>) -> Vec<Entry<'_>> {
    let mut entries: Vec<_> = table
        .into_iter()
        .map(|(key, value)| Entry { key_span: key.span(), key: key.into_inner(), node: toml_node(value) })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn toml_node(value: toml::Spanned<DeValue<'_>>) -> Node<'_> {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Array(mut items) => {
            Value::List(items.iter_mut().map(|item| toml_node(std::mem::replace(item, nothing()))).collect())
        }
        DeValue::Table(table) => Value::Table(toml_table(table)),
        DeValue::Integer(_) | DeValue::Float(_) => Value::Other("a number"),
        DeValue::Datetime(_) => Value::Other("a date"),
    };
    Node { span, value }
}

fn nothing<'a>() -> toml::Spanned<DeValue<'a>> {
    toml::Spanned::new(0..0, DeValue::Boolean(false))
}

fn parse_json(text: &str) -> Result<Vec<Entry<'_>>, SyntaxError> {
    let strict = jsonc_parser::ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &strict);
    let value = match parsed {
        Ok(parsed) => parsed.value,
        Err(error) => {
            let range = error.range();
            return Err(SyntaxError { span: range.start..range.end, message: error.kind().to_string() });
        }
    };
    match value.map(json_node) {
        Some(Ok(Node { value: Value::Table(entries), .. })) => Ok(entries),
        Some(Ok(Node { span, value })) => Err(SyntaxError {
            span,
            message: format!("expected an object with `rule` or `rules`, not {}", value.kind()),
        }),
        Some(Err(error)) => Err(error),
        None => Err(SyntaxError { span: 0..0, message: "the file is empty; an empty rulebook is `{}`".into() }),
    }
}

fn json_node(value: ast::Value<'_>) -> Result<Node<'_>, SyntaxError> {
    let at = |range: jsonc_parser::common::Range| range.start..range.end;
    Ok(match value {
        ast::Value::StringLit(text) => Node { span: at(text.range), value: Value::Text(text.value) },
        ast::Value::BooleanLit(value) => Node { span: at(value.range), value: Value::Bool(value.value) },
        ast::Value::NumberLit(number) => Node { span: at(number.range), value: Value::Other("a number") },
        ast::Value::NullKeyword(null) => Node { span: at(null.range), value: Value::Other("null") },
        ast::Value::Array(list) => {
            let items = list.elements.into_iter().map(json_node).collect::<Result<_, _>>()?;
            Node { span: at(list.range), value: Value::List(items) }
        }
        ast::Value::Object(object) => {
            let mut entries: Vec<Entry> = Vec::with_capacity(object.properties.len());
            let mut seen = std::collections::HashSet::new();
            for property in object.properties {
                let (key, key_span) = match property.name {
                    ast::ObjectPropName::String(text) => (text.value, at(text.range)),
                    ast::ObjectPropName::Word(word) => (Cow::Borrowed(word.value), at(word.range)),
                };
                if !seen.insert(key.clone()) {
                    return Err(SyntaxError { span: key_span, message: format!("the key `{key}` stands here twice") });
                }
                entries.push(Entry { key, key_span, node: json_node(property.value)? });
            }
            Node { span: at(object.range), value: Value::Table(entries) }
        }
    })
}

/// Where the character at `offset` of a decoded string stands, given the string as written with its quotes at `span`.
pub(crate) fn place_in_string(text: &str, span: &Span, offset: usize) -> usize {
    let raw = text.get(span.clone()).unwrap_or_default();
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| raw.starts_with(quotes)).unwrap_or_default();
    let mut at = quotes.len();
    if quotes.len() == 3 {
        at += ["\r\n", "\n"].iter().find(|end| raw[at..].starts_with(**end)).map_or(0, |end| end.len());
    }
    let escapes = quotes.starts_with('"');
    let mut decoded = 0;
    while decoded < offset && at < raw.len() {
        let rest = &raw[at..];
        let Some(first) = rest.chars().next() else { break };
        let (length, gives) =
            if first == '\\' && escapes { escape(rest) } else { (first.len_utf8(), first.len_utf8()) };
        at += length;
        decoded += gives;
    }
    span.start + at.min(raw.len())
}

/// How long the escape at the start of `rest` is, and how many bytes it stands for.
fn escape(rest: &str) -> (usize, usize) {
    let digits = |from: usize, count: usize| {
        let digits = rest.get(from..from + count)?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    };
    let hex = |count: usize| (2 + count, digits(2, count).map_or(1, char::len_utf8));
    match rest.as_bytes().get(1) {
        Some(b'x') => hex(2),
        Some(b'u') => match digits(2, 4) {
            // Half of a character that JSON writes in two.
            None => (12, 4),
            Some(_) => hex(4),
        },
        Some(b'U') => hex(8),
        Some(b' ' | b'\t' | b'\r' | b'\n') => (1 + rest[1..].len() - rest[1..].trim_start().len(), 0),
        _ => (2, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(entries: &[Entry], text: &str) -> String {
        let shown = |entry: &Entry| format!("{}={}", entry.key, &text[entry.node.span.clone()]);
        entries.iter().map(shown).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn both_formats_give_values_and_places() {
        let toml = "b = 'x'\na = [1, \"\\u00e4\"]\n";
        assert_eq!(shape(&parse(toml, Format::Toml).unwrap(), toml), "b='x'|a=[1, \"\\u00e4\"]");
        let json = "{\"b\": \"x\", \"a\": [1, null, {\"c\": true}]}";
        assert_eq!(shape(&parse(json, Format::Json).unwrap(), json), "b=\"x\"|a=[1, null, {\"c\": true}]");
    }

    #[test]
    fn what_does_not_parse_has_a_place() {
        for (text, format) in [
            ("a = ", Format::Toml),
            ("[x\n", Format::Toml),
            ("a = 1\na = 2\n", Format::Toml),
            ("{", Format::Json),
            ("", Format::Json),
            ("[]", Format::Json),
            ("{\"a\": 1,}", Format::Json),
            ("{\"a\": 1, \"a\": 2}", Format::Json),
            ("{a: 1}", Format::Json),
            ("{} x", Format::Json),
        ] {
            let errors = parse(text, format).unwrap_err();
            assert!(
                !errors.is_empty() && errors.iter().all(|error| error.span.end <= text.len()),
                "{text:?} {errors:?}"
            );
        }
        for format in [Format::Toml, Format::Json] {
            assert!(parse(&("[".repeat(100_000)), format).is_err());
            assert!(parse(&format!("a = {}", "[".repeat(100_000)), format).is_err());
            assert!(parse(&"{\"a\":".repeat(100_000), format).is_err());
        }
    }

    #[test]
    fn places_inside_strings() {
        for (raw, offset, expected) in [
            ("'a(b'", 1, 2),
            ("\"a\\\\(b\"", 2, 4),
            ("\"\\u00e4(\"", 2, 7),
            ("\"\\ud83e\\udd80(\"", 4, 13),
            ("'''\nab('''", 2, 6),
            ("\"\"\"a\\\n   b(\"\"\"", 2, 10),
            ("'x'", 99, 3),
        ] {
            assert_eq!(place_in_string(raw, &(0..raw.len()), offset), expected, "{raw}");
        }
    }
}
