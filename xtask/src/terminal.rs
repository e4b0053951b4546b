//! A program in a terminal that nobody sees: keys go in, the screen is read and checked. tmux plays the terminal.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process::{output, run, succeeds};
use crate::tally::Tally;
use crate::{editors, tools};

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_secs(15);

/// The terminal; what runs in it ends with it.
pub struct Terminal {
    name: &'static str,
    socket: PathBuf,
    /// What was checked.
    pub tally: Tally,
}

impl Terminal {
    /// Starts a program in `folder`, as a person would; `name` is what checks are named after.
    pub fn start(name: &'static str, program: &Command, folder: &Path, scratch: &Path) -> Result<Terminal> {
        tools::need_program("tmux", "tmux")?;
        let terminal = Terminal { name, socket: scratch.join("tmux"), tally: Tally::default() };
        let mut start = terminal.tmux();
        start.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        start.env("LANG", "C.UTF-8").env("TERM", "xterm-256color");
        editors::of_a_person(&mut start, scratch);
        start.args(["new-session", "-d", "-x", "200", "-y", "30", "-c"]).arg(folder).arg("--");
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

    /// Counts a check; shows the screen where it failed.
    pub fn check(&mut self, name: &str, passed: bool) -> bool {
        println!("{} {name}", if passed { "ok  " } else { "FAIL" });
        if !passed {
            println!("{}", self.screen());
        }
        self.tally.add(Tally::of(&format!("{}: {name}", self.name), passed));
        passed
    }

    /// Checks that a text comes to stand on the screen.
    pub fn sees(&mut self, name: &str, part: &str) -> bool {
        let seen = self.shows(|screen| screen.contains(part));
        self.check(name, seen)
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
