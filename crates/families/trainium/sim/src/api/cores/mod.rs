//! What cores do together: launches, `nisa.core_barrier`, `nisa.sendrecv`, `nisa.sendrecv_compute`,
//! and the memory that they share.
//!
//! Facts: the vendor's pages of the instructions and on logical cores.

mod barrier;
mod exchange;
mod launch;
mod meeting;
mod shared_tensors;

pub(super) use barrier::core_barrier;
pub(super) use exchange::{sendrecv, sendrecv_compute};
pub(super) use shared_tensors::SharedTensors;

use super::Bound;
use crate::diagnostic::{Failure, FailureKind};

fn on_one_core(bound: &Bound) -> Box<Failure> {
    Failure::new(
        FailureKind::Rejected,
        "one-core",
        format!(
            "{} needs two cores, and this kernel runs on one",
            bound.api.full_name()
        ),
        "launch the kernel on two: `def solution(x): return kernel[2](x)`",
    )
}

fn in_order<T>(rank: usize, own: T, other: T) -> [T; 2] {
    match rank {
        0 => [own, other],
        _ => [other, own],
    }
}
