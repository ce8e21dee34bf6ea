//! Steps that wait for other threads: loads and atomic operations whose result decides whether
//! they are done once more.

use super::classes::registers;
use crate::decode::{Kernel, Op};

/// Returns of each step whether it polls; nothing if none does.
pub(super) fn polls(kernel: &Kernel) -> Vec<bool> {
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
            Op::Atomic { .. } | Op::Load { no_l1: true, .. } => found[at] = true,
            Op::Load { .. } => {}
            _ => wanted.extend(reads),
        }
    }
}
