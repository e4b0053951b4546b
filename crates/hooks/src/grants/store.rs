//! The files of the store: where they are, who may own them, and how they are replaced.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use system::clock::milliseconds;
use system::digest::key;
use system::folders;
use system::open::{Durability, Lock, OpenError, Root};

use super::record;
use super::{Grant, GrantError, GrantedFile, Grantor, Means, Record, StoreError};
use crate::digest::TreeDigest;
use crate::snapshots::{self, Snapshot};
use crate::tree::{Signature, Tree};

/// Below the state folder.
const FOLDER: &str = "grants";
/// What one writer holds while it changes anything.
const LOCK: &str = "lock";
/// How long is waited for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long what a crash left half written is kept.
const HALF_WRITTEN: Duration = Duration::from_secs(24 * 60 * 60);
/// Largest record, in bytes: the longest names a folder of hooks may have fit.
const RECORD: u64 = 4 << 20;
/// Largest of the small files beside a record, in bytes.
const NOTE: u64 = 4096;
/// Most records that are listed.
const RECORDS: usize = 10_000;

/// The grants of a user.
#[derive(Debug, Clone)]
pub struct Store {
    state: PathBuf,
    machine: Option<Machine>,
}

/// Where the machine's owner puts grants, and who that is.
#[derive(Debug, Clone)]
struct Machine {
    folder: PathBuf,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no owners"))]
    owner: u32,
}

/// What was seen of a folder of hooks.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remembered {
    version: u32,
    signature: String,
    digest: String,
}

impl Store {
    /// The store in this state folder, which the caller has admitted ([`system::Folders::admit`]).
    pub fn new(state: &Path) -> Store {
        let machine = cfg!(unix).then(|| Machine { folder: PathBuf::from("/etc/ruleline/grants"), owner: 0 });
        Store { state: state.to_path_buf(), machine }
    }

    /// As [`Store::new`], with another folder for the grants of the machine's owner, who is user `owner`: for tests.
    #[must_use]
    pub fn with_machine(self, folder: &Path, owner: u32) -> Store {
        Store { machine: Some(Machine { folder: folder.to_path_buf(), owner }), ..self }
    }

    /// The state folder.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Whether there is any record at all: a look at two names.
    pub fn holds_any(&self) -> bool {
        self.folders().any(|folder| folder.symlink_metadata().is_ok())
    }

    /// Whether there is a record for a root, whatever it says, or the user's folder of records cannot be looked into: a
    /// look at two names. `root` has no link in it.
    pub fn holds(&self, root: &Path) -> bool {
        let name = record_name(root);
        let is_absent = |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let of_user = self.state.join(FOLDER).join(&name).symlink_metadata();
        !of_user.is_err_and(|error| is_absent(&error))
            || self.machine.iter().any(|machine| machine.folder.join(&name).symlink_metadata().is_ok())
    }

    /// Where records are.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let machine = self.machine.iter().map(|machine| machine.folder.clone());
        machine.chain([self.state.join(FOLDER)])
    }

    /// What is recorded for a root; the user's own record wins over that of the machine's owner. None: never granted.
    ///
    /// # Errors
    /// A record that is there and cannot be used: the hooks count as untrusted.
    pub fn read(&self, root: &Path) -> Result<Option<Record>, StoreError> {
        let root = canonical(root);
        if let Some(folder) = self.open()?
            && let Some(found) = read_own(&folder, &root)?
        {
            return Ok(Some(found));
        }
        match &self.machine {
            Some(machine) => machine.read(&root),
            None => Ok(None),
        }
    }

    /// Every record of the user, those that cannot be read as errors; for lists.
    pub fn all(&self) -> Vec<Result<Record, StoreError>> {
        let folder = match self.open() {
            Ok(Some(folder)) => folder,
            Ok(None) => return Vec::new(),
            Err(error) => return vec![Err(error)],
        };
        let mut names = match folder.names(RECORDS) {
            Ok(names) => names,
            Err(error) => return vec![Err(failed(&error))],
        };
        names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"));
        names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
        names.sort_unstable();
        let read = |name| match read_named(&folder, Path::new(&name)) {
            Ok(Some(found)) if Path::new(&name) == record_name(&found.grant().root) => Some(Ok(found)),
            Ok(Some(_)) => Some(Err(wrong(&folder.path().join(&name), "is the record of another root"))),
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        };
        names.into_iter().filter_map(read).collect()
    }

    /// Grants the bytes of `tree` to `root`: writes the snapshot, then the record.
    ///
    /// # Errors
    /// [`GrantError`]; nothing has changed then.
    pub fn grant(
        &self,
        root: &Path,
        tree: &Tree,
        reviewed: TreeDigest,
        by: &Grantor,
        now: SystemTime,
    ) -> Result<Grant, GrantError> {
        if tree.digest != reviewed {
            return Err(GrantError::Changed { reviewed, now: tree.digest });
        }
        let root = canonical(root);
        let before = self.read(&root)?;
        Snapshot::write(&self.state, tree)?;
        let folder = self.make()?;
        let _lock = hold(&folder, LOCK)?;
        let known = self.read(&root)?;
        let mut last = None;
        if let Some(known) = known {
            if let Record::Withdrawn { at, .. } = &known {
                // Whoever takes trust back at the same time wins.
                if before.as_ref() != Some(&known) || milliseconds(*at) == milliseconds(now) {
                    let why = "the hooks were untrusted at the same time, and stay so; review and trust them again";
                    return Err(wrong(&folder.path().join(record_name(&root)), why).into());
                }
                last = Some(milliseconds(*at));
            }
            last = last.max(Some(milliseconds(known.grant().at)));
        }
        // Whether one grant is newer than another must not depend on a clock that jumps back.
        let at = milliseconds(now).max(last.map_or(0, |last| last.saturating_add(1)));
        let at = record::time(at).map_err(|why| wrong(&folder.path().join(record_name(&root)), &why))?;
        let grant = Grant { root, digest: tree.digest, files: granted(tree), at, by: by.clone() };
        write(&folder, &Record::Granted(grant.clone()))?;
        tidy(&folder, now);
        snapshots::sweep(self, now);
        Ok(grant)
    }

    /// Takes a grant back; none when there was none.
    ///
    /// # Errors
    /// The record cannot be read or written; it stands as it was.
    pub fn withdraw(&self, root: &Path, now: SystemTime) -> Result<Option<Grant>, StoreError> {
        let root = canonical(root);
        if !matches!(self.read(&root)?, Some(Record::Granted(_))) {
            return Ok(None);
        }
        let folder = self.make()?;
        let _lock = hold(&folder, LOCK)?;
        let Some(Record::Granted(last)) = self.read(&root)? else { return Ok(None) };
        let at = now.max(last.at);
        write(&folder, &Record::Withdrawn { last: last.clone(), at })?;
        Ok(Some(last))
    }

    /// Remembers that the folder with this signature has this digest, so that the next event need not read it. Never
    /// more than a saving: it is used only for a signature that is not fresh.
    pub fn remember(&self, root: &Path, signature: &Signature, digest: TreeDigest) {
        if signature.fresh {
            return;
        }
        let remembered = Remembered { version: 1, signature: signature.hash.clone(), digest: digest.hex() };
        if let Ok(text) = serde_json::to_vec(&remembered) {
            self.note(&canonical(root), "look", &text);
        }
    }

    /// The digest remembered for exactly this signature.
    pub fn remembered(&self, root: &Path, signature: &Signature) -> Option<TreeDigest> {
        if signature.fresh {
            return None;
        }
        let remembered: Remembered = serde_json::from_slice(&self.noted(&canonical(root), "look")?).ok()?;
        let same = remembered.version == 1 && remembered.signature == signature.hash;
        same.then(|| TreeDigest::parse(&remembered.digest)).flatten()
    }

    /// Whether a session has been told of this grant.
    pub(crate) fn was_announced(&self, grant: &Grant) -> bool {
        self.noted(&grant.root, "told").is_some_and(|told| told == told_of(grant))
    }

    /// Remembers that a session was told of this grant.
    pub(crate) fn announced(&self, grant: &Grant) {
        self.note(&grant.root, "told", &told_of(grant));
    }

    fn note(&self, root: &Path, kind: &str, text: &[u8]) {
        if let Ok(folder) = self.make() {
            let _ = folder.replace(&note_name(root, kind), text, Durability::Usual);
        }
    }

    fn noted(&self, root: &Path, kind: &str) -> Option<Vec<u8>> {
        read_private(&self.open().ok()??, &note_name(root, kind), NOTE).ok()?
    }

    /// The folder of the store; none when there is none yet.
    fn open(&self) -> Result<Option<Root>, StoreError> {
        open_private(&self.state, Path::new(FOLDER))
    }

    fn make(&self) -> Result<Root, StoreError> {
        make_private(&self.state, FOLDER)
    }
}

impl Machine {
    /// The record of the machine's owner for `root`.
    #[cfg(unix)]
    fn read(&self, root: &Path) -> Result<Option<Record>, StoreError> {
        let folder = match Root::open(&self.folder) {
            Ok(folder) => folder,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let name = record_name(root);
        let Some((bytes, look)) = folder.read_looked(&name, RECORD).map_err(|error| failed(&error))? else {
            return Ok(None);
        };
        let path = self.folder.join(&name);
        folders::check_owned(&self.folder, self.owner).map_err(|refused| wrong(&path, &refused.to_string()))?;
        if look.owner != self.owner || look.mode & 0o022 != 0 {
            return Err(wrong(&path, "can be written by others than the machine's owner"));
        }
        let found = record::parse(&bytes).map_err(|why| unusable(&path, &why))?;
        let mut found = for_root(found, root, &path)?;
        match &mut found {
            Record::Granted(grant) | Record::Withdrawn { last: grant, .. } => grant.by.means = Means::System,
        }
        Ok(Some(found))
    }

    #[cfg(not(unix))]
    fn read(&self, _: &Path) -> Result<Option<Record>, StoreError> {
        let _ = &self.folder;
        Ok(None)
    }
}

/// The folder `name` of a state folder, private to this user; none when it is not there.
///
/// # Errors
/// It is a link, another's or open to others.
pub fn open_private(state: &Path, name: &Path) -> Result<Option<Root>, StoreError> {
    let opened = match Root::open(state) {
        Ok(state) => state.folder(name),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    };
    let Some(folder) = opened.map_err(|error| failed(&error))? else { return Ok(None) };
    match folder.itself().map_err(|error| failed(&error))?.not_private() {
        None => Ok(Some(folder)),
        Some(what) => Err(wrong(folder.path(), &format!("{what}; make it yours alone (chmod 700)"))),
    }
}

/// As [`open_private`], made if it is not there.
///
/// # Errors
/// As [`open_private`], or it cannot be made.
pub fn make_private(state: &Path, name: &str) -> Result<Root, StoreError> {
    if let Some(folder) = open_private(state, Path::new(name))? {
        return Ok(folder);
    }
    let path = state.join(name);
    folders::create_private(&path).map_err(|refused| StoreError { why: refused.why, path: refused.folder })?;
    open_private(state, Path::new(name))?.ok_or_else(|| wrong(&path, "went away just after it was made"))
}

/// Holds the lock of a folder of the store. Nobody keeps one for longer than a few writes: who cannot have it for
/// [`PATIENCE`] does not wait for ever.
pub(crate) fn hold(folder: &Root, name: &str) -> Result<Lock, StoreError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match folder.try_lock(Path::new(name)).map_err(|error| failed(&error))? {
            Some(lock) => return Ok(lock),
            None if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
            None => return Err(wrong(&folder.path().join(name), "is held by another process; end it and try again")),
        }
    }
}

/// A file that is private to this user; none when it is not there.
///
/// # Errors
/// It is no regular file of at most `cap` bytes with one name, another's or open to others.
pub fn read_private(folder: &Root, name: &Path, cap: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let Some((bytes, look)) = folder.read_looked(name, cap).map_err(|error| failed(&error))? else { return Ok(None) };
    let path = folder.path().join(name);
    if let Some(what) = look.not_private() {
        return Err(wrong(&path, &format!("{what}; make it yours alone (chmod 600) if you know what it says")));
    }
    if look.names != 1 {
        return Err(wrong(&path, "has more than one name (hard link); remove the other"));
    }
    Ok(Some(bytes))
}

fn read_own(folder: &Root, root: &Path) -> Result<Option<Record>, StoreError> {
    let name = record_name(root);
    match read_named(folder, &name)? {
        Some(found) => for_root(found, root, &folder.path().join(name)).map(Some),
        None => Ok(None),
    }
}

fn read_named(folder: &Root, name: &Path) -> Result<Option<Record>, StoreError> {
    let Some(bytes) = read_private(folder, name, RECORD)? else { return Ok(None) };
    record::parse(&bytes).map(Some).map_err(|why| unusable(&folder.path().join(name), &why))
}

fn for_root(found: Record, root: &Path, path: &Path) -> Result<Record, StoreError> {
    if found.grant().root == root { Ok(found) } else { Err(unusable(path, "is the record of another root")) }
}

fn write(folder: &Root, record: &Record) -> Result<(), StoreError> {
    let name = record_name(&record.grant().root);
    folder.replace(&name, &record::write(record), Durability::Synced).map_err(|error| failed(&error))
}

/// Removes what writers that were killed left beside the records.
fn tidy(folder: &Root, now: SystemTime) {
    for name in folder.names(RECORDS).unwrap_or_default() {
        let name = Path::new(&name);
        let half = name.extension().is_some_and(|extension| extension == "new");
        let old = half && folder.look(name).ok().flatten().and_then(|look| look.age(now)) > Some(HALF_WRITTEN);
        if old {
            let _ = folder.remove(name);
        }
    }
}

fn granted(tree: &Tree) -> Vec<GrantedFile> {
    let files = tree.files.iter().map(|file| GrantedFile {
        path: file.path.clone(),
        sha256: system::digest::hex(&file.sha256),
        size: file.bytes.len() as u64,
        executable: file.executable,
    });
    files.collect()
}

/// The root with its links resolved, as it is recorded.
pub(crate) fn canonical(root: &Path) -> PathBuf {
    system::paths::resolve(&system::paths::absolute(root))
}

fn record_name(root: &Path) -> PathBuf {
    PathBuf::from(format!("{}.json", key(root)))
}

fn note_name(root: &Path, kind: &str) -> PathBuf {
    PathBuf::from(format!("{}.{kind}", key(root)))
}

fn told_of(grant: &Grant) -> Vec<u8> {
    format!("{} {}", milliseconds(grant.at), grant.digest.hex()).into_bytes()
}

fn unusable(path: &Path, why: &str) -> StoreError {
    wrong(path, &format!("{why}; nothing of this root is trusted until you remove the file and trust again"))
}

pub(crate) fn wrong(path: &Path, why: &str) -> StoreError {
    StoreError { path: path.to_path_buf(), why: why.to_owned() }
}

pub(crate) fn failed(error: &OpenError) -> StoreError {
    let (path, why) = match error {
        OpenError::NotRegular { path, what } => (path, format!("is {what}, not a regular file; remove it")),
        OpenError::Link { path } => (path, "is a link or reached over one; remove it".to_owned()),
        OpenError::TooLarge { path, cap } => (path, format!("is larger than {cap} bytes; remove it")),
        OpenError::NotOurs { path, what } => (path, format!("{what}; remove it")),
        OpenError::NotFolder { path } => (path, "is no folder; remove it".to_owned()),
        OpenError::Changing { path } => (path, "was changed while it was read; try again".to_owned()),
        OpenError::Io { path, source } => (path, format!("cannot be read or written ({source})")),
    };
    StoreError { path: path.clone(), why }
}
