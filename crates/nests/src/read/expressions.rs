//! What stands in the statements of a plain kernel.

use super::super::code::{Action, Expression, Index, Named, Statement};
use super::super::pieces;
use super::super::shape::{self, Ranges};
use super::constants::{is_index, number};
use super::{Binding, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::syntax::children;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Constants that kernels may name.
const CONSTANTS: [&str; 8] = [
    "FLT_MAX",
    "FLT_MIN",
    "FLT_EPSILON",
    "INFINITY",
    "NAN",
    "M_PI",
    "INT32_MAX",
    "INT32_MIN",
];

/// Ends of the ranges of narrow types, by their names.
const ENDS: [(&[&str], i64); 6] = [
    (&["INT8_MIN", "SCHAR_MIN"], -0x80),
    (&["INT8_MAX", "SCHAR_MAX"], 0x7f),
    (&["UINT8_MAX", "UCHAR_MAX"], 0xff),
    (&["INT16_MIN", "SHRT_MIN"], -0x8000),
    (&["INT16_MAX", "SHRT_MAX"], 0x7fff),
    (&["UINT16_MAX", "USHRT_MAX"], 0xffff),
];

/// Returns the end of a type's range that has this name, if a constant has.
fn end_of_range(name: &str) -> Option<Expression> {
    let known = ENDS.iter().find(|(names, _)| names.contains(&name));
    let wide = || match name {
        "INT_MAX" => Some("INT32_MAX"),
        "INT_MIN" => Some("INT32_MIN"),
        _ => None,
    };
    let wide = || wide().map(|it| Expression::Number(it.to_owned()));
    known.map(|(_, value)| number(*value)).or_else(wide)
}

/// Functions without side effects that kernels may call.
const FUNCTIONS: [&str; 16] = [
    "expf", "erff", "tanhf", "sqrtf", "fabsf", "fmaxf", "fminf", "logf", "exp", "erf", "tanh",
    "sqrt", "fabs", "fmax", "fmin", "log",
];

/// Operators between values.
const OPERATORS: [&str; 18] = [
    "+", "-", "*", "/", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "<<", ">>", "%",
    "^",
];

/// Returns the value of a literal such as `'a'`.
fn character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let value = match inner.as_bytes() {
        [plain] if plain.is_ascii() => *plain,
        [b'\\', b'n'] => b'\n',
        [b'\\', b't'] => b'\t',
        [b'\\', b'r'] => b'\r',
        [b'\\', b'0'] => 0,
        [b'\\', other @ (b'\\' | b'\'' | b'"')] => *other,
        _ => return None,
    };
    Some(value.into())
}

impl<'s> Reader<'s> {
    pub(super) fn expression(&mut self, node: Node<'s>) -> Result<Expression, Refusal> {
        match self.budget.checked_sub(1) {
            Some(left) => self.budget = left,
            None => return Err("the kernel is too long".into()),
        }
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.expression(inner),
                None => self.not_understood(node),
            },
            "number_literal" => Ok(Expression::Number(self.text(node).to_owned())),
            "char_literal" => match character(self.text(node)) {
                Some(value) => Ok(number(value)),
                None => self.not_understood(node),
            },
            "true" => Ok(number(1)),
            "false" => Ok(number(0)),
            "identifier" => self.named(node),
            "subscript_expression" => Ok(Expression::Element(self.element(node)?)),
            "pointer_expression" if self.text(node).starts_with('*') => {
                Ok(Expression::Element(self.element(node)?))
            }
            "sizeof_expression" => match self.affine(node).and_then(|it| it.as_constant()) {
                Some(value) => Ok(number(value)),
                None => self.not_understood(node),
            },
            "unary_expression" => {
                let inner = self.field(node, "argument")?;
                match self.text(self.field(node, "operator")?) {
                    "-" => Ok(Expression::Negative(Box::new(self.expression(inner)?))),
                    "+" => self.expression(inner),
                    "~" => Ok(Expression::Binary(
                        Box::new(self.expression(inner)?),
                        "^".into(),
                        Box::new(number(-1)),
                    )),
                    "!" => Ok(negated(self.expression(inner)?)),
                    _ => self.not_understood(node),
                }
            }
            "binary_expression" => self.binary(node),
            "conditional_expression" => {
                let condition = self.expression(self.field(node, "condition")?)?;
                let before = self.pending.len();
                let one = self.expression(self.field(node, "consequence")?)?;
                let other = self.expression(self.field(node, "alternative")?)?;
                // Both are computed on vectors, whichever is wanted.
                let why = "reads what must not be read unless its condition holds";
                if before != self.pending.len() {
                    return self.refused(node, why);
                }
                if !self.may_always_read(&condition, &[&one, &other]) {
                    let doubt = self.refused::<()>(node, why);
                    match pieces::condition(&condition) {
                        Some(_) => self.doubt = self.doubt.take().or(doubt.err()),
                        None => doubt?,
                    }
                }
                Ok(Expression::Choice(
                    Box::new(condition),
                    Box::new(one),
                    Box::new(other),
                ))
            }
            "cast_expression" => {
                let kind = self.type_name(self.text(self.field(node, "type")?));
                self.cast(kind, self.field(node, "value")?)
            }
            "call_expression" => match self.cast_like_a_call(node) {
                Some((kind, value)) => self.cast(kind, value),
                None => self.call(node),
            },
            _ => self.not_understood(node),
        }
    }

    fn cast(&mut self, kind: String, value: Node<'s>) -> Result<Expression, Refusal> {
        Ok(match self.expression(value)? {
            value @ Expression::Index(_) if is_index(&kind) => value,
            value => Expression::Cast(kind, Box::new(value)),
        })
    }

    /// Returns the type and the value of `(real)(x)`, which parses as a call where the type has no
    /// word of C.
    fn cast_like_a_call(&self, node: Node<'s>) -> Option<(String, Node<'s>)> {
        let callee = node.child_by_field_name("function")?;
        let name = callee.named_child(0).filter(|it| {
            callee.kind() == "parenthesized_expression" && it.kind() == "identifier"
        })?;
        let name = self.text(name);
        let kind = self.type_name(name);
        let is_type = kind == "_Float16" || self.types.contains_key(name);
        match children(node.child_by_field_name("arguments")?).as_slice() {
            [value] if is_type => Some((kind, *value)),
            _ => None,
        }
    }

    fn named(&mut self, node: Node<'s>) -> Result<Expression, Refusal> {
        let name = self.text(node);
        match self.bindings.get(name) {
            Some(Binding::Index(affine)) => {
                return Ok(match affine.as_constant() {
                    Some(value) => number(value),
                    None => Expression::Index(affine.clone()),
                });
            }
            Some(Binding::Value(value)) => return Ok(value.clone()),
            Some(Binding::Renamed(_)) => return Ok(Expression::Element(self.element(node)?)),
            Some(Binding::Counter(Some(value))) => return Ok(number(*value)),
            Some(Binding::Pointer(_) | Binding::Counter(None)) => return self.not_understood(node),
            None => {}
        }
        if let Some(affine) = self.affine(node) {
            Ok(Expression::Index(affine))
        } else if self.names.contains_key(name) {
            Ok(Expression::Element(self.element(node)?))
        } else if CONSTANTS.contains(&name) {
            Ok(Expression::Number(name.to_owned()))
        } else if let Some(end) = end_of_range(name) {
            Ok(end)
        } else {
            self.not_understood(node)
        }
    }

    fn binary(&mut self, node: Node<'s>) -> Result<Expression, Refusal> {
        let operator = self.text(self.field(node, "operator")?);
        // Whole numbers of loop variables keep their form, so that equal ones are equal.
        if let Some(affine) = self.affine(node) {
            if let Some(value) = affine.as_constant() {
                return Ok(number(value));
            }
            let unsigned = self
                .loops
                .iter()
                .any(|it| it.is_unsigned && affine.mentions(&it.variable));
            let least = shape::range(&affine, &self.ranges()).map(|it| it.0);
            if unsigned && least.is_none_or(|it| it < 0) {
                return self.refused(node, "may get below zero, with numbers that have no sign");
            }
            return Ok(Expression::Index(affine));
        }
        if !OPERATORS.contains(&operator) {
            return self.not_understood(node);
        }
        let (left, right) = (self.field(node, "left")?, self.field(node, "right")?);
        let (left, right) = (self.expression(left)?, self.expression(right)?);
        Ok(Expression::Binary(
            Box::new(left),
            operator.to_owned(),
            Box::new(right),
        ))
    }

    fn call(&mut self, node: Node<'s>) -> Result<Expression, Refusal> {
        let callee = self.text(self.field(node, "function")?);
        if self.functions.contains_key(callee) {
            return self.call_for_value(node, callee);
        }
        let callee = callee.trim_start_matches("__builtin_");
        let mut arguments = Vec::new();
        for argument in children(self.field(node, "arguments")?) {
            arguments.push(self.expression(argument)?);
        }
        match (callee, arguments.as_slice()) {
            ("fmaf" | "fma", [one, other, sum]) => {
                let product =
                    Expression::Binary(Box::new(one.clone()), "*".into(), Box::new(other.clone()));
                Ok(Expression::Binary(
                    Box::new(product),
                    "+".into(),
                    Box::new(sum.clone()),
                ))
            }
            // Kernels see no header that declares them.
            ("rintf" | "floorf" | "ceilf" | "truncf", [_]) => {
                Ok(Expression::Call(format!("__builtin_{callee}"), arguments))
            }
            ("isnan", [value]) => Ok(compared(value.clone(), "!=", value.clone())),
            ("isinf" | "isfinite", [value]) => {
                let size = Expression::Call("fabsf".into(), vec![value.clone()]);
                let operator = if callee == "isinf" { "==" } else { "<" };
                let infinity = Expression::Number("INFINITY".into());
                Ok(compared(size, operator, infinity))
            }
            _ if FUNCTIONS.contains(&callee) => Ok(Expression::Call(callee.to_owned(), arguments)),
            _ => self.not_understood(node),
        }
    }

    /// Returns whether values may be computed where a condition does not hold.
    pub(super) fn may_always_read(&self, condition: &Expression, values: &[&Expression]) -> bool {
        may_always_read(condition, values, &self.names, &self.ranges())
    }
}

fn compared(left: Expression, operator: &str, right: Expression) -> Expression {
    Expression::Binary(Box::new(left), operator.to_owned(), Box::new(right))
}

/// Returns whether values may be computed where a condition does not hold: a condition on indices
/// may keep them inside an array, one on data does not.
fn may_always_read(
    condition: &Expression,
    values: &[&Expression],
    names: &BTreeMap<String, Named>,
    ranges: &Ranges,
) -> bool {
    let guards = mentions_index(condition);
    let known = condition.reads();
    values.iter().all(|value| {
        value.reads().into_iter().all(|element| {
            let alone = Expression::Element(element.clone());
            let looked_up = element
                .indices
                .iter()
                .any(|index| matches!(index, Index::Value(_)));
            element.indices.is_empty()
                || known.contains(&element)
                || shape::is_inside(&alone, names, ranges)
                || !guards && !looked_up
        })
    })
}

/// Returns whether no statement is below a condition, and whether all values may be computed
/// whatever the conditions of choices are.
pub(super) fn is_safe(
    statements: &[Statement],
    names: &BTreeMap<String, Named>,
    ranges: &mut Ranges,
) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Loop(inner) => {
            let last = inner.start + (inner.trips() - 1) * inner.step;
            ranges.insert(inner.variable.clone(), (inner.start, last));
            let safe = is_safe(&inner.body, names, ranges);
            ranges.remove(&inner.variable);
            safe
        }
        Statement::Command(action) => match action {
            Action::Declare { value, .. } => value
                .as_ref()
                .is_none_or(|it| has_safe_choices(it, names, ranges)),
            Action::Assign { value, .. } => has_safe_choices(value, names, ranges),
        },
        _ => false,
    })
}

fn has_safe_choices(
    expression: &Expression,
    names: &BTreeMap<String, Named>,
    ranges: &Ranges,
) -> bool {
    let safe = |it: &Expression| has_safe_choices(it, names, ranges);
    match expression {
        Expression::Number(_) | Expression::Index(_) | Expression::Element(_) => true,
        Expression::Negative(inner) | Expression::Cast(_, inner) => safe(inner),
        Expression::Binary(left, _, right) => safe(left) && safe(right),
        Expression::Choice(condition, one, other) => {
            may_always_read(condition, &[one, other], names, ranges)
                && safe(condition)
                && safe(one)
                && safe(other)
        }
        Expression::Call(_, arguments) => arguments.iter().all(safe),
    }
}

/// Returns whether a condition compares indices.
fn mentions_index(expression: &Expression) -> bool {
    match expression {
        Expression::Index(_) => true,
        Expression::Number(_) | Expression::Element(_) => false,
        Expression::Negative(inner) | Expression::Cast(_, inner) => mentions_index(inner),
        Expression::Binary(left, _, right) => mentions_index(left) || mentions_index(right),
        Expression::Choice(condition, one, other) => [condition, one, other]
            .into_iter()
            .any(|it| mentions_index(it)),
        Expression::Call(_, arguments) => arguments.iter().any(mentions_index),
    }
}

/// Returns the opposite of a condition.
pub(super) fn negated(condition: Expression) -> Expression {
    let opposite = |operator: &str| {
        Some(match operator {
            "==" => "!=",
            "!=" => "==",
            _ => return None,
        })
    };
    match condition {
        Expression::Binary(left, operator, right) => match opposite(&operator) {
            Some(opposite) => Expression::Binary(left, opposite.into(), right),
            None => is_zero(Expression::Binary(left, operator, right)),
        },
        other => is_zero(other),
    }
}

fn is_zero(value: Expression) -> Expression {
    Expression::Binary(Box::new(value), "==".into(), Box::new(number(0)))
}
