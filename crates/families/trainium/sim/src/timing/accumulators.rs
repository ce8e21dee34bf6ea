//! What goes to the accumulators, and what has no room there.

use std::sync::Arc;

use super::machine::Machine;
use super::memory::{Plan, movable_peak};
use super::uses::Span;
use crate::number_maps::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Features, Instruction, Long, Operation, Region, Tile};

/// Most instructions between making and reading a result that is kept in the accumulators.
const REACH: usize = 4096;

/// Results that only one operation of the vector engine reads go to the accumulators if they fit
/// a bank and there is room until they are read, which lets that operation stream both operands
/// at once.
pub(super) fn operands_in_accumulators(plan: &mut Plan, machine: &Machine) {
    let uses = plan.uses();
    if !uses.pairs {
        return;
    }
    // Whether the scalar engine can run all instructions that write a tile.
    let mut scalar = plan.table(true);
    for instruction in plan.instructions.iter() {
        let able = matches!(
            instruction.choice,
            Choice::VectorOrScalar | Choice::Fixed(Engine::Scalar)
        );
        for region in &instruction.writes {
            scalar[region.tile.at()] &= able;
        }
    }
    let fits = |region: &Region| {
        let tensor = plan.tensors.get(region.tile.tensor as usize);
        tensor.is_some_and(|it| it.buffer == Buffer::Sbuf && it.bytes * 8 <= machine.psum_bytes)
    };
    let alone = |region: &&Region| {
        let at = region.tile.at();
        let tile = &uses.tiles[at];
        tile.readers == 1 && tile.writers == 1 && scalar[at] && fits(region)
    };
    // Bytes of the accumulators that are taken at each instruction.
    let mut levels = levels(plan, uses.spans());
    let mut found = Vec::new();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        if instruction.operation != Operation::TensorTensor || instruction.features.psum_inputs > 0
        {
            continue;
        }
        let mut able = instruction.reads.iter().filter(alone);
        let has_room = able.find_map(|region| {
            let bytes = plan.tensors.get(region.tile.tensor as usize)?.bytes;
            let first = uses.tiles[region.tile.at()].first() as usize;
            let lives = levels.get_mut(first..=position)?;
            let fits = lives.len() <= REACH
                && lives
                    .iter()
                    .all(|level| level + bytes <= machine.psum_bytes);
            fits.then(|| lives.iter_mut().for_each(|level| *level += bytes))
        });
        if has_room.is_some() {
            found.push(position);
        }
    }
    if !found.is_empty() {
        let instructions = plan.instructions_mut();
        for position in found {
            instructions[position].features.psum_inputs = 1;
        }
    }
}

/// Bytes of the accumulators in each partition that are taken at each instruction.
fn levels(plan: &Plan, spans: impl Iterator<Item = Span>) -> Vec<u64> {
    let mut changes = vec![0i64; plan.instructions.len() + 1];
    for span in spans {
        let tensor = plan.tensors.get(span.tile.tensor as usize);
        if let Some(tensor) = tensor.filter(|it| it.buffer == Buffer::Psum) {
            changes[span.first as usize] += tensor.bytes as i64;
            changes[span.last as usize + 1] -= tensor.bytes as i64;
        }
    }
    let mut level = 0;
    let sums = changes.into_iter().map(|change| {
        level += change;
        level.max(0) as u64
    });
    sums.collect()
}

/// Where more accumulators live at once than there are, those needed latest move to the on-chip
/// memory: one more copy each of a sum that is finished; what no product writes is there from the
/// beginning. Sums under way stay, and what the kernel places itself, beside which there are
/// `total` bytes.
pub(super) fn move_accumulators(plan: &mut Plan, total: u64) {
    let uses = plan.uses();
    if movable_peak(plan, Buffer::Psum) <= total {
        return;
    }
    let bytes = |plan: &Plan, span: &Span| plan.tensors[span.tile.tensor as usize].bytes;
    let mut starts: Keyed<u32, Vec<Span>> = Keyed::default();
    for span in uses.spans() {
        let tensor = plan.tensors.get(span.tile.tensor as usize);
        if tensor.is_some_and(|it| it.buffer == Buffer::Psum && it.places.is_none()) {
            starts.entry(span.first).or_default().push(span);
        }
    }
    // Whether products write a tile, and where it is written last.
    let mut product = plan.table(false);
    let mut written = plan.table(0u32);
    for (position, instruction) in (0u32..).zip(plan.instructions.iter()) {
        for region in &instruction.writes {
            let engine = matches!(
                instruction.operation,
                Operation::Matmul | Operation::Transpose
            );
            product[region.tile.at()] |= engine;
            written[region.tile.at()] = position;
        }
    }
    let mut live: Vec<Span> = Vec::new();
    let mut level = 0u64;
    let mut moved: Vec<Tile> = Vec::new();
    for position in 0..plan.instructions.len() as u32 {
        live.retain(|span| {
            let stays = span.last >= position;
            if !stays {
                level -= bytes(plan, span);
            }
            stays
        });
        for span in starts.get(&position).into_iter().flatten() {
            level += bytes(plan, span);
            live.push(*span);
        }
        while level > total && live.len() > 1 {
            let Some(at) = live
                .iter()
                .enumerate()
                .filter(|(_, span)| {
                    let at = span.tile.at();
                    span.first < position && (!product[at] || written[at] < position)
                })
                .max_by_key(|(_, span)| (span.last, span.tile))
                .map(|(at, _)| at)
            else {
                break;
            };
            let span = live.swap_remove(at);
            level -= bytes(plan, &span);
            moved.push(span.tile);
        }
    }
    if moved.is_empty() {
        return;
    }
    let mut homes: Keyed<Tile, Tile> = Keyed::default();
    for tile in moved {
        let mut tensor = plan.tensors[tile.tensor as usize].clone();
        tensor.buffer = Buffer::Sbuf;
        homes.insert(tile, plan.add_tensor(tensor));
    }
    // The copy follows the last write; reads after it go to the copy.
    let mut last_write: Keyed<Tile, usize> = Keyed::default();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        for region in &instruction.writes {
            if homes.contains_key(&region.tile) {
                last_write.insert(region.tile, position);
            }
        }
    }
    let mut out = Long::default();
    for (position, mut instruction) in plan.take_instructions().into_iter().enumerate() {
        for region in instruction.reads.iter_mut().chain(&mut instruction.writes) {
            if let Some(home) = homes
                .get(&region.tile)
                .filter(|_| !product[region.tile.at()])
            {
                region.tile = *home;
            }
        }
        for region in &mut instruction.reads {
            let tile = region.tile;
            if let (Some(home), Some(write)) = (homes.get(&tile), last_write.get(&tile))
                && *write < position
            {
                region.tile = *home;
                instruction.features.psum_inputs =
                    instruction.features.psum_inputs.saturating_sub(1);
            }
        }
        let writes = instruction.writes.clone();
        let (line, partitions) = (instruction.line, instruction.partitions);
        out.push(instruction);
        for region in &writes {
            if last_write.get(&region.tile) == Some(&position) {
                let home = homes[&region.tile];
                let tensor = &plan.tensors[home.tensor as usize];
                let bytes = tensor.bytes;
                let mut copy = Instruction::new(Operation::Copy, Choice::VectorOrScalar, line);
                copy.partitions = partitions;
                copy.free = (bytes / tensor.dtype.bytes() as u64) as u32;
                copy.features = Features {
                    psum_inputs: 1,
                    touches_psum: true,
                    touches_sbuf: true,
                    unit_stride: true,
                    inserted: true,
                    ..Features::default()
                };
                let whole = Region {
                    span: Region::span(0, bytes),
                    ..*region
                };
                copy.reads.push(whole);
                copy.writes.push(Region {
                    tile: home,
                    ..whole
                });
                out.push(copy);
            }
        }
    }
    plan.instructions = Arc::new(out);
}
