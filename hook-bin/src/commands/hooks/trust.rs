//! `ruleline hooks trust`: a person grants exactly the bytes that are there.
//!
//! What is shown, and what its digest is, comes from one read; before the grant all is read again, and other bytes are
//! refused. The person types the digest that the terminal shows; nothing else is an answer.

use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use hooks::review::review;
use hooks::standing::{Standing, sentence};
use hooks::{Grant, Tree, TreeDigest};
use rules::plain::{self, plain};

use super::super::many;
use super::list::problem_lines;
use super::person::Person;
use super::{Place, Refusal, Said, no_hooks, shown};

/// Most remarks that are shown with the question.
const REMARKS: usize = 20;
/// Fewest hex digits of an expected digest.
const SHORTEST: usize = 12;

/// Asks, and grants.
pub fn trust(place: &Place, expected: Option<&str>) -> Result<Said, Refusal> {
    let expected = expected.map(prefix).transpose()?;
    let mut person = Person::find()?;
    let root = place.root();
    let standing = Standing::read(&place.store, &root);
    let (tree, former) = match &standing {
        Standing::Absent => return Ok(Said::nothing(no_hooks(&root))),
        Standing::Refused { .. } | Standing::StoreLost { .. } | Standing::Changed { tree: None, .. } => {
            return Err(sentence(&standing, &root).unwrap_or_default());
        }
        Standing::Trusted { grant } => {
            is_expected(expected.as_deref(), grant.digest)?;
            let place = shown(&root);
            return Ok(Said::done(format!("the hooks in {place} are trusted already, {}\n", grant.how())));
        }
        Standing::NotReviewed { tree, last } => (tree, last.as_ref()),
        Standing::Changed { grant, tree: Some(tree), .. } => (tree, Some(grant)),
    };
    is_expected(expected.as_deref(), tree.digest)?;
    let short = tree.digest.short();
    let answer = person.ask(&summary(&root, tree, former), &format!("Type {short} to trust exactly these bytes: "))?;
    if !answer.is_some_and(|answer| answer.eq_ignore_ascii_case(&short)) {
        return Ok(Said::nothing(format!("nothing was trusted: {short} was not typed\n")));
    }
    // Between the question and its answer anybody may have written.
    let again = Tree::read(&root).map_err(|refused| format!("nothing was trusted: {refused}"))?;
    let again = again.ok_or_else(|| "nothing was trusted: the hooks are gone".to_owned())?;
    let granted = place.store.grant(&root, &again, tree.digest, &person.by, SystemTime::now());
    let grant = granted.map_err(|error| format!("nothing was trusted: {error}"))?;
    let is_running = matches!(standing, Standing::Changed { .. });
    Ok(Said::done(done(&root, &grant, &again, is_running)))
}

/// What a person should know before the question.
fn summary(root: &Path, tree: &Tree, former: Option<&Grant>) -> String {
    let mut text =
        format!("Hooks in {}: {}, {}\n", shown(root), many(tree.files.len(), "file"), many(tree.size(), "byte"));
    for file in &tree.files {
        let bit = if file.executable { ", executable" } else { "" };
        let _ = writeln!(text, "  {} ({}{bit})", plain(&file.path, plain::PATH), many(file.bytes.len(), "byte"));
    }
    let remarks = review(root, tree).remarks;
    if !remarks.is_empty() {
        let _ = writeln!(text, "{}:", many(remarks.len(), "remark"));
    }
    for remark in remarks.iter().take(REMARKS) {
        let line = remark.line.map(|line| format!(":{line}")).unwrap_or_default();
        let _ = writeln!(text, "  {}{line}: {}", plain(&remark.path, plain::PATH), plain(&remark.text, plain::WHY));
    }
    if remarks.len() > REMARKS {
        let _ = writeln!(text, "  and {} more", remarks.len() - REMARKS);
    }
    text.push_str("`ruleline hooks show` shows every file whole");
    if let Some(former) = former {
        let _ = write!(text, ", `ruleline hooks diff` what differs from what was trusted {}", former.how());
    }
    text.push_str(".\nOnce trusted they run as you, with all that you may do, when an agent works here.\n");
    text
}

fn done(root: &Path, grant: &Grant, tree: &Tree, is_running: bool) -> String {
    let files = many(grant.files.len(), "file");
    let mut text = format!("Trusted: {files} of the hooks in {}, digest {}.\n", shown(root), grant.digest.short());
    text.push_str(if is_running {
        "They run from the next event on in sessions that began with hooks of this project, and in every new one.\n"
    } else {
        "They run in sessions that begin from now on.\n"
    });
    if let Some(manifest) = guard::hooks::manifest(tree) {
        text.push_str(&problem_lines(&manifest, ""));
    }
    text
}

/// The digits of an expected digest, in lower case.
fn prefix(expected: &str) -> Result<String, Refusal> {
    let hex = expected.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !hex || !(SHORTEST..=64).contains(&expected.len()) {
        return Err(format!("--expect-digest takes {SHORTEST} to 64 hex digits, as `ruleline hooks show` prints them"));
    }
    Ok(expected.to_ascii_lowercase())
}

fn is_expected(expected: Option<&str>, digest: TreeDigest) -> Result<(), Refusal> {
    match expected {
        Some(expected) if !digest.hex().starts_with(expected) => {
            let expected = &expected[..SHORTEST];
            let short = digest.short();
            Err(format!("nothing was trusted: the hooks have digest {short}, not {expected}; review them again"))
        }
        _ => Ok(()),
    }
}
