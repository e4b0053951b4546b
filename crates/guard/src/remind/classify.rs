//! What a call is to the reminder: a symbolic tool, a search for a name, a read of code, or nothing of that.

use std::path::Path;

use agents::{Among, Event, ToolCall};
use syntax::shell::{self, Commands};
use syntax::tree::Limits;

use super::counters::Kinds;
use super::pattern;
use super::tools::{self, ServerTool};
use crate::shell::{base_name, own_words};

/// Programs that search texts.
const SEARCH: [&str; 8] = ["grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep", "ug"];
/// Programs that search names of files.
const FIND: [&str; 2] = ["fd", "fdfind"];
/// Programs that show a file.
const READ: [&str; 11] = ["cat", "head", "tail", "sed", "less", "more", "bat", "batcat", "nl", "awk", "get-content"];
/// Options of searching programs that take the next word, beside those that name the pattern.
const TAKE: [&str; 16] = [
    "-A",
    "-B",
    "-C",
    "-m",
    "-g",
    "-t",
    "-T",
    "-f",
    "-d",
    "-j",
    "--glob",
    "--type",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--max-count",
];

/// Extensions of files that hold code; prose and data are read for what they say.
const CODE: [&str; 66] = [
    "al", "astro", "bash", "c", "cc", "cjs", "clj", "cljs", "cpp", "cs", "css", "cts", "cxx", "dart", "elm", "erl",
    "ex", "exs", "fs", "fsx", "go", "gql", "graphql", "groovy", "h", "hcl", "hh", "hpp", "hs", "html", "hxx", "java",
    "jl", "js", "jsx", "kt", "kts", "lean", "lua", "m", "matlab", "mjs", "ml", "mts", "nf", "php", "pl", "proto",
    "ps1", "py", "pyi", "r", "rb", "rs", "scala", "sh", "sol", "sql", "svelte", "swift", "tf", "ts", "tsx", "vue",
    "zig", "pyw",
];

/// What a call is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Looked<'e> {
    /// A symbolic tool.
    pub symbolic: Option<ServerTool<'e>>,
    /// The agent's own tool for symbols.
    pub is_lsp: bool,
    /// What is searched for, where the call searches; empty where it does not say.
    pub search: Option<Vec<String>>,
    /// What code is read, where the call reads any; empty where it does not say.
    pub read: Option<Vec<String>>,
}

impl Looked<'_> {
    /// What of it counts.
    pub fn kinds(&self) -> Kinds {
        Kinds { search: self.search.is_some(), read: self.read.is_some() }
    }

    /// Whether a symbolic tool is used.
    pub fn is_symbolic(&self) -> bool {
        self.symbolic.is_some() || self.is_lsp
    }

    /// Whether it is nothing to the reminder.
    pub fn is_neutral(&self) -> bool {
        !self.is_symbolic() && self.search.is_none() && self.read.is_none()
    }
}

/// Whether a call may be something to the reminder: a look at its words, without reading a command.
pub fn concerns(event: &Event, servers: &[String]) -> bool {
    match &event.call {
        Some(Ok(ToolCall::Search { among, .. })) => *among == Among::Texts,
        Some(Ok(ToolCall::Read { path })) => path.is_empty() || is_code(path),
        Some(Ok(ToolCall::Shell { command })) => may_look(command),
        Some(Ok(ToolCall::Mcp { .. } | ToolCall::Other)) => {
            is_lsp(&event.tool) || tools::of_servers(&event.tool, servers).is_some()
        }
        _ => false,
    }
}

/// What the call of an event is. `servers` are those whose tools are symbolic.
pub fn look<'e>(event: &'e Event, servers: &[String]) -> Looked<'e> {
    let none = Looked::default();
    match &event.call {
        Some(Ok(ToolCall::Search { among: Among::Texts, pattern })) => {
            Looked { search: searched(pattern.as_deref()), ..none }
        }
        Some(Ok(ToolCall::Read { path })) if path.is_empty() => Looked { read: Some(Vec::new()), ..none },
        Some(Ok(ToolCall::Read { path })) => Looked { read: is_code(path).then(|| vec![path.clone()]), ..none },
        Some(Ok(ToolCall::Shell { command })) => look_at_command(command),
        Some(Ok(ToolCall::Mcp { .. } | ToolCall::Other)) if is_lsp(&event.tool) => Looked { is_lsp: true, ..none },
        Some(Ok(ToolCall::Mcp { .. } | ToolCall::Other)) => match tools::of_servers(&event.tool, servers) {
            Some(tool) if tools::is_symbolic(tool.tool) => Looked { symbolic: Some(tool), ..none },
            Some(tool) => look_at_other(tool.tool, event),
            None => none,
        },
        _ => none,
    }
}

/// Claude Code's own tool for symbols.
fn is_lsp(tool: &str) -> bool {
    tool == "LSP"
}

/// A tool of a symbolic server that does what others do too.
fn look_at_other(tool: &str, event: &Event) -> Looked<'static> {
    let input = match &event.call {
        Some(Ok(ToolCall::Mcp { input, .. })) => serde_json::from_str(input).unwrap_or_default(),
        _ => serde_json::Value::Null,
    };
    let text = |names: &[&str]| names.iter().find_map(|name| input.get(name)?.as_str()).map(str::to_owned);
    let tool = tool.to_ascii_lowercase();
    let none = Looked::default();
    if tools::matches("*pattern*", &tool) || tools::matches("*search_text*", &tool) {
        Looked { search: searched(text(&["substring_pattern", "pattern"]).as_deref()), ..none }
    } else if tools::matches("read_file*", &tool) {
        let path = text(&["relative_path", "path", "file_path"]);
        let is_code = path.as_deref().is_none_or(is_code);
        Looked { read: is_code.then(|| path.into_iter().collect()), ..none }
    } else if tools::matches("*shell*", &tool) {
        text(&["command", "cmd"]).map(|command| look_at_command(&command)).unwrap_or_default()
    } else {
        none
    }
}

/// What a search for a pattern is: for names, for something else (none), or for what is not said.
fn searched(pattern: Option<&str>) -> Option<Vec<String>> {
    match pattern {
        None => Some(Vec::new()),
        Some(pattern) => Some(pattern::names(pattern)).filter(|names| !names.is_empty()),
    }
}

/// Whether a path is that of code.
pub fn is_code(path: &str) -> bool {
    let name = path.trim().trim_matches(['"', '\'']).rsplit(['/', '\\']).next().unwrap_or_default();
    let Some((_, extension)) = name.rsplit_once('.') else { return false };
    let extension = extension.to_ascii_lowercase();
    CODE.contains(&extension.as_str())
}

/// Whether the name of a program that searches or reads stands in a command.
fn may_look(command: &str) -> bool {
    let ends =
        |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'-');
    let bytes = command.as_bytes();
    SEARCH.iter().chain(&FIND).chain(&READ).any(|name| {
        memchr::memmem::find_iter(bytes, name)
            .any(|at| ends(at.checked_sub(1).and_then(|before| bytes.get(before))) && ends(bytes.get(at + name.len())))
    })
}

fn look_at_command(command: &str) -> Looked<'static> {
    if !may_look(command) {
        return Looked::default();
    }
    let Ok(commands) = shell::commands(command, &Limits::default()) else { return Looked::default() };
    let mut looked = Looked::default();
    for index in 0..commands.simple.len() {
        let (search, read) = look_at_simple(&commands, index);
        if let Some(names) = search {
            looked.search.get_or_insert_default().extend(names);
        }
        if let Some(paths) = read {
            looked.read.get_or_insert_default().extend(paths);
        }
    }
    looked
}

/// What a simple command searches for, and what code it reads.
fn look_at_simple(commands: &Commands, index: usize) -> (Option<Vec<String>>, Option<Vec<String>>) {
    let simple = &commands.simple[index];
    let words = own_words(simple);
    let Some((Some(program), mut rest)) = words.split_first().map(|(program, rest)| (*program, rest)) else {
        return (None, None);
    };
    let program = base_name(program);
    let program = program.strip_suffix(".exe").unwrap_or(program).to_ascii_lowercase();
    // At the end of a pipe it is a filter of what something else gives.
    let is_filter = simple.piped_from.is_some();
    let mut program = program.as_str();
    if program == "git" {
        let Some(at) = rest.iter().position(|word| *word == Some("grep")) else { return (None, None) };
        // `git -C x grep`, not `git log --grep grep`.
        let is_subcommand = rest[..at].iter().all(|word| word.is_some_and(|word| word.starts_with('-')))
            || (at >= 2 && rest[at - 2] == Some("-C"));
        if !is_subcommand {
            return (None, None);
        }
        (program, rest) = ("grep", &rest[at + 1..]);
    } else if program == "find" {
        let Some(at) = rest.iter().position(|word| matches!(word, Some("-exec" | "-execdir" | "-ok"))) else {
            return (None, None);
        };
        let Some((Some(inner), behind)) = rest[at + 1..].split_first().map(|(inner, behind)| (*inner, behind)) else {
            return (None, None);
        };
        (program, rest) = (base_name(inner), behind);
    }
    if SEARCH.contains(&program) || FIND.contains(&program) {
        let is_text = SEARCH.contains(&program);
        let searches = !is_filter && (is_text || has_name(rest));
        return (searches.then(|| pattern_of(rest)).flatten(), None);
    }
    let is_in_place = |word: &&str| word.starts_with("-i") || word.starts_with("--in-place");
    if !READ.contains(&program) || (program == "sed" && rest.iter().flatten().any(is_in_place)) {
        return (None, None);
    }
    let read: Vec<String> = rest
        .iter()
        .flatten()
        .filter(|word| !word.starts_with('-') && is_code(word))
        .map(|word| (*word).to_owned())
        .collect();
    (None, (!read.is_empty()).then_some(read))
}

/// Whether a pattern is given at all.
fn has_name(words: &[Option<&str>]) -> bool {
    words.iter().any(|word| word.is_some_and(|word| !word.starts_with('-')))
}

/// The names that a searching program is given; none where it searches for something else.
fn pattern_of(words: &[Option<&str>]) -> Option<Vec<String>> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word {
            // It depends on something that the text does not tell.
            None => return Some(Vec::new()),
            Some("-e" | "--regexp" | "--") => return searched(words.next().copied().flatten()),
            Some(option) if TAKE.contains(option) => drop(words.next()),
            Some(option) if option.starts_with("--regexp=") => return searched(option.strip_prefix("--regexp=")),
            Some(option) if option.starts_with('-') && option.len() > 1 => {}
            Some(pattern) => return searched(Some(pattern)),
        }
    }
    Some(Vec::new())
}

/// The file that a path of the call names.
pub fn file_of(cwd: &Path, path: &str) -> std::path::PathBuf {
    system::paths::normalize(&cwd.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_command(command: &str) -> String {
        let looked = look_at_command(command);
        let names = |kind: &str, names: Option<Vec<String>>| names.map(|names| format!("{kind} {}", names.join(" ")));
        let both = [names("search", looked.search), names("read", looked.read)];
        both.into_iter().flatten().map(|said| said.trim().to_owned()).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn searches_and_reads_of_a_shell_are_seen() {
        for (command, expected) in [
            ("grep -rn Cart shop", "search Cart"),
            ("rg -t py 'def\\s+total' .", "search total"),
            ("git grep -n Cart", "search Cart"),
            ("git -C sub grep Cart", "search Cart"),
            ("git log --grep Cart", ""),
            ("fd cart", "search cart"),
            ("find . -name '*.py'", ""),
            ("find . -name '*.py' -exec grep -n Cart {} +", "search Cart"),
            ("bash -lc 'rg Cart'", "search Cart"),
            ("cd x\nrg Cart\n", "search Cart"),
            ("sudo env A=b rg -e Cart src", "search Cart"),
            ("rg -A 3 Cart", "search Cart"),
            ("rg 'TODO: mend this'", ""),
            ("rg \"$NAME\"", "search"),
            ("ls | grep Cart", ""),
            ("cargo test 2>&1 | grep -E 'FAILED|error'", ""),
            ("cat shop/cart.py | head -50", "read shop/cart.py"),
            ("cat a.py README.md b.rs", "read a.py b.rs"),
            ("sed -n 1,20p a.py", "read a.py"),
            ("sed -i s/a/b/ a.py", ""),
            ("cat > a.py <<'E'\nx = 1\nE\n", ""),
            ("cat notes.md package.json", ""),
            ("git commit -m 'grep Cart in a.py'", ""),
            ("apply_patch <<'E'\n*** Begin Patch\n+ | grep x\n*** End Patch\nE", ""),
            ("ls", ""),
            ("rg.exe Cart", "search Cart"),
        ] {
            assert_eq!(of_command(command), expected, "{command}");
        }
    }
}
