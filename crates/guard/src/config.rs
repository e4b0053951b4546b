//! `config.toml` of the user and of projects, under one law (S2): what a project may say, and in which direction.
//!
//! Only the keys that judging needs are given a type here; the others are known by name, so that a project that sets
//! what is the user's alone is told so. A file that is wrong never loosens: what it says wrongly is as if not said.

pub mod keys;
mod tables;

use std::path::{Path, PathBuf};

use crate::remind;
use system::OpenError;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest file that is read, in bytes.
const LARGEST: u64 = 256 << 10;

/// A project's settings, relative to its root.
pub const PROJECT_CONFIG: &str = ".ruleline/config.toml";

/// What is done about instruction-like text; the greater is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionCheck {
    /// Nothing.
    Off,
    /// Said, not stopped.
    Warn,
    /// A person decides.
    Ask,
}

/// What an event gets that could not be judged; the greater is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnFailure {
    /// A person decides.
    Ask,
    /// Refused.
    Deny,
}

/// What an ask becomes where nobody can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskUnattended {
    /// Refused, saying that a person must confirm.
    Deny,
    /// Asked all the same.
    Ask,
}

/// What a buffer's edit is measured against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The file at git HEAD.
    Head,
    /// The file on disk.
    Disk,
    /// Nothing: every line counts as added.
    All,
}

/// What becomes of an edit of a file that an editor holds with changes that are not saved; the greater is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnsavedBuffers {
    /// Nothing.
    Off,
    /// A person decides.
    Ask,
}

/// Which decisions are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// Every one.
    All,
    /// Those with a finding.
    Findings,
    /// None.
    Off,
}

/// Whose symbolic tools are approved in the modes in which edits are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutoApprove {
    /// The servers, by their whole names.
    pub servers: Vec<String>,
    /// Tools of theirs that are not; `*` stands for anything.
    pub exclude: Vec<String>,
}

/// What a session is told as it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// It is told of rules, hooks and symbolic tools.
    pub briefing: bool,
}

impl Default for Session {
    fn default() -> Session {
        Session { briefing: true }
    }
}

/// How much of a project the symbol index takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexLimits {
    /// Most files.
    pub files: u32,
    /// Largest file, in KiB.
    pub file_kib: u32,
    /// Most symbols together, in MiB.
    pub mib: u32,
}

impl Default for IndexLimits {
    fn default() -> IndexLimits {
        IndexLimits { files: 200_000, file_kib: 2048, mib: 256 }
    }
}

/// Settings after the law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// See [`InstructionCheck`].
    pub instruction_check: InstructionCheck,
    /// See [`OnFailure`].
    pub on_failure: OnFailure,
    /// See [`AskUnattended`].
    pub ask_unattended: AskUnattended,
    /// See [`Baseline`].
    pub baseline: Baseline,
    /// See [`Log`].
    pub log: Log,
    /// See [`UnsavedBuffers`].
    pub unsaved_buffers: UnsavedBuffers,
    /// Agents (by the name `--agent` takes) that the user says somebody watches.
    pub attended: Vec<String>,
    /// A project's hooks go on as they were granted when their bytes changed, instead of stopping.
    pub keeps_changed_hooks: bool,
    /// An allow of a project's hook counts.
    pub project_hooks_may_allow: bool,
    /// Interpreters that are tried before the usual ones; absolute.
    pub interpreters: Vec<PathBuf>,
    /// When an agent that searches and reads is told what the index knows.
    pub reminder: remind::Settings,
    /// Which servers' symbolic tools are approved.
    pub auto_approve: AutoApprove,
    /// What a session is told as it begins.
    pub session: Session,
    /// How much of a project the symbol index takes in.
    pub symbols: IndexLimits,
    /// What is wrong with the files.
    pub problems: Vec<ConfigProblem>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            instruction_check: InstructionCheck::Ask,
            on_failure: OnFailure::Ask,
            ask_unattended: AskUnattended::Deny,
            baseline: Baseline::Head,
            log: Log::All,
            unsaved_buffers: UnsavedBuffers::Ask,
            attended: Vec::new(),
            keeps_changed_hooks: false,
            project_hooks_may_allow: false,
            interpreters: Vec::new(),
            reminder: remind::Settings::default(),
            auto_approve: AutoApprove::default(),
            session: Session::default(),
            symbols: IndexLimits::default(),
            problems: Vec::new(),
        }
    }
}

/// The bytes of the settings of the project at `root`; none when it has none.
///
/// # Errors
/// As [`system::open::read_below`].
pub fn read_project(root: &Path) -> Result<Option<Vec<u8>>, OpenError> {
    system::open::read_below(root, Path::new(PROJECT_CONFIG), LARGEST)
}

/// One thing that is wrong with a `config.toml`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}", file = .file.display())]
pub struct ConfigProblem {
    /// The file.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// What is wrong and what holds instead, in one line.
    pub message: String,
}

/// What a project's file may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// Set it.
    Set,
    /// Only make it stricter.
    Tighten,
    /// Nothing.
    UserOnly,
}

/// The law, as it stands in the product's description of `config.toml`.
const LAW: [(&str, Law); 19] = [
    ("agents", Law::UserOnly),
    ("ask_unattended", Law::UserOnly),
    ("auto_approve", Law::UserOnly),
    ("baseline", Law::Set),
    ("deciders", Law::UserOnly),
    ("duet", Law::UserOnly),
    ("instruction_check", Law::Tighten),
    ("interpreters", Law::UserOnly),
    ("languages", Law::Set),
    ("log", Law::UserOnly),
    ("mcp_edit_tools", Law::Set),
    ("on_change", Law::UserOnly),
    ("on_failure", Law::Tighten),
    ("project_hooks_may_allow", Law::UserOnly),
    ("reminder", Law::Set),
    ("session", Law::UserOnly),
    ("symbols", Law::Set),
    ("telemetry", Law::UserOnly),
    ("unsaved_buffers", Law::Tighten),
];

/// What a project's file may do with a key; none for a name that is no key.
pub fn law_of(name: &str) -> Option<Law> {
    LAW.iter().find(|(known, _)| *known == name).map(|(_, law)| *law)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    Project,
}

impl Config {
    /// The settings from the user's folder and from projects' roots, where there are such files.
    pub fn load<'a>(user: Option<&Path>, projects: impl IntoIterator<Item = &'a Path>) -> Config {
        let mut config = Config::default();
        if let Some(folder) = user {
            let read = system::open::read_below(folder, Path::new("config.toml"), LARGEST);
            config.add_user(&folder.join("config.toml"), read);
        }
        for root in projects {
            config.add_project(&root.join(PROJECT_CONFIG), read_project(root));
        }
        config
    }

    /// What of its decisions the user whose folder this is wants recorded, for an event that nothing else of the settings
    /// is needed for. As [`Config::load`] has it, and `all` where the folder may not be used.
    pub fn log_of_user(folder: &Path) -> Log {
        let file = folder.join("config.toml");
        // Most have no such file, and of those that have one most do not say.
        if file.symlink_metadata().is_err() || system::folders::check(folder).is_err() {
            return Log::All;
        }
        let read = system::open::read_below(folder, Path::new("config.toml"), LARGEST);
        if read
            .as_ref()
            .is_ok_and(|bytes| bytes.as_ref().is_none_or(|bytes| memchr::memmem::find(bytes, b"log").is_none()))
        {
            return Log::All;
        }
        let mut config = Config::default();
        config.take(&file, read, Owner::User);
        config.log
    }

    /// Adds what a project's file says, as it was read by [`read_project`].
    pub fn add_project(&mut self, file: &Path, read: Result<Option<Vec<u8>>, OpenError>) {
        self.take(file, read, Owner::Project);
    }

    /// Adds what the user's file says, read as a project's is.
    pub fn add_user(&mut self, file: &Path, read: Result<Option<Vec<u8>>, OpenError>) {
        self.take(file, read, Owner::User);
    }

    fn take(&mut self, file: &Path, read: Result<Option<Vec<u8>>, OpenError>, owner: Owner) {
        match read {
            Ok(None) => {}
            Ok(Some(bytes)) => self.apply(file, &bytes, owner),
            Err(error) => {
                self.note(ConfigProblem { file: file.to_path_buf(), line: 1, message: error.to_string() });
            }
        }
    }

    /// A file may be taken over more than once: as the root of the working folder and as that of an edited file.
    fn note(&mut self, problem: ConfigProblem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn apply(&mut self, file: &Path, bytes: &[u8], owner: Owner) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let message = "it is not UTF-8, so nothing it says holds".to_owned();
            self.note(ConfigProblem { file: file.to_path_buf(), line: 1, message });
            return;
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let problem = |offset: usize, message: String| {
            let line = 1 + text.get(..offset).unwrap_or(text).matches('\n').count() as u32;
            ConfigProblem { file: file.to_path_buf(), line, message }
        };
        let table = match DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                self.note(problem(start, format!("{}; nothing this file says holds", error.message())));
                return;
            }
        };
        for (key, value) in table.get_ref() {
            let name: &str = key.get_ref();
            let said = match law_of(name) {
                None => Err(format!("`{name}` is not a key of config.toml")),
                Some(Law::UserOnly) if owner == Owner::Project => {
                    Err(format!("`{name}` is the user's alone to set; the user's value holds"))
                }
                Some(_) => self.set(name, value, owner),
            };
            if let Err(message) = said {
                self.note(problem(key.span().start, message));
            }
        }
    }

    fn set(&mut self, name: &str, value: &Spanned<DeValue<'_>>, owner: Owner) -> Result<(), String> {
        use InstructionCheck as Instruction;
        match name {
            "instruction_check" => {
                let said = choice(
                    name,
                    value,
                    &[("ask", Instruction::Ask), ("warn", Instruction::Warn), ("off", Instruction::Off)],
                )?;
                tighten(name, &mut self.instruction_check, said, owner)
            }
            "on_failure" => {
                let said = choice(name, value, &[("ask", OnFailure::Ask), ("deny", OnFailure::Deny)])?;
                tighten(name, &mut self.on_failure, said, owner)
            }
            "unsaved_buffers" => {
                let said = choice(name, value, &[("ask", UnsavedBuffers::Ask), ("off", UnsavedBuffers::Off)])?;
                tighten(name, &mut self.unsaved_buffers, said, owner)
            }
            "ask_unattended" => {
                self.ask_unattended =
                    choice(name, value, &[("deny", AskUnattended::Deny), ("ask", AskUnattended::Ask)])?;
                Ok(())
            }
            "baseline" => {
                let known = [("head", Baseline::Head), ("disk", Baseline::Disk), ("all", Baseline::All)];
                self.baseline = choice(name, value, &known)?;
                Ok(())
            }
            "log" => {
                self.log = choice(name, value, &[("all", Log::All), ("findings", Log::Findings), ("off", Log::Off)])?;
                Ok(())
            }
            "agents" => self.set_attended(value),
            "on_change" => {
                self.keeps_changed_hooks = choice(name, value, &[("stop", false), ("keep", true)])?;
                Ok(())
            }
            "project_hooks_may_allow" => match value.get_ref() {
                DeValue::Boolean(may) => {
                    self.project_hooks_may_allow = *may;
                    Ok(())
                }
                _ => Err(format!("`{name}` is one of true, false")),
            },
            "interpreters" => self.set_interpreters(value),
            "reminder" => tables::reminder(value, &mut self.reminder),
            "auto_approve" => tables::auto_approve(value, &mut self.auto_approve),
            "session" => tables::session(value, &mut self.session),
            "symbols" => tables::symbols(value, &mut self.symbols),
            _ => Ok(()),
        }
    }

    fn set_interpreters(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), String> {
        let wrong = || "`interpreters` is a list of absolute paths".to_owned();
        let DeValue::Array(paths) = value.get_ref() else { return Err(wrong()) };
        let path = |path: &Spanned<DeValue<'_>>| match path.get_ref() {
            DeValue::String(path) if Path::new(path.as_ref()).is_absolute() => Some(PathBuf::from(path.as_ref())),
            _ => None,
        };
        self.interpreters = paths.iter().map(path).collect::<Option<_>>().ok_or_else(wrong)?;
        Ok(())
    }

    fn set_attended(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), String> {
        let DeValue::Table(agents) = value.get_ref() else {
            return Err("`agents` is a table of agents: [agents.NAME]".to_owned());
        };
        for (agent, settings) in agents {
            let attended = match settings.get_ref() {
                DeValue::Table(settings) => settings.get("attended").map(Spanned::get_ref),
                _ => return Err(format!("`agents.{}` is a table", agent.get_ref())),
            };
            match attended {
                None | Some(DeValue::Boolean(false)) => {}
                Some(DeValue::Boolean(true)) => self.attended.push(agent.get_ref().to_string()),
                Some(_) => return Err(format!("`agents.{}.attended` is true or false", agent.get_ref())),
            }
        }
        Ok(())
    }
}

fn choice<T: Copy>(name: &str, value: &Spanned<DeValue<'_>>, known: &[(&str, T)]) -> Result<T, String> {
    let said = match value.get_ref() {
        DeValue::String(text) => known.iter().find(|(word, _)| *word == text.as_ref()).map(|(_, value)| *value),
        _ => None,
    };
    said.ok_or_else(|| {
        let words: Vec<_> = known.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        format!("`{name}` is one of {}", words.join(", "))
    })
}

fn tighten<T: PartialOrd>(name: &str, held: &mut T, said: T, owner: Owner) -> Result<(), String> {
    if owner == Owner::Project && said < *held {
        return Err(format!("a project may only make `{name}` stricter; the user's value holds"));
    }
    *held = said;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn config(user: &str, project: &str) -> Config {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join(".ruleline")).unwrap();
        fs::write(temp.path().join("config.toml"), user).unwrap();
        fs::write(temp.path().join(".ruleline/config.toml"), project).unwrap();
        Config::load(Some(temp.path()), [temp.path()])
    }

    fn problems(config: &Config) -> Vec<(u32, &str)> {
        config.problems.iter().map(|it| (it.line, it.message.as_str())).collect()
    }

    #[test]
    fn s02_a_project_only_tightens() {
        let loose = config("", "instruction_check = \"off\"\n\n\non_failure = \"ask\"\n");
        assert_eq!(loose.instruction_check, InstructionCheck::Ask);
        assert_eq!(
            problems(&loose),
            [(1, "a project may only make `instruction_check` stricter; the user's value holds")]
        );

        let loose = config("", "unsaved_buffers = \"off\"");
        assert_eq!((loose.unsaved_buffers, loose.problems.len()), (UnsavedBuffers::Ask, 1));
        let strict = config("unsaved_buffers = \"off\"", "unsaved_buffers = \"ask\"");
        assert_eq!((strict.unsaved_buffers, strict.problems.len()), (UnsavedBuffers::Ask, 0));
        assert_eq!(config("unsaved_buffers = \"off\"", "").unsaved_buffers, UnsavedBuffers::Off);

        let user = "instruction_check = \"off\"\non_failure = \"deny\"";
        let strict = config(user, "instruction_check = \"warn\"\non_failure = \"ask\"\nbaseline = \"disk\"");
        assert_eq!(strict.instruction_check, InstructionCheck::Warn);
        assert_eq!(strict.on_failure, OnFailure::Deny);
        assert_eq!(strict.baseline, Baseline::Disk);
        assert_eq!(strict.problems.len(), 1);
    }

    #[test]
    fn s02_what_is_the_users_alone_is_an_error_in_a_project() {
        for (key, value) in [
            ("ask_unattended", "\"ask\""),
            ("log", "\"off\""),
            ("on_change", "\"keep\""),
            ("project_hooks_may_allow", "true"),
            ("auto_approve", "{ servers = [\"*\"] }"),
            ("deciders", "{}"),
            ("duet", "true"),
            ("telemetry", "true"),
            ("interpreters", "[]"),
            ("agents", "{ codex = { attended = true } }"),
        ] {
            let text = format!("# a comment\n{key} = {value}\n");
            let found = config("", &text);
            assert_eq!(found.problems.len(), 1, "{key}");
            assert_eq!(found.problems[0].line, 2, "{key}");
            assert!(found.problems[0].message.contains(key), "{key}");
            assert_eq!(Config { problems: Vec::new(), ..found }, Config::default(), "{key}");
            assert!(config(&text, "").problems.is_empty(), "{key} in the user's file");
        }
    }

    #[test]
    fn a_wrong_file_says_where_and_loosens_nothing() {
        for (text, line, part) in [
            ("a = [", 1, "nothing this file says holds"),
            ("\non_failure = 3", 2, "one of \"ask\", \"deny\""),
            ("nonsense = 1", 1, "not a key"),
            ("agents = 1", 1, "[agents.NAME]"),
        ] {
            let found = config(text, "");
            assert_eq!(found.problems.len(), 1, "{text}");
            assert_eq!(found.problems[0].line, line, "{text}");
            assert!(found.problems[0].message.contains(part), "{text}: {}", found.problems[0].message);
        }
        assert_eq!(config("\u{feff}on_failure = \"deny\"", "").on_failure, OnFailure::Deny);
    }

    #[test]
    fn a_file_that_is_taken_over_twice_has_its_problems_once() {
        let mut found = config("", "nonsense = 1\nlog = \"off\"");
        let file = found.problems[0].file.clone();
        found.add_project(&file, Ok(Some(b"nonsense = 1\nlog = \"off\"".to_vec())));
        assert_eq!(found.problems.len(), 2);
        found.add_project(&file, Ok(Some(b"\nnonsense = 1".to_vec())));
        assert_eq!(found.problems.len(), 3);
    }

    #[test]
    fn what_is_recorded_is_found_without_reading_the_rest() {
        for (text, log) in [
            ("", Log::All),
            ("on_failure = \"deny\"", Log::All),
            ("log = \"off\"", Log::Off),
            ("# log\n'log' = 'findings'", Log::Findings),
            ("\"l\\u006fg\" = \"off\"", Log::All),
            ("log = 1", Log::All),
            ("log = [", Log::All),
        ] {
            let temp = tempfile::tempdir().unwrap();
            let folder = temp.path().canonicalize().unwrap().join("user");
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("config.toml"), text).unwrap();
            assert_eq!(Config::log_of_user(&folder), log, "{text}");
            if !text.contains('\\') {
                assert_eq!(Config::load(Some(&folder), []).log, log, "{text}");
            }
        }
        assert_eq!(Config::log_of_user(Path::new("/nowhere/at/all")), Log::All);
    }

    #[test]
    fn attended_agents_are_the_users_to_name() {
        let found = config("[agents.codex]\nattended = true\n[agents.claude]\nattended = false", "");
        assert_eq!(found.attended, ["codex"]);
    }
}
