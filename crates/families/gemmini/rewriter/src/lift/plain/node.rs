//! What the core computes from the contents of memory, as expressions.
//!
//! Equal expressions have equal numbers.

use super::super::program::{Binary, Unary};
use super::super::run::{Value as Number, compute, narrowed, operate};
use super::affine::{Affine, Counter};
use crate::memory::Type;
use std::collections::{BTreeSet, HashMap};

/// Number of an expression.
pub(super) type Id = u32;

/// What an element of memory is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Element {
    Integer(u8, bool),
    Float,
    Double,
}

impl Element {
    pub(super) fn of(kind: &Type) -> Option<Self> {
        match kind {
            Type::Integer(bytes, signed) => Some(Self::Integer(*bytes, *signed)),
            Type::Float => Some(Self::Float),
            Type::Double => Some(Self::Double),
            _ => None,
        }
    }

    /// Returns its type in C.
    pub(super) fn in_c(self) -> &'static str {
        match self {
            Self::Integer(1, true) => "int8_t",
            Self::Integer(1, false) => "uint8_t",
            Self::Integer(2, true) => "int16_t",
            Self::Integer(2, false) => "uint16_t",
            Self::Integer(4, true) => "int32_t",
            Self::Integer(4, false) => "uint32_t",
            Self::Integer(_, true) => "int64_t",
            Self::Integer(_, false) => "uint64_t",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    /// Returns the type of such elements.
    pub(super) fn kind(self) -> Type {
        match self {
            Self::Integer(bytes, signed) => Type::Integer(bytes, signed),
            Self::Float => Type::Float,
            Self::Double => Type::Double,
        }
    }

    pub(super) fn bytes(self) -> i64 {
        match self {
            Self::Integer(bytes, _) => bytes.into(),
            Self::Float => 4,
            Self::Double => 8,
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Integer(i64),
    /// Bits of the number.
    Float(u64),
    /// A number that depends on the step.
    Index(Affine),
    /// What an element held when the innermost loop's step began.
    Load(Affine, Element),
    /// What an element holds that an operation before this one is given.
    Stored(Affine, Element),
    /// What a variable held when a loop's step began: the loop, the variable.
    Carried(Counter, usize),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    Select(Id, Id, Id),
    Narrow(u8, bool, Id),
    /// The sum over all steps of a loop.
    Sum(Counter, Id),
}

/// All expressions.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    all: Vec<Node>,
    numbers: HashMap<Node, Id>,
}

impl Nodes {
    pub(super) fn get(&self, id: Id) -> &Node {
        &self.all[id as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn add(&mut self, node: Node) -> Id {
        if let Some(id) = self.numbers.get(&node) {
            return *id;
        }
        let id = self.all.len() as Id;
        self.all.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    /// Returns the operands of an expression.
    pub(super) fn operands(&self, id: Id) -> Vec<Id> {
        match *self.get(id) {
            Node::Unary(_, inner) | Node::Narrow(_, _, inner) | Node::Sum(_, inner) => vec![inner],
            Node::Binary(_, left, right) => vec![left, right],
            Node::Select(condition, then, otherwise) => vec![condition, then, otherwise],
            _ => Vec::new(),
        }
    }

    /// Returns an expression with other operands.
    pub(super) fn with_operands(&mut self, id: Id, operands: &[Id]) -> Id {
        let node = match (self.get(id).clone(), operands) {
            (Node::Unary(operation, _), [inner]) => Node::Unary(operation, *inner),
            (Node::Narrow(bytes, signed, _), [inner]) => Node::Narrow(bytes, signed, *inner),
            (Node::Sum(counter, _), [inner]) => Node::Sum(counter, *inner),
            (Node::Binary(operation, ..), [left, right]) => Node::Binary(operation, *left, *right),
            (Node::Select(..), [condition, then, otherwise]) => {
                Node::Select(*condition, *then, *otherwise)
            }
            (node, _) => node,
        };
        self.add(node)
    }

    /// Returns all expressions that one is made of, itself included.
    pub(super) fn inside(&self, id: Id) -> BTreeSet<Id> {
        let mut seen = BTreeSet::new();
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                stack.extend(self.operands(id));
            }
        }
        seen
    }

    /// Returns an expression with something else in place of counters.
    pub(super) fn with(&mut self, id: Id, counters: &[(Counter, Affine)]) -> Id {
        let mut done = HashMap::new();
        self.replaced(id, counters, &mut done)
    }

    fn replaced(
        &mut self,
        id: Id,
        counters: &[(Counter, Affine)],
        done: &mut HashMap<Id, Id>,
    ) -> Id {
        if let Some(new) = done.get(&id) {
            return *new;
        }
        // At once: a value may name a counter that is replaced, too.
        let all = |value: &Affine| {
            let mut sum = Affine::of(value.constant);
            for (counter, factor) in &value.terms {
                let own = Affine::counter(*counter);
                let new = counters.iter().find(|(other, _)| other == counter);
                sum = sum.plus(new.map_or(&own, |(_, new)| new), *factor);
            }
            sum
        };
        let new = match self.get(id).clone() {
            Node::Index(value) => self.index(all(&value)),
            Node::Load(address, element) => self.add(Node::Load(all(&address), element)),
            Node::Stored(address, element) => self.add(Node::Stored(all(&address), element)),
            _ => {
                let operands = self.operands(id);
                if operands.is_empty() {
                    return id;
                }
                let new: Vec<Id> = operands
                    .iter()
                    .map(|operand| self.replaced(*operand, counters, done))
                    .collect();
                self.with_operands(id, &new)
            }
        };
        done.insert(id, new);
        new
    }

    /// Returns the expression of a number.
    pub(super) fn index(&mut self, value: Affine) -> Id {
        match value.known() {
            Some(known) => self.add(Node::Integer(known)),
            None => self.add(Node::Index(value)),
        }
    }

    /// Returns a number if that is all that an expression is.
    fn number(&self, id: Id) -> Option<Number> {
        match self.get(id) {
            Node::Integer(value) => Some(Number::Integer(*value)),
            Node::Float(bits) => Some(Number::Float(f64::from_bits(*bits))),
            _ => None,
        }
    }

    /// Returns what C makes of known numbers.
    pub(super) fn of_number(&mut self, number: Number) -> Option<Id> {
        match number {
            Number::Integer(value) => Some(self.add(Node::Integer(value))),
            Number::Float(value) => Some(self.add(Node::Float(value.to_bits()))),
            _ => None,
        }
    }

    pub(super) fn unary(&mut self, operation: Unary, inner: Id) -> Id {
        let is_single = match self.get(inner) {
            Node::Unary(Unary::Float, _) => true,
            Node::Load(_, element) | Node::Stored(_, element) => *element == Element::Float,
            _ => false,
        };
        if operation == Unary::Float && is_single {
            return inner;
        }
        let known = self
            .number(inner)
            .and_then(|it| self.of_number(operate(operation, it)));
        known.unwrap_or_else(|| self.add(Node::Unary(operation, inner)))
    }

    pub(super) fn binary(&mut self, operation: Binary, left: Id, right: Id) -> Id {
        let known = self
            .number(left)
            .zip(self.number(right))
            .and_then(|(left, right)| self.of_number(compute(operation, left, right)?));
        let zero = |id: Id| matches!(self.get(id), Node::Integer(0));
        match operation {
            _ if known.is_some() => known.unwrap_or(left),
            Binary::Add if zero(left) => right,
            Binary::Add | Binary::Subtract if zero(right) => left,
            _ => self.add(Node::Binary(operation, left, right)),
        }
    }

    pub(super) fn narrow(&mut self, bytes: u8, signed: bool, inner: Id) -> Id {
        let known = self
            .number(inner)
            .and_then(|it| self.of_number(narrowed(it, bytes, signed)));
        let fits = match self.get(inner) {
            Node::Load(_, Element::Integer(other, is_signed))
            | Node::Stored(_, Element::Integer(other, is_signed))
            | Node::Narrow(other, is_signed, _) => {
                (*other, *is_signed) == (bytes, signed) || *other < bytes && (signed || !is_signed)
            }
            _ => false,
        };
        match known {
            Some(known) => known,
            None if fits => inner,
            None => self.add(Node::Narrow(bytes, signed, inner)),
        }
    }

    pub(super) fn select(&mut self, condition: Id, then: Id, otherwise: Id) -> Id {
        match self.get(condition) {
            _ if then == otherwise => then,
            Node::Integer(value) => {
                if *value == 0 {
                    otherwise
                } else {
                    then
                }
            }
            _ => self.add(Node::Select(condition, then, otherwise)),
        }
    }

    /// Returns the sum of an expression over all steps of a loop.
    pub(super) fn sum(&mut self, counter: Counter, inner: Id) -> Id {
        match self.get(inner) {
            Node::Integer(0) => inner,
            _ => self.add(Node::Sum(counter, inner)),
        }
    }

    /// Returns whether an expression is an element that is only copied, or a number.
    pub(super) fn is_copy(&self, id: Id) -> bool {
        match *self.get(id) {
            Node::Integer(_) | Node::Float(_) | Node::Load(..) | Node::Stored(..) => true,
            Node::Narrow(_, _, inner) => self.is_copy(inner),
            _ => false,
        }
    }
}
