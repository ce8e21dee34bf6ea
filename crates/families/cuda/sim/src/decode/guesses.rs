//! Plain reads that a compare-and-swap checks.

use super::{AtomicOp, Meant, Op, Reg, Step};
use std::collections::BTreeSet;

/// Lets loads be strong whose value is what a compare-and-swap expects to find: whatever they
/// read, the swap happens only if it stands there (the loop over `atomicCAS`
/// of the CUDA C++ programming guide).
pub(super) fn strengthen(steps: &mut [Step]) {
    let mut guesses = BTreeSet::new();
    for step in &*steps {
        let Op::Atomic {
            op: AtomicOp::Cas,
            num,
            b,
            ..
        } = &step.op
        else {
            continue;
        };
        let mut expected = BTreeSet::from([*b]);
        let is_double = num.bytes() == 8;
        loop {
            let count = expected.len();
            for step in &*steps {
                match &step.op {
                    Op::MovWord { d, a } if !is_double && expected.contains(d) => {
                        expected.insert(*a);
                    }
                    Op::MovDouble { d, a } if is_double && expected.contains(d) => {
                        expected.insert(*a);
                    }
                    _ => {}
                }
            }
            if expected.len() == count {
                break;
            }
        }
        for (at, step) in steps.iter().enumerate() {
            let Op::Load {
                bytes,
                d,
                meant: Meant::Plain,
                ..
            } = &step.op
            else {
                continue;
            };
            let is_expected = match &d[..] {
                [Reg::Word(d)] => !is_double && expected.contains(d),
                [Reg::Double(d)] => is_double && expected.contains(d),
                _ => false,
            };
            if is_expected && *bytes == num.bytes() {
                guesses.insert(at);
            }
        }
    }
    for at in guesses {
        if let Op::Load { meant, .. } = &mut steps[at].op {
            *meant = Meant::Strong;
        }
    }
}
