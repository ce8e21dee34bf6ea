//! How many registers a kernel needs.

use super::registers;
use crate::decode::{Kernel, Op};

/// Registers of a thread that the compiler needs beside those of the kernel.
const BESIDE: u32 = 6;
/// Most registers of a thread.
pub const MOST: u32 = 255;

/// What is alive where.
#[derive(Debug)]
pub(crate) struct Pressure {
    /// Registers of 32 bits of each step, with what the compiler adds.
    at: Vec<u32>,
}

impl Pressure {
    /// Returns the most registers that a thread needs at once.
    pub(crate) fn most(&self) -> u32 {
        self.at.iter().copied().max().unwrap_or(BESIDE)
    }

    /// Returns of each step the part of what is alive that `limit` registers do not hold.
    pub(crate) fn spills(&self, limit: u32) -> Vec<f64> {
        let over = |it: &u32| f64::from(it.saturating_sub(limit)) / f64::from((*it).max(1));
        self.at.iter().map(over).collect()
    }
}

/// Returns the 32-bit registers that are alive at each step, as the text stands, and some for
/// what the compiler adds. Constants and special registers need none.
pub(crate) fn pressure(kernel: &Kernel) -> Pressure {
    let count = kernel.steps.len();
    let total = (kernel.words + kernel.doubles) as usize;
    let mut is_fixed = vec![false; total];
    let specials = kernel.first_special..kernel.first_special + crate::decode::SPECIAL.len() as u32;
    for register in specials {
        is_fixed[register as usize] = true;
    }
    for (register, _) in &kernel.word_constants {
        is_fixed[*register as usize] = true;
    }
    for (register, _) in &kernel.double_constants {
        is_fixed[(kernel.words + register) as usize] = true;
    }
    let uses = registers::uses(kernel);
    let keep = |list: &[u32]| -> Vec<usize> {
        let kept = list.iter().map(|it| *it as usize);
        kept.filter(|it| *it < total && !is_fixed[*it]).collect()
    };
    // Blocks of steps that run one after the other.
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
    let mut block_at = vec![0; count];
    for (block, start) in starts.iter().enumerate() {
        let end = starts.get(block + 1).copied().unwrap_or(count);
        block_at[*start..end].fill(block);
    }
    let words = total.div_ceil(64);
    let mut alive_at_start = vec![vec![0_u64; words]; starts.len()];
    let mut most = vec![0; count];
    for round in 0..64 {
        let mut has_changed = false;
        for block in (0..starts.len()).rev() {
            let end = starts.get(block + 1).copied().unwrap_or(count);
            let mut alive = vec![0_u64; words];
            let last = &kernel.steps[end - 1];
            let mut after = Vec::new();
            let falls_through =
                !matches!(last.op, Op::Branch { .. } | Op::Exit) || last.guard.is_some();
            if falls_through && end < count {
                after.push(block_at[end]);
            }
            if let Op::Branch { target } = last.op {
                after.extend(block_at.get(target as usize).copied());
            }
            for next in after {
                for (into, from) in alive.iter_mut().zip(&alive_at_start[next]) {
                    *into |= from;
                }
            }
            for at in (starts[block]..end).rev() {
                if kernel.steps[at].guard.is_none() {
                    for register in keep(&uses[at].1) {
                        alive[register / 64] &= !(1 << (register % 64));
                    }
                }
                for register in keep(&uses[at].0) {
                    alive[register / 64] |= 1 << (register % 64);
                }
                if round != 0 || starts.len() == 1 {
                    most[at] = weight(&alive, kernel.words as usize);
                }
            }
            if alive != alive_at_start[block] {
                alive_at_start[block] = alive;
                has_changed = true;
            }
        }
        if !has_changed && round != 0 {
            break;
        }
    }
    Pressure {
        at: most.into_iter().map(|it| it + BESIDE).collect(),
    }
}

/// Counts registers of 32 bits.
fn weight(alive: &[u64], words: usize) -> u32 {
    let mut sum = 0;
    for (idx, bits) in alive.iter().enumerate() {
        let first = idx * 64;
        sum += bits.count_ones();
        if words < first + 64 {
            let doubles = if words <= first {
                *bits
            } else {
                bits >> (words - first)
            };
            sum += doubles.count_ones();
        }
    }
    sum
}
