//! The keys of `config.toml` that do something in this version, with what they mean, for completion and hover.
//!
//! What a project may do with each is the law's alone to say: [`super::law_of`].

use rules::keys::{Key, Values, Word};

const BASELINE: [Word; 3] = [
    Word { text: "head", about: "the last commit" },
    Word { text: "disk", about: "the saved file" },
    Word { text: "all", about: "nothing: every line counts as added" },
];

const INSTRUCTION_CHECK: [Word; 3] = [
    Word { text: "ask", about: "a person decides" },
    Word { text: "warn", about: "it is said, and the edit goes through" },
    Word { text: "off", about: "nothing is looked for" },
];

const ON_FAILURE: [Word; 2] =
    [Word { text: "ask", about: "a person decides" }, Word { text: "deny", about: "it is refused" }];

const ASK_UNATTENDED: [Word; 2] = [
    Word { text: "deny", about: "it is refused, saying that a person must confirm" },
    Word { text: "ask", about: "it is asked all the same" },
];

const ON_CHANGE: [Word; 2] = [
    Word { text: "stop", about: "none of them runs until you trust the new ones" },
    Word { text: "keep", about: "the copy that you trusted goes on running" },
];

const LOG: [Word; 3] = [
    Word { text: "all", about: "every decision" },
    Word { text: "findings", about: "decisions that a rule or a hook had something to say on" },
    Word { text: "off", about: "nothing" },
];

const UNSAVED_BUFFERS: [Word; 2] =
    [Word { text: "ask", about: "a person decides" }, Word { text: "off", about: "nothing is looked at" }];

/// The keys of an agent's table.
pub const AGENT: [Key; 1] = [Key::new(
    "attended",
    Values::Bool,
    "true",
    "somebody watches this agent, so that it may be asked in every mode; leave it out for Codex, which runs what asks",
)
.usually("false")];

const REMINDER_MODE: [Word; 3] = [
    Word { text: "deny", about: "one call is refused, with what the index knows; the same call again goes through" },
    Word { text: "advise", about: "the call goes through, and what the index knows is said beside it" },
    Word { text: "off", about: "nothing is counted" },
];

/// The keys of the reminder.
pub const REMINDER: [Key; 10] = [
    Key::new(
        "mode",
        Values::Words(&REMINDER_MODE),
        r#""advise""#,
        "what becomes of a call that is one too many; without it `deny` where the session has symbolic tools, else `advise`",
    ),
    Key::new("searches", Values::Number, "5", "so many searches for names in a row are enough").usually("3"),
    Key::new("reads", Values::Number, "5", "so many reads of code in a row are enough").usually("3"),
    Key::new("combined", Values::Number, "6", "so many of both in a row are enough").usually("4"),
    Key::new("search_gap", Values::Number, "600", "the longest gap between two searches in a row, in seconds")
        .usually("1000"),
    Key::new("read_gap", Values::Number, "600", "the longest gap between two reads in a row, in seconds")
        .usually("1000"),
    Key::new("combined_gap", Values::Number, "900", "the longest gap between two of either in a row, in seconds")
        .usually("2000"),
    Key::new("quiet", Values::Number, "600", "how long nothing is counted and said after something was, in seconds")
        .usually("120"),
    Key::new(
        "batch_ms",
        Values::Number,
        "500",
        "calls that begin this shortly after each other count once, in milliseconds",
    )
    .usually("200"),
    Key::new(
        "servers",
        Values::Texts,
        r#"["serena", "code-index"]"#,
        "the MCP servers whose tools are symbolic, by their whole names",
    )
    .usually(r#"["serena", "ruleline"]"#),
];

/// The keys of the approval of symbolic tools.
pub const AUTO_APPROVE: [Key; 2] = [
    Key::new(
        "servers",
        Values::Texts,
        r#"["serena"]"#,
        "the MCP servers whose symbolic tools go through without a question in the modes acceptEdits and auto, by their whole names",
    )
    .usually("[]"),
    Key::new("exclude", Values::Texts, r#"["rename_*"]"#, "tools of theirs that do not; `*` stands for anything").usually("[]"),
];

/// The keys of sessions.
pub const SESSION: [Key; 1] = [Key::new(
    "briefing",
    Values::Bool,
    "false",
    "a session is told as it begins how many rules hold, which hooks wait for review, and of symbolic tools",
)
.usually("true")];

/// The keys of the symbol index.
pub const SYMBOLS: [Key; 3] = [
    Key::new("files", Values::Number, "20000", "most files that are indexed").usually("200000"),
    Key::new("file_kib", Values::Number, "512", "the largest file that is indexed, in KiB").usually("2048"),
    Key::new("mib", Values::Number, "64", "most symbols that are kept, in MiB").usually("256"),
];

/// The keys of the file.
pub const CONFIG: [Key; 14] = [
    Key::new("baseline", Values::Words(&BASELINE), r#""disk""#, "what the editor compares a buffer with")
        .usually(r#""head""#),
    Key::new(
        "instruction_check",
        Values::Words(&INSTRUCTION_CHECK),
        r#""warn""#,
        "what becomes of text in an edit that reads like an order to an assistant",
    )
    .usually(r#""ask""#),
    Key::new("on_failure", Values::Words(&ON_FAILURE), r#""deny""#, "what an event gets that could not be judged")
        .usually(r#""ask""#),
    Key::new(
        "ask_unattended",
        Values::Words(&ASK_UNATTENDED),
        r#""ask""#,
        "what an ask becomes in Claude Code where nobody can answer",
    )
    .usually(r#""deny""#),
    Key::new(
        "on_change",
        Values::Words(&ON_CHANGE),
        r#""keep""#,
        "what becomes of a project's hooks once their files differ from what you trusted",
    )
    .usually(r#""stop""#),
    Key::new(
        "project_hooks_may_allow",
        Values::Bool,
        "true",
        "an `allow` of a project's trusted hook counts; without it only your own hooks allow",
    )
    .usually("false"),
    Key::new(
        "interpreters",
        Values::Texts,
        if cfg!(windows) { r"['C:\tools\powershell.exe']" } else { r#"["/opt/bin/bash"]"# },
        "absolute paths of a bash (on Windows of a powershell) for hooks, tried before the usual places",
    )
    .usually("[]"),
    Key::new("log", Values::Words(&LOG), r#""findings""#, "which decisions are recorded").usually(r#""all""#),
    Key::new(
        "unsaved_buffers",
        Values::Words(&UNSAVED_BUFFERS),
        r#""off""#,
        "what an agent's edit gets of a file that an editor holds with changes that are not saved",
    )
    .usually(r#""ask""#),
    Key::new(
        "reminder",
        Values::Table(&REMINDER),
        "{ searches = 5 }",
        "when an agent that searches and reads its way through code is told what the index knows",
    )
    .usually("{}"),
    Key::new(
        "auto_approve",
        Values::Table(&AUTO_APPROVE),
        r#"{ servers = ["serena"] }"#,
        "symbolic tools that go through without a question",
    )
    .usually("{}"),
    Key::new("session", Values::Table(&SESSION), "{ briefing = false }", "what a session is told as it begins")
        .usually("{}"),
    Key::new(
        "symbols",
        Values::Table(&SYMBOLS),
        "{ files = 20000 }",
        "how much of a project the symbol index takes in",
    )
    .usually("{}"),
    Key::new("agents", Values::Named(&AGENT), "{ claude = { attended = true } }", "settings of one agent, by its name")
        .usually("{}"),
];

/// The agents that there are, by the names that stand behind `agents.`.
pub fn agents() -> Vec<&'static str> {
    agents::Dialect::ALL.map(agents::Dialect::name).to_vec()
}

/// Names that are kept for later versions and do nothing in this one.
pub const KEPT: [&str; 5] = ["deciders", "duet", "languages", "mcp_edit_tools", "telemetry"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::config::{LAW, Owner};

    fn user(text: &str) -> Config {
        let mut config = Config::default();
        config.apply("config.toml".as_ref(), text.as_bytes(), Owner::User);
        config
    }

    fn only_problem(text: &str) -> String {
        let problems = user(text).problems;
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        problems[0].message.clone()
    }

    #[test]
    fn the_loader_takes_every_key_and_every_value_of_the_table_and_heeds_them() {
        for key in &CONFIG {
            let (name, example) = (key.name, key.example);
            let found = user(&format!("{name} = {example}"));
            assert_eq!(found.problems, [], "{name}");
            assert_ne!(found, Config::default(), "{name} = {example} does nothing");
            assert_eq!(user(&format!("{name} = {}", key.usual.unwrap())), Config::default(), "{name}");
            for word in key.words() {
                let quoted = if key.values == Values::Bool { word.text.to_owned() } else { format!("{:?}", word.text) };
                assert_eq!(user(&format!("{name} = {quoted}")).problems, [], "{name} = {quoted}");
            }
        }
        for agent in agents() {
            for key in &AGENT {
                let found = user(&format!("[agents.{agent}]\n{} = {}\n", key.name, key.example));
                assert_eq!((found.problems.len(), found.attended), (0, vec![agent.to_owned()]));
            }
        }
    }

    #[test]
    fn the_loader_takes_no_other_value_and_names_those_of_the_table() {
        for key in CONFIG.iter().filter(|key| !key.words().is_empty()) {
            let message = only_problem(&format!("{} = \"nonsense\"", key.name));
            let (_, told) = message.split_once("is one of ").unwrap();
            let told: Vec<&str> = told.split(", ").map(|word| word.trim_matches('"')).collect();
            assert_eq!(told, key.words().iter().map(|word| word.text).collect::<Vec<_>>(), "{}", key.name);
        }
        assert!(only_problem("interpreters = [1]").contains("list"));
        assert!(only_problem("agents = 1").contains("[agents.NAME]"));
    }

    #[test]
    fn every_key_that_does_something_is_in_the_table() {
        for (name, _) in LAW {
            let is_described = rules::keys::find(&CONFIG, name).is_some();
            assert_ne!(is_described, KEPT.contains(&name), "{name}");
        }
        for key in &CONFIG {
            assert!(LAW.iter().any(|(name, _)| *name == key.name), "{}", key.name);
        }
    }
}
