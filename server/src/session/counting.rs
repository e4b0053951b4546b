//! Counting what each rule finds in the workspace, for the lenses of rulebooks.
//!
//! Nothing is counted before a lens is seen. One count at a time is made for a rulebook, by a worker that nothing else
//! waits for; it is stopped when the lenses are asked for anew or the rulebooks changed, and keeps what it came to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rules::plain::{PATH, plain};
use serde_json::json;
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::features::actions::plain_id;
use crate::features::counts::{self, Bounds, Count, Counted, Known, Lens, Scope};
use crate::features::own::OwnFile;
use crate::features::reviews::Reviews;
use crate::session::Session;
use crate::session::editor::Place;
use crate::session::event::{Event, Reply};
use crate::text::Text;

/// What is said where there is nothing to count.
const NOT_COUNTED: &str = "not counted: no such rulebook is saved here";

/// The lenses over a rulebook.
pub struct Lenses {
    /// Which asking they are of.
    pub asked: u64,
    /// The text they stand in.
    pub text: Text,
    /// Over each rule.
    pub all: Vec<Lens>,
}

/// Whoever waits for a count.
pub enum Waiter {
    /// A lens.
    Lens {
        /// The rule.
        rule: String,
        /// What the rule says where the lens stands.
        says: String,
        /// Which asking it is of.
        asked: u64,
        /// Gets the title; none when the lenses were asked for anew.
        reply: oneshot::Sender<Option<String>>,
    },
    /// A person who wants to see the findings.
    Listing {
        /// The rule.
        rule: String,
        /// Gets what was opened.
        reply: Reply,
    },
}

/// The counts of the rulebooks whose lenses were asked for.
#[derive(Default)]
pub struct Counting {
    books: HashMap<PathBuf, OfBook>,
    last_asked: u64,
    /// How many files were judged.
    pub judged: u64,
    /// What was shown may not hold any more: the client is to ask again.
    outdated: bool,
}

#[derive(Default)]
struct OfBook {
    /// The last asking for lenses.
    asked: u64,
    known: Known,
    /// The count on its way; set to stop it.
    running: Option<Arc<AtomicBool>>,
    /// The count of the last asking.
    counted: Option<Arc<Counted>>,
    waiting: Vec<Waiter>,
}

impl OfBook {
    fn stop(&mut self) {
        if let Some(stopped) = &self.running {
            stopped.store(true, Ordering::Relaxed);
        }
        self.counted = None;
    }
}

impl Counting {
    /// The files changed: what was counted may be another number now.
    pub fn outdate(&mut self) {
        self.outdated |= self.books.values().any(|book| book.counted.is_some());
    }

    /// The rulebooks changed: what is being counted is of the past.
    pub fn restart(&mut self) {
        self.outdate();
        self.books.values_mut().for_each(OfBook::stop);
    }

    /// Whether the client is to ask again; told once.
    pub fn take_outdated(&mut self) -> bool {
        std::mem::take(&mut self.outdated)
    }

    /// The rulebook at a path is not open any more.
    pub fn forget(&mut self, path: &Path) {
        if let Some(mut book) = self.books.remove(path) {
            book.stop();
        }
    }
}

impl Session {
    /// The lenses of a rulebook are asked for.
    pub(super) fn ask_lenses(&mut self, path: &Path, text: &Text, reply: oneshot::Sender<Lenses>) {
        self.counting.last_asked += 1;
        let asked = self.counting.last_asked;
        let book = self.counting.books.entry(path.to_path_buf()).or_default();
        book.asked = asked;
        book.stop();
        // Lenses of before are shown nowhere any more.
        for waiter in std::mem::take(&mut book.waiting) {
            match waiter {
                Waiter::Lens { reply, .. } => drop(reply.send(None)),
                Waiter::Listing { .. } => book.waiting.push(waiter),
            }
        }
        let (engine, path, text, scope) = (self.engine.clone(), path.to_path_buf(), text.clone(), self.scope_of(path));
        self.answer(move || {
            let all = match scope() {
                Some(_) => counts::lenses(&engine.rulebooks.content(&path, text.text.as_bytes().to_vec())),
                None => Vec::new(),
            };
            let _ = reply.send(Lenses { asked, text, all });
        });
    }

    /// Somebody wants the count of a rulebook that is open or was found in the workspace.
    pub(super) fn want_count(&mut self, path: &Path, waiter: Waiter) {
        let path = system::paths::resolve(path);
        let is_rulebook = matches!(OwnFile::of(&path, self.user_folder()), Some(OwnFile::Rulebook(_)));
        let is_open = self.documents.values().any(|document| document.resolved.as_deref() == Some(&*path));
        if !is_rulebook || !is_open && !self.engine.rulebooks.files().iter().any(|(known, _)| *known == path) {
            return refuse(waiter, NOT_COUNTED);
        }
        let book = self.counting.books.entry(path.clone()).or_default();
        match (waiter, &book.counted) {
            (Waiter::Lens { asked, reply, .. }, _) if asked != book.asked => drop(reply.send(None)),
            (waiter, Some(counted)) => {
                let counted = counted.clone();
                self.serve(&path, waiter, &counted);
            }
            (waiter, None) => {
                book.waiting.push(waiter);
                if book.running.is_none() {
                    self.start_counting(path);
                }
            }
        }
    }

    /// What the scope of a rulebook is, to be found out by a worker.
    fn scope_of(&self, path: &Path) -> impl FnOnce() -> Option<Scope> + Send + 'static {
        let (engine, path, workspaces) = (self.engine.clone(), path.to_path_buf(), self.workspaces.to_paths());
        let asks_git = self.settings.trusted == Some(true);
        move || Scope::of(&path, user_folder(&engine, &workspaces), &workspaces, asks_git)
    }

    fn start_counting(&mut self, path: PathBuf) {
        let (engine, scope, events) = (self.engine.clone(), self.scope_of(&path), self.events.clone());
        let Some(book) = self.counting.books.get_mut(&path) else { return };
        let stopped = Arc::new(AtomicBool::new(false));
        book.running = Some(stopped.clone());
        let known = std::mem::take(&mut book.known);
        self.counters.run(move || {
            let work = || match scope() {
                Some(scope) => counts::count(&engine, &scope, known, Bounds::default(), &stopped),
                None => Count::default(),
            };
            // Whoever waits is told that there is no count.
            let count = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_default();
            if let Some(events) = events.upgrade() {
                let _ = events.send(Event::Counted { path, count, stopped });
            }
        });
    }

    /// A worker is done; `stopped` tells which count it made.
    pub(super) fn take_count(&mut self, path: PathBuf, count: Count, stopped: &Arc<AtomicBool>) {
        self.counting.judged += count.judged;
        let of_now = |book: &&mut OfBook| book.running.as_ref().is_some_and(|running| Arc::ptr_eq(running, stopped));
        let Some(book) = self.counting.books.get_mut(&path).filter(of_now) else { return };
        book.running = None;
        book.known = count.known;
        if stopped.load(Ordering::Relaxed) {
            if !book.waiting.is_empty() {
                self.start_counting(path);
            }
            return;
        }
        let waiting = std::mem::take(&mut book.waiting);
        book.counted = count.counted.map(Arc::new);
        let counted = book.counted.clone();
        for waiter in waiting {
            match &counted {
                Some(counted) => self.serve(&path, waiter, counted),
                None => refuse(waiter, NOT_COUNTED),
            }
        }
    }

    fn serve(&self, path: &Path, waiter: Waiter, counted: &Arc<Counted>) {
        match waiter {
            Waiter::Lens { rule, says, reply, .. } => drop(reply.send(Some(counted.title(&rule, &says)))),
            Waiter::Listing { rule, reply } => {
                let (engine, workspaces) = (self.engine.clone(), self.workspaces.to_paths());
                let (path, counted) = (path.to_path_buf(), counted.clone());
                self.work(move || Event::Listed { made: list(&engine, &workspaces, &path, &rule, &counted), reply });
            }
        }
    }

    /// A worker has written a text of findings.
    pub(super) fn take_listing(&self, made: Result<Listing, String>, reply: Reply) {
        let answer = made.map_err(|why| format!("Ruleline: {why}")).map(|Listing { rule, file, text }| {
            let shown = plain(&system::paths::shown(&file), PATH);
            let said = format!("The findings of rule {} stand in {shown}", plain_id(&rule));
            let text = Text::new(text);
            let place = Place { path: Arc::from(&*file), span: text.line(0), text, otherwise: said.clone() };
            self.editor.open(place);
            json!({"message": said, "file": system::paths::shown(&file)})
        });
        let _ = reply.send(answer);
    }
}

/// A text of findings that can be opened.
pub struct Listing {
    /// Of this rule.
    rule: String,
    file: PathBuf,
    text: String,
}

fn list(engine: &Engine, open: &[PathBuf], path: &Path, rule: &str, counted: &Counted) -> Result<Listing, String> {
    let folders = engine.folders.as_ref().ok_or("this user's folders are not known")?;
    let gone = || format!("there is no rule {} in that rulebook any more", plain_id(rule));
    let text = counted.listing(rule).ok_or_else(gone)?;
    let of = [b"findings", path.as_os_str().as_encoded_bytes(), rule.as_bytes()].join(&0);
    let file = Reviews::show_text(folders, open, &of, &text)?;
    Ok(Listing { rule: rule.to_owned(), file, text })
}

fn refuse(waiter: Waiter, why: &str) {
    match waiter {
        Waiter::Lens { reply, .. } => drop(reply.send(Some(why.to_owned()))),
        Waiter::Listing { reply, .. } => drop(reply.send(Err(format!("Ruleline: {why}")))),
    }
}

/// The user's folder, where it may be used.
fn user_folder<'e>(engine: &'e Engine, workspaces: &[PathBuf]) -> Option<&'e Path> {
    let folders = engine.folders.as_ref().filter(|folders| folders.admit(&folders.user, workspaces).is_ok())?;
    Some(&folders.user)
}
