//! A process and a thread for each pipe; at the deadline the whole tree of processes is ended.

use std::io::{Read, Write};
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use super::{Finished, Kept};
use crate::answer::End;

/// How often a child is looked at.
const TICK: Duration = Duration::from_millis(5);
/// How long what a child wrote is waited for after its end.
const GRACE: Duration = Duration::from_millis(50);
/// The name and value are those of the Windows API.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

pub(super) fn run(mut command: Command, payload: &str, deadline: Instant) -> Result<Finished, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).creation_flags(CREATE_NO_WINDOW);
    let mut child = command.spawn().map_err(|error| format!("it cannot be started ({error})"))?;
    if let Some(mut stdin) = child.stdin.take() {
        let line = format!("{payload}\n");
        thread::spawn(move || {
            let _ = stdin.write_all(line.as_bytes());
        });
    }
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let end = loop {
        if let Ok(Some(status)) = child.try_wait() {
            break status.code().map_or(End::Unseen, End::Code);
        }
        if Instant::now() >= deadline {
            kill(&mut child);
            break End::Deadline;
        }
        thread::sleep(TICK);
    };
    let collect = |stream: Option<Receiver<Vec<u8>>>| {
        let mut kept = Kept::default();
        let until = Instant::now() + GRACE;
        while let Some(Ok(bytes)) =
            stream.as_ref().map(|stream| stream.recv_timeout(until.saturating_duration_since(Instant::now())))
        {
            kept.take(&bytes);
        }
        kept
    };
    Ok(Finished { end, stdout: collect(stdout), stderr: collect(stderr) })
}

/// Reads on a thread that outlives nobody's patience: whoever keeps the pipe is not waited for.
fn drain(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(8);
    thread::spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        let mut sent = 0;
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            sent += read;
            // Beyond what is kept the bytes are read all the same, so that the child never waits.
            if sent <= 2 * super::KEPT && sender.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn kill(child: &mut Child) {
    let id = child.id().to_string();
    let _ = Command::new(r"C:\Windows\System32\taskkill.exe")
        .args(["/PID", &id, "/T", "/F"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .creation_flags(CREATE_NO_WINDOW)
        .status();
    let _ = child.kill();
}
