//! The digest of a folder of hooks: SHA-256 over `ruleline-hooks-tree-v1\0` and, in raw byte order of the paths, each
//! file's path length, path, exec bit, size and content hash. Nothing else names bytes that are trusted.
//!
//! Lengths and sizes are 64 bits, big end first; the exec bit is one byte.

use std::fmt;

use crate::tree::TreeFile;

/// Begins every digest, so that it is none of something else.
const DOMAIN: &[u8] = b"ruleline-hooks-tree-v1\0";

/// The digest of a folder of hooks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeDigest([u8; 32]);

/// What of a file goes into the digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part<'a> {
    pub path: &'a str,
    pub executable: bool,
    pub size: u64,
    pub sha256: [u8; 32],
}

impl TreeDigest {
    /// The digest of these files, in any order.
    pub fn of(files: &[TreeFile]) -> TreeDigest {
        let parts = files.iter().map(|file| Part {
            path: &file.path,
            executable: file.executable,
            size: file.bytes.len() as u64,
            sha256: file.sha256,
        });
        TreeDigest::of_parts(parts.collect())
    }

    pub(crate) fn of_parts(mut parts: Vec<Part<'_>>) -> TreeDigest {
        parts.sort_unstable();
        let mut text = DOMAIN.to_vec();
        for part in parts {
            text.extend_from_slice(&(part.path.len() as u64).to_be_bytes());
            text.extend_from_slice(part.path.as_bytes());
            text.push(u8::from(part.executable));
            text.extend_from_slice(&part.size.to_be_bytes());
            text.extend_from_slice(&part.sha256);
        }
        TreeDigest(system::digest::sha256(&text))
    }

    /// 64 lower-case hex digits.
    pub fn hex(&self) -> String {
        system::digest::hex(&self.0)
    }

    /// The first 12 hex digits: what a person types and an editor shows.
    pub fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }

    /// The digest of 64 hex digits.
    pub fn parse(hex: &str) -> Option<TreeDigest> {
        parse_sha256(&hex.to_ascii_lowercase()).map(TreeDigest)
    }
}

/// The bytes of 64 lower-case hex digits.
pub(crate) fn parse_sha256(hex: &str) -> Option<[u8; 32]> {
    let digits = hex.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(text: u8) -> Option<u8> {
    match text {
        b'0'..=b'9' => Some(text - b'0'),
        b'a'..=b'f' => Some(text - b'a' + 10),
        _ => None,
    }
}

impl fmt::Debug for TreeDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn file(path: &str, bytes: &[u8], executable: bool) -> TreeFile {
        let sha256 = system::digest::sha256(bytes);
        TreeFile { path: path.to_owned(), bytes: Arc::from(bytes), sha256, executable, names: 1 }
    }

    #[test]
    fn the_digest_is_the_documented_one() {
        let mut text = b"ruleline-hooks-tree-v1\0".to_vec();
        for (path, bytes, executable) in [("a.sh", "echo a\n", 1), ("lib/b", "", 0)] {
            text.extend((path.len() as u64).to_be_bytes());
            text.extend(path.bytes());
            text.push(executable);
            text.extend((bytes.len() as u64).to_be_bytes());
            text.extend(system::digest::sha256(bytes.as_bytes()));
        }
        let files = [file("lib/b", b"", false), file("a.sh", b"echo a\n", true)];
        assert_eq!(TreeDigest::of(&files).hex(), system::digest::sha256_hex(&text));
    }

    #[test]
    fn the_order_is_that_of_raw_bytes() {
        let names =
            ["B.sh", "a.sh", "_x", "lib/z", "Z", "\u{e4}", "hooks.yaml", ".hidden", "10", "9", "a-b", "ab", "a.b"];
        let files: Vec<_> = names.iter().map(|name| file(name, name.as_bytes(), false)).collect();
        let mut backwards = files.clone();
        backwards.reverse();
        assert_eq!(TreeDigest::of(&files), TreeDigest::of(&backwards));
    }

    #[test]
    fn hex_goes_both_ways() {
        let digest = TreeDigest::of(&[file("a", b"a", false)]);
        assert_eq!(TreeDigest::parse(&digest.hex()), Some(digest));
        assert_eq!(TreeDigest::parse(&digest.hex().to_uppercase()), Some(digest));
        assert_eq!(digest.short(), digest.hex()[..12]);
        for bad in ["", "3f9a", &"g".repeat(64), &"0".repeat(63), &"0".repeat(65), &"\u{e4}".repeat(32)] {
            assert_eq!(TreeDigest::parse(bad), None, "{bad}");
        }
    }

    fn files() -> impl Strategy<Value = Vec<TreeFile>> {
        let one = ("[a-c]{1,2}(/[a-c]{1,2})?", proptest::collection::vec(any::<u8>(), 0..4), any::<bool>());
        proptest::collection::btree_map(one.0, (one.1, one.2), 1..6)
            .prop_map(|files| files.iter().map(|(path, (bytes, bit))| file(path, bytes, *bit)).collect())
    }

    proptest! {
        #[test]
        fn equal_digests_mean_equal_files(one in files(), other in files()) {
            prop_assert_eq!(one == other, TreeDigest::of(&one) == TreeDigest::of(&other));
        }

        #[test]
        fn any_change_of_a_file_shows(before in files(), at in any::<prop::sample::Index>(), kind in 0..5) {
            let mut after = before.clone();
            let found = at.get(&before).clone();
            let index = at.index(before.len());
            match kind {
                0 => after[index] = file(&found.path, &[&found.bytes[..], b"x"].concat(), found.executable),
                1 => after[index] = file(&format!("{}d", found.path), &found.bytes, found.executable),
                2 => after[index] = file(&found.path, &found.bytes, !found.executable),
                3 => { after.remove(index); }
                _ => after.push(file("z", b"", false)),
            }
            prop_assert_ne!(TreeDigest::of(&before), TreeDigest::of(&after));
        }
    }
}
