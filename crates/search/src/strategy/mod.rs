//! Strategies: who survives an iteration. One file each, and a line in [`REGISTRY`].

mod beam;
mod random;

use crate::search::Candidate;
use autocomp_core::{CandidateId, SearchSettings, Seed};

/// What a strategy chooses from.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// The settings of the search.
    pub settings: &'a SearchSettings,
    /// The random stream of this choice.
    pub seed: Seed,
    /// All correct kernels of the run, by id.
    pub candidates: &'a [Candidate],
    /// The beam so far, best first.
    pub beam: &'a [CandidateId],
    /// Correct kernels that are new in this iteration, in key order.
    pub fresh: &'a [CandidateId],
    /// Correct kernels that never held a place, new ones included, by id.
    pub unplaced: &'a [CandidateId],
}

impl<'a> Pool<'a> {
    /// Returns a candidate.
    ///
    /// # Panics
    /// Panics if the pool has no candidate `id`.
    #[must_use]
    pub fn candidate(&self, id: CandidateId) -> &'a Candidate {
        &self.candidates[id.0 as usize]
    }

    /// Returns whether a new kernel is fast enough to survive: its cost is
    /// below its parent's times the slack.
    #[must_use]
    pub fn is_admitted(&self, id: CandidateId) -> bool {
        let candidate = self.candidate(id);
        let Some(parent) = candidate.parent else {
            return true;
        };
        let limit = self.candidate(parent).cost.value as f64 * self.settings.slack;
        (candidate.cost.value as f64) < limit
    }
}

/// Decides who survives an iteration.
pub trait Strategy: std::fmt::Debug + Sync {
    /// Returns the name under which settings choose it.
    fn name(&self) -> &'static str;

    /// Returns one sentence for people.
    fn description(&self) -> &'static str;

    /// Returns the survivors, best first: at least one and at most as many as
    /// the beam has places, each once.
    fn select(&self, pool: &Pool<'_>) -> Vec<CandidateId>;
}

/// Every strategy.
pub static REGISTRY: &[&dyn Strategy] = &[&beam::Beam, &random::Random];

/// Returns the strategy called `name`, if there is one.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static dyn Strategy> {
    REGISTRY
        .iter()
        .copied()
        .find(|strategy| strategy.name() == name)
}
