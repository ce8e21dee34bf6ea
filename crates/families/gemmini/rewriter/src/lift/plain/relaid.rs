//! Weights that the core lays in memory in another order first: where the columns of the
//! results do not lie side by side in them, and the array cannot turn them.

use super::super::program::Memory;
use super::affine::{Affine, Counters, Stop};
use super::linear::Part;
use super::remainder::nest;
use super::rows::Rows;
use std::fmt::Write as _;

/// An array in another order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Order {
    pub(super) array: usize,
    /// Its dimensions, outermost first, as they lie then.
    pub(super) dims: Vec<usize>,
}

impl Rows<'_> {
    /// Returns in which order weights would have the columns of the results side by side,
    /// and which of the part's elements they are; nothing if they have already.
    pub(super) fn order(&self, part: &Part) -> Option<(Order, usize)> {
        let across = self.across()?;
        if part.elements.len() != 2 {
            return None;
        }
        let product = self.product(part).ok()?;
        let weights = &product.weights;
        let depth = product.depth?;
        let which = part.elements.iter().position(|it| it.0 == *weights)?;
        if weights.factor(across) == self.operand.bytes() {
            return None;
        }
        let array = weights.array()?;
        let memory = self.memories.get(array)?;
        let steps = indices(weights, memory, self.counters).ok()??;
        let of = |counter| {
            let mut dims = (0..steps.len()).filter(|dim| steps[*dim].factor(counter) != 0);
            dims.next().filter(|_| dims.next().is_none())
        };
        let [columns, rows] = [of(across)?, of(depth)?];
        let mut dims: Vec<usize> = (0..steps.len())
            .filter(|dim| ![columns, rows].contains(dim))
            .collect();
        dims.push(rows);
        if columns != rows {
            dims.push(columns);
        }
        Some((Order { array, dims }, which))
    }
}

/// Returns the index in each dimension of an array that is declared with several.
fn indices(
    address: &Affine,
    memory: &Memory,
    counters: &Counters,
) -> Result<Option<Vec<Affine>>, Stop> {
    if memory.bytes().is_none() || memory.extents.len() < 2 || memory.element != 1 {
        return Ok(None);
    }
    let (_, offset) = Memory::of(address.constant as u64).unwrap_or_default();
    let mut rest = Affine {
        constant: offset,
        ..address.clone()
    };
    let mut found = Vec::new();
    for dim in 0..memory.extents.len() {
        let inner: i64 = memory.extents[dim + 1..].iter().product();
        let [index, left] = counters.divided(&rest, inner)?;
        found.push(index);
        rest = left;
    }
    Ok(Some(found))
}

/// Returns the address of the same element in the array in another order.
pub(super) fn moved(
    address: &Affine,
    memory: &Memory,
    order: &Order,
    to: usize,
    counters: &Counters,
) -> Option<Affine> {
    let steps = indices(address, memory, counters).ok()??;
    let mut moved = Affine::of(Memory::base(to) as i64);
    let mut inner = 1;
    for dim in order.dims.iter().rev() {
        moved = moved.plus(&steps[*dim], inner);
        inner *= memory.extents[*dim];
    }
    Some(moved)
}

/// Returns the array in another order, and the code that fills it.
pub(super) fn laid(memory: &Memory, order: &Order) -> (Memory, String) {
    let extents = order.dims.iter().map(|dim| memory.extents[*dim]).collect();
    let new = Memory::added(format!("{}_turned", memory.name), 1, true, extents);
    let [mut text, indent, ends] = nest(memory.extents.iter().copied());
    let index = |dim: &usize| format!("[n{dim}]");
    let target: String = order.dims.iter().map(index).collect();
    let mut place = String::new();
    for dim in 0..memory.extents.len() {
        let inner: i64 = memory.extents[dim + 1..].iter().product();
        let plus = if dim == 0 { "" } else { " + " };
        let times = if inner == 1 {
            String::new()
        } else {
            format!("{inner} * ")
        };
        let _ = write!(place, "{plus}{times}n{dim}");
    }
    let _ = writeln!(
        text,
        "{indent}{}{target} = ((const int8_t *){})[{place}];",
        new.name, memory.name
    );
    text.push_str(&ends);
    (new, text)
}
