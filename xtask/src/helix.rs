//! The server in Helix, set up as its page says: what a person sees on the screen.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::debian::Debian;
use crate::process::{cargo, run};
use crate::tally::Tally;
use crate::terminal::{Terminal, wait};
use crate::workspace;

const RULES: &str =
    "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"eval\"]\nwhy = \"parse it\"\n";
const MANIFEST: &str = "hooks:\n  PreToolUse:\n    - script: block\n      matcher: Bash\n";
const LINE: &str = "x = \"😀é😀\"; y = eval(n)  # 😀";

/// Plays a person in Helix.
pub fn test() -> Result<Tally> {
    let debian = Debian::need()?;
    run(&mut cargo(&["build", "--locked", "--package", "ruleline"]))?;
    let scratch = tempfile::tempdir()?;
    let base = scratch.path().canonicalize()?;
    let (root, settings) = (base.join("project"), base.join("home/helix"));
    for folder in [&root.join(".ruleline/hooks"), &root.join(".git"), &settings, &base.join("bin")] {
        fs::create_dir_all(folder)?;
    }
    fs::write(settings.join("languages.toml"), configuration()?)?;
    fs::write(root.join(".ruleline/rules.toml"), RULES)?;
    fs::write(root.join(".ruleline/hooks/hooks.yaml"), MANIFEST)?;
    fs::write(root.join(".ruleline/hooks/block.sh"), "exit 2\n")?;
    fs::write(root.join("app.py"), "def f(n):\n    return n\n")?;
    let server = base.join("bin/ruleline-server");
    let program = workspace::program("ruleline-server", "dev", None);
    fs::write(
        &server,
        format!("#!/bin/sh\nexec '{}' --state-dir '{}'\n", program.display(), base.join("state").display()),
    )?;
    run(Command::new("chmod").arg("700").arg(&server))?;

    let mut helix = debian.program("hx");
    let path = std::env::var("PATH").unwrap_or_default();
    helix.arg("app.py").env("PATH", format!("{}:{path}", base.join("bin").display()));
    let terminal = Terminal::start(&helix, &root, &base)?;
    let mut tally = Tally::default();
    let runs = || servers(&base.join("state/run"));
    check(&mut tally, "one server runs", wait(|| runs().len() == 1 && runs()[0].is_dir()), &terminal);
    // Helix sends changes out of order that are made while a server starts; a person is slower than that.
    std::thread::sleep(Duration::from_secs(1));
    play(&terminal, &mut tally)?;
    let servers = runs();
    terminal.press(&[":", "q", "a", "!", "Enter"])?;
    check(&mut tally, "closed, none is left", wait(|| !servers.iter().any(|it| it.exists())), &terminal);
    Ok(tally)
}

/// The page's languages.toml.
fn configuration() -> Result<String> {
    let page = fs::read_to_string(workspace::root().join("docs/editor-helix.md"))?;
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    Ok(block.context("docs/editor-helix.md has no configuration")?.to_owned())
}

/// The processes that say of themselves in the folder of sockets that they serve.
fn servers(folder: &Path) -> Vec<PathBuf> {
    let records = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let records = records.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let pid = |path: PathBuf| serde_json::from_slice::<Value>(&fs::read(path).ok()?).ok()?.get("pid")?.as_u64();
    records.filter_map(pid).map(|pid| PathBuf::from(format!("/proc/{pid}"))).collect()
}

fn check(tally: &mut Tally, name: &str, passed: bool, terminal: &Terminal) {
    println!("{} {name}", if passed { "ok  " } else { "FAIL" });
    if !passed {
        println!("{}", terminal.screen());
    }
    tally.add(Tally::of(&format!("helix: {name}"), passed));
}

fn play(terminal: &Terminal, tally: &mut Tally) -> Result<()> {
    let mut sees = |name: &str, part: &str| check(tally, name, terminal.shows(|it| it.contains(part)), terminal);
    sees("the file is open", "def f(n):");
    terminal.press(&["g", "g", "o"])?;
    terminal.type_text(LINE)?;
    terminal.press(&["Escape"])?;
    sees("the finding is counted", "● 1");
    let last = LINE.split("(n)").next().expect("it has a call").chars().count();
    // A key that comes while Helix takes a diagnostic in finds none.
    let selected = wait(|| {
        let pressed = terminal.press(&["g", "h", "]", "d"]).is_ok();
        std::thread::sleep(Duration::from_millis(200));
        pressed && terminal.screen().contains(&format!("1 sel  2:{last}"))
    });
    check(tally, "exactly the call is selected, after emoji", selected, terminal);
    let mut sees = |name: &str, part: &str| check(tally, name, terminal.shows(|it| it.contains(part)), terminal);
    sees("it says why", "no-eval: calls eval. parse it");
    terminal.press(&["Space", "a"])?;
    sees("actions are offered", "Go to rule no-eval");
    terminal.press(&["Enter"])?;
    sees("the rule's place is told", "Rule no-eval stands in");
    terminal.press(&["Space", "a"])?;
    sees("again", "Explain no-eval");
    terminal.press(&["Down", "Enter"])?;
    sees("it is explained", "[rule no-eval of");
    terminal.press(&["x", "d"])?;
    check(tally, "without the line it is clear", terminal.shows(|it| !it.contains("● 1")), terminal);

    let mut sees = |name: &str, part: &str| check(tally, name, terminal.shows(|it| it.contains(part)), terminal);
    terminal.type_text(":open .ruleline/hooks/hooks.yaml")?;
    terminal.press(&["Enter", "x"])?;
    sees("hooks of a clone are said to be not reviewed", "never reviewed");
    terminal.press(&["Space", "a"])?;
    sees("trust is offered", "Hooks: Trust these 2 files");
    terminal.press(&["Down", "Enter"])?;
    sees("trusting unread hooks gives the review", "Review the 2 files");
    terminal.press(&["Space", "a"])?;
    sees("trust is offered again", "Hooks: Trust these 2 files");
    terminal.press(&["Down", "Enter"])?;
    sees("who cannot be asked is sent to the terminal", "ruleline hooks trust");
    Ok(())
}
