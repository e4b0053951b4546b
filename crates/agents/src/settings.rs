//! What agents' own settings say: which files an agent may not read, and which servers of tools it has.
//!
//! Claude Code's `permissions.deny` with `Read(PATTERN)`, whose patterns are those of ignore files, and where they begin
//! says where they count from; its `mcpServers` and Codex's `mcp_servers`. Reads no file.

use serde_json::Value;

/// The settings files of a project, relative to its root.
pub const OF_PROJECT: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
/// The settings file of a user, relative to the home folder.
pub const OF_USER: &str = ".claude/settings.json";

/// The files of a project, relative to its root, that name servers of tools.
pub const SERVERS_OF_PROJECT: [&str; 2] = [".mcp.json", ".codex/config.toml"];
/// The files of a user, relative to the home folder, that name servers of tools.
pub const SERVERS_OF_USER: [&str; 2] = [".claude.json", ".codex/config.toml"];

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

/// The servers of tools that a settings file names, in JSON or TOML; a file that is neither names none.
pub fn servers(file: &[u8]) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(file) else { return Vec::new() };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        let settings: Value = serde_json::from_str(text).unwrap_or_default();
        let of = |value: &Value| -> Vec<String> {
            let servers = value.get("mcpServers").and_then(Value::as_object);
            servers.into_iter().flat_map(|servers| servers.keys().cloned()).collect()
        };
        // Claude Code keeps those of each project in one file.
        let projects = settings.get("projects").and_then(Value::as_object);
        let of_projects = projects.into_iter().flat_map(|projects| projects.values()).flat_map(of);
        return of(&settings).into_iter().chain(of_projects).collect();
    }
    let headers = text.lines().filter_map(|line| line.trim().strip_prefix("[mcp_servers."));
    headers
        .filter_map(|rest| rest.split_once(']').map(|(name, _)| name))
        .map(|name| name.trim_matches('"').to_owned())
        .filter(|name| !name.contains('.'))
        .collect()
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
    fn servers_are_found_in_each_kind_of_file() {
        for (file, expected) in [
            (r#"{"mcpServers": {"serena": {}, "x": {}}}"#, &["serena", "x"][..]),
            (r#"{"projects": {"/p": {"mcpServers": {"ruleline": {}}}}}"#, &["ruleline"]),
            (
                "model = \"m\"\n[mcp_servers.serena]\ncommand = \"uvx\"\n[mcp_servers.serena.env]\nA = \"b\"\n",
                &["serena"],
            ),
            ("[mcp_servers.\"a\"]\n", &["a"]),
            ("{", &[]),
            ("", &[]),
        ] {
            assert_eq!(servers(file.as_bytes()), expected, "{file}");
        }
    }

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
