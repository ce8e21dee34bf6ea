//! Reads loops: how variables change in them, and how often they run.
//!
//! A first reading of the body, with a symbol in the place of every variable
//! that it changes, tells by how much each changes from one iteration to the
//! next. What changes by a constant is a multiple of the number of the
//! iteration, whether it is counted by the header or along the way.

mod course;
mod trips;

use super::Reader;
use super::scope::{Binding, Obstacle, Quantity, Range, Read};
use super::statements::Flow;
use crate::affine::Affine;
use crate::condition::{Condition, Relation};
use crate::kernel::{Guard, Loop, Statement};
use crate::syntax::breaks;
use course::{Changing, Course, Index};
use std::collections::VecDeque;
use tree_sitter::Node;

/// The symbol for the number of the iteration.
const COUNT: &str = "#count";
/// Bounds keep every value of a variable far from overflow.
const BOUND: i64 = 1 << 40;
/// The most parts of a loop that are read one by one.
const PART_LIMIT: usize = 6;
/// The same where every iteration is a part of its own.
const EACH_LIMIT: usize = 64;

/// How a loop is written when it is understood.
struct Form {
    variable: String,
    start: i64,
    end: i64,
    step: i64,
    trips: i64,
}

struct Header<'tree> {
    node: Node<'tree>,
    condition: Node<'tree>,
    update: Option<Node<'tree>>,
    body: Node<'tree>,
    tests_last: bool,
}

impl<'tree> Reader<'tree> {
    /// Reads a loop that runs a known number of times.
    pub(super) fn counted(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        let depth = self.scope.len();
        let read = self.counted_in_scope(node, out);
        self.scope.truncate(depth);
        read
    }

    fn counted_in_scope(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        let header = Header {
            node,
            condition: match node.child_by_field_name("condition") {
                Some(condition) => condition,
                None => return self.unread(node, "this loop has no condition"),
            },
            update: node.child_by_field_name("update"),
            body: self.field(node, "body")?,
            tests_last: node.kind() == "do_statement",
        };
        if breaks(header.body) {
            return self.unread(node, "this loop may be left early");
        }
        if self.jumps(header.body, false) {
            return self.unread(node, "this loop may leave the function");
        }
        if let Some(initializer) = node.child_by_field_name("initializer") {
            let mut statements = Vec::new();
            match initializer.kind() {
                "declaration" => self.declaration(initializer, &mut statements)?,
                _ => self.quantity(initializer).map(|_| ())?,
            }
            if !statements.is_empty() || !self.emitted.is_empty() {
                return self.unread(initializer, "the start of this loop is not understood");
            }
        }
        let changing = self.changes(&header)?;
        let trips_condition = self.condition_at(&header, &changing)?;
        let (tested, ragged) = self.trips(header.condition, &trips_condition)?;
        let trips = tested + i64::from(header.tests_last);
        let tests = ragged.then(|| trips_condition.clone());
        if ragged && header.tests_last {
            return self.unread(header.condition, "how often this loop runs differs");
        }
        if BOUND < trips {
            return self.unread(node, "this loop runs too often");
        }
        let form = self.form(&header, &changing, &trips_condition, trips)?;
        if !self.trial {
            self.parts(&header, &changing, &form, tests.as_ref(), out)?;
        }
        // What is known behind the loop.
        let last = Index::plain(Affine::constant(trips - 1));
        let end = Index::plain(Affine::constant(trips));
        for variable in &changing {
            let binding = match &variable.course {
                _ if trips == 0 => variable.before.binding.clone(),
                Course::Linear(steps) if ragged && steps.iter().all(|step| *step == 0) => {
                    variable.before.binding.clone()
                }
                _ if ragged => Binding::Unknown("how often a loop runs differs".to_owned()),
                Course::Late(after) => self.in_iteration(after, &changing, &last),
                _ => self.at_start(variable, &changing, &end),
            };
            self.scope[variable.place].binding = binding;
        }
        Ok(())
    }

    /// Chooses the variable that counts the iterations, and its bounds.
    fn form(
        &self,
        header: &Header<'tree>,
        changing: &[Changing],
        condition: &Condition,
        trips: i64,
    ) -> Read<Form> {
        let named = |variable: &&Changing| {
            let mut pending = vec![header.condition];
            while let Some(node) = pending.pop() {
                if node.kind() == "identifier" && self.text(node) == variable.before.name {
                    return true;
                }
                pending.extend(crate::syntax::children(node));
            }
            false
        };
        let counting = changing.iter().filter(named).find_map(|variable| {
            let (Course::Linear(steps), Binding::Known(Quantity::Integer(before))) =
                (&variable.course, &variable.before.binding)
            else {
                return None;
            };
            let (start, step) = (before.as_constant()?, *steps.first()?);
            let small = start.abs() < BOUND && 0 < step && step < BOUND;
            (small && variable.before.orbit.is_none()).then_some((variable, start, step))
        });
        let any = changing.iter().find(named);
        let name = match (&counting, any) {
            (Some((variable, ..)), _) => variable.before.name.as_str(),
            (None, Some(variable)) => variable.before.name.as_str(),
            (None, None) => "n",
        };
        let variable = self.fresh_name(name);
        let Some((_, start, step)) = counting else {
            return Ok(Form {
                variable,
                start: 0,
                end: trips,
                step: 1,
                trips,
            });
        };
        let Some(least) = (trips.max(1) - 1)
            .checked_mul(step)
            .and_then(|s| s.checked_add(start))
        else {
            return self.unread(header.node, "this loop runs too often");
        };
        // The bound that the text names, if it is one of this variable.
        let written = match condition {
            Condition::Compare(expression, relation) if !header.tests_last => {
                let offset = expression.constant_part();
                let mut terms = expression.terms();
                match (terms.next(), terms.next(), relation) {
                    // The condition may be divided by a common factor.
                    (Some((_, slope)), None, Relation::Negative | Relation::NonZero)
                        if 0 < slope && step % slope == 0 =>
                    {
                        let rest = offset.checked_mul(step / slope);
                        rest.and_then(|rest| start.checked_sub(rest))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let end = written
            .filter(|end| least < *end && *end <= least.saturating_add(step))
            .unwrap_or(least + 1);
        Ok(Form {
            variable,
            start,
            end,
            step,
            trips,
        })
    }

    /// Reads the body for all iterations, in as many parts as it takes.
    fn parts(
        &mut self,
        header: &Header<'tree>,
        changing: &[Changing],
        form: &Form,
        tests: Option<&Condition>,
        out: &mut Vec<Statement>,
    ) -> Read<()> {
        let scope = self.scope.clone();
        let mut pending = VecDeque::from([(0, form.trips)]);
        let mut limit = PART_LIMIT;
        let mut count = 1;
        while let Some((from, to)) = pending.pop_front() {
            if to <= from {
                continue;
            }
            self.scope.clone_from(&scope);
            let ranges = self.ranges.len();
            let mut statements = Vec::new();
            let noted = self.unread.len();
            let read = self.part(header, changing, form, (tests, from, to), &mut statements);
            self.ranges.truncate(ranges);
            if read.is_err() {
                self.emitted.clear();
                self.unread.truncate(noted);
            }
            match read {
                Err(Obstacle::Split { variable, at, each }) if variable == form.variable => {
                    limit = limit.max(if each { EACH_LIMIT } else { PART_LIMIT });
                    count += 1;
                    let middle = (at - form.start) / form.step;
                    if limit < count || middle <= from || to <= middle {
                        self.scope = scope;
                        return self.unread(
                            header.node,
                            "the iterations of this loop differ too much from each other",
                        );
                    }
                    pending.push_front((middle, to));
                    pending.push_front((from, middle));
                }
                Err(other) => return Err(other),
                Ok(()) => out.append(&mut statements),
            }
        }
        self.scope = scope;
        Ok(())
    }

    fn part(
        &mut self,
        header: &Header<'tree>,
        changing: &[Changing],
        form: &Form,
        (tests, from, to): (Option<&Condition>, i64, i64),
        out: &mut Vec<Statement>,
    ) -> Read<()> {
        let at = |trip: i64| form.start + trip * form.step;
        let single = to == from + 1;
        let index = if single {
            Index::plain(Affine::constant(from))
        } else {
            self.ranges.push(Range {
                variable: form.variable.clone(),
                first: at(from),
                last: at(to - 1),
                step: form.step,
            });
            let scaled = Affine::variable(&form.variable).plus_constant(-form.start);
            let value = scaled
                .as_ref()
                .and_then(|scaled| scaled.divided_by(form.step));
            let (Some(scaled), Some(value)) = (scaled, value) else {
                return self.unread(header.node, "the numbers of this loop are too large");
            };
            Index {
                value,
                scaled,
                step: form.step,
            }
        };
        for variable in changing {
            let binding = self.at_start(variable, changing, &index);
            self.scope[variable.place].binding = binding;
        }
        let mut body = Vec::new();
        let tests = tests.and_then(|tests| tests.substitute(COUNT, &index.value));
        let tests = tests.map(|tests| self.folded(tests));
        let flow = self.block(header.body, &mut body)?;
        if matches!(flow, Flow::Done(_)) {
            return self.unread(header.node, "this loop may leave the function");
        }
        if let Some(condition) = tests {
            let then = std::mem::take(&mut body);
            match condition {
                Condition::Constant(false) => {}
                Condition::Constant(true) => body = then,
                condition => body.push(Statement::Guard(Guard {
                    condition,
                    then,
                    otherwise: Vec::new(),
                })),
            }
        }
        if single {
            append(out, body);
            return Ok(());
        }
        if body
            .iter()
            .all(|statement| matches!(statement, Statement::Comment(_)))
        {
            return Ok(());
        }
        let around = |body| {
            Statement::Loop(Loop {
                variable: form.variable.clone(),
                start: at(from),
                end: if to == form.trips { form.end } else { at(to) },
                step: form.step,
                body,
            })
        };
        // What is the same in every iteration is asked once.
        let statement = match body.as_mut_slice() {
            [Statement::Guard(guard)] if !guard.condition.mentions(&form.variable) => {
                let then = std::mem::take(&mut guard.then);
                let otherwise = std::mem::take(&mut guard.otherwise);
                let bare = otherwise.is_empty();
                Statement::Guard(Guard {
                    condition: guard.condition.clone(),
                    then: vec![around(then)],
                    otherwise: if bare {
                        Vec::new()
                    } else {
                        vec![around(otherwise)]
                    },
                })
            }
            _ => around(body),
        };
        append(out, vec![statement]);
        Ok(())
    }

    /// Returns a name for a loop variable that no loop around has.
    fn fresh_name(&self, name: &str) -> String {
        let taken = |name: &str| {
            self.ranges.iter().any(|range| range.variable == name)
                || self.arrays.iter().any(|array| array.name == name)
                || self
                    .scope
                    .iter()
                    .any(|entry| entry.name == name && matches!(entry.binding, Binding::Kept(_)))
        };
        if !taken(name) {
            return name.to_owned();
        }
        let mut number = 2;
        loop {
            let candidate = format!("{name}{number}");
            if !taken(&candidate) && !self.source.contains(&candidate) {
                return candidate;
            }
            number += 1;
        }
    }
}

/// Adds statements; what follows under the same condition joins it.
pub(super) fn append(out: &mut Vec<Statement>, statements: Vec<Statement>) {
    for statement in statements {
        match (out.last_mut(), statement) {
            (Some(Statement::Guard(last)), Statement::Guard(next))
                if last.condition == next.condition =>
            {
                append(&mut last.then, next.then);
                append(&mut last.otherwise, next.otherwise);
            }
            (_, statement) => out.push(statement),
        }
    }
}
