//! Loads that are done once.

use std::collections::BTreeMap;

use super::machine::Machine;
use super::memory::{Plan, peak};
use crate::number_maps::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Operation, Region, Tile};

/// What a load brings, told apart by source and pattern.
type Fingerprint = (u64, u64);

/// Loads of an input that fits the memory next to everything else are done once each: later
/// equal loads are dropped and their users read the first copy.
pub(super) fn cache_loads(plan: &mut Plan, machine: &Machine) {
    let uses = plan.uses();
    if uses.loads < 2 {
        return;
    }
    let mut written = vec![false; plan.tensors.len()];
    for tensor in uses.written() {
        written[tensor as usize] = true;
    }
    // Tiles that something else writes, too, cannot be shared.
    let alone = |instruction: &Instruction| {
        let target = instruction.writes.first();
        target.is_some_and(|region| uses.tiles[region.tile.at()].writers == 1)
    };
    let cacheable = |instruction: &Instruction| -> Option<Fingerprint> {
        let source = instruction.reads.first()?;
        let target = instruction.writes.first()?;
        let tensor = plan.tensors.get(source.tile.tensor as usize)?;
        let whole = plan.tensors.get(target.tile.tensor as usize)?;
        let fresh = whole.buffer == Buffer::Sbuf && target.is_all(whole.bytes);
        (instruction.operation == Operation::Load
            && instruction.reads.len() == 1
            && !written[source.tile.tensor as usize]
            && !tensor.buffer.on_chip()
            && fresh)
            .then_some(content(instruction))
    };
    // By source line of the load: distinct tiles and how often they are loaded.
    let mut sites: BTreeMap<u32, Keyed<Fingerprint, (u64, u32)>> = BTreeMap::new();
    for instruction in plan.instructions.iter() {
        if let (Some(fingerprint), true) = (cacheable(instruction), alone(instruction)) {
            let target = instruction.writes.first();
            let bytes = target.map_or(0, Region::length);
            let site = sites.entry(instruction.line).or_default();
            site.entry(fingerprint).or_insert((bytes, 0)).1 += 1;
        }
    }
    let mut order: Vec<(u64, u32)> = sites
        .iter()
        .filter(|(_, tiles)| tiles.values().any(|(_, times)| *times > 1))
        .map(|(line, tiles)| (tiles.values().map(|(bytes, _)| *bytes).sum(), *line))
        .collect();
    if order.is_empty() {
        return;
    }
    order.sort_unstable();
    let used = peak(plan, uses.spans(), Buffer::Sbuf).0;
    let mut budget = machine.sbuf_bytes.saturating_sub(used);
    let mut chosen: Vec<u32> = Vec::new();
    for (bytes, line) in order {
        if bytes <= budget {
            budget -= bytes;
            chosen.push(line);
        }
    }
    if chosen.is_empty() {
        return;
    }
    let mut first: Keyed<(u32, Fingerprint), Tile> = Keyed::default();
    let mut renamed: Vec<Option<Tile>> = plan.table(None);
    let mut cached = 0;
    plan.instructions_mut().retain_mut(|instruction| {
        for region in &mut instruction.reads {
            if let Some(home) = renamed[region.tile.at()] {
                region.tile = home;
            }
        }
        if instruction.operation == Operation::Load
            && chosen.contains(&instruction.line)
            && let (Some(target), true) = (instruction.writes.first(), alone(instruction))
        {
            let key = (instruction.line, content(instruction));
            if let Some(home) = first.get(&key) {
                renamed[target.tile.at()] = Some(*home);
                cached += 1;
                return false;
            }
            first.insert(key, target.tile);
        }
        true
    });
    plan.cached_loads += cached;
}

/// What a load puts into its tile: what it reads, and how that lies there and as which type.
const fn content(instruction: &Instruction) -> (u64, u64) {
    (instruction.fingerprint, instruction.meaning.pattern)
}
