//! Confirmation of the best kernels, before a run ends: each is evaluated once more
//! by every confirmer, on other inputs or on another machine.
//!
//! One that fails is struck: it is no longer the best one, nor a survivor, and the
//! next in rank takes its place among those to confirm. Survivors that descend from
//! it are examined, too, however they rank, since they may have its fault. What is
//! confirmed follows from verdicts alone, in whatever order they come.

use crate::search::{Candidate, Phase, Search};
use autocomp_core::{CandidateId, Confirmed, Evaluation, FinishReason, Outcome, Purpose, TaskKey};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What confirmers have found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Confirmations {
    done: BTreeMap<(CandidateId, u32), Arc<Evaluation>>,
    pub(crate) struck: BTreeSet<CandidateId>,
    /// Why the run ends, once there is a verdict: the best kernel decides about that,
    /// and may be struck.
    pub(crate) ending: Option<FinishReason>,
}

impl Search {
    /// Returns the tasks that confirm kernels and may run now, in key order.
    pub fn ready_confirmations(&self) -> Vec<(TaskKey, &Candidate)> {
        if !self.is_between() || self.last_polish().is_some() || self.ending().is_none() {
            return Vec::new();
        }
        let confirmers = 0..self.started().confirmers.len() as u32;
        let tasks = self.finalists().into_iter().flat_map(|id| {
            let confirmers = confirmers.clone();
            confirmers.map(move |by| (id, by))
        });
        let due = tasks.filter(|task| !self.confirmations.done.contains_key(task));
        due.filter_map(|(id, by)| Some((self.confirm_key(id, by), self.candidate(id)?)))
            .collect()
    }

    fn confirm_key(&self, id: CandidateId, by: u32) -> TaskKey {
        TaskKey {
            iteration: self.n_closed(),
            parent: id.0,
            plan: by,
            draft: 0,
            repair: 0,
            purpose: Purpose::Confirm,
        }
    }

    /// Returns why the run ends, if it does.
    pub(crate) fn ending(&self) -> Option<FinishReason> {
        self.confirmations.ending.or_else(|| self.finish_reason(0))
    }

    /// Returns the kernels to confirm, by number; the baseline is taken for granted.
    fn finalists(&self) -> BTreeSet<CandidateId> {
        let wanted = self.started().settings.confirm as usize;
        if wanted == 0 || self.started().confirmers.is_empty() {
            return BTreeSet::new();
        }
        let standing = self.candidates().iter().skip(1);
        let standing = standing.filter(|it| !self.confirmations.struck.contains(&it.id));
        let mut ranked: Vec<_> = standing.map(|it| (it.cost, it.id)).collect();
        if wanted < ranked.len() {
            ranked.select_nth_unstable(wanted);
            ranked.truncate(wanted);
        }
        let mut finalists: BTreeSet<CandidateId> = ranked.into_iter().map(|(_, id)| id).collect();
        // Whoever was begun with is finished with, so that no order counts.
        finalists.extend(self.confirmations.done.keys().map(|(id, _)| *id));
        let suspects = self
            .beam()
            .iter()
            .filter(|id| self.descends_from_struck(**id));
        finalists.extend(suspects);
        finalists
    }

    fn descends_from_struck(&self, id: CandidateId) -> bool {
        let struck = &self.confirmations.struck;
        let mut next = self.candidate(id).and_then(|it| it.parent);
        while let Some(parent) = next {
            if struck.contains(&parent) {
                return true;
            }
            next = self.candidate(parent).and_then(|it| it.parent);
        }
        false
    }

    pub(crate) fn apply_confirmed(&mut self, confirmed: &Confirmed) -> Result<(), &'static str> {
        let Confirmed {
            key,
            source,
            evaluation,
        } = confirmed;
        if (evaluation.outcome == Outcome::Ok) != evaluation.measurement.is_some() {
            return Err("a measurement goes with the outcome `ok` and no other");
        }
        let due = self.ready_confirmations();
        let is_due = |(due, it): &(TaskKey, &Candidate)| due == key && it.source == *source;
        if !due.iter().any(is_due) {
            return Err("it is not to be confirmed");
        }
        self.confirmations.ending = self.ending();
        let id = CandidateId(key.parent);
        let evaluation = Arc::clone(evaluation);
        let is_right = evaluation.outcome == Outcome::Ok;
        self.confirmations.done.insert((id, key.plan), evaluation);
        if !is_right {
            self.confirmations.struck.insert(id);
            self.rank_again();
        }
        Ok(())
    }

    /// The run goes on or ends: kernels that were struck survive neither.
    pub(crate) fn end_confirming(&mut self) {
        self.confirmations.ending = None;
        self.drop_struck();
    }

    /// Returns what confirmers have found, by kernel and confirmer.
    pub fn confirmations(&self) -> impl Iterator<Item = (CandidateId, u32, &Arc<Evaluation>)> {
        let done = self.confirmations.done.iter();
        done.map(|((id, by), evaluation)| (*id, *by, evaluation))
    }

    /// Returns whether a kernel was struck because it could not be confirmed.
    #[must_use]
    pub fn is_struck(&self, id: CandidateId) -> bool {
        self.confirmations.struck.contains(&id)
    }
}

impl Phase {
    pub(crate) fn is_between(&self) -> bool {
        matches!(self, Self::Between)
    }
}
