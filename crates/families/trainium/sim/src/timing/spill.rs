//! What does not fit the on-chip memory: put out and loaded again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::memory::{Plan, movable_peak};
use crate::number_maps::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Grain, Instruction, Long, Operation, Region, Tile, Transfer};

/// What a tile holds when it is put out.
#[derive(Clone)]
enum Content {
    /// An unchanged copy of main memory: the load that made it.
    Clean(Box<Instruction>),
    /// A result.
    Dirty,
}

/// Keeps what the kernel does not place itself within `room` bytes of each partition: tiles needed
/// latest are put out, results are saved and re-loaded, unchanged loads are loaded again.
pub(super) fn spill(plan: &mut Plan, room: u64) {
    if movable_peak(plan, Buffer::Sbuf) <= room {
        return;
    }
    let mut uses: Keyed<Tile, Vec<u32>> = Keyed::default();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        for region in instruction.reads.iter().chain(&instruction.writes) {
            if plan.lies_in(region, Buffer::Sbuf) && !plan.is_placed(region.tile) {
                let list = uses.entry(region.tile).or_default();
                if list.last() != Some(&(position as u32)) {
                    list.push(position as u32);
                }
            }
        }
    }
    let mut cursor: Keyed<Tile, usize> = Keyed::default();
    // By next use.
    let mut resident: BTreeMap<(u32, Tile), (u64, Content, u16)> = BTreeMap::new();
    let mut place: Keyed<Tile, u32> = Keyed::default();
    let mut away: Keyed<Tile, (Content, u16)> = Keyed::default();
    let mut level = 0u64;
    let mut out = Long::default();
    for (position, instruction) in plan.take_instructions().into_iter().enumerate() {
        let mut needed: Vec<Tile> = Vec::new();
        for region in instruction.reads.iter().chain(&instruction.writes) {
            let key = region.tile;
            if uses.contains_key(&key) && !needed.contains(&key) {
                needed.push(key);
            }
        }
        for key in &needed {
            let bytes = plan.tensors[key.tensor as usize].bytes;
            // Pin: its next use is now.
            let mut entry = None;
            if let Some(next) = place.remove(key) {
                entry = resident.remove(&(next, *key));
            }
            let fresh = entry.is_none();
            let (content, partitions) = match (entry, away.remove(key)) {
                (Some((_, content, partitions)), _) => (content, partitions),
                (None, Some((content, partitions))) => {
                    // Overwritten as a whole it need not come back.
                    let replaced = !instruction.reads.iter().any(|r| r.tile == *key)
                        && instruction
                            .writes
                            .iter()
                            .any(|r| r.tile == *key && r.is_all(bytes));
                    if !replaced {
                        let load = match &content {
                            Content::Clean(load) => {
                                let mut load = load.clone();
                                if let Some(transfer) = &mut load.transfer {
                                    Arc::make_mut(transfer).spill = true;
                                }
                                *load
                            }
                            Content::Dirty => {
                                spilled(Operation::Load, *key, bytes, partitions, &instruction)
                            }
                        };
                        if let Some(transfer) = &load.transfer {
                            plan.spill_bytes += transfer.hbm_read;
                        }
                        out.push(load);
                    }
                    (content, partitions)
                }
                (None, None) => (Content::Dirty, instruction.partitions),
            };
            if fresh {
                level += bytes;
            }
            resident.insert((position as u32, *key), (bytes, content, partitions));
            place.insert(*key, position as u32);
        }
        // Make room among what is needed later.
        while level > room {
            let Some((next, key)) = resident.keys().next_back().copied() else {
                break;
            };
            if next == position as u32 {
                break;
            }
            if let Some((bytes, content, partitions)) = resident.remove(&(next, key)) {
                place.remove(&key);
                level -= bytes;
                if matches!(content, Content::Dirty) {
                    out.push(spilled(
                        Operation::Store,
                        key,
                        bytes,
                        partitions,
                        &instruction,
                    ));
                    plan.spill_bytes += bytes * u64::from(partitions);
                }
                away.insert(key, (content, partitions));
            }
        }
        // What is written changes; what is not needed any more goes.
        for key in &needed {
            let Some(now) = place.remove(key) else {
                continue;
            };
            let Some((bytes, mut content, partitions)) = resident.remove(&(now, *key)) else {
                continue;
            };
            if instruction.writes.iter().any(|r| r.tile == *key) {
                let whole = instruction.operation == Operation::Load
                    && instruction.reads.len() == 1
                    && instruction.writes.first().is_some_and(|r| r.is_all(bytes));
                let input = instruction.reads.first().is_some_and(|r| {
                    plan.tensors
                        .get(r.tile.tensor as usize)
                        .is_some_and(|t| t.input)
                });
                content = if whole && input {
                    Content::Clean(Box::new(instruction.clone()))
                } else {
                    Content::Dirty
                };
            }
            let list = &uses[key];
            let at = cursor.entry(*key).or_insert(0);
            while *at < list.len() && list[*at] <= position as u32 {
                *at += 1;
            }
            match list.get(*at) {
                Some(next) => {
                    resident.insert((*next, *key), (bytes, content, partitions));
                    place.insert(*key, *next);
                }
                None => level -= bytes,
            }
        }
        out.push(instruction);
    }
    plan.instructions = Arc::new(out);
}

pub(super) fn spilled(
    operation: Operation,
    tile: Tile,
    bytes: u64,
    partitions: u16,
    at: &Instruction,
) -> Instruction {
    let mut one = Instruction::new(operation, Choice::Fixed(crate::trace::Engine::Dma), at.line);
    one.partitions = partitions;
    one.features.inserted = true;
    let total = bytes * u64::from(partitions);
    let load = operation == Operation::Load;
    one.transfer = Some(Arc::new(Transfer {
        rows: u32::from(partitions),
        run_bytes: bytes as u32,
        runs: 1,
        hbm_read: if load { total } else { 0 },
        hbm_written: if load { 0 } else { total },
        transposed: 0,
        turned_blocks: 0,
        aligned: 64,
        spill: true,
    }));
    let region = Region {
        grain: Grain::default(),
        tile,
        partitions: (0, partitions),
        span: Region::span(0, bytes),
    };
    if load {
        one.writes.push(region);
    } else {
        one.reads.push(region);
    }
    one
}
