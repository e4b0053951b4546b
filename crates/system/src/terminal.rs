//! The terminal in front of which a person sits, apart from stdin and stdout: to ask what only a person may answer (S9).
//!
//! It is the controlling terminal of this process, and this process must be in its foreground, so that what is asked is
//! seen. What was typed before a question is thrown away. A program can make a terminal of its own: an answer is an
//! obstacle for agents, never a proof of a person.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::File;
use std::io::{self, Read as _, Write as _};

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

/// The longest answer, in bytes.
pub const LONGEST: usize = 1024;

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum NoTerminal {
    /// There is none.
    #[error("there is no terminal ({0})")]
    None(#[source] io::Error),
    /// What stands in its place is none.
    #[error("what should be the terminal is none")]
    NotOne,
    /// Another process group has it.
    #[error("this command runs in the background of its terminal")]
    Background,
}

/// An open terminal.
#[derive(Debug)]
pub struct Terminal {
    read: File,
    write: File,
}

impl Terminal {
    /// Opens the terminal.
    ///
    /// # Errors
    /// [`NoTerminal`].
    pub fn open() -> Result<Terminal, NoTerminal> {
        let (read, write) = platform::open()?;
        Ok(Terminal { read, write })
    }

    /// Shows a text. What is not ours in it was escaped by the caller.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        self.write.write_all(text.as_bytes())?;
        self.write.flush()
    }

    /// Asks with this text and waits for a line, however long that takes; it comes without its end. None when the
    /// terminal is closed, or the line is no text or longer than [`LONGEST`].
    ///
    /// # Errors
    /// The terminal cannot be written or read.
    pub fn ask(&mut self, question: &str) -> io::Result<Option<String>> {
        platform::forget_input(&self.read);
        self.say(question)?;
        let mut line = Vec::new();
        let mut piece = [0; 256];
        loop {
            let length = match self.read.read(&mut piece) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let read = &piece[..length];
            if length == 0 {
                return Ok(None);
            }
            let end = read.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            line.extend_from_slice(&read[..end.unwrap_or(length)]);
            if line.len() > LONGEST {
                return Ok(None);
            }
            if end.is_some() {
                return Ok(String::from_utf8(line).ok());
            }
        }
    }
}
