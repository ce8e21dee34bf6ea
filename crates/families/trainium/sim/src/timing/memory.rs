//! What the compiler does before anything runs: loads that are done once, neighbours that become
//! one instruction, accumulators that move to the on-chip memory, spills.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::accumulators;
use super::machine::{Machine, Passes};
use super::uses::{Span, Uses};
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Long, Operation, Region, Tensor, Tile, Trace};

/// What is scheduled.
pub(super) struct Plan {
    /// Those of the trace itself until a pass changes one.
    pub(super) instructions: Arc<Long<Instruction>>,
    /// What they do, as soon as a pass has asked.
    uses: OnceCell<Rc<Uses>>,
    pub(super) tensors: Arc<Vec<Tensor>>,
    /// How many tiles there are.
    pub(super) tiles: u32,
    pub(super) cached_loads: u64,
    pub(super) spill_bytes: u64,
    pub(super) peak_sbuf: u64,
    pub(super) merged: u64,
}

impl Plan {
    /// Whether a region lies in this memory.
    #[inline]
    pub(super) fn lies_in(&self, region: &Region, buffer: Buffer) -> bool {
        let tensor = self.tensors.get(region.tile.tensor as usize);
        tensor.is_some_and(|tensor| tensor.buffer == buffer)
    }

    /// Whether the kernel places the tensor of a tile itself: there it stays.
    pub(super) fn is_placed(&self, tile: Tile) -> bool {
        let tensor = self.tensors.get(tile.tensor as usize);
        tensor.is_some_and(|it| it.places.is_some())
    }

    /// Bytes in each partition of a memory that are left beside what the kernel places itself.
    pub(super) fn unplaced_bytes(&self, buffer: Buffer, all: u64) -> u64 {
        let tensors = self.tensors.iter().filter(|it| it.buffer == buffer);
        let placed = tensors.filter_map(|it| Some((it.places.as_ref()?, it.bytes)));
        let ranges = placed.flat_map(|(places, bytes)| {
            let begins = places.iter().map(|it| u64::from(it.byte));
            begins.map(move |begin| (begin, begin + bytes))
        });
        let mut ranges: Vec<(u64, u64)> = ranges.collect();
        ranges.sort_unstable();
        let (mut taken, mut end) = (0, 0);
        for (from, to) in ranges {
            taken += to.saturating_sub(from.max(end));
            end = end.max(to);
        }
        all.saturating_sub(taken)
    }

    /// Adds a tensor; its first tile.
    pub(super) fn add_tensor(&mut self, tensor: Tensor) -> Tile {
        let tile = self.add_tile(self.tensors.len() as u32, 0);
        Arc::make_mut(&mut self.tensors).push(tensor);
        tile
    }

    /// A tile that the trace has not spoken of.
    pub(super) fn add_tile(&mut self, tensor: u32, block: u32) -> Tile {
        self.tiles += 1;
        Tile {
            tensor,
            block,
            number: self.tiles - 1,
        }
    }

    /// What the instructions do.
    pub(super) fn uses(&self) -> Rc<Uses> {
        Rc::clone(self.uses.get_or_init(|| Rc::new(Uses::of(self))))
    }

    /// The instructions, to be changed.
    pub(super) fn instructions_mut(&mut self) -> &mut Long<Instruction> {
        self.uses.take();
        Arc::make_mut(&mut self.instructions)
    }

    /// The instructions, out of the plan, to be changed.
    pub(super) fn take_instructions(&mut self) -> Long<Instruction> {
        self.uses.take();
        Arc::unwrap_or_clone(std::mem::take(&mut self.instructions))
    }

    /// A table with an entry for each tile.
    pub(super) fn table<T: Clone>(&self, empty: T) -> Vec<T> {
        vec![empty; self.tiles as usize]
    }
}

/// Applies the passes.
pub(super) fn plan(trace: &Trace, machine: &Machine, passes: Passes) -> Plan {
    let mut plan = Plan {
        instructions: Arc::clone(&trace.instructions),
        uses: OnceCell::new(),
        tensors: Arc::clone(&trace.tensors),
        tiles: trace.tiles,
        cached_loads: 0,
        spill_bytes: 0,
        peak_sbuf: 0,
        merged: 0,
    };
    if 0.0 < machine.dma.dynamic_ns && passes.dynamic_loops {
        let is_long = |instruction: &Instruction| {
            let number = (instruction.site.0 as usize).wrapping_sub(1);
            let found = trace.loops.get(number);
            found.is_some_and(|it| machine.dma.unrolled_trips < it.trips)
        };
        if plan.instructions.iter().any(is_long) {
            for instruction in plan.instructions_mut() {
                instruction.features.dynamic = is_long(instruction);
            }
        }
    }
    if 0.0 < machine.dma.dynamic_ns && passes.dynamic_transfers {
        for instruction in plan.instructions_mut() {
            instruction.features.dynamic =
                instruction.transfer.is_some() && !instruction.features.prepared;
        }
    }
    if 0.0 < machine.dma.uneven_gap_ns && passes.uneven_loops {
        mark_uneven(&mut plan, machine.dma.even_trips);
    }
    if passes.load_cache {
        super::loads::cache_loads(&mut plan, machine);
    }
    if passes.simplify {
        super::simplify::hoist(&mut plan);
        super::simplify::first_sums(&mut plan);
    }
    if passes.vectorise {
        if 0 < machine.rates.joined_elements {
            super::join::join(&mut plan, &trace.loops, machine.rates.joined_elements);
        }
        super::vectorise::merge(&mut plan, &trace.loops);
    }
    if passes.accumulator_operands {
        accumulators::operands_in_accumulators(&mut plan, machine);
    }
    let room = plan.unplaced_bytes(Buffer::Psum, machine.psum_bytes);
    accumulators::move_accumulators(&mut plan, room);
    plan.peak_sbuf = peak(&plan, plan.uses().spans(), Buffer::Sbuf).0;
    let room = plan.unplaced_bytes(Buffer::Sbuf, machine.sbuf_bytes);
    if passes.spill && room < movable_peak(&plan, Buffer::Sbuf) {
        if passes.simplify {
            super::sink::sink(&mut plan, room);
        }
        super::spill::spill(&mut plan, room);
    }
    plan
}

/// Most bytes of what the kernel does not place itself in each partition of a memory.
pub(super) fn movable_peak(plan: &Plan, buffer: Buffer) -> u64 {
    let uses = plan.uses();
    let spans = uses.spans().filter(|span| !plan.is_placed(span.tile));
    peak(plan, spans, buffer).0
}

/// Marks the first load of each iteration of affine loops that run a number of times that is no
/// multiple of `even`: of nested loops, the product of their trips counts.
fn mark_uneven(plan: &mut Plan, even: u32) {
    let is_load = |it: &Instruction| it.operation == Operation::Load;
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for load in plan.instructions.iter().filter(|it| is_load(it)) {
        *counts.entry(load.line).or_default() += u32::from(load.site.0 != 0);
    }
    counts.retain(|_, count| even < *count && *count % even != 0);
    let mut site = (0, 0);
    for instruction in plan.instructions_mut() {
        if is_load(instruction) {
            instruction.features.rests =
                instruction.site != site && counts.contains_key(&instruction.line);
            site = instruction.site;
        }
    }
}

/// Most bytes of a memory in each partition, in program order, and where.
pub(super) fn peak(plan: &Plan, spans: impl Iterator<Item = Span>, buffer: Buffer) -> (u64, usize) {
    let mut changes = vec![0i64; plan.instructions.len() + 1];
    for span in spans {
        let Some(tensor) = plan.tensors.get(span.tile.tensor as usize) else {
            continue;
        };
        if tensor.buffer == buffer {
            changes[span.first as usize] += tensor.bytes as i64;
            changes[span.last as usize + 1] -= tensor.bytes as i64;
        }
    }
    let mut level = 0i64;
    let mut peak = (0i64, 0);
    for (position, change) in changes.into_iter().enumerate() {
        level += change;
        if peak.0 < level {
            peak = (level, position);
        }
    }
    (peak.0 as u64, peak.1)
}
