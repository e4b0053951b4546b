//! Processes as `/bin/ps` shows them, for systems without `/proc`.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{COMMAND_LINE, Process};

const PROGRAM: &str = "/bin/ps";

/// A process and its parent's id.
#[cfg_attr(any(target_os = "linux", windows), expect(dead_code, reason = "only what it parses is tested there"))]
pub(super) fn look(id: u32) -> Option<(Process, Option<u32>)> {
    parse(id, &ask(id, "ppid=,comm=")?, &ask(id, "args=").unwrap_or_default())
}

/// The date at which a process was started.
#[cfg_attr(any(target_os = "linux", windows), expect(dead_code, reason = "only what it parses is tested there"))]
pub(super) fn started(id: u32) -> Option<String> {
    let said = ask(id, "lstart=")?;
    Some(said.trim()).filter(|said| !said.is_empty()).map(str::to_owned)
}

fn ask(id: u32, fields: &str) -> Option<String> {
    let mut command = Command::new(PROGRAM);
    command.args(["-ww", "-o", fields, "-p", &id.to_string()]).env_clear();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut bytes = Vec::new();
    let read = child.stdout.take()?.take(COMMAND_LINE as u64).read_to_end(&mut bytes);
    // What is not read of a longer line is lost with the pipe.
    let _ = child.wait();
    read.ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The words of a command line are told with blanks between them: those of a path with blanks are taken apart.
fn parse(id: u32, parent_and_program: &str, words: &str) -> Option<(Process, Option<u32>)> {
    let (parent, program) = parent_and_program.trim().split_once(char::is_whitespace)?;
    let parent: u32 = parent.parse().ok()?;
    let program = Path::new(program.trim());
    let process = Process {
        id,
        name: program.file_name()?.to_string_lossy().into_owned(),
        program: program.is_absolute().then(|| PathBuf::from(program)),
        words: words.split_whitespace().map(OsString::from).collect(),
    };
    Some((process, (parent != 0).then_some(parent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_program_and_words_are_read() {
        let words = "node /usr/local/bin/gemini\n";
        let (process, parent) = parse(7, "   12 /opt/my programs/node\n", words).unwrap();
        assert_eq!(parent, Some(12));
        assert_eq!((process.id, process.name.as_str()), (7, "node"));
        assert_eq!(process.program, Some(PathBuf::from("/opt/my programs/node")));
        assert_eq!(process.script(), Some(Path::new("/usr/local/bin/gemini")));
        let (login, parent) = parse(1, "0 -zsh", "").unwrap();
        assert_eq!((login.name.as_str(), login.program, parent), ("-zsh", None, None));
        for nothing in ["", "12", "x y", "\n"] {
            assert_eq!(parse(1, nothing, ""), None);
        }
    }
}
