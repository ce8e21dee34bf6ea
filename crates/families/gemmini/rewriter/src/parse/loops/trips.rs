//! How often loops run.

use super::super::Reader;
use super::super::scope::{Binding, Obstacle, Read};
use super::course::{Changing, Course, Index};
use super::{COUNT, Header};
use crate::affine::{Affine, Atom};
use crate::condition::{Condition, Relation};
use tree_sitter::Node;

/// The most iterations by which a loop may run fewer times than at most.
const RAGGED_LIMIT: i64 = 1 << 10;

impl<'tree> Reader<'tree> {
    /// Returns the condition in terms of the number of the iteration.
    pub(super) fn condition_at(
        &mut self,
        header: &Header<'tree>,
        changing: &[Changing],
    ) -> Read<Condition> {
        let mut count = Affine::variable(COUNT);
        if header.tests_last
            && let Some(next) = count.plus_constant(1)
        {
            count = next;
        }
        let index = Index::plain(count);
        for variable in changing {
            let binding = match (&variable.course, header.tests_last) {
                // Tested behind the body, so it is what this iteration made of it.
                (Course::Late(after), true) => {
                    let this = Index::plain(Affine::variable(COUNT));
                    self.in_iteration(after, changing, &this)
                }
                (Course::Late(_), false) => Binding::Unknown(format!(
                    "`{}` changes inside the loop in a way that is not understood",
                    variable.before.name
                )),
                _ => self.at_start(variable, changing, &index),
            };
            self.scope[variable.place].binding = binding;
        }
        let condition = self.condition(header.condition);
        for variable in changing {
            self.scope[variable.place] = variable.before.clone();
        }
        condition
    }

    /// Returns in how many iterations in a row `condition` holds, at most, and
    /// whether it may be fewer.
    pub(super) fn trips(&self, node: Node<'_>, condition: &Condition) -> Read<(i64, bool)> {
        let mut names = Vec::new();
        condition.collect_variables(&mut names);
        names.retain(|name| name != COUNT);
        let unclear = |name: &str| match name.starts_with('#') {
            true => "the bound of this loop changes inside it".to_owned(),
            false => format!("how often this loop runs depends on `{name}`"),
        };
        match names.as_slice() {
            [] => match holding_all(condition) {
                Holds::For(trips) => Ok((trips, false)),
                Holds::Always => self.unread(node, "this loop never ends"),
                Holds::Unclear => self.unread(node, "the end of this loop is not understood"),
            },
            [name] => match self.trips_over(condition, name) {
                Some(found) => Ok(found),
                None => match self.split_on_others(condition) {
                    Some(split) => Err(split),
                    None => self.unread(node, unclear(name)),
                },
            },
            [name, ..] => match self.split_on_others(condition) {
                Some(split) => Err(split),
                None => self.unread(node, unclear(name)),
            },
        }
    }

    /// Returns the most iterations over all values of a variable, and whether
    /// some have fewer.
    fn trips_over(&self, condition: &Condition, name: &str) -> Option<(i64, bool)> {
        let mut counts = Vec::new();
        for value in self.values_of(name)? {
            let here = condition.substitute(name, &Affine::constant(value))?;
            let Holds::For(trips) = holding_all(&here) else {
                return None;
            };
            counts.push((here, trips));
        }
        let most = counts.iter().map(|(_, trips)| *trips).max()?;
        let fewest = counts.iter().map(|(_, trips)| *trips).min()?;
        if most == fewest {
            return Some((most, false));
        }
        // A test in every iteration must not come true again.
        for (here, trips) in &counts {
            if RAGGED_LIMIT < most - trips {
                return None;
            }
            for count in *trips..most {
                if here.evaluate(&|_| Some(count))? {
                    return None;
                }
            }
        }
        Some((most, true))
    }

    /// Returns where loops around must be split for the parts of a condition
    /// that do not change over the iterations.
    fn split_on_others(&self, condition: &Condition) -> Option<Obstacle> {
        match condition {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().find_map(|part| self.split_on_others(part))
            }
            part if part.mentions(COUNT) => None,
            part => self.split_on(part),
        }
    }
}

/// For how many iterations from the first on a condition holds.
enum Holds {
    For(i64),
    Always,
    Unclear,
}

/// Returns for how long a condition over the number of the iteration holds.
fn holding_all(condition: &Condition) -> Holds {
    match condition {
        Condition::Constant(false) => Holds::For(0),
        Condition::Constant(true) => Holds::Always,
        Condition::All(parts) => {
            let mut least = Holds::Always;
            for part in parts {
                least = match (least, holding_all(part)) {
                    (_, Holds::Unclear) | (Holds::Unclear, _) => return Holds::Unclear,
                    (Holds::For(one), Holds::For(two)) => Holds::For(one.min(two)),
                    (Holds::For(one), Holds::Always) | (Holds::Always, Holds::For(one)) => {
                        Holds::For(one)
                    }
                    (Holds::Always, Holds::Always) => Holds::Always,
                };
            }
            least
        }
        Condition::Any(_) => Holds::Unclear,
        Condition::Compare(expression, relation) => {
            let mut terms = expression.terms();
            let slope = match (terms.next(), terms.next()) {
                (Some((Atom::Variable(name), slope)), None) if name == COUNT => slope,
                _ => return Holds::Unclear,
            };
            match holding(slope, expression.constant_part(), *relation) {
                Some(trips) => Holds::For(trips),
                None => Holds::Always,
            }
        }
    }
}

/// Returns for how many whole numbers from 0 on `slope * n + offset relation 0`
/// holds; `None` if for all.
fn holding(slope: i64, offset: i64, relation: Relation) -> Option<i64> {
    if !relation.holds(offset) {
        return Some(0);
    }
    match relation {
        Relation::Negative if 0 < slope => {
            // slope * n < -offset
            let distance = offset.checked_neg()?;
            Some(distance / slope + i64::from(distance % slope != 0))
        }
        Relation::NonNegative if slope < 0 => Some(offset / slope.checked_neg()? + 1),
        Relation::NonZero if slope != 0 => {
            let exact = offset % slope == 0 && 0 < -(offset / slope);
            exact.then(|| -(offset / slope))
        }
        Relation::Zero if slope != 0 => Some(1),
        _ => None,
    }
}
