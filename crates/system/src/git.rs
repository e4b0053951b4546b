//! Asking git: every call of the program goes through one function (S25).
//!
//! Plumbing only, `-z`, no filter, no textconv, no external diff, no pager, no network, no lazy fetch, no hooks, no
//! replacement objects; the environment is made from nothing. Output and time are bounded.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Where the program may stand.
#[cfg(windows)]
const FOLDERS: [&str; 1] = ["C:/Program Files/Git/cmd"];
/// Where the program may stand.
#[cfg(not(windows))]
const FOLDERS: [&str; 5] = ["/usr/bin", "/usr/local/bin", "/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"];
const PROGRAM: &str = if cfg!(windows) { "git.exe" } else { "git" };
/// Largest output of one call, in bytes.
const OUTPUT: u64 = 256 << 20;
/// Longest call.
const TIMEOUT: Duration = Duration::from_secs(10);
/// What is kept of stderr, in bytes.
const STDERR: u64 = 4096;

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git in the known places.
    #[error("git is not installed in any of {}", FOLDERS.join(", "))]
    NotInstalled,
    /// It could not be run, or its output not be read.
    #[error("git {command}: {source}")]
    Io {
        /// The subcommand.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// It failed.
    #[error("git {command}: {message}")]
    Failed {
        /// The subcommand.
        command: String,
        /// The first line of its stderr.
        message: String,
    },
    /// It took longer than allowed.
    #[error("git {command} took longer than {} s", TIMEOUT.as_secs())]
    Timeout {
        /// The subcommand.
        command: String,
    },
    /// It said more than allowed, or something that is no answer.
    #[error("git {command}: its output is too large or not understood")]
    Output {
        /// The subcommand.
        command: String,
    },
}

/// One side of a changed or listed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// The file's mode: `100644`, `100755`, `120000` (a link), `160000` (a submodule).
    pub mode: String,
    /// The object's id in hex.
    pub id: String,
}

impl Blob {
    /// A regular file, not a link or a submodule.
    pub fn is_file(&self) -> bool {
        self.mode.starts_with("100")
    }
}

/// One file that differs between two trees, or between a tree and the index. Renames are a deletion and an addition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Relative to the folder asked about.
    pub path: PathBuf,
    /// Before; none when it was not there.
    pub old: Option<Blob>,
    /// After; none when it is gone.
    pub new: Option<Blob>,
}

/// The output of `git ARGUMENTS` in `folder`, with `input` on its stdin.
///
/// # Errors
/// [`GitError`].
pub fn run<S: AsRef<OsStr>>(folder: &Path, arguments: &[S], input: &[u8]) -> Result<Vec<u8>, GitError> {
    run_on(folder, None, arguments, input)
}

/// As [`run`], with another index than the repository's.
fn run_on<S: AsRef<OsStr>>(
    folder: &Path,
    index: Option<&Path>,
    arguments: &[S],
    input: &[u8],
) -> Result<Vec<u8>, GitError> {
    let command = || arguments.first().map(|name| name.as_ref().to_string_lossy().into_owned()).unwrap_or_default();
    let program = FOLDERS.iter().map(|folder| Path::new(folder).join(PROGRAM)).find(|path| path.is_file());
    let mut prepared = prepare(&program.ok_or(GitError::NotInstalled)?, folder, arguments);
    if let Some(index) = index {
        prepared.env("GIT_INDEX_FILE", index);
    }
    let mut child = prepared.spawn().map_err(|source| GitError::Io { command: command(), source })?;
    let output = converse(&mut child, input);
    if !matches!(output, Some(Ok(_))) {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|source| GitError::Io { command: command(), source })?;
    match output {
        None => Err(GitError::Timeout { command: command() }),
        Some(Err(source)) => Err(GitError::Io { command: command(), source }),
        Some(Ok((bytes, _))) if bytes.len() as u64 > OUTPUT => Err(GitError::Output { command: command() }),
        Some(Ok((bytes, _))) if status.success() => Ok(bytes),
        Some(Ok((_, stderr))) => {
            let stderr = String::from_utf8_lossy(&stderr);
            Err(GitError::Failed { command: command(), message: stderr.lines().next().unwrap_or_default().to_owned() })
        }
    }
}

fn prepare<S: AsRef<OsStr>>(program: &Path, folder: &Path, arguments: &[S]) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command.env("PATH", FOLDERS.join(":")).env("LC_ALL", "C");
    if let Ok(folders) = crate::Folders::find(None) {
        command.env("HOME", folders.home);
    }
    #[cfg(windows)]
    if let Some(system) = known_folders::get_known_folder_path(known_folders::KnownFolder::Windows) {
        // Programs do not find the system's own libraries without it.
        command.env("SystemRoot", system);
    }
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none").env("GIT_OPTIONAL_LOCKS", "0");
    command.env("GIT_TERMINAL_PROMPT", "0");
    command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-replace-objects"]);
    command.args(["--no-pager", "--literal-pathspecs"]).args(arguments);
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Stdout and stderr, read and fed on threads so that neither side waits for the other; none when time is up.
fn converse(child: &mut Child, input: &[u8]) -> Option<io::Result<(Vec<u8>, Vec<u8>)>> {
    let (stdin, stdout, stderr) = (child.stdin.take()?, child.stdout.take()?, child.stderr.take()?);
    let (done, finished) = mpsc::channel();
    let input = input.to_vec();
    thread::spawn(move || {
        let mut stdin = stdin;
        // A git that fails early closes its stdin; its status says so.
        let _ = stdin.write_all(&input);
    });
    let errors = thread::spawn(move || {
        let mut kept = Vec::new();
        let mut stderr = stderr;
        let _ = stderr.by_ref().take(STDERR).read_to_end(&mut kept);
        let _ = io::copy(&mut stderr, &mut io::sink());
        kept
    });
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(OUTPUT + 1).read_to_end(&mut bytes);
        let _ = done.send(read.map(|_| (bytes, errors.join().unwrap_or_default())));
    });
    let deadline = Instant::now() + TIMEOUT;
    finished.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

/// The regular file `relative` (to `root`) as HEAD has it; none when HEAD has no such file, or there is no HEAD.
///
/// # Errors
/// [`GitError`].
pub fn head_blob(root: &Path, relative: &Path) -> Result<Option<Vec<u8>>, GitError> {
    if resolve(root, "HEAD")?.is_none() {
        return Ok(None);
    }
    let arguments =
        [OsStr::new("ls-tree"), "-z".as_ref(), "--end-of-options".as_ref(), "HEAD".as_ref(), relative.as_ref()];
    let listed = parse_tree(&run(root, &arguments, b"")?)?;
    match listed.into_iter().find(|(path, blob)| path == relative && blob.is_file()) {
        Some((_, blob)) => run(root, &["cat-file", "blob", &blob.id], b"").map(Some),
        None => Ok(None),
    }
}

/// The commit that `revision` names; none when it names none.
///
/// # Errors
/// [`GitError`], but not for a revision that is unknown.
pub fn resolve(root: &Path, revision: &str) -> Result<Option<String>, GitError> {
    let wanted = format!("{revision}^{{commit}}");
    match run(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted], b"") {
        Ok(output) => Ok(Some(String::from_utf8_lossy(&output).trim().to_owned())),
        Err(GitError::Failed { message, .. }) if message.is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The best common ancestor of two commits; none when they share none.
///
/// # Errors
/// [`GitError`].
pub fn merge_base(root: &Path, one: &str, other: &str) -> Result<Option<String>, GitError> {
    match run(root, &["merge-base", "--end-of-options", one, other], b"") {
        Ok(output) => Ok(Some(String::from_utf8_lossy(&output).trim().to_owned())),
        Err(GitError::Failed { message, .. }) if message.is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The top folder of the work tree that holds `folder`.
///
/// # Errors
/// [`GitError::Failed`] when it lies in none.
pub fn top(folder: &Path) -> Result<PathBuf, GitError> {
    let mut output = run(folder, &["rev-parse", "--show-toplevel"], b"")?;
    while output.last() == Some(&b'\n') {
        output.pop();
    }
    Ok(path_of(&output))
}

/// What the index changes against HEAD (against nothing where there is no commit yet), below `root`. `git commit -a`
/// and `git commit FILE` give their hooks another index, which counts if it lies in the repository's own folder.
///
/// # Errors
/// [`GitError`].
pub fn staged(root: &Path, index: Option<&Path>) -> Result<Vec<Changed>, GitError> {
    let index = match index {
        Some(index) => Some(own_index(root, index)?),
        None => None,
    };
    let against = match resolve(root, "HEAD")? {
        Some(head) => head,
        None => empty_tree(root)?,
    };
    let arguments = [
        "diff-index",
        "--cached",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--relative",
        "--end-of-options",
        &against,
    ];
    parse_raw(&run_on(root, index.as_deref(), &arguments, b"")?)
}

/// The index at `index` (relative to `root`), if it lies in the folder where the repository's own does.
fn own_index(root: &Path, index: &Path) -> Result<PathBuf, GitError> {
    let index = crate::paths::resolve(&root.join(index));
    let mut folder = run(root, &["rev-parse", "--absolute-git-dir"], b"")?;
    while folder.last() == Some(&b'\n') {
        folder.pop();
    }
    if index.parent() == Some(path_of(&folder).as_path()) {
        return Ok(index);
    }
    let message = "GIT_INDEX_FILE names an index outside of the repository's folder".to_owned();
    Err(GitError::Failed { command: "diff-index".to_owned(), message })
}

/// What differs between two commits or trees, below `root`.
///
/// # Errors
/// [`GitError`].
pub fn between(root: &Path, old: &str, new: &str) -> Result<Vec<Changed>, GitError> {
    let arguments =
        ["diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--relative", "--end-of-options", old, new];
    parse_raw(&run(root, &arguments, b"")?)
}

/// The files of the index below `root`, ignored ones included.
///
/// # Errors
/// [`GitError`].
pub fn tracked(root: &Path) -> Result<Vec<PathBuf>, GitError> {
    let output = run(root, &["ls-files", "-z"], b"")?;
    Ok(records(&output).map(path_of).collect())
}

/// The files of a commit or tree below `root`.
///
/// # Errors
/// [`GitError`].
pub fn tree(root: &Path, revision: &str) -> Result<Vec<(PathBuf, Blob)>, GitError> {
    parse_tree(&run(root, &["ls-tree", "-r", "-z", "--end-of-options", revision], b"")?)
}

/// The sizes of blobs in bytes, in order; none for an id that is no blob here.
///
/// # Errors
/// [`GitError`].
pub fn sizes(root: &Path, ids: &[&str]) -> Result<Vec<Option<u64>>, GitError> {
    let output = run(root, &["cat-file", "--batch-check"], listed(ids)?.as_bytes())?;
    let lines: Vec<&[u8]> = output.split(|byte| *byte == b'\n').take(ids.len()).collect();
    if lines.len() != ids.len() {
        return Err(GitError::Output { command: "cat-file".to_owned() });
    }
    let size = |line: &&[u8]| match String::from_utf8_lossy(line).split(' ').collect::<Vec<_>>().as_slice() {
        [_, "blob", size] => size.parse().ok(),
        _ => None,
    };
    Ok(lines.iter().map(size).collect())
}

/// Ids as the batch commands read them.
fn listed(ids: &[&str]) -> Result<String, GitError> {
    if ids.iter().any(|id| id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return Err(GitError::Output { command: "cat-file".to_owned() });
    }
    Ok(ids.iter().fold(String::new(), |input, id| input + id + "\n"))
}

/// The raw bytes of blobs, in order; none for an id that is no blob here.
///
/// # Errors
/// [`GitError`].
pub fn blobs(root: &Path, ids: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    let unknown = || GitError::Output { command: "cat-file".to_owned() };
    let output = run(root, &["cat-file", "--batch"], listed(ids)?.as_bytes())?;
    let mut rest = output.as_slice();
    let mut found = Vec::with_capacity(ids.len());
    for _ in ids {
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(unknown)?;
        let header = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let words: Vec<_> = header.split(' ').collect();
        let [_, kind, size] = words.as_slice() else {
            found.push(None);
            continue;
        };
        let size: usize = size.parse().map_err(|_| unknown())?;
        let bytes = rest.get(..size).ok_or_else(unknown)?;
        found.push((*kind == "blob").then(|| bytes.to_vec()));
        rest = rest.get(size + 1..).ok_or_else(unknown)?;
    }
    Ok(found)
}

fn empty_tree(root: &Path) -> Result<String, GitError> {
    let output = run(root, &["hash-object", "-t", "tree", "--stdin"], b"")?;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}

/// A path as git writes it.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;

    PathBuf::from(OsStr::from_bytes(bytes))
}

/// A path as git writes it, in UTF-8; of any other there can be no file on Windows.
#[cfg(windows)]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

fn records(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

/// `:OLDMODE NEWMODE OLDID NEWID STATUS NUL PATH NUL` (git-diff-index, "raw output format").
fn parse_raw(output: &[u8]) -> Result<Vec<Changed>, GitError> {
    let unknown = || GitError::Output { command: "diff".to_owned() };
    let mut changed = Vec::new();
    let mut records = records(output);
    while let Some(header) = records.next() {
        let header = std::str::from_utf8(header).map_err(|_| unknown())?;
        let words: Vec<_> = header.strip_prefix(':').ok_or_else(unknown)?.split(' ').collect();
        let [old_mode, new_mode, old, new, _status] = words.as_slice() else { return Err(unknown()) };
        let side = |mode: &str, id: &str| (mode != "000000").then(|| Blob { mode: mode.to_owned(), id: id.to_owned() });
        let path = path_of(records.next().ok_or_else(unknown)?);
        changed.push(Changed { path, old: side(old_mode, old), new: side(new_mode, new) });
    }
    Ok(changed)
}

/// `MODE TYPE ID TAB PATH NUL` (git-ls-tree).
fn parse_tree(output: &[u8]) -> Result<Vec<(PathBuf, Blob)>, GitError> {
    let parse = |record: &[u8]| {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let head = std::str::from_utf8(&record[..tab]).ok()?;
        let [mode, _kind, id] = head.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let path = path_of(&record[tab + 1..]);
        Some((path, Blob { mode: mode.to_owned(), id: id.to_owned() }))
    };
    records(output).map(|record| parse(record).ok_or(GitError::Output { command: "ls-tree".to_owned() })).collect()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        git_on(folder, ".git/index", arguments);
    }

    fn git_on(folder: &Path, index: &str, arguments: &[&str]) {
        let status = Command::new("git")
            .env("GIT_INDEX_FILE", folder.join(index))
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
            .args(arguments)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "git {arguments:?}");
    }

    fn repository() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        git(&root, &["init", "-q"]);
        fs::write(root.join("a.py"), "one\r\n").unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("sub/odd \n\"name"), "odd").unwrap();
        fs::write(root.join("gone"), "gone").unwrap();
        std::os::unix::fs::symlink("a.py", root.join("link")).unwrap();
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-qm", "x"]);
        (temp, root)
    }

    #[test]
    fn head_blobs_are_raw_and_files_only() {
        let (_keep, root) = repository();
        let read = |folder: &Path, path: &str| head_blob(folder, Path::new(path)).unwrap();
        assert_eq!(read(&root, "a.py").as_deref(), Some(&b"one\r\n"[..]));
        assert_eq!(read(&root, "sub/odd \n\"name").as_deref(), Some(&b"odd"[..]));
        assert_eq!(read(&root.join("sub"), "odd \n\"name").as_deref(), Some(&b"odd"[..]));
        for path in ["link", "sub", "none", "--output=x", "*.py"] {
            assert_eq!(read(&root, path), None, "{path}");
        }
    }

    #[test]
    fn a_repository_without_a_commit_has_nothing() {
        let temp = tempfile::tempdir().unwrap();
        git(temp.path(), &["init", "-q"]);
        assert_eq!(head_blob(temp.path(), Path::new("a")).unwrap(), None);
        fs::write(temp.path().join("a"), "new").unwrap();
        git(temp.path(), &["add", "a"]);
        let staged = staged(temp.path(), None).unwrap();
        assert_eq!(staged.len(), 1);
        assert!(staged[0].old.is_none() && staged[0].new.as_ref().is_some_and(Blob::is_file));
    }

    #[test]
    fn staged_and_compared_files_come_with_their_blobs() {
        let (_keep, root) = repository();
        fs::write(root.join("a.py"), "two\n").unwrap();
        fs::rename(root.join("gone"), root.join("moved")).unwrap();
        git(&root, &["add", "-A"]);
        let changed = staged(&root, None).unwrap();
        let shape: Vec<_> =
            changed.iter().map(|it| (it.path.to_str().unwrap(), it.old.is_some(), it.new.is_some())).collect();
        assert_eq!(shape, [("a.py", true, true), ("gone", true, false), ("moved", false, true)]);
        let ids: Vec<_> = changed.iter().filter_map(|it| it.new.as_ref()).map(|blob| blob.id.as_str()).collect();
        let absent = "0".repeat(40);
        assert_eq!(sizes(&root, &[ids[0], &absent, ids[1]]).unwrap(), [Some(4), None, Some(4)]);
        assert_eq!(sizes(&root, &[]).unwrap(), []);
        let texts = blobs(&root, &[ids[0], &absent, ids[1]]).unwrap();
        assert_eq!(texts, [Some(b"two\n".to_vec()), None, Some(b"gone".to_vec())]);
        fs::copy(root.join(".git/index"), root.join(".git/index.lock")).unwrap();
        git_on(&root, ".git/index.lock", &["rm", "-q", "--cached", "a.py"]);
        let other = |index: &str| staged(&root, Some(Path::new(index)));
        assert_eq!(other(".git/index.lock").unwrap()[0].new, None);
        fs::rename(root.join(".git/index.lock"), root.join("index")).unwrap();
        assert!(other("index").is_err() && other("../index").is_err());
        fs::remove_file(root.join("index")).unwrap();
        let before = resolve(&root, "HEAD").unwrap().unwrap();
        git(&root, &["commit", "-qm", "y"]);
        assert_eq!(between(&root, &before, "HEAD").unwrap(), changed);
        assert_eq!(tracked(&root).unwrap().len(), 4);
        assert_eq!(tree(&root, "HEAD").unwrap().len(), 4);
        assert_eq!(top(&root.join("sub")).unwrap(), root);
        assert_eq!(resolve(&root, "nothing").unwrap(), None);
        assert_eq!(resolve(&root, "--output=x").unwrap(), None);
    }

    #[test]
    fn s25_a_hostile_configuration_runs_nothing() {
        let (_keep, root) = repository();
        let witness = root.join("ran");
        let script = root.join("attack.sh");
        fs::write(&script, format!("#!/bin/sh\ntouch '{}'\ncat\n", witness.display())).unwrap();
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let attack = script.to_str().unwrap();
        for (key, value) in [
            ("core.fsmonitor", attack),
            ("core.pager", attack),
            ("diff.external", attack),
            ("filter.x.clean", attack),
            ("filter.x.smudge", attack),
            ("diff.x.textconv", attack),
            ("core.sshCommand", attack),
            ("uploadpack.packObjectsHook", attack),
        ] {
            git(&root, &["config", key, value]);
        }
        fs::write(root.join(".gitattributes"), "* filter=x diff=x\n").unwrap();
        fs::write(root.join("a.py"), "two\r\n").unwrap();
        let _ = fs::remove_file(&witness);
        head_blob(&root, Path::new("a.py")).unwrap();
        staged(&root, None).unwrap();
        between(&root, "HEAD", "HEAD").unwrap();
        tracked(&root).unwrap();
        assert!(!witness.exists());
        assert!(between(&root, "--output=stolen", "HEAD").is_err());
        assert!(!root.join("stolen").exists());
    }

    #[test]
    fn s25_the_environment_is_made_from_nothing() {
        let command = prepare(Path::new("/usr/bin/git"), Path::new("/"), &["version"]);
        let set: Vec<_> = command.get_envs().map(|(key, _)| key.to_string_lossy().into_owned()).collect();
        for key in ["GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT"] {
            assert!(set.iter().any(|it| it == key), "{key}");
        }
        assert!(!set.iter().any(|it| it == "GIT_DIR"));
        assert!(command.get_args().any(|it| it == "--no-replace-objects"));
    }
}
