//! What follows for single steps of the registers that steps read and write.

use crate::decode::registers::{registers, uses};
use crate::decode::{AtomicOp, Kernel, Num, Op, Reg};
use std::collections::HashSet;

/// Returns of each step whether it adds the constant one to a word of shared memory atomically,
/// with no use of what it held: the vendor's compiler has an instruction that counts the threads
/// of a warp (`ATOMS.POPC.INC`).
pub(crate) fn counters(kernel: &Kernel) -> Vec<bool> {
    let ones = kernel.word_constants.iter().filter(|it| it.1 == 1);
    let mut ones: Vec<u32> = ones.map(|it| it.0).collect();
    let uses = uses(kernel);
    // Registers that hold nothing but one.
    for step in &kernel.steps {
        if let Op::MovWord { d, a } = &step.op
            && ones.contains(a)
            && uses.iter().filter(|it| it.1.contains(d)).count() == 1
        {
            ones.push(*d);
        }
    }
    let is_unused = |d: u32| !uses.iter().any(|it| it.0.contains(&d));
    kernel
        .steps
        .iter()
        .map(|step| match &step.op {
            Op::Atomic {
                op: AtomicOp::Add,
                num: Num::U32 | Num::S32,
                d,
                b,
                ..
            } => ones.contains(b) && d.is_none_or(is_unused),
            _ => false,
        })
        .collect()
}

/// Returns of each step whether it looks at what words hold that others change: atomic operations
/// whose results are used, and loads past the L1.
pub(crate) fn looks(kernel: &Kernel) -> Vec<bool> {
    let read: HashSet<u32> = uses(kernel).into_iter().flat_map(|it| it.0).collect();
    (0..kernel.steps.len())
        .map(|at| match &kernel.steps[at].op {
            Op::Atomic { d: Some(_), .. } => {
                registers(kernel, at).1.iter().any(|it| read.contains(it))
            }
            Op::Load { no_l1, .. } => *no_l1,
            _ => false,
        })
        .collect()
}

/// Steps before a pack of halves among which the unpack may stand that makes it a plain move.
const NEAR: usize = 64;

/// Returns whether a step puts halves or bytes together that no register holds in this order.
pub(crate) fn is_shuffled(kernel: &Kernel, at: usize) -> bool {
    let Op::Pack { parts, bits, .. } = &kernel.steps[at].op else {
        return false;
    };
    if *bits / parts.len().max(1) as u32 >= 32 {
        return false;
    }
    let is_same = |op: &Op| {
        let Op::Unpack { parts: others, .. } = op else {
            return false;
        };
        let others = others.iter().copied();
        others.eq(parts.iter().map(|it| Some(*it)))
    };
    let before = &kernel.steps[at.saturating_sub(NEAR)..at];
    // What is converted, loaded or computed as halves is put together as it is made.
    let is_moved = |part: &u32| {
        before.iter().rev().find_map(|step| match &step.op {
            Op::Unpack { parts, .. } if parts.contains(&Some(*part)) => Some(true),
            Op::Cvt {
                d: Reg::Word(d), ..
            }
            | Op::MovWord { d, .. }
                if d == part =>
            {
                Some(false)
            }
            Op::Bin { d, .. } | Op::Tri { d, .. } | Op::Un { d, .. } if d == part => Some(false),
            Op::Load { d, .. } if d.contains(&Reg::Word(*part)) => Some(false),
            _ => None,
        }) == Some(true)
    };
    parts.iter().any(is_moved) && !before.iter().any(|step| is_same(&step.op))
}
