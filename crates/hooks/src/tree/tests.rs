use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Mode};

use super::*;

struct Project {
    _keep: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    fn new() -> Project {
        let keep = tempfile::tempdir().unwrap();
        let root = keep.path().canonicalize().unwrap().join("root");
        fs::create_dir_all(root.join(FOLDER)).unwrap();
        Project { _keep: keep, root }
    }

    fn with(files: &[(&str, &str)]) -> Project {
        let project = Project::new();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(FOLDER).join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn tree(&self) -> Tree {
        Tree::read(&self.root).unwrap().unwrap()
    }

    /// Why both ways of looking refuse; what only reading finds is given by `tree_why`.
    fn why(&self) -> String {
        let why = self.tree_why();
        assert_eq!(Signature::look(&self.root).unwrap_err().to_string(), why);
        why
    }

    fn tree_why(&self) -> String {
        Tree::read(&self.root).unwrap_err().to_string()
    }

    fn age(&self, path: &str, seconds: u64) {
        let time = SystemTime::now() - Duration::from_secs(seconds);
        fs::File::options().write(true).open(self.at(path)).unwrap().set_modified(time).unwrap();
    }
}

#[test]
fn a_tree_holds_every_file_in_order() {
    let project = Project::with(&[("lib/deep/x.sh", "x"), ("guard.sh", "g"), ("hooks.yaml", ""), (".hidden", "h")]);
    fs::set_permissions(project.at("guard.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(project.at("empty")).unwrap();
    let tree = project.tree();
    let found: Vec<_> = tree.files.iter().map(|file| (&*file.path, &*file.bytes, file.executable)).collect();
    assert_eq!(
        found,
        [
            (".hidden", b"h" as &[u8], false),
            ("guard.sh", b"g", true),
            ("hooks.yaml", b"", false),
            ("lib/deep/x.sh", b"x", false)
        ]
    );
    assert_eq!(tree.digest, TreeDigest::of(&tree.files));
    assert_eq!(tree.file("guard.sh").unwrap().sha256, sha256(b"g"));
    assert_eq!(Tree::read_folder(&project.root.join(FOLDER)).unwrap().unwrap().digest, tree.digest);
}

#[test]
fn t26_nothing_is_no_tree() {
    let project = Project::new();
    fs::create_dir_all(project.at("a/b")).unwrap();
    assert!(Tree::read(&project.root).unwrap().is_none());
    assert!(Signature::look(&project.root).unwrap().is_none());
    let keep = tempfile::tempdir().unwrap();
    for root in [keep.path().to_path_buf(), keep.path().join("none")] {
        assert!(Tree::read(&root).unwrap().is_none());
    }
    fs::write(keep.path().join("file"), "").unwrap();
    assert!(Tree::read(&keep.path().join("file")).unwrap().is_none());
}

#[test]
fn t26_what_cannot_be_read_refuses_the_whole() {
    let project = Project::with(&[("a.sh", "a"), ("b.sh", "b"), ("lib/c", "c")]);
    if rustix::process::geteuid().is_root() {
        return; // Nothing is unreadable for the superuser.
    }
    for path in ["b.sh", "lib"] {
        let mode = fs::metadata(project.at(path)).unwrap().permissions();
        fs::set_permissions(project.at(path), fs::Permissions::from_mode(0o000)).unwrap();
        assert!(project.tree_why().contains("cannot be read"), "{path}");
        fs::set_permissions(project.at(path), mode).unwrap();
    }
}

#[test]
fn t03_a_link_refuses_the_whole_folder() {
    for target in ["../../tools/x.sh", "guard.sh", "nowhere", "/dev/zero", "lib"] {
        let project = Project::with(&[("guard.sh", "g"), ("lib/x", "x"), ("../../tools/x.sh", "evil")]);
        symlink(target, project.at("link.sh")).unwrap();
        assert!(
            project.why().ends_with("link.sh: it is a link, and only plain files and folders are taken; remove it")
        );
    }
}

#[test]
fn t03_a_hard_link_is_read_and_counted() {
    let project = Project::with(&[("a.sh", "a")]);
    fs::hard_link(project.at("a.sh"), project.root.join("elsewhere")).unwrap();
    assert_eq!(project.tree().files[0].names, 2);
}

#[test]
fn t04_the_folders_above_are_no_links() {
    let project = Project::with(&[("guard.sh", "g")]);
    let own = project.root.join(".ruleline");
    let other = project.root.parent().unwrap().join("other");
    fs::rename(&own, &other).unwrap();
    symlink(&other, &own).unwrap();
    assert!(project.why().contains("no link is followed"));
    fs::remove_file(&own).unwrap();
    fs::create_dir(&own).unwrap();
    symlink(other.join("hooks"), own.join("hooks")).unwrap();
    assert!(project.why().contains("no link is followed"));
    assert!(Tree::read_folder(&own.join("hooks")).unwrap_err().to_string().contains("no link is followed"));
    fs::remove_file(own.join("hooks")).unwrap();
    fs::write(own.join("hooks"), "").unwrap();
    assert!(project.why().contains("no folder"));
}

#[test]
fn t19_special_files_are_refused_and_wait_for_nobody() {
    for (kind, name) in [(FileType::Fifo, "a FIFO"), (FileType::Socket, "a socket")] {
        let project = Project::with(&[("a.sh", "a")]);
        rustix::fs::mknodat(rustix::fs::CWD, project.at("odd"), kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(project.why().contains(name));
        let project = Project::new();
        fs::remove_dir(project.at("")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, project.root.join(FOLDER), kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(project.why().contains("no folder"));
    }
}

#[test]
fn t19_sizes_are_added_up_before_anything_is_read() {
    let project = Project::with(&[("a.sh", "a")]);
    fs::File::create(project.at("giant")).unwrap().set_len(100 << 30).unwrap();
    assert!(project.tree_why().contains("larger than 1048576 bytes"));
    fs::remove_file(project.at("giant")).unwrap();
    for number in 0..8 {
        fs::File::create(project.at(&format!("part{number}"))).unwrap().set_len(FILE_SIZE).unwrap();
    }
    assert!(project.tree_why().contains("more than 8388608 bytes"));
    fs::write(project.at("a.sh"), "").unwrap();
    assert_eq!(project.tree().size() as u64, TOTAL_SIZE, "exactly so many may be");
}

#[test]
fn t19_number_and_depth_are_bounded() {
    let project = Project::new();
    for number in 0..FILES {
        project.write(&format!("f{number}"), "");
    }
    assert_eq!(project.tree().files.len(), FILES);
    project.write("one-more", "");
    assert!(project.why().contains("more than 256 files"));

    let project = Project::new();
    for number in 0..257 {
        fs::create_dir(project.at(&format!("d{number}"))).unwrap();
    }
    assert!(project.why().contains("256 folders"), "empty folders count too");

    let project = Project::with(&[("1/2/3/4/5/6/7/8/deep.sh", "x")]);
    assert_eq!(project.tree().files[0].path, "1/2/3/4/5/6/7/8/deep.sh");
    fs::create_dir(project.at("1/2/3/4/5/6/7/8/9")).unwrap();
    assert!(project.why().contains("more than 8 folders deep"));
}

#[test]
fn t14_names_that_collide_or_hide_are_refused() {
    for name in ["Guard.sh", "guard.sh.", "a:b", "NUL", "a\\b", "x\u{1b}[31m.sh", "\u{202e}hs.x"] {
        let project = Project::with(&[("guard.sh", "g"), (name, "x")]);
        let why = project.why();
        assert!(!why.chars().any(|it| it.is_control() || rules::plain::is_hidden(it)), "{why:?}");
    }
    let project = Project::with(&[("\u{e4}", "1"), ("a\u{308}", "2")]);
    assert!(project.why().contains("one name on some file systems"));
    let project = Project::with(&[("Lib/a", "1"), ("lib/b", "2")]);
    assert!(project.why().contains("one name on some file systems"));
}

#[test]
fn t25_mode_name_and_bytes_each_change_the_digest() {
    let project = Project::with(&[("a.sh", "a"), ("b.sh", "b")]);
    let first = project.tree().digest;
    fs::set_permissions(project.at("a.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_ne!(project.tree().digest, first);
    fs::set_permissions(project.at("a.sh"), fs::Permissions::from_mode(0o655)).unwrap();
    assert_eq!(project.tree().digest, first, "only the owner's bit counts");
    fs::rename(project.at("a.sh"), project.at("c.sh")).unwrap();
    assert_ne!(project.tree().digest, first);
    fs::rename(project.at("c.sh"), project.at("a.sh")).unwrap();
    project.write("a.sh", "A");
    assert_ne!(project.tree().digest, first);
    project.write("a.sh", "a");
    assert_eq!(project.tree().digest, first, "the same bytes again");
}

#[test]
fn a_look_tells_every_change_and_agrees_with_reading() {
    let project = Project::with(&[("a.sh", "a"), ("lib/b.sh", "b")]);
    let look = || {
        let looked = Signature::look(&project.root).unwrap().unwrap();
        assert_eq!(looked, project.tree().signature);
        looked.hash
    };
    let mut seen = vec![look()];
    let mut is_new = |what: &str| {
        let now = look();
        assert!(!seen.contains(&now), "{what}");
        seen.push(now);
    };
    project.write("a.sh", "aa");
    is_new("size");
    project.age("a.sh", 100);
    is_new("time");
    fs::set_permissions(project.at("a.sh"), fs::Permissions::from_mode(0o700)).unwrap();
    is_new("mode");
    fs::rename(project.at("a.sh"), project.at("c.sh")).unwrap();
    is_new("name");
    fs::copy(project.at("c.sh"), project.at("copy")).unwrap();
    is_new("added");
    fs::rename(project.at("copy"), project.at("c.sh")).unwrap();
    is_new("replaced");
    fs::create_dir(project.at("empty")).unwrap();
    is_new("folder");
}

#[test]
fn what_was_changed_just_now_is_fresh() {
    let project = Project::with(&[("a.sh", "a")]);
    assert!(project.tree().signature.fresh, "written in this moment");
    let ahead = SystemTime::now() + Duration::from_secs(1000);
    fs::File::options().write(true).open(project.at("a.sh")).unwrap().set_modified(ahead).unwrap();
    assert!(Signature::look(&project.root).unwrap().unwrap().fresh);
    let look = |seconds: u64| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let at = now.as_nanos().cast_signed() - i128::from(seconds) * 1_000_000_000;
        let root = Root::open(&project.root.join(FOLDER)).unwrap();
        let looked = root.look(Path::new("a.sh")).unwrap().unwrap();
        let mut looks = Looks::now();
        looks.add("a.sh", &Look { modified: at, changed: at, ..looked });
        looks.signature().fresh
    };
    assert!(look(1));
    assert!(!look(5));
}

#[test]
fn each_part_of_a_look_counts() {
    let looked = Look {
        kind: system::open::Kind::File,
        size: 1,
        mode: 0o644,
        owner: 1,
        group: 0,
        names: 1,
        device: 1,
        inode: 1,
        modified: 1,
        changed: 1,
    };
    let hash = |path: &str, look: Look| {
        let mut looks = Looks::now();
        looks.add(path, &look);
        looks.signature().hash
    };
    let first = hash("a", looked);
    assert_ne!(hash("b", looked), first);
    for other in [
        Look { kind: system::open::Kind::Folder, ..looked },
        Look { size: 2, ..looked },
        Look { mode: 0o755, ..looked },
        Look { device: 2, ..looked },
        Look { inode: 2, ..looked },
        Look { modified: 2, ..looked },
        Look { changed: 2, ..looked },
    ] {
        assert_ne!(hash("a", other), first, "{other:?}");
    }
}
