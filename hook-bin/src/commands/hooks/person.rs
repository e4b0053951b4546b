//! The person who alone may trust and untrust (S9): at the terminal of this command, with no coding agent above it.
//!
//! Both are obstacles for a program that runs as the same user, and no proof of a person; see the manual on security.

use std::io;

use hooks::{Grantor, Means};
use rules::plain::{self, plain};
use system::ancestry::{self, Process};
use system::terminal::Terminal;

use super::Refusal;

/// Who sits at the terminal.
pub struct Person {
    terminal: Terminal,
    /// As it is written down.
    pub by: Grantor,
}

impl Person {
    /// The person in front of this command.
    ///
    /// # Errors
    /// There is none: an agent runs the command, or it has no terminal.
    pub fn find() -> Result<Person, Refusal> {
        let chain = ancestry::chain();
        if let Some(sign) = ancestry::agent_of(&chain, std::env::vars_os()) {
            let seen = plain(&sign.seen, plain::LINE);
            return Err(format!(
                "only a person may do this, and {} runs this command: {seen}; a person does it in a terminal of their own, or in the editor",
                sign.agent
            ));
        }
        let terminal = Terminal::open().map_err(|why| {
            format!("only a person may do this, at a terminal: {why}; no flag, variable or stdin stands in for it")
        })?;
        let processes = chain.iter().map(Process::label).collect();
        Ok(Person { terminal, by: Grantor { means: Means::Terminal, processes } })
    }

    /// Shows a text that is escaped already, and asks; the answer comes without blanks around it. None when there is no
    /// answer.
    ///
    /// # Errors
    /// The terminal failed.
    pub fn ask(&mut self, text: &str, question: &str) -> Result<Option<String>, Refusal> {
        let failed = |error: io::Error| format!("the terminal cannot be used: {error}; nothing was changed");
        self.terminal.say(text).map_err(failed)?;
        let answer = self.terminal.ask(question).map_err(failed)?;
        Ok(answer.map(|line| line.trim().to_owned()))
    }
}
