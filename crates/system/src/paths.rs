//! Paths and their spellings: as an agent wrote them, with links resolved, relative to a root.
//!
//! The written form is purely lexical; resolving looks at the disk but opens nothing, and works for files that do not
//! exist yet, also behind dangling links. Whether two spellings mean one file is the caller's question.

pub mod names;
#[cfg(windows)]
pub(crate) mod windows;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf, Prefix, PrefixComponent};
use std::{fs, io};

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::looks;
#[cfg(windows)]
pub use windows::identity;

/// How many links one path may lead through, as in Linux.
const LINKS: usize = 40;
/// How many components are looked at; the system allows fewer in any path it opens.
const COMPONENTS: usize = 4096;

/// The absolute path an agent means by `text`: backslashes are separators, `~/` is `home`, `.` and `..` are resolved
/// lexically, and a Windows drive is, but on Windows, its mount below `/mnt` where there is one.
pub fn written(text: &str, cwd: &Path, home: &Path) -> PathBuf {
    normalize(&spelled_out(text, cwd, home))
}

/// The file that the system opens for `text`, which follows a link before it takes the `..` behind it. Some agents do
/// as the system does, others resolve `..` first; none where both mean one file.
pub fn other_meaning(text: &str, cwd: &Path, home: &Path) -> Option<PathBuf> {
    if !text.contains("..") {
        return None;
    }
    let spelled = spelled_out(text, cwd, home);
    let followed = resolve(&spelled);
    (followed != resolve(&normalize(&spelled))).then_some(followed)
}

fn spelled_out(text: &str, cwd: &Path, home: &Path) -> PathBuf {
    let text = if text.contains('\\') { text.replace('\\', "/") } else { text.to_owned() };
    if let Some(rest) = text.strip_prefix("~/") {
        return home.join(rest);
    }
    if let Some((drive, rest)) = windows_drive(&text) {
        let mount = PathBuf::from(if cfg!(windows) { format!("{drive}:/") } else { format!("/mnt/{drive}") });
        if mount.is_dir() {
            return mount.join(rest);
        }
    }
    cwd.join(text)
}

fn windows_drive(text: &str) -> Option<(char, &str)> {
    let text = text.strip_prefix("//?/").unwrap_or(text);
    let (drive, rest) = text.split_once(':')?;
    let letter = drive.chars().next().filter(|letter| drive.len() == 1 && letter.is_ascii_alphabetic())?;
    Some((letter.to_ascii_lowercase(), rest.strip_prefix('/')?.trim_start_matches('/')))
}

/// `path` against the process' working folder, normalised.
pub fn absolute(path: &Path) -> PathBuf {
    if path.is_absolute() {
        return normalize(path);
    }
    normalize(&std::env::current_dir().unwrap_or_default().join(path))
}

/// Drops `.` and resolves `..` lexically; a `..` at the root stays there.
pub fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Prefix(prefix) => plain.push(usual(prefix)),
            Component::ParentDir => {
                if !plain.pop() && !path.has_root() {
                    plain.push("..");
                }
            }
            other => plain.push(other),
        }
    }
    plain
}

/// A Windows drive in its usual spelling: `C:` for `\\?\C:`.
fn usual(prefix: PrefixComponent<'_>) -> PathBuf {
    match prefix.kind() {
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => format!("{}:", char::from(letter)).into(),
        _ => prefix.as_os_str().into(),
    }
}

/// Whether a path of Windows starts at a share or device, which may be another name of any file; false elsewhere.
pub fn is_on_a_share(path: &Path) -> bool {
    matches!(path.components().next(), Some(Component::Prefix(prefix))
        if !matches!(prefix.kind(), Prefix::Disk(_) | Prefix::VerbatimDisk(_)))
}

/// Where an absolute path starts: `/`, on Windows on its drive or share.
fn start(path: &Path) -> PathBuf {
    let mut start = match path.components().next() {
        Some(Component::Prefix(prefix)) => usual(prefix),
        _ => PathBuf::new(),
    };
    start.push("/");
    start
}

/// The path with every link resolved as the system would, as far as it exists; what does not exist yet is kept as it
/// is. A dangling link resolves to where a write through it would land.
pub fn resolve(path: &Path) -> PathBuf {
    let mut pending: Vec<OsString> = components_reversed(path);
    let mut resolved = start(path);
    let mut links = 0;
    let mut steps = 0;
    let mut is_there = true;
    while let Some(name) = pending.pop() {
        steps += 1;
        if name == ".." {
            resolved.pop();
            is_there = true;
            continue;
        }
        resolved.push(&name);
        if !is_there || steps > COMPONENTS || links >= LINKS {
            continue;
        }
        #[cfg(windows)]
        if !windows::is_on_a_drive(&resolved) {
            continue;
        }
        let target = match standing(&resolved) {
            Standing::Link(target) => target,
            Standing::Other => continue,
            Standing::Nothing => {
                is_there = false;
                continue;
            }
        };
        links += 1;
        if target.is_absolute() {
            resolved = start(&target);
        } else {
            resolved.pop();
        }
        pending.extend(components_reversed(&target));
    }
    #[cfg(windows)]
    let resolved = windows::as_kept(&resolved);
    resolved
}

/// What stands at a path, as far as following it is concerned.
enum Standing {
    Link(PathBuf),
    /// No link.
    Other,
    /// Nothing, and so nothing below it.
    Nothing,
}

fn standing(path: &Path) -> Standing {
    // Few are links, and to look at what stands there costs less than to fail at reading it as one.
    match looks::at(path) {
        Ok(found) if !found.is_symlink() => Standing::Other,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Standing::Nothing,
        _ => fs::read_link(path).map_or(Standing::Other, Standing::Link),
    }
}

fn components_reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    });
    names.collect()
}

/// `path` relative to `root` with `/` and in NFC; none when it does not lie below. The root itself is the empty text.
pub fn relative(root: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(root).ok().map(shown)
}

/// The path as text with `/` and in NFC, bad UTF-8 replaced.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { Cow::Owned(text.replace('\\', "/")) } else { text };
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.into_owned(),
        _ => text.nfc().collect(),
    }
}

/// Whether the file system that holds `folder` takes `A` and `a` for one name. Looks at the last component that has a
/// letter; false where there is none.
pub fn ignores_case(folder: &Path) -> bool {
    folder.ancestors().any(|part| {
        let Some(name) = part.file_name().and_then(|name| name.to_str()) else { return false };
        let flipped: String =
            name.chars()
                .map(|letter| {
                    if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
                })
                .collect();
        if flipped == name {
            return false;
        }
        let found = identity(part);
        found.is_some() && found == identity(&part.with_file_name(&flipped))
    })
}

/// The file or folder that stands at a path itself: equal for two names of one file (hard links).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The file system.
    volume: u64,
    /// Which of its files.
    file: u64,
    /// How many names it has.
    pub names: u64,
}

/// What stands at `path`, which is not followed if it is a link; none when nothing is there.
#[cfg(unix)]
pub fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;

    let found = looks::at(path).ok()?;
    Some(Identity { volume: found.dev(), file: found.ino(), names: found.nlink() })
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn within_one_look_a_folder_stays_a_folder() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("real/sub")).unwrap();
        symlink("real", base.join("link")).unwrap();
        let resolved = |path: &str| resolve(&base.join(path));
        looks::once(|| {
            assert_eq!(resolved("link/sub/none/a"), base.join("real/sub/none/a"));
            fs::remove_dir(base.join("real/sub")).unwrap();
            symlink("..", base.join("real/sub")).unwrap();
            assert_eq!(resolved("link/sub/a"), base.join("real/sub/a"));
        });
        assert_eq!(resolved("link/sub/a"), base.join("a"));
    }

    #[test]
    fn written_paths_are_absolute_and_lexical() {
        let (cwd, home) = (Path::new("/project"), Path::new("/home/me"));
        for (text, expected) in [
            ("a.py", "/project/a.py"),
            ("./a/../b.py", "/project/b.py"),
            ("src\\a.py", "/project/src/a.py"),
            ("/abs/./x", "/abs/x"),
            ("../../../x", "/x"),
            ("~/x", "/home/me/x"),
            ("~other/x", "/project/~other/x"),
            ("a//b/", "/project/a/b"),
        ] {
            assert_eq!(written(text, cwd, home), Path::new(expected), "{text}");
        }
    }

    #[test]
    fn a_link_before_dots_has_two_meanings() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("prod/sub")).unwrap();
        symlink("prod/sub", base.join("link")).unwrap();
        for (text, other) in [
            ("link/../a", Some("prod/a")),
            ("prod/sub/../a", None),
            ("new/../a", None),
            ("link/a..b", None),
            ("prod/../link/a", None),
        ] {
            assert_eq!(other_meaning(text, &base, &base), other.map(|other| base.join(other)), "{text}");
        }
    }

    #[test]
    fn windows_drives_are_recognised() {
        for (text, expected) in [
            ("C:/a/b", Some(('c', "a/b"))),
            ("//?/D:/x", Some(('d', "x"))),
            ("C:x", None),
            ("CC:/x", None),
            ("1:/x", None),
            ("a.py", None),
        ] {
            assert_eq!(windows_drive(text), expected, "{text}");
        }
    }

    #[test]
    fn links_resolve_also_where_nothing_exists_yet() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("real/deep")).unwrap();
        symlink("real", base.join("link")).unwrap();
        symlink(base.join("real/none.txt"), base.join("dangling")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        symlink("real/deep", base.join("deep")).unwrap();
        for (path, expected) in [
            ("link/new/x", "real/new/x"),
            ("dangling", "real/none.txt"),
            ("real/x", "real/x"),
            ("deep/../x", "real/x"),
            ("none/../y", "y"),
        ] {
            assert_eq!(resolve(&base.join(path)), base.join(expected), "{path}");
        }
        assert!(resolve(&base.join("loop/x")).starts_with(&base), "a loop ends");
    }

    #[test]
    fn names_are_relative_composed_and_slashed() {
        assert_eq!(relative(Path::new("/r"), Path::new("/r/a/b")).as_deref(), Some("a/b"));
        assert_eq!(relative(Path::new("/r"), Path::new("/rx/a")), None);
        assert_eq!(relative(Path::new("/r"), Path::new("/r/e\u{301}")).as_deref(), Some("\u{e9}"));
    }

    #[test]
    fn this_file_system_has_an_opinion_on_case() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("Mixed");
        fs::create_dir(&folder).unwrap();
        assert_eq!(ignores_case(&folder), temp.path().join("mIXED").exists());
    }

    proptest! {
        #[test]
        fn normalising_ends_and_is_stable(text in "[a./\\\\~:]{0,40}") {
            let once = written(&text, Path::new("/w"), Path::new("/h"));
            prop_assert!(once.is_absolute());
            prop_assert!(!once.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir)));
            prop_assert_eq!(normalize(&once), once);
        }
    }
}
