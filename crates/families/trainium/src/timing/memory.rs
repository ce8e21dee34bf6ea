//! What the compiler does before anything runs: loads that are done once, neighbours that become
//! one instruction, accumulators that move to the on-chip memory, spills.

use super::accumulators;
use super::machine::{Machine, Passes};
use crate::keyed::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Tensor, Trace};

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
        super::loads::cache_loads(&mut plan, machine);
    }
    if passes.simplify {
        super::simplify::hoist(&mut plan.instructions, &plan.tensors);
        super::simplify::first_sums(&mut plan.instructions, &plan.tensors);
    }
    if passes.vectorise {
        plan.merged = super::vectorise::merge(&mut plan.instructions, &plan.tensors, &trace.loops);
    }
    if passes.accumulator_operands {
        accumulators::operands_in_accumulators(&mut plan, machine);
    }
    accumulators::move_accumulators(&mut plan, machine);
    plan.peak_sbuf = peak(&plan).0;
    if passes.spill {
        if passes.simplify {
            super::sink::sink(&mut plan, machine);
        }
        super::spill::spill(&mut plan, machine);
    }
    plan
}

/// First and last use of every tile of a memory.
pub(super) fn spans(plan: &Plan, buffer: Buffer) -> Keyed<(u32, u32), (usize, usize)> {
    let mut spans: Keyed<(u32, u32), (usize, usize)> = Keyed::default();
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

/// Most bytes of on-chip memory in each partition, in program order, and where.
pub(super) fn peak(plan: &Plan) -> (u64, usize) {
    let mut changes = vec![0i64; plan.instructions.len() + 1];
    for ((tensor, _), (first, last)) in spans(plan, Buffer::Sbuf) {
        let bytes = plan.tensors[tensor as usize].bytes as i64;
        changes[first] += bytes;
        changes[last + 1] -= bytes;
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
