//! The wall time of each tier.

use super::trial::Verdict;
use autocomp_core::{ContentHash, Evaluation, Nanos, TierCost};
use std::time::Instant;

/// Returns the time since `since`.
pub(super) fn nanos(since: Instant) -> Nanos {
    Nanos(u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX))
}

/// Measures tiers one after the other.
#[derive(Default)]
pub(super) struct TierClock(Vec<TierCost>);

impl TierClock {
    /// Does the work of a tier.
    pub(super) fn measure<T>(&mut self, tier: &str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.0.push(TierCost {
            tier: tier.to_owned(),
            wall_ns: nanos(started),
        });
        result
    }

    /// Adds what another clock has measured.
    pub(super) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Makes an evaluation of a verdict.
    pub(super) fn finish(self, key: ContentHash, verdict: Verdict) -> Evaluation {
        Evaluation {
            key,
            outcome: verdict.outcome,
            diagnostics: verdict.diagnostics,
            measurement: verdict.measurement,
            feedback: verdict.feedback,
            tiers: self.0,
        }
    }
}
