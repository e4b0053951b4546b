//! `require_def`: functions that a file must have, and that must do something.
//!
//! The outermost definition of a name decides; among several as far out, all must do something.

use syntax::{Definition, DefinitionKind, Facts};

use crate::case::{Case, Report};
use crate::verdict::Check;

/// So many definitions of one name that do nothing are named.
const MOST_STUBS: usize = 100;

pub(crate) fn check(case: &mut Case, report: &mut Report) {
    let rule = report.rule;
    if rule.checks.require_def.is_empty() {
        return;
    }
    let Some(language) = case.language() else { return };
    if !case.change.result_known() {
        return report.unchecked(Check::RequireDef, "the file after this edit is not known".into());
    }
    let facts = match case.facts(language) {
        Ok(facts) => facts,
        Err(why) => return report.unchecked(Check::RequireDef, format!("the definitions of the file: {why}")),
    };
    for (item, name) in rule.checks.require_def.iter().enumerate() {
        let outermost = outermost(&facts, name);
        let stubs = outermost.iter().filter(|definition| !definition.does_something);
        for definition in stubs.take(MOST_STUBS) {
            let is_broken =
                facts.errors.iter().any(|error| error.start < definition.span.end && definition.span.start < error.end);
            let line = case.number_at(definition.name_span.start);
            if is_broken {
                report.unchecked(Check::RequireDef, format!("whether {name}() does something: it does not parse"));
            } else {
                let what = format!("{name}() does nothing");
                report.stated(Check::RequireDef, item, line, Some(definition.name_span.clone()), what);
            }
        }
        if outermost.is_empty() && facts.errors.is_empty() {
            report.stated(Check::RequireDef, item, 0, None, format!("no function {name}()"));
        } else if outermost.is_empty() {
            let line = case.change.place(case.number_at(facts.errors[0].start));
            report.unchecked(Check::RequireDef, format!("no function {name}() is found, and {line} does not parse"));
        }
    }
}

/// The functions of this name (`Class.method`, or bare for any) that the fewest others enclose.
fn outermost<'f>(facts: &'f Facts, name: &str) -> Vec<&'f Definition> {
    let is_named = |definition: &&Definition| {
        let rest = definition.name.strip_suffix(name);
        definition.kind != DefinitionKind::Class && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let depth = facts.definitions.iter().filter(is_named).map(|definition| definition.depth).min();
    facts.definitions.iter().filter(is_named).filter(|definition| Some(definition.depth) == depth).collect()
}
