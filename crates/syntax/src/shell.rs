//! Shell text to simple commands: what would run, with which words, redirections and inputs.
//!
//! Reads bash as tree-sitter-bash parses it, through lists, pipes, groups, conditions, loops, functions and
//! substitutions, and into the scripts that `sh -c`, `eval` and a shell's own input hold. It says what stands in the
//! text and judges nothing: which programs write, and which commands may run, is for others to know.

mod walk;
mod word;

use std::borrow::Cow;

use crate::Span;
use crate::tree::{self, Limits, ParseStop};

/// What a shell text runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commands {
    /// The simple commands in the order of the text; those of a script within a command come right after it.
    pub simple: Vec<SimpleCommand>,
    /// A part could not be read: it does not parse, the name of a command or a script is not static, or scripts are
    /// nested deeper than [`DEEPEST_SCRIPT`].
    pub opaque: bool,
}

/// One simple command; or, without words, the redirections or assignments that stand alone or apply to a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    /// Where it stands; a command of a script within a word has that word's place, as have its words.
    pub span: Span,
    /// The assignments before it.
    pub assignments: Vec<Assignment>,
    /// The name and the arguments.
    pub words: Vec<Word>,
    /// Its redirections in order, without the inputs that stand in the text.
    pub redirections: Vec<Redirection>,
    /// Its heredocs and here-strings in order: the last one is what it reads.
    pub inputs: Vec<Input>,
    /// The command before it in a pipe, by its place in [`Commands::simple`]. Every command of a group in a pipe has
    /// it.
    pub piped_from: Option<usize>,
    /// The command whose script it stands in.
    pub script_of: Option<usize>,
}

/// `name=value`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, with the subscript if there is one.
    pub name: String,
    /// The value; empty for `name=`.
    pub value: Word,
}

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Where it stands.
    pub span: Span,
    /// Its value with quotes and escapes removed; none if it depends on variables, commands, files (unquoted patterns,
    /// `~`) or is several words (braces).
    pub value: Option<String>,
}

/// `2> target`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Where it stands.
    pub span: Span,
    /// The file descriptor, if one is given.
    pub descriptor: Option<u32>,
    /// What is done.
    pub operator: Operator,
    /// The file or descriptor; none for a closing one.
    pub target: Option<Word>,
}

/// The operator of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<&`
    DuplicateInput,
    /// `>&`
    DuplicateOutput,
    /// `<&-`, `>&-`
    Close,
}

impl Redirection {
    /// The file that the redirection writes to; `Some(None)` when that is not static.
    pub fn writes(&self) -> Option<Option<&str>> {
        let target = self.target.as_ref()?.value.as_deref();
        match self.operator {
            Operator::Write | Operator::Clobber | Operator::Append | Operator::WriteBoth | Operator::AppendBoth => {
                Some(target)
            }
            // `>&2` and `>&-` name a descriptor, anything else a file.
            Operator::DuplicateOutput => match target {
                Some(name) if name == "-" || name.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()) => {
                    None
                }
                _ => Some(target),
            },
            Operator::Read | Operator::DuplicateInput | Operator::Close => None,
        }
    }

    /// Whether what the file held before stays.
    pub fn appends(&self) -> bool {
        matches!(self.operator, Operator::Append | Operator::AppendBoth)
    }
}

/// Text that a command reads and that stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// `<<EOF`
    Heredoc(Heredoc),
    /// `<<< word`
    HereString(Word),
}

impl Input {
    /// What is read, if that is static.
    pub fn text(&self) -> Option<String> {
        match self {
            Input::Heredoc(heredoc) => heredoc.text.clone(),
            Input::HereString(word) => word.value.as_ref().map(|value| format!("{value}\n")),
        }
    }
}

/// A heredoc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heredoc {
    /// The body, without the line that ends it.
    pub span: Span,
    /// The body as written; the tabs that `<<-` takes away are gone.
    pub body: String,
    /// The delimiter is quoted: nothing in the body is expanded.
    pub quoted: bool,
    /// What is read, if that is static.
    pub text: Option<String>,
}

/// What a command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// This text.
    Static(String),
    /// Something the text does not tell.
    Unknown,
}

/// Scripts within scripts are read this deep.
pub const DEEPEST_SCRIPT: usize = 8;

impl SimpleCommand {
    /// The value of a word, if there is such a word and it is static.
    pub fn word(&self, position: usize) -> Option<&str> {
        self.words.get(position)?.value.as_deref()
    }

    /// The program without its path, if it is static.
    pub fn program(&self) -> Option<&str> {
        let name = self.word(0)?;
        Some(name.rsplit('/').next().unwrap_or(name))
    }
}

impl Commands {
    /// What the command at `index` reads on its standard input: its own heredoc or here-string, what `cat` passes on to
    /// it, or what the command whose script it stands in reads.
    pub fn stdin(&self, index: usize) -> Stdin {
        let mut current = index;
        // Each step leads to an earlier command, or from a script to the command around it.
        for _ in 0..=self.simple.len() {
            let Some(command) = self.simple.get(current) else { break };
            let reads_file = |redirection: &Redirection| {
                redirection.operator == Operator::Read && redirection.descriptor.unwrap_or(0) == 0
            };
            if command.redirections.iter().any(reads_file) {
                return Stdin::Unknown;
            }
            if let Some(input) = command.inputs.last() {
                return input.text().map_or(Stdin::Unknown, Stdin::Static);
            }
            if let Some(before) = command.piped_from {
                let passes_on = self.simple.get(before).is_some_and(|before| {
                    before.program() == Some("cat")
                        && before.words[1..].iter().all(|word| word.value.as_deref() == Some("-"))
                });
                if !passes_on {
                    return Stdin::Unknown;
                }
                current = before;
            } else if let Some(around) = command.script_of {
                // A shell that reads its script from its input has nothing left to read.
                if self.simple.get(around).is_some_and(|around| script_argument(around) == Script::Input) {
                    return Stdin::Unknown;
                }
                current = around;
            } else {
                break;
            }
        }
        Stdin::Unknown
    }
}

/// The simple commands of a shell text.
///
/// # Errors
/// A limit was reached.
pub fn commands(text: &str, limits: &Limits) -> Result<Commands, ParseStop> {
    read(text, limits, 0)
}

fn read(text: &str, limits: &Limits, depth: usize) -> Result<Commands, ParseStop> {
    let mut source = Cow::Borrowed(text);
    let mut tries = 0;
    loop {
        let tree = tree::parse(&tree_sitter_bash::LANGUAGE.into(), &source, limits)?;
        let (flat, misread) = walk::walk(&tree, text);
        tries += 1;
        if misread.is_empty() || tries > MOST_TRIES {
            return with_scripts(flat, limits, depth);
        }
        let masked = source.to_mut();
        for line in misread {
            masked.replace_range(line.clone(), &"_".repeat(line.len()));
        }
    }
}

/// A text is parsed again when a heredoc was ended too early, so often at most.
const MOST_TRIES: usize = 8;

/// Puts the commands of each script behind the command that runs it.
fn with_scripts(flat: Commands, limits: &Limits, depth: usize) -> Result<Commands, ParseStop> {
    let scripts: Vec<Script> = (0..flat.simple.len()).map(|index| script(&flat, index)).collect();
    let mut all = Commands { simple: Vec::with_capacity(flat.simple.len()), opaque: flat.opaque };
    let mut places = Vec::with_capacity(flat.simple.len());
    for (mut command, script) in flat.simple.into_iter().zip(scripts) {
        let place = all.simple.len();
        places.push(place);
        command.piped_from = command.piped_from.and_then(|before| places.get(before).copied());
        all.simple.push(command);
        match script {
            Script::None => {}
            Script::Text(text, span) if depth < DEEPEST_SCRIPT => {
                let inner = read(&text, limits, depth + 1)?;
                all.opaque |= inner.opaque;
                let first = all.simple.len();
                all.simple.extend(inner.simple.into_iter().map(|mut command| {
                    command.piped_from = command.piped_from.map(|before| first + before);
                    command.script_of = Some(command.script_of.map_or(place, |around| first + around));
                    command.place_at(&span);
                    command
                }));
            }
            Script::Text(..) | Script::Opaque | Script::Input => all.opaque = true,
        }
    }
    Ok(all)
}

impl SimpleCommand {
    /// The words, the values of assignments and the targets of redirections.
    fn words_mut(&mut self) -> impl Iterator<Item = &mut Word> {
        let values = self.assignments.iter_mut().map(|assignment| &mut assignment.value);
        let targets = self.redirections.iter_mut().filter_map(|redirection| redirection.target.as_mut());
        self.words.iter_mut().chain(values).chain(targets)
    }

    /// Gives everything the place of the word that holds the script.
    fn place_at(&mut self, span: &Span) {
        for word in self.words_mut() {
            word.span = span.clone();
        }
        for redirection in &mut self.redirections {
            redirection.span = span.clone();
        }
        for input in &mut self.inputs {
            match input {
                Input::Heredoc(heredoc) => heredoc.span = span.clone(),
                Input::HereString(word) => word.span = span.clone(),
            }
        }
        self.span = span.clone();
    }
}

/// The script that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Script {
    None,
    Text(String, Span),
    /// What it reads.
    Input,
    /// One that is not static.
    Opaque,
}

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "rbash"];

/// The script of the command at `index`.
fn script(commands: &Commands, index: usize) -> Script {
    let command = &commands.simple[index];
    match script_argument(command) {
        Script::Input => match commands.stdin(index) {
            Stdin::Static(text) => {
                let span = match command.inputs.last() {
                    Some(Input::Heredoc(heredoc)) => heredoc.span.clone(),
                    Some(Input::HereString(word)) => word.span.clone(),
                    None => command.span.clone(),
                };
                Script::Text(text, span)
            }
            Stdin::Unknown => Script::Opaque,
        },
        other => other,
    }
}

/// The script among a command's arguments.
fn script_argument(command: &SimpleCommand) -> Script {
    match command.program() {
        Some("eval") => {
            let Some(words) = command.words[1..].iter().map(|word| word.value.as_deref()).collect::<Option<Vec<_>>>()
            else {
                return Script::Opaque;
            };
            let (Some(first), Some(last)) = (command.words.get(1), command.words.last()) else {
                return Script::None;
            };
            Script::Text(words.join(" "), first.span.start..last.span.end)
        }
        Some(program) if SHELLS.contains(&program) => shell_script(&command.words[1..]),
        _ => Script::None,
    }
}

/// The script among the arguments of a shell: the word after an option with `c`.
fn shell_script(words: &[Word]) -> Script {
    let mut runs_string = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(value) = word.value.as_deref() else { return Script::Opaque };
        match value {
            "--" | "-" => {
                let next = words.next();
                return argument_script(next, runs_string);
            }
            "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" => {
                words.next();
            }
            _ if value.starts_with("--") => {}
            _ if value.starts_with(['-', '+']) => {
                runs_string |= value.starts_with('-') && value.contains('c');
                if value.ends_with('o') {
                    words.next();
                }
            }
            _ => return argument_script(Some(word), runs_string),
        }
    }
    argument_script(None, runs_string)
}

/// A shell's first argument is its script, a file with its script, or missing.
fn argument_script(word: Option<&Word>, runs_string: bool) -> Script {
    match (word, runs_string) {
        (Some(word), true) => match &word.value {
            Some(value) => Script::Text(value.clone(), word.span.clone()),
            None => Script::Opaque,
        },
        (Some(_), false) => Script::None,
        (None, true) => Script::Opaque,
        (None, false) => Script::Input,
    }
}

#[cfg(test)]
mod tests;
