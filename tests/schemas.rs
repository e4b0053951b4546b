//! The JSON Schemas in `schemas/` are those of the loaders' tables.

#![allow(clippy::unwrap_used, reason = "all of this file is test code")]

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Has the files written instead of compared; `cargo xtask schemas` sets it.
const WRITE: &str = "RULELINE_WRITE_SCHEMAS";

#[test]
fn the_schemas_are_those_of_the_loaders() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for (name, schema) in guard::schemas::all() {
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        let file = folder.join(name);
        if std::env::var_os(WRITE).is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, &text).unwrap();
        }
        let written = fs::read_to_string(&file).unwrap_or_default();
        assert!(written == text, "schemas/{name} is not what the loader takes: run `cargo xtask schemas`");
    }
}

/// The keys that a schema has for a table.
fn keys(schema: &Value, table: &str) -> Vec<String> {
    schema.pointer(table).unwrap()["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn what_a_schema_says_is_what_is_read() {
    let [(_, rulebook), (_, config), (_, hooks)] = guard::schemas::all();
    let sorted = |names: Vec<&str>| {
        let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(keys(&rulebook, "/$defs/rule"), sorted(rules::keys::names(&rules::keys::RULE).to_vec()));
    let known = guard::config::keys::CONFIG.iter().map(|key| key.name).chain(guard::config::keys::KEPT);
    assert_eq!(keys(&config, ""), sorted(known.collect()));
    assert_eq!(keys(&hooks, "/$defs/entry"), sorted(::hooks::keys::ENTRY.iter().map(|key| key.name).collect()));
    assert_eq!(rulebook["$defs"]["rule"]["required"], serde_json::json!(["id", "paths"]));
    assert_eq!(rulebook["$defs"]["rule"]["properties"]["on_fail"]["default"], "deny");
    assert_eq!(hooks["$defs"]["entry"]["properties"]["on_error"]["default"], "allow");
    assert_eq!(config["properties"]["agents"]["propertyNames"]["enum"], serde_json::json!(["claude", "codex"]));
}
