//! How a run came to its best kernel.

use autocomp_core::{Event, TaskKey};
use std::collections::BTreeSet;

/// The kernels of a run that were better than all before them. Evaluations count in the order
/// of tasks, so that it does not matter which worker was faster.
#[derive(Debug, Default)]
pub struct Course {
    /// Evaluations so far, the baseline's included, and the cost.
    gains: Vec<(u32, u64)>,
}

impl Course {
    /// Returns the course of a run with these events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let evaluated = events.into_iter().filter_map(|event| match event {
            Event::Evaluated(it) if it.same_as.is_none() => Some(it),
            _ => None,
        });
        let mut evaluated: Vec<_> = evaluated.map(|it| (it.key, it)).collect();
        evaluated.sort_by_key(|(key, _): &(TaskKey, _)| *key);
        let (mut course, mut sources) = (Self::default(), BTreeSet::new());
        for (_, it) in evaluated {
            if !sources.insert(it.source) {
                continue;
            }
            let Some(cost) = it.evaluation.cost() else {
                continue;
            };
            let is_better = |(_, best): &(u32, u64)| cost.value < *best;
            if course.gains.last().is_none_or(is_better) {
                course.gains.push((sources.len() as u32, cost.value));
            }
        }
        course
    }

    /// Returns how many evaluations it took until a kernel cost `enough` or less.
    pub fn evaluations_to(&self, enough: f64) -> Option<u32> {
        let mut gains = self.gains.iter();
        let gain = gains.find(|(_, cost)| *cost as f64 <= enough);
        gain.map(|(count, _)| *count)
    }

    /// Returns how many evaluations it took until the best kernel.
    pub fn evaluations_to_best(&self) -> Option<u32> {
        self.gains.last().map(|(count, _)| *count)
    }
}
