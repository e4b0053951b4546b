//! Counts that are stopped, restarted and given to whoever waits.

use std::fs;

use super::*;
use crate::session::counting::{Lenses, Waiter};
use crate::session::rulebook::Inquiry;

const RULES: &str = "[[rule]]\nid = \"a\"\npaths = [\"*.py\"]\nforbid = ['x']\n";

struct Counted {
    case: Case,
    path: PathBuf,
    _keep: tempfile::TempDir,
}

type Title = oneshot::Receiver<Option<String>>;

impl Counted {
    fn new() -> Counted {
        let keep = tempfile::tempdir().unwrap();
        let root = keep.path().canonicalize().unwrap();
        let path = root.join(".ruleline/rules.toml");
        fs::create_dir(root.join(".ruleline")).unwrap();
        fs::write(&path, RULES).unwrap();
        fs::write(root.join("a.py"), "x\n").unwrap();
        let mut case = Case::new(Profile::default());
        case.take(Event::Folders { added: vec![root], removed: vec!["/w".into()] });
        let text = RULES.to_owned();
        case.take(Event::Opened { key: KEY.into(), uri: KEY.into(), path: Some(path.clone()), version: 1, text });
        Counted { case, path, _keep: keep }
    }

    async fn lenses(&mut self) -> Lenses {
        let (reply, lenses) = oneshot::channel();
        self.case.take(Event::Inquired { key: KEY.into(), inquiry: Inquiry::Lenses { reply } });
        lenses.await.unwrap()
    }

    fn see(&mut self, lenses: &Lenses) -> Title {
        let (reply, title) = oneshot::channel();
        let (rule, says) = (lenses.all[0].rule.clone(), lenses.all[0].says.clone());
        let waiter = Waiter::Lens { rule, says, asked: lenses.asked, reply };
        self.case.take(Event::CountWanted { path: self.path.clone(), waiter });
        title
    }

    /// The next count of a worker, not yet handed over.
    async fn count(&mut self) -> Event {
        loop {
            match self.case.arriving.recv().await.unwrap() {
                event @ Event::Counted { .. } => return event,
                other => self.case.take(other),
            }
        }
    }
}

const ONE: &str = "1 finding in 1 file";

#[tokio::test]
async fn a_count_serves_every_lens_of_its_asking() {
    let mut counted = Counted::new();
    let lenses = counted.lenses().await;
    let (first, second) = (counted.see(&lenses), counted.see(&lenses));
    let count = counted.count().await;
    counted.case.take(count);
    let third = counted.see(&lenses);
    for title in [first, second, third] {
        assert_eq!(title.await.unwrap().as_deref(), Some(ONE));
    }
    assert_eq!(counted.case.session.counting.judged, 2);
}

#[tokio::test]
async fn asking_anew_stops_the_count_and_refuses_the_lenses_of_before() {
    let mut counted = Counted::new();
    let before = counted.lenses().await;
    let old = counted.see(&before);
    let late = counted.count().await;
    let now = counted.lenses().await;
    assert_eq!(old.await.unwrap(), None);
    let mut new = counted.see(&now);
    counted.case.take(late);
    assert!(new.try_recv().is_err(), "what was stopped answers nobody");
    let count = counted.count().await;
    counted.case.take(count);
    assert_eq!(new.await.unwrap().as_deref(), Some(ONE));
    assert_eq!(counted.case.session.counting.judged, 2, "what the stopped count came to is not judged again");
}

#[tokio::test]
async fn a_changed_rulebook_is_counted_anew_for_those_who_wait() {
    let mut counted = Counted::new();
    let lenses = counted.lenses().await;
    let mut title = counted.see(&lenses);
    let late = counted.count().await;
    fs::write(&counted.path, RULES.replace('x', "y")).unwrap();
    counted.case.take(Event::Watched { paths: vec![counted.path.clone()] });
    counted.case.take(late);
    assert!(title.try_recv().is_err(), "it counted what the rulebook said before");
    let count = counted.count().await;
    counted.case.take(count);
    assert_eq!(title.await.unwrap().as_deref(), Some("save to count its findings"));
}

#[tokio::test]
async fn who_waits_for_what_is_closed_is_let_go() {
    let mut counted = Counted::new();
    let lenses = counted.lenses().await;
    let title = counted.see(&lenses);
    counted.case.take(Event::Closed { key: KEY.into() });
    assert!(title.await.is_err());
    let count = counted.count().await;
    counted.case.take(count);
}
