//! What is said to an agent that does nothing wrong: the reminder, the approval of symbolic tools, the guard of plans,
//! and what a session is told as it begins.
//!
//! None of it judges, so that none of it asks when something fails (S17): a reminder that cannot be kept is not given. A
//! refusal of the reminder or of the plan guard stands behind every refusal of a rule and every question.

use std::path::Path;
use std::time::SystemTime;

use agents::{Dialect, Event, EventKind, Permission, PermissionMode, settings};
use rules::plain::{ID, plain};

use crate::config::Config;
use crate::remind::{self, Reminding, Said, Tools, classify, state, tools};
use crate::symbols::SymbolLookup;

/// Largest settings file of an agent that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// Which parts have a say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of them, each at its event.
    All,
    /// The reminder.
    Remind,
    /// The reset of the reminder behind a symbolic tool.
    Reset,
    /// The approval of symbolic tools.
    AutoApprove,
    /// What a session is told as it begins.
    Activate,
    /// Removing what is kept of a session.
    Cleanup,
    /// What a prompt is told in plan mode.
    PlanContext,
    /// The guard of plan mode.
    PlanGuard,
}

impl Part {
    /// Those that can be named, by the names that the command line takes.
    pub const NAMED: [(&str, Part); 7] = [
        ("remind", Part::Remind),
        ("reset", Part::Reset),
        ("auto-approve", Part::AutoApprove),
        ("activate", Part::Activate),
        ("cleanup", Part::Cleanup),
        ("plan-context", Part::PlanContext),
        ("plan-guard", Part::PlanGuard),
    ];

    fn has(self, part: Part) -> bool {
        self == Part::All || self == part
    }
}

/// What it is done with.
pub struct Assist<'a> {
    /// Which parts have a say.
    pub part: Part,
    /// The settings.
    pub config: &'a Config,
    /// The state folder; none where it may not be used.
    pub state: Option<&'a Path>,
    /// The home folder.
    pub home: Option<&'a Path>,
    /// The project's root.
    pub root: &'a Path,
    /// The agent's working folder.
    pub cwd: &'a Path,
    /// An index of symbols.
    pub lookup: Option<&'a dyn SymbolLookup>,
    /// How things stand, for a session that begins, a line each; asked only then.
    pub standing: &'a dyn Fn() -> Vec<String>,
    /// When the event came.
    pub now: SystemTime,
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assisted {
    /// A refusal or an approval, with its reason.
    pub word: Option<(Permission, String)>,
    /// What is said beside.
    pub context: Vec<String>,
    /// What the person at the machine should know, a line each.
    pub notes: Vec<String>,
}

/// Whether anything may be said of an event; decided by its words alone.
pub fn concerns(event: &Event, part: Part) -> bool {
    match event.kind {
        EventKind::PreToolUse => {
            let servers = tools::SERVERS.map(str::to_owned);
            classify::concerns(event, &servers) || event.tool.contains("__") || event.tool.starts_with("mcp_")
        }
        EventKind::PostToolUse => {
            part.has(Part::Reset) && (event.tool.contains("__") || event.tool.starts_with("mcp_"))
        }
        EventKind::SessionStart => part.has(Part::Activate),
        EventKind::UserPromptSubmit => part.has(Part::PlanContext) && event.mode == PermissionMode::Plan,
        EventKind::SessionEnd => part.has(Part::Cleanup),
        // Only whoever names it wants it at another event: a stop is not the end of a session everywhere.
        _ => part == Part::Cleanup,
    }
}

impl Assist<'_> {
    /// What is said of an event.
    pub fn assist(&self, event: &Event) -> Assisted {
        let mut said = Assisted::default();
        match event.kind {
            EventKind::PreToolUse => self.before_call(event, &mut said),
            EventKind::PostToolUse if self.part.has(Part::Reset) => {
                if let Some(Err(why)) = self.with_reminder(|reminding| reminding.reset(event)) {
                    said.notes.push(format!("the reminder is not reset: {why}"));
                }
            }
            EventKind::SessionStart if self.part.has(Part::Activate) => self.begin(event, &mut said),
            EventKind::UserPromptSubmit if self.part.has(Part::PlanContext) => {
                if let Some(text) = plan_context(event, self.part) {
                    said.context.push(text);
                }
            }
            EventKind::SessionEnd if self.part.has(Part::Cleanup) => self.clean_up(event),
            _ if self.part == Part::Cleanup => self.clean_up(event),
            _ => {}
        }
        said
    }

    fn before_call(&self, event: &Event, said: &mut Assisted) {
        if self.part.has(Part::PlanGuard) {
            said.word =
                plan_refusal(event, self.part, &self.config.reminder.servers).map(|why| (Permission::Deny, why));
        }
        if said.word.is_none() && self.part.has(Part::AutoApprove) {
            said.word = self.approval(event).map(|why| (Permission::Allow, why));
        }
        if self.part.has(Part::Remind) {
            match self.with_reminder(|reminding| reminding.take(event)) {
                Some(Ok(Some(Said::Refusal(_, reason)))) if said.word.is_none() => {
                    said.word = Some((Permission::Deny, reason));
                }
                Some(Ok(Some(Said::Hint(text)))) => said.context.push(text),
                Some(Err(why)) => said.notes.push(format!("the reminder does not count: {why}")),
                _ => {}
            }
        }
    }

    fn with_reminder<T>(&self, work: impl FnOnce(&Reminding<'_>) -> T) -> Option<T> {
        let configured = || self.configured();
        let reminding = Reminding {
            state: self.state?,
            settings: &self.config.reminder,
            lookup: self.lookup,
            configured: &configured,
            cwd: self.cwd,
            now: self.now,
        };
        Some(work(&reminding))
    }

    /// The symbolic tools that an agent's own settings name.
    fn configured(&self) -> Option<Tools> {
        let wanted = &self.config.reminder.servers;
        let of_project = settings::SERVERS_OF_PROJECT.iter().map(|file| (Some(self.root), file));
        let of_user = settings::SERVERS_OF_USER.iter().map(|file| (self.home, file));
        let found: Vec<String> = of_project
            .chain(of_user)
            .filter_map(|(folder, file)| system::open::read_below(folder?, Path::new(file), LARGEST).ok()?)
            .flat_map(|bytes| settings::servers(&bytes))
            .filter(|server| wanted.contains(server))
            .collect();
        let ours = found.iter().find(|server| *server == "ruleline");
        ours.or(found.first()).map(|server| remind::of_server(server))
    }

    /// Why a symbolic tool is approved, in the modes in which edits are.
    fn approval(&self, event: &Event) -> Option<String> {
        let settings = &self.config.auto_approve;
        let mode = match event.mode {
            PermissionMode::AcceptEdits | PermissionMode::Auto => event.mode.name()?,
            _ => return None,
        };
        let tool = tools::of_servers(&event.tool, &settings.servers).filter(|tool| tool.is_exact)?;
        let is_excluded = settings.exclude.iter().any(|pattern| tools::matches(pattern, tool.tool));
        let is_approved = tools::is_symbolic(tool.tool) && !is_excluded;
        is_approved.then(|| {
            let name = plain(&event.tool, ID);
            format!("ruleline: {name} is a symbolic tool that you approve, and the agent is in {mode} mode")
        })
    }

    fn begin(&self, event: &Event, said: &mut Assisted) {
        let settings = &self.config.session;
        if !settings.briefing {
            return;
        }
        let again = event.source.as_deref() == Some("compact");
        let mut lines = Vec::new();
        if let Some(Tools::Server { prefix, is_ours }) = self.configured() {
            let prefix = plain(&prefix, ID);
            lines.push(if is_ours {
                format!(
                    "ruleline: this session has symbolic tools ({prefix}find_symbol, {prefix}find_references, \
                     {prefix}symbols_overview). Ask them for names of the program before you search texts."
                )
            } else {
                format!(
                    "ruleline: this session has symbolic tools ({prefix}*). If this is the project you work on, call \
                     {prefix}activate_project where there is such a tool{}, read {prefix}initial_instructions, and ask \
                     these tools for names of the program before you search texts.",
                    if again { " and that was not done yet" } else { "" }
                )
            });
        }
        lines.extend((self.standing)());
        if !lines.is_empty() {
            said.context.push(lines.join("\n"));
        }
        if let Some(state) = self.state {
            state::sweep(state, self.now);
        }
    }

    /// Removes what was counted in the session, and nothing else.
    fn clean_up(&self, event: &Event) {
        if let (Some(state), Some(session)) = (self.state, &event.session) {
            state::Place::new(state, session, None).remove();
        }
    }
}

/// Whether a part speaks in an agent's plan mode: Codex lets a plan edit through other tools than its own.
fn guards_plans(event: &Event, part: Part) -> bool {
    event.mode == PermissionMode::Plan && (part != Part::All || event.dialect == Dialect::Codex)
}

fn plan_refusal(event: &Event, part: Part, servers: &[String]) -> Option<String> {
    let tool = tools::of_servers(&event.tool, servers).filter(|_| guards_plans(event, part))?;
    tools::edits(tool.tool).then(|| {
        format!(
            "ruleline: {} edits, and the agent is in plan mode; plan first, edit when the plan is accepted",
            plain(tool.tool, ID)
        )
    })
}

fn plan_context(event: &Event, part: Part) -> Option<String> {
    guards_plans(event, part).then(|| {
        "ruleline: plan mode: use symbolic tools for read-only analysis; those that edit are refused until the plan is \
         accepted."
            .to_owned()
    })
}
