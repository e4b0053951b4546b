//! Ids that cannot be told apart: rules are also known by a name in which all but word characters are `_`.

use std::collections::HashMap;

use crate::rulebook::{Problems, Rule, Severity};

/// Names that stand for something else beside a rule's findings.
const RESERVED: [&str; 8] =
    ["path", "added_lines", "result_text", "change_text", "instructions", "no_instructions", "edit", "edit_verdict"];

/// What is put behind a rule's name for its parts.
const PARTS: [&str; 4] = ["_lines", "_trigger", "_judged", "_answer"];

/// The name of a rule with this id.
pub(crate) fn name(id: &str) -> String {
    let name: String = id.chars().map(|it| if it == '_' || it.is_alphanumeric() { it } else { '_' }).collect();
    if name.is_empty() || name.starts_with(char::is_numeric) { format!("rule_{name}") } else { name }
}

/// Every name that collides with that of a rule with this id.
pub(crate) fn colliding(id: &str) -> impl Iterator<Item = String> {
    let name = name(id);
    let wholes: Vec<String> = PARTS.iter().filter_map(|part| name.strip_suffix(part).map(str::to_owned)).collect();
    let parts: Vec<String> = PARTS.iter().map(|part| name.clone() + part).collect();
    std::iter::once(name).chain(wholes).chain(parts)
}

/// Records each id that collides with another or with a reserved name.
pub(crate) fn collisions(rules: &[Rule], problems: &mut Problems) {
    let mut first: HashMap<String, usize> = HashMap::with_capacity(rules.len());
    let mut add = |index: usize, message: String| {
        problems.add(Severity::Error, Some(index), rules[index].id_span.clone(), message);
    };
    let both = |left: usize, right: usize, add: &mut dyn FnMut(usize, String)| {
        for (this, that) in [(left, right), (right, left)] {
            let other = crate::plain::plain(&rules[that].id, crate::plain::ID);
            add(this, format!("the id cannot be told apart from `{other}`; give the rules different names"));
        }
    };
    for (index, rule) in rules.iter().enumerate() {
        let name = name(&rule.id);
        if RESERVED.contains(&&*name) {
            add(index, format!("the id `{name}` stands for something else in records; choose another"));
        }
        match first.get(&name) {
            Some(earlier) => both(*earlier, index, &mut add),
            None => {
                first.insert(name, index);
            }
        }
    }
    for (name, index) in &first {
        for part in PARTS {
            if let Some(other) = name.strip_suffix(part).and_then(|whole| first.get(whole)) {
                both(*other, *index, &mut add);
            }
        }
    }
}
