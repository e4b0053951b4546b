//! Texts of which one must occur wherever a regex matches, taken from the regex itself.
//!
//! A necessary condition and nothing more: it decides whether a regex is worth compiling, never what it finds.

use regex_syntax::hir::{Class, Hir, HirKind};

/// More than this many alternatives, and nothing is required.
const MOST: usize = 64;

/// Of these, one occurs in every match. None when nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needles(Option<Vec<Needle>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Needle {
    /// ASCII letters in lower case if `any_case`.
    bytes: Vec<u8>,
    any_case: bool,
}

impl Needles {
    /// What matches of `hir` must hold.
    pub fn of(hir: &Hir) -> Needles {
        Needles(required(hir).filter(|needles| needles.iter().all(|needle| !needle.bytes.is_empty())))
    }

    /// Whether `text` may hold a match.
    pub fn may_occur(&self, text: &str) -> bool {
        match &self.0 {
            Some(needles) => needles.iter().any(|needle| needle.occurs(text.as_bytes())),
            None => true,
        }
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

fn required(hir: &Hir) -> Option<Vec<Needle>> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(vec![Needle { bytes: literal.0.to_vec(), any_case: false }]),
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Alternation(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                all.extend(required(branch)?);
                if all.len() > MOST {
                    return None;
                }
            }
            Some(all)
        }
        HirKind::Concat(parts) => of_sequence(parts),
        HirKind::Class(_) => of_sequence(std::slice::from_ref(hir)),
        HirKind::Repetition(_) | HirKind::Empty | HirKind::Look(_) => None,
    }
}

/// The best that some part, or a run of plain characters, of a sequence requires.
fn of_sequence(parts: &[Hir]) -> Option<Vec<Needle>> {
    let mut best: Option<Vec<Needle>> = None;
    let mut run = Run::default();
    for part in parts {
        match part.kind() {
            HirKind::Look(_) | HirKind::Empty => {}
            HirKind::Literal(literal) => run.push(&literal.0),
            HirKind::Class(class) if run.push_letter(class) => {}
            kind => {
                best = better(best, std::mem::take(&mut run).needles());
                if !matches!(kind, HirKind::Class(_)) {
                    best = better(best, required(part));
                }
            }
        }
    }
    better(best, run.needles())
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
    others: Vec<char>,
}

impl Run {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A class of one ASCII letter in its cases (`[Aa]`, and the long s and the Kelvin sign, which fold to letters).
    fn push_letter(&mut self, class: &Class) -> bool {
        let Class::Unicode(class) = class else { return false };
        let mut characters = Vec::new();
        for range in class.ranges() {
            if characters.len() > 3 || u32::from(range.end()) - u32::from(range.start()) > 2 {
                return false;
            }
            characters.extend(range.start()..=range.end());
        }
        let Some(letter) = characters.iter().find(|it| it.is_ascii_lowercase()).copied() else { return false };
        let is_same = |it: &char| *it == letter || *it == letter.to_ascii_uppercase();
        let folds = |it: &char| matches!((letter, *it), ('s', 'ſ') | ('k', '\u{212a}'));
        if characters.len() < 2 || !characters.iter().all(|it| is_same(it) || folds(it)) {
            return false;
        }
        self.others.extend(characters.into_iter().filter(|it| !is_same(it)));
        self.any_case = true;
        self.bytes.push(letter as u8);
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
        needles.extend(others.into_iter().map(|it| Needle { bytes: it.to_string().into_bytes(), any_case: false }));
        Some(needles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn needles(pattern: &str) -> Needles {
        Needles::of(&regex_syntax::parse(pattern).unwrap())
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
        ] {
            assert_eq!(needles(pattern).may_occur(text), expected, "{pattern} in {text}");
        }
    }

    proptest! {
        #[test]
        fn a_match_is_never_ruled_out(
            pattern in "(\\(\\?i\\))?([abks.]|a\\+|\\(ab\\|ks?\\)|\\[as\\]|b\\*|\\^|\\$|\\\\b|s\\{2\\}){0,6}",
            text in "[abksABKSſ\u{212a} ]{0,12}",
        ) {
            if regex::Regex::new(&pattern).unwrap().is_match(&text) {
                prop_assert!(needles(&pattern).may_occur(&text));
            }
        }
    }
}
