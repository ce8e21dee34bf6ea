//! Several cores that wait for each other: each has a schedule of its own, in which a meeting begins
//! when the last of them gets to it.

use super::machine::{Machine, Passes};
use super::schedule;
use super::schedule::{Schedule, Timeline};
use crate::Evaluation;

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

/// Times what the cores of a kernel did, of which there may be one: each runs to its next meeting,
/// and all go on from it when the last of them has come. A core that is through keeps none waiting.
#[must_use]
pub fn time_cores(evaluation: &Evaluation, machine: &Machine, passes: Passes) -> Cores {
    let schedule = |trace| schedule(trace, machine, passes);
    let mut cores: Vec<Schedule> = evaluation.traces().map(schedule).collect();
    loop {
        let arrivals = cores.iter_mut().filter_map(Schedule::run_to_meeting);
        let Some(last) = arrivals.reduce(f64::max) else {
            break;
        };
        cores.iter_mut().for_each(|core| core.meet(last));
    }
    let timelines: Vec<Timeline> = cores.into_iter().map(Schedule::into_timeline).collect();
    let latency = |core: &usize| timelines[*core].latency_ns;
    let slowest = (0..timelines.len())
        .max_by(|one, other| latency(one).total_cmp(&latency(other)).then(other.cmp(one)));
    Cores {
        slowest: slowest.unwrap_or(0),
        timelines,
    }
}
