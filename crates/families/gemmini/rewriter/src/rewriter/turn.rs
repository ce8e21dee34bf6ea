//! Which schedules a request tries first.

use crate::proposal::Family;
use autocomp_core::PlanChoice;
use autocomp_rewriting::kernel_seed;

/// Places and iterations that share schedules out between them.
const SHARES: [u64; 2] = [6, 12];
/// What it costs a schedule that it is another place's to try, and another iteration's.
const NOT_MINE: [f64; 2] = [0.35, 0.25];
/// What it is worth that a schedule differs little from the one that the kernel has.
const NEAR: f64 = 0.5;
/// Which schedules a request tries first. Requests know nothing of each other,
/// and all kernels that compute the same have the same schedules.
pub(super) struct Turn {
    shares: [u64; 2],
    is_first: bool,
    /// Whether schedules like the kernel's own are preferred.
    is_near: bool,
}

impl Turn {
    pub(super) fn of(choice: PlanChoice<'_>) -> Self {
        Self {
            shares: [
                u64::from(choice.place) % SHARES[0],
                u64::from(choice.iteration) % SHARES[1],
            ],
            is_first: choice.iteration <= 1,
            is_near: (choice.iteration + choice.plan) % 2 == 1,
        }
    }

    pub(super) fn penalty(&self, family: &Family) -> f64 {
        let hash = kernel_seed(&family.key).0;
        let shares = [hash % SHARES[0], hash / SHARES[0] % SHARES[1]];
        let iteration = if self.is_first || shares[1] == self.shares[1] {
            0.0
        } else {
            NOT_MINE[1]
        };
        if self.is_near && family.is_near && !self.is_first {
            return iteration - NEAR;
        }
        let place = if shares[0] == self.shares[0] {
            0.0
        } else {
            NOT_MINE[0]
        };
        place + iteration
    }
}
