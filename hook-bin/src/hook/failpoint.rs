//! Faults on demand, for tests of what happens when the engine fails. Not in a release build: no variable reaches it.

/// Fails here if the test that started this process asked for it.
#[cfg(debug_assertions)]
pub fn reach(place: &str) {
    let asked = std::env::var("RULELINE_TEST_FAIL").unwrap_or_default();
    match asked.split_once('@') {
        Some(("panic", at)) if at == place => panic!("a fault was asked for"),
        Some(("hang", at)) if at == place => std::thread::sleep(std::time::Duration::from_secs(3600)),
        _ => {}
    }
}

/// Nothing.
#[cfg(not(debug_assertions))]
pub fn reach(_place: &str) {}

/// The home folder that a test gives this process.
#[cfg(debug_assertions)]
pub fn home() -> Option<std::path::PathBuf> {
    std::env::var_os("RULELINE_TEST_HOME").map(Into::into)
}

/// None.
#[cfg(not(debug_assertions))]
pub fn home() -> Option<std::path::PathBuf> {
    None
}
