//! Reads operators, and what C makes of their operands.

use super::Reason;
use super::program::{Binary, Expression, Unary};
use super::read::Reader;
use crate::memory::Type;
use tree_sitter::Node;

impl Reader<'_> {
    pub(super) fn binary(
        &self,
        node: Node<'_>,
        operator: &str,
        (mut left, mut kind): (Expression, Type),
        (mut right, mut other): (Expression, Type),
    ) -> Result<(Expression, Type), Reason> {
        let scaled = |value: Expression, size: i64| {
            folded(Expression::Binary(
                Binary::Multiply,
                Box::new((value, Expression::Integer(size))),
            ))
        };
        let mut result = match (&kind, &other) {
            (Type::Double, _) | (_, Type::Double) => Type::Double,
            (Type::Float, _) | (_, Type::Float) => Type::Float,
            _ => Type::WIDE,
        };
        let operation = match operator {
            "+" | "-" => {
                let operation = if operator == "+" {
                    Binary::Add
                } else {
                    Binary::Subtract
                };
                match (kind.pointee(), other.pointee()) {
                    (Some(_), Some(_)) => {
                        return Err(self.refuse(node, "a difference of two addresses"));
                    }
                    (Some(element), None) => {
                        right = scaled(right, element.size());
                        result = Type::Pointer(Box::new(element.clone()));
                    }
                    (None, Some(element)) => {
                        left = scaled(left, element.size());
                        result = Type::Pointer(Box::new(element.clone()));
                    }
                    (None, None) => {}
                }
                operation
            }
            "*" => Binary::Multiply,
            "/" => Binary::Divide,
            "%" => Binary::Remainder,
            "<<" => Binary::ShiftLeft,
            ">>" => Binary::ShiftRight,
            "&" => Binary::BitAnd,
            "|" => Binary::BitOr,
            "^" => Binary::BitXor,
            "<" => Binary::Less,
            "<=" => Binary::LessEqual,
            ">" | ">=" => {
                std::mem::swap(&mut left, &mut right);
                std::mem::swap(&mut kind, &mut other);
                if operator == ">" {
                    Binary::Less
                } else {
                    Binary::LessEqual
                }
            }
            "==" => Binary::Equal,
            "!=" => Binary::NotEqual,
            "&&" => Binary::And,
            "||" => Binary::Or,
            _ => return Err(self.refuse(node, "an operator of another kind")),
        };
        let is_truth = matches!(
            operation,
            Binary::Less
                | Binary::LessEqual
                | Binary::Equal
                | Binary::NotEqual
                | Binary::And
                | Binary::Or
        );
        if result == Type::Float {
            // C rounds both operands and the result.
            let single = |value: Expression, kind: &Type| match kind {
                Type::Float => value,
                _ => narrowed(value, &Type::Float),
            };
            (left, right) = (single(left, &kind), single(right, &other));
        }
        let value = folded(Expression::Binary(operation, Box::new((left, right))));
        Ok(match result {
            Type::Float | Type::Double if is_truth => (value, Type::WIDE),
            Type::Float => (narrowed(value, &Type::Float), Type::Float),
            result => (value, result),
        })
    }
}

/// Returns what a variable of this type keeps of a value.
pub(super) fn narrowed(value: Expression, kind: &Type) -> Expression {
    match kind {
        Type::Integer(bytes, signed) => match value {
            Expression::Integer(value) => {
                Expression::Integer(super::run::narrow(value, *bytes, *signed))
            }
            value => Expression::Narrow(*bytes, *signed, Box::new(value)),
        },
        Type::Float => match value {
            Expression::Float(value) => Expression::Float((value as f32).into()),
            Expression::Integer(value) => Expression::Float((value as f32).into()),
            value => Expression::Unary(Unary::Float, Box::new(value)),
        },
        Type::Double => match value {
            Expression::Integer(value) => Expression::Float(value as f64),
            value => {
                Expression::Binary(Binary::Multiply, Box::new((value, Expression::Float(1.0))))
            }
        },
        _ => value,
    }
}

/// Computes what is known already.
pub(super) fn folded(value: Expression) -> Expression {
    use Expression::Integer;
    let known = match &value {
        Expression::Unary(operation, inner) => match **inner {
            Integer(inner) => Some(super::run::unary(*operation, inner)),
            _ => None,
        },
        Expression::Binary(operation, both) => match **both {
            (Integer(left), Integer(right)) => super::run::binary(*operation, left, right),
            _ => None,
        },
        _ => None,
    };
    match (known, value) {
        (Some(known), _) => Integer(known),
        (None, Expression::Unary(Unary::Negate, inner)) => match *inner {
            Expression::Float(inner) => Expression::Float(-inner),
            inner => Expression::Unary(Unary::Negate, Box::new(inner)),
        },
        (None, value) => value,
    }
}

pub(super) fn number(text: &str) -> Option<(Expression, Type)> {
    let lower = text.to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            let digits = digits.trim_end_matches(['u', 'l']);
            let value = u64::from_str_radix(digits, radix).ok()?;
            return Some((Expression::Integer(value as i64), Type::WIDE));
        }
    }
    if lower.contains(['.', 'e', 'f']) {
        let value: f64 = lower.trim_end_matches(['f', 'l']).parse().ok()?;
        return Some(match lower.ends_with('f') {
            true => (Expression::Float((value as f32).into()), Type::Float),
            false => (Expression::Float(value), Type::Double),
        });
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    if 1 < digits.len() && digits.starts_with('0') {
        let value = i64::from_str_radix(digits, 8).ok()?;
        return Some((Expression::Integer(value), Type::WIDE));
    }
    Some((Expression::Integer(digits.parse().ok()?), Type::WIDE))
}
