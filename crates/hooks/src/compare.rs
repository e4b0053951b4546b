//! What differs between a grant and the bytes of today.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::grants::GrantedFile;
use crate::review::{escape, legible};
use crate::tree::{Tree, TreeFile};

/// Lines around a change that a diff shows.
const AROUND: usize = 3;
/// Most lines of a diff.
const LINES: usize = 20_000;
/// Most bytes of one line of a diff.
const WIDTH: usize = 2000;

/// How one file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// It was not there.
    Added,
    /// It is gone.
    Removed,
    /// Its bytes are others.
    Edited,
    /// Its bytes are others in nothing but line endings.
    LineEndings,
    /// Only its exec bit is another.
    Mode,
}

impl Difference {
    /// As it is called in sentences, behind the file's name.
    pub fn word(self) -> &'static str {
        match self {
            Difference::Added => "added",
            Difference::Removed => "removed",
            Difference::Edited => "edited",
            Difference::LineEndings => "line endings only",
            Difference::Mode => "exec bit only",
        }
    }
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// As [`crate::TreeFile::path`].
    pub path: String,
    /// How.
    pub how: Difference,
}

/// What differs, by path. `former` is the snapshot of what was granted, where it still is: it tells
/// [`Difference::LineEndings`].
pub fn differences(granted: &[GrantedFile], former: Option<&Tree>, now: &Tree) -> Vec<Changed> {
    let known: BTreeMap<&str, &GrantedFile> = granted.iter().map(|file| (&*file.path, file)).collect();
    let mut changes: Vec<Changed> = granted
        .iter()
        .filter(|file| now.file(&file.path).is_none())
        .map(|file| Changed { path: file.path.clone(), how: Difference::Removed })
        .collect();
    for file in &now.files {
        let how = match known.get(&*file.path) {
            None => Difference::Added,
            Some(known) if known.sha256 != system::digest::hex(&file.sha256) => {
                match former.and_then(|former| former.file(&file.path)) {
                    Some(former) if same_but_line_ends(&former.bytes, &file.bytes) => Difference::LineEndings,
                    _ => Difference::Edited,
                }
            }
            Some(known) if known.executable != file.executable => Difference::Mode,
            Some(_) => continue,
        };
        changes.push(Changed { path: file.path.clone(), how });
    }
    changes.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    changes
}

/// Every file as removed.
pub(crate) fn all_removed(granted: &[GrantedFile]) -> Vec<Changed> {
    granted.iter().map(|file| Changed { path: file.path.clone(), how: Difference::Removed }).collect()
}

/// Equal when `\r\n` counts as `\n`.
fn same_but_line_ends(one: &[u8], other: &[u8]) -> bool {
    fn unix(bytes: &[u8]) -> impl Iterator<Item = u8> + '_ {
        let next = bytes.iter().skip(1).copied().map(Some).chain([None]);
        bytes.iter().copied().zip(next).filter(|pair| *pair != (b'\r', Some(b'\n'))).map(|(byte, _)| byte)
    }
    unix(one).eq(unix(other))
}

/// A unified diff of a granted snapshot and the bytes of today, each line escaped as a review is; bounded.
pub fn unified(former: &Tree, now: &Tree) -> String {
    let mut paths: Vec<&str> = former.files.iter().chain(&now.files).map(|file| &*file.path).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut text = Diff { text: String::new(), lines: 0, left_out: 0 };
    for path in paths {
        text.file(path, former.file(path), now.file(path));
    }
    if text.left_out > 0 {
        let _ =
            writeln!(text.text, "({} more lines are not shown; `ruleline hooks show` shows every file)", text.left_out);
    }
    text.text
}

struct Diff {
    text: String,
    lines: usize,
    left_out: usize,
}

impl Diff {
    fn line(&mut self, mark: &str, line: &str) {
        if self.lines == LINES {
            self.left_out += 1;
            return;
        }
        self.lines += 1;
        self.text.push_str(mark);
        let cut = (0..=line.len().min(WIDTH)).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
        self.text.push_str(&escape(&line[..cut]));
        if line.len() > WIDTH {
            let _ = write!(self.text, " (cut: the line has {} bytes)", line.len());
        }
        self.text.push('\n');
    }

    fn file(&mut self, path: &str, before: Option<&TreeFile>, after: Option<&TreeFile>) {
        let bit = |file: Option<&TreeFile>| file.is_some_and(|file| file.executable);
        let same_bytes = before.map(|file| file.sha256) == after.map(|file| file.sha256);
        if same_bytes && bit(before) == bit(after) {
            return;
        }
        let name = |file: Option<&TreeFile>, side: &str| match file {
            Some(_) => format!("{side}/{path}"),
            None => "/dev/null".to_owned(),
        };
        self.line("--- ", &name(before, "granted"));
        self.line("+++ ", &name(after, "now"));
        if before.is_some() && after.is_some() && bit(before) != bit(after) {
            let word = |set| if set { "executable" } else { "not executable" };
            self.line("", &format!("({} before, {} now)", word(bit(before)), word(bit(after))));
        }
        if same_bytes {
            return;
        }
        let text = |file: Option<&TreeFile>| file.map_or_else(String::new, |file| legible(&file.bytes).into_owned());
        let (old, new) = (text(before), text(after));
        if old == new {
            self.line("", "(other bytes, which are shown alike)");
        }
        self.hunks(&old.split_inclusive('\n').collect::<Vec<_>>(), &new.split_inclusive('\n').collect::<Vec<_>>());
    }

    fn hunks(&mut self, old: &[&str], new: &[&str]) {
        let steps = steps(old, new);
        let mut at = 0;
        while let Some(first) = steps[at..].iter().position(|step| step.mark != " ").map(|found| at + found) {
            // Two changes with few lines between them stand in one hunk.
            let (mut end, mut quiet) = (first, 0);
            while end < steps.len() && quiet <= 2 * AROUND {
                quiet = if steps[end].mark == " " { quiet + 1 } else { 0 };
                end += 1;
            }
            let end = if quiet > AROUND { end - (quiet - AROUND) } else { end };
            let start = first.saturating_sub(AROUND).max(at);
            let (old_at, new_at) = (steps[start].old + 1, steps[start].new + 1);
            let hunk = &steps[start..end];
            let count = |mark| hunk.iter().filter(|step| step.mark != mark).count();
            self.line("", &format!("@@ -{old_at},{} +{new_at},{} @@", count("+"), count("-")));
            for step in hunk {
                let line = if step.mark == "+" { new[step.new] } else { old[step.old] };
                self.line(step.mark, line.strip_suffix('\n').unwrap_or(line));
                if !line.ends_with('\n') {
                    self.line("", "\\ No newline at end of file");
                }
            }
            at = end;
        }
    }
}

/// One line of a diff: where it stands, or would stand, on both sides.
struct Step {
    mark: &'static str,
    old: usize,
    new: usize,
}

/// What went stands before what came in its place.
fn steps(before: &[&str], after: &[&str]) -> Vec<Step> {
    let is_new = rules::diff::added_among(before, after);
    let mut steps = Vec::with_capacity(before.len() + after.len());
    let (mut old, mut new) = (0, 0);
    loop {
        let common = (new..after.len()).find(|line| !is_new[*line]);
        let next = common.unwrap_or(after.len());
        // The lines that are not new are a subsequence of the old ones: each is found at its first place.
        while old < before.len() && common.is_none_or(|line| before[old] != after[line]) {
            steps.push(Step { mark: "-", old, new });
            old += 1;
        }
        steps.extend((new..next).map(|new| Step { mark: "+", old, new }));
        if common.is_none() {
            return steps;
        }
        steps.push(Step { mark: " ", old, new: next });
        (old, new) = (old + 1, next + 1);
    }
}

#[cfg(test)]
mod tests;
