//! What stands at a path, looked at once for one decision.
//!
//! A decision asks again and again for the same folders: those above a file, a root and the user's own. Within [`once`]
//! what was there at the first look counts as there. What was not there is looked for again each time, so that nothing
//! that is made meanwhile goes unseen. Outside of it each look is a new one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use foldhash::fast::RandomState;

type Known = HashMap<OsString, Metadata, RandomState>;

thread_local! {
    static KNOWN: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// Forgets what was seen when it ends, also by a panic.
struct Forget(Option<Known>);

impl Drop for Forget {
    fn drop(&mut self) {
        KNOWN.set(self.0.take());
    }
}

/// Does the work of one decision on this thread.
pub fn once<T>(work: impl FnOnce() -> T) -> T {
    let _forget = Forget(KNOWN.replace(Some(Known::default())));
    work()
}

/// What stands at `path`, which is not followed if it is a link.
///
/// # Errors
/// As of [`fs::symlink_metadata`].
pub fn at(path: &Path) -> io::Result<Metadata> {
    let known = KNOWN.with_borrow(|known| known.as_ref()?.get(path.as_os_str()).cloned());
    if let Some(known) = known {
        return Ok(known);
    }
    let found = fs::symlink_metadata(path)?;
    KNOWN.with_borrow_mut(|known| {
        if let Some(known) = known {
            known.insert(path.as_os_str().to_owned(), found.clone());
        }
    });
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_there_is_looked_at_once_and_what_does_not_each_time() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("a");
        once(|| {
            assert!(at(&file).is_err());
            fs::write(&file, "12").unwrap();
            assert_eq!(at(&file).unwrap().len(), 2);
            fs::write(&file, "123").unwrap();
            assert_eq!(at(&file).unwrap().len(), 2);
            once(|| assert_eq!(at(&file).unwrap().len(), 3));
            assert_eq!(at(&file).unwrap().len(), 2);
        });
        assert_eq!(at(&file).unwrap().len(), 3);
        let _ = std::panic::catch_unwind(|| once(|| at(&file).map(|_| panic!("on purpose"))));
        fs::write(&file, "1234").unwrap();
        assert_eq!(at(&file).unwrap().len(), 4);
    }
}
