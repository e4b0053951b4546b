//! `ruleline demo`: one rule, seen at work in an editor and in front of two coding agents, and a project's hook before and
//! after a person trusts it.
//!
//! Everything is real: the server as a process, the hook as a process, payloads as the agents send them, in a project
//! that is gone afterwards. Nothing of the user's is read or written but the user's own rulebook. It is a check as well
//! as a show: the exit status is 0 only if all of it came out as it is told.

mod agent;
mod editor;
mod trust;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use clap::Parser;
use serde_json::{Value, json};

use super::Command;
use crate::output::{complain, print};
use agent::{Agent, Answer, Edit};
use editor::{Editor, Squiggle};

/// The row of the command table.
pub const COMMAND: Command = Command { name: "demo", about: "shows all of it in a temporary project", run };

/// Shows one rule at work in an editor and in front of two coding agents, and a project's hook before and after it is
/// trusted, in a temporary project. Seconds, no network.
///
/// Exit status: 0 when all of it came out as it is told, 1 when something did not, 2 when it cannot be shown.
#[derive(Parser)]
#[command(name = "ruleline demo")]
struct Arguments {
    /// One JSON object instead, for scripts.
    #[arg(long)]
    json: bool,
}

const RULE: &str = "no-eval";
const WHY: &str = "eval runs whatever it is given; ast.literal_eval reads literals and nothing else.";
const FILE: &str = "prices.py";
const BEFORE: &str = "\"\"\"Prices of the shop.\"\"\"\n\n\ndef total(order):\n";
const BEHIND: &str = "    return label, amount\n";
const LINE: u32 = 5;
const OLD: &str = "    label = \"🛒 total\"; amount = sum(order)";
const REFUSED: &str = "    label = \"🛒 total\"; amount = eval(order)";
const PASSES: &str = "    label = \"🛒 total\"; amount = round(sum(order), 2)";

fn rulebook() -> String {
    format!("[[rule]]\nid = \"{RULE}\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"eval\", \"exec\"]\nwhy = \"{WHY}\"\n")
}

fn text(line: &str) -> String {
    format!("{BEFORE}{line}\n{BEHIND}")
}

fn run(words: &[OsString]) -> ExitCode {
    let arguments: Arguments = match super::read("demo", words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let stage = match Stage::set() {
        Ok(stage) => stage,
        Err(why) => {
            complain(&why);
            return ExitCode::from(2);
        }
    };
    let mut show = Show { prints: !arguments.json, ..Show::default() };
    let result = stage.play(&mut show);
    if arguments.json {
        let value = json!({
            "ok": result.is_ok(),
            "failed": result.as_ref().err(),
            "rule": RULE,
            "file": FILE,
            "line": LINE,
            "scenes": show.scenes,
            "milliseconds": show.times.iter().map(|(what, took)| (what.clone(), json!(milliseconds(*took))))
                .collect::<serde_json::Map<String, Value>>(),
        });
        print(&format!("{value:#}\n"));
    } else if let Err(why) = &result {
        complain(&format!("the demonstration failed: {why}"));
    }
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Where it is shown; gone when dropped.
struct Stage {
    temporary: tempfile::TempDir,
    root: PathBuf,
    state: PathBuf,
    program: PathBuf,
    server: PathBuf,
}

/// What was shown.
#[derive(Default)]
struct Show {
    prints: bool,
    scenes: Vec<Value>,
    times: Vec<(String, Duration)>,
}

impl Show {
    fn say(&self, text: &str) {
        if self.prints {
            print(text);
        }
    }

    fn took(&mut self, what: &str, took: Duration) {
        self.times.push((what.to_owned(), took));
    }
}

impl Stage {
    /// A project with one rule and one file.
    fn set() -> Result<Stage, String> {
        let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
        let server = crate::programs::server(&program)?;
        let failed = |error: std::io::Error| format!("there is no room for a temporary project: {error}");
        let temporary = tempfile::Builder::new().prefix("ruleline-demo-").tempdir().map_err(failed)?;
        let base = temporary.path().canonicalize().map_err(failed)?;
        let (root, state) = (base.join("shop"), base.join("state"));
        fs::create_dir_all(root.join(".ruleline")).map_err(failed)?;
        fs::write(root.join(".ruleline/rules.toml"), rulebook()).map_err(failed)?;
        fs::write(root.join(FILE), text(OLD)).map_err(failed)?;
        Ok(Stage { temporary, root, state, program, server })
    }

    fn play(self, show: &mut Show) -> Result<(), String> {
        let begun = Instant::now();
        show.say(&format!("A project with one file, {FILE}, and one rule, in .ruleline/rules.toml:\n\n"));
        show.say(&indented(&rulebook()));
        let mut editor = Editor::open(&self.server, &self.state, &self.root, FILE, &text(OLD))?;
        show.took("start the server and open the file", begun.elapsed());

        let squiggle = refused_in_the_editor(&mut editor, show)?;
        // What an editor holds unsaved is guarded as well: another story.
        editor.discard(&self.state, &self.root.join(FILE))?;
        let answers = [Agent::Claude, Agent::Codex].map(|agent| self.refused_to(agent, show));
        let [claude, codex] = answers;
        let (claude, codex) = (claude?, codex?);
        same(&squiggle, &claude, &codex)?;
        show.say("\nAll three name the same rule and line and give the same reason; both agents are told it in the same words,\n");
        show.say("with the server running and without it.\n");
        self.passes(&mut editor, show)?;
        editor.close()?;
        trust::play(&self, show)?;
        self.temporary.close().map_err(|error| format!("the temporary project cannot be removed: {error}"))?;
        show.say("\nTime taken:\n");
        for (what, took) in &show.times {
            show.say(&format!("  {:>8.1} ms  {what}\n", milliseconds(*took)));
        }
        Ok(())
    }

    fn refused_to(&self, agent: Agent, show: &mut Show) -> Result<Answer, String> {
        let edit = Edit { file: FILE, old: OLD, new: REFUSED };
        let name = agent.name();
        show.say(&format!("\n{name} wants to make the same edit with {}. The hook answers {name}:\n\n", agent.tool()));
        let answer = self.ask(agent, edit, show)?;
        show.say(&indented(&format!("{}\n", answer.reason)));
        show.scenes.push(scene(agent, "refused", &answer));
        let alone =
            agent.ask(&self.program, &self.state, &self.root, &agent.payload(&self.root, edit), &["--no-server"])?;
        show.took(&format!("{name}: the same without the server"), alone.took);
        if answer.stdout != alone.stdout {
            return Err(format!("the answer to {name} is another without the server: {}", alone.stdout.trim()));
        }
        match answer.decision.as_deref() {
            Some("deny") => Ok(answer),
            other => Err(format!("{name} is answered {}, not deny", other.unwrap_or("nothing"))),
        }
    }

    fn passes(&self, editor: &mut Editor, show: &mut Show) -> Result<(), String> {
        show.say(&format!("\nAn edit that no rule forbids:\n\n  - {OLD}\n  + {PASSES}\n\n"));
        editor.show(&text(OLD))?;
        let (squiggles, took) = editor.change(&text(PASSES))?;
        show.took("editor: the allowed edit", took);
        show.scenes.push(json!({"who": "editor", "edit": "allowed", "diagnostics": []}));
        if let Some(squiggle) = squiggles.first() {
            return Err(format!("the editor underlines the allowed edit: {}", squiggle.message));
        }
        editor.discard(&self.state, &self.root.join(FILE))?;
        for agent in [Agent::Claude, Agent::Codex] {
            let answer = self.ask(agent, Edit { file: FILE, old: OLD, new: PASSES }, show)?;
            show.scenes.push(scene(agent, "allowed", &answer));
            if !answer.stdout.is_empty() {
                return Err(format!(
                    "the hook does not let {} pass in silence: {}",
                    agent.name(),
                    answer.stdout.trim()
                ));
            }
        }
        show.say("Nothing is underlined, and the hook says nothing to either agent.\n");
        Ok(())
    }

    fn ask(&self, agent: Agent, edit: Edit<'_>, show: &mut Show) -> Result<Answer, String> {
        let answer = agent.ask(&self.program, &self.state, &self.root, &agent.payload(&self.root, edit), &[])?;
        let what = if edit.new == PASSES { "the allowed edit" } else { "the hook, from start to answer" };
        show.took(&format!("{}: {what}", agent.name()), answer.took);
        Ok(answer)
    }
}

fn refused_in_the_editor(editor: &mut Editor, show: &mut Show) -> Result<Squiggle, String> {
    show.say(&format!("\nIn an editor, line {LINE} of the buffer is changed:\n\n"));
    show.say(&format!("  - {OLD}\n  + {REFUSED}\n\nIt is underlined at once:\n\n"));
    let buffer = text(REFUSED);
    let (squiggles, took) = editor.change(&buffer)?;
    show.took("editor: from the change to its diagnostics", took);
    show.scenes.push(json!({
        "who": "editor", "edit": "refused",
        "diagnostics": squiggles.iter().map(|squiggle| squiggle.sent.clone()).collect::<Vec<_>>(),
    }));
    for squiggle in &squiggles {
        show.say(&indented(&drawn(&buffer, squiggle)));
    }
    let squiggle = squiggles.into_iter().find(|squiggle| squiggle.rule == RULE);
    let squiggle = squiggle.ok_or_else(|| format!("the editor does not underline what {RULE} forbids"))?;
    if squiggle.line != LINE || &buffer[squiggle.span.clone()] != "eval" {
        return Err(format!("the editor underlines {:?} in line {}", &buffer[squiggle.span.clone()], squiggle.line));
    }
    Ok(squiggle)
}

fn scene(agent: Agent, edit: &str, answer: &Answer) -> Value {
    json!({
        "who": agent.flag(), "edit": edit, "tool": agent.tool(),
        "decision": answer.decision, "reason": answer.reason,
    })
}

/// Whether editor and agents were told the same.
fn same(squiggle: &Squiggle, claude: &Answer, codex: &Answer) -> Result<(), String> {
    if claude.reason != codex.reason {
        return Err(format!("Claude Code and Codex are told different things:\n{}\n{}", claude.reason, codex.reason));
    }
    let place = format!("- {} — line {}: {}", squiggle.rule, squiggle.line, REFUSED.trim());
    if !claude.reason.contains(&place) {
        return Err(format!("the hook does not name the rule and the line that the editor shows: {}", claude.reason));
    }
    if !(squiggle.message.contains(WHY) && claude.reason.contains(WHY)) {
        return Err(format!("editor and hook give different reasons:\n{}\n{}", squiggle.message, claude.reason));
    }
    Ok(())
}

/// What an editor shows.
fn drawn(buffer: &str, squiggle: &Squiggle) -> String {
    let level = if squiggle.sent["severity"] == 1 { Level::ERROR } else { Level::WARNING };
    let snippet = Snippet::source(buffer).path(FILE).annotation(AnnotationKind::Primary.span(squiggle.span.clone()));
    let title = level.primary_title(squiggle.message.as_str());
    Renderer::plain().render(&[title.element(snippet)]) + "\n"
}

fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |mut indented, line| {
        let _ = writeln!(indented, "{}", format!("    {line}").trim_end());
        indented
    })
}

fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 10_000.0).round() / 10.0
}
