//! The compiler of the first dialect turns short affine loops of small vector operations into
//! single instructions with one more dimension in their access pattern.
//!
//! So it can where each operand moves by the same step from iteration to iteration, where the
//! numbers and the columns among the operands are the same, and where no iteration needs what an
//! earlier one did. What an instruction makes of its operand as a whole, it cannot make of parts.

use std::ops::Range;
use std::sync::Arc;

use super::memory::Plan;
use crate::tensor::storage::Buffer;
use crate::trace::LoopKind;
use crate::trace::{Choice, Engine, Instruction, Long, Loop, Operation, Region, Tensor};

/// Longest loop that is merged.
const TRIPS: u64 = 128;
/// Most instructions of an iteration.
const BODY: usize = 64;
/// Most elements of a merged instruction in each partition, without and with the accumulators.
const ELEMENTS: u32 = 2048;
const ACCUMULATOR_ELEMENTS: u32 = 512;
/// Most free dimensions of an access pattern, as documented.
const DIMENSIONS: u8 = 4;

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
        let alike = run.trips() >= 2 && body <= BODY && run.is_uniform();
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

    /// Whether every iteration runs the same vector operations with the same numbers.
    fn is_uniform(&self) -> bool {
        self.length.is_multiple_of(self.body)
            && (0..self.length).all(|position| {
                let (instruction, first) = (self.at(position), self.at(position % self.body));
                let vector = !matches!(
                    instruction.choice,
                    Choice::Fixed(Engine::Tensor | Engine::Dma | Engine::Gpsimd | Engine::Sync)
                );
                vector
                    && is_by_elements(instruction.operation)
                    && !instruction.features.accumulate
                    && instruction.operation == first.operation
                    && instruction.line == first.line
                    && instruction.meaning == first.meaning
                    && instruction.free == first.free
                    && instruction.partitions == first.partitions
                    && instruction.reads.len() == first.reads.len()
                    && instruction.writes.len() == first.writes.len()
            })
    }

    /// The widened instructions, beside those that cannot be widened; none where nothing is.
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
        let mut any = false;
        let mut first = 0;
        while first < trips {
            let count = together.min(trips - first);
            let begin = first * self.body;
            let steps = self.steps(begin, count, tensors);
            if count > 1 && steps.is_some_and(|steps| self.is_free_of_order(begin, count, &steps)) {
                any = true;
                for position in 0..self.body {
                    let mut wide = self.at(begin + position).clone();
                    wide.free *= count as u32;
                    for other in 1..count {
                        let next = self.at(begin + other * self.body + position);
                        wide.reads.extend_from_slice(&next.reads);
                        wide.writes.extend_from_slice(&next.writes);
                    }
                    wide.reads.sort_by_key(|r| (r.tile, r.partitions, r.span));
                    wide.reads.edit(Vec::dedup);
                    out.push(wide);
                }
            } else {
                let apart = begin..begin + count * self.body;
                out.extend(apart.map(|position| self.at(position).clone()));
            }
            first += count;
        }
        any.then_some(out)
    }

    /// How far the operands of each instruction of the body move from iteration to iteration, if
    /// one access pattern with one more dimension covers each.
    fn steps(&self, begin: usize, count: usize, tensors: &[Tensor]) -> Option<Vec<Vec<Step>>> {
        let operands = |iteration: usize, position: usize| {
            let instruction = self.at(begin + iteration * self.body + position);
            instruction.reads.iter().chain(&instruction.writes)
        };
        let mut all = Vec::with_capacity(self.body);
        for position in 0..self.body {
            let mut steps: Vec<Step> = Vec::new();
            for iteration in 1..count {
                let before = operands(iteration - 1, position);
                let pairs = before.zip(operands(iteration, position));
                for (at, (before, next)) in pairs.enumerate() {
                    let step = Step::between(before, next, tensors)?;
                    match steps.get(at) {
                        None => steps.push(step),
                        Some(first) if *first == step => {}
                        Some(_) => return None,
                    }
                }
            }
            let moves = steps.iter().any(|step| *step != Step::default());
            if moves_columns(self.at(begin + position), &steps, tensors) {
                return None;
            }
            let most = self.at(begin + position).meaning.dimensions + u8::from(moves);
            if DIMENSIONS < most {
                return None;
            }
            all.push(steps);
        }
        Some(all)
    }

    /// Whether nothing changes where each instruction runs for all iterations before the next one
    /// does: no iteration needs what an earlier one does further down in the body.
    fn is_free_of_order(&self, begin: usize, count: usize, steps: &[Vec<Step>]) -> bool {
        let touched = |position: usize| {
            let instruction = self.at(begin + position);
            let writes = instruction.reads.len();
            let both = instruction.reads.iter().chain(&instruction.writes);
            both.enumerate()
                .map(move |(at, region)| (at, region, writes <= at))
        };
        for late in 0..self.body {
            for early in 0..=late {
                for (at, region, writes) in touched(late) {
                    for (other, _, written) in touched(early) {
                        if !(writes || written) {
                            continue;
                        }
                        // Where both move alike the first iteration stands for all.
                        let alike = steps[late][at] == steps[early][other];
                        let firsts = if alike { 1 } else { count - 1 };
                        for first in 0..firsts {
                            let from = self.region(begin, first, late, at).unwrap_or(region);
                            let meets = (first + 1..count).any(|next| {
                                let to = self.region(begin, next, early, other);
                                to.is_some_and(|to| from.meets(to))
                            });
                            if meets {
                                return false;
                            }
                        }
                    }
                }
            }
        }
        true
    }

    /// An operand of an instruction of an iteration.
    fn region(
        &self,
        begin: usize,
        iteration: usize,
        position: usize,
        at: usize,
    ) -> Option<&Region> {
        let instruction = self.at(begin + iteration * self.body + position);
        let reads = instruction.reads.len();
        match at < reads {
            true => instruction.reads.get(at),
            false => instruction.writes.get(at - reads),
        }
    }
}

/// Whether what an operation makes of an element, or of a row of the innermost dimension, does not
/// depend on where its operand begins and ends.
pub(super) const fn is_by_elements(operation: Operation) -> bool {
    !matches!(
        operation,
        Operation::Scan
            | Operation::ActivationReduce
            | Operation::TensorScalarReduce
            | Operation::BatchStatistics
            | Operation::BatchAggregate
            | Operation::MaxEight
    )
}

/// Whether an operand that is one element in each partition for a whole instruction moves from
/// iteration to iteration by `steps`, as scales, biases and scalars of tiles may.
fn moves_columns(instruction: &Instruction, steps: &[Step], tensors: &[Tensor]) -> bool {
    let moving = |at: &usize| steps.get(*at).is_some_and(|step| *step != Step::default());
    let reads = &instruction.reads;
    if instruction.free == 1 {
        // All operands are columns.
        let tiles = match instruction.operation {
            Operation::Activation | Operation::TensorScalar => 1,
            Operation::ScalarTensorTensor => 2,
            _ => return false,
        };
        return tiles < (0..reads.len()).filter(moving).count();
    }
    let mut moving = (0..reads.len()).filter(moving);
    moving.any(|at| is_column(instruction, &reads[at], tensors))
}

/// Whether a region on the chip is one element in each partition, for an instruction that computes
/// several.
pub(super) fn is_column(instruction: &Instruction, region: &Region, tensors: &[Tensor]) -> bool {
    let tensor = tensors.get(region.tile.tensor as usize);
    let on_chip = tensor.filter(|it| matches!(it.buffer, Buffer::Sbuf | Buffer::Psum));
    1 < instruction.free && on_chip.is_some_and(|it| region.length() <= it.dtype.bytes() as u64)
}

/// How far an operand moves from one iteration to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// In tensors, where each iteration has its own.
    pub(super) tensors: i64,
    pub(super) blocks: i64,
    pub(super) bytes: i64,
}

impl Step {
    /// `None` where no regular step leads from one to the other.
    pub(super) fn between(before: &Region, next: &Region, tensors: &[Tensor]) -> Option<Self> {
        let apart = |a: u32, b: u32| i64::from(b) - i64::from(a);
        let step = Self {
            tensors: apart(before.tile.tensor, next.tile.tensor),
            blocks: apart(before.tile.block, next.tile.block),
            bytes: apart(before.span.0, next.span.0),
        };
        let same = before.partitions == next.partitions && before.length() == next.length();
        // Tensors of one's own are made by one line, and lie side by side.
        let own = || {
            let (a, b) = (
                tensors.get(before.tile.tensor as usize)?,
                tensors.get(next.tile.tensor as usize)?,
            );
            let alike = a.line == b.line && a.bytes == b.bytes && a.buffer == b.buffer;
            (alike && step.blocks == 0 && step.bytes == 0).then_some(())
        };
        (same && (step.tensors == 0 || own().is_some())).then_some(step)
    }
}
