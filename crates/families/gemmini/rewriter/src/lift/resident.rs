//! Results that stay in the scratchpad and are taken again as inputs.
//!
//! The hardware's loops leave results in memory only, so such results get an array there: each
//! row of it is what one row of a later result is made of.

use super::contents::{Numbered, Output, Store, Stored};
use super::plain::new_name;
use super::raise::declaration;
use super::versions::Versions;
use crate::memory::{Memory, Type};
use autocomp_gemmini::{Elements, GemminiConfig};
use std::collections::BTreeMap;

/// The number of the array that results in the scratchpad seem to lie in: more than there are.
const SCRATCHPAD: usize = 1 << 20;
/// Arrays that hold results at most.
const ARRAYS: usize = 16;

/// Returns the address that stands for a row of results.
pub(super) fn address(number: u32, config: &GemminiConfig) -> u64 {
    Memory::base(SCRATCHPAD) + u64::from(number) * row_bytes(config)
}

/// Returns whether an address stands for a row of results.
pub(super) fn is_result(address: u64) -> bool {
    Memory::base(SCRATCHPAD) <= address
}

fn row_bytes(config: &GemminiConfig) -> u64 {
    u64::from(config.dim * config.element_bytes())
}

/// Returns the number of the row of results that an address stands for.
fn number(address: u64, config: &GemminiConfig) -> Option<u32> {
    let (array, offset) = Memory::of(address)?;
    let number = offset as u64 / row_bytes(config);
    (array == SCRATCHPAD).then_some(number as u32)
}

/// Gives arrays to results in the scratchpad that are inputs of what is stored; returns their
/// declarations.
///
/// # Errors
/// The results form no matrices.
pub(super) fn settle(
    versions: &mut Versions,
    numbered: &Numbered,
    memories: &mut Vec<Memory>,
    config: &GemminiConfig,
) -> Result<String, String> {
    let mut declarations = String::new();
    if numbered.results.is_empty() {
        return Ok(declarations);
    }
    let mut all = std::mem::take(versions).into_all();
    let mut at = 0;
    let mut added = 0;
    while let Some((array, stored)) = all.get_mut(at) {
        let name = memories[*array].name.clone();
        let mut found = Vec::new();
        for group in groups(stored, numbered, config).into_values() {
            added += 1;
            if ARRAYS < added {
                return Err("many results that are taken from the scratchpad".to_owned());
            }
            let (memory, results) = held(&group, stored, numbered, memories, config, &name)?;
            declarations.push_str(&declaration(&memory));
            found.push((memories.len(), results));
            memories.push(memory);
        }
        if found.is_empty() {
            at += 1;
        }
        // What these are made of may be such results again.
        all.splice(at..at, found);
    }
    *versions = Versions::of(all);
    Ok(declarations)
}

/// Rows of results side by side, with the least address of what they go into.
type Group = BTreeMap<Vec<u32>, u64>;

/// Returns the results that sums take, by the array of the weights.
fn groups(stored: &Stored, numbered: &Numbered, config: &GemminiConfig) -> BTreeMap<usize, Group> {
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for output in &stored.outputs {
        let mut taken: Vec<(u64, u32)> = Vec::new();
        for term in &output.terms {
            let weights = numbered.weights[term.weights as usize].address;
            taken.extend(number(term.input, config).map(|number| (weights, number)));
        }
        taken.sort_unstable();
        let Some((array, _)) = taken.first().and_then(|(weights, _)| Memory::of(*weights)) else {
            continue;
        };
        let row = taken.into_iter().map(|(_, number)| number).collect();
        let first = groups.entry(array).or_default().entry(row);
        let first = first.or_insert(output.address);
        *first = output.address.min(*first);
    }
    groups
}

/// Returns the array that holds a group of results, and what it is given; has `stored` take
/// them from there.
fn held(
    group: &Group,
    stored: &mut Stored,
    numbered: &Numbered,
    memories: &[Memory],
    config: &GemminiConfig,
    name: &str,
) -> Result<(Memory, Stored), String> {
    let refused = || "results that are taken from the scratchpad form no matrix".to_owned();
    let mut rows: Vec<(&u64, &Vec<u32>)> = group.iter().map(|(row, at)| (at, row)).collect();
    rows.sort_unstable();
    let element = u64::from(config.element_bytes());
    let result = |number: u32| numbered.results.get(number as usize);
    let width = |row: &[u32]| -> Option<u64> {
        let mut columns = row.iter().map(|it| Some(u64::from(result(*it)?.columns)));
        columns.try_fold(0, |all, columns| Some(all + columns?))
    };
    let columns = rows.first().and_then(|(_, row)| width(row));
    let columns = columns.ok_or_else(refused)?;
    let base = Memory::base(memories.len());
    // Where each of the results lies.
    let mut places: BTreeMap<u32, u64> = BTreeMap::new();
    for (line, (_, row)) in rows.iter().enumerate() {
        if width(row) != Some(columns) {
            return Err(refused());
        }
        let mut at = base + line as u64 * columns * element;
        for number in row.iter() {
            if places.insert(*number, at).is_some() {
                return Err(refused());
            }
            at += u64::from(result(*number).ok_or_else(refused)?.columns) * element;
        }
    }
    for term in stored.outputs.iter_mut().flat_map(|it| &mut it.terms) {
        if let Some(place) = number(term.input, config).and_then(|it| places.get(&it)) {
            term.input = *place;
        }
    }
    let is_relu = places.keys().next().and_then(|it| result(*it));
    let is_relu = is_relu.is_some_and(|it| it.is_relu);
    let mut outputs = Vec::new();
    for (number, address) in &places {
        let result = result(*number).ok_or_else(refused)?;
        if result.is_relu != is_relu {
            return Err(refused());
        }
        outputs.push(Output {
            address: *address,
            columns: result.columns,
            addends: result.addends.clone(),
            terms: result.terms.clone(),
        });
    }
    let kind = match config.elements {
        Elements::Float32 => Type::Float,
        _ => Type::Integer(1, true),
    };
    let extents = vec![rows.len() as i64, columns as i64];
    let name = new_name(memories, format!("{name}_input"));
    let memory = Memory::added(name, kind, true, extents);
    let now = stored.first.saturating_sub(1);
    let given = Stored {
        store: Store {
            is_relu,
            scale: 1.0f32.to_bits(),
            pitch: (columns * element) as u32,
            full_width: false,
        },
        outputs,
        first: now,
        last: now,
        read: Some(stored.first),
    };
    Ok((memory, given))
}
