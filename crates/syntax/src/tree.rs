//! A syntax tree behind our own type, parsed within bounds.
//!
//! This is where the engine meets its parsers: ruff's for what is valid Python, tree-sitter for all else; other crates see [`Tree`], [`Limits`] and [`ParseStop`] alone. A stop is
//! an error, never a crash: no input panics or overflows the stack (tree-sitter's parser, editing and freeing of trees
//! work on heap-allocated stacks, and so do our walks).

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::Instant;

use memchr::memchr_iter;
use ruff_python_ast::ModModule;
use ruff_python_parser::Parsed;
use tree_sitter::{ParseOptions, ParseState, Parser};

use crate::lines::lines;
use crate::{Facts, Language, python};

/// What a parse may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The longest text, in bytes (at most 4 GiB whatever is asked).
    pub bytes: usize,
    /// The most work on a text that is not valid, in hundreds of tree-sitter's operations: the same on every machine. A
    /// line of ordinary code takes less than one. Valid text is read in time that only its length tells.
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
    /// Comments or line continuations follow each other so long that the grammar, which reads the rest of such a run
    /// again for each of them, would take seconds.
    #[error("the run of comments or line continuations from line {line} on is too long to parse")]
    LongRun {
        /// The run's first line, from 1.
        line: usize,
    },
    /// [`Limits::deadline`] passed.
    #[error("parsing ran out of time")]
    OutOfTime,
}

/// The syntax tree of one text.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) language: Language,
    pub(crate) source: Source,
}

/// Who read the text.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// Ruff's parser: valid Python.
    Module(Box<Parsed<ModModule>>),
    /// Tree-sitter: anything else.
    Tree(tree_sitter::Tree),
}

impl Tree {
    /// Parses `text`. Text that does not follow the grammar gives a tree with error regions.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn parse(language: Language, text: &str, limits: &Limits) -> Result<Tree, ParseStop> {
        if text.len() > limits.bytes {
            return Err(ParseStop::TooLarge { bytes: text.len(), limit: limits.bytes });
        }
        let module = match language {
            Language::Python => python::parse(text),
        };
        if let Some(module) = module {
            return Ok(Tree { language, source: Source::Module(Box::new(module)) });
        }
        language.check_runs(text)?;
        let tree = parse(&language.grammar(), &language.parsed_text(text), limits)?;
        Ok(Tree { language, source: Source::Tree(tree) })
    }

    /// The facts of `text`, the text this tree was parsed from.
    pub fn facts(&self, text: &str) -> Facts {
        match self.language {
            Language::Python => match &self.source {
                Source::Module(module) => python::facts_of_module(module, text),
                Source::Tree(tree) => python::facts_of_tree(tree, text),
            },
        }
    }

    /// Whether a part of the text does not parse.
    pub fn has_errors(&self) -> bool {
        match &self.source {
            Source::Module(_) => false,
            Source::Tree(tree) => tree.root_node().has_error(),
        }
    }
}

/// Parses with any grammar of tree-sitter.
pub(crate) fn parse(
    grammar: &tree_sitter::Language,
    text: &str,
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
        None,
        Some(ParseOptions::new().progress_callback(&mut watch)),
    );
    stop.map_or(tree.ok_or(ParseStop::OutOfTime), Err)
}

impl Language {
    fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::Python => tree_sitter_python::LANGUAGE.into(),
        }
    }

    /// Refuses text on which the grammar's scanner takes quadratic time.
    fn check_runs(self, text: &str) -> Result<(), ParseStop> {
        match self {
            Language::Python => check_runs(text),
        }
    }

    /// The text as the grammar must see it, byte for byte as long: Python ends lines at a lone `\r` too.
    pub(crate) fn parsed_text(self, text: &str) -> Cow<'_, str> {
        match self {
            Language::Python => end_lines_with_newline(text),
        }
    }
}

/// How many bytes may be read again; a run of 2,000 ordinary comments.
const MOST_READ_AGAIN: usize = 200_000_000;

fn check_runs(text: &str) -> Result<(), ParseStop> {
    let (mut read_again, mut first, mut start, mut length) = (0, 0, 0, 0);
    for (number, line) in lines(text).enumerate() {
        let content = text[line.span.clone()].trim_start();
        if content.starts_with('#') || content == "\\" {
            if length == 0 {
                (first, start) = (number, line.span.start);
            }
            length += 1;
            // The run so far, for each of its lines; what earlier runs took stays.
            if read_again + length * (line.next - start) > MOST_READ_AGAIN {
                return Err(ParseStop::LongRun { line: first + 1 });
            }
        } else if !content.is_empty() {
            read_again += length * (line.span.start - start);
            length = 0;
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_python(text: &str, limits: &Limits) -> Result<Tree, ParseStop> {
        Tree::parse(Language::Python, text, limits)
    }

    #[test]
    fn each_limit_stops_a_parse() {
        // What ruff reads it reads in one go.
        let text = format!("{})\n", "x = f(1)\n".repeat(1000));
        let within = |limits: Limits| parse_python(&text, &limits).map(|_| ());
        assert_eq!(within(Limits::default()), Ok(()));
        let stop = ParseStop::TooLarge { bytes: 9002, limit: 8999 };
        assert_eq!(within(Limits { bytes: 8999, ..Limits::default() }), Err(stop));
        assert_eq!(within(Limits { steps: 3, ..Limits::default() }), Err(ParseStop::TooCostly { limit: 3 }));
        let past = Limits { deadline: Some(Instant::now()), ..Limits::default() };
        assert_eq!(within(past), Err(ParseStop::OutOfTime));
    }

    #[test]
    fn runs_that_take_quadratic_time_are_refused() {
        for line in ["  # a comment\n", "\\\n"] {
            let text = format!("x = 1\n\n{}y)\n", line.repeat(20_000));
            assert_eq!(
                parse_python(&text, &Limits::default()).map(|_| ()),
                Err(ParseStop::LongRun { line: 3 }),
                "{line}"
            );
        }
        assert!(parse_python(&format!("{})", "# a\nx\n".repeat(1000)), &Limits::default()).is_ok());
        let valid = format!("{}y\n", "# a comment\n".repeat(20_000));
        assert!(parse_python(&valid, &Limits::default()).is_ok(), "ruff has no such runs");
    }

    #[test]
    fn deep_nesting_fits_a_small_stack() {
        let deep = |open: &str, close: &str| format!("x = {}1{}\n", open.repeat(3000), close.repeat(3000));
        let texts = [
            deep("(", ")"),
            deep("[", "]"),
            deep("{1:", "}"),
            deep("-", ""),
            deep("f(", ")"),
            deep("f'{", "}'"),
            deep("lambda:", ""),
            deep("lambda a,b:", ""),
            deep("a.b(", ").c"),
            deep("(", ""),
            deep("a if b else ", ""),
            deep("[x for x in ", "]"),
        ];
        let parsing = std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
            for text in texts {
                parse_python(&text, &Limits::default()).unwrap().facts(&text);
            }
        });
        parsing.unwrap().join().unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_text_makes_the_walk_fail(text in "[a-c(){}\\[\\]:.,=*'\"#@\\\\ \t\r\néf\u{0}-]{0,80}") {
            let facts = parse_python(&text, &Limits::default()).unwrap().facts(&text);
            for call in &facts.calls {
                prop_assert!(text.get(call.span.clone()).is_some() && text.get(call.callee.clone()).is_some());
            }
        }
    }
}
