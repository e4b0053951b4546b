//! A program in a terminal that nobody sees: keys go in, the screen is read. tmux plays the terminal.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process::{output, run, succeeds};
use crate::{editors, tools};

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_secs(15);

/// The terminal; what runs in it ends with it.
pub struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Starts a program in `folder`, as a person would.
    pub fn start(program: &Command, folder: &Path, scratch: &Path) -> Result<Terminal> {
        tools::need_program("tmux", "tmux")?;
        let terminal = Terminal { socket: scratch.join("tmux") };
        let mut start = terminal.tmux();
        start.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        start.env("LANG", "C.UTF-8").env("TERM", "xterm-256color");
        editors::of_a_person(&mut start, scratch);
        start.args(["new-session", "-d", "-x", "110", "-y", "30", "-c"]).arg(folder).arg("--");
        run(start.arg(program.get_program()).args(program.get_args()))?;
        Ok(terminal)
    }

    /// Presses keys, named as tmux names them.
    pub fn press(&self, keys: &[&str]) -> Result<()> {
        run(self.tmux().args(["send-keys", "--"]).args(keys))
    }

    /// Types a text.
    pub fn type_text(&self, text: &str) -> Result<()> {
        run(self.tmux().args(["send-keys", "-l", "--", text]))
    }

    /// What stands on the screen.
    pub fn screen(&self) -> String {
        output(self.tmux().args(["capture-pane", "-p"])).unwrap_or_default()
    }

    /// Waits until the screen is as wanted; whether it became so.
    pub fn shows(&self, wanted: impl Fn(&str) -> bool) -> bool {
        wait(|| wanted(&self.screen()))
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.args(["-f", "/dev/null", "-S"]).arg(&self.socket);
        tmux
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        succeeds(self.tmux().arg("kill-server"));
    }
}

/// Waits until a condition holds; whether it did.
pub fn wait(condition: impl Fn() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}
