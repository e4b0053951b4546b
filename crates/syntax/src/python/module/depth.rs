//! Texts that nest without end, however they are written: none may reach a walk that recurses, nor be freed by one.

use proptest::prelude::*;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, PySourceType};
use ruff_python_parser::parse_unchecked_source;

use super::{DEEPEST, is_shallow, parse};
use crate::python::facts_of_module;

/// How deeply the tree of a text is nested.
#[derive(Default)]
struct Depth {
    now: u32,
    most: u32,
}

impl<'a> SourceOrderVisitor<'a> for Depth {
    fn enter_node(&mut self, _: AnyNodeRef<'a>) -> TraversalSignal {
        self.now += 1;
        self.most = self.most.max(self.now);
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, _: AnyNodeRef<'a>) {
        self.now -= 1;
    }
}

fn depth(text: &str) -> u32 {
    let mut depth = Depth::default();
    depth.visit_mod(&ruff_python_ast::Mod::from(parse_unchecked_source(text, PySourceType::Python).into_syntax()));
    depth.most
}

fn on_a_large_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).unwrap().join().unwrap()
}

/// What repeats often enough to nest more deeply than is allowed, in case it nests.
const OFTEN: usize = 4 * DEEPEST as usize;

fn check(text: String) -> Result<(), TestCaseError> {
    on_a_large_stack(move || {
        if is_shallow(&text) {
            let depth = depth(&text);
            prop_assert!(depth <= 3 * DEEPEST, "{depth} deep: {:?}", text.chars().take(80).collect::<String>());
        }
        Ok(())
    })
}

#[test]
fn nesting_is_counted_past_commas() {
    for piece in [
        "lambda a,b: ",
        "lambda a,b=1,*c: ",
        "yield a, ",
        "x = yield a, ",
        "not a, lambda a, b: not ",
        "lambda a, *, b: lambda: ",
    ] {
        check(format!("f({piece}", piece = piece.repeat(OFTEN))).unwrap();
        check(format!("{}1\n", piece.repeat(OFTEN))).unwrap();
    }
}

#[test]
fn the_deepest_that_is_read_fits_a_small_stack() {
    let shapes = [
        ("x = ", "(", ")"),
        ("x = ", "[", "]"),
        ("x = ", "{1:", "}"),
        ("x = ", "-", ""),
        ("x = ", "not ", ""),
        ("x = ", "f(", ")"),
        ("x = ", "f'{", "}'"),
        ("x = ", "lambda:", ""),
        ("x = ", "lambda a,b:", ""),
        ("x = ", "a.b(", ").c"),
        ("x = ", "a if b else ", ""),
        ("x = ", "[x for x in ", "]"),
    ];
    for (before, open, close) in shapes {
        let text = |times: usize| format!("{before}{}a{}\n", open.repeat(times), close.repeat(times));
        let times = (1..=DEEPEST as usize).rev().find(|&times| is_shallow(&text(times))).unwrap();
        let text = text(times);
        let small = std::thread::Builder::new().stack_size(1 << 20);
        let read = small.spawn(move || parse(&text).map(|module| facts_of_module(&module, &text).calls.len()));
        let read = read.unwrap().join().unwrap();
        assert!(read.is_some(), "{open}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_repeats_is_shallow_or_found_deep(
        before in prop::sample::select(vec!["", "(", "x = ", "f(a,", "f'{", "(\n", "class A:\n ", "match x:\n case "]),
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..7),
    ) {
        check(format!("{before}{}", pieces.concat().repeat(OFTEN)))?;
    }
}

const PIECES: [&str; 58] = [
    "a",
    "1",
    "'s'",
    " ",
    ",",
    ".",
    ":",
    ";",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "f'{",
    "}'",
    "f'",
    "'",
    "+",
    "-",
    "**",
    "*",
    "=",
    ":=",
    "->",
    "@",
    "!",
    "~",
    "%",
    "|",
    "<",
    "\\\n",
    "\n",
    "\n ",
    "# c\n",
    " lambda ",
    " yield ",
    " yield from ",
    " await ",
    " not ",
    " and ",
    " if ",
    " else ",
    " for ",
    " in ",
    " async ",
    " as ",
    " with ",
    " elif ",
    " case ",
    " match ",
    " type ",
    " def ",
    " class ",
    " return ",
    " try",
    " except ",
    " import ",
];
