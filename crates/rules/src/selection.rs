//! The rules of a text that may be about the files at hand, the others left out unread.
//!
//! A rule is left out only if its table is ordinary and its `paths` plainly name other files; whatever it says else is
//! then nobody's business but that of who shows problems. Where leaving out could change what is said of the rules that
//! stay, there is no selection.

use std::collections::HashSet;

use crate::glob::{self, fold};
use crate::ordinary::{Table, Tables};
use crate::rulebook::{MOST_RULES, Problems, Rule};
use crate::{ids, paths, reading};

/// About how many bytes a short rule has.
const SHORT_RULE: usize = 48;

/// The rules that stay.
pub(crate) struct Selected {
    pub rules: Vec<Rule>,
    /// Their numbers in the text, from 0.
    pub numbers: Vec<usize>,
    /// Their problems.
    pub problems: Problems,
}

/// Reads the rules that may be about a file with one of `names`. None where the whole text has to be read.
pub(crate) fn read(text: &str, names: &[String]) -> Option<Selected> {
    let names = Names::of(names);
    let mut tables = Tables::of(text)?;
    let mut table = Table::default();
    let mut problems = Problems::default();
    let (mut rules, mut numbers) = (Vec::new(), Vec::new());
    let mut left_out = Vec::with_capacity(text.len() / SHORT_RULE);
    while tables.next(&mut table)? {
        let number = rules.len() + left_out.len();
        (number < MOST_RULES).then_some(())?;
        if let Some(id) = id_of_others(&table, &names) {
            left_out.push(id);
        } else {
            rules.push(reading::rule(text, &table.node(), number, rules.len(), &mut problems));
            numbers.push(number);
        }
    }
    (!numbers.is_empty() || !left_out.is_empty()).then_some(())?;
    ids::collisions(&rules, &mut problems);
    if !left_out.is_empty() && !rules.is_empty() {
        let colliding: HashSet<String> = rules.iter().flat_map(|rule| ids::colliding(&rule.id)).collect();
        (!left_out.iter().any(|id| colliding.contains(&ids::name(id)))).then_some(())?;
    }
    Some(Selected { rules, numbers, problems })
}

/// The id of a rule that is about none of the files; none when it may be, or its table says too little to tell.
fn id_of_others<'t>(table: &Table<'t>, names: &Names) -> Option<&'t str> {
    let id = table.text("id").filter(|id| !id.trim().is_empty())?;
    let mut any = false;
    for glob in table.texts("paths")? {
        any = true;
        let is_usable = !glob.trim_matches(['!', ' ']).is_empty() && paths::wrong(glob).is_none();
        (is_usable && (glob.starts_with('!') || !names.may_match(glob))).then_some(())?;
    }
    any.then_some(id)
}

/// The names of the files, as they are and in lower case.
struct Names {
    names: Vec<String>,
    /// The bytes that names begin with, in either case.
    firsts: [bool; 256],
}

impl Names {
    fn of(names: &[String]) -> Names {
        let folded = names.iter().filter(|name| !name.is_ascii()).map(|name| fold(name));
        let names: Vec<String> = names.iter().cloned().chain(folded).collect();
        let mut firsts = [false; 256];
        for first in names.iter().filter_map(|name| name.bytes().next()) {
            firsts[usize::from(first.to_ascii_lowercase())] = true;
            firsts[usize::from(first.to_ascii_uppercase())] = true;
        }
        Names { names, firsts }
    }

    /// Whether a glob that includes may match one of the names, by what stands before its first wildcard and after its
    /// last, whatever the case.
    fn may_match(&self, glob: &str) -> bool {
        let Some((start, end)) = glob::ends(glob).filter(|(start, end)| start.is_ascii() && end.is_ascii()) else {
            return true;
        };
        // Most globs are about another folder than any of the names.
        if start.bytes().next().is_some_and(|first| !self.firsts[usize::from(first)]) {
            return false;
        }
        let fits = |part: Option<&[u8]>, end: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(end.as_bytes()));
        self.names.iter().map(String::as_bytes).any(|name| {
            fits(name.get(..start.len()), start)
                && fits(name.len().checked_sub(end.len()).and_then(|from| name.get(from..)), end)
        })
    }
}
