//! References of a line to what a grant does not cover, found by their words alone.
//!
//! This is a list for a reader, not a proof: a script can build any name it likes.

use rules::plain::plain;

/// Most references listed for one line, and most characters of each.
const MOST: usize = 8;
const SHOWN: usize = 80;
/// Words behind which another command begins.
const BEGINNINGS: [&str; 9] = ["then", "do", "else", "if", "elif", "while", "until", "{", "!"];
/// Programs that do what files of the project say, or fetch what others say.
const PROGRAMS: [&str; 32] = [
    "npm", "npx", "pnpm", "yarn", "bun", "bunx", "node", "deno", "make", "just", "task", "cargo", "go", "uv", "uvx",
    "pip", "pipx", "poetry", "bundle", "rake", "ruby", "perl", "gradle", "mvn", "docker", "git", "ssh", "curl", "wget",
    "eval", "xargs", "sudo",
];
/// Files that are the same everywhere.
const HARMLESS: [&str; 6] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/"];

/// The references, each as it is shown.
pub(super) fn references(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |text: String| {
        let text = plain(&text, SHOWN);
        if found.len() < MOST && !found.contains(&text) {
            found.push(text);
        }
    };
    if let Some(interpreter) = line.strip_prefix("#!") {
        // The ending of a script's name says what runs it.
        if !interpreter.trim_end().ends_with("sh") {
            add(line.to_owned());
        }
        return found;
    }
    let mut words = words(line).peekable();
    let mut begins = true;
    while let Some(word) = words.next() {
        let Word::Text { text, from, joined } = word else {
            begins = true;
            continue;
        };
        let next = match words.peek() {
            Some(Word::Text { text, .. }) => Some(*text),
            _ => None,
        };
        let name = text.rsplit('/').next().unwrap_or(text);
        if begins && matches!(text, "." | "source") {
            let command = &line[from..];
            add(command.split([';', '&', '|']).next().unwrap_or(command).trim_end().to_owned());
        } else if name.starts_with("python") && next == Some("-m") {
            add(format!("{name} -m"));
        } else if begins && PROGRAMS.contains(&name) {
            add(name.to_owned());
        }
        // The value of `NAME=value` and `--name=value` is what counts.
        let (value, joined) = text.rsplit_once('=').map_or((text, joined), |(_, value)| (value, false));
        if is_elsewhere(value, joined) {
            add(value.to_owned());
        }
        begins = begins && (text.contains('=') || joined) || BEGINNINGS.contains(&text);
    }
    found
}

/// `joined`: the word goes on something that is not seen, so that its slash does not begin a path.
fn is_elsewhere(word: &str, joined: bool) -> bool {
    if HARMLESS.contains(&word) {
        return false;
    }
    let absolute = word.starts_with('/') && !word.starts_with("//") && !joined;
    let home = word.starts_with("~/") || word.starts_with("$HOME") || word.starts_with("${HOME");
    absolute || home || word.starts_with("./") || word == ".." || word.contains("../") || word.ends_with("/..")
}

enum Word<'a> {
    Text {
        text: &'a str,
        /// Where it begins in the line.
        from: usize,
        /// Only quotes stand between it and the end of an expansion or word.
        joined: bool,
    },
    /// Something behind which a command begins.
    Break,
}

/// The words of a line as a shell would roughly see them; quotes only separate.
fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let separates = |it: char| it.is_whitespace() || "\"'<>:,[]".contains(it);
    let breaks = |it: char| ";|&()`".contains(it);
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = line[at..].find(|it| !separates(it)).map(|found| at + found)?;
        let quotes = line[at..from].chars().all(|it| matches!(it, '"' | '\''));
        let joined = quotes && !matches!(line[..at].chars().next_back(), None | Some(';' | '|' | '&' | '('));
        let first = line[from..].chars().next()?;
        if breaks(first) {
            at = from + first.len_utf8();
            return Some(Word::Break);
        }
        let end = line[from..].find(|it| separates(it) || breaks(it)).map_or(line.len(), |found| from + found);
        at = end;
        Some(Word::Text { text: &line[from..end], from, joined })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t05_what_lies_outside_is_listed() {
        for (line, expected) in [
            ("source ../../tools/x.sh", vec!["source ../../tools/x.sh", "../../tools/x.sh"]),
            (". ./tools/x.sh", vec![". ./tools/x.sh", "./tools/x.sh"]),
            ("source \"$(dirname \"$0\")/lib/x.sh\"", vec!["source \"$(dirname \"$0\")/lib/x.sh\""]),
            ("cat \"/etc/passwd\"", vec!["/etc/passwd"]),
            ("cat \"$DIR\"/lib/x '/etc/x'", vec!["/etc/x"]),
            ("[ -f x ] && . x", vec![". x"]),
            ("if true; then source x; fi", vec!["source x"]),
            ("python3 -m tool.check", vec!["python3 -m"]),
            ("/usr/bin/python3.12 -m x", vec!["python3.12 -m", "/usr/bin/python3.12"]),
            ("npm run lint && make -s", vec!["npm", "make"]),
            ("out=$(npx eslint)", vec!["npx"]),
            ("A=/opt/x B='1' npm test --to=/srv", vec!["/opt/x", "npm", "/srv"]),
            ("x=`curl https://host`", vec!["curl"]),
            ("cat /etc/passwd > /dev/null", vec!["/etc/passwd"]),
            ("cp a ~/.bashrc", vec!["~/.bashrc"]),
            ("ls \"$HOME/x\" ${HOME}/y", vec!["$HOME/x", "${HOME}/y"]),
            ("cd ..", vec![".."]),
            ("#!/bin/bash", vec![]),
            ("#!/usr/bin/env python3", vec!["#!/usr/bin/env python3"]),
            ("grep -q 'make it' file", vec![]),
            ("echo a.b . c", vec![]),
            ("echo done # https://example.org", vec![]),
        ] {
            assert_eq!(references(line), expected, "{line}");
        }
        assert_eq!(references(&"../x ".repeat(1000)).len(), 1);
        assert!(references(&"a/../b;".repeat(100_000)).len() <= MOST);
    }
}
