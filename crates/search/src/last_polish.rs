//! Polish of the last survivors: an iteration of polish alone, before the run ends.
//!
//! Survivors are polished in the iteration that they are parents of. Those that the
//! last iteration has chosen would never be; so a run that is about to end gives them
//! their share, for which a few evaluations are held back.

use crate::kinds::{add_polish, first_places};
use crate::search::Search;
use autocomp_core::{CandidateId, FinishReason, IterationOpened, PlanKind};

/// The part of all evaluations that is held back at most.
const HELD_SHARE: u32 = 20;

impl Search {
    /// Returns how many evaluations are held back for the last survivors.
    pub(crate) fn held_back(&self) -> u32 {
        let settings = &self.started().settings;
        match settings.max_evaluations {
            Some(most) => (settings.polish * settings.beam).min(most / HELD_SHARE),
            None => 0,
        }
    }

    /// Returns the iteration that polishes the survivors who never had a place, if the
    /// run would end now for want of iterations, evaluations or patience.
    pub(crate) fn last_polish(&self) -> Option<IterationOpened> {
        let settings = &self.started().settings;
        if settings.polish == 0 || self.is_polished || self.confirmations.ending.is_some() {
            return None;
        }
        let reason = self.finish_reason(self.held_back())?;
        let is_open_end = matches!(
            reason,
            FinishReason::Iterations | FinishReason::Evaluations | FinishReason::Stalled
        );
        if !is_open_end {
            return None;
        }
        let parents: Vec<CandidateId> = first_places(self.beam())
            .map(|place| self.beam()[place])
            .filter(|id| self.is_unplaced(*id))
            .collect();
        let wanted = settings.polish * parents.len() as u32;
        let n_polish = match settings.max_evaluations {
            Some(most) => wanted.min(most.saturating_sub(self.n_evaluations())),
            None => wanted,
        };
        if n_polish == 0 {
            return None;
        }
        let places: Vec<usize> = (0..parents.len()).collect();
        let mut slots = vec![Vec::new(); parents.len()];
        let mut kinds = vec![Vec::new(); parents.len()];
        add_polish(n_polish, &places, &mut slots, &mut kinds);
        let iteration = self.n_closed() + 1;
        Some(IterationOpened {
            iteration,
            bound: self.bound_of(iteration, &parents),
            parents,
            slots,
            repairs: 0,
            kinds,
            ideas: Vec::new(),
        })
    }
}

/// Returns whether an iteration is one of polish alone.
pub(crate) fn is_polish_alone(opened: &IterationOpened) -> bool {
    let mut kinds = opened.kinds.iter().flatten().peekable();
    kinds.peek().is_some() && kinds.all(|kind| matches!(kind, PlanKind::Polish { .. }))
}
