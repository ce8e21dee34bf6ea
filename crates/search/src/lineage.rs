//! Lineage: the chain of plans from the baseline to a kernel.

use crate::search::{Candidate, Search};
use autocomp_core::{CandidateId, ContentHash, Cost, PlanRecord, TaskKey};
use serde::Serialize;

/// A kernel on the way from the baseline to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineageStep {
    /// Its number; absent as long as its iteration is open.
    pub id: Option<CandidateId>,
    /// The evaluate task that it came from.
    pub key: TaskKey,
    /// The plan that made it; absent for the baseline.
    pub plan: Option<PlanRecord>,
    /// Its source.
    pub source: ContentHash,
    /// The ranking figure.
    pub cost: Cost,
}

impl Search {
    /// Returns the chain from the baseline to the candidate `id`, both included;
    /// empty if there is no such candidate.
    #[must_use]
    pub fn lineage(&self, id: CandidateId) -> Vec<LineageStep> {
        let mut steps = Vec::new();
        let mut next = self.candidate(id);
        while let Some(candidate) = next {
            steps.push(step(candidate));
            // A parent has a smaller number than its child, so this ends.
            next = candidate.parent.and_then(|parent| self.candidate(parent));
        }
        steps.reverse();
        steps
    }

    /// Returns the chain from the baseline to the best kernel so far.
    #[must_use]
    pub fn best_lineage(&self) -> Vec<LineageStep> {
        let Some(best) = self.best() else {
            return Vec::new();
        };
        if let Some(id) = best.id {
            return self.lineage(id);
        }
        let Some(iteration) = self.open() else {
            return Vec::new();
        };
        let mut steps = self.lineage(iteration.parents[best.key.parent as usize]);
        steps.push(LineageStep {
            id: None,
            key: best.key,
            plan: iteration.plan_of(best.key).cloned(),
            source: best.source,
            cost: best.cost,
        });
        steps
    }
}

fn step(candidate: &Candidate) -> LineageStep {
    LineageStep {
        id: Some(candidate.id),
        key: candidate.key,
        plan: candidate.plan.clone(),
        source: candidate.source,
        cost: candidate.cost,
    }
}
