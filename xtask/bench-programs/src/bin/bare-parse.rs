//! The unit in which work on a file is counted: prints the nanoseconds that tree-sitter takes to parse a Python file
//! that it has parsed once before.

use std::time::Instant;

fn main() {
    let path = std::env::args().nth(1).expect("usage: bare-parse FILE");
    let text = std::fs::read_to_string(path).expect("a readable file");
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).expect("the grammar fits the library");
    parser.parse(&text, None).expect("no limit is set");
    let start = Instant::now();
    let tree = parser.parse(&text, None);
    let taken = start.elapsed().as_nanos();
    assert!(tree.is_some());
    println!("{taken}");
}
