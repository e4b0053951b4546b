//! Which files the editor holds unsaved, for the hook to know: one small record in the state folder.
//!
//! A text is unsaved while it is another than that on disk. Workers compare and write, one at a time: at the first
//! change at once, then at most every [`PAUSE`], and once more before the record ends to count. Without unsaved files
//! there is no record and no timer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use guard::unsaved::{LASTS, Unsaved};
use system::Folders;

use crate::session::Session;
use crate::session::event::Event;
use crate::text::Text;

/// How long a file that is known to be unsaved is not compared again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long before its end a record is written anew.
const MARGIN: Duration = Duration::from_secs(300);
/// Most files of a record.
const MOST: usize = 1000;

/// The record of this process. Nothing is written any more once it is closed.
#[derive(Debug, Default)]
pub struct Record {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    written: Option<Unsaved>,
    closed: bool,
}

impl Record {
    /// Writes the files that `editor` holds unsaved. Blocks.
    fn write(&self, folders: &Folders, workspaces: &[PathBuf], editor: &str, files: &[PathBuf]) -> Result<(), String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.closed || (files.is_empty() && kept.written.is_none()) {
            return Ok(());
        }
        folders.admit(&folders.state, workspaces).map_err(|refused| refused.to_string())?;
        let unsaved = kept.written.get_or_insert_with(|| Unsaved::new(&folders.state, editor));
        unsaved.write(files, SystemTime::now())
    }

    /// Removes the record for good. Blocks.
    pub fn close(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.closed = true;
        if let Some(unsaved) = kept.written.take()
            && let Err(why) = unsaved.write(&[], SystemTime::now())
        {
            tracing::warn!("{why}");
        }
    }
}

/// One document that is to be compared with its file.
struct Look {
    key: String,
    path: PathBuf,
    text: Text,
    /// It was changed here; otherwise it was opened.
    changed: bool,
}

/// What a worker found.
pub struct Compared {
    /// By document, whether it is unsaved.
    found: Vec<(String, bool)>,
    /// Why the record could not be written.
    failed: Option<String>,
}

/// What the session knows of it.
#[derive(Debug, Default)]
pub struct UnsavedFiles {
    /// The documents to compare, and whether they were changed.
    waiting: BTreeMap<String, bool>,
    /// When that is due.
    due: Option<Instant>,
    /// The last comparison.
    last: Option<Instant>,
    /// The documents that a worker compares; one that is saved or closed meanwhile is taken out.
    comparing: BTreeSet<String>,
    running: bool,
    /// The unsaved documents with their files.
    dirty: BTreeMap<String, PathBuf>,
    /// The record is to be written.
    stale: bool,
    renew: Option<Instant>,
    leaving: bool,
    /// What was last said to be wrong.
    said: Option<String>,
}

impl UnsavedFiles {
    /// When there is something to do next.
    pub fn next_due(&self) -> Option<Instant> {
        if self.running { None } else { [self.due, self.renew].into_iter().flatten().min() }
    }

    /// Whether nothing is being written.
    pub fn is_idle(&self) -> bool {
        !self.running && !self.stale && !self.leaving
    }

    /// A document was opened, or changed: it is to be compared.
    pub fn look(&mut self, key: &str, changed: bool, now: Instant) {
        let known = self.dirty.contains_key(key);
        let due = match self.last {
            Some(last) if known => now.max(last + PAUSE),
            _ => now,
        };
        *self.waiting.entry(key.to_owned()).or_default() |= changed;
        self.due = Some(self.due.map_or(due, |former| former.min(due)));
    }

    /// A document was saved or closed.
    pub fn clean(&mut self, key: &str, now: Instant) {
        self.waiting.remove(key);
        self.comparing.remove(key);
        if self.waiting.is_empty() {
            self.due = None;
        }
        if self.dirty.remove(key).is_some() {
            self.write(now);
        }
    }

    fn write(&mut self, now: Instant) {
        self.stale = true;
        self.due = Some(now);
    }
}

impl Session {
    /// Has documents compared and the record written, if either is due.
    pub(super) fn settle_unsaved(&mut self) {
        let now = (self.clock)();
        let unsaved = &mut self.unsaved;
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if unsaved.running || !(unsaved.leaving || is_due(unsaved.due) || is_due(unsaved.renew)) {
            return;
        }
        let Some(folders) = self.engine.folders.clone() else {
            *unsaved = UnsavedFiles::default();
            return;
        };
        let mut looks = Vec::new();
        if is_due(unsaved.due) {
            unsaved.due = None;
            unsaved.last = Some(now);
            for (key, changed) in std::mem::take(&mut unsaved.waiting) {
                let Some(document) = self.documents.get(&key) else { continue };
                let Some(path) = document.resolved.clone() else { continue };
                unsaved.comparing.insert(key.clone());
                looks.push(Look { key, path, text: document.text.clone(), changed });
            }
        }
        let write = (std::mem::take(&mut unsaved.stale) || is_due(unsaved.renew)).then(|| unsaved.files());
        if let Some(files) = &write {
            unsaved.renew = (!files.is_empty()).then_some(now + LASTS.saturating_sub(MARGIN));
        }
        unsaved.running = true;
        let (engine, workspaces) = (self.engine.clone(), self.workspaces.to_paths());
        let (editor, leaving) = (self.profile.name.clone(), unsaved.leaving);
        self.work(move || {
            let work = || {
                if leaving {
                    engine.unsaved.close();
                }
                let found = looks.into_iter().map(|look| (look.key.clone(), look.is_unsaved())).collect();
                let written = write.map(|files| engine.unsaved.write(&folders, &workspaces, &editor, &files));
                Compared { found, failed: written.and_then(Result::err) }
            };
            Event::Compared(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).ok())
        });
    }

    pub(super) fn take_compared(&mut self, compared: Option<Compared>) {
        let now = (self.clock)();
        let unsaved = &mut self.unsaved;
        unsaved.running = false;
        unsaved.leaving = false;
        let comparing = std::mem::take(&mut unsaved.comparing);
        let Some(compared) = compared else {
            tracing::error!("comparing texts with their files panicked");
            return;
        };
        for (key, is_unsaved) in compared.found.into_iter().filter(|(key, _)| comparing.contains(key)) {
            let path = self.documents.get(&key).and_then(|document| document.resolved.clone());
            let changed = match path.filter(|_| is_unsaved) {
                Some(path) => unsaved.dirty.insert(key, path).is_none(),
                None => unsaved.dirty.remove(&key).is_some(),
            };
            if changed {
                unsaved.write(now);
            }
        }
        if let Some(why) = compared.failed.filter(|why| unsaved.said.as_ref() != Some(why)) {
            tracing::warn!("what is unsaved cannot be told to hooks: {why}");
            unsaved.said = Some(why);
        }
    }

    /// The editor is about to go: the record is removed.
    pub(super) fn leave(&mut self) {
        self.unsaved.leaving = true;
    }
}

impl UnsavedFiles {
    fn files(&self) -> Vec<PathBuf> {
        let files: BTreeSet<&PathBuf> = self.dirty.values().collect();
        files.into_iter().take(MOST).cloned().collect()
    }
}

impl Look {
    /// Whether the text is another than that on disk. What cannot be compared counts as unsaved once it was changed.
    fn is_unsaved(&self) -> bool {
        match on_disk(&self.path) {
            Ok(disk) => !is_same(&self.text.text, disk.as_deref().unwrap_or_default()),
            Err(()) => self.changed,
        }
    }
}

/// The text of a file; an error where it cannot be read as the editor reads it.
fn on_disk(path: &Path) -> Result<Option<String>, ()> {
    match system::open::read_judged(path) {
        // Bytes that are no UTF-8 were replaced: the editor has its own idea of them.
        Ok(Some(text)) if text.contains('\u{fffd}') => Err(()),
        Ok(text) => Ok(text),
        Err(error) => {
            tracing::debug!("{error}");
            Err(())
        }
    }
}

/// Whether an editor that holds one text would say that it is the other: editors drop a byte order mark, have line ends
/// of their own and add one at the end.
fn is_same(held: &str, disk: &str) -> bool {
    if held == disk {
        return true;
    }
    lines_of(held).eq(lines_of(disk))
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    syntax::lines::lines(text).map(|line| &text[line.span])
}
