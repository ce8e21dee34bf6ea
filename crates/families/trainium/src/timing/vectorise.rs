//! The compiler of the first dialect turns short affine loops of small vector operations into
//! single instructions with one more dimension in their access pattern.

use crate::python::value::LoopKind;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction, Loop, Tensor};

/// Longest loop that is merged.
const TRIPS: u64 = 128;
/// Most elements of a merged instruction in each partition, without and with the accumulators.
const ELEMENTS: u32 = 2048;
const ACCUMULATOR_ELEMENTS: u32 = 512;

/// Merges equal instructions of consecutive iterations; how many went into others.
pub(super) fn merge(
    instructions: &mut Vec<Instruction>,
    tensors: &[Tensor],
    loops: &[Loop],
) -> u64 {
    let mut out: Vec<Instruction> = Vec::with_capacity(instructions.len());
    let mut merged = 0;
    let mut at = 0;
    let mut all = std::mem::take(instructions);
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
        let widened = alike.then(|| widen(&all[at..end], body, tensors, &mut out));
        match widened.flatten() {
            Some(gone) => merged += gone,
            None => out.extend(all[at..end].iter_mut().map(Instruction::taken)),
        }
        at = end;
    }
    *instructions = out;
    merged
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

/// Appends the widened instructions and returns how many went into others; nothing where they
/// are too long to be widened.
fn widen(
    run: &[Instruction],
    body: usize,
    tensors: &[Tensor],
    out: &mut Vec<Instruction>,
) -> Option<u64> {
    let trips = run.len() / body;
    let psum = |i: &Instruction| {
        i.reads.iter().chain(&i.writes).any(|r| {
            tensors
                .get(r.tensor as usize)
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
    let mut merged = 0;
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
            wide.reads
                .sort_by_key(|r| (r.tensor, r.block, r.partitions, r.span));
            wide.reads.edit(Vec::dedup);
            merged += count as u64 - 1;
            out.push(wide);
        }
        first += count;
    }
    Some(merged)
}
