//! `ruleline init`: a commented rulebook to start from, and the `.gitignore` of the project folder.
//!
//! Nothing that is there is touched, and nothing is written over a link (S4).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use system::open::{OpenError, Root};

use super::Command;
use crate::output::{complain, print};

/// The row of the command table.
pub const COMMAND: Command = Command { name: "init", about: "writes a commented sample rulebook", run };

const FOLDER: &str = ".ruleline";
const IGNORED: &str = "# Written by ruleline: records stay on this machine.\ntraces/\n";

/// A sample rulebook.
struct Pack {
    name: &'static str,
    text: &'static str,
}

const PACKS: [Pack; 2] = [
    Pack { name: "starter", text: include_str!("packs/starter.toml") },
    Pack { name: "python", text: include_str!("packs/python.toml") },
];

/// Writes a commented sample rulebook, .ruleline/rules.toml; nothing that is there is touched.
#[derive(Parser)]
#[command(name = "ruleline init")]
struct Arguments {
    /// Which sample: starter, python.
    #[arg(long, value_name = "NAME", default_value = "starter")]
    pack: String,
    /// Print the rulebook instead of writing it.
    #[arg(long)]
    print: bool,
    /// The project's root, by default the one that holds the working folder.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

fn run(words: &[OsString]) -> ExitCode {
    let arguments: Arguments = match super::read("init", words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let Some(pack) = PACKS.iter().find(|pack| pack.name == arguments.pack) else {
        complain(&format!("no pack {:?}; there are {}", arguments.pack, PACKS.map(|pack| pack.name).join(", ")));
        return ExitCode::from(2);
    };
    if arguments.print {
        print(pack.text);
        return ExitCode::SUCCESS;
    }
    let root = arguments.project.map_or_else(project_root, |project| system::paths::absolute(&project));
    match write(&root, pack.text) {
        Ok(report) => {
            print(&report);
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(2)
        }
    }
}

/// The root of the project that holds the working folder; the folder itself where there is none.
pub fn project_root() -> PathBuf {
    let cwd = system::paths::absolute(Path::new("."));
    guard::stack::innermost(&cwd).unwrap_or(cwd)
}

fn write(root: &Path, rules: &str) -> Result<String, OpenError> {
    let opened = Root::open(root)?;
    opened.make_folder(Path::new(FOLDER))?;
    let mut report = String::new();
    for (name, text) in [("rules.toml", rules), (".gitignore", IGNORED)] {
        let relative = Path::new(FOLDER).join(name);
        let made = opened.create(&relative, text.as_bytes())?;
        let what = if made { "written" } else { "is there already, left as it is" };
        let path = rules::plain::plain(&system::paths::shown(&root.join(&relative)), rules::plain::PATH);
        report.extend([path.as_str(), ": ", what, "\n"]);
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_pack_is_a_rulebook_without_problems() {
        for pack in PACKS {
            let book = rules::Rulebook::load(pack.text.as_bytes(), rules::Format::Toml);
            assert_eq!(book.problems, [], "{}", pack.name);
            assert!(!book.rules.is_empty(), "{}", pack.name);
        }
    }

    #[test]
    fn what_is_there_is_left_as_it_is() {
        let temp = tempfile::tempdir().unwrap();
        write(temp.path(), "one").unwrap();
        write(temp.path(), "two").unwrap();
        assert_eq!(fs::read_to_string(temp.path().join(".ruleline/rules.toml")).unwrap(), "one");
    }

    #[test]
    fn s04_nothing_is_written_over_a_link() {
        let temp = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), temp.path().join(".ruleline")).unwrap();
        assert!(write(temp.path(), "one").is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
