//! Which program a hook is: an interpreter from a fixed list for a script, a program on the cleaned `PATH` for a command.
//! Never one that the repository holds.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Launch;
use super::environment::Environment;

/// Where an interpreter stands.
#[cfg(unix)]
const INTERPRETERS: [&str; 5] =
    ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/run/current-system/sw/bin/bash"];
#[cfg(unix)]
const KIND: &str = "bash";
/// Bash reads long options only before short ones.
#[cfg(unix)]
const FLAGS: [&str; 3] = ["--noprofile", "--norc", "-p"];

#[cfg(windows)]
const INTERPRETERS: [&str; 1] = [r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe"];
#[cfg(windows)]
const KIND: &str = "powershell";
#[cfg(windows)]
const FLAGS: [&str; 5] = ["-NonInteractive", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File"];

/// The command that runs a script of the folder.
///
/// # Errors
/// In one line, why there is none.
pub(super) fn script(file: &str, launch: &Launch<'_>, environment: &Environment) -> Result<Command, String> {
    let path = launch.folder.join(file);
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Err(format!("there is no file {file} in {}", launch.folder.display()));
    }
    let named = |path: &&Path| path.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case(KIND));
    let configured = launch.interpreters.iter().map(PathBuf::as_path).filter(named);
    let interpreter = configured
        .chain(INTERPRETERS.iter().map(Path::new))
        .find(|path| is_program(path) && environment.ground.is_outside(path))
        .ok_or_else(|| format!("no {KIND} is where it is looked for: {}", INTERPRETERS.join(", ")))?;
    let mut command = prepared(interpreter, launch, environment);
    command.args(FLAGS).arg(path);
    Ok(command)
}

/// The command of a program with its arguments.
///
/// # Errors
/// In one line, why there is none.
pub(super) fn named(words: &[String], launch: &Launch<'_>, environment: &Environment) -> Result<Command, String> {
    let (program, arguments) = words.split_first().ok_or("it names no program")?;
    let path = Path::new(program);
    let found = if path.is_absolute() {
        is_program(path).then(|| path.to_path_buf()).ok_or_else(|| format!("{program} is no program"))?
    } else if system::folders::is_plain_name(path.as_os_str()) {
        on_path(program, &environment.path).ok_or_else(|| format!("there is no program {program} on the PATH"))?
    } else {
        return Err(format!("{program} is a relative path; a command is a bare name or an absolute path"));
    };
    if !environment.ground.is_outside(&found) {
        return Err(format!(
            "{program} may stand in the project, where nobody has read it; make it a script of the hooks"
        ));
    }
    let mut command = prepared(&found, launch, environment);
    command.args(arguments);
    Ok(command)
}

fn prepared(program: &Path, launch: &Launch<'_>, environment: &Environment) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(&environment.variables).current_dir(launch.root);
    command
}

fn on_path(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let names = if cfg!(windows) { vec![name.to_owned(), format!("{name}.exe")] } else { vec![name.to_owned()] };
    folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.is_absolute() && path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(windows)]
fn is_program(path: &Path) -> bool {
    path.is_absolute() && path.is_file()
}
