//! Medians with intervals.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use autocomp_core::Seed;
use serde::Serialize;

/// How often runs are drawn again for an interval.
const RESAMPLES: usize = 4000;

/// A median, and where it would lie in 95 of 100 studies with other seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Returns the median of `figures` with its percentile bootstrap interval; the draws
    /// are the same for equal figures. Nothing without figures.
    pub fn of(figures: &[f64]) -> Option<Self> {
        let middle = median(figures)?;
        let mut seed = Seed(figures.len() as u64);
        let mut medians: Vec<f64> = (0..RESAMPLES)
            .filter_map(|_| {
                let drawn: Vec<f64> = figures
                    .iter()
                    .map(|_| figures[seed.below(figures.len())])
                    .collect();
                median(&drawn)
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        Some(Self {
            median: middle,
            low: medians[RESAMPLES / 40],
            high: medians[RESAMPLES - 1 - RESAMPLES / 40],
        })
    }

    pub fn text(self, show: impl Fn(f64) -> String) -> String {
        let Self { median, low, high } = self;
        format!("{} [{}, {}]", show(median), show(low), show(high))
    }
}

/// Returns the middle of `figures`, or that of the middle two; nothing without figures.
pub fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}
