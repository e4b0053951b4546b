//! What the stages of all editors share: the surroundings that a person's editor has, and the count that it ends with.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::run_lines;
use crate::tally::Tally;

/// Gives an editor nothing of the surroundings of whoever runs the tests, an agent perhaps: it is a person's, and its
/// home is the scratch folder. What was set on the command before stays.
pub fn of_a_person(editor: &mut Command, scratch: &Path) {
    let set: Vec<_> = editor.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    let kept = ["PATH", "LANG", "TERM"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    editor.env_clear().envs(kept).env("RULELINE_TEST_TOP", std::process::id().to_string());
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        editor.env(variable, scratch.join("home"));
    }
    editor.envs(set.into_iter().filter_map(|(name, value)| Some((name, value?))));
}

/// Runs a script that prints `FAIL name` for each failed check and `N passed, N failed` at its end.
pub fn counted(script: &mut Command, name: &str, limit: Duration) -> Result<Tally> {
    let mut tally = Tally::default();
    let status = run_lines(script, limit, |line| tally.read_script_line(line))?;
    if tally.passed + tally.failed == 0 {
        bail!("{name} printed no count ({status})");
    }
    if !status.success() && tally.failed == 0 {
        tally.add(Tally::failure(&format!("{name} ({status})")));
    }
    Ok(tally)
}
