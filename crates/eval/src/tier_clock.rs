//! The wall time of each tier.

use crate::verdict::Verdict;
use autocomp_core::{ContentHash, Evaluation, Nanos, TierCost};
use std::time::Instant;

/// Returns the time since `since`.
pub fn nanos(since: Instant) -> Nanos {
    Nanos(u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX))
}

/// Measures tiers; several parts of one are added up.
#[derive(Default)]
pub struct TierClock(Vec<TierCost>);

impl TierClock {
    /// Does the work of a tier.
    pub fn measure<T>(&mut self, tier: &str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.add(TierCost {
            tier: tier.to_owned(),
            wall_ns: nanos(started),
        });
        result
    }

    /// Adds what another clock has measured.
    pub fn append(&mut self, other: Self) {
        for cost in other.0 {
            self.add(cost);
        }
    }

    fn add(&mut self, cost: TierCost) {
        match self.0.iter_mut().find(|it| it.tier == cost.tier) {
            Some(known) => known.wall_ns.0 += cost.wall_ns.0,
            None => self.0.push(cost),
        }
    }

    /// Makes an evaluation of a verdict.
    pub fn finish(self, key: ContentHash, verdict: Verdict) -> Evaluation {
        Evaluation {
            key,
            outcome: verdict.outcome,
            diagnostics: verdict.diagnostics,
            measurement: verdict.measurement,
            feedback: verdict.feedback,
            tiers: self.0,
            worker: None,
            device: None,
        }
    }
}
