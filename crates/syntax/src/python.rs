//! Python text to [`Facts`].
//!
//! [`walk`] reads the tree once; [`meaning`] finds what names stand for once the whole file is known; this module puts
//! the facts together. What a file cannot be told to mean within bounds is among its error regions, so that it is
//! never taken for harmless.

mod expression;
mod kinds;
mod literal;
mod meaning;
mod names;
mod set;
#[cfg(test)]
mod tests;
mod walk;

use crate::facts::ArgumentKind;
use crate::{Argument, Call, Facts, Literal, Span, Use};
use expression::{Expr, ExprId, Expressions, KeywordName, List, Operand, Value};
use meaning::Meanings;
use names::{Scopes, Symbol};
use set::Meaning;
use walk::{RawCall, RawUse};

/// The facts of `text`, of which `tree` is the tree.
pub(crate) fn facts(tree: &tree_sitter::Tree, text: &str) -> Facts {
    let raw = walk::walk(tree, text);
    let (expressions, scopes) = (raw.expressions, raw.scopes);
    let meanings = Meanings::new(text, &expressions, &scopes, raw.symbols, raw.paths, &raw.stars, &raw.attributes);
    let mut facts = Facts {
        calls: Vec::with_capacity(raw.calls.len()),
        uses: Vec::new(),
        definitions: raw.definitions,
        imports: raw.imports,
        comments: raw.comments,
        strings: raw.strings,
        errors: raw.errors,
    };
    let budget = BUDGET_PER_BYTE * text.len() + 4096;
    let mut assembly = Assembly { text, expressions: &expressions, scopes: &scopes, meanings, budget };
    assembly.add_calls(&raw.calls, &mut facts);
    assembly.add_uses(&raw.uses, &mut facts);
    if !literal::reads_as_utf8(text) {
        facts.errors.push(0..text.len());
    }
    facts.calls.sort_by_key(|call| call.span.start);
    facts.uses.sort_by_key(|used| used.span.start);
    facts.strings.sort_by_key(|string| string.start);
    facts.errors.sort_by_key(|error| error.start);
    facts
}

/// Names and bindings given out for a text may take this many times its bytes. Ordinary files need a fraction; files
/// made to exhaust us have the rest of their calls among the errors.
const BUDGET_PER_BYTE: usize = 32;

/// Turns calls and uses into facts.
struct Assembly<'a, 't> {
    text: &'t str,
    expressions: &'a Expressions,
    scopes: &'a Scopes,
    meanings: Meanings<'a, 't>,
    /// Bytes of names and bindings that may still be given out.
    budget: usize,
}

/// What a callee or a value may stand for.
#[derive(Default)]
struct Named {
    names: Vec<String>,
    bindings: Vec<Span>,
}

impl Assembly<'_, '_> {
    fn add_calls(&mut self, calls: &[RawCall], facts: &mut Facts) {
        for call in calls {
            let span = span(call.start, call.end);
            let named = match call.callee.value {
                Value::Expr(callee) => self.name(callee, &span),
                _ => Some(Named::default()),
            };
            let named = named.unwrap_or_else(|| {
                facts.errors.push(span.clone());
                Named::default()
            });
            facts.calls.push(Call {
                span,
                callee: span_of(&call.callee),
                names: named.names,
                bindings: named.bindings,
                arguments: self.arguments(call.arguments),
            });
        }
    }

    fn add_uses(&mut self, uses: &[RawUse], facts: &mut Facts) {
        for used in uses {
            let span = span(used.start, used.end);
            match self.name(used.expr, &span) {
                Some(named) if named.names.is_empty() => {}
                Some(named) => facts.uses.push(Use { span, names: named.names, bindings: named.bindings }),
                None => facts.errors.push(span),
            }
        }
    }

    /// What an expression may stand for; none when that is more than can be told.
    fn name(&mut self, id: ExprId, whole: &Span) -> Option<Named> {
        let set = self.meanings.of(id);
        if set.overflow {
            return None;
        }
        let names = match self.expressions.get(id) {
            Expr::Name { .. } if set.paths().next().is_none() => return Some(Named::default()),
            Expr::Name { .. } | Expr::Attribute { .. } => self.names(id),
            Expr::Choice(list) => {
                let mut names = Vec::new();
                for operand in self.expressions.operands(list) {
                    if let Value::Expr(id) = operand.value {
                        let inner = match self.expressions.get(id) {
                            Expr::Name { .. } | Expr::Attribute { .. } => self.names(id),
                            _ => self.meanings.dotted(self.meanings.of(id)),
                        };
                        names.extend(inner);
                    }
                }
                names.sort();
                names.dedup();
                names
            }
            _ => self.meanings.dotted(set),
        };
        let mut bindings = Vec::new();
        for &binding in set.bindings.as_slice() {
            for part in self.scopes.bindings[binding as usize].parts.into_iter().flatten() {
                let part = span(part.0, part.1);
                if part != *whole && !bindings.contains(&part) {
                    bindings.push(part);
                }
            }
        }
        let cost = names.iter().map(|name| name.len() + 24).sum::<usize>() + 16 * bindings.len();
        self.budget = self.budget.checked_sub(cost)?;
        Some(Named { names, bindings })
    }

    /// The names of a dotted chain: as resolved, as written, or by its attributes alone.
    fn names(&self, id: ExprId) -> Vec<String> {
        let set = self.meanings.of(id);
        let mut names = self.meanings.dotted(set);
        let (head, attributes) = self.expressions.chain(id);
        let resolved = !names.is_empty();
        let written = match head.map(|head| (head, self.expressions.get(head))) {
            Some((head, Expr::Name { symbol, .. })) => {
                let head = self.meanings.of(head);
                let meanings = head.meanings.as_slice();
                if meanings.contains(&Meaning::Project) && !resolved {
                    return names;
                }
                // A variable of unknown value is called by its own name, unless that is a module's name elsewhere.
                let variable = !attributes.is_empty()
                    && !self.scopes.is_imported(symbol)
                    && meanings.iter().any(|meaning| matches!(meaning, Meaning::Unknown | Meaning::Instance(_)));
                let means_other = if attributes.is_empty() { resolved } else { head.paths().next().is_some() };
                (variable || means_other).then_some(symbol)
            }
            _ => None,
        };
        match written {
            Some(head) => {
                let written = self.dotted(Some(head), &attributes);
                if !names.contains(&written) {
                    names.push(written);
                }
            }
            None if !resolved && !attributes.is_empty() => {
                names.push(self.dotted(None, &attributes));
                if attributes.len() > 1 {
                    names.push(self.dotted(None, &attributes[..1]));
                }
            }
            None => {}
        }
        names
    }

    /// A dotted name of a head (`?` for none) and attributes from the last to the first.
    fn dotted(&self, head: Option<Symbol>, attributes: &[Symbol]) -> String {
        let mut dotted = head.map_or("?", |head| self.meanings.symbols.text(head)).to_owned();
        for &attribute in attributes.iter().rev() {
            dotted.push('.');
            dotted.push_str(self.meanings.symbols.text(attribute));
        }
        dotted
    }

    fn arguments(&self, list: List) -> Vec<Argument> {
        let operands = self.expressions.operands(list);
        let mut arguments = Vec::with_capacity(operands.len());
        for operand in operands {
            match operand.value {
                Value::Keywords(inner) => {
                    let keywords = self.expressions.operands(inner);
                    arguments.extend(keywords.iter().map(|keyword| self.argument(keyword)));
                }
                _ => arguments.push(self.argument(operand)),
            }
        }
        arguments
    }

    fn argument(&self, operand: &Operand) -> Argument {
        let (kind, value) = match operand.value {
            Value::Splat => (ArgumentKind::Splat, None),
            Value::KeywordSplat => (ArgumentKind::KeywordSplat, None),
            Value::Keyword(keyword) => {
                let keyword = self.expressions.keywords[keyword as usize];
                let name = match keyword.name {
                    KeywordName::Symbol(symbol) => Some(self.meanings.symbols.text(symbol).to_owned()),
                    KeywordName::Text(literals) => self.text(literals),
                };
                match name {
                    Some(name) => (ArgumentKind::Keyword(name), self.literal(&keyword.value)),
                    None => (ArgumentKind::KeywordSplat, None),
                }
            }
            _ => (ArgumentKind::Positional, self.literal(operand)),
        };
        Argument { span: span_of(operand), kind, value }
    }

    fn literal(&self, operand: &Operand) -> Option<Literal> {
        match operand.value {
            Value::Text(literals) => self.text(literals).map(Literal::Str),
            Value::Number { negative } => {
                let text = self.text.get(span_of(operand)).unwrap_or_default();
                literal::number(
                    text.trim_start_matches(['-', '+', ' ', '\t', '(']).trim_end_matches([' ', ')']),
                    negative,
                )
            }
            Value::Bool(value) => Some(Literal::Bool(value)),
            Value::None => Some(Literal::None),
            Value::Truth(truthy) | Value::Display(truthy) => Some(Literal::Other { truthy }),
            _ => None,
        }
    }

    fn text(&self, literals: List) -> Option<String> {
        meaning::text_of(self.text, self.expressions, literals, usize::MAX)
    }
}

fn span(start: u32, end: u32) -> Span {
    start as usize..end as usize
}

fn span_of(operand: &Operand) -> Span {
    span(operand.start, operand.end)
}
