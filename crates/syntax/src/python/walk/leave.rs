//! What a node leaves to its parent once its children are walked: one operand for an expression; bindings, calls and
//! uses for the file.

use super::{Frame, Mode, NONE, RawCall, RawUse, Walk};
use crate::python::expression::{Expr, Keyword, KeywordName, List, Operand, Value, number};
use crate::python::kinds::Kind;
use crate::python::meaning::AttributeBinding;
use crate::python::names::{Meant, Symbol};

impl Walk<'_> {
    /// Takes the operands of a frame's children and puts its own in their place.
    pub(super) fn leave(&mut self, frame: Frame) {
        let mut children = std::mem::take(&mut self.children);
        children.clear();
        children.extend(self.operands.drain(frame.operands as usize..));
        if let Some(value) = self.value(&frame, &children) {
            self.operands.push(Operand { start: frame.start, end: frame.end, value });
        }
        self.children = children;
    }

    fn value(&mut self, frame: &Frame, children: &[Operand]) -> Option<Value> {
        let parent = self.frames.last().copied();
        let parent_kind = parent.map_or(Kind::Token, |parent| parent.kind);
        Some(match frame.kind {
            Kind::Function => {
                self.enclosing.pop();
                self.bind_definition(frame, Meant::Function);
                return None;
            }
            Kind::Class => {
                self.enclosing.pop();
                self.bind_definition(frame, Meant::Class(frame.inner));
                return None;
            }
            Kind::ExpressionStatement => {
                self.leave_expression_statement(parent.as_ref(), children);
                return None;
            }
            Kind::Assignment | Kind::Augmented => {
                let [target, value @ ..] = children else { return None };
                let &value = value.last()?;
                self.use_value(&value);
                let meant = if frame.kind == Kind::Assignment { value.value } else { Value::Unknown };
                self.bind_targets(target, meant, frame, frame.end);
                if !matches!(parent_kind, Kind::Assignment | Kind::Augmented) {
                    return None;
                }
                value.value
            }
            Kind::For | Kind::ForIn => {
                if let [target, iterable, ..] = children {
                    let element = self.element(iterable.value);
                    self.bind_targets(target, element, frame, iterable.end);
                }
                return None;
            }
            Kind::Named => {
                let [target, value] = children else { return None };
                let scope = self.raw.scopes.binding_scope(frame.scope);
                self.bind_targets(target, value.value, &Frame { scope, ..*frame }, frame.end);
                value.value
            }
            Kind::As if frame.mode == Mode::Pattern => return None,
            Kind::As => {
                if let [_, target, ..] = children {
                    self.bind_targets(target, Value::Unknown, frame, frame.end);
                }
                Value::Unknown
            }
            Kind::AsTarget => {
                self.operands.extend_from_slice(children);
                return None;
            }
            Kind::DefaultParameter => {
                self.leave_default(frame, children);
                return None;
            }
            Kind::Attribute => self.attribute(frame, children),
            Kind::Subscript => self.subscript(frame, children),
            Kind::Call => self.leave_call(frame, children),
            Kind::Print | Kind::Exec => {
                self.leave_python2(frame, children);
                return None;
            }
            Kind::Arguments => match parent {
                Some(class) if class.kind == Kind::Class => {
                    self.leave_bases(&class, children);
                    return None;
                }
                _ => {
                    self.use_values(children);
                    Value::Arguments(self.raw.expressions.list(children))
                }
            },
            Kind::Argument => self.keyword(KeywordName::Symbol(Symbol::numbered(frame.mark)), frame, children),
            Kind::Pair => match children {
                [Operand { value: Value::Text(key), .. }, value] => {
                    self.keyword(KeywordName::Text(*key), frame, &[*value])
                }
                [_, value] => {
                    self.use_value(value);
                    Value::Unknown
                }
                _ => Value::Unknown,
            },
            Kind::Splat => match (frame.mode, children) {
                (Mode::Store, [target]) => target.value,
                // The grammar gives the `*` of `[*f()]` to `f`.
                (Mode::Load, [inner]) if matches!(parent_kind, Kind::Call | Kind::Attribute | Kind::Subscript) => {
                    inner.value
                }
                (Mode::Parameter | Mode::Delete, _) => return None,
                _ => Value::Splat,
            },
            Kind::DictionarySplat => match children {
                [Operand { value: keywords @ Value::Keywords(_), .. }] => *keywords,
                _ => Value::KeywordSplat,
            },
            Kind::Dictionary => self.dictionary(parent_kind, children),
            Kind::Display => match frame.mode {
                Mode::Load => {
                    self.use_values(children);
                    self.display(parent_kind, children)
                }
                Mode::Store => Value::Group(self.raw.expressions.list(children)),
                Mode::Annotation => Value::Unknown,
                Mode::Delete | Mode::Parameter | Mode::Pattern => return None,
            },
            Kind::Comprehension | Kind::Lambda | Kind::Return => {
                self.use_values(children);
                Value::Unknown
            }
            Kind::Decorator => {
                self.use_values(children);
                return None;
            }
            Kind::Choice => self.choice(children),
            Kind::Parenthesized => children.last().map_or(Value::Unknown, |inner| inner.value),
            Kind::Unary => match children {
                [Operand { value: Value::Number { negative }, start, .. }] => {
                    let negative = *negative != (self.slice(frame.start, *start).starts_with('-'));
                    if self.slice(frame.start, *start).starts_with('~') {
                        Value::Unknown
                    } else {
                        Value::Number { negative }
                    }
                }
                _ => Value::Unknown,
            },
            Kind::Binary => self.sum(children),
            Kind::Concatenated => self.concatenated(children),
            Kind::String => {
                self.raw.strings.push(frame.mark as usize..frame.end as usize);
                let whole = frame.inner == NONE && children.is_empty();
                if whole && !self.broken { self.literal(frame.start, frame.end) } else { Value::Unknown }
            }
            Kind::Expression => Value::Unknown,
            Kind::Error => {
                self.leave_error(frame, children);
                return None;
            }
            _ => return None,
        })
    }

    fn bind_definition(&mut self, frame: &Frame, meant: Meant) {
        let Some(definition) = self.raw.definitions.get(frame.mark as usize) else { return };
        let name = definition.name_span.clone();
        let symbol = self.raw.symbols.intern(self.text.get(name).unwrap_or_default());
        self.bind(frame.scope, symbol, meant, frame.end, frame.conditional, [None, None]);
    }

    fn leave_expression_statement(&mut self, parent: Option<&Frame>, children: &[Operand]) {
        let Some(parent) = parent.filter(|parent| parent.kind == Kind::Block && parent.inner != NONE) else { return };
        let constant = match children {
            [only] => is_constant(only.value),
            _ => false,
        };
        if !constant {
            self.raw.definitions[parent.inner as usize].does_something = true;
        }
    }

    /// Notes a value that is passed or stored, if it can stand for a name.
    fn use_value(&mut self, operand: &Operand) {
        if let Value::Expr(expr) = operand.value {
            self.raw.uses.push(RawUse { start: operand.start, end: operand.end, expr });
        }
    }

    fn use_values(&mut self, operands: &[Operand]) {
        for operand in operands {
            self.use_value(operand);
        }
    }

    /// Binds a target, or what is in it, to a value.
    fn bind_targets(&mut self, target: &Operand, value: Value, frame: &Frame, at: u32) {
        let mut pending = Vec::new();
        let mut next = Some((target.value, value));
        while let Some((target, value)) = next.take().or_else(|| pending.pop()) {
            match target {
                Value::Target(symbol) => {
                    let meant = match self.raw.expressions.of_value(value) {
                        Some(id) => Meant::Value(id),
                        None => Meant::Unknown,
                    };
                    let parts = [Some((frame.start, frame.end)), None];
                    self.bind(frame.scope, symbol, meant, at, frame.conditional, parts);
                }
                Value::Place(place) => self.bind_attribute(place, value, frame, at),
                Value::Group(targets) => {
                    let targets = self.raw.expressions.operands(targets).to_vec();
                    let values = match value {
                        Value::Group(values) => self.raw.expressions.operands(values).to_vec(),
                        _ => Vec::new(),
                    };
                    let element = if values.len() == targets.len() { Value::Unknown } else { self.element(value) };
                    for (position, target) in targets.iter().enumerate() {
                        let paired = values.get(position).filter(|_| values.len() == targets.len());
                        pending.push((target.value, paired.map_or(element, |operand| operand.value)));
                    }
                }
                _ => {}
            }
        }
    }

    fn bind_attribute(&mut self, place: crate::python::expression::ExprId, value: Value, frame: &Frame, at: u32) {
        let Expr::Attribute { object: Some(object), name } = self.raw.expressions.get(place) else { return };
        let Some(id) = self.raw.expressions.of_value(value) else { return };
        // Kept apart from the names of scopes: which class it belongs to is known when its object is.
        let binding = number(self.raw.scopes.bindings.len());
        self.raw.scopes.bindings.push(crate::python::names::Binding {
            meant: Meant::Value(id),
            at,
            conditional: true,
            parts: [Some((frame.start, frame.end)), None],
        });
        let after = self.raw.expressions.exprs.len();
        self.raw.attributes.push(AttributeBinding { after, object, name, binding });
    }

    /// Any element of a display.
    fn element(&mut self, value: Value) -> Value {
        match value {
            Value::Group(list) => {
                let elements = self.raw.expressions.operands(list).to_vec();
                self.choice_of(&elements)
            }
            _ => Value::Unknown,
        }
    }

    fn leave_default(&mut self, frame: &Frame, children: &[Operand]) {
        self.use_values(children);
        if frame.mark >= NONE - 1 || frame.inner == NONE {
            return;
        }
        let symbol = Symbol::numbered(frame.mark);
        let parts = [Some((frame.start, frame.end)), None];
        let default = children.last().and_then(|value| self.raw.expressions.of_value(value.value));
        if let Some(default) = default {
            self.bind(frame.inner, symbol, Meant::Value(default), frame.end, false, parts);
        }
        let meant = self.receiver.take().map_or(Meant::Unknown, Meant::Receiver);
        self.bind(frame.inner, symbol, meant, frame.end, false, parts);
    }

    fn attribute(&mut self, frame: &Frame, children: &[Operand]) -> Value {
        if frame.mark == NONE {
            return Value::Unknown;
        }
        let object = children.first().and_then(|object| self.raw.expressions.of_value(object.value));
        let name = Symbol::numbered(frame.mark);
        let attribute = self.raw.expressions.push(Expr::Attribute { object, name });
        if frame.mode == Mode::Store { Value::Place(attribute) } else { Value::Expr(attribute) }
    }

    fn subscript(&mut self, frame: &Frame, children: &[Operand]) -> Value {
        let [object, key] = children else { return Value::Unknown };
        let (Value::Expr(object), Mode::Load) = (object.value, frame.mode) else { return Value::Unknown };
        match self.raw.expressions.of_value(key.value) {
            Some(key) => Value::Expr(self.raw.expressions.push(Expr::Subscript { object, key })),
            None => Value::Unknown,
        }
    }

    fn leave_call(&mut self, frame: &Frame, children: &[Operand]) -> Value {
        let [callee, arguments, ..] = children else { return Value::Unknown };
        let arguments = match arguments.value {
            Value::Arguments(list) => list,
            // A generator expression is its own parentheses.
            _ => self.raw.expressions.list(&[*arguments]),
        };
        self.call(frame, *callee, arguments)
    }

    fn call(&mut self, frame: &Frame, callee: Operand, arguments: List) -> Value {
        if let Some(call) = self.raw.calls.get_mut(frame.mark as usize) {
            *call = RawCall { start: frame.start, end: frame.end, callee, arguments };
        }
        let callee = match callee.value {
            Value::Expr(id) => Some(id),
            _ => None,
        };
        Value::Expr(self.raw.expressions.push(Expr::Call { callee, arguments }))
    }

    /// `print x` and `exec x` of Python 2 call what Python 3 calls.
    fn leave_python2(&mut self, frame: &Frame, children: &[Operand]) {
        let length = if frame.kind == Kind::Print { "print".len() } else { "exec".len() };
        let end = frame.start + number(length);
        let symbol = self.raw.symbols.intern(self.slice(frame.start, end));
        let name = Expr::Name { symbol, scope: frame.scope, at: frame.start };
        let callee = Operand { start: frame.start, end, value: Value::Expr(self.raw.expressions.push(name)) };
        self.use_values(children);
        let arguments = self.raw.expressions.list(children);
        self.call(frame, callee, arguments);
    }

    fn leave_bases(&mut self, class: &Frame, children: &[Operand]) {
        for operand in children {
            if let Value::Expr(base) = operand.value {
                self.raw.scopes.all[class.inner as usize].bases.push(base);
            }
        }
    }

    fn keyword(&mut self, name: KeywordName, frame: &Frame, children: &[Operand]) -> Value {
        let [value] = children else { return Value::Unknown };
        if frame.kind == Kind::Argument && frame.mark == NONE {
            return Value::Unknown;
        }
        self.use_value(value);
        let keywords = &mut self.raw.expressions.keywords;
        keywords.push(Keyword { name, value: *value });
        Value::Keyword(number(keywords.len()) - 1)
    }

    /// A dict display: its keywords where it is splatted, else its truth.
    fn dictionary(&mut self, parent: Kind, children: &[Operand]) -> Value {
        if parent != Kind::DictionarySplat {
            let sure = children.iter().any(|child| !matches!(child.value, Value::KeywordSplat));
            return if sure || children.is_empty() { Value::Display(sure) } else { Value::Unknown };
        }
        let mut keywords = Vec::with_capacity(children.len());
        for child in children {
            match child.value {
                Value::Keyword(_) => keywords.push(*child),
                Value::Keywords(inner) => keywords.extend_from_slice(self.raw.expressions.operands(inner)),
                _ => return Value::Unknown,
            }
        }
        Value::Keywords(self.raw.expressions.list(&keywords))
    }

    /// A list, tuple or set: its elements where they may be unpacked, else its truth.
    fn display(&mut self, parent: Kind, children: &[Operand]) -> Value {
        if matches!(parent, Kind::Assignment | Kind::For | Kind::ForIn) {
            return Value::Group(self.raw.expressions.list(children));
        }
        let sure = children.iter().any(|child| !matches!(child.value, Value::Splat));
        if sure || children.is_empty() { Value::Display(sure) } else { Value::Unknown }
    }

    fn choice(&mut self, children: &[Operand]) -> Value {
        match children {
            [then, _, otherwise] => self.choice_of(&[*then, *otherwise]),
            _ => self.choice_of(children),
        }
    }

    fn choice_of(&mut self, operands: &[Operand]) -> Value {
        let mut named = Vec::with_capacity(operands.len());
        for operand in operands {
            if let Some(id) = self.raw.expressions.of_value(operand.value) {
                named.push(Operand { value: Value::Expr(id), ..*operand });
            }
        }
        if named.is_empty() {
            return Value::Unknown;
        }
        let list = self.raw.expressions.list(&named);
        Value::Expr(self.raw.expressions.push(Expr::Choice(list)))
    }

    /// A binary operation: followed where it may put constant strings together.
    fn sum(&mut self, children: &[Operand]) -> Value {
        let [left, right] = children else { return Value::Unknown };
        let textual = |operand: &Operand| matches!(operand.value, Value::Text(_) | Value::Expr(_));
        let literal = |operand: &Operand| matches!(operand.value, Value::Text(_));
        let adds = || self.slice(left.end, right.start).trim_matches([' ', '\t', '\\', '\r', '\n']) == "+";
        if !(textual(left) && textual(right) && (literal(left) || literal(right)) && adds()) {
            return Value::Unknown;
        }
        let expressions = &mut self.raw.expressions;
        match (expressions.of_value(left.value), expressions.of_value(right.value)) {
            (Some(left), Some(right)) => Value::Expr(expressions.push(Expr::Sum { left, right })),
            _ => Value::Unknown,
        }
    }

    fn concatenated(&mut self, children: &[Operand]) -> Value {
        if children.iter().all(|child| matches!(child.value, Value::Text(_))) {
            let literals = &mut self.raw.expressions.literals;
            let first = number(literals.len());
            literals.extend(children.iter().map(|child| (child.start, child.end)));
            return Value::Text(List { first, length: number(children.len()) });
        }
        if children.iter().all(|child| matches!(child.value, Value::Truth(_))) {
            return Value::Truth(children.iter().any(|child| child.value == Value::Truth(true)));
        }
        Value::Unknown
    }

    /// In a region that does not parse, a name before a parenthesis is still a call.
    fn leave_error(&mut self, frame: &Frame, children: &[Operand]) {
        for (position, callee) in children.iter().enumerate() {
            if !matches!(callee.value, Value::Expr(_)) || self.is_header(frame.start, callee.start) {
                continue;
            }
            let (end, arguments) = match children.get(position + 1) {
                Some(Operand { end, value: Value::Arguments(list), .. }) => (*end, *list),
                _ if self.slice(callee.end, frame.end).trim_start_matches([' ', '\t', '\\']).starts_with('(') => {
                    (frame.end, List { first: 0, length: 0 })
                }
                _ => continue,
            };
            self.raw.calls.push(RawCall { start: callee.start, end, callee: *callee, arguments });
        }
    }

    /// Whether what stands at `at` is named by a `def` or `class`.
    fn is_header(&self, start: u32, at: u32) -> bool {
        let before = self.slice(start, at).trim_end_matches([' ', '\t', '\\']);
        before.len() < (at - start) as usize && (before.ends_with("def") || before.ends_with("class"))
    }
}

/// Whether an expression statement of this value does nothing.
fn is_constant(value: Value) -> bool {
    matches!(value, Value::Text(_) | Value::Number { negative: false } | Value::Bool(_) | Value::None | Value::Truth(_))
}
