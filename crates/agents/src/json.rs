//! JSON as agents send it: order and repeated keys are kept, raw control characters and lone surrogates are accepted,
//! depth and the number of values are bounded.
//!
//! Knows no field names; [`crate::parse`] and [`crate::tools`] do.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// How many values one payload may hold where they are kept: far above what an agent sends, far below what hurts.
const VALUES: usize = 200_000;

/// One JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Value>),
    Object(Fields),
}

impl Value {
    /// The value as JSON text.
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => out.push_str(&number.to_string()),
            Value::Text(text) => write_text(text, out),
            Value::List(values) => {
                out.push('[');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    value.write(out);
                }
                out.push(']');
            }
            Value::Object(Fields(fields)) => {
                out.push('{');
                for (index, (key, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// The fields of an object in their order, repeated ones included.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Fields(pub(crate) Vec<(String, Value)>);

impl Fields {
    /// Whether a field has one of these names.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.0.iter().any(|(key, _)| names.iter().any(|name| same_key(key, name)))
    }

    /// Takes the field that has one of these names out. Several that say the same count as one.
    ///
    /// # Errors
    /// Several say different things: which one the agent goes by cannot be known.
    pub(crate) fn take(&mut self, names: &[&str]) -> Result<Option<Value>, String> {
        let mut found: Option<Value> = None;
        let mut conflict = None;
        self.0.retain_mut(|(key, value)| {
            if !names.iter().any(|name| same_key(key, name)) {
                return true;
            }
            let value = std::mem::replace(value, Value::Null);
            match &found {
                Some(former) if *former != value => conflict = Some(std::mem::take(key)),
                Some(_) => {}
                None => found = Some(value),
            }
            false
        });
        match conflict {
            Some(key) => Err(format!("`{key}` is given more than once, and differently")),
            None => Ok(found),
        }
    }
}

/// Whether a key is this name, in snake_case or camelCase.
pub(crate) fn same_key(key: &str, name: &str) -> bool {
    fn plain(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
    }
    key == name || plain(key).eq(plain(name))
}

/// What reads a value and counts it against the payload's bound.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    left: &'a Cell<usize>,
}

impl<'a> Reading<'a> {
    /// Reads at most [`VALUES`] values, counted in `left`.
    pub(crate) fn new(left: &'a Cell<usize>) -> Self {
        left.set(VALUES);
        Reading { left }
    }

    fn count<E: serde::de::Error>(self) -> Result<(), E> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(E::custom("too many values")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        self.count()?;
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            fields.push((key, map.next_value_seed(self)?));
        }
        Ok(Value::Object(Fields(fields)))
    }
}

/// The bytes as text: a UTF-8 mark is dropped, bad bytes are replaced.
///
/// # Errors
/// The bytes are UTF-16 or UTF-32.
pub(crate) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let bytes = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => rest,
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0, 0, 0xFE, 0xFF, ..] => {
            return Err("the payload is UTF-16 or UTF-32, not UTF-8".to_owned());
        }
        _ => bytes,
    };
    Ok(String::from_utf8_lossy(bytes))
}

/// The same JSON with what strict readers refuse inside strings made readable: raw control characters escaped, lone
/// surrogates replaced by U+FFFD. None when there is nothing of the kind.
pub(crate) fn mend(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at, mut inside) = (0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => inside = !inside,
            b'\\' if inside => {
                if let Some(unit) = surrogate(&bytes[at..]) {
                    let pair = unit < 0xDC00 && surrogate(&bytes[at + 6..]).is_some_and(|low| low >= 0xDC00);
                    if !pair {
                        out.push_str(&text[copied..at]);
                        out.push_str("\\ufffd");
                        copied = at + 6;
                    }
                    at += if pair { 12 } else { 6 };
                    continue;
                }
                at += 1;
            }
            control @ 0..=0x1F if inside => {
                out.push_str(&text[copied..at]);
                out.push_str("\\u00");
                for digit in [control >> 4, control & 15] {
                    out.extend(char::from_digit(u32::from(digit), 16));
                }
                copied = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    (copied > 0).then(|| {
        out.push_str(&text[copied..]);
        out
    })
}

/// The surrogate that an escape at the start of `bytes` stands for.
fn surrogate(bytes: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = bytes else { return None };
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    let unit = u32::from_str_radix(digits, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, serde_json::Error> {
        let left = Cell::new(0);
        Reading::new(&left).deserialize(&mut serde_json::Deserializer::from_str(text))
    }

    #[test]
    fn values_keep_their_order_and_repeats() {
        let text = r#"{"b":[1,-2,1.5,null,true,"é\n"],"a":{},"b":"x"}"#;
        assert_eq!(read(text).unwrap().to_json(), text);
    }

    #[test]
    fn many_values_and_deep_ones_are_refused() {
        let many = format!("[{}1]", "1,".repeat(VALUES));
        assert!(read(&many).unwrap_err().to_string().contains("too many values"));
        let deep = "[".repeat(100_000);
        assert!(read(&deep).unwrap_err().to_string().contains("recursion"));
    }

    #[test]
    fn broken_strings_are_mended() {
        for (text, mended) in [
            ("\"a\tb\u{1}\"", Some("\"a\\u0009b\\u0001\"")),
            ("{\n\t\"a\": 1}", None),
            (r#""\ud800""#, Some(r#""\ufffd""#)),
            (r#""\udc00x""#, Some(r#""\ufffdx""#)),
            (r#""\ud83d\ude00""#, None),
            (r#""\ud83d\u0041""#, Some(r#""\ufffd\u0041""#)),
            (r#""\\ud800""#, None),
            (r#""\ud8"#, None),
        ] {
            assert_eq!(mend(text).as_deref(), mended, "{text}");
        }
    }

    #[test]
    fn fields_are_taken_by_any_spelling_and_conflicts_refused() {
        let mut fields = Fields(vec![("filePath".into(), Value::Null), ("x".into(), Value::Null)]);
        assert_eq!(fields.take(&["file_path", "path"]), Ok(Some(Value::Null)));
        assert_eq!(fields.take(&["file_path", "path"]), Ok(None));
        let mut fields = Fields(vec![("a".into(), Value::Bool(true)), ("a".into(), Value::Bool(false))]);
        assert!(fields.take(&["a"]).unwrap_err().contains("more than once"));
    }
}
