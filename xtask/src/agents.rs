//! Real clients of the index and of the reminder: the official MCP client and Claude Code, by a script that counts.

use std::time::Duration;

use anyhow::Result;

use crate::editors::counted;
use crate::node::Node;
use crate::process::build;
use crate::tally::Tally;
use crate::workspace;

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(5 * 60);

/// Runs the script against the programs that were just built.
pub fn test() -> Result<Tally> {
    let folder = workspace::root().join("tests/agents");
    let node = Node::need()?;
    node.need_packages(&folder)?;
    build()?;
    let programs = workspace::target().join("debug");
    counted(node.node().arg(folder.join("run.mjs")).arg(programs), "run.mjs", LIMIT)
}
