//! The hook as a whole process, as it is shipped, against `/bin/true`: the first five rows of what must be reached.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::corpus::{self, Project};
use super::report::Row;
use super::rounds::{Case, Outcome, Programs, run};
use crate::dist;

/// Noise that "flat" and "linear" allow for.
const FLAT: f64 = 1.15;

/// A server without an editor, for one project; ended when dropped.
struct Server(Child);

impl Server {
    fn start(program: &Path, project: &Project, state: &Path) -> Result<Server> {
        let mut child = Command::new(program)
            .arg("--background")
            .arg("--state-dir")
            .arg(state)
            .current_dir(&project.root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // It opens its endpoint last; there is nothing to wait for but time.
        std::thread::sleep(Duration::from_secs(2));
        if let Some(status) = child.try_wait()? {
            bail!("the server ended ({status})");
        }
        Ok(Server(child))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What all measurements share.
struct Bench {
    programs: Programs,
    hook: PathBuf,
    folder: tempfile::TempDir,
    /// A state folder without a server.
    state: PathBuf,
    rounds: usize,
}

impl Bench {
    /// A project of its own.
    fn project(&self, name: &str, rulebook: &str) -> Result<Project> {
        Project::create(self.folder.path().join(name), rulebook)
    }

    /// The hook, asked with a payload.
    fn hook(&self, name: &str, payload: &Path) -> Case {
        self.hook_in(name, payload, &self.state)
    }

    fn hook_in(&self, name: &str, payload: &Path, state: &Path) -> Case {
        let state = state.to_str().expect("temporary folders have names in UTF-8");
        Case::new(name, &self.hook, &["hook", "--agent", "claude", "--state-dir", state], Some(payload))
    }

    fn bare_true(payload: &Path) -> Case {
        Case::new("/bin/true", Path::new("/bin/true"), &[], Some(payload))
    }

    fn bare_parse(&self, file: &Path) -> Case {
        let file = file.to_str().expect("temporary folders have names in UTF-8");
        Case::new("bare parse", &self.programs.path("bare-parse"), &[file], None).timing_itself()
    }

    /// Runs the cases, prints them, and keeps their numbers.
    fn run(&self, title: &str, rounds: usize, cases: Vec<Case>, numbers: &mut Vec<Value>) -> Result<Outcome> {
        let outcome = run(&self.programs, rounds.max(5), cases)?;
        outcome.print(title);
        numbers.push(json!({ "title": title, "cases": outcome.to_json() }));
        Ok(outcome)
    }
}

/// Measures all of it; adds the goals to `rows`.
pub fn measure(quick: bool, rows: &mut Vec<Row>) -> Result<Value> {
    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state");
    fs::create_dir(&state)?;
    private(&state)?;
    let rounds = if quick { 40 } else { 400 };
    let bench = Bench { programs: Programs::build()?, hook: dist::hook()?, folder, state, rounds };
    let server = dist::server()?;
    let mut numbers = Vec::new();
    silent_and_refusing(&bench, &server, rows, &mut numbers)?;
    growth(&bench, quick, rows, &mut numbers)?;
    large(&bench, rows, &mut numbers)?;
    Ok(Value::Array(numbers))
}

/// Nothing to say; an edit refused; each with and without a server.
fn silent_and_refusing(bench: &Bench, server: &Path, rows: &mut Vec<Row>, numbers: &mut Vec<Value>) -> Result<()> {
    let refusing = bench.project("alone", &(corpus::REFUSING_RULE.to_owned() + &corpus::quiet_rules(49)))?;
    let served = bench.project("served", &(corpus::REFUSING_RULE.to_owned() + &corpus::quiet_rules(49)))?;
    let quiet = bench.project("quiet", &corpus::quiet_rules(50))?;
    let served_state = bench.folder.path().join("served-state");
    fs::create_dir(&served_state)?;
    private(&served_state)?;
    let text = corpus::python(1_000)?;
    let (file, served_file) = (refusing.write("app.py", &text)?, served.write("app.py", &text)?);
    let quiet_file = quiet.write("app.py", &text)?;
    let looking = quiet.write("looking.py", &format!("{text}getattr(os, 'name')\n"))?;
    let _server = Server::start(server, &served, &served_state)?;

    let read = refusing.payload("read", "Read", &json!({ "file_path": file }))?;
    let list = refusing.payload("list", "Bash", &json!({ "command": "ls", "description": "List files" }))?;
    let served_read = served.payload("read", "Read", &json!({ "file_path": served_file }))?;
    let served_list = served.payload("list", "Bash", &json!({ "command": "ls", "description": "List files" }))?;
    let cases = vec![
        Bench::bare_true(&read),
        Case::new("bare JSON", &bench.programs.path("bare-json"), &[], Some(&read)),
        bench.hook("Read, no server", &read),
        bench.hook_in("Read, server", &served_read, &served_state),
        bench.hook("Bash ls, no server", &list),
        bench.hook_in("Bash ls, server", &served_list, &served_state),
    ];
    let silent = bench.run("Nothing to say, 50 rules", bench.rounds, cases, numbers)?;
    for case in ["Read, no server", "Read, server", "Bash ls, no server", "Bash ls, server"] {
        rows.push(Row::at_most(format!("hook, nothing to say: {case}"), "x /bin/true", silent.ratio(case), 1.0));
    }

    let bad = "os.system('ls')";
    let edit = refusing.edit("edit", &file, bad)?;
    let served_edit = served.edit("edit", &served_file, bad)?;
    let quiet_edit = quiet.edit("edit", &quiet_file, "measured = 1")?;
    let looking_edit = quiet.edit("looking", &looking, "measured = 1")?;
    let cases = vec![
        Bench::bare_true(&edit),
        bench.bare_parse(&file),
        bench.hook("refused, no server", &edit),
        bench.hook_in("refused, server", &served_edit, &served_state),
        bench.hook("allowed, no literal occurs", &quiet_edit),
        bench.hook("allowed, a name is looked up at run time", &looking_edit),
    ];
    let edits = bench.run("An Edit of 1,000 lines of Python, 50 rules", bench.rounds, cases, numbers)?;
    must_refuse(&edits, "refused, no server")?;
    must_refuse(&edits, "refused, server")?;
    let parses =
        |case: &str| (edits.of(case).median() - edits.of("/bin/true").median()) / edits.of("bare parse").median();
    let beyond = "bare parses beyond /bin/true";
    rows.push(Row::at_most("hook, Edit refused, no server", beyond, parses("refused, no server"), 1.3));
    rows.push(Row::at_most("hook, Edit, no literal occurs", beyond, parses("allowed, no literal occurs"), 0.3));
    rows.push(Row::at_most("hook, Edit refused, server", "x /bin/true", edits.ratio("refused, server"), 1.5));
    Ok(())
}

/// What is measured must be what is meant.
fn must_refuse(outcome: &Outcome, case: &str) -> Result<()> {
    let said = &outcome.of(case).output;
    if !said.contains("no-os-system") {
        bail!("{case}: the hook did not refuse but said {said:?}");
    }
    Ok(())
}

/// More rules, more files, longer files. Growth is seen in the fastest rounds, which other work disturbs least.
fn growth(bench: &Bench, quick: bool, rows: &mut Vec<Row>, numbers: &mut Vec<Value>) -> Result<()> {
    let text = corpus::python(1_000)?;
    let mut cases = Vec::new();
    for rules in [10, 1_000, 10_000] {
        let project = bench.project(&format!("rules-{rules}"), &corpus::distant_rules(rules))?;
        let file = project.write("app.py", &text)?;
        let edit = project.edit("edit", &file, "measured = 1")?;
        if cases.is_empty() {
            cases.push(Bench::bare_true(&edit));
        }
        cases.push(bench.hook(&format!("{rules} rules"), &edit));
    }
    let rules = bench.run("An Edit, rules that do not apply", bench.rounds / 4, cases, numbers)?;
    let growth = rules.of("10000 rules").fastest() / rules.of("10 rules").fastest();
    rows.push(Row::at_most("growth: 10,000 rules that do not apply", "x the time of 10", growth, FLAT));

    let mut cases = Vec::new();
    let many = if quick { 10_000 } else { 100_000 };
    for files in [10, many] {
        let project = bench.project(&format!("files-{files}"), &corpus::quiet_rules(50))?;
        project.fill(files)?;
        let file = project.write("app.py", &text)?;
        let edit = project.edit("edit", &file, "measured = 1")?;
        let list = project.payload("list", "Bash", &json!({ "command": "ls" }))?;
        if cases.is_empty() {
            cases.push(Bench::bare_true(&edit));
        }
        cases.push(bench.hook(&format!("Edit in {files} files"), &edit));
        cases.push(bench.hook(&format!("Bash ls in {files} files"), &list));
    }
    let files = bench.run("Repository size", bench.rounds / 2, cases, numbers)?;
    for what in ["Edit", "Bash ls"] {
        let of = |count: usize| files.of(&format!("{what} in {count} files")).fastest();
        rows.push(Row::at_most(format!("growth: {what}, {many} files"), "x the time of 10", of(many) / of(10), FLAT));
    }

    let mut cases = Vec::new();
    let project = bench.project("lengths", corpus::REFUSING_RULE)?;
    for lines in [1_000, 10_000, 50_000] {
        let file = project.write(&format!("app_{lines}.py"), &corpus::python(lines)?)?;
        let edit = project.edit(&format!("edit-{lines}"), &file, "os.system('ls')")?;
        if cases.is_empty() {
            cases.push(Bench::bare_true(&edit));
        }
        cases.push(bench.hook(&format!("{lines} lines"), &edit));
    }
    let lengths = bench.run("A refused Edit, longer files", bench.rounds / 20, cases, numbers)?;
    for case in ["1000 lines", "10000 lines", "50000 lines"] {
        must_refuse(&lengths, case)?;
    }
    let growth = lengths.of("50000 lines").fastest() / lengths.of("10000 lines").fastest();
    rows.push(Row::at_most("growth: a file 5 times as long", "x the time", growth, 5.0 * FLAT));
    Ok(())
}

/// Large inputs and those that make a diff slow.
fn large(bench: &Bench, rows: &mut Vec<Row>, numbers: &mut Vec<Value>) -> Result<()> {
    let project = bench.project("large", &(corpus::REFUSING_RULE.to_owned() + &corpus::quiet_rules(49)))?;
    let text = corpus::python(100_000)?;
    let parsed = project.write("parsed.py", &text)?;
    let bad = format!("{text}os.system('ls')\n");
    let long =
        project.payload("long", "Write", &json!({ "file_path": project.root.join("new.py"), "content": bad }))?;

    let repeated = "    value = compute(1)\n\n".repeat(500);
    let file = project.write("repeated.py", &format!("def f():\n{repeated}"))?;
    let again = format!("def f():\n{}", "\n    value = compute(1)\n".repeat(500));
    let repeats = project.payload("repeats", "Write", &json!({ "file_path": file, "content": again }))?;

    let one_line = format!("x = '{}'\n", "a ".repeat(1_500_000));
    let wide =
        project.payload("wide", "Write", &json!({ "file_path": project.root.join("wide.py"), "content": one_line }))?;
    let cases = vec![
        Bench::bare_true(&repeats),
        bench.bare_parse(&parsed),
        bench.hook("100,000 lines written", &long),
        bench.hook("1,000 repeated lines", &repeats),
        bench.hook("one line of 3 MB", &wide),
    ];
    let large = bench.run("Large inputs, 50 rules", bench.rounds / 20, cases, numbers)?;
    must_refuse(&large, "100,000 lines written")?;
    let parses = large.of("100,000 lines written").median() / large.of("bare parse").median();
    rows.push(Row::at_most("hook, 100,000-line Write refused", "bare parses", parses, 10.0));
    rows.push(Row::at_most(
        "hook, 1,000 repeated lines with blanks",
        "ms",
        large.of("1,000 repeated lines").median(),
        10.0,
    ));
    rows.push(Row::at_most("hook, one line of 3 MB", "ms", large.of("one line of 3 MB").median(), 50.0));
    Ok(())
}

/// State folders are their owner's alone.
#[cfg(unix)]
fn private(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?)
}

#[cfg(not(unix))]
fn private(_folder: &Path) -> Result<()> {
    Ok(())
}
