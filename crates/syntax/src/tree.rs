//! A syntax tree behind our own type: parsing within bounds, edits, reparsing.
//!
//! This is where the engine meets tree-sitter; other crates see [`Tree`], [`Limits`] and [`ParseStop`] alone. A stop is
//! an error, never a crash: no input panics or overflows the stack (tree-sitter's parser, editing and freeing of trees
//! work on heap-allocated stacks, and so do our walks).

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::Instant;

use memchr::memchr_iter;
use tree_sitter::{InputEdit, ParseOptions, ParseState, Parser, Point};

use crate::{Facts, Language, Span, python};

/// What a parse may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The longest text, in bytes (at most 4 GiB whatever is asked).
    pub bytes: usize,
    /// The most work, in hundreds of parser operations: the same on every machine. A line of ordinary code takes
    /// less than one.
    pub steps: u64,
    /// When to give up, whatever was done.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    /// 16 MiB, 4,000,000 steps (ordinary code of that size takes less than a quarter), no deadline.
    fn default() -> Limits {
        Limits { bytes: 16 << 20, steps: 4_000_000, deadline: None }
    }
}

/// Why a text was not parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseStop {
    /// It is longer than [`Limits::bytes`].
    #[error("the text has {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// It takes more than [`Limits::steps`].
    #[error("parsing took more than {limit} steps")]
    TooCostly {
        /// The limit.
        limit: u64,
    },
    /// [`Limits::deadline`] passed.
    #[error("parsing ran out of time")]
    OutOfTime,
}

/// The syntax tree of one text.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) language: Language,
    pub(crate) tree: tree_sitter::Tree,
}

impl Tree {
    /// Parses `text`. Text that does not follow the grammar gives a tree with error regions.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn parse(language: Language, text: &str, limits: &Limits) -> Result<Tree, ParseStop> {
        let tree = parse(&language.grammar(), &language.parsed_text(text), None, limits)?;
        Ok(Tree { language, tree })
    }

    /// Tells the tree of an edit that replaced the bytes of `replaced` by `inserted` bytes, before [`Tree::reparse`].
    pub fn edit(&mut self, replaced: &Span, inserted: usize) {
        // A lone `\r` right before the edit is read as `\n` or as a part of `\r\n`, as the edit makes it.
        let start = replaced.start.saturating_sub(1);
        self.tree.edit(&InputEdit {
            start_byte: start,
            old_end_byte: replaced.end,
            new_end_byte: replaced.start + inserted,
            // Rows and columns are never asked of a tree, and the scanners of incremental languages ask for none.
            start_position: Point::default(),
            old_end_position: Point::default(),
            new_end_position: Point::default(),
        });
    }

    /// Parses `text`, reusing what the edits told to this tree left whole.
    ///
    /// The result has the facts of a fresh parse: where the text is broken, error recovery depends on what is reused,
    /// so a text with errors is parsed afresh.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn reparse(&self, text: &str, limits: &Limits) -> Result<Tree, ParseStop> {
        if !self.has_errors() {
            let source = self.language.parsed_text(text);
            let tree = parse(&self.language.grammar(), &source, Some(&self.tree), limits)?;
            if !tree.root_node().has_error() {
                return Ok(Tree { language: self.language, tree });
            }
        }
        Tree::parse(self.language, text, limits)
    }

    /// The facts of `text`, the text this tree was parsed from.
    pub fn facts(&self, text: &str) -> Facts {
        match self.language {
            Language::Python => python::facts(&self.tree, text),
        }
    }

    /// Whether a part of the text does not parse.
    pub fn has_errors(&self) -> bool {
        self.tree.root_node().has_error()
    }
}

/// Parses with any grammar, fresh or upon an edited tree.
pub(crate) fn parse(
    grammar: &tree_sitter::Language,
    text: &str,
    old: Option<&tree_sitter::Tree>,
    limits: &Limits,
) -> Result<tree_sitter::Tree, ParseStop> {
    let limit = limits.bytes.min(u32::MAX as usize);
    if text.len() > limit {
        return Err(ParseStop::TooLarge { bytes: text.len(), limit });
    }
    let mut parser = Parser::new();
    parser.set_language(grammar).expect("the grammar's version is one this tree-sitter reads");
    let mut steps = 0;
    let mut stop = None;
    let mut watch = |_: &ParseState| {
        steps += 1;
        if steps > limits.steps {
            stop = Some(ParseStop::TooCostly { limit: limits.steps });
        } else if limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            stop = Some(ParseStop::OutOfTime);
        }
        if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let tree = parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        old,
        Some(ParseOptions::new().progress_callback(&mut watch)),
    );
    tree.ok_or_else(|| stop.unwrap_or(ParseStop::OutOfTime))
}

impl Language {
    fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::Python => tree_sitter_python::LANGUAGE.into(),
        }
    }

    /// The text as the grammar must see it, byte for byte as long: Python ends lines at a lone `\r` too.
    fn parsed_text(self, text: &str) -> Cow<'_, str> {
        match self {
            Language::Python => end_lines_with_newline(text),
        }
    }
}

fn end_lines_with_newline(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_lone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
    if !memchr_iter(b'\r', bytes).any(|at| is_lone(&at)) {
        return Cow::Borrowed(text);
    }
    let mut copy = String::with_capacity(text.len());
    let mut done = 0;
    for at in memchr_iter(b'\r', bytes).filter(is_lone) {
        copy.push_str(&text[done..at]);
        copy.push('\n');
        done = at + 1;
    }
    copy.push_str(&text[done..]);
    Cow::Owned(copy)
}
