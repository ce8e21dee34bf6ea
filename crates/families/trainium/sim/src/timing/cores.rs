//! Several cores that wait for each other: each has a schedule of its own, in which a meeting begins
//! when the last of them gets to it.

use super::machine::{Machine, Passes};
use super::memory;
use super::schedule::{self, Timeline};
use crate::Evaluation;
use crate::trace::Trace;

/// The timelines of the cores of a kernel, and which of them is the slowest.
#[derive(Debug)]
pub struct Cores {
    /// One for each core, in their order.
    pub timelines: Vec<Timeline>,
    /// The core whose latency is the kernel's.
    pub slowest: usize,
}

impl Cores {
    /// The timeline whose latency is the kernel's.
    #[must_use]
    pub fn into_slowest(mut self) -> Timeline {
        self.timelines.swap_remove(self.slowest)
    }

    /// Nanoseconds that the kernel might take longer than its slowest core, if the memory that the
    /// cores share served the transfers of one after those of another.
    #[must_use]
    pub fn most_of_waiting_ns(&self) -> f64 {
        let others = self.timelines.iter().enumerate();
        let others = others.filter(|(core, _)| *core != self.slowest);
        others.map(|(_, it)| it.any_queue_busy).sum()
    }
}

/// Times what the cores of a kernel did, of which there may be one.
#[must_use]
pub fn time_cores(evaluation: &Evaluation, machine: &Machine, passes: Passes) -> Cores {
    let traces: Vec<&Trace> = evaluation.traces().collect();
    // When each meeting begins at the earliest. Waiting at one of them may make later ones later,
    // and never sooner than was found before.
    let mut meetings: Vec<f64> = Vec::new();
    loop {
        let timelines: Vec<Timeline> = traces
            .iter()
            .map(|trace| {
                let plan = memory::plan(trace, machine, passes);
                let rolled = passes.rolled_loops && !machine.overlapping_loops;
                schedule::run(plan, machine, rolled, &meetings)
            })
            .collect();
        let mut latest = meetings.clone();
        if 1 < traces.len() {
            for timeline in &timelines {
                for (place, &start) in timeline.meetings.iter().enumerate() {
                    match latest.get_mut(place) {
                        Some(known) => *known = known.max(start),
                        None => latest.push(start),
                    }
                }
            }
        }
        if latest == meetings {
            let latency = |core: &usize| timelines[*core].latency_ns;
            let slowest = (0..timelines.len())
                .max_by(|one, other| latency(one).total_cmp(&latency(other)).then(other.cmp(one)));
            return Cores {
                slowest: slowest.unwrap_or(0),
                timelines,
            };
        }
        meetings = latest;
    }
}
