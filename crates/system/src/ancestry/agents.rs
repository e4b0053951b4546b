//! Which coding agents are known, and by what they are told: one table.
//!
//! Names are those of programs, of folders in which agents are installed, and of variables that an agent sets for what
//! it runs. A variable that people set to configure an agent tells nothing and does not stand here.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{Process, plain_name};

/// A coding agent.
struct Known {
    agent: &'static str,
    /// Names of its program or script.
    programs: &'static [&'static str],
    /// Parts of the path of its program or script, in this order and next to each other.
    installed: &'static [&'static str],
    /// Set in what it runs.
    variables: &'static [&'static str],
}

const fn known(
    agent: &'static str,
    programs: &'static [&'static str],
    installed: &'static [&'static str],
    variables: &'static [&'static str],
) -> Known {
    Known { agent, programs, installed, variables }
}

const AGENTS: [Known; 19] = [
    known(
        "Claude Code",
        &["claude", "claude-code"],
        &["@anthropic-ai/claude-code", "claude/versions"],
        &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID"],
    ),
    known(
        "Codex",
        &["codex", "codex-exec", "codex-linux-sandbox"],
        &["@openai/codex"],
        &["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"],
    ),
    known("Gemini CLI", &["gemini"], &["@google/gemini-cli"], &["GEMINI_CLI", "GEMINI_SESSION_ID"]),
    known(
        "Copilot CLI",
        &["copilot"],
        &["@github/copilot"],
        &["COPILOT_CLI", "COPILOT_HOOK_DIR", "COPILOT_PROJECT_DIR"],
    ),
    known("Cursor", &["cursor-agent"], &["cursor-agent/versions"], &["CURSOR_AGENT"]),
    known("opencode", &["opencode"], &["opencode-ai"], &["OPENCODE"]),
    known("aider", &["aider"], &["site-packages/aider"], &[]),
    known("Grok", &["grok"], &["@vibe-kit/grok-cli"], &[]),
    known("CodeBuddy", &["codebuddy"], &["@tencent-ai/codebuddy-code"], &[]),
    known("Qwen Code", &["qwen"], &["@qwen-code/qwen-code"], &["QWEN_CODE"]),
    known("Amp", &["amp"], &["@sourcegraph/amp"], &["AMP_CURRENT_THREAD_ID"]),
    known("Goose", &["goose"], &[], &["GOOSE_TERMINAL"]),
    known("Crush", &["crush"], &["@charmland/crush"], &["CRUSH"]),
    known("Auggie", &["auggie"], &["@augmentcode/auggie"], &["AUGMENT_AGENT"]),
    known("Droid", &["droid"], &[], &[]),
    known("Kiro CLI", &["kiro-cli", "kiro-cli-chat", "qchat"], &[], &[]),
    known("OpenHands", &["openhands"], &["site-packages/openhands"], &[]),
    known("Cline", &["cline"], &[], &["CLINE_ACTIVE"]),
    known("an agent", &[], &[], &["AI_AGENT"]),
];

/// What shows that an agent is behind this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// The agent.
    pub agent: &'static str,
    /// What was seen, as a part of a sentence: `process 12 above this one is ...`. Not escaped.
    pub seen: String,
}

/// The agent that runs this process: by one of the processes above it, the first of which is this one and says nothing
/// about itself, else by a variable that an agent sets. Variables without a value are none.
pub fn agent_of(chain: &[Process], environment: impl IntoIterator<Item = (OsString, OsString)>) -> Option<Sign> {
    let above = chain.iter().skip(1).find_map(|process| {
        let known = AGENTS.iter().find(|known| known.runs_as(process))?;
        let seen = format!("process {} above this one is {}", process.id, process.label());
        Some(Sign { agent: known.agent, seen })
    });
    above.or_else(|| {
        let set: Vec<OsString> =
            environment.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name).collect();
        AGENTS.iter().find_map(|known| {
            let name = known.variables.iter().find(|name| set.iter().any(|it| it == OsStr::new(name)))?;
            Some(Sign {
                agent: known.agent,
                seen: format!("the variable {name} is set, as it is in what an agent runs"),
            })
        })
    })
}

impl Known {
    fn runs_as(&self, process: &Process) -> bool {
        let script = process.script();
        let script_name = script.and_then(Path::file_name).map(|name| plain_name(&name.to_string_lossy()));
        let mut names = process.names().chain(script_name);
        let first_word = process.words.first().map(Path::new);
        let mut paths = [process.program.as_deref(), first_word, script].into_iter().flatten();
        names.any(|name| self.programs.contains(&name.as_str()))
            || paths.any(|path| self.installed.iter().any(|parts| holds(path, parts)))
    }
}

/// Whether the parts stand in a path next to each other.
fn holds(path: &Path, parts: &str) -> bool {
    let wanted: Vec<&OsStr> = parts.split('/').map(OsStr::new).collect();
    let of_path: Vec<&OsStr> = path.iter().collect();
    of_path.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: u32, name: &str, words: &[&str]) -> Process {
        Process { id, name: name.to_owned(), program: None, words: words.iter().map(OsString::from).collect() }
    }

    fn agent(processes: &[Process], variables: &[(&str, &str)]) -> Option<&'static str> {
        let chain: Vec<Process> = std::iter::once(process(9, "claude", &[])).chain(processes.iter().cloned()).collect();
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        agent_of(&chain, variables).map(|sign| sign.agent)
    }

    #[test]
    fn s09_agents_are_told_by_their_processes() {
        for (name, words, expected) in [
            ("claude", &["claude"][..], Some("Claude Code")),
            ("node", &["node", "/x/node_modules/@anthropic-ai/claude-code/cli.js"], Some("Claude Code")),
            ("2.1.332", &["/home/me/.local/share/claude/versions/2.1.332"], Some("Claude Code")),
            ("codex", &["/x/vendor/codex/codex", "exec"], Some("Codex")),
            ("MainThread", &["node", "--no-warnings", "/usr/bin/gemini"], Some("Gemini CLI")),
            ("node", &["node", "/x/@github/copilot/index.js"], Some("Copilot CLI")),
            ("node", &["/home/me/.local/share/cursor-agent/versions/1/node", "index.js"], Some("Cursor")),
            ("python3", &["python3", "-m", "aider"], Some("aider")),
            ("sh", &["sh", "/opt/codebuddy"], Some("CodeBuddy")),
            ("zsh", &["-zsh"], None),
            ("vim", &["vim", "claude"], None),
            ("tmux", &["tmux", "new", "-s", "codex"], None),
            ("bash", &["bash", "-c", "echo claude"], None),
            ("node", &["node", "/x/claude-code-viewer/server.js"], None),
            ("code", &["/usr/share/code/code"], None),
        ] {
            assert_eq!(agent(&[process(8, "bash", &["bash"]), process(7, name, words)], &[]), expected, "{words:?}");
        }
        assert_eq!(agent(&[], &[]), None, "this process says nothing about itself");
    }

    #[test]
    fn s09_agents_are_told_by_what_they_set() {
        for (name, value, expected) in [
            ("CLAUDECODE", "1", Some("Claude Code")),
            ("CODEX_SANDBOX", "seatbelt", Some("Codex")),
            ("GEMINI_CLI", "1", Some("Gemini CLI")),
            ("COPILOT_CLI", "1", Some("Copilot CLI")),
            ("CURSOR_AGENT", "1", Some("Cursor")),
            ("AI_AGENT", "x", Some("an agent")),
            ("CLAUDECODE", "", None),
            ("CODEX_HOME", "/home/me/.codex", None),
            ("ANTHROPIC_API_KEY", "x", None),
        ] {
            assert_eq!(agent(&[], &[(name, value)]), expected, "{name}");
        }
    }

    #[test]
    fn every_agent_is_named_once() {
        let mut names: Vec<_> = AGENTS.iter().flat_map(|it| it.programs.iter().chain(it.variables)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
