//! Which files count as unsaved, and when that is written.

use guard::unsaved::{Buffers, LASTS};
use system::Folders;

use super::*;

/// A session with a state folder, and a file.
struct Held {
    case: Case,
    folders: Folders,
    path: PathBuf,
    _keep: tempfile::TempDir,
}

impl Held {
    fn new() -> Held {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("w")).unwrap();
        let folders = Folders { state: base.join("state"), ..Folders::below(&base.join("home")) };
        let engine = Arc::new(Engine::new(Some(folders.clone()), Err("nobody".into())));
        let profile = Profile { name: "Some Editor".into(), ..Profile::default() };
        let path = base.join("w/a.py");
        std::fs::write(&path, "a\n").unwrap();
        Held { case: Case::of(engine, profile, base.join("w")), folders, path, _keep: keep }
    }

    fn open(&mut self, text: &str) {
        let (uri, path) = (KEY.into(), Some(self.path.clone()));
        self.case.take(Event::Opened { key: KEY.into(), uri, path, version: 1, text: text.into() });
    }

    async fn done(&mut self) {
        self.case.rest().await;
    }

    /// The editor that holds the file, as the hook sees it.
    fn holder(&self) -> Option<String> {
        Buffers::read(&self.folders.state, std::time::SystemTime::now()).holder(&self.path)
    }
}

#[tokio::test]
async fn only_a_text_that_is_another_than_on_disk_is_unsaved() {
    for (disk, held, unsaved) in [
        ("a\n", "a\n", false),
        ("a\n", "b\n", true),
        ("a\r\nb\r\n", "a\nb\n", false),
        ("\u{feff}a\n", "a\n", false),
        ("a", "a\n", false),
        ("a\n", "a\n\n", true),
        ("", "", false),
    ] {
        let mut held_file = Held::new();
        std::fs::write(&held_file.path, disk).unwrap();
        held_file.open(held);
        held_file.done().await;
        assert_eq!(held_file.holder().is_some(), unsaved, "{disk:?} {held:?}");
    }
    let mut new = Held::new();
    std::fs::remove_file(&new.path).unwrap();
    new.open("a\n");
    new.done().await;
    assert_eq!(new.holder().as_deref(), Some("Some Editor"), "a file that is not there yet");
    let mut latin = Held::new();
    std::fs::write(&latin.path, b"\xe9\n").unwrap();
    latin.open("\u{e9}\n");
    latin.done().await;
    assert_eq!(latin.holder(), None, "what cannot be compared is saved until it is changed");
    latin.case.change(2, "\u{e8}\n");
    latin.done().await;
    assert!(latin.holder().is_some());
}

#[tokio::test]
async fn a_change_is_told_at_once_and_a_save_ends_it() {
    let mut held = Held::new();
    held.open("a\n");
    held.done().await;
    assert_eq!((held.holder(), held.case.session.next_due()), (None, None));
    held.case.change(2, "b\n");
    held.done().await;
    assert_eq!(held.holder().as_deref(), Some("Some Editor"));
    held.case.take(Event::Saved { key: KEY.into() });
    held.done().await;
    assert_eq!((held.holder(), held.case.session.next_due()), (None, None));
    held.case.change(3, "c\n");
    held.done().await;
    assert!(held.holder().is_some());
    held.case.pass(Duration::from_secs(2));
    held.case.change(4, "a\n");
    held.done().await;
    assert_eq!(held.holder(), None, "undone");
    held.case.change(5, "d\n");
    held.done().await;
    held.case.take(Event::Closed { key: KEY.into() });
    held.done().await;
    assert_eq!((held.holder(), held.case.session.next_due()), (None, None));
}

#[tokio::test]
async fn keys_that_follow_are_not_written_one_by_one() {
    let mut held = Held::new();
    held.open("a\n");
    held.done().await;
    held.case.change(2, "b\n");
    held.done().await;
    let record = || std::fs::read_dir(held.folders.state.join("unsaved")).unwrap().next().unwrap().unwrap().path();
    let written = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    let (path, before) = (record(), written(&record()));
    for version in 3..100 {
        held.case.change(version, &format!("{version}\n"));
        held.done().await;
    }
    assert_eq!(written(&path), before);
    held.case.pass(LASTS / 2);
    held.done().await;
    assert!(written(&path) > before, "renewed before it ends");
}

#[tokio::test]
async fn a_save_while_a_worker_compares_wins() {
    let mut held = Held::new();
    held.open("a\n");
    held.done().await;
    held.case.change(2, "b\n");
    held.case.session.settle();
    let compared = loop {
        match held.case.arriving.recv().await.unwrap() {
            event @ Event::Compared(_) => break event,
            other => held.case.take(other),
        }
    };
    held.case.take(Event::Saved { key: KEY.into() });
    held.case.take(compared);
    held.done().await;
    assert_eq!(held.holder(), None);
}

#[tokio::test]
async fn nothing_is_left_when_the_client_goes() {
    let mut held = Held::new();
    held.open("b\n");
    held.done().await;
    assert!(held.holder().is_some());
    held.case.take(Event::Leaving);
    let (reply, mut gone) = oneshot::channel();
    held.case.take(Event::Barrier { reply });
    held.case.session.settle();
    assert!(gone.try_recv().is_err());
    held.done().await;
    held.case.session.settle();
    assert!(gone.try_recv().is_ok());
    assert_eq!(held.holder(), None);
    held.case.change(2, "c\n");
    held.done().await;
    assert_eq!(held.holder(), None);
}
