//! Both front ends on the same texts: what is valid Python must have the same facts whoever reads it.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{facts_of_module, facts_of_tree, module};
use crate::tree::{self, Limits};
use crate::{Call, Definition, Facts, Language, Use};

fn both(text: &str) -> Option<(Facts, Facts)> {
    let module = module::parse(text)?;
    let source = Language::Python.parsed_text(text);
    let tree = tree::parse(&tree_sitter_python::LANGUAGE.into(), &source, &Limits::default()).ok()?;
    if tree.root_node().has_error() {
        return None;
    }
    Some((facts_of_module(&module, text), facts_of_tree(&tree, text)))
}

fn first_difference<T: PartialEq + Debug>(what: &str, ours: &[T], theirs: &[T]) -> Option<String> {
    let at = (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at))?;
    Some(format!("{what} {at}: {:?}\n   tree-sitter {:?}", ours.get(at), theirs.get(at)))
}

/// Whether tree-sitter's grammar is known to read something in this text otherwise than Python does: the `*` of
/// `[*f()]` as a part of the call, and `type(x).y = z` as an alias of a type.
fn is_misread(text: &str, theirs: &Facts) -> bool {
    theirs.calls.iter().any(|call| {
        let read = &text[call.span.clone()];
        read.starts_with('*') || read.starts_with("type(") && call.arguments.is_empty() && !read.starts_with("type()")
    })
}

fn differences(text: &str, ours: &Facts, theirs: &Facts) -> Vec<String> {
    if is_misread(text, theirs) {
        return Vec::new();
    }
    // A binding may be a whole loop.
    let calls = |facts: &Facts| -> Vec<Call> {
        let call =
            |it: &Call| Call { bindings: it.bindings.iter().map(|it| it.start..it.start).collect(), ..it.clone() };
        facts.calls.iter().map(call).collect()
    };
    let uses = |facts: &Facts| -> Vec<Use> {
        let used = |it: &Use| Use { bindings: it.bindings.iter().map(|it| it.start..it.start).collect(), ..it.clone() };
        facts.uses.iter().map(used).collect()
    };
    // Tree-sitter counts the comments behind a body to it.
    let starts = |facts: &Facts| -> Vec<Definition> {
        let start = |it: &Definition| Definition { span: it.span.start..it.span.start, ..it.clone() };
        facts.definitions.iter().map(start).collect()
    };
    [
        first_difference("call", &calls(ours), &calls(theirs)),
        first_difference("use", &uses(ours), &uses(theirs)),
        first_difference("definition", &starts(ours), &starts(theirs)),
        first_difference("import", &ours.imports, &theirs.imports),
        first_difference("comment", &ours.comments, &theirs.comments),
        first_difference("string", &ours.strings, &theirs.strings),
        first_difference("error", &ours.errors, &theirs.errors),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            python_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            found.push(path);
        }
    }
}

#[test]
fn the_standard_library_has_the_same_facts_from_both() {
    let library = Command::new("python3")
        .args(["-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])"])
        .output()
        .expect("python3 runs");
    let library = String::from_utf8(library.stdout).expect("a path");
    let mut files = Vec::new();
    python_files(Path::new(library.trim()), &mut files);
    files.sort();
    let (mut compared, mut wrong) = (0, 0);
    for file in files.iter().filter(|file| !file.components().any(|part| part.as_os_str() == "site-packages")) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let Some((ours, theirs)) = both(&text) else { continue };
        compared += 1;
        let differences = differences(&text, &ours, &theirs);
        wrong += usize::from(!differences.is_empty());
        if wrong < 40 {
            for difference in differences {
                eprintln!("{}: {difference}", file.display());
            }
        }
    }
    assert!(compared > 500, "{compared} files");
    assert_eq!(wrong, 0, "of {compared}");
}
