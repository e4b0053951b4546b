//! The walk over ruff's syntax tree, for text that is valid Python: it hands [`Walk`] the nodes that the walk over
//! tree-sitter's tree would, so that names get their meaning in one place.
//!
//! Ruff's parser is several times faster and knows Python better; what it takes for broken, and what is nested more
//! deeply than Python itself allows, is left to tree-sitter. Which of them reads a text depends on the text alone.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::{
    AnyParameterRef, ArgOrKeyword, Arguments, Comprehension, ExceptHandler, Expr, ExprAttribute, FStringPart,
    InterpolatedStringElement, InterpolatedStringElements, ModModule, Parameter, Parameters, Pattern, PySourceType,
    Stmt, StmtImportFrom, TypeParam, TypeParams, UnaryOp,
};
use ruff_python_parser::{Mode, Parsed, lexer, parse_unchecked_source};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::kinds::Kind;
use super::walk::{About, Raw, Walk};

/// Brackets, operators, dots and blocks around one place of a text: more is left to tree-sitter, which needs no stack
/// for them. Python gives up at 200 brackets and 100 blocks.
const DEEPEST: u32 = 300;

/// The syntax tree of a text, if it is valid Python.
pub(crate) fn parse(text: &str) -> Option<Parsed<ModModule>> {
    if prints_as_python2(text) || !is_shallow(text) {
        return None;
    }
    // An error of the parser itself is one more reason to ask the other.
    let parsed = std::panic::catch_unwind(|| parse_unchecked_source(text, PySourceType::Python)).ok()?;
    parsed.has_valid_syntax().then_some(parsed)
}

/// `print >> f, x` is valid Python 3, where it prints nothing; tree-sitter reads what its writer meant.
fn prints_as_python2(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), b"print")
        .any(|at| text[at + "print".len()..].trim_start_matches([' ', '\t']).starts_with(">>"))
}

/// Whether no place of a text is nested too deeply for a walk that recurses; an upper bound, from its tokens.
fn is_shallow(text: &str) -> bool {
    let mut tokens = lexer::lex(text, Mode::Module);
    // What may nest since the last comma, for each open bracket; the first is the statement.
    let mut open = vec![0_u32];
    let (mut total, mut blocks) = (0_u32, 0_u32);
    loop {
        match tokens.next_token() {
            TokenKind::EndOfFile => return true,
            TokenKind::Indent => blocks += 1,
            TokenKind::Dedent => blocks = blocks.saturating_sub(1),
            TokenKind::Newline => {
                open.clear();
                open.push(0);
                total = 0;
            }
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                open.push(0);
                total += 1;
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::FStringEnd | TokenKind::TStringEnd => {
                if open.len() > 1 {
                    total -= open.pop().unwrap_or(0) + 1;
                }
                // What was closed may be the start of a chain: `f()()`.
                if let Some(last) = open.last_mut() {
                    *last += 1;
                    total += 1;
                }
            }
            TokenKind::Comma => {
                if let Some(last) = open.last_mut() {
                    total -= std::mem::take(last);
                }
            }
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None
            | TokenKind::Ellipsis => {}
            // Operators and keywords.
            _ => {
                if let Some(last) = open.last_mut() {
                    *last += 1;
                    total += 1;
                }
            }
        }
        if total + blocks > DEEPEST {
            return false;
        }
    }
}

/// What a module holds, names not yet resolved.
pub(super) fn walk<'t>(module: &Parsed<ModModule>, text: &'t str) -> Raw<'t> {
    let mut reading = Reading { walk: Walk::new(text, false), tokens: module.tokens(), next: 0 };
    let comments = module.tokens().iter().filter(|token| token.kind() == TokenKind::Comment);
    reading.walk.note_comments(comments.map(|token| span(token.range())));
    let body = &module.syntax().body;
    reading.open(Kind::Block, 0, number(text.len()));
    reading.statements(body);
    reading.close();
    reading.walk.finish()
}

struct Reading<'a, 't> {
    walk: Walk<'t>,
    tokens: &'a [Token],
    /// The first token that nothing was made of yet.
    next: usize,
}

fn number(offset: usize) -> u32 {
    u32::try_from(offset).expect("a text that ruff reads is under 4 GiB")
}

fn span(range: TextRange) -> (u32, u32) {
    (range.start().to_u32(), range.end().to_u32())
}

impl Reading<'_, '_> {
    /// Takes in a node; whether its children are to be walked, and [`Reading::close`] called after them.
    fn open(&mut self, kind: Kind, start: u32, end: u32) -> bool {
        self.walk.open(kind, (start, end), About::default())
    }

    fn node(&mut self, kind: Kind, range: TextRange, children: impl FnOnce(&mut Self)) {
        if self.open(kind, range.start().to_u32(), range.end().to_u32()) {
            children(self);
            self.close();
        }
    }

    fn leaf(&mut self, kind: Kind, range: TextRange) {
        self.node(kind, range, |_| {});
    }

    fn close(&mut self) {
        self.walk.close();
    }

    /// The tokens before `at` are accounted for.
    fn pass(&mut self, at: TextSize) {
        while self.tokens.get(self.next).is_some_and(|token| token.start() < at) {
            self.next += 1;
        }
    }

    // ---- statements

    fn statements(&mut self, statements: &[Stmt]) {
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
                it.targets.iter().for_each(|_| reading.close());
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
                                    reading.node(Kind::AsTarget, name.range(), |it| it.leaf(Kind::Name, name.range()))
                                })
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
                it.names.iter().for_each(|alias| reading.alias(alias));
            }),
            Stmt::ImportFrom(it) => self.import_from(it),
            Stmt::Global(it) => self.node(Kind::Global, range, |reading| {
                it.names.iter().for_each(|name| reading.leaf(Kind::Name, name.range()));
            }),
            Stmt::Nonlocal(it) => self.node(Kind::Nonlocal, range, |reading| {
                it.names.iter().for_each(|name| reading.leaf(Kind::Name, name.range()));
            }),
            Stmt::Expr(it) => self.node(Kind::ExpressionStatement, range, |reading| reading.listed(&it.value)),
            Stmt::Pass(_) => self.leaf(Kind::Pass, range),
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::IpyEscapeCommand(_) => {}
        }
    }

    fn decorated(
        &mut self,
        decorators: &[ruff_python_ast::Decorator],
        range: TextRange,
        definition: impl FnOnce(&mut Self, TextSize),
    ) {
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

    fn alias(&mut self, alias: &ruff_python_ast::Alias) {
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
                it.names.iter().for_each(|alias| reading.alias(alias));
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
            it.names.iter().for_each(|alias| reading.alias(alias));
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

    fn parameters(&mut self, kind: Kind, parameters: &Parameters) {
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

    // ---- patterns

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::MatchValue(it) => self.pattern_value(&it.value),
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(it) => it.patterns.iter().for_each(|inner| self.pattern(inner)),
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
                it.arguments.patterns.iter().for_each(|inner| self.pattern(inner));
                it.arguments.keywords.iter().for_each(|keyword| self.pattern(&keyword.pattern));
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
            Pattern::MatchOr(it) => it.patterns.iter().for_each(|inner| self.pattern(inner)),
        }
    }

    /// Of a constant in a pattern only its strings are of interest.
    fn pattern_value(&mut self, value: &Expr) {
        match value {
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) => self.bare(value),
            _ => {}
        }
    }

    // ---- expressions

    fn optional(&mut self, expression: Option<&Expr>) {
        if let Some(expression) = expression {
            self.expression(expression);
        }
    }

    fn expressions(&mut self, expressions: &[Expr]) {
        expressions.iter().for_each(|expression| self.expression(expression));
    }

    /// An expression where several may stand with commas between and no parentheses.
    fn listed(&mut self, expression: &Expr) {
        match expression {
            Expr::Tuple(tuple) if !tuple.parenthesized => self.expressions(&tuple.elts),
            _ => self.expression(expression),
        }
    }

    /// An expression with the parentheses around it.
    fn expression(&mut self, expression: &Expr) {
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
        starts.iter().zip(&ends).for_each(|_| self.close());
    }

    fn bare(&mut self, expression: &Expr) {
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
                    parts.into_iter().for_each(|part| reading.format(part.range(), &part.elements));
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
                [&it.lower, &it.upper, &it.step].into_iter().for_each(|part| reading.optional(part.as_deref()));
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
                [&it.body, &it.test, &it.orelse].into_iter().for_each(|part| reading.expression(part));
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
                for item in it.iter() {
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
    fn arguments(&mut self, arguments: &Arguments) {
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

    // ---- strings

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
