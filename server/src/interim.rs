//! Stands in for parts of `rules` and `syntax`.
use std::sync::Arc;
use rules::{AddedLine, Change, Counting, Finding, Rulebook, Unchecked};

pub fn between(path: String, names: Vec<String>, before: Option<Arc<str>>, after: Option<Arc<str>>) -> Change {
    let text = after.unwrap_or_default();
    let old: std::collections::HashSet<&str> = before.as_deref().map(|b| b.lines().collect()).unwrap_or_default();
    let added = syntax::lines::lines(&text).enumerate().filter(|(_, l)| !old.contains(&text[l.span.clone()]))
        .map(|(n, l)| AddedLine { number: n as u32 + 1, span: l.span }).collect();
    Change { path, names, deleted: false, before, text: text.clone(), code: None, counting: Counting::File, added }
}
pub mod reason {
    use super::*;
    pub fn finding(book: &Rulebook, _: &Change, finding: &Finding) -> String { finding.rule.map_or_else(String::new, |r| format!("{}: {}", book.rules[r].id, finding.what)) }
    pub fn unchecked(book: &Rulebook, _: &Change, u: &Unchecked) -> String { u.rule.map_or_else(String::new, |r| format!("{}: {}", book.rules[r].id, u.why)) }
}
