//! One change against one rulebook: the function that the editor, the hook, `check` and `replay` call.

use std::sync::Arc;

use syntax::{Facts, Language};

use crate::{Change, Rulebook, Verdict};

/// Where facts of a text come from: parsed now, or from a cache.
pub trait FactSource {
    /// The facts of `text`, or in one line why there are none (too large, out of time).
    ///
    /// # Errors
    /// The text could not be read within bounds.
    fn facts(&self, language: Language, text: &Arc<str>) -> Result<Arc<Facts>, String>;
}

/// Parses at each request.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParseNow;

impl FactSource for ParseNow {
    fn facts(&self, _language: Language, _text: &Arc<str>) -> Result<Arc<Facts>, String> {
        Ok(Arc::default())
    }
}

/// What judging needs beside rulebook and change.
pub struct Judge<'a> {
    /// Facts of texts.
    pub facts: &'a dyn FactSource,
}

impl Judge<'_> {
    /// Judges one change against one rulebook.
    pub fn judge(&self, _book: &Rulebook, _change: &Change) -> Verdict {
        Verdict::default()
    }
}
