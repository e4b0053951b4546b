//! One changed file against every rulebook that holds for it: what the hook, `check` and the server all call.
//!
//! Rulebooks come from a [`RulebookSource`], facts from a [`FactSource`]; with a session, what it saw first holds as
//! well. What cannot be loaded or read is a failure beside the verdicts and never silence. No words for an agent here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rules::{Case, Change, Effect, FactSource, Finding, Judge, Rulebook, Verdict};
use system::paths;

use crate::accelerate::{self, Accelerator, AskFirst, NoFacts, Question};
use crate::books::{LoadedBook, PROJECT_RULES, Place, RulebookSource};
use crate::session::{Seen, Session};
use crate::stack::{Owner, Spelled, Stack, Surroundings, stack};

/// What judging needs beside the change.
pub struct Judging<'a> {
    /// Rulebooks.
    pub books: &'a dyn RulebookSource,
    /// Facts of texts.
    pub facts: &'a dyn FactSource,
    /// A server that may save work.
    pub accelerator: Option<&'a dyn Accelerator>,
    /// What is known beside the file.
    pub surroundings: &'a Surroundings,
    /// The user's folder, where it may be used.
    pub user: Option<&'a Path>,
}

/// One rulebook's say.
#[derive(Debug)]
pub struct Part {
    /// The rulebook.
    pub book: Arc<LoadedBook>,
    /// Whose it is.
    pub owner: Owner,
    /// It is what the session saw first, and another now.
    pub earlier: bool,
    /// The change as this rulebook sees it.
    pub change: Change,
    /// What it says.
    pub verdict: Verdict,
}

/// Everything said about one changed file.
#[derive(Debug, Default)]
pub struct FileVerdict {
    /// Each rulebook's say, the innermost root's first.
    pub parts: Vec<Part>,
    /// What could not be loaded, each in one line.
    pub failures: Vec<String>,
    /// What is to be said once: a rulebook is another than at the session's start.
    pub news: Vec<String>,
}

impl FileVerdict {
    /// The strongest effect; a failure asks.
    pub fn effect(&self) -> Option<Effect> {
        let failed = (!self.failures.is_empty()).then_some(Effect::Ask);
        self.parts.iter().filter_map(|part| part.verdict.effect()).max().max(failed)
    }
}

impl Judging<'_> {
    /// What holds for a file.
    pub fn stack(&self, file: &Spelled) -> Stack {
        stack(file, self.surroundings, self.user)
    }

    /// Judges a change of `file`; `stack` is what holds for it.
    pub fn judge(&self, file: &Spelled, stack: &Stack, change: &Change, session: Option<&mut Session>) -> FileVerdict {
        let mut judged = FileVerdict::default();
        let books = self.load(file, stack, session, &mut judged);
        let seen: Vec<(Arc<LoadedBook>, Change)> = books
            .iter()
            .flat_map(|held| held.views.iter().map(|names| (Arc::clone(&held.book), named(change, stack, names))))
            .collect();
        let whose = books.iter().flat_map(|held| held.views.iter().map(|_| (held.owner, held.earlier)));
        let verdicts = self.verdicts(file, stack, &seen);
        for (((book, change), (owner, earlier)), verdict) in seen.into_iter().zip(whose).zip(verdicts) {
            judged.parts.push(Part { book, owner, earlier, change, verdict });
        }
        judged
    }

    /// What in the added lines addresses a reviewer or an agent, quoted as the rulebooks that judged would quote it.
    pub fn instructions(&self, judged: &FileVerdict, change: &Change, effect: Effect) -> Vec<Finding> {
        let books: Vec<&Rulebook> = judged.parts.iter().map(|part| &part.book.book).collect();
        let names = judged.parts.iter().flat_map(|part| part.change.names.iter().cloned());
        let change = change.named(change.path.clone(), change.names.iter().cloned().chain(names).collect());
        Judge::new(self.facts).judge_instructions(&books, &change, effect)
    }

    fn verdicts(&self, file: &Spelled, stack: &Stack, books: &[(Arc<LoadedBook>, Change)]) -> Vec<Verdict> {
        let folder = stack.roots.first().map_or(file.resolved.as_path(), |(root, _)| root);
        let case = if paths::ignores_case(folder) { Case::Folded } else { Case::Exact };
        let mut verdicts = self.unmasked(file, case, books);
        let seen: Vec<(&Rulebook, &Change)> = books.iter().map(|(book, change)| (&book.book, change)).collect();
        Judge { facts: self.facts, case }.mask(&seen, &mut verdicts);
        verdicts
    }

    /// The verdicts, each with the secrets of its own rulebook masked.
    fn unmasked(&self, file: &Spelled, case: Case, books: &[(Arc<LoadedBook>, Change)]) -> Vec<Verdict> {
        let judge = |facts: &dyn FactSource| -> Vec<Verdict> {
            let judge = Judge { facts, case };
            books.iter().map(|(book, change)| judge.judge(&book.book, change)).collect()
        };
        let Some(accelerator) = self.accelerator else { return judge(self.facts) };
        let question = Question { file: &file.resolved, books };
        let ask = || accelerator.ask(&question);
        let asking = AskFirst::new(&ask, self.facts);
        let verdicts = judge(&asking);
        let Some(answer) = asking.into_answer() else { return verdicts };
        let proven =
            answer().and_then(|claims| accelerate::proven(&Judge { facts: &NoFacts, case }, &question, &claims));
        proven.unwrap_or_else(|| judge(self.facts))
    }

    fn load(
        &self,
        file: &Spelled,
        stack: &Stack,
        mut session: Option<&mut Session>,
        judged: &mut FileVerdict,
    ) -> Vec<Held> {
        let mut held = Vec::new();
        let names = file.every_name();
        for holding in &stack.holdings {
            let path = holding.place.path();
            let loaded = match self.books.load_about(&holding.place, &names) {
                Ok(loaded) => loaded,
                Err(why) => {
                    judged.failures.push(format!("a rulebook cannot be read: {why}"));
                    continue;
                }
            };
            if loaded.is_none() && holding.owner == Owner::Named {
                judged.failures.push(format!("the rulebook {} is not there", paths::shown(&path)));
            }
            let mut hold = |book: Arc<LoadedBook>, earlier| {
                held.push(Held { book, owner: holding.owner, earlier, views: holding.views.clone() });
            };
            if let Some(session) = session.as_deref_mut()
                && let Some(first) = self.first(session, &path, loaded.as_deref(), judged)
            {
                hold(first, true);
            }
            if let Some(book) = loaded {
                hold(book, false);
            }
        }
        if let Some(session) = session {
            held.extend(self.vanished(file, stack, session, judged));
        }
        held
    }

    /// The rulebook as the session saw it first, where it is another now.
    fn first(
        &self,
        session: &mut Session,
        path: &Path,
        today: Option<&LoadedBook>,
        judged: &mut FileVerdict,
    ) -> Option<Arc<LoadedBook>> {
        let shown = rules::plain::plain(&paths::shown(path), rules::plain::PATH);
        match session.see_digested(path, today.map(|book| (book.bytes(), book.digest()))) {
            Seen::Same => None,
            Seen::Lost => {
                judged.failures.push(format!("what {shown} said when this session began is lost"));
                None
            }
            Seen::Changed { first, news } => {
                if news {
                    let since = format!("ruleline: {shown} is another than when this session began");
                    judged.news.push(match first {
                        Some(_) => format!("{since}; what it said then holds as well"),
                        None => format!("{since}; there was none then"),
                    });
                }
                first.map(|bytes| self.books.recall(path, bytes))
            }
        }
    }

    /// Rulebooks that the session saw and whose folder is no root any more.
    fn vanished(&self, file: &Spelled, stack: &Stack, session: &mut Session, judged: &mut FileVerdict) -> Vec<Held> {
        if self.surroundings.named.as_ref().is_some_and(|named| named.replaces) {
            return Vec::new();
        }
        let known: Vec<PathBuf> =
            session.files().filter(|path| path.ends_with(PROJECT_RULES)).map(PathBuf::from).collect();
        let mut held = Vec::new();
        for path in known {
            let Some(root) = path.parent().and_then(Path::parent) else { continue };
            let names = file.names_below(root);
            if names.is_empty() || stack.holdings.iter().any(|holding| holding.place == Place::of_project(root)) {
                continue;
            }
            if let Some(book) = self.first(session, &path, None, judged) {
                held.push(Held { book, owner: Owner::Project, earlier: true, views: vec![names] });
            }
        }
        held
    }
}

/// A rulebook that is to judge.
struct Held {
    book: Arc<LoadedBook>,
    owner: Owner,
    earlier: bool,
    views: Vec<Vec<String>>,
}

fn named(change: &Change, stack: &Stack, names: &[String]) -> Change {
    change.named(stack.shown.clone(), names.to_vec())
}
