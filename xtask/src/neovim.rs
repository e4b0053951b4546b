//! Scripts in real Neovims, with the plugin and the server built here; and the picture that one of them draws.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::debian::Debian;
use crate::process::{build, run};
use crate::tally::Tally;
use crate::{editors, tools, workspace};

/// What runs in the pinned Neovim, which starts servers by itself.
const SCRIPTS: [&str; 5] = ["neovim", "neovim_hooks", "neovim_life", "neovim_live", "neovim_plugin"];
/// What runs in an older one, where the plugin starts them.
const OLDER_SCRIPTS: [&str; 1] = ["neovim_older"];

/// Runs all of them.
pub fn test(limit: Duration) -> Result<Tally> {
    let mut all = Tally::default();
    for name in SCRIPTS {
        all.add(one(Command::new(tools::need_neovim()?), name, limit)?);
    }
    match Debian::need() {
        Ok(debian) => {
            for name in OLDER_SCRIPTS {
                all.add(one(debian.program("nvim"), name, limit)?);
            }
        }
        Err(error) => all.add(Tally::failure(&format!("an older Neovim: {error:#}"))),
    }
    Ok(all)
}

fn one(editor: Command, name: &str, limit: Duration) -> Result<Tally> {
    let scratch = tempfile::tempdir()?;
    let mut script = script(editor, &format!("tests/editors/{name}.lua"), scratch.path())?;
    editors::counted(&mut script, name, limit)
}

/// A Lua script that gets the plugin's folder, the server, a scratch folder and the hook as its arguments. Nothing of
/// the user's own Neovim is read or written.
fn script(mut editor: Command, name: &str, scratch: &Path) -> Result<Command> {
    build()?;
    let root = workspace::root();
    editor.args(["-u", "NONE", "-i", "NONE", "--headless", "-l"]).arg(root.join(name));
    editor.arg(root.join("editors/neovim")).arg(workspace::program("ruleline-server", "dev", None)).arg(scratch);
    editor.arg(workspace::program("ruleline", "dev", None));
    editors::of_a_person(&mut editor, scratch);
    Ok(editor)
}

/// Draws the picture of the README.
pub fn screenshot(picture: &Path) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let editor = Command::new(tools::need_neovim()?);
    run(script(editor, "tests/editors/screenshot.lua", scratch.path())?.arg(picture))
}
