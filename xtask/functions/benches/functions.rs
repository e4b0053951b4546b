//! Parsing, loading and judging alone, on text and rulebooks made here.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rules::{Change, Format, Judge, ParseNow, Rulebook, Verdict};
use syntax::{Language, Limits, LineIndex, Tree};

/// Ten lines of ordinary Python; `{n}` becomes a number.
const FUNCTION: &str = r#"
def load_{n}(path, *, strict=False):
    """Reads one record."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split(",") for line in file if line.strip()]
    if strict and not rows:  # nothing to read
        raise ValueError(f"{path}: empty")
    return {key: int(value) for key, value in rows}

"#;

fn python(lines: usize) -> String {
    (0..lines / 10).map(|number| FUNCTION.replace("{n}", &number.to_string())).collect()
}

fn rulebook(rules: usize) -> String {
    let mut book = String::new();
    for rule in 0..rules {
        let check = match rule % 3 {
            0 => format!("forbid = ['''\\bforbidden_word_{rule}\\b''']"),
            1 => format!("forbid_calls = [\"danger_{rule}.run\"]"),
            _ => format!("forbid_imports = [\"banned_{rule}.*\"]"),
        };
        writeln!(book, "[[rule]]\nid = \"r{rule}\"\npaths = [\"**/*.py\", \"!vendor/part_{rule}/**\"]\n{check}\n")
            .expect("writing to a string does not fail");
    }
    book
}

fn parsing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for lines in [1_000, 10_000] {
        let text = python(lines);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("fresh", lines), &text, |bench, text| {
            bench.iter(|| Tree::parse(Language::Python, black_box(text), &Limits::default()));
        });
        // What does not parse is read by another parser.
        let middle = text.len() / 2 + text[text.len() / 2..].find("strict").expect("the word stands in each function");
        let mut broken = text.clone();
        broken.insert(middle, '(');
        group.bench_with_input(BenchmarkId::new("broken", lines), &broken, |bench, text| {
            bench.iter(|| Tree::parse(Language::Python, black_box(text), &Limits::default()));
        });
        group.bench_with_input(BenchmarkId::new("lines", lines), &text, |bench, text| {
            bench.iter(|| LineIndex::new(black_box(text)));
        });
    }
    group.finish();
}

fn loading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rulebook");
    for rules in [50, 1_000] {
        let book = rulebook(rules);
        group.bench_with_input(BenchmarkId::new("load", rules), &book, |bench, book| {
            bench.iter(|| Rulebook::load(black_box(book.as_bytes()), Format::Toml));
        });
    }
    group.finish();
}

fn judging(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("judge");
    let refusing = "[[rule]]\nid = \"no-system\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"os.system\"]\n\n".to_owned();
    let book = Rulebook::load((refusing + &rulebook(49)).as_bytes(), Format::Toml);
    let judge = Judge::new(&ParseNow);
    for lines in [1_000, 10_000] {
        let before: Arc<str> = python(lines).into();
        for (name, line) in [("refused", "import os; os.system('ls')\n"), ("no literal occurs", "measured = 1\n")] {
            let after: Arc<str> = (before.to_string() + line).into();
            let change = Change::between("a.py".into(), vec!["a.py".into()], Some(before.clone()), after);
            let refused = judge.judge(&book, &change) != Verdict::default();
            assert_eq!(refused, name == "refused", "what is measured is what is meant");
            group.bench_function(BenchmarkId::new(name, lines), |bench| bench.iter(|| judge.judge(&book, &change)));
        }
    }
    group.finish();
}

fn comparing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("added lines");
    let text: Arc<str> = python(10_000).into();
    let edited: Arc<str> = text.replace("load_500", "load_five_hundred").into();
    let repeated: Arc<str> = "    value = compute(1)\n\n".repeat(500).into();
    let shifted: Arc<str> = "\n    value = compute(1)\n".repeat(500).into();
    for (name, before, after) in
        [("one of 10,000 lines", &text, &edited), ("1,000 repeated lines", &repeated, &shifted)]
    {
        group.bench_function(name, |bench| {
            bench.iter(|| Change::between(String::new(), Vec::new(), Some(before.clone()), after.clone()));
        });
    }
    group.finish();
}

criterion_group!(functions, parsing, loading, judging, comparing);
criterion_main!(functions);
