//! A cursor in YAML's block style, line by line: indentation and the marks of lists say where it stands.
//!
//! What stands in flow style, in a quoted text over several lines or behind a tab is a value or nothing.

use syntax::Span;

use super::{DEEPEST, ITEM, Keys, Slot, Spot, unquoted};

/// A key whose value may stand on the lines below, or the mark of an item.
struct Level {
    indent: usize,
    /// None for an item.
    key: Option<Span>,
    /// The number of what stands in it.
    number: u32,
}

/// See [`super::spot`].
pub fn spot(text: &str, offset: usize) -> Spot {
    let (mut levels, mut keys, mut last) = (Vec::<Level>::new(), Keys::default(), 0);
    let mut found: Option<(Spot, Span, u32)> = None;
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        let here = start..start + line.len();
        let is_here = found.is_none() && (here.start..=here.end).contains(&offset);
        let content = line.trim_start_matches(' ');
        if is_here || !(content.is_empty() || content.starts_with(['#', '\t'])) {
            let at = is_here.then_some(offset);
            if let Some(there) = read_line(text, here, at, &mut levels, &mut keys, &mut last) {
                found = Some(there);
            }
        }
        if levels.len() > DEEPEST {
            break;
        }
        start += whole.len();
    }
    // Behind the last line's end.
    if found.is_none() && offset == text.len() && start == offset {
        found = read_line(text, offset..offset, Some(offset), &mut levels, &mut keys, &mut last);
    }
    let Some((mut spot, at, number)) = found else { return Spot::default() };
    if matches!(spot.slot, Slot::Key { .. }) {
        spot.there = keys.of(number, text, &at);
    }
    spot
}

/// Takes in a line; what stands at `offset`, if it is in this line.
fn read_line(
    text: &str,
    line: Span,
    offset: Option<usize>,
    levels: &mut Vec<Level>,
    keys: &mut Keys,
    last: &mut u32,
) -> Option<(Spot, Span, u32)> {
    let bytes = text.as_bytes();
    let blanks = |from: usize| from + bytes[from..line.end].iter().take_while(|byte| **byte == b' ').count();
    let mut at = blanks(line.start);
    // On a blank line the cursor says how deep it stands.
    let is_blank = at == line.end;
    let mut indent = offset.filter(|_| is_blank).unwrap_or(at).min(at) - line.start;
    let mut is_item = false;
    while bytes.get(at) == Some(&b'-')
        && at < line.end
        && matches!(bytes.get(at + 1), None | Some(b' ' | b'\n' | b'\r'))
    {
        if offset.is_some_and(|offset| offset <= at) {
            return Some((Spot::default(), line, 0));
        }
        leave(levels, indent, true);
        *last += 1;
        levels.push(Level { indent, key: None, number: *last });
        let content = blanks(at + 1);
        indent = (content - line.start).max(indent + 2);
        is_item = true;
        at = content;
        if levels.len() > DEEPEST {
            return None;
        }
    }
    if !is_item {
        // A bare dash is not there yet, so that a list's keys may stand as deep as the list.
        leave(levels, indent, false);
    }
    let number = levels.last().map_or(0, |level| level.number);
    let key = key_at(text, at..line.end);
    let name = |level: &Level| level.key.as_ref().map_or(ITEM, |key| unquoted(&text[key.clone()])).to_owned();
    let table = || levels.iter().map(name).collect::<Vec<_>>();
    let mut found = None;
    if let Some(offset) = offset {
        found = Some(match &key {
            Some((key, colon)) if offset > *colon => {
                let name = unquoted(&text[key.clone()]).to_owned();
                (value(text, &line, *colon, offset, table(), name), line.clone(), number)
            }
            _ => {
                let span = key.as_ref().map_or_else(|| word(text, at..line.end), |(key, _)| key.clone());
                let span = if is_blank || offset < span.start { offset..offset } else { span };
                let is_comment = text[at..offset.max(at)].contains('#');
                // A word that is whole, and something behind it, is no key.
                if offset > span.end || is_comment {
                    (Spot::default(), span, number)
                } else {
                    let slot = Slot::Key { span: span.clone(), follows: key.is_some(), begins: !is_item };
                    (Spot { table: table(), there: Vec::new(), slot }, span, number)
                }
            }
        });
    }
    if let Some((key, _)) = key {
        keys.add(number, key.clone());
        *last += 1;
        levels.push(Level { indent, key: Some(key), number: *last });
    }
    found
}

/// Leaves what a line of this indentation does not stand in. An item may stand as deep as the key of its list.
fn leave(levels: &mut Vec<Level>, indent: usize, is_item: bool) {
    while let Some(level) = levels.last() {
        let holds = level.indent < indent || is_item && level.key.is_some() && level.indent == indent;
        if holds {
            return;
        }
        levels.pop();
    }
}

/// The key at the beginning of a line's content and the place of its colon.
fn key_at(text: &str, content: Span) -> Option<(Span, usize)> {
    let line = &text[content.clone()];
    if line.starts_with(['#', '[', '{', '-', '|', '>', '&', '*', '!']) {
        return None;
    }
    let quoted = line.chars().next().filter(|it| matches!(it, '"' | '\''));
    let end = match quoted {
        Some(quote) => 2 + line[1..].find(quote)?,
        None => line.find(':')?,
    };
    let colon = end + line[end..].find(|it| it != ' ')?;
    let is_colon = line.as_bytes()[colon] == b':' && matches!(line.as_bytes().get(colon + 1), None | Some(b' '));
    let key = content.start..content.start + line[..end].trim_end().len();
    (is_colon && !key.is_empty()).then_some((key, content.start + colon))
}

/// The word at the beginning of a line's content.
fn word(text: &str, content: Span) -> Span {
    let line = &text[content.clone()];
    let end = line.find([' ', '\t', '#', '[', '{']).unwrap_or(line.len());
    content.start..content.start + end
}

/// What stands behind a colon.
fn value(text: &str, line: &Span, colon: usize, offset: usize, table: Vec<String>, key: String) -> Spot {
    let behind = &text[colon + 1..line.end];
    let begin = colon + 1 + (behind.len() - behind.trim_start().len());
    let content = &text[begin..line.end];
    let end = match content.chars().next().filter(|it| matches!(it, '"' | '\'')) {
        Some(quote) => content[1..].find(quote).map_or(content.len(), |at| at + 2),
        None => content.find(" #").unwrap_or(if content.starts_with('#') { 0 } else { content.len() }),
    };
    let span = begin..begin + text[begin..begin + end].trim_end().len();
    if text[begin..].starts_with(['[', '{', '|', '>']) && offset > begin {
        return Spot { table, there: Vec::new(), slot: Slot::Nothing };
    }
    let span = if offset < span.start { offset..offset } else { span };
    let slot = if offset > span.end { Slot::Nothing } else { Slot::Value { key, span, listed: false } };
    Spot { table, there: Vec::new(), slot }
}

#[cfg(test)]
mod tests {
    use super::super::{Grammar, shown};

    #[test]
    fn places_in_half_typed_texts() {
        for (marked, expected) in [
            ("|", " {} key <> ^"),
            ("ho|", " {} key <ho> ^"),
            ("ho|oks:\n", " {} key <hooks> = ^"),
            ("hooks: |", " {} value of hooks <>"),
            ("hooks:\n  |", "hooks {} key <> ^"),
            ("hooks:\n|", " {hooks} key <> ^"),
            ("hooks:\n  Pre|\n  Stop:\n", "hooks {Stop} key <Pre> ^"),
            ("hooks:\n  Stop:\n    |", "hooks/Stop {} key <> ^"),
            ("hooks:\n  Stop:\n    - |", "hooks/Stop/- {} key <>"),
            ("hooks:\n  Stop:\n    -|", "hooks/Stop/- {} key <>"),
            ("hooks:\n  Stop:\n    |- a", "nothing"),
            ("hooks:\n  Stop:\n    - scr|ipt: a\n      timeout: 3\n", "hooks/Stop/- {timeout} key <script> ="),
            ("hooks:\n  Stop:\n    - script: a\n      |", "hooks/Stop/- {script} key <> ^"),
            ("hooks:\n  Stop:\n    - script: a\n    - ma|", "hooks/Stop/- {} key <ma>"),
            ("hooks:\n  Stop:\n  - script: a\n    ma|", "hooks/Stop/- {script} key <ma> ^"),
            ("hooks:\n  Stop:\n    - script: a\n      on_error: |", "hooks/Stop/- {} value of on_error <>"),
            ("hooks:\n  Stop:\n    - on_error: as|k # x", "hooks/Stop/- {} value of on_error <ask>"),
            ("hooks:\n  Stop:\n    - on_error: ask # x|", "nothing"),
            ("hooks:\n  Stop:\n    - on_error: 'as|", "hooks/Stop/- {} value of on_error <'as>"),
            ("hooks:\n  Stop:\n    - command: [ruff, |", "nothing"),
            ("hooks:\n  Stop:\n    - script: a\n  Pre|", "hooks {Stop} key <Pre> ^"),
            ("# a|", "nothing"),
            ("hooks: # a|", "nothing"),
            ("hooks:\r\n  St|\r\n", "hooks {} key <St> ^"),
            ("a b|", "nothing"),
            ("\t|", "nothing"),
        ] {
            assert_eq!(shown(Grammar::Yaml, marked), expected, "{marked:?}");
        }
    }
}
