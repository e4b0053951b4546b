//! The walk over ruff's syntax tree, for text that is valid Python: it hands [`Walk`] the nodes that the walk over
//! tree-sitter's tree would, so that names get their meaning in one place.
//!
//! Ruff's parser is several times faster and knows Python better; what it takes for broken, and what is nested more
//! deeply than Python itself allows, is left to tree-sitter. Which of them reads a text depends on the text alone.

#[cfg(test)]
mod depth;
mod expressions;
mod statements;

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::{Mode, Parsed, lexer, parse_unchecked_source};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::kinds::Kind;
use super::walk::{About, Raw, Walk};

/// Brackets, operators, dots and blocks around one place of a text: more is left to tree-sitter, which needs no stack
/// for them. Python gives up at 200 brackets and 100 blocks.
const DEEPEST: u32 = 300;

/// What must be left of the stack for a parse, in bytes, and how much is taken where there is less. The count of
/// [`is_shallow`] bounds what is valid; how deeply the parser nests what it mends is its own affair, and freeing it
/// recurses.
const STACK: (usize, usize) = (8 << 20, 64 << 20);

/// The syntax tree of a text, if it is valid Python.
pub(crate) fn parse(text: &str) -> Option<Parsed<ModModule>> {
    if prints_as_python2(text) || !is_shallow(text) {
        return None;
    }
    stacker::maybe_grow(STACK.0, STACK.1, || {
        // An error of the parser itself is one more reason to ask the other.
        let parsed = std::panic::catch_unwind(|| parse_unchecked_source(text, PySourceType::Python)).ok()?;
        parsed.has_valid_syntax().then_some(parsed)
    })
}

/// `print >> f, x` is valid Python 3, where it prints nothing; tree-sitter reads what its writer meant.
fn prints_as_python2(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), b"print")
        .any(|at| text[at + "print".len()..].trim_start_matches([' ', '\t']).starts_with(">>"))
}

/// What a bracket holds so far, and the statement around all of them.
#[derive(Default)]
struct Frame {
    closer: Option<TokenKind>,
    /// What may nest since the last comma.
    depth: u32,
    /// Lambdas whose colon is still to come: the commas before it part parameters, and nothing ends there.
    lambdas: u32,
    /// A `yield` takes all that follows, commas too.
    is_yielding: bool,
}

/// Whether no place of a text is nested too deeply for a walk that recurses; an upper bound, from its tokens.
///
/// Brackets that do not match and lambdas without a colon are broken text, in which the parser goes its own way: they
/// count as too deep.
fn is_shallow(text: &str) -> bool {
    let mut tokens = lexer::lex(text, Mode::Module);
    let mut open = vec![Frame::default()];
    let (mut total, mut blocks) = (0_u32, 0_u32);
    loop {
        let kind = tokens.next_token();
        let Some(frame) = open.last_mut() else { return false };
        match kind {
            TokenKind::EndOfFile => return frame.closer.is_none(),
            TokenKind::Unknown => return false,
            TokenKind::Indent => blocks += 1,
            TokenKind::Dedent => blocks = blocks.saturating_sub(1),
            TokenKind::Newline if frame.closer.is_some() || frame.lambdas > 0 => return false,
            TokenKind::Newline => {
                *frame = Frame::default();
                total = 0;
            }
            TokenKind::Comma if frame.lambdas == 0 && !frame.is_yielding => {
                total -= std::mem::take(&mut frame.depth);
            }
            TokenKind::Comma
            | TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None
            | TokenKind::Ellipsis => {}
            closer if Some(closer) == frame.closer => {
                total -= frame.depth + 1;
                open.pop();
                // What was closed may be the start of a chain: `f()()`.
                if let Some(frame) = open.last_mut() {
                    frame.depth += 1;
                    total += 1;
                }
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::FStringEnd | TokenKind::TStringEnd => {
                return false;
            }
            // Brackets, operators and keywords.
            kind => {
                total += 1;
                if let Some(closer) = closer_of(kind) {
                    open.push(Frame { closer: Some(closer), ..Frame::default() });
                } else {
                    frame.depth += 1;
                    match kind {
                        TokenKind::Lambda => frame.lambdas += 1,
                        TokenKind::Colon => frame.lambdas = frame.lambdas.saturating_sub(1),
                        TokenKind::Yield => frame.is_yielding = true,
                        _ => {}
                    }
                }
            }
        }
        if total + blocks > DEEPEST {
            return false;
        }
    }
}

fn closer_of(opener: TokenKind) -> Option<TokenKind> {
    Some(match opener {
        TokenKind::Lpar => TokenKind::Rpar,
        TokenKind::Lsqb => TokenKind::Rsqb,
        TokenKind::Lbrace => TokenKind::Rbrace,
        TokenKind::FStringStart => TokenKind::FStringEnd,
        TokenKind::TStringStart => TokenKind::TStringEnd,
        _ => return None,
    })
}

/// What a module holds, names not yet resolved.
pub(super) fn walk<'t>(module: &Parsed<ModModule>, text: &'t str) -> Raw<'t> {
    let mut reading = Reading { walk: Walk::new(text, false), tokens: module.tokens(), next: 0 };
    let comments = module.tokens().iter().filter(|token| token.kind() == TokenKind::Comment);
    reading.walk.note_comments(comments.map(|token| span(token.range())));
    let body = &module.syntax().body;
    reading.open(Kind::Block, 0, number(text.len()));
    reading.statements(body);
    reading.close();
    reading.walk.finish()
}

struct Reading<'a, 't> {
    walk: Walk<'t>,
    tokens: &'a [Token],
    /// The first token that nothing was made of yet.
    next: usize,
}

fn number(offset: usize) -> u32 {
    u32::try_from(offset).expect("a text that ruff reads is under 4 GiB")
}

fn span(range: TextRange) -> (u32, u32) {
    (range.start().to_u32(), range.end().to_u32())
}

impl Reading<'_, '_> {
    /// Takes in a node; whether its children are to be walked, and [`Reading::close`] called after them.
    fn open(&mut self, kind: Kind, start: u32, end: u32) -> bool {
        self.walk.open(kind, (start, end), About::default())
    }

    fn node(&mut self, kind: Kind, range: TextRange, children: impl FnOnce(&mut Self)) {
        if self.open(kind, range.start().to_u32(), range.end().to_u32()) {
            children(self);
            self.close();
        }
    }

    fn leaf(&mut self, kind: Kind, range: TextRange) {
        self.node(kind, range, |_| {});
    }

    fn close(&mut self) {
        self.walk.close();
    }

    /// The tokens before `at` are accounted for.
    fn pass(&mut self, at: TextSize) {
        while self.tokens.get(self.next).is_some_and(|token| token.start() < at) {
            self.next += 1;
        }
    }
}
