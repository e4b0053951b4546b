//! The literal pass: which patterns and which names of the rules that apply may be in a change at all.
//!
//! One pass over the text for all rules together, before anything is compiled or parsed. It only rules out: what it
//! leaves is for the checks to decide.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, Span, packed};

use crate::names::{NameGlob, is_name_character};
use crate::pattern::Pattern;

/// From this much text on, patterns are looked for all at once: building what does that costs more than it saves before.
const AT_ONCE: usize = 64 << 10;
/// From this much text on, words are found by a search for all of them at once, for the same reason.
const MANY_WORDS: usize = 4 << 10;
/// So many matches of needles are looked at.
const MOST_MATCHES: usize = 50_000;

/// Words by which a name is looked up at run time, so that it need not stand in the text as it is.
const DYNAMIC: [&str; 11] = [
    "getattr",
    "__import__",
    "import_module",
    "importlib",
    "__dict__",
    "__builtins__",
    "vars",
    "globals",
    "locals",
    "modules",
    "attrgetter",
];

/// The patterns, by where they stand in their rulebook, that may match somewhere in `text`; none where it is cheaper to
/// ask each of them.
pub(crate) fn patterns(text: &str, patterns: &[&Pattern]) -> Option<HashSet<usize>> {
    if text.len() < AT_ONCE {
        return None;
    }
    let mut present = HashSet::new();
    let (mut needles, mut owners) = (Vec::new(), Vec::new());
    for pattern in patterns {
        match pattern.needles() {
            Some(texts) => {
                for needle in texts {
                    needles.push(needle);
                    owners.push(pattern.span.start);
                }
            }
            None => {
                present.insert(pattern.span.start);
            }
        }
    }
    let searcher = AhoCorasick::builder().ascii_case_insensitive(true).build(&needles).ok()?;
    let most = present.len() + owners.iter().collect::<HashSet<_>>().len();
    let mut matches = 0;
    for found in searcher.find_overlapping_iter(text) {
        matches += 1;
        if (present.insert(owners[found.pattern().as_usize()]) && present.len() == most) || matches > MOST_MATCHES {
            break;
        }
    }
    if matches > MOST_MATCHES {
        // A short needle is everywhere: the others are quicker to find one by one.
        let rest = patterns.iter().filter(|pattern| pattern.may_occur(text)).map(|pattern| pattern.span.start);
        present.extend(rest);
    }
    Some(present)
}

/// The words of a text that names of rules, and look-ups at run time, are recognised by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    present: HashSet<Box<str>>,
    is_dynamic: bool,
}

impl Words {
    /// Looks through `text` once for the words of all `names`.
    pub fn of<'n>(text: &str, names: impl IntoIterator<Item = &'n NameGlob>) -> Words {
        let wanted: HashSet<&str> = names.into_iter().filter_map(NameGlob::word).chain(DYNAMIC).collect();
        let mut words = Words::default();
        let each = |word: &str| {
            if wanted.contains(word) && !words.present.contains(word) {
                words.is_dynamic |= DYNAMIC.contains(&word);
                words.present.insert(word.into());
            }
        };
        // A byte order mark in front of a text is no letter of its first word.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let at_once = (text.len() >= MANY_WORDS).then(|| packed::Searcher::new(&wanted)).flatten();
        match at_once {
            Some(searcher) => runs_with(text, &searcher, each),
            None => words_of(text, &wanted, each),
        }
        words
    }

    /// Whether one of these names may be meant somewhere in the text. They are among those looked for.
    pub fn may_name<'n>(&self, names: impl IntoIterator<Item = &'n NameGlob>) -> bool {
        let may_be_meant = |name: &NameGlob| name.word().is_none_or(|word| self.present.contains(word));
        self.is_dynamic || names.into_iter().any(may_be_meant)
    }
}

/// Whether a byte is part of a run that words are in: of a letter, a digit, an underscore, or of anything outside of
/// ASCII.
const IS_PART: [bool; 256] = {
    let mut is_part = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        is_part[byte] = byte >= 0x80 || (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    is_part
};

/// Calls `each` with the words that begin and are as long as one of `wanted`: a plain loop, for it reads every byte of
/// a file.
fn words_of(text: &str, wanted: &HashSet<&str>, mut each: impl FnMut(&str)) {
    // For each first byte, the lengths that a wanted word of it has.
    let mut lengths = [0_u64; 256];
    for word in wanted {
        if let Some(first) = word.bytes().next() {
            lengths[usize::from(first)] |= 1 << word.len().min(63);
        }
    }
    let mut candidate = |word: &str| {
        if lengths[usize::from(word.as_bytes()[0])] & (1 << word.len().min(63)) != 0 {
            each(word);
        }
    };
    let bytes = text.as_bytes();
    let mut end = 0;
    while let Some(gap) = bytes[end..].iter().position(|byte| IS_PART[usize::from(*byte)]) {
        let start = end + gap;
        end = run_end(bytes, start);
        words_of_run(&text[start..end], &mut candidate);
    }
}

/// Calls `each` with the words of the runs in which the searcher finds something: a wanted word is the start of its run,
/// or stands behind what ends a word there.
fn runs_with(text: &str, searcher: &packed::Searcher, mut each: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(found) = searcher.find_in(text, Span { start: from, end: text.len() }) {
        let back = bytes[from..found.start()].iter().rev().take_while(|byte| IS_PART[usize::from(**byte)]).count();
        let end = run_end(bytes, found.start());
        words_of_run(&text[found.start() - back..end], &mut each);
        from = end;
    }
}

/// Where the run ends that goes on at `start`.
fn run_end(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|byte| IS_PART[usize::from(**byte)]).count()
}

/// The words of a run. Outside of ASCII there are letters, and much that ends a word.
fn words_of_run(run: &str, each: &mut impl FnMut(&str)) {
    if run.is_ascii() {
        return each(run);
    }
    let is_end = |character: char| !character.is_ascii() && !is_name_character(character);
    run.split(is_end).filter(|word| !word.is_empty()).for_each(each);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Against;

    #[test]
    fn words_are_whole() {
        for (text, expected) in [
            ("eval(x)", true),
            ("\u{feff}eval(x)", true),
            ("evaluate(x)", false),
            ("_eval eval_", false),
            ("medieval, eval", true),
            ("x = 'eval'", true),
            ("", false),
            ("getattr(os, x)", true),
            ("évaleval", false),
            ("\u{feff}eval(x)", true),
            ("'—eval—'", true),
        ] {
            let name = NameGlob::new("*.eval").unwrap();
            for text in [text.to_owned(), format!("{text}{}", " plain".repeat(MANY_WORDS))] {
                assert_eq!(Words::of(&text, [&name]).may_name([&name]), expected, "{text}");
            }
        }
        let any = NameGlob::new("*").unwrap();
        assert!(Words::of("", [&any]).may_name([&any]));
    }

    #[test]
    fn words_are_found_alike_whatever_finds_them() {
        let names: Vec<NameGlob> = ["os.system", "*.eval", "sys", "größe", "system_", "sy"]
            .into_iter()
            .map(|name| NameGlob::new(name).unwrap())
            .collect();
        let wanted: HashSet<&str> = names.iter().filter_map(NameGlob::word).chain(DYNAMIC).collect();
        // Not every machine has such a search.
        let Some(searcher) = packed::Searcher::new(&wanted) else { return };
        let pieces = ["sys", "system", "eval", "e", "größe", "é", "_", " ", "—", ".", "vars", "getattr", "x", "\n"];
        for seed in 0..20_000_usize {
            let picks = (0..6).scan(seed, |rest, _| {
                let pick = pieces[*rest % pieces.len()];
                *rest = *rest / 5 + *rest % 3;
                Some(pick)
            });
            let text: String = picks.collect();
            let (mut one, mut other) = (HashSet::new(), HashSet::new());
            let is_wanted = |word: &str| wanted.contains(word).then(|| word.to_owned());
            words_of(&text, &wanted, |word| one.extend(is_wanted(word)));
            runs_with(&text, &searcher, |word| other.extend(is_wanted(word)));
            assert_eq!(one, other, "{text}");
        }
    }

    #[test]
    fn many_patterns_are_looked_for_at_once() {
        let sources = ["TODO", "(?i)fixme", "x?", "absent", "[0-9]{3}-secret"];
        let all: Vec<Pattern> =
            sources.iter().enumerate().map(|(at, source)| Pattern::new(source, at..at, Against::Line)).collect();
        let refs: Vec<&Pattern> = all.iter().collect();
        let text = format!("{}FixMe TODO{}", "-".repeat(AT_ONCE), "-".repeat(10));
        let mut present: Vec<usize> = patterns(&text, &refs).unwrap().into_iter().collect();
        present.sort_unstable();
        assert_eq!(present, [0, 1, 2]);
        let everywhere = format!("{}TODO", "x-secre".repeat(AT_ONCE));
        let all: Vec<Pattern> =
            ["e", "TODO", "y"].iter().zip(0..).map(|(it, at)| Pattern::new(it, at..at, Against::Line)).collect();
        let found = patterns(&everywhere, &all.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(found, HashSet::from([0, 1]));
        assert_eq!(patterns("short", &refs), None);
    }
}
