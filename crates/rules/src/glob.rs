//! Path globs, matched directly: nothing is compiled, time is bounded by the length of the glob times that of the path.
//!
//! Anchored at both ends. `*` is any run without `/`, `?` one character but `/`, `**/` any folders or none, `**`
//! elsewhere anything. Everything else, `[`, `]`, `{`, `}` included, is itself. A leading `./` means nothing, a final `/`
//! means everything below. Which globs include and which exclude is the business of [`crate::paths`].

/// The longest glob, in bytes.
pub const LONGEST: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// This byte.
    Byte(u8),
    /// One character but `/`.
    Character,
    /// `*`
    Run,
    /// `**`
    Anything,
    /// `**/`
    Folders,
}

/// One glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: Box<str>,
    tokens: Box<[Token]>,
    /// How many tokens at the start and, if there are others, at the end are plain bytes.
    plain_start: usize,
    plain_end: usize,
}

/// How many steps of matching are left for one change.
#[derive(Debug, Clone)]
pub struct Steps {
    left: u64,
}

impl Default for Steps {
    fn default() -> Self {
        Steps { left: 50_000_000 }
    }
}

impl Steps {
    /// Whether the steps were used up: a "no match" since then means nothing.
    pub fn exhausted(&self) -> bool {
        self.left == 0
    }

    fn take(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps as u64);
        self.left > 0
    }
}

impl Glob {
    /// Reads a glob; every text is one.
    pub fn new(text: &str) -> Glob {
        let mut rest = text;
        while let Some(shorter) = rest.strip_prefix("./") {
            rest = shorter;
        }
        let mut tokens = tokens(rest);
        if rest.ends_with('/') {
            tokens.push(Token::Anything);
        }
        let is_plain = |token: &Token| matches!(token, Token::Byte(_));
        let plain_start = tokens.iter().take_while(|token| is_plain(token)).count();
        let behind = tokens[plain_start..].iter().rev();
        let plain_end = behind.take_while(|token| is_plain(token)).count();
        Glob { text: text.into(), tokens: tokens.into(), plain_start, plain_end }
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the whole of `path` matches.
    pub fn matches(&self, path: &str) -> bool {
        self.matches_within(path, &mut Steps::default())
    }

    /// As [`Glob::matches`], within what is left of `steps`.
    pub fn matches_within(&self, path: &str, steps: &mut Steps) -> bool {
        let bytes = path.as_bytes();
        let (start, end) = (self.plain_start, self.plain_end);
        if bytes.len() < start + end || !plain_equal(&self.tokens[..start], &bytes[..start]) {
            return false;
        }
        if start == self.tokens.len() {
            return bytes.len() == start;
        }
        let tail = bytes.len() - end;
        if !plain_equal(&self.tokens[self.tokens.len() - end..], &bytes[tail..]) {
            return false;
        }
        let middle = &self.tokens[start..self.tokens.len() - end];
        // Plain ends are whole characters on both sides only if the cuts are.
        let (Some(between), true) = (path.get(start..tail), steps.take(1)) else {
            return false;
        };
        match middle {
            [Token::Anything] => true,
            [Token::Run] => !between.contains('/'),
            [Token::Folders] => between.is_empty() || between.ends_with('/'),
            _ => simulate(middle, between, steps),
        }
    }

    /// The same glob in the syntax of the `globset` crate (a run of `*` never crosses `/` there), where it has it.
    pub(crate) fn for_globset(&self) -> Option<String> {
        let mut out = String::new();
        let mut bytes = Vec::new();
        for (index, token) in self.tokens.iter().enumerate() {
            let at_start = index == 0 || self.tokens[index - 1] == Token::Byte(b'/');
            match token {
                Token::Byte(byte) if b"[]{}".contains(byte) => bytes.extend([b'[', *byte, b']']),
                Token::Byte(byte) => bytes.push(*byte),
                Token::Run => bytes.push(b'*'),
                Token::Folders if at_start && index + 1 < self.tokens.len() => bytes.extend(b"**/"),
                Token::Anything if at_start && index + 1 == self.tokens.len() => bytes.extend(b"**"),
                // A character is several bytes, which that crate does not know; the rest it reads otherwise.
                Token::Character | Token::Folders | Token::Anything => return None,
            }
        }
        let adjacent_runs = self.tokens.windows(2).any(|pair| pair == [Token::Run, Token::Run]);
        let caret = self.tokens.contains(&Token::Byte(b'^')) || self.tokens.contains(&Token::Byte(b'\\'));
        out.push_str(std::str::from_utf8(&bytes).ok()?);
        (!adjacent_runs && !caret).then_some(out)
    }
}

/// What every path that a glob matches starts with and ends with; none where that is not plain to see.
pub(crate) fn ends(text: &str) -> Option<(&str, &str)> {
    if text.starts_with("./") || text.ends_with('/') {
        return None;
    }
    let is_wildcard = |byte: &u8| matches!(byte, b'*' | b'?');
    let first = text.as_bytes().iter().position(is_wildcard).unwrap_or(text.len());
    let last = text.as_bytes().iter().rposition(is_wildcard).map_or(0, |last| last + 1);
    // `**/` is one wildcard, with its slash.
    let end = &text[last..];
    let end = if text[..last].ends_with("**") { end.strip_prefix('/').unwrap_or(end) } else { end };
    Some((&text[..first], end))
}

/// `path` as it is compared where the file system does not tell upper from lower case.
pub fn fold(path: &str) -> String {
    path.chars().flat_map(char::to_lowercase).collect()
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some(&first) = rest.first() {
        let (token, length) = match first {
            b'*' if rest.starts_with(b"**/") => (Token::Folders, 3),
            b'*' if rest.starts_with(b"**") => (Token::Anything, 2),
            b'*' => (Token::Run, 1),
            b'?' => (Token::Character, 1),
            byte => (Token::Byte(byte), 1),
        };
        // `**/**/` means no more than `**/`; one of them keeps the simulation's steps few.
        if token != Token::Folders || tokens.last() != Some(&token) {
            tokens.push(token);
        }
        rest = &rest[length..];
    }
    tokens
}

fn plain_equal(tokens: &[Token], bytes: &[u8]) -> bool {
    tokens.iter().zip(bytes).all(|(token, byte)| *token == Token::Byte(*byte))
}

/// Runs all ways to match side by side: a state is the number of tokens behind us.
fn simulate(tokens: &[Token], text: &str, steps: &mut Steps) -> bool {
    let mut states = States { now: Vec::new(), seen: vec![0; tokens.len() + 1], round: 1 };
    states.enter(tokens, 0);
    let mut next = Vec::new();
    for character in text.chars() {
        let mut encoded = [0; 4];
        // Every byte but a character's last must be matched by a byte of the glob; the rest takes whole characters.
        let encoded = character.encode_utf8(&mut encoded).as_bytes();
        std::mem::swap(&mut states.now, &mut next);
        states.now.clear();
        states.round += 1;
        if next.is_empty() || !steps.take(next.len()) {
            return false;
        }
        for &state in &next {
            match tokens.get(state) {
                Some(Token::Character) if character != '/' => states.enter(tokens, state + 1),
                Some(Token::Run) if character != '/' => states.enter(tokens, state),
                Some(Token::Anything) => states.enter(tokens, state),
                Some(Token::Folders) => {
                    states.stay(state);
                    if character == '/' {
                        states.enter(tokens, state + 1);
                    }
                }
                Some(Token::Byte(_)) if plain_at(tokens, state, encoded) => states.enter(tokens, state + encoded.len()),
                _ => {}
            }
        }
    }
    states.now.contains(&tokens.len())
}

fn plain_at(tokens: &[Token], state: usize, bytes: &[u8]) -> bool {
    tokens.get(state..state + bytes.len()).is_some_and(|found| plain_equal(found, bytes))
}

struct States {
    now: Vec<usize>,
    /// The round in which a state was last added.
    seen: Vec<u32>,
    round: u32,
}

impl States {
    fn stay(&mut self, state: usize) {
        if self.seen[state] != self.round {
            self.seen[state] = self.round;
            self.now.push(state);
        }
    }

    /// Adds a state and those that lie behind tokens which may match nothing.
    fn enter(&mut self, tokens: &[Token], mut state: usize) {
        loop {
            if self.seen[state] == self.round && !matches!(tokens.get(state), Some(Token::Folders)) {
                return;
            }
            self.stay(state);
            match tokens.get(state) {
                Some(Token::Run | Token::Anything | Token::Folders) => state += 1,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn globs_match_whole_paths() {
        for (glob, path, expected) in [
            ("*.py", "a.py", true),
            ("*.py", "a/b.py", false),
            ("*.py", ".py", true),
            ("**/x.py", "x.py", true),
            ("**/x.py", "a/b/x.py", true),
            ("**/x.py", "a/bx.py", false),
            ("src/**/x.py", "src/x.py", true),
            ("src/**/x.py", "src/a/b/x.py", true),
            ("src/**", "src/a/b", true),
            ("src/**", "src", false),
            ("src**", "src2/a", true),
            ("***/a.py", "x/y/a.py", true),
            ("***/a.py", "a.py", false),
            ("a**b.py", "a/x/b.py", true),
            ("a?c", "a/c", false),
            ("a?c", "aéc", true),
            ("a?c", "abbc", false),
            ("[ab].py", "[ab].py", true),
            ("[ab].py", "a.py", false),
            ("{a,b}", "{a,b}", true),
            ("./a.py", "a.py", true),
            (".//a.py", "a.py", false),
            ("/a.py", "a.py", false),
            ("src/", "src/a/b.py", true),
            ("src/", "src", false),
            ("**/", "a/b", true),
            ("src/**/", "src/a/b.py", true),
            ("src/**/", "src", false),
            ("src", "src/a.py", false),
            ("my dir/*", "my dir/a b.txt", true),
            ("A.py", "a.py", false),
            ("**", "", true),
            ("*", "a/b", false),
            ("**/*", "a/b", true),
            ("**/test_*.py", "tests/unit/test_x.py", true),
            ("é*", "éa", true),
            ("", "", true),
            ("", "a", false),
            ("a*a", "a", false),
            ("**/a/**/b/**", "x/a/b/c", true),
            ("**/a/**/b/**", "x/a/c", false),
        ] {
            assert_eq!(Glob::new(glob).matches(path), expected, "{glob} on {path}");
        }
    }

    #[test]
    fn a_hostile_glob_takes_bounded_steps() {
        let glob = Glob::new(&"*a".repeat(LONGEST / 2));
        let mut steps = Steps { left: 10_000_000 };
        assert!(!glob.matches_within(&"a".repeat(LONGEST / 2 - 1).replace("aaaa", "aaab"), &mut steps));
        assert!(!steps.exhausted());
        let mut few = Steps { left: 1000 };
        assert!(!glob.matches_within(&"a".repeat(4096), &mut few));
        assert!(few.exhausted());
    }

    /// What the globs mean, as a regex of them.
    fn meaning(glob: &str) -> regex::Regex {
        let mut rest = glob;
        while let Some(shorter) = rest.strip_prefix("./") {
            rest = shorter;
        }
        let mut pattern = String::from("^(?s:");
        let is_below = rest.ends_with('/');
        while !rest.is_empty() {
            let (piece, length) = if rest.starts_with("**/") {
                ("(?:.*/)?".to_owned(), 3)
            } else if rest.starts_with("**") {
                (".*".to_owned(), 2)
            } else if rest.starts_with('*') {
                ("[^/]*".to_owned(), 1)
            } else if rest.starts_with('?') {
                ("[^/]".to_owned(), 1)
            } else {
                let length = rest.chars().next().unwrap().len_utf8();
                (regex::escape(&rest[..length]), length)
            };
            pattern.push_str(&piece);
            rest = &rest[length..];
        }
        if is_below {
            pattern.push_str(".*");
        }
        regex::Regex::new(&(pattern + ")$")).unwrap()
    }

    proptest! {
        #[test]
        fn a_glob_means_its_regex(glob in "[ab./*?é]{0,12}|(\\*\\*/|\\*|[ab/]){0,8}", path in "[abé./\n]{0,12}") {
            prop_assert_eq!(Glob::new(&glob).matches(&path), meaning(&glob).is_match(&path));
        }
    }
}
