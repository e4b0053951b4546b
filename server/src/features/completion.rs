//! What may be written at a place in one of our files: keys that are not there yet, words, a whole rule.
//!
//! Works on half-typed text ([`super::writing`]); looks at no file but, for the names of scripts, the folder of hooks.

use std::fmt::Write as _;
use std::path::Path;

use guard::config::keys::agents;
use hooks::keys::{ACTIONS, EVENTS, TOP};
use hooks::manifest::Platform;
use rules::keys::{FIRST, Key, RULE, Values, Word, find};
use syntax::Span;

use crate::features::own::{OwnFile, Table};
use crate::features::writing::{Grammar, Slot, Spot, spot};

/// Most entries of a folder of hooks that are looked at.
const ENTRIES: usize = 1024;

/// What a suggestion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A key.
    Key,
    /// A value.
    Word,
    /// A whole table.
    Table,
    /// A file's name.
    File,
}

/// One thing that may be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What the list shows.
    pub label: String,
    /// What it is.
    pub kind: Kind,
    /// What it may hold, in short.
    pub detail: String,
    /// What it means, in one line.
    pub about: String,
    /// What is replaced: in one line, with the cursor in it.
    pub span: Span,
    /// By what.
    pub text: String,
    /// The same with places to fill in, in the syntax of LSP's snippets.
    pub snippet: Option<String>,
    /// What is compared with what was typed.
    pub filter: String,
}

/// What may be written at byte `offset` of a file of ours. Blocks where names of scripts are wanted.
pub fn suggest(file: OwnFile, path: &Path, text: &str, offset: usize) -> Vec<Suggestion> {
    let Spot { table, there, slot } = spot(file.grammar(), text, offset);
    let written = |span: &Span| text.get(span.clone()).unwrap_or_default();
    match slot {
        Slot::Nothing => Vec::new(),
        Slot::Key { span, follows, begins } => {
            let at = At { file, typed: written(&span), span, follows };
            let mut all = at.keys(&table, &there);
            if begins && !follows {
                all.extend(at.tables(&table));
            }
            all
        }
        Slot::Header { span } => {
            let at = At { file, typed: written(&span), span, follows: false };
            at.headers()
        }
        Slot::Value { key, span, listed } => {
            let at = At { file, typed: written(&span), span, follows: false };
            at.values(&table, &key, listed, path)
        }
    }
}

/// A place to write at.
struct At<'a> {
    file: OwnFile,
    typed: &'a str,
    span: Span,
    follows: bool,
}

impl At<'_> {
    fn suggestion(&self, kind: Kind, label: &str, about: &str) -> Suggestion {
        Suggestion {
            label: label.to_owned(),
            kind,
            detail: String::new(),
            about: about.to_owned(),
            span: self.span.clone(),
            text: label.to_owned(),
            snippet: None,
            filter: label.to_owned(),
        }
    }

    /// A name as it is written here, in the quotes that were typed.
    fn quoted(&self, name: &str, needs_quotes: bool) -> String {
        match self.typed.chars().next().filter(|it| matches!(it, '"' | '\'')) {
            Some(quote) => format!("{quote}{name}{quote}"),
            None if needs_quotes => format!("\"{name}\""),
            None => name.to_owned(),
        }
    }

    fn keys(&self, path: &[String], there: &[String]) -> Vec<Suggestion> {
        let is_free = |name: &str| !there.iter().any(|known| known == name);
        match self.file.table(path) {
            // In TOML rules stand in tables, not behind a key.
            Some(Table::Rules) if self.file.grammar() != Grammar::Json => Vec::new(),
            None => Vec::new(),
            Some(Table::Keys(keys)) => {
                let fitting = keys.iter().filter(|key| self.file.admits(key, path, there));
                // Tables stand under headers of their own.
                let fitting = fitting.filter(|key| !matches!(key.values, Values::Named(_) | Values::Table(_)));
                fitting.map(|key| self.key(key, "")).collect()
            }
            Some(Table::Rules) => {
                let no_list = is_free("rules") && is_free("rule");
                let about = "the rules, in order";
                let rules = Key::new("rules", Values::Texts, "[]", about);
                let one = no_list.then(|| self.key(&rules, ""));
                let list = |one: Suggestion| Suggestion {
                    detail: "list of rules".to_owned(),
                    snippet: one.snippet.map(|it| it.replace("[\"$1\"]", "[$1]")),
                    ..one
                };
                one.map(list).into_iter().collect()
            }
            Some(Table::Agents) => {
                let names = agents().into_iter().filter(|name| is_free(name));
                names.map(|name| self.suggestion(Kind::Key, name, "settings of this agent")).collect()
            }
            Some(Table::Hooks) => {
                let hooks = Key::new(TOP, Values::Named(&[]), "", "the hooks, by event");
                is_free(TOP).then(|| self.key(&hooks, "")).into_iter().collect()
            }
            Some(Table::Events) => {
                let events = EVENTS.iter().filter(|event| is_free(event.text));
                events.map(|event| self.key(&Key::new(event.text, Values::Named(&[]), "", event.about), "")).collect()
            }
            Some(Table::Entries) => {
                let actions = ACTIONS.iter().filter_map(|name| find(&hooks::keys::ENTRY, name));
                actions.map(|key| self.key(key, "- ")).collect()
            }
        }
    }

    /// A key with the mark behind it and, in a snippet, the shape of its value.
    fn key(&self, key: &Key, before: &str) -> Suggestion {
        let grammar = self.file.grammar();
        let name = self.quoted(key.name, grammar == Grammar::Json);
        let mark = match (grammar, key.values) {
            (Grammar::Toml, _) => " = ",
            (Grammar::Yaml, Values::Named(_)) => ":",
            (Grammar::Json | Grammar::Yaml, _) => ": ",
        };
        let mut one = self.suggestion(Kind::Key, &format!("{before}{}", key.name), key.about);
        one.detail = holds(key, grammar);
        one.filter = format!("{before}{}", self.quoted(key.name, false));
        if self.follows {
            one.text = name;
        } else {
            one.text = format!("{before}{name}{mark}");
            one.snippet = Some(format!("{}{}", one.text, shape(key, grammar, 1)));
        }
        one
    }

    /// Tables that may begin here.
    fn tables(&self, path: &[String]) -> Vec<Suggestion> {
        match self.file {
            OwnFile::Rulebook(_) if self.file.grammar() == Grammar::Toml => {
                vec![Suggestion { filter: "rule".to_owned(), ..self.rule("[[rule]]") }]
            }
            OwnFile::Config { .. } if matches!(path, [] | [_, _]) => {
                let name = |one: Suggestion| Suggestion { filter: one.label.replace(['[', ']'], ""), ..one };
                self.agents().into_iter().map(name).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Headers in place of the one that is being written.
    fn headers(&self) -> Vec<Suggestion> {
        match self.file {
            OwnFile::Rulebook(_) => {
                let header = self.suggestion(Kind::Table, "[[rule]]", "begins a rule");
                vec![header, self.rule("[[rule]] with its first keys")]
            }
            OwnFile::Config { .. } => self.agents(),
            OwnFile::Manifest => Vec::new(),
        }
    }

    fn agents(&self) -> Vec<Suggestion> {
        if self.file == (OwnFile::Config { of_project: true }) {
            return Vec::new();
        }
        let header = |name: &str| self.suggestion(Kind::Table, &format!("[agents.{name}]"), "settings of this agent");
        agents().into_iter().map(header).collect()
    }

    /// A whole rule.
    fn rule(&self, label: &str) -> Suggestion {
        let (mut text, mut snippet) = ("[[rule]]\n".to_owned(), "[[rule]]\n".to_owned());
        for (index, key) in first_keys().enumerate() {
            let shape = shape(key, Grammar::Toml, index + 1);
            let _ = writeln!(text, "{} = {}", key.name, shape.replace(&format!("${}", index + 1), ""));
            let _ = writeln!(snippet, "{} = {shape}", key.name);
        }
        let one = self.suggestion(Kind::Table, label, "a new rule with the keys it begins with");
        Suggestion { text, snippet: Some(snippet), filter: "[[rule]]".to_owned(), ..one }
    }

    fn values(&self, table: &[String], key: &str, listed: bool, path: &Path) -> Vec<Suggestion> {
        let grammar = self.file.grammar();
        let of_table = self.file.table(table);
        if listed {
            let is_list_of_rules = of_table == Some(Table::Rules) && matches!(key, "rule" | "rules");
            return if is_list_of_rules && grammar == Grammar::Json { vec![self.object()] } else { Vec::new() };
        }
        let Some(Table::Keys(keys)) = of_table else { return Vec::new() };
        let Some(key) = find(keys, key) else { return Vec::new() };
        if self.file == OwnFile::Manifest && key.name == "script" {
            return self.scripts(path);
        }
        let needs_quotes = grammar != Grammar::Yaml && key.values != Values::Bool;
        let word = |word: &Word| {
            let mut one = self.suggestion(Kind::Word, word.text, word.about);
            let (quoted, bare) = (self.quoted(word.text, needs_quotes), self.quoted(word.text, false));
            (one.text, one.filter) = (quoted, bare);
            if key.usual.is_some_and(|usual| usual.trim_matches('"') == word.text) {
                "holds without the key".clone_into(&mut one.detail);
            }
            one
        };
        self.file.words(key).iter().map(word).collect()
    }

    /// A rule as an item of a list in JSON.
    fn object(&self) -> Suggestion {
        let key = |(index, key): (usize, &Key)| format!("\"{}\": {}", key.name, shape(key, Grammar::Json, index + 1));
        let snippet = first_keys().enumerate().map(key).collect::<Vec<_>>().join(", ");
        let text = (1..=FIRST.len()).fold(snippet.clone(), |text, index| text.replace(&format!("${index}"), ""));
        let one = self.suggestion(Kind::Table, "{ rule }", "a new rule with the keys it begins with");
        Suggestion { text: format!("{{{text}}}"), snippet: Some(format!("{{{snippet}\\}}")), ..one }
    }

    /// The scripts beside the manifest that run on this machine.
    fn scripts(&self, path: &Path) -> Vec<Suggestion> {
        let entries = path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().take(ENTRIES);
        let name = |entry: std::fs::DirEntry| {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let name = entry.file_name().into_string().ok()?;
            let (stem, extension) = name.rsplit_once('.')?;
            let is_name = stem.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'));
            (is_file && is_name && !stem.is_empty() && extension == Platform::HERE.extension()).then(|| stem.to_owned())
        };
        let mut names: Vec<String> = entries.flatten().filter_map(name).collect();
        names.sort_unstable();
        let one = |name: &String| {
            let one = self.suggestion(Kind::File, name, "a script of this folder");
            let quoted = self.quoted(name, false);
            Suggestion { text: quoted.clone(), filter: quoted, ..one }
        };
        names.iter().map(one).collect()
    }
}

fn first_keys() -> impl Iterator<Item = &'static Key> {
    FIRST.iter().filter_map(|name| find(&RULE, name))
}

/// The shape of a key's value as a snippet whose place has this number.
fn shape(key: &Key, grammar: Grammar, number: usize) -> String {
    let bare = grammar == Grammar::Yaml;
    let choice = |words: &[Word]| {
        let words: Vec<&str> = words.iter().map(|word| word.text).collect();
        format!("${{{number}|{}|}}", words.join(","))
    };
    match key.values {
        Values::Words(words) if bare => choice(words),
        Values::Words(words) => format!("\"{}\"", choice(words)),
        Values::Bool => choice(key.words()),
        Values::Text | Values::Number if bare => format!("${number}"),
        Values::Text => format!("\"${number}\""),
        Values::Texts if bare => format!("[${number}]"),
        Values::Patterns if grammar == Grammar::Toml => format!("['${number}']"),
        Values::Texts | Values::Patterns => format!("[\"${number}\"]"),
        Values::Number => format!("${number}"),
        Values::Table(_) | Values::Named(_) => String::new(),
    }
}

/// What a key may hold and whether it must be there, in a few words.
fn holds(key: &Key, grammar: Grammar) -> String {
    let quote = if grammar == Grammar::Yaml || key.values == Values::Bool { "" } else { "\"" };
    let kind = match key.values {
        Values::Words(_) | Values::Bool => {
            let words: Vec<String> = key.words().iter().map(|word| format!("{quote}{}{quote}", word.text)).collect();
            words.join(" | ")
        }
        Values::Text => "text".to_owned(),
        Values::Texts => "list of texts".to_owned(),
        Values::Patterns => "list of regular expressions".to_owned(),
        Values::Number => "number".to_owned(),
        Values::Table(_) | Values::Named(_) => String::new(),
    };
    match (key.required, key.needs) {
        (true, _) => format!("{kind}, required"),
        (false, Some(other)) => format!("{kind}, beside `{other}`"),
        (false, None) => kind,
    }
}

#[cfg(test)]
mod tests {
    use rules::{Format, Rulebook};

    use super::*;

    const TOML: OwnFile = OwnFile::Rulebook(Format::Toml);
    const JSON: OwnFile = OwnFile::Rulebook(Format::Json);
    const PROJECT: OwnFile = OwnFile::Config { of_project: true };
    const USER: OwnFile = OwnFile::Config { of_project: false };

    fn suggested(file: OwnFile, marked: &str) -> Vec<Suggestion> {
        let text = marked.replacen('|', "", 1);
        suggest(file, Path::new("/nowhere/hooks.yaml"), &text, marked.find('|').unwrap())
    }

    fn labels(file: OwnFile, marked: &str) -> String {
        suggested(file, marked).iter().map(|one| one.label.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_may_stand_at_a_place_and_is_not_there_yet() {
        let rule = "id paths why on_fail redact forbid fix require forbid_calls forbid_imports require_def question when \
                    calibration on_delete";
        let events = "PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit SessionStart SessionEnd SubagentStop \
                      PreCompact Notification PermissionRequest";
        let cases: &[(OwnFile, &str, &str)] = &[
            (TOML, "|", "[[rule]]"),
            (TOML, "[[|", "[[rule]] [[rule]] with its first keys"),
            (TOML, "[[rule]]\n|", &format!("{rule} [[rule]]")),
            (TOML, "[[rule]]\nid = 'a'\nwh|\npaths = ['**']\n", &format!("{} [[rule]]", &rule[9..])),
            (TOML, "[[rule]]\non_fail = |", "deny ask warn"),
            (TOML, "[[rule]]\non_fail = \"d|\npaths = [", "deny ask warn"),
            (TOML, "[[rule]]\nredact = |", "true false"),
            (TOML, "[[rule]]\non_delete = '|'", "ignore judge"),
            (TOML, "[[rule]]\nforbid = ['|']", ""),
            (TOML, "[[rule]]\nwhy = \"|", ""),
            (TOML, "[[rule]]\nnonsense = |", ""),
            (TOML, "[settings]\n|", "[[rule]]"),
            (TOML, "rule = [{ id = 'a', on_f| }]", &rule[3..]),
            (JSON, "{|", "rules"),
            (JSON, "{\"rules\": [|", "{ rule }"),
            (JSON, "{\"rules\": [{\"id\": \"a\", |", &rule[3..]),
            (JSON, "{\"rules\": [{\"on_fail\": |", "deny ask warn"),
            (PROJECT, "|", "baseline instruction_check on_failure unsaved_buffers"),
            (PROJECT, "on_failure = |", "ask deny"),
            (PROJECT, "[|", ""),
            (PROJECT, "[agents.claude]\n|", ""),
            (USER, "[|", "[agents.claude] [agents.codex]"),
            (USER, "[agents.claude]\n|", "attended [agents.claude] [agents.codex]"),
            (USER, "agents.|", "claude codex"),
            (USER, "agents.codex.attended = |", "true false"),
            (USER, "baseline = \"|", "head disk all"),
            (OwnFile::Manifest, "|", "hooks"),
            (OwnFile::Manifest, "hooks:\n  |\n  Stop:\n", events),
            (OwnFile::Manifest, "hooks:\n  Stop:\n    |", "- script - builtin - command"),
            (OwnFile::Manifest, "hooks:\n  Stop:\n    - |", "script builtin command timeout on_error"),
            (OwnFile::Manifest, "hooks:\n  PreToolUse:\n    - script: a\n      |", "matcher timeout on_error"),
            (OwnFile::Manifest, "hooks:\n  Stop:\n    - builtin: |", "duet memory-capture"),
            (OwnFile::Manifest, "hooks:\n  Stop:\n    - on_error: |", "allow ask deny"),
            (
                OwnFile::Manifest,
                "hooks:\n  PreToolUse:\n    - matcher: |",
                "write edit shell read search list Bash apply_patch",
            ),
            (OwnFile::Manifest, "hooks:\n  Nonsense:\n    - |", ""),
        ];
        for (file, marked, expected) in cases {
            assert_eq!(labels(*file, marked), *expected, "{marked:?}");
        }
        assert_eq!(
            labels(USER, "|"),
            "baseline instruction_check on_failure ask_unattended on_change project_hooks_may_allow interpreters log \
             unsaved_buffers [agents.claude] [agents.codex]"
        );
    }

    /// The text after a suggestion was taken.
    fn taken(file: OwnFile, marked: &str, label: &str) -> String {
        let mut text = marked.replacen('|', "", 1);
        let one = suggested(file, marked).into_iter().find(|one| one.label == label).unwrap();
        text.replace_range(one.span, &one.text);
        text
    }

    #[test]
    fn what_is_taken_stands_as_it_must() {
        for (file, marked, label, expected) in [
            (TOML, "[[rule]]\non_f|", "on_fail", "[[rule]]\non_fail = "),
            (TOML, "[[rule]]\non_f| = 'ask'", "on_fail", "[[rule]]\non_fail = 'ask'"),
            (TOML, "[[rule]]\n'on_f|' = 1", "on_fail", "[[rule]]\n'on_fail' = 1"),
            (TOML, "[[rule]]\non_fail = |", "deny", "[[rule]]\non_fail = \"deny\""),
            (TOML, "[[rule]]\non_fail = d|", "deny", "[[rule]]\non_fail = \"deny\""),
            (TOML, "[[rule]]\non_fail = \"d|\nid = 1", "deny", "[[rule]]\non_fail = \"deny\"\nid = 1"),
            (TOML, "[[rule]]\non_fail = 'a|sk' # x", "deny", "[[rule]]\non_fail = 'deny' # x"),
            (TOML, "[[rule]]\nredact = t|", "true", "[[rule]]\nredact = true"),
            (TOML, "[[ru|]] # x", "[[rule]]", "[[rule]] # x"),
            (JSON, "{\"rules\": [{\"on_f|", "on_fail", "{\"rules\": [{\"on_fail\": "),
            (JSON, "{\"rules\": [{\"on_fail\": d|}]}", "deny", "{\"rules\": [{\"on_fail\": \"deny\"}]}"),
            (OwnFile::Manifest, "hooks:\n  St|", "Stop", "hooks:\n  Stop:"),
            (OwnFile::Manifest, "hooks:\n  Stop:\n    |", "- script", "hooks:\n  Stop:\n    - script: "),
            (OwnFile::Manifest, "hooks:\n  Stop:\n    - on_error: |", "ask", "hooks:\n  Stop:\n    - on_error: ask"),
        ] {
            assert_eq!(taken(file, marked, label), expected, "{marked:?}");
        }
    }

    /// What a snippet leaves when nothing is filled in but the first of each choice.
    fn flat(snippet: &str) -> String {
        let mut out = String::new();
        let mut rest = snippet;
        while let Some(at) = rest.find(['$', '\\']) {
            out += &rest[..at];
            let after = &rest[at + 1..];
            rest = if rest[at..].starts_with('\\') {
                out.push_str(&after[..1]);
                &after[1..]
            } else if let Some(choice) = after.strip_prefix('{') {
                let (_, words) = choice.split_once('|').unwrap();
                let (words, rest) = words.split_once("|}").unwrap();
                out += words.split(',').next().unwrap();
                rest
            } else {
                after.trim_start_matches(|it: char| it.is_ascii_digit())
            };
        }
        out + rest
    }

    #[test]
    fn a_whole_rule_is_one_that_parses_and_only_lacks_its_words() {
        for (file, marked, label) in [
            (TOML, "|", "[[rule]]"),
            (TOML, "[[|", "[[rule]] with its first keys"),
            (JSON, "{\"rules\": [|]}", "{ rule }"),
        ] {
            let one = suggested(file, marked).into_iter().find(|one| one.label == label).unwrap();
            assert_eq!(flat(one.snippet.as_deref().unwrap()), one.text);
            let OwnFile::Rulebook(format) = file else { unreachable!() };
            let book = Rulebook::load(taken(file, marked, label).as_bytes(), format);
            assert_eq!(book.rules.len(), 1, "{:?}", book.problems);
            assert_eq!(book.unusable(), None);
            assert!(book.problems.iter().all(|problem| !problem.message.contains("unknown key")));
        }
    }

    #[test]
    fn the_snippet_of_every_key_gives_a_text_that_parses() {
        for key in &RULE {
            let one = suggested(TOML, "[[rule]]\n|").into_iter().find(|one| one.label == key.name).unwrap();
            let text = format!("[[rule]]\n{}\n", flat(one.snippet.as_deref().unwrap()));
            assert_eq!(Rulebook::load(text.as_bytes(), Format::Toml).unusable(), None, "{text}");
        }
    }

    #[test]
    fn scripts_are_those_beside_the_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let extension = Platform::HERE.extension();
        for name in [format!("b.{extension}"), format!("a.{extension}"), "c.txt".into(), format!("no no.{extension}")] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join(format!("d.{extension}"))).unwrap();
        let text = "hooks:\n  Stop:\n    - script: ";
        let found = suggest(OwnFile::Manifest, &folder.path().join("hooks.yaml"), text, text.len());
        assert_eq!(found.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
