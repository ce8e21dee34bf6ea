//! Integer values while a kernel is read: an affine expression, or a choice of two.

use crate::affine::{Affine, Atom};
use crate::condition::{Condition, Relation};

/// The value of an integer expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// An affine expression.
    Plain(Affine),
    /// `condition ? then : otherwise`.
    Select(Condition, Affine, Affine),
}

impl Value {
    pub(crate) fn constant(value: i64) -> Self {
        Self::Plain(Affine::constant(value))
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.as_affine()?.as_constant()
    }

    pub(crate) fn as_affine(&self) -> Option<&Affine> {
        match self {
            Self::Plain(affine) => Some(affine),
            Self::Select(..) => None,
        }
    }

    /// Returns `condition ? then : otherwise`, folded where possible.
    pub(crate) fn select(condition: Condition, then: Self, otherwise: Self) -> Option<Self> {
        match condition {
            Condition::Constant(true) => return Some(then),
            Condition::Constant(false) => return Some(otherwise),
            _ => {}
        }
        let (then, otherwise) = match (then, otherwise) {
            (Self::Plain(then), Self::Plain(otherwise)) => (then, otherwise),
            // A choice in a choice is one choice where only two values are left.
            (Self::Select(inner, a, b), Self::Plain(c)) if c == b => {
                return Self::select(Condition::all([condition, inner]), a.into(), b.into());
            }
            (Self::Select(inner, a, b), Self::Plain(c)) if c == a => {
                let either = Condition::any([condition.negate(), inner]);
                return Self::select(either, a.into(), b.into());
            }
            (Self::Plain(c), Self::Select(inner, a, b)) if c == a => {
                return Self::select(Condition::any([condition, inner]), a.into(), b.into());
            }
            (Self::Plain(c), Self::Select(inner, a, b)) if c == b => {
                let both = Condition::all([condition.negate(), inner]);
                return Self::select(both, a.into(), b.into());
            }
            _ => return None,
        };
        if then == otherwise {
            return Some(Self::Plain(then));
        }
        // A choice by parity is arithmetic.
        if let Some((parity, odd)) = parity(&condition) {
            let (if_odd, if_even) = if odd {
                (then, otherwise)
            } else {
                (otherwise, then)
            };
            let step = if_odd.minus(&if_even)?.as_constant();
            return match step {
                Some(step) => Some(Self::Plain(if_even.plus(&parity.times(step)?)?)),
                None => None,
            };
        }
        Some(Self::Select(condition, then, otherwise))
    }

    /// Applies `operation` to both alternatives of both values.
    pub(crate) fn zip(
        &self,
        other: &Self,
        operation: impl Fn(&Affine, &Affine) -> Option<Affine>,
    ) -> Option<Self> {
        Some(match (self, other) {
            (Self::Plain(left), Self::Plain(right)) => Self::Plain(operation(left, right)?),
            (Self::Select(condition, then, otherwise), Self::Plain(right)) => Self::Select(
                condition.clone(),
                operation(then, right)?,
                operation(otherwise, right)?,
            ),
            (Self::Plain(left), Self::Select(condition, then, otherwise)) => Self::Select(
                condition.clone(),
                operation(left, then)?,
                operation(left, otherwise)?,
            ),
            (Self::Select(one, a, b), Self::Select(two, c, d)) if one == two => {
                Self::Select(one.clone(), operation(a, c)?, operation(b, d)?)
            }
            _ => return None,
        })
    }

    /// Returns the C text, in parentheses if it is more than one operand.
    pub(crate) fn to_c_operand(&self) -> String {
        match self {
            Self::Plain(affine) => affine.to_c_operand(),
            Self::Select(condition, then, otherwise) => format!(
                "({} ? {} : {})",
                condition.to_c(),
                then.to_c_operand(),
                otherwise.to_c_operand()
            ),
        }
    }
}

impl From<Affine> for Value {
    fn from(affine: Affine) -> Self {
        Self::Plain(affine)
    }
}

/// Returns `x % 2` and whether `condition` asks for odd `x`, if it is of that kind.
fn parity(condition: &Condition) -> Option<(Affine, bool)> {
    let Condition::Compare(expression, relation) = condition else {
        return None;
    };
    let odd = match relation {
        Relation::NonZero => true,
        Relation::Zero => false,
        Relation::Negative | Relation::NonNegative => return None,
    };
    let mut terms = expression.terms();
    match (terms.next(), terms.next(), expression.constant_part()) {
        (Some((Atom::Remainder(_, 2), 1)), None, 0) => Some((expression.clone(), odd)),
        _ => None,
    }
}

/// Returns the value of a binary arithmetic operation.
pub(crate) fn binary(operator: &str, left: &Value, right: &Value) -> Option<Value> {
    let constant = right.as_constant();
    match operator {
        "+" => left.zip(right, Affine::plus),
        "-" => left.zip(right, Affine::minus),
        "*" => left.zip(right, |a, b| match (a.as_constant(), b.as_constant()) {
            (_, Some(factor)) => a.times(factor),
            (Some(factor), None) => b.times(factor),
            (None, None) => None,
        }),
        "/" => {
            let divisor = constant?;
            left.zip(right, |a, _| a.divided_by(divisor))
        }
        "%" => {
            let divisor = constant?;
            left.zip(right, |a, _| a.remainder_by(divisor))
        }
        "<<" => {
            let factor = power_of_two(constant?)?;
            left.zip(right, |a, _| a.times(factor))
        }
        ">>" => {
            let divisor = power_of_two(constant?)?;
            left.zip(right, |a, _| a.divided_by(divisor))
        }
        "|" => left.zip(right, bit_or),
        "&" => left.zip(right, |a, b| match (a.as_constant(), b.as_constant()) {
            (Some(a), Some(b)) => Some(Affine::constant(a & b)),
            (None, Some(mask)) if 0 < mask && (mask & mask.wrapping_add(1)) == 0 => {
                a.remainder_by(mask.checked_add(1)?)
            }
            _ => None,
        }),
        "^" => left.zip(right, |a, b| {
            Some(Affine::constant(a.as_constant()? ^ b.as_constant()?))
        }),
        _ => None,
    }
}

fn power_of_two(exponent: i64) -> Option<i64> {
    u32::try_from(exponent)
        .ok()
        .filter(|exponent| *exponent < 48)
        .map(|exponent| 1 << exponent)
}

/// Flags of a local address are set with `|`; below them, `|` is only folded.
fn bit_or(left: &Affine, right: &Affine) -> Option<Affine> {
    if let (Some(a), Some(b)) = (left.as_constant(), right.as_constant()) {
        return Some(Affine::constant(a | b));
    }
    let (expression, flags) = match (left.as_constant(), right.as_constant()) {
        (None, Some(flags)) => (left, flags),
        (Some(flags), None) => (right, flags),
        _ => return None,
    };
    if flags & ((1 << 26) - 1) != 0 || flags < 0 {
        return None;
    }
    let missing = flags & !expression.constant_part();
    expression.plus_constant(missing)
}
