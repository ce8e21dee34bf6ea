//! What one thread does.

use crate::expression::Expression;
use autocomp_c_loops::affine::Affine;

/// A statement. All counted loops go up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A variable of the thread, with its type.
    Let {
        kind: String,
        name: String,
        value: Option<Expression>,
    },
    /// `name = value`.
    Assign { name: String, value: Expression },
    /// An element gets a value.
    Store {
        array: String,
        index: Expression,
        value: Expression,
    },
    /// An element is changed at once, by a function of CUDA.
    Atomic {
        function: String,
        array: String,
        index: Expression,
        value: Expression,
    },
    /// One of two lists.
    If {
        condition: Expression,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    /// `for (variable = start; variable < end; variable += step)`.
    Loop {
        variable: String,
        start: Affine,
        end: Affine,
        step: i64,
        body: Vec<Step>,
    },
    /// The threads of the block meet.
    Barrier,
    /// The first elements of a shared array, as many as there are threads, become their sum or
    /// extreme, which is in the first of them afterwards.
    Tree { array: String, joining: Joining },
}

/// How two values become one, in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joining {
    Sum,
    Maximum,
    Minimum,
}

impl Joining {
    /// Returns the text that joins two values.
    pub(crate) fn to_c(self, kind: &str, left: &str, right: &str) -> String {
        let is_float = kind == "float" || kind == "double";
        match (self, is_float) {
            (Self::Sum, _) => format!("{left} + {right}"),
            (Self::Maximum, true) => format!("fmaxf({left}, {right})"),
            (Self::Minimum, true) => format!("fminf({left}, {right})"),
            (Self::Maximum, false) => format!("max({left}, {right})"),
            (Self::Minimum, false) => format!("min({left}, {right})"),
        }
    }
}

/// Reads what is joined with the old value of `name`.
pub(crate) fn accumulated<'e>(
    name: &str,
    value: &'e Expression,
) -> Option<(Joining, &'e Expression)> {
    let is_own = |it: &Expression| matches!(it, Expression::Scalar(found) if found == name);
    let (joining, rest) = match value {
        Expression::Binary(left, operator, right) if operator == "+" => {
            match (is_own(left), is_own(right)) {
                (true, _) => (Joining::Sum, &**right),
                (_, true) => (Joining::Sum, &**left),
                _ => return None,
            }
        }
        Expression::Call(function, arguments) => {
            let joining = match function.as_str() {
                "fmaxf" | "max" => Joining::Maximum,
                "fminf" | "min" => Joining::Minimum,
                _ => return None,
            };
            match arguments.as_slice() {
                [own, rest] if is_own(own) => (joining, rest),
                [rest, own] if is_own(own) => (joining, rest),
                _ => return None,
            }
        }
        // `x > top ? x : top`
        Expression::Choice(condition, one, other) if is_own(other) => match &**condition {
            Expression::Binary(left, operator, right) if left == one && is_own(right) => {
                match operator.as_str() {
                    ">" | ">=" => (Joining::Maximum, &**one),
                    "<" | "<=" => (Joining::Minimum, &**one),
                    _ => return None,
                }
            }
            _ => return None,
        },
        _ => return None,
    };
    (!rest.mentions_scalar(name)).then_some((joining, rest))
}

impl Step {
    /// Returns it with every expression changed.
    pub(crate) fn map(&self, change: &dyn Fn(&Expression) -> Expression) -> Self {
        let of = |it: &Affine| match change(&Expression::Index(it.clone())) {
            Expression::Index(affine) => affine,
            _ => it.clone(),
        };
        match self {
            Self::Let { kind, name, value } => Self::Let {
                kind: kind.clone(),
                name: name.clone(),
                value: value.as_ref().map(change),
            },
            Self::Assign { name, value } => Self::Assign {
                name: name.clone(),
                value: change(value),
            },
            Self::Store {
                array,
                index,
                value,
            } => Self::Store {
                array: array.clone(),
                index: change(index),
                value: change(value),
            },
            Self::Atomic {
                function,
                array,
                index,
                value,
            } => Self::Atomic {
                function: function.clone(),
                array: array.clone(),
                index: change(index),
                value: change(value),
            },
            Self::If {
                condition,
                then,
                otherwise,
            } => Self::If {
                condition: change(condition),
                then: mapped(then, change),
                otherwise: mapped(otherwise, change),
            },
            Self::Loop {
                variable,
                start,
                end,
                step,
                body,
            } => Self::Loop {
                variable: variable.clone(),
                start: of(start),
                end: of(end),
                step: *step,
                body: mapped(body, change),
            },
            Self::Barrier | Self::Tree { .. } => self.clone(),
        }
    }
}

/// Returns steps with every expression changed.
pub(crate) fn mapped(steps: &[Step], change: &dyn Fn(&Expression) -> Expression) -> Vec<Step> {
    steps.iter().map(|it| it.map(change)).collect()
}

/// Calls `see` with every step, the outer ones first.
pub(crate) fn walk<'s>(steps: &'s [Step], see: &mut dyn FnMut(&'s Step)) {
    for step in steps {
        see(step);
        match step {
            Step::If {
                then, otherwise, ..
            } => {
                walk(then, see);
                walk(otherwise, see);
            }
            Step::Loop { body, .. } => walk(body, see),
            _ => {}
        }
    }
}

/// Calls `see` with every expression of every step; bounds of loops are among them.
pub(crate) fn expressions(steps: &[Step], see: &mut dyn FnMut(&Expression)) {
    walk(steps, &mut |step| match step {
        Step::Let { value, .. } => value.iter().for_each(&mut *see),
        Step::Assign { value, .. } => see(value),
        Step::Store { index, value, .. } | Step::Atomic { index, value, .. } => {
            see(index);
            see(value);
        }
        Step::If { condition, .. } => see(condition),
        Step::Loop { start, end, .. } => {
            see(&Expression::Index(start.clone()));
            see(&Expression::Index(end.clone()));
        }
        Step::Barrier | Step::Tree { .. } => {}
    });
}

/// Returns whether any expression is so.
pub(crate) fn any(steps: &[Step], is: &dyn Fn(&Expression) -> bool) -> bool {
    let mut found = false;
    expressions(steps, &mut |it| found |= it.any(is));
    found
}
