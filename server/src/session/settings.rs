//! What the editor may set, and within which bounds.
//!
//! These values may come from a workspace's own settings file, so this is the editor's side of the table that says what
//! a project may set (S2): how the current edit is counted and what is shown beside it, never whether a rule holds.
//! `trusted` says that a person trusts the workspace; only the `initialize` request can say so.

pub use guard::config::Baseline;
use serde_json::Value;

/// The settings that hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What a buffer's current edit is measured against; none leaves it to config.toml.
    pub baseline: Option<Baseline>,
    /// Whether violations in unchanged lines are shown as hints.
    pub hints: bool,
    /// Whether a person trusts the workspace, so that git may be asked; none where the editor does not say.
    pub trusted: Option<bool>,
    /// What the symbol index is for.
    pub symbols: Symbols,
}

/// What the symbol index is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Symbols {
    /// Questions of the editor, and of agents.
    #[default]
    All,
    /// Questions of agents alone: another server answers the editor's.
    Agents,
    /// There is none.
    Off,
}

impl Symbols {
    const NAMED: [(&str, Symbols); 3] = [("all", Symbols::All), ("agents", Symbols::Agents), ("off", Symbols::Off)];

    /// What the options say; none where they say nothing that can be.
    pub fn said(options: &Value) -> Option<Symbols> {
        let said = options.get("symbols")?.as_str()?;
        Symbols::NAMED.iter().find(|(name, _)| *name == said).map(|(_, symbols)| *symbols)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { baseline: None, hints: true, trusted: None, symbols: Symbols::All }
    }
}

/// The names in `initializationOptions`, and under `ruleline` in `workspace/didChangeConfiguration`.
const KEYS: [&str; 4] = ["baseline", "hints", "trusted", "symbols"];

impl Settings {
    /// The editor says that its user does not trust the workspace: nothing is offered but reading.
    pub fn restricted(&self) -> bool {
        self.trusted == Some(false)
    }

    /// Takes over what `initializationOptions` say. What is wrong keeps its value and is given back, a line each.
    pub fn initialize(&mut self, options: &Value) -> Vec<String> {
        let mut problems = self.change(options);
        match options.get("trusted") {
            None => {}
            Some(Value::Bool(trusted)) => self.trusted = Some(*trusted),
            Some(_) => problems.push("setting trusted: expected true or false".into()),
        }
        problems
    }

    /// Takes over what a later change of the configuration says; never `trusted`.
    pub fn change(&mut self, options: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        let all = options;
        let Some(options) = options.as_object() else {
            // An empty Lua table is an empty list in JSON.
            let says_nothing = options.is_null() || options.as_array().is_some_and(Vec::is_empty);
            if !says_nothing {
                problems.push("the settings of Ruleline are not an object".into());
            }
            return problems;
        };
        match options.get("baseline").map(|value| value.as_str().unwrap_or_default()) {
            None => {}
            Some("head") => self.baseline = Some(Baseline::Head),
            Some("disk") => self.baseline = Some(Baseline::Disk),
            Some("all") => self.baseline = Some(Baseline::All),
            Some(_) => problems.push(r#"setting baseline: expected "head", "disk" or "all""#.into()),
        }
        match options.get("hints") {
            None => {}
            Some(Value::Bool(hints)) => self.hints = *hints,
            Some(_) => problems.push("setting hints: expected true or false".into()),
        }
        if options.contains_key("symbols") {
            match Symbols::said(all) {
                Some(symbols) => self.symbols = symbols,
                None => problems.push(r#"setting symbols: expected "all", "agents" or "off""#.into()),
            }
        }
        let unknown = options.keys().filter(|key| !KEYS.contains(&key.as_str()));
        problems.extend(unknown.map(|key| {
            format!(
                "setting {}: an editor cannot set it; it knows {}",
                rules::plain::plain(key, rules::plain::ID),
                KEYS.join(", ")
            )
        }));
        problems
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_what_is_wrong_with_them() {
        let default = Settings::default();
        for (options, expected, problems) in [
            (json!(null), default.clone(), 0),
            (json!({}), default.clone(), 0),
            (json!([]), default.clone(), 0),
            (json!({"trusted": true}), Settings { trusted: Some(true), ..default.clone() }, 0),
            (
                json!({"baseline": "all", "hints": false}),
                Settings { baseline: Some(Baseline::All), hints: false, ..default.clone() },
                0,
            ),
            (json!({"baseline": "disk"}), Settings { baseline: Some(Baseline::Disk), ..default.clone() }, 0),
            (json!({"symbols": "agents"}), Settings { symbols: Symbols::Agents, ..default.clone() }, 0),
            (json!({"symbols": true}), default.clone(), 1),
            (json!({"baseline": "none", "hints": "no", "trusted": 1}), default.clone(), 3),
            (json!({"on_failure": "allow", "deciders": {}, "auto_approve": true}), default.clone(), 3),
            (json!([1]), default.clone(), 1),
        ] {
            let mut settings = default.clone();
            let said = settings.initialize(&options);
            assert_eq!((settings, said.len()), (expected, problems), "{options}: {said:?}");
        }
    }

    #[test]
    fn a_later_change_never_trusts() {
        let mut settings = Settings::default();
        assert!(settings.change(&json!({"trusted": true, "baseline": "disk"})).is_empty());
        assert_eq!(settings, Settings { baseline: Some(Baseline::Disk), ..Settings::default() });
    }

    #[test]
    fn s02_an_editor_cannot_loosen() {
        let mut settings = Settings::default();
        let said = settings.initialize(&json!({"self_protection": "off\u{202e}\n"}));
        assert_eq!(settings, Settings::default());
        assert!(said[0].contains("self_protection"));
    }
}
