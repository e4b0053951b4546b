use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use super::*;

fn prepared() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    fs::create_dir_all(base.join("root/dir/deep")).unwrap();
    fs::write(base.join("secret"), "secret").unwrap();
    fs::write(base.join("root/dir/file"), "text").unwrap();
    symlink("dir", base.join("root/linked")).unwrap();
    symlink(&base, base.join("root/out")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, base.join("root/fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    (temp, base)
}

#[test]
fn s04_a_folder_is_reached_without_a_link() {
    let (_keep, base) = prepared();
    let root = Root::open(&base.join("root")).unwrap();
    for (path, expected) in [
        ("dir", "folder"),
        ("dir/deep", "folder"),
        ("none", "none"),
        ("none/deep", "none"),
        ("linked", "Link"),
        ("linked/deep", "Link"),
        ("out", "Link"),
        ("..", "Link"),
        ("dir/../..", "Link"),
        ("dir/file", "NotFolder"),
        ("dir/file/deep", "NotFolder"),
        ("fifo", "NotFolder"),
    ] {
        let got = match root.folder(Path::new(path)) {
            Ok(Some(folder)) => {
                assert_eq!(folder.path(), base.join("root").join(path));
                "folder".to_owned()
            }
            Ok(None) => "none".to_owned(),
            Err(error) => format!("{error:?}").split([' ', '{', '(']).next().unwrap().to_owned(),
        };
        assert_eq!(got, expected, "{path}");
    }
}

#[test]
fn t19_listing_stops_where_it_is_told_to() {
    let (_keep, base) = prepared();
    for number in 0..20 {
        fs::write(base.join(format!("root/dir/deep/f{number}")), "").unwrap();
    }
    let folder = Root::open(&base.join("root/dir/deep")).unwrap();
    assert_eq!(folder.names(5).unwrap().len(), 5);
    assert_eq!(folder.names(20).unwrap().len(), 20);
    assert_eq!(folder.names(50).unwrap().len(), 20, "listed again from its beginning");
    assert_eq!(Root::open(&base.join("root/dir")).unwrap().names(9).unwrap().len(), 2, "without . and ..");
}

#[test]
fn a_look_follows_nothing() {
    let (_keep, base) = prepared();
    let root = Root::open(&base.join("root")).unwrap();
    let kind = |path: &str| root.look(Path::new(path)).map(|found| found.map(|it| it.kind)).ok().flatten();
    assert_eq!(kind("dir"), Some(Kind::Folder));
    assert_eq!(kind("dir/file"), Some(Kind::File));
    assert_eq!(kind("linked"), Some(Kind::Link));
    assert_eq!(kind("fifo"), Some(Kind::Fifo));
    assert_eq!(kind("none"), None);
    assert_eq!(kind("none/deeper"), None);
    assert!(root.look(Path::new("linked/file")).is_err());
    let look = root.look(Path::new("dir/file")).unwrap().unwrap();
    assert_eq!((look.size, look.names, look.executable()), (4, 1, false));
    fs::set_permissions(base.join("root/dir/file"), fs::Permissions::from_mode(0o755)).unwrap();
    let (bytes, read) = root.read_looked(Path::new("dir/file"), 10).unwrap().unwrap();
    assert_eq!((&*bytes, read.executable()), (b"text" as &[u8], true));
    assert_ne!(read, look);
    assert_eq!(Some(read), root.look(Path::new("dir/file")).unwrap());
}

#[test]
fn what_others_may_touch_is_not_private() {
    let (_keep, base) = prepared();
    let root = Root::open(&base.join("root")).unwrap();
    for (mode, private) in [(0o600, true), (0o700, true), (0o400, true), (0o640, false), (0o601, false), (0o602, false)]
    {
        fs::set_permissions(base.join("root/dir/file"), fs::Permissions::from_mode(mode)).unwrap();
        let look = root.look(Path::new("dir/file")).unwrap().unwrap();
        assert_eq!(look.not_private().is_none(), private, "{mode:o}");
        assert!(Look { owner: look.owner + 1, ..look }.not_private().is_some());
    }
}

#[test]
fn what_others_may_write_is_not_ours_alone() {
    let user = crate::folders::user();
    let (_keep, base) = prepared();
    let root = Root::open(&base.join("root")).unwrap();
    let look = root.look(Path::new("dir/file")).unwrap().unwrap();
    for (owner, group, mode, ours) in [
        (user, user + 1, 0o644, true),
        (user, user + 1, 0o664, false),
        (user, user + 1, 0o646, false),
        (user, user, 0o664, user != 0),
        (user, user, 0o666, false),
        (0, 0, 0o755, true),
        (0, 0, 0o775, false),
        (user + 1, user, 0o600, false),
    ] {
        let look = Look { mode, owner, group, ..look };
        assert_eq!(look.not_ours_alone().is_none(), ours, "{owner} {group} {mode:o}");
    }
}

#[test]
fn s04_sealed_files_are_new_and_private() {
    let (_keep, base) = prepared();
    let root = Root::open(&base.join("root")).unwrap();
    root.make_private_folder(Path::new("made")).unwrap();
    root.create_sealed(Path::new("made/data"), b"d", false).unwrap();
    root.create_sealed(Path::new("made/tool"), b"t", true).unwrap();
    let mode = |path: &str| fs::metadata(base.join("root").join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("made"), mode("made/data"), mode("made/tool")), (0o700, 0o400, 0o500));
    for path in ["made/data", "linked/new", "out/new", "fifo", "none/new"] {
        assert!(root.create_sealed(Path::new(path), b"x", false).is_err(), "{path}");
    }
    for path in ["made", "linked", "linked/new", "dir/file"] {
        assert!(root.make_private_folder(Path::new(path)).is_err(), "{path}");
    }
    root.rename(Path::new("made"), Path::new("moved")).unwrap();
    assert!(root.rename(Path::new("moved"), Path::new("dir")).is_err(), "a folder that is not empty stays");
    assert!(root.remove(Path::new("moved/data")).unwrap());
    assert!(!root.remove(Path::new("moved/data")).unwrap());
    assert!(root.remove(Path::new("out/secret")).is_err());
    assert!(base.join("secret").exists() && !base.join("new").exists());
    root.sync().unwrap();
}

#[test]
fn a_lock_that_is_held_is_not_waited_for() {
    let (_keep, base) = prepared();
    let root = Root::open(&base.join("root")).unwrap();
    let held = root.lock(Path::new("lock")).unwrap();
    assert!(root.try_lock(Path::new("lock")).unwrap().is_none());
    drop(held);
    assert!(root.try_lock(Path::new("lock")).unwrap().is_some());
}

#[test]
fn replacing_at_once_leaves_one_whole_file() {
    let (_keep, base) = prepared();
    let root = Root::open(&base.join("root")).unwrap();
    std::thread::scope(|scope| {
        for letter in b'a'..=b'h' {
            let root = &root;
            scope.spawn(move || {
                for _ in 0..20 {
                    root.replace(Path::new("dir/file"), &[letter; 1000], crate::open::Durability::Usual).unwrap();
                }
            });
        }
    });
    let bytes = fs::read(base.join("root/dir/file")).unwrap();
    assert!(bytes.len() == 1000 && bytes.iter().all(|byte| *byte == bytes[0]));
    assert_eq!(fs::read_dir(base.join("root/dir")).unwrap().count(), 2, "nothing is left beside");
}
