//! Arrays that the core lays in memory in another order: operands before the array works, and
//! results behind it, where their rows do not lie as the array needs them.

use super::affine::{Affine, Counter, Counters};
use super::linear::Part;
use super::node::Element;
use super::rows::Rows;
use super::shape;
use crate::memory::Memory;
use std::fmt::Write as _;

/// An array in another order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Order {
    pub(super) array: usize,
    /// Its dimensions, outermost first, as they lie then.
    pub(super) dims: Vec<usize>,
}

impl Order {
    /// Returns whether everything stays where it is.
    fn is_same(&self) -> bool {
        self.dims.iter().copied().eq(0..self.dims.len())
    }

    /// Returns an order with some dimensions innermost; nothing if they are there already.
    pub(super) fn with_innermost(array: usize, count: usize, last: &[usize]) -> Option<Self> {
        let mut dims: Vec<usize> = (0..count).filter(|dim| !last.contains(dim)).collect();
        dims.extend(last);
        let order = Self { array, dims };
        (!order.is_same()).then_some(order)
    }
}

/// An array of which it is known how its dimensions lie.
pub(super) struct Shaped<'seen> {
    pub(super) array: usize,
    pub(super) extents: &'seen [i64],
    pub(super) counters: &'seen Counters,
}

impl Shaped<'_> {
    /// Returns the extents in another order.
    pub(super) fn ordered(&self, order: &Order) -> Vec<i64> {
        order.dims.iter().map(|dim| self.extents[*dim]).collect()
    }

    pub(super) fn indices(&self, address: &Affine, element: Element) -> Option<Vec<Affine>> {
        shape::indices(address, element, self.extents, self.counters)
    }

    /// Returns the address of the same element in array `to`, which has another order and
    /// elements of another width.
    pub(super) fn moved(
        &self,
        (address, element): &(Affine, Element),
        order: &Order,
        (to, width): (usize, Element),
    ) -> Option<Affine> {
        let indices = self.indices(address, *element)?;
        let indices: Vec<&Affine> = order.dims.iter().map(|dim| &indices[*dim]).collect();
        Some(shape::address(to, &indices, &self.ordered(order), width))
    }

    /// Returns the code that fills an array in another order.
    pub(super) fn laid(&self, names: [&str; 2], order: &Order, element: Element) -> String {
        let mut text = String::new();
        let mut indent = "  ".to_owned();
        for (at, dim) in order.dims.iter().enumerate() {
            let extent = self.extents[*dim];
            let _ = writeln!(
                text,
                "{indent}for (int n{at} = 0; n{at} < {extent}; n{at}++) {{"
            );
            indent.push_str("  ");
        }
        let target: String = (0..order.dims.len()).map(|at| format!("[n{at}]")).collect();
        let mut place = String::new();
        for (dim, _) in self.extents.iter().enumerate() {
            let inner: i64 = self.extents[dim + 1..].iter().product();
            let plus = if dim == 0 { "" } else { " + " };
            let times = if inner == 1 {
                String::new()
            } else {
                format!("{inner} * ")
            };
            let at = order.dims.iter().position(|other| *other == dim);
            let _ = write!(place, "{plus}{times}n{}", at.unwrap_or(dim));
        }
        let _ = writeln!(
            text,
            "{indent}{}{target} = ((const {} *){})[{place}];",
            names[1],
            element.in_c(),
            names[0]
        );
        for depth in (1..=order.dims.len()).rev() {
            let _ = writeln!(text, "{}}}", "  ".repeat(depth));
        }
        text
    }
}

/// Returns the dimensions in which an index depends on one of some counters.
fn depending(indices: &[Affine], counters: &[Counter]) -> Vec<usize> {
    let depends = |index: &Affine| counters.iter().any(|it| index.factor(*it) != 0);
    (0..indices.len())
        .filter(|dim| depends(&indices[*dim]))
        .collect()
}

impl Rows<'_> {
    /// Returns the dimensions of results that the same inputs go into; nothing if that cannot
    /// be told from one write.
    pub(super) fn columns_of_results(
        &self,
        part: &Part,
        shaped: &Shaped<'_>,
    ) -> Result<Option<Vec<usize>>, String> {
        let Some(across) = self.across() else {
            return Ok(None);
        };
        let [one, other] = part.elements.as_slice() else {
            return Ok(None);
        };
        let [input, weights] = match [one, other].map(|it| it.0.factor(across) != 0) {
            [true, false] => [one, other],
            [false, true] => [other, one],
            _ => return Err("each of its columns is of inputs of its own".to_owned()),
        };
        let is_of_weights =
            |dim: &&Counter| weights.0.factor(**dim) != 0 && input.0.factor(**dim) == 0;
        let (own, others): (Vec<Counter>, Vec<Counter>) =
            self.write.dims.iter().partition(is_of_weights);
        let indices = shaped.indices(&self.write.address, self.write.element);
        let indices = indices.ok_or("its results lie in no order that is known")?;
        let columns = depending(&indices, &own);
        let rows = depending(&indices, &others);
        if rows.iter().any(|dim| columns.contains(dim)) {
            return Err("rows and columns of its results cannot be told apart".to_owned());
        }
        Ok((!columns.is_empty()).then_some(columns))
    }

    /// Returns in which order an input would have the elements of a sum side by side.
    pub(super) fn order_of_input(
        &self,
        part: &Part,
        address: &Affine,
        shaped: &Shaped<'_>,
    ) -> Option<Order> {
        let indices = shaped.indices(address, self.operand)?;
        let of_rows = depending(&indices, &self.write.dims);
        let mut summed = depending(&indices, &part.counters);
        summed.retain(|dim| !of_rows.contains(dim));
        if summed.is_empty() {
            return None;
        }
        Order::with_innermost(shaped.array, shaped.extents.len(), &summed)
    }

    /// Returns in which order weights would have the columns of the results side by side.
    pub(super) fn order_of_weights(&self, part: &Part, shaped: &Shaped<'_>) -> Option<Order> {
        let across = self.across()?;
        let product = self.product(part).ok()?;
        if product.weights.factor(across) == self.operand.bytes() {
            return None;
        }
        let indices = shaped.indices(&product.weights, self.operand)?;
        let columns = depending(&indices, &[across]);
        let mut last = depending(&indices, product.depth.as_slice());
        last.retain(|dim| !columns.contains(dim));
        last.extend(columns);
        Order::with_innermost(shaped.array, shaped.extents.len(), &last)
    }
}

/// Returns a name that no array has yet.
pub(in super::super) fn new_name(memories: &[Memory], name: String) -> String {
    let is_known = |name: &str| memories.iter().any(|memory| memory.name == name);
    let mut number = 2;
    let mut new = name.clone();
    while is_known(&new) {
        new = format!("{name}{number}");
        number += 1;
    }
    new
}
