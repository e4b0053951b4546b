//! The `*** Begin Patch` form: a text to its sections, and a section's hunks onto a file's lines.
//!
//! As lenient as Codex's own reader, and more: what it would refuse is read as what it most likely means, so that a
//! patch that some version accepts is never seen as nothing. Touches no file; [`crate::edit`] does.

/// The line a patch begins with.
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";

/// The most files one patch may name.
const SECTIONS: usize = 10_000;

/// How much comparing of lines one patch may cost; a patch that fits its file needs a small part of it.
const COMPARISONS: usize = 20_000_000;

/// Whether a text holds a patch.
pub fn holds(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), BEGIN.as_bytes()).is_some()
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section<'a> {
    /// The file, as written.
    pub path: &'a str,
    /// What happens to it.
    pub action: Action<'a>,
}

impl<'a> Section<'a> {
    /// The files it is about, as written.
    pub fn files(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let target = match self.action {
            Action::Update { target, .. } => target,
            Action::Add(_) | Action::Delete => None,
        };
        std::iter::once(self.path).chain(target)
    }
}

/// What a patch does to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action<'a> {
    /// It gets these lines, whatever it held.
    Add(Vec<&'a str>),
    /// Its lines change, and then it may move.
    Update {
        /// In the order of the file.
        hunks: Vec<Hunk<'a>>,
        /// Where the file goes.
        target: Option<&'a str>,
    },
    /// It goes.
    Delete,
}

/// One run of lines that changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk<'a> {
    /// Lines to find first, each after the former.
    pub anchors: Vec<&'a str>,
    /// The lines as they stand in the file.
    pub old: Vec<&'a str>,
    /// The lines as they will stand.
    pub new: Vec<&'a str>,
    /// The lines of `new` that are added.
    pub added: Vec<&'a str>,
    /// The old lines are the file's last.
    pub at_end: bool,
}

impl Hunk<'_> {
    fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

/// Reads a patch. What stands before `*** Begin Patch` is skipped, so a heredoc around it does no harm.
///
/// # Errors
/// No file is named, or too many, or one without a name.
pub fn sections(text: &str) -> Result<Vec<Section<'_>>, String> {
    let body = match memchr::memmem::find(text.as_bytes(), BEGIN.as_bytes()) {
        Some(begin) => &text[begin + BEGIN.len()..],
        None => text,
    };
    let mut reader = Reader::default();
    for line in body.split('\n') {
        reader.line(line.strip_suffix('\r').unwrap_or(line))?;
    }
    reader.close();
    if reader.sections.is_empty() { Err("the patch names no file".to_owned()) } else { Ok(reader.sections) }
}

#[derive(Default)]
struct Reader<'a> {
    sections: Vec<Section<'a>>,
    hunk: Hunk<'a>,
    ended: bool,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) -> Result<(), String> {
        let inside = if self.ended { None } else { self.sections.last_mut() };
        // In an update a leading blank makes a context line, elsewhere it is padding.
        let marker = match inside {
            Some(Section { action: Action::Update { .. }, .. }) => line.trim_end(),
            _ => line.trim(),
        };
        if marker.starts_with("*** ") && self.marker(marker)? {
            return Ok(());
        }
        match self.sections.last_mut().map(|section| &mut section.action) {
            Some(_) if self.ended => {}
            Some(Action::Add(lines)) => lines.push(line.strip_prefix('+').unwrap_or(line)),
            Some(Action::Update { .. }) => self.hunk_line(line),
            Some(Action::Delete) | None => {}
        }
        Ok(())
    }

    /// Reads a marker line; false when it is none after all.
    fn marker(&mut self, marker: &'a str) -> Result<bool, String> {
        let file = |prefix: &str| marker.strip_prefix(prefix).map(str::trim);
        let (path, action) = if let Some(path) = file(ADD) {
            (path, Action::Add(Vec::new()))
        } else if let Some(path) = file(UPDATE) {
            (path, Action::Update { hunks: Vec::new(), target: None })
        } else if let Some(path) = file(DELETE) {
            (path, Action::Delete)
        } else {
            return Ok(self.lesser_marker(marker));
        };
        if path.is_empty() {
            return Err("the patch has a file without a name".to_owned());
        }
        if self.sections.len() == SECTIONS {
            return Err(format!("the patch names more than {SECTIONS} files"));
        }
        self.close();
        self.ended = false;
        self.sections.push(Section { path, action });
        Ok(true)
    }

    fn lesser_marker(&mut self, marker: &'a str) -> bool {
        match marker {
            BEGIN => {}
            END => {
                self.close();
                self.ended = true;
            }
            END_OF_FILE => {
                self.hunk.at_end = true;
                self.close();
            }
            _ => {
                let target = marker.strip_prefix(MOVE).map(str::trim).filter(|path| !path.is_empty());
                match (target, self.sections.last_mut().map(|section| &mut section.action)) {
                    (Some(path), Some(Action::Update { target, .. })) => *target = Some(path),
                    _ => return false,
                }
            }
        }
        true
    }

    fn hunk_line(&mut self, line: &'a str) {
        if let Some(anchor) = line.strip_prefix("@@") {
            if !self.hunk.is_empty() {
                self.close();
            }
            let anchor = anchor.trim();
            if !anchor.is_empty() {
                self.hunk.anchors.push(anchor);
            }
            return;
        }
        let hunk = &mut self.hunk;
        if let Some(added) = line.strip_prefix('+') {
            hunk.new.push(added);
            hunk.added.push(added);
        } else if let Some(removed) = line.strip_prefix('-') {
            hunk.old.push(removed);
        } else {
            let context = line.strip_prefix(' ').unwrap_or(line);
            hunk.old.push(context);
            hunk.new.push(context);
        }
    }

    /// Puts the hunk that is being read into its section.
    fn close(&mut self) {
        let hunk = std::mem::take(&mut self.hunk);
        if let Some(Section { action: Action::Update { hunks, .. }, .. }) = self.sections.last_mut()
            && !hunk.is_empty()
        {
            hunks.push(hunk);
        }
    }
}

/// What is left of the comparing that one patch may cost.
#[derive(Debug)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Budget(COMPARISONS)
    }
}

impl Budget {
    fn spend(&mut self, cost: usize) -> Result<(), String> {
        self.0 = self.0.checked_sub(cost).ok_or("the patch is too costly to apply")?;
        Ok(())
    }
}

/// The lines of a file after the hunks. Lines are without their ends.
///
/// # Errors
/// In one line, which hunk is not found, or that looking for it costs too much.
pub fn apply<'a>(lines: &[&'a str], hunks: &[Hunk<'a>], budget: &mut Budget) -> Result<Vec<&'a str>, String> {
    let mut replaced = Vec::with_capacity(hunks.len());
    let mut from = 0;
    for (number, hunk) in (1..).zip(hunks) {
        for anchor in &hunk.anchors {
            // An anchor that is not there only helps less: the old lines say where the hunk goes.
            if let Some(at) = find(lines, &[anchor], from, false, budget)? {
                from = at + 1;
            }
        }
        if hunk.old.is_empty() {
            replaced.push((lines.len(), 0, &hunk.new[..]));
            continue;
        }
        let (at, old, new) = place(lines, hunk, from, budget)?
            .ok_or_else(|| format!("the old lines of hunk {number} are not in the file"))?;
        replaced.push((at, old, new));
        from = at + old;
    }
    replaced.sort_by_key(|(at, ..)| *at);
    let mut result = Vec::with_capacity(lines.len());
    let mut copied = 0;
    for (at, old, new) in replaced {
        let kept = lines.get(copied..at).ok_or("two hunks of the patch overlap")?;
        result.extend_from_slice(kept);
        result.extend_from_slice(new);
        copied = at + old;
    }
    result.extend_from_slice(&lines[copied..]);
    Ok(result)
}

/// Where a hunk goes, how many lines it replaces, and by which.
type Place<'h, 'a> = (usize, usize, &'h [&'a str]);

fn place<'h, 'a>(
    lines: &[&str],
    hunk: &'h Hunk<'a>,
    from: usize,
    budget: &mut Budget,
) -> Result<Option<Place<'h, 'a>>, String> {
    let (mut old, mut new) = (&hunk.old[..], &hunk.new[..]);
    loop {
        if let Some(at) = find(lines, old, from, hunk.at_end, budget)? {
            return Ok(Some((at, old.len(), new)));
        }
        // A blank last line is often only the blank between two sections.
        let Some((&"", shorter)) = old.split_last() else { return Ok(None) };
        old = shorter;
        if let Some((&"", shorter)) = new.split_last() {
            new = shorter;
        }
        if old.is_empty() {
            return Ok(None);
        }
    }
}

/// The first place from `from` on where `wanted` stands: exactly, else but for blanks at the end of lines, else but
/// for blanks at both ends, else but for typographic quotes, dashes and blanks.
fn find(
    lines: &[&str],
    wanted: &[&str],
    from: usize,
    at_end: bool,
    budget: &mut Budget,
) -> Result<Option<usize>, String> {
    let Some(last) = lines.len().checked_sub(wanted.len()) else { return Ok(None) };
    let passes: [fn(&str, &str) -> bool; 4] = [
        |a, b| a == b,
        |a, b| a.trim_end() == b.trim_end(),
        |a, b| a.trim() == b.trim(),
        |a, b| typewritten(a.trim()).eq(typewritten(b.trim())),
    ];
    for same in passes {
        if at_end && matches(&lines[last..], wanted, same, budget)? {
            return Ok(Some(last));
        }
        for at in from..=last {
            if matches(&lines[at..], wanted, same, budget)? {
                return Ok(Some(at));
            }
        }
    }
    Ok(None)
}

fn matches(lines: &[&str], wanted: &[&str], same: fn(&str, &str) -> bool, budget: &mut Budget) -> Result<bool, String> {
    for (line, wanted) in lines.iter().zip(wanted) {
        budget.spend(1 + line.len().min(wanted.len()) / 64)?;
        if !same(line, wanted) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The letters with typographic quotes, dashes and blanks as a typewriter has them.
fn typewritten(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|letter| match letter {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201B}' => '\'',
        '\u{201C}'..='\u{201F}' => '"',
        '\u{A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn applied(file: &str, patch: &str) -> Result<String, String> {
        let lines: Vec<&str> = file.lines().collect();
        let sections = sections(patch).unwrap();
        let Action::Update { hunks, .. } = &sections[0].action else { panic!("not an update") };
        apply(&lines, hunks, &mut Budget::default()).map(|lines| lines.join("|"))
    }

    #[test]
    fn sections_are_read_leniently() {
        let outline = |text: &str| -> Result<Vec<String>, String> {
            sections(text).map(|sections| {
                sections
                    .iter()
                    .map(|section| match &section.action {
                        Action::Add(lines) => format!("A {} {}", section.path, lines.join("|")),
                        Action::Delete => format!("D {}", section.path),
                        Action::Update { hunks, target } => {
                            format!("U {} {} {}", section.path, hunks.len(), target.unwrap_or("-"))
                        }
                    })
                    .collect()
            })
        };
        let none: Result<Vec<String>, String> = Err("the patch names no file".into());
        let table: &[(&str, Result<Vec<String>, String>)] = &[
            ("*** Begin Patch\n*** End Patch\n", none.clone()),
            ("", none),
            ("*** Begin Patch\n*** Add File: a b.txt\n+x\n+\n+y\n*** End Patch", Ok(vec!["A a b.txt x||y".into()])),
            ("*** Begin Patch\n*** Add File: a\n+x", Ok(vec!["A a x".into()])),
            ("*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n", Ok(vec!["A a x".into()])),
            ("<<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n", Ok(vec!["A a x".into()])),
            ("  *** Begin Patch  \n  *** Add File: a  \n+x\n  *** End Patch  ", Ok(vec!["A a x".into()])),
            ("*** Add File: a\n+x\n", Ok(vec!["A a x|".into()])),
            ("*** Begin Patch\n*** Add File: a\n+*** Delete File: b\nno plus\n*** End Patch", {
                Ok(vec!["A a *** Delete File: b|no plus".into()])
            }),
            (
                "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n@@ f\n x\n+y\n*** Delete File: c\n*** End Patch",
                Ok(vec!["U a 2 b".into(), "D c".into()]),
            ),
            (
                "*** Begin Patch\n*** Update File: a\n x\n  *** Delete File: c\n*** End Patch",
                Ok(vec!["U a 1 -".into()]),
            ),
            (
                "*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Begin Patch\n*** Delete File: b\n",
                Ok(vec!["D a".into(), "D b".into()]),
            ),
            ("*** Begin Patch\n*** Delete File:\n", Err("the patch has a file without a name".into())),
            ("*** Begin Patch\n*** Move to: b\n*** Delete File: ../../a", Ok(vec!["D ../../a".into()])),
        ];
        for (text, wanted) in table {
            assert_eq!(outline(text), *wanted, "{text}");
        }
        let many = "*** Delete File: a\n".repeat(SECTIONS + 1);
        assert!(outline(&many).unwrap_err().contains("more than"));
    }

    #[test]
    fn hunks_are_placed_as_codex_places_them() {
        let head = "*** Begin Patch\n*** Update File: a\n";
        let table: &[(&str, &str, Result<&str, &str>)] = &[
            ("a\nb\nc\n", "@@\n-a\n+A\n@@ def f\n-c\n+C\n", Ok("A|b|C")),
            ("a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A\n", Err("hunk 2")),
            ("a\nb\n", "@@\n+c\n", Ok("a|b|c")),
            ("class A\nx\nclass B\nx\n", "@@ class B\n-x\n+y\n", Ok("class A|x|class B|y")),
            ("class A\n def f\n x\nclass B\n def f\n x\n", "@@ class B\n@@  def f\n- x\n+ y\n", {
                Ok("class A| def f| x|class B| def f| y")
            }),
            ("x\ny\nx\n", "@@\n-x\n+z\n*** End of File\n", Ok("x|y|z")),
            ("x  \ny\n", "@@\n-x\n y\n+z\n", Ok("y|z")),
            ("  x\n", "@@\n-x\n+z\n", Ok("z")),
            ("a – b\n", "@@\n-a - b\n+z\n", Ok("z")),
            ("a\n", "@@\n-a\n+b\n\n", Ok("b")),
            ("a\n\nb\n", "@@\n a\n\n-b\n+c\n", Ok("a||c")),
            ("", "@@\n-x\n+z\n", Err("hunk 1")),
            ("", "@@\n+z\n", Ok("z")),
            ("a\nb\n", "-a\n+c\n", Ok("c|b")),
            ("a\nb\n", "@@\n+z\n@@\n-a\n+c\n", Ok("c|b|z")),
        ];
        for (file, hunks, wanted) in table {
            let got = applied(file, &format!("{head}{hunks}*** End Patch\n"));
            match wanted {
                Ok(wanted) => assert_eq!(got.as_deref(), Ok(*wanted), "{hunks}"),
                Err(part) => assert!(got.clone().unwrap_err().contains(part), "{hunks}: {got:?}"),
            }
        }
    }

    #[test]
    fn a_hostile_patch_costs_no_more_than_its_budget() {
        let file = "x\n".repeat(200_000);
        let old = "-x\n".repeat(100_000);
        let got = applied(&file, &format!("*** Update File: a\n{old}-y\n"));
        assert_eq!(got, Err("the patch is too costly to apply".into()));
    }

    /// A patch with one hunk for each changed run, with `context` lines around it.
    fn diff(old: &[String], new: &[String]) -> String {
        let shared = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let tail = old[shared..].iter().rev().zip(new[shared..].iter().rev()).take_while(|(a, b)| a == b).count();
        let mut text = String::from("*** Begin Patch\n*** Update File: f\n@@\n");
        for (sign, lines) in [
            (' ', &old[..shared]),
            ('-', &old[shared..old.len() - tail]),
            ('+', &new[shared..new.len() - tail]),
            (' ', &old[old.len() - tail..]),
        ] {
            for line in lines {
                text.push(sign);
                text.push_str(line);
                text.push('\n');
            }
        }
        text + "*** End Patch\n"
    }

    proptest! {
        #[test]
        fn a_generated_patch_gives_its_target(
            old in proptest::collection::vec("[a-c*@+ -]{0,3}", 1..12),
            new in proptest::collection::vec("[a-c*@+ -]{0,3}", 1..12),
        ) {
            let patch = diff(&old, &new);
            let read = sections(&patch).unwrap();
            let Action::Update { hunks, .. } = &read[0].action else { panic!("not an update") };
            let lines: Vec<&str> = old.iter().map(String::as_str).collect();
            let got = apply(&lines, hunks, &mut Budget::default()).unwrap();
            prop_assert_eq!(got, new);
        }

        #[test]
        fn no_text_breaks_the_reader(text in "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: b|Move to: c|Delete File: d|End of File)|@@|[-+ ]?[a-b]{0,2}|\\PC{0,4}|\r|\n){0,30}") {
            if let Ok(sections) = sections(&text) {
                for section in &sections {
                    if let Action::Update { hunks, .. } = &section.action {
                        let _ = apply(&["a", "b", ""], hunks, &mut Budget::default());
                    }
                }
            }
        }
    }
}
