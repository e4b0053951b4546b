//! Which names a file of hooks may have: those that mean one file, and the same file, on every system.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};

use unicode_normalization::UnicodeNormalization as _;

/// The name as text.
///
/// # Errors
/// What is wrong with it.
pub(super) fn plain_name(name: &OsStr) -> Result<&str, &'static str> {
    let Some(text) = name.to_str() else { return Err("its name is not UTF-8") };
    if text.chars().any(|it| it.is_control() || rules::plain::is_hidden(it)) {
        return Err("its name holds control or invisible characters");
    }
    if text.contains('\\') {
        return Err("its name holds a backslash, which is a separator on Windows");
    }
    if !system::paths::names::is_kept_as_written(name) {
        return Err("its name is a device, a stream or another spelling on Windows");
    }
    Ok(text)
}

/// Two of these names that are one on a file system that ignores case or how letters are composed.
pub(super) fn colliding(names: &[OsString]) -> Option<(&OsStr, &OsStr)> {
    let mut known = HashMap::with_capacity(names.len());
    names.iter().find_map(|name| known.insert(folded(&name.to_string_lossy()), name).map(|other| (&**other, &**name)))
}

/// As far as any file system folds: composed, and in the lower case of the upper case, which makes `ß` `ss`.
fn folded(name: &str) -> String {
    let upper: String = name.nfd().flat_map(char::to_uppercase).collect();
    upper.nfd().flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t14_names_that_are_another_file_elsewhere_are_refused() {
        for name in [
            "a\u{1b}[31m",
            "a\nb",
            "a\u{202e}hs.",
            "a\u{200b}",
            "a\\b",
            "a:b",
            "a.sh:$DATA",
            "a.",
            "a ",
            "con",
            "NUL.sh",
            "com1",
            "lpt9.txt",
            "aux",
        ] {
            assert!(plain_name(OsStr::new(name)).is_err(), "{name:?}");
        }
        for name in ["guard.sh", ".hidden", "a b.sh", "ä", "漢.sh", "console.sh", "-x", "~1"] {
            assert_eq!(plain_name(OsStr::new(name)), Ok(name));
        }
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            assert!(plain_name(OsStr::from_bytes(b"a\xff")).is_err());
        }
    }

    #[test]
    fn t14_names_that_are_one_elsewhere_collide() {
        let collide = |one: &str, other: &str| colliding(&[one.into(), "between".into(), other.into()]).is_some();
        for (one, other) in [
            ("guard.sh", "Guard.sh"),
            ("\u{e4}.sh", "a\u{308}.sh"),
            ("\u{c4}.sh", "a\u{308}.sh"),
            ("\u{df}", "SS"),
            ("\u{212a}", "k"),
            ("\u{17f}", "S"),
            ("\u{3c3}", "\u{3c2}"),
        ] {
            assert!(collide(one, other), "{one} {other}");
        }
        assert!(!collide("guard.sh", "guard.ps1"));
    }
}
