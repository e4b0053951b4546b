//! SHA-256, as bytes and as hex.
//!
//! One place, so that whoever compares two digests compares the same spelling.

use sha2::{Digest as _, Sha256};

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// SHA-256 of all of `parts`, one behind the other.
pub fn sha256_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Lower-case hex of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).expect("half a byte is one digit");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The 32 bytes that 64 hex digits spell.
pub fn bytes_of(hex: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

/// Lower-case hex of the SHA-256 of `bytes`.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(bytes))
}

/// What a path is called where a name of a file is needed: its digest in hex.
pub fn key(path: &std::path::Path) -> String {
    sha256_hex(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    #[test]
    fn hex_is_read_as_it_is_written() {
        let digest = super::sha256(b"abc");
        assert_eq!(super::bytes_of(&super::hex(&digest)), Some(digest));
        for wrong in ["", "ab", &"+f".repeat(32), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(super::bytes_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parts_are_digested_as_the_whole() {
        assert_eq!(super::sha256_of(&[b"a", b"", b"bc"]), super::sha256(b"abc"));
    }

    #[test]
    fn hex_is_the_usual_spelling() {
        assert_eq!(super::sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
