//! Which parts of a file are read: in code its comments and strings, in prose all of it.
//!
//! A lexer of the coarsest kind, chosen by the file's name: it knows how comments and strings begin and end, nothing
//! else. What it takes for neither in code is not read; a file of no known kind is prose.

use std::sync::Arc;

use syntax::Span;

use crate::change::{Change, Counting};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Prose,
    Comment,
    /// Only orders count there; a program may well hold a prompt.
    String,
}

/// How a file is read.
#[derive(Debug)]
pub(super) enum Reading {
    Prose,
    Code {
        /// Comments and strings in order.
        parts: Vec<(Span, Kind)>,
        /// What everything else is read as; none where it is not read.
        rest: Option<Kind>,
        /// The text with what is not code blanked, where it differs.
        code: Option<Arc<str>>,
    },
}

impl Reading {
    /// How the text of a change is read. Pieces of an unknown whole are prose: they may begin inside a comment.
    pub(super) fn of(change: &Change) -> Reading {
        let language = match change.counting {
            Counting::NewText => return Reading::Prose,
            Counting::Cells(_) => Some(&PYTHON),
            Counting::File => language(&change.path, &change.text),
        };
        match language {
            None => Reading::Prose,
            Some(language) => {
                let text = change.code.as_deref().unwrap_or(&change.text);
                Reading::Code { parts: parts(text, language), rest: language.rest, code: change.code.clone() }
            }
        }
    }

    /// The pieces of a line that are read, in order.
    pub(super) fn pieces<'a>(&'a self, text: &'a str, line: &'a Span) -> impl Iterator<Item = (Span, Kind)> + 'a {
        let (parts, rest) = match self {
            Reading::Prose => (&[][..], Some(Kind::Prose)),
            Reading::Code { parts, rest, code } => {
                let blanked = code.as_deref().and_then(|code| code.get(line.clone()));
                let prose = blanked.is_some_and(|code| code.trim().is_empty());
                if prose { (&[][..], Some(Kind::Prose)) } else { (&parts[..], *rest) }
            }
        };
        let first = parts.partition_point(|(part, _)| part.end <= line.start);
        let mut at = line.start;
        let mut next = parts[first..].iter().take_while(|(part, _)| part.start < line.end).peekable();
        std::iter::from_fn(move || {
            while at < line.end {
                let (end, kind) = match next.peek() {
                    Some((part, kind)) if part.start <= at => {
                        next.next();
                        (part.end.min(line.end), Some(*kind))
                    }
                    Some((part, _)) => (part.start, rest),
                    None => (line.end, rest),
                };
                let piece = at..end;
                at = end;
                if let (Some(kind), Some(said)) = (kind, text.get(piece.clone()))
                    && !said.trim().is_empty()
                {
                    return Some((piece, kind));
                }
            }
            None
        })
    }
}

/// How comments and strings of a language begin and end.
struct Language {
    line: &'static [&'static str],
    block: &'static [(&'static str, &'static str)],
    /// Longer ones first; those of three signs and the backtick go over lines.
    quotes: &'static [&'static str],
    /// A line comment begins only after a blank.
    spaced: bool,
    rest: Option<Kind>,
}

const PYTHON: Language =
    Language { line: &["#"], block: &[], quotes: &["\"\"\"", "'''", "\"", "'"], spaced: false, rest: None };
const HASH: Language = Language { line: &["#"], block: &[], quotes: &["\"", "'"], spaced: true, rest: None };
const C_LIKE: Language =
    Language { line: &["//"], block: &[("/*", "*/")], quotes: &["\"\"\"", "\"", "'", "`"], spaced: false, rest: None };
const RUST: Language = Language { quotes: &["\""], ..C_LIKE };
const PHP: Language = Language { line: &["//", "#"], ..C_LIKE };
const DASH: Language =
    Language { line: &["--"], block: &[("/*", "*/"), ("{-", "-}")], quotes: &["\"", "'"], spaced: false, rest: None };
const LISP: Language = Language { line: &[";"], block: &[], quotes: &["\""], spaced: false, rest: None };
const ERLANG: Language = Language { line: &["%"], ..LISP };
/// Settings: their values are strings, quoted or not.
const SETTINGS: Language =
    Language { line: &["#", ";"], block: &[], quotes: &[], spaced: true, rest: Some(Kind::String) };
const JSON: Language = Language { line: &["//"], block: &[("/*", "*/")], quotes: &["\""], spaced: false, rest: None };

const EXTENSIONS: &[(&Language, &[&str])] = &[
    (&PYTHON, &["py", "pyi", "pyw", "pyx", "pxd"]),
    (
        &C_LIKE,
        &[
            "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "cs", "java", "js", "jsx", "mjs", "cjs", "ts", "tsx",
            "mts", "cts", "go", "swift", "kt", "kts", "scala", "dart", "m", "mm", "proto", "gradle", "groovy", "css",
            "scss", "less", "sol", "zig", "cu", "glsl", "wgsl", "v", "sv", "d", "map",
        ],
    ),
    (&RUST, &["rs"]),
    (&PHP, &["php"]),
    (
        &HASH,
        &[
            "sh", "bash", "zsh", "fish", "rb", "rake", "gemspec", "pl", "pm", "r", "mk", "tf", "hcl", "nix", "jl",
            "cmake", "ps1", "ex", "exs", "awk", "tcl", "cr", "coffee",
        ],
    ),
    (&DASH, &["sql", "lua", "hs", "elm", "adb", "ads", "vhd", "vhdl"]),
    (&LISP, &["el", "lisp", "clj", "cljs", "scm", "rkt", "asm", "s"]),
    (&ERLANG, &["erl", "hrl"]),
    (&SETTINGS, &["yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "env"]),
    (&JSON, &["json", "jsonc", "json5", "ipynb", "lock"]),
];

const NAMES: &[&str] = &["Makefile", "makefile", "Dockerfile", "Gemfile", "Rakefile", "Vagrantfile", "Jenkinsfile"];

fn language(path: &str, text: &str) -> Option<&'static Language> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if NAMES.contains(&name) {
        return Some(&HASH);
    }
    if let Some((_, extension)) = name.rsplit_once('.') {
        let known = |list: &[&str]| list.iter().any(|known| extension.eq_ignore_ascii_case(known));
        return EXTENSIONS.iter().find(|(_, list)| known(list)).map(|(language, _)| *language);
    }
    let shebang = text.strip_prefix("#!")?;
    let program = shebang.lines().next().unwrap_or_default();
    Some(if program.contains("python") { &PYTHON } else { &HASH })
}

/// The comments and strings of a text, in order.
fn parts(text: &str, language: &Language) -> Vec<(Span, Kind)> {
    let bytes = text.as_bytes();
    let mut begins = [false; 256];
    let marks = language.line.iter().chain(language.quotes).chain(language.block.iter().map(|(open, _)| open));
    for mark in marks {
        begins[usize::from(mark.as_bytes()[0])] = true;
    }
    let mut parts = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !begins[usize::from(bytes[at])] {
            at += 1;
            continue;
        }
        match part(text, at, language) {
            Some((end, kind)) => {
                parts.push((at..end, kind));
                at = end;
            }
            None => at += 1,
        }
    }
    parts
}

/// The comment or string that begins here, and where it ends.
fn part(text: &str, at: usize, language: &Language) -> Option<(usize, Kind)> {
    let bytes = &text.as_bytes()[at..];
    let line_end = || memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len());
    for (open, close) in language.block {
        if bytes.starts_with(open.as_bytes()) {
            let inside = &bytes[open.len()..];
            let end = memchr::memmem::find(inside, close.as_bytes())
                .map_or(bytes.len(), |end| open.len() + end + close.len());
            return Some((at + end, Kind::Comment));
        }
    }
    let spaced = at == 0 || text.as_bytes()[at - 1].is_ascii_whitespace();
    if language.line.iter().any(|mark| bytes.starts_with(mark.as_bytes())) && (spaced || !language.spaced) {
        return Some((at + line_end(), Kind::Comment));
    }
    let quote = language.quotes.iter().find(|quote| bytes.starts_with(quote.as_bytes()))?.as_bytes();
    let long = quote.len() == 3 || quote == b"`";
    let mut end = quote.len();
    loop {
        let next = memchr::memchr3(quote[0], b'\\', if long { b'\\' } else { b'\n' }, bytes.get(end..)?);
        match next.map(|next| end + next) {
            Some(at_sign) if bytes[at_sign] == b'\\' => end = at_sign + 2,
            Some(at_sign) if bytes[at_sign..].starts_with(quote) => {
                return Some((at + at_sign + quote.len(), Kind::String));
            }
            Some(at_sign) if bytes[at_sign] == b'\n' => return None,
            Some(at_sign) => end = at_sign + 1,
            None if long => return Some((text.len(), Kind::String)),
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(path: &str, text: &str) -> String {
        let Some(language) = language(path, text) else { return "prose".to_owned() };
        parts(text, language)
            .into_iter()
            .map(|(span, kind)| format!("{}{}", if kind == Kind::Comment { "c:" } else { "s:" }, &text[span]))
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn comments_and_strings_are_found() {
        for (path, text, wanted) in [
            ("a.py", "x = 'a#b' # c\n\"\"\"d\n'e'\"\"\"\n", "s:'a#b'|c:# c|s:\"\"\"d\n'e'\"\"\""),
            ("a.py", "x = 'it\\'s'\ny = \"open\nz # c", "s:'it\\'s'|c:# c"),
            ("a.PYI", "# c", "c:# c"),
            ("tool", "#!/usr/bin/env python3\nx = '''a", "c:#!/usr/bin/env python3|s:'''a"),
            ("a.js", "a // b\n/* c\nd */ `e\nf` 'g'", "c:// b|c:/* c\nd */|s:`e\nf`|s:'g'"),
            ("a.rs", "fn f<'a>(x: &'a str) { \"s\" } // c", "s:\"s\"|c:// c"),
            ("a.sh", "echo ${x#y} # c\necho a#b", "c:# c"),
            ("Makefile", "all: # c", "c:# c"),
            ("a.sql", "select 'a' -- c", "s:'a'|c:-- c"),
            ("a.md", "# x", "prose"),
            ("a.txt", "x", "prose"),
            ("LICENSE", "x", "prose"),
        ] {
            assert_eq!(sketch(path, text), wanted, "{path} {text}");
        }
    }

    #[test]
    fn a_line_gives_its_pieces() {
        let text = "a: b # c\nd\n";
        let reading = Reading::Code { parts: parts(text, &SETTINGS), rest: SETTINGS.rest, code: None };
        let pieces: Vec<_> = reading.pieces(text, &(0..8)).map(|(span, kind)| (&text[span], kind)).collect();
        assert_eq!(pieces, [("a: b ", Kind::String), ("# c", Kind::Comment)]);
        assert_eq!(reading.pieces(text, &(9..10)).count(), 1);
        let text = "x = '''a\nb\nc''' + y\n";
        let reading = Reading::Code { parts: parts(text, &PYTHON), rest: None, code: None };
        assert_eq!(reading.pieces(text, &(9..10)).collect::<Vec<_>>(), [(9..10, Kind::String)]);
        assert_eq!(reading.pieces(text, &(11..19)).collect::<Vec<_>>(), [(11..15, Kind::String)]);
    }
}
