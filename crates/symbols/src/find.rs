//! Finding definitions: by a name that is known, by a name that is half remembered, and all of a file.
//!
//! What is found is of the files as they are: a file that looks otherwise than it was read is read again first.

use std::cmp::Reverse;
use std::sync::Arc;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::file::{Defined, Kind};
use crate::index::{Digest, Entry, Index};
use crate::names::{agreement, imported, module, parts};

/// Names that are looked at for each definition wanted, where a name is half remembered.
const CANDIDATES: usize = 4;
/// Most imports that a name is followed through.
const IMPORTS: usize = 8;
/// Most files that are looked at for one module.
const MODULES: usize = 4;
/// Longest query, in bytes: more is no name.
const LONGEST: usize = 1000;

/// One definition, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file, relative to the root, with `/`.
    pub path: Arc<str>,
    /// Names the text that the offsets are of.
    pub digest: Digest,
    /// Dotted with what it stands in.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The line of its name, from 1.
    pub line: u32,
    /// Its name in the text, in bytes.
    pub name_span: std::ops::Range<usize>,
    /// All of it, in bytes.
    pub span: std::ops::Range<usize>,
}

impl Found {
    fn new(path: &Arc<str>, entry: &Entry, defined: &Defined<'_>) -> Found {
        Found {
            path: path.clone(),
            digest: entry.digest,
            name: defined.name.to_owned(),
            kind: defined.kind,
            line: defined.line,
            name_span: defined.name_span.clone(),
            span: defined.span.clone(),
        }
    }

    /// The last part of its name.
    pub fn short(&self) -> &str {
        crate::file::last(&self.name)
    }

    /// Its name with its module before it: `package.module.Class.method`.
    pub fn full(&self) -> Vec<&str> {
        let mut full = module(&self.path);
        full.extend(self.name.split('.'));
        full
    }
}

impl Index {
    /// The definitions of a name, the likeliest first. The name may be dotted with as much of what it stands in as is
    /// known (`method`, `Class.method`, `package.module.Class.method`, in any language's spelling); where nothing has
    /// all of that, nothing is found.
    pub fn find(&self, name: &str, limit: usize) -> Vec<Found> {
        let wanted = parts(name);
        self.fresh(limit, || self.find_known(&wanted))
    }

    /// Definitions whose names are like `query`, the likest first.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Found> {
        let query = parts(&query[..query.floor_char_boundary(LONGEST)]);
        self.fresh(limit, || self.search_known(&query, limit))
    }

    /// The definitions of an absolute name as a program uses it: found where it says, or where the modules on its way
    /// have it from.
    pub fn resolve(&self, name: &[&str], limit: usize) -> Vec<Found> {
        let mut wanted: Vec<String> = name.iter().map(|&part| part.to_owned()).collect();
        for _ in 0..IMPORTS {
            let found = self.find(&wanted.join("."), limit);
            if !found.is_empty() {
                return found;
            }
            let Some(next) = self.passed_on(&wanted) else { break };
            wanted = next;
        }
        Vec::new()
    }

    /// The files of a module, by as much of its name as is known.
    pub fn modules(&self, name: &[&str]) -> Vec<Arc<str>> {
        let mut paths = self.paths();
        paths.retain(|path| agreement(name, &module(path)).is_some_and(|same| same == name.len()));
        paths.sort_by_key(|path| path.len());
        paths
    }

    /// What a name of a module that only imports it is where it comes from.
    fn passed_on(&self, name: &[String]) -> Option<Vec<String>> {
        let name: Vec<&str> = name.iter().map(String::as_str).collect();
        // `package.Class.method`: what is imported may be any part of it.
        (1..name.len()).rev().find_map(|end| {
            let (within, rest) = (&name[..end], &name[end..]);
            self.modules(within).iter().take(MODULES).find_map(|path| {
                let (path, entry) = self.keyed(path)?;
                let import = entry.symbols.imports().find(|import| import.alias == Some(rest[0]))?;
                let mut target = imported(&path, import.name)?;
                target.extend(&rest[1..]);
                (target != name).then(|| target.iter().map(|&part| part.to_owned()).collect())
            })
        })
    }

    /// The definitions of a file, in the order of the text; none where the file is not known.
    pub fn outline(&self, path: &str) -> Option<Vec<Found>> {
        self.make_current(path);
        let (path, entry) = self.keyed(path)?;
        Some(entry.symbols.definitions().map(|defined| Found::new(&path, &entry, &defined)).collect())
    }

    /// The first of what `find` gives, once what it gives is of the files as they are.
    fn fresh(&self, limit: usize, find: impl Fn() -> Vec<Found>) -> Vec<Found> {
        let mut found = find();
        found.truncate(limit);
        let mut paths: Vec<_> = found.iter().map(|found| found.path.clone()).collect();
        paths.dedup();
        let changed = paths.iter().filter(|path| self.make_current(path)).count();
        if changed > 0 {
            found = find();
            found.truncate(limit);
        }
        found
    }

    fn find_known(&self, wanted: &[&str]) -> Vec<Found> {
        let Some(short) = wanted.last() else { return Vec::new() };
        let mut ranked = Vec::new();
        for path in self.defining(short) {
            let Some((path, entry)) = self.keyed(&path) else { continue };
            let module = module(&path);
            for defined in entry.symbols.definitions().filter(|defined| defined.short() == *short) {
                let full: Vec<&str> = module.iter().copied().chain(defined.name.split('.')).collect();
                if let Some(same) = agreement(wanted, &full) {
                    ranked.push((Reverse(same), rank(&path, &defined), Found::new(&path, &entry, &defined)));
                }
            }
        }
        ranked.sort_by(|one, other| {
            (one.0, one.1, &one.2.path, one.2.line).cmp(&(other.0, other.1, &other.2.path, other.2.line))
        });
        ranked.into_iter().map(|(_, _, found)| found).collect()
    }

    fn search_known(&self, query: &[&str], limit: usize) -> Vec<Found> {
        let Some((short, qualifiers)) = query.split_last() else { return Vec::new() };
        let pattern = Pattern::parse(short, CaseMatching::Smart, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut letters = Vec::new();
        let mut names: Vec<(u32, Box<str>)> = Vec::new();
        self.each_name(|name| {
            if let Some(score) = pattern.score(Utf32Str::new(name, &mut letters), &mut matcher) {
                names.push((score, name.into()));
            }
        });
        let order = |one: &(u32, Box<str>), other: &(u32, Box<str>)| {
            (Reverse(one.0), one.1.len(), &one.1).cmp(&(Reverse(other.0), other.1.len(), &other.1))
        };
        names.sort_unstable_by(order);
        let mut found = Vec::new();
        for (_, name) in names {
            let like = self.find_known(&[&*name]);
            found.extend(like.into_iter().filter(|found| qualifiers.iter().all(|part| stands_in(found, part))));
            if found.len() >= limit.saturating_mul(CANDIDATES) {
                break;
            }
        }
        found
    }

    /// What is known of a file, and the one text that names it.
    pub(crate) fn keyed(&self, path: &str) -> Option<(Arc<str>, Entry)> {
        self.entry(path).map(|entry| (Arc::from(path), entry))
    }
}

/// Whether a part of a query is part of what a definition stands in.
fn stands_in(found: &Found, part: &str) -> bool {
    let part = part.to_lowercase();
    found.full().iter().any(|one| one.to_lowercase().contains(&part))
}

/// What comes first among those that are named as well: what is not a test, what stands further out, what is larger.
fn rank(path: &str, defined: &Defined<'_>) -> (bool, usize, Kind) {
    let is_test = path.split('/').any(|part| part.starts_with("test") || part.contains("_test") || part == "spec");
    (is_test, defined.name.matches('.').count(), defined.kind)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::{Filling, Limits};

    fn index() -> (tempfile::TempDir, Index) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for (path, text) in [
            ("shop/cart.py", "class Cart:\n    def add_item(self): pass\n    def total(self): pass\n"),
            ("shop/order.py", "class Order:\n    def total(self): pass\ndef total(): pass\n"),
            ("tests/test_cart.py", "def total(): pass\ndef test_total(): pass\n"),
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        let index = Index::new(&root, Limits::default());
        index.fill(&Filling { stop: &AtomicBool::new(false), progress: &|_| {}, threads: None });
        (temp, index)
    }

    fn shown(found: &[Found]) -> Vec<String> {
        found
            .iter()
            .map(|found| format!("{}:{} {} {}", found.path, found.line, found.kind.name(), found.name))
            .collect()
    }

    #[test]
    fn a_name_is_found_with_as_much_of_it_as_is_known() {
        let (_keep, index) = index();
        for (name, expected) in [
            ("Cart", &["shop/cart.py:1 class Cart"][..]),
            (
                "total",
                &[
                    "shop/order.py:3 function total",
                    "shop/cart.py:3 method Cart.total",
                    "shop/order.py:2 method Order.total",
                    "tests/test_cart.py:1 function total",
                ],
            ),
            ("Cart.total", &["shop/cart.py:3 method Cart.total"]),
            ("shop.order.total", &["shop/order.py:3 function total"]),
            ("shop::order::Order::total", &["shop/order.py:2 method Order.total"]),
            ("other.Order.total", &[]),
            ("nothing", &[]),
            ("", &[]),
        ] {
            assert_eq!(shown(&index.find(name, 9)), expected, "{name}");
        }
        assert_eq!(index.find("total", 2).len(), 2);
    }

    #[test]
    fn a_name_is_followed_to_where_it_comes_from() {
        let (keep, index) = index();
        fs::write(keep.path().join("shop/__init__.py"), "from .cart import Cart as Basket\nfrom shop import api\n")
            .unwrap();
        fs::write(keep.path().join("shop/api.py"), "from . import Basket\nfrom shop.api import loop\n").unwrap();
        index.fill(&Filling { stop: &AtomicBool::new(false), progress: &|_| {}, threads: None });
        for (name, expected) in [
            ("shop.Basket", &["shop/cart.py:1 class Cart"][..]),
            ("shop.api.Basket.total", &["shop/cart.py:3 method Cart.total"]),
            ("shop.api.loop", &[]),
            ("os.path.join", &[]),
        ] {
            assert_eq!(shown(&index.resolve(&parts(name), 9)), expected, "{name}");
        }
        assert_eq!(index.modules(&["shop", "cart"]), ["shop/cart.py".into()]);
    }

    #[test]
    fn a_half_remembered_name_is_found() {
        let (_keep, index) = index();
        for (query, first) in
            [("additem", "Cart.add_item"), ("crt", "Cart"), ("order.tot", "total"), ("Cart.tot", "Cart.total")]
        {
            assert_eq!(index.search(query, 9).first().map(|found| found.name.as_str()), Some(first), "{query}");
        }
        assert!(index.search("xyzzy", 9).is_empty());
        assert!(index.search(&"é".repeat(5000), 9).is_empty());
    }

    #[test]
    fn the_definitions_of_a_file_are_told_in_its_order() {
        let (_keep, index) = index();
        let names: Vec<_> = index.outline("shop/cart.py").unwrap().into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["Cart", "Cart.add_item", "Cart.total"]);
        assert_eq!(index.outline("nothing.py"), None);
    }
}
