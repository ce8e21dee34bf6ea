//! The computation of an expression from a few of its parts, for doing it many times.

use super::super::program::{Binary, Unary};
use super::super::run::{Value as Number, compute, narrowed, operate};
use super::node::{Id, Node, Nodes};
use std::collections::BTreeMap;

/// One step; operands are numbers of earlier steps.
enum Step {
    /// One of the parts that are given.
    Given(usize),
    Number(Number),
    Unary(Unary, usize),
    Narrow(u8, bool, usize),
    Binary(Binary, usize, usize),
    Select(usize, usize, usize),
    /// What depends on more than the parts.
    Unknown,
}

/// Steps that end with the expression's own.
pub(super) struct Computation(Vec<Step>);

impl Computation {
    /// Finds the steps from the expressions `given` to `result`.
    pub(super) fn new(nodes: &Nodes, result: Id, given: impl Iterator<Item = Id>) -> Self {
        let given: BTreeMap<Id, usize> = given.enumerate().map(|(index, id)| (id, index)).collect();
        let mut places: BTreeMap<Id, usize> = BTreeMap::new();
        let mut stack = vec![result];
        while let Some(id) = stack.pop() {
            let is_new = places.insert(id, 0).is_none();
            if is_new && !given.contains_key(&id) {
                stack.extend(nodes.operands(id));
            }
        }
        // An expression is numbered after its operands.
        for (place, step) in places.values_mut().enumerate() {
            *step = place;
        }
        let steps = places.keys().map(|id| {
            if let Some(index) = given.get(id) {
                return Step::Given(*index);
            }
            let at = |id: Id| places[&id];
            match *nodes.get(*id) {
                Node::Integer(value) => Step::Number(Number::Integer(value)),
                Node::Float(bits) => Step::Number(Number::Float(f64::from_bits(bits))),
                Node::Unary(operation, inner) => Step::Unary(operation, at(inner)),
                Node::Narrow(bytes, signed, inner) => Step::Narrow(bytes, signed, at(inner)),
                Node::Binary(operation, left, right) => {
                    Step::Binary(operation, at(left), at(right))
                }
                Node::Select(condition, then, otherwise) => {
                    Step::Select(at(condition), at(then), at(otherwise))
                }
                _ => Step::Unknown,
            }
        });
        Self(steps.collect())
    }

    /// Returns what the expression comes to if its parts are these numbers.
    pub(super) fn value(&self, given: impl Fn(usize) -> Number) -> Option<Number> {
        let mut values: Vec<Option<Number>> = Vec::with_capacity(self.0.len());
        for step in &self.0 {
            let value = match *step {
                Step::Given(index) => Some(given(index)),
                Step::Number(number) => Some(number),
                Step::Unary(operation, inner) => values[inner].map(|it| operate(operation, it)),
                Step::Narrow(bytes, signed, inner) => {
                    values[inner].map(|it| narrowed(it, bytes, signed))
                }
                Step::Binary(operation, left, right) => match (values[left], values[right]) {
                    (Some(left), Some(right)) => compute(operation, left, right),
                    _ => None,
                },
                Step::Select(condition, then, otherwise) => match values[condition] {
                    Some(Number::Integer(0) | Number::Float(0.0)) => values[otherwise],
                    Some(Number::Integer(_) | Number::Float(_)) => values[then],
                    _ => None,
                },
                Step::Unknown => None,
            };
            values.push(value);
        }
        values.pop().flatten()
    }
}
