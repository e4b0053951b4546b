//! `forbid_imports`: modules that may not be imported, by a statement or by a constant look-up.

use std::collections::HashSet;

use syntax::{Call, Import, Literal, Span};

use crate::Change;
use crate::case::{Case, Report};
use crate::checks::unparsed;
use crate::names::NameGlob;
use crate::verdict::Check;

/// Calls whose first argument is a module.
const BY_CALL: [&str; 3] = ["__import__", "importlib.import_module", "importlib.__import__"];

pub(crate) fn check(case: &mut Case, report: &mut Report) {
    let specs = &report.rule.checks.forbid_imports;
    if specs.is_empty() || case.change.added.is_empty() {
        return;
    }
    let Some(language) = case.language() else { return };
    if !case.may_name(specs) {
        return;
    }
    let facts = match case.facts(language) {
        Ok(facts) => facts,
        Err(why) => return report.unchecked(Check::ForbidImports, format!("the imports of the file: {why}")),
    };
    let change = case.change;
    let mut hits: Vec<(usize, String, u32, Span)> = Vec::new();
    for import in &facts.imports {
        if let (Some((item, name)), Some((line, span))) = (forbidden(specs, &import.name), touched(change, import)) {
            hits.push((item, name.to_owned(), line, span));
        }
    }
    for call in &facts.calls {
        let Some((item, name)) = module_of(call).and_then(|module| forbidden(specs, module)) else { continue };
        if let Some(line) = change.added_in(&call.span).first() {
            let on_line = line.span.contains(&call.callee.start);
            let span = if on_line { call.callee.clone() } else { line.span.clone() };
            hits.push((item, name.to_owned(), line.number, span));
        }
    }
    hits.sort_by_key(|(_, _, line, span)| (*line, span.start));
    hits.dedup_by(|left, right| (left.2, &left.3) == (right.2, &right.3));
    for (item, name, line, span) in &hits {
        let what = format!("imports {name}");
        if !report.found(case, Check::ForbidImports, *item, *line, span.clone(), what) {
            break;
        }
    }
    let hits: HashSet<u32> = hits.into_iter().map(|(_, _, line, _)| line).collect();
    let unparsed = unparsed::parts(case, &facts).into_iter();
    let is_import = |part: &unparsed::Part| case.code()[part.span.clone()].contains("import");
    let lines = unparsed.filter(is_import).map(|part| part.line).filter(|line| !hits.contains(line)).collect();
    if let Some(why) = unparsed::describe(case, lines) {
        report.unchecked(Check::ForbidImports, why);
    }
}

/// The spec that forbids a module or a package around it, and the part of the name that it forbids.
fn forbidden<'n>(specs: &[NameGlob], name: &'n str) -> Option<(usize, &'n str)> {
    if name.starts_with('.') {
        return None;
    }
    let name = name.strip_suffix(".*").unwrap_or(name);
    let ends = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
    let packages: Vec<&str> = ends.map(|end| &name[..end]).collect();
    packages
        .into_iter()
        .find_map(|package| specs.iter().position(|spec| spec.matches(package)).map(|item| (item, package)))
}

fn module_of(call: &Call) -> Option<&str> {
    let by_call = call.names.iter().any(|name| BY_CALL.contains(&name.as_str()));
    match call.arguments.first().filter(|_| by_call)?.value.as_ref()? {
        Literal::Str(module) => Some(module),
        _ => None,
    }
}

/// An import counts when the line of its name, or the one its statement starts on, is added.
fn touched(change: &Change, import: &Import) -> Option<(u32, Span)> {
    let start = import.span.start..import.span.start + 1;
    let line = change.added_in(&import.name_span).first().or_else(|| change.added_in(&start).first())?;
    let on_line = line.span.contains(&import.name_span.start);
    let part = import.span.start.max(line.span.start)..import.span.end.min(line.span.end);
    Some((line.number, if on_line { import.name_span.clone() } else { part }))
}
