//! The arguments of `ruleline hook`, read by hand: a parser library would cost more than the rest of a hook that has
//! nothing to say.
//!
//! Reading never stops at the first thing that is wrong, so that an error can be answered in the dialect that was named.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use agents::Dialect;
use guard::assist::Part;

/// How long the whole hook may take: below the timeout that an agent is told.
const DEADLINE: Duration = Duration::from_secs(25);

/// What to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Everything that has something to say.
    All,
    /// What judges edits: rules, shell writes, self-protection.
    PreEdit,
    /// One part that helps and does not judge.
    Part(Part),
    /// A guard of the product that this version does not have.
    Absent(&'static str),
}

impl Guard {
    /// Whether it judges: only then is something asked when it fails.
    pub fn judges(self) -> bool {
        matches!(self, Guard::All | Guard::PreEdit)
    }
}

/// The guards of the product that this version does not have.
const ABSENT: [&str; 1] = ["pick-skill"];

/// Flags with a value that belong to guards this version does not have.
const ABSENT_FLAGS: [&str; 5] = ["--decider", "--skills-dir", "--min-score", "--margin", "--log-file"];

/// The arguments, as far as they could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// What to look at.
    pub guard: Guard,
    /// Who speaks.
    pub agent: Option<Dialect>,
    /// What happened, where the payload does not say.
    pub event: Option<String>,
    /// A rulebook elsewhere.
    pub rules: Option<PathBuf>,
    /// The project's root.
    pub project: Option<PathBuf>,
    /// The state folder.
    pub state: Option<PathBuf>,
    /// Ask no server.
    pub no_server: bool,
    /// Record nothing.
    pub no_log: bool,
    /// Say allow where an edit was judged and nothing found.
    pub approve: bool,
    /// Leave the instruction check out.
    pub no_instruction_check: bool,
    /// How long the whole hook may take.
    pub deadline: Duration,
    /// Only the help is wanted.
    pub help: bool,
    /// What this version does not have, named here.
    pub absent: Vec<String>,
    /// The first thing that is wrong.
    pub wrong: Option<String>,
}

impl Arguments {
    /// Reads what stands after `hook`.
    pub fn read(words: &[OsString]) -> Arguments {
        let mut read = Arguments {
            guard: Guard::All,
            agent: None,
            event: None,
            rules: None,
            project: None,
            state: None,
            no_server: false,
            no_log: false,
            approve: false,
            no_instruction_check: false,
            deadline: DEADLINE,
            help: false,
            absent: Vec::new(),
            wrong: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Err(message) = read.word(word, &mut words) {
                read.wrong.get_or_insert(message);
            }
        }
        read
    }

    fn word<'a>(&mut self, word: &OsStr, rest: &mut impl Iterator<Item = &'a OsString>) -> Result<(), String> {
        let Some(text) = word.to_str() else { return Err("an argument is not UTF-8".to_owned()) };
        let (flag, inline) = match text.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(OsString::from(value))),
            _ => (text, None),
        };
        let mut value = || match inline.clone().or_else(|| rest.next().cloned()) {
            Some(value) if !value.is_empty() => Ok(value),
            _ => Err(format!("{flag} needs a value")),
        };
        match flag {
            "--agent" => {
                let name = text_of(flag, value()?)?;
                let known = || Dialect::ALL.map(Dialect::name).join(", ");
                self.agent =
                    Some(Dialect::named(&name).ok_or_else(|| format!("no agent {name:?}; there are {}", known()))?);
            }
            "--event" => self.event = Some(text_of(flag, value()?)?),
            "--rules" => self.rules = Some(value()?.into()),
            "--project" => self.project = Some(value()?.into()),
            "--state-dir" => self.state = Some(value()?.into()),
            "--deadline-ms" => {
                let number = text_of(flag, value()?)?.parse().map_err(|_| format!("{flag} needs a number"))?;
                self.deadline = DEADLINE.min(Duration::from_millis(number));
            }
            _ if ABSENT_FLAGS.contains(&flag) => {
                value()?;
                self.absent.push(flag.to_owned());
            }
            _ if inline.is_some() => return Err(format!("{flag} is no flag that takes a value")),
            "--no-server" => self.no_server = true,
            "--no-log" => self.no_log = true,
            "--approve" => self.approve = true,
            "--no-instruction-check" => self.no_instruction_check = true,
            "--help" | "-h" => self.help = true,
            _ if flag.starts_with('-') => return Err(format!("{flag:?} is no flag of hook")),
            name => self.name_guard(name)?,
        }
        Ok(())
    }

    fn name_guard(&mut self, name: &str) -> Result<(), String> {
        let part = Part::NAMED.iter().find(|(known, _)| *known == name).map(|(_, part)| Guard::Part(*part));
        let guard = match ABSENT.iter().find(|absent| **absent == name) {
            Some(absent) => Guard::Absent(absent),
            None if name == "pre-edit" => Guard::PreEdit,
            None if let Some(part) = part => part,
            None => return Err(format!("{name:?} is no guard")),
        };
        if self.guard != Guard::All {
            return Err("only one guard can be named".to_owned());
        }
        if let Guard::Absent(name) = guard {
            self.absent.push(name.to_owned());
        }
        self.guard = guard;
        Ok(())
    }
}

fn text_of(flag: &str, value: OsString) -> Result<String, String> {
    value.into_string().map_err(|_| format!("the value of {flag} is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Arguments {
        Arguments::read(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_guard_may_stand_before_or_after_the_flags() {
        for line in
            ["pre-edit --agent claude --no-log", "--agent claude --no-log pre-edit", "--agent=claude pre-edit --no-log"]
        {
            let found = read(line);
            assert_eq!(
                (found.guard, found.agent, found.no_log),
                (Guard::PreEdit, Some(Dialect::Claude), true),
                "{line}"
            );
            assert_eq!(found.wrong, None, "{line}");
        }
        assert_eq!(read("--agent codex remind").guard, Guard::Part(Part::Remind));
        assert_eq!(read("--agent codex pick-skill").guard, Guard::Absent("pick-skill"));
        assert_eq!(read("--agent codex --min-score 1.5").absent, ["--min-score"]);
    }

    #[test]
    fn what_is_wrong_is_said_and_the_dialect_is_found_all_the_same() {
        for (line, part) in [
            ("--bogus --agent claude", "--bogus"),
            ("pre-edit pick-skill --agent claude", "only one guard"),
            ("nonsense --agent claude", "nonsense"),
            ("--no-log=yes --agent claude", "takes a value"),
            ("--agent claude --rules", "needs a value"),
            ("--deadline-ms x --agent claude", "number"),
            ("--agent claude --rules=", "needs a value"),
        ] {
            let found = read(line);
            assert!(found.wrong.as_deref().is_some_and(|it| it.contains(part)), "{line}: {:?}", found.wrong);
            assert_eq!(found.agent, Some(Dialect::Claude), "{line}");
        }
        let unknown = read("--agent nobody");
        assert!(unknown.agent.is_none() && unknown.wrong.is_some());
    }

    #[test]
    fn the_deadline_can_only_be_shortened() {
        assert_eq!(read("--deadline-ms 10").deadline, Duration::from_millis(10));
        assert_eq!(read("--deadline-ms 99999999").deadline, DEADLINE);
    }
}
