//! What a regex's syntax tree tells without translating it: texts of which one occurs in every match, and about how much
//! compiling it takes.
//!
//! The needles are a necessary condition and nothing more: they decide whether a regex is worth compiling, never what it
//! finds. Translating a tree costs several times what reading it costs, and most patterns are never compiled.

use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerlKind, ClassSet, ClassSetItem, Flag, Flags, FlagsItemKind, GroupKind, LiteralKind,
    Repetition, RepetitionKind, RepetitionRange,
};

use syntax::Span;

const ANGLES: &str = "`\\<` and `\\>` are the edges of a word here; for the sign itself write it without `\\`";
const COMBINED: &str = "`&&`, `--` and `~~` combine classes here; for the signs themselves put `\\` before each";
const NESTED: &str = "`[` inside of a class opens another class here; for the sign itself write `\\[`";

/// More than this many alternatives, and nothing is required.
const MOST: usize = 64;

/// Of these, one occurs in every match. None when nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needles(Option<Vec<Needle>>);

/// A text that a match holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needle {
    /// ASCII letters in lower case if `any_case`.
    bytes: Vec<u8>,
    any_case: bool,
}

/// What a plain character, and what a place such as `\b`, adds to a pattern's weight.
const LITERAL: u64 = 48;
const ASSERTION: u64 = 16;

/// What one pattern's tree tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outline {
    pub needles: Needles,
    /// About how many bytes the compiled form takes.
    pub weight: u64,
    /// Whether the tree may be valid and the pattern still not: it names Unicode properties or bytes.
    pub needs_translation: bool,
    /// What means something else in Python's own regexes, where rulebooks written for them may mean that.
    pub unlike_python: Option<(Span, &'static str)>,
}

impl Outline {
    /// Of a pattern that says nothing but itself: letters, digits, what has no other meaning, and `\b`. As [`Outline::of`]
    /// its tree, without one: most patterns are like this, and each event reads those of the rules about its file.
    pub fn of_plain(source: &str) -> Option<Outline> {
        let mut reader = Reader::default();
        let mut run = Run::default();
        let mut rest = source.as_bytes().iter();
        while let Some(&byte) = rest.next() {
            match byte {
                b'\\' if rest.next() == Some(&b'b') => reader.add(ASSERTION),
                b' ' | b'_' | b'/' | b':' | b'=' | b',' | b'\'' | b'"' => reader.plain(byte, &mut run),
                _ if byte.is_ascii_alphanumeric() => reader.plain(byte, &mut run),
                _ => return None,
            }
        }
        let required = run.needles();
        Some(reader.outline(required))
    }

    /// Reads a tree; its depth is bounded by whoever parsed it.
    pub fn of(ast: &Ast) -> Outline {
        let mut reader = Reader::default();
        let required = reader.required(ast);
        reader.outline(required)
    }
}

impl Needles {
    /// Whether `text` may hold a match.
    pub fn may_occur(&self, text: &str) -> bool {
        match &self.0 {
            Some(needles) => needles.iter().any(|needle| needle.occurs(text.as_bytes())),
            None => true,
        }
    }

    /// The needles' bytes, to be looked for in any case of their ASCII letters.
    pub fn texts(&self) -> Option<impl Iterator<Item = &[u8]>> {
        self.0.as_ref().map(|needles| needles.iter().map(|needle| needle.bytes.as_slice()))
    }
}

impl Needle {
    fn occurs(&self, text: &[u8]) -> bool {
        if !self.any_case {
            return memchr::memmem::find(text, &self.bytes).is_some();
        }
        let (first, length) = (self.bytes[0], self.bytes.len());
        let starts = memchr::memchr2_iter(first, first.to_ascii_uppercase(), text);
        starts
            .into_iter()
            .any(|at| text.get(at..at + length).is_some_and(|found| found.eq_ignore_ascii_case(&self.bytes)))
    }
}

#[derive(Default)]
struct Reader {
    any_case: bool,
    weight: u64,
    needs_translation: bool,
    unlike_python: Option<(Span, &'static str)>,
}

impl Reader {
    fn required(&mut self, ast: &Ast) -> Option<Vec<Needle>> {
        match ast {
            Ast::Concat(concat) => self.of_sequence(&concat.asts),
            Ast::Alternation(alternation) => {
                let branches: Vec<_> = alternation.asts.iter().map(|branch| self.required(branch)).collect();
                let all: Vec<Needle> =
                    branches.into_iter().collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
                (all.len() <= MOST).then_some(all)
            }
            Ast::Group(group) => {
                self.add(48);
                let outside = self.any_case;
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    self.set(flags);
                }
                let required = self.required(&group.ast);
                self.any_case = outside;
                required
            }
            Ast::Repetition(repetition) => self.of_repetition(repetition),
            single => self.of_sequence(std::slice::from_ref(single)),
        }
    }

    fn of_repetition(&mut self, repetition: &Repetition) -> Option<Vec<Needle>> {
        let (least, most) = match &repetition.op.kind {
            RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore => (0, 1),
            RepetitionKind::OneOrMore => (1, 1),
            RepetitionKind::Range(RepetitionRange::Exactly(times)) => (*times, *times),
            RepetitionKind::Range(RepetitionRange::AtLeast(least)) => (*least, *least),
            RepetitionKind::Range(RepetitionRange::Bounded(least, most)) => (*least, *most),
        };
        let outside = std::mem::take(&mut self.weight);
        let required = self.required(&repetition.ast);
        self.weight = self.weight.saturating_mul(u64::from(most).max(1)).saturating_add(outside).saturating_add(32);
        required.filter(|_| least > 0)
    }

    /// The best that some part, or a run of plain characters, of a sequence requires.
    fn of_sequence(&mut self, parts: &[Ast]) -> Option<Vec<Needle>> {
        let mut best: Option<Vec<Needle>> = None;
        let mut run = Run::default();
        for part in parts {
            let goes_on = match part {
                Ast::Flags(flags) => {
                    self.set(&flags.flags);
                    true
                }
                Ast::Empty(_) => true,
                Ast::Assertion(assertion) => {
                    self.add(ASSERTION);
                    if let AssertionKind::WordBoundaryStartAngle | AssertionKind::WordBoundaryEndAngle = assertion.kind
                    {
                        self.unlike_python(&assertion.span, ANGLES);
                    }
                    true
                }
                Ast::Literal(literal) => {
                    self.add(LITERAL);
                    self.needs_translation |=
                        !matches!(literal.kind, LiteralKind::Verbatim | LiteralKind::Meta | LiteralKind::Superfluous)
                            && !literal.c.is_ascii();
                    run.push(literal.c, self.any_case)
                }
                Ast::ClassBracketed(class) => {
                    let one = self.of_class(&class.kind).filter(|_| !class.negated);
                    one.is_some_and(|(letter, any_case)| run.push(letter, any_case || self.any_case))
                }
                Ast::Dot(_) => {
                    self.add(200);
                    false
                }
                Ast::ClassPerl(class) => {
                    self.add(perl_weight(&class.kind));
                    false
                }
                Ast::ClassUnicode(_) => {
                    self.add(20_000);
                    self.needs_translation = true;
                    false
                }
                Ast::Group(_) | Ast::Repetition(_) | Ast::Alternation(_) | Ast::Concat(_) => {
                    best = better(best, std::mem::take(&mut run).needles());
                    let required = self.required(part);
                    best = better(best, required);
                    continue;
                }
            };
            if !goes_on {
                best = better(best, std::mem::take(&mut run).needles());
            }
        }
        better(best, run.needles())
    }

    /// The one character that a bracketed class stands for, and whether in any case.
    fn of_class(&mut self, class: &ClassSet) -> Option<(char, bool)> {
        let item = match class {
            ClassSet::Item(item) => item,
            ClassSet::BinaryOp(operation) => {
                self.unlike_python(&operation.span, COMBINED);
                self.of_class(&operation.lhs);
                self.of_class(&operation.rhs);
                return None;
            }
        };
        match item {
            ClassSetItem::Literal(literal) => {
                self.add(48);
                Some((literal.c, false))
            }
            ClassSetItem::Union(union) => {
                let items: Vec<_> = union.items.iter().map(|item| self.of_item(item)).collect();
                match items.as_slice() {
                    [Some(one)] => Some((*one, false)),
                    [Some(one), Some(other)] if one.is_ascii_alphabetic() && one.eq_ignore_ascii_case(other) => {
                        Some((*one, one != other))
                    }
                    _ => None,
                }
            }
            item => self.of_item(item).map(|one| (one, false)),
        }
    }

    fn of_item(&mut self, item: &ClassSetItem) -> Option<char> {
        self.add(match item {
            ClassSetItem::Perl(class) => perl_weight(&class.kind),
            ClassSetItem::Unicode(_) => 20_000,
            _ => 72,
        });
        match item {
            ClassSetItem::Literal(literal) => Some(literal.c),
            ClassSetItem::Unicode(_) => {
                self.needs_translation = true;
                None
            }
            ClassSetItem::Bracketed(class) => {
                self.unlike_python(&class.span, NESTED);
                self.of_class(&class.kind);
                None
            }
            ClassSetItem::Union(union) => {
                for item in &union.items {
                    self.of_item(item);
                }
                None
            }
            _ => None,
        }
    }

    fn set(&mut self, flags: &Flags) {
        self.any_case = flags.flag_state(Flag::CaseInsensitive).unwrap_or(self.any_case);
        let is_unicode = |item: &regex_syntax::ast::FlagsItem| item.kind == FlagsItemKind::Flag(Flag::Unicode);
        self.needs_translation |= flags.items.iter().any(is_unicode);
    }

    fn unlike_python(&mut self, span: &regex_syntax::ast::Span, says: &'static str) {
        self.unlike_python.get_or_insert((span.start.offset..span.end.offset, says));
    }

    fn plain(&mut self, byte: u8, run: &mut Run) {
        self.add(LITERAL);
        run.push(char::from(byte), false);
    }

    fn outline(self, required: Option<Vec<Needle>>) -> Outline {
        let needles = Needles(required.filter(|needles| needles.iter().all(|needle| !needle.bytes.is_empty())));
        let Reader { weight, needs_translation, unlike_python, .. } = self;
        Outline { needles, weight, needs_translation, unlike_python }
    }

    fn add(&mut self, weight: u64) {
        self.weight = self.weight.saturating_add(weight);
    }
}

fn perl_weight(kind: &ClassPerlKind) -> u64 {
    match kind {
        ClassPerlKind::Digit => 1_800,
        ClassPerlKind::Space => 300,
        ClassPerlKind::Word => 18_500,
    }
}

fn better(left: Option<Vec<Needle>>, right: Option<Vec<Needle>>) -> Option<Vec<Needle>> {
    let worth = |needles: &Option<Vec<Needle>>| {
        needles.as_ref().map(|needles| needles.iter().map(|needle| needle.bytes.len()).min().unwrap_or(0))
    };
    if worth(&right) > worth(&left) { right } else { left }
}

/// Characters that stand one after the other in every match.
#[derive(Default)]
struct Run {
    bytes: Vec<u8>,
    any_case: bool,
    /// Other spellings of a letter outside of ASCII: where one occurs, the run may not be spelled as it is here.
    others: Vec<&'static str>,
}

impl Run {
    /// Adds a character; false if it has spellings that are not known here.
    fn push(&mut self, character: char, any_case: bool) -> bool {
        if any_case && !character.is_ascii() {
            return false;
        }
        if any_case && character.is_ascii_alphabetic() {
            self.any_case = true;
            // The long s and the Kelvin sign fold to letters.
            self.others.extend(match character.to_ascii_lowercase() {
                's' => Some("\u{17f}"),
                'k' => Some("\u{212a}"),
                _ => None,
            });
        }
        self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        true
    }

    fn needles(self) -> Option<Vec<Needle>> {
        let Run { mut bytes, any_case, mut others } = self;
        if bytes.is_empty() {
            return None;
        }
        if any_case {
            bytes.make_ascii_lowercase();
        }
        others.sort_unstable();
        others.dedup();
        let mut needles = vec![Needle { bytes, any_case }];
        needles.extend(others.into_iter().map(|it| Needle { bytes: it.as_bytes().to_vec(), any_case: false }));
        Some(needles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn needles(pattern: &str) -> Needles {
        Outline::of(&regex_syntax::ast::parse::Parser::new().parse(pattern).unwrap()).needles
    }

    proptest! {
        #[test]
        fn a_plain_pattern_is_outlined_as_its_tree_is(source in r#"([a-cZ7_ /:=,'"]|\\b|\\b|\\B|\{|\.|-){0,12}"#) {
            if let Some(outline) = Outline::of_plain(&source) {
                let tree = regex_syntax::ast::parse::Parser::new().parse(&source);
                prop_assert_eq!(outline, Outline::of(&tree.unwrap()));
            }
        }
    }

    #[test]
    fn a_plain_pattern_needs_no_tree() {
        for (source, plain) in [
            (r"\bword_1\b", true),
            ("TODO: x", true),
            ("", true),
            ("a.b", false),
            (r"\b{start}a", false),
            (r"\w", false),
            (r"a\", false),
        ] {
            assert_eq!(Outline::of_plain(source).is_some(), plain, "{source}");
        }
    }

    #[test]
    fn texts_that_can_match_are_candidates_and_few_others() {
        for (pattern, text, expected) in [
            ("TODO", "a TODO b", true),
            ("TODO", "a todo b", false),
            ("(?i)todo", "a ToDo b", true),
            ("(?i)password", "paſſword", true),
            ("(?i)password", "pass word", false),
            ("(?i)key", "\u{212a}ey", true),
            ("sk-[A-Za-z0-9]{20,}", "task 1", false),
            ("sk-[A-Za-z0-9]{20,}", "sk-1", true),
            ("foo|bar", "a bar", true),
            ("foo|bar", "a baz", false),
            ("foo|.", "x", true),
            (r"\bprint\s*\(", "say()", false),
            ("(api|secret)_?key", "apikey", true),
            ("(api|secret)_?key", "monkey", false),
            ("a*", "", true),
            (".", "x", true),
            ("(ab)+c{2}", "ab", true),
            ("a(?i)b|C", "xc", true),
            ("a(?i)b|C", "AB", true),
            ("(?i:to)do", "TOdo", true),
            ("(?i:to)do", "tada", false),
            ("[Tt]odo", "Todo", true),
            ("[Tt]odo", "dodo", false),
            ("x[.]y", "x-y", false),
            ("[^x]yz", "ayz", true),
            ("(?x) a b # c", "ab", true),
            ("(?i)é", "É", true),
            (r"\x41\u{42}", "AB", true),
        ] {
            assert_eq!(needles(pattern).may_occur(text), expected, "{pattern} in {text}");
        }
    }

    /// Pieces of patterns; some do not stand everywhere.
    const PIECES: [&str; 22] = [
        "a",
        "b",
        "k",
        "s",
        ".",
        "a+",
        "(ab|ks?)",
        "[as]",
        "[Kk]",
        "[^a]",
        "[s]",
        "b*",
        "^",
        "$",
        r"\b",
        "s{2}",
        "|",
        "(?i)",
        "(?-i)",
        "(?i:ak)",
        "(?i:[sb])",
        "(?x: a b)",
    ];

    proptest! {
        #[test]
        fn a_match_is_never_ruled_out(
            pieces in prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..7),
            text in "[abksABKSſ\u{212a} ]{0,12}",
        ) {
            let pattern = pieces.concat();
            if regex::Regex::new(&pattern).is_ok_and(|regex| regex.is_match(&text)) {
                prop_assert!(needles(&pattern).may_occur(&text), "{pattern}");
            }
        }
    }
}
