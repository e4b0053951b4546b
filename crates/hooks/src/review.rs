//! The text a person reads before trusting: every file whole, escaped, with what is odd about it.
//!
//! Control, bidirectional, zero-width and other invisible characters are shown as escapes; lines that are very long, or
//! hold a run of blanks that would push text out of sight, are flagged; references to what lies outside the folder are
//! listed, since a grant does not cover it. The text is plain and has no control characters but line ends.

mod odd;
mod outside;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use rules::plain::{self, PATH, plain};

use crate::manifest::{Action, Manifest, Platform};
use crate::texts::{count, shown};
use crate::tree::{Tree, TreeFile};
use crate::{MANIFEST, builtin};

/// Longest line that is shown as one, in characters as shown; longer ones go on in the next.
const WIDTH: usize = 200;
/// Longest line that is not remarked, in characters as shown.
const LONG: usize = 400;
/// Most remarks on one file; more are counted.
const REMARKS: usize = 50;
/// Most empty lines shown one by one.
const EMPTY: usize = 3;

/// What deserves a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The file.
    pub path: String,
    /// From 1; none is about the whole file.
    pub line: Option<u32>,
    /// In one line, escaped.
    pub text: String,
}

/// A review of one folder of hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The whole text: head with root and digest, remarks, every file, and what to do next.
    pub text: String,
    /// What stands in the text as remarks.
    pub remarks: Vec<Remark>,
}

/// Reviews the hooks of `root`.
pub fn review(root: &Path, tree: &Tree) -> Review {
    let mut remarks = Vec::new();
    let mut files = String::new();
    for file in &tree.files {
        let mut of_file = Remarks { path: &file.path, found: Vec::new(), left_out: 0 };
        show(file, &mut files, &mut of_file);
        remarks.extend(of_file.finish());
    }
    let mut text = String::with_capacity(files.len() + 1024);
    let number = count(tree.files.len(), "file");
    let _ = writeln!(text, "Hooks in {}", shown(root));
    let _ = writeln!(text, "{number}, {}, digest {}", count(tree.size(), "byte"), tree.digest.short());
    text.push('\n');
    if remarks.is_empty() {
        text.push_str("Nothing odd was seen. Read the files all the same.\n");
    } else {
        let _ = writeln!(text, "{}:", count(remarks.len(), "remark"));
        for remark in &remarks {
            let path = plain(&remark.path, PATH);
            let line = remark.line.map(|line| format!(":{line}")).unwrap_or_default();
            let _ = writeln!(text, "  {path}{line}: {}", remark.text);
        }
    }
    text.push_str(&files);
    let _ = writeln!(
        text,
        "\n{number}. `ruleline hooks trust` turns exactly these bytes on; it asks for {}. A grant covers no interpreter, no\nprogram and no file outside this folder.",
        tree.digest.short()
    );
    Review { text, remarks }
}

/// A line of a file as it is shown: escaped, never more than one line. A tab is `\t`, a blank that is none of ASCII an
/// escape.
pub fn escape(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for (index, part) in line.split('\t').enumerate() {
        if index > 0 {
            shown.push_str("\\t");
        }
        let mut rest = part;
        while let Some((at, blank)) = rest.char_indices().find(|(_, it)| it.is_whitespace() && !it.is_ascii()) {
            shown.push_str(&plain(&rest[..at], usize::MAX));
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(blank));
            rest = &rest[at + blank.len_utf8()..];
        }
        shown.push_str(&plain(rest, usize::MAX));
    }
    shown
}

/// The remarks on one file.
struct Remarks<'a> {
    path: &'a str,
    found: Vec<Remark>,
    left_out: usize,
}

impl Remarks<'_> {
    fn add(&mut self, line: Option<u32>, text: String) {
        if self.found.len() == REMARKS {
            self.left_out += 1;
            return;
        }
        self.found.push(Remark { path: self.path.to_owned(), line, text });
    }

    fn finish(mut self) -> Vec<Remark> {
        if self.left_out > 0 {
            let text = format!("and {} more in this file", count(self.left_out, "remark"));
            self.found.push(Remark { path: self.path.to_owned(), line: None, text });
        }
        self.found
    }
}

fn show(file: &TreeFile, out: &mut String, remarks: &mut Remarks<'_>) {
    let path = plain(&file.path, PATH);
    let bit = if file.executable { ", executable" } else { "" };
    let size = count(file.bytes.len(), "byte");
    let hash = &system::digest::hex(&file.sha256)[..12];
    if file.names > 1 {
        let names = count(usize::try_from(file.names).unwrap_or(usize::MAX), "name");
        remarks.add(
            None,
            format!("the file has {names} on the disk (hard links); what is trusted is a copy of its bytes"),
        );
    }
    let text = legible(&file.bytes);
    if matches!(text, Cow::Owned(_)) {
        remarks.add(None, "it is not all text: bytes that are no UTF-8 are shown as \\xff".to_owned());
    }
    if file.path == MANIFEST {
        remarks_on_commands(file, &text, remarks);
    }
    let lines = count(text.lines().count(), "line");
    let _ = writeln!(out, "\n== {path} ({size}, {lines}{bit}, sha256 {hash}) ==");
    let mut crlf = 0;
    let mut lines = (1_u32..).zip(text.split_inclusive('\n')).peekable();
    while let Some((number, line)) = lines.next() {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = match line.strip_suffix('\r') {
            Some(line) => {
                crlf += 1;
                line
            }
            None => line,
        };
        if line.is_empty() {
            let mut last = number;
            while lines.next_if(|(_, next)| matches!(*next, "\n" | "\r\n")).is_some_and(|(next, _)| {
                last = next;
                true
            }) {}
            show_empty(number, last, out, remarks);
            continue;
        }
        for text in odd::remarks(line) {
            remarks.add(Some(number), text);
        }
        if file.path != MANIFEST {
            remarks_on_outside(number, line, remarks);
        }
        let length = show_line(number, line, out);
        if length > LONG {
            remarks.add(Some(number), format!("a very long line ({length} characters)"));
        }
    }
    if crlf > 0 {
        remarks.add(None, format!("{} with \\r\\n, which bash does not take for an end", count(crlf, "line end")));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        out.push_str("      | (no line end at the end of the file)\n");
    }
}

/// The bytes as text: those that are no UTF-8 as `\\xff`, so that one of them hides none of the others.
pub(crate) fn legible(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// What each `command` of the manifest runs, however it is spelled there: a program of the machine or of the project.
fn remarks_on_commands(file: &TreeFile, text: &str, remarks: &mut Remarks<'_>) {
    let manifest = Manifest::parse(&file.bytes, &|_| true, Platform::HERE, &builtin::names());
    for entry in &manifest.entries {
        let Action::Command(words) = &entry.action else { continue };
        let line = 1 + text.bytes().take(entry.span.start).filter(|byte| *byte == b'\n').count();
        let words: Vec<String> = words.iter().map(|word| plain(word, plain::ID)).collect();
        let words = plain(&words.join(" "), plain::WHY);
        remarks.add(u32::try_from(line).ok(), format!("runs what the grant does not cover: {words}"));
    }
}

fn remarks_on_outside(number: u32, line: &str, remarks: &mut Remarks<'_>) {
    let found = outside::references(line);
    if !found.is_empty() {
        remarks.add(Some(number), format!("reaches what the grant does not cover: {}", found.join(", ")));
    }
}

/// Shows a line; its length in characters as shown.
fn show_line(number: u32, line: &str, out: &mut String) -> usize {
    let shown = escape(line);
    let mut length = 0;
    let _ = write!(out, "{number:>5} | ");
    for character in shown.chars() {
        if length > 0 && length % WIDTH == 0 {
            out.push_str("\n      > ");
        }
        out.push(character);
        length += 1;
    }
    out.push('\n');
    length
}

fn show_empty(first: u32, last: u32, out: &mut String, remarks: &mut Remarks<'_>) {
    let number = (last - first + 1) as usize;
    if number <= EMPTY {
        for line in first..=last {
            let _ = writeln!(out, "{line:>5} |");
        }
        return;
    }
    let _ = writeln!(out, "{first:>5} |\n      | (lines {first} to {last} are empty)");
    if number > odd::BLANKS {
        remarks
            .add(Some(first), format!("{} in a row; what stands behind is easily missed", count(number, "empty line")));
    }
}

#[cfg(test)]
mod tests;
