//! Small sets of what an expression may stand for, cheap to copy and bounded.

use std::rc::Rc;

use super::expression::ExprId;
use super::names::{Path, ScopeId};

/// One thing that an expression may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// An absolute name.
    Path(Path),
    /// A class of this file.
    Class(ScopeId),
    /// An object of a class of this file.
    Instance(ScopeId),
    /// Another thing of this file or project: no name of another module.
    Own,
    /// A name of this project, in another file.
    Project,
    /// A variable of unknown value.
    Unknown,
    /// The dictionary with the members of a name: `os.__dict__`, `vars(os)`.
    Members(Path),
    /// A function that takes a member's name: `os.__dict__.get`.
    Member(Path),
    /// `globals()`
    Globals,
    /// `globals().get`
    Global,
    /// A constant string.
    Text(ExprId),
}

/// A set of a few values, cheap to copy.
#[derive(Debug, Clone, Default)]
pub(super) enum Few<T> {
    #[default]
    None,
    One(T),
    Many(Rc<Vec<T>>),
}

impl<T: Copy + PartialEq> Few<T> {
    /// More would be a text made to exhaust us.
    const BOUND: usize = 32;

    /// Adds a value; false when the set is full.
    pub(super) fn add(&mut self, value: T) -> bool {
        match self {
            Few::None => *self = Few::One(value),
            Few::One(known) if *known == value => {}
            Few::One(known) => *self = Few::Many(Rc::new(vec![*known, value])),
            Few::Many(known) if known.contains(&value) => {}
            Few::Many(known) if known.len() >= Few::<T>::BOUND => return false,
            Few::Many(known) => Rc::make_mut(known).push(value),
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Few::None)
    }

    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Few::None => &[],
            Few::One(value) => std::slice::from_ref(value),
            Few::Many(values) => values,
        }
    }
}

/// All that an expression may stand for, and the bindings through which.
#[derive(Debug, Clone, Default)]
pub(super) struct Set {
    pub(super) meanings: Few<Meaning>,
    pub(super) bindings: Few<u32>,
    /// Something did not fit.
    pub(super) overflow: bool,
}

impl Set {
    /// Whether nothing can be reached through it: a variable of unknown value, a function of this file.
    pub(super) fn is_opaque(&self) -> bool {
        matches!(self.meanings, Few::None | Few::One(Meaning::Unknown | Meaning::Own))
    }

    /// How much is known: it only grows from pass to pass.
    pub(super) fn weight(&self) -> usize {
        let known = self.meanings.as_slice().iter().filter(|meaning| **meaning != Meaning::Unknown).count();
        known + self.bindings.as_slice().len()
    }

    /// The absolute names.
    pub(super) fn paths(&self) -> impl Iterator<Item = Path> + '_ {
        self.meanings.as_slice().iter().filter_map(|meaning| match meaning {
            Meaning::Path(path) => Some(*path),
            _ => None,
        })
    }

    pub(super) fn of(meaning: Meaning) -> Set {
        Set { meanings: Few::One(meaning), ..Set::default() }
    }

    pub(super) fn add(&mut self, meaning: Meaning) {
        self.overflow |= !self.meanings.add(meaning);
    }

    pub(super) fn add_all(&mut self, other: &Set) {
        for &meaning in other.meanings.as_slice() {
            self.add(meaning);
        }
        self.add_bindings(other);
    }

    pub(super) fn add_bindings(&mut self, other: &Set) {
        for &binding in other.bindings.as_slice() {
            self.add_binding(binding);
        }
        self.overflow |= other.overflow;
    }

    pub(super) fn add_binding(&mut self, binding: u32) {
        self.overflow |= !self.bindings.add(binding);
    }
}
