//! One file that is judged apart from an agent's event: where it stands, what its text is before and after, and the
//! change that these make.
//!
//! Texts are read late and in batches, so that a long list costs no memory. A file below a walked folder is opened
//! without following a link; blobs are read as they are, with no filter of git's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::notebook;
use rules::{Cell, Change, Check};
use system::git::{self, Blob, GitError};
use system::open::{self, JUDGED_CAP};

use crate::stack::Spelled;

/// How far a NUL is looked for that makes a file binary, in bytes, as git does.
const HEAD: usize = 8 << 10;
/// The most bytes of blobs that are read in one go, unless one file alone has more.
const BATCH: u64 = 32 << 20;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its path.
    pub file: Spelled,
    /// Where its text is.
    pub content: Content,
}

/// Where the text of a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A file on disk, below a folder that is entered without following links.
    Disk {
        /// The folder.
        folder: PathBuf,
        /// The file in it.
        relative: PathBuf,
    },
    /// Two states that git has.
    Blobs {
        /// The top of the work tree.
        top: PathBuf,
        /// Before; none when it was not there.
        old: Option<Blob>,
        /// After; none when it is gone.
        new: Option<Blob>,
    },
}

/// What a file says at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// It is not there.
    Absent,
    /// Its text, bad UTF-8 replaced.
    Known(Arc<str>),
    /// It is there and no text: a binary file, a link, a submodule.
    Opaque,
}

/// A file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// Before.
    pub before: Text,
    /// After.
    pub after: Text,
}

impl Text {
    fn read(bytes: Vec<u8>) -> Text {
        if bytes[..bytes.len().min(HEAD)].contains(&0) {
            return Text::Opaque;
        }
        let text = String::from_utf8(bytes);
        Text::Known(text.unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()).into())
    }

    /// The text, if it has one.
    pub fn known(&self) -> Option<Arc<str>> {
        match self {
            Text::Known(text) => Some(text.clone()),
            Text::Absent | Text::Opaque => None,
        }
    }
}

/// Reads `subjects` and gives each to `judge` with its sides, or in one line why they cannot be known.
pub fn read_each(subjects: &[Subject], mut judge: impl FnMut(&Subject, Result<Sides, String>)) {
    let sizes = match sizes(subjects) {
        Ok(sizes) => sizes,
        Err(error) => return subjects.iter().for_each(|subject| judge(subject, Err(error.to_string()))),
    };
    let mut rest = subjects;
    while !rest.is_empty() {
        let mut total = 0;
        let fitting = rest.iter().take_while(|subject| {
            total += ids(subject).filter_map(|id| sizes.get(id)).sum::<u64>();
            total <= BATCH
        });
        let (batch, behind) = rest.split_at(fitting.count().max(1));
        match blobs(batch, &sizes) {
            Ok(blobs) => batch.iter().for_each(|subject| judge(subject, sides(subject, &blobs, &sizes))),
            Err(error) => batch.iter().for_each(|subject| judge(subject, Err(error.to_string()))),
        }
        rest = behind;
    }
}

/// The ids of a subject's texts in git.
fn ids(subject: &Subject) -> impl Iterator<Item = &str> {
    let sides = match &subject.content {
        Content::Blobs { old, new, .. } => [old.as_ref(), new.as_ref()],
        Content::Disk { .. } => [None, None],
    };
    sides.into_iter().flatten().filter(|blob| blob.is_file()).map(|blob| blob.id.as_str())
}

fn top(subjects: &[Subject]) -> Option<&Path> {
    subjects.iter().find_map(|subject| match &subject.content {
        Content::Blobs { top, .. } => Some(top.as_path()),
        Content::Disk { .. } => None,
    })
}

/// The sizes of the blobs that are there.
fn sizes(subjects: &[Subject]) -> Result<HashMap<String, u64>, GitError> {
    let Some(top) = top(subjects) else { return Ok(HashMap::new()) };
    let ids: Vec<&str> = subjects.iter().flat_map(ids).collect();
    let sizes = git::sizes(top, &ids)?;
    Ok(ids.into_iter().zip(sizes).filter_map(|(id, size)| Some((id.to_owned(), size?))).collect())
}

fn blobs(subjects: &[Subject], sizes: &HashMap<String, u64>) -> Result<HashMap<String, Vec<u8>>, GitError> {
    let Some(top) = top(subjects) else { return Ok(HashMap::new()) };
    let ids = subjects.iter().flat_map(ids).filter(|id| sizes.get(*id).is_some_and(|size| *size <= JUDGED_CAP));
    let ids: Vec<&str> = ids.collect();
    let blobs = git::blobs(top, &ids)?;
    Ok(ids.into_iter().zip(blobs).filter_map(|(id, bytes)| Some((id.to_owned(), bytes?))).collect())
}

fn sides(subject: &Subject, blobs: &HashMap<String, Vec<u8>>, sizes: &HashMap<String, u64>) -> Result<Sides, String> {
    let side = |blob: &Option<Blob>| match blob {
        None => Ok(Text::Absent),
        Some(blob) if !blob.is_file() => Ok(Text::Opaque),
        Some(blob) => match (blobs.get(&blob.id), sizes.get(&blob.id)) {
            (Some(bytes), _) => Ok(Text::read(bytes.clone())),
            (None, Some(_)) => Err(format!("it is larger than {} MiB", JUDGED_CAP >> 20)),
            (None, None) => Err("its content is not in this repository (a partial clone?)".to_owned()),
        },
    };
    match &subject.content {
        Content::Blobs { old, new, .. } => Ok(Sides { before: side(old)?, after: side(new)? }),
        Content::Disk { folder, relative } => {
            let bytes = open::read_below(folder, relative, JUDGED_CAP).map_err(|error| error.to_string())?;
            Ok(Sides { before: Text::Absent, after: bytes.map_or(Text::Absent, Text::read) })
        }
    }
}

/// The change that two sides make; of a file without text only that it changed.
pub fn change(path: &str, sides: &Sides) -> Change {
    let (path, names) = (path.to_owned(), vec![path.to_owned()]);
    let (before, after) = (sides.before.known(), &sides.after);
    let after = match after {
        Text::Absent => return Change::deleted(path, names, before),
        Text::Opaque => return Change::between(path, names, before, "".into()),
        Text::Known(after) => after.clone(),
    };
    if notebook::is_notebook(&path)
        && let Some(after) = notebook::cells(&after)
    {
        let before = before.as_deref().and_then(notebook::cells);
        return Change::cells(path, names, before.as_deref().map(cells).as_deref(), &cells(&after));
    }
    Change::between(path, names, before, after)
}

fn cells(cells: &[agents::Cell]) -> Vec<Cell<'_>> {
    cells.iter().map(|cell| Cell { is_code: cell.code, source: &cell.source }).collect()
}

/// Whether what a check says of a file counts: one without text has none to look at, and where nothing changed no change
/// is anybody's business.
pub fn counts(check: Check, is_opaque: bool, is_change: bool) -> bool {
    match check {
        Check::Load => true,
        Check::AnyChange => is_change,
        _ => !is_opaque,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_near_the_start_makes_a_file_binary() {
        let late = [vec![b'a'; HEAD], vec![0]].concat();
        for (bytes, expected) in [
            (b"a\0b".to_vec(), Text::Opaque),
            (b"".to_vec(), Text::Known("".into())),
            (b"\xff".to_vec(), Text::Known("\u{fffd}".into())),
            (late.clone(), Text::Known(String::from_utf8(late).unwrap().into())),
        ] {
            assert_eq!(Text::read(bytes), expected);
        }
    }
}
