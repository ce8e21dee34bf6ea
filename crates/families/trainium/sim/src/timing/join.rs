//! The compiler of the first dialect turns consecutive iterations of affine loops that load, work on
//! and store small pieces into one iteration with a larger piece.
//!
//! So it can where what the iterations move in main memory lies side by side, where each has tiles
//! of its own beside what the loop does not change, and where nothing is summed up.

use std::ops::Range;
use std::sync::Arc;

use super::memory::Plan;
use super::vectorise::{Step, is_by_elements, is_column};
use crate::tensor::storage::Buffer;
use crate::trace::LoopKind;
use crate::trace::{Instruction, Long, Loop, Region, Tensor, Transfer};

/// Most instructions of an iteration.
const BODY: usize = 64;

/// Joins iterations until an instruction has `elements` elements in each partition.
pub(super) fn join(plan: &mut Plan, loops: &[Loop], elements: u32) {
    let all = Arc::clone(&plan.instructions);
    let tensors = Arc::clone(&plan.tensors);
    let mut out = Long::default();
    let mut at = 0;
    while at < all.len() {
        let run = run(&all, at);
        let around = loops.get((all[at].site.0 as usize).wrapping_sub(1));
        let is_affine = around.is_some_and(|it| it.kind == LoopKind::Affine && 1 < it.trips);
        let pieces = is_affine.then(|| Pieces::of(&all, run.clone(), &tensors, elements));
        match pieces.flatten() {
            Some(pieces) => {
                plan.merged += pieces.joined_into(&mut out);
            }
            None => out.extend(run.clone().map(|at| all[at].clone())),
        }
        at = run.end;
    }
    if plan.merged != 0 {
        *plan.instructions_mut() = out;
    }
}

/// The instructions from one on that stand in the same loop.
fn run(all: &Long<Instruction>, first: usize) -> Range<usize> {
    let (site, mut iteration) = all[first].site;
    let mut end = first + 1;
    while end < all.len() && all[end].site.0 == site && iteration <= all[end].site.1 {
        iteration = all[end].site.1;
        end += 1;
    }
    first..end
}

/// Iterations that can be joined.
struct Pieces<'a> {
    all: &'a Long<Instruction>,
    run: Range<usize>,
    body: usize,
    together: usize,
}

impl<'a> Pieces<'a> {
    fn of(
        all: &'a Long<Instruction>,
        run: Range<usize>,
        tensors: &[Tensor],
        elements: u32,
    ) -> Option<Self> {
        let first = all[run.start].site.1;
        let body = run.clone().take_while(|at| all[*at].site.1 == first);
        let body = body.take(BODY + 1).count();
        let iteration = || (run.start..run.start + body).map(|at| &all[at]);
        let moves = |it: &Instruction| it.transfer.is_some();
        let is_piece = body <= BODY && run.len().is_multiple_of(body) && iteration().any(moves);
        if !is_piece {
            return None;
        }
        let most = iteration().map(|it| it.free);
        let together = (elements / most.max()?.max(1)) as usize;
        let pieces = Self {
            all,
            run,
            body,
            together,
        };
        let can = 2 <= together && together <= pieces.run.len() / body;
        (can && pieces.continue_each_other(tensors)).then_some(pieces)
    }

    /// Whether each instruction of an iteration goes on where that of the one before ended.
    fn continue_each_other(&self, tensors: &[Tensor]) -> bool {
        let alike = |before: &Instruction, next: &Instruction| {
            before.operation == next.operation
                && before.choice == next.choice
                && before.line == next.line
                && before.free == next.free
                && before.partitions == next.partitions
                && before.transfer == next.transfer
                && before.reads.len() == next.reads.len()
                && before.writes.len() == next.writes.len()
                && !next.features.accumulate
                && (next.transfer.is_some()
                    || is_by_elements(next.operation) && before.meaning == next.meaning)
                && next
                    .transfer
                    .as_ref()
                    .is_none_or(|it| it.runs == 1 && it.transposed == 0)
        };
        self.run.clone().skip(self.body).all(|at| {
            let (before, next) = (&self.all[at - self.body], &self.all[at]);
            let steps = |a: &Region, b: &Region| Step::between(a, b, tensors);
            alike(before, next)
                && before.reads.iter().zip(&next.reads).all(|(a, b)| {
                    steps(a, b).is_some_and(|step| {
                        let moves_on =
                            || goes_on(step, a, next, tensors) && !is_column(next, b, tensors);
                        step == Step::default() || moves_on()
                    })
                })
                && before
                    .writes
                    .iter()
                    .zip(&next.writes)
                    .all(|(a, b)| steps(a, b).is_some_and(|step| goes_on(step, a, next, tensors)))
        })
    }

    /// Adds the joined instructions; by how many there are fewer.
    fn joined_into(&self, out: &mut Long<Instruction>) -> u64 {
        let trips = self.run.len() / self.body;
        let mut fewer = 0;
        for first in (0..trips).step_by(self.together) {
            let count = self.together.min(trips - first);
            for position in 0..self.body {
                let at = |other: usize| {
                    &self.all[self.run.start + (first + other) * self.body + position]
                };
                let mut wide = at(0).clone();
                wide.free *= count as u32;
                wide.transfer = wide.transfer.map(|it| Arc::new(longer(&it, count as u32)));
                for next in (1..count).map(at) {
                    wide.reads.extend_from_slice(&next.reads);
                    wide.writes.extend_from_slice(&next.writes);
                }
                wide.reads.sort_by_key(|r| (r.tile, r.partitions, r.span));
                wide.reads.edit(Vec::dedup);
                out.push(wide);
            }
            fewer += ((count - 1) * self.body) as u64;
        }
        fewer
    }
}

/// Whether an operand has a tile of its own in each iteration, or goes on in main memory where that
/// of the iteration before, `region`, ended.
fn goes_on(step: Step, region: &Region, next: &Instruction, tensors: &[Tensor]) -> bool {
    let Some(tensor) = tensors.get(region.tile.tensor as usize) else {
        return false;
    };
    match tensor.buffer {
        Buffer::Sbuf | Buffer::Psum => step.tensors != 0 || step.blocks != 0,
        _ => {
            let elements = next.transfer.as_ref().map_or(0, |it| {
                i64::from(it.run_bytes) / tensor.dtype.bytes() as i64
            });
            step.tensors == 0 && step.blocks == 0 && step.bytes == elements
        }
    }
}

/// A transfer of as many rows that are longer by a factor.
fn longer(one: &Transfer, factor: u32) -> Transfer {
    Transfer {
        run_bytes: one.run_bytes * factor,
        hbm_read: one.hbm_read * u64::from(factor),
        hbm_written: one.hbm_written * u64::from(factor),
        ..*one
    }
}
