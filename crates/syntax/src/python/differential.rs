//! Both front ends on the same texts: what is valid Python must have the same facts whoever reads it.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;

use super::{facts_of_module, facts_of_tree, module};
use crate::tree::{self, Limits};
use crate::{Call, Definition, Facts, Language, Use};

fn both(text: &str) -> Option<(Facts, Facts)> {
    let module = module::parse(text)?;
    let source = Language::Python.parsed_text(text);
    let tree = tree::parse(&tree_sitter_python::LANGUAGE.into(), &source, &Limits::default()).ok()?;
    if tree.root_node().has_error() {
        return None;
    }
    Some((facts_of_module(&module, text), facts_of_tree(&tree, text)))
}

fn first_difference<T: PartialEq + Debug>(what: &str, ours: &[T], theirs: &[T]) -> Option<String> {
    let at = (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at))?;
    Some(format!("{what} {at}: {:?}\n   tree-sitter {:?}", ours.get(at), theirs.get(at)))
}

/// Whether tree-sitter's grammar is known to read something in this text otherwise than Python does: the `*` of
/// `[*f()]` as a part of the call, and `type(x).y = z` as an alias of a type.
fn is_misread(text: &str, theirs: &Facts) -> bool {
    theirs.calls.iter().any(|call| {
        let read = &text[call.span.clone()];
        read.starts_with('*') || read.starts_with("type(") && call.arguments.is_empty() && !read.starts_with("type()")
    })
}

fn differences(text: &str, ours: &Facts, theirs: &Facts) -> Vec<String> {
    if is_misread(text, theirs) {
        return Vec::new();
    }
    // A binding may be a whole loop.
    let calls = |facts: &Facts| -> Vec<Call> {
        let call =
            |it: &Call| Call { bindings: it.bindings.iter().map(|it| it.start..it.start).collect(), ..it.clone() };
        facts.calls.iter().map(call).collect()
    };
    let uses = |facts: &Facts| -> Vec<Use> {
        let used = |it: &Use| Use { bindings: it.bindings.iter().map(|it| it.start..it.start).collect(), ..it.clone() };
        facts.uses.iter().map(used).collect()
    };
    // Tree-sitter counts the comments behind a body to it.
    let starts = |facts: &Facts| -> Vec<Definition> {
        let start = |it: &Definition| Definition { span: it.span.start..it.span.start, ..it.clone() };
        facts.definitions.iter().map(start).collect()
    };
    [
        first_difference("call", &calls(ours), &calls(theirs)),
        first_difference("use", &uses(ours), &uses(theirs)),
        first_difference("definition", &starts(ours), &starts(theirs)),
        first_difference("import", &ours.imports, &theirs.imports),
        first_difference("comment", &ours.comments, &theirs.comments),
        first_difference("string", &ours.strings, &theirs.strings),
        first_difference("error", &ours.errors, &theirs.errors),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            python_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            found.push(path);
        }
    }
}

#[test]
fn the_standard_library_has_the_same_facts_from_both() {
    let library = Command::new("python3")
        .args(["-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])"])
        .output()
        .expect("python3 runs");
    let library = String::from_utf8(library.stdout).expect("a path");
    let mut files = Vec::new();
    python_files(Path::new(library.trim()), &mut files);
    files.sort();
    let (mut compared, mut wrong) = (0, 0);
    // Enough to meet everything, few enough for a build without optimisation.
    for file in
        files.iter().step_by(3).filter(|file| !file.components().any(|part| part.as_os_str() == "site-packages"))
    {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let Some((ours, theirs)) = both(&text) else { continue };
        compared += 1;
        let differences = differences(&text, &ours, &theirs);
        wrong += usize::from(!differences.is_empty());
        if wrong < 40 {
            for difference in differences {
                eprintln!("{}: {difference}", file.display());
            }
        }
    }
    assert!(compared > 300, "{compared} files");
    assert_eq!(wrong, 0, "of {compared}");
}

/// Text of a few statements, whole or broken.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "import os\n",
        "def f(a, b=1):\n",
        "    x = f(os.system, 'a')\n",
        "    return g(x)\r\n",
        "class A:\n",
        "if x:\n",
        "else:\n",
        "# note\n",
        "\r",
        "\n",
        "  ",
        "y = f'a{eval(1)}b'\n",
        "print(x)\n",
        "'''a\nb'''\n",
        "(",
        ")",
        "x.y()",
        "'",
        "@d\n",
        "async def h(): await k()\n",
        "é = ｅval(1)\n",
        "match x:\n    case 1: pass\n",
        "type(x).y = 1\n",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn a_few_statements_have_the_same_facts_from_both(text in pieces()) {
        if let Some((ours, theirs)) = both(&text) {
            prop_assert_eq!(differences(&text, &ours, &theirs), Vec::<String>::new(), "{:?}", text);
        }
    }
}

#[test]
fn every_construct_has_the_same_facts_from_both() {
    let mut compared = 0;
    for text in CONSTRUCTS {
        let Some((ours, theirs)) = both(text) else { panic!("one of them does not read {text}") };
        assert_eq!(differences(text, &ours, &theirs), Vec::<String>::new(), "{text}");
        compared += usize::from(!is_misread(text, &theirs));
    }
    assert!(compared + 4 > CONSTRUCTS.len());
}

const CONSTRUCTS: [&str; 44] = [
    "with open(a) as f, g(b): f(c)\n",
    "with (open(a) as f, g(b) as (h, i)): f(h)\n",
    "async def k():\n  async with a.b(c) as d: await d.e()\n",
    "try: f()\nexcept (A, b.C) as e: e.g()\nexcept D: pass\nelse: h()\nfinally: i()\n",
    "try: f()\nexcept* A as e: e.g()\n",
    "a, (b, *c), [d] = os.system, (f, g), [h]\nb(1)\n",
    "x: os.PathLike = os.system\nx(1)\n",
    "x = y = os.system, 2\n",
    "for a, b in c.d, e: f(a)\nelse: g()\n",
    "match f(x), y:\n  case [a, *b] if g(c): a()\n  case A(b, c=d): d()\n  case {'k': v, **r}: r()\n",
    "match x:\n  case a.b | 1 | -1+2j | 'x' 'y' | None: pass\n  case (p as q): q()\n  case _: _()\n",
    "def f[T: g](a, b=h(1), *c: i, d: j = k(2), **e) -> l(3): m(4)\n",
    "f = lambda a, *b, c=g(1), **d: a(b)\n",
    "class A[T](B, m=C(1), *D, **E):\n  x = f()\n  def g(self): self.h(); A.i()\n",
    "f(g(a) for a in h(b) if i(a))\n",
    "f((a), *b, c=(d), **e, **{'x': 1})\n",
    "x[f(a), b:g(c):d, ...]\nx[(a, b)]\n",
    "f'a{x!r:>{w(1)}}b{y(2)=}' 'c' f'{z}'\n",
    "t = 'a' 'b'; eval('c' + \"d\")\n",
    "del a, (b), c.d\n",
    "def f():\n  global g, h\n  g = eval\ng(1)\n",
    "def f():\n  e = 1\n  def g():\n    nonlocal e\n    e = eval\n  e(1)\n",
    "def f(): return a.b, c\n",
    "def f(): x = yield a.b, c; y = yield from g(d)\n",
    "raise A(1) from b.c\n",
    "x = (a.b) and (c.d) or not (e and f)\ng((a.b) and c or (d))\n",
    "x = f if a < b <= c() else g\nx(1)\n",
    "x = (yield_)\n(os.system)(1)\n((os).system)(2)\n",
    "{**a, 'b': c.d, **{'e': f}}\n",
    "x = {g(a): b for a, b in c.d if e(a) if f(b) for g in h}\n",
    "[f(a) for a in (b)]; {g(a) for a in c}; (h(a) for a in d)\n",
    "if (a := os.system): a(1)\n",
    "assert f(a), g(b)\n",
    "f(-1, +2, ~3, -(4), not 5, -x)\n",
    "@a.b(c)\n@d\nasync def f(): pass\n",
    "import a.b as c, d, e.f\nc.g(1); d.h(2); e.f.i(3)\n",
    "from . import a\nfrom ..b import (c as d, e)\na(); d(); e()\n",
    "from os import *\nfrom __future__ import annotations\nsystem(1)\n",
    "x = f(a)(b)[c].d(e)\n",
    "x = [\n  a.b, # c\n  (d.e),\n]\n",
    "while f(a): break\nelse: g(b)\n",
    "def f(self, /, a, *, b): 'doc'\ndef g(): ...\ndef h(): pass\n",
    "getattr(os, 'system')(1); globals()['eval'](2); __import__('os').system(3)\n",
    "\u{feff}# \u{e9}\r\neval('\u{1f600}')\r\nif x:\r  eval(2)\r",
];
