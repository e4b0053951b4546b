//! A cursor in JSON. A string that is not closed ends with its line.

use syntax::Span;

use super::{DEEPEST, Keys, Slot, Spot, unquoted};

enum Open {
    List,
    /// With the number of the object.
    Object(u32),
}

struct Frame {
    open: Open,
    /// Behind a colon, or a value of the list.
    wants_value: bool,
    /// The value stands there.
    is_whole: bool,
    /// The key that was read last.
    key: Option<Span>,
}

enum Token {
    /// A string, a number or a word.
    Word,
    Mark(u8),
    Blank,
}

/// See [`super::spot`].
pub fn spot(text: &str, offset: usize) -> Spot {
    let (mut frames, mut keys) = (Vec::<Frame>::new(), Keys::default());
    let mut last = 0;
    let mut found: Option<(Spot, Span, Option<u32>)> = None;
    let mut start = 0;
    loop {
        let (token, end) = next(text, start);
        let span = start..end;
        let is_word = matches!(token, Token::Word);
        if found.is_none() {
            if is_word && offset <= span.end {
                found = Some(at(text, &frames, span.clone()));
            } else if offset < span.end || start == text.len() {
                found = Some(at(text, &frames, offset..offset));
            }
        }
        if start == text.len() || frames.len() > DEEPEST {
            break;
        }
        match token {
            Token::Mark(mark @ (b'{' | b'[')) => {
                let open = if mark == b'[' {
                    Open::List
                } else {
                    last += 1;
                    Open::Object(last)
                };
                frames.push(Frame { wants_value: mark == b'[', open, is_whole: false, key: None });
            }
            Token::Mark(b'}' | b']') => {
                frames.pop();
                if let Some(frame) = frames.last_mut() {
                    frame.is_whole = true;
                }
            }
            Token::Mark(mark) => {
                if let Some(frame) = frames.last_mut() {
                    take_mark(frame, mark, &mut keys);
                }
            }
            Token::Word => {
                if let Some(frame) = frames.last_mut() {
                    if frame.wants_value {
                        frame.is_whole = true;
                    } else {
                        frame.key = Some(span);
                    }
                }
            }
            Token::Blank => {}
        }
        start = end;
    }
    let Some((mut spot, at, object)) = found else { return Spot::default() };
    if let Some(object) = object {
        spot.there = keys.of(object, text, &at);
    }
    spot
}

fn take_mark(frame: &mut Frame, mark: u8, keys: &mut Keys) {
    match (mark, &frame.open) {
        (b':', Open::Object(number)) => {
            if let Some(key) = frame.key.clone().filter(|_| !frame.wants_value) {
                keys.add(*number, key);
            }
            frame.wants_value = true;
        }
        (b',', open) => {
            let listed = matches!(open, Open::List);
            (frame.wants_value, frame.is_whole) = (listed, false);
            frame.key = None;
        }
        _ => {}
    }
}

/// The token that begins at `start`, and where it ends.
fn next(text: &str, start: usize) -> (Token, usize) {
    let rest = &text.as_bytes()[start..];
    let length = |ends: &dyn Fn(&u8) -> bool| start + rest.iter().position(ends).unwrap_or(rest.len());
    match rest.first() {
        None => (Token::Blank, start),
        Some(b'"') => {
            let mut at = 1;
            while let Some(byte) = rest.get(at) {
                match byte {
                    b'\\' if !matches!(rest.get(at + 1), None | Some(b'\n' | b'\r')) => at += 2,
                    b'"' => return (Token::Word, start + at + 1),
                    b'\n' | b'\r' => break,
                    _ => at += 1,
                }
            }
            let mut end = start + at.min(rest.len());
            // An escape may have ended inside a character.
            while !text.is_char_boundary(end) {
                end += 1;
            }
            (Token::Word, end)
        }
        Some(mark @ (b'{' | b'}' | b'[' | b']' | b':' | b',')) => (Token::Mark(*mark), start + 1),
        Some(byte) if byte.is_ascii_whitespace() => (Token::Blank, length(&|byte| !byte.is_ascii_whitespace())),
        Some(_) => (Token::Word, length(&|byte| byte.is_ascii_whitespace() || b"{}[]:,\"".contains(byte))),
    }
}

fn at(text: &str, frames: &[Frame], span: Span) -> (Spot, Span, Option<u32>) {
    let nothing = (Spot::default(), span.clone(), None);
    let Some((frame, above)) = frames.split_last() else { return nothing };
    if frame.is_whole {
        return nothing;
    }
    let word = |span: &Span| unquoted(text.get(span.clone()).unwrap_or_default()).to_owned();
    let path = |frames: &[Frame]| frames.iter().filter_map(|frame| frame.key.as_ref()).map(word).collect::<Vec<_>>();
    let spot = |table, slot| Spot { table, there: Vec::new(), slot };
    match &frame.open {
        Open::Object(number) if !frame.wants_value => {
            // A key without its colon was left behind.
            if frame.key.is_some() {
                return nothing;
            }
            let follows = text[span.end..].trim_start().starts_with(':');
            let slot = Slot::Key { span: span.clone(), follows, begins: false };
            (spot(path(above), slot), span, Some(*number))
        }
        open => {
            let listed = matches!(open, Open::List);
            let owners = if listed { above } else { frames };
            // In lists of lists the key is that of the outermost.
            let owner = owners.iter().rposition(|frame| matches!(frame.open, Open::Object(_)));
            let Some((owner, key)) = owner.and_then(|owner| Some((owner, frames[owner].key.as_ref()?))) else {
                return nothing;
            };
            let slot = Slot::Value { key: word(key), span: span.clone(), listed };
            (spot(path(&frames[..owner]), slot), span, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Grammar, shown};

    #[test]
    fn places_in_half_typed_texts() {
        for (marked, expected) in [
            ("|", "nothing"),
            ("{|", " {} key <>"),
            ("{\"ru|", " {} key <\"ru>"),
            ("{\"ru|\": []}", " {} key <\"ru\"> ="),
            ("{\"rules\": [|", " {} value of rules <> in a list"),
            ("{\"rules\": [{|", "rules {} key <>"),
            ("{\"rules\": [{\"id\": \"a\", \"o|\n, \"why\": 1}, {\"paths\": 2}]}", "rules {id,why} key <\"o>"),
            ("{\"rules\": [{\"id\": \"a\"}, {\"on_fail\": |}]}", "rules {} value of on_fail <>"),
            ("{\"rules\": [{\"on_fail\": \"d|", "rules {} value of on_fail <\"d>"),
            ("{\"rules\": [{\"on_fail\": \"deny\" |", "nothing"),
            ("{\"rules\": [{\"on_fail\" |", "nothing"),
            ("{\"rules\": [{\"paths\": [\"a\", \"|\"]", "rules {} value of paths <\"\"> in a list"),
            ("{\"a\": \"\\\"x|", " {} value of a <\"\\\"x>"),
            ("{\"a\": tr|ue}", " {} value of a <true>"),
            ("{}|", "nothing"),
        ] {
            assert_eq!(shown(Grammar::Json, marked), expected, "{marked:?}");
        }
    }
}
