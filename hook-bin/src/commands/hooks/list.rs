//! `ruleline hooks list`: whose hooks there are, where they stand, and what those that run say.
//!
//! A manifest is read only where a person trusted it. With `--json`:
//! ```json
//! {
//!   "version": 1,
//!   "user": { "folder", "says", "entries": [..], "problems": [..] },
//!   "projects": [{ "root", "standing", "says", "digest", "files", "granted": { "digest", "how" }, "changes",
//!                 "lost", "entries": [..], "problems": [..] }],
//!   "others": [{ "root", "path", "tool", "hooks" }]
//! }
//! ```
//! An entry is `{ "event", "matcher", "kind", "name", "timeout", "on_error" }`, a problem `{ "line", "column", "severity",
//! "message" }`; paths are as they are, all other text is escaped.

use std::fmt::Write as _;
use std::path::PathBuf;

use hooks::compare::Changed;
use hooks::foreign::{Foreign, hooks_of_others};
use hooks::manifest::{Entry, Manifest, OnError, Severity, USUAL_TIMEOUT};
use hooks::standing::{Standing, sentence};
use hooks::{Action, MANIFEST, Snapshot, Tree};
use rules::plain::{self, plain};
use serde_json::{Value, json};

use super::super::many;
use super::{Arguments, Place, Said, digest, json_head, shown, with, workspaces};

/// Shown where an entry could have a matcher and has none.
const EVERY_TOOL: &str = "(every tool)";

/// Lists what there is from here upwards.
pub fn list(place: &Place, arguments: &Arguments) -> Said {
    let listing = Listing::read(place);
    Said::in_form(arguments, 0, || listing.text(), || listing.json())
}

struct Listing {
    from: PathBuf,
    user: OfUser,
    projects: Vec<OfProject>,
    others: Vec<(PathBuf, Foreign)>,
}

/// The user's own hooks.
struct OfUser {
    folder: PathBuf,
    /// What the manifest says; none when there is none.
    manifest: Option<Manifest>,
    /// Why they do not run.
    wrong: Option<String>,
}

struct OfProject {
    root: PathBuf,
    standing: Standing,
    /// What the granted manifest says.
    manifest: Option<Manifest>,
    /// Why what was granted cannot run.
    wrong: Option<String>,
}

impl Listing {
    fn read(place: &Place) -> Listing {
        let workspaces = workspaces(&place.folder);
        let projects: Vec<OfProject> =
            place.roots().into_iter().map(|root| OfProject::read(place, root)).filter(|it| !it.is_absent()).collect();
        let mut roots = workspaces.clone();
        roots.extend(projects.iter().map(|project| project.root.clone()));
        roots.push(place.folder.clone());
        roots.sort_by_key(|root| (root.components().count(), root.clone()));
        roots.dedup();
        // An agent's folder in the home is the user's own.
        roots.retain(|root| *root != place.folders.home);
        let of_root =
            |root: &PathBuf| hooks_of_others(root).into_iter().map(|found| (root.clone(), found)).collect::<Vec<_>>();
        Listing {
            from: place.folder.clone(),
            user: OfUser::read(place, &workspaces),
            projects,
            others: roots.iter().flat_map(of_root).collect(),
        }
    }

    fn text(&self) -> String {
        let mut text = self.user.text();
        if self.projects.is_empty() {
            let _ = writeln!(text, "\nHooks of projects: none in {} and above", shown(&self.from));
        }
        for project in &self.projects {
            let _ = write!(text, "\n{}", project.text());
        }
        if !self.others.is_empty() {
            text.push_str("\nHooks of other tools\n");
            for (root, found) in &self.others {
                let hooks = found.hooks.map_or_else(|| "perhaps hooks".to_owned(), |count| many(count, "hook"));
                let _ = writeln!(text, "  {}: {hooks} of {}", shown(&root.join(&found.path)), found.tool);
            }
            text.push_str("  Ruleline cannot gate these: whether they run is up to the tool they belong to.\n");
        }
        text
    }

    fn json(&self) -> Value {
        let other = |(root, found): &(PathBuf, Foreign)| json!({"root": root.to_string_lossy(), "path": found.path, "tool": found.tool, "hooks": found.hooks});
        json!({
            "version": 1,
            "user": self.user.json(),
            "projects": self.projects.iter().map(OfProject::json).collect::<Vec<_>>(),
            "others": self.others.iter().map(other).collect::<Vec<_>>(),
        })
    }
}

impl OfUser {
    fn read(place: &Place, workspaces: &[PathBuf]) -> OfUser {
        let folder = place.folders.user.join("hooks");
        if folder.symlink_metadata().is_err() {
            return OfUser { folder, manifest: None, wrong: None };
        }
        let tree = match place.folders.admit(&place.folders.user, workspaces) {
            Ok(()) => Tree::read_folder(&folder).map_err(|refused| refused.to_string()),
            Err(refused) => Err(plain(&refused.to_string(), plain::WHY)),
        };
        match tree {
            Ok(tree) => OfUser { manifest: tree.as_ref().and_then(guard::hooks::manifest), folder, wrong: None },
            Err(why) => OfUser { folder, manifest: None, wrong: Some(why) },
        }
    }

    fn text(&self) -> String {
        let folder = shown(&self.folder);
        match (&self.manifest, &self.wrong) {
            (_, Some(why)) => format!("Hooks of the user: none of them runs: {why}\n"),
            (None, None) => format!("Hooks of the user: none in {folder}\n"),
            (Some(manifest), None) => {
                let what = "they run without a question, for you put them there";
                format!("Hooks of the user in {folder}\n  {what}\n{}", manifest_text(manifest))
            }
        }
    }

    fn json(&self) -> Value {
        with(
            json!({"folder": self.folder.to_string_lossy(), "says": self.wrong}),
            manifest_json(self.manifest.as_ref()),
        )
    }
}

impl OfProject {
    fn read(place: &Place, root: PathBuf) -> OfProject {
        let standing = Standing::read(&place.store, &root);
        let (manifest, wrong) = match &standing {
            Standing::Trusted { grant } => match Snapshot::open(place.store.state(), grant.digest) {
                Ok(snapshot) => (guard::hooks::manifest(&snapshot.tree), None),
                Err(lost) => (None, Some(lost.to_string())),
            },
            _ => (None, None),
        };
        OfProject { root, standing, manifest, wrong }
    }

    /// A grant that was taken back, and no hooks.
    fn is_absent(&self) -> bool {
        matches!(self.standing, Standing::Absent)
    }

    fn changes(&self) -> &[Changed] {
        match &self.standing {
            Standing::Changed { changes, .. } => changes,
            _ => &[],
        }
    }

    fn files(&self) -> Option<usize> {
        match &self.standing {
            Standing::Absent | Standing::Refused { .. } | Standing::Changed { tree: None, .. } => None,
            Standing::NotReviewed { tree, .. } | Standing::Changed { tree: Some(tree), .. } => Some(tree.files.len()),
            Standing::Trusted { grant } => Some(grant.files.len()),
            Standing::StoreLost { files, .. } => *files,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("Hooks of the project {}\n", shown(&self.root));
        match &self.standing {
            Standing::Trusted { grant } => {
                let files = many(grant.files.len(), "file");
                let _ = writeln!(text, "  trusted {}", grant.how());
                let _ = writeln!(text, "  {files}, digest {}", grant.digest.short());
            }
            standing => {
                let _ = writeln!(text, "  {}", sentence(standing, &self.root).unwrap_or_default());
                if let Some(digest) = digest(standing) {
                    let _ = writeln!(text, "  digest {}", digest.short());
                }
            }
        }
        text.push_str(&super::diff::lines(self.changes()));
        if let Some(why) = &self.wrong {
            let _ = writeln!(text, "  none of them runs: {why}");
        }
        if let Some(manifest) = &self.manifest {
            text.push_str(&manifest_text(manifest));
        } else if matches!(self.standing, Standing::Trusted { .. }) && self.wrong.is_none() {
            let _ = writeln!(text, "  no {MANIFEST}, so there is nothing to run");
        }
        text
    }

    fn json(&self) -> Value {
        let grant = self.standing.grant();
        let own = json!({
            "files": self.files(),
            "granted": grant.map(|grant| json!({"digest": grant.digest.hex(), "how": grant.how()})),
            "changes": self.changes().iter().map(super::diff::change).collect::<Vec<_>>(),
            "lost": self.wrong,
        });
        with(with(json_head(&self.root, &self.standing), own), manifest_json(self.manifest.as_ref()))
    }
}

/// The entries and problems of a manifest that somebody stands for, indented.
fn manifest_text(manifest: &Manifest) -> String {
    let rows: Vec<[String; 4]> = manifest.entries.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [event, matcher, what, how] in &rows {
        let line = format!("    {event:0$}  {matcher:1$}  {what:2$}  {how}", widths[0], widths[1], widths[2]);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if rows.is_empty() {
        text.push_str("    nothing to run\n");
    }
    text + &problem_lines(manifest, "  ")
}

/// What is wrong in a manifest, a line each.
pub fn problem_lines(manifest: &Manifest, indent: &str) -> String {
    manifest.problems.iter().fold(String::new(), |mut lines, it| {
        let severity = severity(it.severity);
        let _ = writeln!(lines, "{indent}{MANIFEST}:{}:{}: {severity}: {}", it.line, it.column, it.message);
        lines
    })
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Event, matcher, what runs, and how where that is not the usual.
fn row(entry: &Entry) -> [String; 4] {
    let matcher = match &entry.matcher {
        Some(matcher) => plain(matcher.pattern(), plain::ID),
        None if hooks::manifest::is_about_tools(entry.event) => EVERY_TOOL.to_owned(),
        None => String::new(),
    };
    let timeout = (entry.timeout != USUAL_TIMEOUT).then(|| format!("{} s", entry.timeout.as_secs_f64()));
    let on_error = entry.on_error.map(|on_error| format!("on error: {}", on_error_word(on_error)));
    let how = [timeout, on_error].into_iter().flatten().collect::<Vec<_>>().join(", ");
    [entry.event.to_owned(), matcher, what(&entry.action), how]
}

fn what(action: &Action) -> String {
    match action {
        Action::Script { file, .. } => plain(file, plain::ID),
        Action::Builtin(_) => format!("{} (builtin)", action.name()),
        Action::Command(words) => plain(&words.join(" "), plain::LINE),
    }
}

fn on_error_word(on_error: OnError) -> &'static str {
    match on_error {
        OnError::Allow => "allow",
        OnError::Ask => "ask",
        OnError::Deny => "deny",
    }
}

/// `entries` and `problems`, empty without a manifest.
fn manifest_json(manifest: Option<&Manifest>) -> Value {
    let entry = |entry: &Entry| {
        let kind = match &entry.action {
            Action::Script { .. } => "script",
            Action::Builtin(_) => "builtin",
            Action::Command(_) => "command",
        };
        json!({
            "event": entry.event,
            "matcher": entry.matcher.as_ref().map(|matcher| plain(matcher.pattern(), plain::WHY)),
            "kind": kind,
            "name": entry.action.name(),
            "timeout": entry.timeout.as_secs_f64(),
            "on_error": entry.on_error.map(on_error_word),
        })
    };
    let problem = |problem: &hooks::manifest::Problem| {
        json!({
            "line": problem.line, "column": problem.column,
            "severity": severity(problem.severity), "message": problem.message,
        })
    };
    json!({
        "entries": manifest.iter().flat_map(|it| &it.entries).map(entry).collect::<Vec<_>>(),
        "problems": manifest.iter().flat_map(|it| &it.problems).map(problem).collect::<Vec<_>>(),
    })
}
