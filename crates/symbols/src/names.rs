//! Dotted names: their parts, the names of modules, and when two names are of the same thing.
//!
//! A person, an agent and each language write them differently (`a.b.C`, `a::b::C`, `a/b#C`); here they are parts.

/// What stands between the parts of a name, in any language.
const BETWEEN: [char; 5] = ['.', ':', '/', '#', '\\'];

/// The parts of a name, however it is written; empty ones left out.
pub fn parts(name: &str) -> Vec<&str> {
    name.split(BETWEEN).filter(|part| !part.is_empty() && *part != "?").collect()
}

/// The parts of the module that a file is: its path without the extension, and without the names that stand for the
/// folder they are in.
pub fn module(path: &str) -> Vec<&str> {
    let stem = match path.rsplit_once('/').map_or(path, |(_, name)| name).rsplit_once('.') {
        Some((_, extension)) => &path[..path.len() - extension.len() - 1],
        None => path,
    };
    let mut parts: Vec<&str> = stem.split('/').filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 && matches!(parts.last(), Some(&("__init__" | "mod" | "lib" | "main" | "index"))) {
        parts.pop();
    }
    parts
}

/// How many parts at the end of `name` are those at the end of `full`; none unless all of `name`'s are, or all of
/// `full`'s.
pub fn agreement(name: &[&str], full: &[&str]) -> Option<usize> {
    let same = name.iter().rev().zip(full.iter().rev()).take_while(|(one, other)| one == other).count();
    (same > 0 && (same == name.len() || same == full.len())).then_some(same)
}

/// The absolute parts of what a file of this path imports as `name`, whose leading dots are folders upwards; none where
/// they lead out of the root.
pub fn imported<'n>(path: &'n str, name: &'n str) -> Option<Vec<&'n str>> {
    let dots = name.bytes().take_while(|byte| *byte == b'.').count();
    let own = parts(&name[dots..]);
    if dots == 0 {
        return Some(own);
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut all: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    all.truncate(all.len().checked_sub(dots - 1)?);
    all.extend(own);
    Some(all)
}

/// Whether a text is one name as every language here writes it: letters, digits and `_`, not beginning with a digit.
pub fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first == '_' || first == '$' || first.is_alphabetic())
        && letters.all(is_identifier_part)
}

/// Whether a letter may stand in a name.
pub fn is_identifier_part(letter: char) -> bool {
    letter == '_' || letter == '$' || letter.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parts_however_they_are_written() {
        for name in ["a.b.C", "a::b::C", "a/b#C", "?.a.b.C", "a.b::C", ".a.b.C"] {
            assert_eq!(parts(name), ["a", "b", "C"], "{name}");
        }
        assert!(parts("..").is_empty());
    }

    #[test]
    fn a_file_is_a_module() {
        for (path, expected) in [
            ("a/b.py", &["a", "b"][..]),
            ("a/__init__.py", &["a"]),
            ("__init__.py", &["__init__"]),
            ("src/lib.rs", &["src"]),
            ("a.b/c", &["a.b", "c"]),
            ("web/x.test.ts", &["web", "x.test"]),
        ] {
            assert_eq!(module(path), expected, "{path}");
        }
    }

    #[test]
    fn names_agree_from_their_ends() {
        let full = ["pkg", "mod", "C", "m"];
        for (name, same) in [
            ("m", Some(1)),
            ("C.m", Some(2)),
            ("pkg.mod.C.m", Some(4)),
            ("top.pkg.mod.C.m", Some(4)),
            ("D.m", None),
            ("C", None),
        ] {
            assert_eq!(agreement(&parts(name), &full), same, "{name}");
        }
    }

    #[test]
    fn relative_imports_go_up_from_their_file() {
        for (path, name, expected) in [
            ("a/b/c.py", ".d.f", Some(vec!["a", "b", "d", "f"])),
            ("a/b/c.py", "..d", Some(vec!["a", "d"])),
            ("a/b/c.py", "...d", Some(vec!["d"])),
            ("a/b/c.py", "....d", None),
            ("c.py", "os.path", Some(vec!["os", "path"])),
        ] {
            assert_eq!(imported(path, name), expected, "{path} {name}");
        }
    }

    #[test]
    fn an_identifier_is_one_name() {
        for (text, expected) in
            [("a", true), ("_b2", true), ("é", true), ("2a", false), ("a b", false), ("", false), ("a\u{202e}", false)]
        {
            assert_eq!(is_identifier(text), expected, "{text:?}");
        }
    }
}
