//! What a kernel costs whose vectors are written by hand, as far as its plain form says: each
//! number is computed in its own width, along the loop that suits it best.

use super::PER_CYCLE;
use crate::code::{Action, Element, Expression, Index, Named, Statement};
use crate::propose::Resources;
use crate::vectors::bytes_of;
use std::collections::BTreeMap;

/// Cost of an element that does not lie beside the one before.
pub(crate) const APART: f64 = 1.0;
/// Cost of one that lies a few places further, as in fields that are loaded at once.
const FIELD: f64 = 0.5;
/// The most fields.
const MOST_FIELDS: i64 = 8;
/// Operations that a function counts as.
const FUNCTION: f64 = 25.0;
/// Operations that a division counts as.
const DIVISION: f64 = 12.0;

/// Returns the estimated cost of statements, in the measure of the others.
pub(crate) fn cost(
    statements: &[Statement],
    names: &BTreeMap<String, Named>,
    resources: &Resources,
) -> f64 {
    let mut costs = Costs {
        names,
        per_cycle: PER_CYCLE * f64::from(resources.lanes),
        loops: Vec::new(),
        widths: BTreeMap::new(),
    };
    costs.all(statements)
}

/// Width of a number in words of 32 bits, and operations on words that it takes.
type Work = (f64, f64);

struct Costs<'p> {
    names: &'p BTreeMap<String, Named>,
    /// Operations on words of 32 bits in a cycle.
    per_cycle: f64,
    loops: Vec<String>,
    /// Widths of what variables are given, which their types may hold with room to spare.
    widths: BTreeMap<String, f64>,
}

fn width_of(kind: &str) -> f64 {
    f64::from(bytes_of(kind)) / 4.0
}

impl Costs<'_> {
    fn all(&mut self, statements: &[Statement]) -> f64 {
        let mut all = 0.0;
        for statement in statements {
            all += match statement {
                Statement::Loop(inner) => {
                    self.loops.push(inner.variable.clone());
                    let once = self.all(&inner.body);
                    self.loops.pop();
                    inner.trips() as f64 * once
                }
                Statement::Command(action) => self.action(action),
                _ => 0.0,
            };
        }
        all
    }

    fn action(&mut self, action: &Action) -> f64 {
        if let Action::Declare {
            name,
            kind,
            value: Some(value),
            ..
        } = action
        {
            let found = self.value(value, "").0;
            let width = match kind.as_str() {
                "int32_t" => found,
                kind => width_of(kind),
            };
            self.widths.insert(name.clone(), width);
        }
        let along = self.loops.iter().map(|along| self.along(action, along));
        let least = along.reduce(f64::min).unwrap_or(0.0);
        least / self.per_cycle
    }

    /// Returns the operations of an action on vectors along a loop.
    fn along(&self, action: &Action, along: &str) -> f64 {
        match action {
            Action::Declare {
                name,
                value: Some(value),
                ..
            } => {
                let width = self.widths.get(name).copied().unwrap_or(1.0);
                self.kept(value, width, along).1
            }
            Action::Declare { .. } => 0.0,
            Action::Assign {
                target,
                operator,
                value,
            } => {
                let width = self.width(target);
                let own = match operator {
                    Some(_) => width,
                    None => 0.0,
                };
                self.kept(value, width, along).1 + own + self.access(target, along)
            }
        }
    }

    fn width(&self, element: &Element) -> f64 {
        let of_type = || {
            let named = self.names.get(&element.name);
            named.map_or(1.0, |it| width_of(&it.kind))
        };
        let known = self.widths.get(&element.name).copied();
        known.unwrap_or_else(of_type)
    }

    /// Returns the operations of a load or a store.
    fn access(&self, element: &Element, along: &str) -> f64 {
        if !element.mentions(along) {
            return 0.0;
        }
        let extents = self
            .names
            .get(&element.name)
            .map_or(&[][..], |it| &it.extents);
        match element.stride(along, extents) {
            Some(0) => 0.0,
            Some(1) => self.width(element),
            Some(2..=MOST_FIELDS) => FIELD * self.per_cycle,
            _ => APART * self.per_cycle,
        }
    }

    /// Returns the work of a value that is kept in so many words: what is cut to less is
    /// computed in less.
    fn kept(&self, value: &Expression, width: f64, along: &str) -> Work {
        let (own, work) = self.value(value, along);
        match value {
            Expression::Binary(..) if width < own => (width, work - own + width),
            _ => (width, work),
        }
    }

    fn value(&self, value: &Expression, along: &str) -> Work {
        let all = |each: &[&Expression]| {
            let each = each.iter().map(|it| self.value(it, along));
            each.fold((0.0_f64, 0.0), |sum, it| (sum.0.max(it.0), sum.1 + it.1))
        };
        match value {
            Expression::Number(_) | Expression::Index(_) => (0.25, 0.0),
            Expression::Element(element) => {
                let mut work = self.access(element, along);
                for index in &element.indices {
                    if let Index::Value(index) = index {
                        work += self.value(index, along).1;
                    }
                }
                (self.width(element), work)
            }
            Expression::Negative(inner) => {
                let (width, work) = self.value(inner, along);
                (width, work + width)
            }
            Expression::Cast(kind, inner) => self.kept(inner, width_of(kind), along),
            Expression::Binary(left, operator, right) => {
                let (width, work) = all(&[left, right]);
                let operations = if operator == "/" { DIVISION } else { 1.0 };
                // Sums and products that are not cut have more bits than what they are made of.
                let width = match operator.as_str() {
                    "+" | "-" | "*" => (2.0 * width).min(1.0),
                    _ => width,
                };
                (width, work + operations * width)
            }
            Expression::Choice(condition, one, other) => {
                let (width, work) = all(&[one, other]);
                (width, work + width + self.value(condition, along).1)
            }
            Expression::Call(_, arguments) => {
                let arguments: Vec<&Expression> = arguments.iter().collect();
                (1.0, all(&arguments).1 + FUNCTION)
            }
        }
    }
}
