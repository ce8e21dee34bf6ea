//! Sums of elements and of products of two.

use super::super::program::{Binary, Unary};
use super::super::run::Value as Number;
use super::affine::{Affine, Counter, Counters};
use super::computation::Computation;
use super::node::{Element, Id, Node, Nodes};
use std::collections::{HashMap, HashSet};

/// Bits of the factor of what is taken as it is.
pub(super) const PLAIN: u32 = 1.0f32.to_bits();
/// Expressions that rounding an element may take.
const ROUNDING: usize = 64;

/// Terms that a sum may have.
const TERMS: usize = 4096;

/// An element, or a product of two, summed up over all steps of some loops.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) factor: i64,
    /// Bits of what a lone element is multiplied by and then rounded, as when it comes in.
    pub(super) scale: u32,
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
                let is_scaled = [one.scale, other.scale] != [PLAIN; 2];
                if 2 < elements.len() || is_summed || is_scaled {
                    return None;
                }
                product.parts.push(Part {
                    factor: one.factor.checked_mul(other.factor)?,
                    scale: PLAIN,
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
    /// Elements may be scaled and rounded before they are added.
    scales: bool,
    known: HashMap<Id, Option<Linear>>,
}

impl<'nodes> Sums<'nodes> {
    pub(super) fn new(nodes: &'nodes Nodes, counters: &'nodes Counters, is_float: bool) -> Self {
        Self {
            nodes,
            counters,
            is_float,
            scales: false,
            known: HashMap::new(),
        }
    }

    /// Has elements that are scaled and rounded before they are added be parts of sums.
    pub(super) fn with_scales(mut self) -> Self {
        self.scales = true;
        self
    }

    /// Returns the sum that an expression is.
    pub(super) fn of(&mut self, id: Id) -> Option<Linear> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let mut sum = self.find(id);
        if self.scales && sum.is_none() {
            sum = self.scaled(id);
        }
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
                        scale: PLAIN,
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

    /// Returns an element that is multiplied by a number, rounded and kept in the range of
    /// operands, as the accelerator does while it moves operands in.
    fn scaled(&self, id: Id) -> Option<Linear> {
        let mut leaf: Option<(Id, Affine)> = None;
        let mut factors = vec![0.5f32, 0.25, 0.125, 2.0];
        let (mut stack, mut seen) = (vec![id], HashSet::new());
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.nodes.get(id) {
                Node::Load(address, Element::Integer(1, true))
                | Node::Stored(address, Element::Integer(1, true)) => {
                    if leaf.as_ref().is_some_and(|(_, other)| other != address) {
                        return None;
                    }
                    leaf = Some((id, address.clone()));
                }
                Node::Float(bits) => factors.push(f64::from_bits(*bits) as f32),
                Node::Load(..) | Node::Stored(..) | Node::Sum(..) => return None,
                _ => stack.extend(self.nodes.operands(id)),
            }
            if ROUNDING < seen.len() {
                return None;
            }
        }
        let (leaf, address) = leaf?;
        let computation = Computation::new(self.nodes, id, std::iter::once(leaf));
        let values: Option<Vec<i64>> = (-128..128)
            .map(
                |element| match computation.value(|_| Number::Integer(element))? {
                    Number::Integer(value) => Some(value),
                    _ => None,
                },
            )
            .collect();
        let values = values?;
        let scaled = |element: i64, factor: f32| {
            let rounded = (element as f32 * factor).round_ties_even();
            rounded.clamp(-128.0, 127.0) as i64
        };
        let does = |factor: &f32| {
            (-128..128)
                .map(|it| scaled(it, *factor))
                .eq(values.iter().copied())
        };
        let factor = factors.into_iter().find(does)?;
        Some(Linear {
            constant: 0,
            parts: vec![Part {
                factor: 1,
                scale: factor.to_bits(),
                elements: vec![(address, Element::Integer(1, true))],
                counters: Vec::new(),
            }],
        })
    }
}
