//! Which lines of a text are new against an older one.
//!
//! Deterministic and bounded: lines without a counterpart are set aside first (which changes no longest common
//! subsequence), what remains goes to Myers' algorithm with bounded heuristics. No clock, never quadratic.

use std::collections::HashMap;

use imara_diff::{Algorithm, Diff, Token};
use syntax::Span;

use crate::lines::lines;

/// The lines of `after` that are not in `before` at their place, by index from 0, with their ranges. Line ends are no
/// part of a line.
pub fn added(before: &str, after: &str) -> Vec<(usize, Span)> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut number = |line| {
        let next = numbers.len() as u32;
        *numbers.entry(line).or_insert(next)
    };
    let old: Vec<u32> = lines(before).map(|line| number(&before[line])).collect();
    let spans: Vec<Span> = lines(after).collect();
    let new: Vec<u32> = spans.iter().map(|line| number(&after[line.clone()])).collect();
    let is_new = is_new(&old, &new, numbers.len());
    spans.into_iter().enumerate().filter(|(index, _)| is_new[*index]).collect()
}

fn is_new(old: &[u32], new: &[u32], kinds: usize) -> Vec<bool> {
    let mut is_new = vec![true; new.len()];
    let start = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let (old, rest) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(rest.iter().rev()).take_while(|(left, right)| left == right).count();
    let (old, rest) = (&old[..old.len() - end], &rest[..rest.len() - end]);
    is_new[..start].fill(false);
    let until = new.len() - end;
    is_new[until..].fill(false);

    let (mut in_old, mut in_new) = (vec![false; kinds], vec![false; kinds]);
    old.iter().for_each(|kind| in_old[*kind as usize] = true);
    rest.iter().for_each(|kind| in_new[*kind as usize] = true);
    let left: Vec<Token> = old.iter().filter(|kind| in_new[**kind as usize]).map(|kind| Token(*kind)).collect();
    let places: Vec<usize> = (0..rest.len()).filter(|index| in_old[rest[*index] as usize]).collect();
    let right: Vec<Token> = places.iter().map(|index| Token(rest[*index])).collect();

    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, &left, &right, kinds as u32);
    for (index, place) in places.iter().enumerate() {
        is_new[start + place] = diff.is_added(index as u32);
    }
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(before: &str, after: &str) -> Vec<usize> {
        added(before, after).into_iter().map(|(index, _)| index + 1).collect()
    }

    #[test]
    fn added_lines() {
        for (before, after, expected) in [
            ("", "", vec![]),
            ("", "a\nb\n", vec![1, 2]),
            ("a\nb\n", "a\nb\n", vec![]),
            ("one\ntwo\nthree\n", "one\ntwo TODO\nthree\n", vec![2]),
            ("bad\none\ntwo\n", "one\ntwo\nbad\n", vec![3]),
            ("x\nbad\ny\n", "x\n  bad\ny\n", vec![2]),
            ("x\n", "x\nx\n", vec![2]),
            ("a\nb\nc\n", "a\r\nb\r\nc\r\n", vec![]),
            ("a\nb", "a\nb\n", vec![]),
            ("a\rb\rc", "a\nb\nX\nc", vec![3]),
            ("a\nb\nc\n", "b\n", vec![]),
            ("ba\nd\n", "bad\n", vec![1]),
            ("x\ny\nx\n", "bad\ny\nbad\n", vec![1, 3]),
            ("}\n}\n}\n", "}\n\n}\n\n}\n\n", vec![2, 4, 6]),
        ] {
            assert_eq!(numbers(before, after), expected, "{before:?} -> {after:?}");
        }
    }

    #[test]
    fn blanks_between_repeated_lines() {
        let before = "}\n".repeat(1000);
        let after = "}\n\n".repeat(1000);
        assert_eq!(numbers(&before, &after), (1..=1000).map(|line| line * 2).collect::<Vec<_>>());
    }

    #[test]
    fn hostile_texts_end() {
        let forth: String = (0..100_000).map(|line| format!("{line}\n")).collect();
        let back: String = (0..100_000).rev().map(|line| format!("{line}\n")).collect();
        assert!(numbers(&forth, &back).len() >= 99_999);
        let two = |step: usize| (0..60_000).map(|line| if line * step % 7 < 3 { "a\n" } else { "b\n" }).collect::<String>();
        assert!(!numbers(&two(1), &two(3)).is_empty());
    }

    proptest! {
        #[test]
        fn what_is_not_added_was_there_in_order(before in "[abc\n]{0,60}", after in "[abc\n]{0,60}") {
            let added: Vec<usize> = added(&before, &after).into_iter().map(|(index, _)| index).collect();
            let old: Vec<_> = lines(&before).map(|line| &before[line]).collect();
            let kept = lines(&after).enumerate().filter(|(index, _)| !added.contains(index)).map(|(_, line)| &after[line]);
            let mut rest = old.iter();
            for line in kept {
                prop_assert!(rest.any(|old| *old == line), "{line:?} is not in what is left of the old text");
            }
        }

        #[test]
        fn nothing_changes_nothing(text in "[ab\r\n]{0,60}") {
            prop_assert!(added(&text, &text).is_empty());
        }
    }
}
