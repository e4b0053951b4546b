//! Running programs: echoed, with a time limit, with retries where a registry is asked, read line by line where their
//! output is counted.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::workspace;

/// Tries of a command that asks a registry, and the pause before the second one; each further pause doubles.
const TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// `cargo` as the one that runs us, in the repository's root.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root());
    // Set by the `cargo run` we stand in; build scripts that watch them would run again.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command.env("CARGO_NET_RETRY", "10").env("CARGO_HTTP_TIMEOUT", "120");
    command
}

/// Builds our programs as the tests use them.
pub fn build() -> Result<()> {
    run(&mut cargo(&["build", "--locked", "--package", "ruleline"]))
}

/// The command as a person would type it.
fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Runs a command to its end, its output passing through.
pub fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot run `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Runs a command that asks a registry: a failure is tried again after a pause.
pub fn run_with_retries(command: &mut Command) -> Result<()> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..TRIES {
        match run(command) {
            Ok(()) => return Ok(()),
            Err(error) => eprintln!("{error:#}; trying again in {} s", pause.as_secs()),
        }
        std::thread::sleep(pause);
        pause *= 2;
    }
    run(command)
}

/// What a command prints on stdout, trimmed.
pub fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run `{}`", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", shown(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether a command runs and succeeds; what it prints is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs a command, shows each line of its stdout and hands it to `each`. Past `limit` the command and all that it
/// started are killed.
pub fn run_lines(command: &mut Command, limit: Duration, mut each: impl FnMut(&str)) -> Result<ExitStatus> {
    eprintln!("$ {}", shown(command));
    in_own_group(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run `{}`", shown(command)))?;
    let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let (lines, arriving) = mpsc::channel();
    std::thread::spawn(move || {
        for line in stdout.split(b'\n').map_while(Result::ok) {
            if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    let end = Instant::now() + limit;
    let mut status = None;
    loop {
        match arriving.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => {
                println!("{line}");
                each(&line);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            // A process that it left behind may hold stdout open: its own end is the end.
            Err(mpsc::RecvTimeoutError::Timeout) if status.is_some() => break,
            Err(mpsc::RecvTimeoutError::Timeout) => status = child.try_wait()?,
        }
        if Instant::now() > end {
            kill_group(&mut child);
            bail!("`{}` did not end within {} s", shown(command), limit.as_secs());
        }
    }
    Ok(match status {
        Some(status) => status,
        None => child.wait()?,
    })
}

#[cfg(unix)]
fn in_own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn in_own_group(_command: &mut Command) {}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
