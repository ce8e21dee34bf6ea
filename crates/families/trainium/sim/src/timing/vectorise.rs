//! The compiler of the first dialect turns short affine loops of small vector operations into
//! single instructions with one more dimension in their access pattern.

use std::ops::Range;
use std::sync::Arc;

use super::memory::Plan;
use crate::python::value::LoopKind;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction, Long, Loop, Tensor};

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
    let is_short = |it: &Loop| it.kind == LoopKind::Affine && (2..=TRIPS).contains(&it.trips);
    if !loops.iter().any(is_short) {
        return;
    }
    let mut found: Vec<Widened> = Vec::new();
    let all = &*plan.instructions;
    let mut rest = all.iter().enumerate().peekable();
    while let Some((at, begin)) = rest.next() {
        let (site, mut iteration) = begin.site;
        let mut end = at + 1;
        let mut body = 1;
        let follows = |it: &Instruction, iteration| it.site.0 == site && iteration <= it.site.1;
        while let Some((_, next)) = rest.next_if(|(_, next)| follows(next, iteration)) {
            iteration = next.site.1;
            end += 1;
            body += usize::from(iteration == begin.site.1);
        }
        let around = loops.get((site as usize).wrapping_sub(1));
        if !around.is_some_and(is_short) {
            continue;
        }
        let run = Run {
            all,
            first: at,
            length: end - at,
            body,
        };
        let alike = run.trips() >= 2 && run.is_uniform();
        let wide = alike.then(|| run.widened(&plan.tensors));
        if let Some(wide) = wide.flatten() {
            found.push(Widened { run: at..end, wide });
        }
    }
    if found.is_empty() {
        return;
    }
    let mut all = plan.take_instructions().into_iter();
    let mut out = Long::default();
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

/// The instructions of consecutive iterations of one loop.
struct Run<'a> {
    all: &'a Long<Instruction>,
    first: usize,
    length: usize,
    /// Instructions of the first iteration.
    body: usize,
}

impl Run<'_> {
    fn trips(&self) -> usize {
        self.length / self.body
    }

    fn at(&self, position: usize) -> &Instruction {
        &self.all[self.first + position]
    }

    /// Whether every iteration runs the same vector operations, none of them fed by an earlier
    /// iteration.
    fn is_uniform(&self) -> bool {
        self.length.is_multiple_of(self.body)
            && (0..self.length).all(|position| {
                let (instruction, first) = (self.at(position), self.at(position % self.body));
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
    fn widened(&self, tensors: &[Tensor]) -> Option<Vec<Instruction>> {
        let trips = self.trips();
        let psum = |i: &Instruction| {
            i.reads.iter().chain(&i.writes).any(|r| {
                tensors
                    .get(r.tile.tensor as usize)
                    .is_some_and(|t| t.buffer == Buffer::Psum)
            })
        };
        // All instructions of the body are widened alike.
        let together = (0..self.body)
            .map(|position| {
                let instruction = self.at(position);
                let elements = if psum(instruction) {
                    ACCUMULATOR_ELEMENTS
                } else {
                    ELEMENTS
                };
                elements / instruction.free.max(1)
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
            for position in 0..self.body {
                let mut wide = self.at(first * self.body + position).clone();
                wide.free *= count as u32;
                for other in 1..count {
                    let next = self.at((first + other) * self.body + position);
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
}
