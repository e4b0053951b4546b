//! What an agent's own settings keep from it: files that it may not read.
//!
//! Claude Code's `permissions.deny` with `Read(PATTERN)`; the patterns are those of ignore files, and where they begin
//! says where they count from. Reads no file.

use serde_json::Value;

/// The settings files of a project, relative to its root.
pub const OF_PROJECT: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
/// The settings file of a user, relative to the home folder.
pub const OF_USER: &str = ".claude/settings.json";

/// Where a pattern counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The root of the file system.
    Top,
    /// The home folder.
    Home,
    /// The folder that holds the settings' folder.
    Project,
    /// Any folder.
    Anywhere,
}

/// Files that an agent may not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// Where the pattern counts from.
    pub from: From,
    /// In the syntax of ignore files, without what says where it counts from.
    pub pattern: String,
}

/// What the settings in `json` keep from the agent; nothing where they cannot be read.
pub fn unreadable(json: &[u8]) -> Vec<Denied> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let Ok(settings) = serde_json::from_slice::<Value>(json) else { return Vec::new() };
    let rules = settings.pointer("/permissions/deny").and_then(Value::as_array);
    rules.into_iter().flatten().filter_map(Value::as_str).filter_map(denied).collect()
}

fn denied(rule: &str) -> Option<Denied> {
    let rest = rule.trim().strip_prefix("Read")?;
    if rest.is_empty() {
        return Some(Denied { from: From::Anywhere, pattern: "*".to_owned() });
    }
    let pattern = rest.strip_prefix('(')?.strip_suffix(')')?.trim();
    let (from, pattern) = if let Some(absolute) = pattern.strip_prefix("//") {
        (From::Top, absolute)
    } else if let Some(of_home) = pattern.strip_prefix("~/") {
        (From::Home, of_home)
    } else if let Some(of_project) = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/')) {
        (From::Project, of_project)
    } else {
        (From::Anywhere, pattern)
    };
    (!pattern.is_empty()).then(|| Denied { from, pattern: pattern.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_read_is_found() {
        let json = r#"{"permissions": {"allow": ["Read(a)"], "deny": [
            "Read(./.env)", "Read(secrets/**)", "Read(~/.ssh/**)", "Read(//etc/shadow)", "Read(/build)", "Read",
            "Bash(rm:*)", "Reader(x)", "Read()", 3
        ]}}"#;
        let found: Vec<_> = unreadable(json.as_bytes()).into_iter().map(|one| (one.from, one.pattern)).collect();
        let expected = [
            (From::Project, ".env"),
            (From::Anywhere, "secrets/**"),
            (From::Home, ".ssh/**"),
            (From::Top, "etc/shadow"),
            (From::Project, "build"),
            (From::Anywhere, "*"),
        ];
        assert_eq!(found, expected.map(|(from, pattern)| (from, pattern.to_owned())));
        for json in ["", "{", "[]", r#"{"permissions": {"deny": "Read(a)"}}"#] {
            assert!(unreadable(json.as_bytes()).is_empty(), "{json}");
        }
    }
}
