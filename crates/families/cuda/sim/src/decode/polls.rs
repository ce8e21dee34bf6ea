//! Steps that wait for other threads: loads and atomic operations whose result decides whether
//! they are done once more.

use super::registers::registers;
use super::{AtomicOp, Kernel, Op};

/// Returns the steps of loops by which threads take what no other takes from a counter, and wait
/// for nobody: then how much falls to a block is a matter of those that run beside it.
pub(crate) fn queues(kernel: &Kernel, polls: &[bool]) -> Vec<usize> {
    let is_in_loop = |at: usize| {
        kernel.steps.iter().enumerate().any(|(last, step)| {
            matches!(step.op, Op::Branch { target } if (target as usize..=last).contains(&at))
        })
    };
    let steps = 0..kernel.steps.len();
    let taking = steps.filter(|at| takes(kernel, *at) && is_in_loop(*at));
    match polls.is_empty() {
        true => taking.collect(),
        false => Vec::new(),
    }
}

/// Returns whether a step takes the next of a row of numbers.
fn takes(kernel: &Kernel, at: usize) -> bool {
    let Op::Atomic {
        op: AtomicOp::Add | AtomicOp::Inc,
        d: Some(_),
        b,
        ..
    } = &kernel.steps[at].op
    else {
        return false;
    };
    !kernel.word_constants.contains(&(*b, 0))
}

/// Returns whether a step of the loop `first..=last` is a compare-and-swap that expects what the
/// loop has read: then it fails only where another thread has changed the word meanwhile, so that
/// one of those that try always goes on, and none waits for another.
fn tries(kernel: &Kernel, first: usize, last: usize, at: usize) -> bool {
    let Op::Atomic {
        op: AtomicOp::Cas,
        num,
        b: expected,
        ..
    } = &kernel.steps[at].op
    else {
        return false;
    };
    let mut wanted = vec![match num.bytes() {
        8 => kernel.words + expected,
        _ => *expected,
    }];
    let mut asked = 0;
    while let Some(register) = wanted.get(asked).copied() {
        asked += 1;
        for at in first..=last {
            let (reads, writes) = registers(kernel, at);
            if !writes.contains(&register) {
                continue;
            }
            if matches!(kernel.steps[at].op, Op::Atomic { .. } | Op::Load { .. }) {
                return true;
            }
            let more = reads.into_iter().filter(|it| !wanted.contains(it));
            let more: Vec<u32> = more.collect();
            wanted.extend(more);
        }
    }
    false
}

/// Returns whether a step stands in a loop that does nothing but wait for another thread.
pub(crate) fn is_waiting(kernel: &Kernel, at: usize) -> bool {
    let polls = polls(kernel);
    if polls.is_empty() {
        return false;
    }
    let loops = kernel.steps.iter().enumerate().filter_map(|(last, step)| {
        let Op::Branch { target } = step.op else {
            return None;
        };
        let all = target as usize..=last;
        all.contains(&at).then_some(all)
    });
    // The innermost one that polls.
    let polling = loops.filter(|it| polls[it.clone()].contains(&true));
    let Some(all) = polling.min_by_key(|it| it.end() - it.start()) else {
        return false;
    };
    let does_more = |at: usize| {
        let op = &kernel.steps[at].op;
        matches!(op, Op::Store { .. }) || matches!(op, Op::Atomic { .. }) && !polls[at]
    };
    !all.into_iter().any(does_more)
}

/// Returns of each step whether it polls; nothing if none does.
pub(crate) fn polls(kernel: &Kernel) -> Vec<bool> {
    let mut found = vec![false; kernel.steps.len()];
    for (at, step) in kernel.steps.iter().enumerate() {
        let Op::Branch { target } = step.op else {
            continue;
        };
        let first = target as usize;
        if at < first {
            continue;
        }
        // Each way out of the loop, and the way back.
        for (leaving, step) in (first..).zip(&kernel.steps[first..=at]) {
            let Op::Branch { target } = step.op else {
                continue;
            };
            let is_decision = step.guard.is_some()
                && (leaving == at || !(first..=at).contains(&(target as usize)));
            if is_decision {
                mark(kernel, first, leaving, &mut found);
            }
        }
    }
    match found.contains(&true) {
        true => found,
        false => Vec::new(),
    }
}

/// Marks the strong reads between `first` and `leaving` that the guard of `leaving` depends on
/// with no other read of memory between.
fn mark(kernel: &Kernel, first: usize, leaving: usize, found: &mut [bool]) {
    let mut wanted = registers(kernel, leaving).0;
    for at in (first..leaving).rev() {
        let (reads, writes) = registers(kernel, at);
        if !writes.iter().any(|it| wanted.contains(it)) {
            continue;
        }
        wanted.retain(|it| !writes.contains(it));
        match &kernel.steps[at].op {
            Op::Atomic { .. } if takes(kernel, at) || tries(kernel, first, leaving, at) => {}
            Op::Atomic { .. } | Op::Load { no_l1: true, .. } => found[at] = true,
            Op::Load { .. } => {}
            _ => wanted.extend(reads),
        }
    }
}
