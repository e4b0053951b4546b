//! The part of TOML that rulebooks are ordinarily written in, read in one pass: `[[rule]]` tables of strings on one line,
//! lists of them, `true` and `false`.
//!
//! What is read here means the same to the `toml` crate, places included (a property test holds that); for any other
//! text there is no answer, and that crate reads it. Most of a long rulebook is about other files than the one at hand:
//! a table is looked at before anything is made of it.

use std::borrow::Cow;
use std::ops::Range;

use syntax::Span;

use crate::document::{Entry, Node, Value};

/// More keys than a rule has; a table with more is read by others.
const MOST_KEYS: usize = 32;
const HEADER: &str = "[[rule]]";

/// One `[[rule]]` table, as it stands in the text.
#[derive(Debug, Default)]
pub(crate) struct Table<'t> {
    span: Span,
    entries: Vec<Written<'t>>,
    /// The strings of all lists.
    items: Vec<Item<'t>>,
}

#[derive(Debug, Clone)]
struct Item<'t> {
    text: &'t str,
    span: Span,
}

#[derive(Debug)]
struct Written<'t> {
    key: Item<'t>,
    span: Span,
    value: Plain<'t>,
}

#[derive(Debug)]
enum Plain<'t> {
    Text(&'t str),
    Bool(bool),
    /// Which items.
    List(Range<usize>),
}

impl<'t> Table<'t> {
    /// The string under a key.
    pub fn text(&self, key: &str) -> Option<&'t str> {
        match self.find(key)?.value {
            Plain::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The string, or the list of strings, under a key.
    pub fn texts(&self, key: &str) -> Option<impl Iterator<Item = &'t str>> {
        let (single, list) = match &self.find(key)?.value {
            Plain::Text(text) => (Some(*text), 0..0),
            Plain::List(range) => (None, range.clone()),
            Plain::Bool(_) => return None,
        };
        Some(single.into_iter().chain(self.items[list].iter().map(|item| item.text)))
    }

    fn find(&self, key: &str) -> Option<&Written<'t>> {
        self.entries.iter().find(|entry| entry.key.text == key)
    }

    /// The table as a value.
    pub fn node(&self) -> Node<'t> {
        let text = |text: &'t str| Value::Text(Cow::Borrowed(text));
        let entry = |written: &Written<'t>| {
            let value = match &written.value {
                Plain::Text(one) => text(one),
                Plain::Bool(value) => Value::Bool(*value),
                Plain::List(range) => {
                    let items = self.items[range.clone()].iter();
                    Value::List(items.map(|item| Node { span: item.span.clone(), value: text(item.text) }).collect())
                }
            };
            Entry {
                key: Cow::Borrowed(written.key.text),
                key_span: written.key.span.clone(),
                node: Node { span: written.span.clone(), value },
            }
        };
        Node { span: self.span.clone(), value: Value::Table(self.entries.iter().map(entry).collect()) }
    }
}

/// Reads table after table.
pub(crate) struct Tables<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tables<'t> {
    /// The tables of `text`; none where something else stands before the first.
    pub fn of(text: &'t str) -> Option<Tables<'t>> {
        let mut tables = Tables { text, at: 0 };
        tables.skip_blank_lines()?;
        Some(tables)
    }

    /// Reads the next table in place of what is in `table`: whether there was one. None when the text is more than is
    /// read here.
    pub fn next(&mut self, table: &mut Table<'t>) -> Option<bool> {
        table.entries.clear();
        table.items.clear();
        if self.at == self.text.len() {
            return Some(false);
        }
        self.rest().starts_with(HEADER.as_bytes()).then_some(())?;
        table.span = self.at..self.at + HEADER.len();
        self.at = table.span.end;
        self.end_line()?;
        self.skip_blank_lines()?;
        while !matches!(self.peek(), None | Some(b'[')) {
            let entry = self.entry(&mut table.items)?;
            let known = table.entries.iter().any(|known| known.key.text == entry.key.text);
            (!known && table.entries.len() < MOST_KEYS).then_some(())?;
            table.entries.push(entry);
            self.end_line()?;
            self.skip_blank_lines()?;
        }
        Some(true)
    }

    fn entry(&mut self, items: &mut Vec<Item<'t>>) -> Option<Written<'t>> {
        let key_span = self.at..self.at + self.run(KEY);
        (!key_span.is_empty()).then_some(())?;
        let key = Item { text: &self.text[key_span.clone()], span: key_span };
        self.at = key.span.end;
        self.skip_blanks();
        self.take(b'=')?;
        self.skip_blanks();
        let start = self.at;
        let value = match self.peek()? {
            b'[' => self.list(items)?,
            b't' => self.word("true").map(|()| Plain::Bool(true))?,
            b'f' => self.word("false").map(|()| Plain::Bool(false))?,
            _ => Plain::Text(self.string()?),
        };
        Some(Written { key, span: start..self.at, value })
    }

    fn list(&mut self, items: &mut Vec<Item<'t>>) -> Option<Plain<'t>> {
        let first = items.len();
        self.take(b'[')?;
        loop {
            self.skip_blank_lines()?;
            if self.peek()? == b']' {
                break;
            }
            let start = self.at;
            let text = self.string()?;
            items.push(Item { text, span: start..self.at });
            self.skip_blank_lines()?;
            match self.peek()? {
                b',' => self.at += 1,
                b']' => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(Plain::List(first..items.len()))
    }

    /// A string of one line in which nothing is escaped.
    fn string(&mut self) -> Option<&'t str> {
        let quote = self.peek().filter(|quote| matches!(quote, b'"' | b'\''))?;
        let (open, is_long) = match self.rest() {
            [b'\'', b'\'', b'\'', ..] => (3, true),
            [b'"', b'"', b'"', ..] => return None,
            _ => (1, false),
        };
        let start = self.at + open;
        let plain = if quote == b'"' { PLAIN } else { LITERAL };
        let bytes = self.text.as_bytes();
        let end = start + bytes.get(start..)?.iter().take_while(|byte| is(**byte, plain)).count();
        let rest = bytes.get(end..).filter(|rest| !rest.is_empty())?;
        let (closed, length) = if is_long { (rest.starts_with(b"'''"), 3) } else { (rest[0] == quote, 1) };
        // A fourth quote would still be part of a long string.
        (closed && !(is_long && rest.get(3) == Some(&b'\''))).then_some(())?;
        self.at = end + length;
        Some(&self.text[start..end])
    }

    /// Whatever may stand behind a value: blanks, a comment, the end of the line.
    fn end_line(&mut self) -> Option<()> {
        if self.peek() == Some(b'\n') {
            self.at += 1;
            return Some(());
        }
        self.skip_blanks();
        self.skip_comment();
        match self.rest() {
            [] => {}
            [b'\n', ..] => self.at += 1,
            [b'\r', b'\n', ..] => self.at += 2,
            _ => return None,
        }
        Some(())
    }

    /// Blanks, comments and empty lines, up to what says something.
    fn skip_blank_lines(&mut self) -> Option<()> {
        // Mostly there are none.
        if self.peek().is_some_and(|byte| byte > b'#' || byte == b'"') {
            return Some(());
        }
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'#' | b'\n' | b'\r') => self.end_line()?,
                _ => return Some(()),
            }
        }
    }

    fn skip_blanks(&mut self) {
        if self.peek().is_some_and(|byte| byte > b' ') {
            return;
        }
        self.at += self.run(BLANK);
    }

    fn skip_comment(&mut self) {
        if self.peek() == Some(b'#') {
            self.at += self.run(COMMENT);
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.rest().starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// How many bytes of a class come next.
    fn run(&self, class: u8) -> usize {
        self.rest().iter().take_while(|byte| is(**byte, class)).count()
    }

    fn rest(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.at..]
    }
}

/// Bytes that keys are made of.
const KEY: u8 = 1;
/// What may stand in a string in `"`: no escape, and no end.
const PLAIN: u8 = 2;
/// What may stand in a string in `'`.
const LITERAL: u8 = 4;
/// What may stand in a comment.
const COMMENT: u8 = 8;
const BLANK: u8 = 16;

/// The classes of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            classes[at] |= KEY;
        }
        if (byte >= b' ' || byte == b'\t') && byte != 0x7f {
            classes[at] |= COMMENT;
            classes[at] |= if matches!(byte, b'"' | b'\\') { 0 } else { PLAIN };
            classes[at] |= if byte == b'\'' { 0 } else { LITERAL };
        }
        if matches!(byte, b' ' | b'\t') {
            classes[at] |= BLANK;
        }
        at += 1;
    }
    classes
};

fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// The whole text as its top-level table. None when it has no rule, or is more than is read here.
pub(crate) fn parse(text: &str) -> Option<Vec<Entry<'_>>> {
    let mut tables = Tables::of(text)?;
    let mut table = Table::default();
    let mut nodes = Vec::new();
    while tables.next(&mut table)? {
        nodes.push(table.node());
    }
    let first: &Node = nodes.first()?;
    let (key_span, span) = (first.span.start + 2..first.span.end - 2, first.span.clone());
    Some(vec![Entry { key: Cow::Borrowed("rule"), key_span, node: Node { span, value: Value::List(nodes) } }])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::parse_toml;

    #[test]
    fn ordinary_rulebooks_are_read_as_toml_reads_them() {
        for text in [
            "[[rule]]\nid = \"a\"\npaths=['**/*.py', \"x\" ,]\n",
            "# about\n\n  [[rule]]  # one\nid='a'#x\r\n\tredact = true\n[[rule]]\nforbid = '''\\bx\\b'''\nredact=false",
            "[[rule]]\n[[rule]]",
            "[[rule]]\npaths = [ # why\n  'a',\n\n  'é', # last\n]\nwhy = ''\n",
            "   [[rule]]\nid = \"tab\there\"",
        ] {
            assert_eq!(parse(text), Some(parse_toml(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn everything_else_is_left_to_others() {
        for text in [
            "",
            "x = 1\n[[rule]]\n",
            "[[rules]]\n",
            "[[rule]]\nid = 1\n",
            "[[rule]]\nid = \"\\u0041\"\n",
            "[[rule]]\nid = \"\"\"a\"\"\"\n",
            "[[rule]]\nid = '''a''''\n",
            "[[rule]]\nid = 'a' x\n",
            "[[rule]]\nid = 'a'\nid = 'b'\n",
            "[[rule]]\na.b = 'a'\n",
            "[[rule]]\n\"id\" = 'a'\n",
            "[[rule]]\nid = 'a\n'\n",
            "[[rule]]\nid = 'a\u{1}'\n",
            "[[rule]]\n# \u{7f}\n",
            "[[rule]]\nid = 'a'\r[[rule]]\n",
            "[[rule]]\npaths = ['a' 'b']\n",
            "[[rule]]\npaths = [['a']]\n",
            "[[rule]]\npaths = [true]\n",
            "[[rule]]\n[rule.x]\n",
            "[[rule]]\nid = trueish\n",
            "[[rule]] x\n",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    /// Pieces of TOML; some do not stand everywhere.
    const PIECES: [&str; 34] = [
        "[[rule]]\n",
        "[[rule]]",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "id",
        "paths",
        "why",
        "=",
        " = ",
        "'",
        "'''",
        "\"",
        "\"\"\"",
        "[",
        "]",
        ",",
        "#",
        "true",
        "false",
        "'a'",
        "\"b\"",
        "''",
        "\\",
        "é",
        "\u{7f}",
        ".",
        "1",
        "['a', 'b']",
        "= 'x'\n",
        "id = 'a'\n",
        "[rule]\n",
    ];

    proptest! {
        #[test]
        fn what_is_read_here_means_the_same_to_toml(
            pieces in prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..14)
        ) {
            let text = format!("[[rule]]\n{}", pieces.concat());
            if let Some(read) = parse(&text) {
                prop_assert_eq!(Ok(read), parse_toml(&text), "{}", text);
            }
        }

        #[test]
        fn no_text_makes_it_fail(text in ".{0,40}") {
            parse(&format!("[[rule]]\n{text}"));
        }
    }
}
