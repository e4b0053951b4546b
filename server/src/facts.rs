//! The one store of facts: what is known of a text, keyed by the text's digest.
//!
//! Diagnostics and the socket both ask here, so that one content is parsed once whoever asks; [`FactStore::parses`]
//! counts. Trees are not kept: reading a text anew costs no more than mending a tree. Knows texts and languages, nothing of
//! documents, files or LSP. Bounded in bytes: the least recently used goes first.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rules::FactSource;
use syntax::{Argument, Call, Definition, Facts, Import, Language, Limits, Span, Tree, Use};

/// About how many bytes of facts and texts are kept.
const BUDGET: usize = 16 << 20;

/// Names a text: SHA-256 of its bytes.
pub type Digest = [u8; 32];
type Key = (Language, Digest);
type Outcome = Result<Parsed, String>;

#[derive(Clone)]
struct Parsed {
    text: Arc<str>,
    facts: Arc<Facts>,
}

/// Filled by whoever asks first; the others wait for it.
type Cell = Arc<OnceLock<Outcome>>;

struct Slot {
    cell: Cell,
    used: u64,
    bytes: usize,
}

#[derive(Default)]
struct Kept {
    slots: HashMap<Key, Slot>,
    /// The keys from the least recently used on.
    order: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

impl Kept {
    fn cell(&mut self, key: Key) -> Cell {
        self.clock += 1;
        let slot = self.slots.entry(key).or_insert(Slot { cell: Cell::default(), used: 0, bytes: 0 });
        self.order.remove(&slot.used);
        slot.used = self.clock;
        self.order.insert(self.clock, key);
        slot.cell.clone()
    }

    fn remove(&mut self, key: Key) -> Option<Slot> {
        let slot = self.slots.remove(&key)?;
        self.order.remove(&slot.used);
        self.bytes -= slot.bytes;
        Some(slot)
    }

    /// Says what a key's entry weighs, and lets go of others until all fit; the newest stays whatever it weighs.
    fn weigh(&mut self, key: Key, bytes: usize, budget: usize) {
        if let Some(slot) = self.slots.get_mut(&key) {
            self.bytes = self.bytes - slot.bytes + bytes;
            slot.bytes = bytes;
        }
        while self.bytes > budget && self.order.len() > 1 {
            let Some((_, oldest)) = self.order.pop_first() else {
                return;
            };
            self.bytes -= self.slots.remove(&oldest).map_or(0, |slot| slot.bytes);
        }
    }
}

/// Facts by content, shared by all threads.
pub struct FactStore {
    kept: Mutex<Kept>,
    parses: AtomicU64,
    budget: usize,
}

impl Default for FactStore {
    fn default() -> FactStore {
        FactStore::with_budget(BUDGET)
    }
}

impl FactStore {
    /// A store that keeps about this many bytes.
    pub fn with_budget(budget: usize) -> FactStore {
        FactStore { kept: Mutex::default(), parses: AtomicU64::new(0), budget }
    }

    /// How often a text was parsed.
    pub fn parses(&self) -> u64 {
        self.parses.load(Ordering::Relaxed)
    }

    /// The text with this digest, if it was parsed and is still kept.
    pub fn text(&self, digest: Digest) -> Option<Arc<str>> {
        let cell = self.lock().slots.get(&(Language::Python, digest))?.cell.clone();
        cell.get()?.as_ref().ok().map(|parsed| parsed.text.clone())
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Lets go of what is known of a text that nobody has any more, such as a document's former state.
    pub fn forget(&self, digest: Digest) {
        let slot = self.lock().remove((Language::Python, digest));
        // Freed with the lock given back.
        drop(slot);
    }

    /// A source of facts that digests each text once, and tells its digest.
    pub fn telling(&self) -> Telling<'_> {
        Telling { store: self, asked: RefCell::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, language: Language, text: &Arc<str>, digest: Digest) -> Result<Arc<Facts>, String> {
        let key = (language, digest);
        let cell = self.lock().cell(key);
        let mut fresh = false;
        let outcome = cell.get_or_init(|| {
            fresh = true;
            self.parses.fetch_add(1, Ordering::Relaxed);
            parse(language, text)
        });
        if fresh {
            self.lock().weigh(key, outcome.as_ref().map_or(text.len(), weight), self.budget);
        }
        outcome.as_ref().map(|parsed| parsed.facts.clone()).map_err(Clone::clone)
    }
}

impl FactSource for FactStore {
    fn facts(&self, language: Language, text: &Arc<str>) -> Result<Arc<Facts>, String> {
        self.get(language, text, system::digest::sha256(text.as_bytes()))
    }
}

/// See [`FactStore::telling`].
pub struct Telling<'a> {
    store: &'a FactStore,
    asked: RefCell<Vec<Asked>>,
}

/// An answer, kept so that a text asked for again is not digested again.
struct Asked {
    language: Language,
    text: Arc<str>,
    digest: Digest,
    facts: Arc<Facts>,
}

impl Telling<'_> {
    /// The digest of a text whose facts were given out here.
    pub fn digest_of(&self, text: &Arc<str>) -> Option<Digest> {
        self.asked.borrow().iter().find(|asked| Arc::ptr_eq(&asked.text, text)).map(|asked| asked.digest)
    }
}

impl FactSource for Telling<'_> {
    fn facts(&self, language: Language, text: &Arc<str>) -> Result<Arc<Facts>, String> {
        let mut asked = self.asked.borrow_mut();
        if let Some(known) = asked.iter().find(|known| known.language == language && Arc::ptr_eq(&known.text, text)) {
            return Ok(known.facts.clone());
        }
        let digest = system::digest::sha256(text.as_bytes());
        let facts = self.store.get(language, text, digest)?;
        asked.push(Asked { language, text: text.clone(), digest, facts: facts.clone() });
        Ok(facts)
    }
}

fn parse(language: Language, text: &Arc<str>) -> Outcome {
    let tree = Tree::parse(language, text, &Limits::default()).map_err(|stop| stop.to_string())?;
    Ok(Parsed { text: text.clone(), facts: Arc::new(tree.facts(text)) })
}

/// About how many bytes an entry keeps alive.
fn weight(parsed: &Parsed) -> usize {
    let Facts { calls, uses, definitions, imports, comments, strings, errors } = &*parsed.facts;
    let names = |names: &[String], bindings: &[Span]| names.len() * 40 + size_of_val(bindings);
    parsed.text.len()
        + calls.len() * size_of::<Call>()
        + calls.iter().map(|call| names(&call.names, &call.bindings)).sum::<usize>()
        + calls.iter().map(|call| call.arguments.len() * size_of::<Argument>()).sum::<usize>()
        + uses.len() * size_of::<Use>()
        + uses.iter().map(|name| names(&name.names, &name.bindings)).sum::<usize>()
        + definitions.len() * (size_of::<Definition>() + 40)
        + imports.len() * (size_of::<Import>() + 120)
        + (comments.len() + strings.len() + errors.len()) * size_of::<Span>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Digest {
        system::digest::sha256(text.as_bytes())
    }

    fn ask(source: &dyn FactSource, text: &str) -> Arc<Facts> {
        source.facts(Language::Python, &Arc::from(text)).unwrap()
    }

    #[test]
    fn one_content_is_parsed_once_whoever_asks() {
        let store = FactStore::default();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| ask(&store, "eval(1)\n"));
            }
        });
        assert_eq!(ask(&store.telling(), "eval(1)\n").calls.len(), 1);
        assert_eq!(store.parses(), 1);
        ask(&store, "eval(2)\n");
        assert_eq!(store.parses(), 2);
    }

    #[test]
    fn the_store_is_bounded_and_the_least_used_goes_first() {
        let store = FactStore::with_budget(40_000);
        let text = |number: usize| format!("x = {number}  # {}\n", "-".repeat(1000));
        for number in 0..100 {
            ask(&store, &text(number));
            ask(&store, &text(0));
            assert!(store.bytes() <= 40_000, "{}", store.bytes());
        }
        assert_eq!(store.parses(), 100);
        ask(&store, &text(1));
        assert_eq!(store.parses(), 101);
    }

    #[test]
    fn a_forgotten_text_weighs_nothing_and_is_parsed_again() {
        let store = FactStore::default();
        ask(&store, "eval(1)\n");
        let one = store.bytes();
        ask(&store, "eval(2)\n");
        store.forget(digest("eval(1)\n"));
        store.forget(digest("never known"));
        assert_eq!(store.bytes(), one);
        ask(&store, "eval(1)\n");
        assert_eq!(store.parses(), 3);
    }

    #[test]
    fn a_text_over_the_limit_has_no_facts_and_says_why() {
        let store = FactStore::default();
        let text: Arc<str> = "x".repeat(Limits::default().bytes + 1).into();
        assert!(store.facts(Language::Python, &text).unwrap_err().contains("limit"));
    }
}
