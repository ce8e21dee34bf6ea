//! Tensors that do not fit the on-chip memory and are put out as a whole.
//!
//! An instruction in a loop is one instruction: it cannot find its operand in the memory in one
//! iteration and outside in the next. So a tensor of many tiles is not kept in part. If it was
//! loaded ahead, the loads are dropped and each part is loaded where it is read; if sums are kept
//! in it, each is stored when it was added to and loaded before the next time. Published counters
//! show this: of a product whose operand of 160 KiB in each partition is loaded ahead, and of one
//! whose sums take 128 KiB. Results that are written once and read once are left to [`spill`].
//!
//! [`spill`]: super::spill::spill

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::memory::{Plan, peak};
use super::spill::spilled;
use crate::number_maps::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Long, Operation, Region};

/// Loops over so few tiles are written out, which makes each a tensor of its own.
const FEW: u32 = 8;

/// What a tensor holds.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    /// Inputs, never changed.
    Inputs,
    /// Running sums.
    Sums,
}

/// Puts tensors out that the kernel does not place itself, the largest at the peak first, until the
/// rest fits in `room` bytes of each partition.
pub(super) fn sink(plan: &mut Plan, room: u64) {
    // Those that are dealt with, or left to the spills of single tiles.
    let mut done = BTreeSet::new();
    while let Some(tensor) = largest(plan, room, &done) {
        done.insert(tensor);
        if let Some(holds) = content(plan, tensor) {
            done.insert(plan.tensors.len() as u32);
            put_out(plan, tensor, holds);
        }
    }
}

/// The tensor with most bytes where the memory is fullest, if it has many tiles there; none if
/// what is not in `done` fits.
fn largest(plan: &Plan, room: u64, done: &BTreeSet<u32>) -> Option<u32> {
    let uses = plan.uses();
    let spans = || {
        uses.spans()
            .filter(|span| !plan.is_placed(span.tile) && !done.contains(&span.tile.tensor))
    };
    let (bytes, place) = peak(plan, spans(), Buffer::Sbuf);
    if bytes <= room {
        return None;
    }
    let mut live: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
    for span in spans() {
        let Some(tensor) = plan.tensors.get(span.tile.tensor as usize) else {
            continue;
        };
        let lives = (span.first as usize..=span.last as usize).contains(&place);
        if lives && tensor.buffer == Buffer::Sbuf {
            let (bytes, tiles) = live.entry(span.tile.tensor).or_default();
            *bytes += tensor.bytes;
            *tiles += 1;
        }
    }
    let largest = live.into_iter().max_by_key(|(_, (bytes, _))| *bytes);
    largest.and_then(|(tensor, (_, tiles))| (FEW < tiles).then_some(tensor))
}

/// What a tensor holds; none if it is neither.
fn content(plan: &Plan, tensor: u32) -> Option<Holds> {
    let whole = plan.tensors[tensor as usize].bytes;
    let mut written: Keyed<u32, u32> = Keyed::default();
    let (mut loaded, mut sums) = (true, false);
    for instruction in plan.instructions.iter() {
        for region in &instruction.writes {
            if region.tile.tensor == tensor {
                let times = written.entry(region.tile.block).or_default();
                *times += 1;
                loaded &= *times == 1 && region.is_all(whole) && is_load(plan, instruction);
                sums |= 1 < *times && instruction.features.accumulate;
            }
        }
    }
    match (loaded, sums) {
        (true, _) => Some(Holds::Inputs),
        (_, true) => Some(Holds::Sums),
        _ => None,
    }
}

/// Whether an instruction loads from an input, without turning anything.
fn is_load(plan: &Plan, instruction: &Instruction) -> bool {
    let [source] = &instruction.reads[..] else {
        return false;
    };
    let from = plan.tensors.get(source.tile.tensor as usize);
    let transfer = instruction.transfer.as_ref();
    instruction.operation == Operation::Load
        && from.is_some_and(|from| from.input)
        && transfer.is_some_and(|it| it.transposed == 0)
}

/// Puts a tensor out. What is read twice in a row is loaded once: one tile of room is left.
fn put_out(plan: &mut Plan, tensor: u32, holds: Holds) {
    let whole = plan.tensors[tensor as usize].clone();
    // Room for parts, the newest of which lies in this tile.
    let mut tile = plan.add_tensor(whole);
    let mut loads: Keyed<u32, Instruction> = Keyed::default();
    // Block and span that the newest tile holds.
    let mut latest: Option<(u32, (u32, u32))> = None;
    let mut stored: BTreeSet<u32> = BTreeSet::new();
    let mut out = Long::default();
    for mut instruction in plan.take_instructions() {
        let is_own = |region: &Region| region.tile.tensor == tensor;
        let target = instruction.writes.iter().copied().find(is_own);
        if let (Some(target), Holds::Inputs) = (target, holds) {
            loads.insert(target.tile.block, instruction);
            continue;
        }
        if target.is_some() && instruction.operation == Operation::Memset {
            // Zeros to begin with are made where the first sum is.
            continue;
        }
        let adds = instruction.features.accumulate;
        let mut read: Vec<Region> = instruction.reads.iter().copied().filter(is_own).collect();
        // The place that is added to is read, too.
        read.extend(target.filter(|it| adds && stored.contains(&it.tile.block)));
        for region in read {
            let bytes = region.length();
            if latest == Some((region.tile.block, region.span)) {
                continue;
            }
            let mut load = match (holds, loads.get(&region.tile.block)) {
                (Holds::Inputs, Some(load)) => part(load, bytes),
                (Holds::Sums, _) if stored.contains(&region.tile.block) => {
                    let rows = region.partitions.1 - region.partitions.0;
                    let load = spilled(Operation::Load, tile, bytes, rows, &instruction);
                    plan.spill_bytes += bytes * u64::from(rows);
                    load
                }
                _ => continue,
            };
            (load.site, load.step) = (instruction.site, instruction.step);
            tile = plan.add_tile(tile.tensor, tile.block + 1);
            let place = Region {
                tile,
                span: Region::span(0, bytes),
                ..region
            };
            load.writes = [place].into_iter().collect();
            out.push(load);
            latest = Some((region.tile.block, region.span));
        }
        for region in &mut instruction.reads {
            if region.tile.tensor == tensor && latest == Some((region.tile.block, region.span)) {
                region.tile = tile;
                region.span = (0, region.span.1 - region.span.0);
            }
        }
        let Some(target) = target else {
            out.push(instruction);
            continue;
        };
        // A sum: where it was loaded to, or a tile of its own, and from there to main memory.
        let bytes = target.length();
        if latest != Some((target.tile.block, target.span)) {
            latest = Some((target.tile.block, target.span));
            tile = plan.add_tile(tile.tensor, tile.block + 1);
        }
        let place = Region {
            tile,
            span: Region::span(0, bytes),
            ..target
        };
        for region in &mut instruction.writes {
            if region.tile.tensor == tensor {
                *region = place;
            }
        }
        let rows = target.partitions.1 - target.partitions.0;
        let mut store = spilled(Operation::Store, tile, bytes, rows, &instruction);
        (store.site, store.step) = (instruction.site, instruction.step);
        store.reads = [place].into_iter().collect();
        plan.spill_bytes += bytes * u64::from(rows);
        out.push(instruction);
        out.push(store);
        stored.insert(target.tile.block);
    }
    plan.instructions = Arc::new(out);
}

/// A load of `bytes` in each partition instead of the whole tile.
fn part(load: &Instruction, bytes: u64) -> Instruction {
    let mut one = load.clone();
    let whole = load
        .writes
        .first()
        .map_or(bytes, |it| it.span.1.into())
        .max(1);
    if let Some(transfer) = &mut one.transfer {
        let transfer = Arc::make_mut(transfer);
        transfer.hbm_read = transfer.hbm_read * bytes / whole;
        let run = u64::from(transfer.run_bytes).min(bytes).max(1);
        transfer.run_bytes = run as u32;
        transfer.runs = bytes.div_ceil(run).max(1) as u32;
    }
    one
}
