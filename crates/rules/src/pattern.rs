//! One regex of a rule: checked when asked, compiled at most once, and only when a text may hold a match.
//!
//! A pattern is valid by its syntax and by a weight computed from it, never by trying to compile it: so whether a rule
//! holds does not depend on which patterns happened to be needed.

use std::sync::OnceLock;

use regex::Regex;
use regex_syntax::ast;
use syntax::Span;

use crate::needles::Outline;
use crate::work::Work;

/// The longest pattern, in bytes.
pub const LONGEST: usize = 4096;
/// The heaviest pattern, in estimated bytes of its compiled form.
const HEAVIEST: u64 = 2 << 20;
const NESTING: u32 = 64;

/// What a pattern is matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    /// One line, without its end.
    Line,
    /// A whole file: `^` and `$` are at its lines.
    File,
}

#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    source: Box<str>,
    /// Where it stands in the rulebook, quotes included.
    pub span: Span,
    against: Against,
    checked: OnceLock<Result<Outline, Fault>>,
    compiled: OnceLock<Result<Regex, String>>,
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The part of the pattern to underline.
    pub span: Span,
    pub message: String,
}

impl Pattern {
    pub fn new(source: &str, span: Span, against: Against) -> Pattern {
        Pattern { source: source.into(), span, against, checked: OnceLock::new(), compiled: OnceLock::new() }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// What is wrong with it, if anything.
    pub fn fault(&self) -> Option<&Fault> {
        self.checked().as_ref().err()
    }

    /// What in it means something else in Python's regexes, and where.
    pub fn unlike_python(&self) -> Option<&(Span, &'static str)> {
        self.checked().as_ref().ok()?.unlike_python.as_ref()
    }

    /// An estimate of the bytes that compiling it takes.
    pub fn weight(&self) -> u64 {
        self.checked().as_ref().map_or(0, |outline| outline.weight)
    }

    /// Whether `text` may hold a match.
    pub fn may_occur(&self, text: &str) -> bool {
        self.checked().as_ref().is_ok_and(|outline| outline.needles.may_occur(text))
    }

    /// Texts of which one occurs in every match, to be looked for in any case of their ASCII letters; none when nothing
    /// is known of a match.
    pub fn needles(&self) -> Option<impl Iterator<Item = &[u8]>> {
        self.checked().as_ref().ok()?.needles.texts()
    }

    /// The compiled pattern, or in one line why there is none.
    pub fn regex(&self, work: &mut Work) -> Result<&Regex, &str> {
        self.compiled
            .get_or_init(|| {
                work.patterns_compiled += 1;
                self.compile()
            })
            .as_ref()
            .map_err(String::as_str)
    }

    fn checked(&self) -> &Result<Outline, Fault> {
        self.checked.get_or_init(|| check(&self.source, self.against))
    }

    fn compile(&self) -> Result<Regex, String> {
        let whole_file = self.against == Against::File;
        regex::RegexBuilder::new(&self.source)
            .multi_line(whole_file)
            .crlf(whole_file)
            .nest_limit(NESTING)
            .size_limit(4 * HEAVIEST as usize)
            .dfa_size_limit(HEAVIEST as usize)
            .build()
            .map_err(|_| format!("the pattern `{}` is too large to compile", crate::plain::plain(&self.source, 60)))
    }
}

fn check(source: &str, against: Against) -> Result<Outline, Fault> {
    let whole = 0..source.len();
    if source.len() > LONGEST {
        return Err(Fault { span: whole, message: format!("the pattern is longer than {LONGEST} bytes") });
    }
    if let Some(outline) = Outline::of_plain(source) {
        return Ok(outline);
    }
    let parsed = ast::parse::ParserBuilder::new().nest_limit(NESTING).build().parse(source);
    let tree = parsed.map_err(|error| fault(source, error.span(), &explain(source, &error)))?;
    let outline = Outline::of(&tree);
    if outline.needs_translation {
        let whole_file = against == Against::File;
        let mut translator =
            regex_syntax::hir::translate::TranslatorBuilder::new().multi_line(whole_file).crlf(whole_file).build();
        let translated = translator.translate(source, &tree);
        translated.map_err(|error| fault(source, error.span(), &error.kind().to_string()))?;
    }
    if outline.weight > HEAVIEST {
        let message = "the pattern is too large; make its repetitions or classes smaller".into();
        return Err(Fault { span: whole, message });
    }
    Ok(outline)
}

fn fault(source: &str, span: &ast::Span, message: &str) -> Fault {
    let place = |offset: usize| offset.min(source.len());
    Fault { span: place(span.start.offset)..place(span.end.offset), message: message.replace('\n', " ") }
}

/// The problem in words, with another way to write what the linear-time engine does not have.
fn explain(source: &str, error: &ast::Error) -> String {
    let at = &source[error.span().start.offset.min(source.len())..];
    let kind = error.kind();
    let hint = match kind {
        ast::ErrorKind::UnsupportedLookAround => {
            let way = if at.starts_with("(?!") || at.starts_with("(?<!") {
                "name what is allowed in a pattern of its own, or exclude files with `!` in `paths`"
            } else {
                "write what surrounds the match as an ordinary part of the pattern, or use `\\b`, `^`, `$`"
            };
            return format!("look-around needs backtracking, which this engine does not do: {way}");
        }
        ast::ErrorKind::UnsupportedBackreference => {
            return "back-references need backtracking, which this engine does not do: write the alternatives out, as \
                    in `'[^']*'|\"[^\"]*\"`"
                .into();
        }
        _ if source.contains("(?P=") => {
            return "back-references such as `(?P=name)` need backtracking, which this engine does not do: write the \
                    alternatives out"
                .into();
        }
        _ if at.starts_with("(?>") => "; atomic groups are not needed here, write `(?:`",
        ast::ErrorKind::EscapeUnrecognized if at.starts_with("\\Z") => "; the end of the text is `\\z`",
        ast::ErrorKind::EscapeUnrecognized => "; write the character without `\\`",
        ast::ErrorKind::RepetitionCountDecimalEmpty => "; write `{0,N}`, or `\\{` for the brace itself",
        ast::ErrorKind::RepetitionCountUnclosed => "; write `\\{` for the brace itself",
        ast::ErrorKind::ClassUnclosed => "; write `\\[` for the bracket itself, also inside of a class",
        ast::ErrorKind::GroupUnclosed => "; write `\\(` for the parenthesis itself",
        _ => "",
    };
    format!("{kind}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(source: &str, against: Against) -> Pattern {
        Pattern::new(source, 0..0, against)
    }

    #[test]
    fn faults_have_a_place_and_a_remedy() {
        for (source, at, says) in [
            ("(", "(", "unclosed group"),
            ("a[", "[", "unclosed character class"),
            ("foo(?=bar)", "(?=", "look-around"),
            ("(?<!x)foo", "(?<!", "`!` in `paths`"),
            (r"('|\x22).*\1", "\\1", "back-references"),
            (r"(?P<q>'|x).*(?P=q)", "", "back-references"),
            (r"end\Z", "\\Z", "`\\z`"),
            (r"\y", "\\y", "without `\\`"),
            ("a{,3}", "", "{0,N}"),
            ("((a{500}){500}){500}", "", "too large"),
            (r"\w{1000}", "", "too large"),
            (r"\p{Nonsense}", "\\p", "property"),
            (r"(?-u:\xff)", "", "UTF-8"),
            (&"(".repeat(200), "", ""),
            (&"a".repeat(5000), "", "longer than"),
        ] {
            let pattern = pattern(source, Against::Line);
            let fault = pattern.fault().unwrap_or_else(|| panic!("{source} is accepted"));
            assert!(fault.message.contains(says), "{source}: {}", fault.message);
            assert!(source[fault.span.clone()].starts_with(at), "{source}: {:?}", fault.span);
            assert!(!fault.message.contains('\n'));
        }
    }

    #[test]
    fn what_passes_the_check_compiles() {
        for source in [
            r"\w{60}",
            r"(?i)[a-zé-ü]{50}\p{Lu}",
            r"(?-u:\w)x",
            r"(?i)\p{L}{40}x",
            "(a|b|c){800}",
            r"[^\s]{100}",
            "(?:(?:ab){40}){40}",
        ] {
            let pattern = pattern(source, Against::Line);
            assert_eq!(pattern.fault(), None, "{source}");
            assert!(pattern.regex(&mut Work::default()).is_ok(), "{source}");
        }
    }

    #[test]
    fn a_file_is_matched_line_by_line_whatever_ends_its_lines() {
        for (source, text, expected) in [
            ("^b$", "a\nb\nc", true),
            ("^b$", "a\r\nb\r\n", true),
            ("^b$", "a\rb\rc", true),
            ("end$", "end\r\nx\r\n", true),
            ("b\\r", "a\r\nb\r\n", true),
            ("^# Copyright", "x\n# Copyright", true),
        ] {
            let pattern = pattern(source, Against::File);
            assert_eq!(pattern.regex(&mut Work::default()).unwrap().is_match(text), expected, "{source} {text:?}");
        }
        assert!(!pattern("^b", Against::Line).regex(&mut Work::default()).unwrap().is_match("a\nb"));
    }

    #[test]
    fn compiling_happens_once() {
        let pattern = pattern("a+", Against::Line);
        let mut work = Work::default();
        assert!(pattern.may_occur("xa") && !pattern.may_occur("x"));
        assert_eq!(work.patterns_compiled, 0);
        pattern.regex(&mut work).unwrap();
        pattern.regex(&mut work).unwrap();
        assert_eq!(work.patterns_compiled, 1);
    }
}
