//! What variables and arrays hold behind steps that were followed at once.

use super::super::affine::{Affine, Counter, Stop, refused};
use super::super::follow::{Flow, Follower, Frame, Scope, Value};
use super::super::node::{Id, Node};
use super::{Habit, Parts, recurrence};
use crate::lift::program::Binary;

impl<'program> Follower<'program> {
    /// Returns the variables behind the stretch; what it writes is in the last scope.
    pub(super) fn stretched(
        &mut self,
        parts: Parts<'program>,
        habits: &[(usize, Habit)],
        before: &Frame,
        shape: &[(Counter, i64)],
    ) -> Result<Frame, Stop> {
        let mut start = before.clone();
        self.begin(habits, &mut start, shape);
        let mut end = start.clone();
        self.scopes.push(Scope::default());
        self.open.extend(shape.iter().rev().map(|it| it.0));
        match self.once(parts, &mut end)? {
            Flow::On | Flow::Continue => {}
            _ => return Err(Stop::Split(shape[shape.len() - 1].0, 1)),
        }
        let mut writes = self
            .scopes
            .last_mut()
            .map(|it| std::mem::take(&mut it.writes));
        for (counter, _) in shape {
            self.open.retain(|other| other != counter);
            writes = Some(self.closed(*counter, writes.unwrap_or_default())?);
        }
        let writes = writes.unwrap_or_default();
        let carried = |nodes: &super::super::node::Nodes, id: Id| {
            let inside = nodes.inside(id).into_iter();
            let mut own = inside.filter(
                |id| matches!(nodes.get(*id), Node::Carried(counter, _) if *counter == shape[0].0),
            );
            own.next()
        };
        if writes
            .iter()
            .any(|write| carried(&self.nodes, write.value).is_some())
        {
            return Err(refused("what is stored depends on the step before"));
        }
        let last: Vec<(Counter, Affine)> = shape
            .iter()
            .map(|(counter, _)| (*counter, Affine::of(self.counters.extent(*counter) - 1)))
            .collect();
        let steps: i64 = shape.iter().map(|it| self.counters.extent(it.0)).product();
        for slot in 0..end.len() {
            let habit = habits.iter().find(|it| it.0 == slot).map(|it| &it.1);
            if end[slot] == start[slot] && habit.is_none_or(|it| *it != Habit::Data) {
                end[slot] = before[slot].clone();
                if matches!(habit, Some(Habit::Steps(by)) if *by != 0) {
                    return Err(Stop::Unknown);
                }
                continue;
            }
            end[slot] = match (habit, &end[slot]) {
                (Some(Habit::Steps(by)), Value::Number(number)) => {
                    let (Value::Number(from), Value::Number(whole)) = (&start[slot], &before[slot])
                    else {
                        return Err(Stop::Unknown);
                    };
                    if number.plus(from, -1).known() != Some(*by) {
                        return Err(Stop::Unknown);
                    }
                    Value::Number(whole.plus(&Affine::of(by * steps), 1))
                }
                (Some(Habit::Steps(_)) | None, now) => {
                    let habit = match (&before[slot], now) {
                        (Value::Data(_) | Value::Number(_), Value::Data(_)) => Habit::Data,
                        _ => Habit::New,
                    };
                    self.unexpected = Some((slot, habit));
                    return Err(Stop::Unknown);
                }
                (_, Value::Number(number)) => {
                    let mut number = number.clone();
                    for (counter, value) in &last {
                        number = number.with(*counter, value);
                    }
                    Value::Number(number)
                }
                (_, Value::Data(id)) => {
                    let id = *id;
                    match carried(&self.nodes, id) {
                        None => Value::Data(self.nodes.with(id, &last)),
                        Some(own) if *self.nodes.get(own) == Node::Carried(shape[0].0, slot) => {
                            let whole = self.data(&before[slot])?;
                            let mut sum = self.without(id, own)?;
                            if carried(&self.nodes, sum).is_some() {
                                return Err(recurrence());
                            }
                            for (counter, _) in shape {
                                sum = self.nodes.sum(*counter, sum);
                            }
                            Value::Data(self.nodes.binary(Binary::Add, whole, sum))
                        }
                        Some(_) => return Err(recurrence()),
                    }
                }
                (_, Value::Unknown) => Value::Unknown,
            };
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.writes = writes;
        }
        Ok(end)
    }

    /// Returns what is added to `start` in an expression that is a sum with it.
    pub(in super::super) fn without(&mut self, id: Id, start: Id) -> Result<Id, Stop> {
        if id == start {
            return Ok(self.nodes.add(Node::Integer(0)));
        }
        match *self.nodes.get(id) {
            // A sum that its variable can hold.
            Node::Narrow(4 | 8, true, inner) => self.without(inner, start),
            Node::Unary(crate::lift::program::Unary::Float, inner) => self.without(inner, start),
            Node::Binary(operation @ (Binary::Add | Binary::Subtract), left, right) => {
                let is_left = self.nodes.inside(left).contains(&start);
                let is_right = self.nodes.inside(right).contains(&start);
                match (is_left, is_right, operation) {
                    (true, false, _) => {
                        let left = self.without(left, start)?;
                        Ok(self.nodes.binary(operation, left, right))
                    }
                    (false, true, Binary::Add) => {
                        let right = self.without(right, start)?;
                        Ok(self.nodes.binary(Binary::Add, left, right))
                    }
                    _ => Err(recurrence()),
                }
            }
            _ => Err(recurrence()),
        }
    }
}
