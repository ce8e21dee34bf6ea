//! Innermost loops on vectors: element by element, sums and extremes with
//! several vectors of partial results, running sums.

mod gather;
mod lengths;
mod roles;
mod step;
mod weave;

use super::code::{Action, Element, Expression, Loop, Named, Statement};
use super::schedule::Wide;
use super::text::Text;
use super::translation::MOST_STRIDE;
use super::vectors::{Preamble, WIDTHS, computed_in, gnu, is_narrow};
use autocomp_c_loops::statement::Command;
use roles::{Role, gathered};
use std::collections::BTreeMap;

/// An innermost loop whose iterations can be done side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WideLoop {
    inner: Loop,
    roles: Vec<Role>,
    /// Types of what they give values to: `float`, `int32_t`, or narrower ones.
    kinds: Vec<String>,
}

impl WideLoop {
    /// Reads a loop as such a one.
    pub(super) fn read(inner: &Loop, names: &BTreeMap<String, Named>) -> Option<Self> {
        let v = &inner.variable;
        let mut actions = Vec::new();
        for statement in &inner.body {
            match statement {
                Statement::Command(action) => actions.push(action),
                _ => return None,
            }
        }
        let mut roles = Vec::new();
        let mut kinds: Vec<String> = Vec::new();
        for (idx, action) in actions.iter().enumerate() {
            let role = match action {
                Action::Declare {
                    name,
                    extents,
                    value: Some(value),
                    kind,
                } => {
                    kinds.push(kind.clone());
                    extents
                        .is_empty()
                        .then(|| Role::Local(name.clone(), value.clone()))?
                }
                Action::Declare { .. } => return None,
                Action::Assign {
                    target,
                    operator,
                    value,
                } => {
                    let named = names.get(&target.name)?;
                    kinds.push(named.kind.clone());
                    let is_local = roles
                        .iter()
                        .any(|role| matches!(role, Role::Local(name, _) if *name == target.name));
                    if is_local {
                        return None;
                    }
                    if target.mentions(v) {
                        match (target.stride(v, &named.extents)?, operator) {
                            (1, operator) => Role::Store(target.clone(), *operator, value.clone()),
                            (2..=MOST_STRIDE, None) => Role::Woven(target.clone(), value.clone()),
                            (0, _) | (_, Some(_)) => return None,
                            (_, None) => Role::Spread(target.clone(), value.clone()),
                        }
                    } else {
                        let used = actions.iter().enumerate().any(|(other, action)| {
                            other != idx && action.reads().contains(&target)
                        });
                        let role = gathered(target, *operator, value, used)?;
                        let early = actions[..idx].iter().any(|it| it.reads().contains(&target));
                        match role {
                            // What is read in front of the sum is that of the iteration before.
                            Role::Running(..) if early => return None,
                            role => role,
                        }
                    }
                }
            };
            roles.push(role);
        }
        let is_known = |(role, kind): (&Role, &String)| match role {
            Role::Local(..) | Role::Store(_, None, _) | Role::Woven(..) | Role::Spread(..) => {
                ["float", "int32_t"].contains(&kind.as_str()) || is_narrow(kind)
            }
            _ => ["float", "int32_t"].contains(&kind.as_str()),
        };
        let known = roles.iter().zip(&kinds).all(is_known);
        let result = Self {
            inner: inner.clone(),
            roles,
            kinds,
        };
        let some = !result.roles.is_empty();
        let fits = some && known && inner.step == 1;
        (fits && result.is_parallel(&actions) && result.is_woven_whole(names)).then_some(result)
    }

    /// Returns whether iterations meet nowhere but in what is gathered.
    fn is_parallel(&self, actions: &[&Action]) -> bool {
        let targets = actions.iter().filter_map(|action| match action {
            Action::Assign { target, .. } => Some(target),
            Action::Declare { .. } => None,
        });
        let targets: Vec<&Element> = targets.collect();
        let reads: Vec<&Element> = actions.iter().flat_map(|action| action.reads()).collect();
        targets.iter().enumerate().all(|(idx, target)| {
            let same = |other: &&&Element| other.name != target.name || *other == target;
            let is_woven = |it: &Element| {
                let mut roles = self.roles.iter();
                roles.any(|role| matches!(role, Role::Woven(target, _) if target == it))
            };
            let once = targets[..idx]
                .iter()
                .all(|other| other.name != target.name || is_woven(other) && is_woven(target));
            let apart = target.affine().is_some();
            reads.iter().all(|read| same(&read)) && once && apart
        })
    }

    /// Returns whether iterations that are done once more leave what they left before.
    pub(super) fn may_be_repeated(&self) -> bool {
        let reads: Vec<&Element> = self
            .roles
            .iter()
            .flat_map(|role| match role {
                Role::Local(_, value) | Role::Store(_, _, value) | Role::Woven(_, value) => {
                    value.reads()
                }
                _ => Vec::new(),
            })
            .collect();
        self.roles.iter().all(|role| match role {
            Role::Local(..) => true,
            Role::Store(target, None, _) | Role::Woven(target, _) => {
                reads.iter().all(|it| it.name != target.name)
            }
            _ => false,
        })
    }

    /// Returns how many iterations there are.
    pub(super) fn extent(&self) -> u32 {
        u32::try_from(self.inner.end - self.inner.start).unwrap_or(u32::MAX)
    }

    /// Returns whether each iteration waits for the one before.
    pub(super) fn is_chain(&self) -> bool {
        let gathers =
            |role: &Role| matches!(role, Role::Sum(..) | Role::Extreme(..) | Role::Running(..));
        self.roles.iter().any(gathers)
    }

    /// Returns whether elements are written that lie equally far apart, and no others between them.
    pub(super) fn is_spread(&self) -> bool {
        let is_one = |role: &Role| matches!(role, Role::Spread(..));
        self.roles.iter().any(is_one)
    }

    /// Returns how many running sums there are.
    pub(super) fn running(&self) -> f64 {
        let is_running = |role: &&Role| matches!(role, Role::Running(..));
        self.roles.iter().filter(is_running).count() as f64
    }

    /// Returns roughly how many operations an iteration has.
    pub(super) fn operations(&self) -> f64 {
        let each = self.roles.iter().map(Role::value);
        each.map(|value| 1.0 + operations(value)).sum()
    }

    /// Writes the loop; nothing if that is not possible.
    pub(super) fn write(
        &self,
        schedule: &Wide,
        names: &BTreeMap<String, Named>,
        preamble: &mut Preamble,
        text: &mut Text,
    ) -> Option<()> {
        let Wide { lanes, count, .. } = *schedule;
        if schedule.halves && !self.fits_halves(names) {
            return None;
        }
        let fits = lanes.is_power_of_two()
            && WIDTHS.contains(&lanes)
            && (1..=8).contains(&count)
            && lanes * count <= self.extent();
        if !fits {
            return None;
        }
        let (v, start, end) = (&self.inner.variable, self.inner.start, self.inner.end);
        text.open("");
        for (idx, role) in self.roles.iter().enumerate() {
            let vector = match role {
                Role::Sum(..) | Role::Extreme(..) | Role::Running(..) => {
                    preamble.vector(lanes, computed_in(&self.kinds[idx]))
                }
                _ => continue,
            };
            match role {
                Role::Sum(..) => {
                    let sums: Vec<String> = (0..count)
                        .map(|copy| format!("s{idx}_{copy} = {{0}}"))
                        .collect();
                    text.line(&format!("{vector} {};", sums.join(", ")));
                }
                Role::Extreme(target, ..) => {
                    let first = target.to_c();
                    let first = gnu::splat(&vector, &first);
                    let sums: Vec<String> = (0..count)
                        .map(|copy| format!("s{idx}_{copy} = {first}"))
                        .collect();
                    text.line(&format!("{vector} {};", sums.join(", ")));
                }
                Role::Running(target, _) => {
                    let first = gnu::splat(&vector, &target.to_c());
                    text.line(&format!("{vector} carry{idx} = {first};"));
                }
                _ => {}
            }
        }
        let stretch = i64::from(lanes * count);
        let whole = start + (end - start) / stretch * stretch;
        text.open(&format!(
            "for (int {v} = {start}; {v} < {whole}; {v} += {stretch})"
        ));
        for copy in 0..count {
            self.step(schedule, names, preamble, text, copy)?;
        }
        text.close();
        let vectors = start + (end - start) / i64::from(lanes) * i64::from(lanes);
        if whole < vectors {
            text.open(&format!(
                "for (int {v} = {whole}; {v} < {vectors}; {v} += {lanes})"
            ));
            self.step(schedule, names, preamble, text, 0)?;
            text.close();
        }
        for (idx, role) in self.roles.iter().enumerate() {
            self.gather(idx, role, schedule, preamble, text)?;
        }
        if vectors < end && self.may_be_repeated() {
            // The last vector does some elements once more.
            text.open("");
            text.line(&format!("const int {v} = {};", end - i64::from(lanes)));
            self.step(schedule, names, preamble, text, 0)?;
            text.close();
        } else if vectors < end
            && let Some(lanes) = narrower(lanes, end - vectors)
        {
            // Narrower vectors do what is left, once.
            let rest = Self {
                inner: Loop {
                    start: vectors,
                    ..self.inner.clone()
                },
                ..self.clone()
            };
            let schedule = Wide {
                lanes,
                count: 1,
                ..schedule.clone()
            };
            rest.write(&schedule, names, preamble, text)?;
        } else if vectors < end {
            text.open(&format!("for (int {v} = {vectors}; {v} < {end}; {v}++)"));
            for statement in &self.inner.body {
                if let Statement::Command(action) = statement {
                    text.line(&format!("{};", action.to_c()));
                }
            }
            text.close();
        }
        text.close();
        Some(())
    }

    /// Returns whether all values are whole numbers that stay within 16 bits.
    pub(super) fn fits_halves(&self, names: &BTreeMap<String, Named>) -> bool {
        let schedule = Wide {
            lanes: 16,
            count: 1,
            reciprocals: false,
            strided: false,
            halves: true,
        };
        let (mut preamble, mut text) = (Preamble::default(), Text::default());
        self.step_in_halves(&schedule, names, &mut preamble, &mut text, 0)
            .is_some()
    }

    /// Returns whether numbers are divided by what is no constant.
    pub(super) fn has_quotients(&self) -> bool {
        0.0 < self.quotients()
    }

    /// Returns how many divisions by what is no constant an iteration has.
    pub(super) fn quotients(&self) -> f64 {
        let of = |role: &Role| {
            let own = match role {
                Role::Store(_, Some('/'), value) => !matches!(value, Expression::Number(_)),
                _ => false,
            };
            f64::from(u8::from(own)) + quotients(role.value())
        };
        self.roles.iter().map(of).sum()
    }

    /// Returns whether an iteration divides by an element of one of these arrays, or by a product
    /// with one.
    pub(super) fn divides_by(&self, arrays: &[String]) -> bool {
        self.roles.iter().any(|role| {
            let own = match role {
                Role::Store(_, Some('/'), value) => is_factor(value, arrays),
                _ => false,
            };
            own || divides_by(role.value(), arrays)
        })
    }

    /// Returns how many elements of an iteration, read and written, do not lie beside those of the
    /// one before.
    pub(super) fn elements_apart(&self, names: &BTreeMap<String, Named>) -> (f64, f64) {
        let v = &self.inner.variable;
        let apart = |element: &&Element| {
            let extents = names.get(&element.name).map_or(&[][..], |it| &it.extents);
            let stride = element.stride(v, extents);
            element.mentions(v) && stride.is_none_or(|it| !(0..=1).contains(&it))
        };
        let reads = self.roles.iter().flat_map(|it| it.value().reads());
        let is_woven = |it: &&Role| matches!(it, Role::Woven(..) | Role::Spread(..));
        let written = self.roles.iter().filter(is_woven).count();
        (reads.filter(apart).count() as f64, written as f64)
    }

    /// Returns whether elements are read that lie equally far apart, and not side by side.
    pub(super) fn has_strides(&self, names: &BTreeMap<String, Named>) -> bool {
        let apart = |element: &&Element| {
            let extents = names.get(&element.name).map_or(&[][..], |it| &it.extents);
            let stride = element.stride(&self.inner.variable, extents);
            stride.is_some_and(|it| !(0..=1).contains(&it))
        };
        let mut values = self.roles.iter().map(Role::value);
        values.any(|value| value.reads().iter().any(apart))
    }
}

/// Returns the most lanes, fewer than `lanes`, of a vector that so many iterations fill.
fn narrower(lanes: u32, iterations: i64) -> Option<u32> {
    let widths = std::iter::successors(Some(lanes / 2), |lanes| Some(lanes / 2));
    widths
        .take_while(|lanes| WIDTHS.contains(lanes))
        .find(|lanes| i64::from(*lanes) <= iterations)
}

/// Returns how many divisions by what is no constant an expression has.
fn quotients(expression: &Expression) -> f64 {
    let all = |each: &[&Expression]| each.iter().map(|it| quotients(it)).sum();
    match expression {
        Expression::Number(_) | Expression::Index(_) | Expression::Element(_) => 0.0,
        Expression::Negative(inner) | Expression::Cast(_, inner) => quotients(inner),
        Expression::Binary(left, operator, right) => {
            let is_constant = matches!(**right, Expression::Number(_));
            let own = operator == "/" && !is_constant;
            f64::from(u8::from(own)) + all(&[left, right])
        }
        Expression::Choice(condition, one, other) => all(&[condition, one, other]),
        Expression::Call(_, arguments) => arguments.iter().map(quotients).sum(),
    }
}

/// Returns whether something is divided by an element of one of the arrays, or by a product with
/// one.
fn divides_by(expression: &Expression, arrays: &[String]) -> bool {
    let any = |each: &[&Expression]| each.iter().any(|it| divides_by(it, arrays));
    match expression {
        Expression::Number(_) | Expression::Index(_) | Expression::Element(_) => false,
        Expression::Negative(inner) | Expression::Cast(_, inner) => divides_by(inner, arrays),
        Expression::Binary(left, operator, right) => {
            operator == "/" && is_factor(right, arrays) || any(&[left, right])
        }
        Expression::Choice(condition, one, other) => any(&[condition, one, other]),
        Expression::Call(_, arguments) => arguments.iter().any(|it| divides_by(it, arrays)),
    }
}

/// Returns whether an expression is zero or infinite where an element of one of the arrays is.
fn is_factor(expression: &Expression, arrays: &[String]) -> bool {
    match expression {
        Expression::Element(element) => arrays.contains(&element.name),
        Expression::Negative(inner) | Expression::Cast(_, inner) => is_factor(inner, arrays),
        Expression::Binary(left, operator, right) if operator == "*" => {
            is_factor(left, arrays) || is_factor(right, arrays)
        }
        Expression::Call(name, arguments) if ["sqrtf", "fabsf"].contains(&name.as_str()) => {
            arguments.iter().any(|it| is_factor(it, arrays))
        }
        _ => false,
    }
}

/// Returns whether the greatest or the least of something is assigned, and of what beside the
/// target.
pub(super) fn extreme(target: &Element, value: &Expression) -> Option<(bool, Expression)> {
    match gathered(target, None, value, false)? {
        Role::Extreme(_, greatest, other) => Some((greatest, other)),
        _ => None,
    }
}

/// Returns whether an action adds something up or finds an extreme.
pub(super) fn is_gathered(action: &Action) -> bool {
    match action {
        Action::Assign {
            target,
            operator,
            value,
        } => gathered(target, *operator, value, false).is_some(),
        Action::Declare { .. } => false,
    }
}

/// Returns roughly how many operations an expression has.
pub(super) fn operations(expression: &Expression) -> f64 {
    match expression {
        Expression::Number(_) | Expression::Index(_) => 0.0,
        Expression::Element(_) => 1.0,
        Expression::Negative(inner) | Expression::Cast(_, inner) => operations(inner),
        Expression::Binary(left, operator, right) => {
            let own = if operator == "/" { 12.0 } else { 1.0 };
            own + operations(left) + operations(right)
        }
        Expression::Choice(condition, one, other) => [condition, one, other]
            .iter()
            .map(|it| operations(it))
            .sum(),
        Expression::Call(name, arguments) => {
            let own = if ["sqrtf", "fabsf", "fmaxf", "fminf"].contains(&name.as_str()) {
                2.0
            } else {
                25.0
            };
            own + arguments.iter().map(operations).sum::<f64>()
        }
    }
}
