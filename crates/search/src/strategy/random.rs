//! Random search: a control that shows what selection is worth.

use super::{Pool, Strategy};
use autocomp_core::CandidateId;

/// Takes parents at random from all correct kernels of the run, whatever
/// their speed.
#[derive(Debug)]
pub(super) struct Random;

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn description(&self) -> &'static str {
        "random correct kernels survive, whatever their speed (a control)"
    }

    fn select(&self, pool: &Pool<'_>) -> Vec<CandidateId> {
        let mut drawn: Vec<CandidateId> = (0..pool.candidates.len())
            .map(|idx| CandidateId(idx as u32))
            .collect();
        let mut seed = pool.seed;
        let n_places = drawn.len().min(pool.settings.beam as usize);
        for idx in 0..n_places {
            let other = idx + seed.below(drawn.len() - idx);
            drawn.swap(idx, other);
        }
        drawn.truncate(n_places);
        drawn.sort_by_key(|id| (pool.candidate(*id).cost, *id));
        drawn
    }
}
