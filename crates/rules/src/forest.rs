//! All globs of a rulebook compiled into one set, for who asks about many paths: `check` and the index.
//!
//! Answers exactly what matching each rule's globs directly answers; a glob that the set's syntax does not have is
//! matched directly here too.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::Rulebook;
use crate::glob::{Glob, Steps, fold};
use crate::paths::{Case, Paths};

/// The globs of the rules of one rulebook.
#[derive(Debug)]
pub struct Forest<'a> {
    case: Case,
    rules: Vec<Option<&'a Paths>>,
    set: GlobSet,
    /// What the set's globs are, by their index in it.
    members: Vec<Member>,
    /// What the set does not have.
    others: Vec<(Member, Glob)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    rule: usize,
    excludes: bool,
}

impl<'a> Forest<'a> {
    /// The globs of all rules.
    pub fn new(book: &'a Rulebook, case: Case) -> Forest<'a> {
        Forest::of(book.rules.iter().map(|rule| rule.paths.as_ref()).collect(), case)
    }

    fn of(rules: Vec<Option<&'a Paths>>, case: Case) -> Forest<'a> {
        let mut builder = GlobSetBuilder::new();
        let (mut members, mut others) = (Vec::new(), Vec::new());
        for (rule, paths) in rules.iter().enumerate().filter_map(|(rule, paths)| Some((rule, (*paths)?))) {
            let (include, exclude) = paths.globs();
            let all = include.iter().map(|glob| (false, glob)).chain(exclude.iter().map(|glob| (true, glob)));
            for (excludes, glob) in all {
                let member = Member { rule, excludes };
                let text = match case {
                    Case::Folded if !excludes => fold(glob.text()),
                    _ => glob.text().to_owned(),
                };
                let glob = Glob::new(&text);
                let compiled = glob.for_globset().and_then(|text| {
                    GlobBuilder::new(&text).literal_separator(true).backslash_escape(false).build().ok()
                });
                // A path is looked up folded and as it is, so that excluding globs stay exact.
                match compiled.filter(|_| case == Case::Exact || !excludes) {
                    Some(compiled) => {
                        builder.add(compiled);
                        members.push(member);
                    }
                    None => others.push((member, glob)),
                }
            }
        }
        let set = builder.build().unwrap_or_else(|_| GlobSet::empty());
        if set.len() != members.len() {
            // The set would be too large: everything is matched directly.
            return Forest { case, rules, set: GlobSet::empty(), members: Vec::new(), others: Vec::new() }.direct();
        }
        Forest { case, rules, set, members, others }
    }

    /// The same without a set.
    fn direct(mut self) -> Forest<'a> {
        for (rule, paths) in self.rules.iter().enumerate().filter_map(|(rule, paths)| Some((rule, (*paths)?))) {
            let (include, exclude) = paths.globs();
            self.others.extend(include.iter().map(|glob| {
                (
                    Member { rule, excludes: false },
                    Glob::new(&match self.case {
                        Case::Folded => fold(glob.text()),
                        Case::Exact => glob.text().to_owned(),
                    }),
                )
            }));
            self.others.extend(exclude.iter().map(|glob| (Member { rule, excludes: true }, glob.clone())));
        }
        self
    }

    /// The indices of the rules that may be about a file with these names: those whose globs apply, and those whose
    /// `paths` cannot be read.
    pub fn applying(&self, names: &[String]) -> Vec<usize> {
        let mut applies: Vec<bool> = self.rules.iter().map(Option::is_none).collect();
        for name in names {
            for (rule, applies_to_name) in self.applying_to(name).into_iter().enumerate() {
                applies[rule] |= applies_to_name;
            }
        }
        applies.iter().enumerate().filter(|(_, applies)| **applies).map(|(rule, _)| rule).collect()
    }

    fn applying_to(&self, name: &str) -> Vec<bool> {
        let compared = if self.case == Case::Folded { fold(name) } else { name.to_owned() };
        let (mut included, mut excluded) = (vec![false; self.rules.len()], vec![false; self.rules.len()]);
        let mut mark = |member: Member| {
            let side = if member.excludes { &mut excluded } else { &mut included };
            side[member.rule] = true;
        };
        self.set.matches(&compared).into_iter().for_each(|index| mark(self.members[index]));
        for (member, glob) in &self.others {
            if glob.matches_within(if member.excludes { name } else { &compared }, &mut Steps::default()) {
                mark(*member);
            }
        }
        included.into_iter().zip(excluded).map(|(included, excluded)| included && !excluded).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_set_answers_what_matching_directly_answers(
            globs in prop::collection::vec("!?(\\./|/)?(\\*\\*/|\\*|\\*\\*|[abB/?é\\[\\]{},^!-]|\\.|src/){0,6}", 1..6),
            path in "(src/|[abBé/]|\\[|\\]|\\{|\\}|,|\\^|!|-|\\.|//){0,8}",
            folded in any::<bool>(),
        ) {
            let case = if folded { Case::Folded } else { Case::Exact };
            let paths: Vec<Paths> = globs.chunks(2).map(|globs| Paths::new(globs.iter().map(String::as_str))).collect();
            let names = [path];
            let direct: Vec<usize> = (0..paths.len())
                .filter(|index| paths[*index].apply(&names, case, &mut Steps::default()))
                .collect();
            prop_assert_eq!(Forest::of(paths.iter().map(Some).collect(), case).applying(&names), direct);
        }
    }
}
