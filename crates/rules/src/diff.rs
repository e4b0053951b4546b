//! Which lines of a text are new against an older one.
//!
//! Deterministic and bounded: lines without a counterpart are set aside first (which changes no longest common
//! subsequence), what remains goes to Myers' algorithm, exact for up to [`FARTHEST`] differences and continued from the
//! farthest point reached beyond. No clock; time is linear in the number of lines, never quadratic.
#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "coordinates of a text's lines fit, and are checked"
)]

use std::collections::HashMap;
use std::hash::Hash;

use syntax::Span;
use syntax::lines::lines;

use crate::agreement;

/// Differences looked for in one go; work is at most this many steps for each line.
const FARTHEST: usize = 256;

/// The lines of `after` that are not in `before` at their place, by index from 0, with their ranges. Line ends are no
/// part of a line.
pub fn added(before: &str, after: &str) -> Vec<(usize, Span)> {
    let agreed = Agreed::at_start(before, after);
    let (old, new) = (&before[agreed.before..], &after[agreed.after..]);
    let end = agreed_end(old, new);
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let spans: Vec<Span> = lines(new).map(|line| line.span).collect();
    let old: Vec<&str> = lines(old).map(|line| &old[line.span]).collect();
    let texts: Vec<&str> = spans.iter().map(|span| &new[span.clone()]).collect();
    let is_new = added_among(&old, &texts);
    let found = spans.into_iter().enumerate().filter(|(index, _)| is_new[*index]);
    let in_text = |span: Span| agreed.after + span.start..agreed.after + span.end;
    found.map(|(index, span)| (agreed.lines + index, in_text(span))).collect()
}

/// The lines that agree at the start of two texts.
struct Agreed {
    lines: usize,
    /// Their bytes in the text before, and in that after: line ends may differ.
    before: usize,
    after: usize,
}

impl Agreed {
    fn at_start(before: &str, after: &str) -> Agreed {
        let bytes = agreement::at_start(before.as_bytes(), after.as_bytes());
        // Behind a `\n` a line starts whatever follows; behind a `\r` that is not said.
        let start = memchr::memrchr(b'\n', &before.as_bytes()[..bytes]).map_or(0, |at| at + 1);
        let mut agreed = Agreed { lines: lines(&before[..start]).count(), before: start, after: start };
        let (old, new) = (&before[start..], &after[start..]);
        for (left, right) in lines(old).zip(lines(new)) {
            if old[left.span] != new[right.span] {
                break;
            }
            agreed = Agreed { lines: agreed.lines + 1, before: start + left.next, after: start + right.next };
        }
        agreed
    }
}

/// How many bytes two texts share at their ends that are whole lines in both.
fn agreed_end(before: &str, after: &str) -> usize {
    let bytes = agreement::at_end(before.as_bytes(), after.as_bytes());
    let shared = &after.as_bytes()[after.len() - bytes..];
    memchr::memchr(b'\n', shared).map_or(0, |at| bytes - at - 1)
}

/// For each of `after`, whether it is not in `before` at its place.
pub fn added_among<T: Eq + Hash>(before: &[T], after: &[T]) -> Vec<bool> {
    let start = before.iter().zip(after).take_while(|(left, right)| left == right).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(left, right)| left == right).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let mut is_new = vec![false; after.len()];
    is_new[start..start + new.len()].fill(true);

    // Only what stands on both sides can be common: it is what the walk is about, as numbers.
    let mut numbers: HashMap<&T, u32> = HashMap::new();
    for item in old {
        let next = numbers.len() as u32;
        numbers.entry(item).or_insert(next);
    }
    let mut in_new = vec![false; numbers.len()];
    let (mut right, mut places) = (Vec::new(), Vec::new());
    for (index, item) in new.iter().enumerate() {
        if let Some(number) = numbers.get(item) {
            in_new[*number as usize] = true;
            right.push(*number);
            places.push(start + index);
        }
    }
    let left: Vec<u32> = old.iter().map(|item| numbers[item]).filter(|number| in_new[*number as usize]).collect();
    keep_common(&left, &right, |index| is_new[places[index]] = false);
    is_new
}

/// Calls `keep` with each index of `new` that is part of a common subsequence.
fn keep_common(old: &[u32], new: &[u32], mut keep: impl FnMut(usize)) {
    let (mut x, mut y) = (0, 0);
    while x < old.len() && y < new.len() {
        let graph = EditGraph { old: &old[x..], new: &new[y..] };
        let walked = graph.walk();
        for index in walked.common {
            keep(y + index);
        }
        x += walked.x;
        y += walked.y;
    }
}

/// Myers' edit graph: right deletes a line of `old`, down inserts one of `new`, diagonally both go on.
struct EditGraph<'a> {
    old: &'a [u32],
    new: &'a [u32],
}

struct Walked {
    /// Indices of `new` that are common, last first.
    common: Vec<usize>,
    /// The point reached, never the start.
    x: usize,
    y: usize,
}

/// The farthest x on each diagonal (x - y), from `-FARTHEST - 1`.
type Reach = [isize; 2 * FARTHEST + 3];
const UNREACHED: isize = isize::MIN / 2;

fn slot(diagonal: isize) -> usize {
    (diagonal + FARTHEST as isize + 1) as usize
}

impl EditGraph<'_> {
    /// Walks to the end, or to the farthest point within [`FARTHEST`] differences.
    fn walk(&self) -> Walked {
        let mut reach: Reach = [UNREACHED; 2 * FARTHEST + 3];
        let mut history: Vec<Reach> = Vec::new();
        let mut best = (0, 0);
        for differences in 0..=FARTHEST as isize {
            history.push(reach);
            for diagonal in (-differences..=differences).step_by(2) {
                let entered = if differences == 0 { Some(0) } else { self.enter(&reach, diagonal).map(|(x, _)| x) };
                let x = entered.map_or(UNREACHED, |x| x + self.common_from(x, x - diagonal));
                reach[slot(diagonal)] = x;
                if x >= 0 && 2 * x - diagonal > 2 * best.0 - best.1 {
                    best = (x, diagonal);
                }
            }
            if best.0 == self.old.len() as isize && best.0 - best.1 == self.new.len() as isize {
                break;
            }
        }
        self.way_to(best, &history)
    }

    /// Where the walk enters a diagonal from its neighbours, and from which: a deletion where both reach as far.
    fn enter(&self, reach: &Reach, diagonal: isize) -> Option<(isize, isize)> {
        let fits = |x: isize| {
            (0..=self.old.len() as isize).contains(&x) && (0..=self.new.len() as isize).contains(&(x - diagonal))
        };
        let down = Some((reach[slot(diagonal + 1)], diagonal + 1)).filter(|(x, _)| fits(*x));
        let right = Some((reach[slot(diagonal - 1)] + 1, diagonal - 1)).filter(|(x, _)| fits(*x));
        match (down, right) {
            (Some(down), Some(right)) if down.0 > right.0 => Some(down),
            (down, right) => right.or(down),
        }
    }

    fn common_from(&self, x: isize, y: isize) -> isize {
        let (old, new) = (&self.old[x as usize..], &self.new[y as usize..]);
        old.iter().zip(new).take_while(|(left, right)| left == right).count() as isize
    }

    fn way_to(&self, (x, diagonal): (isize, isize), history: &[Reach]) -> Walked {
        let mut walked = Walked { common: Vec::new(), x: x as usize, y: (x - diagonal) as usize };
        let (mut x, mut diagonal) = (x, diagonal);
        // The best point was reached in the first round that holds its diagonal that far.
        let rounds =
            history.iter().skip(1).position(|reach| reach[slot(diagonal)] == x).map_or(history.len(), |it| it + 1);
        for reach in history[..rounds].iter().rev() {
            let (start, from) = self.enter(reach, diagonal).unwrap_or((0, 0));
            walked.common.extend((start..x).rev().map(|x| (x - diagonal) as usize));
            x = if from > diagonal { start } else { start - 1 };
            diagonal = from;
        }
        walked
    }
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
        let forth: String = (0..30_000).flat_map(|line| [line.to_string(), "\n".into()]).collect();
        let back: String = (0..30_000).rev().flat_map(|line| [line.to_string(), "\n".into()]).collect();
        assert!(numbers(&forth, &back).len() >= 29_999);
        let two =
            |step: usize| (0..20_000).map(|line| if line * step % 7 < 3 { "a\n" } else { "b\n" }).collect::<String>();
        assert!(!numbers(&two(1), &two(3)).is_empty());
    }

    fn longest_common(old: &[u8], new: &[u8]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for one in old {
            let mut diagonal = 0;
            for (index, other) in new.iter().enumerate() {
                let best = if one == other { diagonal + 1 } else { row[index + 1].max(row[index]) };
                diagonal = std::mem::replace(&mut row[index + 1], best);
            }
        }
        row[new.len()]
    }

    proptest! {
        #[test]
        fn what_is_not_added_was_there_in_order(before in "[abc\n]{0,60}", after in "[abc\n]{0,60}") {
            let added: Vec<usize> = added(&before, &after).into_iter().map(|(index, _)| index).collect();
            let old: Vec<_> = lines(&before).map(|line| &before[line.span]).collect();
            let kept = lines(&after).enumerate().filter(|(index, _)| !added.contains(index)).map(|(_, line)| &after[line.span]);
            let mut rest = old.iter();
            for line in kept {
                prop_assert!(rest.any(|old| *old == line), "{line:?} is not in what is left of the old text");
            }
        }

        #[test]
        fn few_differences_are_the_fewest(before in "[abc]{0,14}", after in "[abc]{0,14}") {
            let line_by_line = |text: &str| text.chars().flat_map(|it| [it, '\n']).collect::<String>();
            let added = added(&line_by_line(&before), &line_by_line(&after)).len();
            prop_assert_eq!(after.len() - added, longest_common(before.as_bytes(), after.as_bytes()));
        }

        #[test]
        fn setting_aside_what_agrees_changes_nothing(
            start in "[ab\r\n]{0,20}", (left, right) in ("[ab\r\n]{0,8}", "[ab\r\n]{0,8}"), end in "[ab\r\n]{0,20}"
        ) {
            let (before, after) = (format!("{start}{left}{end}"), format!("{start}{right}{end}"));
            let of = |text: &str| lines(text).map(|line| text[line.span].to_owned()).collect::<Vec<_>>();
            let is_new = added_among(&of(&before), &of(&after));
            let expected: Vec<_> = lines(&after)
                .enumerate()
                .filter(|(index, _)| is_new[*index])
                .map(|(index, line)| (index, line.span))
                .collect();
            prop_assert_eq!(added(&before, &after), expected);
        }

        #[test]
        fn nothing_changes_nothing(text in "[ab\r\n]{0,60}") {
            prop_assert!(added(&text, &text).is_empty());
        }
    }
}
