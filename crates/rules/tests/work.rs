//! How much judging costs, in counts: nothing is compiled or parsed unless a literal of a rule occurs.

use std::fmt::Write;

use rules::{Change, Claim, Format, Judge, ParseNow, Rulebook, Work};

/// Rules about every Python file, each with its own literals.
fn book(rules: usize, paths: &str) -> Rulebook {
    let mut text = String::new();
    for number in 0..rules {
        let _ = write!(
            text,
            "[[rule]]\nid = 'r{number}'\npaths = ['{paths}']\nforbid = ['(?i)\\bword{number}x\\w+', 'k{number}y=[0-9]+']\n\
             forbid_calls = ['module{number}.call{number}', 'other{number}.*(shell=True)']\nforbid_imports = 'lib{number}'\n"
        );
    }
    Rulebook::load(text.as_bytes(), Format::Toml)
}

fn work(book: &Rulebook, change: &Change) -> Work {
    let mut work = Work::default();
    let judge = Judge::new(&ParseNow);
    let is_cheap = judge.is_cheap(book, change);
    judge.judge_counting(book, change, &mut work);
    assert_eq!(is_cheap, work == Work::default(), "{work:?}");
    work
}

fn edited(added: &str) -> Change {
    let before: String =
        (0..500).flat_map(|number| [format!("def f{number}(x):\n"), "    return x\n".into()]).collect();
    let after = before.replacen("return x", &format!("return x\n{added}"), 1);
    Change::between("src/a.py".into(), vec!["src/a.py".into()], Some(before.into()), after.into())
}

#[test]
fn a_text_without_literals_costs_nothing() {
    for change in [
        edited("y = 1"),
        edited("word = 7; k5z = 3; shell = True"),
        Change::created("b.py".into(), vec!["b.py".into()], "x".repeat(200_000).into()),
    ] {
        assert_eq!(work(&book(50, "**"), &change), Work::default());
    }
}

#[test]
fn only_what_occurs_is_compiled_and_parsed() {
    for (added, expected) in [
        ("WORD7xyz", Work { patterns_compiled: 1, patterns_tried: 1, texts_parsed: 0 }),
        ("k7y=1 word9x", Work { patterns_compiled: 2, patterns_tried: 2, texts_parsed: 0 }),
        ("call7()", Work { patterns_compiled: 0, patterns_tried: 0, texts_parsed: 1 }),
        ("ｃall7()", Work { patterns_compiled: 0, patterns_tried: 0, texts_parsed: 1 }),
        ("getattr(x, y)()", Work { patterns_compiled: 0, patterns_tried: 0, texts_parsed: 1 }),
        ("recall7(); call77x(); é = 1", Work::default()),
        ("import lib3", Work { patterns_compiled: 0, patterns_tried: 0, texts_parsed: 1 }),
    ] {
        assert_eq!(work(&book(20, "**"), &edited(added)), expected, "{added}");
    }
}

#[test]
fn a_pattern_is_compiled_once_for_a_rulebook() {
    let book = book(20, "**");
    assert_eq!(work(&book, &edited("word7xyz")).patterns_compiled, 1);
    let again = work(&book, &edited("word7xyz"));
    assert_eq!((again.patterns_compiled, again.patterns_tried), (0, 1));
}

#[test]
fn rules_that_do_not_apply_cost_nothing() {
    assert_eq!(work(&book(500, "docs/**"), &edited("word7xyz = call7()")), Work::default());
}

#[test]
fn the_text_before_is_parsed_only_where_a_binding_is_new() {
    let rules = "[[rule]]\nid = 'r'\npaths = ['**']\nforbid_calls = 'subprocess.run'\n";
    for (before, after, parsed) in [
        ("from subprocess import run\nrun(1)\n", "from subprocess import run\nrun(1)\nx = 1\n", 1),
        ("from safe import run\nrun(1)\n", "from subprocess import run\nrun(1)\n", 2),
    ] {
        let change = Change::between("a.py".into(), vec!["a.py".into()], Some(before.into()), after.into());
        assert_eq!(work(&Rulebook::load(rules.as_bytes(), Format::Toml), &change).texts_parsed, parsed);
    }
}

#[test]
fn claims_are_restated_without_parsing_and_word_for_word() {
    let rules = "[[rule]]\nid = 'a'\npaths = ['**']\nforbid = ['bad+', 'k[0-9]']\nforbid_calls = ['os.system', 'open(mode=\"w\")']\n\
                 forbid_imports = 'os'\nrequire = 'zzz'\nrequire_def = ['f', 'g']\nquestion = 'Is it?'\n\
                 [[rule]]\nid = 'b'\npaths = ['**']\n[[rule]]\nid = 'c'\npaths = ['**']\nforbid = 'k[0-9]'\nredact = true\n";
    let book = Rulebook::load(rules.as_bytes(), Format::Toml);
    let text =
        "import os as o\nx = 'badd k7'\no.system(\n  x)\nopen(1, mode='w')\nlist(map(o.system, x))\ndef g(): pass\n";
    let change = Change::created("a.py".into(), vec!["a.py".into()], text.into());
    let judge = Judge::new(&ParseNow);
    let verdict = judge.judge(&book, &change);
    let claims: Vec<Claim> = verdict.findings.iter().filter_map(Claim::of).collect();
    assert_eq!(claims.len(), verdict.findings.len());
    let mut work = Work::default();
    let restated: Vec<_> = judge.restate(&book, &change, &claims, &mut work).into_iter().flatten().collect();
    assert_eq!(restated, verdict.findings);
    assert_eq!(work.texts_parsed, 0);
}
