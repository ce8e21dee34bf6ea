//! What a kernel may cost at most to survive an iteration, known before it begins.
//!
//! A right kernel that costs more need not be timed to the end. The bound follows from
//! closed iterations alone, so that no order in which work ends matters; and what is cut by
//! it would neither have survived this iteration nor any later one, so that the course of
//! the run is the same without it.

use crate::search::Search;
use autocomp_core::{CandidateId, Cost, SearchSettings};

/// The first format of events that knows kernels which were cut: runs of older ones go on,
/// and are repeated, without.
pub(crate) const FIRST_FORMAT: u32 = 5;

/// What a bound follows from.
#[derive(Clone, Copy, Debug)]
pub struct Bounding<'a> {
    /// The settings of the search.
    pub settings: &'a SearchSettings,
    /// The iteration that begins, from 1.
    pub iteration: u32,
    /// The cost of its parents.
    pub parents: &'a [Cost],
}

impl Bounding<'_> {
    /// Returns the cost of the best parent.
    #[must_use]
    pub fn best(&self) -> Option<Cost> {
        self.parents.iter().copied().min()
    }

    /// Returns the cost of the worst parent.
    #[must_use]
    pub fn worst(&self) -> Option<Cost> {
        self.parents.iter().copied().max()
    }
}

impl Search {
    /// Returns the bound on the cost of the open iteration's kernels, if it has one.
    #[must_use]
    pub fn bound(&self) -> Option<Cost> {
        self.open()?.bound
    }

    /// Returns the bound of an iteration with these parents.
    pub(crate) fn bound_of(&self, iteration: u32, parents: &[CandidateId]) -> Option<Cost> {
        let settings = &self.started().settings;
        // Slow kernels may be wanted: in the place of one that is struck, for their niche, or
        // because more of them is translated.
        let wants_slow = settings.translation != 0 || settings.niches != 0 || settings.confirm != 0;
        // The next step of a schedule may be tried on what is slower.
        let is_replay = self.step_of(iteration).is_some();
        if !settings.early_cut || wants_slow || is_replay {
            return None;
        }
        let costs = parents.iter().filter_map(|id| self.candidate(*id));
        let parents: Vec<Cost> = costs.map(|it| it.cost).collect();
        self.strategy().bound(&Bounding {
            settings,
            iteration,
            parents: &parents,
        })
    }
}
