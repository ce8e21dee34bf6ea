//! Where conditions in a loop's body change their values.

use super::super::code::{Action, Expression, Index, Statement};
use super::super::shape::range;
use super::numbers::{condition, is_comparison, operands};
use super::{Cutter, MOST_OPERANDS};
use autocomp_c_loops::affine::{Affine, Atom};
use autocomp_c_loops::condition::{Condition, Relation};
use std::collections::BTreeSet;

impl Cutter {
    /// Gathers where conditions in a loop's body change their values.
    pub(super) fn cuts(&mut self, body: &[Statement], variable: &str, cuts: &mut BTreeSet<i64>) {
        let outside = self.known.clone();
        for statement in body {
            match statement {
                Statement::Loop(inner) => {
                    let before = self.ranges.get(&inner.variable).copied();
                    let last = inner.start + (inner.trips() - 1) * inner.step;
                    self.ranges
                        .insert(inner.variable.clone(), (inner.start, last));
                    self.cuts(&inner.body, variable, cuts);
                    match before {
                        Some(before) => self.ranges.insert(inner.variable.clone(), before),
                        None => self.ranges.remove(&inner.variable),
                    };
                }
                Statement::Guard(guard) => {
                    self.cuts_of_condition(&guard.condition, variable, cuts);
                    self.cuts(&guard.then, variable, cuts);
                    self.cuts(&guard.otherwise, variable, cuts);
                }
                Statement::Command(action) => {
                    let (target, value) = match action {
                        Action::Declare { value, .. } => (None, value.as_ref()),
                        Action::Assign { target, value, .. } => (Some(target), Some(value)),
                    };
                    if let Some(value) = value
                        && self.at_choices
                    {
                        self.cuts_of_choices(&self.in_full(value), variable, cuts);
                    }
                    let reads = value.map_or(Vec::new(), Expression::reads).into_iter();
                    for element in reads.chain(target) {
                        for index in &element.indices {
                            if let Index::Value(value) = index {
                                let value = self.in_full(value);
                                self.cuts_of_value(&value, variable, cuts);
                            }
                        }
                    }
                    if let Action::Declare {
                        kind,
                        name,
                        extents,
                        value: Some(value),
                    } = action
                        && kind == "int32_t"
                        && extents.is_empty()
                        && !self.assigned.contains(name)
                    {
                        let full = self.in_full(value);
                        if operands(&full) < MOST_OPERANDS {
                            self.known.insert(name.clone(), full);
                        }
                    }
                }
                _ => {}
            }
        }
        self.known = outside;
    }

    /// Gathers where the conditions of choices change their values.
    fn cuts_of_choices(&self, value: &Expression, variable: &str, cuts: &mut BTreeSet<i64>) {
        let mut each = |it: &Expression| self.cuts_of_choices(it, variable, cuts);
        match value {
            Expression::Number(_) | Expression::Index(_) | Expression::Element(_) => {}
            Expression::Negative(inner) | Expression::Cast(_, inner) => each(inner),
            Expression::Binary(left, _, right) => {
                each(left);
                each(right);
            }
            Expression::Call(_, arguments) => arguments.iter().for_each(each),
            Expression::Choice(asked, one, other) => {
                each(one);
                each(other);
                if let Some(asked) = condition(asked) {
                    self.cuts_of_condition(&asked, variable, cuts);
                }
            }
        }
    }

    fn cuts_of_condition(&self, condition: &Condition, variable: &str, cuts: &mut BTreeSet<i64>) {
        match condition {
            Condition::Constant(_) => {}
            Condition::Compare(difference, relation) => {
                self.cuts_of_sign(difference, variable, cuts);
                if matches!(relation, Relation::Zero | Relation::NonZero)
                    && let Some(above) = difference.plus_constant(-1)
                {
                    self.cuts_of_sign(&above, variable, cuts);
                }
            }
            Condition::All(parts) | Condition::Any(parts) => {
                for part in parts {
                    self.cuts_of_condition(part, variable, cuts);
                }
            }
        }
    }

    /// Gathers where it is decided whether a sum is below zero.
    fn cuts_of_sign(&self, sum: &Affine, variable: &str, cuts: &mut BTreeSet<i64>) {
        let plain = |atom: &Atom| matches!(atom, Atom::Variable(name) if name == variable);
        let Some((_, factor)) = sum.terms().find(|(atom, _)| plain(atom)) else {
            return;
        };
        let own = Affine::variable(variable).times(factor);
        let rest = own.and_then(|own| sum.minus(&own));
        let Some(rest) = rest.filter(|it| !it.mentions(variable)) else {
            return;
        };
        let Some((least, most)) = range(&rest, &self.ranges) else {
            return;
        };
        // `factor * v + rest < 0` for all that the rest can be, and for none.
        for bound in [-least, -most] {
            cuts.insert(match 0 < factor {
                // The first value with `factor * v >= bound`.
                true => bound.div_euclid(factor) + i64::from(bound.rem_euclid(factor) != 0),
                // The first value with `factor * v < bound`.
                false => (-bound).div_euclid(-factor) + 1,
            });
        }
    }

    /// Gathers where what a value is made of changes.
    fn cuts_of_value(&self, value: &Expression, variable: &str, cuts: &mut BTreeSet<i64>) {
        match value {
            Expression::Number(_) | Expression::Index(_) | Expression::Element(_) => {}
            Expression::Negative(inner) | Expression::Cast(_, inner) => {
                self.cuts_of_value(inner, variable, cuts);
            }
            Expression::Binary(left, _, right) => {
                self.cuts_of_value(left, variable, cuts);
                self.cuts_of_value(right, variable, cuts);
            }
            Expression::Call(_, arguments) => {
                for argument in arguments {
                    self.cuts_of_value(argument, variable, cuts);
                }
            }
            Expression::Choice(condition, one, other) => {
                self.cuts_of_comparisons(condition, variable, cuts);
                self.cuts_of_value(one, variable, cuts);
                self.cuts_of_value(other, variable, cuts);
            }
        }
    }

    fn cuts_of_comparisons(
        &self,
        expression: &Expression,
        variable: &str,
        cuts: &mut BTreeSet<i64>,
    ) {
        let Expression::Binary(left, operator, right) = expression else {
            return;
        };
        if !is_comparison(operator) {
            self.cuts_of_comparisons(left, variable, cuts);
            self.cuts_of_comparisons(right, variable, cuts);
            return;
        }
        self.cuts_of_value(left, variable, cuts);
        self.cuts_of_value(right, variable, cuts);
        // Each of the values that both sides may have.
        for left in values(left) {
            for right in values(right) {
                let compared = Expression::Binary(
                    Box::new(left.clone()),
                    operator.clone(),
                    Box::new(right.clone()),
                );
                if let Some(condition) = condition(&compared) {
                    self.cuts_of_condition(&condition, variable, cuts);
                }
            }
        }
    }
}

/// Returns the values that a choice between values may have.
fn values(value: &Expression) -> Vec<&Expression> {
    match value {
        Expression::Choice(_, one, other) => [values(one), values(other)].concat(),
        other => vec![other],
    }
}
