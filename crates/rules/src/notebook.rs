//! A notebook as one text: its cells one after the other, and the same text with everything that is not code blanked.
//!
//! What is blanked keeps its bytes' places and its line ends. Which file a cell comes from is not known here.

use std::ops::Range;

use crate::change::Cell;

pub(crate) struct Joined {
    pub text: String,
    pub code: String,
    /// From 1, one for each cell.
    pub first_lines: Vec<u32>,
    is_code: Vec<bool>,
}

impl Joined {
    /// The lines of the text, each with whether it stands in a code cell.
    pub fn lines(&self) -> impl Iterator<Item = (Range<usize>, bool)> + '_ {
        syntax::lines::lines(&self.text).zip(1..).map(|(line, number)| {
            let cell = self.first_lines.partition_point(|first| *first <= number) - 1;
            (line.span, self.is_code[cell])
        })
    }
}

/// Cells one after the other, each with a line end.
pub(crate) fn join(cells: &[Cell]) -> Joined {
    let mut joined = Joined { text: String::new(), code: String::new(), first_lines: Vec::new(), is_code: Vec::new() };
    let mut line = 1;
    for cell in cells {
        joined.first_lines.push(line);
        joined.is_code.push(cell.is_code);
        let start = joined.text.len();
        joined.text.push_str(cell.source);
        if !cell.source.ends_with(['\n', '\r']) {
            joined.text.push('\n');
        }
        let added = &joined.text[start..];
        line += syntax::lines::lines(added).count() as u32;
        let code = if cell.is_code { without_magics(added) } else { blank(added) };
        joined.code.push_str(&code);
    }
    joined
}

/// Line magics whose argument is Python.
const RUN_PYTHON: [&str; 5] = ["time", "timeit", "prun", "memit", "mprun"];
/// Cell magics whose cell is Python.
const WRAP_PYTHON: [&str; 5] = ["time", "timeit", "prun", "capture", "memit"];

/// A code cell without what IPython takes out before Python reads it.
fn without_magics(cell: &str) -> String {
    let mut blanks = Vec::new();
    let mut state = Lexer::default();
    let mut at_start = true;
    for line in syntax::lines::lines(cell) {
        let (span, text) = (line.span.clone(), &cell[line.span]);
        let bare = text.trim_start();
        let indent = span.start + text.len() - bare.len();
        if at_start && bare.starts_with("%%") {
            let name = bare[2..].split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
            if !WRAP_PYTHON.contains(&name) {
                return blank(cell);
            }
            blanks.push(span);
        } else if state.is_at_statement() && is_magic(bare) {
            let name = bare.trim_start_matches('%').split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
            let is_python = bare.starts_with('%') && RUN_PYTHON.contains(&name);
            blanks.push(if is_python { span.start..indent + 1 + name.len() } else { span });
        } else {
            if state.is_at_statement()
                && let Some(right) = captured(bare)
            {
                blanks.push(indent + right..span.end);
            }
            state.read(text);
        }
        at_start &= bare.is_empty();
    }
    blanked(cell, &blanks)
}

/// A line that IPython itself runs: `%magic`, `!command`, `?help`, `help?`.
fn is_magic(line: &str) -> bool {
    line.starts_with(['%', '!', '?']) || (line.trim_end().ends_with('?') && !line.contains(['#', '\'', '"', '(']))
}

/// Where the right side of `name = !command` or `name = %magic` starts.
fn captured(line: &str) -> Option<usize> {
    let (left, right) = line.split_once('=')?;
    let is_target = !left.trim().is_empty() && left.chars().all(|it| it.is_alphanumeric() || "_., ".contains(it));
    let blanks = right.len() - right.trim_start().len();
    (is_target && right.trim_start().starts_with(['!', '%'])).then_some(left.len() + 1 + blanks)
}

/// As much of Python's surface as tells whether a line starts a statement.
#[derive(Default)]
struct Lexer {
    /// The quotes of an open string that goes over line ends.
    quotes: Option<&'static str>,
    brackets: usize,
    continued: bool,
}

impl Lexer {
    fn is_at_statement(&self) -> bool {
        self.quotes.is_none() && self.brackets == 0 && !self.continued
    }

    fn read(&mut self, line: &str) {
        self.continued = false;
        let mut rest = line;
        while let Some(next) = rest.chars().next() {
            let mut length = next.len_utf8();
            match (self.quotes, next) {
                (_, '\\') => {
                    self.continued = rest.len() == 1;
                    length += rest[1..].chars().next().map_or(0, char::len_utf8);
                }
                (Some(quotes), _) if rest.starts_with(quotes) => {
                    self.quotes = None;
                    length = quotes.len();
                }
                (None, '#') => break,
                (None, '"' | '\'') => {
                    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| rest.starts_with(quotes));
                    length = quotes.map_or(1, str::len);
                    self.quotes = quotes;
                }
                (None, '(' | '[' | '{') => self.brackets += 1,
                (None, ')' | ']' | '}') => self.brackets = self.brackets.saturating_sub(1),
                _ => {}
            }
            rest = &rest[length..];
        }
        if self.quotes.is_some_and(|quotes| quotes.len() == 1) && !self.continued {
            self.quotes = None;
        }
    }
}

/// `text` as blanks; line ends stay.
fn blank(text: &str) -> String {
    blanked(text, std::slice::from_ref(&(0..text.len())))
}

/// `text` with these ranges as blanks; line ends stay.
fn blanked(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        bytes[range.clone()].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        for (cell, code) in [
            ("import os\nos.system('x')", "import os\nos.system('x')\n"),
            ("%matplotlib inline\nx = 1", "                  \nx = 1\n"),
            ("!rm -rf é\nx", "           \nx\n".replace("           ", &" ".repeat(10)).as_str()),
            ("%%bash\necho hi", "      \n       \n"),
            ("\n%%time\neval('1')", "\n      \neval('1')\n"),
            ("%timeit eval('1')", "        eval('1')\n"),
            ("files = !ls\nx", "files =    \nx\n"),
            ("os.system?\nx", "          \nx\n"),
            ("x = ('%s'\n% eval('1'))", "x = ('%s'\n% eval('1'))\n"),
            ("x = 1 \\\n% eval('1')", "x = 1 \\\n% eval('1')\n"),
            ("'''\n%magic\n'''\n%magic", "'''\n%magic\n'''\n      \n"),
        ] {
            let joined = join(&[Cell { is_code: true, source: cell }]);
            assert_eq!(joined.code, code, "{cell}");
            assert_eq!(joined.code.len(), joined.text.len());
        }
    }

    #[test]
    fn cells_have_first_lines_and_prose_is_blank() {
        let cells = [
            Cell { is_code: false, source: "# Title\ntext" },
            Cell { is_code: true, source: "x = 1\n" },
            Cell { is_code: true, source: "" },
            Cell { is_code: true, source: "y = 2" },
        ];
        let joined = join(&cells);
        assert_eq!(joined.text, "# Title\ntext\nx = 1\n\ny = 2\n");
        assert_eq!(joined.code, "       \n    \nx = 1\n\ny = 2\n");
        assert_eq!(joined.first_lines, [1, 3, 4, 5]);
    }
}
