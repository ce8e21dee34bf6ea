//! What is left to the core where the accelerator does something else to sums than it:
//! the array leaves the sums at full width, and the core makes results of them.

use super::super::program::{Binary, Unary};
use super::affine::{Affine, Counter, Counters};
use super::code::Loops;
use super::node::{Element, Id, Node, Nodes};
use super::region::Write;
use super::shape;
use crate::memory::Memory;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Name of what the array leaves.
const SUM: &str = "sum_of_products";
/// Parts that a result may be made of.
const PARTS: usize = 200;

/// The code that makes results of sums.
pub(super) struct Remainder<'seen> {
    pub(super) write: &'seen Write,
    pub(super) nodes: &'seen Nodes,
    pub(super) counters: &'seen Counters,
    pub(super) memories: &'seen [Memory],
    /// Expressions that are the sum, and what is added to it in each.
    pub(super) sums: &'seen [(Id, i64)],
    /// Where the array leaves the sum, and as what.
    pub(super) place: Affine,
    pub(super) element: Element,
    /// Counters of the loops.
    pub(super) dims: Vec<Counter>,
    /// Results that are made in the same way, in place of those of the write.
    pub(super) elsewhere: Option<Elsewhere<'seen>>,
}

/// Results that are made in the same way as those of a write.
#[derive(Clone, Copy)]
pub(super) struct Elsewhere<'seen> {
    /// Indices of the write's results.
    pub(super) place: &'seen [Affine],
    /// Counters that go over all results.
    pub(super) whole: &'seen [Affine],
    /// Indices of the other results.
    pub(super) there: &'seen [Affine],
}

impl Remainder<'_> {
    /// Returns the code.
    ///
    /// # Errors
    /// What cannot be written.
    pub(super) fn text(&self) -> Result<String, String> {
        if PARTS < self.used().len() {
            return Err("what is done to its sums takes too many steps".to_owned());
        }
        let loops = self.loops();
        let [mut text, indent, ends] = loops.nest();
        let kind = match self.element {
            Element::Integer(..) => "int64_t",
            _ => "double",
        };
        let sum = loops.element(&self.address(&self.place)?, self.element)?;
        let _ = writeln!(text, "{indent}const {kind} {SUM} = {sum};");
        // Parts that are used more than once have names of their own.
        let mut uses: HashMap<Id, usize> = HashMap::new();
        for id in self.used() {
            for operand in self.nodes.operands(id) {
                *uses.entry(operand).or_default() += 1;
            }
        }
        let mut named: HashMap<Id, String> = HashMap::new();
        for id in self.used() {
            let is_shared = uses.get(&id).is_some_and(|uses| 1 < *uses);
            if is_shared && !self.nodes.operands(id).is_empty() && self.sum(id).is_none() {
                let value = self.expression(id, &named)?;
                let kind = self.kind(id);
                let name = format!("part{}", named.len());
                let _ = writeln!(text, "{indent}const {kind} {name} = {value};");
                named.insert(id, name);
            }
        }
        let value = self.expression(self.write.value, &named)?;
        let target = loops.element(&self.address(&self.write.address)?, self.write.element)?;
        let _ = writeln!(text, "{indent}{target} = {value};");
        text.push_str(&ends);
        Ok(text)
    }

    fn loops(&self) -> Loops<'_> {
        Loops {
            memories: self.memories,
            counters: self.counters,
            dims: self.dims.clone(),
        }
    }

    /// Returns an address by the counters of the loops.
    fn address(&self, address: &Affine) -> Result<Affine, String> {
        let Some(Elsewhere {
            place,
            whole,
            there,
        }) = self.elsewhere
        else {
            return Ok(address.clone());
        };
        let everywhere = shape::everywhere(address, place, whole);
        let everywhere = everywhere.ok_or("results are made of sums in more than one way")?;
        Ok(shape::at(&everywhere, there, whole))
    }

    /// Returns the expressions that are written, operands first: not those inside sums.
    fn used(&self) -> Vec<Id> {
        let mut seen = std::collections::BTreeSet::new();
        let mut stack = vec![self.write.value];
        while let Some(id) = stack.pop() {
            if seen.insert(id) && self.sum(id).is_none() {
                stack.extend(self.nodes.operands(id));
            }
        }
        // An expression is younger than its operands.
        seen.into_iter().collect()
    }

    fn sum(&self, id: Id) -> Option<i64> {
        let found = self.sums.iter().find(|sum| sum.0 == id);
        found.map(|sum| sum.1)
    }

    /// Returns the type in which an expression is computed.
    fn kind(&self, id: Id) -> &'static str {
        if self.is_float(id) {
            "double"
        } else {
            "int64_t"
        }
    }

    fn is_float(&self, id: Id) -> bool {
        match *self.nodes.get(id) {
            _ if self.sum(id).is_some() => !matches!(self.element, Element::Integer(..)),
            Node::Float(_) | Node::Unary(Unary::Float, _) => true,
            Node::Load(_, element) | Node::Stored(_, element) => {
                matches!(element, Element::Float | Element::Double)
            }
            Node::Unary(Unary::Negate, inner) => self.is_float(inner),
            Node::Binary(
                Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide,
                one,
                other,
            )
            | Node::Select(_, one, other) => self.is_float(one) || self.is_float(other),
            _ => false,
        }
    }

    /// Returns an expression in C, as an integer of eight bytes or a `double`.
    fn expression(&self, id: Id, named: &HashMap<Id, String>) -> Result<String, String> {
        if let Some(more) = self.sum(id) {
            return Ok(match more {
                0 => SUM.to_owned(),
                more => format!("({SUM} + ({more}))"),
            });
        }
        if let Some(name) = named.get(&id) {
            return Ok(name.clone());
        }
        let of = |id: Id| self.expression(id, named);
        Ok(match self.nodes.get(id) {
            Node::Integer(value) if *value < 0 => format!("({value}LL)"),
            Node::Integer(value) if i32::try_from(*value).is_ok() => value.to_string(),
            Node::Integer(value) => format!("{value}LL"),
            Node::Float(bits) => format!("({:?})", f64::from_bits(*bits)),
            Node::Load(address, element) | Node::Stored(address, element) => {
                let kind = self.kind(id);
                let address = self.address(address)?;
                format!("({kind}){}", self.loops().element(&address, *element)?)
            }
            Node::Unary(Unary::Float, inner) => format!("(double)(float)({})", of(*inner)?),
            Node::Unary(Unary::Negate, inner) => format!("(-({}))", of(*inner)?),
            Node::Unary(Unary::Not, inner) => format!("(!({}))", of(*inner)?),
            Node::Unary(Unary::Invert, inner) => format!("(~({}))", of(*inner)?),
            Node::Narrow(bytes, signed, inner) => {
                let sign = if *signed { "" } else { "u" };
                let bits = 8 * u32::from(*bytes);
                format!("(int64_t)({sign}int{bits}_t)({})", of(*inner)?)
            }
            Node::Binary(operation, left, right) => {
                let operator = match operation {
                    Binary::Add => "+",
                    Binary::Subtract => "-",
                    Binary::Multiply => "*",
                    Binary::Divide => "/",
                    Binary::Remainder => "%",
                    Binary::ShiftLeft => "<<",
                    Binary::ShiftRight => ">>",
                    Binary::BitAnd => "&",
                    Binary::BitOr => "|",
                    Binary::BitXor => "^",
                    Binary::Less => "<",
                    Binary::LessEqual => "<=",
                    Binary::Equal => "==",
                    Binary::NotEqual => "!=",
                    Binary::And => "&&",
                    Binary::Or => "||",
                };
                format!("({} {operator} {})", of(*left)?, of(*right)?)
            }
            Node::Select(condition, then, otherwise) => {
                format!(
                    "({} ? {} : {})",
                    of(*condition)?,
                    of(*then)?,
                    of(*otherwise)?
                )
            }
            _ => return Err("what is done to its sums cannot be written down".to_owned()),
        })
    }
}
