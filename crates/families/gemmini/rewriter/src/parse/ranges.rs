//! What the ranges of loop variables decide.

use super::Reader;
use super::scope::{Obstacle, Range};
use crate::affine::{Affine, Atom};
use crate::condition::{Condition, Relation};
use crate::value::Value;

/// The most values of a variable that are tried.
const VALUE_LIMIT: i64 = 1 << 14;

impl Reader<'_> {
    fn range(&self, name: &str) -> Option<&Range> {
        self.ranges
            .iter()
            .rev()
            .find(|range| range.variable == name)
    }

    /// Returns the least and the greatest value of an expression; `None` if unknown.
    pub(super) fn bounds(&self, expression: &Affine) -> Option<(i64, i64)> {
        let constant = expression.constant_part();
        let (mut least, mut greatest) = (constant, constant);
        for (atom, coefficient) in expression.terms() {
            let (low, high) = match atom {
                Atom::Variable(name) => {
                    let range = self.range(name)?;
                    (range.first, range.last)
                }
                Atom::Quotient(inner, divisor) => {
                    let (low, high) = self.bounds(inner)?;
                    (low.div_euclid(*divisor), high.div_euclid(*divisor))
                }
                Atom::Remainder(inner, divisor) => {
                    let (low, high) = self.bounds(inner)?;
                    match low.div_euclid(*divisor) == high.div_euclid(*divisor) {
                        true => (low.rem_euclid(*divisor), high.rem_euclid(*divisor)),
                        false => (0, divisor - 1),
                    }
                }
            };
            let ends = [
                low.checked_mul(coefficient)?,
                high.checked_mul(coefficient)?,
            ];
            least = least.checked_add(ends[0].min(ends[1]))?;
            greatest = greatest.checked_add(ends[0].max(ends[1]))?;
        }
        Some((least, greatest))
    }

    /// Returns the condition without the parts that the ranges decide.
    pub(super) fn folded(&self, condition: Condition) -> Condition {
        match condition {
            Condition::Compare(expression, relation) => {
                let expression = self.simple(&expression).unwrap_or(expression);
                let decided = self.bounds(&expression).and_then(|(least, greatest)| {
                    let never_zero = 0 < least || greatest < 0;
                    match relation {
                        Relation::Zero if never_zero => Some(false),
                        Relation::NonZero if never_zero => Some(true),
                        Relation::Negative | Relation::NonNegative
                            if relation.holds(least) == relation.holds(greatest) =>
                        {
                            Some(relation.holds(least))
                        }
                        _ => None,
                    }
                });
                match decided {
                    Some(holds) => Condition::Constant(holds),
                    None => Condition::compare(expression, relation),
                }
            }
            Condition::All(parts) => {
                Condition::all(parts.into_iter().map(|part| self.folded(part)))
            }
            Condition::Any(parts) => {
                Condition::any(parts.into_iter().map(|part| self.folded(part)))
            }
            constant @ Condition::Constant(_) => constant,
        }
    }

    /// Returns the value without the choices that the ranges decide.
    pub(super) fn settled(&self, value: Value) -> Value {
        match value {
            Value::Select(_, then, otherwise) if then == otherwise => Value::Plain(then),
            Value::Select(condition, then, otherwise) => match self.folded(condition) {
                Condition::Constant(true) => Value::Plain(then),
                Condition::Constant(false) => Value::Plain(otherwise),
                condition => Value::Select(condition, then, otherwise),
            },
            Value::Plain(affine) => Value::Plain(self.simple(&affine).unwrap_or(affine)),
        }
    }

    /// Returns the expression without the quotients and remainders that the
    /// ranges decide.
    pub(super) fn simple(&self, expression: &Affine) -> Option<Affine> {
        let mut sum = Affine::constant(expression.constant_part());
        for (atom, coefficient) in expression.terms() {
            let (inner, divisor, quotient) = match atom {
                Atom::Variable(_) => {
                    sum.push(atom.clone(), coefficient);
                    continue;
                }
                Atom::Quotient(inner, divisor) => (inner, *divisor, true),
                Atom::Remainder(inner, divisor) => (inner, *divisor, false),
            };
            let inner = self.simple(inner)?;
            // Multiples of the divisor, and a rest that is below it.
            let constant = inner.constant_part();
            let mut whole = Affine::constant(constant.div_euclid(divisor));
            let mut rest = Affine::constant(constant.rem_euclid(divisor));
            for (atom, coefficient) in inner.terms() {
                match coefficient % divisor {
                    0 => whole.push(atom.clone(), coefficient / divisor),
                    _ => rest.push(atom.clone(), coefficient),
                }
            }
            let below = self
                .bounds(&rest)
                .is_some_and(|(least, greatest)| 0 <= least && greatest < divisor);
            let value = match (below, quotient) {
                (true, true) => whole,
                (true, false) => rest,
                (false, true) => inner.divided_by(divisor)?,
                (false, false) => inner.remainder_by(divisor)?,
            };
            sum = sum.plus(&value.times(coefficient)?)?;
        }
        Some(sum)
    }

    /// Returns where a loop must be split so that `condition` is decided in each part.
    pub(crate) fn split_on(&self, condition: &Condition) -> Option<Obstacle> {
        match condition {
            Condition::Constant(_) => None,
            Condition::Compare(expression, relation) => {
                self.change_of(expression, |value| i64::from(relation.holds(value)))
            }
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().find_map(|part| self.split_on(part))
            }
        }
    }

    /// Returns where the loop must be split, if `expression` has only one
    /// variable, so that `what` is made of it is the same all over a part.
    pub(super) fn change_of(
        &self,
        expression: &Affine,
        what: impl Fn(i64) -> i64,
    ) -> Option<Obstacle> {
        if self.trial {
            return None;
        }
        let mut names = Vec::new();
        expression.collect_variables(&mut names);
        let [name] = names.as_slice() else {
            return None;
        };
        let range = self.range(name)?;
        if VALUE_LIMIT < (range.last - range.first) / range.step {
            return None;
        }
        let at = |value: i64| {
            expression
                .evaluate(&|other| (other == name).then_some(value))
                .map(&what)
        };
        let first = at(range.first)?;
        let mut value = range.first;
        while value <= range.last {
            if at(value)? != first {
                return Some(Obstacle::Split {
                    variable: name.clone(),
                    at: value,
                    each: false,
                });
            }
            value += range.step;
        }
        None
    }

    /// Returns the value of an expression of one variable, if it is the same
    /// wherever `condition` holds.
    pub(crate) fn constant_where(&self, expression: &Affine, condition: &Condition) -> Option<i64> {
        if let Some(value) = expression.as_constant() {
            return Some(value);
        }
        let mut names = Vec::new();
        expression.collect_variables(&mut names);
        condition.collect_variables(&mut names);
        let [name] = names.as_slice() else {
            return None;
        };
        let mut found = None;
        for value in self.values_of(name)? {
            let value_of = |other: &str| (other == name).then_some(value);
            if condition.evaluate(&value_of)? {
                let here = expression.evaluate(&value_of)?;
                if found.is_some_and(|found| found != here) {
                    return None;
                }
                found = Some(here);
            }
        }
        found
    }

    /// Returns the values that a loop variable takes; `None` if they are too many.
    pub(super) fn values_of(&self, name: &str) -> Option<Vec<i64>> {
        let range = self.range(name)?;
        if VALUE_LIMIT < (range.last - range.first) / range.step {
            return None;
        }
        let values =
            (0..=(range.last - range.first) / range.step).map(|idx| range.first + idx * range.step);
        Some(values.collect())
    }

    /// Asks for every iteration of the innermost loop in `expression` to be read by itself.
    pub(super) fn each_of(&self, expression: &Affine) -> Option<Obstacle> {
        if self.trial {
            return None;
        }
        let mut names = Vec::new();
        expression.collect_variables(&mut names);
        let range = self
            .ranges
            .iter()
            .rev()
            .find(|range| names.contains(&range.variable))?;
        Some(Obstacle::Split {
            variable: range.variable.clone(),
            at: range.first + range.step,
            each: true,
        })
    }
}
