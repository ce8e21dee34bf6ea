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

#[cfg(test)]
mod tests {
    use super::Course;
    use autocomp_core::{
        ContentHash, Cost, Evaluated, Evaluation, Event, Measurement, Outcome, Purpose, TaskKey,
    };
    use std::sync::Arc;

    fn evaluated(plan: u32, source: &str, cost: Option<u64>) -> Event {
        let source = ContentHash::of(source.as_bytes());
        let measurement = cost.map(|cost| Measurement {
            cost: Cost::cycles(cost),
            floor: Cost::cycles(1),
            percent_of_peak: 1.0,
            samples: Vec::new(),
            ratio_to_baseline: None,
            engine: String::new(),
            compiler: String::new(),
            figures: [].into(),
        });
        Event::Evaluated(Evaluated {
            key: TaskKey {
                iteration: 1,
                parent: 0,
                plan,
                draft: 0,
                repair: 0,
                purpose: Purpose::Evaluate,
            },
            source,
            evaluation: Arc::new(Evaluation {
                key: source,
                outcome: cost.map_or(Outcome::Wrong, |_| Outcome::Ok),
                diagnostics: Vec::new(),
                measurement,
                feedback: None,
                tiers: Vec::new(),
            }),
            same_as: None,
            code: None,
        })
    }

    /// By keys, not by when they ended; a kernel that came twice counts once.
    #[test]
    fn evaluations_count_in_the_order_of_tasks() {
        let mut events = vec![
            evaluated(0, "a", Some(1000)),
            evaluated(1, "b", None),
            evaluated(2, "a", Some(1000)),
            evaluated(3, "c", Some(900)),
            evaluated(4, "d", Some(950)),
            evaluated(5, "e", Some(800)),
        ];
        for _ in 0..2 {
            let course = Course::of(&events);
            assert_eq!(course.evaluations_to(1000.0), Some(1));
            assert_eq!(course.evaluations_to(999.0), Some(3));
            assert_eq!(course.evaluations_to(808.0), Some(5));
            assert_eq!(course.evaluations_to(799.0), None);
            assert_eq!(course.evaluations_to_best(), Some(5));
            events.reverse();
        }
        assert_eq!(Course::default().evaluations_to_best(), None);
    }
}
