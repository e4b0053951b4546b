//! Where in a half-typed file a cursor stands: in which table, at a key or at a value, and what stands there already.
//!
//! Completion is asked exactly while a text does not parse, so that these readers never fail: each goes once over the
//! text, keeps no more than it needs, and gives up on what is nested deeper than any file of ours. They know the grammar
//! and no key.

mod json;
mod toml;
mod yaml;

use syntax::Span;

/// The longest text that is looked at, in bytes: no file of ours may be longer.
pub const LONGEST: usize = rules::rulebook::LONGEST;
/// The deepest nesting that is followed.
const DEEPEST: usize = 64;

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// TOML.
    Toml,
    /// JSON.
    Json,
    /// YAML, in block style.
    Yaml,
}

/// What a list's items are called in [`Spot::table`] where the grammar marks them.
pub const ITEM: &str = "-";

/// Where a cursor stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spot {
    /// The keys that lead to the table. In YAML an item of a list is one more, [`ITEM`].
    pub table: Vec<String>,
    /// The keys that the table has already, without the one at the cursor.
    pub there: Vec<String>,
    /// At what.
    pub slot: Slot,
}

/// At what a cursor stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Slot {
    /// Nothing that is known: a comment, a place behind a value, too deep.
    #[default]
    Nothing,
    /// A key or the place for one.
    Key {
        /// The key as written with its quotes; empty where none has begun.
        span: Span,
        /// A value follows already, or the mark before it.
        follows: bool,
        /// A table may begin here instead: nothing else stands before it on the line.
        begins: bool,
    },
    /// The header of a table in TOML.
    Header {
        /// From its first bracket to the end of what belongs to it.
        span: Span,
    },
    /// A value or the place for one.
    Value {
        /// The key it belongs to.
        key: String,
        /// The value as written with its quotes; empty where none has begun. Of a list, the item.
        span: Span,
        /// It stands in a list.
        listed: bool,
    },
}

/// Where byte `offset` of `text` stands; [`Slot::Nothing`] in a text that is too long.
pub fn spot(grammar: Grammar, text: &str, offset: usize) -> Spot {
    if text.len() > LONGEST || offset > text.len() {
        return Spot::default();
    }
    match grammar {
        Grammar::Toml => toml::spot(text, offset),
        Grammar::Json => json::spot(text, offset),
        Grammar::Yaml => yaml::spot(text, offset),
    }
}

/// A word without the quotes around it, closed or not.
pub fn unquoted(word: &str) -> &str {
    match word.chars().next().filter(|it| matches!(it, '"' | '\'')) {
        Some(quote) => {
            let inside = &word[1..];
            inside.strip_suffix(quote).unwrap_or(inside)
        }
        None => word,
    }
}

/// The keys of tables, each table by a number, with where they stand.
#[derive(Debug, Default)]
struct Keys {
    found: Vec<(u32, Span)>,
}

impl Keys {
    fn add(&mut self, table: u32, span: Span) {
        self.found.push((table, span));
    }

    /// The keys of a table but the one at `except`.
    fn of(&self, table: u32, text: &str, except: &Span) -> Vec<String> {
        let of_table = self.found.iter().filter(|(number, span)| *number == table && span != except);
        of_table.filter_map(|(_, span)| text.get(span.clone())).map(|key| unquoted(key).to_owned()).collect()
    }
}

/// Takes the text with `|` where the cursor stands.
#[cfg(test)]
fn at_mark(grammar: Grammar, marked: &str) -> (String, Spot) {
    let offset = marked.find('|').expect("a mark");
    let text = marked.replacen('|', "", 1);
    let spot = spot(grammar, &text, offset);
    (text, spot)
}

/// A spot in one line, for tables of tests.
#[cfg(test)]
fn shown(grammar: Grammar, marked: &str) -> String {
    let (text, spot) = at_mark(grammar, marked);
    let what = match &spot.slot {
        Slot::Nothing => return "nothing".to_owned(),
        Slot::Key { span, follows, begins } => {
            let marks = [(*follows, " ="), (*begins, " ^")].map(|(is, mark)| if is { mark } else { "" }).concat();
            format!("key <{}>{marks}", &text[span.clone()])
        }
        Slot::Header { span } => format!("header <{}>", &text[span.clone()]),
        Slot::Value { key, span, listed } => {
            format!("value of {key} <{}>{}", &text[span.clone()], if *listed { " in a list" } else { "" })
        }
    };
    format!("{} {{{}}} {what}", spot.table.join("/"), spot.there.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_too_hostile() {
        let many = |piece: &str| piece.repeat((LONGEST >> 3) / piece.len());
        for grammar in [Grammar::Toml, Grammar::Json, Grammar::Yaml] {
            for text in [
                many("["),
                many("{"),
                many("a = ["),
                many("a={a="),
                many("{\"a\":"),
                many("- "),
                many("a:\n "),
                many("x\n"),
                many("[[rule]]\nid = \"a\"\n"),
                many("\"\"\""),
                many("'''\n"),
                many("\0"),
                many("\r"),
                many("\r\n"),
                many("ä = 🦀\n"),
                many("\u{feff}"),
                many("."),
                many("a."),
            ] {
                let ends = [0, text.len() / 2, text.len()];
                for offset in ends.into_iter().filter(|at| text.is_char_boundary(*at)) {
                    let found = spot(grammar, &text, offset);
                    assert!(found.table.len() <= DEEPEST + 4, "{grammar:?} {:?}", &text[..8]);
                }
            }
            assert_eq!(spot(grammar, &"a".repeat(LONGEST + 1), 0), Spot::default());
            assert_eq!(spot(grammar, "a", 2), Spot::default());
        }
    }

    proptest::proptest! {
        #[test]
        fn every_place_of_every_text_stands_somewhere(text in "[a\\[\\]{}\"'=:,.# \n\r-]{0,60}", at in 0_usize..60) {
            for grammar in [Grammar::Toml, Grammar::Json, Grammar::Yaml] {
                let found = spot(grammar, &text, at.min(text.len()));
                if let Slot::Key { span, .. } | Slot::Value { span, .. } | Slot::Header { span } = found.slot {
                    let at = at.min(text.len());
                    proptest::prop_assert!(span.start <= at && at <= span.end, "{grammar:?} {text:?} {at} {span:?}");
                    proptest::prop_assert!(!text[span].contains('\n'), "{grammar:?} {text:?} {at}");
                }
            }
        }
    }
}
