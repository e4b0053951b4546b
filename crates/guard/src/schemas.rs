//! JSON Schemas of the files that people write for Ruleline, made of the tables that their loaders go by.
//!
//! For editors that check files by a schema; the language server says more. Nothing is loaded or checked by them here.

use rules::keys::{Key, Values, Word};
use serde_json::{Map, Value, json};

use crate::config;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// How a list of texts may be written.
#[derive(Clone, Copy)]
enum Lists {
    /// Always as a list.
    Whole,
    /// One text stands for a list of it.
    OrOne,
}

/// Each schema with the name of its file.
pub fn all() -> [(&'static str, Value); 3] {
    [("rulebook.schema.json", rulebook()), ("config.schema.json", config()), ("hooks.schema.json", hooks())]
}

/// Of `.ruleline/rules.toml` and of a rulebook in JSON.
fn rulebook() -> Value {
    let list = |about: &str| json!({"description": about, "type": "array", "items": {"$ref": "#/$defs/rule"}});
    json!({
        "$schema": DRAFT,
        "title": "Ruleline rulebook",
        "type": "object",
        "properties": {"rule": list("The rules."), "rules": list("The rules, by another name.")},
        "$defs": {"rule": table(&rules::keys::RULE, Lists::OrOne)},
    })
}

/// Of `config.toml`, the user's; a project may say less (docs/settings.md).
fn config() -> Value {
    let mut schema = table(&config::keys::CONFIG, Lists::Whole);
    schema["$schema"] = DRAFT.into();
    schema["title"] = "Ruleline settings".into();
    for name in config::keys::KEPT {
        schema["properties"][name] = json!({"description": "Does nothing in this version."});
    }
    schema["properties"]["agents"]["propertyNames"] = json!({"enum": config::keys::agents()});
    schema
}

/// Of `.ruleline/hooks/hooks.yaml`.
fn hooks() -> Value {
    let mut entry = table(&::hooks::keys::ENTRY, Lists::Whole);
    entry["oneOf"] = ::hooks::keys::ACTIONS.iter().map(|name| json!({"required": [name]})).collect();
    let events: Map<String, Value> = ::hooks::keys::EVENTS
        .iter()
        .map(|event| {
            let entries = json!({
                "description": sentence(event.about), "type": "array", "items": {"$ref": "#/$defs/entry"},
            });
            (event.text.to_owned(), entries)
        })
        .collect();
    json!({
        "$schema": DRAFT,
        "title": "Ruleline hooks",
        "type": "object",
        "properties": {
            (::hooks::keys::TOP): {"type": "object", "properties": events, "additionalProperties": false},
        },
        "required": [::hooks::keys::TOP],
        "$defs": {"entry": entry},
    })
}

/// A table with these keys and no others.
fn table(keys: &[Key], lists: Lists) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| (key.name.to_owned(), property(key, lists))).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let needs = keys.iter().filter_map(|key| Some((key.name.to_owned(), json!([key.needs?]))));
    let needs: Map<String, Value> = needs.collect();
    let mut table = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        table["required"] = required.into();
    }
    if !needs.is_empty() {
        table["dependentRequired"] = needs.into();
    }
    table
}

fn property(key: &Key, lists: Lists) -> Value {
    let mut property = match key.values {
        Values::Words(words) => json!({"enum": words.iter().map(|word| word.text).collect::<Vec<_>>()}),
        Values::Bool => json!({"type": "boolean"}),
        Values::Text => json!({"type": "string"}),
        Values::Number => json!({"type": "number"}),
        Values::Texts | Values::Patterns => {
            let list = json!({"type": "array", "items": {"type": "string"}});
            match lists {
                Lists::Whole => list,
                Lists::OrOne => json!({"anyOf": [{"type": "string"}, list]}),
            }
        }
        Values::Table(keys) => table(keys, lists),
        Values::Named(keys) => json!({"type": "object", "additionalProperties": table(keys, lists)}),
    };
    property["description"] = described(key).into();
    if let Some(usual) = key.usual {
        // A word without quotes is YAML's way to write a text.
        property["default"] = serde_json::from_str(usual).unwrap_or_else(|_| usual.into());
    }
    property
}

/// What a key means, with what its words do.
fn described(key: &Key) -> String {
    let words: &[Word] = if let Values::Words(words) = key.values { words } else { &[] };
    let lines = words.iter().map(|word| format!("- {}: {}", word.text, word.about));
    std::iter::once(sentence(key.about)).chain(lines).collect::<Vec<_>>().join("\n")
}

fn sentence(about: &str) -> String {
    let mut letters = about.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
