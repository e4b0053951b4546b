//! Python text to [`Facts`].
//!
//! [`module`] reads what is valid Python and [`walk`] tree-sitter's tree of anything else, each once and to the same end; [`meaning`] finds what names stand for once the whole file is known; this module puts
//! the facts together. What a file cannot be told to mean within bounds is among its error regions, so that it is
//! never taken for harmless.

#[cfg(test)]
mod differential;
mod expression;
mod kinds;
mod literal;
mod meaning;
mod module;
mod names;
mod set;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use literal::reads_as_utf8;
pub(crate) use module::parse;

use ruff_python_ast::ModModule;
use ruff_python_parser::Parsed;

use crate::facts::ArgumentKind;
use crate::{Argument, Call, Facts, Literal, Span, Use};
use expression::{Expr, ExprId, Expressions, KeywordName, List, Operand, Value};
use meaning::Meanings;
use names::{Scopes, Symbol};
use set::Meaning;
use walk::{RawCall, RawUse};

/// The facts of `text`, of which `tree` is tree-sitter's tree.
pub(crate) fn facts_of_tree(tree: &tree_sitter::Tree, text: &str) -> Facts {
    facts(walk::walk(tree, text), text)
}

/// The facts of `text`, of which `module` is ruff's tree.
pub(crate) fn facts_of_module(module: &Parsed<ModModule>, text: &str) -> Facts {
    facts(module::walk(module, text), text)
}

fn facts(raw: walk::Raw<'_>, text: &str) -> Facts {
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
    let mut assembly =
        Assembly { text, expressions: &expressions, scopes: &scopes, meanings, budget, attributes: Vec::new() };
    assembly.add_calls(&raw.calls, &mut facts);
    assembly.add_uses(&raw.uses, &mut facts);
    if !reads_as_utf8(text) {
        facts.errors.push(0..text.len());
    }
    facts.calls.sort_by_key(|call| call.span.start);
    facts.uses.sort_by_key(|used| used.span.start);
    facts.strings.sort_by_key(|string| string.start);
    facts.errors = joined(facts.errors);
    facts
}

/// The same regions, in order and apart from each other.
fn joined(mut regions: Vec<Span>) -> Vec<Span> {
    regions.sort_by_key(|region| region.start);
    regions.dedup_by(|next, region| {
        let meets = next.start < region.end || next.start == region.start;
        if meets {
            region.end = region.end.max(next.end);
        }
        meets
    });
    regions
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
    /// The attributes of the chain being written; kept to be used again.
    attributes: Vec<Symbol>,
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
        if self.meanings.of(id).overflow {
            return None;
        }
        let mut names = Vec::new();
        match self.expressions.get(id) {
            Expr::Choice(list) => {
                for operand in self.expressions.operands(list) {
                    if let Value::Expr(id) = operand.value {
                        self.add_names(id, &mut names);
                    }
                }
                names.sort();
                names.dedup();
            }
            _ => self.add_names(id, &mut names),
        }
        if names.is_empty() {
            return Some(Named::default());
        }
        let mut bindings = Vec::new();
        for &binding in self.meanings.of(id).bindings.as_slice() {
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

    /// Adds the names of an expression: as resolved, and for a dotted chain as written or by its attributes alone.
    fn add_names(&mut self, id: ExprId, names: &mut Vec<String>) {
        let set = self.meanings.of(id);
        names.reserve_exact(set.paths().count() + 1);
        names.extend(set.paths().map(|path| self.meanings.dotted(path)));
        let resolved = set.paths().next().is_some();
        if !matches!(self.expressions.get(id), Expr::Name { .. } | Expr::Attribute { .. }) {
            return;
        }
        let mut attributes = std::mem::take(&mut self.attributes);
        match self.expressions.chain(id, &mut attributes) {
            Some((head, symbol)) if self.counts_as_written(head, symbol, &attributes, resolved) => {
                let written = self.written(Some(symbol), &attributes);
                if !names.contains(&written) {
                    names.push(written);
                }
            }
            Some((head, _)) if self.meanings.of(head).meanings.as_slice().contains(&Meaning::Project) => {}
            _ if !resolved && !attributes.is_empty() => {
                names.push(self.written(None, &attributes));
                if attributes.len() > 1 {
                    names.push(self.written(None, &attributes[..1]));
                }
            }
            _ => {}
        }
        self.attributes = attributes;
    }

    /// Whether a chain's name as written says what it stands for: it does unless its head is a thing of this file.
    fn counts_as_written(&self, head: ExprId, symbol: Symbol, attributes: &[Symbol], resolved: bool) -> bool {
        if attributes.is_empty() {
            return resolved;
        }
        let head = self.meanings.of(head);
        // A variable of unknown value is called by its own name, unless that is a module's name elsewhere.
        let unknown = |meaning: &Meaning| matches!(meaning, Meaning::Unknown | Meaning::Instance(_));
        head.paths().next().is_some()
            || head.meanings.as_slice().iter().any(unknown) && !self.scopes.is_imported(symbol)
    }

    /// A dotted name of a head (`?` for none) and attributes, the last first.
    fn written(&self, head: Option<Symbol>, attributes: &[Symbol]) -> String {
        let symbols = &self.meanings.symbols;
        let head = head.map_or("?", |head| symbols.text(head));
        let length = attributes.iter().map(|&attribute| symbols.text(attribute).len() + 1).sum::<usize>();
        let mut written = String::with_capacity(head.len() + length);
        written.push_str(head);
        for &attribute in attributes.iter().rev() {
            written.push('.');
            written.push_str(symbols.text(attribute));
        }
        written
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
