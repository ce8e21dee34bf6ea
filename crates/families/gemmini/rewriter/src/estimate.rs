//! A quick estimate of a kernel's cycles, by which plans are ranked.
//!
//! It follows the first commands of a kernel through a coarse model of the
//! accelerator: one in-order unit each for loads, stores and the array, a
//! limited number of commands in flight, dependences through local rows, bank
//! conflicts, and a memory port. It only orders ideas; what counts is measured
//! by the evaluator.

mod machine;

use crate::kernel::{Command, Kernel, Statement};
use crate::limits::HardwareLimits;
use crate::walk::Program;
use machine::Machine;

/// Events that are followed before the rest is extrapolated.
const EVENT_BUDGET: usize = 14_000;

/// What the model says about a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Cycles of the whole kernel.
    pub(crate) cycles: f64,
    /// Bytes moved in per compute command.
    pub(crate) bytes_per_product: f64,
}

/// Returns an estimate of the cycles that a kernel takes; `None` if it cannot be followed.
pub fn estimate(kernel: &Kernel, limits: &HardwareLimits) -> Option<Estimate> {
    let total = total_work(&kernel.body);
    let mut machine = Machine::new(kernel, limits);
    let mut budget = EVENT_BUDGET;
    let finished = Program::of(kernel)?.run(&mut budget, &mut |event| machine.event(event));
    if finished.is_none() && 0 < budget {
        // It stopped because something was not understood.
        return None;
    }
    let end = machine.end();
    let rest = (total - machine.work).max(0.0);
    let bytes_per_product = machine.bytes_moved as f64 / machine.work.max(1.0);
    if rest == 0.0 || machine.work == 0.0 {
        return Some(Estimate {
            cycles: end,
            bytes_per_product,
        });
    }
    // The second half tells the steady rate; the first holds what happens once.
    let half = machine
        .milestones
        .iter()
        .find(|(work, _)| machine.work <= 2.0 * work);
    let (half_work, half_time) = half.copied().unwrap_or((0.0, 0.0));
    let rate = if half_work < machine.work {
        (machine.array_free - half_time) / (machine.work - half_work)
    } else {
        end / machine.work
    };
    Some(Estimate {
        cycles: end + rest * rate,
        bytes_per_product,
    })
}

/// Returns the number of compute commands, guards taken as open.
fn total_work(statements: &[Statement]) -> f64 {
    statements
        .iter()
        .map(|statement| match statement {
            Statement::Loop(inner) => inner.trips() as f64 * total_work(&inner.body),
            Statement::Guard(guard) => total_work(&guard.then).max(total_work(&guard.otherwise)),
            Statement::Command(Command::Compute(_)) => 1.0,
            _ => 0.0,
        })
        .sum()
}
