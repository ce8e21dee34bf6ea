//! Raises kernels that are plain C for the core to operations of the array.
//!
//! Loops are followed with counters in place of numbers: one step stands for all that
//! are alike. What is left in memory is a number of stretches of elements, each with
//! the expression that it is given. Sums of products in them become rows as the array
//! would have stored them; what is done to the sums must be what the accelerator does
//! when it stores.

mod affine;
mod depthwise;
mod ended;
mod evaluate;
mod follow;
mod linear;
mod loops;
mod node;
mod region;
mod relaid;
mod remainder;
mod rounding;
mod rows;

use super::Reason;
use super::program::{Memory, Program, Type};
use super::traced::{Numbered, Store, Stored};
use affine::{Affine, Counters};
use autocomp_gemmini::{Elements, GemminiConfig};
pub(super) use follow::{Follower, Left};
use linear::{Part, Sums};
use node::{Element, Id, Nodes};
use region::Write;
use remainder::Remainder;
use rounding::{Outlet, Tail};
use rows::{Rows, Spacing};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What the core leaves in memory.
pub(super) struct Plain {
    /// By array, as if the array had stored it.
    pub(super) stored: BTreeMap<usize, Stored>,
    pub(super) numbered: Numbered,
    /// The program's arrays, and those of sums that the core makes results of.
    pub(super) memories: Vec<Memory>,
    /// Numbers of the arrays that the program does not have.
    pub(super) new: Range<usize>,
    /// What the core does before everything else.
    pub(super) preparation: String,
    /// What the core does with the sums.
    pub(super) remainder: String,
    /// Why the core has to.
    pub(super) why: Option<Reason>,
}

/// Finds out what statements of a program store that leave everything to the core, of what
/// following them `left`.
///
/// `is_wanted`: whether what an array is given matters afterwards. `lays_weights`: whether
/// the core lays weights in another order first.
///
/// # Errors
/// What is not what the array computes.
pub(super) fn stored(
    program: &Program,
    left: &Left,
    is_wanted: &dyn Fn(usize) -> bool,
    lays_weights: bool,
    config: &GemminiConfig,
) -> Result<Plain, Reason> {
    let Left {
        writes,
        nodes,
        counters,
        served,
    } = left;
    let written: BTreeSet<usize> = writes.iter().filter_map(|it| it.address.array()).collect();
    let memories = &program.memories;
    let operand = match config.elements {
        Elements::Float32 => Element::Float,
        _ => Element::Integer(1, true),
    };
    let count = memories.len();
    let mut plain = Plain {
        stored: BTreeMap::new(),
        numbered: Numbered::default(),
        memories: memories.clone(),
        new: count..count,
        preparation: String::new(),
        remainder: String::new(),
        why: None,
    };
    let mut sums_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut orders: BTreeMap<relaid::Order, usize> = BTreeMap::new();
    let mut diagonals: BTreeMap<usize, usize> = BTreeMap::new();
    let mut spacings: BTreeMap<usize, Vec<Spacing>> = BTreeMap::new();
    let mut order: Vec<&Write> = writes.iter().collect();
    order.sort_by_key(|write| write.order);
    for write in order {
        let Some(array) = write.address.array() else {
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
        let Summed {
            outlet,
            mut parts,
            found,
        } = summed(write, nodes, counters, operand).map_err(refused)?;
        for part in &parts {
            for (address, _) in &part.elements {
                let read = address.array().filter(|read| written.contains(read));
                if let Some(read) = read.filter(|read| !served.contains(read)) {
                    return Err(refused(format!(
                        "it depends on what was in `{}` before",
                        memories[read].name
                    )));
                }
            }
        }
        let mut array = array;
        let mut whole = write.clone();
        let outlet = match outlet {
            Ok(outlet) if !sums_of.contains_key(&array) => outlet,
            outlet => {
                let why = outlet.err().unwrap_or_default();
                let is_product = parts.iter().any(|part| part.elements.len() == 2);
                if served.contains(&array) || !is_product || operand == Element::Float {
                    return Err(refused(why));
                }
                // The array leaves the sums, and the core makes results of them.
                plain.why.get_or_insert_with(|| refused(why));
                let new = *sums_of.entry(array).or_insert(plain.memories.len());
                if new == plain.memories.len() {
                    let name = format!("{}_sums", memory.name);
                    let sums = Memory::added(name, 4, false, memory.extents.clone());
                    plain.memories.push(sums);
                }
                let remainder = Remainder {
                    write,
                    nodes,
                    counters,
                    memories,
                    sums: &found,
                    name: &plain.memories[new].name,
                };
                plain
                    .remainder
                    .push_str(&remainder.text().map_err(refused)?);
                whole.address = moved(&write.address, write.element, new);
                whole.element = Element::Integer(4, true);
                array = new;
                Outlet::PLAIN
            }
        };
        if lays_weights {
            for part in &mut parts {
                let rows = Rows {
                    write: &whole,
                    parts: &[],
                    counters,
                    memories,
                    operand,
                };
                let Some((order, which)) = rows.order(part) else {
                    continue;
                };
                let memory = &memories[order.array];
                let known = orders.get(&order).copied();
                let new = known.unwrap_or(plain.memories.len());
                let moved = relaid::moved(&part.elements[which].0, memory, &order, new, counters);
                let Some(moved) = moved.filter(|_| !written.contains(&order.array)) else {
                    continue;
                };
                part.elements[which].0 = moved;
                if known.is_none() {
                    let (memory, text) = relaid::laid(memory, &order);
                    plain.memories.push(memory);
                    plain.preparation.push_str(&text);
                    orders.insert(order, new);
                }
            }
        }
        let rows = Rows {
            write: &whole,
            parts: &parts,
            counters,
            memories,
            operand,
        };
        let store = Store {
            is_relu: outlet.is_relu,
            scale: outlet.scale.to_bits(),
            pitch: 0,
            full_width: whole.element != operand,
        };
        let mut outputs = Vec::new();
        let dim = i64::from(config.dim);
        let spacing = match (rows.diagonal(), rows.across()) {
            (Some(weights), Some(across)) => {
                let new = *diagonals.entry(weights).or_insert(plain.memories.len());
                if new == plain.memories.len() {
                    let (memory, text) =
                        depthwise::laid(&memories[weights], counters.extent(across), dim);
                    plain.memories.push(memory);
                    plain.preparation.push_str(&text);
                }
                rows.add_grouped([weights, new], dim, &mut plain.numbered, &mut outputs)
            }
            _ => rows.add(&mut plain.numbered, &mut outputs),
        };
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
    plain.new.end = plain.memories.len();
    for array in sums_of.values().copied() {
        // Of an array of unknown size, as much as is stored.
        let ends = plain.stored[&array].outputs.iter().map(|output| {
            let place = (output.address - Memory::base(array)) as i64 / 4;
            place + i64::from(output.columns)
        });
        let end = ends.max().unwrap_or(0);
        if let Some((first @ 0, inner)) = plain.memories[array].extents.split_first_mut() {
            let inner: i64 = inner.iter().product();
            *first = (end + inner - 1) / inner.max(1);
        }
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

/// Returns the address of the same element in an array of sums.
fn moved(address: &Affine, element: Element, array: usize) -> Affine {
    let width = element.bytes();
    let (_, offset) = Memory::of(address.constant as u64).unwrap_or_default();
    let mut moved = address.clone();
    moved.constant = Memory::base(array) as i64 + offset / width * 4;
    for (_, factor) in &mut moved.terms {
        *factor = *factor / width * 4;
    }
    moved
}

/// What a write stores.
struct Summed {
    /// What is done to the sum, or why the accelerator does not do that.
    outlet: Result<Outlet, String>,
    parts: Vec<Part>,
    /// Expressions that are the sum, and what is added to it in each.
    found: Vec<(Id, i64)>,
}

/// Returns the sum that a write stores, and what is done to it.
fn summed(
    write: &Write,
    nodes: &Nodes,
    counters: &Counters,
    operand: Element,
) -> Result<Summed, String> {
    let is_float = operand == Element::Float;
    let mut sums = Sums::new(nodes, counters, is_float);
    // The largest expressions that are sums.
    let mut found: Vec<(Id, i64)> = Vec::new();
    let mut parts: Option<Vec<Part>> = None;
    // Other elements beside a sum of products.
    let mut others = false;
    let mut all: Vec<(Id, linear::Linear)> = Vec::new();
    let mut stack = vec![write.value];
    let mut seen = BTreeSet::new();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(mut sum) = sums.of(id) else {
            match nodes.get(id) {
                node::Node::Float(_) => {}
                node::Node::Load(..) | node::Node::Stored(..) => others = true,
                _ if nodes.operands(id).is_empty() => {
                    return Err("it depends on what is no sum of products".to_owned());
                }
                _ => stack.extend(nodes.operands(id)),
            }
            continue;
        };
        if sum.parts.is_empty() {
            continue;
        }
        sum.parts.sort();
        all.push((id, sum));
    }
    let is_product = |sum: &linear::Linear| sum.parts.iter().any(|part| part.elements.len() == 2);
    let has_product = all.iter().any(|(_, sum)| is_product(sum));
    for (id, sum) in all {
        if has_product && !is_product(&sum) {
            others = true;
            continue;
        }
        found.push((id, sum.constant));
        if parts.get_or_insert_with(|| sum.parts.clone()) != &sum.parts {
            return Err("results are of more than one sum".to_owned());
        }
    }
    let parts = parts.ok_or("it is given numbers, not sums")?;
    let tail = Tail {
        nodes,
        result: write.value,
        sums: &found,
    };
    let outlet = match write.element {
        _ if others => Err("what is done to its sums depends on other elements, too".to_owned()),
        Element::Float if is_float => tail.float_outlet(),
        Element::Integer(4, true) if !is_float => match tail.is_identity() {
            true => Ok(Outlet::PLAIN),
            false => Err("sums are stored at full width, but not as they are".to_owned()),
        },
        element if element == operand => tail.outlet(),
        _ => Err("its elements are neither operands nor sums of the accelerator".to_owned()),
    };
    Ok(Summed {
        outlet,
        parts,
        found,
    })
}

/// Returns whether elements of a type are operands of the array.
pub(super) fn is_operand(kind: &Type, is_float: bool) -> bool {
    match kind {
        Type::Float => is_float,
        Type::Integer(1, true) => !is_float,
        _ => false,
    }
}
