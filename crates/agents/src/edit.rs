//! What a tool call does to files: an edit read against the files on disk, in canonical terms.
//!
//! Judges nothing and touches no file but through [`Files`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;

use crate::event::{EditStep, NotebookEdit, ToolCall};
use crate::notebook;
pub use crate::notebook::Cell;
use crate::patch::{self, Action, Budget, Hunk};

/// The most text an edit may make of a file, in bytes: 64 MiB.
const MAX_TEXT: usize = 64 << 20;

/// How many bytes the replacements of one call may look at and copy, over all of them: 512 MiB.
const MAX_WORK: usize = 512 << 20;

/// What one replacement costs beside its bytes.
const PIECE: usize = 64;

/// Reading the files that an edit changes; whoever calls bounds size and follows or refuses links.
pub trait Files {
    /// The file's text (bad UTF-8 replaced), `Ok(None)` when there is no such file.
    ///
    /// # Errors
    /// One line that says why the file cannot be read (a folder, a FIFO, too large, no permission).
    fn read(&self, path: &Path) -> Result<Option<Arc<str>>, String>;
}

/// One file as an edit leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// Absolute or relative to the event's cwd, as the agent wrote it.
    pub path: PathBuf,
    /// The file before; none when there was none or it cannot be read (then `after` is unknown and says why).
    pub before: Option<Arc<str>>,
    /// The file after.
    pub after: After,
}

/// A file after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// Its text.
    Text(Arc<str>),
    /// A notebook: both sides as cells.
    Notebook {
        /// The cells before; empty when there was no notebook or it did not parse.
        before: Vec<Cell>,
        /// The cells after.
        after: Vec<Cell>,
    },
    /// It cannot be known (the old text is not there, or not once): only the new pieces are.
    Unknown {
        /// Each replacement's old and new text.
        fresh: Vec<Fresh>,
        /// Why, in one line.
        why: String,
    },
    /// It is gone (deleted, or moved to another entry of the same edit).
    Deleted,
    /// It arrived with this text, moved here or added anew by a patch: all of it counts as added.
    Moved(Arc<str>),
}

/// A replacement whose place is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// The old text; empty when all of the new text counts as added, as in a patch, whose added lines stand here.
    pub old: String,
    /// The new text.
    pub new: String,
}

/// What a call does to files; empty when it edits none. A file is listed once, as the whole call leaves it; a move
/// lists its source and its target.
///
/// # Errors
/// In one line: the edit cannot be understood.
pub fn edits(call: &ToolCall, cwd: Option<&Path>, files: &dyn Files) -> Result<Vec<FileEdit>, String> {
    let mut edits = match call {
        ToolCall::Write { path, content } => vec![write(path, content, cwd, files)],
        ToolCall::Edit { path, steps } => vec![replace(path, steps, cwd, files)],
        ToolCall::Notebook(edit) => return Ok(vec![edit_cell(edit, cwd, files)]),
        ToolCall::Patch { text } => apply_patch(text, cwd, files)?,
        _ => return Ok(Vec::new()),
    };
    edits.iter_mut().for_each(read_cells);
    Ok(edits)
}

/// Where a path of an edit stands.
pub fn locate(path: &Path, cwd: Option<&Path>) -> PathBuf {
    cwd.map_or_else(|| path.to_owned(), |cwd| cwd.join(path))
}

fn write(path: &str, content: &str, cwd: Option<&Path>, files: &dyn Files) -> FileEdit {
    let path = PathBuf::from(path);
    match files.read(&locate(&path, cwd)) {
        Ok(before) => FileEdit { path, before, after: After::Text(content.into()) },
        Err(why) => {
            let fresh = vec![Fresh { old: String::new(), new: content.to_owned() }];
            FileEdit { path, before: None, after: After::Unknown { fresh, why } }
        }
    }
}

fn replace(path: &str, steps: &[EditStep], cwd: Option<&Path>, files: &dyn Files) -> FileEdit {
    let path = PathBuf::from(path);
    let (before, after) = match files.read(&locate(&path, cwd)) {
        Ok(before) => {
            let after = replaced(before.as_deref(), steps);
            (before, after)
        }
        Err(why) => (None, Err(why)),
    };
    let after = match after {
        Ok(text) => After::Text(text.into()),
        Err(why) => {
            let fresh = steps.iter().map(|step| Fresh { old: step.old.clone(), new: step.new.clone() }).collect();
            After::Unknown { fresh, why }
        }
    };
    FileEdit { path, before, after }
}

/// The text after all steps, each on what the former left. Looked at with `\n` alone at the ends of lines, so that an
/// old text finds its place in a file that has `\r\n`, and given back with the ends that the file has.
fn replaced(before: Option<&str>, steps: &[EditStep]) -> Result<String, String> {
    let ends = Ends::of(before.unwrap_or_default());
    let mut text = before.map(|text| ends.fold(text));
    let mut work = MAX_WORK;
    for (number, step) in (1..).zip(steps) {
        let (old, new) = (ends.fold(&step.old), ends.fold(&step.new));
        let result = match &text {
            Some(text) => replaced_once(text, &old, &new, step.all, &mut work),
            None if old.is_empty() => Ok(new.into_owned()),
            None => Err("there is no such file".to_owned()),
        };
        let result = result.map_err(|why| if steps.len() > 1 { format!("edit {number}: {why}") } else { why })?;
        text = Some(Cow::Owned(result));
    }
    Ok(ends.unfold(text.unwrap_or_default().into_owned()))
}

fn replaced_once(text: &str, old: &str, new: &str, all: bool, work: &mut usize) -> Result<String, String> {
    if old.is_empty() {
        return if text.is_empty() {
            Ok(new.to_owned())
        } else {
            Err("an empty old text, and the file is not empty".into())
        };
    }
    let found: Vec<usize> = if all {
        memmem::find_iter(text.as_bytes(), old).collect()
    } else {
        let first = memmem::find(text.as_bytes(), old.as_bytes());
        // Overlapping occurrences count: which of them the agent means cannot be known.
        let again = first.and_then(|at| memmem::find(&text.as_bytes()[at + 1..], old.as_bytes()));
        if again.is_some() {
            return Err("the old text stands in the file more than once".to_owned());
        }
        first.into_iter().collect()
    };
    if found.is_empty() {
        return Err("the old text is not in the file".to_owned());
    }
    let length =
        new.len().checked_mul(found.len()).and_then(|added| added.checked_add(text.len() - old.len() * found.len()));
    let length = length.filter(|length| *length <= MAX_TEXT).ok_or("the edit makes the file too large")?;
    *work = work.checked_sub(text.len() + length + found.len() * PIECE).ok_or("the edits are too costly to apply")?;
    let mut result = String::with_capacity(length);
    let mut copied = 0;
    for at in found {
        result.push_str(&text[copied..at]);
        result.push_str(new);
        copied = at + old.len();
    }
    result.push_str(&text[copied..]);
    Ok(result)
}

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// `\n`, and no `\r\n` anywhere.
    Lf,
    /// Some `\r\n`; whether most.
    CrLf { most: bool },
}

impl Ends {
    fn of(text: &str) -> Ends {
        let crlf = memmem::find_iter(text.as_bytes(), "\r\n").count();
        if crlf == 0 {
            return Ends::Lf;
        }
        let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        Ends::CrLf { most: crlf * 2 >= all }
    }

    fn fold(self, text: &str) -> std::borrow::Cow<'_, str> {
        match self {
            Ends::CrLf { .. } if text.contains("\r\n") => text.replace("\r\n", "\n").into(),
            _ => text.into(),
        }
    }

    fn unfold(self, text: String) -> String {
        if self == (Ends::CrLf { most: true }) { text.replace('\n', "\r\n") } else { text }
    }
}

fn edit_cell(edit: &NotebookEdit, cwd: Option<&Path>, files: &dyn Files) -> FileEdit {
    let path = PathBuf::from(&edit.path);
    let (before, after) = match files.read(&locate(&path, cwd)) {
        Ok(Some(text)) => {
            let cells = notebook::cells(&text).ok_or_else(|| "the file does not parse as a notebook".to_owned());
            let after =
                cells.and_then(|before| notebook::edit(&before, edit).map(|after| After::Notebook { before, after }));
            (Some(text), after)
        }
        Ok(None) => (None, Err("there is no such file".to_owned())),
        Err(why) => (None, Err(why)),
    };
    let after = after.unwrap_or_else(|why| After::Unknown {
        fresh: vec![Fresh { old: String::new(), new: edit.source.clone() }],
        why,
    });
    FileEdit { path, before, after }
}

/// Gives a notebook's text as cells, where it parses.
fn read_cells(edit: &mut FileEdit) {
    if !notebook::is_notebook(&edit.path.to_string_lossy()) {
        return;
    }
    let (text, before) = match &edit.after {
        After::Text(text) => (text, edit.before.as_deref()),
        After::Moved(text) => (text, None),
        _ => return,
    };
    if let Some(after) = notebook::cells(text) {
        edit.after = After::Notebook { before: before.and_then(notebook::cells).unwrap_or_default(), after };
    }
}

/// The files of a patch as its sections leave them, in the order of their first mention.
struct Patched<'a> {
    edits: Vec<FileEdit>,
    /// Which edit a file has, by its place with `.` and `..` taken out.
    places: HashMap<PathBuf, usize>,
    cwd: Option<&'a Path>,
    files: &'a dyn Files,
    budget: Budget,
}

fn apply_patch(text: &str, cwd: Option<&Path>, files: &dyn Files) -> Result<Vec<FileEdit>, String> {
    let sections = patch::sections(text)?;
    let mut patched = Patched { edits: Vec::new(), places: HashMap::new(), cwd, files, budget: Budget::default() };
    for section in sections {
        match section.action {
            Action::Add(lines) => {
                let mut text = lines.join("\n");
                text.push('\n');
                patched.add(section.path, text);
            }
            Action::Delete => patched.set(section.path, |_| After::Deleted),
            Action::Update { hunks, target } => patched.update(section.path, &hunks, target),
        }
    }
    Ok(patched.edits)
}

impl Patched<'_> {
    /// The edit of a file; on its first mention it is read from disk and unchanged.
    fn edit(&mut self, path: &str) -> &mut FileEdit {
        let place = plain(&locate(Path::new(path), self.cwd));
        let index = *self.places.entry(place).or_insert_with(|| {
            let path = PathBuf::from(path);
            let (before, after) = match self.files.read(&locate(&path, self.cwd)) {
                Ok(Some(text)) => (Some(Arc::clone(&text)), After::Text(text)),
                Ok(None) => (None, After::Deleted),
                Err(why) => (None, After::Unknown { fresh: Vec::new(), why }),
            };
            self.edits.push(FileEdit { path, before, after });
            self.edits.len() - 1
        });
        &mut self.edits[index]
    }

    fn set(&mut self, path: &str, after: impl FnOnce(&After) -> After) {
        let edit = self.edit(path);
        edit.after = after(&edit.after);
    }

    fn add(&mut self, path: &str, text: String) {
        self.set(path, |former| match former {
            After::Unknown { why, .. } => {
                After::Unknown { fresh: vec![Fresh { old: String::new(), new: text }], why: why.clone() }
            }
            _ => After::Moved(text.into()),
        });
    }

    fn update(&mut self, path: &str, hunks: &[Hunk], target: Option<&str>) {
        let mut budget = std::mem::take(&mut self.budget);
        let former = self.edit(path).after.clone();
        let after = match &former {
            After::Text(text) => changed(text, hunks, &mut budget).map(|text| After::Text(text.into())),
            After::Moved(text) => changed(text, hunks, &mut budget).map(|text| After::Moved(text.into())),
            After::Unknown { why, .. } => Err(why.clone()),
            After::Deleted | After::Notebook { .. } => Err("there is no such file".to_owned()),
        };
        self.budget = budget;
        let after = after.unwrap_or_else(|why| {
            let mut fresh = match (&former, target) {
                (After::Unknown { fresh, .. }, _) => fresh.clone(),
                // Unknown as the end is, what moves along is not.
                (After::Text(text), Some(_)) | (After::Moved(text), _) => {
                    vec![Fresh { old: String::new(), new: text.to_string() }]
                }
                _ => Vec::new(),
            };
            let mut added = String::new();
            for line in hunks.iter().flat_map(|hunk| &hunk.added) {
                added.push_str(line);
                added.push('\n');
            }
            if !added.is_empty() {
                fresh.push(Fresh { old: String::new(), new: added });
            }
            After::Unknown { fresh, why }
        });
        let Some(target) = target else {
            self.edit(path).after = after;
            return;
        };
        self.edit(path).after = After::Deleted;
        self.edit(target).after = match after {
            After::Text(text) => After::Moved(text),
            after => after,
        };
    }
}

fn changed(text: &str, hunks: &[Hunk], budget: &mut Budget) -> Result<String, String> {
    if hunks.is_empty() {
        return Ok(text.to_owned());
    }
    let ends = Ends::of(text);
    let folded = ends.fold(text);
    let mut lines: Vec<&str> = folded.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let mut text = patch::apply(&lines, hunks, budget)?.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    Ok(ends.unfold(text))
}

/// A path without `.` and `..`, by its letters alone.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
