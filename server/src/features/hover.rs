//! What a key or a word of one of our files means, and which rule a finding is of.
//!
//! Lines of plain text: whatever comes from a rulebook passes [`rules::plain`], and the edge escapes it for clients that
//! take Markdown alone. What a finding says is not repeated here, since its diagnostic says it.

use guard::config::keys::KEPT;
use guard::config::{Law, law_of};
use rules::keys::{Key, Word, find};
use rules::plain::{PATH, WHY, plain};
use syntax::Span;

use crate::features::actions::{effect_of, plain_id};
use crate::features::diagnostics::{Report, RulePlace};
use crate::features::own::{OwnFile, Table, event};
use crate::features::writing::{Grammar, Slot, Spot, spot, unquoted};

/// Most rules that are told of at one place.
const RULES: usize = 5;

/// What is told of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// What it is about.
    pub span: Span,
    /// What is told, a line each.
    pub lines: Vec<String>,
}

/// What stands at byte `offset` of a file of ours.
pub fn of_file(file: OwnFile, text: &str, offset: usize) -> Option<Hover> {
    let Spot { table, slot, .. } = spot(file.grammar(), text, offset);
    let word = |span: &Span| unquoted(text.get(span.clone()).unwrap_or_default()).to_owned();
    let (span, lines) = match slot {
        Slot::Nothing => return None,
        Slot::Key { span, .. } => {
            let lines = of_name(file, &table, &word(&span))?;
            (span, lines)
        }
        Slot::Header { span } => {
            let name = text.get(span.clone())?.trim_matches(['[', ']']).trim();
            let lines = match (file, name.split('.').next()) {
                (OwnFile::Rulebook(_), Some("rule" | "rules")) => vec![RULE.to_owned()],
                (OwnFile::Config { .. }, Some(table)) => of_name(file, &[], table)?,
                _ => return None,
            };
            (span, lines)
        }
        Slot::Value { key, span, .. } => {
            let Some(Table::Keys(keys)) = file.table(&table) else { return None };
            let key = find(keys, &key)?;
            let said = word(&span);
            let word = file.words(key).iter().find(|word| word.text == said)?;
            (span, vec![format!("{}: {}", word.text, word.about), format!("{}: {}", key.name, key.about)])
        }
    };
    (!span.is_empty()).then_some(Hover { span, lines })
}

const RULE: &str = "a rule: its files, what is looked for there, and what becomes of an edit that adds it; without a \
                    check it is about every change of its files";

/// What a name in the table at a path means.
fn of_name(file: OwnFile, path: &[String], name: &str) -> Option<Vec<String>> {
    match file.table(path)? {
        Table::Keys(keys) => match find(keys, name) {
            Some(key) => Some(of_key(file, path, key)),
            None => (matches!(file, OwnFile::Config { .. }) && path.is_empty() && KEPT.contains(&name))
                .then(|| vec![format!("{name}: kept for a later version; it does nothing in this one")]),
        },
        Table::Rules => matches!(name, "rule" | "rules").then(|| vec![format!("{name}: the rules, in order")]),
        Table::Agents => Some(vec![format!("{}: settings of this agent", plain_id(name))]),
        Table::Hooks => (name == hooks::keys::TOP).then(|| vec![format!("{name}: the hooks, by event")]),
        Table::Events => event(name).map(|Word { text, about }| vec![format!("{text}: {about}")]),
        Table::Entries => None,
    }
}

fn of_key(file: OwnFile, path: &[String], key: &Key) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", key.name, key.about)];
    if !matches!(key.values, rules::keys::Values::Bool) {
        lines.extend(file.words(key).iter().map(|Word { text, about }| format!("{text}: {about}")));
    }
    // Examples are written as the table's own file is.
    if file.words(key).is_empty() && file.grammar() != Grammar::Json {
        lines.push(format!("For example: {}", key.example));
    }
    if key.required {
        lines.push("It must be there.".to_owned());
    }
    lines.extend(key.usual.map(|usual| format!("Without it: {usual}")));
    lines.extend(key.needs.map(|other| format!("It is read beside {other} alone.")));
    if matches!(file, OwnFile::Config { .. }) {
        let law = path.is_empty().then(|| law_of(key.name)).flatten();
        lines.push(match law.unwrap_or(Law::UserOnly) {
            Law::Set => "A project may set it.".to_owned(),
            Law::Tighten => "A project may only make it stricter.".to_owned(),
            Law::UserOnly => "It is the user's alone to set; no project may.".to_owned(),
        });
    }
    lines
}

/// Which rules the findings at byte `offset` are of, each once; `why` gives the reason of a rule.
pub fn of_findings(report: &Report, offset: usize, why: impl Fn(&RulePlace) -> Option<String>) -> Option<Hover> {
    let mut found: Option<Hover> = None;
    let mut told: Vec<(&str, &std::path::Path)> = Vec::new();
    for diagnostic in &report.diagnostics {
        let Some(rule) = &diagnostic.rule else { continue };
        let touches = diagnostic.span.start <= offset && offset <= diagnostic.span.end;
        if !touches || told.contains(&(rule.id.as_str(), &*rule.path)) || told.len() == RULES {
            continue;
        }
        told.push((&rule.id, &rule.path));
        let hover = found.get_or_insert_with(|| Hover { span: diagnostic.span.clone(), lines: Vec::new() });
        let why = why(rule).map(|why| plain(why.trim(), WHY)).filter(|why| !why.is_empty());
        hover.lines.push(match why {
            Some(why) => format!("{}: {why}", plain_id(&rule.id)),
            None => plain_id(&rule.id),
        });
        hover.lines.push(format!(
            "{}, line {}: {}",
            plain(&system::paths::shown(&rule.path), PATH),
            rule.text.line_number(rule.span.start),
            effect_of(diagnostic.severity)
        ));
    }
    found
}

/// What is told, clear of everything that Markdown takes for its own: no link, no picture, no markup.
pub fn as_markdown(lines: &[String]) -> String {
    let escaped = |line: &String| {
        let mut escaped = String::with_capacity(line.len());
        for character in line.chars() {
            if character.is_ascii_punctuation() {
                escaped.push('\\');
            }
            escaped.push(character);
        }
        escaped
    };
    lines.iter().map(escaped).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use rules::Format;

    use super::*;

    fn told(file: OwnFile, marked: &str) -> Option<(String, Vec<String>)> {
        let text = marked.replacen('|', "", 1);
        let hover = of_file(file, &text, marked.find('|').unwrap())?;
        Some((text[hover.span].to_owned(), hover.lines))
    }

    #[test]
    fn keys_and_words_are_told_and_nothing_else_is() {
        let (rulebook, json) = (OwnFile::Rulebook(Format::Toml), OwnFile::Rulebook(Format::Json));
        let config = OwnFile::Config { of_project: true };
        let cases: &[(OwnFile, &str, &str, &str)] = &[
            (rulebook, "[[rule]]\non_|fail = 'ask'", "on_fail", "Without it: \"deny\""),
            (rulebook, "[[rule]]\n|on_fail = 'ask'", "on_fail", "ask: leaves the edit to a person"),
            (rulebook, "[[rule]]\non_fail = 'a|sk'", "'ask'", "ask: leaves the edit to a person"),
            (rulebook, "[[rule]]\npath|s = [", "paths", "It must be there."),
            (rulebook, "[[rule]]\nwhe|n = []", "when", "It is read beside question alone."),
            (rulebook, "[[ru|le]]\n", "[[rule]]", "a rule"),
            (rulebook, "[[rule]]\nfor|bid = []", "forbid", "For example: ['\\bTODO\\b']"),
            (json, "{\"rules\": [{\"for|bid\": []}]}", "\"forbid\"", "a match is a finding"),
            (config, "on_fail|ure = 'deny'", "on_failure", "A project may only make it stricter."),
            (config, "ask_una|ttended = 'ask'", "ask_unattended", "no project may"),
            (config, "tele|metry = true", "telemetry", "kept for a later version"),
            (config, "[agents.cl|aude]", "[agents.claude]", "by its name"),
            (OwnFile::Manifest, "hooks:\n  St|op:\n", "Stop", "the agent is done"),
            (OwnFile::Manifest, "hooks:\n  Stop:\n    - time|out: 3", "timeout", "Without it: 30"),
            (OwnFile::Manifest, "hooks:\n  Stop:\n    - on_error: d|eny", "deny", "the call is refused"),
        ];
        for (file, marked, word, part) in cases {
            let (span, lines) = told(*file, marked).unwrap_or_else(|| panic!("{marked}"));
            assert_eq!(span, *word, "{marked}");
            assert!(lines.iter().any(|line| line.contains(part)), "{marked}: {lines:?}");
        }
        for (file, marked) in [
            (rulebook, "|"),
            (rulebook, "[[rule]]\n|\n"),
            (rulebook, "[[rule]]\nnon|sense = 1"),
            (rulebook, "[[rule]]\nwhy = 'de|ny'"),
            (rulebook, "[[rule]]\non_fail = 'non|sense'"),
            (rulebook, "# on_|fail"),
            (rulebook, "on_|fail = 'ask'"),
            (config, "[oth|er]"),
            (OwnFile::Manifest, "St|op:"),
        ] {
            assert_eq!(told(file, marked), None, "{marked}");
        }
    }

    #[test]
    fn every_key_has_something_to_tell() {
        for key in &rules::keys::RULE {
            let text = format!("[[rule]]\n|{} = {}", key.name, key.example);
            let (_, lines) = told(OwnFile::Rulebook(Format::Toml), &text).unwrap();
            assert!(lines.len() >= 2 && lines[0].starts_with(&format!("{}: ", key.name)), "{lines:?}");
        }
    }

    #[test]
    fn s22_markdown_has_no_markup() {
        let lines = ["[a](command:x) ![b] <img> *d* \\ é".to_owned(), "# e".to_owned()];
        let escaped = r"\[a\]\(command\:x\) \!\[b\] \<img\> \*d\* \\ é";
        assert_eq!(as_markdown(&lines), format!("{escaped}\n\n\\# e"));
    }
}
