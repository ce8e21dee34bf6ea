//! Copies of 16 bytes that the compiler here makes two of 8 of: the one of the device takes
//! them as one.

use crate::decode::registers::registers;
use crate::decode::{Address, Kernel, Op};
use crate::ptx::Space;

/// Steps among which the other half is looked for.
const NEAR: usize = 8;

/// What a step is of such a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The step that stands for both; so many bytes before its address both begin.
    First(u64),
    /// The other one, which is no instruction.
    Second,
}

/// Returns for each step what it is of a copy, if it is part of one.
pub(super) fn halves(kernel: &Kernel) -> Vec<Option<Half>> {
    let mut halves = vec![None; kernel.steps.len()];
    for at in 0..kernel.steps.len() {
        let Some((space, write, address)) = eight_bytes(&kernel.steps[at].op) else {
            continue;
        };
        if halves[at].is_some() || kernel.steps[at].guard.is_some() {
            continue;
        }
        for other in at + 1..(at + 1 + NEAR).min(kernel.steps.len()) {
            let op = &kernel.steps[other].op;
            if matches!(op, Op::Branch { .. } | Op::Barrier { .. } | Op::Exit) {
                break;
            }
            let fits = eight_bytes(op).filter(|it| (it.0, it.1) == (space, write));
            let apart = fits.map(|it| it.2.offset - address.offset);
            let is_same = fits.is_some_and(|it| it.2.base == address.base);
            if let Some(8 | -8) = apart
                && is_same
                && kernel.steps[other].guard.is_none()
                && halves[other].is_none()
            {
                halves[at] = Some(Half::First(if apart == Some(8) { 0 } else { 8 }));
                halves[other] = Some(Half::Second);
                break;
            }
            // Another value of the register is another address.
            let base = address
                .base
                .map(|it| crate::decode::registers::number(kernel, it));
            if base.is_some_and(|base| registers(kernel, other).1.contains(&base)) {
                break;
            }
        }
    }
    halves
}

/// Returns where a step copies one register of 8 bytes from or to.
fn eight_bytes(op: &Op) -> Option<(Space, bool, Address)> {
    match op {
        Op::Load {
            space,
            bytes: 8,
            d,
            address,
            ..
        } if d.len() == 1 && *space != Space::Param => Some((*space, false, *address)),
        Op::Store {
            space,
            bytes: 8,
            a,
            address,
            ..
        } if a.len() == 1 => Some((*space, true, *address)),
        _ => None,
    }
}
