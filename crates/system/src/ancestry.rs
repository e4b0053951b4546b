//! The processes above this one, and whether a coding agent is among them (S9).
//!
//! What is found is shown to people and written down beside a grant; the names are those that programs give themselves,
//! so they are hostile and not escaped here. A program can hide its parents (by a process that outlives its own, by
//! another name): what is found is an obstacle for agents, never a proof that there is none.

mod agents;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, all(unix, not(target_os = "linux"))))]
mod ps;

use std::ffi::{OsStr, OsString};
use std::path::Path;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(all(unix, not(target_os = "linux")))]
use ps as platform;

pub use agents::{Sign, agent_of};

/// How far upwards is looked, in processes.
const DEPTH: usize = 64;
/// How much of a process's command line is read, in bytes.
const COMMAND_LINE: usize = 4096;
/// Programs that run what stands in their first word that is no option, by how their names begin.
const INTERPRETERS: [&str; 13] =
    ["node", "bun", "deno", "python", "pypy", "ruby", "perl", "sh", "bash", "dash", "zsh", "ksh", "fish"];
/// Options of these whose value is the next word.
const WITH_VALUE: [&str; 14] = [
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "-C",
    "--conditions",
    "-X",
    "-W",
    "-O",
    "-o",
    "--rcfile",
    "--init-file",
    "-I",
];

/// One process. Nothing in it is escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub id: u32,
    /// What the system calls it: the name it was started by, cut to 15 bytes on Linux, or one it gave itself.
    pub name: String,
    /// The file it runs, where that may be known.
    pub program: Option<std::path::PathBuf>,
    /// The first words of its command line.
    pub words: Vec<OsString>,
}

/// This process and those above it, innermost first, at most 64. Empty where the system does not tell.
pub fn chain() -> Vec<Process> {
    let top = top();
    let mut chain: Vec<Process> = Vec::new();
    let mut id = Some(std::process::id());
    while let Some(next) = id.filter(|id| *id != 0 && Some(*id) != top && chain.len() < DEPTH) {
        let Some((process, parent)) = look(next) else { break };
        // A process that was replaced meanwhile could make a circle.
        if chain.iter().any(|known| known.id == process.id) {
            break;
        }
        chain.push(process);
        id = parent;
    }
    chain
}

#[cfg(unix)]
fn look(id: u32) -> Option<(Process, Option<u32>)> {
    platform::look(id)
}

#[cfg(not(unix))]
fn look(_: u32) -> Option<(Process, Option<u32>)> {
    None
}

/// When the process `id` was started, in the system's own words: equal only for the same process. None when there is no
/// such process, or the system does not tell.
#[cfg(unix)]
pub fn started(id: u32) -> Option<String> {
    platform::started(id)
}

/// None: nobody is asked here.
#[cfg(not(unix))]
pub fn started(_: u32) -> Option<String> {
    None
}

/// The process at which the chain ends for a test, so that it does not depend on who runs the tests.
#[cfg(debug_assertions)]
fn top() -> Option<u32> {
    std::env::var("RULELINE_TEST_TOP").ok()?.parse().ok()
}

/// None: no variable reaches a release build.
#[cfg(not(debug_assertions))]
fn top() -> Option<u32> {
    None
}

impl Process {
    /// How it is called in a list of processes: its program, and the script where an interpreter runs one. Not escaped.
    pub fn label(&self) -> String {
        let program = self.program.as_deref().and_then(Path::file_name).map(OsStr::to_string_lossy);
        let program = program.map_or_else(|| self.name.clone(), std::borrow::Cow::into_owned);
        match self.script().and_then(Path::file_name) {
            Some(script) => format!("{program} {}", script.to_string_lossy()),
            None if self.name != program && !program.starts_with(&self.name) => format!("{} ({program})", self.name),
            None => program,
        }
    }

    /// The script or module that this process runs, if it is an interpreter that runs one.
    pub fn script(&self) -> Option<&Path> {
        let is_interpreter = self.names().any(|name| INTERPRETERS.iter().any(|known| is_version_of(&name, known)));
        if !is_interpreter {
            return None;
        }
        let mut words = self.words.iter().skip(1);
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("-m") => return words.next().map(Path::new),
                Some("-c" | "-e" | "--eval" | "-p" | "--print" | "-s") => return None,
                Some(option) if WITH_VALUE.contains(&option) => drop(words.next()),
                Some(option) if option.starts_with('-') && option.len() > 1 => {}
                _ => return Some(Path::new(word)),
            }
        }
        None
    }

    /// The names it goes by: the file it runs, the system's name, the first word of its command line.
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        let file_name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let program = self.program.as_deref().and_then(file_name);
        let word = self.words.first().and_then(|word| file_name(Path::new(word)));
        [program, Some(self.name.clone()), word].into_iter().flatten().map(|name| plain_name(&name))
    }
}

/// A program's name without the dash of a login shell and an extension of programs and scripts.
fn plain_name(name: &str) -> String {
    let name = name.strip_prefix('-').unwrap_or(name);
    let extensions = [".exe", ".js", ".mjs", ".cjs", ".py", ".sh"];
    let stem = extensions.iter().find_map(|extension| name.strip_suffix(extension));
    stem.unwrap_or(name).to_ascii_lowercase()
}

/// `python3.11` is one of `python`, `node` one of `node`; `shutdown` is none of `sh`.
fn is_version_of(name: &str, program: &str) -> bool {
    name.strip_prefix(program).is_some_and(|rest| rest.chars().all(|it| it.is_ascii_digit() || it == '.' || it == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(name: &str, program: Option<&str>, words: &[&str]) -> Process {
        Process {
            id: 1,
            name: name.to_owned(),
            program: program.map(Into::into),
            words: words.iter().map(OsString::from).collect(),
        }
    }

    #[test]
    fn the_script_of_an_interpreter_is_found() {
        for (words, script) in [
            (&["node", "/usr/bin/gemini"][..], Some("/usr/bin/gemini")),
            (&["node", "--max-old-space-size=4096", "-r", "hook.js", "cli.js", "x"], Some("cli.js")),
            (&["/usr/bin/python3.11", "-X", "dev", "-m", "aider"], Some("aider")),
            (&["bash", "--rcfile", "x", "-l"], None),
            (&["-bash"], None),
            (&["bash", "-c", "claude"], None),
            (&["sh", "/opt/claude"], Some("/opt/claude")),
            (&["vim", "claude"], None),
            (&["shutdown", "now"], None),
        ] {
            let process = process("x", None, words);
            assert_eq!(process.script(), script.map(Path::new), "{words:?}");
        }
    }

    #[test]
    fn a_label_names_program_and_script() {
        for (name, program, words, label) in [
            ("zsh", Some("/bin/zsh"), &["-zsh"][..], "zsh"),
            ("MainThread", Some("/usr/bin/node"), &["node", "/usr/bin/gemini"], "node gemini"),
            ("claude", Some("/home/me/.local/share/claude/versions/2.1.332"), &["claude"], "claude (2.1.332)"),
            ("sshd", None, &["sshd: me@pts/0"], "sshd"),
            ("gnome-terminal-", Some("/usr/libexec/gnome-terminal-server"), &[], "gnome-terminal-server"),
        ] {
            assert_eq!(process(name, program, words).label(), label);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_process_was_started_once() {
        let here = started(std::process::id());
        assert!(here.is_some() && here == started(std::process::id()));
        assert_ne!(here, started(1), "no test is the first process");
        assert_eq!(started(u32::MAX), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_chain_begins_here_and_goes_upwards() {
        let chain = chain();
        assert_eq!(chain[0].id, std::process::id());
        assert_eq!(chain[0].program, std::env::current_exe().ok());
        assert_eq!(chain[1].id, std::os::unix::process::parent_id());
        assert!(chain.len() <= DEPTH);
    }
}
