//! Each rule of names and scopes is a row: a text, and the names of its calls in order.

use crate::facts::ArgumentKind;
use crate::{DefinitionKind, Facts, Language, Limits, Literal, Tree};

fn facts(text: &str) -> Facts {
    Tree::parse(Language::Python, text, &Limits::default()).unwrap().facts(text)
}

/// The names of each call, those of a call with a space between, the calls with a bar.
fn calls(text: &str) -> String {
    join(facts(text).calls.iter().map(|call| &call.names))
}

fn uses(text: &str) -> String {
    join(facts(text).uses.iter().map(|used| &used.names))
}

fn join<'a>(names: impl Iterator<Item = &'a Vec<String>>) -> String {
    names.map(|names| names.join(" ")).collect::<Vec<_>>().join(" | ")
}

fn check(table: &[(&str, &str)], read: fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (text, expected) in table {
        let found = read(text);
        if found != *expected {
            wrong.push(format!("{text}\n  expected {expected}\n  found    {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn imports_give_names() {
    check(
        &[
            ("eval('1')", "eval"),
            ("import os\nos.system('x')", "os.system"),
            ("import os as o\no.system('x')", "os.system o.system"),
            ("import a.b.c\na.b.c.f()", "a.b.c.f"),
            ("import a.b.c\na.x()", "a.x"),
            ("import xml.etree.ElementTree as ET\nET.parse('x')", "xml.etree.ElementTree.parse ET.parse"),
            ("from os import system\nsystem('x')", "os.system system"),
            ("from os import system as s, path\ns('x')\npath.join()", "os.system s | os.path.join path.join"),
            ("from os import (\n  system, # here\n  path,\n)\nsystem('x')", "os.system system"),
            ("from os.path import join\njoin()", "os.path.join join"),
            ("import os . path\nos . path \\\n  . join()", "os.path.join"),
            ("from __future__ import annotations\nf()", "f"),
            ("import os, sys\nsys.exit()", "sys.exit"),
            (
                "try:\n    import simplejson as json\nexcept ImportError:\n    import json\njson.loads()",
                "simplejson.loads json.loads",
            ),
            ("import\\\n  os as o\no.system()", "os.system o.system"),
        ],
        calls,
    );
}

#[test]
fn relative_imports_name_the_project() {
    check(
        &[
            ("from .os import system\nsystem('x')", ""),
            ("from . import os\nos.system('x')", ""),
            ("from ..a.b import c as eval\neval('x')\neval.f()", " | "),
            ("from .x import *\nopen('a')", "open"),
        ],
        calls,
    );
}

#[test]
fn star_imports_bring_candidates() {
    check(
        &[
            ("from os import *\nsystem('x')", "system os.system"),
            ("from os import *\nfrom shutil import *\nrmtree('x')", "rmtree os.rmtree shutil.rmtree"),
            ("from os import *\ndef system(x): pass\nsystem('x')", ""),
            ("from os import *\npath.join()", "path.join os.path.join"),
            ("from builtins import *\neval('x')", "eval"),
        ],
        calls,
    );
}

#[test]
fn builtins_lose_their_module() {
    check(
        &[
            ("import builtins\nbuiltins.eval('1')", "eval builtins.eval"),
            ("from builtins import eval as e\ne('1')", "eval e"),
            ("import builtins as b\nb.open('x')", "open b.open"),
            ("__builtins__.eval('1')", "eval __builtins__.eval"),
            ("__builtins__['eval']('1')", "eval"),
            ("__builtins__.__dict__['eval']('1')", "eval"),
            ("vars(__builtins__)['eval']('1')", "eval | vars"),
            ("globals()['eval']('1')", "eval | globals"),
            ("globals()['__builtins__'].eval('1')", "eval | globals"),
            ("import os\nglobals()['os'].system('1')", "os.system | globals"),
            ("globals().get('eval')('1')", "eval | ?.get | globals"),
            ("eval.__call__('1')", "eval eval.__call__"),
        ],
        calls,
    );
}

#[test]
fn aliases_are_followed() {
    check(
        &[
            ("e = eval\ne('1')", "eval e"),
            ("import os\no = os\no.system('x')", "os.system o.system"),
            ("import os\no = os\ns = o.system\ns('x')", "os.system s"),
            ("a = b = eval\na()\nb()", "eval a | eval b"),
            ("a, b = eval, open\na()\nb()", "eval a | open b"),
            ("(a, [b, *c]) = eval, (open, x)\na()", "eval a"),
            ("a: object = eval\na()", "eval a"),
            ("import os\nclass A:\n    run = os.system\nA.run('x')\nA().run('x')", "os.system | os.system | "),
            ("import os\nclass A:\n    run = os.system\n    def f(self):\n        self.run('x')", "os.system self.run"),
            (
                "import os\nclass A:\n    def __init__(self):\n        self.run = os.system\n    def f(self):\n        self.run('x')",
                "os.system self.run",
            ),
            ("import os\nclass A:\n    pass\nA.run = os.system\nA.run('x')", "os.system"),
            ("import os\nclass A:\n    run = os.system\nclass B(A): pass\nB.run('x')", "os.system"),
            ("import os\ndef f(run=os.system):\n    run('x')", "os.system run"),
            ("import os\ng = lambda run=os.system: run('x')", "os.system run"),
            ("if (e := eval):\n    e('1')", "eval e"),
            ("(e := eval)('1')", "eval"),
            ("for e in (eval, open):\n    e('1')", "eval open e"),
            ("[e('1') for e in [eval]]", "eval e"),
            ("def f():\n    e()\ne = eval", "eval e"),
            ("def f():\n    c()\nc = b\nb = a\na = eval", "eval a b c"),
            ("def f():\n    global e\n    e = eval\ne('1')", "eval e"),
            ("def f():\n    e = print\n    def g():\n        nonlocal e\n        e = eval\n    e('1')", "print eval e"),
            ("import os\nx.f = os.system\nx.f()", "x.f"),
            ("(eval or open)('1')", "eval open"),
            ("(eval if x else open)('1')", "eval open"),
            ("e = None or eval\ne('1')", "eval e"),
        ],
        calls,
    );
}

#[test]
fn constant_lookups_are_names() {
    check(
        &[
            ("import os\ngetattr(os, 'system')('x')", "os.system | getattr"),
            ("import os\ngetattr(os, 'sys' 'tem')('x')", "os.system | getattr"),
            ("import os\ngetattr(os, 'sys' + 'tem')('x')", "os.system | getattr"),
            ("import os\nn = 'system'\ngetattr(os, n)('x')", "os.system | getattr"),
            ("import os\nf = getattr(os, 'system', None)\nf('x')", "getattr | os.system f"),
            ("import os\ng = getattr\ng(os, 'system')('x')", "os.system | getattr g"),
            ("import os\ngetattr(os, name)('x')", " | getattr"),
            ("import os\ngetattr(getattr(os, 'path'), 'join')('x')", "os.path.join | getattr | getattr"),
            ("import os\nos.__getattribute__('system')('x')", "os.system | os.__getattribute__"),
            ("__import__('os').system('x')", "os.system | __import__"),
            ("__import__(name='os').system('x')", "os.system | __import__"),
            (
                "import importlib\nm = 'os'\nimportlib.import_module(package=p, name=m).system('x')",
                "os.system | importlib.import_module",
            ),
            ("__import__('os.path').system('x')", "os.system | __import__"),
            ("import importlib\nimportlib.import_module('os').system('x')", "os.system | importlib.import_module"),
            (
                "from importlib import import_module as im\nim('os.path').join('x')",
                "os.path.join | importlib.import_module im",
            ),
            (
                "import importlib\nm = importlib.import_module('os')\nm.system('x')",
                "importlib.import_module | os.system m.system",
            ),
            ("import sys\nsys.modules['os'].system('x')", "os.system"),
            ("import sys\nsys.modules.get('os').system('x')", "os.system | sys.modules.get"),
            ("import os\nos.__dict__['system']('x')", "os.system"),
            ("import os\nos.__dict__.get('system')('x')", "os.system | os.__dict__.get"),
            ("import os\nvars(os)['system']('x')", "os.system | vars"),
            ("import os\nd = vars(os)\nd['system']('x')", "vars | os.system"),
        ],
        calls,
    );
}

#[test]
fn what_is_bound_here_is_not_the_builtin() {
    check(
        &[
            ("def open(x): return x\nopen('a')", ""),
            ("class open: pass\nopen('a')", ""),
            ("def f(open):\n    open('a')", ""),
            ("f = lambda open: open('a')", ""),
            ("import os\ndef f(os):\n    os.system('x')", "?.system"),
            ("from os import system\ndef f(system):\n    system('x')", ""),
            ("from os import system\ndef f(system): pass\nsystem('x')", "os.system system"),
            ("def f():\n    import os as o\n    o.system()\no.system()", "os.system o.system | o.system"),
            ("def f():\n    def open(x): pass\n    open('a')\nopen('b')", " | open"),
            ("for open in x:\n    pass\ndef f():\n    for open in x:\n        open('a')", ""),
            ("def f():\n    with x as open:\n        open('a')", ""),
            ("def f():\n    try: pass\n    except E as open:\n        open('a')", ""),
            (
                "def f(x):\n    match x:\n        case [open, {'a': print, **exec}]:\n            open('a'); print(); exec()",
                " |  | ",
            ),
            ("def f(x):\n    match x:\n        case A(b=open) as print:\n            open(); print(); A()", " |  | A"),
            ("[open(1) for open in x]", ""),
            ("{open(1): 2 for a, (open, b) in x}", ""),
            ("class A:\n    def open(self): pass\n    def f(self):\n        open('a')", "open"),
            ("class A:\n    def open(self): pass\n    open()", ""),
            ("def f():\n    def open(): pass\n    class A:\n        def g(self): open()", ""),
            ("def f(*open, **print):\n    open()\n    print()", " | "),
            ("def f(open: int = 1):\n    open()", ""),
            ("open = make()\nopen('a')", "make | "),
            ("async def open(): pass\nawait open()", ""),
            ("def f():\n    x.open = 1\n    open('a')", "open"),
        ],
        calls,
    );
}

#[test]
fn a_meaning_that_may_hold_is_not_lost() {
    check(
        &[
            ("if x:\n    def open(): pass\nopen('a')", "open"),
            ("eval('1')\ndef eval(x): pass", "eval"),
            ("eval = eval('1')", "eval"),
            ("def eval(x): pass\ndel eval\neval('1')", "eval"),
            ("import os\nrun = os.system\nif x:\n    run = safe\nrun('a')", "os.system safe run"),
            ("import os\nrun = os.system\nrun = None\nrun('a')", "os.system run"),
            ("from a import f\nfrom b import f\nf()", "a.f b.f f"),
            ("def f(open=open):\n    open('a')", "open"),
        ],
        calls,
    );
}

#[test]
fn callees_of_every_form_are_read() {
    check(
        &[
            ("db().execute('x')", "?.execute | db"),
            ("(a or db).execute('y')", "a.execute db.execute"),
            ("self.dbs[0].execute('z')", "?.execute"),
            ("a().b.c()", "?.b.c ?.c | a"),
            ("def f():\n    db.execute('x')\ndb = connect()", "db.execute | connect"),
            ("f()()", " | f"),
            ("x[0]()", ""),
            ("'a'.join(x)", "?.join"),
            ("def f(db):\n    db.execute('x')", "db.execute"),
            ("db = connect()\ndb.execute('x')", "connect | db.execute"),
            ("import asyncio as aio\nasync def f():\n    await aio.sleep(1)", "asyncio.sleep aio.sleep"),
            ("(eval)('1')", "eval"),
            ("((eval))(('1'))", "eval"),
            ("eval \\\n  ('1')", "eval"),
            ("eval(\n'1'\n)", "eval"),
            ("[*eval('1')]", "eval"),
            ("x = *a.eval('1'), 2", "a.eval"),
            ("x[*eval('1')]", "eval"),
            ("def f(): yield *b[0].eval('1'), 2", "?.eval"),
            ("x = f\"{eval('1')}\"", "eval"),
            ("x = f\"{x:{eval('1')}}\"", "eval"),
            ("x = rf'''{f'{eval(1)}'}'''", "eval"),
            ("@app.route('/')\ndef f(x=eval('1')) -> g(): pass", "app.route | eval | g"),
            ("x: eval('1') = 2", "eval"),
            ("def f(x: 'eval(1)'): pass", ""),
            ("class A(eval('x'), metaclass=f()): pass", "eval | f"),
            ("ｅval('1')", "eval"),
            ("import ｏs\nos.system()", "os.system"),
            ("foo(bar(1), baz(2))", "foo | bar | baz"),
            ("print 'x', eval('1')", "print | eval"),
            ("exec 'x' in y", "exec"),
            ("# eval(1)\n'eval(2)'", ""),
            ("# c\reval('1')", "eval"),
            ("a = 1\r\neval('1')\r\n", "eval"),
            ("(lambda: eval('1'))()", " | eval"),
            ("super().f()", "?.f | super"),
            ("if x: eval(1)\nelif eval(2): pass\nelse: eval(3)\nwhile eval(4): pass", "eval | eval | eval | eval"),
            ("try: eval(1)\nexcept eval(2): eval(3)\nfinally: eval(4)", "eval | eval | eval | eval"),
            ("match f():\n    case 1 if eval(2): eval(3)", "f | eval | eval"),
            ("x[eval(1):eval(2)] = {**eval(3)}", "eval | eval | eval"),
            ("assert eval(1), eval(2)\nraise eval(3) from eval(4)\ndel x[eval(5)]", "eval | eval | eval | eval | eval"),
            ("x += eval(1)\nyield eval(2)\nreturn eval(3)", "eval | eval | eval"),
            ("type X = eval(1)", "eval"),
            ("type(x).y = eval(1)", "type | eval"),
            ("type(eval(1)).y = 1", "type | eval"),
            ("None.x(); self.a.b(); a . b()", "?.x | self.a.b | a.b"),
        ],
        calls,
    );
}

#[test]
fn broken_text_costs_its_region_alone() {
    check(
        &[
            ("print 'x'\neval('1')\n", "print | eval"),
            ("def f(:\n    pass\n\ndef g():\n    eval('1')\n", "eval"),
            ("x = (\n\ny = 1\nos.system('x')\n", "os.system"),
            ("eval('1')\nfoo(\n", "eval | foo"),
            ("import os\nos.system('x'", "os.system"),
            ("    x = eval('1')\n", "eval"),
            ("x = [eval(1, f(2)\n", "eval | f"),
            ("def f(\n", ""),
            ("class f(\n", ""),
        ],
        calls,
    );
    for text in ["x = (\n", "def f(:\n    pass\n", "x = 'abc\n", "f(1", "class A\n    pass\n"] {
        assert!(!facts(text).errors.is_empty(), "{text}");
    }
    let nested = "lambda:".repeat(300) + "eval(1)\n";
    assert_eq!(facts(&nested).errors.len(), 1);
    for text in ["x = 1\n", "", "\u{feff}x = 1\n", "print 'x'\n", "match = 1\ntype = 2\n"] {
        assert!(facts(text).errors.is_empty(), "{text}");
    }
}

#[test]
fn names_used_as_values_are_uses() {
    check(
        &[
            ("import os\nfrom functools import partial\npartial(os.system)", "os.system"),
            ("map(eval, xs)", "eval | xs"),
            ("f(key=eval)", "eval"),
            ("@app.route\ndef f(): pass", "app.route"),
            ("@app.route('/')\ndef f(): pass", ""),
            ("e = eval", "eval"),
            ("x = [eval, (open,), {1: exec}, {print}]", "eval | open | exec | print"),
            ("def f():\n    return eval", "eval"),
            ("def f(x=eval): pass", "eval"),
            ("f = lambda: eval", "eval"),
            ("x = y or eval", "eval y"),
            ("import os\nf(getattr(os, 'system'))", "os.system | os"),
            ("def f(x: eval) -> eval: y: eval = 1", ""),
            ("def f(x: list[eval]): pass", ""),
            ("def eval(): pass\nf(eval)", ""),
            ("def g(a):\n    f(a)", ""),
            ("import os\nos.system is x\nos.system\neval", ""),
            ("import os\nos.environ['x']", ""),
            ("class A(Base): pass", ""),
            ("try: pass\nexcept E: pass", ""),
            ("[eval for x in y]", "eval"),
            ("from os import *\nmap(system, x)", "system os.system | x os.x"),
        ],
        uses,
    );
}

#[test]
fn bindings_point_at_what_gives_a_meaning() {
    let table: &[(&str, &[&str])] = &[
        ("from safe import run\nrun('x')", &["safe", "run"]),
        ("import os as o\no.f()", &["os"]),
        ("e = eval\ne()", &["e = eval"]),
        ("import os\no = os\no.f()", &["os", "o = os"]),
        ("import os\ndef f(run=os.system): run()", &["os", "run=os.system"]),
        ("from os import *\nsystem()", &["os", "*"]),
        ("eval()", &[]),
        ("import os\nclass A:\n    run = os.system\nA.run()", &["os", "run = os.system"]),
        ("n = 'system'\nimport os\ngetattr(os, n)()", &["n = 'system'", "os"]),
    ];
    for (text, expected) in table {
        let facts = facts(text);
        let call = facts.calls.iter().max_by_key(|call| call.span.len()).unwrap();
        let mut found: Vec<&str> = call.bindings.iter().map(|span| &text[span.clone()]).collect();
        let mut expected = expected.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn arguments_are_told_with_their_constants() {
    let text = "f(1, -2, 0x10, 1.5, 'a' \"b\", b'', None, True, x, *a, **k, k=False, s=[], t=(1,), u={}, \
                **{'shell': True, 'n': x}, **{y: 1}, v=..., w='a' + 'b', z=f'{x}', q=f'x', r=(1))";
    let call = &facts(text).calls[0];
    let found: Vec<String> = call
        .arguments
        .iter()
        .map(|argument| {
            let value = match &argument.value {
                None => "?".to_owned(),
                Some(Literal::Bool(value)) => value.to_string(),
                Some(Literal::None) => "None".to_owned(),
                Some(Literal::Int(value)) => value.to_string(),
                Some(Literal::Float(value)) => format!("{value}f"),
                Some(Literal::Str(value)) => format!("{value:?}"),
                Some(Literal::Other { truthy }) => format!("~{truthy}"),
            };
            match &argument.kind {
                ArgumentKind::Positional => value,
                ArgumentKind::Keyword(name) => format!("{name}={value}"),
                ArgumentKind::Splat => "*".to_owned(),
                ArgumentKind::KeywordSplat => "**".to_owned(),
            }
        })
        .collect();
    assert_eq!(
        found.join(" "),
        "1 -2 16 1.5f \"ab\" ~false None true ? * ** k=false s=~false t=~true u=~false shell=true n=? ** v=~true w=? \
         z=? q=\"x\" r=1"
    );
    assert_eq!(&text[call.arguments[15].span.clone()], "'shell': True");
    assert_eq!(facts("f(x for x in y)").calls[0].arguments.len(), 1);
    assert_eq!(facts("run('x', **{**{'shell': True}})").calls[0].arguments[1].value, Some(Literal::Bool(true)));
}

#[test]
fn definitions_are_told_with_their_place_and_body() {
    let text = "\
@dec
def top(): pass
class A(B):
    '''doc'''
    x = 1
    async def m(self):
        'doc'
        ...
        1
    if x:
        def n(self): return None
def outer():
    # only a comment
    def inner(): raise E
    class L: pass
def dots(): ...
def doc(): 'x' \"y\"
def expr(): f()
def tuple_(): 1, 2
def fstring(): f'{x}'
def semi(): pass; pass
def semi2(): pass; x = 1
";
    let found: Vec<String> = facts(text)
        .definitions
        .iter()
        .map(|found| {
            let kind = match found.kind {
                DefinitionKind::Function => "def",
                DefinitionKind::Method => "method",
                DefinitionKind::Class => "class",
            };
            assert!(found.name.ends_with(&text[found.name_span.clone()]));
            format!("{kind} {} {} {}", found.name, found.depth, found.does_something)
        })
        .collect();
    assert_eq!(
        found,
        [
            "def top 0 false",
            "class A 0 true",
            "method A.m 1 false",
            "method A.n 1 true",
            "def outer 0 true",
            "def outer.inner 1 true",
            "class outer.L 1 false",
            "def dots 0 false",
            "def doc 0 false",
            "def expr 0 true",
            "def tuple_ 0 true",
            "def fstring 0 true",
            "def semi 0 false",
            "def semi2 0 true",
        ]
    );
    let spans: Vec<&str> = facts(text).definitions.iter().take(1).map(|found| &text[found.span.clone()]).collect();
    assert_eq!(spans, ["@dec\ndef top(): pass"]);
}

#[test]
fn imports_are_told_as_written_and_bound() {
    let text = "import a.b, c as d\nfrom m.n import o as p, q\nfrom r import *\nfrom . import s\nfrom ..t import u\nfrom __future__ import v\n";
    let found: Vec<String> = facts(text)
        .imports
        .iter()
        .map(|import| {
            let alias = import.alias.as_deref().unwrap_or("-");
            format!("{} {} {alias} {}", import.name, import.module, &text[import.name_span.clone()])
        })
        .collect();
    assert_eq!(
        found,
        [
            "a.b a.b a a.b",
            "c c d c",
            "m.n.o m.n p o",
            "m.n.q m.n q q",
            "r.* r - *",
            ".s . s s",
            "..t.u ..t u u",
            "__future__.v __future__ v v",
        ]
    );
}

#[test]
fn comments_and_strings_are_told_without_interpolations() {
    let text = "# one\r\nx = 'a' # two\nf'b{c}d{e:>{w}}' '''g'''\nimport (a, # three\n b)\n";
    let facts = facts(text);
    let of = |spans: &[crate::Span]| spans.iter().map(|span| text[span.clone()].to_owned()).collect::<Vec<_>>();
    assert_eq!(of(&facts.comments), ["# one", "# two", "# three"]);
    assert_eq!(of(&facts.strings), ["'a'", "f'b", "d", "'", "'''g'''"]);
}

#[test]
fn an_encoding_that_hides_code_is_an_error() {
    for (text, whole) in [
        ("# coding: utf-7\nx\n", true),
        ("#!/usr/bin/python\n# -*- coding: unicode_escape -*-\nx\n", true),
        ("# vim: set fileencoding=raw-unicode-escape :\nx\n", true),
        ("# -*- coding: utf-8 -*-\nx\n", false),
        ("# coding: latin-1\nx\n", false),
        ("# about encoding: what we do\nx = 1\n", true),
        ("x\ny\n# coding: utf-7\n", false),
        ("#!/usr/bin/python\r\n# coding: utf-7\r\nx\r\n", true),
        ("\u{feff} \t\n\t# coding: utf-7\nx\n", true),
        ("x = 1\n# coding: utf-7\n", false),
        ("# encodings\nx\n", false),
    ] {
        assert_eq!(facts(text).errors.contains(&(0..text.len())), whole, "{text}");
    }
}
