//! What the compiler of the device folds into other instructions: sums and multiples that addresses
//! are made of, and the widening of what a load has made a word of.

use super::classes::{Cost, NOTHING};
use super::machine::Machine;
use crate::decode::registers::{number, registers, uses};
use crate::decode::{Bin, Kernel, Num, Op, Reg, Tri};
use std::collections::HashSet;

/// Returns what each step of a kernel costs on a machine.
pub(super) fn costs(kernel: &Kernel, machine: &Machine) -> Vec<Cost> {
    let latencies = &machine.latencies;
    let (addresses, loaded) = (addresses(kernel), loaded(kernel));
    let of = |at: usize| match &kernel.steps[at].op {
        Op::Bin { op, num, .. }
            if is_folded(*op, *num)
                && registers(kernel, at)
                    .1
                    .iter()
                    .all(|it| addresses.contains(it)) =>
        {
            latencies.binary(*op, Num::U32)
        }
        Op::Cvt {
            to,
            from,
            saturate: false,
            a,
            ..
        } if !to.is_float()
            && !from.is_float()
            && from.bytes() < to.bytes()
            && loaded.contains(&number(kernel, *a)) =>
        {
            NOTHING
        }
        op => latencies.cost(op),
    };
    (0..kernel.steps.len()).map(of).collect()
}

/// Returns whether an operation on 64 bits takes half as much where its result is a part of an
/// address.
fn is_folded(op: Bin, num: Num) -> bool {
    matches!(op, Bin::Add | Bin::Sub | Bin::Shl) && num.bytes() == 8 && !num.is_float()
}

/// Returns the registers that hold addresses, and what these are sums and multiples of.
fn addresses(kernel: &Kernel) -> HashSet<u32> {
    let mut found: HashSet<u32> = (kernel.steps.iter())
        .flat_map(|step| bases(&step.op))
        .map(|it| number(kernel, it))
        .collect();
    let uses = uses(kernel);
    loop {
        let before = found.len();
        for (step, (reads, writes)) in kernel.steps.iter().zip(&uses).rev() {
            let passes = match &step.op {
                Op::Bin { op, num, .. } => is_folded(*op, *num),
                Op::Tri { op: Tri::Mad, .. } | Op::MadWide { .. } | Op::MovDouble { .. } => true,
                _ => false,
            };
            if passes && writes.iter().any(|it| found.contains(it)) {
                found.extend(reads);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Returns the registers that a step takes addresses from.
fn bases(op: &Op) -> impl Iterator<Item = Reg> {
    let both = match op {
        Op::CopyAsync { to, from, .. } => [Some(to), Some(from)],
        Op::Load { address, .. }
        | Op::Store { address, .. }
        | Op::Atomic { address, .. }
        | Op::LoadMatrix { address, .. }
        | Op::StoreMatrix { address, .. }
        | Op::WmmaLoad { address, .. }
        | Op::WmmaStore { address, .. } => [Some(address), None],
        _ => [None, None],
    };
    both.into_iter().flatten().filter_map(|it| it.base)
}

/// Returns the registers that hold nothing but what loads of less than a word have left.
fn loaded(kernel: &Kernel) -> HashSet<u32> {
    let (mut loaded, mut others) = (HashSet::new(), HashSet::new());
    for (step, (_, writes)) in kernel.steps.iter().zip(uses(kernel)) {
        match &step.op {
            Op::Load { bytes: 1 | 2, .. } => loaded.extend(writes),
            _ => others.extend(writes),
        }
    }
    loaded.retain(|it| !others.contains(it));
    loaded
}
