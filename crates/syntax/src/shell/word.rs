//! The value of one word, and of a heredoc's body, as the shell would give it.

/// The value of a word as written, if nothing in it is expanded.
pub(super) fn value(word: &str) -> Option<String> {
    let mut value = String::with_capacity(word.len());
    let mut rest = word.chars().peekable();
    if word.starts_with('~') {
        return None;
    }
    while let Some(character) = rest.next() {
        match character {
            '\'' => loop {
                match rest.next()? {
                    '\'' => break,
                    inner => value.push(inner),
                }
            },
            '"' => double_quoted(&mut rest, &mut value)?,
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(escaped) => value.push(escaped),
                None => value.push('\\'),
            },
            '$' => match rest.peek() {
                Some('\'') => {
                    rest.next();
                    ansi_quoted(&mut rest, &mut value)?;
                }
                Some('"') => {}
                next => {
                    if expands(next.copied()) {
                        return None;
                    }
                    value.push('$');
                }
            },
            '`' | '*' | '?' | '[' | '{' | '<' | '>' | '(' | ')' => return None,
            _ => value.push(character),
        }
    }
    Some(value)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Whether a `$` before this character begins an expansion.
fn expands(next: Option<char>) -> bool {
    next.is_some_and(|next| next.is_alphanumeric() || "_{([@*#?!-$".contains(next))
}

fn double_quoted(rest: &mut Rest, value: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '"' => return Some(()),
            '\\' => match rest.next()? {
                '\n' => {}
                escaped @ ('$' | '`' | '"' | '\\') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            '`' => return None,
            '$' if expands(rest.peek().copied()) => return None,
            other => value.push(other),
        }
    }
}

/// The inside of `$'...'`.
fn ansi_quoted(rest: &mut Rest, value: &mut String) -> Option<()> {
    loop {
        let character = match rest.next()? {
            '\'' => return Some(()),
            '\\' => match rest.next()? {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'e' | 'E' => '\u{1b}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                'x' => char::from_u32(digits(rest, 2, 16)?)?,
                'u' => char::from_u32(digits(rest, 4, 16)?)?,
                'U' => char::from_u32(digits(rest, 8, 16)?)?,
                'c' => char::from_u32(u32::from(rest.next()?) & 0x1f)?,
                first @ '0'..='7' => {
                    let mut code = first.to_digit(8)?;
                    for _ in 0..2 {
                        let Some(digit) = rest.peek().and_then(|next| next.to_digit(8)) else { break };
                        code = code * 8 + digit;
                        rest.next();
                    }
                    char::from_u32(code & 0xff)?
                }
                quoted @ ('\\' | '\'' | '"' | '?') => quoted,
                other => {
                    value.push('\\');
                    other
                }
            },
            other => other,
        };
        value.push(character);
    }
}

/// Up to `most` digits; none without any.
fn digits(rest: &mut Rest, most: usize, radix: u32) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = rest.peek().and_then(|next| next.to_digit(radix)) else { break };
        value = Some(value.unwrap_or(0) * radix + digit);
        rest.next();
    }
    value
}

/// What a command reads of a heredoc with an unquoted delimiter, if nothing in it is expanded.
pub(super) fn heredoc_text(body: &str) -> Option<String> {
    let mut text = String::with_capacity(body.len());
    let mut rest = body.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(escaped @ ('$' | '`' | '\\')) => text.push(escaped),
                Some(other) => text.extend(['\\', other]),
                None => text.push('\\'),
            },
            '`' => return None,
            '$' if expands(rest.peek().copied()) => return None,
            other => text.push(other),
        }
    }
    Some(text)
}
