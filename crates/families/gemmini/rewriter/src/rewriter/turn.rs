//! Which proposals a request tries first.

use crate::proposal::{Proposal, RESCHEDULE};
use autocomp_core::PlanChoice;
use autocomp_rewriting::{Earlier, Proposed, kernel_seed, menu_item};

/// Places and iterations that share schedules out between them.
const SHARES: [u64; 2] = [6, 12];
/// What it costs a schedule that it is another place's to try, and another iteration's.
const NOT_MINE: [f64; 2] = [0.35, 0.25];
/// What it is worth that a schedule differs little from the one that the kernel has.
const NEAR: f64 = 0.5;
/// Which schedules a request tries first. Requests know nothing of each other,
/// and all kernels that compute the same have the same schedules.
struct Turn {
    shares: [u64; 2],
    is_first: bool,
    /// Whether schedules like the kernel's own are preferred.
    is_near: bool,
}

impl Turn {
    fn of(choice: PlanChoice<'_>) -> Self {
        Self {
            shares: [
                u64::from(choice.place) % SHARES[0],
                u64::from(choice.iteration) % SHARES[1],
            ],
            is_first: choice.iteration <= 1,
            is_near: (choice.iteration + choice.plan) % 2 == 1,
        }
    }

    /// `key` is the schedule as text.
    fn penalty(&self, key: &str, is_near: bool) -> f64 {
        let hash = kernel_seed(key).0;
        let shares = [hash % SHARES[0], hash / SHARES[0] % SHARES[1]];
        let iteration = if self.is_first || shares[1] == self.shares[1] {
            0.0
        } else {
            NOT_MINE[1]
        };
        if self.is_near && is_near && !self.is_first {
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

/// Returns the proposals for a kernel as they are ranked for a request.
pub(super) fn proposed<'known>(
    proposals: &'known [Proposal],
    choice: PlanChoice<'_>,
    earlier: &Earlier<Vec<i64>>,
) -> impl Iterator<Item = Proposed<String, &'known Proposal>> {
    let turn = Turn::of(choice);
    proposals.iter().map(move |proposal| {
        let key = format!("{RESCHEDULE} {:?}", proposal.parameters);
        let items = proposal.menu_items.iter().copied();
        Proposed {
            proposal,
            is_earlier: earlier.has(&proposal.parameters),
            score: proposal.score + turn.penalty(&key, proposal.is_near),
            stream: key.clone(),
            is_named: menu_item(items, choice.menu).is_some(),
            kind: key,
        }
    })
}
