//! Best of n: independent chains, of which the best one counts.

use super::{Pool, Strategy};
use crate::bound::Bounding;
use autocomp_core::{CandidateId, Cost};

/// Each place is a chain of its own from the baseline: it goes on from its best
/// child if that is faster, and stays where it is otherwise. Chains know nothing
/// of each other.
#[derive(Debug)]
pub(super) struct BestOfN;

impl Strategy for BestOfN {
    fn name(&self) -> &'static str {
        "best-of-n"
    }

    fn description(&self) -> &'static str {
        "each place is a chain of its own from the baseline"
    }

    fn select(&self, pool: &Pool<'_>) -> Vec<CandidateId> {
        let places = pool.places.iter().enumerate();
        places
            .map(|(place, parent)| {
                let best = pool.children_of(place).min_by_key(|id| pool.rank(*id));
                best.filter(|id| pool.is_better(*id, *parent))
                    .unwrap_or(*parent)
            })
            .collect()
    }

    /// A kernel may come of several places.
    fn bound(&self, bounding: &Bounding<'_>) -> Option<Cost> {
        bounding.worst()
    }
}
