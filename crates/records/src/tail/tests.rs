use std::fs;

use super::*;
use crate::log::FULL;
use crate::log::tests::Bench;

fn tools(lines: &[Entry]) -> Vec<&str> {
    lines.iter().map(|entry| entry.tool.as_str()).collect()
}

#[test]
fn new_lines_come_once_and_in_order() {
    let bench = Bench::new();
    let mut tail = Tail::at_end(bench.log.clone());
    assert!(tail.advance().unwrap().is_empty() && tail.latest(5).unwrap().is_empty());
    bench.append("a");
    bench.append("b");
    assert_eq!(tools(&tail.advance().unwrap()), ["a", "b"]);
    assert!(tail.advance().unwrap().is_empty());
    bench.append("c");
    assert_eq!(tools(&tail.advance().unwrap()), ["c"]);
    assert_eq!(tools(&tail.latest(2).unwrap()), ["b", "c"]);
    let other = Tail::at_end(bench.log.clone());
    bench.append("d");
    assert_eq!(tools(&other.latest(10).unwrap()), ["a", "b", "c"], "what stands before the place");
    assert!(tail.watched()[0].join("head").exists());
}

#[test]
fn s23_lines_of_others_are_never_given() {
    let bench = Bench::new();
    let mut tail = Tail::at_end(bench.log.clone());
    bench.append("a");
    let ours = fs::read_to_string(bench.log.path()).unwrap();
    // A forged line, one that was copied, and one that names ours as the one before.
    let forged = ours.replace("\"a\"", "\"forged\"");
    let hash = system::digest::sha256_hex(ours.trim_end().as_bytes());
    let chained = forged.replacen(&system::digest::sha256_hex(b""), &hash, 1);
    fs::write(bench.log.path(), format!("{forged}{ours}{forged}{chained}half a line")).unwrap();
    assert_eq!(tools(&tail.advance().unwrap()), ["a"]);
    bench.append("b");
    bench.append("c");
    assert_eq!(tools(&tail.advance().unwrap()), ["b", "c"]);
    assert_eq!(tools(&tail.latest(10).unwrap()), ["a", "b", "c"]);
    fs::write(bench.log.path(), &forged).unwrap();
    assert!(tail.advance().unwrap().is_empty() && tail.latest(10).unwrap().is_empty());
}

#[test]
fn s23_a_log_that_came_with_a_repository_has_no_line_of_ours() {
    let from = Bench::new();
    from.append("a");
    let bench = Bench::new();
    fs::create_dir(bench.log.root.join(".ruleline/traces")).unwrap();
    fs::copy(from.log.path(), bench.log.root.join(".ruleline/traces/hooks.jsonl")).unwrap();
    let mut tail = Tail::at_end(bench.log.clone());
    assert!(tail.latest(5).unwrap().is_empty() && tail.advance().unwrap().is_empty());
    bench.append("b");
    assert_eq!(tools(&tail.advance().unwrap()), ["b"]);
    assert_eq!(tools(&tail.latest(5).unwrap()), ["b"]);
}

#[test]
fn a_log_that_was_cut_moved_or_went_on_elsewhere_is_followed() {
    let bench = Bench::new();
    let mut tail = Tail::at_end(bench.log.clone());
    bench.append("a");
    bench.append("b");
    assert_eq!(tail.advance().unwrap().len(), 2);
    fs::write(bench.log.path(), "").unwrap();
    bench.append("c");
    assert_eq!(tools(&tail.advance().unwrap()), ["c"], "cut");

    bench.append("d");
    let traces = bench.log.root.join(".ruleline/traces");
    fs::rename(&traces, traces.with_file_name("away")).unwrap();
    fs::write(&traces, "").unwrap();
    bench.append("e");
    fs::remove_file(&traces).unwrap();
    fs::rename(traces.with_file_name("away"), &traces).unwrap();
    bench.append("f");
    assert_eq!(tools(&tail.advance().unwrap()), ["d", "e", "f"], "to the state folder and back");

    bench.append("g");
    let file = fs::OpenOptions::new().write(true).open(bench.log.path()).unwrap();
    file.set_len(FULL).unwrap();
    bench.append("h");
    assert_eq!(tools(&tail.advance().unwrap()).last(), Some(&"h"), "the next file");
    bench.append("i");
    assert_eq!(tools(&tail.advance().unwrap()), ["i"]);
}

#[test]
fn a_line_that_is_being_written_is_not_seen_before_it_stands() {
    let bench = Bench::new();
    let mut tail = Tail::at_end(bench.log.clone());
    bench.append("a");
    assert_eq!(tail.advance().unwrap().len(), 1);
    let path = bench.log.path();
    let before = fs::read(&path).unwrap();
    let head_path = bench.log.folder().join("head");
    let head = bench.log.head().unwrap().unwrap();
    bench.append("b");
    let after = bench.log.head().unwrap().unwrap();
    let whole = fs::read(&path).unwrap();
    // As it is between the two writes of the head.
    let coming = Head { before: head.after, ..after };
    coming.write(&fs::OpenOptions::new().write(true).open(&head_path).unwrap()).unwrap();
    for length in [before.len(), before.len() + 5] {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(tail.advance().unwrap().is_empty());
    }
    fs::write(&path, &whole).unwrap();
    assert_eq!(tools(&tail.advance().unwrap()), ["b"]);
}
