//! The console.

use std::fs::{File, OpenOptions};
use std::io::IsTerminal as _;

use super::NoTerminal;

/// For reading and for writing.
pub(super) fn open() -> Result<(File, File), NoTerminal> {
    let open = |name| OpenOptions::new().read(true).write(true).open(name).map_err(NoTerminal::None);
    let (read, write) = (open("CONIN$")?, open("CONOUT$")?);
    if read.is_terminal() && write.is_terminal() { Ok((read, write)) } else { Err(NoTerminal::NotOne) }
}

/// The system has no safe call for it: what was typed before counts.
pub(super) fn forget_input(_: &File) {}
