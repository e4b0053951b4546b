//! Which rulebooks hold for a file (S5): those of every root from the file upwards, of a linked worktree's main
//! checkout, of the user, and one named on the command line.
//!
//! Only places and names are found here; nothing is loaded. An inner root adds and never removes, and a file gets the
//! rules of a project only if it lies below that project's root.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use system::paths;
use system::roots::{self, Root};

use crate::books::Place;

/// A file as an edit names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelled {
    /// Absolute, as written.
    pub written: PathBuf,
    /// With links resolved.
    pub resolved: PathBuf,
}

impl Spelled {
    /// The spellings of an absolute path.
    pub fn new(written: PathBuf) -> Spelled {
        Spelled { resolved: paths::resolve(&written), written }
    }

    /// The spellings, each once.
    pub fn each(&self) -> impl Iterator<Item = &Path> {
        let other = (self.resolved != self.written).then_some(self.resolved.as_path());
        std::iter::once(self.written.as_path()).chain(other)
    }

    /// The names that globs are tried on, relative to `base`; empty when the file does not lie below it.
    pub fn names_below(&self, base: &Path) -> Vec<String> {
        let base = Spelled::new(base.to_path_buf());
        self.names_below_any(&base.each().map(Path::to_path_buf).collect::<Vec<_>>())
    }

    fn names_below_any(&self, bases: &[PathBuf]) -> Vec<String> {
        let mut names = Vec::new();
        for path in self.each() {
            let name = bases.iter().find_map(|base| paths::relative(base, path)).filter(|name| !name.is_empty());
            if let Some(name) = name.filter(|name| !names.contains(name)) {
                names.push(name);
            }
        }
        names
    }

    /// Every name that the file has below any folder, and the absolute ones.
    pub fn every_name(&self) -> Vec<String> {
        let mut names = self.absolute_names();
        for path in self.each() {
            let mut parts = path.components();
            while parts.next().is_some() {
                let name = paths::shown(parts.as_path());
                if !name.is_empty() && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The absolute names, for rules that may name any file.
    pub fn absolute_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.each().map(paths::shown).collect();
        names.dedup();
        names
    }
}

/// The rulebook of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Absolute.
    pub path: PathBuf,
    /// It takes the place of the project's rulebooks instead of adding to them (S3).
    pub replaces: bool,
}

/// What is known beside the file.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The root a person named (`--project`).
    pub project: Option<PathBuf>,
    /// The agent's working folder.
    pub cwd: PathBuf,
    /// The rulebook a person named (`--rules`).
    pub named: Option<Named>,
    /// The roots that hold the working folder, once they were asked for.
    enclosing: OnceLock<Vec<Root>>,
}

impl Surroundings {
    /// Surroundings without a rulebook of the command line.
    pub fn new(cwd: PathBuf, project: Option<PathBuf>) -> Surroundings {
        Surroundings { project, cwd, named: None, enclosing: OnceLock::new() }
    }

    /// The roots that hold the working folder, innermost first, as they were when first asked for.
    pub fn enclosing(&self) -> &[Root] {
        self.enclosing.get_or_init(|| roots::enclosing(&self.cwd))
    }

    /// The roots that hold a folder, innermost first; what is known of the working folder is not looked for again.
    pub(crate) fn roots_above(&self, folder: &Path) -> Vec<Root> {
        if self.cwd.is_absolute() {
            roots::enclosing_within(folder, &self.cwd, self.enclosing())
        } else {
            roots::enclosing(folder)
        }
    }

    /// The root that relative paths of the command line start from: `--project`, else the root that holds the working
    /// folder, else that folder.
    pub fn root(&self) -> PathBuf {
        match &self.project {
            Some(project) => project.clone(),
            None => self.enclosing().first().map_or(&self.cwd, |root| &root.path).clone(),
        }
    }
}

/// The innermost root that holds `folder`.
pub fn innermost(folder: &Path) -> Option<PathBuf> {
    roots::innermost(folder).map(|root| root.path)
}

/// Whose rulebook it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A root's.
    Project,
    /// The user's.
    User,
    /// The one named on the command line: it must be there.
    Named,
}

/// One rulebook that holds for a file, and how it sees that file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Where it stands.
    pub place: Place,
    /// Whose it is.
    pub owner: Owner,
    /// The file's names in the eyes of this rulebook; one entry for each root they are relative to.
    pub views: Vec<Vec<String>>,
}

/// Everything that holds for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The path as shown to people and agents: relative to the innermost root, else absolute.
    pub shown: String,
    /// The roots the file lies in, innermost first, each with the file's names there.
    pub roots: Vec<(PathBuf, Vec<String>)>,
    /// The rulebooks, the innermost root's first.
    pub holdings: Vec<Holding>,
}

/// What holds for `file`; `user` is the user's folder, where it may be used.
pub fn stack(file: &Spelled, surroundings: &Surroundings, user: Option<&Path>) -> Stack {
    let found = roots_of(file, surroundings);
    let mut roots: Vec<(PathBuf, Vec<String>)> = Vec::new();
    let named = surroundings.project.iter().map(|root| (paths::resolve(root), file.names_below(root)));
    let enclosing = found.iter().map(|root| (root.path.clone(), root.names.clone()));
    for (root, names) in named.chain(enclosing) {
        if !names.is_empty() && !roots.iter().any(|(known, _)| *known == root) {
            roots.push((root, names));
        }
    }
    let shown = match roots.first() {
        Some((_, names)) => names[0].clone(),
        None => paths::shown(&file.written),
    };
    let mut holdings = Vec::new();
    let replaced = surroundings.named.as_ref().is_some_and(|named| named.replaces);
    if !replaced {
        projects(file, &found, surroundings, &mut holdings);
    }
    if let Some(named) = &surroundings.named {
        let views = named_views(&roots, file, surroundings);
        holdings.push(Holding { place: Place::named(&named.path), owner: Owner::Named, views });
    }
    if let Some(folder) = user {
        let place = Place::of_user(folder);
        let mut names = roots.first().map(|(_, names)| names.clone()).unwrap_or_default();
        names.extend(file.absolute_names());
        holdings.push(Holding { place, owner: Owner::User, views: vec![names] });
    }
    holdings.retain(|holding| !holding.views.is_empty());
    Stack { shown, roots, holdings }
}

/// A root that a file lies in, by its resolved path.
struct Found {
    path: PathBuf,
    has_ruleline: bool,
    may_be_linked: bool,
    names: Vec<String>,
}

/// The roots by either spelling of the file, innermost first for each spelling.
fn roots_of(file: &Spelled, surroundings: &Surroundings) -> Vec<Found> {
    let mut found: Vec<(Root, Vec<PathBuf>)> = Vec::new();
    for path in file.each() {
        for root in path.parent().map(|folder| surroundings.roots_above(folder)).unwrap_or_default() {
            let resolved = paths::resolve(&root.path);
            match found.iter_mut().find(|(known, _)| known.path == resolved) {
                Some((_, spellings)) if !spellings.contains(&root.path) => spellings.push(root.path),
                Some(_) => {}
                None => {
                    let spellings = vec![root.path, resolved.clone()];
                    found.push((Root { path: resolved, ..root }, spellings));
                }
            }
        }
    }
    let seen = |(root, spellings): (Root, Vec<PathBuf>)| Found {
        names: file.names_below_any(&spellings),
        path: root.path,
        has_ruleline: root.has_ruleline,
        may_be_linked: root.may_be_linked,
    };
    found.into_iter().map(seen).collect()
}

fn projects(file: &Spelled, found: &[Found], surroundings: &Surroundings, holdings: &mut Vec<Holding>) {
    let mut add = |root: &Path, names: Vec<String>| {
        if names.is_empty() {
            return;
        }
        let place = Place::of_project(root);
        match holdings.iter_mut().find(|holding: &&mut Holding| holding.place == place) {
            Some(holding) if holding.views.contains(&names) => {}
            Some(holding) => holding.views.push(names),
            None => holdings.push(Holding { place, owner: Owner::Project, views: vec![names] }),
        }
    };
    for root in found {
        if root.has_ruleline {
            add(&root.path, root.names.clone());
        }
        if let Some(main) = root.may_be_linked.then(|| roots::main_checkout(&root.path)).flatten() {
            add(&paths::resolve(&main), root.names.clone());
        }
    }
    if let Some(project) = &surroundings.project {
        add(&paths::resolve(project), file.names_below(project));
    }
}

/// A rulebook of the command line sees a file relative to the root a person named, else to the tree that owns the file
/// and to the root of the working folder.
fn named_views(roots: &[(PathBuf, Vec<String>)], file: &Spelled, surroundings: &Surroundings) -> Vec<Vec<String>> {
    let mut views: Vec<Vec<String>> = roots.first().map(|(_, names)| names.clone()).into_iter().collect();
    let session = file.names_below(&surroundings.root());
    if !session.is_empty() && !views.contains(&session) {
        views.push(session);
    }
    views
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::books::PROJECT_RULES;

    fn base() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap();
        (temp, path)
    }

    fn project(root: &Path) {
        fs::create_dir_all(root.join(".ruleline")).unwrap();
        fs::write(root.join(PROJECT_RULES), "").unwrap();
    }

    fn views(stack: &Stack, root: &Path) -> Vec<Vec<String>> {
        let place = Place::of_project(root);
        stack.holdings.iter().find(|it| it.place == place).map(|it| it.views.clone()).unwrap_or_default()
    }

    #[test]
    fn s05_every_root_upwards_holds_and_an_inner_one_only_adds() {
        let (_keep, base) = base();
        project(&base.join("out"));
        project(&base.join("out/in"));
        fs::create_dir_all(base.join("out/in/sub/.git")).unwrap();
        let file = Spelled::new(base.join("out/in/sub/a.py"));
        let found = stack(&file, &Surroundings::default(), None);
        assert_eq!(views(&found, &base.join("out")), [["in/sub/a.py"]]);
        assert_eq!(views(&found, &base.join("out/in")), [["sub/a.py"]]);
        assert_eq!(found.shown, "a.py");
        let outside = stack(&Spelled::new(base.join("x.py")), &Surroundings::default(), None);
        assert_eq!(outside.holdings, []);
    }

    #[test]
    fn s05_a_linked_worktree_is_judged_by_its_own_and_the_main_checkout() {
        let (_keep, base) = base();
        project(&base.join("main"));
        let git_dir = base.join("main/.git/worktrees/w");
        fs::create_dir_all(&git_dir).unwrap();
        fs::write(git_dir.join("commondir"), "../..").unwrap();
        project(&base.join("w"));
        fs::write(base.join("w/.git"), format!("gitdir: {}", git_dir.display())).unwrap();
        let found = stack(&Spelled::new(base.join("w/src/a.py")), &Surroundings::default(), None);
        assert_eq!(views(&found, &base.join("w")), [["src/a.py"]]);
        assert_eq!(views(&found, &base.join("main")), [["src/a.py"]]);
    }

    #[test]
    fn both_spellings_of_a_file_count() {
        let (_keep, base) = base();
        project(&base.join("p"));
        project(&base.join("q"));
        fs::create_dir(base.join("p/real")).unwrap();
        symlink("real", base.join("p/link")).unwrap();
        symlink(base.join("q"), base.join("p/other")).unwrap();
        let found = stack(&Spelled::new(base.join("p/link/new.py")), &Surroundings::default(), None);
        assert_eq!(views(&found, &base.join("p")), [["link/new.py", "real/new.py"]]);
        let found = stack(&Spelled::new(base.join("p/other/new.py")), &Surroundings::default(), None);
        assert_eq!(views(&found, &base.join("p")), [["other/new.py"]]);
        assert_eq!(views(&found, &base.join("q")), [["new.py"]]);
    }

    #[test]
    fn s03_a_named_rulebook_adds_or_replaces() {
        let (_keep, base) = base();
        project(&base);
        let file = Spelled::new(base.join("a.py"));
        for (replaces, project_holds) in [(false, true), (true, false)] {
            let named = Some(Named { path: base.join("other.json"), replaces });
            let surroundings = Surroundings { named, ..Surroundings::new(base.clone(), None) };
            let found = stack(&file, &surroundings, Some(&base.join("home")));
            assert_eq!(!views(&found, &base).is_empty(), project_holds);
            let owners: Vec<_> = found.holdings.iter().map(|it| it.owner).collect();
            assert!(owners.ends_with(&[Owner::Named, Owner::User]), "{owners:?}");
            assert_eq!(found.holdings[owners.len() - 2].place.format(), rules::Format::Json);
        }
    }

    #[test]
    fn a_named_rulebook_sees_files_without_any_marker_below_the_working_folder_only() {
        let (_keep, base) = base();
        fs::create_dir(base.join("w")).unwrap();
        let named = Some(Named { path: base.join("r.toml"), replaces: true });
        let surroundings = Surroundings { named, ..Surroundings::new(base.join("w"), None) };
        let found = stack(&Spelled::new(base.join("w/a.py")), &surroundings, None);
        assert_eq!(found.holdings[0].views, [["a.py"]]);
        assert_eq!(stack(&Spelled::new(base.join("a.py")), &surroundings, None).holdings, []);
    }
}
