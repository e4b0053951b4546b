//! Which server a client asks: real endpoints in real folders.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use wire::endpoint::{TRIES, discover};
use wire::{Alone, Client, Endpoint, EndpointError, Folder, FolderError, PROTOCOL, Record};

#[allow(dead_code, reason = "shared with the end-to-end tests")]
#[path = "../../../tests/support/socket.rs"]
mod socket;

use socket::{Manner, Server};

struct Place {
    _temporary: tempfile::TempDir,
    base: PathBuf,
    runtime: PathBuf,
}

fn place(folders: &[&str]) -> Place {
    let temporary = tempfile::tempdir().unwrap();
    let base = temporary.path().canonicalize().unwrap();
    for folder in folders {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    Place { runtime: base.join("run"), base, _temporary: temporary }
}

impl Place {
    fn open(&self, roots: &[&str]) -> (Endpoint, UnixListener) {
        let roots: Vec<PathBuf> = roots.iter().map(|root| self.base.join(root)).collect();
        Endpoint::open(Folder::create(&self.runtime).unwrap(), &roots, "0.1.0").unwrap()
    }

    fn found(&self, file: &str) -> Vec<PathBuf> {
        let folder = Folder::open(&self.runtime).unwrap();
        discover(&folder, &self.base.join(file), SystemTime::now(), || true).into_iter().map(|one| one.socket).collect()
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.runtime)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Edits a server's record.
fn edit(endpoint: &Endpoint, edit: impl Fn(&mut Record)) {
    let path = endpoint.socket().with_extension("json");
    let mut record: Record = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    edit(&mut record);
    fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
}

#[test]
fn the_longest_root_comes_first_then_the_newest() {
    let place = place(&["a/b/c", "ab"]);
    let (outer, _l1) = place.open(&["a"]);
    let (inner_old, _l2) = place.open(&["a/b"]);
    let (inner_new, _l3) = place.open(&["a/b"]);
    let (both, _l4) = place.open(&["ab", "a/b/c"]);
    for (endpoint, started) in [(&outer, 9), (&inner_old, 2), (&inner_new, 3), (&both, 1)] {
        edit(endpoint, |record| record.started = started);
    }
    let [outer, inner_old, inner_new, both] = [&outer, &inner_old, &inner_new, &both].map(Endpoint::socket);
    let cases: &[(&str, &[&PathBuf])] = &[
        ("a/x.py", &[&outer]),
        ("a/b/x.py", &[&inner_new, &inner_old, &outer]),
        ("a/b/c/x.py", &[&both, &inner_new, &inner_old]),
        ("ab/x.py", &[&both]),
        ("abc/x.py", &[]),
        ("x.py", &[]),
        ("a", &[&outer]),
    ];
    assert_eq!(TRIES, 3);
    for (file, expected) in cases {
        assert_eq!(place.found(file).iter().collect::<Vec<_>>(), *expected, "{file}");
    }
}

#[test]
fn records_that_do_not_fit_are_passed_over() {
    type Spoil = fn(&Path);
    fn rewrite(path: &Path, from: &str, to: &str) {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
    let spoils: &[(&str, Spoil, bool)] = &[
        ("as it is", |_| {}, true),
        ("unknown field", |path| rewrite(path, "{\"protocol\"", "{\"colour\":[1],\"protocol\""), true),
        ("other protocol", |path| rewrite(path, &format!("\"protocol\":{PROTOCOL}"), "\"protocol\":2"), false),
        ("no JSON", |path| fs::write(path, "{").unwrap(), false),
        ("empty", |path| fs::write(path, "").unwrap(), false),
        ("elsewhere", |path| rewrite(path, "\"socket\":\"", "\"socket\":\"../"), false),
        ("relative root", |path| rewrite(path, "\"roots\":[\"/", "\"roots\":[\""), false),
        (
            "empty root",
            |path| {
                let mut record: Record = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
                record.roots = vec![String::new()];
                fs::write(path, serde_json::to_vec(&record).unwrap()).unwrap();
            },
            false,
        ),
        (
            "too large",
            |path| fs::write(path, [fs::read(path).unwrap(), vec![b' '; 65 * 1024]].concat()).unwrap(),
            false,
        ),
        (
            "folder",
            |path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            },
            false,
        ),
        (
            "link",
            |path| {
                fs::rename(path, path.with_extension("moved")).unwrap();
                symlink(path.with_extension("moved"), path).unwrap();
            },
            false,
        ),
        ("other name", |path| fs::rename(path, path.with_file_name("notes.json")).unwrap(), false),
    ];
    for (name, spoil, expected) in spoils {
        let place = place(&["p"]);
        let (endpoint, _listener) = place.open(&["p"]);
        spoil(&endpoint.socket().with_extension("json"));
        assert_eq!(!place.found("p/a.py").is_empty(), *expected, "{name}");
    }
}

#[test]
fn a_fifo_for_a_record_keeps_nobody_waiting() {
    let place = place(&["p"]);
    let (endpoint, _listener) = place.open(&["p"]);
    let record = endpoint.socket().with_extension("json");
    fs::remove_file(&record).unwrap();
    nix::unistd::mkfifo(&record, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(place.found("p/a.py").is_empty());
}

#[test]
fn out_of_time_no_further_record_is_read() {
    let place = place(&["p"]);
    let (_one, _l1) = place.open(&["p"]);
    let folder = Folder::open(&place.runtime).unwrap();
    assert!(discover(&folder, &place.base.join("p/a.py"), SystemTime::now(), || false).is_empty());
}

#[test]
fn two_servers_of_one_root_coexist_and_each_removes_its_own() {
    let place = place(&["p"]);
    let (first, l1) = place.open(&["p"]);
    let (second, l2) = place.open(&["p"]);
    assert_eq!(place.found("p/a.py").len(), 2);
    let kept = second.socket();
    drop((first, l1));
    assert_eq!(place.found("p/a.py"), std::slice::from_ref(&kept));
    assert!(UnixStream::connect(&kept).is_ok());
    drop((second, l2));
    assert_eq!(place.files(), [""; 0]);
}

#[test]
fn only_what_refuses_and_is_a_socket_is_swept() {
    let place = place(&["p"]);
    let dead = Server::start(&place.runtime, &place.base.join("p"), Manner::SaysClean);
    let dead_socket = dead.socket();
    dead.kill();
    let (alive, _listener) = place.open(&["p"]);
    let other = |name: &str| place.runtime.join(name);
    fs::write(other("0123456789abcdef-01234567.sock"), "a file").unwrap();
    symlink(&dead_socket, other("0123456789abcdef-00000000.sock")).unwrap();
    drop(UnixListener::bind(other("foreign.sock")).unwrap());
    assert!(!dead_socket.exists(), "the server that started removed it");
    assert!(!dead_socket.with_extension("json").exists());
    let before = place.files();
    let (_next, _l) = place.open(&["p"]);
    let after = place.files();
    assert!(before.iter().all(|name| after.contains(name)), "{before:?} {after:?}");
    assert!(alive.socket().exists());
}

#[test]
fn a_client_of_a_dead_server_goes_on_to_the_next_and_removes_nothing() {
    let place = place(&["p"]);
    let dead = Server::start(&place.runtime, &place.base.join("p"), Manner::SaysClean);
    let file = place.base.join("p/a.py");
    let client = || Client::new(place.runtime.clone(), Duration::from_secs(20));
    let socket = dead.socket();
    dead.kill();
    let before = place.files();
    assert_eq!(client().ping(&file), Err(Alone::Unreachable));
    assert_eq!(place.files(), before);
    fs::remove_file(socket).unwrap();
    assert_eq!(client().ping(&file), Err(Alone::Unreachable));
}

#[test]
fn nobody_is_asked_where_no_server_ever_stood() {
    let place = place(&["p"]);
    let client = Client::new(place.runtime.clone(), Duration::from_secs(20));
    assert!(!client.may_be_heard());
    let _open = place.open(&["p"]);
    assert!(client.may_be_heard());
}

#[test]
fn a_server_that_gains_a_root_says_so() {
    let place = place(&["p", "q"]);
    let (mut endpoint, _listener) = place.open(&["p"]);
    assert!(place.found("q/a.py").is_empty());
    endpoint.set_roots(&[place.base.join("p"), place.base.join("q")]).unwrap();
    assert_eq!(place.found("q/a.py"), [endpoint.socket()]);
    assert!(matches!(endpoint.set_roots(&[]), Err(EndpointError::NoRoot)));
    assert_eq!(endpoint.record().roots.len(), 2);
}

#[test]
fn folders_that_others_can_enter_are_used_by_neither_side() {
    type Prepare = fn(&Path);
    fn with_mode(path: &Path, mode: u32) {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let cases: &[(&str, Prepare, bool)] = &[
        ("private", |path| with_mode(path, 0o700), true),
        ("group may write", |path| with_mode(path, 0o720), false),
        ("group may read", |path| with_mode(path, 0o740), false),
        ("group may enter", |path| with_mode(path, 0o710), false),
        ("others may write", |path| with_mode(path, 0o702), false),
        ("everybody, sticky", |path| with_mode(path, 0o1777), false),
        (
            "a link to a private one",
            |path| {
                with_mode(&path.with_extension("real"), 0o700);
                symlink(path.with_extension("real"), path).unwrap();
            },
            false,
        ),
        ("a dangling link", |path| symlink("nowhere", path).unwrap(), false),
        ("a file", |path| fs::write(path, "").unwrap(), false),
    ];
    for (name, prepare, expected) in cases {
        let place = place(&["p"]);
        prepare(&place.runtime);
        assert_eq!(Folder::create(&place.runtime).is_ok(), *expected, "{name}");
        let answer = Client::new(place.runtime.clone(), Duration::from_secs(20)).ping(&place.base.join("p/a.py"));
        assert_eq!(answer, Err(if *expected { Alone::NoServer } else { Alone::UnsafeFolder }), "{name}");
        let missing = Folder::open(&place.base.join("none"));
        assert!(matches!(missing, Err(FolderError::Absent { .. })));
    }
}

#[test]
fn a_folder_or_socket_of_another_user_is_not_used() {
    // Only root can give files away; elsewhere there is no second user to test with.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = place(&["p"]);
    let server = Server::start(&place.runtime, &place.base.join("p"), Manner::SaysClean);
    let client = || Client::new(place.runtime.clone(), Duration::from_secs(20)).ping(&place.base.join("p/a.py"));
    std::os::unix::fs::chown(server.socket(), Some(12345), None).unwrap();
    assert_eq!(client(), Err(Alone::OtherUser));
    std::os::unix::fs::chown(&place.runtime, Some(12345), None).unwrap();
    assert_eq!(client(), Err(Alone::UnsafeFolder));
    assert!(matches!(Folder::create(&place.runtime), Err(FolderError::Refused(_))));
    assert_eq!(server.asked(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_listener_that_runs_as_another_user_is_told_nothing() {
    use rustix::process::Uid;

    // Only root can become somebody else, and on Linux a thread can alone.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = place(&["p"]);
    let (_endpoint, listener) = place.open(&["p"]);
    let impostor = std::thread::spawn(move || {
        rustix::thread::set_thread_res_uid(None, Uid::from_raw(12345), None).unwrap();
        rustix::net::listen(&listener, 5).unwrap();
        listener
    });
    let listener = impostor.join().unwrap();
    let answer = Client::new(place.runtime.clone(), Duration::from_secs(20)).ping(&place.base.join("p/a.py"));
    assert_eq!(answer, Err(Alone::OtherUser));
    let mut told = String::new();
    std::io::Read::read_to_string(&mut listener.accept().unwrap().0, &mut told).unwrap();
    assert_eq!(told, "");
}

#[test]
fn a_folder_is_made_private_whatever_the_umask() {
    let place = place(&[]);
    Folder::create(&place.runtime).unwrap();
    assert_eq!(fs::metadata(&place.runtime).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_socket_path_that_is_too_long_is_refused_before_it_is_bound() {
    let place = place(&["p"]);
    let long = place.base.join("x".repeat(90));
    let folder = Folder::create(&long).unwrap();
    let opened = Endpoint::open(folder, &[place.base.join("p")], "0.1.0");
    assert!(matches!(opened, Err(EndpointError::PathTooLong { .. })));
    assert_eq!(fs::read_dir(&long).unwrap().count(), 0);
}

#[test]
fn a_queue_that_is_full_keeps_neither_a_hook_nor_a_starting_server_waiting() {
    let place = place(&["p"]);
    let (endpoint, listener) = place.open(&["p"]);
    rustix::net::listen(&listener, 0).unwrap();
    let _waiting = UnixStream::connect(endpoint.socket()).unwrap();
    // The budget is not even needed: it would be used up by waiting.
    let answer = Client::new(place.runtime.clone(), Duration::from_secs(1000)).ping(&place.base.join("p/a.py"));
    assert_eq!(answer, Err(Alone::Unreachable));
    let (_next, _l) = place.open(&["p"]);
    assert!(endpoint.socket().exists(), "it is busy, not dead");
}
