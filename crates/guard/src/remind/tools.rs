//! Tools of servers, by the names that agents give them, and which of them are symbolic.
//!
//! A server is named exactly, never by a part of a name: whoever calls a server of theirs `serena-helper` is not Serena.

/// The servers whose tools are symbolic unless the settings say otherwise.
pub const SERVERS: [&str; 2] = ["serena", "ruleline"];

/// Tools of such a server that do what others do too: search texts, read files, run commands, keep notes. `*` stands for
/// anything.
const OTHERS: [&str; 14] = [
    "*pattern*",
    "*search_text*",
    "read_*",
    "*diagnostics*",
    "*memory*",
    "*memories*",
    "*onboarding*",
    "*config*",
    "list_file*",
    "find_file*",
    "*shell*",
    "*dashboard*",
    "restart_language_server",
    "replace_in_files",
];

/// Tools that edit, or do what may edit: they have no place in a plan.
const EDITING: [&str; 22] = [
    "create_text_file",
    "delete_lines",
    "delete_memory",
    "edit_memory",
    "execute_shell_command",
    "insert_after_symbol",
    "insert_at_line",
    "insert_before_symbol",
    "jet_brains_inline_symbol",
    "jet_brains_move",
    "jet_brains_rename",
    "jet_brains_safe_delete",
    "onboarding",
    "rename_memory",
    "rename_symbol",
    "replace_content",
    "replace_in_files",
    "replace_lines",
    "replace_symbol_body",
    "safe_delete_symbol",
    "serena_repl",
    "write_memory",
];

/// A tool of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerTool<'n> {
    /// The tool.
    pub tool: &'n str,
    /// The name up to the tool's: what stands before each tool of this server in this session.
    pub prefix: &'n str,
    /// The server has exactly the name that was asked for, and no plugin brought it.
    pub is_exact: bool,
}

/// The tool of one of these servers that `name` is: `mcp__SERVER__TOOL`, `SERVER__TOOL`, the same of a plugin
/// (`mcp__plugin_PLUGIN_SERVER__TOOL`), or `mcp_SERVER_TOOL`.
pub fn of_servers<'n>(name: &'n str, servers: &[String]) -> Option<ServerTool<'n>> {
    servers.iter().find_map(|server| {
        let part = |prefix: &'n str, is_exact| {
            let tool = &name[prefix.len()..];
            (!tool.is_empty()).then_some(ServerTool { tool, prefix, is_exact })
        };
        let after = |start: &str| name.get(..start.len()).filter(|prefix| *prefix == start);
        if let Some(prefix) = after(&format!("mcp__{server}__")).or_else(|| after(&format!("{server}__"))) {
            return part(prefix, true);
        }
        if let Some(plugin) = name.strip_prefix("mcp__plugin_") {
            let own = format!("_{server}__");
            let at = plugin.find(&own)?;
            return part(&name[.."mcp__plugin_".len() + at + own.len()], false);
        }
        after(&format!("mcp_{server}_")).and_then(|prefix| part(prefix, false))
    })
}

/// Whether a tool of a symbolic server is symbolic itself.
pub fn is_symbolic(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    !OTHERS.iter().any(|pattern| matches(pattern, &tool))
}

/// Whether a tool edits.
pub fn edits(tool: &str) -> bool {
    EDITING.contains(&tool)
}

/// Whether a text matches a pattern in which `*` stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_of_a_server_by_the_servers_whole_name() {
        let servers = SERVERS.map(str::to_owned);
        for (name, expected) in [
            ("mcp__serena__find_symbol", Some(("find_symbol", true))),
            ("serena__find_symbol", Some(("find_symbol", true))),
            ("mcp__plugin_serena_serena__find_symbol", Some(("find_symbol", false))),
            ("mcp__plugin_x_y_serena__find_symbol", Some(("find_symbol", false))),
            ("mcp_serena_find_symbol", Some(("find_symbol", false))),
            ("mcp__ruleline__find_symbol", Some(("find_symbol", true))),
            ("mcp__not_serena_evil__delete_all", None),
            ("mcp__serena_evil__x", None),
            ("mcp__serena__", None),
            ("find_symbol", None),
            ("serena", None),
            ("é", None),
        ] {
            let found = of_servers(name, &servers);
            assert_eq!(found.map(|found| (found.tool, found.is_exact)), expected, "{name}");
        }
    }

    #[test]
    fn some_tools_of_a_symbolic_server_are_not_symbolic() {
        for (tool, expected) in [
            ("find_symbol", true),
            ("get_symbols_overview", true),
            ("list_dir", true),
            ("rename_thread", true),
            ("initial_instructions", true),
            ("find_references", true),
            ("read_file", false),
            ("search_for_pattern", false),
            ("search_text", false),
            ("list_files", false),
            ("write_memory", false),
            ("execute_shell_command", false),
            ("get_current_config", false),
        ] {
            assert_eq!(is_symbolic(tool), expected, "{tool}");
        }
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("*b*", "abc", true),
            ("a*c", "abc", true),
            ("a*c", "ab", false),
            ("*", "", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
