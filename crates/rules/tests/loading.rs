//! What loading says about a rulebook, and what a rulebook with problems does to edits.

use proptest::prelude::*;
use rules::{Change, Effect, Format, Judge, ParseNow, Rulebook, Severity};

/// `line:column message` of each problem, warnings with `~` in front.
fn problems(text: &[u8], format: Format) -> Vec<String> {
    let book = Rulebook::load_validated(text, format);
    let mark = |severity| if severity == Severity::Warning { "~" } else { "" };
    book.problems.iter().map(|it| format!("{}{}:{} {}", mark(it.severity), it.line, it.column, it.message)).collect()
}

fn effect(book: &Rulebook, path: &str, text: &str) -> Option<Effect> {
    let change = Change::created(path.into(), vec![path.into()], text.into());
    Judge::new(&ParseNow).judge(book, &change).effect()
}

const OK: &str = "id = 'r'\npaths = ['**']\n";

#[test]
fn problems_have_a_place_and_say_what_would_be_right() {
    for (rule, expected) in [
        ("id = 'r'\npaths = ['**']\nforbids = 'x'\n", vec!["4:1 unknown key `forbids`; did you mean `forbid`?"]),
        ("id = 'r'\npaths = ['**']\nzzz = 1\n", vec!["4:1 unknown key `zzz`; a rule knows id, paths"]),
        ("id = 'r'\npaths = ['**']\non_fail = 'block'\n", vec!["4:11 `on_fail` is \"deny\", \"ask\" or \"warn\""]),
        (
            "id = 'r'\npaths = ['**']\nforbid = [1, 'x', '']\n",
            vec!["4:11 `forbid` is a list of strings, not a number", "4:19 `forbid` holds an empty string"],
        ),
        ("id = 'r'\npaths = ['**']\nforbid = ['ok', \"a\\\\d(\"]\n", vec!["4:22 `forbid` pattern: unclosed group"]),
        (
            "id = 'r'\npaths = ['**']\nrequire = 'a(?!b)'\n",
            vec!["4:13 `require` pattern: look-around needs backtracking"],
        ),
        ("id = 'r'\npaths = ['**']\nforbid = '''\n(a)\\1'''\n", vec!["5:4 `forbid` pattern: back-references need"]),
        (
            "id = 'r'\npaths = ['**']\nforbid = ['a\\<b', '[a&&b]', '[[a]]']\n",
            vec![
                "~4:13 `forbid` pattern: `\\<` and `\\>` are the edges of a word",
                "~4:21 `forbid` pattern: `&&`",
                "~4:31 `forbid` pattern: `[` inside of a class",
            ],
        ),
        (
            "id = 'r'\npaths = ['**']\nforbid_calls = ['eval()', 'x y']\n",
            vec![
                "4:17 `eval()` in `forbid_calls`: write `eval` without the parentheses",
                "4:27 `x y` in `forbid_calls`: ` ` has no place in a dotted name",
            ],
        ),
        (
            "id = 'r'\npaths = ['**']\nrequire_def = 'A.b()'\n",
            vec!["4:15 `A.b()` in `require_def`: a definition is named"],
        ),
        ("id = 'r'\npaths = ['**']\nforbid_imports = 'os path'\n", vec!["4:18 `os path` in `forbid_imports`"]),
        ("paths = ['**']\n", vec!["1:1 a rule needs an `id`"]),
        ("id = ' '\npaths = ['**']\n", vec!["2:6 a rule needs an `id`"]),
        ("id = 'r'\n", vec!["2:6 a rule needs `paths`"]),
        ("id = 'r'\npaths = []\n", vec!["3:9 a rule needs `paths`"]),
        ("id = 'r'\npaths = ['**', '!']\n", vec!["3:16 the glob is empty"]),
        ("id = 'r'\npaths = ['src\\a']\n", vec!["3:10 `\\` has no meaning in a glob"]),
        (
            "id = 'r'\npaths = ['src', '/a.py', 'x//y', '../z']\n",
            vec![
                "~3:10 this matches a file of that name alone",
                "~3:17 paths are relative to the root",
                "~3:26 paths never contain `//`",
                "~3:34 paths are resolved and never contain `..`",
            ],
        ),
        ("id = 'r'\npaths = ['!docs/**']\n", vec!["~3:9 there are only exclusions"]),
        ("id = 'r'\npaths = ['**']\nquestion = ' '\n", vec!["4:12 `question` is a string that is not blank"]),
        (
            "id = 'r'\npaths = ['**']\ncalibration = 'c.json'\n",
            vec!["4:1 `calibration` is for a rule with a `question`"],
        ),
        ("id = 'r'\npaths = ['**']\nwhen = ['x']\n", vec!["~4:1 `when` is not read without a `question`"]),
        ("id = 'r'\npaths = ['**']\nredact = 'no'\n", vec!["~4:10 `redact` is true or false, not a string"]),
        ("id = 'r'\npaths = ['**']\nwhy = 3\n", vec!["~4:7 `why` is a string, not a number"]),
        (
            "id = 'r'\npaths = ['**']\nforbid_pattern = 'x'\n",
            vec!["4:1 `forbid_pattern` is not supported by this version"],
        ),
        ("id = 'r'\npaths = ['**']\n[[rule.test]]\npath = 'a'\n", vec!["4:8 `test` is not supported by this version"]),
        (
            "id = 'r'\npaths = ['**']\n[[rule]]\nid = 'r'\npaths = ['**']\n",
            vec!["2:6 the id cannot be told apart from `r`", "5:6 the id cannot be told apart from `r`"],
        ),
        (
            "id = 'a'\npaths = ['**']\n[[rule]]\nid = 'a_lines'\npaths = ['**']\n",
            vec!["2:6 the id cannot be told apart from `a_lines`", "5:6 the id cannot be told apart from `a`"],
        ),
        ("id = 'edit'\npaths = ['**']\n", vec!["2:6 the id `edit` stands for something else"]),
    ] {
        let found = problems(format!("[[rule]]\n{rule}").as_bytes(), Format::Toml);
        let fits =
            found.len() == expected.len() && found.iter().zip(&expected).all(|(found, start)| found.starts_with(start));
        assert!(fits, "{rule}\n{found:#?}");
    }
}

#[test]
fn problems_of_the_file_as_a_whole() {
    let rule = format!("[[rule]]\n{OK}");
    for (text, format, expected) in [
        (b"rule = 'x'\n".to_vec(), Format::Toml, "1:1 expected a list of rules"),
        (b"[rule]\nid = 'r'\n".to_vec(), Format::Toml, "1:2 expected a list of rules: write `[[rule]]`"),
        (b"[[rule]]\nid = \n".to_vec(), Format::Toml, "2:"),
        (b"{\"rules\": [}".to_vec(), Format::Json, "1:12 the rulebook does not parse"),
        (b"[]".to_vec(), Format::Json, "1:1 the rulebook does not parse: expected an object"),
        ([rule.as_bytes(), b"why = '\xff'\n"].concat(), Format::Toml, "4:8 the rulebook is not UTF-8 here"),
        (b"\xff\xfe[\0".to_vec(), Format::Toml, "1:1 the rulebook is UTF-16"),
        (vec![b'#'; (1 << 20) + 1], Format::Toml, "1:1 the rulebook is longer than 1024 KiB"),
        ("[[rule]]\n".repeat(10_001).into_bytes(), Format::Toml, "1:3 more than 10000 rules"),
    ] {
        let found = problems(&text, format);
        assert!(found.first().is_some_and(|found| found.starts_with(expected)), "{expected}: {found:?}");
        assert_eq!(effect(&Rulebook::load(&text, format), "any", "x"), Some(Effect::Ask), "{expected}");
    }
    for (text, format, expected) in [
        ("", Format::Toml, vec![]),
        ("version = 3\n[meta]\na = 1\n", Format::Toml, vec!["~1:1 the key `version`", "~2:2 the key `meta`"]),
        ("rules = []\n[[rules2]]\n", Format::Toml, vec!["~2:3 the key `rules2` is not read; did you mean `rules`?"]),
        ("{}", Format::Json, vec![]),
    ] {
        let found = problems(text.as_bytes(), format);
        assert!(
            found.len() == expected.len() && found.iter().zip(&expected).all(|(found, it)| found.starts_with(it)),
            "{found:?}"
        );
        assert_eq!(effect(&Rulebook::load(text.as_bytes(), format), "any", "x"), None);
    }
}

#[test]
fn one_bad_rule_disables_itself_alone() {
    let text = "[[rule]]\nid = 'bad'\npaths = ['src/**']\nforbid = ['(']\n\
                [[rule]]\nid = 'good'\npaths = ['**']\nforbid = ['TODO']\n";
    for book in [Rulebook::load(text.as_bytes(), Format::Toml), Rulebook::load_validated(text.as_bytes(), Format::Toml)]
    {
        assert_eq!(effect(&book, "docs/a", "fine"), None);
        assert_eq!(effect(&book, "src/a", "fine"), Some(Effect::Ask));
        assert_eq!(effect(&book, "src/a", "TODO"), Some(Effect::Deny));
        let change = Change::created("src/a".into(), vec!["src/a".into()], "x".into());
        let unchecked = Judge::new(&ParseNow).judge(&book, &change).unchecked;
        assert!(unchecked[0].why.starts_with("line 4: `forbid` pattern: unclosed group"), "{unchecked:?}");
    }
    let no_paths = "[[rule]]\nid = 'bad'\npaths = ['a\\b', 'x']\nforbid = ['y']\n";
    assert_eq!(effect(&Rulebook::load(no_paths.as_bytes(), Format::Toml), "anything", "z"), Some(Effect::Ask));
    let a_text = "rule = [3]\n";
    assert_eq!(effect(&Rulebook::load(a_text.as_bytes(), Format::Toml), "anything", "z"), Some(Effect::Ask));
}

#[test]
fn rules_have_places_to_go_to() {
    for (text, format) in [
        ("# first\n[[rule]]\npaths = ['**']\nid = 'one'\n\n[[rule]]\nid = 'two'\npaths = ['**']\n", Format::Toml),
        ("{\"rule\": [{\"paths\": \"**\", \"id\": \"one\"}, {\"id\": \"two\", \"paths\": \"**\"}]}", Format::Json),
    ] {
        let book = Rulebook::load(text.as_bytes(), format);
        let ids: Vec<_> = book.rules.iter().map(|rule| text[rule.id_span.clone()].trim_matches(['\'', '"'])).collect();
        assert_eq!(ids, ["one", "two"]);
        assert!(
            book.rules.iter().all(|rule| rule.span.start <= rule.id_span.start && rule.id_span.end <= rule.span.end)
        );
        assert!(book.rules[0].span.end <= book.rules[1].span.start);
    }
}

#[test]
fn both_formats_and_a_byte_order_mark_say_the_same() {
    let toml = "[[rule]]\nid = 'r'\npaths = '*.txt'\nforbid = 'bad'\nwhy = 'w'\non_fail = 'ask'\n";
    let json = r#"{"rules": [{"id": "r", "paths": "*.txt", "forbid": "bad", "why": "w", "on_fail": "ask"}]}"#;
    for (text, format) in [
        (toml.to_owned(), Format::Toml),
        (json.to_owned(), Format::Json),
        (format!("\u{feff}{toml}"), Format::Toml),
        (format!("\u{feff}{json}"), Format::Json),
        (toml.replace('\n', "\r\n"), Format::Toml),
    ] {
        let book = Rulebook::load_validated(text.as_bytes(), format);
        assert_eq!(book.problems, [], "{text}");
        assert_eq!(effect(&book, "a.txt", "bad"), Some(Effect::Ask), "{text}");
        assert_eq!(book.rules[0].why, "w");
    }
}

#[test]
fn hostile_rulebooks_end() {
    for text in [
        "[".repeat(1 << 20),
        "a.".repeat(1 << 19),
        "[[rule]]\n".repeat(9_000),
        format!("[[rule]]\nid='r'\npaths=['{}']\n", "*".repeat(1 << 19)),
        format!("[[rule]]\nid='r'\npaths=['**']\nforbid=['{}']\n", "(".repeat(4000)),
        format!("[[rule]]\nid='r'\npaths=['**']\nforbid=['{}']\n", "a{1000}".repeat(500)),
        format!("[[rule]]\nid='r'\npaths=['**']\nforbid_calls=['{}']\n", "*a".repeat(100_000)),
    ] {
        let book = Rulebook::load_validated(text.as_bytes(), Format::Toml);
        assert_eq!(effect(&book, "a.py", "x = 1\n"), Some(Effect::Ask), "{}", &text[..60]);
        Rulebook::load_validated(text.as_bytes(), Format::Json);
    }
}

/// Pieces of rulebooks, right and wrong.
const PIECES: [&str; 24] = [
    "[[rule]]\n",
    "[rule]\n",
    "id = 'é'\n",
    "id = \"a\\u00e9\"\n",
    "paths = ['**', '!x']\n",
    "paths = '\u{feff}'\n",
    "forbid = ['(', \"\\\\d[\", 'é(?=x)']\n",
    "forbid_calls = ['é()', 'f(x=1)']\n",
    "require_def = '1'\n",
    "\u{feff}",
    "question = 3\n",
    "redact = []\n",
    "why = {a = 1}\n",
    "{\"rule\": [",
    "{\"id\": \"é\", \"paths\": \"**\", \"forbid\": \"\\ud83e\\udd80(\"",
    "}",
    "]",
    "]}",
    ",",
    "\"",
    "'''",
    "\r",
    "é",
    "\n",
];

proptest! {
    #[test]
    fn no_text_is_too_strange(
        pieces in prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..12),
        json in any::<bool>(),
    ) {
        let text = pieces.concat();
        let format = if json { Format::Json } else { Format::Toml };
        let cold = Rulebook::load(text.as_bytes(), format);
        let book = Rulebook::load_validated(text.as_bytes(), format);
        for problem in &book.problems {
            prop_assert!(text.get(problem.span.clone()).is_some(), "{:?}", problem);
            let line = syntax::LineIndex::new(&text).line_of(problem.span.start);
            prop_assert_eq!(problem.line as usize, 1 + line);
            prop_assert!(!problem.message.contains('\n'), "{:?}", problem);
        }
        for path in ["a.py", "x"] {
            let change = Change::created(path.into(), vec![path.into()], "é(f(x=1))\n(".into());
            let judge = Judge::new(&ParseNow);
            prop_assert_eq!(judge.judge(&cold, &change), judge.judge(&book, &change));
        }
        let is_broken = book.problems.iter().any(|it| it.severity == Severity::Error);
        let is_said = ["q", "\u{feff}"].iter().any(|path| effect(&book, path, "").is_some());
        prop_assert!(is_said || !is_broken);
    }
}

mod about {
    use proptest::prelude::*;
    use rules::{Case, Change, Claim, FactSource, Format, Judge, ParseNow, Rulebook, Verdict, Work};

    const GLOBS: [&str; 20] = [
        "**",
        "**/*.py",
        "src/**",
        "src/a.py",
        "*.py",
        "docs/",
        "./src/*",
        "Src/**",
        "!src/a.py",
        "!**",
        "lib/*/x?.py",
        "",
        "a\\b",
        "/r/src/a.py",
        "src/*/../a.py",
        "ſrc/**",
        "?.py",
        "**/a.*",
        "src/**/a.py",
        "K*",
    ];
    const IDS: [&str; 9] = [
        "id = 'a'",
        "id = 'b'",
        "id = 'b_lines'",
        "id = 'a-b'",
        "id = 'a_b'",
        "id = 'path'",
        "id = ''",
        "id = 'rule 2'",
        "",
    ];
    const RESTS: [&str; 8] = [
        "forbid = 'x'",
        "forbid = '('",
        "forbid_calls = ['os.system']\nwhy = 'w'",
        "nonsense = true",
        "why = \"a\\tb\"",
        "",
        "redact = true\nforbid = ['y']",
        "on_fail = 'warn'\nforbid = 'x' # y",
    ];

    fn rule() -> impl Strategy<Value = String> {
        let globs = prop::collection::vec(prop::sample::select(GLOBS.as_slice()), 0..3);
        (prop::sample::select(IDS.as_slice()), globs, prop::sample::select(RESTS.as_slice())).prop_map(
            |(id, globs, rest)| {
                let globs: Vec<String> = globs.iter().map(|glob| format!("'{glob}'")).collect();
                format!("[[rule]]\n{id}\npaths = [{}]\n{rest}\n", globs.join(", "))
            },
        )
    }

    /// A verdict with the ids of its rules in place of their indices.
    fn told(book: &Rulebook, verdict: &Verdict) -> Vec<String> {
        let id = |rule: Option<usize>| rule.map_or("", |rule| book.rules[rule].id.as_str()).to_owned();
        let found = verdict
            .findings
            .iter()
            .map(|it| format!("{} {:?} {:?} {} {}", id(it.rule), it.check, it.effect, it.text, it.what));
        found.chain(verdict.unchecked.iter().map(|it| format!("{} {:?} {}", id(it.rule), it.check, it.why))).collect()
    }

    proptest! {
        #[test]
        fn leaving_rules_out_that_are_about_other_files_changes_no_verdict(
            rules in prop::collection::vec(rule(), 0..8),
            name in prop::sample::select(["src/a.py", "a.py", "SRC/A.PY", "lib/q/x1.py", "docs/x", "\u{212a}.py", "/r/src/a.py"].as_slice()),
            folded in any::<bool>(),
        ) {
            let text = rules.concat();
            let names = vec![name.to_owned()];
            let whole = Rulebook::load(text.as_bytes(), Format::Toml);
            let some = Rulebook::load_about(text.as_bytes(), Format::Toml, &names);
            let change = Change::created(name.to_owned(), names, "import os\nx = 'y'\nos.system(x)\n".into());
            let facts: &dyn FactSource = &ParseNow;
            let judge = Judge { facts, case: if folded { Case::Folded } else { Case::Exact } };
            prop_assert_eq!(told(&some, &judge.judge(&some, &change)), told(&whole, &judge.judge(&whole, &change)));
            prop_assert!(some.rules.len() <= whole.rules.len());
        }
    }

    #[test]
    fn only_rules_about_the_file_are_read() {
        let rule = |number| format!("[[rule]]\nid = 'r{number}'\npaths = ['d{number}/*.md', '!x']\nforbid = 'w'\n");
        let text = (0..100).map(rule).collect::<Vec<_>>().concat();
        let about = |name: &str| Rulebook::load_about(text.as_bytes(), Format::Toml, &[name.to_owned()]);
        assert_eq!(about("src/a.py").rules.len(), 0);
        let ids: Vec<String> = about("d7/a.md").rules.into_iter().map(|rule| rule.id).collect();
        assert_eq!(ids, ["r7"]);
    }

    #[test]
    fn a_claim_names_a_rule_by_its_number_whatever_was_left_out() {
        let text = "[[rule]]\nid = 'far'\npaths = 'far/**'\nforbid = 'x'\n[[rule]]\nid = 'near'\npaths = '*.py'\nforbid = 'x'\n";
        let names = vec!["a.py".to_owned()];
        let whole = Rulebook::load(text.as_bytes(), Format::Toml);
        let some = Rulebook::load_about(text.as_bytes(), Format::Toml, &names);
        assert_eq!((whole.rules.len(), some.rules.len()), (2, 1));
        let change = Change::created("a.py".into(), names, "x\n".into());
        let judge = Judge::new(&ParseNow);
        let claims: Vec<Claim> = judge.judge(&whole, &change).findings.iter().filter_map(Claim::of).collect();
        assert_eq!(claims[0].rule, 1);
        let left_out = Claim { rule: 0, ..claims[0].clone() };
        let stated = judge.restate(&some, &change, &[claims[0].clone(), left_out], &mut Work::default());
        let ids: Vec<_> = stated.iter().map(|it| Some(some.rules[it.as_ref()?.rule?].id.as_str())).collect();
        assert_eq!(ids, [Some("near"), None]);
    }
}
