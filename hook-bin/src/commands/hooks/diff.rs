//! `ruleline hooks diff`: what differs between the last grant and the bytes of today.
//!
//! With `--json`: `{"version", "root", "standing", "says", "digest", "granted", "changes": [{"path", "how"}], "text"}`;
//! `text` is null where the private copy of what was granted is lost.

use std::fmt::Write as _;
use std::path::Path;

use hooks::compare::{Changed, Difference, differences, unified};
use hooks::standing::{Standing, sentence};
use hooks::{Grant, Snapshot, Store, Tree};
use rules::plain::{self, plain};
use serde_json::{Value, json};

use super::{Arguments, Place, Refusal, Said, json_head, no_hooks, shown, with};

/// Compares the hooks of the root that is meant with what was granted last.
pub fn diff(place: &Place, arguments: &Arguments) -> Result<Said, Refusal> {
    let root = place.root();
    let standing = Standing::read(&place.store, &root);
    let compared = match &standing {
        Standing::Refused { .. } | Standing::StoreLost { .. } => {
            return Err(sentence(&standing, &root).unwrap_or_default());
        }
        Standing::Absent => Err(no_hooks(&root)),
        Standing::NotReviewed { last: None, .. } => {
            let place = shown(&root);
            Err(format!(
                "the hooks in {place} were never trusted, so there is nothing to compare with; `ruleline hooks show` shows them\n"
            ))
        }
        Standing::NotReviewed { tree, last: Some(grant) } => {
            let former = former(&place.store, grant);
            let changes = differences(&grant.files, former.as_ref(), tree);
            Ok(Compared { grant, changes, text: former.map(|former| unified(&former, tree)), is_withdrawn: true })
        }
        Standing::Changed { grant, changes, tree } => {
            let text = match tree {
                Some(tree) => former(&place.store, grant).map(|former| unified(&former, tree)),
                None => Some(String::new()),
            };
            Ok(Compared { grant, changes: changes.clone(), text, is_withdrawn: false })
        }
        Standing::Trusted { grant } => {
            Ok(Compared { grant, changes: Vec::new(), text: Some(String::new()), is_withdrawn: false })
        }
    };
    let status = u8::from(compared.is_err());
    let text = || match &compared {
        Ok(compared) => compared.text(&root),
        Err(nothing) => nothing.clone(),
    };
    let value = || {
        let compared = compared.as_ref().ok();
        let changes: Vec<Value> = compared.iter().flat_map(|it| &it.changes).map(change).collect();
        let own = json!({
            "version": 1,
            "granted": compared.map(|it| it.grant.digest.hex()),
            "changes": changes,
            "text": compared.and_then(|it| it.text.clone()),
        });
        with(json_head(&root, &standing), own)
    };
    Ok(Said::in_form(arguments, status, text, value))
}

struct Compared<'a> {
    grant: &'a Grant,
    changes: Vec<Changed>,
    /// The unified diff; none without the private copy.
    text: Option<String>,
    /// Trust was taken back.
    is_withdrawn: bool,
}

/// The private copy of what was granted, where it still is.
fn former(store: &Store, grant: &Grant) -> Option<Tree> {
    Snapshot::open(store.state(), grant.digest).ok().map(|former| former.tree)
}

impl Compared<'_> {
    fn text(&self, root: &Path) -> String {
        let place = shown(root);
        let how = self.grant.how();
        if self.changes.is_empty() {
            let now = if self.is_withdrawn { ", and are not trusted any more" } else { "" };
            return format!("nothing differs: the hooks in {place} are what was trusted {how}{now}\n");
        }
        let mut text = format!("The hooks in {place} were trusted {how}. Since then:\n\n");
        text.push_str(&lines(&self.changes));
        match &self.text {
            Some(diff) if diff.is_empty() => {}
            Some(diff) => {
                let _ = write!(text, "\n{diff}");
            }
            None => text.push_str("\nThe copy of what was trusted is lost, so that no lines can be compared.\n"),
        }
        text
    }
}

/// One line for each change.
pub fn lines(changes: &[Changed]) -> String {
    changes.iter().fold(String::new(), |mut lines, change| {
        let _ = writeln!(lines, "  {}: {}", plain(&change.path, plain::PATH), change.how.word());
        lines
    })
}

/// A change as JSON.
pub fn change(change: &Changed) -> Value {
    let how = match change.how {
        Difference::Added => "added",
        Difference::Removed => "removed",
        Difference::Edited => "edited",
        Difference::LineEndings => "line-endings",
        Difference::Mode => "mode",
    };
    json!({"path": change.path, "how": how})
}
