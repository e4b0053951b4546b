//! The manual is true: its rulebooks load, its examples answer as it says, its flags, keys and links are there.

#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

#[path = "support/hook.rs"]
mod hook;
#[path = "support/trust.rs"]
mod trust;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use hook::{Project, Said};
use hooks::manifest::{Manifest, Platform};
use rules::{Format, Rulebook};
use serde_json::Value;

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The names of all pages.
fn pages() -> Vec<String> {
    let docs = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")).unwrap();
    let docs = docs.map(|entry| format!("docs/{}", entry.unwrap().file_name().to_str().unwrap()));
    let mut names: Vec<String> = docs.filter(|name| Path::new(name).extension().is_some_and(|it| it == "md")).collect();
    names.extend(["README.md".to_owned(), "ARCHITECTURE.md".to_owned()]);
    names
}

/// The fenced blocks of one language in a page, each with the line it starts on.
fn blocks(name: &str, language: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, usize, String)> = None;
    for (index, whole) in page(name).lines().enumerate() {
        let line = whole.trim();
        match &mut open {
            Some(block) if line == "```" => {
                found.push((block.0, std::mem::take(&mut block.2)));
                open = None;
            }
            // A block in a list is indented as a whole.
            Some(block) => {
                let indent = whole.len() - whole.trim_start_matches(' ').len();
                block.2.extend([&whole[indent.min(block.1)..], "\n"]);
            }
            None if line.strip_prefix("```") == Some(language) => {
                open = Some((index + 2, whole.len() - whole.trim_start().len(), String::new()));
            }
            None => {}
        }
    }
    found
}

/// The block that holds `part`.
fn block(name: &str, language: &str, part: &str) -> String {
    let found = blocks(name, language).into_iter().find(|(_, text)| text.contains(part));
    found.unwrap_or_else(|| panic!("{name} has no {language} block with {part}")).1
}

/// Every `--flag` in a text.
fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '-'));
    let is_flag = |word: &&str| word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic));
    words.filter(is_flag).map(str::to_owned).collect()
}

/// Runs a block as a shell would, in the project, with the built program first on the PATH.
fn run_as_shell(project: &Project, script: &str) -> Said {
    let bin = Path::new(env!("CARGO_BIN_EXE_ruleline")).parent().unwrap();
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(&project.root).env_clear();
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("RULELINE_TEST_HOME", &project.home);
    hook::say(command, b"")
}

#[test]
fn every_rulebook_in_the_manual_loads() {
    let mut seen = 0;
    for name in ["docs/rulebook.md", "README.md"] {
        for (line, text) in blocks(name, "toml") {
            let book = Rulebook::load_validated(text.as_bytes(), Format::Toml);
            assert!(book.problems.is_empty(), "{name}:{line}: {:?}", book.problems);
            seen += book.rules.len();
        }
    }
    assert!(seen >= 10, "only {seen} rules were found in the pages");
}

#[test]
fn the_five_minutes_of_the_readme_come_out_as_written() {
    let project = Project::new();
    let made = run_as_shell(&project, &block("README.md", "sh", "ruleline init"));
    assert_eq!(made.code, Some(0), "{made:?}");
    let said = run_as_shell(&project, &block("README.md", "sh", "call.json"));
    let shown: Value = serde_json::from_str(&block("README.md", "json", "permissionDecision")).unwrap();
    assert_eq!(said.answer(), shown);

    let payload = fs::read_to_string(project.root.join("call.json")).unwrap();
    let said = project.hook(&["--agent", "claude"], payload.replace("report.py", ".ruleline/rules.toml"));
    let shown = block("README.md", "text", "self-protection");
    assert_eq!(said.reason(), shown.trim_end().replace("/home/me/project", project.root.to_str().unwrap()));
}

#[test]
fn the_edit_to_try_the_hook_with_is_refused() {
    let project = Project::with_rules(&blocks("README.md", "toml")[0].1);
    let said = run_as_shell(&project, &block("docs/hook.md", "sh", "ruleline hook"));
    assert_eq!(said.decision(), "deny", "{said:?}");
}

#[test]
fn the_hook_to_write_refuses_once_it_is_trusted() {
    let project = Project::new();
    let made = run_as_shell(&project, &block("docs/hooks.md", "sh", "no-force.sh"));
    assert_eq!(made.code, Some(0), "{made:?}");
    let call = block("docs/hooks.md", "sh", "ruleline hook ");
    let before = run_as_shell(&project, &call);
    assert_eq!((before.code, before.stdout.as_str()), (Some(0), ""), "{before:?}");
    trust::trust(&project.home.join(".local/state/ruleline"), &project.root);
    let said = run_as_shell(&project, &call);
    assert_eq!(said.decision(), "deny", "{said:?}");
    let shown = block("docs/hooks.md", "text", "no-force");
    assert_eq!(said.reason(), shown.trim_end().replace("/home/me/project", project.root.to_str().unwrap()));
}

#[test]
fn the_manifests_in_the_manual_load() {
    let builtins = hooks::builtin::names();
    let mut seen = 0;
    for (line, text) in blocks("docs/hooks.md", "yaml") {
        let manifest = Manifest::parse(text.as_bytes(), &|_| true, Platform::HERE, &builtins);
        assert!(manifest.problems.is_empty(), "docs/hooks.md:{line}: {:?}", manifest.problems);
        seen += manifest.entries.len();
    }
    assert_eq!(seen, 3);
    let text = page("docs/hooks.md");
    for name in hooks::EVENTS.iter().chain(&builtins) {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}

/// The names in backquotes at the head of the rows of a page's first table with this first column.
fn rows(text: &str, first: &str) -> Vec<Vec<String>> {
    let table = text.lines().skip_while(|line| !line.starts_with(&format!("| {first} |"))).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').skip(1).map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_keys_of_a_rule_are_those_that_an_editor_knows() {
    let text = page("docs/rulebook.md");
    let mut documented = BTreeSet::new();
    for row in rows(&text, "key") {
        let key = rules::keys::find(&rules::keys::RULE, row[0].trim_matches('`'));
        let key = key.unwrap_or_else(|| panic!("{} is in no table", row[0]));
        let usual = if key.required { "required" } else { key.usual.unwrap_or_default() };
        assert_eq!(row[1].trim_matches('`'), usual, "{}", key.name);
        for word in key.words().iter().filter(|_| key.values != rules::keys::Values::Bool) {
            let said = row[1..].iter().any(|cell| cell.contains(&format!("`\"{}\"`", word.text)));
            assert!(said, "{}: {}", key.name, word.text);
        }
        documented.insert(key.name);
    }
    documented.extend(text.lines().filter_map(|line| {
        let name = line.strip_prefix("### `")?.strip_suffix('`')?;
        Some(rules::keys::find(&rules::keys::RULE, name).unwrap_or_else(|| panic!("{name} is in no table")).name)
    }));
    // These two belong to `question` and are told of there.
    for name in ["when", "calibration"] {
        assert!(text.contains(&format!("`{name}`")), "{name}");
        documented.insert(name);
    }
    assert_eq!(documented, rules::keys::names(&rules::keys::RULE).into());
}

#[test]
fn the_settings_are_those_that_an_editor_knows() {
    use guard::config::keys::{AGENT, AUTO_APPROVE, CONFIG, KEPT, REMINDER, SESSION, SYMBOLS};
    use guard::config::{Law, law_of};

    let text = page("docs/settings.md");
    let mut documented = BTreeSet::new();
    for row in rows(&text, "key") {
        let name = row[0].trim_matches('`');
        let (table, key) = match name.strip_prefix('[').and_then(|name| name.split_once(']')) {
            Some(("agents.NAME", name)) => ("agents", rules::keys::find(&AGENT, name.trim())),
            Some(("auto_approve", name)) => ("auto_approve", rules::keys::find(&AUTO_APPROVE, name.trim())),
            Some(("session", name)) => ("session", rules::keys::find(&SESSION, name.trim())),
            Some(("symbols", name)) => ("symbols", rules::keys::find(&SYMBOLS, name.trim())),
            Some((name, _)) => (name, rules::keys::find(&CONFIG, name)),
            None => (name, rules::keys::find(&CONFIG, name)),
        };
        let key = key.unwrap_or_else(|| panic!("{name} is in no table"));
        assert_eq!(row[1].trim_matches('`'), key.usual.unwrap(), "{name}");
        let may = match law_of(table).unwrap() {
            Law::Set => "set it",
            Law::Tighten => "make it stricter",
            Law::UserOnly => "nothing",
        };
        assert_eq!(row[3], may, "{name}");
        documented.insert(table.to_owned());
    }
    assert_eq!(documented, rules::keys::names(&CONFIG).map(str::to_owned).into());
    let reminder: Vec<Vec<String>> = rows(&page("docs/reminder.md"), "key");
    let named: Vec<&str> = reminder.iter().flat_map(|row| row[0].split('`').skip(1).step_by(2)).collect();
    assert_eq!(named, rules::keys::names(&REMINDER));
    for row in reminder.iter().filter(|row| !row[0].contains("mode")) {
        let usual =
            row[0].split('`').skip(1).step_by(2).map(|name| rules::keys::find(&REMINDER, name).unwrap().usual.unwrap());
        let told = if row[1].contains('[') {
            vec![row[1].trim_matches('`')]
        } else {
            row[1].split('`').skip(1).step_by(2).collect()
        };
        assert_eq!(told, usual.collect::<Vec<_>>(), "{}", row[0]);
    }
    let kept = text.lines().find(|line| line.contains("do nothing in this one")).unwrap();
    let kept: Vec<&str> = kept.split('`').skip(1).step_by(2).collect();
    assert_eq!(kept, KEPT);
}

#[test]
fn the_settings_that_wire_the_hook_name_an_agent_that_is_known() {
    let wirings: Vec<(usize, String)> =
        blocks("docs/hook.md", "json").into_iter().filter(|(_, text)| text.contains("\"hooks\"")).collect();
    assert_eq!(wirings.len(), 2);
    for (line, text) in wirings {
        let settings: Value = serde_json::from_str(&text).unwrap();
        for event in ["SessionStart", "PreToolUse"] {
            let command = settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
            let words: Vec<&str> = command.split(' ').skip(1).collect();
            let said = Project::new().run(&words, &[], br#"{"hook_event_name": "SessionStart", "session_id": "s"}"#);
            let silent = (said.code, said.stdout.as_str(), said.stderr.as_str());
            assert_eq!(silent, (Some(0), "", ""), "docs/hook.md:{line}: {event}");
        }
    }
}

#[test]
fn pages_and_help_have_the_same_flags() {
    let project = Project::new();
    let of_server = Command::new(env!("CARGO_BIN_EXE_ruleline-server")).arg("--help").output().unwrap().stdout;
    let of_server = flags(&String::from_utf8(of_server).unwrap());
    // The last are flags of other programs that a page shows.
    for (command, name, others) in [
        ("hook", "docs/hook.md", &[][..]),
        ("check", "docs/check.md", &[]),
        ("hooks", "docs/hooks.md", &["--agent", "--force", "--quiet"]),
    ] {
        let mut known = flags(&project.run(&[command, "--help"], &[], b"").stdout);
        known.remove("--help");
        let named = flags(&page(name));
        assert_eq!(
            named.difference(&known).find(|flag| !of_server.contains(*flag) && !others.contains(&flag.as_str())),
            None,
            "{name}"
        );
        assert_eq!(known.difference(&named).next(), None, "{name}");
    }
}

#[test]
fn the_readme_has_the_commands_of_the_help() {
    let help = Project::new().run(&["--help"], &[], b"").stdout;
    let commands: BTreeSet<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let readme = page("README.md");
    let rows: BTreeSet<&str> =
        readme.lines().filter_map(|line| line.strip_prefix("| `ruleline ")?.split('`').next()).collect();
    assert_eq!(rows, commands);
}

#[test]
fn the_settings_are_those_that_are_read() {
    let text = page("docs/settings.md");
    let mut seen = 0;
    for row in text.lines().filter(|line| line.starts_with("| `")).take_while(|line| !line.contains(".ruleline")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let key = cells[1].trim_matches('`');
        // A table, and a list: they have no values to choose from.
        if key.starts_with('[') || key == "interpreters" {
            continue;
        }
        seen += 1;
        let project = Project::new();
        project.write_home(".config/ruleline/config.toml", format!("{key} = \"nonsense\"\n"));
        let said = project.hook(&["--agent", "claude"], project.payload_write("a.txt", "x").to_string()).stderr;
        let (_, values) = said.split_once(&format!("`{key}` is one of ")).unwrap_or_else(|| panic!("{key}: {said}"));
        for value in values.trim().split(", ") {
            assert!(cells[2..].iter().any(|cell| cell.contains(&format!("`{value}`"))), "{key}: {value} in {row}");
        }
        let may = cells[4] != "nothing";
        project.write(".ruleline/config.toml", format!("{key} = \"nonsense\"\n"));
        let said = project.hook(&["--agent", "claude"], project.payload_write("a.txt", "x").to_string()).stderr;
        assert_eq!(!said.contains("is the user's alone"), may, "{key}: {said}");
    }
    assert_eq!(seen, 8);
    for (_, text) in blocks("docs/settings.md", "toml") {
        let project = Project::new();
        project.write_home(".config/ruleline/config.toml", text);
        let said = project.hook(&["--agent", "claude"], project.payload_write("a.txt", "x").to_string());
        assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    }
}

/// The keys of every object in a value, each with where it stands.
fn keys(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(format!("{place}.{name}"));
                keys(value, &format!("{place}.{name}"), found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, place, found)),
        _ => {}
    }
}

#[test]
fn the_json_of_check_has_the_keys_that_are_shown() {
    let project = Project::with_rules(
        "[[rule]]\nid = \"no-eval\"\npaths = [\"*.py\"]\nforbid_calls = [\"eval\"]\n\n\
         [[rule]]\nid = \"broken\"\npaths = [\"*.py\"]\nforbid = [\"(\"]\n",
    );
    project.write("a.py", "eval(1)\n");
    let said = project.run(&["check", "--format", "json"], &[], b"");
    let (mut printed, mut shown) = (BTreeSet::new(), BTreeSet::new());
    keys(&serde_json::from_str(&said.stdout).unwrap(), "", &mut printed);
    keys(&serde_json::from_str(&block("docs/check.md", "json", "version")).unwrap(), "", &mut shown);
    assert_eq!(shown, printed);
}

#[test]
fn an_editor_is_found_from_the_readme_and_its_settings_can_be_read() {
    let readme = page("README.md");
    let editors: Vec<String> = pages().into_iter().filter(|name| name.starts_with("docs/editor-")).collect();
    assert!(editors.len() >= 7, "{editors:?}");
    for name in editors {
        assert!(readme.contains(&format!("]({name})")), "{name}");
        for (line, text) in blocks(&name, "json") {
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{name}:{line}");
        }
    }
    // What is built for the tests is what the page says.
    let built = page("xtask/src/kakoune.rs");
    let (_, version) = built.split_once("const KAK_LSP: &str = \"").unwrap();
    let version = version.split('"').next().unwrap();
    assert!(page("docs/editor-kakoune.md").contains(&format!("kakoune-lsp {version}")), "{version}");
}

/// What a link to a heading is called.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|sign| sign.is_alphanumeric() || *sign == ' ' || *sign == '-');
    kept.collect::<String>().replace(' ', "-")
}

#[test]
fn every_link_leads_somewhere() {
    let mut seen = 0;
    for name in pages() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name).parent().unwrap().to_owned();
        for link in page(&name).split("](").skip(1).map(|rest| rest.split(')').next().unwrap().to_owned()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let file = if file.is_empty() { name.clone() } else { file.to_owned() };
            let target =
                if file == name { Path::new(env!("CARGO_MANIFEST_DIR")).join(&name) } else { folder.join(&file) };
            assert!(target.exists(), "{name}: {link}");
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap();
                assert!(
                    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading),
                    "{name}: {link}"
                );
            }
            seen += 1;
        }
    }
    assert!(seen >= 10, "only {seen} links were found");
}
