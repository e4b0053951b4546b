//! Expressions, with the parentheses that stand around them.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::{
    ArgOrKeyword, Arguments, Comprehension, Expr, ExprAttribute, FStringPart, InterpolatedStringElement,
    InterpolatedStringElements, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::Reading;
use crate::python::kinds::Kind;

impl Reading<'_, '_> {
    pub(super) fn optional(&mut self, expression: Option<&Expr>) {
        if let Some(expression) = expression {
            self.expression(expression);
        }
    }

    pub(super) fn expressions(&mut self, expressions: &[Expr]) {
        for expression in expressions {
            self.expression(expression);
        }
    }

    /// An expression where several may stand with commas between and no parentheses.
    pub(super) fn listed(&mut self, expression: &Expr) {
        match expression {
            Expr::Tuple(tuple) if !tuple.parenthesized => self.expressions(&tuple.elts),
            _ => self.expression(expression),
        }
    }

    /// An expression with the parentheses around it.
    pub(super) fn expression(&mut self, expression: &Expr) {
        let range = expression.range();
        let mut starts: Option<Vec<TextSize>> = None;
        while let Some(token) = self.tokens.get(self.next).filter(|token| token.start() < range.start()) {
            if token.kind() == TokenKind::Lpar {
                starts.get_or_insert_default().push(token.start());
            }
            self.next += 1;
        }
        let Some(starts) = starts else {
            self.bare(expression);
            return self.pass(range.end());
        };
        let behind = self.tokens.partition_point(|token| token.start() < range.end());
        let closing = self.tokens[behind..].iter().filter(|token| token.kind() == TokenKind::Rpar);
        let ends: Vec<TextSize> = closing.take(starts.len()).map(Ranged::end).collect();
        for (start, end) in starts.iter().zip(ends.iter().rev()) {
            self.open(Kind::Parenthesized, start.to_u32(), end.to_u32());
        }
        self.bare(expression);
        self.pass(range.end());
        for _ in starts.iter().zip(&ends) {
            self.close();
        }
    }

    pub(super) fn bare(&mut self, expression: &Expr) {
        let range = expression.range();
        match expression {
            Expr::Name(_) => self.leaf(Kind::Name, range),
            Expr::NumberLiteral(_) => self.leaf(Kind::Number, range),
            Expr::BooleanLiteral(it) => self.leaf(if it.value { Kind::True } else { Kind::False }, range),
            Expr::NoneLiteral(_) => self.leaf(Kind::None, range),
            Expr::EllipsisLiteral(_) => self.leaf(Kind::Constant, range),
            Expr::StringLiteral(it) => self.strings(range, it.value.iter().map(Ranged::range)),
            Expr::BytesLiteral(it) => self.strings(range, it.value.iter().map(Ranged::range)),
            Expr::FString(it) => {
                let parts: Vec<_> = it.value.iter().collect();
                self.concatenated(range, parts.len(), |reading| {
                    for part in parts {
                        match part {
                            FStringPart::Literal(literal) => reading.leaf(Kind::String, literal.range()),
                            FStringPart::FString(format) => reading.format(format.range(), &format.elements),
                        }
                    }
                });
            }
            Expr::TString(it) => {
                let parts: Vec<_> = it.value.iter().collect();
                self.concatenated(range, parts.len(), |reading| {
                    for part in parts {
                        reading.format(part.range(), &part.elements);
                    }
                });
            }
            Expr::Attribute(it) => self.attribute(it),
            Expr::Call(it) => self.node(Kind::Call, range, |reading| {
                reading.expression(&it.func);
                match &*it.arguments.args {
                    // A generator expression alone is its own parentheses.
                    [Expr::Generator(generator)] if !generator.parenthesized && it.arguments.keywords.is_empty() => {
                        reading.pass(it.arguments.start() + TextSize::new(1));
                        reading.node(Kind::Comprehension, it.arguments.range(), |reading| {
                            reading.expression(&generator.elt);
                            reading.generators(&generator.generators);
                        });
                    }
                    _ => reading.node(Kind::Arguments, it.arguments.range(), |it_| it_.arguments(&it.arguments)),
                }
            }),
            Expr::Subscript(it) => self.node(Kind::Subscript, range, |reading| {
                reading.expression(&it.value);
                reading.listed(&it.slice);
            }),
            Expr::Slice(it) => self.node(Kind::Expression, range, |reading| {
                for part in [&it.lower, &it.upper, &it.step] {
                    reading.optional(part.as_deref());
                }
            }),
            Expr::Starred(it) => self.node(Kind::Splat, range, |reading| reading.expression(&it.value)),
            Expr::Named(it) => self.node(Kind::Named, range, |reading| {
                reading.expression(&it.target);
                reading.expression(&it.value);
            }),
            // Left to right, two at a time.
            Expr::BoolOp(it) => {
                let Some((first, rest)) = it.values.split_first() else { return };
                for (number, right) in rest.iter().enumerate().rev() {
                    let end = if number + 1 == rest.len() { range.end() } else { self.end_with_parentheses(right) };
                    self.open(Kind::Choice, range.start().to_u32(), end.to_u32());
                }
                self.expression(first);
                for right in rest {
                    self.expression(right);
                    self.close();
                }
            }
            Expr::BinOp(it) => self.node(Kind::Binary, range, |reading| {
                reading.expression(&it.left);
                reading.expression(&it.right);
            }),
            Expr::UnaryOp(it) => {
                let kind = if it.op == UnaryOp::Not { Kind::Expression } else { Kind::Unary };
                self.node(kind, range, |reading| reading.expression(&it.operand));
            }
            Expr::Compare(it) => self.node(Kind::Expression, range, |reading| {
                reading.expression(&it.left);
                reading.expressions(&it.comparators);
            }),
            Expr::If(it) => self.node(Kind::Choice, range, |reading| {
                for part in [&it.body, &it.test, &it.orelse] {
                    reading.expression(part);
                }
            }),
            Expr::Lambda(it) => self.node(Kind::Lambda, range, |reading| {
                if let Some(parameters) = &it.parameters {
                    reading.parameters(Kind::LambdaParameters, parameters);
                }
                reading.expression(&it.body);
            }),
            Expr::Await(it) => self.node(Kind::Expression, range, |reading| reading.expression(&it.value)),
            Expr::Yield(it) => self.node(Kind::Return, range, |reading| reading.optional(it.value.as_deref())),
            Expr::YieldFrom(it) => self.node(Kind::Return, range, |reading| reading.expression(&it.value)),
            Expr::List(it) => self.display(range, &it.elts),
            Expr::Set(it) => self.display(range, &it.elts),
            Expr::Tuple(it) => {
                if it.parenthesized {
                    self.pass(it.start() + TextSize::new(1));
                }
                self.display(range, &it.elts);
            }
            Expr::Dict(it) => self.node(Kind::Dictionary, range, |reading| {
                for item in &it.items {
                    match &item.key {
                        Some(key) => reading.pair(key, &item.value),
                        None => reading.node(Kind::DictionarySplat, item.range(), |it| it.expression(&item.value)),
                    }
                }
            }),
            Expr::ListComp(it) => self.comprehension(range, |it_| it_.expression(&it.elt), &it.generators),
            Expr::SetComp(it) => self.comprehension(range, |it_| it_.expression(&it.elt), &it.generators),
            Expr::Generator(it) => {
                if it.parenthesized {
                    self.pass(it.start() + TextSize::new(1));
                }
                self.comprehension(range, |reading| reading.expression(&it.elt), &it.generators);
            }
            Expr::DictComp(it) => self.comprehension(
                range,
                |reading| match &it.key {
                    Some(key) => reading.pair(key, &it.value),
                    None => reading.node(Kind::DictionarySplat, it.value.range(), |it_| it_.expression(&it.value)),
                },
                &it.generators,
            ),
            Expr::IpyEscapeCommand(_) => {}
        }
    }

    /// Where an operand of `and` and `or` ends, the parentheses around it included.
    fn end_with_parentheses(&self, operand: &Expr) -> TextSize {
        let behind = self.tokens.partition_point(|token| token.start() < operand.end());
        let operators = |token: &&Token| !matches!(token.kind(), TokenKind::And | TokenKind::Or);
        let closing = self.tokens[behind..].iter().take_while(operators);
        closing.filter(|token| token.kind() == TokenKind::Rpar).last().map_or(operand.end(), Ranged::end)
    }

    fn attribute(&mut self, it: &ExprAttribute) {
        self.node(Kind::Attribute, it.range(), |reading| {
            reading.expression(&it.value);
            reading.leaf(Kind::Name, it.attr.range());
        });
    }

    fn display(&mut self, range: TextRange, elements: &[Expr]) {
        self.node(Kind::Display, range, |reading| reading.expressions(elements));
    }

    fn pair(&mut self, key: &Expr, value: &Expr) {
        self.node(Kind::Pair, TextRange::new(key.start(), value.end()), |reading| {
            reading.expression(key);
            reading.expression(value);
        });
    }

    fn comprehension(&mut self, range: TextRange, element: impl FnOnce(&mut Self), generators: &[Comprehension]) {
        self.node(Kind::Comprehension, range, |reading| {
            element(reading);
            reading.generators(generators);
        });
    }

    fn generators(&mut self, generators: &[Comprehension]) {
        for generator in generators {
            self.node(Kind::ForIn, TextRange::new(generator.start(), generator.iter.end()), |reading| {
                reading.expression(&generator.target);
                reading.expression(&generator.iter);
            });
            for condition in &generator.ifs {
                self.node(Kind::Statement, condition.range(), |reading| reading.expression(condition));
            }
        }
    }

    /// The arguments of a call or class, within their parentheses.
    pub(super) fn arguments(&mut self, arguments: &Arguments) {
        self.pass(arguments.start() + TextSize::new(1));
        for argument in arguments.iter_source_order() {
            match argument {
                ArgOrKeyword::Arg(value) => self.expression(value),
                ArgOrKeyword::Keyword(keyword) => match &keyword.arg {
                    Some(name) => self.node(Kind::Argument, keyword.range(), |reading| {
                        reading.leaf(Kind::Name, name.range());
                        reading.expression(&keyword.value);
                    }),
                    None => self.node(Kind::DictionarySplat, keyword.range(), |it| it.expression(&keyword.value)),
                },
            }
        }
    }

    fn strings(&mut self, range: TextRange, parts: impl ExactSizeIterator<Item = TextRange>) {
        self.concatenated(range, parts.len(), |reading| parts.for_each(|part| reading.leaf(Kind::String, part)));
    }

    fn concatenated(&mut self, range: TextRange, parts: usize, strings: impl FnOnce(&mut Self)) {
        if parts > 1 { self.node(Kind::Concatenated, range, strings) } else { strings(self) }
    }

    fn format(&mut self, range: TextRange, elements: &InterpolatedStringElements) {
        self.node(Kind::String, range, |reading| reading.interpolations(elements));
    }

    fn interpolations(&mut self, elements: &InterpolatedStringElements) {
        for element in elements {
            let InterpolatedStringElement::Interpolation(it) = element else { continue };
            self.node(Kind::Interpolation, it.range(), |reading| {
                reading.expression(&it.expression);
                if let Some(format) = &it.format_spec {
                    reading.node(Kind::Statement, format.range(), |it| it.interpolations(&format.elements));
                }
            });
        }
    }
}
