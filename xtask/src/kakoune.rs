//! The server in Kakoune with kakoune-lsp, set up as its page says: what a person sees on the screen.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process::{cargo, run_with_retries};
use crate::project::{LINE, Project};
use crate::tally::Tally;
use crate::terminal::{Terminal, wait};
use crate::{tools, workspace};

const KAK_LSP: &str = "22.0.0";
const APP: &str = "app.py";
const MANIFEST: &str = ".ruleline/hooks/hooks.yaml";
/// Stands for the language's own server, beside which the page puts ours; it knows nothing.
const OTHER_SERVER: &str = r#"#!/usr/bin/env python3
import json, sys
while line := sys.stdin.buffer.readline():
    size = int(line.split(b":")[1])
    while sys.stdin.buffer.readline().strip():
        pass
    request = json.loads(sys.stdin.buffer.read(size))
    if request.get("method") == "exit":
        break
    if "id" in request and "method" in request:
        result = {"capabilities": {}} if request["method"] == "initialize" else None
        answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer))
        sys.stdout.buffer.flush()
"#;

/// Plays a person in Kakoune.
pub fn test() -> Result<Tally> {
    tools::need_program("kak", "kakoune")?;
    tools::need_program("python3", "python3")?;
    let kak_lsp = need_kak_lsp()?;
    let project = Project::new()?;
    project.configure("kak/kakrc", "docs/editor-kakoune.md", "kak")?;
    project.install("pylsp", OTHER_SERVER)?;
    let mut kakoune = Command::new("kak");
    kakoune.arg(APP).env("PATH", project.path(&[kak_lsp])?);
    let mut terminal = Terminal::start("kakoune", &kakoune, &project.root, &project.base)?;
    let runs = || project.servers();
    terminal.check("one server runs", wait(|| runs().len() == 1 && runs()[0].is_dir()));
    let played =
        findings(&mut terminal).and_then(|()| refusal(&mut terminal, &project)).and_then(|()| hooks(&mut terminal));
    let servers = runs();
    terminal.check("one server did it all", played.is_ok() && servers.len() == 1);
    // However it went: what kakoune-lsp runs ends with Kakoune alone, not with its terminal.
    leave_menu(&terminal)?;
    command(&terminal, "kill!")?;
    terminal.check("closed while it asks, none is left", wait(|| !servers.iter().any(|it| it.exists())));
    played.map(|()| std::mem::take(&mut terminal.tally))
}

/// The folder of the client, which its own crate brings; built once and kept in the cache.
fn need_kak_lsp() -> Result<PathBuf> {
    let folder = workspace::cache()?.join(format!("kak-lsp-{KAK_LSP}"));
    let done = folder.join("complete");
    if !done.is_file() {
        println!("building kak-lsp {KAK_LSP}");
        let target = folder.join("target");
        let mut install =
            cargo(&["install", "kak-lsp", "--version", KAK_LSP, "--locked", "--debug", "--force", "--quiet"]);
        install.arg("--root").arg(&folder).arg("--target-dir").arg(&target);
        // What is not optimized and has no debug information is built in half the time.
        install.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
        run_with_retries(&mut install)?;
        fs::remove_dir_all(target)?;
        fs::write(done, "")?;
    }
    Ok(folder.join("bin"))
}

/// Runs a command of Kakoune.
fn command(terminal: &Terminal, words: &str) -> Result<()> {
    terminal.press(&[":"])?;
    terminal.type_text(words)?;
    terminal.press(&["Enter"])
}

/// Leaves a menu. A key right behind Escape would be taken for one with Alt.
fn leave_menu(terminal: &Terminal) -> Result<()> {
    terminal.press(&["Escape"])?;
    std::thread::sleep(Duration::from_millis(300));
    Ok(())
}

/// Whether the list of all diagnostics is as wanted, sooner or later; it is asked for from a file.
fn listed(terminal: &Terminal, from: &str, wanted: impl Fn(&str) -> bool) -> bool {
    wait(|| {
        let asked = command(terminal, &format!("buffer {from}")).and_then(|()| command(terminal, "lsp-diagnostics"));
        std::thread::sleep(Duration::from_millis(300));
        let screen = terminal.screen();
        asked.is_ok() && screen.contains("*diagnostics*") && wanted(&screen)
    })
}

fn findings(terminal: &mut Terminal) -> Result<()> {
    terminal.sees("the file is open", "def f(n):");
    terminal.press(&["g", "g", "o"])?;
    terminal.type_text(LINE)?;
    terminal.press(&["Escape"])?;
    terminal.sees("the line is marked", &format!("*    {LINE}"));
    let before = format!("    {}", LINE.split("eval").next().expect("it has a call"));
    let place = format!("app.py:2:{}: [error]", before.len() + 1);
    let seen = listed(terminal, APP, |list| list.contains(&place));
    terminal.check("the finding is listed at the call, after emoji", seen);
    terminal.sees("it says why", "no-eval: calls eval. parse it");
    command(terminal, &format!("buffer {APP}"))?;
    terminal.press(&["g", "g"])?;
    command(terminal, "lsp-find-error")?;
    terminal.sees("the cursor goes there", &format!("app.py 2:{}", before.chars().count() + 1));
    command(terminal, "lsp-code-actions")?;
    terminal.sees("actions are offered", "Go to rule no-eval");
    leave_menu(terminal)?;
    command(terminal, "lsp-code-action 'Go to rule.*'")?;
    terminal.sees("the rule's place is told", "Rule no-eval stands in");
    command(terminal, "lsp-code-action 'Explain.*'")?;
    terminal.sees("it is explained", "[rule no-eval of");
    terminal.press(&["x", "d"])?;
    command(terminal, "write")?;
    let cleared = listed(terminal, APP, |list| !list.contains("no-eval"));
    terminal.check("without the line it is clear", cleared);
    Ok(())
}

fn refusal(terminal: &mut Terminal, project: &Project) -> Result<()> {
    terminal.check("a hook refuses an agent", project.refuses()?);
    let seen = listed(terminal, APP, |list| list.contains("claude was refused here: return eval(n)"));
    terminal.check("it is listed who was refused what", seen);
    command(terminal, &format!("buffer {APP}"))?;
    command(terminal, "lsp-find-error")?;
    command(terminal, "lsp-code-action 'Review.*'")?;
    terminal.sees("its review is named", "Review what claude was refused in");
    let review = newest(&project.base.join("state/reviews"))?;
    command(terminal, &format!("edit {}", review.display()))?;
    terminal.sees("it has the refused line", "     2 |     return eval(n)");
    allow(terminal, "lsp-code-action 'Allow this once'", "Allow once")?;
    terminal.sees("who allows it is told", "Allowed once against");
    terminal.check("it passes once", !project.refuses()?);
    terminal.check("and no more", project.refuses()?);
    Ok(())
}

fn newest(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort_by_key(|file| fs::metadata(file).and_then(|it| it.modified()).ok());
    files.pop().context("no review was written")
}

/// Asks for something and agrees; what is not asked is not answered.
fn allow(terminal: &mut Terminal, words: &str, answer: &str) -> Result<()> {
    if !ask(terminal, words) {
        return Ok(());
    }
    command(terminal, "lsp-show-message-request-next")?;
    if terminal.sees("the answers are shown", "Cancel") {
        terminal.type_text(answer)?;
        terminal.press(&["Enter"])?;
    }
    Ok(())
}

/// Asks for something, again until the buffer's actions are there; whether a person is asked.
fn ask(terminal: &mut Terminal, words: &str) -> bool {
    let asked = wait(|| {
        let asked = command(terminal, words).is_ok();
        std::thread::sleep(Duration::from_millis(500));
        asked && terminal.screen().contains("🔔1")
    });
    terminal.check("a person is asked", asked)
}

fn hooks(terminal: &mut Terminal) -> Result<()> {
    command(terminal, &format!("edit {MANIFEST}"))?;
    let seen = listed(terminal, MANIFEST, |list| list.contains("never reviewed"));
    terminal.check("hooks of a clone are said to be not reviewed", seen);
    command(terminal, &format!("buffer {MANIFEST}"))?;
    command(terminal, "lsp-code-action 'Hooks: Trust.*'")?;
    terminal.sees("trusting unread hooks gives the review", "Review the 2 files");
    allow(terminal, "lsp-code-action 'Hooks: Trust.*'", "Trust")?;
    terminal.sees("agreed, they are trusted", "2 hook files of");
    ask(terminal, "lsp-code-action 'Hooks: Untrust.*'");
    Ok(())
}
