//! The VS Code extension: checked, packed, and used in a real VS Code in a headless browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::node::Node;
use crate::process::{build, run, run_lines};
use crate::tally::Tally;
use crate::{editors, tools, workspace};

/// The licences that go into the package.
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// Runs all of it; with a folder for pictures the tests leave screenshots there.
pub fn test(limit: Duration, pictures: Option<&Path>) -> Result<Tally> {
    let node = Node::need()?;
    let (extension, tests) = (extension(), workspace::root().join("tests/editors/vscode"));
    node.need_packages(&extension)?;
    let mut all = Tally::default();
    for (name, script) in [("types of the VS Code extension", "check"), ("lints of the VS Code extension", "lint")] {
        all.add(Tally::of(name, run(node.npm(&extension).args(["run", "--silent", script])).is_ok()));
    }
    all.add(unit_tests(&node, limit)?);
    let code = node.need_code_server()?;
    node.need_packages(&tests)?;
    tools::need_program("chromium", "chromium")?;
    if !Path::new("/usr/share/fonts/truetype/dejavu").is_dir() {
        tools::install_debian("fonts-dejavu-core")?;
    }
    build()?;
    // As it is shipped, but for the optimization: what the debugger wants would be most of the package.
    let server = workspace::target().join("vscode/ruleline-server");
    fs::create_dir_all(server.parent().expect("it lies in a folder"))?;
    fs::copy(workspace::program("ruleline-server", "dev", None), &server)?;
    run(Command::new("strip").arg(&server))?;
    let package = workspace::target().join("vscode/ruleline.vsix");
    pack(&node, &server, None, &package)?;
    // Not in a folder of long or random name: it is seen in the pictures.
    let scratch = tempfile::Builder::new().prefix("ada-").tempdir()?;
    let mut script = node.node();
    script.arg(tests.join("run.mjs")).arg(&code).arg(&package).arg(workspace::program("ruleline", "dev", None));
    script.arg(scratch.path()).args(pictures);
    editors::of_a_person(&mut script, scratch.path());
    all.add(editors::counted(&mut script, "the tests in VS Code", limit)?);
    Ok(all)
}

/// Packs the extension with a server that was built for `target` (in VS Code's words, such as `linux-x64`); one without
/// a target can be installed on this machine only.
pub fn pack(node: &Node, server: &Path, target: Option<&str>, package: &Path) -> Result<()> {
    let extension = extension();
    node.need_packages(&extension)?;
    run(node.npm(&extension).args(["run", "--silent", "build"]))?;
    let bundled = extension.join("server");
    if bundled.exists() {
        fs::remove_dir_all(&bundled)?;
    }
    fs::create_dir_all(&bundled)?;
    fs::copy(server, bundled.join(server.file_name().expect("a program has a name")))?;
    for licence in LICENCES {
        fs::copy(workspace::root().join(licence), extension.join(licence))
            .with_context(|| format!("{licence} cannot be packed"))?;
    }
    fs::create_dir_all(package.parent().expect("it lies in a folder"))?;
    let mut pack = node.npm(&extension);
    pack.args(["run", "--silent", "package", "--", "--out"]).arg(package);
    if let Some(target) = target {
        pack.args(["--target", target]);
    }
    run(&mut pack)
}

fn extension() -> PathBuf {
    workspace::root().join("editors/vscode")
}

fn unit_tests(node: &Node, limit: Duration) -> Result<Tally> {
    let mut test = node.npm(&extension());
    let mut tally = Tally::default();
    let status = run_lines(test.args(["run", "--silent", "test"]), limit, |line| tally.read_node_line(line))?;
    if !status.success() && tally.failed == 0 || tally.passed + tally.failed == 0 {
        tally.add(Tally::failure(&format!("the unit tests of the VS Code extension ({status})")));
    }
    Ok(tally)
}
