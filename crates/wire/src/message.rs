//! What is said over the socket: `ping` and `judge`, each with a protocol number first.
//!
//! `{"v":1,"op":"judge","judge":{..}}` is answered by `{"v":1,"judged":{..}}` or `{"v":1,"error":"stale"}`. Fields that
//! are not known are ignored; another number is answered by the error `protocol`. Every text is data: an answer carries
//! places, never words for an agent, so that a server cannot put its own into a reason.

use std::fmt;

use rules::{Check, agreement, claims};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::frame::{self, FrameError};

/// The number of this protocol; another number means: work alone.
pub const PROTOCOL: u32 = 1;

/// A SHA-256, 64 lower-case hex digits on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

/// What a hook asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Is anybody there?
    Ping,
    /// Judge one change.
    Judge(JudgeRequest),
}

/// One change of one file, as digests and the edit between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeRequest {
    /// The file's canonical path.
    pub path: String,
    /// The digest of its text before; none when there is no such text.
    pub before: Option<Digest>,
    /// What names its text after: [`Digest::of_edit`].
    pub after: Digest,
    /// What leads from the text before to the one after; from the empty text when there is none before.
    pub edit: Splice,
    /// The rulebooks to judge it by.
    pub books: Vec<BookRequest>,
}

/// One rulebook, and the changed file as that rulebook sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BookRequest {
    /// The rulebook's canonical path.
    pub path: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The changed file's path as shown ([`rules::Change::path`]).
    pub shown: String,
    /// The changed file's spellings that globs are tried on ([`rules::Change::names`]).
    pub names: Vec<String>,
}

/// Replaces the bytes `start..end` of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// The first byte replaced.
    pub start: usize,
    /// The first byte kept after it.
    pub end: usize,
    /// What stands there instead.
    pub text: String,
}

/// What a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// It is there.
    Pong(Pong),
    /// It judged.
    Judged(Judged),
    /// It did not.
    Refused(Refusal),
}

/// Who is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pong {
    /// The server's version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// How many changes it judged for hooks.
    #[serde(default)]
    pub judged: u64,
    /// How many texts it parsed, for whomever.
    #[serde(default)]
    pub parses: u64,
}

/// What judging gave, with the digests of what was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// See [`JudgeRequest::before`].
    pub before: Option<Digest>,
    /// See [`JudgeRequest::after`].
    pub after: Digest,
    /// One for each rulebook asked for, in that order.
    pub books: Vec<BookAnswer>,
}

impl Judged {
    /// Whether it was computed from exactly what `request` names, every rulebook of it.
    pub fn answers(&self, request: &JudgeRequest) -> bool {
        self.before == request.before
            && self.after == request.after
            && self.books.iter().map(|book| book.digest).eq(request.books.iter().map(|book| book.digest))
    }
}

/// What one rulebook says: places to look at, to be verified by whoever asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookAnswer {
    /// The digest of the rulebook's bytes.
    pub digest: Digest,
    /// Its findings.
    pub claims: Vec<Claim>,
    /// The checks that could not be made.
    pub unchecked: Vec<Open>,
}

/// One finding without its words; as [`rules::claims::Claim`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Index into the rulebook's rules.
    pub rule: usize,
    /// Which check.
    #[serde(with = "check_name")]
    pub check: Check,
    /// Which of the check's patterns or specs.
    pub item: usize,
    /// Line counted as the change counts; 0 is the file as a whole.
    pub line: u32,
    /// The bytes of the text after, first and behind last; none for the file as a whole.
    pub span: Option<(usize, usize)>,
    /// The resolved name that the finding is about, where it is about one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether that name is passed on as a value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passed: bool,
}

impl From<claims::Claim> for Claim {
    fn from(claim: claims::Claim) -> Claim {
        let claims::Claim { rule, check, item, line, span, name, passed } = claim;
        Claim { rule, check, item, line, span: span.map(|span| (span.start, span.end)), name, passed }
    }
}

impl From<Claim> for claims::Claim {
    fn from(claim: Claim) -> claims::Claim {
        let Claim { rule, check, item, line, span, name, passed } = claim;
        claims::Claim { rule, check, item, line, span: span.map(|(start, end)| start..end), name, passed }
    }
}

/// One check that could not be made, without its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// See [`rules::Unchecked::rule`].
    pub rule: Option<usize>,
    /// Which check.
    #[serde(with = "check_name")]
    pub check: Check,
}

/// Why a request is not answered; whoever asked works alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Refusal {
    /// Another protocol number.
    Protocol,
    /// Not a request.
    Request,
    /// Some digest is not that of what the server has or can read.
    Stale,
    /// Too many at once.
    Busy,
    /// The answer does not fit in a frame.
    Large,
    /// A reason that a later version knows.
    #[serde(other)]
    Other,
}

impl Request {
    /// The whole frame.
    ///
    /// # Errors
    /// It is over the limit of a frame.
    pub fn to_frame(&self) -> Result<Vec<u8>, FrameError> {
        let (op, judge) = match self {
            Request::Ping => ("ping", None),
            Request::Judge(judge) => ("judge", Some(judge)),
        };
        to_frame(&RequestShape { v: PROTOCOL, op, judge })
    }

    /// Reads a frame's payload.
    ///
    /// # Errors
    /// What to answer instead.
    pub fn read(payload: &[u8]) -> Result<Request, Refusal> {
        let shape: RequestShape<String, JudgeRequest> = read(payload)?;
        match (shape.op.as_str(), shape.judge) {
            ("ping", _) => Ok(Request::Ping),
            ("judge", Some(judge)) => Ok(Request::Judge(judge)),
            _ => Err(Refusal::Request),
        }
    }
}

impl Response {
    /// The whole frame; [`Refusal::Large`] when the answer does not fit in one.
    pub fn to_frame(&self) -> Vec<u8> {
        let shape = |pong, judged, error| ResponseShape { v: PROTOCOL, pong, judged, error };
        let frame = to_frame(&match self {
            Response::Pong(pong) => shape(Some(pong), None, None),
            Response::Judged(judged) => shape(None, Some(judged), None),
            Response::Refused(refusal) => shape(None, None, Some(*refusal)),
        });
        frame.unwrap_or_else(|_| Response::Refused(Refusal::Large).to_frame())
    }

    /// Reads a frame's payload.
    ///
    /// # Errors
    /// [`Refusal::Protocol`] when another number speaks, [`Refusal::Request`] when it is no answer at all.
    pub fn read(payload: &[u8]) -> Result<Response, Refusal> {
        let shape: ResponseShape<Pong, Judged> = read(payload)?;
        match (shape.error, shape.judged, shape.pong) {
            (Some(refusal), ..) => Ok(Response::Refused(refusal)),
            (None, Some(judged), _) => Ok(Response::Judged(judged)),
            (None, None, Some(pong)) => Ok(Response::Pong(pong)),
            (None, None, None) => Err(Refusal::Request),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct RequestShape<O, J> {
    v: u32,
    op: O,
    #[serde(skip_serializing_if = "Option::is_none", default = "none")]
    judge: Option<J>,
}

#[derive(Serialize, Deserialize)]
struct ResponseShape<P, J> {
    v: u32,
    #[serde(skip_serializing_if = "Option::is_none", default = "none")]
    pong: Option<P>,
    #[serde(skip_serializing_if = "Option::is_none", default = "none")]
    judged: Option<J>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    error: Option<Refusal>,
}

fn none<T>() -> Option<T> {
    None
}

fn to_frame(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    frame::encode(&serde_json::to_vec(message).expect("numbers, texts and lists of them are always JSON"))
}

/// The number is read before the rest, so that a later protocol may have any other shape.
fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Result<T, Refusal> {
    #[derive(Deserialize)]
    struct Numbered {
        v: u32,
    }
    match serde_json::from_slice(payload) {
        Ok(Numbered { v: PROTOCOL }) => serde_json::from_slice(payload).map_err(|_| Refusal::Request),
        Ok(_) => Err(Refusal::Protocol),
        Err(_) => Err(Refusal::Request),
    }
}

impl Splice {
    /// The one replacement that leads from `before` to `after`: what they share at the start and at the end stays.
    pub fn between(before: &str, after: &str) -> Splice {
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let mut start = agreement::at_start(old, new);
        while !before.is_char_boundary(start) || !after.is_char_boundary(start) {
            start -= 1;
        }
        let mut tail = agreement::at_end(&old[start..], &new[start..]);
        while !before.is_char_boundary(before.len() - tail) || !after.is_char_boundary(after.len() - tail) {
            tail -= 1;
        }
        Splice { start, end: before.len() - tail, text: after[start..after.len() - tail].to_owned() }
    }

    /// The text after; none when the range is not one of `before`.
    pub fn apply(&self, before: &str) -> Option<String> {
        before.get(self.start..self.end)?;
        Some([&before[..self.start], &self.text, &before[self.end..]].concat())
    }
}

impl Digest {
    /// Names the text that `edit` makes of the one with the digest `before`, without reading either: the two of them say
    /// what it is.
    pub fn of_edit(before: Option<Digest>, edit: &Splice) -> Digest {
        let Splice { start, end, text } = edit;
        let places = [*start as u64, *end as u64].map(u64::to_le_bytes);
        let before = before.map_or(Vec::new(), |digest| digest.0.to_vec());
        let length = (before.len() as u64).to_le_bytes();
        Digest(system::digest::sha256_of(&[&length, &before, &places[0], &places[1], text.as_bytes()]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&system::digest::hex(&self.0))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let hex = String::deserialize(deserializer)?;
        parse_hex(&hex).map(Digest).ok_or_else(|| serde::de::Error::custom("not a SHA-256 in lower-case hex"))
    }
}

fn parse_hex(hex: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = hex.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let bytes: Option<Vec<u8>> = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect();
    bytes?.try_into().ok()
}

/// Checks by their names.
mod check_name {
    use rules::Check;
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's `with` calls it so")]
    pub fn serialize<S: Serializer>(check: &Check, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(check.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Check, D::Error> {
        let name = String::deserialize(deserializer)?;
        Check::from_name(&name).ok_or_else(|| serde::de::Error::custom("an unknown check"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request() -> JudgeRequest {
        JudgeRequest {
            path: "/p/a.py".into(),
            before: Some(Digest([1; 32])),
            after: Digest([0xfe; 32]),
            edit: Splice { start: 3, end: 4, text: "é\n".into() },
            books: vec![BookRequest {
                path: "/p/.ruleline/rules.toml".into(),
                digest: Digest([7; 32]),
                shown: "a.py".into(),
                names: vec!["a.py".into()],
            }],
        }
    }

    fn judged() -> Judged {
        Judged {
            before: Some(Digest([1; 32])),
            after: Digest([0xfe; 32]),
            books: vec![BookAnswer {
                digest: Digest([7; 32]),
                claims: vec![Claim {
                    rule: 2,
                    check: Check::ForbidCalls,
                    item: 1,
                    line: 9,
                    span: Some((3, 8)),
                    name: "os.system".into(),
                    passed: true,
                }],
                unchecked: vec![Open { rule: None, check: Check::Load }],
            }],
        }
    }

    #[test]
    fn requests_and_responses_are_read_as_they_were_written() {
        for request in [Request::Ping, Request::Judge(request())] {
            assert_eq!(Request::read(&request.to_frame().unwrap()[4..]), Ok(request));
        }
        let pong = Response::Pong(Pong { version: "0.1.0".into(), pid: 7, judged: 3, parses: 2 });
        for response in [pong, Response::Judged(judged()), Response::Refused(Refusal::Stale)] {
            assert_eq!(Response::read(&response.to_frame()[4..]), Ok(response));
        }
    }

    #[test]
    fn the_number_stands_first_and_other_numbers_are_told_apart_from_garbage() {
        assert!(Request::Ping.to_frame().unwrap()[4..].starts_with(br#"{"v":1,"op":"ping""#));
        assert_eq!(&Response::Refused(Refusal::Protocol).to_frame()[4..], br#"{"v":1,"error":"protocol"}"#);
        let deep = format!(r#"{{"v":1,"op":"ping","x":{}"#, "[".repeat(100_000));
        let cases: &[(&str, Result<Request, Refusal>)] = &[
            (r#"{"v":1,"op":"ping","new":{"a":[1]}}"#, Ok(Request::Ping)),
            (r#"{"v":2,"op":"ping"}"#, Err(Refusal::Protocol)),
            (r#"{"op":["other","shape"],"v":2}"#, Err(Refusal::Protocol)),
            (r#"{"v":1,"op":"grant"}"#, Err(Refusal::Request)),
            (r#"{"v":1,"op":"judge"}"#, Err(Refusal::Request)),
            (r#"{"v":1,"op":"judge","judge":{"path":3}}"#, Err(Refusal::Request)),
            (r#"{"v":"1","op":"ping"}"#, Err(Refusal::Request)),
            (r#"{"v":-1,"op":"ping"}"#, Err(Refusal::Request)),
            (r#"{"op":"ping"}"#, Err(Refusal::Request)),
            ("[1]", Err(Refusal::Request)),
            ("", Err(Refusal::Request)),
            ("{\"v\":1", Err(Refusal::Request)),
            (&deep, Err(Refusal::Request)),
        ];
        for (payload, expected) in cases {
            assert_eq!(&Request::read(payload.as_bytes()), expected, "{payload:.40}");
        }
    }

    #[test]
    fn refusals_of_later_versions_are_still_refusals() {
        assert_eq!(Response::read(br#"{"v":1,"error":"moon phase"}"#), Ok(Response::Refused(Refusal::Other)));
        assert_eq!(Response::read(br#"{"v":1}"#), Err(Refusal::Request));
    }

    #[test]
    fn an_answer_that_does_not_fit_says_so() {
        let mut large = judged();
        large.books[0].claims = vec![large.books[0].claims[0].clone(); 150_000];
        assert_eq!(Response::read(&Response::Judged(large).to_frame()[4..]), Ok(Response::Refused(Refusal::Large)));
    }

    #[test]
    fn an_answer_to_anything_else_is_not_one() {
        type Bend = fn(&mut Judged);
        let bends: &[(&str, Bend, bool)] = &[
            ("as it is", |_| {}, true),
            ("other before", |judged| judged.before = None, false),
            ("other after", |judged| judged.after.0[31] ^= 1, false),
            ("other rulebook", |judged| judged.books[0].digest.0[0] ^= 1, false),
            ("a rulebook less", |judged| judged.books.clear(), false),
            ("a rulebook more", |judged| judged.books.push(judged.books[0].clone()), false),
            ("no findings", |judged| judged.books[0].claims.clear(), true),
        ];
        for (name, bend, expected) in bends {
            let mut judged = judged();
            bend(&mut judged);
            assert_eq!(judged.answers(&request()), *expected, "{name}");
        }
    }

    #[test]
    fn digests_are_64_lower_case_hex_digits() {
        let good = "\"".to_owned() + &"0a".repeat(32) + "\"";
        assert_eq!(serde_json::from_str::<Digest>(&good).unwrap(), Digest([10; 32]));
        assert_eq!(serde_json::to_string(&Digest([10; 32])).unwrap(), good);
        for bad in
            [good.to_uppercase(), good.replacen('0', "", 1), good.replacen('0', "000", 1), good.replace("0a", "é")]
        {
            assert!(serde_json::from_str::<Digest>(&bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_splice_leads_from_one_text_to_the_other(before in "[aéß\n😀]{0,12}", after in "[aéß\n😀]{0,12}") {
            let splice = Splice::between(&before, &after);
            prop_assert_eq!(splice.apply(&before), Some(after));
        }

        #[test]
        fn any_splice_on_any_text_gives_a_text_or_nothing(
            before in "[aé😀]{0,6}", start in 0usize..30, end in 0usize..30, text in ".{0,3}"
        ) {
            let splice = Splice { start, end, text };
            let fits = start <= end && before.is_char_boundary(start) && before.is_char_boundary(end);
            prop_assert_eq!(splice.apply(&before).is_some(), fits);
        }

        #[test]
        fn hostile_payloads_never_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Request::read(&payload);
            let _ = Response::read(&payload);
        }
    }

    #[test]
    fn a_splice_is_no_larger_than_the_edit() {
        let cases =
            [("abc", "abXc", (2, 2, "X")), ("aa", "aaa", (2, 2, "a")), ("é", "è", (0, 2, "è")), ("", "x", (0, 0, "x"))];
        for (before, after, (start, end, text)) in cases {
            assert_eq!(Splice::between(before, after), Splice { start, end, text: text.into() });
        }
    }
}
