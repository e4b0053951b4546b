//! The expressions that can stand for a name, lowered from the tree: an arena in which children stand before parents,
//! so that evaluating it in order needs no recursion.

use super::names::{ScopeId, Symbol};

/// An expression by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ExprId(pub(super) u32);

/// A range of one of the arena's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct List {
    pub(super) first: u32,
    pub(super) length: u32,
}

impl List {
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.length) as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Expr {
    Name {
        symbol: Symbol,
        scope: ScopeId,
        at: u32,
    },
    Attribute {
        object: Option<ExprId>,
        name: Symbol,
    },
    Call {
        callee: Option<ExprId>,
        arguments: List,
    },
    Subscript {
        object: ExprId,
        key: ExprId,
    },
    /// Any of some: `a or b`, `a if c else b`.
    Choice(List),
    /// A constant string: its literals.
    Text(List),
    /// `left + right`
    Sum {
        left: ExprId,
        right: ExprId,
    },
}

/// What the walk knows of the value of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// Nothing.
    Unknown,
    Expr(ExprId),
    /// A constant string: its literals.
    Text(List),
    Number {
        negative: bool,
    },
    Bool(bool),
    None,
    /// A constant of which only the truth is known.
    Truth(bool),
    /// A list, tuple, set or dict display, and its truth.
    Display(bool),
    /// A name about to be bound.
    Target(Symbol),
    /// An attribute about to be bound.
    Place(ExprId),
    /// The elements of a display, where they may be unpacked.
    Group(List),
    /// The keyword argument with this number.
    Keyword(u32),
    Splat,
    KeywordSplat,
    /// `**{...}` of which all keys are constant: keyword arguments.
    Keywords(List),
    /// The arguments of a call.
    Arguments(List),
}

/// A node's place and value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Operand {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) value: Value,
}

/// A keyword argument: its name, its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keyword {
    pub(super) name: KeywordName,
    pub(super) value: Operand,
}

/// A keyword as an identifier, or as the constant key of a dict display.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeywordName {
    Symbol(Symbol),
    Text(List),
}

/// The arena.
#[derive(Default)]
pub(super) struct Expressions {
    pub(super) exprs: Vec<Expr>,
    /// Elements of choices, groups and argument lists.
    pub(super) operands: Vec<Operand>,
    /// String literals of constant strings.
    pub(super) literals: Vec<(u32, u32)>,
    pub(super) keywords: Vec<Keyword>,
}

impl Expressions {
    pub(super) fn push(&mut self, expr: Expr) -> ExprId {
        self.exprs.push(expr);
        ExprId(number(self.exprs.len()) - 1)
    }

    pub(super) fn get(&self, id: ExprId) -> Expr {
        self.exprs[id.0 as usize]
    }

    pub(super) fn list(&mut self, operands: &[Operand]) -> List {
        let first = number(self.operands.len());
        self.operands.extend_from_slice(operands);
        List { first, length: number(operands.len()) }
    }

    pub(super) fn operands(&self, list: List) -> &[Operand] {
        &self.operands[list.range()]
    }

    /// The expression of a value that can stand for a name or a text.
    pub(super) fn of_value(&mut self, value: Value) -> Option<ExprId> {
        match value {
            Value::Expr(id) => Some(id),
            Value::Text(literals) => Some(self.push(Expr::Text(literals))),
            _ => None,
        }
    }

    /// The name at the head of a dotted chain, if the chain does not hang on something that is no name; the chain's
    /// attributes, the last first, go to `attributes`.
    pub(super) fn chain(&self, id: ExprId, attributes: &mut Vec<Symbol>) -> Option<(ExprId, Symbol)> {
        attributes.clear();
        let mut current = id;
        loop {
            match self.get(current) {
                Expr::Name { symbol, .. } => return Some((current, symbol)),
                Expr::Attribute { object, name } => {
                    attributes.push(name);
                    current = object?;
                }
                _ => return None,
            }
        }
    }
}

pub(super) fn number(length: usize) -> u32 {
    u32::try_from(length).expect("a tree's text is under 4 GiB and has fewer nodes than that")
}
