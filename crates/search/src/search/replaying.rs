//! The replay of another run's schedule, a step in each of the first iterations.
//!
//! Such an iteration is small: its last place holds what the steps before have made,
//! with one plan for the next step; beside it, a share of the drafts explores from
//! the survivors, as in any other iteration.

use super::Search;
use autocomp_core::{CandidateId, ContentHash, IterationOpened, PlanKind};

impl Search {
    /// Returns the step of the reused schedule that an iteration replays, if it does.
    pub(crate) fn step_of(&self, iteration: u32) -> Option<u32> {
        let step = iteration.checked_sub(1)?;
        ((step as usize) < self.started.reused.len()).then_some(step)
    }

    /// Opens an iteration that replays `step`; `parents` are the survivors at all places,
    /// and `remaining` evaluations, at least 1, are left.
    pub(super) fn replaying(
        &self,
        step: u32,
        mut parents: Vec<CandidateId>,
        remaining: Option<u32>,
    ) -> IterationOpened {
        let settings = &self.started.settings;
        let wanted = n_exploring(settings.explore, step + 1) - n_exploring(settings.explore, step);
        let n_exploring = remaining.map_or(wanted, |left| wanted.min(left.saturating_sub(1)));
        let n_slots = 1 + n_exploring;
        let repairs = remaining.map_or(settings.repairs, |left| {
            (left / n_slots).saturating_sub(1).min(settings.repairs)
        });
        let last = parents.len() - 1;
        parents[last] = self.tip;
        let mut slots = vec![Vec::new(); parents.len()];
        let mut kinds = vec![Vec::new(); parents.len()];
        slots[last].push(1);
        kinds[last].push(PlanKind::Reused { step });
        // The best survivors first; a beam of one place has both.
        for idx in 0..n_exploring as usize {
            let place = idx % last.max(1);
            slots[place].push(1);
            kinds[place].push(PlanKind::Step);
        }
        IterationOpened {
            iteration: step + 1,
            parents,
            slots,
            repairs,
            kinds,
            ideas: Vec::new(),
            bound: None,
        }
    }

    /// Goes on from the cheapest of the kernels that a step has made, if it is right and
    /// within the slack; a step that fails, or costs more, is left out.
    pub(super) fn move_tip(&mut self, sources: &[ContentHash]) {
        let limit =
            self.candidates[self.tip.0 as usize].cost.value as f64 * self.started.settings.slack;
        let made = sources.iter().filter_map(|source| self.id_of(*source));
        let made = made.map(|id| (self.candidates[id.0 as usize].cost, id));
        let best = made.min().filter(|(cost, _)| cost.value as f64 <= limit);
        if let Some((_, id)) = best {
            self.tip = id;
        }
    }
}

/// Returns how many drafts explore in the first `n_steps` replaying iterations, so that
/// they are the `share` of all; rounded up, so that the first one explores.
fn n_exploring(share: f64, n_steps: u32) -> u32 {
    // A little less, so that what is whole but for rounding stays whole.
    (f64::from(n_steps) * share / (1.0 - share) - 1e-9).ceil() as u32
}
