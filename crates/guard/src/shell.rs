//! What a shell command writes, as far as its text alone tells: patches, heredocs and redirections into files, new git
//! roots.
//!
//! `syntax` reads the text; nothing is run and nothing expanded. A file whose new text the command does not spell out is
//! a change with an unknown result. What a program writes by itself is not seen here.

mod changes;
mod persons;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::{After, FileEdit, Files, ToolCall, patch};
use syntax::shell::{self, Commands, SimpleCommand, Stdin, Word};
use syntax::tree::Limits;

pub use changes::{Changed, Place, may_change};

/// What a command does to files.
#[derive(Debug, Default)]
pub struct Written {
    /// The edits it makes, with absolute paths.
    pub edits: Vec<FileEdit>,
    /// What a person must do instead, each in one line.
    pub asks: Vec<String>,
    /// Files that it changes by name without a text that is known, as written and absolute; for self-protection.
    pub changed: Vec<Changed>,
    /// What could not be understood, each in one line.
    pub failures: Vec<String>,
}

/// Programs that only run what stands behind them.
const WRAPPERS: [&str; 8] = ["command", "builtin", "exec", "env", "nohup", "sudo", "time", "stdbuf"];

/// The programs that apply a patch.
const APPLY: [&str; 2] = ["apply_patch", "applypatch"];

/// Whether a command that runs in `cwd` may do anything that is looked at here; a scan of its bytes.
pub fn may_write(command: &str, cwd: Option<&Path>) -> bool {
    let has = |word: &str| memchr::memmem::find(command.as_bytes(), word.as_bytes()).is_some();
    APPLY.iter().any(|name| has(name))
        || has("tee")
        || (has("git") && (has("init") || has("worktree")))
        || persons::may_hold(command, cwd)
        || redirects(command)
}

/// Whether any `>` may go to a file: neither to a descriptor nor to a device.
fn redirects(command: &str) -> bool {
    memchr::memchr_iter(b'>', command.as_bytes()).any(|at| {
        let target = command[at + 1..].trim_start_matches(['>', '|', ' ', '\t']);
        let descriptor = target.strip_prefix('&').map(|rest| rest.trim_start_matches([' ', '\t']));
        let to_descriptor = descriptor.is_some_and(|rest| {
            let behind = rest.trim_start_matches(|it: char| it.is_ascii_digit() || it == '-');
            behind.len() < rest.len() && ends_word(behind)
        });
        let to_device = target
            .strip_prefix("/dev/")
            .is_some_and(|rest| ends_word(rest.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || it == '/')));
        !to_descriptor && !to_device && !target.is_empty()
    })
}

/// Whether no word of the shell goes on with `rest`.
fn ends_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '|', '&', '(', ')', '<', '>', '}'])
}

/// Whether a file is none of the disk's.
fn is_device(target: &str) -> bool {
    target.starts_with("/dev/") && !target.split('/').any(|part| part == "..")
}

/// Whether a command does nothing that is looked at here.
pub fn is_quiet(command: &str, cwd: &Path) -> bool {
    let place = Place { cwd, home: Path::new("/") };
    !may_write(command, Some(cwd))
        || shell::commands(command, &Limits::default()).is_ok_and(|commands| {
            let acts = |index: usize| matches!(action(&commands, index), Some(Action::Patch(_) | Action::NewRoot(_)));
            (0..commands.simple.len()).all(|index| {
                let simple = &commands.simple[index];
                !acts(index)
                    && outputs(simple).is_empty()
                    && unknown_outputs(simple).next().is_none()
                    && changes::changes(command, simple, place).is_empty()
                    && persons::runs_ruleline(command, &commands, index).is_none()
            }) && !hides_a_patch(command, &commands)
                && !persons::hides_ruleline(command, &commands)
        })
}

/// Reads a command that an agent gives to a shell.
pub fn read(command: &str, place: Place<'_>, files: &dyn Files) -> Written {
    let mut written = Written::default();
    let commands = match shell::commands(command, &Limits::default()) {
        Ok(commands) => commands,
        Err(stop) => {
            written.failures.push(format!("the command cannot be read: {stop}"));
            return written;
        }
    };
    if hides_a_patch(command, &commands) {
        written.failures.push("the command holds a patch that cannot be told from the rest".to_owned());
    }
    if persons::hides_ruleline(command, &commands) {
        written.asks.push(
            "ruleline asks about this command: self-protection: not all of it can be read, and it names ruleline"
                .to_owned(),
        );
    }
    let mut cwd = place.cwd.to_path_buf();
    for index in 0..commands.simple.len() {
        match action(&commands, index) {
            Some(Action::Patch(Some(text))) => {
                match agents::edits(&ToolCall::Patch { text }, Some(&cwd), files) {
                    Ok(edits) => written.edits.extend(edits.into_iter().map(|edit| located(edit, &cwd))),
                    Err(why) => written.failures.push(why),
                }
            }
            Some(Action::Patch(None)) => {
                written.failures.push("the command does not spell out what it hands to apply_patch".to_owned());
            }
            Some(Action::NewRoot(what)) => written.asks.push(format!(
                "ruleline asks about this command: `{what}` makes a root of its own, with rules of its own: a person must \
                 do it"
            )),
            Some(Action::Move(folder)) => cwd.push(folder),
            None => {}
        }
        let whys = persons::runs_ruleline(command, &commands, index);
        written.asks.extend(whys.map(|why| format!("ruleline asks about this command: self-protection: {why}")));
        let here = Place { cwd: &cwd, home: place.home };
        let simple = &commands.simple[index];
        written.changed.extend(changes::changes(command, simple, here));
        written.changed.extend(unknown_outputs(simple).flat_map(|word| changes::target(command, word, here)));
        for output in outputs(simple) {
            let text = match commands.stdin(index) {
                Stdin::Static(text) if output.copies => Some(text),
                _ => None,
            };
            written.edits.push(output_edit(cwd.join(&output.target), output.appends, text, files));
        }
    }
    written
}

fn located(edit: FileEdit, cwd: &Path) -> FileEdit {
    FileEdit { path: cwd.join(&edit.path), ..edit }
}

/// A patch stands in the text of a command that could not be read to its end, and no part that was read applies it.
fn hides_a_patch(command: &str, commands: &Commands) -> bool {
    let applies = |index: usize| matches!(action(commands, index), Some(Action::Patch(_)));
    let named = APPLY.iter().any(|name| command.contains(name));
    commands.opaque && named && patch::holds(command) && !(0..commands.simple.len()).any(applies)
}

/// What a command does beside its output.
enum Action<'a> {
    /// Applies this patch; none when its text is not known.
    Patch(Option<String>),
    /// Makes a folder a root.
    NewRoot(&'static str),
    /// Goes to a folder.
    Move(&'a str),
}

fn action(commands: &Commands, index: usize) -> Option<Action<'_>> {
    let words = own_words(&commands.simple[index]);
    let (program, rest) = words.split_first()?;
    match base_name((*program)?) {
        name if APPLY.contains(&name) => {
            let argument = rest.iter().flatten().find(|word| patch::holds(word)).map(|word| (*word).to_owned());
            let handed = || match commands.stdin(index) {
                Stdin::Static(text) => Some(text),
                Stdin::Unknown => None,
            };
            Some(Action::Patch(argument.or_else(handed)))
        }
        "cd" => rest.first().copied().flatten().map(Action::Move),
        "git" => {
            let mut rest = rest.iter().map(|word| word.unwrap_or_default());
            let subcommand = loop {
                match rest.next()? {
                    "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" => {
                        rest.next();
                    }
                    option if option.starts_with('-') => {}
                    name => break name,
                }
            };
            match subcommand {
                "init" => Some(Action::NewRoot("git init")),
                "worktree" if rest.any(|word| word == "add") => Some(Action::NewRoot("git worktree add")),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The words from the program's name on, behind wrappers and what they set; none for a word that is not static.
pub(crate) fn own_words(simple: &SimpleCommand) -> Vec<Option<&str>> {
    let words = simple.words.iter().map(|word| word.value.as_deref());
    let sets = |word: &str| word.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let wraps = |word: &str| sets(word) || WRAPPERS.contains(&base_name(word));
    words.skip_while(|word| word.is_some_and(wraps)).collect()
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A file that a command's output goes to.
#[derive(Debug)]
struct Output {
    target: String,
    appends: bool,
    /// Its stdin goes there as it is.
    copies: bool,
}

/// The files of redirections that are not spelled out.
fn unknown_outputs(simple: &SimpleCommand) -> impl Iterator<Item = &Word> {
    let unknown = simple.redirections.iter().filter(|it| matches!(it.writes(), Some(None)));
    unknown.filter_map(|redirection| redirection.target.as_ref())
}

/// The files of redirections and of `tee`; devices are none.
fn outputs(simple: &SimpleCommand) -> Vec<Output> {
    let words = own_words(simple);
    let program = words.first().copied().flatten().map_or("", base_name);
    let copies = program == "cat" && words.len() == 1;
    let redirected = simple.redirections.iter().filter_map(|redirection| {
        let target = redirection.writes()??.to_owned();
        Some(Output { target, appends: redirection.appends(), copies })
    });
    let mut outputs: Vec<Output> = redirected.collect();
    if program == "tee" {
        let arguments = words.iter().skip(1).flatten();
        let appends = arguments.clone().any(|word| *word == "-a" || *word == "--append");
        let named = arguments.filter(|word| !word.starts_with('-'));
        outputs.extend(named.map(|word| Output { target: (*word).to_owned(), appends, copies: true }));
    }
    outputs.retain(|output| !output.target.is_empty() && !is_device(&output.target));
    outputs
}

fn output_edit(path: PathBuf, appends: bool, text: Option<String>, files: &dyn Files) -> FileEdit {
    let unknown = |path: PathBuf, before: Option<Arc<str>>, why: &str| {
        let after = After::Unknown { fresh: Vec::new(), why: why.to_owned() };
        FileEdit { path, before, after }
    };
    let before = match files.read(&path) {
        Ok(before) => before,
        Err(why) => return unknown(path, None, &why),
    };
    match text {
        Some(text) => {
            let kept = before.as_deref().filter(|_| appends).unwrap_or_default();
            FileEdit { path, after: After::Text([kept, &text].concat().into()), before }
        }
        None => unknown(path, before, "the command does not spell out what it writes"),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn place() -> Place<'static> {
        Place { cwd: Path::new("/w"), home: Path::new("/home/me") }
    }

    /// A disk without files that counts how often it is asked.
    #[derive(Default)]
    struct Nothing {
        read: Cell<usize>,
    }

    impl Files for Nothing {
        fn read(&self, _: &Path) -> Result<Option<Arc<str>>, String> {
            self.read.set(self.read.get() + 1);
            Ok(Some(Arc::from("old\n")))
        }
    }

    fn shape(command: &str) -> Vec<String> {
        let written = read(command, place(), &Nothing::default());
        let edits = written.edits.iter().map(|edit| match &edit.after {
            After::Text(text) => format!("{} = {text:?}", edit.path.display()),
            After::Moved(text) => format!("{} + {text:?}", edit.path.display()),
            After::Deleted => format!("{} -", edit.path.display()),
            _ => format!("{} ?", edit.path.display()),
        });
        let asks = written.asks.iter().map(|_| "ask".to_owned());
        edits.chain(asks).chain(written.failures.iter().map(|_| "fails".to_owned())).collect()
    }

    #[test]
    fn what_a_command_writes() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
        for (command, expected) in [
            (format!("apply_patch <<'EOF'\n{patch}\nEOF"), &["/w/a + \"x\\n\""][..]),
            (format!("cd sub && apply_patch <<EOF\n{patch}\nEOF\n"), &["/w/sub/a + \"x\\n\""]),
            (format!("apply_patch '{patch}'"), &["/w/a + \"x\\n\""]),
            ("apply_patch < x.patch".to_owned(), &["fails"]),
            (
                format!("cat > p.patch <<'EOF'\n{patch}\nEOF"),
                &["/w/p.patch = \"*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch\\n\""],
            ),
            ("cat > a <<'E'\n$x\nE".to_owned(), &["/w/a = \"$x\\n\""]),
            ("cat >> a <<'E'\nx\nE".to_owned(), &["/w/a = \"old\\nx\\n\""]),
            ("tee -a a b <<'E' >/dev/null\nx\nE".to_owned(), &["/w/a = \"old\\nx\\n\"", "/w/b = \"old\\nx\\n\""]),
            ("cat > a <<E\n$x\nE".to_owned(), &["/w/a ?"]),
            ("echo x > /abs/b 2>/dev/null".to_owned(), &["/abs/b ?"]),
            ("echo x > /dev/../etc/a; echo y >&1/b".to_owned(), &["/dev/../etc/a ?", "/w/1/b ?"]),
            ("echo 'a > b'; grep -r '>' .; ls 2>&1".to_owned(), &[]),
            ("git init; git -C x worktree add ../y".to_owned(), &["ask", "ask"]),
            ("sudo git init x".to_owned(), &["ask"]),
            ("git commit -m 'git init'; git worktree list; git status".to_owned(), &[]),
        ] {
            assert_eq!(shape(&command), expected, "{command}");
            assert_eq!(is_quiet(&command, Path::new("/w")), expected.is_empty(), "{command}");
        }
    }

    #[test]
    fn what_may_change_files_is_known_by_the_names_of_programs() {
        for (command, may) in [
            ("rm a", true),
            ("cd x && /bin/rm -r b", true),
            ("\\mv a b", true),
            ("\"sed\" -i s/a/b/ c", true),
            ("cargo test --format tree", false),
            ("ls arm rm.txt.d", true),
            ("grep farm x", false),
            ("", false),
        ] {
            assert_eq!(may_change(command), may, "{command}");
        }
    }

    #[test]
    fn commands_that_only_look_read_nothing() {
        for command in ["ls -la", "git status", "cat a | tee", "grep -n '->' x 2>/dev/null", "cd sub"] {
            let files = Nothing::default();
            assert!(read(command, place(), &files).edits.is_empty(), "{command}");
            assert_eq!(files.read.get(), 0, "{command}");
        }
        for command in ["ls -la", "ls >/dev/null 2>&1", "cargo test 2>/dev/null | head", "git status"] {
            assert!(!may_write(command, Some(Path::new("/w"))), "{command}: a scan of its bytes is enough");
        }
    }
}
