//! `/dev/tty`.

use std::fs::{File, OpenOptions};
use std::io;

use rustix::process::getpgrp;
use rustix::termios::{QueueSelector, isatty, tcflush, tcgetpgrp};

use super::NoTerminal;

const TERMINAL: &str = "/dev/tty";

/// For reading and for writing.
pub(super) fn open() -> Result<(File, File), NoTerminal> {
    let terminal = OpenOptions::new().read(true).write(true).open(TERMINAL).map_err(NoTerminal::None)?;
    if !isatty(&terminal) {
        return Err(NoTerminal::NotOne);
    }
    let foreground = tcgetpgrp(&terminal).map_err(|error| NoTerminal::None(io::Error::from(error)))?;
    if foreground != getpgrp() {
        return Err(NoTerminal::Background);
    }
    let write = terminal.try_clone().map_err(NoTerminal::None)?;
    Ok((terminal, write))
}

/// Throws away what was typed and not read.
pub(super) fn forget_input(terminal: &File) {
    let _ = tcflush(terminal, QueueSelector::IFlush);
}
