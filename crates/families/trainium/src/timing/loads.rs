//! Loads that are done once.

use std::collections::BTreeMap;

use super::machine::Machine;
use super::memory::{Plan, peak};
use crate::keyed::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Operation};

/// Loads of an input that fits the memory next to everything else are done once each: later
/// equal loads are dropped and their users read the first copy.
pub(super) fn cache_loads(plan: &mut Plan, machine: &Machine) {
    // By source line of the load: distinct tiles and how often they are loaded.
    let mut sites: BTreeMap<u32, Keyed<u64, (u64, u32)>> = BTreeMap::new();
    let written: Vec<bool> = {
        let mut written = vec![false; plan.tensors.len()];
        for instruction in &plan.instructions {
            for region in &instruction.writes {
                written[region.tensor as usize] = true;
            }
        }
        written
    };
    let cacheable = |instruction: &Instruction, plan: &Plan| -> Option<u64> {
        let transfer = instruction.transfer.as_ref()?;
        let source = instruction.reads.first()?;
        let target = instruction.writes.first()?;
        let tensor = plan.tensors.get(source.tensor as usize)?;
        let whole = plan.tensors.get(target.tensor as usize)?;
        let fresh = whole.buffer == Buffer::Sbuf && target.span == (0, whole.bytes);
        (instruction.operation == Operation::Load
            && instruction.reads.len() == 1
            && !written[source.tensor as usize]
            && !tensor.buffer.on_chip()
            && fresh)
            .then_some(transfer.fingerprint)
    };
    // Tiles that something else writes, too, cannot be shared.
    let mut writers: Keyed<(u32, u32), u32> = Keyed::default();
    for instruction in &plan.instructions {
        for region in &instruction.writes {
            *writers.entry((region.tensor, region.block)).or_default() += 1;
        }
    }
    let alone = |instruction: &Instruction| {
        instruction
            .writes
            .first()
            .is_some_and(|r| writers.get(&(r.tensor, r.block)) == Some(&1))
    };
    for instruction in &plan.instructions {
        if let (Some(fingerprint), true) = (cacheable(instruction, plan), alone(instruction)) {
            let bytes = instruction
                .writes
                .first()
                .map_or(0, |r| r.span.1 - r.span.0);
            let entry = sites
                .entry(instruction.line)
                .or_default()
                .entry(fingerprint)
                .or_insert((bytes, 0));
            entry.1 += 1;
        }
    }
    let mut budget = machine.sbuf_bytes.saturating_sub(peak(plan).0);
    let mut chosen: Vec<u32> = Vec::new();
    let mut order: Vec<(u64, u32)> = sites
        .iter()
        .filter(|(_, tiles)| tiles.values().any(|(_, times)| *times > 1))
        .map(|(line, tiles)| (tiles.values().map(|(bytes, _)| *bytes).sum(), *line))
        .collect();
    order.sort_unstable();
    for (bytes, line) in order {
        if bytes <= budget {
            budget -= bytes;
            chosen.push(line);
        }
    }
    if chosen.is_empty() {
        return;
    }
    let mut first: Keyed<(u32, u64), (u32, u32)> = Keyed::default();
    let mut renamed: Keyed<(u32, u32), (u32, u32)> = Keyed::default();
    let mut kept = Vec::with_capacity(plan.instructions.len());
    for mut instruction in std::mem::take(&mut plan.instructions) {
        for region in &mut instruction.reads {
            if let Some((tensor, block)) = renamed.get(&(region.tensor, region.block)) {
                region.tensor = *tensor;
                region.block = *block;
            }
        }
        let source = instruction.transfer.as_ref().map(|t| t.fingerprint);
        if let (Some(fingerprint), true, Operation::Load) = (
            source,
            chosen.contains(&instruction.line),
            instruction.operation,
        ) && let (Some(target), true) =
            (instruction.writes.first().copied(), alone(&instruction))
        {
            let key = (instruction.line, fingerprint);
            if let Some(home) = first.get(&key) {
                renamed.insert((target.tensor, target.block), *home);
                plan.cached_loads += 1;
                continue;
            }
            first.insert(key, (target.tensor, target.block));
        }
        kept.push(instruction);
    }
    plan.instructions = kept;
}
