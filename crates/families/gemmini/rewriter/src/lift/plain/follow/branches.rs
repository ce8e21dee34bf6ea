//! Follows both branches of what depends on the contents of memory.

use super::super::affine::{Stop, refused};
use super::super::node::Id;
use super::super::region::Write;
use super::{Flow, Follower, Frame, Scope, Value};
use crate::lift::program::Statement;

impl<'program> Follower<'program> {
    /// Follows both branches of what depends on the contents of memory.
    pub(super) fn branches(
        &mut self,
        condition: Id,
        branches: [&'program [Statement]; 2],
        rest: &'program [Statement],
        frame: &mut Frame,
        is_last: bool,
    ) -> Result<Flow, Stop> {
        let mut ends = Vec::new();
        for (at, branch) in branches.into_iter().enumerate() {
            let mut own = frame.clone();
            self.scopes.push(Scope {
                is_branch: true,
                ..Scope::default()
            });
            let flow = self.block(branch, &mut own, is_last && rest.is_empty());
            let writes = self.scopes.pop().map(|scope| scope.writes);
            ends.push((flow?, own, writes.unwrap_or_default(), at));
        }
        if ends.iter().any(|end| end.0 != Flow::On) {
            let ends_here = |flow: &Flow| match flow {
                Flow::Return(_) | Flow::Continue => is_last,
                Flow::On => true,
                Flow::Break => false,
            };
            if !ends.iter().all(|end| ends_here(&end.0)) {
                return Err(refused(
                    "a loop that ends where the contents of memory say so",
                ));
            }
            // What follows is done by the branch that does not end.
            for (flow, own, writes, _) in &mut ends {
                if *flow == Flow::On {
                    self.scopes.push(Scope {
                        is_branch: true,
                        writes: std::mem::take(writes),
                    });
                    let new = self.block(rest, own, true);
                    let left = self.scopes.pop().map(|scope| scope.writes);
                    (*flow, *writes) = (new?, left.unwrap_or_default());
                }
            }
        }
        let (Some(otherwise), Some(then)) = (ends.pop(), ends.pop()) else {
            return Err(refused("a branch that is not followed"));
        };
        self.join(condition, then.2, otherwise.2)?;
        for (slot, value) in frame.iter_mut().enumerate() {
            *value = self.chosen(condition, &then.1[slot], &otherwise.1[slot]);
        }
        let flow = match (then.0, otherwise.0) {
            (Flow::On, Flow::On) => return self.block(rest, frame, is_last),
            (Flow::Return(one), Flow::Return(other)) => {
                Flow::Return(self.chosen(condition, &one, &other))
            }
            (Flow::On | Flow::Continue, Flow::On | Flow::Continue) => Flow::Continue,
            (Flow::Return(Value::Unknown), Flow::On) | (Flow::On, Flow::Return(Value::Unknown)) => {
                Flow::Return(Value::Unknown)
            }
            _ => {
                return Err(refused(
                    "a function that ends where the contents of memory say so",
                ));
            }
        };
        Ok(flow)
    }

    /// Notes what either of two branches wrote.
    fn join(&mut self, condition: Id, then: Vec<Write>, otherwise: Vec<Write>) -> Result<(), Stop> {
        let mut otherwise: Vec<Option<Write>> = otherwise.into_iter().map(Some).collect();
        let mut joined = Vec::new();
        for one in then {
            let same = otherwise.iter_mut().find(|other| {
                let other = other.as_ref();
                other.is_some_and(|it| it.address == one.address && it.dims == one.dims)
            });
            let other = same.and_then(Option::take).map(|it| it.value);
            joined.push((Some(one.value), other, one));
        }
        joined.extend(
            otherwise
                .into_iter()
                .flatten()
                .map(|it| (None, Some(it.value), it)),
        );
        for (then, otherwise, write) in joined {
            let before = self.load(&write.address, write.element)?;
            let [then, otherwise] = [then, otherwise].map(|value| value.unwrap_or(before));
            let value = self.nodes.select(condition, then, otherwise);
            self.write(Write { value, ..write })?;
        }
        Ok(())
    }

    fn chosen(&mut self, condition: Id, then: &Value, otherwise: &Value) -> Value {
        if then == otherwise {
            return then.clone();
        }
        let known = |value: &Value| match value {
            Value::Number(number) => number.known().is_some(),
            Value::Data(_) => true,
            Value::Unknown => false,
        };
        if !known(then) || !known(otherwise) {
            return Value::Unknown;
        }
        match (self.data(then), self.data(otherwise)) {
            (Ok(then), Ok(otherwise)) => Value::Data(self.nodes.select(condition, then, otherwise)),
            _ => Value::Unknown,
        }
    }
}
