//! The server in Helix, set up as its page says: what a person sees on the screen.

use std::time::Duration;

use anyhow::Result;

use crate::debian::Debian;
use crate::project::{LINE, Project};
use crate::tally::Tally;
use crate::terminal::{Terminal, wait};

/// Plays a person in Helix.
pub fn test() -> Result<Tally> {
    let debian = Debian::need()?;
    let project = Project::new()?;
    project.configure("helix/languages.toml", "docs/editor-helix.md", "toml")?;
    let mut helix = debian.program("hx");
    helix.arg("app.py").env("PATH", project.path(&[])?);
    let mut terminal = Terminal::start("helix", &helix, &project.root, &project.base)?;
    let runs = || project.servers();
    terminal.check("one server runs", wait(|| runs().len() == 1 && runs()[0].is_dir()));
    // Helix sends changes out of order that are made while a server starts; a person is slower than that.
    std::thread::sleep(Duration::from_secs(1));
    findings(&mut terminal)?;
    refusal(&mut terminal, &project)?;
    hooks(&mut terminal)?;
    let servers = runs();
    terminal.press(&[":", "q", "a", "!", "Enter"])?;
    terminal.check("closed, none is left", wait(|| !servers.iter().any(|it| it.exists())));
    Ok(std::mem::take(&mut terminal.tally))
}

/// Goes to the next diagnostic; whether the cursor then stands there. A key that comes while Helix takes a diagnostic
/// in finds none.
fn goes_to(terminal: &Terminal, place: &str) -> bool {
    wait(|| {
        let pressed = terminal.press(&["g", "h", "]", "d"]).is_ok();
        std::thread::sleep(Duration::from_millis(200));
        pressed && terminal.screen().contains(place)
    })
}

fn findings(terminal: &mut Terminal) -> Result<()> {
    terminal.sees("the file is open", "def f(n):");
    terminal.press(&["g", "g", "o"])?;
    terminal.type_text(LINE)?;
    terminal.press(&["Escape"])?;
    terminal.sees("the finding is counted", "● 1");
    let last = LINE.split("(n)").next().expect("it has a call").chars().count();
    let selected = goes_to(terminal, &format!("1 sel  2:{last}"));
    terminal.check("exactly the call is selected, after emoji", selected);
    terminal.sees("it says why", "no-eval: calls eval. parse it");
    terminal.press(&["Space", "a"])?;
    terminal.sees("actions are offered", "Go to rule no-eval");
    terminal.press(&["Enter"])?;
    terminal.sees("the rule's place is told", "Rule no-eval stands in");
    terminal.press(&["Space", "a"])?;
    terminal.sees("again", "Explain no-eval");
    terminal.press(&["Down", "Enter"])?;
    terminal.sees("it is explained", "[rule no-eval of");
    terminal.press(&["x", "d"])?;
    let cleared = terminal.shows(|screen| !screen.contains("● 1"));
    terminal.check("without the line it is clear", cleared);
    Ok(())
}

fn refusal(terminal: &mut Terminal, project: &Project) -> Result<()> {
    terminal.check("a hook refuses an agent", project.refuses()?);
    terminal.sees("the refusal is counted", "● 1");
    terminal.press(&["g", "g"])?;
    goes_to(terminal, "1 sel  2:");
    terminal.sees("it says who was refused what", "claude was refused here: return eval(n)");
    terminal.press(&["Space", "a"])?;
    terminal.sees("the review is offered", "Review this refusal and allow it once");
    terminal.press(&["Escape"])
}

fn hooks(terminal: &mut Terminal) -> Result<()> {
    terminal.type_text(":open .ruleline/hooks/hooks.yaml")?;
    terminal.press(&["Enter", "x"])?;
    terminal.sees("hooks of a clone are said to be not reviewed", "never reviewed");
    terminal.press(&["Space", "a"])?;
    terminal.sees("trust is offered", "Hooks: Trust these 2 files");
    terminal.press(&["Down", "Enter"])?;
    terminal.sees("trusting unread hooks gives the review", "Review the 2 files");
    terminal.press(&["Space", "a"])?;
    terminal.sees("trust is offered again", "Hooks: Trust these 2 files");
    terminal.press(&["Down", "Enter"])?;
    terminal.sees("who cannot be asked is sent to the terminal", "ruleline hooks trust");
    Ok(())
}
