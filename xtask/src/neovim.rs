//! Scripts in the pinned Neovim, with the plugin and the server built here; and the picture that one of them draws.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::Args;

use crate::process::{cargo, run};
use crate::{tools, workspace};

/// A Lua script that gets the plugin's folder, the server and a scratch folder as its arguments. Nothing of the user's
/// own Neovim is read or written.
pub fn script(name: &str, scratch: &Path) -> Result<Command> {
    let mut editor = Command::new(tools::need_neovim()?);
    run(&mut cargo(&["build", "--locked", "--package", "ruleline"]))?;
    let root = workspace::root();
    editor.args(["-u", "NONE", "-i", "NONE", "--headless", "-l"]).arg(root.join(name));
    editor.arg(root.join("editors/neovim")).arg(workspace::program("ruleline-server", "dev", None)).arg(scratch);
    editor.arg(workspace::program("ruleline", "dev", None));
    // What started this, an agent perhaps, must not count: the editor is a person's.
    editor
        .env_clear()
        .envs(["PATH", "LANG", "TERM"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    editor.env("RULELINE_TEST_TOP", std::process::id().to_string());
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        editor.env(variable, scratch.join("home"));
    }
    Ok(editor)
}

/// Draws docs/neovim.svg.
#[derive(Args)]
pub struct Screenshot {}

impl Screenshot {
    #[allow(clippy::unused_self, reason = "every command is run alike")]
    pub fn run(self) -> Result<ExitCode> {
        let scratch = tempfile::tempdir()?;
        let picture = workspace::root().join("docs/neovim.svg");
        run(script("tests/editors/screenshot.lua", scratch.path())?.arg(&picture))?;
        println!("{}", picture.display());
        Ok(ExitCode::SUCCESS)
    }
}
