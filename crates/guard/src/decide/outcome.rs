//! What was found for one event so far, and the decision that comes of it.

use std::path::{Path, PathBuf};

use ::hooks::answer::Word;
use agents::{Decision, Permission};
use rules::plain::{WHY, plain};
use system::open::OpenError;

use super::Decided;
use crate::config::{Config, OnFailure, PROJECT_CONFIG, read_project};
use crate::lifting::{Lifting, Used};
use crate::reasons::{Report, Said};
use crate::session::{Seen, Session};
use crate::stack::Stack;
use crate::trace::{Basis, Spent};

/// What was found so far, of all files.
#[derive(Debug)]
pub(super) struct Outcome {
    pub config: Config,
    /// Roots whose settings are in `config`.
    pub settled: Vec<PathBuf>,
    pub reports: Vec<Report>,
    /// What a person must do, beside files.
    pub asks: Vec<String>,
    pub failures: Vec<String>,
    pub news: Vec<String>,
    /// What the person at the machine should know and no agent.
    pub notes: Vec<String>,
    /// The same, where the agent has a place for it.
    pub notices: Vec<String>,
    /// What hooks said.
    pub word: Option<(Word, String)>,
    /// What a part that does not judge says: a refusal that may be tried again, or an approval.
    pub helps: Option<(Permission, String)>,
    /// Something was judged, and all of it known.
    pub judged: bool,
    pub unknown: bool,
    /// A command does what only a person may do.
    pub protects: bool,
    /// A command takes what an editor holds unsaved.
    pub takes: bool,
    /// A person must decide in place of a hook.
    pub hooks_ask: bool,
    /// What a person allowed once and this call uses up.
    pub used: Option<Used>,
    pub spent: Spent,
}

impl Outcome {
    pub fn new(config: Config) -> Outcome {
        Outcome {
            config,
            settled: Vec::new(),
            reports: Vec::new(),
            asks: Vec::new(),
            failures: Vec::new(),
            news: Vec::new(),
            notes: Vec::new(),
            notices: Vec::new(),
            word: None,
            helps: None,
            judged: false,
            unknown: false,
            protects: false,
            takes: false,
            hooks_ask: false,
            used: None,
            spent: Spent::default(),
        }
    }

    /// Adds the settings of the projects a file lies in, as they are and as the session saw them first.
    pub fn settle(&mut self, stack: &Stack, mut session: Option<&mut Session>) {
        for (root, _) in &stack.roots {
            if self.settled.contains(root) {
                continue;
            }
            self.settled.push(root.clone());
            let file = root.join(PROJECT_CONFIG);
            let read = read_project(root);
            let seen = session.as_deref_mut().map(|session| see_config(session, &file, &read));
            self.config.add_project(&file, read);
            if let Some(Seen::Changed { first: Some(first), .. }) = seen {
                self.config.add_project(&file, Ok(Some(first)));
            }
        }
    }

    /// Uses up what a person allowed once, where the decision is another without it, and says so.
    pub fn use_up(&mut self, lifting: Lifting) {
        let mut reports = std::mem::take(&mut self.reports);
        let used = lifting.settle(&mut reports, |reports| self.permission(reports));
        self.reports = reports;
        if let Some(used) = &used {
            self.news.extend(used.words.iter().cloned());
            self.notices.extend(used.words.iter().cloned());
        }
        self.used = used;
    }

    /// What the call gets, as far as it is known, if this is what was found in its files.
    pub fn permission(&self, reports: &[Report]) -> Permission {
        let failed = reports.iter().any(|report| !report.judged.failures.is_empty()) || !self.failures.is_empty();
        let mut permission = reports.iter().map(|report| report.say().permission).max().unwrap_or(Permission::Silent);
        if !self.asks.is_empty() {
            permission = permission.max(Permission::Ask);
        }
        if failed {
            permission = permission.max(match self.config.on_failure {
                OnFailure::Ask => Permission::Ask,
                OnFailure::Deny => Permission::Deny,
            });
        }
        let spoken = self.word.as_ref().map(|(word, _)| match word {
            Word::Deny => Permission::Deny,
            Word::Ask => Permission::Ask,
            Word::Allow => Permission::Allow,
            Word::Continue => Permission::Silent,
        });
        permission.max(spoken.unwrap_or(Permission::Silent))
    }

    /// The decision; `traced` is the project and the command that it was made about, where a trace is wanted.
    pub fn into_decided(self, traced: Option<(PathBuf, Option<String>)>) -> Decided {
        let mut permission = self.permission(&self.reports);
        // What judges or asks has the first word: a reminder beside it would only be in the way.
        let helps = self.helps.filter(|(helps, _)| permission < Permission::Ask && permission <= *helps);
        if let Some((helps, _)) = &helps {
            permission = *helps;
        }
        let mut said: Vec<Said> = self.reports.iter().map(Report::say).collect();
        // What refuses stands first; files keep their order otherwise.
        said.sort_by_key(|said| said.permission != Permission::Deny);
        let explicit = permission == Permission::Allow;
        if permission == Permission::Silent && self.judged && !self.unknown {
            permission = Permission::Allow;
        }
        let word = self.word.as_ref().map(|(word, _)| *word).or(self.hooks_ask.then_some(Word::Ask));
        let mut context = self.news;
        context.extend(said.iter().map(|said| said.warnings.clone()).filter(|text| !text.is_empty()));
        let mut paragraphs: Vec<String> =
            said.into_iter().map(|said| said.reason).filter(|text| !text.is_empty()).collect();
        // A hook's allow has no say beside what refuses or asks.
        paragraphs.extend(self.word.filter(|(word, _)| *word != Word::Allow || explicit).map(|(_, reason)| reason));
        paragraphs.extend(helps.map(|(_, reason)| reason));
        paragraphs.extend(self.asks);
        let failures = self.failures.iter().map(|why| plain(why, WHY));
        paragraphs.extend(failures.map(|why| format!("ruleline could not judge this: {why}; a person decides")));
        let reason = paragraphs.join("\n");
        let failed = !self.failures.is_empty();
        let basis = traced.map(|(root, command)| Basis {
            root,
            reports: self.reports,
            command,
            reason: reason.clone(),
            used: self.used,
            word,
            protects: self.protects,
            takes: self.takes,
            failed,
            spent: self.spent,
        });
        let mut notes = self.notes;
        notes.extend(self.notices.iter().cloned());
        let decision = Decision { permission, reason, context, notices: self.notices, explicit };
        notes.extend(self.config.problems.iter().map(|problem| plain(&problem.to_string(), WHY)));
        Decided { decision, notes, basis }
    }
}

/// Has the session see a project's settings as they were read; what cannot be read is no change.
pub(super) fn see_config(session: &mut Session, file: &Path, read: &Result<Option<Vec<u8>>, OpenError>) -> Seen {
    match read {
        Ok(bytes) => session.see(file, bytes.as_deref()),
        Err(_) => Seen::Same,
    }
}
