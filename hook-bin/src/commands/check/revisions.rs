//! What is judged of a repository's history: the index against HEAD, or HEAD against where it left another revision.
//!
//! Everything comes from git's objects (S26): nothing of the work tree, no filter, no textconv. A renamed file is one
//! that is gone and one that is new with all of its lines. Revisions and paths are hostile text.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use guard::Spelled;
use guard::books::{LARGEST, LoadedBook, PROJECT_RULES};
use guard::subject::{Content, Subject};
use rules::plain::{self, plain};
use system::git::{self, Blob, Changed, GitError};
use system::paths;

use super::Refusal;
use super::books::BaseBook;

/// What a branch changes, and by which rulebooks it is judged beside today's.
pub struct Branch {
    /// The changed files.
    pub subjects: Vec<Subject>,
    /// The rulebooks of the revision it left.
    pub rulebooks: Vec<BaseBook>,
}

/// What the index changes against HEAD.
pub fn staged(cwd: &Path, paths: &[PathBuf]) -> Result<Vec<Subject>, Refusal> {
    let top = git::top(cwd).map_err(|error| refused(&error))?;
    let index = std::env::var_os("GIT_INDEX_FILE").map(PathBuf::from);
    let changed = git::staged(&top, index.as_deref()).map_err(|error| refused(&error))?;
    Ok(subjects(&top, changed, &Wanted::new(&top, paths)))
}

/// What HEAD changes since it left `revision`.
pub fn branch(cwd: &Path, revision: &OsStr, paths: &[PathBuf]) -> Result<Branch, Refusal> {
    let shown = plain(&revision.to_string_lossy(), plain::PATH);
    let unknown = || format!("--base {shown:?} is no revision of this repository");
    let top = git::top(cwd).map_err(|error| refused(&error))?;
    // Where a revision starts with a dash git might take it for an option: no branch or tag has such a name.
    let plausible = revision.to_str().filter(|text| !text.is_empty() && !text.starts_with('-') && !text.contains('\0'));
    let commit = |revision: &str| git::resolve(&top, revision).map_err(|error| refused(&error));
    let base = commit(plausible.ok_or_else(unknown)?)?.ok_or_else(unknown)?;
    let head = commit("HEAD")?.ok_or("there is no commit yet to compare")?;
    let left = git::merge_base(&top, &base, &head).map_err(|error| refused(&error))?;
    let left = left.ok_or_else(|| {
        format!("--base {shown:?} and HEAD share no commit here; a shallow clone needs more of its history (git fetch --unshallow)")
    })?;
    let changed = git::between(&top, &left, &head).map_err(|error| refused(&error))?;
    let rulebooks = rulebooks(&top, &base, &shown).map_err(|error| refused(&error))?;
    Ok(Branch { subjects: subjects(&top, changed, &Wanted::new(&top, paths)), rulebooks })
}

fn refused(error: &GitError) -> Refusal {
    plain(&error.to_string(), plain::WHY)
}

fn subjects(top: &Path, changed: Vec<Changed>, wanted: &Wanted) -> Vec<Subject> {
    let resolved = paths::resolve(top);
    let wanted = changed.into_iter().filter(|changed| wanted.has(&changed.path));
    let mut subjects: Vec<Subject> = wanted
        .map(|Changed { path, old, new }| Subject {
            file: Spelled { written: top.join(&path), resolved: resolved.join(&path) },
            content: Content::Blobs { top: top.to_path_buf(), old, new },
        })
        .collect();
    subjects.sort_by(|one, other| one.file.written.cmp(&other.file.written));
    subjects
}

/// The rulebooks of every project in the tree of `commit`.
fn rulebooks(top: &Path, commit: &str, revision: &str) -> Result<Vec<BaseBook>, GitError> {
    let tree = git::tree(top, commit)?;
    let found: Vec<(PathBuf, Blob)> =
        tree.into_iter().filter(|(path, blob)| path.ends_with(PROJECT_RULES) && blob.is_file()).collect();
    let ids: Vec<&str> = found.iter().map(|(_, blob)| blob.id.as_str()).collect();
    let sizes = git::sizes(top, &ids)?;
    let mut books = Vec::with_capacity(found.len());
    for ((path, blob), size) in found.iter().zip(sizes) {
        let bytes = match size {
            Some(size) if size <= LARGEST => git::blobs(top, &[&blob.id])?.pop().flatten(),
            _ => None,
        };
        // A rulebook that cannot be had is one that does not load: what it may cover asks.
        let mut loaded = LoadedBook::from_bytes(top.join(path), bytes.unwrap_or_else(|| b"\xff".to_vec()));
        loaded.book.validate();
        let root = path.ancestors().nth(2).map_or_else(|| top.to_path_buf(), |root| top.join(root));
        books.push(BaseBook { root, revision: revision.to_owned(), loaded: loaded.into() });
    }
    Ok(books)
}

/// The paths asked about, relative to the top; everything when there are none.
struct Wanted {
    below: Vec<PathBuf>,
}

impl Wanted {
    fn new(top: &Path, asked: &[PathBuf]) -> Wanted {
        let relative = |path: &PathBuf| {
            let path = paths::absolute(path);
            let below = path.strip_prefix(top).map(Path::to_path_buf);
            below.or_else(|_| paths::resolve(&path).strip_prefix(top).map(Path::to_path_buf)).unwrap_or(path)
        };
        Wanted { below: asked.iter().map(relative).collect() }
    }

    fn has(&self, path: &Path) -> bool {
        self.below.is_empty() || self.below.iter().any(|asked| path.starts_with(asked))
    }
}
