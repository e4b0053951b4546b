//! Refusals on their way from the log to the editor, with a clock of our own.

use ::hooks::{Grantor, Means};
use records::{Added, Entry, Finding, JudgedFile, Log, Outcome};
use system::Folders;

use super::*;
use crate::features::decisions::Standing;
use crate::session::document::Edit;
use crate::session::event::Reply;
use crate::session::live::News;
use crate::session::refusals::Command;

/// A project with a log, a file of it, and a session.
struct Project {
    case: Case,
    root: PathBuf,
    log: Log,
    next: u32,
    _keep: tempfile::TempDir,
}

fn profile() -> Profile {
    Profile { wants_decisions: true, wants_status: true, ..Profile::default() }
}

impl Project {
    fn new(profile: Profile) -> Project {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        let root = base.join("w");
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let folders = Folders { state: base.join("state"), ..Folders::below(&base.join("home")) };
        let log = Log::new(&root, &folders.state);
        let person = Grantor { means: Means::Editor, processes: vec!["editor".into()] };
        let engine = Arc::new(Engine::new(Some(folders), Ok(person)));
        Project { case: Case::of(engine, profile, root.clone()), root, log, next: 0, _keep: keep }
    }

    fn path(&self) -> PathBuf {
        self.root.join("a.py")
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
    }

    /// A decision about `eval(x)` before a line of the file, not in the log yet.
    fn entry(&mut self, outcome: Outcome, at: u32) -> Entry {
        self.next += 1;
        let finding = Finding {
            rule: Some("no-eval".into()),
            rulebook: Some(self.root.join(".ruleline/rules.toml")),
            rulebook_digest: Some("ab".repeat(32)),
            effect: if outcome == Outcome::Ask { "ask".into() } else { "deny".into() },
            line: at,
            at,
            what: format!("eval, {}", self.next),
        };
        let stopped = matches!(outcome, Outcome::Deny | Outcome::Ask);
        Entry {
            v: 1,
            id: format!("{:016x}", self.next),
            time: format!("2026-01-31T12:00:00.{:03}Z", self.next % 1000),
            agent: "claude".into(),
            session: None,
            event: "PreToolUse".into(),
            tool: "Edit".into(),
            root: self.root.clone(),
            files: vec![JudgedFile {
                path: self.path(),
                digest: "cd".repeat(32),
                added: vec![Added { line: at, at, text: "eval(x)".into() }],
                findings: if stopped { vec![finding] } else { Vec::new() },
                deleted: false,
            }],
            command: None,
            rulebooks: Vec::new(),
            guards: vec![("rules".into(), outcome, 1)],
            decision: outcome,
            reason: "no eval".into(),
            allowed_once: Vec::new(),
            parents: Vec::new(),
            took: 1,
            prev: String::new(),
            stretch: None,
        }
    }

    fn append(&self, mut entry: Entry) -> String {
        self.log.append(&mut entry).unwrap();
        entry.id
    }

    fn refuse(&mut self, at: u32) -> String {
        let entry = self.entry(Outcome::Deny, at);
        self.append(entry)
    }

    /// The log grew, and everything that comes of it is done.
    async fn look(&mut self) {
        self.case.take(Event::Live(News::Grown));
        self.done().await;
    }

    async fn done(&mut self) {
        while !self.case.rest().await {
            self.case.pass(Duration::from_millis(50));
        }
    }

    fn open(&mut self, text: &str) {
        let (uri, path) = (KEY.into(), Some(self.path()));
        self.case.take(Event::Opened { key: KEY.into(), uri, path, version: 1, text: text.into() });
    }

    fn edit(&mut self, version: i32, line: u32, text: &str) {
        let at = Position { line, column: 0 };
        let edits = vec![Edit { range: Some((at, at)), text: text.into() }];
        self.case.take(Event::Changed { key: KEY.into(), version, edits });
    }

    fn shown(&self, target: &Target) -> Vec<u32> {
        let shown = self.case.editor.shown.lock().unwrap();
        shown.get(target).map(|all| all.iter().map(|(line, _)| *line).collect()).unwrap_or_default()
    }

    fn in_buffer(&self) -> Vec<u32> {
        self.shown(&Target::Document(KEY.into()))
    }

    fn in_file(&self) -> Vec<u32> {
        self.shown(&Target::File(self.path()))
    }

    fn said(&self, wanted: impl Fn(&Said) -> bool) -> usize {
        self.case.editor.said.lock().unwrap().iter().filter(|said| wanted(said)).count()
    }

    async fn command(&mut self, command: Command) -> Result<Value, String> {
        let (reply, mut answer): (Reply, _) = oneshot::channel();
        self.case.take(Event::Refusal { command, reply });
        self.done().await;
        answer.try_recv().unwrap()
    }
}

#[tokio::test]
async fn a_refusal_is_shown_in_the_buffer_moves_with_it_and_ends_by_the_clock() {
    let mut project = Project::new(profile());
    project.write("a\nb\nc\n");
    project.look().await;
    assert_eq!(project.case.session.next_due(), None, "nothing to wait for");
    project.open("a\nb\nc\n");
    let id = project.refuse(2);
    project.look().await;
    assert_eq!(project.in_buffer(), [2]);
    assert_eq!(project.said(|said| *said == Said::Decision(id.clone())), 1);
    project.edit(2, 0, "😀\né\n");
    project.case.take(Event::Saved { key: KEY.into() });
    project.done().await;
    assert_eq!(project.in_buffer(), [4]);
    assert_eq!(project.case.session.list_decisions(9)[0].findings[0].line, 4);
    project.case.pass(Duration::from_secs(599));
    project.done().await;
    assert_eq!(project.in_buffer(), [4]);
    project.case.pass(Duration::from_secs(2));
    project.done().await;
    assert_eq!(project.in_buffer(), [0; 0]);
    assert_eq!(project.case.session.next_due(), None, "and no timer is left");
}

#[tokio::test]
async fn a_refusal_ends_when_lines_around_change_or_the_line_comes() {
    for (line, text, ends) in [(1, "x", true), (0, "x", true), (2, "x", false), (2, "eval(x)\n", true)] {
        let mut project = Project::new(profile());
        project.write("a\nb\nc\n");
        project.open("a\nb\nc\n");
        project.look().await;
        project.refuse(2);
        project.look().await;
        assert_eq!(project.in_buffer(), [2]);
        project.edit(2, line, text);
        project.done().await;
        assert_eq!(project.in_buffer().is_empty(), ends, "{line} {text:?}");
    }
}

#[tokio::test]
async fn a_refusal_in_a_changed_buffer_stands_at_the_nearest_sensible_line() {
    let mut project = Project::new(profile());
    project.write("a\nb\nc\n");
    project.open("new\nnew\na\nb\nc\n");
    project.look().await;
    project.refuse(2);
    project.refuse(40);
    project.look().await;
    assert_eq!(project.in_buffer(), [4, 5]);
}

#[tokio::test]
async fn a_file_that_is_not_open_shows_it_and_hands_it_over() {
    let mut project = Project::new(profile());
    project.write("a\nb\nc\n");
    project.look().await;
    project.refuse(3);
    project.look().await;
    assert_eq!(project.in_file(), [3]);
    project.open("new\na\nb\nc\n");
    project.done().await;
    assert_eq!((project.in_file(), project.in_buffer()), (vec![], vec![4]));
    project.case.take(Event::Closed { key: KEY.into() });
    project.done().await;
    assert_eq!((project.in_file(), project.in_buffer()), (vec![3], vec![]));
    project.write("0\n0\na\nb\nc\n");
    project.case.take(Event::Live(News::Touched(vec![project.path()])));
    project.done().await;
    assert_eq!(project.in_file(), [5]);
    project.write("a\nb\neval(x)\nc\n");
    project.case.take(Event::Live(News::Touched(vec![project.path()])));
    project.done().await;
    assert_eq!(project.in_file(), [0; 0]);
    assert_eq!(project.case.session.next_due(), None);
}

#[tokio::test]
async fn who_pulls_is_never_shown_a_file_twice() {
    let mut project = Project::new(Profile { pulls: true, refreshes: true, ..profile() });
    project.write("a\nb\nc\n");
    project.look().await;
    project.refuse(3);
    project.look().await;
    assert_eq!(project.in_file(), [3], "what is not open cannot be pulled");
    project.open("a\nb\nc\n");
    project.done().await;
    assert_eq!(project.in_file(), [0; 0], "what is open is pulled alone");
    let (reply, answer) = oneshot::channel();
    project.case.take(Event::Wanted { key: KEY.into(), reply });
    project.done().await;
    let report = answer.await.unwrap().unwrap();
    assert_eq!((report.diagnostics.len(), report.refused.len()), (1, 1));
    let refreshed = project.said(|said| *said == Said::Refresh);
    project.refuse(1);
    project.look().await;
    assert_eq!(project.said(|said| *said == Said::Refresh), refreshed + 1, "it is told to pull again");
    assert_eq!(project.said(|said| matches!(said, Said::Published(Target::Document(_), ..))), 0);
}

#[tokio::test]
async fn a_burst_is_told_once_and_bounded() {
    let mut project = Project::new(profile());
    project.write("a\nb\nc\n");
    project.look().await;
    for number in 0..1500 {
        let entry = project.entry(if number % 3 == 0 { Outcome::Deny } else { Outcome::Allow }, 1 + number % 3);
        project.append(entry);
    }
    project.look().await;
    assert_eq!(project.said(|said| matches!(said, Said::Decision(_))), crate::features::decisions::MOST);
    assert_eq!(project.said(|said| matches!(said, Said::Published(Target::File(_), ..))), 1);
    assert_eq!(project.case.session.list_decisions(usize::MAX).len(), crate::features::decisions::MOST);
    let status = project.case.editor.status.lock().unwrap().clone();
    assert_eq!(status["decisions"], json!({"refused": 500, "asked": 0, "judged": 1500}));
    assert_eq!(status["log"], json!({"state": "ok", "message": null}));
}

#[tokio::test]
async fn s23_only_lines_of_ours_and_of_projects_that_are_open_are_shown() {
    let mut project = Project::new(profile());
    project.write("a\nb\nc\n");
    let former = project.refuse(1);
    project.look().await;
    assert_eq!(project.in_file(), [0; 0], "what was before is listed and not shown");
    assert_eq!(project.case.session.list_decisions(9)[0].id, former);
    let mut other = project.entry(Outcome::Deny, 1);
    other.root = "/elsewhere".into();
    project.append(other);
    let mut forged = project.entry(Outcome::Deny, 2);
    forged.prev = "0".repeat(64);
    let line = serde_json::to_string(&forged).unwrap();
    let file = project.log.path();
    std::fs::write(&file, format!("{}{line}\n", std::fs::read_to_string(&file).unwrap())).unwrap();
    project.look().await;
    assert_eq!(project.said(|said| matches!(said, Said::Decision(_))), 0);
    let id = project.refuse(3);
    project.look().await;
    assert_eq!(project.said(|said| *said == Said::Decision(id.clone())), 1, "ours is found behind it");
    assert_eq!(project.in_file(), [3]);
}

#[tokio::test]
async fn s09_a_refusal_is_allowed_after_its_review_and_a_question() {
    let mut project = Project::new(profile());
    project.write("a\nb\nc\n");
    project.look().await;
    let id = project.refuse(2);
    project.look().await;
    let allow = |token: Option<&str>| Command::Allow { id: id.clone(), token: token.map(str::to_owned) };
    for token in [None, Some(""), Some("0000")] {
        let answer = project.command(allow(token)).await.unwrap();
        assert!(answer["file"].is_string(), "it only opens the review: {answer}");
    }
    assert_eq!(project.said(|said| matches!(said, Said::Asked(_))), 0);
    let file = project.command(Command::Review { id: id.clone() }).await.unwrap()["file"].clone();
    let file = PathBuf::from(file.as_str().unwrap());
    let token = |project: &Project| project.case.session.engine.reviews.allowances(&file)[0].1.clone();
    let first = token(&project);
    let answer = project.command(allow(Some(&first))).await.unwrap();
    assert_eq!(answer["message"], "Ruleline: nothing was changed", "a question that is not answered with yes");
    assert_eq!(project.said(|said| matches!(said, Said::Asked(text) if text.contains("rule no-eval in a.py"))), 1);
    let answer = project.command(allow(Some(&first))).await.unwrap();
    assert!(answer["file"].is_string(), "the token is used up: {answer}");
    *project.case.editor.chooses.lock().unwrap() = Some("Allow once");
    let token = token(&project);
    let answer = project.command(allow(Some(&token))).await.unwrap();
    assert!(answer["message"].as_str().unwrap().starts_with("Allowed once against rule no-eval in a.py"), "{answer}");
    let standing = |project: &Project| {
        let all = project.case.session.list_decisions(99);
        all.iter().find(|it| it.id == id).unwrap().exceptions.clone()
    };
    assert_eq!(standing(&project), [("no-eval".to_owned(), Standing::Waiting)]);
    assert_eq!(project.in_file(), [2], "until it is used");
    let mut passed = project.entry(Outcome::Allow, 2);
    passed.allowed_once = vec![id.clone()];
    project.append(passed);
    project.look().await;
    assert_eq!(project.in_file(), [0; 0]);
    assert_eq!(standing(&project), [("no-eval".to_owned(), Standing::Used)]);
    assert_eq!(project.case.session.list_decisions(1)[0].used, std::slice::from_ref(&id));
    assert!(project.command(Command::Review { id: "other".into() }).await.is_err());
}

#[tokio::test]
async fn s10_an_exception_that_nobody_used_is_shown_as_expired() {
    let mut project = Project::new(profile());
    project.write("a\n");
    project.look().await;
    let id = project.refuse(1);
    project.look().await;
    let act = crate::features::allowance::allowances(project.case.session.live.decisions.get(&id).unwrap()).unwrap();
    project.case.session.note_allowed(&act[0]);
    project.case.pass(guard::once::LASTS);
    assert_eq!(project.case.session.list_decisions(1)[0].exceptions, [("no-eval".to_owned(), Standing::Expired)]);
}

#[tokio::test]
async fn s09_nobody_allows_where_the_workspace_is_not_trusted() {
    let mut project = Project::new(Profile { options: json!({"trusted": false}), ..profile() });
    project.write("a\n");
    project.look().await;
    let id = project.refuse(1);
    project.look().await;
    assert!(!project.case.session.list_decisions(1)[0].reviewable);
    let said = project.command(Command::Allow { id: id.clone(), token: None }).await.unwrap_err();
    assert!(said.contains("not trusted in the editor"), "{said}");
    let answer = project.command(Command::Review { id }).await.unwrap();
    assert!(answer["message"].as_str().unwrap().contains("cannot be allowed from here"), "{answer}");
    let text = std::fs::read_to_string(answer["file"].as_str().unwrap()).unwrap();
    assert!(text.contains("eval(x)") && text.contains("not trusted in the editor"), "{text}");
}
