//! Raises kernels that are plain C for the core to operations of the array.
//!
//! Loops are followed with counters in place of numbers: one step stands for all that
//! are alike. What is left in memory is a number of stretches of elements, each with
//! the expression that it is given. Sums of products in them become rows as the array
//! would have stored them; what is done to the sums must be what the accelerator does
//! when it stores.

mod affine;
mod follow;
mod linear;
mod loops;
mod node;
mod region;
mod rounding;
mod rows;

use super::Reason;
use super::program::{Memory, Program, Type};
use super::traced::{Numbered, Store, Stored};
use affine::Affine;
use autocomp_gemmini::{Elements, GemminiConfig};
use follow::Follower;
use linear::{Part, Sums};
use node::{Element, Id, Nodes};
use region::Write;
use rounding::{Outlet, Tail};
use rows::{Rows, Spacing};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What the core leaves in memory.
pub(super) struct Plain {
    /// By array, as if the array had stored it.
    pub(super) stored: BTreeMap<usize, Stored>,
    pub(super) numbered: Numbered,
}

/// Finds out what some statements of a program store that leave everything to the core.
///
/// `is_wanted`: whether what an array is given matters afterwards.
///
/// # Errors
/// What cannot be followed, or is not what the array computes.
pub(super) fn stored(
    program: &Program,
    statements: Range<usize>,
    is_wanted: &dyn Fn(usize) -> bool,
    config: &GemminiConfig,
) -> Result<Plain, Reason> {
    let follower = Follower::new(program);
    let (writes, nodes, counters, served) = follower.run(statements)?;
    let array_of = |address: &Affine| Memory::of(address.constant as u64).map(|it| it.0);
    let written: BTreeSet<usize> = writes
        .iter()
        .filter_map(|it| array_of(&it.address))
        .collect();
    let memories = &program.memories;
    let operand = match config.elements {
        Elements::Float32 => Element::Float,
        _ => Element::Integer(1, true),
    };
    let mut plain = Plain {
        stored: BTreeMap::new(),
        numbered: Numbered::default(),
    };
    let mut spacings: BTreeMap<usize, Vec<Spacing>> = BTreeMap::new();
    let mut order: Vec<&Write> = writes.iter().collect();
    order.sort_by_key(|write| write.order);
    for write in order {
        let Some(array) = array_of(&write.address) else {
            continue;
        };
        let Some(memory) = memories.get(array) else {
            continue;
        };
        if !is_wanted(array) && !served.contains(&array) {
            continue;
        }
        let refused =
            |why: String| Reason::at(0, &format!("what `{}` is given: {why}", memory.name));
        let (outlet, parts) = summed(write, &nodes, operand).map_err(refused)?;
        for part in &parts {
            for (address, _) in &part.elements {
                let read = array_of(address).filter(|read| written.contains(read));
                if let Some(read) = read.filter(|read| !served.contains(read)) {
                    return Err(refused(format!(
                        "it depends on what was in `{}` before",
                        memories[read].name
                    )));
                }
            }
        }
        let rows = Rows {
            write,
            parts: &parts,
            counters: &counters,
            memories,
            operand,
        };
        let store = Store {
            is_relu: outlet.is_relu,
            scale: outlet.scale.to_bits(),
            pitch: 0,
            full_width: write.element != operand,
        };
        let mut outputs = Vec::new();
        let spacing = rows.add(&mut plain.numbered, &mut outputs);
        spacings
            .entry(array)
            .or_default()
            .push(spacing.map_err(refused)?);
        let stored = plain.stored.entry(array).or_insert_with(|| Stored {
            store,
            outputs: Vec::new(),
            first: write.order,
            last: write.order,
            read: None,
        });
        if stored.store != store {
            return Err(refused("an array that is stored to in two ways".to_owned()));
        }
        stored.outputs.append(&mut outputs);
    }
    for (array, stored) in &mut plain.stored {
        let pitch = Spacing::pitch(&spacings[array]);
        stored.store.pitch = u32::try_from(pitch)
            .map_err(|_| Reason::at(0, "rows of an array that lie too far apart"))?;
    }
    if plain.stored.is_empty() {
        return Err(Reason::at(0, "it stores nothing"));
    }
    Ok(plain)
}

/// Returns the sum that a write stores, and what is done to it.
fn summed(write: &Write, nodes: &Nodes, operand: Element) -> Result<(Outlet, Vec<Part>), String> {
    let is_float = operand == Element::Float;
    let mut sums = Sums::new(nodes, is_float);
    // The largest expressions that are sums.
    let mut found: Vec<(Id, i64)> = Vec::new();
    let mut parts: Option<Vec<Part>> = None;
    let mut stack = vec![write.value];
    let mut seen = BTreeSet::new();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(mut sum) = sums.of(id) else {
            let operands = nodes.operands(id);
            if operands.is_empty() && !matches!(nodes.get(id), node::Node::Float(_)) {
                return Err("it depends on what is no sum of products".to_owned());
            }
            stack.extend(operands);
            continue;
        };
        if sum.parts.is_empty() {
            continue;
        }
        sum.parts.sort();
        found.push((id, sum.constant));
        if parts.get_or_insert_with(|| sum.parts.clone()) != &sum.parts {
            return Err(
                "results are of more than one sum, or of a sum and other elements".to_owned(),
            );
        }
    }
    let parts = parts.ok_or("it is given numbers, not sums")?;
    let tail = Tail {
        nodes,
        result: write.value,
        sums: &found,
    };
    let plain = Outlet {
        is_relu: false,
        scale: 1.0,
    };
    let outlet = match write.element {
        Element::Float if is_float => tail.float_outlet()?,
        Element::Integer(4, true) if !is_float => {
            if !tail.is_identity() {
                return Err("sums are stored at full width, but not as they are".to_owned());
            }
            plain
        }
        element if element == operand => tail.outlet()?,
        _ => {
            return Err("its elements are neither operands nor sums of the accelerator".to_owned());
        }
    };
    Ok((outlet, parts))
}

/// Returns whether elements of a type are operands of the array.
pub(super) fn is_operand(kind: &Type, is_float: bool) -> bool {
    match kind {
        Type::Float => is_float,
        Type::Integer(1, true) => !is_float,
        _ => false,
    }
}
