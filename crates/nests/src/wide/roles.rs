//! What the actions of an innermost loop do in all iterations together.

use crate::code::{Element, Expression};

/// What an action of the body does in all iterations together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Gives a value of its own to each iteration.
    Local(String, Expression),
    /// Writes elements that lie side by side.
    Store(Element, Option<char>, Expression),
    /// Writes elements that lie a few apart, between those of others.
    Woven(Element, Expression),
    /// Writes elements that lie equally far apart.
    Spread(Element, Expression),
    /// Adds something up.
    Sum(Element, char, Expression),
    /// Finds the greatest or the least of something.
    Extreme(Element, bool, Expression),
    /// Adds something up, and needs every sum on the way.
    Running(Element, Expression),
}

impl Role {
    /// Returns what is computed.
    pub(super) fn value(&self) -> &Expression {
        match self {
            Self::Local(_, value)
            | Self::Store(_, _, value)
            | Self::Woven(_, value)
            | Self::Spread(_, value)
            | Self::Sum(_, _, value)
            | Self::Extreme(_, _, value)
            | Self::Running(_, value) => value,
        }
    }
}

/// Returns what an assignment to one place does in all iterations together.
pub(super) fn gathered(
    target: &Element,
    operator: Option<char>,
    value: &Expression,
    used: bool,
) -> Option<Role> {
    let own = Expression::Element(target.clone());
    let reads_itself = value.reads().contains(&target);
    match operator {
        Some('+') if used && !reads_itself => Some(Role::Running(target.clone(), value.clone())),
        Some(operator @ ('+' | '-')) if !used && !reads_itself => {
            Some(Role::Sum(target.clone(), operator, value.clone()))
        }
        None if !used => {
            let (greatest, other) = match value {
                Expression::Call(name, arguments) => {
                    let greatest = match name.as_str() {
                        "fmaxf" => true,
                        "fminf" => false,
                        _ => return None,
                    };
                    match arguments.as_slice() {
                        [one, other] if *one == own => (greatest, other),
                        [other, one] if *one == own => (greatest, other),
                        _ => return None,
                    }
                }
                Expression::Choice(condition, one, two) => {
                    let Expression::Binary(left, operator, right) = &**condition else {
                        return None;
                    };
                    let first_if_larger = match operator.as_str() {
                        ">" | ">=" => true,
                        "<" | "<=" => false,
                        _ => return None,
                    };
                    let straight = left == one && right == two;
                    let crossed = left == two && right == one;
                    if !straight && !crossed {
                        return None;
                    }
                    let other = if **left == own {
                        right
                    } else if **right == own {
                        left
                    } else {
                        return None;
                    };
                    (first_if_larger == straight, &**other)
                }
                _ => return None,
            };
            let apart = !other.reads().contains(&target);
            apart.then(|| Role::Extreme(target.clone(), greatest, other.clone()))
        }
        _ => None,
    }
}
