//! How many findings each rule of a rulebook has in the workspace, judged as `ruleline check` judges files.
//!
//! The rulebook on disk counts, over files on disk. What a file came to is kept as long as neither it nor the rulebook
//! changes, so that counting again costs a walk. Files, bytes, time and findings are bounded, and a count can be
//! stopped between two files. git is asked only where the workspace is trusted. It quotes no line, so that there is
//! nothing to mask.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use guard::stack::Named;
use guard::subject::{self, Subject, Text as Content};
use guard::walk::{self, Extent, Limits};
use guard::{Judging, LoadedBook, Place, RulebookSource, Surroundings};
use rules::plain::{LINE, PATH, plain};
use rules::{Check, Format};

use crate::engine::Engine;
use crate::facts::Digest;
use crate::features::actions::plain_id;
use crate::rulebooks::Book;

/// How far one count goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most files.
    pub files: usize,
    /// Most bytes that are read.
    pub bytes: u64,
    /// Longest time.
    pub time: Duration,
    /// Most findings.
    pub findings: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { files: 10_000, bytes: 256 << 20, time: Duration::from_secs(20), findings: 20_000 }
    }
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The rulebook.
    pub place: Place,
    /// The folders whose files are judged.
    pub folders: Vec<PathBuf>,
    /// Whether git is asked for the files that it tracks although they are ignored.
    pub asks_git: bool,
}

impl Scope {
    /// The scope of the rulebook in a file, with links resolved: its project as far as it is open, or all that is open
    /// for the user's. None where nothing of it is open. Blocks.
    pub fn of(path: &Path, user: Option<&Path>, workspaces: &[PathBuf], asks_git: bool) -> Option<Scope> {
        let workspaces: Vec<PathBuf> = workspaces.iter().map(|folder| system::paths::resolve(folder)).collect();
        let of_user = user.map(Place::of_user).filter(|place| system::paths::resolve(&place.path()) == path);
        let (place, folders) = if let Some(place) = of_user {
            (place, workspaces)
        } else {
            let root = path.parent()?.parent()?;
            let relative = path.strip_prefix(root).ok()?.to_path_buf();
            let is_open = workspaces.iter().any(|folder| root.starts_with(folder));
            let below = |folder: &PathBuf| folder.starts_with(root);
            let folders =
                if is_open { vec![root.to_path_buf()] } else { workspaces.into_iter().filter(below).collect() };
            (Place { root: root.to_path_buf(), relative }, folders)
        };
        (!folders.is_empty()).then_some(Scope { place, folders, asks_git })
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    /// Index into the rulebook's rules.
    rule: usize,
    /// From 1; 0 is the file as a whole.
    line: u32,
    what: Box<str>,
}

/// What one file came to.
#[derive(Debug, Clone, Default)]
struct Outcome {
    found: Vec<Found>,
    /// The rules that could not be asked, each once.
    unchecked: Vec<usize>,
}

/// What tells that a file is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signature {
    length: u64,
    modified: Option<SystemTime>,
    /// Of the system, where it has one: change time and number of the file.
    own: (i64, i64, u64),
}

/// What files came to, for the next count.
#[derive(Debug, Default)]
pub struct Known {
    /// The rulebook.
    digest: Option<Digest>,
    files: HashMap<PathBuf, (Signature, Outcome)>,
}

/// Why a count is no whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// So many files.
    Files(usize),
    /// So many bytes.
    Bytes(u64),
    /// So long.
    Time(Duration),
    /// So many findings.
    Findings(usize),
}

/// A count that came to its end.
#[derive(Debug, Clone)]
pub struct Counted {
    /// The rulebook that was counted.
    book: Arc<Book>,
    files: Vec<(PathBuf, Outcome)>,
    over: Option<Over>,
}

/// What a count gave.
#[derive(Debug, Default)]
pub struct Count {
    /// None when it was stopped, or the rulebook cannot be read.
    pub counted: Option<Counted>,
    /// What is kept.
    pub known: Known,
    /// How many files were judged.
    pub judged: u64,
}

/// The rulebook that is counted and no other.
struct Only<'a> {
    path: &'a Path,
    book: &'a Arc<LoadedBook>,
}

impl RulebookSource for Only<'_> {
    fn load(&self, place: &Place) -> Result<Option<Arc<LoadedBook>>, String> {
        Ok((place.path() == self.path).then(|| self.book.clone()))
    }

    fn recall(&self, path: &Path, bytes: Vec<u8>) -> Arc<LoadedBook> {
        Arc::new(LoadedBook::from_bytes(path.to_path_buf(), bytes))
    }
}

/// Counts; `known` is what the last count of this rulebook kept. Blocks.
pub fn count(engine: &Engine, scope: &Scope, mut known: Known, bounds: Bounds, stopped: &AtomicBool) -> Count {
    let begun = Instant::now();
    let stop = || stopped.load(Ordering::Relaxed);
    let Ok(Some(shelved)) = engine.rulebooks.at(&scope.place) else { return Count { known, ..Count::default() } };
    let book = shelved.current;
    let digest = book.loaded.digest();
    if known.digest.replace(digest) != Some(digest) {
        known.files.clear();
    }
    let is_late = || begun.elapsed() >= bounds.time;
    let goes = || stop() || is_late();
    let limits = Limits { files: bounds.files, asks_git: scope.asks_git, stop: &goes };
    let mut over = None;
    let subjects = match walk::files(&scope.place.root, &scope.folders, limits) {
        Ok(found) => {
            match found.extent {
                Extent::Whole => {}
                Extent::More => over = Some(Over::Files(bounds.files)),
                Extent::Stopped => over = Some(Over::Time(bounds.time)),
            }
            found.subjects
        }
        // A folder of the workspace that is gone has no findings.
        Err(_) => Vec::new(),
    };
    if stop() {
        return Count { known, ..Count::default() };
    }
    let user = engine.folders.as_ref().map(|folders| folders.user.as_path());
    let mut surroundings = Surroundings::new(scope.folders.first().cloned().unwrap_or_default(), None);
    if scope.place.format() == Format::Json {
        surroundings.named = Some(Named { path: scope.place.path(), replaces: true });
    }
    let path = scope.place.path();
    let source = Only { path: &path, book: &book.loaded };
    let judging =
        Judging { books: &source, facts: &engine.facts, accelerator: None, surroundings: &surroundings, user };
    // What lies over the bound of files is not judged: it would be half of the truth.
    let subjects = if over.is_none() { subjects } else { Vec::new() };
    let mut former = if over.is_none() { std::mem::take(&mut known.files) } else { HashMap::new() };
    let mut files = Vec::new();
    let (mut judged, mut bytes, mut findings) = (0, 0, 0);
    let mut rest = subjects.iter();
    for subject in rest.by_ref() {
        if stop() {
            break;
        }
        let signature = signature(&subject.file.written);
        let kept = former.remove(&subject.file.written).filter(|(before, _)| signature == Some(*before));
        let outcome = if let Some((_, outcome)) = kept {
            outcome
        } else {
            bytes += signature.map_or(0, |it| it.length);
            if is_late() {
                over = Some(Over::Time(bounds.time));
            } else if bytes > bounds.bytes {
                over = Some(Over::Bytes(bounds.bytes));
            }
            if over.is_some() {
                break;
            }
            judged += 1;
            judge(&judging, subject, bounds.findings)
        };
        findings += outcome.found.len();
        if !outcome.found.is_empty() || !outcome.unchecked.is_empty() {
            files.push((subject.file.written.clone(), outcome.clone()));
        }
        known.files.extend(signature.map(|signature| (subject.file.written.clone(), (signature, outcome))));
        if findings > bounds.findings {
            over = Some(Over::Findings(bounds.findings));
            break;
        }
    }
    // What was not come to is known as before.
    for subject in rest {
        known.files.extend(former.remove_entry(&subject.file.written));
    }
    let counted = (!stop()).then_some(Counted { book, files, over });
    Count { counted, known, judged }
}

/// What one file comes to, as `ruleline check` would have it; of findings no more than tell that there are too many.
fn judge(judging: &Judging<'_>, subject: &Subject, most: usize) -> Outcome {
    let mut outcome = Outcome::default();
    subject::read_each(std::slice::from_ref(subject), |subject, sides| {
        // A file that cannot be read has no findings; `check` says so.
        let Ok(sides) = sides else { return };
        let stack = judging.stack(&subject.file);
        let change = subject::change(&stack.shown, &sides);
        let is_opaque = sides.after == Content::Opaque;
        let counts = |check: Check| subject::counts(check, is_opaque, false);
        let mut known = HashSet::new();
        for part in judging.judge(&subject.file, &stack, &change, None).parts {
            for finding in part.verdict.findings.into_iter().filter(|finding| counts(finding.check)) {
                let Some(rule) = finding.rule else { continue };
                // Several names of one file, and several patterns in one place, say the same.
                if outcome.found.len() <= most
                    && known.insert((rule, finding.line, finding.span.clone(), finding.what.clone()))
                {
                    let what = plain(&finding.what, LINE).into();
                    outcome.found.push(Found { rule, line: finding.line, what });
                }
            }
            let unchecked = part.verdict.unchecked.into_iter().filter(|unchecked| counts(unchecked.check));
            outcome.unchecked.extend(unchecked.filter_map(|unchecked| unchecked.rule));
        }
        outcome.unchecked.sort_unstable();
        outcome.unchecked.dedup();
    });
    outcome.found.sort_by_key(|found| (found.rule, found.line));
    outcome
}

fn signature(path: &Path) -> Option<Signature> {
    let metadata = path.symlink_metadata().ok()?;
    #[cfg(unix)]
    let own = {
        use std::os::unix::fs::MetadataExt as _;
        (metadata.ctime(), metadata.ctime_nsec(), metadata.ino())
    };
    #[cfg(not(unix))]
    let own = (0, 0, 0);
    Some(Signature { length: metadata.len(), modified: metadata.modified().ok(), own })
}

/// A rule as a lens stands over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lens {
    /// Where the rule begins.
    pub at: usize,
    /// Its id.
    pub rule: String,
    /// What it says, as a digest: only a rule that is saved as it stands can be counted.
    pub says: String,
}

/// The lenses over the rules of a rulebook; none while it does not parse.
pub fn lenses(book: &Book) -> Vec<Lens> {
    let rules = &book.rules().rules;
    let lens = |rule: &rules::Rule| Lens { at: rule.span.start, rule: rule.id.clone(), says: says(book, rule) };
    rules.iter().map(lens).collect()
}

fn says(book: &Book, rule: &rules::Rule) -> String {
    let text = book.text.text.get(rule.span.clone()).unwrap_or_default();
    system::digest::sha256_hex(text.as_bytes())[..16].to_owned()
}

impl Counted {
    /// What a lens over the rule says, which says `says` where the lens stands.
    pub fn title(&self, id: &str, says: &str) -> String {
        match self.rule(id) {
            Some(index) if self::says(&self.book, &self.book.rules().rules[index]) == says => self.summary(index),
            _ => "save to count its findings".to_owned(),
        }
    }

    fn rule(&self, id: &str) -> Option<usize> {
        self.book.rules().rules.iter().position(|rule| rule.id == id)
    }

    fn found(&self, rule: usize) -> impl Iterator<Item = (&Path, &Found)> {
        self.files.iter().flat_map(move |(path, outcome)| {
            outcome.found.iter().filter(move |found| found.rule == rule).map(move |found| (path.as_path(), found))
        })
    }

    fn summary(&self, rule: usize) -> String {
        if self.book.rules().disabled(rule).is_some() {
            return "disabled by an error".to_owned();
        }
        if self.book.rules().rules[rule].is_about_any_change() {
            return "about any change of its files".to_owned();
        }
        if let Some(over) = self.over {
            return format!("{over}: run `ruleline check`");
        }
        let findings = self.found(rule).count();
        let with = |has: &dyn Fn(&Outcome) -> bool| self.files.iter().filter(|(_, outcome)| has(outcome)).count();
        let files = with(&|outcome| outcome.found.iter().any(|found| found.rule == rule));
        let unchecked = with(&|outcome| outcome.unchecked.contains(&rule));
        let found = match findings {
            0 => "no findings".to_owned(),
            _ => format!("{} in {}", many(findings, "finding"), many(files, "file")),
        };
        match unchecked {
            0 => found,
            _ => format!("{found}, {} could not be checked", many(unchecked, "file")),
        }
    }

    /// The findings of a rule as a text to read, a place a line; none for a rule that the rulebook on disk has not.
    pub fn listing(&self, id: &str) -> Option<String> {
        let index = self.rule(id)?;
        let rule = &self.book.rules().rules[index];
        let shown = |path: &Path| plain(&system::paths::shown(path), PATH);
        let line = self.book.text.line_number(rule.id_span.start);
        let (path, summary) = (shown(&self.book.loaded.path), self.summary(index));
        let mut text = format!("Rule {} of {path}:{line}\n{summary}\n", plain_id(id));
        if self.over.is_none() && self.book.rules().disabled(index).is_none() {
            let places = self.found(index).map(|(path, found)| match found.line {
                0 => format!("\n{}: {}", shown(path), found.what),
                line => format!("\n{}:{line}: {}", shown(path), found.what),
            });
            text.extend(places);
            let open = self.files.iter().filter(|(_, outcome)| outcome.unchecked.contains(&index));
            text.extend(open.map(|(path, _)| format!("\n{}: could not be checked", shown(path))));
        }
        Some(text + "\n")
    }
}

impl std::fmt::Display for Over {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Over::Files(files) => write!(out, "over {} files", thousands(*files)),
            Over::Bytes(bytes) => write!(out, "over {} MiB", bytes >> 20),
            Over::Time(time) => write!(out, "over {} s", time.as_secs()),
            Over::Findings(findings) => write!(out, "over {} findings", thousands(*findings)),
        }
    }
}

fn many(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", thousands(count)) }
}

/// `10,000`
fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const RULES: &str = "[[rule]]\nid = \"no-eval\"\npaths = [\"**/*.py\"]\nforbid_calls = [\"eval\"]\n\n\
                         [[rule]]\nid = \"todo\"\npaths = [\"**\"]\nforbid = ['TODO', 'TOD.']\non_fail = \"warn\"\n\n\
                         [[rule]]\nid = \"locked\"\npaths = [\"**/*.py\"]\n\n\
                         [[rule]]\nid = \"broken\"\npaths = [\"**/*.py\"]\nforbid = ['(']\n";

    struct Case {
        temp: tempfile::TempDir,
        engine: Engine,
        known: Known,
        bounds: Bounds,
    }

    impl Case {
        fn new(rules: &str) -> Case {
            let temp = tempfile::tempdir().unwrap();
            let case = Case { temp, engine: Engine::default(), known: Known::default(), bounds: Bounds::default() };
            case.write(".ruleline/rules.toml", rules);
            case
        }

        fn root(&self) -> PathBuf {
            self.temp.path().canonicalize().unwrap()
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn count_until(&mut self, stopped: &AtomicBool) -> Count {
            let path = self.root().join(".ruleline/rules.toml");
            let scope = Scope::of(&path, None, &[self.root()], false).unwrap();
            let known = std::mem::take(&mut self.known);
            let mut count = count(&self.engine, &scope, known, self.bounds, stopped);
            self.known = std::mem::take(&mut count.known);
            count
        }

        /// Titles in the order of the rules, and how many files were judged for them.
        fn titles(&mut self) -> (Vec<String>, u64) {
            let Count { counted, judged, .. } = self.count_until(&AtomicBool::new(false));
            let counted = counted.unwrap();
            let lenses = lenses(&counted.book);
            (lenses.iter().map(|lens| counted.title(&lens.rule, &lens.says)).collect(), judged)
        }
    }

    #[test]
    fn findings_are_counted_by_rule_and_a_file_is_judged_once() {
        let mut case = Case::new(RULES);
        case.write("a.py", "eval(1)  # TODO TODO\neval(2)\n");
        case.write("b/c.py", "eval(1)\n");
        case.write("b/copy.py", "eval(1)\n");
        case.write("image", "a\0TODO");
        let expected =
            ["4 findings in 3 files", "2 findings in 2 files", "about any change of its files", "disabled by an error"];
        // The rulebook is a file of the project too, and names what the second rule forbids.
        let (titles, judged) = case.titles();
        assert_eq!(titles[0], expected[0]);
        assert_eq!(titles[2..], expected[2..]);
        assert_eq!((judged, case.engine.facts.parses()), (5, 2), "one parse for each content");
        assert_eq!(case.titles(), (titles.clone(), 0), "nothing changed, so nothing is judged");

        case.write("b/c.py", "pass\n");
        let (after, judged) = case.titles();
        assert_eq!((after[0].as_str(), judged), ("3 findings in 2 files", 1));
        fs::remove_file(case.root().join("a.py")).unwrap();
        assert_eq!(case.titles().0[0], "1 finding in 1 file");

        case.write(".ruleline/rules.toml", &RULES.replace("\"eval\"", "\"exec\""));
        case.engine.rulebooks.forget();
        let (after, judged) = case.titles();
        assert_eq!((after[0].as_str(), judged), ("no findings", 4), "another rulebook judges all anew");
    }

    #[test]
    fn a_count_is_bounded_and_says_so() {
        let usual = Bounds::default();
        for (bounds, title, judged) in [
            (Bounds { files: 3, ..usual }, "over 3 files: run `ruleline check`", 0),
            (Bounds { bytes: 0, ..usual }, "over 0 MiB: run `ruleline check`", 0),
            (Bounds { time: Duration::ZERO, ..usual }, "over 0 s: run `ruleline check`", 0),
            (Bounds { findings: 2, ..usual }, "over 2 findings: run `ruleline check`", 3),
            (usual, "6 findings in 3 files", 4),
        ] {
            let mut case = Case::new("[[rule]]\nid = \"a\"\npaths = [\"*.py\"]\nforbid = ['x']\n");
            for name in ["a.py", "b.py", "c.py"] {
                case.write(name, "x\nx\n");
            }
            case.bounds = bounds;
            assert_eq!(case.titles(), (vec![title.to_owned()], judged), "{bounds:?}");
            // What was judged on the way is known from then on.
            case.bounds = usual;
            assert_eq!(case.titles(), (vec!["6 findings in 3 files".to_owned()], 4 - judged));
        }
        assert_eq!(Over::Files(10_000).to_string(), "over 10,000 files");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }

    #[test]
    fn a_stopped_count_gives_nothing_and_keeps_what_was_known() {
        let mut case = Case::new("[[rule]]\nid = \"a\"\npaths = [\"*.py\"]\nforbid = ['x']\n");
        case.write("a.py", "x\n");
        case.titles();
        assert!(case.count_until(&AtomicBool::new(true)).counted.is_none());
        case.known.files.clear();
        let stopped = case.count_until(&AtomicBool::new(true));
        assert_eq!((stopped.counted.is_none(), stopped.judged), (true, 0));
    }

    #[test]
    fn only_what_is_saved_as_it_stands_is_counted() {
        let mut case = Case::new(RULES);
        case.write("a.py", "eval(1)\n");
        let counted = case.count_until(&AtomicBool::new(false)).counted.unwrap();
        let buffer = RULES.replace("\"eval\"", "\"exec\"").replace("\"locked\"", "\"other\"");
        let buffer = case.engine.rulebooks.content(Path::new("/buffer"), buffer.into_bytes());
        let titles: Vec<String> = lenses(&buffer).iter().map(|it| counted.title(&it.rule, &it.says)).collect();
        let unsaved = "save to count its findings";
        assert_eq!((titles[0].as_str(), titles[2].as_str()), (unsaved, unsaved));
        assert!(titles[1].contains("finding"), "{titles:?}");
        let text = buffer.text.clone();
        assert!(lenses(&buffer).iter().all(|lens| text.text[lens.at..].starts_with("[[rule]]")));
    }

    #[test]
    fn a_listing_names_places_and_quotes_nothing() {
        let mut case = Case::new(&RULES.replace("forbid_calls", "redact = true\nforbid_calls"));
        case.write("a.py", "eval('secret')\n");
        case.write("b\n.py", "eval(1)\n");
        let counted = case.count_until(&AtomicBool::new(false)).counted.unwrap();
        assert_eq!(counted.found(2).count(), 0, "nothing changed, so that nothing is found of a rule about any change");
        let text = counted.listing("no-eval").unwrap().replace(case.root().to_str().unwrap(), "ROOT");
        let expected = "Rule no-eval of ROOT/.ruleline/rules.toml:2\n2 findings in 2 files\n\n\
                        ROOT/a.py:1: calls eval\nROOT/b\\n.py:1: calls eval\n";
        assert_eq!(text, expected);
        assert_eq!(counted.listing("gone"), None);
    }

    #[test]
    fn a_json_rulebook_is_counted_as_one_that_check_is_given() {
        let case = Case::new("");
        case.write(".ruleline/rules.json", r#"{"rules": [{"id": "a", "paths": ["src/*.py"], "forbid": ["x"]}]}"#);
        case.write("src/a.py", "x\ny\nx\n");
        let scope = Scope::of(&case.root().join(".ruleline/rules.json"), None, &[case.root()], false).unwrap();
        let stopped = AtomicBool::new(false);
        let counted = count(&case.engine, &scope, Known::default(), Bounds::default(), &stopped).counted.unwrap();
        let lens = &lenses(&counted.book)[0];
        assert_eq!(counted.title("a", &lens.says), "2 findings in 1 file");
        assert!(counted.book.text.text[lens.at..].starts_with("{\"id\""));
    }

    #[test]
    fn a_rulebook_is_counted_over_what_is_open_of_its_project() {
        let folders = |path: &str, user: Option<&str>, open: &[&str]| {
            let open: Vec<PathBuf> = open.iter().map(PathBuf::from).collect();
            Scope::of(Path::new(path), user.map(Path::new), &open, false).map(|scope| scope.folders)
        };
        let rules = "/w/p/.ruleline/rules.toml";
        for (path, open, expected) in [
            (rules, &["/w/p"][..], Some(&["/w/p"][..])),
            (rules, &["/w"], Some(&["/w/p"])),
            (rules, &["/w/p/a", "/w/p/b", "/x"], Some(&["/w/p/a", "/w/p/b"])),
            (rules, &["/x"], None),
            (rules, &[], None),
            ("/home/me/.config/ruleline/rules.toml", &["/w", "/x"], Some(&["/w", "/x"])),
        ] {
            let expected = expected.map(|folders| folders.iter().map(PathBuf::from).collect());
            assert_eq!(folders(path, Some("/home/me/.config/ruleline"), open), expected, "{path} {open:?}");
        }
    }
}
