//! What a person wants to know while a run is going on.

use crate::iteration::Iteration;
use crate::search::Search;
use autocomp_core::{
    CandidateId, ContentHash, Cost, Event, FinishReason, Outcome, Proposal, TaskKey, Usage,
    baseline_cost_fields, cost_fields,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    n_evaluated: u32,
    n_equal: u32,
    /// Distinct kernels by outcome, in the order of [`Outcome::ALL`].
    outcomes: [u32; Outcome::ALL.len()],
    plans: ProposalCounts,
    drafts: ProposalCounts,
    repairs: ProposalCounts,
    usage: Usage,
    n_failed_calls: u64,
    /// Calls that were sent and not settled, by reservation.
    unsettled: BTreeMap<u64, Usage>,
    n_reserved: u64,
    lost: Usage,
}

impl Tally {
    /// Counts a kernel that was not evaluated before.
    pub(crate) fn count_outcome(&mut self, outcome: Outcome) {
        if let Some(idx) = Outcome::ALL.iter().position(|it| *it == outcome) {
            self.outcomes[idx] += 1;
        }
    }

    pub(crate) fn count(&mut self, event: &Event) {
        match event {
            Event::Planned(planned) => self.plans.count(&planned.result),
            Event::Drafted(drafted) if drafted.key.repair != 0 => {
                self.repairs.count(&drafted.result);
            }
            Event::Drafted(drafted) => self.drafts.count(&drafted.result),
            Event::Evaluated(evaluated) => {
                self.n_evaluated += 1;
                self.n_equal += u32::from(evaluated.same_as.is_some());
            }
            Event::Reserved(reserved) => {
                self.unsettled.insert(reserved.reservation, reserved.most);
                self.n_reserved += 1;
            }
            // The process that could have settled them is gone.
            Event::Resumed(_) => {
                for most in std::mem::take(&mut self.unsettled).values() {
                    self.lost.add(most);
                    self.usage.add(most);
                }
            }
            _ => {}
        }
        for exchange in event.exchanges() {
            self.usage.add(&exchange.usage);
            if let Some(reservation) = exchange.reservation {
                self.unsettled.remove(&reservation);
            }
            self.n_failed_calls += u64::from(exchange.error.is_some());
        }
    }
}

/// How tasks of proposers ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProposalCounts {
    /// With a plan or a draft.
    pub made: u32,
    /// With nothing to propose.
    pub nothing: u32,
    /// With a failure.
    pub failed: u32,
}

impl ProposalCounts {
    fn count<T>(&mut self, proposal: &Proposal<T>) {
        match proposal {
            Proposal::Made(_) => self.made += 1,
            Proposal::Nothing { .. } => self.nothing += 1,
            Proposal::Failed { .. } => self.failed += 1,
        }
    }
}

/// The best kernel so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BestKernel {
    /// Its number; absent as long as its iteration is open.
    pub id: Option<CandidateId>,
    /// The evaluate task that it came from.
    pub key: TaskKey,
    /// Its source.
    pub source: ContentHash,
    /// The ranking figure.
    #[serde(flatten, serialize_with = "cost_fields")]
    pub cost: Cost,
    /// Percent of peak.
    pub percent_of_peak: f64,
}

/// How far a run has come.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// The open iteration, or the last closed one; 0 before the first.
    pub iteration: u32,
    /// Iterations at most.
    pub iterations: u32,
    /// Distinct kernels evaluated, the baseline included.
    pub evaluations: u32,
    /// Evaluations at most, if bounded.
    pub max_evaluations: Option<u32>,
    /// Drafts that repeated a kernel already evaluated.
    pub repeated: u32,
    /// Of these, the ones whose text was another.
    pub equal: u32,
    /// Distinct kernels by outcome; every outcome is listed.
    pub outcomes: BTreeMap<Outcome, u32>,
    /// Plans.
    pub plans: ProposalCounts,
    /// Drafts, without repairs.
    pub drafts: ProposalCounts,
    /// Repairs of drafts that failed.
    pub repairs: ProposalCounts,
    /// What calls of models used, lost ones included.
    pub usage: Usage,
    /// Of this, what calls may have used whose process died before their reply
    /// was written down: the most possible.
    pub lost: Usage,
    /// What calls may use at most that were sent and have not ended.
    pub unsettled: Usage,
    /// Calls of models that failed.
    pub failed_calls: u64,
    /// Cost of the baseline, once it was evaluated correct.
    #[serde(flatten, serialize_with = "baseline_cost_fields")]
    pub baseline_cost: Option<Cost>,
    /// The best kernel so far.
    pub best: Option<BestKernel>,
    /// Why the run is finished, if it is.
    pub finish: Option<FinishReason>,
}

impl Progress {
    /// Returns the cost of the baseline divided by that of the best kernel.
    #[must_use]
    pub fn speedup(&self) -> Option<f64> {
        Some(self.best.as_ref()?.cost.times(self.baseline_cost?))
    }
}

impl Search {
    /// Returns the best kernel so far, drafts of the open iteration included.
    #[must_use]
    pub fn best(&self) -> Option<BestKernel> {
        let closed = self.best_closed().map(|candidate| BestKernel {
            id: Some(candidate.id),
            key: candidate.key,
            source: candidate.source,
            cost: candidate.cost,
            percent_of_peak: self.percent_of_peak(candidate.source),
        });
        let open = self.open().and_then(Iteration::best);
        let open = open.map(|(cost, key, source)| BestKernel {
            id: None,
            key,
            source,
            cost,
            percent_of_peak: self.percent_of_peak(source),
        });
        match (closed, open) {
            (Some(closed), Some(open)) if open.cost < closed.cost => Some(open),
            (closed, _) => closed,
        }
    }

    fn percent_of_peak(&self, source: ContentHash) -> f64 {
        let measurement = self
            .evaluation(source)
            .and_then(|it| it.measurement.as_ref());
        measurement.map_or(0.0, |measurement| measurement.percent_of_peak)
    }

    /// Returns what the run has used of models.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.tally.usage
    }

    /// Returns the most that calls may use which were sent and have not ended;
    /// if no process is at work on the run, they will count as lost.
    #[must_use]
    pub fn unsettled(&self) -> Usage {
        let mut usage = Usage::default();
        for most in self.tally.unsettled.values() {
            usage.add(most);
        }
        usage
    }

    /// Returns the number that the next reservation has.
    #[must_use]
    pub fn next_reservation(&self) -> u64 {
        self.tally.n_reserved
    }

    /// Returns how far the run has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let counts = Outcome::ALL.iter().copied().zip(self.tally.outcomes);
        Progress {
            iteration: self.iteration(),
            // The last survivors may be polished in one more.
            iterations: self.started().settings.iterations.max(self.iteration()),
            evaluations: self.n_evaluations(),
            max_evaluations: self.started().settings.max_evaluations,
            repeated: self.tally.n_evaluated - self.n_evaluations(),
            equal: self.tally.n_equal,
            outcomes: counts.collect(),
            plans: self.tally.plans,
            drafts: self.tally.drafts,
            repairs: self.tally.repairs,
            usage: self.tally.usage,
            lost: self.tally.lost,
            unsettled: self.unsettled(),
            failed_calls: self.tally.n_failed_calls,
            baseline_cost: self.candidates().first().map(|candidate| candidate.cost),
            best: self.best(),
            finish: self.finish(),
        }
    }
}
