//! Stands in for parts of `rules` and `syntax`.
use rules::{Change, Finding, Rulebook, Unchecked};

pub mod reason {
    use super::{Change, Finding, Rulebook, Unchecked};
    pub fn finding(book: &Rulebook, _: &Change, finding: &Finding) -> String {
        finding.rule.map_or_else(String::new, |r| format!("{}: {}", book.rules[r].id, finding.what))
    }
    pub fn unchecked(book: &Rulebook, _: &Change, u: &Unchecked) -> String {
        u.rule.map_or_else(String::new, |r| format!("{}: {}", book.rules[r].id, u.why))
    }
}
