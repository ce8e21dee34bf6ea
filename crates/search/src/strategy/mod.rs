//! Strategies: who survives an iteration. One file each, and a line in [`REGISTRY`].

mod beam;
mod best_of_n;
mod evolutionary;
mod hill_climbing;
mod niches;
mod random;

use crate::bound::Bounding;
use crate::search::Candidate;
use autocomp_core::{CandidateId, Cost, SearchSettings, Seed};
use std::collections::BTreeSet;

/// What orders kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    untranslated: u32,
    cost: Cost,
    id: CandidateId,
}

/// What a strategy chooses from.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// The settings of the search.
    pub settings: &'a SearchSettings,
    /// Whether the iteration translates.
    pub translates: bool,
    /// The random stream of this choice.
    pub seed: Seed,
    /// The iteration that ends, from 1.
    pub iteration: u32,
    /// Correct kernels of earlier iterations, by id.
    pub known: &'a [Candidate],
    /// Correct kernels that are new in this iteration, by id, which continue the known ones.
    pub fresh: &'a [Candidate],
    /// What was chosen for this iteration.
    pub beam: &'a [CandidateId],
    /// The parent at each place of this iteration.
    pub places: &'a [CandidateId],
    /// Place and kernel of everything correct that came of this iteration's
    /// drafts, kernels known before included, in key order.
    pub children: &'a [(u32, CandidateId)],
    /// Known kernels that never held a place, cheapest first.
    pub unplaced: &'a BTreeSet<(Cost, CandidateId)>,
    /// Kernels that could not be confirmed, in a run that was extended since.
    pub struck: &'a BTreeSet<CandidateId>,
}

impl<'a> Pool<'a> {
    /// Returns a candidate.
    ///
    /// # Panics
    /// Panics if the pool has no candidate `id`.
    #[must_use]
    pub fn candidate(&self, id: CandidateId) -> &'a Candidate {
        let idx = id.0 as usize;
        match idx.checked_sub(self.known.len()) {
            None => &self.known[idx],
            Some(idx) => &self.fresh[idx],
        }
    }

    /// Returns all correct kernels of the run, by id; those that were struck are
    /// among them.
    pub fn candidates(&self) -> impl Iterator<Item = &'a Candidate> {
        self.known.iter().chain(self.fresh)
    }

    /// Returns what orders kernels: the cheapest first, the oldest among equals. While
    /// the kernel is translated, and afterwards if originals are dropped, what lacks less
    /// comes before.
    #[must_use]
    pub fn rank(&self, id: CandidateId) -> Rank {
        Rank {
            untranslated: self.untranslated(id),
            cost: self.candidate(id).cost,
            id,
        }
    }

    /// Returns whether a kernel is better than another one: less of it is untranslated, or
    /// it is faster beyond doubt.
    #[must_use]
    pub fn is_better(&self, id: CandidateId, other: CandidateId) -> bool {
        let (own, its) = (self.rank(id), self.rank(other));
        own.untranslated < its.untranslated
            || (own.untranslated == its.untranslated && own.cost.beats(its.cost))
    }

    /// Returns how many thousandths of its work a kernel does without the target; 0 if
    /// that does not matter, or is next to nothing.
    fn untranslated(&self, id: CandidateId) -> u32 {
        let settings = self.settings;
        let matters = match settings.translation {
            0 => false,
            last => settings.drop_original || self.iteration < last,
        };
        if !matters {
            return 0;
        }
        let candidate = self.candidate(id);
        if candidate.is_translated() {
            return 0;
        }
        (1000.0 - 10.0 * candidate.evaluation.translated_percent()).round() as u32
    }

    /// Leaves kernels out that are not translated, if originals are dropped and a kernel is
    /// translated, with which the translation ends.
    pub(crate) fn drop_untranslated(&self, beam: &mut Vec<CandidateId>) {
        let settings = self.settings;
        if settings.translation == 0 || !settings.drop_original {
            return;
        }
        if beam.iter().any(|id| self.untranslated(*id) == 0) {
            beam.retain(|id| self.untranslated(*id) == 0);
        }
    }

    /// Returns how many times its parent's cost a child may have.
    #[must_use]
    pub fn slack(&self) -> f64 {
        self.settings.slack_of(self.iteration, self.translates)
    }

    /// Returns what came of a place's drafts.
    pub fn children_of(&self, place: usize) -> impl Iterator<Item = CandidateId> + 'a {
        let children = self.children.iter();
        children
            .filter(move |(of, _)| *of as usize == place)
            .map(|(_, id)| *id)
    }

    /// Returns whether a new kernel is fast enough to survive: its cost is
    /// below its parent's times the slack.
    #[must_use]
    pub fn is_admitted(&self, id: CandidateId) -> bool {
        let candidate = self.candidate(id);
        let Some(parent) = candidate.parent else {
            return true;
        };
        let limit = self.candidate(parent).cost.value as f64 * self.slack();
        (candidate.cost.value as f64) < limit
    }
}

/// Decides who survives an iteration.
pub trait Strategy: std::fmt::Debug + Sync {
    /// Returns the name under which settings choose it.
    fn name(&self) -> &'static str;

    /// Returns one sentence for people.
    fn description(&self) -> &'static str;

    /// Returns the parents of the next iteration's places: at least one and at
    /// most as many as the beam has places. Fewer are repeated in turn.
    fn select(&self, pool: &Pool<'_>) -> Vec<CandidateId>;

    /// Returns a cost such that right kernels of the iteration that cost more survive neither
    /// it nor a later one, whatever else comes of it, and change nothing about who does;
    /// nothing if there is none.
    fn bound(&self, bounding: &Bounding<'_>) -> Option<Cost> {
        let _ = bounding;
        None
    }
}

/// Every strategy.
pub static REGISTRY: &[&dyn Strategy] = &[
    &beam::Beam,
    &evolutionary::Evolutionary,
    &best_of_n::BestOfN,
    &hill_climbing::HillClimbing,
    &random::Random,
];

/// Returns the strategy called `name`, if there is one.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static dyn Strategy> {
    REGISTRY
        .iter()
        .copied()
        .find(|strategy| strategy.name() == name)
}
