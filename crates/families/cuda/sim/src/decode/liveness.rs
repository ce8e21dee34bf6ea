//! Registers that are alive: read on some way before they are written.

use super::registers::uses;
use super::{Kernel, Op, SPECIAL};

/// Blocks of steps that run one after the other, with what is alive before each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Liveness {
    /// The first step of each block.
    starts: Vec<usize>,
    /// A bit for each register: words come first, then doubles.
    alive_at_start: Vec<Vec<u64>>,
    /// Registers that each step reads and writes, without constants and special ones.
    uses: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Liveness {
    /// Finds what is alive in a kernel. Constants and special registers always are, and are left
    /// out, as predicates are.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let count = kernel.steps.len();
        let total = (kernel.words + kernel.doubles) as usize;
        let mut is_fixed = vec![false; total];
        is_fixed[kernel.first_special as usize..][..SPECIAL.len()].fill(true);
        for (register, _) in &kernel.word_constants {
            is_fixed[*register as usize] = true;
        }
        for (register, _) in &kernel.double_constants {
            is_fixed[(kernel.words + register) as usize] = true;
        }
        let keep = |list: Vec<u32>| -> Vec<usize> {
            let kept = list.into_iter().map(|it| it as usize);
            kept.filter(|it| *it < total && !is_fixed[*it]).collect()
        };
        let uses = uses(kernel).into_iter();
        let uses = uses.map(|(reads, writes)| (keep(reads), keep(writes)));
        let mut is_leader = vec![false; count + 1];
        is_leader[0] = true;
        for (at, step) in kernel.steps.iter().enumerate() {
            match step.op {
                Op::Branch { target } => {
                    is_leader[target as usize] = true;
                    is_leader[at + 1] = true;
                }
                Op::Exit => is_leader[at + 1] = true,
                _ => {}
            }
        }
        let starts: Vec<usize> = (0..count).filter(|at| is_leader[*at]).collect();
        let mut found = Self {
            alive_at_start: vec![vec![0; total.div_ceil(64)]; starts.len()],
            starts,
            uses: uses.collect(),
        };
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for block in (0..found.starts.len()).rev() {
                let alive = found.go_back(kernel, block, &mut |_, _| {});
                has_changed |= alive != found.alive_at_start[block];
                found.alive_at_start[block] = alive;
            }
        }
        found
    }

    /// Calls `at` with each step and what is alive before it.
    pub(crate) fn walk(&self, kernel: &Kernel, mut at: impl FnMut(usize, &[u64])) {
        for block in 0..self.starts.len() {
            self.go_back(kernel, block, &mut at);
        }
    }

    /// Returns the registers that are alive before the first step, which nobody has set: words,
    /// and doubles.
    pub(crate) fn unset(&self, kernel: &Kernel) -> [Vec<u32>; 2] {
        let total = kernel.words + kernel.doubles;
        let is_alive = |register: &u32| {
            let alive = self.alive_at_start.first();
            alive.is_some_and(|it| it[*register as usize / 64] >> (register % 64) & 1 == 1)
        };
        let (words, doubles): (Vec<u32>, Vec<u32>) = (0..total)
            .filter(is_alive)
            .partition(|it| *it < kernel.words);
        [
            words,
            doubles.into_iter().map(|it| it - kernel.words).collect(),
        ]
    }

    /// Goes through a block from its end, and returns what is alive before it.
    fn go_back(
        &self,
        kernel: &Kernel,
        block: usize,
        at: &mut impl FnMut(usize, &[u64]),
    ) -> Vec<u64> {
        let count = kernel.steps.len();
        let end = self.starts.get(block + 1).copied().unwrap_or(count);
        let mut alive = vec![0_u64; self.alive_at_start[block].len()];
        let last = &kernel.steps[end - 1];
        let falls_through =
            !matches!(last.op, Op::Branch { .. } | Op::Exit) || last.guard.is_some();
        let jumps_to = match last.op {
            Op::Branch { target } => Some(target as usize),
            _ => None,
        };
        for next in falls_through.then_some(end).into_iter().chain(jumps_to) {
            if let Ok(next) = self.starts.binary_search(&next) {
                for (into, from) in alive.iter_mut().zip(&self.alive_at_start[next]) {
                    *into |= from;
                }
            }
        }
        for step in (self.starts[block]..end).rev() {
            let (reads, writes) = &self.uses[step];
            if kernel.steps[step].guard.is_none() {
                for register in writes {
                    alive[register / 64] &= !(1 << (register % 64));
                }
            }
            for register in reads {
                alive[register / 64] |= 1 << (register % 64);
            }
            at(step, &alive);
        }
        alive
    }
}
