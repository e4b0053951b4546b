//! What may stand in `hooks.yaml`, with what it means: the tables behind reading it, completion and hover.

use rules::keys::{Key, Values, Word};

/// The events a hook may be for.
pub const EVENTS: [Word; 11] = [
    Word { text: "PreToolUse", about: "before a tool is used; the hook may refuse the call" },
    Word { text: "PostToolUse", about: "after a tool was used" },
    Word { text: "PostToolUseFailure", about: "after a tool failed" },
    Word { text: "UserPromptSubmit", about: "a person sends a prompt" },
    Word { text: "SessionStart", about: "a session begins, or goes on" },
    Word { text: "SessionEnd", about: "a session ends" },
    Word { text: "Stop", about: "the agent is done with its answer" },
    Word { text: "SubagentStop", about: "an agent of the agent is done" },
    Word { text: "PreCompact", about: "before the agent shortens what it remembers" },
    Word { text: "Notification", about: "the agent notifies its user" },
    Word { text: "PermissionRequest", about: "the agent is about to ask for permission to use a tool" },
];

/// What becomes of a call when its hook fails.
pub(crate) const ON_ERROR: [Word; 3] = [
    Word { text: "allow", about: "the call goes on, and you are told" },
    Word { text: "ask", about: "a person decides on the call" },
    Word { text: "deny", about: "the call is refused" },
];

/// The hooks that are part of Ruleline.
pub(crate) const BUILTINS: [Word; 2] = [
    Word { text: "duet", about: "asks a person before every call that may change something" },
    Word { text: "memory-capture", about: "keeps nothing in this version, and says so" },
];

/// Names of tools for a matcher that hold for every agent, and two that agents use most.
pub const TOOLS: [Word; 8] = [
    Word { text: "write", about: "every agent's tool that writes a whole file" },
    Word { text: "edit", about: "every agent's tool that changes a part of a file" },
    Word { text: "shell", about: "every agent's tool that runs commands" },
    Word { text: "read", about: "every agent's tool that reads a file" },
    Word { text: "search", about: "every agent's tool that looks for text or files" },
    Word { text: "list", about: "every agent's tool that lists a folder" },
    Word { text: "Bash", about: "Claude Code's and Codex's own name of the tool that runs commands" },
    Word { text: "apply_patch", about: "Codex's own name of the tool that changes files" },
];

/// The key at the top.
pub const TOP: &str = "hooks";

/// The keys of an entry; of the first three exactly one stands in it.
pub const ENTRY: [Key; 6] = [
    Key::new("script", Values::Text, "block-dangerous", "a script of this folder, without its extension"),
    Key::new("builtin", Values::Words(&BUILTINS), "duet", "a hook that is part of Ruleline"),
    Key::new(
        "command",
        Values::Texts,
        "[ruff, check, --quiet]",
        "a program and its arguments; no shell looks at them, and the program is on the PATH or an absolute path",
    ),
    Key::new(
        "matcher",
        Values::Text,
        "Bash|apply_patch",
        "a regular expression that must match the whole name of the tool; without it every tool",
    ),
    Key::new("timeout", Values::Number, "10", "how many seconds the hook may take; fractions too, at most 600")
        .usually("30"),
    Key::new("on_error", Values::Words(&ON_ERROR), "ask", "what becomes of the call when the hook fails")
        .usually("allow"),
];

/// The keys of an entry that say what it runs.
pub const ACTIONS: [&str; 3] = ["script", "builtin", "command"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Entry, Manifest, Platform};
    use crate::{builtin, manifest};

    fn load(lines: &[String]) -> Manifest {
        let text = format!("{TOP}:\n  PreToolUse:\n    - {}\n", lines.join("\n      "));
        Manifest::parse(text.as_bytes(), &|_| true, Platform::Unix, &builtin::names())
    }

    /// The line of a key in an entry that runs something.
    fn lines(key: &Key, value: &str) -> Vec<String> {
        let action = (!ACTIONS.contains(&key.name)).then(|| "script: a".to_owned());
        action.into_iter().chain([format!("{}: {value}", key.name)]).collect()
    }

    #[test]
    fn the_loader_takes_every_key_and_every_word_of_the_tables() {
        for key in &ENTRY {
            for value in [key.example].into_iter().chain(key.words().iter().map(|word| word.text)) {
                let manifest = load(&lines(key, value));
                assert_eq!((manifest.entries.len(), manifest.problems.len()), (1, 0), "{}: {value}", key.name);
            }
        }
        for event in &EVENTS {
            let text = format!("{TOP}:\n  {}:\n    - script: a\n", event.text);
            let manifest = Manifest::parse(text.as_bytes(), &|_| true, Platform::Unix, &[]);
            assert_eq!((manifest.entries.len(), manifest.problems.len()), (1, 0), "{}", event.text);
        }
        for tool in &TOOLS {
            assert_eq!(load(&["script: a".into(), format!("matcher: {}", tool.text)]).entries.len(), 1);
        }
    }

    #[test]
    fn the_loader_names_the_keys_and_words_of_the_tables() {
        let told = |lines: &[String], behind: &str| {
            let manifest = load(lines);
            let message = &manifest.problems[0].message;
            let (_, told) = message.split_once(behind).unwrap_or_else(|| panic!("{message}"));
            told.split(", ").map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(told(&["script: a".into(), "zzzzzzzz: 1".into()], "Keys are "), rules::keys::names(&ENTRY));
        for (key, behind) in [("builtin", "there are "), ("on_error", "is one of ")] {
            let key = rules::keys::find(&ENTRY, key).unwrap();
            let words: Vec<&str> = key.words().iter().map(|word| word.text).collect();
            assert_eq!(told(&lines(key, "zzzzzzzz"), behind), words);
        }
        assert_eq!(builtin::names(), rules::keys::texts(&BUILTINS));
        assert_eq!(crate::EVENTS, rules::keys::texts(&EVENTS));
    }

    #[test]
    fn what_is_said_to_hold_without_a_key_does() {
        let said = |lines: &[String]| {
            let entry: Entry = load(lines).entries.remove(0);
            (entry.timeout, entry.on_error.unwrap_or(manifest::OnError::Allow))
        };
        for key in ENTRY.iter().filter(|key| key.usual.is_some()) {
            let usual = key.usual.unwrap_or_default();
            assert_eq!(said(&lines(key, usual)), said(&["script: a".into()]), "{}", key.name);
            assert_ne!(said(&lines(key, key.example)), said(&["script: a".into()]), "{}", key.name);
        }
    }
}
