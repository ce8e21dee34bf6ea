//! The compiler of the first dialect turns short affine loops of small vector operations into
//! single instructions with one more dimension in their access pattern.

use std::ops::Range;
use std::sync::Arc;

use super::memory::Plan;
use crate::python::value::LoopKind;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction, Loop, Tensor};

/// Longest loop that is merged.
const TRIPS: u64 = 128;
/// Most elements of a merged instruction in each partition, without and with the accumulators.
const ELEMENTS: u32 = 2048;
const ACCUMULATOR_ELEMENTS: u32 = 512;

/// Instructions of a loop and what they become.
struct Widened {
    run: Range<usize>,
    wide: Vec<Instruction>,
}

/// Merges equal instructions of consecutive iterations.
pub(super) fn merge(plan: &mut Plan, loops: &[Loop]) {
    let mut found: Vec<Widened> = Vec::new();
    let mut at = 0;
    let all = &plan.instructions[..];
    while at < all.len() {
        let site = all[at].site.0;
        let mut end = at;
        while end < all.len()
            && all[end].site.0 == site
            && all[end].site.1 >= all[end.max(at + 1) - 1].site.1
        {
            end += 1;
        }
        let end = end.max(at + 1);
        let short = loops
            .get((site as usize).wrapping_sub(1))
            .is_some_and(|l| l.kind == LoopKind::Affine && (2..=TRIPS).contains(&l.trips));
        let body = all[at..end]
            .iter()
            .take_while(|i| i.site.1 == all[at].site.1)
            .count();
        let alike = short && (end - at) / body >= 2 && uniform(&all[at..end], body);
        let wide = alike.then(|| widen(&all[at..end], body, &plan.tensors));
        if let Some(wide) = wide.flatten() {
            found.push(Widened { run: at..end, wide });
        }
        at = end;
    }
    if found.is_empty() {
        return;
    }
    let mut all = plan.take_instructions().into_iter();
    let mut out = Vec::with_capacity(all.len());
    let mut at = 0;
    for Widened { run, wide } in found {
        plan.merged += (run.len() - wide.len()) as u64;
        out.extend(all.by_ref().take(run.start - at));
        all.by_ref().take(run.len()).for_each(drop);
        out.extend(wide);
        at = run.end;
    }
    out.extend(all);
    plan.instructions = Arc::new(out);
}

/// Whether every iteration runs the same vector operations, none of them fed by an earlier
/// iteration.
fn uniform(run: &[Instruction], body: usize) -> bool {
    if !run.len().is_multiple_of(body) {
        return false;
    }
    run.iter().enumerate().all(|(position, instruction)| {
        let first = &run[position % body];
        let vector = !matches!(
            instruction.choice,
            Choice::Fixed(Engine::Tensor | Engine::Dma | Engine::Gpsimd)
        );
        vector
            && !instruction.features.accumulate
            && instruction.operation == first.operation
            && instruction.line == first.line
            && instruction.free == first.free
            && instruction.partitions == first.partitions
    })
}

/// The widened instructions; none where they are too long to be widened.
fn widen(run: &[Instruction], body: usize, tensors: &[Tensor]) -> Option<Vec<Instruction>> {
    let trips = run.len() / body;
    let psum = |i: &Instruction| {
        i.reads.iter().chain(&i.writes).any(|r| {
            tensors
                .get(r.tile.tensor as usize)
                .is_some_and(|t| t.buffer == Buffer::Psum)
        })
    };
    // All instructions of the body are widened alike.
    let together = run[..body]
        .iter()
        .map(|i| {
            (if psum(i) {
                ACCUMULATOR_ELEMENTS
            } else {
                ELEMENTS
            }) / i.free.max(1)
        })
        .min()
        .unwrap_or(1) as usize;
    if together < 2 {
        return None;
    }
    let mut out = Vec::new();
    let mut first = 0;
    while first < trips {
        let count = together.min(trips - first);
        for position in 0..body {
            let mut wide = run[first * body + position].clone();
            wide.free *= count as u32;
            for other in 1..count {
                let next = &run[(first + other) * body + position];
                wide.reads.extend_from_slice(&next.reads);
                wide.writes.extend_from_slice(&next.writes);
            }
            wide.reads.sort_by_key(|r| (r.tile, r.partitions, r.span));
            wide.reads.edit(Vec::dedup);
            out.push(wide);
        }
        first += count;
    }
    Some(out)
}
