//! A cursor in TOML.
//!
//! Tokens come from the lexer of the crate that parses rulebooks, which never fails. A list or an inline table that was
//! not closed ends where a line begins as only a statement can begin.

use syntax::Span;
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::{DEEPEST, Keys, Slot, Spot, unquoted};

/// A list or an inline table that is not closed.
enum Open {
    List,
    /// With the number of the table.
    Table(u32),
}

struct Frame {
    open: Open,
    /// The key it is the value of, for what stands in it; empty for an item of a list.
    keys: Vec<Span>,
    /// The statement in which it began.
    outer: Statement,
}

/// How far a statement, or an item of a list, has come.
#[derive(Default, Clone)]
struct Statement {
    /// The parts of the key so far.
    parts: Vec<Span>,
    /// A part stands there, so that only a dot or the equals sign may follow.
    is_part: bool,
    /// The equals sign stands there.
    has_equals: bool,
    /// The value stands there.
    is_whole: bool,
}

struct Scan<'t> {
    text: &'t str,
    header: Vec<Span>,
    /// Where the header that is being read began.
    in_header: Option<usize>,
    frames: Vec<Frame>,
    now: Statement,
    /// The number of the table of the last header, and the last number that was given.
    table: u32,
    last_table: u32,
    keys: Keys,
    /// Nothing but blanks stood on the line so far.
    at_start: bool,
}

/// See [`super::spot`].
pub fn spot(text: &str, offset: usize) -> Spot {
    let mut scan = Scan {
        text,
        header: Vec::new(),
        in_header: None,
        frames: Vec::new(),
        now: Statement::default(),
        table: 0,
        last_table: 0,
        keys: Keys::default(),
        at_start: true,
    };
    let mut found: Option<(Spot, Span, Option<u32>)> = None;
    for token in Source::new(text).lex() {
        let span = token.span().start()..token.span().end();
        scan.recover(token.kind(), &span);
        if scan.frames.len() > DEEPEST {
            break;
        }
        if found.is_none() {
            let touches = span.start <= offset && offset <= span.end;
            if touches && is_word(token.kind()) {
                found = Some(scan.at(span.clone()));
            } else if touches && offset > span.start && token.kind() == TokenKind::Comment {
                found = Some((Spot::default(), span.clone(), None));
            } else if offset < span.end || token.kind() == TokenKind::Eof {
                found = Some(scan.at(offset..offset));
            }
        }
        scan.take(token.kind(), span);
    }
    let Some((mut spot, at, table)) = found else { return Spot::default() };
    if let Some(table) = table {
        spot.there = scan.keys.of(table, text, &at);
    }
    spot
}

fn is_word(kind: TokenKind) -> bool {
    use TokenKind::{Atom, BasicString, LiteralString, MlBasicString, MlLiteralString};
    matches!(kind, Atom | BasicString | LiteralString | MlBasicString | MlLiteralString)
}

impl Scan<'_> {
    /// What was not closed ends before a line that begins as only a statement can.
    fn recover(&mut self, kind: TokenKind, span: &Span) {
        if !self.at_start || self.frames.is_empty() {
            return;
        }
        let rest = self.text.get(span.start..).unwrap_or_default();
        let begins = match kind {
            TokenKind::LeftSquareBracket => begins_header(rest),
            TokenKind::Atom if matches!(self.frames.last(), Some(Frame { open: Open::List, .. })) => {
                begins_statement(rest)
            }
            _ => false,
        };
        if begins {
            self.frames.clear();
            self.now = Statement::default();
        }
    }

    /// What stands at a word, or at an empty place; with the table whose keys are asked for.
    fn at(&self, span: Span) -> (Spot, Span, Option<u32>) {
        let nothing = (Spot::default(), span.clone(), None);
        if let Some(start) = self.in_header {
            let end = header_end(self.text, start);
            if span.end > end {
                return nothing;
            }
            return (
                Spot { table: Vec::new(), there: Vec::new(), slot: Slot::Header { span: start..end } },
                span,
                None,
            );
        }
        // A string over several lines is none of our keys' values.
        if self.text.get(span.clone()).is_none_or(|word| word.contains(['\n', '\r'])) {
            return nothing;
        }
        let now = &self.now;
        let listed = matches!(self.frames.last(), Some(Frame { open: Open::List, .. }));
        if now.has_equals || listed {
            let statement = if listed { self.listing() } else { Some(now) };
            let Some((key, above)) = statement.and_then(|it| it.parts.split_last()).filter(|_| !now.is_whole) else {
                return nothing;
            };
            let table = self.path(above, listed);
            let slot = Slot::Value { key: self.word(key), span: span.clone(), listed };
            return (Spot { table, there: Vec::new(), slot }, span, None);
        }
        if now.is_part {
            return nothing;
        }
        let rest = self.text.get(span.end..).unwrap_or_default().trim_start_matches([' ', '\t']);
        let begins = self.at_start && self.frames.is_empty();
        let slot = Slot::Key { span: span.clone(), follows: rest.starts_with('='), begins };
        let table = match self.frames.last() {
            Some(Frame { open: Open::Table(number), .. }) => *number,
            _ => self.table,
        };
        let whole = now.parts.is_empty().then_some(table);
        (Spot { table: self.path(&now.parts, false), there: Vec::new(), slot }, span, whole)
    }

    /// The statement whose value the innermost lists are.
    fn listing(&self) -> Option<&Statement> {
        let lists = self.frames.iter().rev().take_while(|frame| matches!(frame.open, Open::List));
        lists.last().map(|frame| &frame.outer)
    }

    /// The keys that lead to where `above` is read; of a list, to where it stands.
    fn path(&self, above: &[Span], listed: bool) -> Vec<String> {
        let lists = self.frames.iter().rev().take_while(|frame| listed && matches!(frame.open, Open::List)).count();
        let frames = &self.frames[..self.frames.len() - lists];
        let within = frames.iter().flat_map(|frame| &frame.keys);
        // More parts than any file of ours has are not followed.
        self.header.iter().chain(within).chain(above).take(DEEPEST).map(|part| self.word(part)).collect()
    }

    fn word(&self, span: &Span) -> String {
        unquoted(self.text.get(span.clone()).unwrap_or_default()).to_owned()
    }

    fn take(&mut self, kind: TokenKind, span: Span) {
        let was_at_start = self.at_start;
        self.at_start = match kind {
            TokenKind::Newline => true,
            TokenKind::Whitespace => was_at_start,
            _ => false,
        };
        if self.in_header.is_some() {
            match kind {
                TokenKind::Newline => self.in_header = None,
                _ if is_word(kind) => self.header.push(span),
                _ => {}
            }
            return;
        }
        match kind {
            TokenKind::Newline if self.frames.is_empty() => self.now = Statement::default(),
            TokenKind::LeftSquareBracket if was_at_start && self.frames.is_empty() => {
                self.in_header = Some(span.start);
                self.header.clear();
                self.table = self.number();
                self.now = Statement::default();
            }
            TokenKind::LeftSquareBracket => self.enter(Open::List),
            TokenKind::LeftCurlyBracket => {
                let table = self.number();
                self.enter(Open::Table(table));
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                if let Some(frame) = self.frames.pop() {
                    self.now = Statement { is_whole: true, ..frame.outer };
                }
            }
            TokenKind::Comma => self.now = Statement::default(),
            TokenKind::Equals => self.equals(),
            TokenKind::Dot if !self.now.has_equals => self.now.is_part = false,
            _ if is_word(kind) => self.take_word(span),
            _ => {}
        }
    }

    fn take_word(&mut self, span: Span) {
        let listed = matches!(self.frames.last(), Some(Frame { open: Open::List, .. }));
        if self.now.has_equals || listed {
            self.now.is_whole = true;
        } else if !self.now.is_part {
            self.now.parts.push(span);
            self.now.is_part = true;
        }
    }

    fn equals(&mut self) {
        if self.now.has_equals {
            return;
        }
        self.now.has_equals = true;
        if let [only] = self.now.parts.as_slice() {
            let table = match self.frames.last() {
                Some(Frame { open: Open::Table(number), .. }) => *number,
                _ => self.table,
            };
            self.keys.add(table, only.clone());
        }
    }

    fn enter(&mut self, open: Open) {
        let outer = std::mem::take(&mut self.now);
        self.frames.push(Frame { open, keys: outer.parts.clone(), outer });
    }

    fn number(&mut self) -> u32 {
        self.last_table += 1;
        self.last_table
    }
}

/// Where the header that begins at `start` ends: behind its brackets, or before what cannot belong to it.
fn header_end(text: &str, start: usize) -> usize {
    let line = text.get(start..).unwrap_or_default().split(['\n', '\r', '#']).next().unwrap_or_default();
    let behind = line.find(']').map(|at| at + line[at..].chars().take_while(|it| *it == ']').count());
    start + behind.unwrap_or(line.trim_end().len()).max(1)
}

/// `[name]` or `[[name]]` alone on its line: in a list that would be an item that is no value.
fn begins_header(rest: &str) -> bool {
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let line = line.split('#').next().unwrap_or_default().trim_end();
    let inside = line.trim_start_matches('[');
    let name = inside.trim_end_matches(']');
    let brackets = line.len() - inside.len();
    (1..=2).contains(&brackets)
        && inside.len() - name.len() == brackets
        && name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | ' '))
        && !matches!(name, "true" | "false" | "inf" | "nan")
}

/// A bare word, which no item of a list is: a key, whole or half-typed.
fn begins_statement(rest: &str) -> bool {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    let name = &rest[..rest.find(|it| !is_of_name(it)).unwrap_or(rest.len())];
    name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && !matches!(name, "true" | "false" | "inf" | "nan")
}

#[cfg(test)]
mod tests {
    use super::super::{Grammar, shown};

    #[test]
    fn places_in_half_typed_texts() {
        for (marked, expected) in [
            ("|", " {} key <> ^"),
            ("ru|", " {} key <ru> ^"),
            ("  ru|le\n", " {} key <rule> ^"),
            ("[|", " {} header <[>"),
            ("[[ru|\nid = 1\n", " {} header <[[ru>"),
            ("[[rule]]|", " {} header <[[rule]]>"),
            ("[[rule]] |", "nothing"),
            ("[[ru|le]] # x", " {} header <[[rule]]>"),
            ("[[rule]]\n|", "rule {} key <> ^"),
            ("[[rule]]\nid = 'a'\non|", "rule {id} key <on> ^"),
            ("[[rule]]\nid = 'a'\n|\nwhy = 'x'\n[[rule]]\npaths = []\n", "rule {id,why} key <> ^"),
            ("[[rule]]\nid = 'a'\non_f|ail = 'ask'\nwhy = 'x'\n", "rule {id,why} key <on_fail> = ^"),
            ("[[rule]]\n\"on|\" = 1", "rule {} key <\"on\"> = ^"),
            ("[[rule]]\non_fail |", "nothing"),
            ("[[rule]]\non_fail =|", "rule {} value of on_fail <>"),
            ("[[rule]]\non_fail = |\nid = 'a'", "rule {} value of on_fail <>"),
            ("[[rule]]\non_fail = \"|", "rule {} value of on_fail <\">"),
            ("[[rule]]\non_fail = \"|\"", "rule {} value of on_fail <\"\">"),
            ("[[rule]]\non_fail = 'de|ny' # x", "rule {} value of on_fail <'deny'>"),
            ("[[rule]]\non_fail = de|", "rule {} value of on_fail <de>"),
            ("[[rule]]\non_fail = 'deny' |", "nothing"),
            ("[[rule]]\npaths = ['|", "rule {} value of paths <'> in a list"),
            ("[[rule]]\npaths = ['a', |]", "rule {} value of paths <> in a list"),
            ("[[rule]]\npaths = ['a' |]", "nothing"),
            ("[[rule]]\npaths = [\n  'a',\n  |\n]", "rule {} value of paths <> in a list"),
            // What was not closed ends where a statement begins.
            ("[[rule]]\npaths = ['a\non_fail = |", "rule {} value of on_fail <>"),
            ("[[rule]]\npaths = ['a',\non|\nid = 'a'", "rule {paths,id} key <on> ^"),
            ("[[rule]]\npaths = [\nid = 'a'\n|", "rule {paths,id} key <> ^"),
            ("[[rule]]\npaths = ['a',\n[[rule]]\nid = 'b'\n|", "rule {id} key <> ^"),
            ("[[rule]]\npaths = [[1]]\n|", "rule {paths} key <> ^"),
            ("# ru|", "nothing"),
            ("a = 1 # x|", "nothing"),
            ("why = '''\nx|\n'''", "nothing"),
            ("why = \"\"\"\nopen|", "nothing"),
            // Inline and dotted.
            ("rule = [{ id = 'a', |", "rule {id} key <>"),
            ("rule = [{ id = 'a', on| = 1 }]", "rule {id} key <on> ="),
            ("rule = [{ on_fail = |", "rule {} value of on_fail <>"),
            ("agents = { claude = { | } }", "agents/claude {} key <>"),
            ("agents.claude.|", "agents/claude {} key <>"),
            ("agents.claude.attended = t|", "agents/claude {} value of attended <t>"),
            ("[agents.claude]\nattended = |", "agents/claude {} value of attended <>"),
            ("\u{feff}on|", " {} key <on> ^"),
            ("[[rule]]\r\non_fail = |\r\nid = 'a'\r\n", "rule {} value of on_fail <>"),
            ("a = \0|", " {} value of a <\0>"),
        ] {
            assert_eq!(shown(Grammar::Toml, marked), expected, "{marked:?}");
        }
    }
}
