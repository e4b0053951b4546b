//! The files that a command changes by name, whatever it makes of them, for self-protection (S11).
//!
//! One table says which words of which program are files that change. Where a word is not spelled out (`~`, variables,
//! patterns), what of it is spelled out stands for it; a guess too many costs a question only about what is protected.

use std::path::{Path, PathBuf};

use syntax::shell::{SimpleCommand, Word};

use super::persons::{is_runner, program_name};
use super::{WRAPPERS, own_words};

/// Which words of a program are files that change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Every one that is no option, with all that stands below it.
    Whole,
    /// Every one that is no option.
    All,
    /// The last one, or that of `-t`; a program of ours as well, since a copy is another name of it.
    Last,
    /// Every one that is no option, if `-i` is given.
    InPlace,
    /// What these options are given.
    Given(&'static [&'static str]),
    /// What stands behind this in a word.
    Behind(&'static str),
    /// Every one behind one of these subcommands.
    Below(&'static [&'static str]),
}

const CHANGERS: [(&str, Which); 29] = [
    ("rm", Which::Whole),
    ("rmdir", Which::Whole),
    ("mv", Which::Whole),
    ("chmod", Which::Whole),
    ("chown", Which::Whole),
    ("chgrp", Which::Whole),
    ("unlink", Which::All),
    ("shred", Which::All),
    ("ln", Which::All),
    ("chattr", Which::All),
    ("setfacl", Which::All),
    ("touch", Which::All),
    ("truncate", Which::All),
    ("mkdir", Which::All),
    ("mkfifo", Which::All),
    ("mount", Which::All),
    ("tee", Which::All),
    ("cp", Which::Last),
    ("install", Which::Last),
    ("rsync", Which::Last),
    ("sed", Which::InPlace),
    ("perl", Which::InPlace),
    ("dd", Which::Behind("of=")),
    ("curl", Which::Given(&["-o", "--output"])),
    ("wget", Which::Given(&["-O", "--output-document"])),
    ("sort", Which::Given(&["-o", "--output"])),
    ("tar", Which::Given(&["-C", "--directory"])),
    ("unzip", Which::Given(&["-d"])),
    ("git", Which::Below(&["rm", "mv", "checkout", "restore"])),
];

/// A file that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// As written, absolute.
    pub path: PathBuf,
    /// And all that stands below it.
    pub whole: bool,
}

/// Where a command runs.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The working folder.
    pub cwd: &'a Path,
    /// The user's home folder.
    pub home: &'a Path,
}

/// Whether a command may run a program that changes files by name; a scan of its bytes.
pub fn may_change(command: &str) -> bool {
    let mut words = command.split(|it: char| !(it.is_ascii_alphanumeric() || it == '-' || it == '_'));
    words.any(|word| CHANGERS.iter().any(|(name, _)| *name == word))
}

/// The files that a command of `text` changes by name.
pub(super) fn changes(text: &str, simple: &SimpleCommand, place: Place<'_>) -> Vec<Changed> {
    let Some((start, which)) = changer(simple) else { return Vec::new() };
    let words = &simple.words[start + 1..];
    let mut chosen: Vec<Spelling> = Vec::new();
    let spell = |word| Spelling::of(text, word);
    let names = || words.iter().map(spell).filter(|word| !word.text.starts_with('-'));
    let given = |options: &[&str]| {
        let mut found = Vec::new();
        for (at, word) in words.iter().map(spell).enumerate() {
            for option in options {
                let Some(rest) = word.text.strip_prefix(option) else { continue };
                match rest.strip_prefix('=').unwrap_or(rest) {
                    "" => found.extend(words.get(at + 1).map(spell)),
                    attached => found.push(Spelling { text: attached.to_owned(), ..word.clone() }),
                }
            }
        }
        found
    };
    match which {
        Which::Whole | Which::All => chosen.extend(names()),
        Which::Last => {
            let target = given(&["-t", "--target-directory"]);
            chosen.extend(names().filter(|word| program_name(&word.text) == "ruleline"));
            chosen.extend(if target.is_empty() { names().next_back().into_iter().collect() } else { target });
        }
        Which::InPlace => {
            let in_place = |word: &Spelling| {
                word.text.starts_with("--in-place") || !word.text.starts_with("--") && word.text.contains('i')
            };
            if words.iter().map(spell).any(|word| word.text.starts_with('-') && in_place(&word)) {
                chosen.extend(names());
            }
        }
        Which::Given(options) => chosen.extend(given(options)),
        Which::Behind(prefix) => chosen.extend(words.iter().map(spell).filter_map(|word| {
            let rest = word.text.strip_prefix(prefix)?.to_owned();
            Some(Spelling { text: rest, ..word })
        })),
        Which::Below(subcommands) => {
            let behind = names().skip_while(|word| !subcommands.contains(&word.text.as_str()));
            chosen.extend(behind.skip(1));
        }
    }
    let whole = which == Which::Whole;
    chosen.iter().flat_map(|word| word.paths(place)).map(|path| Changed { path, whole }).collect()
}

/// The files that a redirection to a word which is not spelled out may go to.
pub(super) fn target(text: &str, word: &Word, place: Place<'_>) -> Vec<Changed> {
    Spelling::of(text, word).paths(place).into_iter().map(|path| Changed { path, whole: false }).collect()
}

/// The program that changes files, by its place among the words, behind those that only run it.
fn changer(simple: &SimpleCommand) -> Option<(usize, Which)> {
    let first = simple.words.len() - own_words(simple).len();
    let names: Vec<String> =
        simple.words.iter().map(|word| word.value.as_deref().map_or(String::new(), program_name)).collect();
    let known = |name: &String| CHANGERS.iter().find(|(program, _)| program == name).map(|(_, which)| *which);
    let (at, which) = names.iter().enumerate().skip(first).find_map(|(at, name)| Some((at, known(name)?)))?;
    let runs = |name: &String| is_runner(name) || WRAPPERS.contains(&name.as_str());
    (at == first || names[..at].iter().any(runs)).then_some((at, which))
}

/// A word as far as it is spelled out.
#[derive(Debug, Clone)]
struct Spelling {
    text: String,
    /// The text is the word's value.
    is_value: bool,
}

impl Spelling {
    fn of(text: &str, word: &Word) -> Spelling {
        if let Some(value) = &word.value {
            return Spelling { text: value.clone(), is_value: true };
        }
        let written = text.get(word.span.clone()).unwrap_or_default();
        Spelling { text: written.replace(['"', '\'', '\\'], ""), is_value: false }
    }

    /// What it may name.
    fn paths(&self, place: Place<'_>) -> Vec<PathBuf> {
        if self.is_value {
            return vec![place.cwd.join(&self.text)];
        }
        // A word of a script within a word has that word's place, so that there may be many.
        self.text.split_whitespace().flat_map(|token| guesses(token, place)).collect()
    }
}

/// What a word may name in which something is expanded.
fn guesses(token: &str, place: Place<'_>) -> Vec<PathBuf> {
    let home = ["~", "$HOME", "${HOME}"].iter().find_map(|name| token.strip_prefix(name)).filter(|it| begins(it));
    let here = ["$PWD", "${PWD}"].iter().find_map(|name| token.strip_prefix(name)).filter(|it| begins(it));
    let (base, rest) = match (home, here) {
        (Some(rest), _) => (place.home, rest),
        (_, Some(rest)) => (place.cwd, rest),
        _ if token.starts_with('/') => (Path::new("/"), token),
        _ => (place.cwd, token),
    };
    let rest = if home.is_some() || here.is_some() { rest.trim_start_matches('/') } else { rest };
    let Some(open) = rest.find(['$', '*', '?', '[', '{', '`', '~']) else { return vec![base.join(rest)] };
    // What stands before, as a name and as a folder; and what stands behind.
    let before = &rest[..open];
    let mut guessed = vec![base.join(before)];
    if let Some((folder, _)) = before.rsplit_once('/') {
        guessed.push(base.join(folder).join("?"));
    }
    if let Some((_, behind)) = rest[open..].split_once('/') {
        guessed.push(place.cwd.join(behind.replace(['*', '?', '[', ']', '{', '}', '`'], "")));
    }
    guessed
}

fn begins(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

#[cfg(test)]
mod tests {
    use syntax::shell;
    use syntax::tree::Limits;

    use super::*;

    fn changed(command: &str) -> Vec<String> {
        let commands = shell::commands(command, &Limits::default()).unwrap();
        let place = Place { cwd: Path::new("/w"), home: Path::new("/home/me") };
        let found = commands.simple.iter().flat_map(|simple| changes(command, simple, place));
        found.map(|changed| changed.path.display().to_string()).collect()
    }

    #[test]
    fn s11_files_that_a_command_changes_by_name() {
        for (command, expected) in [
            ("rm -rf .ruleline/hooks", &["/w/.ruleline/hooks"][..]),
            ("chmod +x /a/b", &["/w/+x", "/a/b"]),
            ("mv a .ruleline/rules.toml", &["/w/a", "/w/.ruleline/rules.toml"]),
            ("cp .ruleline/rules.toml /tmp/x", &["/tmp/x"]),
            ("cp -t .ruleline a", &["/w/.ruleline"]),
            ("cp --target-directory=.ruleline a", &["/w/.ruleline"]),
            ("cp /usr/bin/ruleline /tmp/r", &["/usr/bin/ruleline", "/tmp/r"]),
            ("sed -n 1p .ruleline/rules.toml", &[]),
            ("sed -i s/deny/warn/ .ruleline/rules.toml", &["/w/s/deny/warn/", "/w/.ruleline/rules.toml"]),
            ("sudo ln -s x .claude/settings.json", &["/w/x", "/w/.claude/settings.json"]),
            ("sudo -u me rm a", &["/w/a"]),
            ("timeout 5 rm a", &["/w/a"]),
            ("find . -name x | xargs rm -f .ruleline/x", &["/w/.ruleline/x"]),
            ("bash -c 'rm a'", &["/w/a"]),
            ("dd if=/dev/zero of=.ruleline/x", &["/w/.ruleline/x"]),
            ("curl -sLo .ruleline/x https://example.org", &[]),
            ("curl -sL -o .ruleline/x https://example.org", &["/w/.ruleline/x"]),
            ("tar xf a.tar -C .ruleline", &["/w/.ruleline"]),
            ("git checkout main -- .ruleline/hooks", &["/w/main", "/w/.ruleline/hooks"]),
            ("git log -- .ruleline/hooks", &[]),
            ("cat .ruleline/rules.toml", &[]),
            ("echo rm a", &[]),
        ] {
            assert_eq!(changed(command), expected, "{command}");
        }
    }

    #[test]
    fn s11_what_is_expanded_is_guessed() {
        for (command, expected) in [
            ("rm ~/.config/ruleline/rules.toml", "/home/me/.config/ruleline/rules.toml"),
            ("rm -rf ~", "/home/me/"),
            ("cp x \"$HOME/.local/state/ruleline/grants/\"", "/home/me/.local/state/ruleline/grants/"),
            ("cp x ${HOME}/.claude/settings.json", "/home/me/.claude/settings.json"),
            ("rm $PWD/.ruleline/hooks/a.sh", "/w/.ruleline/hooks/a.sh"),
            ("rm -f .ruleline/hooks/*.sh", "/w/.ruleline/hooks/?"),
            ("rm -f \"$ROOT\"/.ruleline/hooks/a.sh", "/w/.ruleline/hooks/a.sh"),
            ("rm -f `pwd`/.ruleline/hooks/a.sh", "/w/.ruleline/hooks/a.sh"),
            ("rm .rule'line'/{a,b}", "/w/.ruleline/?"),
            ("sh -c 'cp x ~/.local/state/ruleline/grants/y'", "/home/me/.local/state/ruleline/grants/y"),
        ] {
            assert!(changed(command).iter().any(|path| path == expected), "{command}: {:?}", changed(command));
        }
    }
}
