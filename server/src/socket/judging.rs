//! A request to its answer, from what the server has in memory: rulebooks compiled once, texts and trees of what it has
//! parsed before. What is not in memory is read from disk, and only if it is exactly what the hook named.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use guard::books::LARGEST;
use rules::{Case, Change, Finding, Judge, Rulebook, Work, claims};
use wire::{BookAnswer, BookRequest, Digest, JudgeRequest, Judged, Open, Pong, Refusal, Request, Response};

use super::answers::Answers;
use crate::engine::Engine;
use crate::rulebooks::Book;

/// The most rulebooks of one request; a file has one for each root above it.
const MOST_BOOKS: usize = 64;
/// The longest text judged, in bytes: what a hook itself would read.
const LONGEST_TEXT: usize = system::open::JUDGED_CAP as usize;

/// Answers from an engine that the session fills and uses too.
pub struct Judging {
    engine: Arc<Engine>,
    answers: Mutex<Answers>,
    judged: AtomicU64,
}

impl Judging {
    /// Answers from this engine.
    pub fn new(engine: Arc<Engine>) -> Judging {
        Judging { engine, answers: Mutex::default(), judged: AtomicU64::new(0) }
    }

    /// Answers one request. Bounded as judging is in a hook.
    pub fn answer(&self, request: &Request) -> Response {
        match request {
            Request::Ping => Response::Pong(Pong {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                pid: std::process::id(),
                judged: self.judged.load(Ordering::Relaxed),
                parses: self.engine.facts.parses(),
            }),
            Request::Judge(request) => self.judge(request).map_or_else(Response::Refused, Response::Judged),
        }
    }

    /// The answer to a request that needs no work: nothing is read and nothing is judged.
    pub fn known(&self, request: &Request) -> Option<Response> {
        match request {
            Request::Ping => Some(self.answer(request)),
            Request::Judge(request) => {
                let judged = self.answers().get(request)?;
                self.judged.fetch_add(1, Ordering::Relaxed);
                Some(Response::Judged(judged))
            }
        }
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge(&self, request: &JudgeRequest) -> Result<Judged, Refusal> {
        if request.books.len() > MOST_BOOKS {
            return Err(Refusal::Request);
        }
        let books = request.books.iter().map(|book| self.book(book)).collect::<Result<Vec<_>, _>>()?;
        if Digest::of_edit(request.before, &request.edit) != request.after {
            return Err(Refusal::Stale);
        }
        let before = request.before.map(|digest| self.before(&request.path, digest)).transpose()?;
        let after: Arc<str> = request.edit.apply(before.as_deref().unwrap_or_default()).ok_or(Refusal::Request)?.into();
        if after.len() > LONGEST_TEXT {
            return Err(Refusal::Large);
        }
        let facts = self.engine.facts.telling();
        let change = Change::between(String::new(), Vec::new(), before, after);
        let judge = Judge { facts: &facts, case: case_of(Path::new(&request.path)) };
        let answers = request.books.iter().zip(&books).map(|(asked, book)| {
            let change = change.named(asked.shown.clone(), asked.names.clone());
            answer(asked.digest, &judge, book.rules(), &change)
        });
        let judged = Judged { before: request.before, after: request.after, books: answers.collect() };
        self.judged.fetch_add(1, Ordering::Relaxed);
        self.answers().keep(request, &judged);
        Ok(judged)
    }

    /// The rulebook with exactly the bytes asked for.
    fn book(&self, asked: &BookRequest) -> Result<Arc<Book>, Refusal> {
        let path = Path::new(&asked.path);
        if let Some(book) = self.engine.rulebooks.known(path, asked.digest.0) {
            return Ok(book);
        }
        let (folder, name) = path.parent().zip(path.file_name()).ok_or(Refusal::Request)?;
        let bytes = system::open::read_below(folder, Path::new(name), LARGEST);
        let bytes = bytes.ok().flatten().filter(|bytes| digest(bytes) == asked.digest).ok_or(Refusal::Stale)?;
        Ok(self.engine.rulebooks.content(path, bytes))
    }

    /// The text before, from memory or as it is on disk.
    fn before(&self, path: &str, wanted: Digest) -> Result<Arc<str>, Refusal> {
        if let Some(text) = self.engine.facts.text(wanted.0) {
            return Ok(text);
        }
        let text = system::open::read_judged(Path::new(path)).ok().flatten();
        let text = text.filter(|text| digest(text.as_bytes()) == wanted).ok_or(Refusal::Stale)?;
        Ok(text.into())
    }
}

/// Whether globs look at case, as it is looked up for the innermost root above a file.
fn case_of(file: &Path) -> Case {
    let root = file.parent().and_then(|folder| system::roots::enclosing(folder).into_iter().next());
    let folder = root.as_ref().map_or(file, |root| &root.path);
    if system::paths::ignores_case(folder) { Case::Folded } else { Case::Exact }
}

fn digest(bytes: &[u8]) -> Digest {
    Digest(system::digest::sha256(bytes))
}

/// A verdict without its words. What nobody could put into the same words again, from the claim and the texts alone,
/// counts as not checked: the hook must look itself.
fn answer(asked: Digest, judge: &Judge<'_>, book: &Rulebook, change: &Change) -> BookAnswer {
    let verdict = judge.judge(book, change);
    let open = |rule, check| Open { rule, check };
    let mut unchecked: Vec<Open> = verdict.unchecked.iter().map(|one| open(one.rule, one.check)).collect();
    let (stated, claims): (Vec<&Finding>, Vec<claims::Claim>) =
        verdict.findings.iter().filter_map(|finding| Some((finding, claims::Claim::of(finding)?))).unzip();
    let again = judge.restate(book, change, &claims, &mut Work::default());
    let same = stated.iter().zip(&again).filter(|(finding, again)| Some(**finding) == again.as_ref()).count();
    if same < verdict.findings.len() {
        unchecked.extend(verdict.findings.iter().map(|finding| open(finding.rule, finding.check)));
    }
    BookAnswer { digest: asked, claims: claims.into_iter().map(Into::into).collect(), unchecked }
}

#[cfg(test)]
mod tests {
    use rules::FactSource;
    use wire::Splice;

    use super::*;

    const BOOK: &str = "[[rule]]\nid = 'calls'\npaths = ['**/*.py']\nforbid_calls = ['os.system']\n\
                        [[rule]]\nid = 'words'\npaths = ['**']\nforbid = ['bad']\n";
    const BEFORE: &str = "import os\nx = 1\n";
    const AFTER: &str = "import os\nos.system(x)  # bad\n";

    struct Place {
        folder: tempfile::TempDir,
        judging: Judging,
    }

    fn place() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap(), judging: Judging::new(Arc::default()) };
        place.write("rules.toml", BOOK);
        place.write("a.py", BEFORE);
        place
    }

    impl Place {
        fn path(&self, name: &str) -> String {
            self.folder.path().join(name).to_str().unwrap().to_owned()
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.path(name), text).unwrap();
        }

        fn request(&self, before: &str, after: &str) -> JudgeRequest {
            let (edit, before) = (Splice::between(before, after), Some(digest(before.as_bytes())));
            JudgeRequest {
                path: self.path("a.py"),
                before,
                after: Digest::of_edit(before, &edit),
                edit,
                books: vec![BookRequest {
                    path: self.path("rules.toml"),
                    digest: digest(BOOK.as_bytes()),
                    shown: "a.py".into(),
                    names: vec!["a.py".into()],
                }],
            }
        }

        fn judge(&self, request: JudgeRequest) -> Response {
            self.judging.answer(&Request::Judge(request))
        }
    }

    fn found(response: &Response) -> Vec<(usize, u32)> {
        let Response::Judged(judged) = response else { panic!("{response:?}") };
        assert!(judged.books.iter().all(|book| book.unchecked.is_empty()), "{judged:?}");
        judged.books.iter().flat_map(|book| &book.claims).map(|claim| (claim.rule, claim.line)).collect()
    }

    #[test]
    fn a_change_is_judged_from_disk_and_memory_and_loaded_and_parsed_once() {
        let place = place();
        for _ in 0..3 {
            let response = place.judge(place.request(BEFORE, AFTER));
            assert_eq!(found(&response), [(0, 2), (1, 2)]);
        }
        assert_eq!(place.judging.engine.rulebooks.loads(), 1);
        assert_eq!(place.judging.engine.facts.parses(), 1);
        // The text after is in memory now, as that of an open document is: the file need not have it.
        let next = AFTER.replace("bad", "fine");
        assert_eq!(found(&place.judge(place.request(AFTER, &next))), [(0, 2)]);
        assert_eq!(place.judging.engine.facts.parses(), 2);
    }

    #[test]
    fn an_equal_question_is_one_look_up() {
        let place = place();
        let request = Request::Judge(place.request(BEFORE, AFTER));
        assert_eq!(place.judging.known(&request), None);
        let first = place.judging.answer(&request);
        // Neither the file nor the rulebook is looked at again: the digests say what was judged.
        place.write("a.py", "x = 2\n");
        place.write("rules.toml", "# another\n");
        assert_eq!(place.judging.known(&request), Some(first));
        assert_eq!(place.judging.known(&Request::Judge(place.request(AFTER, BEFORE))), None);
    }

    #[test]
    fn what_an_open_document_was_parsed_for_is_not_parsed_again() {
        let place = place();
        place.judging.engine.facts.facts(syntax::Language::Python, &Arc::from(AFTER)).unwrap();
        assert_eq!(found(&place.judge(place.request(BEFORE, AFTER))), [(0, 2), (1, 2)]);
        assert_eq!(place.judging.engine.facts.parses(), 1);
    }

    #[test]
    fn only_exactly_what_was_named_is_judged() {
        type Bend = fn(&mut JudgeRequest);

        // As a hook that means what it says would name it.
        fn named(request: &mut JudgeRequest, start: usize, end: usize) {
            (request.edit.start, request.edit.end) = (start, end);
            request.after = Digest::of_edit(request.before, &request.edit);
        }

        let cases: [(&str, Bend, Refusal); 12] = [
            ("another before", |it| it.before = Some(digest(b"else")), Refusal::Stale),
            ("no before", |it| it.before = None, Refusal::Stale),
            ("another after", |it| it.after = digest(b"else"), Refusal::Stale),
            ("another edit", |it| it.edit.text.push('!'), Refusal::Stale),
            ("an edit behind the end", |it| named(it, 0, 1 << 40), Refusal::Request),
            ("an edit backwards", |it| named(it, 9, 3), Refusal::Request),
            ("another rulebook", |it| it.books[0].digest = digest(b"else"), Refusal::Stale),
            ("no such rulebook", |it| it.books[0].path.push('x'), Refusal::Stale),
            ("a folder for a rulebook", |it| it.books[0].path = "/tmp".into(), Refusal::Stale),
            ("a device for a rulebook", |it| it.books[0].path = "/dev/zero".into(), Refusal::Stale),
            ("a device for a file", |it| it.path = "/dev/zero".into(), Refusal::Stale),
            ("too many rulebooks", |it| it.books = vec![it.books[0].clone(); 65], Refusal::Request),
        ];
        for (name, bend, refusal) in cases {
            let place = place();
            let mut request = place.request(BEFORE, AFTER);
            bend(&mut request);
            assert_eq!(place.judge(request), Response::Refused(refusal), "{name}");
        }
        let place = place();
        place.write("rules.toml", "# another\n");
        assert_eq!(place.judge(place.request(BEFORE, AFTER)), Response::Refused(Refusal::Stale));
        let mut request = place.request(BEFORE, AFTER);
        request.after.0[0] ^= 1;
        assert_eq!(place.judge(request), Response::Refused(Refusal::Stale));
    }

    #[test]
    fn what_cannot_be_said_again_is_left_to_the_hook() {
        let place = place();
        // A name that is torn by what does not parse.
        let book = "[[rule]]\nid = 'i'\npaths = ['**']\nforbid_imports = ['yaml.*']\n";
        place.write("rules.toml", book);
        let mut request = place.request(BEFORE, "from yaml import loadx = os.system\n");
        request.books[0].digest = digest(book.as_bytes());
        let Response::Judged(judged) = place.judge(request) else { panic!() };
        assert!(!judged.books[0].unchecked.is_empty(), "{judged:?}");
    }

    #[test]
    fn a_file_that_is_not_there_yet_and_several_rulebooks() {
        let place = place();
        let mut request = place.request("", AFTER);
        (request.path, request.before) = (place.path("new.py"), None);
        request.after = Digest::of_edit(None, &request.edit);
        place.write("other.json", r#"{"rules": [{"id": "x", "paths": ["sub/**"], "forbid": ["os"]}]}"#);
        let mut second = request.books[0].clone();
        second.path = place.path("other.json");
        second.digest = digest(&std::fs::read(&second.path).unwrap());
        (second.shown, second.names) = ("sub/new.py".into(), vec!["sub/new.py".into()]);
        request.books.push(second);
        assert_eq!(found(&place.judge(request)), [(0, 2), (1, 2), (0, 1), (0, 2)]);
    }
}
