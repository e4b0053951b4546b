//! Statements, definitions, imports and patterns.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{
    Alias, AnyParameterRef, Decorator, ExceptHandler, Expr, Parameter, Parameters, Pattern, Stmt, StmtImportFrom,
    TypeParam, TypeParams,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{Reading, span};
use crate::python::kinds::Kind;
use crate::python::walk::About;

impl Reading<'_, '_> {
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.pass(statement.start());
            self.statement(statement);
        }
    }

    fn block(&mut self, statements: &[Stmt]) {
        if let (Some(first), Some(last)) = (statements.first(), statements.last()) {
            self.node(Kind::Block, TextRange::new(first.start(), last.end()), |reading| reading.statements(statements));
        }
    }

    fn clause(&mut self, statements: &[Stmt]) {
        if let (Some(first), Some(last)) = (statements.first(), statements.last()) {
            self.node(Kind::Statement, TextRange::new(first.start(), last.end()), |it| it.block(statements));
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let range = statement.range();
        match statement {
            Stmt::FunctionDef(it) => self.decorated(&it.decorator_list, range, |reading, start| {
                let about = About { name: Some(span(it.name.range())), broken: false };
                if reading.walk.open(Kind::Function, (start.to_u32(), range.end().to_u32()), about) {
                    reading.type_parameters(it.type_params.as_deref());
                    reading.parameters(Kind::Parameters, &it.parameters);
                    reading.annotation(it.returns.as_deref());
                    reading.block(&it.body);
                    reading.close();
                }
            }),
            Stmt::ClassDef(it) => self.decorated(&it.decorator_list, range, |reading, start| {
                let about = About { name: Some(span(it.name.range())), broken: false };
                if reading.walk.open(Kind::Class, (start.to_u32(), range.end().to_u32()), about) {
                    reading.type_parameters(it.type_params.as_deref());
                    if let Some(arguments) = &it.arguments {
                        reading.node(Kind::Arguments, arguments.range(), |reading| reading.arguments(arguments));
                    }
                    reading.block(&it.body);
                    reading.close();
                }
            }),
            Stmt::Return(it) => self.node(Kind::Return, range, |reading| reading.optional(it.value.as_deref())),
            Stmt::Delete(it) => self.node(Kind::Delete, range, |reading| reading.expressions(&it.targets)),
            Stmt::TypeAlias(it) => self.node(Kind::TypeAlias, range, |reading| {
                reading.node(Kind::TypeParameters, it.name.range(), |reading| reading.expression(&it.name));
                reading.type_parameters(it.type_params.as_deref());
                reading.node(Kind::TypeParameters, it.value.range(), |reading| reading.expression(&it.value));
            }),
            Stmt::Assign(it) => self.node(Kind::ExpressionStatement, range, |reading| {
                for target in &it.targets {
                    reading.open(Kind::Assignment, target.start().to_u32(), range.end().to_u32());
                    reading.expression(target);
                }
                reading.expression(&it.value);
                for _ in &it.targets {
                    reading.close();
                }
            }),
            Stmt::AugAssign(it) => self.node(Kind::ExpressionStatement, range, |reading| {
                reading.node(Kind::Augmented, range, |reading| {
                    reading.expression(&it.target);
                    reading.expression(&it.value);
                });
            }),
            Stmt::AnnAssign(it) => self.node(Kind::ExpressionStatement, range, |reading| {
                reading.node(Kind::Assignment, range, |reading| {
                    reading.expression(&it.target);
                    reading.annotation(Some(&it.annotation));
                    reading.optional(it.value.as_deref());
                });
            }),
            Stmt::For(it) => self.node(Kind::For, range, |reading| {
                reading.expression(&it.target);
                reading.expression(&it.iter);
                reading.block(&it.body);
                reading.clause(&it.orelse);
            }),
            Stmt::While(it) => self.node(Kind::Conditional, range, |reading| {
                reading.expression(&it.test);
                reading.block(&it.body);
                reading.clause(&it.orelse);
            }),
            Stmt::If(it) => self.node(Kind::Conditional, range, |reading| {
                reading.expression(&it.test);
                reading.block(&it.body);
                for clause in &it.elif_else_clauses {
                    reading.node(Kind::Statement, clause.range(), |reading| {
                        reading.optional(clause.test.as_ref());
                        reading.block(&clause.body);
                    });
                }
            }),
            Stmt::With(it) => self.node(Kind::Statement, range, |reading| {
                for item in &it.items {
                    // A parenthesis before it may be the statement's own.
                    reading.pass(item.context_expr.start());
                    match &item.optional_vars {
                        Some(target) => reading.named_as(item.range(), &item.context_expr, |reading| {
                            reading.pass(target.start());
                            reading.node(Kind::AsTarget, target.range(), |reading| reading.expression(target));
                        }),
                        None => reading.expression(&item.context_expr),
                    }
                }
                reading.block(&it.body);
            }),
            Stmt::Match(it) => self.node(Kind::Conditional, range, |reading| {
                reading.listed(&it.subject);
                for case in &it.cases {
                    reading.node(Kind::Statement, case.range(), |reading| {
                        reading.node(Kind::Case, case.pattern.range(), |reading| reading.pattern(&case.pattern));
                        if let Some(guard) = &case.guard {
                            reading.pass(guard.start().min(case.pattern.end()));
                            reading.node(Kind::Statement, guard.range(), |reading| reading.expression(guard));
                        }
                        reading.block(&case.body);
                    });
                }
            }),
            Stmt::Raise(it) => self.node(Kind::Statement, range, |reading| {
                reading.optional(it.exc.as_deref());
                reading.optional(it.cause.as_deref());
            }),
            Stmt::Try(it) => self.node(Kind::Conditional, range, |reading| {
                reading.block(&it.body);
                for ExceptHandler::ExceptHandler(handler) in &it.handlers {
                    reading.node(Kind::Statement, handler.range(), |reading| {
                        match (&handler.type_, &handler.name) {
                            (Some(caught), Some(name)) => {
                                reading.named_as(TextRange::new(caught.start(), name.end()), caught, |reading| {
                                    reading.node(Kind::AsTarget, name.range(), |it| it.leaf(Kind::Name, name.range()));
                                });
                            }
                            (Some(caught), None) => reading.expression(caught),
                            (None, _) => {}
                        }
                        reading.block(&handler.body);
                    });
                }
                reading.clause(&it.orelse);
                reading.clause(&it.finalbody);
            }),
            Stmt::Assert(it) => self.node(Kind::Statement, range, |reading| {
                reading.expression(&it.test);
                reading.optional(it.msg.as_deref());
            }),
            Stmt::Import(it) => self.node(Kind::Import, range, |reading| {
                for alias in &it.names {
                    reading.alias(alias);
                }
            }),
            Stmt::ImportFrom(it) => self.import_from(it),
            Stmt::Global(it) => self.node(Kind::Global, range, |reading| {
                for name in &it.names {
                    reading.leaf(Kind::Name, name.range());
                }
            }),
            Stmt::Nonlocal(it) => self.node(Kind::Nonlocal, range, |reading| {
                for name in &it.names {
                    reading.leaf(Kind::Name, name.range());
                }
            }),
            Stmt::Expr(it) => self.node(Kind::ExpressionStatement, range, |reading| reading.listed(&it.value)),
            Stmt::Pass(_) => self.leaf(Kind::Pass, range),
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::IpyEscapeCommand(_) => {}
        }
    }

    fn decorated(&mut self, decorators: &[Decorator], range: TextRange, definition: impl FnOnce(&mut Self, TextSize)) {
        let Some(last) = decorators.last() else { return definition(self, range.start()) };
        self.node(Kind::Decorated, range, |reading| {
            for decorator in decorators {
                reading.node(Kind::Decorator, decorator.range(), |reading| reading.expression(&decorator.expression));
            }
            definition(reading, last.end());
        });
    }

    /// `context as target`
    fn named_as(&mut self, range: TextRange, context: &Expr, target: impl FnOnce(&mut Self)) {
        self.node(Kind::As, range, |reading| {
            reading.expression(context);
            target(reading);
        });
    }

    fn alias(&mut self, alias: &Alias) {
        match &alias.asname {
            Some(name) => self.node(Kind::ImportAlias, alias.range(), |reading| {
                reading.leaf(Kind::DottedName, alias.name.range());
                reading.leaf(Kind::Name, name.range());
            }),
            None if alias.name.as_str() == "*" => self.leaf(Kind::Star, alias.range()),
            None => self.leaf(Kind::DottedName, alias.name.range()),
        }
    }

    fn import_from(&mut self, it: &StmtImportFrom) {
        let module = it.module.as_ref();
        if it.level == 0 && module.is_some_and(|module| module.as_str() == "__future__") {
            self.node(Kind::FutureImport, it.range(), |reading| {
                for alias in &it.names {
                    reading.alias(alias);
                }
            });
            return;
        }
        self.node(Kind::ImportFrom, it.range(), |reading| {
            match module {
                Some(module) if it.level == 0 => reading.leaf(Kind::DottedName, module.range()),
                _ => {
                    let dots = reading.dots(it);
                    let end = module.map_or(dots.end(), Ranged::end);
                    reading.leaf(Kind::RelativeImport, TextRange::new(dots.start(), end));
                }
            }
            for alias in &it.names {
                reading.alias(alias);
            }
        });
    }

    /// The dots of a relative import.
    fn dots(&self, it: &StmtImportFrom) -> TextRange {
        let of_statement = self.tokens[self.next..].iter().take_while(|token| token.start() < it.end());
        let mut dots = of_statement
            .take_while(|token| token.kind() != TokenKind::Import)
            .filter(|token| matches!(token.kind(), TokenKind::Dot | TokenKind::Ellipsis));
        match (dots.next(), dots.last()) {
            (Some(first), last) => TextRange::new(first.start(), last.map_or(first.end(), Ranged::end)),
            (None, _) => TextRange::empty(it.start()),
        }
    }

    fn type_parameters(&mut self, parameters: Option<&TypeParams>) {
        let Some(parameters) = parameters else { return };
        self.node(Kind::TypeParameters, parameters.range(), |reading| {
            for parameter in &parameters.type_params {
                let (bound, default) = match parameter {
                    TypeParam::TypeVar(it) => (it.bound.as_deref(), it.default.as_deref()),
                    TypeParam::TypeVarTuple(it) => (None, it.default.as_deref()),
                    TypeParam::ParamSpec(it) => (None, it.default.as_deref()),
                };
                reading.annotation(bound);
                reading.annotation(default);
            }
        });
    }

    fn annotation(&mut self, annotation: Option<&Expr>) {
        if let Some(annotation) = annotation {
            self.node(Kind::Type, annotation.range(), |reading| reading.expression(annotation));
        }
    }

    pub(super) fn parameters(&mut self, kind: Kind, parameters: &Parameters) {
        self.node(kind, parameters.range(), |reading| {
            // The parenthesis of a function's parameters.
            if kind == Kind::Parameters {
                reading.pass(parameters.start() + TextSize::new(1));
            }
            for parameter in parameters {
                match parameter {
                    AnyParameterRef::Variadic(it) => reading.variadic(it),
                    AnyParameterRef::NonVariadic(it) => {
                        let name = it.parameter.name.range();
                        let annotation = it.parameter.annotation.as_deref();
                        match (&it.default, annotation) {
                            (Some(default), _) => reading.node(Kind::DefaultParameter, it.range(), |reading| {
                                reading.leaf(Kind::Name, name);
                                reading.annotation(annotation);
                                reading.expression(default);
                            }),
                            (None, Some(_)) => reading.node(Kind::TypedParameter, it.range(), |reading| {
                                reading.leaf(Kind::Name, name);
                                reading.annotation(annotation);
                            }),
                            (None, None) => reading.leaf(Kind::Name, name),
                        }
                    }
                }
            }
        });
    }

    fn variadic(&mut self, parameter: &Parameter) {
        let splat = |reading: &mut Self| {
            reading.node(Kind::Splat, parameter.name.range(), |it| it.leaf(Kind::Name, parameter.name.range()));
        };
        match &parameter.annotation {
            Some(annotation) => self.node(Kind::TypedParameter, parameter.range(), |reading| {
                splat(reading);
                reading.annotation(Some(annotation));
            }),
            None => splat(self),
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::MatchValue(it) => self.pattern_value(&it.value),
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(it) => self.patterns(&it.patterns),
            Pattern::MatchMapping(it) => {
                for (key, inner) in it.keys.iter().zip(&it.patterns) {
                    self.pattern_value(key);
                    self.pattern(inner);
                }
                if let Some(rest) = &it.rest {
                    self.node(Kind::SplatPattern, rest.range(), |reading| reading.leaf(Kind::Name, rest.range()));
                }
            }
            Pattern::MatchClass(it) => {
                self.patterns(&it.arguments.patterns);
                for keyword in &it.arguments.keywords {
                    self.pattern(&keyword.pattern);
                }
            }
            Pattern::MatchStar(it) => {
                if let Some(name) = &it.name {
                    self.node(Kind::SplatPattern, it.range(), |reading| reading.leaf(Kind::Name, name.range()));
                }
            }
            Pattern::MatchAs(it) => match (&it.pattern, &it.name) {
                (Some(inner), Some(name)) => self.node(Kind::As, it.range(), |reading| {
                    reading.node(Kind::Case, inner.range(), |reading| reading.pattern(inner));
                    reading.leaf(Kind::Name, name.range());
                }),
                (None, Some(name)) => self.leaf(Kind::DottedName, name.range()),
                (_, None) => {}
            },
            Pattern::MatchOr(it) => self.patterns(&it.patterns),
        }
    }

    fn patterns(&mut self, patterns: &[Pattern]) {
        for pattern in patterns {
            self.pattern(pattern);
        }
    }

    /// Of a constant in a pattern only its strings are of interest.
    fn pattern_value(&mut self, value: &Expr) {
        if matches!(value, Expr::StringLiteral(_) | Expr::BytesLiteral(_)) {
            self.bare(value);
        }
    }
}
