//! The scene about trust: a hook that a project brings does not run, is trusted, runs, and stops when a byte changes.
//!
//! The grant is made in the demonstration's own state folder, which is gone afterwards; elsewhere only a person grants.

use std::fs;
use std::time::SystemTime;

use hooks::{Grantor, Means, Store, Tree};
use serde_json::json;

use super::agent::{Agent, Answer};
use super::{Show, Stage, indented};

const MANIFEST: &str = "hooks:\n  PreToolUse:\n    - script: no-force\n      matcher: Bash\n";
const SCRIPT: (&str, &str) = if cfg!(windows) {
    (
        "no-force.ps1",
        "$call = [Console]::In.ReadLine()\nif ($call -like '*push --force*') { [Console]::Error.WriteLine('nobody pushes by force here'); exit 2 }\n",
    )
} else {
    (
        "no-force.sh",
        "read -r call\nif [[ $call == *'push --force'* ]]; then echo 'nobody pushes by force here' >&2; exit 2; fi\n",
    )
};
const COMMAND: &str = "git push --force";
const SAID: &str = "nobody pushes by force here";

/// Plays it.
///
/// # Errors
/// In one line: something did not come out as it is told.
pub fn play(stage: &Stage, show: &mut Show) -> Result<(), String> {
    let folder = stage.root.join(hooks::FOLDER);
    let failed = |error: std::io::Error| format!("the hook cannot be written: {error}");
    fs::create_dir_all(&folder).map_err(failed)?;
    fs::write(folder.join(hooks::MANIFEST), MANIFEST).map_err(failed)?;
    let script = folder.join(SCRIPT.0);
    fs::write(&script, SCRIPT.1).map_err(failed)?;
    show.say(&format!("\nThe project brings a hook, {} and {}:\n\n", hooks::MANIFEST, SCRIPT.0));
    show.say(&indented(&format!("{MANIFEST}\n{}", SCRIPT.1)));

    show.say(&format!(
        "\nNobody has read it. Claude Code wants to run `{COMMAND}`; the hook does not run, and Claude Code is told:\n\n"
    ));
    let before = call(stage, show, "never reviewed", "Claude Code: a hook that is not trusted")?;
    show.say(&indented(&before.context));
    if before.decision.is_some() || !before.context.contains("never reviewed") {
        return Err(format!("a hook that nobody trusted is not left out in plain words: {}", before.stdout.trim()));
    }

    let tree = Tree::read(&stage.root).map_err(|refused| refused.to_string())?.ok_or("the hook is gone")?;
    let by = Grantor { means: Means::Terminal, processes: vec!["ruleline demo".to_owned()] };
    let granted = Store::new(&stage.state).grant(&stage.root, &tree, tree.digest, &by, SystemTime::now());
    granted.map_err(|error| error.to_string())?;
    show.say(
        "\nA person reads it with `ruleline hooks show` and trusts its bytes with `ruleline hooks trust`; here the\n",
    );
    show.say("demonstration does, for itself alone. In the next session the same call is refused:\n\n");
    let trusted = call(stage, show, "trusted", "Claude Code: a trusted hook")?;
    show.say(&indented(&trusted.reason));
    if trusted.decision.as_deref() != Some("deny") || !trusted.reason.contains(SAID) {
        return Err(format!("the trusted hook does not refuse the call: {}", trusted.stdout.trim()));
    }

    fs::write(&script, SCRIPT.1.replace("exit 2", "exit 0")).map_err(failed)?;
    show.say("\nSomebody makes its `exit 2` an `exit 0`. The hook stops, and what it would have guarded is left to a person:\n\n");
    let changed = call(stage, show, "changed", "Claude Code: a trusted hook that was changed")?;
    show.say(&indented(&changed.reason));
    if changed.decision.as_deref() != Some("ask") || !changed.reason.contains(SCRIPT.0) {
        return Err(format!("the changed hook is not stopped: {}", changed.stdout.trim()));
    }
    Ok(())
}

/// One call, in the session in which the hook is as `standing` says.
fn call(stage: &Stage, show: &mut Show, standing: &str, what: &str) -> Result<Answer, String> {
    let agent = Agent::Claude;
    // The session that began with the trusted hook is the one in which it is changed.
    let session = if standing == "changed" { "trusted" } else { standing };
    let payload = agent.shell(&stage.root, session, COMMAND);
    let answer = agent.ask(&stage.program, &stage.state, &stage.root, &payload, &[])?;
    show.took(what, answer.took);
    show.scenes.push(json!({
        "who": agent.flag(), "hook": standing, "tool": "Bash", "decision": answer.decision,
        "reason": if answer.reason.is_empty() { &answer.context } else { &answer.reason },
    }));
    Ok(answer)
}
