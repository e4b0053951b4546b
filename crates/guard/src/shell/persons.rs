//! What a command does that only a person may (S11): to run Ruleline beyond what an agent needs, and to change by name
//! what is protected.
//!
//! Best effort, by the words of simple commands: who hides a name finds the same refusal in Ruleline itself, which looks
//! at the processes it was started by.

use std::path::{Path, PathBuf};

use syntax::shell::{Commands, SimpleCommand};

use super::{base_name, own_words};

/// The programs of Ruleline.
const OURS: [&str; 2] = ["ruleline", "ruleline-server"];
/// What an agent may run of it.
const FREE: [&str; 5] = ["check", "test", "symbols", "explain", "mcp"];
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

/// Programs that change the files they name, and which of their words those are.
const CHANGERS: [(&str, Changed); 20] = [
    ("rm", Changed::All),
    ("rmdir", Changed::All),
    ("unlink", Changed::All),
    ("shred", Changed::All),
    ("mv", Changed::All),
    ("ln", Changed::All),
    ("chmod", Changed::All),
    ("chown", Changed::All),
    ("chgrp", Changed::All),
    ("chattr", Changed::All),
    ("setfacl", Changed::All),
    ("touch", Changed::All),
    ("truncate", Changed::All),
    ("mkdir", Changed::All),
    ("tee", Changed::All),
    ("cp", Changed::Last),
    ("install", Changed::Last),
    ("rsync", Changed::Last),
    ("sed", Changed::InPlace),
    ("perl", Changed::InPlace),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changed {
    /// Every one that is no option.
    All,
    /// The last one, or that of `-t`.
    Last,
    /// Every one that is no option, if `-i` is given.
    InPlace,
}

/// Whether a text may hold something of this kind; a scan of its bytes.
pub(super) fn may_hold(command: &str) -> bool {
    memchr::memmem::find(command.as_bytes(), b"ruleline").is_some() || crate::protect::may_name(command)
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
        None if own.first().is_some_and(Option::is_none) && names_ruleline(text) => {
            Some("it runs a program whose name is not spelled out, and names ruleline".to_owned())
        }
        Some(program) if INTERPRETERS.contains(&program) => {
            let code = words.iter().flatten().skip(1).find(|word| names_ruleline(word));
            let input =
                || simple.inputs.iter().filter_map(syntax::shell::Input::text).any(|text| names_ruleline(&text));
            (code.is_some() || input()).then(|| format!("{program} may run ruleline in it"))
        }
        _ if words.iter().flatten().any(|word| RUNNERS.contains(&program_name(word).as_str())) => {
            let at = words.iter().position(|word| word.is_some_and(|word| OURS.contains(&program_name(word).as_str())));
            match at {
                Some(at) => objection(&program_name(words[at].unwrap_or_default()), &words[at + 1..]),
                // A whole command in one word, as `script -c` and `watch` take it.
                None => words.iter().flatten().find_map(|word| {
                    let mut parts =
                        word.split_whitespace().skip_while(|part| !OURS.contains(&program_name(part).as_str()));
                    let program = program_name(parts.next()?);
                    let rest: Vec<Option<&str>> = parts.map(Some).collect();
                    objection(&program, &rest)
                }),
            }
        }
        _ => None,
    }
}

/// Why only a person may run one of our programs with these words.
fn objection(program: &str, rest: &[Option<&str>]) -> Option<String> {
    let subcommand = rest.iter().find(|word| word.is_none_or(|word| !word.starts_with('-') || TELLS.contains(&word)));
    let free = match subcommand {
        _ if rest.last().is_some_and(|last| *last == Some("--help")) => true,
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

/// Whether a text names one of our programs where a program's name may stand: `.ruleline/` and `ruleline.md` are none.
fn names_ruleline(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), b"ruleline").any(|at| {
        let before = text[..at].chars().next_back();
        let after = text[at + "ruleline".len()..].strip_prefix("-server").unwrap_or(&text[at + "ruleline".len()..]);
        let after = after.strip_prefix(".exe").unwrap_or(after).chars().next();
        let part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
        !before.is_some_and(part) && !after.is_some_and(|it| part(it) || it == '/')
    })
}

/// The files that a command changes by name: as written, below `cwd`.
pub(super) fn changes(simple: &SimpleCommand, cwd: &Path) -> Vec<PathBuf> {
    let own = own_words(simple);
    let Some(program) = own.first().copied().flatten().map(program_name) else { return Vec::new() };
    let Some((_, changed)) = CHANGERS.iter().find(|(name, _)| *name == program) else { return Vec::new() };
    // What a pattern stands for is not known; the folders before it are.
    let literal = |word: &syntax::shell::Word| word.value.clone();
    let skipped = simple.words.len() - own.len();
    let words: Vec<String> = simple.words.iter().skip(skipped + 1).filter_map(literal).collect();
    let options: Vec<&str> = words.iter().map(String::as_str).filter(|word| word.starts_with('-')).collect();
    let names: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let chosen: Vec<&str> = match changed {
        Changed::All => names,
        Changed::Last if options.iter().any(|it| it.starts_with("-t") || it.starts_with("--target-directory")) => names
            .into_iter()
            .chain(options.iter().filter_map(|it| it.split_once('=').map(|(_, folder)| folder)))
            .collect(),
        Changed::Last => names.last().copied().into_iter().collect(),
        Changed::InPlace
            if options.iter().any(|it| it.starts_with("-i") || it.starts_with("--in-place") || it.contains('i')) =>
        {
            names
        }
        Changed::InPlace => Vec::new(),
    };
    chosen.into_iter().map(|name| cwd.join(name)).collect()
}

/// The name of a program whatever folder it is called from.
fn program_name(path: &str) -> String {
    let name = base_name(path);
    name.strip_suffix(".exe").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use syntax::shell;
    use syntax::tree::Limits;

    use super::*;

    fn asks(command: &str) -> bool {
        let commands = shell::commands(command, &Limits::default()).unwrap();
        (0..commands.simple.len()).any(|index| runs_ruleline(command, &commands, index).is_some())
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
        ] {
            assert!(asks(command), "{command}");
            assert!(may_hold(command), "{command}");
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
        ] {
            assert!(!asks(command), "{command}");
        }
    }

    #[test]
    fn s11_files_that_a_command_changes_by_name() {
        for (command, expected) in [
            ("rm -rf .ruleline/hooks", &["/w/.ruleline/hooks"][..]),
            ("chmod +x /a/b", &["/w/+x", "/a/b"]),
            ("mv a .ruleline/rules.toml", &["/w/a", "/w/.ruleline/rules.toml"]),
            ("cp .ruleline/rules.toml /tmp/x", &["/tmp/x"]),
            ("cp -t .ruleline a", &["/w/.ruleline", "/w/a"]),
            ("sed -n 1p .ruleline/rules.toml", &[]),
            ("sed -i s/deny/warn/ .ruleline/rules.toml", &["/w/s/deny/warn/", "/w/.ruleline/rules.toml"]),
            ("sudo ln -s x .claude/settings.json", &["/w/x", "/w/.claude/settings.json"]),
            ("cat .ruleline/rules.toml", &[]),
        ] {
            let commands = shell::commands(command, &Limits::default()).unwrap();
            let changed: Vec<String> = commands
                .simple
                .iter()
                .flat_map(|simple| changes(simple, Path::new("/w")))
                .map(|path| path.display().to_string())
                .collect();
            assert_eq!(changed, expected, "{command}");
        }
    }
}
