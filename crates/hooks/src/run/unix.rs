//! A process group, three pipes that never block, and one loop that watches them and the clock.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Finished, Kept};
use crate::answer::End;

/// How often a child whose pipes say nothing is looked at, where the system cannot tell of its end.
const TICK: Duration = Duration::from_millis(5);
/// How long a killed child is waited for: one that hangs in the kernel is left behind.
const LAST_WAIT: Duration = Duration::from_millis(200);
/// How long the pipes are read after a child's end: a filter of its own (`exec > >(tee log)`) may still hold its answer,
/// a process that it left behind may hold them for good.
const GRACE: Duration = Duration::from_millis(100);

pub(super) fn run(mut command: Command, payload: &str, deadline: Instant) -> Result<Finished, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => "the working folder or the program is not there any more".to_owned(),
        _ => format!("it cannot be started ({error})"),
    })?;
    let mut streams = Streams {
        stdin: child.stdin.take().map(|pipe| Feed { pipe, left: payload.as_bytes(), ended: false }),
        stdout: Drain { pipe: child.stdout.take(), kept: Kept::default() },
        stderr: Drain { pipe: child.stderr.take(), kept: Kept::default() },
    };
    let end = match streams.unblock() {
        Ok(()) => watch(&mut child, &mut streams, deadline),
        Err(error) => {
            kill(&mut child);
            return Err(format!("its pipes cannot be used ({error})"));
        }
    };
    Ok(Finished { end, stdout: streams.stdout.kept, stderr: streams.stderr.kept })
}

/// Feeds and drains until the child has ended or the time is up.
fn watch(child: &mut Child, streams: &mut Streams<'_>, deadline: Instant) -> End {
    let exit = exit_of(child);
    loop {
        streams.move_bytes();
        match child.try_wait() {
            Ok(Some(status)) => {
                streams.finish(deadline);
                return end(status);
            }
            Ok(None) => {}
            // Whoever started this process takes the ends of children away: what it answered will never be known.
            Err(_) => return End::Unseen,
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let ended = kill(child);
            streams.move_bytes();
            return ended.filter(|status| status.code().is_some()).map_or(End::Deadline, end);
        }
        streams.wait(exit.as_ref(), if exit.is_some() { left } else { left.min(TICK) });
    }
}

/// What becomes readable when the child ends; none on a system without it.
#[cfg(target_os = "linux")]
fn exit_of(child: &Child) -> Option<OwnedFd> {
    rustix::process::pidfd_open(Pid::from_child(child), rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_of(_: &Child) -> Option<OwnedFd> {
    None
}

fn end(status: ExitStatus) -> End {
    match status.code() {
        Some(code) => End::Code(code),
        None => status.signal().map_or(End::Unseen, End::Signal),
    }
}

/// Kills the group and gives what became of the child; none when it does not end.
fn kill(child: &mut Child) -> Option<ExitStatus> {
    let begun = Instant::now();
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    // One that left its group.
    let _ = child.kill();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if begun.elapsed() < LAST_WAIT => std::thread::sleep(Duration::from_millis(1)),
            _ => return None,
        }
    }
}

struct Streams<'a> {
    stdin: Option<Feed<'a>>,
    stdout: Drain<std::process::ChildStdout>,
    stderr: Drain<std::process::ChildStderr>,
}

impl Streams<'_> {
    fn unblock(&self) -> io::Result<()> {
        for fd in [
            self.stdin.as_ref().map(|feed| feed.pipe.as_fd()),
            self.stdout.pipe.as_ref().map(std::os::fd::AsFd::as_fd),
            self.stderr.pipe.as_ref().map(std::os::fd::AsFd::as_fd),
        ] {
            fd.map_or(Ok(()), |fd| rustix::io::ioctl_fionbio(fd, true))?;
        }
        Ok(())
    }

    fn move_bytes(&mut self) {
        if self.stdin.as_mut().is_some_and(|feed| !feed.go_on()) {
            self.stdin = None;
        }
        self.stdout.go_on();
        self.stderr.go_on();
    }

    /// Reads on until the pipes are closed, for a moment only.
    fn finish(&mut self, deadline: Instant) {
        let until = deadline.min(Instant::now() + GRACE);
        self.stdin = None;
        loop {
            self.move_bytes();
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || (self.stdout.pipe.is_none() && self.stderr.pipe.is_none()) {
                return;
            }
            self.wait(None, left);
        }
    }

    /// Until a pipe has something to do, the child has ended, or `time` is over.
    fn wait(&self, exit: Option<&OwnedFd>, time: Duration) {
        let exit = exit.map(|exit| PollFd::new(exit, PollFlags::IN));
        let stdin = self.stdin.as_ref().map(|feed| PollFd::new(&feed.pipe, PollFlags::OUT));
        let stdout = self.stdout.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
        let stderr = self.stderr.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
        let mut watched: Vec<PollFd<'_>> = [exit, stdin, stdout, stderr].into_iter().flatten().collect();
        let seconds = i64::try_from(time.as_secs()).expect("a hook's time is minutes");
        let time = Timespec { tv_sec: seconds, tv_nsec: i64::from(time.subsec_nanos()) };
        // Interrupted or not, the caller looks at everything again.
        let _ = poll(&mut watched, Some(&time));
    }
}

/// What goes to a child's stdin.
struct Feed<'a> {
    pipe: ChildStdin,
    left: &'a [u8],
    /// The line end is written as well.
    ended: bool,
}

impl Feed<'_> {
    /// Writes what the pipe takes; false when all is written, or nobody reads.
    fn go_on(&mut self) -> bool {
        loop {
            if self.left.is_empty() {
                if self.ended {
                    return false;
                }
                (self.left, self.ended) = (b"\n", true);
            }
            match self.pipe.write(self.left) {
                Ok(written) => self.left = &self.left[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }
}

/// What comes from a child; read to its end so that the child never waits, kept only as far as bounds allow.
struct Drain<P> {
    pipe: Option<P>,
    kept: Kept,
}

/// The most that is read of one stream before the clock is looked at again, in bytes.
const AT_ONCE: usize = 1 << 20;

impl<P: Read> Drain<P> {
    fn go_on(&mut self) {
        let mut buffer = [0; 16 << 10];
        let mut taken = 0;
        while let Some(pipe) = &mut self.pipe
            && taken < AT_ONCE
        {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(read) => {
                    taken += read;
                    self.kept.take(&buffer[..read]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}
