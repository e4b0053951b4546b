//! What a command runs that only a person may (S11): Ruleline, beyond what an agent needs of it.
//!
//! Best effort, by the words of simple commands: who hides a name finds the same refusal in Ruleline itself, which looks
//! at the processes it was started by.

use std::path::Path;

use syntax::shell::Commands;

use super::{base_name, own_words};

/// The programs of Ruleline.
const OURS: [&str; 2] = ["ruleline", "ruleline-server"];
/// What an agent may run of it.
const FREE: [&str; 5] = ["check", "test", "symbols", "explain", "mcp"];
/// Most words that are read behind a name in a text.
const MENTIONED: usize = 32;
/// What only tells about the program.
const TELLS: [&str; 5] = ["--help", "-h", "--version", "-V", "help"];

/// Programs that run what stands somewhere in their words.
const RUNNERS: [&str; 40] = [
    "sudo",
    "doas",
    "su",
    "runuser",
    "env",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "nohup",
    "setsid",
    "timeout",
    "time",
    "stdbuf",
    "unbuffer",
    "script",
    "expect",
    "xargs",
    "parallel",
    "find",
    "fd",
    "watch",
    "flock",
    "strace",
    "ltrace",
    "gdb",
    "busybox",
    "chroot",
    "unshare",
    "systemd-run",
    "tmux",
    "screen",
    "at",
    "batch",
    "eval",
    "exec",
    "command",
    "builtin",
    "trap",
    "socat",
];
/// Programs that run a text in a language of their own.
const INTERPRETERS: [&str; 16] = [
    "python", "python2", "python3", "node", "deno", "bun", "perl", "ruby", "php", "lua", "awk", "gawk", "tclsh", "sh",
    "bash", "zsh",
];

/// Programs to which the words behind them are text.
const READERS: [&str; 16] = [
    "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "ack", "git", "ls", "cat", "cd", "which", "type", "man",
    "hash",
];
/// What is for a person, where it stands behind our name among the words of any program.
const FOR_PERSONS: [&str; 6] = ["hooks", "hook", "install", "uninstall", "init", "doctor"];
/// Programs that give a file or a command another name.
const RENAMERS: [&str; 7] = ["alias", "cp", "ln", "mv", "install", "rsync", "hash"];

/// Whether a text may hold something of this kind; a scan of its bytes. `cwd` is where it runs.
pub(super) fn may_hold(command: &str, cwd: Option<&Path>) -> bool {
    // Quotes within a name do not change it, and some file systems tell no case of letters.
    let mut text = command.to_ascii_lowercase();
    text.retain(|it| !matches!(it, '"' | '\'' | '\\'));
    let has = |part: &str| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some();
    has("ruleline")
        || memchr::memmem::find(command.as_bytes(), b"$'").is_some()
        || crate::protect::may_name(&text)
        // A folder goes with all that is in it.
        || ((has("rm ") || has("mv ")) && ["~", "$", ".local", ".config"].iter().any(|part| has(part)))
        || cwd.is_some_and(crate::protect::may_lie_in)
}

/// Whether a program runs what stands somewhere in its words.
pub(super) fn is_runner(name: &str) -> bool {
    RUNNERS.contains(&name)
}

/// Why a person must run this command; none when it runs nothing of Ruleline that an agent may not.
pub(super) fn runs_ruleline(text: &str, commands: &Commands, index: usize) -> Option<String> {
    let simple = &commands.simple[index];
    let words: Vec<Option<&str>> = simple.words.iter().map(|word| word.value.as_deref()).collect();
    let own = own_words(simple);
    let program = own.first().copied().flatten().map(program_name);
    if let Some(program) = &program
        && OURS.contains(&program.as_str())
    {
        return objection(program, &own[1..]);
    }
    match program.as_deref() {
        // The name itself is not in the text.
        None if own.first().is_some_and(Option::is_none) && mentions(text).next().is_some() => {
            Some("it runs a program whose name is not spelled out, and names ruleline".to_owned())
        }
        None => None,
        Some(program) if INTERPRETERS.contains(&program) => {
            let inputs = simple.inputs.iter().filter_map(syntax::shell::Input::text);
            let code = words.iter().skip(1).flatten().filter(|word| word.contains([' ', '(', '\n', '"', '\'']));
            let code: Vec<String> = inputs.chain(code.map(|&word| word.to_owned())).collect();
            let shell = program.ends_with("sh");
            // Where a shell reads the text, its commands are looked at by themselves.
            let objects = |(program, rest): (&str, Vec<Option<&str>>)| {
                let hidden = !shell && rest.is_empty();
                hidden || objection(program, &rest).is_some()
            };
            let found = code.iter().flat_map(|code| mentions(code)).any(objects);
            found.then(|| format!("{program} may run ruleline in it")).or_else(|| among(&words, &FOR_PERSONS))
        }
        Some(program) if RENAMERS.contains(&program) => {
            let hidden = |word: &&syntax::shell::Word| {
                let written = text.get(word.span.clone()).unwrap_or_default();
                (word.value.is_none() || program == "alias") && mentions(written).next().is_some()
            };
            simple.words.iter().find(hidden).map(|_| format!("`{program}` may give ruleline another name"))
        }
        Some(_) if words.iter().flatten().any(|word| is_runner(&program_name(word))) => {
            among(&words, &[]).or_else(|| {
                // A whole command in one word, as `script -c` and `watch` take it.
                let whole = words.iter().flatten().filter(|word| word.contains(char::is_whitespace));
                whole.flat_map(|word| mentions(word)).find_map(|(program, rest)| objection(program, &rest))
            })
        }
        Some(program) if READERS.contains(&program) => None,
        Some(_) => among(&words, &FOR_PERSONS),
    }
}

/// Whether a part of the command could not be read, and the text runs something of Ruleline that an agent may not.
pub(super) fn hides_ruleline(text: &str, commands: &Commands) -> bool {
    commands.opaque && mentions(text).any(|(program, rest)| objection(program, &rest).is_some())
}

/// Why only a person may run what stands behind one of our names among these words; `subcommands` are those that count,
/// all where there are none.
fn among(words: &[Option<&str>], subcommands: &[&str]) -> Option<String> {
    let ours = |at: usize| {
        let program = program_name(words[at]?);
        let counts = subcommands.is_empty() || words[at + 1..].iter().flatten().any(|word| subcommands.contains(word));
        (counts && OURS.contains(&program.as_str())).then(|| objection(&program, &words[at + 1..])).flatten()
    };
    (0..words.len()).find_map(ours)
}

/// Why only a person may run one of our programs with these words.
fn objection(program: &str, rest: &[Option<&str>]) -> Option<String> {
    let subcommand = rest.iter().find(|word| word.is_none_or(|word| !word.starts_with('-') || TELLS.contains(&word)));
    let free = match subcommand {
        _ if rest.last().is_some_and(|last| *last == Some("--help")) && !rest.contains(&Some("--")) => true,
        Some(Some(word)) if TELLS.contains(word) => true,
        Some(Some(word)) => program == "ruleline" && FREE.contains(word),
        // Without a subcommand it prints what there is.
        None => program == "ruleline" && rest.is_empty(),
        Some(None) => false,
    };
    let named = subcommand.copied().flatten().filter(|_| program == "ruleline").unwrap_or_default();
    let shown = rules::plain::plain(format!("{program} {named}").trim_end(), rules::plain::ID);
    (!free).then(|| format!("`{shown}` is for a person"))
}

/// Where a text names one of our programs as a program may be named (`.ruleline/` and `ruleline.md` are none): the
/// program, and the words behind it in the same command.
fn mentions(text: &str) -> impl Iterator<Item = (&'static str, Vec<Option<&str>>)> {
    memchr::memmem::find_iter(text.as_bytes(), b"ruleline").filter_map(move |at| {
        let before = text[..at].chars().next_back();
        let after = &text[at + "ruleline".len()..];
        let (program, after) = after.strip_prefix("-server").map_or((OURS[0], after), |after| (OURS[1], after));
        let after = after.strip_prefix(".exe").unwrap_or(after);
        let part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
        let next = after.chars().next();
        if before.is_some_and(part) || next.is_some_and(|it| part(it) || it == '/') {
            return None;
        }
        let command = &after[..after.find([';', '&', '|', '\n', ')', '`', '#']).unwrap_or(after.len())];
        let words = command.split(|it: char| it.is_whitespace() || "\"',[]{}\\".contains(it));
        Some((program, words.filter(|word| !word.is_empty()).take(MENTIONED).map(Some).collect()))
    })
}

/// The name of a program whatever folder it is called from.
pub(super) fn program_name(path: &str) -> String {
    let name = base_name(path).to_ascii_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use syntax::shell;
    use syntax::tree::Limits;

    use super::*;

    fn asks(command: &str) -> bool {
        let commands = shell::commands(command, &Limits::default()).unwrap();
        hides_ruleline(command, &commands)
            || (0..commands.simple.len()).any(|index| runs_ruleline(command, &commands, index).is_some())
    }

    #[test]
    fn s11_what_an_agent_may_not_run_of_ruleline() {
        for command in [
            "ruleline hooks trust",
            "ruleline hooks untrust --project x",
            "ruleline hook --agent claude < x",
            "ruleline uninstall",
            "ruleline-server --background",
            "./target/release/ruleline hooks trust",
            "/usr/local/bin/ruleline --state-dir x hooks trust",
            "cd x && RUST_LOG=1 ruleline hooks trust",
            "sudo -u me ruleline hooks trust",
            "timeout 5 ruleline hooks trust",
            "env -i PATH=/bin ruleline hooks trust",
            "bash -c 'ruleline hooks trust'",
            "eval \"ruleline hooks trust\"",
            "echo 3f9a | xargs ruleline hooks trust",
            "script -qc 'ruleline hooks trust' /dev/null",
            "script -qec \"/opt/bin/ruleline hooks trust\" /dev/null",
            "python3 -c 'import pty; pty.spawn([\"ruleline\", \"hooks\", \"trust\"])'",
            "python3 - <<'E'\nimport pty\npty.spawn(['/bin/ruleline', 'hooks', 'trust'])\nE",
            "R=ruleline; $R hooks trust",
            "$(which ruleline) hooks trust",
            "`command -v ruleline` hooks trust",
            "ruleline $WHAT",
            "find . -name x -exec ruleline hooks trust ;",
            "x=$(ruleline hooks trust)",
            "rule\"\"line hooks trust",
            "r\\uleline hooks trust",
            "$'\\x72uleline' hooks trust",
            "RuleLine.exe hooks trust",
            "ruleline hooks trust -- --help",
            "find . -exec ruleline check {} + -exec ruleline hooks trust +",
            "find ruleline -exec ruleline hooks trust +",
            "script -qc 'ruleline hooks trust' ruleline",
            "script -qc 'ruleline check x; ruleline hooks trust' /dev/null",
            "script -qc '\"/usr/bin/ruleline\" hooks trust' /dev/null",
            "/lib64/ld-linux-x86-64.so.2 /usr/bin/ruleline hooks trust",
            "docker run --rm -v /:/h image /h/usr/bin/ruleline hooks trust",
            "cargo run --bin ruleline -- hooks trust",
            "alias r=ruleline; r hooks trust",
            "cp \"$(which ruleline)\" /tmp/r",
            "python3 -c 'p = \"ruleline\"; import os; os.execlp(p, p, \"hooks\", \"trust\")'",
            "bash -c \"$X; ruleline hooks trust\"",
        ] {
            assert!(asks(command), "{command}");
            assert!(may_hold(command, None), "{command}");
        }
    }

    #[test]
    fn what_an_agent_may_run_and_mere_mentions() {
        for command in [
            "ruleline check src",
            "ruleline test",
            "ruleline symbols Foo",
            "ruleline --help",
            "ruleline hooks trust --help | cat; ruleline --version",
            "ruleline",
            "timeout 20 ruleline check --staged",
            "cat .ruleline/rules.toml",
            "grep -rn ruleline README.md",
            "cd ruleline && ls",
            "git clone https://example.org/ruleline.git",
            "git commit -m 'use ruleline hooks trust'",
            "python3 tools/make.py docs/ruleline.md",
            "cargo test -p ruleline-guard",
            "cargo test -p ruleline",
            "echo ruleline hooks trust; rg ruleline hooks",
            "bash -lc 'ruleline check src'",
            "python3 -c 'import subprocess; subprocess.run([\"ruleline\", \"check\"])'",
            "python3 -m pytest tests/ruleline",
            "cp -r ruleline /tmp/copy",
            "script -qc 'ruleline check' /dev/null",
        ] {
            assert!(!asks(command), "{command}");
        }
    }
}
