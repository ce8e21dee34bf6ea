//! Whole numbers and conditions that are made of loop variables.

use super::super::code::Expression;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::condition::{Condition, Relation};

/// Returns the condition that an expression over loop variables is.
pub(crate) fn condition(expression: &Expression) -> Option<Condition> {
    let Expression::Binary(left, operator, right) = expression else {
        return None;
    };
    let both =
        |all: fn(Vec<Condition>) -> Condition| Some(all(vec![condition(left)?, condition(right)?]));
    match operator.as_str() {
        "&&" => return both(Condition::all),
        "||" => return both(Condition::any),
        "==" if **right == Expression::Number("0".into()) && condition(left).is_some() => {
            return Some(condition(left)?.negate());
        }
        _ => {}
    }
    let (left, right) = (affine(left)?, affine(right)?);
    let difference = left.minus(&right)?;
    let opposite = difference.times(-1)?;
    Some(match operator.as_str() {
        "<" => Condition::compare(difference, Relation::Negative),
        ">=" => Condition::compare(difference, Relation::NonNegative),
        ">" => Condition::compare(opposite, Relation::Negative),
        "<=" => Condition::compare(opposite, Relation::NonNegative),
        "==" => Condition::compare(difference, Relation::Zero),
        "!=" => Condition::compare(difference, Relation::NonZero),
        _ => return None,
    })
}

/// Returns the sum of loop variables that an expression is.
pub(super) fn affine(expression: &Expression) -> Option<Affine> {
    match expression {
        Expression::Index(affine) => Some(affine.clone()),
        Expression::Number(text) => Some(Affine::constant(text.parse().ok()?)),
        Expression::Negative(inner) => affine(inner)?.times(-1),
        Expression::Binary(left, operator, right) => {
            let (left, right) = (affine(left)?, affine(right)?);
            match operator.as_str() {
                "+" => left.plus(&right),
                "-" => left.minus(&right),
                "*" => match (left.as_constant(), right.as_constant()) {
                    (_, Some(factor)) => left.times(factor),
                    (Some(factor), _) => right.times(factor),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns a sum of loop variables as an expression.
pub(super) fn expression_of(affine: &Affine) -> Expression {
    match affine.as_constant() {
        Some(value) if value < 0 => Expression::Negative(Box::new(Expression::Number(
            value.unsigned_abs().to_string(),
        ))),
        Some(value) => Expression::Number(value.to_string()),
        None => Expression::Index(affine.clone()),
    }
}

pub(super) fn is_comparison(operator: &str) -> bool {
    ["<", ">", "<=", ">=", "==", "!="].contains(&operator)
}

pub(super) fn operands(expression: &Expression) -> usize {
    match expression {
        Expression::Number(_) | Expression::Index(_) | Expression::Element(_) => 1,
        Expression::Negative(inner) | Expression::Cast(_, inner) => operands(inner),
        Expression::Binary(left, _, right) => operands(left) + operands(right),
        Expression::Choice(condition, one, other) => {
            operands(condition) + operands(one) + operands(other)
        }
        Expression::Call(_, arguments) => arguments.iter().map(operands).sum(),
    }
}

/// Returns how a number between two others compares with zero, if it is the same for all.
pub(super) fn decided(relation: Relation, least: i64, most: i64) -> Option<bool> {
    match relation {
        Relation::Negative if most < 0 => Some(true),
        Relation::Negative if 0 <= least => Some(false),
        Relation::NonNegative if 0 <= least => Some(true),
        Relation::NonNegative if most < 0 => Some(false),
        Relation::Zero if least == 0 && most == 0 => Some(true),
        Relation::Zero if most < 0 || 0 < least => Some(false),
        Relation::NonZero if most < 0 || 0 < least => Some(true),
        Relation::NonZero if least == 0 && most == 0 => Some(false),
        _ => None,
    }
}
