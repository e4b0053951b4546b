//! The unit in which work on Python text is counted: what tree-sitter takes to parse it, and nothing else.
//!
//! Of a file, prints the nanoseconds of parsing it a second time. Of a folder, parses every Python file below it once, on
//! one thread; that is to be timed as a process, since reading counts.

use std::path::Path;
use std::time::Instant;

fn main() {
    let argument = std::env::args().nth(1).expect("usage: bare-parse FILE|FOLDER");
    let path = Path::new(&argument);
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).expect("the grammar fits the library");
    if path.is_dir() {
        println!("{} files", parse_below(&mut parser, path));
        return;
    }
    let text = std::fs::read(path).expect("a readable file");
    parser.parse(&text, None).expect("no limit is set");
    let start = Instant::now();
    let tree = parser.parse(&text, None);
    let taken = start.elapsed().as_nanos();
    assert!(tree.is_some());
    println!("{taken}");
}

fn parse_below(parser: &mut tree_sitter::Parser, folder: &Path) -> usize {
    let mut parsed = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a readable folder") {
            let entry = entry.expect("a readable folder");
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py" || extension == "pyi") {
                let text = std::fs::read(path).expect("a readable file");
                parsed += usize::from(parser.parse(&text, None).is_some());
            }
        }
    }
    parsed
}
