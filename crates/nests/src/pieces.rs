//! Loops are cut where a condition on their variables changes its value: what is done at the
//! borders of an array gets loops of its own, and the loop between them has no condition left.
//!
//! Conditions are those of [`Statement::Guard`], and of choices that make an index, as in
//! `if (at < 0) at = 0;`.

mod cuts;
mod numbers;

use super::code::{Action, Element, Expression, Index, Loop, Statement};
use super::shape::{Ranges, range};
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::condition::{Condition, Relation};
use autocomp_c_loops::statement::{Guard, substitute};
use numbers::{affine, decided, expression_of, is_comparison, operands};
use std::collections::{BTreeMap, BTreeSet};

pub(super) use numbers::condition;

/// Places where one loop is cut, at most.
const MOST_CUTS: usize = 6;
/// Commands that one command may become.
const MOST_COPIES: usize = 40;
/// Commands that a kernel may become in any case.
const FEWEST_COMMANDS: usize = 60;
/// Operands of the value of an index that is followed.
const MOST_OPERANDS: usize = 40;

/// Returns the statements with loops cut, and indices that are known in their place; also where
/// values are chosen by loop variables, if `at_choices` says so.
pub(super) fn cut(statements: &[Statement], at_choices: bool) -> Vec<Statement> {
    let mut assigned = BTreeSet::new();
    collect_assigned(statements, &mut assigned);
    let most = FEWEST_COMMANDS
        .max(autocomp_c_loops::statement::count_commands(statements).saturating_mul(MOST_COPIES));
    let mut cutter = Cutter {
        assigned,
        ranges: Ranges::new(),
        known: BTreeMap::new(),
        left: most,
        at_choices,
    };
    cutter
        .statements(statements)
        .unwrap_or_else(|| statements.to_vec())
}

/// Collects what is assigned to, under conditions too.
fn collect_assigned(statements: &[Statement], names: &mut BTreeSet<String>) {
    for statement in statements {
        match statement {
            Statement::Loop(inner) => collect_assigned(&inner.body, names),
            Statement::Guard(guard) => {
                collect_assigned(&guard.then, names);
                collect_assigned(&guard.otherwise, names);
            }
            Statement::Command(Action::Assign { target, .. }) => {
                names.insert(target.name.clone());
            }
            _ => {}
        }
    }
}

struct Cutter {
    /// What is assigned to anywhere.
    assigned: BTreeSet<String>,
    ranges: Ranges,
    /// Whole numbers that are declared once, by their values.
    known: BTreeMap<String, Expression>,
    /// Commands that may still be written.
    left: usize,
    /// Whether loops are cut where values are chosen.
    at_choices: bool,
}

impl Cutter {
    /// Returns the statements as they are where loop variables have their ranges; nothing if that
    /// would be too many.
    fn statements(&mut self, statements: &[Statement]) -> Option<Vec<Statement>> {
        let outside = self.known.clone();
        let mut result = Vec::new();
        for statement in statements {
            match statement {
                Statement::Loop(inner) => result.extend(self.pieces(inner)?),
                Statement::Guard(guard) => {
                    let condition = self.settled_condition(&guard.condition);
                    match condition {
                        Condition::Constant(true) => {
                            result.extend(self.statements(&guard.then)?);
                        }
                        Condition::Constant(false) => {
                            result.extend(self.statements(&guard.otherwise)?);
                        }
                        condition => result.push(Statement::Guard(Guard {
                            condition,
                            then: self.statements(&guard.then)?,
                            otherwise: self.statements(&guard.otherwise)?,
                        })),
                    }
                }
                Statement::Command(action) => {
                    self.left = self.left.checked_sub(1)?;
                    result.extend(self.command(action).map(Statement::Command));
                }
                other => result.push(other.clone()),
            }
        }
        self.known = outside;
        Some(result)
    }

    /// Returns an action with what is known; nothing if nobody needs it any more.
    fn command(&mut self, action: &Action) -> Option<Action> {
        match action {
            Action::Declare {
                kind,
                name,
                extents,
                value: Some(value),
            } => {
                let value = self.settled(value);
                let is_index = kind == "int32_t" && extents.is_empty();
                if is_index && !self.assigned.contains(name) && operands(&value) < MOST_OPERANDS {
                    if let Some(affine) = affine(&value) {
                        self.known.insert(name.clone(), expression_of(&affine));
                        return None;
                    }
                    let full = self.in_full(&value);
                    if operands(&full) < MOST_OPERANDS {
                        self.known.insert(name.clone(), full);
                    }
                }
                Some(Action::Declare {
                    kind: kind.clone(),
                    name: name.clone(),
                    extents: extents.clone(),
                    value: Some(value),
                })
            }
            Action::Declare { .. } => Some(action.clone()),
            Action::Assign {
                target,
                operator,
                value,
            } => Some(Action::Assign {
                target: self.settled_element(target),
                operator: *operator,
                value: self.settled(value),
            }),
        }
    }

    /// Returns a loop in as many pieces as its conditions ask for.
    fn pieces(&mut self, whole: &Loop) -> Option<Vec<Statement>> {
        let variable = &whole.variable;
        let outside = self.ranges.get(variable).copied();
        let last = whole.start + (whole.trips() - 1) * whole.step;
        self.ranges.insert(variable.clone(), (whole.start, last));
        let mut cuts = BTreeSet::new();
        self.cuts(&whole.body, variable, &mut cuts);
        // An iteration begins at each of them.
        let mut ends: Vec<i64> = cuts
            .into_iter()
            .map(|cut| {
                let over = (cut - whole.start).rem_euclid(whole.step);
                cut + (whole.step - over) % whole.step
            })
            .filter(|cut| whole.start < *cut && *cut <= last)
            .collect();
        ends.dedup();
        if MOST_CUTS < ends.len() {
            ends.clear();
        }
        ends.push(whole.end);
        let mut pieces: Vec<Loop> = Vec::new();
        let mut start = whole.start;
        for end in ends {
            let piece = Loop {
                start,
                end,
                ..whole.clone()
            };
            let last = start + (piece.trips() - 1) * piece.step;
            self.ranges.insert(variable.clone(), (start, last));
            let body = self.statements(&whole.body)?;
            match pieces.last_mut() {
                Some(before) if before.body == body => before.end = end,
                _ => pieces.push(Loop { body, ..piece }),
            }
            start = end;
        }
        match outside {
            Some(outside) => self.ranges.insert(variable.clone(), outside),
            None => self.ranges.remove(variable),
        };
        let mut result = Vec::new();
        for mut piece in pieces {
            // They count from zero, as the loop did.
            if whole.start != piece.start {
                let shift = piece.start - whole.start;
                let value = Affine::variable(variable).plus_constant(shift)?;
                piece.body = substitute(&piece.body, variable, &value)?;
                piece.start -= shift;
                piece.end -= shift;
            }
            // What does nothing is no loop.
            if !piece.body.is_empty() {
                result.push(Statement::Loop(piece));
            }
        }
        Some(result)
    }

    /// Returns a value with the names of whole numbers replaced by what they are.
    fn in_full(&self, value: &Expression) -> Expression {
        value.map(&mut |element| match self.known.get(&element.name) {
            Some(known) if element.indices.is_empty() => known.clone(),
            _ => Expression::Element(element.clone()),
        })
    }

    fn settled_condition(&self, condition: &Condition) -> Condition {
        match condition {
            Condition::Constant(_) => condition.clone(),
            Condition::Compare(difference, relation) => {
                match range(difference, &self.ranges)
                    .and_then(|(least, most)| decided(*relation, least, most))
                {
                    Some(holds) => Condition::Constant(holds),
                    None => condition.clone(),
                }
            }
            Condition::All(parts) => {
                Condition::all(parts.iter().map(|it| self.settled_condition(it)))
            }
            Condition::Any(parts) => {
                Condition::any(parts.iter().map(|it| self.settled_condition(it)))
            }
        }
    }

    /// Returns the least and the greatest value of a whole number.
    fn range(&self, value: &Expression) -> Option<(i64, i64)> {
        if let Some(affine) = affine(value) {
            return range(&affine, &self.ranges);
        }
        match value {
            Expression::Choice(_, one, other) => {
                let (one, other) = (self.range(one)?, self.range(other)?);
                Some((one.0.min(other.0), one.1.max(other.1)))
            }
            Expression::Element(element) if element.indices.is_empty() => {
                self.range(self.known.get(&element.name)?)
            }
            _ => None,
        }
    }

    /// Returns whether a condition holds, if that is known.
    fn holds(&self, condition: &Expression) -> Option<bool> {
        if let Some(condition) = numbers::condition(condition)
            && let Condition::Constant(holds) = self.settled_condition(&condition)
        {
            return Some(holds);
        }
        match condition {
            Expression::Number(text) => text.parse::<i64>().ok().map(|it| it != 0),
            Expression::Binary(left, operator, right) => match operator.as_str() {
                "&&" | "||" => {
                    let (left, right) = (self.holds(left), self.holds(right));
                    match operator == "&&" {
                        true if left == Some(false) || right == Some(false) => Some(false),
                        true => Some(left? && right?),
                        false if left == Some(true) || right == Some(true) => Some(true),
                        false => Some(left? || right?),
                    }
                }
                operator if is_comparison(operator) => {
                    let (left, right) = (self.range(left)?, self.range(right)?);
                    let (least, most) = (left.0 - right.1, left.1 - right.0);
                    match operator {
                        "<" => decided(Relation::Negative, least, most),
                        ">=" => decided(Relation::NonNegative, least, most),
                        ">" => decided(Relation::Negative, -most, -least),
                        "<=" => decided(Relation::NonNegative, -most, -least),
                        "==" => decided(Relation::Zero, least, most),
                        _ => decided(Relation::NonZero, least, most),
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn settled_element(&self, element: &Element) -> Element {
        let indices = element.indices.iter().map(|index| match index {
            Index::Affine(_) => index.clone(),
            Index::Value(value) => {
                let value = self.settled(value);
                match affine(&value) {
                    Some(affine) => Index::Affine(affine),
                    None => Index::Value(Box::new(value)),
                }
            }
        });
        Element {
            name: element.name.clone(),
            indices: indices.collect(),
        }
    }

    /// Returns an expression with what is decided left out.
    fn settled(&self, expression: &Expression) -> Expression {
        let boxed = |inner: &Expression| Box::new(self.settled(inner));
        match expression {
            Expression::Number(_) | Expression::Index(_) => expression.clone(),
            Expression::Element(element) => match self.known.get(&element.name) {
                Some(known) if element.indices.is_empty() && affine(known).is_some() => {
                    known.clone()
                }
                _ => Expression::Element(self.settled_element(element)),
            },
            Expression::Negative(inner) => Expression::Negative(boxed(inner)),
            Expression::Cast(kind, inner) => Expression::Cast(kind.clone(), boxed(inner)),
            Expression::Binary(left, operator, right) => {
                let settled = Expression::Binary(boxed(left), operator.clone(), boxed(right));
                let mentions = |it: &Expression| matches!(it, Expression::Index(_));
                match &settled {
                    Expression::Binary(left, _, right) if mentions(left) || mentions(right) => {
                        affine(&settled).map_or(settled.clone(), |it| expression_of(&it))
                    }
                    _ => settled,
                }
            }
            Expression::Choice(condition, one, other) => {
                let condition = self.settled(condition);
                match self.holds(&condition) {
                    Some(true) => self.settled(one),
                    Some(false) => self.settled(other),
                    None => Expression::Choice(Box::new(condition), boxed(one), boxed(other)),
                }
            }
            Expression::Call(name, arguments) => Expression::Call(
                name.clone(),
                arguments.iter().map(|it| self.settled(it)).collect(),
            ),
        }
    }
}
