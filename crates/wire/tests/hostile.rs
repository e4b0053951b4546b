//! The client against servers that fail and lie: what it is told, and that the budget holds.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;
use std::time::Duration;

use wire::{Alone, BookRequest, Client, Digest, JudgeRequest, Splice};

#[allow(dead_code, reason = "shared with the end-to-end tests")]
#[path = "../../../tests/support/socket.rs"]
mod socket;

use socket::{Manner, Server};

/// A budget in milliseconds that is used up by servers that never answer, and by nothing else on a busy machine.
const SHORT: u64 = 250;

struct Place {
    _temporary: tempfile::TempDir,
    root: PathBuf,
    runtime: PathBuf,
}

fn place() -> Place {
    let temporary = tempfile::tempdir().unwrap();
    let base = temporary.path().canonicalize().unwrap();
    let root = base.join("project");
    std::fs::create_dir(&root).unwrap();
    Place { runtime: base.join("run"), root, _temporary: temporary }
}

impl Place {
    fn request(&self, text: &str) -> JudgeRequest {
        JudgeRequest {
            path: self.root.join("a.py").to_str().unwrap().to_owned(),
            before: None,
            after: Digest([3; 32]),
            edit: Splice::between("", text),
            books: vec![BookRequest {
                path: "/book".into(),
                digest: Digest([4; 32]),
                shown: "a.py".into(),
                names: vec!["a.py".into()],
            }],
        }
    }

    fn client(&self, budget: u64) -> Client {
        Client::new(self.runtime.clone(), Duration::from_millis(budget))
    }
}

#[test]
fn each_manner_gives_its_reason_to_work_alone() {
    let cases: &[(Manner, u64, Option<Alone>)] = &[
        (Manner::Stalls, SHORT, Some(Alone::Expired)),
        (Manner::NeverAccepts, SHORT, Some(Alone::Expired)),
        (Manner::NeverReads, SHORT, Some(Alone::Expired)),
        (Manner::Drips, SHORT, Some(Alone::Expired)),
        (Manner::Closes, 20_000, Some(Alone::Garbled)),
        (Manner::ClosesAfterReading, 20_000, Some(Alone::Garbled)),
        (Manner::Truncates, 20_000, Some(Alone::Garbled)),
        (Manner::TruncatesLength, 20_000, Some(Alone::Garbled)),
        (Manner::Garbles, 20_000, Some(Alone::Garbled)),
        (Manner::OtherJson, 20_000, Some(Alone::Garbled)),
        (Manner::DeepJson, 20_000, Some(Alone::Garbled)),
        (Manner::TooLong, 20_000, Some(Alone::Garbled)),
        (Manner::OtherProtocol, 20_000, Some(Alone::Protocol)),
        (Manner::StaleDigests, 20_000, Some(Alone::Stale)),
        (Manner::Refuses, 20_000, Some(Alone::Stale)),
        (Manner::Longest, 20_000, None),
        (Manner::SaysClean, 20_000, None),
        (Manner::SaysDirty, 20_000, None),
        (Manner::SaysNowhere, 20_000, None),
        (Manner::SaysUnchecked, 20_000, None),
        (Manner::SaysMuch, 20_000, None),
    ];
    for &(manner, budget, expected) in cases {
        let place = place();
        let _server = Server::start(&place.runtime, &place.root, manner);
        let answer = place.client(budget).judge(place.request("x = 1\n"));
        assert_eq!(answer.as_ref().err(), expected.as_ref(), "{manner:?}");
    }
}

#[test]
fn a_server_that_stops_reading_a_long_request_uses_up_the_budget_and_no_more() {
    let place = place();
    let _server = Server::start(&place.runtime, &place.root, Manner::NeverReads);
    let long = "x = 1\n".repeat(500_000);
    assert_eq!(place.client(SHORT).judge(place.request(&long)), Err(Alone::Expired));
}

#[test]
fn a_request_over_the_cap_is_never_sent() {
    let place = place();
    let server = Server::start(&place.runtime, &place.root, Manner::SaysClean);
    let long = "x = 1\n".repeat(1_500_000);
    assert_eq!(place.client(20_000).judge(place.request(&long)), Err(Alone::TooLarge));
    assert_eq!(server.asked(), 0);
}

#[test]
fn a_server_that_did_not_answer_in_time_is_left_alone_and_the_others_are_not() {
    let place = place();
    let slow = Server::start(&place.runtime, &place.root, Manner::Stalls);
    assert_eq!(place.client(SHORT).judge(place.request("")), Err(Alone::Expired));
    assert_eq!(place.client(SHORT).judge(place.request("")), Err(Alone::NoServer));
    assert_eq!(slow.asked(), 1, "it is not even connected to");
    let quick = Server::start(&place.runtime, &place.root, Manner::SaysClean);
    assert!(place.client(20_000).judge(place.request("")).is_ok());
    // Ten seconds later it is asked again.
    let marker = slow.socket().with_extension("wait");
    let then = std::time::SystemTime::now() - Duration::from_secs(11);
    std::fs::File::options().write(true).open(&marker).unwrap().set_modified(then).unwrap();
    drop(quick);
    assert_eq!(place.client(SHORT).judge(place.request("")), Err(Alone::Expired));
    // A mark from the future (a clock that was set back) does not hold for ever.
    let later = std::time::SystemTime::now() + Duration::from_secs(3600);
    std::fs::File::options().write(true).open(&marker).unwrap().set_modified(later).unwrap();
    assert_eq!(place.client(SHORT).judge(place.request("")), Err(Alone::Expired));
    drop(slow);
    assert_eq!(std::fs::read_dir(&place.runtime).unwrap().count(), 0, "the mark goes with the server");
}

#[test]
fn the_budget_is_one_for_all_questions_of_a_hook() {
    let place = place();
    let slow = Server::start(&place.runtime, &place.root, Manner::Stalls);
    let client = place.client(SHORT);
    assert_eq!(client.judge(place.request("")), Err(Alone::Expired));
    std::fs::remove_file(slow.socket().with_extension("wait")).unwrap();
    let quick = Server::start(&place.runtime, &place.root, Manner::SaysClean);
    let before = (slow.asked(), quick.asked());
    assert_eq!(client.judge(place.request("")), Err(Alone::Expired));
    assert_eq!((slow.asked(), quick.asked()), before, "nobody is asked any more");
}

#[test]
fn a_mark_is_not_written_through_a_link() {
    let place = place();
    let server = Server::start(&place.runtime, &place.root, Manner::Stalls);
    let target = place.root.join("precious");
    std::fs::write(&target, "kept").unwrap();
    let then = std::fs::metadata(&target).unwrap().modified().unwrap() - Duration::from_secs(500);
    std::fs::File::options().write(true).open(&target).unwrap().set_modified(then).unwrap();
    std::os::unix::fs::symlink(&target, server.socket().with_extension("wait")).unwrap();
    assert_eq!(place.client(SHORT).judge(place.request("")), Err(Alone::Expired));
    assert_eq!(std::fs::metadata(&target).unwrap().modified().unwrap(), then);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
}
