//! The hook says the same with a server, without one, and against servers that fail; one that lies never loosens (S7).
//!
//! Generated edits, real processes, real sockets. `RULELINE_PARITY_TIMES` asks for so many times the usual number of
//! edits, `RULELINE_PARITY_SEED` for others.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::time::Duration;

use serde_json::Value;

#[path = "support/edits.rs"]
mod edits;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "support/place.rs"]
mod place;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "support/socket.rs"]
mod socket;

use edits::{Edit, RULEBOOK};
use place::{Background, Place, until};
use socket::{Manner, Server};

fn asked(variable: &str) -> u32 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn some_edits(usual: u32, salt: u64) -> Vec<Edit> {
    edits::edits(
        u64::from(asked("RULELINE_PARITY_SEED")) * 1000 + salt,
        (usual * asked("RULELINE_PARITY_TIMES")) as usize,
    )
}

/// What the hook prints for an edit in a place prepared for it.
fn answer(place: &Place, edit: &Edit, flags: &[&str]) -> Vec<u8> {
    place.set(edit.file, edit.before.as_deref());
    place.hook(edit.agent, &edit.payload(&place.root), flags)
}

/// How strict an answer is: nothing, a warning, an ask, a deny.
fn strictness(stdout: &[u8]) -> u8 {
    if stdout.is_empty() {
        return 0;
    }
    let value: Value = serde_json::from_slice(stdout).unwrap();
    match value["hookSpecificOutput"]["permissionDecision"].as_str() {
        Some("deny") => 3,
        Some("ask") => 2,
        _ => 1,
    }
}

fn text(stdout: &[u8]) -> String {
    String::from_utf8_lossy(stdout).into_owned()
}

#[test]
fn with_a_server_and_without_one_the_hook_says_the_same() {
    let place = Place::with_rulebook(RULEBOOK);
    let edits = some_edits(300, 0);
    let alone: Vec<Vec<u8>> = edits.iter().map(|edit| answer(&place, edit, &["--no-server"])).collect();
    let _server = Background::start(&place, &[]);
    for (number, (edit, alone)) in edits.iter().zip(&alone).enumerate() {
        let with = answer(&place, edit, &[]);
        assert_eq!(text(&with), text(alone), "edit {number}: {edit:?}");
    }
    // The comparison means something only if every kind of answer occurred and the server was asked.
    for kind in 0..4 {
        assert!(alone.iter().any(|stdout| strictness(stdout) == kind), "no answer of strictness {kind}");
    }
    let client = wire::Client::new(place.runtime(), Duration::from_secs(30));
    // A server that was late once, on a machine that is busy, is left alone for a while.
    let mut judged = 0;
    until("the server answers", || {
        client.ping(&place.root.join("a.py")).is_ok_and(|pong| {
            judged = pong.judged;
            true
        })
    });
    assert!(judged > 20, "{judged}");
}

#[test]
fn servers_that_fail_change_nothing() {
    let place = Place::with_rulebook(RULEBOOK);
    for manner in Manner::ALL.into_iter().filter(|manner| !manner.claims()) {
        // One that does not answer in time costs the whole budget each time.
        let edits = some_edits(if manner.expires() { 8 } else { 25 }, manner as u64);
        let server = Server::start(&place.runtime(), &place.root, manner);
        for (number, edit) in edits.iter().enumerate() {
            let alone = answer(&place, edit, &["--no-server"]);
            let with = answer(&place, edit, &[]);
            assert_eq!(text(&with), text(&alone), "{manner:?}, edit {number}: {edit:?}");
            let _ = fs::remove_file(server.socket().with_extension("wait"));
        }
        assert!(server.asked() > 0 || manner == Manner::NeverAccepts, "{manner:?} was never asked");
    }
}

#[test]
fn s07_a_server_that_lies_never_loosens_an_answer() {
    let place = Place::with_rulebook(RULEBOOK);
    let mut believed = 0;
    for manner in Manner::ALL.into_iter().filter(|manner| manner.claims()) {
        let edits = some_edits(40, 100 + manner as u64);
        let server = Server::start(&place.runtime(), &place.root, manner);
        for (number, edit) in edits.iter().enumerate() {
            let alone = answer(&place, edit, &["--no-server"]);
            let with = answer(&place, edit, &[]);
            assert!(
                strictness(&with) >= strictness(&alone),
                "{manner:?}, edit {number}: {edit:?}\nalone {}\nwith  {}",
                text(&alone),
                text(&with)
            );
            if matches!(manner, Manner::SaysClean | Manner::Longest | Manner::SaysUnchecked) {
                assert_eq!(text(&with), text(&alone), "{manner:?}, edit {number}: {edit:?}");
            }
            if matches!(manner, Manner::SaysLess | Manner::SaysLeast) && with != alone {
                believed += 1;
            }
        }
        assert!(server.asked() > 0, "{manner:?} was never asked");
    }
    assert!(believed > 0, "no claim was ever used: the comparison shows nothing");
}
