//! Which proposals a request tries first.

use crate::proposal::{Family, Proposals};
use crate::transformation::Step;
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

    fn penalty(&self, family: &Family) -> f64 {
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

/// Returns the families of a kernel's proposals as they are ranked for a request: each by its best
/// variant that is not an `earlier` draft.
pub(super) fn proposed<'known>(
    proposals: &'known Proposals,
    choice: PlanChoice<'_>,
    earlier: &Earlier<Vec<Step>>,
) -> impl Iterator<Item = Proposed<&'known str, &'known Family>> {
    let turn = Turn::of(choice);
    proposals.families.iter().filter_map(move |family| {
        let mut variants = family.variants.iter();
        let first = variants.find(|it| !earlier.has(&it.steps));
        let best = first.or(family.variants.first())?.score;
        let turn = if family.is_schedule {
            turn.penalty(family)
        } else {
            0.0
        };
        Some(Proposed {
            proposal: family,
            is_earlier: first.is_none(),
            score: best + turn,
            stream: family.key.clone(),
            is_named: menu_item(family.menu_items.iter().copied(), choice.menu).is_some(),
            kind: family.key.split(" + ").next().unwrap_or_default(),
        })
    })
}
