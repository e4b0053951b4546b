//! Where the chain of a log ends, as the state folder remembers it: one line of fixed length, written in place.
//!
//! It names the end before and after the line that is being appended, and is written before that line and after it: a
//! hook that is killed in between leaves lengths that tell its own line from a stranger's. Only this user can write it;
//! a sum shows one that is half written.

use std::fs::File;
use std::io;

use system::digest::{bytes_of, hex, sha256, sha256_hex};
use system::open::{read_at, write_at};

/// How long it is, in bytes.
const LENGTH: usize = 201;
const VERSION: &str = "1";

/// The file that lines go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Below the project, and not in the state folder.
    pub in_project: bool,
    /// Which of the files there, from 0.
    pub number: u16,
}

/// An end of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Bytes of the file up to here.
    pub length: u64,
    /// SHA-256 of the last line.
    pub hash: [u8; 32],
}

/// What is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// The file that the lengths are of.
    pub place: Place,
    /// Before the last append.
    pub before: End,
    /// After it. The same as `before` once the line stands there.
    pub after: End,
    /// A person was told that lines cannot be written.
    pub told: bool,
}

impl End {
    /// Before the first line.
    pub fn start() -> End {
        End { length: 0, hash: sha256(b"") }
    }
}

impl Head {
    /// Of a log without a line.
    pub fn start() -> Head {
        let place = Place { in_project: true, number: 0 };
        Head { place, before: End::start(), after: End::start(), told: false }
    }

    /// Whether the last line was seen to stand in its file.
    pub fn is_settled(&self) -> bool {
        self.before == self.after
    }

    /// What the file says; none where that is nothing, and an error where it is nothing that was written whole.
    pub fn read(file: &File) -> io::Result<Option<Head>> {
        let mut bytes = [0; LENGTH + 1];
        let read = read_at(file, &mut bytes, 0)?;
        if read == 0 {
            return Ok(None);
        }
        Head::parse(&bytes[..read]).map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Takes away what a head that was not written by this one has behind it.
    pub fn trim(file: &File) -> io::Result<()> {
        file.set_len(LENGTH as u64)
    }

    /// Writes it in place.
    pub fn write(&self, file: &File) -> io::Result<()> {
        write_at(file, self.text().as_bytes(), 0)
    }

    fn text(&self) -> String {
        let place = if self.place.in_project { 'p' } else { 's' };
        let told = if self.told { 't' } else { '-' };
        let [before, after] = [self.before, self.after].map(|end| format!("{:020} {}", end.length, hex(&end.hash)));
        let text = format!("{VERSION} {place} {:05} {told} {before} {after} ", self.place.number);
        let sum = sum(&text);
        text + &sum + "\n"
    }

    fn parse(bytes: &[u8]) -> Option<Head> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let (said, sum_said) = text.split_at_checked(text.rfind(' ')? + 1)?;
        if sum(said) != sum_said || text.len() + 1 != LENGTH {
            return None;
        }
        let words: Vec<&str> = said.split_ascii_whitespace().collect();
        let [VERSION, place, number, told, before, hash_before, after, hash_after] = words[..] else { return None };
        let end = |length: &str, hash: &str| Some(End { length: length.parse().ok()?, hash: bytes_of(hash)? });
        Some(Head {
            place: Place { in_project: place == "p", number: number.parse().ok()? },
            before: end(before, hash_before)?,
            after: end(after, hash_after)?,
            told: told == "t",
        })
    }
}

fn sum(text: &str) -> String {
    sha256_hex(text.as_bytes())[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s23_a_head_is_read_as_it_was_written_and_no_other() {
        let head = Head {
            place: Place { in_project: false, number: 7 },
            before: End { length: 12, hash: [1; 32] },
            after: End { length: u64::MAX, hash: [0xab; 32] },
            told: true,
        };
        for head in [head, Head::start()] {
            let text = head.text();
            assert_eq!(text.len(), LENGTH);
            assert_eq!(Head::parse(text.as_bytes()), Some(head));
            for at in 0..text.len() {
                let mut other = text.clone().into_bytes();
                other[at] = if other[at] == b'0' { b'1' } else { b'0' };
                assert_eq!(Head::parse(&other), None, "{at}");
                assert_eq!(Head::parse(&text.as_bytes()[..at]), None, "{at}");
            }
        }
    }
}
