//! Hill climbing: one kernel, changed in many ways, and the best change kept.

use super::{Pool, Strategy};
use crate::bound::Bounding;
use autocomp_core::{CandidateId, Cost};

/// All places work on the same kernel; the best child takes over if it is faster.
#[derive(Debug)]
pub(super) struct HillClimbing;

impl Strategy for HillClimbing {
    fn name(&self) -> &'static str {
        "hill-climbing"
    }

    fn description(&self) -> &'static str {
        "all places work on the best kernel alone"
    }

    fn select(&self, pool: &Pool<'_>) -> Vec<CandidateId> {
        let parents = pool.places.iter().copied();
        let children = pool.children.iter().map(|(_, id)| *id);
        // Places hold several kernels only at the beginning of a run that takes
        // kernels of another one.
        let best = parents.chain(children).min_by_key(|id| pool.rank(*id));
        best.into_iter().collect()
    }

    fn bound(&self, bounding: &Bounding<'_>) -> Option<Cost> {
        bounding.best()
    }
}
