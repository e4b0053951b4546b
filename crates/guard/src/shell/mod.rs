//! What a shell command writes, as far as its text alone tells: patches, heredocs and redirections into files, new git
//! roots.
//!
//! Nothing is run and nothing expanded. A file whose new text the command does not spell out is a change with an unknown
//! result. What a program writes by itself is not seen here.

mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::{After, FileEdit, Files, ToolCall, patch};

use words::{Heredoc, Simple, Word, commands};

/// What a command does to files.
#[derive(Debug, Default)]
pub struct Written {
    /// The edits it makes, with absolute paths.
    pub edits: Vec<FileEdit>,
    /// What a person must do instead, each in one line.
    pub asks: Vec<String>,
    /// What could not be understood, each in one line.
    pub failures: Vec<String>,
}

/// Programs that only run what stands behind them.
const WRAPPERS: [&str; 8] = ["command", "builtin", "exec", "env", "nohup", "sudo", "time", "stdbuf"];

/// Whether a command does anything that is looked at here; decided by its text alone.
pub fn may_write(command: &str) -> bool {
    let hinted = ["apply", "git", ">", "tee"].iter().any(|hint| command.contains(hint));
    let acts = |simple: &Simple| matches!(action(simple), Some(Action::Patch(_) | Action::NewRoot(_)));
    hinted && commands(command).iter().any(|simple| acts(simple) || !outputs(simple).is_empty())
}

/// Reads a command that an agent gives to a shell in `cwd`.
pub fn read(command: &str, cwd: &Path, files: &dyn Files) -> Written {
    let mut written = Written::default();
    let mut cwd = cwd.to_path_buf();
    for simple in commands(command) {
        match action(&simple) {
            Some(Action::Patch(Some(text))) => {
                match agents::edits(&ToolCall::Patch { text: text.to_owned() }, Some(&cwd), files) {
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
            Some(Action::Move(folder)) => cwd.push(&folder.text),
            None => {}
        }
        for output in outputs(&simple) {
            let path = cwd.join(&output.target);
            let edit = output_edit(path, &output, &simple, files);
            written.edits.push(edit);
        }
    }
    written
}

fn located(edit: FileEdit, cwd: &Path) -> FileEdit {
    FileEdit { path: cwd.join(&edit.path), ..edit }
}

/// What a command does beside its output.
enum Action<'a> {
    /// Applies this patch; none when its text is not known.
    Patch(Option<&'a str>),
    /// Makes a folder a root.
    NewRoot(&'static str),
    /// Goes to a folder.
    Move(&'a Word),
}

fn action(simple: &Simple) -> Option<Action<'_>> {
    let words = own_words(simple);
    let (program, rest) = words.split_first()?;
    match base_name(&program.text) {
        "apply_patch" | "applypatch" => {
            let argument = rest.iter().find(|word| patch::holds(&word.text)).filter(|word| word.known);
            let handed = simple.heredocs.last().filter(|heredoc| heredoc.known).map(|heredoc| heredoc.body.as_str());
            Some(Action::Patch(argument.map(|word| word.text.as_str()).or(handed)))
        }
        "cd" => rest.first().filter(|word| word.known).map(Action::Move),
        "git" => {
            let mut rest = rest.iter();
            let subcommand = loop {
                let word = rest.next()?;
                match word.text.as_str() {
                    "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" => {
                        rest.next();
                    }
                    option if option.starts_with('-') => {}
                    name => break name,
                }
            };
            match subcommand {
                "init" => Some(Action::NewRoot("git init")),
                "worktree" if rest.any(|word| word.text == "add") => Some(Action::NewRoot("git worktree add")),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The words from the program's name on, behind assignments and wrappers.
fn own_words(simple: &Simple) -> &[Word] {
    let skipped = simple.words.iter().take_while(|word| {
        let assigns = word.text.split_once('=').is_some_and(|(name, _)| is_variable(name));
        assigns || WRAPPERS.contains(&base_name(&word.text))
    });
    &simple.words[skipped.count()..]
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn base_name(path: &str) -> &str {
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

/// The files of redirections and of `tee`; devices are none.
fn outputs(simple: &Simple) -> Vec<Output> {
    let words = own_words(simple);
    let program = words.first().map_or("", |word| base_name(&word.text));
    let mut outputs: Vec<Output> = Vec::new();
    let plain_copy = program == "cat" && words.len() == 1;
    for redirection in simple.outputs.iter().filter(|redirection| redirection.target.known) {
        let target = redirection.target.text.clone();
        outputs.push(Output { target, appends: redirection.appends, copies: plain_copy });
    }
    if program == "tee" {
        let is_option = |word: &&Word| word.text.starts_with('-');
        let appends = words.iter().any(|word| word.text == "-a" || word.text == "--append");
        for word in words[1..].iter().filter(|word| word.known && !is_option(word)) {
            outputs.push(Output { target: word.text.clone(), appends, copies: true });
        }
    }
    outputs.retain(|output| !output.target.is_empty() && !output.target.starts_with("/dev/"));
    outputs
}

fn output_edit(path: PathBuf, output: &Output, simple: &Simple, files: &dyn Files) -> FileEdit {
    let unknown = |before: Option<Arc<str>>, path: PathBuf, why: &str| {
        let after = After::Unknown { fresh: Vec::new(), why: why.to_owned() };
        FileEdit { path, before, after }
    };
    let before = match files.read(&path) {
        Ok(before) => before,
        Err(why) => return unknown(None, path, &why),
    };
    let text = simple.heredocs.last().filter(|_| output.copies);
    match text {
        Some(Heredoc { body, known: true }) => {
            let kept = before.as_deref().filter(|_| output.appends).unwrap_or_default();
            FileEdit { path, after: After::Text([kept, body].concat().into()), before }
        }
        _ => unknown(before, path, "the command does not spell out what it writes"),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

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
        let written = read(command, Path::new("/w"), &Nothing::default());
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
            ("echo 'a > b'; grep -r '>' .; ls 2>&1".to_owned(), &[]),
            ("git init; git -C x worktree add ../y".to_owned(), &["ask", "ask"]),
            ("sudo git init x".to_owned(), &["ask"]),
            ("git commit -m 'git init'; git worktree list; git status".to_owned(), &[]),
        ] {
            assert_eq!(shape(&command), expected, "{command}");
            assert_eq!(may_write(&command), !expected.is_empty(), "{command}");
        }
    }

    #[test]
    fn commands_that_only_look_read_nothing() {
        for command in ["ls -la", "git status", "cat a | tee", "grep -n '->' x 2>/dev/null", "cd sub"] {
            let files = Nothing::default();
            assert!(read(command, Path::new("/w"), &files).edits.is_empty(), "{command}");
            assert_eq!(files.read.get(), 0, "{command}");
        }
        assert!(!may_write("ls -la") && !may_write("grep -n '->' x 2>/dev/null"));
    }
}
