mod counting;

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch::channel;

use super::editor::{Answered, Level, Place, Target};
use super::*;
use crate::features::decisions::Decision;
use crate::features::diagnostics::Report;
use crate::text::Position;

mod live;
mod unsaved;

const KEY: &str = "file:///w/a.py";

/// What the session said to its editor.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Published(Target, Option<i32>, usize),
    Refresh,
    Message(Level, String),
    Watch,
    Open(String),
    Decision(String),
    Asked(String),
}

#[derive(Default)]
pub(super) struct FakeEditor {
    said: Mutex<Vec<Said>>,
    /// What is shown of each target: the line, from 1, and the message.
    shown: Mutex<HashMap<Target, Vec<(u32, String)>>>,
    status: Mutex<Value>,
    /// What a person answers.
    chooses: Mutex<Option<&'static str>>,
}

impl FakeEditor {
    fn note(&self, said: Said) {
        self.said.lock().unwrap().push(said);
    }
}

impl Editor for FakeEditor {
    fn meet(&self, _: &Profile) {}

    fn publish(&self, target: &Target, report: &Report) {
        let line = |span: &syntax::Span| report.text.line_number(span.start);
        let shown = report.diagnostics.iter().map(|it| (line(&it.span), it.message.clone())).collect();
        self.shown.lock().unwrap().insert(target.clone(), shown);
        self.note(Said::Published(target.clone(), report.version, report.diagnostics.len()));
    }

    fn refresh(&self) {
        self.note(Said::Refresh);
    }

    fn say(&self, level: Level, text: &str) {
        self.note(Said::Message(level, text.to_owned()));
    }

    fn watch(&self) {
        self.note(Said::Watch);
    }

    fn open(&self, place: Place) {
        self.note(Said::Open(place.otherwise));
    }

    fn ask(&self, question: &str, _: [&'static str; 2], answered: Answered) {
        self.note(Said::Asked(question.to_owned()));
        answered(Ok(self.chooses.lock().unwrap().map(str::to_owned)));
    }

    fn refresh_lenses(&self) {}

    fn tell_status(&self, status: &Value) {
        *self.status.lock().unwrap() = status.clone();
    }

    fn tell_filling(&self, _: &std::path::Path, _: super::editor::Filling) {}

    fn tell_decision(&self, decision: &Decision) {
        self.note(Said::Decision(decision.id.clone()));
    }
}

/// A session whose events are handed over one by one.
struct Case {
    session: Session,
    editor: Arc<FakeEditor>,
    arriving: mpsc::UnboundedReceiver<Event>,
    sender: mpsc::UnboundedSender<Event>,
    now: Arc<Mutex<Instant>>,
}

impl Case {
    fn new(profile: Profile) -> Case {
        Case::of(Arc::default(), profile, "/w".into())
    }

    fn of(engine: Arc<Engine>, profile: Profile, folder: PathBuf) -> Case {
        let editor = Arc::new(FakeEditor::default());
        let now = Arc::new(Mutex::new(Instant::now()));
        let told = now.clone();
        let clock: Clock = Arc::new(move || *told.lock().unwrap());
        let (sender, arriving) = mpsc::unbounded_channel();
        let session = Session::new(engine, editor.clone(), clock, &sender, channel(Vec::new()).0);
        let mut case = Case { session, editor, arriving, sender, now };
        case.take(Event::Started { profile, folders: vec![folder] });
        case
    }

    fn take(&mut self, event: Event) {
        self.session.survive(event);
    }

    fn open(&mut self, version: i32, text: &str) {
        let (uri, path) = (KEY.into(), Some(PathBuf::from("/w/a.py")));
        self.take(Event::Opened { key: KEY.into(), uri, path, version, text: text.into() });
    }

    fn change(&mut self, version: i32, text: &str) {
        let edits = vec![document::Edit { range: None, text: text.into() }];
        self.take(Event::Changed { key: KEY.into(), version, edits });
    }

    /// The next judgement of a worker, not yet handed over.
    async fn judgement(&mut self) -> Event {
        loop {
            match self.arriving.recv().await.unwrap() {
                event @ Event::Judged { .. } => return event,
                other => self.take(other),
            }
        }
    }

    /// Judges until nothing waits.
    async fn settle(&mut self) {
        self.session.settle();
        while !self.session.schedule.is_idle() {
            let event = self.judgement().await;
            self.take(event);
            self.pass(Duration::from_secs(1));
            self.session.settle();
        }
    }

    /// Handles all that workers bring until they have nothing more to do; whether the logs are read to their ends.
    async fn rest(&mut self) -> bool {
        loop {
            self.session.settle();
            let idle = self.session.workers.are_idle();
            let mut quiet = true;
            while let Ok(event) = self.arriving.try_recv() {
                self.take(event);
                quiet = false;
            }
            if idle && quiet && self.session.schedule.is_idle() {
                return !self.session.live.grown;
            }
            if quiet {
                tokio::time::sleep(Duration::from_millis(1)).await;
                self.pass(Duration::from_millis(1));
            }
        }
    }

    fn pass(&self, time: Duration) {
        *self.now.lock().unwrap() += time;
    }

    fn published(&self) -> Vec<Option<i32>> {
        let said = self.editor.said.lock().unwrap();
        let versions = said.iter().filter_map(|said| match said {
            Said::Published(Target::Document(_), version, _) => Some(*version),
            _ => None,
        });
        versions.collect()
    }

    fn text(&self) -> String {
        self.session.documents[KEY].text.text.to_string()
    }
}

#[tokio::test]
async fn a_change_is_judged_and_published_with_its_version() {
    let mut case = Case::new(Profile::default());
    case.open(1, "a\n");
    case.settle().await;
    case.change(2, "b\n");
    case.settle().await;
    assert_eq!(case.published(), [Some(1), Some(2)]);
    assert_eq!(case.session.schedule.next_due(), None, "an idle session has no timer");
}

#[tokio::test]
async fn changes_that_arrive_together_are_judged_once() {
    let mut case = Case::new(Profile::default());
    case.open(1, "a\n");
    for version in 2..=1000 {
        case.change(version, &format!("{version}\n"));
    }
    case.settle().await;
    assert_eq!(case.published(), [Some(1000)]);
}

#[tokio::test]
async fn a_result_for_an_older_text_is_never_published() {
    let mut case = Case::new(Profile::default());
    case.open(1, "a\n");
    case.session.settle();
    let late = case.judgement().await;
    case.change(2, "b\n");
    case.take(late);
    assert_eq!(case.published(), []);
    case.pass(schedule::LONGEST);
    case.settle().await;
    assert_eq!(case.published(), [Some(2)]);
}

#[tokio::test]
async fn a_result_for_a_document_that_was_closed_and_opened_again_is_not_published() {
    let mut case = Case::new(Profile::default());
    case.open(1, "a\n");
    case.session.settle();
    let late = case.judgement().await;
    case.take(Event::Closed { key: KEY.into() });
    case.open(1, "b\n");
    case.take(late);
    assert_eq!(case.published(), [Some(1)], "only what clears the closed document");
    case.settle().await;
    assert_eq!(case.published(), [Some(1), Some(1)]);
}

#[tokio::test]
async fn older_versions_are_dropped() {
    let mut case = Case::new(Profile::default());
    case.open(5, "five\n");
    case.change(4, "four\n");
    case.change(5, "five again\n");
    assert_eq!(case.text(), "five\n");
    case.change(7, "seven\n");
    case.change(6, "six\n");
    assert_eq!(case.text(), "seven\n");
}

#[tokio::test]
async fn a_panic_in_one_event_costs_that_event_alone() {
    let mut case = Case::new(Profile::default());
    case.open(1, "a\n");
    case.take(Event::Panic);
    case.change(2, "b\n");
    case.take(Event::Panic);
    case.settle().await;
    assert_eq!(case.published(), [Some(2)]);
}

#[tokio::test]
async fn a_worker_that_panics_is_shown_as_could_not_judge() {
    let mut case = Case::new(Profile::default());
    case.open(1, "a\n");
    case.session.settle();
    let Event::Judged { key, stamp, .. } = case.judgement().await else { unreachable!() };
    case.take(Event::Judged { key, stamp, found: None });
    let said = case.editor.said.lock().unwrap().clone();
    assert_eq!(said, [Said::Published(Target::Document(KEY.into()), Some(1), 1)]);
}

#[tokio::test]
async fn a_barrier_waits_until_everything_is_shown() {
    let mut case = Case::new(Profile::default());
    case.open(1, "a\n");
    case.session.settle();
    let late = case.judgement().await;
    case.change(2, "b\n");
    case.take(late);
    let (reply, mut done) = oneshot::channel();
    case.take(Event::Barrier { reply });
    case.session.settle();
    assert!(done.try_recv().is_err(), "the second text is being judged");
    let result = case.judgement().await;
    case.take(result);
    case.session.settle();
    assert!(done.try_recv().is_ok());
    assert_eq!(case.published(), [Some(2)]);
}

#[tokio::test]
async fn who_pulls_is_never_published_to() {
    let profile = Profile { pulls: true, refreshes: true, ..Profile::default() };
    let mut case = Case::new(profile);
    case.open(1, "a\n");
    case.settle().await;
    let (reply, answer) = oneshot::channel();
    case.take(Event::Wanted { key: KEY.into(), reply });
    assert_eq!(answer.await.unwrap().unwrap().version, Some(1));
    case.change(2, "b\n");
    let (reply, answer) = oneshot::channel();
    case.take(Event::Wanted { key: KEY.into(), reply });
    case.settle().await;
    assert_eq!(answer.await.unwrap().unwrap().version, Some(2), "the answer waits for the present text");
    case.take(Event::Watched { paths: vec!["/w/.ruleline/rules.toml".into()] });
    case.take(Event::Closed { key: KEY.into() });
    assert_eq!(*case.editor.said.lock().unwrap(), [Said::Refresh]);
}

#[tokio::test]
async fn a_pull_of_what_is_closed_meanwhile_is_answered() {
    let mut case = Case::new(Profile { pulls: true, ..Profile::default() });
    case.open(1, "a\n");
    let (reply, answer) = oneshot::channel();
    case.take(Event::Wanted { key: KEY.into(), reply });
    case.take(Event::Closed { key: KEY.into() });
    assert!(answer.await.unwrap().is_none());
    let (reply, answer) = oneshot::channel();
    case.take(Event::Wanted { key: KEY.into(), reply });
    assert!(answer.await.unwrap().is_none());
}

#[tokio::test]
async fn only_what_concerns_rules_or_heads_judges_anew() {
    let mut case = Case::new(Profile::default());
    case.open(1, "a\n");
    case.settle().await;
    for (path, anew) in [
        ("/w/b.py", false),
        ("/w/.git/index", false),
        ("/w/.ruleline/rules.toml", true),
        ("/w/.ruleline", true),
        ("/w/.git/HEAD", true),
        ("/w/.git/logs/HEAD", true),
    ] {
        let before = case.published().len();
        case.take(Event::Watched { paths: vec![path.into()] });
        case.settle().await;
        assert_eq!(case.published().len() > before, anew, "{path}");
    }
}

#[tokio::test]
async fn wrong_settings_are_said_and_keep_their_values() {
    let options = json!({"baseline": "yesterday", "on_failure": "allow"});
    let case = Case::new(Profile { options, ..Profile::default() });
    assert_eq!(case.session.settings, Settings::default());
    let said = case.editor.said.lock().unwrap().clone();
    assert!(
        matches!(&said[..], [Said::Message(Level::Warning, one), Said::Message(Level::Warning, other)]
        if one.contains("baseline") && other.contains("on_failure")),
        "{said:?}"
    );
}

#[tokio::test]
async fn the_session_ends_with_its_senders_and_survives_what_is_wrong() {
    let Case { session, editor, arriving, sender, .. } = Case::new(Profile::default());
    let range = Some((Position { line: 9, column: 9 }, Position { line: 1, column: 1 }));
    let edits = vec![document::Edit { range, text: "!".into() }];
    sender.send(Event::Changed { key: "file:///not/open".into(), version: 1, edits: edits.clone() }).ok();
    sender.send(Event::Panic).ok();
    let (uri, path) = (KEY.into(), Some(Path::new("/w/a.py").into()));
    sender.send(Event::Opened { key: KEY.into(), uri, path, version: 1, text: "a".into() }).ok();
    sender.send(Event::Changed { key: KEY.into(), version: 2, edits }).ok();
    let (reply, done) = oneshot::channel();
    sender.send(Event::Barrier { reply }).ok();
    let running = tokio::spawn(session.run(arriving));
    done.await.unwrap();
    drop(sender);
    running.await.unwrap();
    let said = editor.said.lock().unwrap().clone();
    assert!(said.contains(&Said::Published(Target::Document(KEY.into()), Some(2), 0)), "{said:?}");
}
