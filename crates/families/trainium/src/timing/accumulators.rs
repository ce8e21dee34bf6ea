//! What goes to the accumulators, and what has no room there.

use super::machine::Machine;
use super::memory::{Plan, spans};
use crate::keyed::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Features, Instruction, Operation, Region};

/// Results that only one operation of the vector engine reads go to the accumulators if they fit
/// a bank, which lets that operation stream both operands at once.
pub(super) fn operands_in_accumulators(plan: &mut Plan, machine: &Machine) {
    let mut writers: Keyed<(u32, u32), (u32, bool)> = Keyed::default();
    let mut readers: Keyed<(u32, u32), (u32, usize)> = Keyed::default();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        let scalar = matches!(
            instruction.choice,
            Choice::VectorOrScalar | Choice::Fixed(crate::trace::Engine::Scalar)
        );
        for region in &instruction.writes {
            let entry = writers
                .entry((region.tensor, region.block))
                .or_insert((0, scalar));
            entry.0 += 1;
            entry.1 &= scalar;
        }
        for region in &instruction.reads {
            let entry = readers
                .entry((region.tensor, region.block))
                .or_insert((0, position));
            entry.0 += 1;
        }
    }
    for (key, (count, position)) in readers {
        let Some(tensor) = plan.tensors.get(key.0 as usize) else {
            continue;
        };
        let fits = tensor.buffer == Buffer::Sbuf && tensor.bytes * 8 <= machine.psum_bytes;
        if count != 1 || !fits || writers.get(&key) != Some(&(1, true)) {
            continue;
        }
        let reader = &mut plan.instructions[position];
        if reader.operation == Operation::TensorTensor && reader.features.psum_inputs == 0 {
            reader.features.psum_inputs = 1;
        }
    }
}

/// Where more accumulators live at once than there are, those needed latest move to the on-chip
/// memory: one more copy each.
pub(super) fn move_accumulators(plan: &mut Plan, machine: &Machine) {
    let spans = spans(plan, Buffer::Psum);
    let total: u64 = machine.psum_bytes;
    let mut starts: Keyed<usize, Vec<(u32, u32)>> = Keyed::default();
    for (key, (first, _)) in &spans {
        starts.entry(*first).or_default().push(*key);
    }
    let mut live: Vec<((u32, u32), usize)> = Vec::new();
    let mut level = 0u64;
    // Tiles to move, with the position of their last write before that.
    let mut moved: Vec<(u32, u32)> = Vec::new();
    for position in 0..plan.instructions.len() {
        live.retain(|(key, last)| {
            let stays = *last >= position;
            if !stays {
                level -= plan.tensors[key.0 as usize].bytes;
            }
            stays
        });
        for key in starts.get(&position).into_iter().flatten() {
            level += plan.tensors[key.0 as usize].bytes;
            live.push((*key, spans[key].1));
        }
        while level > total && live.len() > 1 {
            let Some(at) = live
                .iter()
                .enumerate()
                .filter(|(_, (key, _))| spans[key].0 < position)
                .max_by_key(|(_, (key, last))| (*last, *key))
                .map(|(at, _)| at)
            else {
                break;
            };
            let (key, _) = live.swap_remove(at);
            level -= plan.tensors[key.0 as usize].bytes;
            moved.push(key);
        }
    }
    if moved.is_empty() {
        return;
    }
    let mut homes: Keyed<(u32, u32), u32> = Keyed::default();
    for key in moved {
        let mut tensor = plan.tensors[key.0 as usize].clone();
        tensor.buffer = Buffer::Sbuf;
        homes.insert(key, plan.tensors.len() as u32);
        plan.tensors.push(tensor);
    }
    // The copy follows the last write; reads after it go to the copy.
    let mut last_write: Keyed<(u32, u32), usize> = Keyed::default();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        for region in &instruction.writes {
            if homes.contains_key(&(region.tensor, region.block)) {
                last_write.insert((region.tensor, region.block), position);
            }
        }
    }
    let mut out = Vec::with_capacity(plan.instructions.len() + homes.len());
    for (position, mut instruction) in std::mem::take(&mut plan.instructions)
        .into_iter()
        .enumerate()
    {
        for region in &mut instruction.reads {
            let key = (region.tensor, region.block);
            if let (Some(home), Some(write)) = (homes.get(&key), last_write.get(&key))
                && *write < position
            {
                region.tensor = *home;
                region.block = 0;
                instruction.features.psum_inputs =
                    instruction.features.psum_inputs.saturating_sub(1);
            }
        }
        let writes = instruction.writes.clone();
        let (line, partitions) = (instruction.line, instruction.partitions);
        out.push(instruction);
        for region in &writes {
            let key = (region.tensor, region.block);
            if last_write.get(&key) == Some(&position) {
                let home = homes[&key];
                let bytes = plan.tensors[home as usize].bytes;
                let mut copy = Instruction::new(Operation::Copy, Choice::VectorOrScalar, line);
                copy.partitions = partitions;
                copy.free = (bytes / plan.tensors[home as usize].dtype.bytes() as u64) as u32;
                copy.features = Features {
                    psum_inputs: 1,
                    touches_psum: true,
                    touches_sbuf: true,
                    unit_stride: true,
                    inserted: true,
                    ..Features::default()
                };
                let whole = Region {
                    span: (0, bytes),
                    ..*region
                };
                copy.reads.push(whole);
                copy.writes.push(Region {
                    tensor: home,
                    block: 0,
                    ..whole
                });
                out.push(copy);
            }
        }
    }
    plan.instructions = out;
}
