//! Names as Windows takes them: dots and blanks at the end are dropped, `:` begins a stream, some are devices.
//!
//! Nothing is looked at on the disk.

use std::ffi::{OsStr, OsString};

/// Whether a file of this name is kept under this name and no other, and is no device.
pub fn is_kept_as_written(name: &OsStr) -> bool {
    kept(name) == name && !is_device(name)
}

/// The name of the file that a name leads to.
pub(crate) fn kept(name: &OsStr) -> OsString {
    let Some(text) = name.to_str() else { return name.to_owned() };
    let kept = text.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    if kept.is_empty() { name.to_owned() } else { kept.into() }
}

fn is_device(name: &OsStr) -> bool {
    let Some(text) = name.to_str() else { return false };
    let stem = text.split(['.', ':']).next().unwrap_or_default().trim_end().to_ascii_lowercase();
    match stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt")) {
        Some(port) => {
            matches!(port, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "\u{b9}" | "\u{b2}" | "\u{b3}")
        }
        None => matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_other_spellings_of_a_name_lead_to_the_same_file() {
        for (name, expected) in [
            ("rules.toml", "rules.toml"),
            (".ruleline", ".ruleline"),
            (".ruleline.", ".ruleline"),
            (".ruleline. .", ".ruleline"),
            ("rules.toml::$DATA", "rules.toml"),
            ("rules.toml:other", "rules.toml"),
            ("rules.toml .:x", "rules.toml"),
            ("a b.c", "a b.c"),
        ] {
            assert_eq!(kept(OsStr::new(name)), expected, "{name}");
            assert_eq!(is_kept_as_written(OsStr::new(name)), name == expected, "{name}");
        }
    }

    #[test]
    fn s16_devices_are_no_files_in_any_folder() {
        for name in ["con", "NUL", "nul.txt", "Aux .py", "COM1", "lpt9.log", "com\u{b2}", "CONIN$"] {
            assert!(!is_kept_as_written(OsStr::new(name)), "{name}");
        }
        for name in ["console", "null.py", "com", "com10", "comx.py", "lpt", "auxiliary"] {
            assert!(is_kept_as_written(OsStr::new(name)), "{name}");
        }
    }
}
