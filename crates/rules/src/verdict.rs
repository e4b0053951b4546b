//! What judging one change against one rulebook gives: findings, and what could not be checked.
//!
//! Plain data that the editor, the hook, `check` and `replay` all render; no words of theirs here.

use syntax::Span;

/// What a finding does to the edit; the greater wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Says so, stops nothing.
    Warn,
    /// A person decides.
    Ask,
    /// Refused.
    Deny,
}

/// Which check of a rule spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The rule itself did not load: every change it might cover asks.
    Load,
    /// `forbid`
    Forbid,
    /// `forbid_calls`
    ForbidCalls,
    /// `forbid_imports`
    ForbidImports,
    /// `require`
    Require,
    /// `require_def`
    RequireDef,
    /// A rule without checks: any change of its paths.
    AnyChange,
    /// `question`
    Question,
    /// The instruction check, which belongs to no rule.
    Instructions,
}

impl Check {
    const NAMES: [(Check, &str); 9] = [
        (Check::Load, "load"),
        (Check::Forbid, "forbid"),
        (Check::ForbidCalls, "forbid_calls"),
        (Check::ForbidImports, "forbid_imports"),
        (Check::Require, "require"),
        (Check::RequireDef, "require_def"),
        (Check::AnyChange, "any_change"),
        (Check::Question, "question"),
        (Check::Instructions, "instructions"),
    ];

    /// Its name in records, on the socket and in machine-readable output.
    pub fn name(self) -> &'static str {
        Check::NAMES.iter().find(|(check, _)| *check == self).map_or("", |(_, name)| name)
    }

    /// The check of this name.
    pub fn from_name(name: &str) -> Option<Check> {
        Check::NAMES.iter().find(|(_, known)| *known == name).map(|(check, _)| *check)
    }
}

/// One place where a rule objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Index into the rulebook's rules; none for the instruction check.
    pub rule: Option<usize>,
    /// Which check.
    pub check: Check,
    /// Which of the check's patterns or specs, from 0.
    pub item: usize,
    /// What it does.
    pub effect: Effect,
    /// Line counted as the change counts; 0 is the file as a whole.
    pub line: u32,
    /// The offending match or call in the change's text; none for the file as a whole.
    pub span: Option<Span>,
    /// The line, masked if the rule redacts, cut to 120 characters around the hit; empty for the file as a whole.
    pub text: String,
    /// What was found: `forbidden pattern`, `calls os.system (shell=True)`, `no function downgrade()`.
    pub what: String,
}

/// One check that could not be made: the change asks unless something denies it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// Index into the rulebook's rules; none when it is the rulebook as a whole.
    pub rule: Option<usize>,
    /// Which check.
    pub check: Check,
    /// Why, and where: `line 3 does not parse`.
    pub why: String,
}

/// The result of judging one change against one rulebook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// In order of the rules, then of the checks, then of the lines.
    pub findings: Vec<Finding>,
    /// What could not be checked, in the same order.
    pub unchecked: Vec<Unchecked>,
}

impl Verdict {
    /// The strongest effect: an unchecked rule asks. None when there is nothing to say.
    pub fn effect(&self) -> Option<Effect> {
        let unchecked = (!self.unchecked.is_empty()).then_some(Effect::Ask);
        self.findings.iter().map(|finding| finding.effect).max().max(unchecked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name() {
        for (check, name) in Check::NAMES {
            // A new check does not compile here until it is in the table above.
            match check {
                Check::Load
                | Check::Forbid
                | Check::ForbidCalls
                | Check::ForbidImports
                | Check::Require
                | Check::RequireDef
                | Check::AnyChange
                | Check::Question
                | Check::Instructions => {}
            }
            assert_eq!((check.name(), Check::from_name(name)), (name, Some(check)));
        }
    }
}
