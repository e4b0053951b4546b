//! Reviews that were shown: each act that one offers has a token, for one use, for exactly what was shown (S9).
//!
//! A token stands only in the offers that follow the review. It is an obstacle for whoever sends commands without a
//! person in front of the editor, and no proof that there is one.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use hooks::review::review;
use hooks::{Tree, TreeDigest};
use system::Folders;
use system::folders::create_private;
use system::open::{Durability, Root};

use crate::features::allowance::Allowance;

/// How long a review counts.
const KEPT: Duration = Duration::from_secs(15 * 60);
/// Most reviews that count at a time.
const MOST: usize = 32;
/// How long the text of one stays.
const TEXT_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Most texts looked at in one sweep.
const SWEEP: usize = 1000;
/// Below the state folder.
const FOLDER: &str = "reviews";

/// The reviews that count.
#[derive(Debug, Default)]
pub struct Reviews {
    shown: Mutex<Vec<Shown>>,
}

#[derive(Debug)]
struct Shown {
    act: Act,
    token: String,
    at: Instant,
    file: PathBuf,
}

/// What a person may do after they read a review.
#[derive(Debug, Clone)]
enum Act {
    /// Trust a root's hooks in these bytes, so many files.
    Trust { root: PathBuf, digest: TreeDigest, files: usize },
    /// Allow once what an agent was refused.
    Allow(Allowance),
}

impl Shown {
    fn counts(&self) -> bool {
        self.at.elapsed() < KEPT
    }

    /// Whether it is about the hooks of a root.
    fn trusts(&self, of: &Path) -> Option<(TreeDigest, usize)> {
        match &self.act {
            Act::Trust { root, digest, files } if root == of => Some((*digest, *files)),
            _ => None,
        }
    }

    fn allows(&self) -> Option<&Allowance> {
        match &self.act {
            Act::Allow(allowance) => Some(allowance),
            Act::Trust { .. } => None,
        }
    }
}

/// A review that can be opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The root.
    pub root: PathBuf,
    /// The bytes that are shown.
    pub digest: TreeDigest,
    /// How many files they are.
    pub files: usize,
    /// The file with the text.
    pub file: PathBuf,
    /// The text.
    pub text: String,
}

impl Reviews {
    /// Reads the hooks of a root once, writes their review into a private file and gives it a token. Blocks.
    ///
    /// # Errors
    /// Why there is nothing to review, in one line.
    pub fn make(&self, folders: &Folders, workspaces: &[PathBuf], root: &Path) -> Result<Opened, String> {
        let root = system::paths::resolve(root);
        let tree = Tree::read(&root).map_err(|refused| format!("the hooks cannot be read whole: {refused}"))?;
        let tree = tree.ok_or("there are no hooks to review")?;
        let text = review(&root, &tree).text;
        // Equal bytes of two roots are two reviews.
        let of = [root.as_os_str().as_encoded_bytes(), tree.digest.hex().as_bytes()].join(&0);
        let (digest, files) = (tree.digest, tree.files.len());
        self.lock().retain(|one| one.trusts(&root).is_none());
        let act = Act::Trust { root: root.clone(), digest, files };
        let file = self.show(folders, workspaces, &of, &text, vec![act])?;
        Ok(Opened { root, digest, files, file, text })
    }

    /// Writes the review of a refusal into a private file, and gives each act that it offers a token. Blocks.
    ///
    /// # Errors
    /// Why it is not shown, in one line.
    pub fn make_of_refusal(
        &self,
        folders: &Folders,
        workspaces: &[PathBuf],
        refusal: &str,
        text: &str,
        acts: Vec<Allowance>,
    ) -> Result<PathBuf, String> {
        let of = [b"refusal", refusal.as_bytes()].join(&0);
        self.show(folders, workspaces, &of, text, acts.into_iter().map(Act::Allow).collect())
    }

    /// Writes a text into a private file that is named after what it is `of`, and gives each act a token.
    fn show(
        &self,
        folders: &Folders,
        workspaces: &[PathBuf],
        of: &[u8],
        text: &str,
        acts: Vec<Act>,
    ) -> Result<PathBuf, String> {
        let file = Reviews::show_text(folders, workspaces, of, text)?;
        let tokens = acts.iter().map(|_| random()).collect::<Result<Vec<_>, _>>()?;
        let mut shown = self.lock();
        shown.retain(|one| one.counts() && one.file != file);
        for (act, token) in acts.into_iter().zip(tokens) {
            if shown.len() >= MOST {
                shown.remove(0);
            }
            shown.push(Shown { act, token, at: Instant::now(), file: file.clone() });
        }
        Ok(file)
    }

    /// Writes a text to be read into a private file that is named after what it is `of`; it offers nothing. Blocks.
    ///
    /// # Errors
    /// Why it is not written, in one line.
    pub fn show_text(folders: &Folders, workspaces: &[PathBuf], of: &[u8], text: &str) -> Result<PathBuf, String> {
        folders.admit(&folders.state, workspaces).map_err(|refused| refused.to_string())?;
        let folder = folder(folders);
        create_private(&folder).map_err(|refused| refused.to_string())?;
        let name = format!("{}.txt", &system::digest::sha256_hex(of)[..12]);
        let opened = Root::open(&folder).map_err(|error| error.to_string())?;
        sweep(&opened, &folder, SystemTime::now());
        opened
            .replace(Path::new(&name), text.as_bytes(), Durability::Usual)
            .map_err(|error| format!("the review cannot be written: {error}"))?;
        Ok(folder.join(name))
    }

    /// The token of a review of these bytes that counts still.
    pub fn token(&self, root: &Path, digest: TreeDigest) -> Option<String> {
        let shown = self.lock();
        let fits = |one: &&Shown| one.counts() && one.trusts(root).is_some_and(|(shown, _)| shown == digest);
        shown.iter().find(fits).map(|one| one.token.clone())
    }

    /// Uses a token up; how many files were shown, if it was that of a review of these bytes.
    pub fn spend(&self, root: &Path, digest: &str, token: &str) -> Option<usize> {
        let fits = |one: &Shown| one.trusts(root).is_some_and(|(shown, _)| shown.hex() == digest);
        self.take(token, fits).and_then(|one| one.trusts(root)).map(|(_, files)| files)
    }

    /// Uses a token up; what it allows, if it was that of a review of this refusal.
    pub fn spend_allowance(&self, refusal: &str, token: &str) -> Option<Allowance> {
        let fits = |one: &Shown| one.allows().is_some_and(|allowance| allowance.refusal == refusal);
        self.take(token, fits).and_then(|one| one.allows().cloned())
    }

    fn take(&self, token: &str, fits: impl Fn(&Shown) -> bool) -> Option<Shown> {
        let mut shown = self.lock();
        let at = shown.iter().position(|one| one.token == token && one.counts() && fits(one))?;
        Some(shown.remove(at))
    }

    /// The root whose hooks' review is this file.
    pub fn root_of(&self, file: &Path) -> Option<PathBuf> {
        let of = |one: &Shown| match &one.act {
            Act::Trust { root, .. } if one.file == file => Some(root.clone()),
            _ => None,
        };
        self.lock().iter().find_map(of)
    }

    /// What the review of a refusal in this file offers, with the tokens.
    pub fn allowances(&self, file: &Path) -> Vec<(Allowance, String)> {
        let shown = self.lock();
        let of_file = shown.iter().filter(|one| one.file == file && one.counts());
        of_file.filter_map(|one| Some((one.allows()?.clone(), one.token.clone()))).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Shown>> {
        self.shown.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Where the texts of reviews are.
pub fn folder(folders: &Folders) -> PathBuf {
    folders.state.join(FOLDER)
}

/// Whether a file may be the text of a review, by its name.
pub fn is_review(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "txt") && path.parent().is_some_and(|folder| folder.ends_with(FOLDER))
}

/// Removes the texts that are older than seven days before `now`.
fn sweep(opened: &Root, folder: &Path, now: SystemTime) {
    for name in opened.names(SWEEP).unwrap_or_default() {
        let age = opened.look(Path::new(&name)).ok().flatten().and_then(|look| look.age(now));
        if age.is_some_and(|age| age > TEXT_KEPT) {
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
}

/// 128 bits that nobody can guess, in hex.
fn random() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(system::digest::hex(&bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn s09_a_token_is_for_one_use_and_one_state_of_the_bytes() {
        let temporary = tempfile::tempdir().expect("a folder");
        let base = temporary.path().canonicalize().expect("it is there");
        let root = base.join("root");
        fs::create_dir_all(root.join(".ruleline/hooks")).expect("a folder");
        fs::write(root.join(".ruleline/hooks/a.sh"), "exit 0\n").expect("a file");
        let folders = Folders { state: base.join("state"), ..Folders::below(&base) };
        let reviews = Reviews::default();
        let opened = reviews.make(&folders, &[], &root).expect("there is something to review");
        assert!(opened.text.contains("exit 0"));
        let token = reviews.token(&root, opened.digest).expect("a token");
        let hex = opened.digest.hex();
        assert_eq!(reviews.spend(&root, &hex, "another"), None);
        assert_eq!(reviews.spend(&base, &hex, &token), None);
        assert_eq!(reviews.spend(&root, &hex.replace(|it: char| it.is_ascii_digit(), "0"), &token), None);
        assert_eq!(reviews.spend(&root, &hex, &token), Some(1));
        assert_eq!(reviews.spend(&root, &hex, &token), None, "it is used up");
        assert_eq!(reviews.token(&root, opened.digest), None);
        let other = reviews.make(&folders, &[], &root).expect("another review");
        assert_ne!(reviews.token(&root, other.digest), Some(token), "and another token");
        assert!(reviews.make(&folders, &[], &base).is_err());
    }

    #[test]
    fn s09_the_review_of_one_root_is_never_that_of_another() {
        let temporary = tempfile::tempdir().expect("a folder");
        let base = temporary.path().canonicalize().expect("it is there");
        let folders = Folders { state: base.join("state"), ..Folders::below(&base) };
        let reviews = Reviews::default();
        let opened = ["one", "two"].map(|name| {
            let root = base.join(name);
            fs::create_dir_all(root.join(".ruleline/hooks")).expect("a folder");
            fs::write(root.join(".ruleline/hooks/a.sh"), "exit 0\n").expect("a file");
            reviews.make(&folders, &[], &root).expect("there is something to review")
        });
        assert_eq!(opened[0].digest, opened[1].digest);
        for one in opened {
            assert_eq!(reviews.root_of(&one.file), Some(one.root));
        }
    }

    #[test]
    fn s09_a_token_of_a_refusal_is_for_one_act() {
        let temporary = tempfile::tempdir().expect("a folder");
        let base = temporary.path().canonicalize().expect("it is there");
        let folders = Folders { state: base.join("state"), ..Folders::below(&base) };
        let reviews = Reviews::default();
        let act = |refusal: &str, rule: &str| Allowance {
            refusal: refusal.into(),
            root: base.clone(),
            path: base.join("a.py"),
            rule: rule.into(),
            rulebook: base.join("rules.toml"),
            rulebook_digest: [1; 32],
            added: [2; 32],
        };
        let make = |refusal: &str| {
            let acts = vec![act(refusal, "a"), act(refusal, "b")];
            reviews.make_of_refusal(&folders, &[], refusal, "text", acts).expect("it is shown")
        };
        let file = make("one");
        let other = make("two");
        assert_ne!(file, other);
        let tokens: Vec<String> = reviews.allowances(&file).into_iter().map(|(_, token)| token).collect();
        assert_ne!(tokens[0], tokens[1]);
        assert_eq!(reviews.spend_allowance("two", &tokens[0]), None);
        assert_eq!(reviews.spend_allowance("one", ""), None);
        assert_eq!(reviews.spend_allowance("one", &tokens[1]), Some(act("one", "b")));
        assert_eq!(reviews.spend_allowance("one", &tokens[1]), None, "it is used up");
        assert_eq!(reviews.allowances(&file), [(act("one", "a"), tokens[0].clone())]);
        make("one");
        assert_eq!(reviews.spend_allowance("one", &tokens[0]), None, "another review, another token");
        assert_eq!(reviews.allowances(&other).len(), 2);
        assert_eq!(reviews.root_of(&file), None);
    }

    #[test]
    fn texts_of_long_ago_are_removed() {
        let temporary = tempfile::tempdir().expect("a folder");
        let base = temporary.path().canonicalize().expect("it is there");
        let file = base.join("text.txt");
        fs::write(&file, "text").expect("a file");
        let root = Root::open(&base).expect("it is there");
        let after = |days: u64| SystemTime::now() + Duration::from_secs(days * 24 * 60 * 60);
        sweep(&root, &base, after(6));
        assert!(file.exists());
        sweep(&root, &base, after(8));
        assert!(!file.exists());
    }
}
