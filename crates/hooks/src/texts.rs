//! Paths and counts as sentences of this crate show them.

use std::path::Path;

use rules::plain::{PATH, plain};

/// A path in one line, escaped.
pub(crate) fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy(), PATH)
}

/// `1 file`, `3 files`.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
