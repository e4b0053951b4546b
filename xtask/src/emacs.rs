//! The server in Emacs: eglot is a client written by others, so what passes here is the protocol, not our plugin.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::process::{build, succeeds};
use crate::tally::Tally;
use crate::{editors, tools, workspace};

/// Runs the script in Emacs, with what Debian packages.
pub fn test(limit: Duration) -> Result<Tally> {
    tools::need_program("emacs", "emacs-nox")?;
    let find = "(progn (require 'package) (add-to-list 'package-directory-list \"/usr/share/emacs/site-lisp/elpa\") \
                (package-initialize) (require 'eglot))";
    if !succeeds(Command::new("emacs").args(["-q", "--batch", "--eval", find])) {
        tools::install_debian("elpa-eglot")?;
    }
    build()?;
    let (root, scratch) = (workspace::root(), tempfile::tempdir()?);
    let mut emacs = Command::new("emacs");
    emacs.args(["-q", "--batch", "-l"]).arg(root.join("tests/editors/emacs.el"));
    emacs.arg(root.join("docs/editor-emacs.md")).arg(workspace::program("ruleline-server", "dev", None));
    emacs.arg(scratch.path()).arg(workspace::program("ruleline", "dev", None)).env("LANG", "C.UTF-8");
    editors::of_a_person(&mut emacs, scratch.path());
    editors::counted(&mut emacs, "emacs.el", limit)
}
