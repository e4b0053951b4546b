//! Cue words: what must stand in a line before any pattern can match it, found in one pass over the bytes.
//!
//! Owns the words, not the patterns that combine them.

/// Which kinds of cue words a text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cues(pub(super) u16);

impl Cues {
    /// What is pointed out: note, message.
    pub(super) const CALL: Cues = Cues(1);
    /// Who is addressed: an AI, a reviewer.
    pub(super) const WHO: Cues = Cues(1 << 1);
    /// What somebody must, may or should.
    pub(super) const MODAL: Cues = Cues(1 << 2);
    /// Letting something pass.
    pub(super) const YIELD: Cues = Cues(1 << 3);
    /// Leaving something out of account.
    pub(super) const DROP: Cues = Cues(1 << 4);
    /// Rules, instructions, checks.
    pub(super) const ORDERS: Cues = Cues(1 << 5);
    /// Approved.
    pub(super) const APPROVED: Cues = Cues(1 << 6);
    /// Applies.
    pub(super) const APPLIES: Cues = Cues(1 << 7);
    /// New, before orders.
    pub(super) const NEW: Cues = Cues(1 << 8);
    /// You, as.
    pub(super) const YOU: Cues = Cues(1 << 9);
    /// Answering.
    pub(super) const ANSWER: Cues = Cues(1 << 10);
    /// A role between the marks of a chat template.
    pub(super) const TAG: Cues = Cues(1 << 11);
    /// A role with a colon.
    pub(super) const LABEL: Cues = Cues(1 << 12);
    /// How somebody is addressed: dear, attention, to.
    pub(super) const GREET: Cues = Cues(1 << 13);
    /// Not ASCII: only the normal form tells.
    pub(super) const FOREIGN: Cues = Cues(1 << 15);

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn meets(self, other: Cues) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::ops::BitOr for Cues {
    type Output = Cues;

    fn bitor(self, other: Cues) -> Cues {
        Cues(self.0 | other.0)
    }
}

/// The cues of a line as it is written.
pub(super) fn of_raw(line: &str) -> Cues {
    let cues = of_normal(line);
    if line.is_ascii() { cues } else { cues | Cues::FOREIGN }
}

/// The cues of a text whose look-alikes have been replaced.
pub(super) fn of_normal(text: &str) -> Cues {
    let bytes = text.as_bytes();
    let mut found = Cues::default();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphabetic() {
            at += 1;
        }
        let word = &bytes[start..at];
        if word.len() > 1 {
            found = found | of_word(word);
            if ROLES.iter().any(|role| word.eq_ignore_ascii_case(role)) {
                found = found | of_role(bytes, start, at);
            }
        }
    }
    found
}

const ROLES: [&[u8]; 9] =
    [b"system", b"assistant", b"inst", b"sys", b"im", b"admin", b"developer", b"instructions", b"prompt"];

fn of_role(bytes: &[u8], start: usize, end: usize) -> Cues {
    let before = bytes[..start].trim_ascii_end().last();
    let mut cues = Cues::default();
    if before.is_some_and(|byte| b"<[/|#".contains(byte)) {
        cues = cues | Cues::TAG;
    }
    if bytes[end..].trim_ascii_start().first() == Some(&b':') {
        cues = cues | Cues::LABEL;
    }
    cues
}

fn of_word(word: &[u8]) -> Cues {
    let mut lower = [0; 12];
    let Some(lower) = lower.get_mut(..word.len().min(12)) else { return Cues::default() };
    lower.copy_from_slice(&word[..lower.len()]);
    lower.make_ascii_lowercase();
    let words = match lower[0] {
        b'a' => A,
        b'b' => B,
        b'c' => C,
        b'd' => D,
        b'e' => E,
        b'f' => F,
        b'g' => G,
        b'h' => H,
        b'i' => I,
        b'l' => L,
        b'm' => M,
        b'n' => N,
        b'o' => O,
        b'p' => P,
        b'r' => R,
        b's' => S,
        b't' => T,
        b'v' => V,
        b'w' => W,
        b'y' => Y,
        _ => return Cues::default(),
    };
    let begins = |known: &[u8]| {
        let rest = lower.strip_prefix(known);
        rest.is_some_and(|rest| known.len() > 3 || rest.is_empty() || rest == b"s")
    };
    words.iter().filter(|(known, _)| begins(known)).fold(Cues::default(), |found, (_, cues)| found | *cues)
}

/// Words by their first letters: what begins so counts, but for the shortest, since the patterns are exact anyway.
type Words = &'static [(&'static [u8], Cues)];

const A: Words = &[
    (b"ai", Cues::WHO),
    (b"agent", Cues::WHO),
    (b"assistant", Cues::WHO),
    (b"attention", Cues(Cues::CALL.0 | Cues::GREET.0)),
    (b"allow", Cues::YIELD),
    (b"approve", Cues(Cues::YIELD.0 | Cues::APPROVED.0)),
    (b"accept", Cues::YIELD),
    (b"apply", Cues::APPLIES),
    (b"applies", Cues::APPLIES),
    (b"answer", Cues::ANSWER),
    (b"as", Cues::YOU),
    (b"act", Cues::YOU),
    (b"acting", Cues::YOU),
    (b"above", Cues::ORDERS),
    (b"anything", Cues::ORDERS),
];
const B: Words = &[(b"bot", Cues::WHO), (b"bypass", Cues(Cues::DROP.0 | Cues::YIELD.0))];
const C: Words = &[
    (b"claude", Cues::WHO),
    (b"codex", Cues::WHO),
    (b"copilot", Cues::WHO),
    (b"chat", Cues::WHO),
    (b"cursor", Cues::WHO),
    (b"can", Cues::MODAL),
    (b"check", Cues::ORDERS),
    (b"circumvent", Cues::DROP),
    (b"classif", Cues(Cues::ANSWER.0 | Cues::WHO.0)),
];
const D: Words = &[
    (b"dear", Cues::GREET),
    (b"directive", Cues::ORDERS),
    (b"disregard", Cues(Cues::DROP.0 | Cues::YIELD.0)),
    (b"do", Cues::DROP),
    (b"decision", Cues::ANSWER),
];
const E: Words = &[(b"everything", Cues::ORDERS), (b"earlier", Cues::ORDERS)];
const F: Words = &[(b"forget", Cues::DROP), (b"follow", Cues::DROP)];
const G: Words = &[
    (b"gpt", Cues::WHO),
    (b"gemini", Cues::WHO),
    (b"guard", Cues(Cues::WHO.0 | Cues::ORDERS.0)),
    (b"guideline", Cues::ORDERS),
];
const H: Words = &[
    (b"hey", Cues::GREET),
    (b"hello", Cues::GREET),
    (b"hi", Cues::GREET),
    (b"hook", Cues(Cues::WHO.0 | Cues::ORDERS.0)),
    (b"has", Cues::MODAL),
    (b"have", Cues::MODAL),
];
const I: Words = &[
    (b"ignor", Cues(Cues::DROP.0 | Cues::YIELD.0)),
    (b"instruction", Cues(Cues::CALL.0 | Cues::ORDERS.0)),
    (b"if", Cues::GREET),
];
const L: Words = &[(b"llm", Cues::WHO), (b"language", Cues::WHO), (b"linter", Cues::WHO), (b"let", Cues::YIELD)];
const M: Words = &[
    (b"model", Cues::WHO),
    (b"must", Cues::MODAL),
    (b"may", Cues::MODAL),
    (b"message", Cues::CALL),
    (b"memo", Cues::CALL),
];
const N: Words = &[(b"note", Cues::CALL), (b"notice", Cues::CALL), (b"new", Cues::NEW), (b"need", Cues::MODAL)];
const O: Words = &[(b"overr", Cues::DROP), (b"order", Cues::ORDERS), (b"only", Cues::YOU)];
const P: Words = &[
    (b"please", Cues::MODAL),
    (b"pass", Cues::YIELD),
    (b"permit", Cues::YIELD),
    (b"polic", Cues::ORDERS),
    (b"prompt", Cues::ORDERS),
    (b"preapproved", Cues::APPROVED),
    (b"prec", Cues::ORDERS),
    (b"previous", Cues::ORDERS),
    (b"prior", Cues::ORDERS),
];
const R: Words = &[
    (b"rule", Cues::ORDERS),
    (b"review", Cues(Cues::WHO.0 | Cues::ORDERS.0)),
    (b"restriction", Cues::ORDERS),
    (b"reminder", Cues::CALL),
    (b"respond", Cues::ANSWER),
    (b"reply", Cues::ANSWER),
    (b"route", Cues::ANSWER),
    (b"ruleline", Cues::WHO),
];
const S: Words = &[
    (b"should", Cues::MODAL),
    (b"shall", Cues::MODAL),
    (b"skip", Cues(Cues::DROP.0 | Cues::YIELD.0)),
    (b"stop", Cues::DROP),
    (b"say", Cues::ANSWER),
    (b"scanner", Cues::WHO),
];
const V: Words = &[(b"verdict", Cues::ANSWER)];
const W: Words = &[(b"will", Cues::MODAL), (b"wave", Cues::YIELD), (b"waive", Cues::YIELD)];
const Y: Words = &[(b"you", Cues::YOU)];
const T: Words = &[(b"to", Cues::GREET)];
