//! The result for people: an excerpt for each finding, then what could not be checked, then a line of counts.
//!
//! All that comes from a repository passes [`plain`] or an [`Excerpt`] first, so that nothing in it steers a terminal
//! (S19, S22).

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Origin as At, Renderer, Snippet};
use rules::plain::{self, plain};
use rules::{Effect, Severity};

use super::super::many;
use super::excerpt::Excerpt;
use super::report::{Found, Open, Origin, Problem, Range, Report, Summary};

/// The most files that are named for one thing that could not be checked.
const FILES: usize = 5;

/// The whole result.
pub fn render(report: &Report, is_coloured: bool) -> String {
    let renderer = if is_coloured { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    let mut add = |group: Group<'_>| {
        for line in renderer.render(&[group]).lines().filter(|line| !is_second_header(line)) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push('\n');
    };
    for problem in &report.problems {
        add(of_problem(problem));
    }
    for (path, found) in report.found() {
        add(of_finding(path, found));
    }
    // What one broken rule leaves open is told once with the files.
    let mut left: Vec<(&Open, Vec<&str>)> = Vec::new();
    for open in report.open() {
        match left
            .iter_mut()
            .find(|(first, _)| (&first.rule, &first.why, &first.origin) == (&open.rule, &open.why, &open.origin))
        {
            Some((_, paths)) => paths.push(&open.path),
            None => left.push((open, vec![&open.path])),
        }
    }
    for (open, paths) in left {
        add(of_open(open, &paths));
    }
    text + &counts(&report.summary())
}

/// The line that announces a second file. Place and excerpt are given apart, since the place counts as the file does and
/// the excerpt is escaped and cut; they are of one file.
fn is_second_header(line: &str) -> bool {
    let mut words = line.split('\u{1b}').enumerate().map(|(index, piece)| match index {
        0 => piece,
        _ => piece.split_once('m').map_or("", |(_, rest)| rest),
    });
    words.by_ref().map(str::trim).filter(|word| !word.is_empty()).eq([":::"])
}

fn of_finding(path: &str, found: &Found) -> Group<'static> {
    let (level, name) = match found.effect {
        Effect::Deny => (Level::ERROR, "deny"),
        Effect::Ask => (Level::WARNING, "ask"),
        Effect::Warn => (Level::NOTE, "warn"),
    };
    let title = level.with_name(name).primary_title(plain(&found.what, plain::WHY)).id(plain(&found.rule, plain::ID));
    let mut at = At::path(plain(path, plain::PATH)).section(found.cell.map(|cell| format!("cell {cell}")));
    if found.line > 0 {
        at = at.line(found.line as usize);
    }
    let group = excerpted(title.element(placed(at, found.range.as_ref())), found.line, found.excerpt.as_ref());
    let group = match found.why.trim() {
        "" => group,
        why => group.element(Level::NOTE.with_name("why").message(plain(why, plain::WHY))),
    };
    with_origin(group, found.origin.as_ref())
}

fn of_open(open: &Open, paths: &[&str]) -> Group<'static> {
    let title = Level::WARNING.with_name("could not check").primary_title(plain(&open.why, plain::WHY));
    let title = match &open.rule {
        Some(rule) => title.id(plain(rule, plain::ID)),
        None => title,
    };
    let places = paths.iter().take(FILES).map(|path| At::path(plain(path, plain::PATH)));
    let mut group = title.elements(places);
    if paths.len() > FILES {
        group = group.element(Level::NOTE.no_name().message(format!("and {} more", many(paths.len() - FILES, "file"))));
    }
    with_origin(group, open.origin.as_ref())
}

fn of_problem(problem: &Problem) -> Group<'static> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(plain(&problem.message, plain::WHY));
    let title = match &problem.rule {
        Some(rule) => title.id(plain(rule, plain::ID)),
        None => title,
    };
    let path = named(&problem.rulebook, problem.revision.as_deref());
    let Some(range) = &problem.range else { return title.element(At::path(path)) };
    let group = title.element(placed(At::path(path).line(range.line as usize), Some(range)));
    excerpted(group, range.line, problem.excerpt.as_ref())
}

fn placed(at: At<'static>, range: Option<&Range>) -> At<'static> {
    match range {
        Some(range) => at.char_column(range.column as usize),
        None => at,
    }
}

fn excerpted(group: Group<'static>, line: u32, excerpt: Option<&Excerpt>) -> Group<'static> {
    let Some(excerpt) = excerpt else { return group };
    let underlined = AnnotationKind::Primary.span(excerpt.range.clone());
    group.element(Snippet::source(excerpt.line.clone()).line_start(line as usize).annotation(underlined))
}

fn with_origin(group: Group<'static>, origin: Option<&Origin>) -> Group<'static> {
    let Some(origin) = origin else { return group };
    let place = format!("{}:{}", named(&origin.rulebook, origin.revision.as_deref()), origin.line);
    group.element(Level::NOTE.with_name("rule").message(place))
}

/// A rulebook with the revision it is from.
fn named(rulebook: &str, revision: Option<&str>) -> String {
    let rulebook = plain(rulebook, plain::PATH);
    match revision {
        Some(revision) => format!("{rulebook} at {}", plain(revision, plain::ID)),
        None => rulebook,
    }
}

/// `3 findings (2 deny, 1 ask) in 2 of 14 files; 1 could not be checked`
fn counts(summary: &Summary) -> String {
    let parts = [(summary.deny, "deny"), (summary.ask, "ask"), (summary.warn, "warn")];
    let found: usize = parts.iter().map(|(count, _)| count).sum();
    let files = many(summary.files, "file");
    let mut line = if found == 0 {
        format!("no findings in {files}")
    } else {
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, effect)| format!("{count} {effect}"));
        let parts = parts.collect::<Vec<_>>().join(", ");
        format!("{} ({parts}) in {} of {files}", many(found, "finding"), summary.with_findings)
    };
    if summary.binary > 0 {
        let _ = write!(line, "; {} not text", summary.binary);
    }
    if summary.unchecked > 0 {
        let _ = write!(line, "; {} could not be checked", summary.unchecked);
    }
    if summary.errors > 0 {
        let _ = write!(line, "; {} in the rulebook", many(summary.errors, "error"));
    }
    line + "\n"
}
