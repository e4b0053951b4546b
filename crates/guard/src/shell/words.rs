//! A shell text to its simple commands: words without their quotes, redirections, heredocs.
//!
//! Linear in the text and without recursion. Substitutions and what a shell would expand make a word that is not known;
//! what stands in a substitution inside double quotes is not looked into.

/// One word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// Its text, quotes and escapes removed.
    pub text: String,
    /// Nothing in it is expanded.
    pub known: bool,
}

/// Where output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The file.
    pub target: Word,
    /// It is kept and added to.
    pub appends: bool,
}

/// Text that a command gets on stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heredoc {
    /// Its lines, each with its end.
    pub body: String,
    /// Nothing in it is expanded.
    pub known: bool,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Simple {
    /// Its words, the program's name first.
    pub words: Vec<Word>,
    /// Where its output goes.
    pub outputs: Vec<Redirection>,
    /// Its heredocs and here-strings.
    pub heredocs: Vec<Heredoc>,
}

/// A heredoc whose body starts at the next line.
struct Pending {
    /// Index of the command it belongs to.
    command: usize,
    delimiter: String,
    quoted: bool,
    strips_tabs: bool,
}

/// The simple commands of `text`, in order.
pub fn commands(text: &str) -> Vec<Simple> {
    let mut reader = Reader { text, at: 0, commands: vec![Simple::default()], pending: Vec::new() };
    reader.read();
    reader.commands.retain(|command| *command != Simple::default());
    reader.commands
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    commands: Vec<Simple>,
    pending: Vec<Pending>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn current(&mut self) -> &mut Simple {
        self.commands.last_mut().expect("there is one from the start, and none is taken away")
    }

    fn read(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.commands.push(Simple::default());
                    self.bodies();
                }
                b'#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                b'&' if self.rest().starts_with("&>") => self.output(1),
                b';' | b'&' | b'|' | b'(' | b')' | b'`' => {
                    self.at += 1;
                    self.commands.push(Simple::default());
                }
                b'<' => self.input(),
                b'>' => self.output(0),
                _ => self.word_or_descriptor(),
            }
        }
    }

    /// `2>FILE` has its number before the redirection; every other word belongs to the command.
    fn word_or_descriptor(&mut self) {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && matches!(self.text.as_bytes().get(self.at + digits), Some(b'<' | b'>')) {
            self.at += digits;
            return;
        }
        let word = self.word();
        let is_keyword =
            word.known && ["{", "}", "!", "do", "then", "else", "if", "while"].contains(&word.text.as_str());
        if is_keyword && self.current().words.is_empty() {
            return;
        }
        self.current().words.push(word);
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn output(&mut self, skip: usize) {
        self.at += skip + 1;
        let appends = self.peek() == Some(b'>');
        if matches!(self.peek(), Some(b'>' | b'|')) {
            self.at += 1;
        } else if self.peek() == Some(b'&') {
            self.at += 1;
            self.skip_blanks();
            if matches!(self.peek(), Some(b'0'..=b'9' | b'-')) {
                self.word();
                return;
            }
        }
        self.skip_blanks();
        let target = self.word();
        self.current().outputs.push(Redirection { target, appends });
    }

    fn input(&mut self) {
        if self.rest().starts_with("<<<") {
            self.at += 3;
            self.skip_blanks();
            let Word { text, known } = self.word();
            self.current().heredocs.push(Heredoc { body: text + "\n", known });
        } else if self.rest().starts_with("<<") {
            self.at += 2;
            let strips_tabs = self.peek() == Some(b'-');
            self.at += usize::from(strips_tabs);
            self.skip_blanks();
            let start = self.at;
            let delimiter = self.word().text;
            let quoted = self.text[start..self.at].contains(['\'', '"', '\\']);
            let command = self.commands.len() - 1;
            self.pending.push(Pending { command, delimiter, quoted, strips_tabs });
        } else if self.rest().starts_with("<>") {
            self.at += 1;
            self.output(0);
        } else {
            self.at += 1;
            // What is read is a word too, but none of the command's own.
            if self.peek() == Some(b'(') {
                return;
            }
            self.at += usize::from(self.peek() == Some(b'&'));
            self.skip_blanks();
            self.word();
        }
    }

    /// The bodies of the heredocs of the line that has just ended.
    fn bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while self.at < self.text.len() {
                let end = self.rest().find('\n').map_or(self.text.len(), |end| self.at + end);
                let line = &self.text[self.at..end];
                let line = if pending.strips_tabs { line.trim_start_matches('\t') } else { line };
                self.at = (end + 1).min(self.text.len());
                if line.trim_end_matches('\r') == pending.delimiter {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            let known = pending.quoted || !body.contains(['$', '`', '\\']);
            self.commands[pending.command].heredocs.push(Heredoc { body, known });
        }
    }

    /// The word at the cursor; at least one byte is taken unless the text ends.
    fn word(&mut self) -> Word {
        let mut word = Word { text: String::new(), known: true };
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'`' => break,
                b'\\' => {
                    self.at += 1;
                    if let Some(escaped) = self.rest().chars().next() {
                        self.at += escaped.len_utf8();
                        // A line end after a backslash is nothing at all.
                        word.text.extend((escaped != '\n').then_some(escaped));
                    }
                }
                b'\'' => {
                    let inside = &self.text[self.at + 1..];
                    let end = inside.find('\'').unwrap_or(inside.len());
                    word.text.push_str(&inside[..end]);
                    self.at = (self.at + 1 + end + 1).min(self.text.len());
                }
                b'"' => self.double_quoted(&mut word),
                b'$' | b'*' | b'?' | b'[' => {
                    word.known = false;
                    word.text.push(char::from(byte));
                    self.at += 1;
                }
                _ => {
                    let rest = self.rest();
                    let plain = rest.find([
                        ' ', '\t', '\r', '\n', ';', '&', '|', '(', ')', '<', '>', '`', '\\', '\'', '"', '$', '*', '?',
                        '[',
                    ]);
                    let end = plain.unwrap_or(rest.len());
                    word.text.push_str(&rest[..end]);
                    self.at += end;
                }
            }
        }
        word
    }

    fn double_quoted(&mut self, word: &mut Word) {
        self.at += 1;
        while let Some(character) = self.rest().chars().next() {
            self.at += character.len_utf8();
            match character {
                '"' => return,
                '\\' => match self.rest().chars().next() {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => {
                        word.text.push(escaped);
                        self.at += 1;
                    }
                    Some('\n') => self.at += 1,
                    _ => word.text.push('\\'),
                },
                '$' | '`' => {
                    word.known = false;
                    word.text.push(character);
                }
                _ => word.text.push(character),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shape(text: &str) -> String {
        let show = |word: &Word| if word.known { word.text.clone() } else { format!("?{}", word.text) };
        let command = |simple: &Simple| {
            let mut parts: Vec<String> = simple.words.iter().map(show).collect();
            let sign = |appends| if appends { ">>" } else { ">" };
            parts.extend(simple.outputs.iter().map(|it| format!("{}{}", sign(it.appends), show(&it.target))));
            parts.extend(simple.heredocs.iter().map(|it| format!("<{:?}{}", it.body, if it.known { "" } else { "?" })));
            parts.join("|")
        };
        commands(text).iter().map(command).collect::<Vec<_>>().join(" ; ")
    }

    #[test]
    fn commands_come_apart_into_words() {
        for (text, expected) in [
            ("ls -la", "ls|-la"),
            ("cd a && b; c | d & e", "cd|a ; b ; c ; d ; e"),
            ("echo 'a > b' \"c; $d\" e\\ f", "echo|a > b|?c; $d|e f"),
            ("a > b 2>&1 >> c 2>/dev/null", "a|>b|>>c|>/dev/null"),
            ("a &> b", "a|>b"),
            ("a >| b >&2", "a|>b"),
            ("x < in > out", "x|>out"),
            ("# a > b\nc", "c"),
            ("(a > b)", "a|>b"),
            ("if true; then git init; fi", "true ; git|init ; fi"),
            ("cat > f <<'E'\na $x\nE\nls", "cat|>f|<\"a $x\\n\" ; ls"),
            ("cat <<E | tee f\na $x\nE", "cat|<\"a $x\\n\"? ; tee|f"),
            ("cat <<-E\n\ta\n\tE\n", "cat|<\"a\\n\""),
            ("cat <<A <<B\n1\nA\n2\nB\nls", "cat|<\"1\\n\"|<\"2\\n\" ; ls"),
            ("x <<< 'a b'", "x|<\"a b\\n\""),
            ("cat <<E\nnever ends", "cat|<\"never ends\\n\""),
            ("echo 'never ends", "echo|never ends"),
            ("a$(git init)", "?a$ ; git|init"),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_ends(text in "[a<>|&;()'\"\\\\`$\n #-]{0,60}") {
            let _ = commands(&text);
        }
    }
}
