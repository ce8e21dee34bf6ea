//! The canonical history of a run: what does not depend on timing.

use super::{Confirmed, Drafted, Evaluated, Event, Ideas, Planned};
use crate::evaluation::Outcome;
use crate::ids::TaskKey;
use std::sync::Arc;

impl Event {
    /// Returns the event without what differs between two runs of the same
    /// seed, or nothing if the event tells of a process rather than of the run.
    #[must_use]
    pub fn canonical(&self) -> Option<Self> {
        let mut event = self.clone();
        match &mut event {
            Self::Resumed(_) | Self::Stopped(_) | Self::Reserved(_) => return None,
            Self::Started(started) => started.spec = None,
            Self::Ideas(Ideas { exchanges, .. })
            | Self::Planned(Planned { exchanges, .. })
            | Self::Drafted(Drafted { exchanges, .. }) => {
                for exchange in exchanges {
                    exchange.latency_ms = 0;
                    exchange.reservation = None;
                }
            }
            Self::Evaluated(Evaluated { evaluation, .. })
            | Self::Confirmed(Confirmed { evaluation, .. }) => {
                let evaluation = Arc::make_mut(evaluation);
                evaluation.tiers.clear();
                evaluation.worker = None;
                evaluation.device = None;
                // In which words an evaluator dies depends on the machine.
                if evaluation.outcome == Outcome::Fault {
                    evaluation.diagnostics.clear();
                }
            }
            Self::IterationOpened(_)
            | Self::IterationClosed(_)
            | Self::Finished(_)
            | Self::Extended(_) => {}
        }
        Some(event)
    }

    /// Returns the place of the event in the canonical history, if
    /// `iteration` was opened last before it.
    fn canonical_rank(&self, iteration: u32) -> (u32, u8, Option<TaskKey>) {
        match self {
            Self::Started(_) => (0, 0, None),
            Self::IterationOpened(opened) => (opened.iteration, 0, None),
            Self::Ideas(_) | Self::Planned(_) | Self::Drafted(_) | Self::Evaluated(_) => {
                let key = self.key();
                (key.map_or(0, |key| key.iteration), 1, key)
            }
            Self::IterationClosed(closed) => (closed.iteration, 2, None),
            Self::Confirmed(confirmed) => (iteration, 3, Some(confirmed.key)),
            Self::Resumed(_)
            | Self::Stopped(_)
            | Self::Reserved(_)
            | Self::Finished(_)
            | Self::Extended(_) => (iteration, 4, None),
        }
    }
}

/// Returns the canonical history of a run: its events in the order of
/// iteration and task key, without host times and without the comings and
/// goings of processes.
///
/// Two runs with the same [`RunStarted`] (but for `spec`), deterministic
/// proposers and a deterministic evaluator have equal canonical histories,
/// whatever the number of workers and the interruptions.
#[must_use]
pub fn canonical_history<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Event> {
    let mut iteration = 0;
    let mut history = Vec::new();
    for event in events {
        if let Event::IterationOpened(opened) = event {
            iteration = opened.iteration;
        }
        let rank = event.canonical_rank(iteration);
        history.extend(event.canonical().map(|event| (rank, event)));
    }
    history.sort_by_key(|(rank, _)| *rank);
    history.into_iter().map(|(_, event)| event).collect()
}
