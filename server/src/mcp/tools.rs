//! The tools: what each takes, and what it says, as text within bounds.
//!
//! Whatever comes from a file is one line each, bounded, with secrets masked and nothing that hides or reorders (S19,
//! S20). An argument that is wrong is answered with what is wrong and what would be right.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobMatcher};
use rmcp::model::JsonObject;
use rules::plain::{PATH, WHY, plain};
use rules::secrets::Masking;
use serde_json::Value;
use symbols::{Bounds, Found, names};
use system::Folders;
use system::open::Root;

use super::hidden::Hidden;
use crate::indexes::Rooted;

/// Results where none are asked for, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;
/// Most bytes of an answer.
const LONGEST: usize = 64 << 10;
/// How long files are looked through.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most lines of one definition that are shown.
const BODY: usize = 400;
/// Most memory of a compiled pattern, in bytes.
const PATTERN: usize = 4 << 20;
/// Largest file of which a definition is shown, in bytes.
const LARGEST: u64 = 16 << 20;

/// One tool.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What it does, for whoever chooses a tool.
    pub about: &'static str,
    /// What it takes.
    pub arguments: &'static [Argument],
}

/// One argument of a tool.
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// Its type in JSON Schema.
    pub kind: &'static str,
    /// What it says.
    pub about: &'static str,
    /// Whether it must be there.
    pub is_required: bool,
}

const LIMIT: Argument =
    Argument { name: "limit", kind: "integer", about: "most results, 50 by default, at most 500", is_required: false };

/// The tools.
pub const TABLE: [Row; 4] = [
    Row {
        name: "find_symbol",
        about: "Where a class, function or method is defined: file, line, kind, and on request its source. Takes a name \
                as it is written (`Cart`, `Cart.total`, `shop.cart.Cart`); suggests similar names where there is none.",
        arguments: &[
            Argument {
                name: "name",
                kind: "string",
                about: "the name, dotted as far as it is known",
                is_required: true,
            },
            Argument {
                name: "include_body",
                kind: "boolean",
                about: "also give the source of what is found",
                is_required: false,
            },
            LIMIT,
        ],
    },
    Row {
        name: "symbols_overview",
        about: "What a file defines, or the files of a folder: classes, functions and methods with their lines.",
        arguments: &[Argument {
            name: "path",
            kind: "string",
            about: "a file or folder, relative to the project's root",
            is_required: true,
        }],
    },
    Row {
        name: "find_references",
        about: "Where a name is defined, imported, called or used, with the line. By name, scope and import: a method is \
                found on whatever it is called.",
        arguments: &[
            Argument {
                name: "name",
                kind: "string",
                about: "the name, dotted as far as it is known",
                is_required: true,
            },
            LIMIT,
        ],
    },
    Row {
        name: "search_text",
        about: "Lines of the project's files that match a regular expression. For what is no name: texts, comments, \
                settings.",
        arguments: &[
            Argument {
                name: "pattern",
                kind: "string",
                about: "a regular expression (Rust's syntax)",
                is_required: true,
            },
            Argument {
                name: "glob",
                kind: "string",
                about: "only files whose path matches, such as `src/**/*.py`",
                is_required: false,
            },
            LIMIT,
        ],
    },
];

/// Answers for one root.
pub struct Desk {
    rooted: Arc<Rooted>,
    folders: Option<Folders>,
    hidden: Hidden,
}

impl Desk {
    /// Of this root.
    pub fn new(rooted: Arc<Rooted>, folders: Option<Folders>) -> Desk {
        let hidden = Hidden::new(rooted.index.root(), folders.as_ref().map(|folders| folders.home.as_path()));
        Desk { rooted, folders, hidden }
    }

    /// Fills the index.
    pub fn fill(&self) {
        self.rooted.fill(self.folders.as_ref(), None, &|_| {});
    }

    /// What a tool says.
    ///
    /// # Errors
    /// What is wrong with the call.
    pub fn answer(&self, tool: &str, arguments: &JsonObject) -> Result<String, String> {
        let row = TABLE.iter().find(|row| row.name == tool).ok_or_else(|| {
            format!("there is no tool {}; there are {}", plain(tool, PATH), TABLE.map(|row| row.name).join(", "))
        })?;
        check(row, arguments)?;
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let limit = arguments.get("limit").and_then(Value::as_u64).map_or(USUAL, |limit| limit as usize).clamp(1, MOST);
        // The first look may still be under way: what there is by then is not enough to say that there is nothing.
        self.rooted.wait_until_filled();
        self.rooted.look(self.folders.as_ref());
        match row.name {
            "find_symbol" => {
                let body = arguments.get("include_body").and_then(Value::as_bool).unwrap_or(false);
                self.find(text("name"), body, limit)
            }
            "symbols_overview" => self.overview(text("path")),
            "find_references" => self.references(text("name"), limit),
            _ => self.search(text("pattern"), arguments.get("glob").and_then(Value::as_str), limit),
        }
    }

    fn find(&self, name: &str, body: bool, limit: usize) -> Result<String, String> {
        let wanted = names::parts(name);
        if wanted.is_empty() || !wanted.iter().all(|part| names::is_identifier(part)) {
            return Err(format!("{} is no name; find_symbol takes one such as `Cart.total`", shown(name)));
        }
        let index = &self.rooted.index;
        let mut found = self.visible(index.find(name, MOST));
        let mut said = Said::default();
        if found.is_empty() {
            found = self.visible(index.search(name, limit));
            if found.is_empty() {
                return Ok(format!("Nothing is called {}, and nothing is called like it.", shown(name)));
            }
            said.line(&format!("Nothing is called {}. Like it:", shown(name)));
        }
        let more = found.len().saturating_sub(limit);
        for found in found.iter().take(limit) {
            said.line(&describe(found));
            if body {
                self.body(found, &mut said);
            }
        }
        said.more(more);
        Ok(said.text)
    }

    fn body(&self, found: &Found, said: &mut Said) {
        let read = Root::open(self.rooted.index.root()).and_then(|root| root.read(Path::new(&*found.path), LARGEST));
        let text = read.ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some((before, body)) = text.as_ref().and_then(|text| {
            let start = text.get(..found.span.start)?.rfind('\n').map_or(0, |at| at + 1);
            Some((text.get(..start)?, text.get(start..found.span.end)?))
        }) else {
            return said.line("  (the file is another by now)");
        };
        let first = before.matches('\n').count() + 1;
        let mut masking = Masking::new(&[]);
        for (number, line) in body.lines().enumerate() {
            if number == BODY {
                return said.line(&format!("  ... {} more lines", body.lines().count() - BODY));
            }
            said.line(&format!("  {:>5}  {}", first + number, quoted(&mut masking, line)));
        }
    }

    fn overview(&self, path: &str) -> Result<String, String> {
        let index = &self.rooted.index;
        let path = path.trim_start_matches("./").trim_end_matches('/');
        let mut said = Said::default();
        if let Some(found) = index.outline(path).filter(|_| !self.hidden.hides(path)) {
            for found in &found {
                let depth = found.name.matches('.').count();
                said.line(&format!(
                    "{}{} {} {}",
                    "  ".repeat(depth),
                    found.line,
                    found.kind.name(),
                    shown(found.short())
                ));
            }
            if found.is_empty() {
                said.line("Nothing is defined there.");
            }
            return Ok(said.text);
        }
        let below = |file: &str| {
            path.is_empty() || path == "." || file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        };
        let paths = index.paths();
        let files: Vec<_> = paths.iter().filter(|file| below(file) && !self.hidden.hides(file)).collect();
        if files.is_empty() {
            return Err(format!("{} is no source file or folder of this project", shown(path)));
        }
        for file in files {
            let found = index.outline(file).unwrap_or_default();
            let top = found.iter().filter(|found| !found.name.contains('.'));
            let top: Vec<String> = top.map(|found| format!("{} {}", found.kind.name(), shown(found.short()))).collect();
            said.line(&format!("{}: {}", shown(file), top.join(", ")));
            if said.is_full() {
                break;
            }
        }
        Ok(said.text)
    }

    fn references(&self, name: &str, limit: usize) -> Result<String, String> {
        let wanted = names::parts(name);
        if wanted.is_empty() || !wanted.iter().all(|part| names::is_identifier(part)) {
            return Err(format!("{} is no name; find_references takes one such as `Cart.total`", shown(name)));
        }
        let bounds = Bounds { deadline: Instant::now() + PATIENCE, places: MOST, stop: self.rooted.stopped() };
        let found = self.rooted.index.references(&wanted, &|_| None, bounds);
        let visible: Vec<_> = found.found.iter().filter(|one| !self.hidden.hides(&one.path)).collect();
        let mut said = Said::default();
        for one in visible.iter().take(limit) {
            let line = one.text.lines().nth(one.line as usize - 1).unwrap_or_default();
            let line = quoted(&mut Masking::new(&[]), line.trim());
            said.line(&format!("{}:{}: {}: {line}", shown(&one.path), one.line, one.role.name()));
        }
        said.more(visible.len().saturating_sub(limit));
        if found.is_partial {
            said.line("Not all files were looked through.");
        }
        if visible.is_empty() {
            said.line(&format!("{} is used nowhere.", shown(name)));
        }
        Ok(said.text)
    }

    fn search(&self, pattern: &str, glob: Option<&str>, limit: usize) -> Result<String, String> {
        let pattern = regex::RegexBuilder::new(pattern).size_limit(PATTERN).build();
        let pattern =
            pattern.map_err(|error| format!("the pattern cannot be used: {}", plain(&error.to_string(), WHY)))?;
        let glob: Option<GlobMatcher> = glob
            .map(|glob| GlobBuilder::new(glob).literal_separator(true).build().map(|glob| glob.compile_matcher()))
            .transpose()
            .map_err(|error| format!("the glob cannot be used: {}", plain(&error.to_string(), WHY)))?;
        let is_meant = |path: &str| glob.as_ref().is_none_or(|glob| glob.is_match(path)) && !self.hidden.hides(path);
        let bounds = Bounds { deadline: Instant::now() + PATIENCE, places: limit, stop: self.rooted.stopped() };
        let found = self.rooted.index.search_text(&pattern, &is_meant, bounds);
        let mut said = Said::default();
        for line in &found.found {
            let text = quoted(&mut Masking::new(&[]), &line.text);
            said.line(&format!("{}:{}: {text}", shown(&line.path), line.line));
        }
        if found.found.is_empty() {
            said.line("No line matches.");
        }
        if found.is_partial {
            said.line("There are more; ask for more with `limit`, or for less with `glob`.");
        }
        Ok(said.text)
    }

    fn visible(&self, mut found: Vec<Found>) -> Vec<Found> {
        found.retain(|found| !self.hidden.hides(&found.path));
        found
    }
}

/// An answer on its way, within its bound.
#[derive(Default)]
struct Said {
    text: String,
    is_cut: bool,
}

impl Said {
    fn line(&mut self, line: &str) {
        if self.text.len() + line.len() < LONGEST {
            let _ = writeln!(self.text, "{line}");
        } else if !self.is_cut {
            self.is_cut = true;
            let _ = writeln!(self.text, "... the answer is cut here; ask for less");
        }
    }

    fn more(&mut self, more: usize) {
        if more > 0 {
            self.line(&format!("... and {more} more; ask for them with `limit`"));
        }
    }

    fn is_full(&self) -> bool {
        self.is_cut
    }
}

/// Whether the arguments are those that a tool takes.
fn check(row: &Row, arguments: &JsonObject) -> Result<(), String> {
    for argument in row.arguments {
        let is_right = match (arguments.get(argument.name), argument.kind) {
            (None | Some(Value::Null), _) => !argument.is_required,
            (Some(value), "string") => value.is_string(),
            (Some(value), "boolean") => value.is_boolean(),
            (Some(value), _) => value.is_u64(),
        };
        if !is_right {
            return Err(format!("{} takes `{}`, a {}: {}", row.name, argument.name, argument.kind, argument.about));
        }
    }
    let unknown = arguments.keys().find(|name| !row.arguments.iter().any(|argument| argument.name == **name));
    match unknown {
        None => Ok(()),
        Some(name) => {
            let known: Vec<&str> = row.arguments.iter().map(|argument| argument.name).collect();
            Err(format!("{} takes no `{}`; it takes {}", row.name, plain(name, PATH), known.join(", ")))
        }
    }
}

fn describe(found: &Found) -> String {
    format!("{}:{} {} {}", shown(&found.path), found.line, found.kind.name(), shown(&found.name))
}

fn shown(text: &str) -> String {
    plain(text, PATH)
}

fn quoted(masking: &mut Masking<'_>, line: &str) -> String {
    plain(&masking.line(line, WHY), WHY)
}
