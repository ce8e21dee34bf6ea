//! How long each engine is busy with a trace, without a schedule: what no order of the same
//! instructions can beat.

use super::machine::{Machine, Passes};
use super::{cost, memory};
use crate::trace::{Choice, Engine, Operation, Trace};
use std::collections::BTreeSet;

/// Nanoseconds of work for each engine, in the order of [`Engine::ALL`], after the compiler's
/// passes. What may run on two engines is given to the one with less to do.
#[must_use]
pub fn totals(trace: &Trace, machine: &Machine, passes: Passes) -> [f64; Engine::COUNT] {
    let plan = memory::plan(trace, machine, passes);
    let mut busy = [0.0; Engine::COUNT];
    let slot = |engine: Engine| Engine::ALL.iter().position(|it| *it == engine).unwrap_or(0);
    for instruction in plan.instructions.iter() {
        let engines: &[Engine] = match instruction.choice {
            Choice::Fixed(Engine::Dma) => {
                if let Some(transfer) = &instruction.transfer {
                    let work = machine.dma.work_ns(transfer);
                    busy[slot(Engine::Dma)] += work / machine.dma.queues.max(1) as f64;
                }
                continue;
            }
            Choice::Fixed(Engine::Tensor) => &[Engine::Tensor],
            Choice::Fixed(Engine::Vector) => &[Engine::Vector],
            Choice::Fixed(Engine::Scalar) => &[Engine::Scalar],
            Choice::Fixed(Engine::Gpsimd) => &[Engine::Gpsimd],
            Choice::Fixed(Engine::Sync) => &[Engine::Sync],
            Choice::VectorOrScalar => &[Engine::Vector, Engine::Scalar],
            Choice::VectorOrGpsimd => &[Engine::Vector, Engine::Gpsimd],
        };
        let best = engines
            .iter()
            .map(|it| (busy[slot(*it)] + cost::busy(instruction, *it, machine), *it))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((total, engine)) = best {
            busy[slot(engine)] = total;
        }
    }
    busy
}

/// Counts the iterations of loops in order that load: what one loads comes when the one before is
/// through, unless the compiler unrolls the loop.
#[must_use]
pub fn loading_iterations(trace: &Trace, passes: Passes) -> usize {
    if !passes.rolled_loops {
        return 0;
    }
    let loads = trace.instructions.iter();
    let steps = loads.filter(|it| it.operation == Operation::Load && it.step.0 != 0);
    let steps: BTreeSet<(u32, u32)> = steps.map(|it| it.step).collect();
    steps.len()
}
