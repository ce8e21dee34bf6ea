//! What is left to the core where the accelerator does something else to sums than it:
//! the array leaves the sums at full width, and the core makes results of them.

use super::super::program::{Binary, Memory, Unary};
use super::affine::{Affine, Counter, Counters};
use super::node::{Element, Id, Node, Nodes};
use super::region::Write;
use std::collections::HashMap;
use std::fmt::Write as _;

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
    /// Name of the array of the sums; its elements are numbered as those of the results.
    pub(super) name: &'seen str,
}

impl Remainder<'_> {
    /// Returns the code.
    ///
    /// # Errors
    /// What cannot be written.
    pub(super) fn text(&self) -> Result<String, String> {
        let inside = self.nodes.inside(self.write.value);
        if PARTS < inside.len() {
            return Err("what is done to its sums takes too many steps".to_owned());
        }
        let dims = self.write.dims.iter();
        let [mut text, indent, ends] = nest(dims.map(|dim| self.counters.extent(*dim)));
        let [target, place] = self.place(&self.write.address, self.write.element)?;
        let _ = writeln!(text, "{indent}const int place = {place};");
        let _ = writeln!(
            text,
            "{indent}const int64_t sum = ((const int32_t *){})[place];",
            self.name
        );
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
        let _ = writeln!(text, "{indent}{target}[place] = {value};");
        text.push_str(&ends);
        Ok(text)
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

    /// Returns an array as a pointer to elements, and which element an address is.
    fn place(&self, address: &Affine, element: Element) -> Result<[String; 2], String> {
        let found = Memory::of(address.constant as u64);
        let known = found.and_then(|(array, offset)| Some((self.memories.get(array)?, offset)));
        let (memory, offset) = known.ok_or("an address outside all arrays")?;
        let kind = match element {
            Element::Integer(1, true) => "int8_t",
            Element::Integer(1, false) => "uint8_t",
            Element::Integer(2, true) => "int16_t",
            Element::Integer(2, false) => "uint16_t",
            Element::Integer(4, true) => "int32_t",
            Element::Integer(4, false) => "uint32_t",
            Element::Integer(_, true) => "int64_t",
            Element::Integer(_, false) => "uint64_t",
            Element::Float => "float",
            Element::Double => "double",
        };
        let width = element.bytes();
        let mut text = (offset / width).to_string();
        if text == "0" {
            text.clear();
        }
        for (counter, factor) in &address.terms {
            let at = self.dim(*counter)?;
            let times = match factor / width {
                1 => String::new(),
                times => format!("{times} * "),
            };
            let plus = if text.is_empty() { "" } else { " + " };
            let _ = write!(text, "{plus}{times}n{at}");
        }
        if text.is_empty() {
            text.push('0');
        }
        Ok([format!("(({kind} *){})", memory.name), text])
    }

    fn dim(&self, counter: Counter) -> Result<usize, String> {
        let at = self.write.dims.iter().position(|dim| *dim == counter);
        at.ok_or_else(|| "what is done to its sums is a sum itself".to_owned())
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
                0 => "sum".to_owned(),
                more => format!("(sum + ({more}))"),
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
                let [array, place] = self.place(address, *element)?;
                let kind = self.kind(id);
                format!("({kind}){array}[{place}]")
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

/// Returns the heads of nested loops whose counters are `n0`, `n1`, ..., how far what they do
/// is indented, and their ends.
pub(super) fn nest(extents: impl Iterator<Item = i64>) -> [String; 3] {
    let [mut heads, mut ends] = [String::new(), String::new()];
    let mut indent = "  ".to_owned();
    for (at, extent) in extents.enumerate() {
        let _ = writeln!(
            heads,
            "{indent}for (int n{at} = 0; n{at} < {extent}; n{at}++) {{"
        );
        ends.insert_str(0, &format!("{indent}}}\n"));
        indent.push_str("  ");
    }
    [heads, indent, ends]
}
