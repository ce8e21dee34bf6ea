//! Sums of elements and of products of two.

use super::super::program::{Binary, Unary};
use super::affine::{Affine, Counter, Counters};
use super::node::{Element, Id, Node, Nodes};
use std::collections::HashMap;

/// Terms that a sum may have.
const TERMS: usize = 4096;

/// An element, or a product of two, summed up over all steps of some loops.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) factor: i64,
    pub(super) elements: Vec<(Affine, Element)>,
    pub(super) counters: Vec<Counter>,
}

/// A sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) constant: i64,
    pub(super) parts: Vec<Part>,
}

impl Linear {
    fn of(constant: i64) -> Self {
        Self {
            constant,
            parts: Vec::new(),
        }
    }

    fn plus(mut self, other: Self, times: i64) -> Option<Self> {
        self.constant = self
            .constant
            .checked_add(other.constant.checked_mul(times)?)?;
        for mut part in other.parts {
            part.factor = part.factor.checked_mul(times)?;
            self.parts.push(part);
        }
        (self.parts.len() <= TERMS).then_some(self)
    }

    fn product(self, other: Self) -> Option<Self> {
        let mut product = Self::of(self.constant.checked_mul(other.constant)?);
        for (one, other) in [(&self, &other), (&other, &self)] {
            for part in &one.parts {
                let mut part = part.clone();
                part.factor = part.factor.checked_mul(other.constant)?;
                product.parts.push(part);
            }
        }
        for one in &self.parts {
            for other in &other.parts {
                let elements = [one.elements.clone(), other.elements.clone()].concat();
                let is_summed = !one.counters.is_empty() || !other.counters.is_empty();
                if 2 < elements.len() || is_summed {
                    return None;
                }
                product.parts.push(Part {
                    factor: one.factor.checked_mul(other.factor)?,
                    elements,
                    counters: Vec::new(),
                });
            }
        }
        product.parts.retain(|part| part.factor != 0);
        (product.parts.len() <= TERMS).then_some(product)
    }

    /// Returns whether its value fits 16 bits, whatever the elements are.
    fn is_short(&self, counters: &Counters) -> bool {
        let mut most = self.constant.saturating_abs();
        for part in &self.parts {
            let mut size = part.factor.saturating_abs();
            for (_, element) in &part.elements {
                let values = match element {
                    Element::Integer(1, true) => 128,
                    Element::Integer(1, false) => 255,
                    _ => return false,
                };
                size = size.saturating_mul(values);
            }
            for counter in &part.counters {
                size = size.saturating_mul(counters.extent(*counter));
            }
            most = most.saturating_add(size);
        }
        most < 1 << 15
    }
}

/// Sums that expressions are.
pub(super) struct Sums<'nodes> {
    nodes: &'nodes Nodes,
    counters: &'nodes Counters,
    is_float: bool,
    known: HashMap<Id, Option<Linear>>,
}

impl<'nodes> Sums<'nodes> {
    pub(super) fn new(nodes: &'nodes Nodes, counters: &'nodes Counters, is_float: bool) -> Self {
        Self {
            nodes,
            counters,
            is_float,
            known: HashMap::new(),
        }
    }

    /// Returns the sum that an expression is.
    pub(super) fn of(&mut self, id: Id) -> Option<Linear> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let sum = self.find(id);
        self.known.insert(id, sum.clone());
        sum
    }

    fn find(&mut self, id: Id) -> Option<Linear> {
        match *self.nodes.get(id) {
            Node::Integer(value) => Some(Linear::of(value)),
            // Minus zero is no sum's start that anyone would tell from zero.
            Node::Float(bits) if f64::from_bits(bits) == 0.0 => Some(Linear::of(0)),
            Node::Float(bits) if f64::from_bits(bits) == 1.0 => Some(Linear::of(1)),
            Node::Load(ref address, element) | Node::Stored(ref address, element) => {
                let is_known = matches!(element, Element::Integer(..)) != self.is_float;
                is_known.then(|| Linear {
                    constant: 0,
                    parts: vec![Part {
                        factor: 1,
                        elements: vec![(address.clone(), element)],
                        counters: Vec::new(),
                    }],
                })
            }
            Node::Narrow(4 | 8, true, inner) => self.of(inner),
            Node::Narrow(2, true, inner) => {
                let counters = self.counters;
                self.of(inner).filter(|sum| sum.is_short(counters))
            }
            Node::Unary(Unary::Negate, inner) => Linear::of(0).plus(self.of(inner)?, -1),
            Node::Unary(Unary::Float, inner) if self.is_float => self.of(inner),
            Node::Binary(operation, left, right) => {
                let left = self.of(left)?;
                let right = self.of(right)?;
                match operation {
                    Binary::Add => left.plus(right, 1),
                    Binary::Subtract => left.plus(right, -1),
                    Binary::Multiply => left.product(right),
                    Binary::ShiftLeft if right.parts.is_empty() && !self.is_float => {
                        let factor = 1i64.checked_shl(u32::try_from(right.constant).ok()?)?;
                        Linear::of(0).plus(left, factor)
                    }
                    _ => None,
                }
            }
            Node::Sum(counter, inner) => {
                let mut sum = self.of(inner)?;
                let times = self.counters.extent(counter);
                sum.constant = sum.constant.checked_mul(times)?;
                for part in &mut sum.parts {
                    part.counters.push(counter);
                }
                Some(sum)
            }
            _ => None,
        }
    }
}
