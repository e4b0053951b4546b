//! A line of a file as it is quoted: trimmed, cut around the place that counts, secrets masked.
//!
//! Control characters are not the business of this module: who prints the text passes it through [`crate::plain`].

use std::ops::Range;

use crate::plain::LINE;

/// How far around the hit the line is looked at, in bytes: enough for what is shown.
const AROUND: usize = 1024;

/// `line` cut to [`LINE`] characters around `hit`, with each of `masked` (ascending, not overlapping) reduced to its
/// first four characters.
pub(crate) fn excerpt(line: &str, hit: &Range<usize>, masked: &[Range<usize>]) -> String {
    let from = boundary(line, hit.start.saturating_sub(AROUND));
    let to = boundary(line, (hit.start + AROUND).min(line.len()));
    let mut shown: Vec<char> = Vec::new();
    let mut focus = 0;
    let mut at = from;
    for mask in masked.iter().filter(|mask| mask.start < to && mask.end > from) {
        show(&line[at..mask.start.max(at)], at, hit, &mut shown, &mut focus);
        if mask.contains(&hit.start) {
            focus = shown.len();
        }
        let secret = &line[mask.clone()];
        if mask.start >= from && secret.chars().nth(4).is_some() {
            shown.extend(secret.chars().take(4));
        }
        shown.push('…');
        at = mask.end.max(at);
    }
    if at < to {
        show(&line[at..to], at, hit, &mut shown, &mut focus);
    }
    cut(&shown, focus, from > 0, to < line.len())
}

fn show(text: &str, at: usize, hit: &Range<usize>, shown: &mut Vec<char>, focus: &mut usize) {
    if (at..=at + text.len()).contains(&hit.start) {
        *focus = shown.len() + text[..hit.start - at].chars().count();
    }
    shown.extend(text.chars());
}

fn cut(shown: &[char], focus: usize, more_before: bool, more_behind: bool) -> String {
    let first = shown.iter().position(|it| !it.is_whitespace()).unwrap_or(shown.len());
    let last = shown.iter().rposition(|it| !it.is_whitespace()).map_or(first, |last| last + 1);
    let (first, last) = (if more_before { 0 } else { first }, if more_behind { shown.len() } else { last });
    if last - first <= LINE && !more_before && !more_behind {
        return shown[first..last].iter().collect();
    }
    // Room for an ellipsis on either side; a third of the room stands before the hit.
    let room = LINE - 2;
    let start = focus.saturating_sub(room / 3).clamp(first, last.saturating_sub(room).max(first));
    let end = (start + room).min(last);
    let mut text = String::new();
    if start > first || more_before {
        text.push('…');
    }
    text.extend(&shown[start..end]);
    if end < last || more_behind {
        text.push('…');
    }
    text
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Ranges in order, those that touch joined.
pub(crate) fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_cut_around_the_hit() {
        assert_eq!(excerpt("  a bad b ", &(4..7), &[]), "a bad b");
        let long = format!("{}bad{}", "x".repeat(5000), "y".repeat(5000));
        let cut = excerpt(&long, &(5000..5003), &[]);
        assert!(cut.contains("xbady") && cut.starts_with('…') && cut.ends_with('…'));
        assert_eq!(cut.chars().count(), LINE);
        let end = excerpt(&format!("{}bad", "é".repeat(3000)), &(6000..6003), &[]);
        assert!(end.ends_with("ébad") && end.chars().count() <= LINE, "{end}");
    }

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let line = "k = 'sk-ABCDEFGH' second-12345";
        assert_eq!(excerpt(line, &(5..16), &[5..16, 18..30]), "k = 'sk-A…' seco…");
        assert_eq!(excerpt("abcd", &(0..4), std::slice::from_ref(&(0..4))), "…");
        let hidden = format!("{}{}", "s".repeat(4000), "bad");
        assert!(!excerpt(&hidden, &(4000..4003), std::slice::from_ref(&(0..4001))).contains('s'));
    }

    proptest! {
        #[test]
        fn an_excerpt_is_bounded_and_never_shows_a_secret(
            before in "[a é]{0,200}", secret in "S{5,300}", behind in "[a é]{0,200}", at in 0_usize..400,
        ) {
            let line = format!("{before}{secret}{behind}");
            let hit = boundary(&line, at.min(line.len()));
            let mask = before.len()..before.len() + secret.len();
            let text = excerpt(&line, &(hit..hit), std::slice::from_ref(&mask));
            prop_assert!(text.chars().count() <= LINE);
            prop_assert!(!text.contains("SSSSS"));
        }
    }
}
