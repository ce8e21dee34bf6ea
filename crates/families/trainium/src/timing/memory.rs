//! What the compiler does before anything runs: loads that are done once, neighbours that become
//! one instruction, accumulators that move to the on-chip memory, spills.

use std::collections::{BTreeMap, HashMap};

use super::machine::{Machine, Passes};
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Features, Instruction, Operation, Region, Tensor, Trace, Transfer};

/// What is scheduled.
pub(super) struct Plan {
    pub(super) instructions: Vec<Instruction>,
    pub(super) tensors: Vec<Tensor>,
    pub(super) cached_loads: u64,
    pub(super) spill_bytes: u64,
    pub(super) peak_sbuf: u64,
    pub(super) merged: u64,
}

/// Applies the passes.
pub(super) fn plan(trace: &Trace, machine: &Machine, passes: Passes) -> Plan {
    let mut plan = Plan {
        instructions: trace.instructions.clone(),
        tensors: trace.tensors.clone(),
        cached_loads: 0,
        spill_bytes: 0,
        peak_sbuf: 0,
        merged: 0,
    };
    if 0.0 < machine.dma.dynamic_ns && passes.dynamic_loops {
        for instruction in &mut plan.instructions {
            let number = (instruction.site.0 as usize).wrapping_sub(1);
            let long = trace.loops.get(number);
            instruction.features.dynamic =
                long.is_some_and(|it| machine.dma.unrolled_trips < it.trips);
        }
    }
    if passes.load_cache {
        cache_loads(&mut plan, machine);
    }
    if passes.simplify {
        super::simplify::hoist(&mut plan.instructions, &plan.tensors);
        super::simplify::first_sums(&mut plan.instructions, &plan.tensors);
    }
    if passes.vectorise {
        plan.merged = super::vectorise::merge(&mut plan.instructions, &plan.tensors, &trace.loops);
    }
    if passes.accumulator_operands {
        operands_in_accumulators(&mut plan, machine);
    }
    move_accumulators(&mut plan, machine);
    plan.peak_sbuf = peak(&plan);
    if passes.spill {
        spill(&mut plan, machine);
    }
    plan
}

/// First and last use of every tile of a memory.
fn spans(plan: &Plan, buffer: Buffer) -> BTreeMap<(u32, u32), (usize, usize)> {
    let mut spans: BTreeMap<(u32, u32), (usize, usize)> = BTreeMap::new();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        for region in instruction.reads.iter().chain(&instruction.writes) {
            if plan
                .tensors
                .get(region.tensor as usize)
                .is_some_and(|t| t.buffer == buffer)
            {
                spans
                    .entry((region.tensor, region.block))
                    .and_modify(|s| s.1 = position)
                    .or_insert((position, position));
            }
        }
    }
    spans
}

/// Most bytes of on-chip memory in each partition, in program order.
fn peak(plan: &Plan) -> u64 {
    let mut changes = vec![0i64; plan.instructions.len() + 1];
    for ((tensor, _), (first, last)) in spans(plan, Buffer::Sbuf) {
        let bytes = plan.tensors[tensor as usize].bytes as i64;
        changes[first] += bytes;
        changes[last + 1] -= bytes;
    }
    let mut level = 0i64;
    let mut peak = 0i64;
    for change in changes {
        level += change;
        peak = peak.max(level);
    }
    peak.max(0) as u64
}

/// Loads of an input that fits the memory next to everything else are done once each: later
/// equal loads are dropped and their users read the first copy.
fn cache_loads(plan: &mut Plan, machine: &Machine) {
    // By source line of the load: distinct tiles and how often they are loaded.
    let mut sites: BTreeMap<u32, HashMap<u64, (u64, u32)>> = BTreeMap::new();
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
    let mut writers: HashMap<(u32, u32), u32> = HashMap::new();
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
    let mut budget = machine.sbuf_bytes.saturating_sub(peak(plan));
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
    let mut first: HashMap<(u32, u64), (u32, u32)> = HashMap::new();
    let mut renamed: HashMap<(u32, u32), (u32, u32)> = HashMap::new();
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

/// Results that only one operation of the vector engine reads go to the accumulators if they fit
/// a bank, which lets that operation stream both operands at once.
fn operands_in_accumulators(plan: &mut Plan, machine: &Machine) {
    let mut writers: HashMap<(u32, u32), (u32, bool)> = HashMap::new();
    let mut readers: HashMap<(u32, u32), (u32, usize)> = HashMap::new();
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
fn move_accumulators(plan: &mut Plan, machine: &Machine) {
    let spans = spans(plan, Buffer::Psum);
    let total: u64 = machine.psum_bytes;
    let mut starts: HashMap<usize, Vec<(u32, u32)>> = HashMap::new();
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
    let mut homes: HashMap<(u32, u32), u32> = HashMap::new();
    for key in moved {
        let mut tensor = plan.tensors[key.0 as usize].clone();
        tensor.buffer = Buffer::Sbuf;
        homes.insert(key, plan.tensors.len() as u32);
        plan.tensors.push(tensor);
    }
    // The copy follows the last write; reads after it go to the copy.
    let mut last_write: HashMap<(u32, u32), usize> = HashMap::new();
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
        for region in writes {
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
                    ..region
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

/// Tensor and block of a tile.
type Key = (u32, u32);

/// What a tile holds when it is put out.
#[derive(Clone)]
enum Content {
    /// An unchanged copy of main memory: the load that made it.
    Clean(Box<Instruction>),
    /// A result.
    Dirty,
}

/// Keeps the on-chip memory within its size: tiles needed latest are put out, results are saved
/// and re-loaded, unchanged loads are loaded again.
fn spill(plan: &mut Plan, machine: &Machine) {
    if plan.peak_sbuf <= machine.sbuf_bytes {
        return;
    }
    let mut uses: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        for region in instruction.reads.iter().chain(&instruction.writes) {
            if plan
                .tensors
                .get(region.tensor as usize)
                .is_some_and(|t| t.buffer == Buffer::Sbuf)
            {
                let list = uses.entry((region.tensor, region.block)).or_default();
                if list.last() != Some(&(position as u32)) {
                    list.push(position as u32);
                }
            }
        }
    }
    let mut cursor: HashMap<(u32, u32), usize> = HashMap::new();
    // By next use.
    let mut resident: BTreeMap<(u32, Key), (u64, Content, u16)> = BTreeMap::new();
    let mut place: HashMap<(u32, u32), u32> = HashMap::new();
    let mut away: HashMap<(u32, u32), (Content, u16)> = HashMap::new();
    let mut level = 0u64;
    let mut out = Vec::with_capacity(plan.instructions.len());
    for (position, instruction) in std::mem::take(&mut plan.instructions)
        .into_iter()
        .enumerate()
    {
        let mut needed: Vec<(u32, u32)> = Vec::new();
        for region in instruction.reads.iter().chain(&instruction.writes) {
            let key = (region.tensor, region.block);
            if uses.contains_key(&key) && !needed.contains(&key) {
                needed.push(key);
            }
        }
        for key in &needed {
            let bytes = plan.tensors[key.0 as usize].bytes;
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
                    let replaced = !instruction
                        .reads
                        .iter()
                        .any(|r| (r.tensor, r.block) == *key)
                        && instruction
                            .writes
                            .iter()
                            .any(|r| (r.tensor, r.block) == *key && r.span == (0, bytes));
                    if !replaced {
                        let load = match &content {
                            Content::Clean(load) => {
                                let mut load = load.clone();
                                if let Some(transfer) = &mut load.transfer {
                                    transfer.spill = true;
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
        while level > machine.sbuf_bytes {
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
            if instruction
                .writes
                .iter()
                .any(|r| (r.tensor, r.block) == *key)
            {
                let whole = instruction.operation == Operation::Load
                    && instruction.reads.len() == 1
                    && instruction
                        .writes
                        .first()
                        .is_some_and(|r| r.span == (0, bytes));
                let input = instruction
                    .reads
                    .first()
                    .is_some_and(|r| plan.tensors.get(r.tensor as usize).is_some_and(|t| t.input));
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
    plan.instructions = out;
}

fn spilled(
    operation: Operation,
    key: (u32, u32),
    bytes: u64,
    partitions: u16,
    at: &Instruction,
) -> Instruction {
    let mut one = Instruction::new(operation, Choice::Fixed(crate::trace::Engine::Dma), at.line);
    one.partitions = partitions;
    one.features.inserted = true;
    let total = bytes * u64::from(partitions);
    let load = operation == Operation::Load;
    one.transfer = Some(Box::new(Transfer {
        rows: u32::from(partitions),
        run_bytes: bytes as u32,
        runs: 1,
        hbm_read: if load { total } else { 0 },
        hbm_written: if load { 0 } else { total },
        transposed: 0,
        fingerprint: 0,
        spill: true,
    }));
    let region = Region {
        tensor: key.0,
        block: key.1,
        partitions: (0, partitions),
        span: (0, bytes),
    };
    if load {
        one.writes.push(region);
    } else {
        one.reads.push(region);
    }
    one
}
