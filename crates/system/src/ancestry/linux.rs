//! Processes as `/proc` shows them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;

use super::{COMMAND_LINE, Process};

/// Most bytes of `stat` that are read; its first fields are what is wanted.
const STAT: usize = 512;

/// A process and its parent's id.
pub(super) fn look(id: u32) -> Option<(Process, Option<u32>)> {
    let stat = read(&format!("/proc/{id}/stat"), STAT)?;
    let (name, parent) = parse(&stat)?;
    let words = read(&format!("/proc/{id}/cmdline"), COMMAND_LINE).unwrap_or_default();
    let words = words.strip_suffix(b"\0").unwrap_or(&words);
    let words = words.split(|byte| *byte == 0).filter(|_| !words.is_empty());
    let process = Process {
        id,
        name,
        // Only this user's own processes tell.
        program: fs::read_link(format!("/proc/{id}/exe")).ok(),
        words: words.map(|word| OsString::from_vec(word.to_vec())).collect(),
    };
    Some((process, parent))
}

/// The ticks of the clock at which a process was started.
pub(super) fn started(id: u32) -> Option<String> {
    let stat = read(&format!("/proc/{id}/stat"), STAT)?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    // Field 22 of proc_pid_stat(5); what stands behind the name begins with the third.
    let rest = std::str::from_utf8(&stat[close + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(19).map(str::to_owned)
}

fn read(path: &str, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(most);
    File::open(path).ok()?.take(most as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// `ID (NAME) STATE PARENT ...`; the name may hold blanks and parentheses.
fn parse(stat: &[u8]) -> Option<(String, Option<u32>)> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(&stat[close + 1..]).ok()?;
    let parent: u32 = rest.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some((name, (parent != 0).then_some(parent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        for (stat, found) in [
            (&b"12 (zsh) S 7 12 12 0"[..], Some(("zsh", Some(7)))),
            (b"12 (a) S 1 (b) R 9 12", Some(("a) S 1 (b", Some(9)))),
            (b"1 (init) S 0 1 1", Some(("init", None))),
            (b"1 () S 0 1 1", Some(("", None))),
            (b"12 )x( S 7", None),
            (b"12 (zsh) S", None),
            (b"", None),
        ] {
            assert_eq!(parse(stat), found.map(|(name, parent)| (name.to_owned(), parent)), "{stat:?}");
        }
    }
}
