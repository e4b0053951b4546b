//! The tools of each agent and what their arguments are called: one table a dialect, read into [`ToolCall`].
//!
//! The tool's name decides how its input is read; only a tool that is in no table is looked through for a patch.

use crate::event::{Among, Dialect, EditStep, NotebookEdit, NotebookMode, ToolCall};
use crate::json::{Fields, Value};
use crate::patch;

/// How a tool's input is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Read,
    /// Through texts.
    Search,
    /// Through names of files.
    Find,
    List,
    Write,
    Edit,
    Notebook,
    Patch,
    Shell,
    /// Neither reads nor changes files by itself.
    Plain,
}

const CLAUDE: &[(&str, Shape)] = &[
    ("Bash", Shape::Shell),
    ("Read", Shape::Read),
    ("Edit", Shape::Edit),
    ("Write", Shape::Write),
    ("Grep", Shape::Search),
    ("Glob", Shape::Find),
    ("LS", Shape::List),
    ("MultiEdit", Shape::Edit),
    ("NotebookEdit", Shape::Notebook),
    ("NotebookRead", Shape::Read),
    ("Agent", Shape::Plain),
    ("AskUserQuestion", Shape::Plain),
    ("BashOutput", Shape::Plain),
    ("ExitPlanMode", Shape::Plain),
    ("KillShell", Shape::Plain),
    ("ListAgents", Shape::Plain),
    ("ReportFindings", Shape::Plain),
    ("ScheduleWakeup", Shape::Plain),
    ("Skill", Shape::Plain),
    ("SlashCommand", Shape::Plain),
    ("Task", Shape::Plain),
    ("TodoWrite", Shape::Plain),
    ("ToolSearch", Shape::Plain),
    ("WebFetch", Shape::Plain),
    ("WebSearch", Shape::Plain),
    ("Workflow", Shape::Plain),
];

const CODEX: &[(&str, Shape)] = &[
    ("Bash", Shape::Shell),
    ("apply_patch", Shape::Patch),
    ("shell", Shape::Shell),
    ("exec_command", Shape::Shell),
    ("local_shell", Shape::Shell),
    ("shell_command", Shape::Shell),
    ("container.exec", Shape::Shell),
    ("view_image", Shape::Plain),
    ("update_plan", Shape::Plain),
];

/// Names of tools that only other agents have; what they are called there they mean everywhere.
const OTHERS: &[(&str, Shape)] = &[
    ("grep", Shape::Search),
    ("grep_search", Shape::Search),
    ("glob", Shape::Find),
    ("file_search", Shape::Find),
    ("read", Shape::Read),
    ("read_file", Shape::Read),
    ("readFile", Shape::Read),
    ("list_dir", Shape::List),
    ("run_terminal_command", Shape::Shell),
    ("run_in_terminal", Shape::Shell),
    ("functions.shell_command", Shape::Shell),
];

const PATH: &[&str] = &["file_path", "path"];
const READ_PATH: &[&str] = &["file_path", "target_file", "notebook_path", "path"];
const PATTERN: &[&str] = &["pattern", "query", "regex"];
const NOTEBOOK_PATH: &[&str] = &["notebook_path", "file_path", "path"];
const CONTENT: &[&str] = &["content"];
const OLD: &[&str] = &["old_string"];
const NEW: &[&str] = &["new_string"];
const ALL: &[&str] = &["replace_all"];
const EDITS: &[&str] = &["edits"];
const COMMAND: &[&str] = &["command", "cmd"];
const WORKDIR: &[&str] = &["workdir", "working_directory"];
const PATCH: &[&str] = &["input", "command", "patch"];

/// Reads a call. `tool` is empty when the payload names none: then the fields decide.
///
/// # Errors
/// In one line, why the input of a tool that changes files or runs commands cannot be read.
pub(crate) fn read(dialect: Dialect, tool: &str, input: Option<Value>) -> Result<ToolCall, String> {
    let shape = shape(dialect, tool);
    let mut fields = match input {
        Some(Value::Object(fields)) => fields,
        Some(Value::Text(text)) if patch::holds(&text) && matches!(shape, None | Some(Shape::Patch)) => {
            return Ok(ToolCall::Patch { text });
        }
        other => {
            return match shape {
                Some(Shape::Search) => Ok(ToolCall::Search { among: Among::Texts, pattern: None }),
                Some(Shape::Find) => Ok(ToolCall::Search { among: Among::Paths, pattern: None }),
                Some(Shape::List) => Ok(ToolCall::List),
                Some(Shape::Read | Shape::Plain) => Ok(ToolCall::Other),
                None if !tool.is_empty() => Ok(other_tool(tool, &other.unwrap_or(Value::Null))),
                _ if other.is_none() => Err(format!("the call of {} has no input", shown(tool))),
                _ => Err(format!("the input of {} is not an object", shown(tool))),
            };
        }
    };
    let shape = shape.or_else(|| tool.is_empty().then(|| guess(&fields)).flatten());
    match shape {
        Some(Shape::Search) => Ok(search(Among::Texts, &mut fields)),
        Some(Shape::Find) => Ok(search(Among::Paths, &mut fields)),
        Some(Shape::List) => Ok(ToolCall::List),
        Some(Shape::Plain) => Ok(ToolCall::Other),
        Some(Shape::Read) => Ok(match fields.take(READ_PATH) {
            Ok(Some(Value::Text(path))) => ToolCall::Read { path },
            // The agent refuses it by itself.
            _ => ToolCall::Read { path: String::new() },
        }),
        Some(Shape::Write) => write(tool, &mut fields),
        Some(Shape::Edit) => edit(tool, &mut fields),
        Some(Shape::Notebook) => notebook(tool, &mut fields),
        Some(Shape::Patch) => apply_patch(tool, &mut fields),
        Some(Shape::Shell) => shell(tool, &mut fields),
        None if tool.is_empty() => Err("the payload names no tool".to_owned()),
        None => unknown(tool, fields),
    }
}

/// An agent's own table first: a name that only another agent has still means what it means there.
fn shape(dialect: Dialect, tool: &str) -> Option<Shape> {
    let (own, other) = match dialect {
        Dialect::Claude => (CLAUDE, CODEX),
        Dialect::Codex => (CODEX, CLAUDE),
    };
    own.iter().chain(other).chain(OTHERS).find(|(name, _)| *name == tool).map(|(_, shape)| *shape)
}

fn search(among: Among, fields: &mut Fields) -> ToolCall {
    let pattern = match fields.take(PATTERN) {
        Ok(Some(Value::Text(pattern))) => Some(pattern),
        _ => None,
    };
    ToolCall::Search { among, pattern }
}

fn guess(fields: &Fields) -> Option<Shape> {
    let patch = fields.0.iter().any(|(_, value)| matches!(value, Value::Text(text) if patch::holds(text)));
    [
        (fields.has(EDITS) || fields.has(NEW), Shape::Edit),
        (fields.has(CONTENT), Shape::Write),
        (patch, Shape::Patch),
        (fields.has(COMMAND), Shape::Shell),
    ]
    .into_iter()
    .find_map(|(fits, shape)| fits.then_some(shape))
}

fn unknown(tool: &str, fields: Fields) -> Result<ToolCall, String> {
    let server_tool = tool.starts_with("mcp__");
    if (!server_tool || tool.contains("patch")) && fields.0.iter().any(|(_, value)| is_patch(value)) {
        return apply_patch(tool, &mut { fields });
    }
    Ok(other_tool(tool, &Value::Object(fields)))
}

fn other_tool(tool: &str, input: &Value) -> ToolCall {
    match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, name)) => {
            ToolCall::Mcp { server: server.to_owned(), tool: name.to_owned(), input: input.to_json() }
        }
        None => ToolCall::Other,
    }
}

fn is_patch(value: &Value) -> bool {
    matches!(value, Value::Text(text) if patch::holds(text))
}

fn write(tool: &str, fields: &mut Fields) -> Result<ToolCall, String> {
    let path = path(tool, fields, PATH)?;
    let content = required(tool, fields, CONTENT)?;
    Ok(ToolCall::Write { path, content })
}

fn edit(tool: &str, fields: &mut Fields) -> Result<ToolCall, String> {
    if fields.has(CONTENT) && !fields.has(OLD) && !fields.has(EDITS) {
        return write(tool, fields);
    }
    let path = path(tool, fields, PATH)?;
    let Some(edits) = fields.take(EDITS)? else {
        return Ok(ToolCall::Edit { path, steps: vec![step(tool, fields)?] });
    };
    let Value::List(items) = edits else {
        return Err(format!("`edits` of {} is not a list", shown(tool)));
    };
    let given = items.len();
    let steps = items
        .into_iter()
        .filter_map(|item| match item {
            Value::Object(mut fields) => Some(step(tool, &mut fields)),
            // The agent's own schema refuses the call or drops the item; what is left is what could be written.
            _ => None,
        })
        .collect::<Result<Vec<_>, _>>()?;
    if steps.is_empty() && given > 0 {
        return Err(format!("`edits` of {} holds no edit", shown(tool)));
    }
    Ok(ToolCall::Edit { path, steps })
}

fn step(tool: &str, fields: &mut Fields) -> Result<EditStep, String> {
    let old = optional(tool, fields, OLD)?.unwrap_or_default();
    let new = required(tool, fields, NEW)?;
    let all = match fields.take(ALL)? {
        None | Some(Value::Null) => false,
        Some(Value::Bool(all)) => all,
        Some(_) => return Err(format!("`replace_all` of {} is neither true nor false", shown(tool))),
    };
    Ok(EditStep { old, new, all })
}

fn notebook(tool: &str, fields: &mut Fields) -> Result<ToolCall, String> {
    let path = path(tool, fields, NOTEBOOK_PATH)?;
    let mode = match optional(tool, fields, &["edit_mode"])?.as_deref() {
        None | Some("replace") => NotebookMode::Replace,
        Some("insert") => NotebookMode::Insert,
        Some("delete") => NotebookMode::Delete,
        Some(_) => return Err(format!("`edit_mode` of {} is unknown", shown(tool))),
    };
    let cell = match fields.take(&["cell_id"])? {
        None | Some(Value::Null) => None,
        Some(Value::Text(cell)) => Some(cell),
        Some(Value::Number(cell)) => Some(cell.to_string()),
        Some(_) => return Err(format!("`cell_id` of {} is not a text", shown(tool))),
    };
    let code = match optional(tool, fields, &["cell_type"])?.as_deref() {
        None => None,
        Some("code") => Some(true),
        Some("markdown" | "raw") => Some(false),
        Some(_) => return Err(format!("`cell_type` of {} is unknown", shown(tool))),
    };
    let source = match (optional(tool, fields, &["new_source"])?, mode) {
        (Some(source), _) => source,
        (None, NotebookMode::Delete) => String::new(),
        (None, _) => return Err(format!("{} has no `new_source`", shown(tool))),
    };
    Ok(ToolCall::Notebook(NotebookEdit { path, cell, source, code, mode }))
}

fn apply_patch(tool: &str, fields: &mut Fields) -> Result<ToolCall, String> {
    let mut found: Option<String> = None;
    for (key, value) in &mut fields.0 {
        if !is_patch(value) {
            continue;
        }
        let Value::Text(text) = std::mem::replace(value, Value::Null) else { continue };
        if found.as_ref().is_some_and(|former| *former != text) {
            return Err(format!("{} holds two patches (the second in `{}`)", shown(tool), shown(key)));
        }
        found = Some(text);
    }
    if let Some(text) = found {
        return Ok(ToolCall::Patch { text });
    }
    match fields.take(PATCH)? {
        Some(Value::Text(text)) => Ok(ToolCall::Patch { text }),
        Some(Value::List(words)) => patch_argument(&texts(tool, words)?)
            .map(|text| ToolCall::Patch { text: text.to_owned() })
            .ok_or_else(|| format!("{} holds no patch", shown(tool))),
        _ => Err(format!("{} holds no patch", shown(tool))),
    }
}

fn shell(tool: &str, fields: &mut Fields) -> Result<ToolCall, String> {
    let folder = match fields.take(WORKDIR)? {
        Some(Value::Text(folder)) if !folder.is_empty() => folder,
        None | Some(Value::Text(_) | Value::Null) => return command(tool, fields),
        Some(_) => return Err(format!("`workdir` of {} is not a text", shown(tool))),
    };
    let command = match command(tool, fields)? {
        ToolCall::Shell { command } => command,
        ToolCall::Patch { text } => format!("apply_patch {}", quoted(&text)),
        other => return Ok(other),
    };
    Ok(ToolCall::Shell { command: format!("cd {}\n{command}", quoted(&folder)) })
}

fn command(tool: &str, fields: &mut Fields) -> Result<ToolCall, String> {
    match fields.take(COMMAND)? {
        Some(Value::Text(command)) => Ok(ToolCall::Shell { command }),
        Some(Value::List(words)) => Ok(arguments(&texts(tool, words)?)),
        Some(_) => Err(format!("`command` of {} is neither a text nor a list of texts", shown(tool))),
        None => Err(format!("{} has no `command`", shown(tool))),
    }
}

fn texts(tool: &str, words: Vec<Value>) -> Result<Vec<String>, String> {
    words
        .into_iter()
        .map(|word| match word {
            Value::Text(word) => Ok(word),
            _ => Err(format!("`command` of {} holds something that is not a text", shown(tool))),
        })
        .collect()
}

/// An argument vector: a patch handed to `apply_patch`, the text of a `sh -c`, or a quoted command.
fn arguments(words: &[String]) -> ToolCall {
    if let Some(text) = patch_argument(words) {
        return ToolCall::Patch { text: text.to_owned() };
    }
    if let [program, flag, script] = words
        && ["sh", "bash", "zsh", "dash"].contains(&base_name(program))
        && ["-c", "-lc"].contains(&flag.as_str())
    {
        return ToolCall::Shell { command: script.clone() };
    }
    ToolCall::Shell { command: words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ") }
}

fn patch_argument(words: &[String]) -> Option<&str> {
    match words {
        [program, text] if ["apply_patch", "applypatch"].contains(&base_name(program)) && patch::holds(text) => {
            Some(text)
        }
        _ => None,
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn path(tool: &str, fields: &mut Fields, names: &[&str]) -> Result<String, String> {
    let path = required(tool, fields, names)?;
    if path.is_empty() { Err(format!("`{}` of {} is empty", names[0], shown(tool))) } else { Ok(path) }
}

fn required(tool: &str, fields: &mut Fields, names: &[&str]) -> Result<String, String> {
    match fields.take(names)? {
        Some(Value::Text(text)) => Ok(text),
        Some(_) => Err(format!("`{}` of {} is not a text", names[0], shown(tool))),
        None => Err(format!("{} has no `{}`", shown(tool), names[0])),
    }
}

fn optional(tool: &str, fields: &mut Fields, names: &[&str]) -> Result<Option<String>, String> {
    if fields.has(names) { required(tool, fields, names).map(Some) } else { Ok(None) }
}

/// A name out of the payload, fit for one line of a reason.
fn shown(name: &str) -> String {
    if name.is_empty() {
        return "the call".to_owned();
    }
    name.chars().take(60).map(|letter| if letter.is_ascii_graphic() { letter } else { '?' }).collect()
}
